package p2p

import (
	"slices"

	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// On a machine with progress in calls, a rank handles arrived messages only while it
// is in an MPI call. Of a rendezvous the receiver handles REQ, and sends ACK,
// at the first instant in a call from the match on. The sender handles ACK, and sends DATA, at
// the first instant in a call from the arrival of ACK on. The receiver handles DATA in the wait
// for it. A rank that has ended is in MPI_Finalize.
//
// With progress: calls, an instant is in a call unless it lies strictly within a compute phase. With progress: waits, the
// rule of VACED-SIM, it is in a call unless it lies strictly between the end of a call that waits, tests or probes
// and the start of the next. What such a call finds without a receive is in the unexpected queue then. So the
// receive of a message that came by the end of the last such call handles it when it is posted (Algorithm 1 of
// Lin, Yang, Xu and Guo, IEICE Transactions E96-D, 2013).
//
// What a rank does by the instant at which a message is there for it is known if it has computed
// beyond, or is in a call that cannot end before. Else the message is a timed event: at its instant
// all is known. A message that comes between calls that wait is set aside until the next.
// VACED-SIM handles messages as its host learns of them and approximates this.

// progress is the state of a partition with progress in calls.
type progress struct {
	InCalls    bool
	inWaits    bool        // in those only that wait, test or probe
	computing  []computing // by LP
	handshakes world.Slab[handshake]
	passed     vtime.Time // no handshake reaches a rank before this instant any more
	noted      int        // phases noted since passed was computed
}

// computing is the recent past of an LP, as far as a handshake may need it.
type computing struct {
	phases []phase // without a call, in the order of time, disjoint
	open   int32   // receives, rendezvous and due handshakes of the LP that are not over
	due    int32   // latest of the handshakes that are timed events and not answered, 0 for none
	called bool    // MPI, since the last phase
	ended  bool    // the LP

	// With progress in waits:
	waiting bool       // in the call made last, which waits, tests or probes, or at the end
	left    vtime.Time // else when the last such call ended
	aside   int32      // first of the handshakes that came after that, 0 for none
}

// phase is a time without a call of MPI, or without a call that waits, tests or probes.
type phase struct{ from, to vtime.Time }

// handshake is a message of a rendezvous or a synchronous send on its way to a rank, which
// handles it at an instant; or an event for which the agent of a nonblocking collective of the rank waits.
type handshake struct {
	bytes    int64
	lp       int32           // the LP that handles the handshake; None once it was answered before its instant was safe
	peer     int32           // WORLD number of the other rank
	request  int32           // of the LP, 0 for none
	opposite int32           // request of the other rank, 0 for none; of an agent: its name for the event that it waits for
	agent    int32           // 0 for none
	ack      bool            // it is ACK, else REQ
	large    bool            // a rendezvous, else a synchronous send
	blocks   bool            // REQ: its sender, on another engine, is in one call until the send is complete
	by       world.Procedure // REQ: of the receive
	next     int32           // previous pending handshake of the same LP, 0 for none
	previous int32           // later pending handshake, 0 for none
	at       vtime.Time      // instant of the timed event; of a handshake between nodes, when it was sent
	order    [2]uint64       // key among the handshakes that a rank answers at one instant; see orderOfShake
}

// openProgress initialises the state for a machine with progress in calls.
func (m *Messages) openProgress() {
	m.inWaits = m.Partition.Target.ProgressInWaits()
	if m.InCalls = m.Partition.Target.ProgressInCalls(); m.InCalls {
		m.Partition.ClocksOnly = false
		m.computing = make([]computing, m.Partition.Ranks)
	}
}

// EnterCall records that an LP calls MPI.
func (m *Messages) EnterCall(lp int32) {
	if m.InCalls {
		m.inCallNow(lp)
	}
}

func (m *Messages) inCallNow(lp int32) {
	if m.inWaits {
		m.leaveWait(lp, m.Partition.Clock[lp])
		return
	}
	m.computing[lp].called = true
	m.answerDue(lp)
}

// EnterWait notes that the call of an LP waits, tests or probes from its clock on, or that the LP has ended.
func (m *Messages) EnterWait(lp int32) {
	if m.inWaits && !m.computing[lp].waiting {
		m.enterWait(lp)
	}
}

func (m *Messages) enterWait(lp int32) {
	c, now := &m.computing[lp], m.Partition.Clock[lp]
	if c.open == 0 {
		c.phases = c.phases[:0]
	} else if c.left < now {
		m.note(c, phase{c.left, now})
	}
	c.waiting = true
	for index := c.aside; index != 0; index = c.aside {
		h := *m.handshakes.At(index)
		c.aside = h.next
		m.handshakes.Release(index)
		m.scheduleHandshake(h, max(h.at, now))
	}
	m.answerDue(lp)
}

// leaveWait notes that an LP goes on, whose latest call has ended at an instant.
func (m *Messages) leaveWait(lp int32, t vtime.Time) {
	if c := &m.computing[lp]; c.waiting {
		c.waiting, c.left = false, t
	}
}

// between reports whether an LP handles an event at an instant only in a call that it has not begun: its next call that waits,
// tests or probes.
func (m *Messages) between(lp int32, t vtime.Time) bool {
	c := &m.computing[lp]
	return m.inWaits && !c.waiting && t > c.left
}

// setAside keeps a handshake, which comes at an instant, for the next call of its LP that waits, tests or probes.
func (m *Messages) setAside(h handshake, t vtime.Time) {
	index, c := m.handshakes.Take(), &m.computing[h.lp]
	h.at, h.next, h.previous = t, c.aside, 0
	*m.handshakes.At(index), c.aside = h, index
}

// phasesKept is the number of phases of an LP beyond which all its handshakes are timed events. A timed event
// tells that time has passed.
const phasesKept = 1024

// dueLooked is the greatest number of pending handshakes that a call tries to answer. An LP may
// have as many pending handshakes as messages.
const dueLooked = 16

// answerDue answers the latest pending handshakes of an LP whose answers follow from the LP's call.
// Timed events answer the other handshakes, at the same instants.
func (m *Messages) answerDue(lp int32) {
	for index, looked := m.computing[lp].due, 0; index != 0 && looked < dueLooked; looked++ {
		h := *m.handshakes.At(index)
		if at, known := m.inCallBy(&h, h.at, h.large); known && m.answer(&h, at) {
			m.undue(lp, index)
			m.handshakes.At(index).lp = world.None
			m.Partition.Engine.Withdraw()
		}
		index = h.next
	}
}

// undue removes an answered handshake from the pending handshakes of an LP.
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

// computes records a compute phase of an LP. Phases without a call in between are one phase. An LP
// without open receives or rendezvous records none, since no handshake will lie in the phase.
func (m *Messages) computes(lp int32, from, to vtime.Time) {
	c := &m.computing[lp]
	switch {
	case m.inWaits:
		m.leaveWait(lp, from)
	case c.open == 0:
		c.phases = c.phases[:0]
	default:
		m.note(c, phase{from, to})
		c.called = false
	}
}

// note adds a phase. With progress in waits, calls are between any two.
func (m *Messages) note(c *computing, p phase) {
	// Where invariants are checked, short programs get here, too.
	if m.noted++; m.noted >= max(m.Partition.Ranks, phasesKept) || invariant.Enabled {
		m.noted, m.passed = 0, max(m.passed, m.earliestHandshake())
	}
	if last := len(c.phases) - 1; last >= 0 && !c.called && !m.inWaits && c.phases[last].to == p.from {
		c.phases[last].to = p.to
	} else {
		c.phases = append(c.phases, p)
	}
	// Half of them at least are over, or they stay: so a phase is moved once in the mean. The last phase
	// stays in any case, since it may go on.
	if over := min(c.endedBy(m.passed), len(c.phases)-1); 2*over >= len(c.phases) {
		c.phases = append(c.phases[:0], c.phases[over:]...)
	}
}

// earliestHandshake returns an instant before which no handshake reaches a rank any more, since no
// rank acts before, here or elsewhere. It reads the clocks of all LPs, so it is called once in as
// many phases as there are LPs. EIT bounds the actions of other engines; it may stand still while
// this engine does not ask for it.
func (m *Messages) earliestHandshake() vtime.Time {
	t := min(m.Partition.Engine.EIT(), m.Partition.Engine.NextTimed(), m.above.EarliestAgent())
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

// opened counts a receive or rendezvous that an LP has begun; closed counts one that is over.
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

// scheduleHandshake has the LP of a handshake handle it at an instant, or in the call after it. The
// handshake is answered now if the state of the LP at that instant is known: then no engine waits
// for other engines to come so far.
func (m *Messages) scheduleHandshake(h handshake, t vtime.Time) {
	if !m.InCalls {
		m.answerAcross(&h, t)
		return
	}
	if m.between(h.lp, t) {
		m.setAside(h, t)
		return
	}
	if invariant.Enabled && t < m.passed {
		invariant.Broken("a handshake reaches rank %d at %v, and none was to come before %v any more", m.Partition.Global(h.lp), t, m.passed)
	}
	if at, known := m.inCallBy(&h, t, true); known && m.answer(&h, at) {
		return
	}
	m.enterHandshake(h, t, t)
}

// enterHandshake makes a handshake, which comes at t, a timed event at an instant. That is t or later.
func (m *Messages) enterHandshake(h handshake, t, at vtime.Time) {
	index := m.handshakes.Take()
	due := &m.computing[h.lp].due
	h.at, h.next, h.previous = t, *due, 0
	if h.next != 0 {
		m.handshakes.At(h.next).previous = index
	}
	m.opened(h.lp)
	*m.handshakes.At(index), *due = h, index
	rank := m.Partition.Global(h.lp)
	m.Partition.Engine.Schedule(engine.Event{Time: at, Source: rank, LP: rank, Sequence: uint64(index), Data: world.DataHandshake})
}

// AwaitCall has the agent of an LP's nonblocking collective with a request go on at the first instant from t on at
// which the LP is in a call. That instant is returned if it is known now. Else [Upcalls].InCall tells it. The agent acts
// at an instant or later. what is its name for the event that it waits for.
func (m *Messages) AwaitCall(lp, request, agent, what int32, t, acts vtime.Time) (at vtime.Time, known bool) {
	h := handshake{lp: lp, peer: world.None, request: request, agent: agent, opposite: what}
	if m.between(lp, t) {
		m.setAside(h, t)
		return 0, false
	}
	if at, known = m.inCallBy(&h, t, true); !known {
		m.enterHandshake(h, t, max(t, acts))
	}
	return at, known
}

// Taken returns the instant up to which an LP, which is in a call, has handled all that has come.
func (m *Messages) Taken(lp int32) vtime.Time {
	if c := &m.computing[lp]; m.inWaits && !c.waiting {
		return c.left
	}
	return m.Partition.Clock[lp]
}

// HandleHandshake handles a REQ or ACK that reaches its rank at t. All arrivals at or before t are
// known.
func (m *Messages) HandleHandshake(index int32, t vtime.Time) {
	m.passed = max(m.passed, t)
	h := *m.handshakes.At(index)
	m.undue(h.lp, index)
	m.handshakes.Release(index)
	if m.between(h.lp, h.at) {
		m.setAside(h, h.at)
		return
	}
	if at := m.inCall(h.lp, h.at); !m.answer(&h, at) {
		way, by := "from", h.by
		if h.ack {
			way, by = "to", m.Box(h.lp).Wait.Procedure
		}
		m.Partition.PastEnd(int(m.Partition.Global(h.lp)), at, by, "a message of %s %s rank %d", spelling.Count(h.bytes, "byte"), way, h.peer)
	}
}

// HandshakeWithdrawn reports whether a handshake was answered before its instant was safe, and
// releases such a handshake.
func (m *Messages) HandshakeWithdrawn(index int32) bool {
	if m.handshakes.At(index).lp != world.None {
		return false
	}
	m.handshakes.Release(index)
	return true
}

// answer answers a handshake at an instant: REQ by ACK, and ACK by DATA. It returns false, and
// changes nothing, if the answer would come after the end of virtual time.
func (m *Messages) answer(h *handshake, at vtime.Time) bool {
	if h.agent != 0 {
		m.above.InCall(h.agent, h.opposite, at)
		return true
	}
	own := int(m.Partition.Global(h.lp))
	if m.Shares(own, int(h.peer)) {
		m.answerAcross(h, at)
		return true
	}
	if !h.ack {
		back := at.Add(m.Partition.Target.Latency(own, int(h.peer)))
		if back == vtime.Forever {
			return false
		}
		if m.Partition.Activities != nil {
			m.acked(own, int(h.peer))
		}
		ready := m.readyOf(h, at)
		if !h.blocks || m.Partition.Strict || !m.answerForBoth(h, back, ready) {
			m.tell(world.RecordReply, h, back, ready)
		}
		return true
	}
	arrival, free := m.Partition.Target.Data(own, int(h.peer), h.bytes, at)
	if max(arrival, free) == vtime.Forever {
		return false
	}
	if m.Partition.Activities != nil {
		m.sentData(own, int(h.peer), h.bytes, at, arrival)
	}
	m.tell(world.RecordData, h, arrival, m.readyOf(h, at))
	m.closed(h.lp)
	if h.request != 0 {
		m.Acknowledged(h.request, free)
	}
	return true
}

// answerForBoth completes a rendezvous whose ACK is back at an instant. Its sender is then in a
// call, and sends DATA at once. So the receiver's engine can compute when DATA arrives and when the
// sender is free, and sends that in one record. It returns false, and changes nothing, if DATA
// would arrive, or the sender be free, after the end of virtual time. ready is the result of readyOf.
func (m *Messages) answerForBoth(h *handshake, back vtime.Time, ready readiness) bool {
	arrival, free := m.Partition.Target.Data(int(h.peer), int(m.Partition.Global(h.lp)), h.bytes, back)
	if max(arrival, free) == vtime.Forever {
		return false
	}
	if m.Partition.Activities != nil {
		m.sentData(int(h.peer), int(m.Partition.Global(h.lp)), h.bytes, back, arrival)
	}
	m.tell(world.RecordFree, h, free, ready)
	m.arrived(h, arrival)
	return true
}

// arrived completes the receive of DATA that arrive at an instant.
func (m *Messages) arrived(h *handshake, t vtime.Time) {
	r := m.Requests.At(h.request)
	r.arrival = t
	m.CompleteRequest(h.request, max(r.posted, t))
	m.Notice(h.lp)
}

// inCallBy returns the first instant from t on at which the rank of a handshake is in a call, if
// this instant is already known. The handshake's request counts only while it is in use: the
// request of a synchronous message is complete with the match.
func (m *Messages) inCallBy(h *handshake, t vtime.Time, inUse bool) (at vtime.Time, known bool) {
	if m.Partition.Strict || len(m.computing[h.lp].phases) > phasesKept || m.between(h.lp, t) {
		return 0, false
	}
	clock, c := m.Partition.Clock[h.lp], &m.computing[h.lp]
	if t <= clock {
		// A phase that ends at the clock goes on if the rank computes next.
		at = m.inCall(h.lp, t)
		return at, m.inWaits || c.called || at < clock
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
	// The rank may wait for either end of a message to itself.
	toItself := h.opposite != 0 && h.peer == m.Partition.Global(h.lp)
	return t, m.awaits(w, h.request) || toItself && m.awaits(w, h.opposite)
}

// awaits reports whether a rank is in a call that cannot end before the rank's request is complete.
func (m *Messages) awaits(w *wait, request int32) bool {
	r := m.Requests.At(request)
	switch w.Kind {
	case NoWait:
		return r.Procedure.Blocks() && r.Kind != CollectiveRequest // which waits for it next; a collective has a request in its nonblocking form
	case WaitOne:
		return w.Subject == request || r.whole > 0 && w.Subject == r.whole
	case WaitAll:
		return r.waited || r.whole > 0 && m.Requests.At(r.whole).waited
	}
	return false
}

// tell delivers the answer to a handshake to the other rank at an instant. ready is the result of readyOf.
func (m *Messages) tell(kind byte, h *handshake, t vtime.Time, ready readiness) {
	answer := handshake{bytes: h.bytes, peer: m.Partition.Global(h.lp), request: h.opposite, opposite: h.request, ack: true, large: h.large}
	lp, local := m.Partition.Local(int(h.peer))
	if local {
		answer.lp = lp
		m.hears(kind, answer.request, told{ready: ready})
		m.answered(kind, answer, t)
		return
	}
	m.sendAnswer(kind, int(h.peer), &answer, t, told{ready: ready})
}

// Sizes in bytes of the record of an answer to a handshake, and of its additional parts where it
// passes interfaces, and with statistics.
const (
	answerRecord  = 1 + 1 + 4*4 + 8 + 8
	passageRecord = 3 * 8
	toldRecord    = readyRecord + 8
)

// sendAnswer sends an answer to a handshake as a record to the engine of the other rank.
func (m *Messages) sendAnswer(kind byte, rank int, answer *handshake, t vtime.Time, tells told) {
	bytes := answerRecord
	if m.Interfaces != nil {
		bytes += passageRecord
	}
	if m.why != nil {
		bytes += toldRecord
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
	if m.why != nil {
		tells.ready.write(&w)
		w.U64(uint64(tells.delay))
	}
}

// DeliverAnswer handles a record that holds an answer to a handshake.
func (m *Messages) DeliverAnswer(kind byte, r world.Reader) {
	answer := handshake{ack: true, large: r.U8() != 0}
	answer.lp, _ = m.Partition.Local(int(r.U32()))
	answer.peer, answer.request, answer.opposite = int32(r.U32()), int32(r.U32()), int32(r.U32())
	answer.bytes = int64(r.U64())
	t := vtime.Time(r.U64())
	if m.Interfaces != nil {
		answer.at, answer.order = vtime.Time(r.U64()), [2]uint64{r.U64(), r.U64()}
	}
	if m.why != nil {
		m.hears(kind, answer.request, told{readReadiness(&r), vtime.Duration(r.U64())})
	}
	if m.Interfaces != nil {
		m.reachAnswer(kind, &answer, t)
		return
	}
	m.answered(kind, answer, t)
}

// answered handles an answer that reaches its rank at t: ACK, DATA, or the completion of a send.
func (m *Messages) answered(kind byte, h handshake, t vtime.Time) {
	switch {
	case kind == world.RecordData:
		m.arrived(&h, t)
	case kind == world.RecordFree:
		m.closed(h.lp)
		m.Acknowledged(h.request, t)
	case h.large:
		switch {
		case m.why == nil:
		case h.request != 0:
			m.why.of.Open(h.request).came = t
		default:
			m.why.shakes(&h, 0, t, stats.Late{})
		}
		m.scheduleHandshake(h, t)
	default: // of a synchronous send, whose sender waits in a call
		m.Acknowledged(h.request, t)
	}
}

// shake begins the handshake of a message that an LP has matched with a receive, and discards the
// message. One that was in the unexpected queue when the receive was posted is handled then.
func (m *Messages) shake(lp, ri, index int32, queued bool) {
	msg := m.messages.At(index)
	h := handshake{order: m.orderOfShake(ri), bytes: msg.bytes, lp: lp, peer: msg.rank, request: ri, opposite: msg.request, large: msg.large, blocks: msg.sender&sendsInCall != 0}
	posted, arrival := m.Requests.At(ri).posted, msg.arrival
	if m.why != nil {
		m.why.shakes(&h, posted, arrival, *m.LateAt(ri))
	}
	h.by = m.Requests.At(ri).Procedure
	m.discard(index)
	if !queued || !m.answer(&h, posted) {
		m.scheduleHandshake(h, max(posted, arrival))
	}
}
