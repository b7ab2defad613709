package coll

import (
	"gigarank/mpivirt/internal/ptp"
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
	fault     world.ErrorClass // of calls that the message rests on; see learn
}

// rounding is what a kernel keeps of collectives by messages.
type rounding struct {
	roundSlots []int32 // by LP: its round queue, 0 if none; nil until the first is needed
	queues     world.Slab[roundQueue]
	agents     world.Slab[agent]
	rounds     world.Slab[roundMessage]
	crowd      map[earlyKey]int32 // early messages of LPs that have many
	scratch    []byte             // of gather
}

// roundQueue is what an LP needs beyond its clock once it takes part in a collective by
// messages. It is made on demand and lives until the LP ends.
type roundQueue struct {
	agents int32      // first agent of the LP that has not finished
	ahead  int32      // messages for rounds that its agents have not got to
	early  roundChain // of them, those that are not in the kernel's crowd
}

// roundQueue returns the LP's round queue, nil if it has none.
func (k *Collectives) roundQueue(lp int32) *roundQueue {
	if k.roundSlots == nil || k.roundSlots[lp] == 0 {
		return nil
	}
	return k.queues.At(k.roundSlots[lp])
}

// openRoundQueue returns the LP's round queue and makes it if need be.
func (k *Collectives) openRoundQueue(lp int32) *roundQueue {
	if k.roundSlots == nil {
		k.roundSlots = make([]int32, k.Ranks)
	}
	slot := k.roundSlots[lp]
	if slot == 0 {
		slot = k.queues.Take()
		k.roundSlots[lp] = slot
	}
	return k.queues.At(slot)
}

// CloseRoundQueue gives back the round queue of an LP that has finished, unless a
// collective that it never waited for still goes on.
func (k *Collectives) CloseRoundQueue(lp int32) {
	if q := k.roundQueue(lp); q != nil && q.agents == 0 && q.ahead == 0 {
		k.queues.Release(k.roundSlots[lp])
		k.roundSlots[lp] = 0
	}
}

// HeldRounds returns how many round queues have been made, and how many round queues, round
// messages and agents are in use.
func (k *Collectives) HeldRounds() (made, held int) {
	return int(k.queues.Next), k.queues.InUse() + k.rounds.InUse() + k.agents.InUse()
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

// dispatchRound brings a round message to its destination: to an agent of a local LP, or
// as a record to the engine that owns it. The payload is copied.
func (k *Collectives) dispatchRound(m *roundMessage, dst int, sent vtime.Time, payload []byte) {
	lp, local := k.Local(dst)
	if !local {
		k.sendRoundMessage(m, dst, sent, payload)
		if k.Processors != nil && m.agent != 0 {
			k.AwaitMatch(m.arrival)
		}
		return
	}
	m.payload = k.KeepPayload(payload)
	index := k.rounds.Take()
	*k.rounds.At(index) = *m
	k.giveRound(lp, index, sent)
}

// giveRound hands a round message, sent at an instant, to a local LP.
func (k *Collectives) giveRound(lp, index int32, sent vtime.Time) {
	if k.Processors != nil {
		m := k.rounds.At(index)
		k.Reach(lp, ptp.Arrival{At: m.arrival, Released: sent, Source: m.rank, Index: index, Round: true})
		return
	}
	k.arriveRound(lp, index)
}

// roundRecord is the size of the fixed part of a round message between engines.
const roundRecord = 2 + 2*8 + 5*4 + 3*8

// faultShift is where the class of a fault begins in the flags of a round message between
// engines: above flagPayload.
const faultShift = 1

func (k *Collectives) sendRoundMessage(m *roundMessage, dst int, sent vtime.Time, payload []byte) {
	w := world.Writer{Rest: k.Engine.Record(k.Engine.Partition().Owner(dst), roundRecord+len(payload))}
	w.U8(world.RecordRound)
	flags := byte(m.fault) << faultShift
	if payload != nil {
		flags |= ptp.FlagPayload
	}
	w.U8(flags)
	w.U64(k.Members[m.comm].Context)
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

func (k *Collectives) DeliverRound(src int, record []byte, r world.Reader) {
	flags := r.U8()
	comm, known := k.Contexts[r.U64()]
	if !known {
		k.Stray(src, record)
		return
	}
	m := roundMessage{comm: comm, signature: signature(r.U64()), engine: int32(src), fault: world.ErrorClass(flags >> faultShift)}
	dst := int(r.U32())
	m.number, m.round, m.rank, m.agent = r.U32(), int32(r.U32()), int32(r.U32()), int32(r.U32())
	sent := vtime.Time(r.U64())
	m.arrival, m.bytes = vtime.Time(r.U64()), int64(r.U64())
	if flags&ptp.FlagPayload != 0 {
		m.payload = k.KeepPayload(r.Rest)
	}
	lp := k.Landing(int(m.rank), dst, sent, m.arrival)
	index := k.rounds.Take()
	*k.rounds.At(index) = m
	k.giveRound(lp, index, sent)
}

// matchRoundMessage returns when the content of a round message is there that an agent
// receives from an instant on, and tells a sender that waits for the match when it is free.
func (k *Collectives) matchRoundMessage(m *roundMessage, a *agent, posted vtime.Time) (arrival vtime.Time) {
	if m.agent == 0 {
		return m.arrival
	}
	src, dst := int(m.rank), int(k.Global(a.lp))
	arrival, free := k.Target.Rendezvous(src, dst, m.bytes, posted, m.arrival)
	if max(arrival, free) == vtime.Forever {
		k.pastReceive(a.inst, src, dst, m.bytes, max(posted, m.arrival))
	}
	switch {
	case k.Processors != nil:
		k.TellMatch(world.RecordRoundMatch, m.engine, m.agent, dst, free)
	case int(m.engine) == k.Engine.Index():
		k.AgentAcknowledged(m.agent, free)
	default:
		k.SendAcknowledgement(world.RecordRoundAcknowledgement, m.engine, m.agent, free)
	}
	return arrival
}

// disposeRound releases a round message that has been consumed.
func (k *Collectives) disposeRound(index int32) {
	m := k.rounds.At(index)
	if int(m.engine) != k.Engine.Index() {
		k.Engine.Consumed(int(m.engine), roundRecord+len(m.payload))
	}
	if m.payload != nil {
		k.Buffers.Release(m.payload)
	}
	k.rounds.Release(index)
}

// takeEarly takes the message of an agent's round out of those that came early.
func (k *Collectives) takeEarly(a *agent) int32 {
	q := k.roundQueue(a.lp)
	previous := int32(0)
	for index := q.early.head; index != 0; {
		m := k.rounds.At(index)
		if k.awaits(a, m) {
			q.early.remove(&k.rounds, previous, index)
			q.ahead--
			return index
		}
		previous, index = index, m.next
	}
	if len(k.crowd) == 0 {
		return 0
	}
	key := earlyKey{a.lp, a.inst.comm.Index, a.inst.Number, a.round}
	index := k.crowd[key]
	if index == 0 || !k.awaits(a, k.rounds.At(index)) {
		return 0
	}
	delete(k.crowd, key)
	q.ahead--
	return index
}

// earlyLimit is how many early messages of an LP are searched one by one. The root of
// a linear algorithm may have those of all other members.
const earlyLimit = 32

// earlyKey is what an agent knows of the message of its round.
type earlyKey struct {
	lp, comm int32
	number   uint32
	round    int32
}

// keepEarly keeps a message for a round that its LP has not got to.
func (k *Collectives) keepEarly(lp int32, q *roundQueue, index int32) {
	m := k.rounds.At(index)
	key := earlyKey{lp, m.comm, m.number, m.round}
	q.ahead++
	if q.ahead <= earlyLimit || k.crowd[key] != 0 {
		q.early.append(&k.rounds, index)
		return
	}
	if k.crowd == nil {
		k.crowd = map[earlyKey]int32{}
	}
	k.crowd[key] = index
}

// awaits reports whether a message is the one of the agent's round.
func (k *Collectives) awaits(a *agent, m *roundMessage) bool {
	return m.round == a.round && m.number == a.inst.Number && m.comm == a.inst.comm.Index && k.fits(a, m)
}

// arriveRound hands a message of a collective to a local LP.
func (k *Collectives) arriveRound(lp int32, index int32) {
	q := k.openRoundQueue(lp)
	m := k.rounds.At(index)
	running := false
	for ai := q.agents; ai != 0; {
		a := k.agents.At(ai)
		running = running || m.number == a.inst.Number && m.comm == a.inst.comm.Index
		if a.stage == receiving && a.message == 0 && k.awaits(a, m) {
			a.message = index
			k.continueAgent(ai)
			return
		}
		ai = a.next
	}
	if k.Members[m.comm].broken[m.number] {
		k.disposeRound(index)
		return
	}
	k.keepEarly(lp, q, index)
	if int(m.engine) != k.Engine.Index() {
		k.checkEarly(lp, m, running)
	}
}
