package kernel

import "gigarank/vtime"

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
	fault     ErrorClass // of calls that the message rests on; see learn
}

// rounding is what a kernel keeps of collectives by messages.
type rounding struct {
	roundSlots []int32 // by LP: its round queue, 0 if none; nil until the first is needed
	queues     slab[roundQueue]
	agents     slab[agent]
	rounds     slab[roundMessage]
	crowd      map[earlyKey]int32 // early messages of LPs that have many
	scratch    []byte             // of gather
}

// roundQueue is what an LP needs beyond its clock once it takes part in a collective by
// messages. It is made on demand and lives until the LP ends.
type roundQueue struct {
	agents int32 // first agent of the LP that has not finished
	ahead  int32 // messages for rounds that its agents have not got to
	early  chain // of them, those that are not in the kernel's crowd
}

// roundQueue returns the LP's round queue, nil if it has none.
func (k *Kernel) roundQueue(lp int32) *roundQueue {
	if k.roundSlots == nil || k.roundSlots[lp] == 0 {
		return nil
	}
	return k.queues.at(k.roundSlots[lp])
}

// openRoundQueue returns the LP's round queue and makes it if need be.
func (k *Kernel) openRoundQueue(lp int32) *roundQueue {
	if k.roundSlots == nil {
		k.roundSlots = make([]int32, k.n)
	}
	slot := k.roundSlots[lp]
	if slot == 0 {
		slot = k.queues.take()
		k.roundSlots[lp] = slot
	}
	return k.queues.at(slot)
}

// closeRoundQueue gives back the round queue of an LP that has finished, unless a
// collective that it never waited for still goes on.
func (k *Kernel) closeRoundQueue(lp int32) {
	if q := k.roundQueue(lp); q != nil && q.agents == 0 && q.ahead == 0 {
		k.queues.release(k.roundSlots[lp])
		k.roundSlots[lp] = 0
	}
}

func (c *chain) appendRound(s *slab[roundMessage], index int32) {
	s.at(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.at(c.tail).next = index
	}
	c.tail = index
}

func (c *chain) removeRound(s *slab[roundMessage], previous, index int32) {
	next := s.at(index).next
	if previous == 0 {
		c.head = next
	} else {
		s.at(previous).next = next
	}
	if c.tail == index {
		c.tail = previous
	}
}

// dispatchRound brings a round message to its destination: to an agent of a local LP, or
// as a record to the engine that owns it. The payload is copied.
func (k *Kernel) dispatchRound(m *roundMessage, dst int, sent vtime.Time, payload []byte) {
	lp, local := k.local(dst)
	if !local {
		k.sendRoundMessage(m, dst, sent, payload)
		if k.processors != nil && m.agent != 0 {
			k.awaitMatch(m.arrival)
		}
		return
	}
	m.payload = k.keepPayload(payload)
	index := k.rounds.take()
	*k.rounds.at(index) = *m
	k.giveRound(lp, index, sent)
}

// giveRound hands a round message, sent at an instant, to a local LP.
func (k *Kernel) giveRound(lp, index int32, sent vtime.Time) {
	if k.processors != nil {
		m := k.rounds.at(index)
		k.reach(lp, arrival{at: m.arrival, released: sent, source: m.rank, index: index, round: true})
		return
	}
	k.arriveRound(lp, index)
}

// roundRecord is the size of the fixed part of a round message between engines.
const roundRecord = 2 + 2*8 + 5*4 + 3*8

// faultShift is where the class of a fault begins in the flags of a round message between
// engines: above flagPayload.
const faultShift = 1

func (k *Kernel) sendRoundMessage(m *roundMessage, dst int, sent vtime.Time, payload []byte) {
	w := writer{k.eng.Record(k.eng.Partition().Owner(dst), roundRecord+len(payload))}
	w.u8(recordRound)
	flags := byte(m.fault) << faultShift
	if payload != nil {
		flags |= flagPayload
	}
	w.u8(flags)
	w.u64(k.comms[m.comm].context)
	w.u64(uint64(m.signature))
	w.u32(uint32(dst))
	w.u32(m.number)
	w.u32(uint32(m.round))
	w.u32(uint32(m.rank))
	w.u32(uint32(m.agent))
	w.u64(uint64(sent))
	w.u64(uint64(m.arrival))
	w.u64(uint64(m.bytes))
	copy(w.b, payload)
}

func (k *Kernel) deliverRound(src int, record []byte, r reader) {
	flags := r.u8()
	comm, known := k.contexts[r.u64()]
	if !known {
		k.stray(src, record)
		return
	}
	m := roundMessage{comm: comm, signature: signature(r.u64()), engine: int32(src), fault: ErrorClass(flags >> faultShift)}
	dst := int(r.u32())
	m.number, m.round, m.rank, m.agent = r.u32(), int32(r.u32()), int32(r.u32()), int32(r.u32())
	sent := vtime.Time(r.u64())
	m.arrival, m.bytes = vtime.Time(r.u64()), int64(r.u64())
	if flags&flagPayload != 0 {
		m.payload = k.keepPayload(r.b)
	}
	lp := k.landing(int(m.rank), dst, sent, m.arrival)
	index := k.rounds.take()
	*k.rounds.at(index) = m
	k.giveRound(lp, index, sent)
}

// matchRoundMessage returns when the content of a round message is there that an agent
// receives from an instant on, and tells a sender that waits for the match when it is free.
func (k *Kernel) matchRoundMessage(m *roundMessage, a *agent, posted vtime.Time) (arrival vtime.Time) {
	if m.agent == 0 {
		return m.arrival
	}
	src, dst := int(m.rank), int(k.Global(a.lp))
	arrival, free := k.tgt.Rendezvous(src, dst, m.bytes, posted, m.arrival)
	if max(arrival, free) == vtime.Forever {
		k.pastReceive(a.inst, src, dst, m.bytes, max(posted, m.arrival))
	}
	switch {
	case k.processors != nil:
		k.tellMatch(recordRoundMatch, m.engine, m.agent, dst, free)
	case int(m.engine) == k.eng.Index():
		k.agentAcknowledged(m.agent, free)
	default:
		k.sendAcknowledgement(recordRoundAcknowledgement, m.engine, m.agent, free)
	}
	return arrival
}

// disposeRound releases a round message that has been consumed.
func (k *Kernel) disposeRound(index int32) {
	m := k.rounds.at(index)
	if int(m.engine) != k.eng.Index() {
		k.eng.Consumed(int(m.engine), roundRecord+len(m.payload))
	}
	if m.payload != nil {
		k.buffers.release(m.payload)
	}
	k.rounds.release(index)
}

// takeEarly takes the message of an agent's round out of those that came early.
func (k *Kernel) takeEarly(a *agent) int32 {
	q := k.roundQueue(a.lp)
	previous := int32(0)
	for index := q.early.head; index != 0; {
		m := k.rounds.at(index)
		if k.awaits(a, m) {
			q.early.removeRound(&k.rounds, previous, index)
			q.ahead--
			return index
		}
		previous, index = index, m.next
	}
	if len(k.crowd) == 0 {
		return 0
	}
	key := earlyKey{a.lp, a.inst.comm.Index, a.inst.number, a.round}
	index := k.crowd[key]
	if index == 0 || !k.awaits(a, k.rounds.at(index)) {
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
func (k *Kernel) keepEarly(lp int32, q *roundQueue, index int32) {
	m := k.rounds.at(index)
	key := earlyKey{lp, m.comm, m.number, m.round}
	q.ahead++
	if q.ahead <= earlyLimit || k.crowd[key] != 0 {
		q.early.appendRound(&k.rounds, index)
		return
	}
	if k.crowd == nil {
		k.crowd = map[earlyKey]int32{}
	}
	k.crowd[key] = index
}

// awaits reports whether a message is the one of the agent's round.
func (k *Kernel) awaits(a *agent, m *roundMessage) bool {
	return m.round == a.round && m.number == a.inst.number && m.comm == a.inst.comm.Index && k.fits(a, m)
}

// arriveRound hands a message of a collective to a local LP.
func (k *Kernel) arriveRound(lp int32, index int32) {
	q := k.openRoundQueue(lp)
	m := k.rounds.at(index)
	running := false
	for ai := q.agents; ai != 0; {
		a := k.agents.at(ai)
		running = running || m.number == a.inst.number && m.comm == a.inst.comm.Index
		if a.stage == receiving && a.message == 0 && k.awaits(a, m) {
			a.message = index
			k.continueAgent(ai)
			return
		}
		ai = a.next
	}
	if k.comms[m.comm].broken[m.number] {
		k.disposeRound(index)
		return
	}
	k.keepEarly(lp, q, index)
	if int(m.engine) != k.eng.Index() {
		k.checkEarly(lp, m, running)
	}
}
