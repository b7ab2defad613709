package coll

import (
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// roundMessage is the message of a round of a collective, between two agents, identified by
// (communicator, instance, round).
type roundMessage struct {
	arrival   vtime.Time
	bytes     int64
	payload   []byte    // nil if only the size is simulated
	signature signature // of the sender's call
	comm      int32     // index of the communicator
	number    uint32    // of the instance
	round     int32
	rank      int32 // WORLD number of the sender
	agent     int32 // agent of the sender, which waits for the match of a message above the eager limit; else 0
	engine    int32 // engine of the sender
	next      int32
	lp        int32            // the receiver, once the message is an early one
	content   int32            // content that holds the payload, 0 for none
	view      bool             // the payload is the sender's memory
	ways      ways             // how it goes between nodes
	taking    taking           // REQ, DATA or the message, by a paced agent
	fault     world.ErrorClass // fault of calls that the message rests on; see learn
}

// ways is a set of ways in which a round message goes between nodes.
type ways uint8

const (
	asked ways = 1 << iota // above the eager limit, between nodes: ACK has been sent
	apart                  // it takes no places at interfaces and memories
)

// rounding holds the agents and round messages of a partition.
type rounding struct {
	*reasoning      // nil without statistics
	explains   bool // statistics are on

	roundSlots    []int32 // by LP: its round queue, 0 for none; nil before the first queue
	queues        world.Slab[roundQueue]
	agents        world.Slab[agent]
	rounds        world.Slab[roundMessage]
	shakes        world.Slab[roundShake] // on their way
	paces         world.Beside[pace]     // of agents that are paced
	way           resource.Passage       // scratch: of the message that departRound has sent
	earlyMessages earlyMessages          // early messages of LPs that have many
	scratch       []byte                 // scratch of gather
	step          collectives.Step       // scratch: step of the agent that goes on
	received      collectives.Step       // scratch: step of the agent that receives meanwhile
	skimmed       collectives.Step       // scratch of empty
	spareWindows  world.Stack[*window]
	contents      world.Slab[content]
	memories      world.Beside[memory]       // of agents
	ports         world.Beside[network.Port] // of agents; see port
	fullest       int                        // engine for which an agent was last held back
}

// roundQueue holds an LP's agents and early round messages. It exists from the LP's first
// collective by messages until the LP ends.
type roundQueue struct {
	agents int32      // first agent of the LP that has not finished
	ahead  int32      // messages for rounds that its agents have not reached
	early  roundChain // early messages that are not in Collectives.earlyMessages
}

// roundQueue returns the LP's round queue, nil for an LP without round queue.
func (c *Collectives) roundQueue(lp int32) *roundQueue {
	if c.roundSlots == nil || c.roundSlots[lp] == 0 {
		return nil
	}
	return c.queues.At(c.roundSlots[lp])
}

// openRoundQueue returns the LP's round queue. It makes a missing queue.
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

// CloseRoundQueue releases the round queue of an LP that has finished, unless a nonblocking
// collective of the LP is still under way.
func (c *Collectives) CloseRoundQueue(lp int32) {
	if q := c.roundQueue(lp); q != nil && q.agents == 0 && q.ahead == 0 {
		c.queues.Release(c.roundSlots[lp])
		c.roundSlots[lp] = 0
	}
}

// HeldRounds returns the number of round queues made so far, and the number of round queues, round
// messages and agents in use.
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

// remove unlinks the round message index, whose predecessor is previous, 0 for the first.
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
// destination's engine. The payload lies at an offset of the sending agent's layout; a negative
// offset stands for none. Unless an agent absorbs the payload at once, it is copied, or stays in
// the sender's memory while the sender waits for the match.
func (c *Collectives) dispatchRound(a *agent, m *roundMessage, dst int, sent vtime.Time, payload []byte, at int64) {
	lp, local := c.partition.Local(dst)
	if c.Messages.Processors != nil && m.agent != 0 {
		c.Messages.Processors.AwaitMatch(m.arrival, local)
	}
	if !local {
		c.sendRoundMessage(m, c.Communicators.At(m.comm).Context, dst, sent, payload)
		return
	}
	m.payload = payload
	owner := a.memory
	if at < 0 {
		owner = nil
	}
	c.giveRound(lp, m, sent, owner, at)
}

// giveRound delivers a round message, sent at an instant, to a local LP. The payload is a view of
// the owner's memory, at an offset of its layout; without an owner it is a view of a record or of
// scratch memory.
func (c *Collectives) giveRound(lp int32, m *roundMessage, sent vtime.Time, owner *memory, at int64) {
	var q *roundQueue
	receiver := int32(0)
	if c.Messages.Processors == nil {
		q = c.openRoundQueue(lp)
		if receiver = c.receiverOf(q, m); receiver != 0 && c.receiveAtOnce(lp, receiver, m) {
			return
		}
	}
	index := c.rounds.Take()
	r := c.rounds.At(index)
	*r = *m
	if c.explains {
		*c.carries.Open(index) = c.carrying
	}
	if c.Messages.Processors != nil {
		c.keep(r, owner, at)
		c.Messages.Processors.Reach(lp, resource.Arrival{At: r.arrival, Released: sent, Source: r.rank, Index: index, Owner: resource.OfAgents})
		return
	}
	c.keepRound(lp, q, receiver, index, owner, at)
}

// receiverOf returns the agent of a queue that waits for a message, 0 for none.
func (c *Collectives) receiverOf(q *roundQueue, m *roundMessage) int32 {
	for index := q.agents; index != 0; {
		c.memories.Prefetch(index)
		a := c.agents.At(index)
		if a.stage == receiving && a.message == 0 && c.awaits(a, m) {
			return index
		}
		index = a.next
	}
	return 0
}

// receiveAtOnce has the agent that waits for a message receive it. It reports false, and does nothing, if the call
// behind the message may be another than the agent's, or the agent has to be in a call.
func (c *Collectives) receiveAtOnce(lp, index int32, m *roundMessage) bool {
	a := c.agents.At(index)
	if a.paced || a.fault != 0 || m.fault != 0 || m.signature != a.signature() {
		return false
	}
	step := &c.received
	a.inst.steps.StepInto(step, int(a.member), int(a.round))
	if a.memory != nil && a.round+1 >= a.rounds {
		c.partition.Engine.Prefetch(lp)
	}
	c.takeIn(a, step, m)
	goesOn := c.chargeCombine(index, a, step, int(m.rank), m.bytes, c.chargeReceive(index, a, m))
	if int(m.engine) != c.partition.Engine.Index() {
		c.partition.Engine.Consumed(int(m.engine), c.roundSize()+len(m.payload))
	}
	if !goesOn {
		return true
	}
	a.stage = acknowledging
	if a.unacked == 0 || !c.endsWindow(a) {
		c.queueAgent(index)
	}
	return true
}

// roundRecord is the size in bytes of the fixed part of a round message between engines.
const roundRecord = 2 + 2*8 + 5*4 + 3*8

// The flags of a round message between engines, above flagPayload: flagApart says that the message takes no places at interfaces, and the class
// of a fault begins at bit faultShift.
const (
	flagApart  = p2p.FlagPayload << 1
	faultShift = 2
)

func (c *Collectives) sendRoundMessage(m *roundMessage, context uint64, dst int, sent vtime.Time, payload []byte) {
	w := world.Writer{Rest: c.partition.Engine.Record(c.partition.Engine.Partition().Owner(dst), c.roundSize()+len(payload))}
	w.U8(world.RecordRound)
	flags := byte(m.fault) << faultShift
	if payload != nil {
		flags |= p2p.FlagPayload
	}
	if m.ways&apart != 0 {
		flags |= flagApart
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
	if c.explains {
		c.carrying.write(&w)
	}
	copy(w.Rest, payload)
}

// DeliverRound handles the record of a round message from engine src.
func (c *Collectives) DeliverRound(src int, r world.Reader) {
	flags := r.U8()
	m := roundMessage{comm: c.IndexOfContext(r.U64()), signature: signature(r.U64()), engine: int32(src), fault: world.ErrorClass(flags >> faultShift)}
	if flags&flagApart != 0 {
		m.ways = apart
	}
	dst := int(r.U32())
	m.number, m.round, m.rank, m.agent = r.U32(), int32(r.U32()), int32(r.U32()), int32(r.U32())
	sent := vtime.Time(r.U64())
	m.arrival, m.bytes = vtime.Time(r.U64()), int64(r.U64())
	if c.explains {
		c.carrying = readCarried(&r)
	}
	if flags&p2p.FlagPayload != 0 {
		m.payload = r.Rest
	}
	lp := c.Messages.Landing(int(m.rank), dst, sent, m.arrival)
	if c.Messages.Interfaces != nil && m.ways&apart == 0 {
		c.reachRoundAcross(&m, dst, sent)
		return
	}
	c.giveRound(lp, &m, sent, nil, 0)
}

// matchRoundMessage returns the arrival of the content of a round message above the eager limit, which the
// agent receives from posted on. It sends the sender, which waits for the match, the instant at which the
// sender is free.
func (c *Collectives) matchRoundMessage(m *roundMessage, index int32, a *agent, posted vtime.Time) (arrival vtime.Time) {
	src, dst := int(m.rank), int(c.partition.Global(a.lp))
	arrival, free := c.congested(a.inst, m.round).Rendezvous(src, dst, m.bytes, posted, m.arrival)
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
		c.readied(m.agent, c.answers(index, posted, m.arrival), free)
		c.AgentAcknowledged(m.agent, free)
	default:
		w := c.Messages.Acknowledgement(world.RecordRoundAcknowledgement, m.engine, m.agent, free, restRecord)
		if c.explains {
			c.answers(index, posted, m.arrival).write(&w)
		}
	}
	return arrival
}

// disposeRound releases a round message that has been consumed.
func (c *Collectives) disposeRound(index int32) {
	m := c.rounds.At(index)
	if int(m.engine) != c.partition.Engine.Index() {
		c.partition.Engine.Consumed(int(m.engine), c.roundSize()+len(m.payload))
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

// takeEarly removes the message of an agent's round from the early messages and returns it, 0 if it
// has not arrived.
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

// countEarly counts n more early messages of an LP, or fewer if n is negative: in the LP's queue,
// and in the engine's buffers with the memory of the message.
func (c *Collectives) countEarly(q *roundQueue, m *roundMessage, n int32) {
	q.ahead += n
	c.partition.Engine.Buffer(int64(n) * (roundBytes + int64(len(m.payload))))
}

// EarlyLimit is the number of early messages of an LP that are searched one by one. The root of a
// linear algorithm may have an early message from each other member.
const EarlyLimit = 32

// keepEarly stores a message for a round that the LP has not reached.
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

// awaits reports whether a message is that of the agent's present round.
func (c *Collectives) awaits(a *agent, m *roundMessage) bool {
	return m.round == a.round && m.number == a.inst.Number && m.comm == a.inst.comm.Index && c.fits(a, m)
}

// arriveRound delivers a round message to a local LP. See giveRound for its payload.
func (c *Collectives) arriveRound(lp int32, index int32, owner *memory, at int64) {
	q := c.openRoundQueue(lp)
	c.keepRound(lp, q, c.receiverOf(q, c.rounds.At(index)), index, owner, at)
}

// keepRound keeps a round message for the agent that waits for it, or until an agent of the LP reaches its round. See
// giveRound for its payload.
func (c *Collectives) keepRound(lp int32, q *roundQueue, receiver, index int32, owner *memory, at int64) {
	m := c.rounds.At(index)
	if receiver != 0 {
		c.agents.At(receiver).message = index
		c.hold(index, owner, at)
		c.continueAgent(receiver)
		return
	}
	if m.signature.synchronizing() && c.Communicators.At(m.comm).failed[m.number] {
		c.disposeRound(index)
		return
	}
	c.hold(index, owner, at)
	if m.agent != 0 || c.Messages.InCalls {
		if ai := c.postedFor(q, m); ai != 0 {
			c.matchAhead(ai, index)
		}
	}
	c.keepEarly(lp, q, index)
	if int(m.engine) != c.partition.Engine.Index() || m.signature.sparse() {
		c.checkEarly(lp, m, c.carriesOut(q, m))
	}
}

// carriesOut reports whether an agent of a queue is in an instance of a message's number.
func (c *Collectives) carriesOut(q *roundQueue, m *roundMessage) bool {
	for index := q.agents; index != 0; index = c.agents.At(index).next {
		if inst := c.agents.At(index).inst; m.number == inst.Number && m.comm == inst.comm.Index {
			return true
		}
	}
	return false
}

// hold stores the payload of a message that no agent has received. The payload stays the owner's
// while the sender waits for the match; else it is copied.
func (c *Collectives) hold(index int32, owner *memory, at int64) {
	m := c.rounds.At(index)
	switch {
	case m.payload == nil || m.content != 0:
	case m.agent != 0 && owner != nil && c.lends(c.agents.At(m.agent)):
		owner.viewed, owner.message, m.view = true, index, true
	default:
		c.keep(m, owner, at)
	}
}
