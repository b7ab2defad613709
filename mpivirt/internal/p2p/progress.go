package p2p

import (
	"slices"

	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// On a machine with progress in calls, a rank handles what has arrived for it only while it
// is in an MPI call, as in VACED-SIM. Of a rendezvous the receiver handles REQ, and sends ACK,
// at the first instant in a call from the match on. The sender handles ACK, and sends DATA, at
// the first instant in a call from the arrival of ACK on. The receiver handles DATA in the wait
// for it. An instant is in a call unless it lies strictly within a compute phase. A rank that
// has ended is in MPI_Finalize.
//
// What a rank does by the instant at which a message is there for it is known if it has computed
// beyond, or is in a call that cannot end before. Else the message is a timed event: at its instant
// all is known. VACED-SIM handles messages as its host learns of them and approximates this.

// progress is the state of a partition with progress in calls.
type progress struct {
	InCalls    bool
	computing  []computing // by LP
	handshakes world.Slab[handshake]
	passed     vtime.Time // no handshake reaches a rank before it any more
	noted      int        // phases, since passed was worked out
}

// computing is the recent past of an LP, as far as a handshake may need it.
type computing struct {
	phases []phase // in the order of time, disjoint
	open   int32   // receives, rendezvous and due handshakes of the LP that are not over
	due    int32   // latest of the handshakes that are timed events and not answered, 0 for none
	called bool    // MPI, since the last phase
	ended  bool    // the LP
}

// phase is a time of computing without a call of MPI.
type phase struct{ from, to vtime.Time }

// handshake is a message of a rendezvous or a synchronous send on its way to a rank, which
// handles it at an instant.
type handshake struct {
	bytes    int64
	lp       int32 // that handles it
	peer     int32 // WORLD number of the other rank
	request  int32 // of the LP, 0 for none
	opposite int32 // request of the other rank, 0 for none
	ack      bool  // it is ACK, else REQ
	large    bool  // a rendezvous, else a synchronous send
	blocks   bool  // REQ: its sender, on another engine, is in one call until the send is complete
	answered bool
	next     int32      // the one before of the same LP that is due, 0 for none
	previous int32      // the one after, 0 for none
	at       vtime.Time // of the timed event; of one on its way between nodes, when it was sent
	order    [2]uint64  // among those that a rank answers at one instant; see orderOfShake
}

// openProgress sets the state up on a machine with progress in calls.
func (m *Messages) openProgress() {
	if m.InCalls = m.Partition.Target.ProgressInCalls(); m.InCalls {
		m.Partition.ClocksOnly = false
		m.computing = make([]computing, m.Partition.Ranks)
	}
}

// EnterCall notes that an LP calls MPI.
func (m *Messages) EnterCall(lp int32) {
	if m.InCalls {
		m.computing[lp].called = true
		m.answerDue(lp)
	}
}

// phasesKept is the number of phases of an LP beyond which its handshakes are timed events, whatever is
// known. Such an event tells that time has passed.
const phasesKept = 1024

// dueLooked is the number of handshakes that a call looks at. An LP may have as many as messages.
const dueLooked = 16

// answerDue answers those of an LP's latest handshakes of which its call tells enough. The others
// are answered by their timed events, with the same times.
func (m *Messages) answerDue(lp int32) {
	for index, looked := m.computing[lp].due, 0; index != 0 && looked < dueLooked; looked++ {
		h := *m.handshakes.At(index)
		if at, known := m.inCallBy(&h, h.at, h.large); known && m.answer(&h, at) {
			m.undue(lp, index)
			m.handshakes.At(index).answered = true
			m.Partition.Engine.Withdraw()
		}
		index = h.next
	}
}

// undue takes a handshake, which is answered, out of those that are due.
func (m *Messages) undue(lp, index int32) {
	h := m.handshakes.At(index)
	if h.previous == 0 {
		m.computing[lp].due = h.next
	} else {
		m.handshakes.At(h.previous).next = h.next
	}
	if h.next != 0 {
		m.handshakes.At(h.next).previous = h.previous
	}
	m.closed(lp)
}

// computes notes a compute phase of an LP. Phases without a call in between are one. Without
// open receives or rendezvous no handshake will lie in it.
func (m *Messages) computes(lp int32, from, to vtime.Time) {
	c := &m.computing[lp]
	if c.open == 0 {
		c.phases = c.phases[:0]
		return
	}
	// Where invariants are checked, short programs get here, too.
	if m.noted++; m.noted >= max(m.Partition.Ranks, phasesKept) || invariant.Enabled {
		m.noted, m.passed = 0, max(m.passed, m.earliestHandshake())
	}
	if last := len(c.phases) - 1; last >= 0 && !c.called && c.phases[last].to == from {
		c.phases[last].to = to
	} else {
		c.phases = append(c.phases, phase{from, to})
	}
	c.called = false
	// Half of them at least are over, or they stay: so a phase is moved once in the mean. The last one
	// stays in any case, since it may go on.
	if over := min(c.endedBy(m.passed), len(c.phases)-1); 2*over >= len(c.phases) {
		c.phases = append(c.phases[:0], c.phases[over:]...)
	}
}

// earliestHandshake returns an instant before which no handshake reaches a rank any more: nobody acts before,
// here or elsewhere. It looks at all LPs, so it is called once they have noted a phase each in the mean.
// Of what other engines do it knows EIT, which may stand still while nobody asks for it.
func (m *Messages) earliestHandshake() vtime.Time {
	t := min(m.Partition.Engine.EIT(), m.Partition.Engine.NextTimed())
	for lp := range m.computing {
		if !m.computing[lp].ended {
			t = min(t, m.Partition.Clock[lp])
		}
	}
	return t
}

// endedBy returns the number of phases that are over at an instant.
func (c *computing) endedBy(t vtime.Time) int {
	n, _ := slices.BinarySearchFunc(c.phases, t, func(p phase, t vtime.Time) int {
		if p.to <= t {
			return -1
		}
		return 1
	})
	return n
}

// inCall returns the first instant from t on at which an LP is in a call.
func (m *Messages) inCall(lp int32, t vtime.Time) vtime.Time {
	c := &m.computing[lp]
	if i := c.endedBy(t); i < len(c.phases) && c.phases[i].from < t {
		return c.phases[i].to
	}
	return t
}

// opened counts a receive or rendezvous that an LP has begun, closed one that is over.
func (m *Messages) opened(lp int32) {
	if m.InCalls {
		m.computing[lp].open++
	}
}

func (m *Messages) closed(lp int32) {
	if m.InCalls {
		m.computing[lp].open--
	}
}

// scheduleHandshake has a handshake handled at an instant, or the call after it. That is now if what
// its rank does then is known: no engine waits for the others to come so far.
func (m *Messages) scheduleHandshake(h handshake, t vtime.Time) {
	if !m.InCalls {
		m.answerAcross(&h, t)
		return
	}
	if invariant.Enabled && t < m.passed {
		invariant.Broken("a handshake reaches rank %d at %v, and none was to come before %v any more", m.Partition.Global(h.lp), t, m.passed)
	}
	if at, known := m.inCallBy(&h, t, true); known && m.answer(&h, at) {
		return
	}
	index := m.handshakes.Take()
	due := &m.computing[h.lp].due
	h.at, h.next = t, *due
	if h.next != 0 {
		m.handshakes.At(h.next).previous = index
	}
	m.opened(h.lp)
	*m.handshakes.At(index), *due = h, index
	rank := m.Partition.Global(h.lp)
	m.Partition.Engine.Schedule(engine.Event{Time: t, Source: rank, LP: rank, Sequence: uint64(index), Data: world.DataHandshake})
}

// HandleHandshake handles a REQ or an ACK that reaches its rank at t. All arrivals at or before
// t are known.
func (m *Messages) HandleHandshake(index int32, t vtime.Time) {
	m.passed = max(m.passed, t)
	h := *m.handshakes.At(index)
	m.undue(h.lp, index)
	m.handshakes.Release(index)
	if at := m.inCall(h.lp, t); !m.answer(&h, at) {
		m.Partition.PastEnd(int(m.Partition.Global(h.lp)), at, m.Box(h.lp).Wait.Procedure, "a message of %d bytes to rank %d", h.bytes, h.peer)
	}
}

// HandshakeWithdrawn reports whether a handshake was answered before its instant was safe, and forgets it
// then.
func (m *Messages) HandshakeWithdrawn(index int32) bool {
	if !m.handshakes.At(index).answered {
		return false
	}
	m.handshakes.Release(index)
	return true
}

// answer answers a handshake at an instant: REQ by ACK, and ACK by DATA. It reports false, and has done
// nothing, if DATA would come after the end of virtual time.
func (m *Messages) answer(h *handshake, at vtime.Time) bool {
	own := int(m.Partition.Global(h.lp))
	if m.Crosses(own, int(h.peer)) {
		m.answerAcross(h, at)
		return true
	}
	if !h.ack {
		if m.Partition.Activities != nil {
			m.acked(own, int(h.peer))
		}
		back := at.Add(m.Partition.Target.Latency(own, int(h.peer)))
		if !h.blocks || m.Partition.Strict || !m.answerForBoth(h, back) {
			m.tell(world.RecordReply, h, back)
		}
		return true
	}
	arrival, free := m.Partition.Target.Data(own, int(h.peer), h.bytes, at)
	if max(arrival, free) == vtime.Forever {
		return false
	}
	if m.Partition.Activities != nil {
		m.sentData(h.bytes, at, arrival)
	}
	m.tell(world.RecordData, h, arrival)
	m.closed(h.lp)
	if h.request != 0 {
		m.Acknowledged(h.request, free)
	}
	return true
}

// answerForBoth completes a rendezvous whose ACK is back at an instant: its sender is in a call then, and sends
// DATA at once. So the receiver knows when DATA arrives and when the sender is free, which one record tells it. It
// reports false, and has done nothing, if that would come after the end of virtual time.
func (m *Messages) answerForBoth(h *handshake, back vtime.Time) bool {
	arrival, free := m.Partition.Target.Data(int(h.peer), int(m.Partition.Global(h.lp)), h.bytes, back)
	if max(arrival, free) == vtime.Forever {
		return false
	}
	if m.Partition.Activities != nil {
		m.sentData(h.bytes, back, arrival)
	}
	m.tell(world.RecordFree, h, free)
	m.arrived(h, arrival)
	return true
}

// arrived completes the receive of DATA, which arrives at an instant.
func (m *Messages) arrived(h *handshake, t vtime.Time) {
	r := m.Requests.At(h.request)
	r.arrival = t
	m.CompleteRequest(h.request, max(r.posted, t))
	m.Notice(h.lp)
}

// inCallBy returns the first instant from t on at which the rank of a handshake is in a call, if that
// is known though messages may still come. The request counts only if it is in use still: that of a
// synchronous message is complete with the match.
func (m *Messages) inCallBy(h *handshake, t vtime.Time, inUse bool) (at vtime.Time, known bool) {
	if m.Partition.Strict || len(m.computing[h.lp].phases) > phasesKept {
		return 0, false
	}
	clock, c := m.Partition.Clock[h.lp], &m.computing[h.lp]
	if t <= clock {
		// A phase that ends at the clock goes on if the rank computes next.
		at = m.inCall(h.lp, t)
		return at, c.called || at < clock
	}
	box := m.Mailbox(h.lp)
	if box == nil {
		return 0, false
	}
	w := &box.Wait
	if w.Kind == WaitOne && !w.queued {
		if s := m.Requests.At(w.Subject); s.Kind == SendRequest && !s.Complete && t <= s.arrival {
			return t, true
		}
	}
	if w.queued || h.request == 0 || !inUse {
		return t, w.queued && t <= w.at
	}
	// Of a message to itself, the rank may wait for either end.
	toItself := h.opposite != 0 && h.peer == m.Partition.Global(h.lp)
	return t, m.awaits(w, h.request) || toItself && m.awaits(w, h.opposite)
}

// awaits reports whether a rank is in a call that does not end before a request of it is complete.
func (m *Messages) awaits(w *wait, request int32) bool {
	r := m.Requests.At(request)
	switch w.Kind {
	case NoWait:
		return r.Procedure.Blocks() // which waits for it next
	case WaitOne:
		return w.Subject == request || r.whole > 0 && w.Subject == r.whole
	case WaitAll:
		return r.waited || r.whole > 0 && m.Requests.At(r.whole).waited
	}
	return false
}

// tell has the answer to a handshake reach the other rank at an instant.
func (m *Messages) tell(kind byte, h *handshake, t vtime.Time) {
	answer := handshake{bytes: h.bytes, peer: m.Partition.Global(h.lp), request: h.opposite, opposite: h.request, ack: true, large: h.large}
	lp, local := m.Partition.Local(int(h.peer))
	if local {
		answer.lp = lp
		m.answered(kind, answer, t)
		return
	}
	m.sendAnswer(kind, int(h.peer), &answer, t)
}

// The sizes of the record of an answer to a handshake, and of what it has more where it goes through interfaces.
const (
	answerRecord  = 1 + 1 + 4*4 + 8 + 8
	passageRecord = 3 * 8
)

// sendAnswer sends an answer to a handshake as a record to the engine of its rank.
func (m *Messages) sendAnswer(kind byte, rank int, answer *handshake, t vtime.Time) {
	bytes := answerRecord
	if m.Interfaces != nil {
		bytes += passageRecord
	}
	w := world.Writer{Rest: m.Partition.Engine.Record(m.Partition.Engine.Partition().Owner(rank), bytes)}
	w.U8(kind)
	large := byte(0)
	if answer.large {
		large = 1
	}
	w.U8(large)
	w.U32(uint32(rank))
	w.U32(uint32(answer.peer))
	w.U32(uint32(answer.request))
	w.U32(uint32(answer.opposite))
	w.U64(uint64(answer.bytes))
	w.U64(uint64(t))
	if m.Interfaces != nil {
		w.U64(uint64(answer.at))
		w.U64(answer.order[0])
		w.U64(answer.order[1])
	}
}

// DeliverAnswer handles the record of an answer to a handshake.
func (m *Messages) DeliverAnswer(kind byte, r world.Reader) {
	answer := handshake{ack: true, large: r.U8() != 0}
	answer.lp, _ = m.Partition.Local(int(r.U32()))
	answer.peer, answer.request, answer.opposite = int32(r.U32()), int32(r.U32()), int32(r.U32())
	answer.bytes = int64(r.U64())
	t := vtime.Time(r.U64())
	if m.Interfaces != nil {
		answer.at, answer.order = vtime.Time(r.U64()), [2]uint64{r.U64(), r.U64()}
		m.reachAnswer(kind, &answer, t)
		return
	}
	m.answered(kind, answer, t)
}

// answered handles an answer that reaches its rank at t: ACK or DATA, or that its send is complete.
func (m *Messages) answered(kind byte, h handshake, t vtime.Time) {
	switch {
	case kind == world.RecordData:
		m.arrived(&h, t)
	case kind == world.RecordFree:
		m.closed(h.lp)
		m.Acknowledged(h.request, t)
	case h.large:
		m.scheduleHandshake(h, t)
	default: // of a synchronous send, which waits in a call for it
		m.Acknowledged(h.request, t)
	}
}

// shake begins the handshake of a message that an LP has matched with a receive, and discards the
// message.
func (m *Messages) shake(lp, ri, index int32) {
	msg := m.messages.At(index)
	h := handshake{order: m.orderOfShake(ri), bytes: msg.bytes, lp: lp, peer: msg.rank, request: ri, opposite: msg.request, large: msg.large, blocks: msg.sender&sendsInCall != 0}
	matched := max(m.Requests.At(ri).posted, msg.arrival)
	m.discard(index)
	m.scheduleHandshake(h, matched)
}
