package coll

import (
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// roundMessage is the message of a round of a collective, between two agents. It is named
// by (communicator, instance, round).
type roundMessage struct {
	arrival   vtime.Time
	bytes     int64
	payload   []byte    // nil if only the size is simulated
	signature signature // of the sender's call
	comm      int32     // index of its communicator
	number    uint32    // of the instance
	round     int32
	rank      int32 // the sender's number in WORLD
	agent     int32 // the sender, which waits for the match: the message is above the eager limit; else 0
	engine    int32 // engine that the message came from
	next      int32
	lp        int32            // the receiver, once it is an early one
	content   int32            // which holds the payload, 0 for none
	view      bool             // the payload is the sender's memory
	asked     bool             // above the eager limit, between nodes: ACK is sent
	fault     world.ErrorClass // of calls that the message rests on; see learn
}

// rounding holds the agents and round messages of a partition.
type rounding struct {
	roundSlots    []int32 // by LP: its round queue, 0 if none; nil until the first is needed
	queues        world.Slab[roundQueue]
	agents        world.Slab[agent]
	rounds        world.Slab[roundMessage]
	shakes        world.Slab[roundShake] // on their way between nodes
	way           resource.Passage       // scratch: of the message that departRound has sent
	earlyMessages earlyMessages          // early messages of LPs that have many
	scratch       []byte                 // of gather
	step          collectives.Step       // scratch: of the agent that goes on
	received      collectives.Step       // scratch: of the agent that receives meanwhile
	contents      world.Slab[content]
	memories      world.Beside[memory] // of agents
	fullest       int                  // engine for which an agent was last held back
}

// roundQueue holds an LP's agents and early round messages. It exists from the LP's first
// collective by messages until the LP ends.
type roundQueue struct {
	agents int32      // first agent of the LP that has not finished
	ahead  int32      // messages for rounds that its agents have not reached
	early  roundChain // those that are not in Collectives.earlyMessages
}

// roundQueue returns the LP's round queue, nil if it has none.
func (c *Collectives) roundQueue(lp int32) *roundQueue {
	if c.roundSlots == nil || c.roundSlots[lp] == 0 {
		return nil
	}
	return c.queues.At(c.roundSlots[lp])
}

// openRoundQueue returns the LP's round queue, and makes it first if there is none.
func (c *Collectives) openRoundQueue(lp int32) *roundQueue {
	if c.roundSlots == nil {
		c.roundSlots = make([]int32, c.partition.Ranks)
	}
	slot := c.roundSlots[lp]
	if slot == 0 {
		slot = c.queues.Take()
		c.roundSlots[lp] = slot
	}
	return c.queues.At(slot)
}

// CloseRoundQueue releases the round queue of an LP that has finished, unless a
// nonblocking collective of it is still under way.
func (c *Collectives) CloseRoundQueue(lp int32) {
	if q := c.roundQueue(lp); q != nil && q.agents == 0 && q.ahead == 0 {
		c.queues.Release(c.roundSlots[lp])
		c.roundSlots[lp] = 0
	}
}

// HeldRounds returns how many round queues have been made, and how many round queues, round
// messages and agents are in use.
func (c *Collectives) HeldRounds() (made, held int) {
	return int(c.queues.Next), c.queues.InUse() + c.rounds.InUse() + c.agents.InUse()
}

// roundChain is a list of round messages; zero stands for none.
type roundChain struct{ head, tail int32 }

// append adds a round message at the end.
func (c *roundChain) append(s *world.Slab[roundMessage], index int32) {
	s.At(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.At(c.tail).next = index
	}
	c.tail = index
}

// remove unlinks index, whose predecessor is given (0 for the first).
func (c *roundChain) remove(s *world.Slab[roundMessage], previous, index int32) {
	next := s.At(index).next
	if previous == 0 {
		c.head = next
	} else {
		s.At(previous).next = next
	}
	if c.tail == index {
		c.tail = previous
	}
}

// dispatchRound sends a round message to an agent of a local LP, or as a record to the
// destination's engine. The payload lies at an offset of the sending agent's layout, or at
// none if that is negative. Unless an agent takes it in at once, it is copied or, as long as
// the sender waits for the match, the sender's.
func (c *Collectives) dispatchRound(a *agent, m *roundMessage, dst int, sent vtime.Time, payload []byte, at int64) {
	lp, local := c.partition.Local(dst)
	if !local {
		c.sendRoundMessage(m, c.Communicators.At(m.comm).Context, dst, sent, payload)
		if c.Messages.Processors != nil && m.agent != 0 {
			c.Messages.Processors.AwaitMatch(m.arrival)
		}
		return
	}
	m.payload = payload
	owner := a.memory
	if at < 0 {
		owner = nil
	}
	c.giveRound(lp, m, sent, owner, at)
}

// giveRound gives a round message, sent at an instant, to a local LP. The payload is a view of
// the memory of the owner, at an offset of its layout; without an owner it is of a record or
// scratch.
func (c *Collectives) giveRound(lp int32, m *roundMessage, sent vtime.Time, owner *memory, at int64) {
	if c.Messages.Processors == nil && c.receiveAtOnce(lp, m) {
		return
	}
	index := c.rounds.Take()
	r := c.rounds.At(index)
	*r = *m
	if c.Messages.Processors != nil {
		c.keep(r, owner, at)
		c.Messages.Processors.Reach(lp, resource.Arrival{At: r.arrival, Released: sent, Source: r.rank, Index: index, Owner: resource.OfAgents})
		return
	}
	c.arriveRound(lp, index, owner, at)
}

// receiveAtOnce has the agent that waits for a message receive it, and reports whether there is
// one. It reports false if the call behind the message may be another than the agent's.
func (c *Collectives) receiveAtOnce(lp int32, m *roundMessage) bool {
	for index := c.openRoundQueue(lp).agents; index != 0; {
		c.memories.Prefetch(index)
		a := c.agents.At(index)
		if a.stage != receiving || a.message != 0 || !c.awaits(a, m) {
			index = a.next
			continue
		}
		if a.fault != 0 || m.fault != 0 || m.signature != a.signature() {
			return false
		}
		step := &c.received
		a.inst.steps.StepInto(step, int(a.member), int(a.round))
		if a.memory != nil && a.round+1 >= a.rounds {
			c.partition.Engine.Prefetch(lp)
		}
		c.takeIn(a, step, m)
		c.chargeCombine(a, step, int(m.rank), m.bytes, c.chargeReceive(a, m))
		if int(m.engine) != c.partition.Engine.Index() {
			c.partition.Engine.Consumed(int(m.engine), roundRecord+len(m.payload))
		}
		a.stage = acknowledging
		if a.sent != unacked {
			c.queueAgent(index)
		}
		return true
	}
	return false
}

// roundRecord is the size of the fixed part of a round message between engines.
const roundRecord = 2 + 2*8 + 5*4 + 3*8

// faultShift is where the class of a fault begins in the flags of a round message between
// engines: above flagPayload.
const faultShift = 1

func (c *Collectives) sendRoundMessage(m *roundMessage, context uint64, dst int, sent vtime.Time, payload []byte) {
	w := world.Writer{Rest: c.partition.Engine.Record(c.partition.Engine.Partition().Owner(dst), roundRecord+len(payload))}
	w.U8(world.RecordRound)
	flags := byte(m.fault) << faultShift
	if payload != nil {
		flags |= p2p.FlagPayload
	}
	w.U8(flags)
	w.U64(context)
	w.U64(uint64(m.signature))
	w.U32(uint32(dst))
	w.U32(m.number)
	w.U32(uint32(m.round))
	w.U32(uint32(m.rank))
	w.U32(uint32(m.agent))
	w.U64(uint64(sent))
	w.U64(uint64(m.arrival))
	w.U64(uint64(m.bytes))
	copy(w.Rest, payload)
}

// DeliverRound takes in the record of a round message from engine src.
func (c *Collectives) DeliverRound(src int, r world.Reader) {
	flags := r.U8()
	m := roundMessage{comm: c.IndexOfContext(r.U64()), signature: signature(r.U64()), engine: int32(src), fault: world.ErrorClass(flags >> faultShift)}
	dst := int(r.U32())
	m.number, m.round, m.rank, m.agent = r.U32(), int32(r.U32()), int32(r.U32()), int32(r.U32())
	sent := vtime.Time(r.U64())
	m.arrival, m.bytes = vtime.Time(r.U64()), int64(r.U64())
	if flags&p2p.FlagPayload != 0 {
		m.payload = r.Rest
	}
	lp := c.Messages.Landing(int(m.rank), dst, sent, m.arrival)
	if c.Messages.Interfaces != nil {
		c.reachRoundAcross(&m, dst, sent)
		return
	}
	c.giveRound(lp, &m, sent, nil, 0)
}

// matchRoundMessage returns the arrival of the content of a round message. The agent
// receives from posted on. A sender that waits for the match is told when it is free.
func (c *Collectives) matchRoundMessage(m *roundMessage, a *agent, posted vtime.Time) (arrival vtime.Time) {
	if m.agent == 0 {
		return m.arrival
	}
	src, dst := int(m.rank), int(c.partition.Global(a.lp))
	arrival, free := c.partition.Target.Rendezvous(src, dst, m.bytes, posted, m.arrival)
	if max(arrival, free) == vtime.Forever {
		c.pastReceive(a.inst, src, dst, m.bytes, max(posted, m.arrival))
	}
	if c.partition.Activities != nil {
		c.Messages.Shaken(src, dst, m.bytes, max(posted, m.arrival), arrival)
	}
	switch {
	case c.Messages.Processors != nil:
		c.Messages.Processors.TellMatch(resource.OfAgents, m.engine, m.agent, dst, free)
	case int(m.engine) == c.partition.Engine.Index():
		c.AgentAcknowledged(m.agent, free)
	default:
		c.Messages.SendAcknowledgement(world.RecordRoundAcknowledgement, m.engine, m.agent, free)
	}
	return arrival
}

// disposeRound releases a round message that has been consumed.
func (c *Collectives) disposeRound(index int32) {
	m := c.rounds.At(index)
	if int(m.engine) != c.partition.Engine.Index() {
		c.partition.Engine.Consumed(int(m.engine), roundRecord+len(m.payload))
	}
	if m.content != 0 {
		c.drop(m.content)
	}
	if m.view {
		if a := c.agents.At(m.agent); a.memory != nil {
			a.memory.viewed = false
		}
	}
	c.rounds.Release(index)
}

// takeEarly removes the message of an agent's round from the early ones and returns it, 0
// if it is not there.
func (c *Collectives) takeEarly(a *agent) int32 {
	q := c.roundQueue(a.lp)
	previous := int32(0)
	for index := q.early.head; index != 0; {
		m := c.rounds.At(index)
		if c.awaits(a, m) {
			q.early.remove(&c.rounds, previous, index)
			c.countEarly(q, m, -1)
			return index
		}
		previous, index = index, m.next
	}
	key := earlyKey{a.lp, a.inst.comm.Index, a.inst.Number, a.round}
	index := c.earlyMessages.find(&c.rounds, key)
	if index == 0 || !c.awaits(a, c.rounds.At(index)) {
		return 0
	}
	c.earlyMessages.remove(&c.rounds, key)
	c.countEarly(q, c.rounds.At(index), -1)
	return index
}

// roundBytes is the memory of a round message without its payload.
const roundBytes = int64(unsafe.Sizeof(roundMessage{}))

// countEarly counts a message more or less that waits for an agent of an LP: in its queue,
// and in the engine's buffers with the memory that it takes.
func (c *Collectives) countEarly(q *roundQueue, m *roundMessage, n int32) {
	q.ahead += n
	c.partition.Engine.Buffer(int64(n) * (roundBytes + int64(len(m.payload))))
}

// EarlyLimit is the number of early messages of an LP that are searched one by one. The
// root of a linear algorithm may have one from each other member.
const EarlyLimit = 32

// keepEarly stores a message for a round that its LP has not reached.
func (c *Collectives) keepEarly(lp int32, q *roundQueue, index int32) {
	m := c.rounds.At(index)
	m.lp = lp
	c.countEarly(q, m, 1)
	if q.ahead <= EarlyLimit || c.earlyMessages.find(&c.rounds, m.early()) != 0 {
		q.early.append(&c.rounds, index)
		return
	}
	c.earlyMessages.add(&c.rounds, index)
}

// awaits reports whether a message is the one of the agent's round.
func (c *Collectives) awaits(a *agent, m *roundMessage) bool {
	return m.round == a.round && m.number == a.inst.Number && m.comm == a.inst.comm.Index && c.fits(a, m)
}

// arriveRound hands a message of a collective to a local LP. See giveRound for its payload.
func (c *Collectives) arriveRound(lp int32, index int32, owner *memory, at int64) {
	q := c.openRoundQueue(lp)
	m := c.rounds.At(index)
	running := false
	for ai := q.agents; ai != 0; {
		a := c.agents.At(ai)
		running = running || m.number == a.inst.Number && m.comm == a.inst.comm.Index
		if a.stage == receiving && a.message == 0 && c.awaits(a, m) {
			a.message = index
			c.hold(index, owner, at)
			c.continueAgent(ai)
			return
		}
		ai = a.next
	}
	if m.signature.synchronizing() && c.Communicators.At(m.comm).failed[m.number] {
		c.disposeRound(index)
		return
	}
	c.hold(index, owner, at)
	c.keepEarly(lp, q, index)
	if int(m.engine) != c.partition.Engine.Index() {
		c.checkEarly(lp, m, running)
	}
}

// hold keeps the payload of a message that nobody has taken in. It stays the owner's as long
// as the sender waits for the match, else it is copied.
func (c *Collectives) hold(index int32, owner *memory, at int64) {
	m := c.rounds.At(index)
	switch {
	case m.payload == nil || m.content != 0:
	case m.agent != 0 && owner != nil:
		owner.viewed, owner.message, m.view = true, index, true
	default:
		c.keep(m, owner, at)
	}
}
