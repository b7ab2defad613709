package ptp

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
func (k *Messages) openProgress() {
	if k.InCalls = k.Target.ProgressInCalls(); k.InCalls {
		k.ClocksOnly = false
		k.computing = make([]computing, k.Ranks)
	}
}

// EnterCall notes that an LP calls MPI.
func (k *Messages) EnterCall(lp int32) {
	if k.InCalls {
		k.computing[lp].called = true
		k.answerDue(lp)
	}
}

// phasesKept is the number of phases of an LP beyond which its handshakes are timed events, whatever is
// known. Such an event tells that time has passed.
const phasesKept = 1024

// dueLooked is the number of handshakes that a call looks at. An LP may have as many as messages.
const dueLooked = 16

// answerDue answers those of an LP's latest handshakes of which its call tells enough. The others
// are answered by their timed events, with the same times.
func (k *Messages) answerDue(lp int32) {
	for index, looked := k.computing[lp].due, 0; index != 0 && looked < dueLooked; looked++ {
		h := *k.handshakes.At(index)
		if at, known := k.foreseen(&h, h.at, h.large); known && k.answer(&h, at) {
			k.undue(lp, index)
			k.handshakes.At(index).answered = true
			k.Engine.Withdraw()
		}
		index = h.next
	}
}

// undue takes a handshake, which is answered, out of those that are due.
func (k *Messages) undue(lp, index int32) {
	h := k.handshakes.At(index)
	if h.previous == 0 {
		k.computing[lp].due = h.next
	} else {
		k.handshakes.At(h.previous).next = h.next
	}
	if h.next != 0 {
		k.handshakes.At(h.next).previous = h.previous
	}
	k.closed(lp)
}

// computes notes a compute phase of an LP. Phases without a call in between are one. Without
// open receives or rendezvous no handshake will lie in it.
func (k *Messages) computes(lp int32, from, to vtime.Time) {
	c := &k.computing[lp]
	if c.open == 0 {
		c.phases = c.phases[:0]
		return
	}
	// Where invariants are checked, short programs get here, too.
	if k.noted++; k.noted >= max(k.Ranks, phasesKept) || invariant.Enabled {
		k.noted, k.passed = 0, max(k.passed, k.earliestHandshake())
	}
	if last := len(c.phases) - 1; last >= 0 && !c.called && c.phases[last].to == from {
		c.phases[last].to = to
	} else {
		c.phases = append(c.phases, phase{from, to})
	}
	c.called = false
	// Half of them at least are over, or they stay: so a phase is moved once in the mean. The last one
	// stays in any case, since it may go on.
	if over := min(c.endedBy(k.passed), len(c.phases)-1); 2*over >= len(c.phases) {
		c.phases = append(c.phases[:0], c.phases[over:]...)
	}
}

// earliestHandshake returns an instant before which no handshake reaches a rank any more: nobody acts before,
// here or elsewhere. It looks at all LPs, so it is called once they have noted a phase each in the mean.
// Of what other engines do it knows EIT, which may stand still while nobody asks for it.
func (k *Messages) earliestHandshake() vtime.Time {
	t := min(k.Engine.EIT(), k.Engine.NextTimed())
	for lp := range k.computing {
		if !k.computing[lp].ended {
			t = min(t, k.Clock[lp])
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
func (k *Messages) inCall(lp int32, t vtime.Time) vtime.Time {
	c := &k.computing[lp]
	if i := c.endedBy(t); i < len(c.phases) && c.phases[i].from < t {
		return c.phases[i].to
	}
	return t
}

// opened counts a receive or rendezvous that an LP has begun, closed one that is over.
func (k *Messages) opened(lp int32) {
	if k.InCalls {
		k.computing[lp].open++
	}
}

func (k *Messages) closed(lp int32) {
	if k.InCalls {
		k.computing[lp].open--
	}
}

// expectHandshake has a handshake handled at an instant, or the call after it. That is now if what
// its rank does then is known: no engine waits for the others to come so far.
func (k *Messages) expectHandshake(h handshake, t vtime.Time) {
	if !k.InCalls {
		k.answerAcross(&h, t)
		return
	}
	if invariant.Enabled && t < k.passed {
		invariant.Broken("a handshake reaches rank %d at %v, and none was to come before %v any more", k.Global(h.lp), t, k.passed)
	}
	if at, known := k.foreseen(&h, t, true); known && k.answer(&h, at) {
		return
	}
	index := k.handshakes.Take()
	due := &k.computing[h.lp].due
	h.at, h.next = t, *due
	if h.next != 0 {
		k.handshakes.At(h.next).previous = index
	}
	k.opened(h.lp)
	*k.handshakes.At(index), *due = h, index
	rank := k.Global(h.lp)
	k.Engine.Schedule(engine.Event{Time: t, Source: rank, LP: rank, Sequence: uint64(index), Data: world.DataHandshake})
}

// HandleHandshake handles a REQ or an ACK that reaches its rank at t. All arrivals at or before
// t are known.
func (k *Messages) HandleHandshake(index int32, t vtime.Time) {
	k.passed = max(k.passed, t)
	h := *k.handshakes.At(index)
	k.undue(h.lp, index)
	k.handshakes.Release(index)
	if at := k.inCall(h.lp, t); !k.answer(&h, at) {
		k.PastEnd(int(k.Global(h.lp)), at, k.Box(h.lp).Wait.Procedure, "a message of %d bytes to rank %d", h.bytes, h.peer)
	}
}

// HandshakeWithdrawn reports whether a handshake was answered before its instant was safe, and forgets it
// then.
func (k *Messages) HandshakeWithdrawn(index int32) bool {
	if !k.handshakes.At(index).answered {
		return false
	}
	k.handshakes.Release(index)
	return true
}

// answer answers a handshake at an instant: REQ by ACK, and ACK by DATA. It reports false, and has done
// nothing, if DATA would come after the end of virtual time.
func (k *Messages) answer(h *handshake, at vtime.Time) bool {
	own := int(k.Global(h.lp))
	if k.Crosses(own, int(h.peer)) {
		k.answerAcross(h, at)
		return true
	}
	if !h.ack {
		if k.Activities != nil {
			k.acked(own, int(h.peer))
		}
		back := at.Add(k.Target.Latency(own, int(h.peer)))
		if !h.blocks || k.Strict || !k.answerForBoth(h, back) {
			k.tell(world.RecordReply, h, back)
		}
		return true
	}
	arrival, free := k.Target.Data(own, int(h.peer), h.bytes, at)
	if max(arrival, free) == vtime.Forever {
		return false
	}
	if k.Activities != nil {
		k.sentData(h.bytes, at, arrival)
	}
	k.tell(world.RecordData, h, arrival)
	k.closed(h.lp)
	if h.request != 0 {
		k.Acknowledged(h.request, free)
	}
	return true
}

// answerForBoth completes a rendezvous whose ACK is back at an instant: its sender is in a call then, and sends
// DATA at once. So the receiver knows when DATA arrives and when the sender is free, which one record tells it. It
// reports false, and has done nothing, if that would come after the end of virtual time.
func (k *Messages) answerForBoth(h *handshake, back vtime.Time) bool {
	arrival, free := k.Target.Data(int(h.peer), int(k.Global(h.lp)), h.bytes, back)
	if max(arrival, free) == vtime.Forever {
		return false
	}
	if k.Activities != nil {
		k.sentData(h.bytes, back, arrival)
	}
	k.tell(world.RecordFree, h, free)
	k.arrived(h, arrival)
	return true
}

// arrived completes the receive of DATA, which arrives at an instant.
func (k *Messages) arrived(h *handshake, t vtime.Time) {
	r := k.Requests.At(h.request)
	r.arrival = t
	k.CompleteRequest(h.request, max(r.posted, t))
	k.Notice(h.lp)
}

// foreseen returns the first instant from t on at which the rank of a handshake is in a call, if that
// is known though messages may still come. The request counts only if it is in use still: that of a
// synchronous message is complete with the match.
func (k *Messages) foreseen(h *handshake, t vtime.Time, inUse bool) (at vtime.Time, known bool) {
	if k.Strict || len(k.computing[h.lp].phases) > phasesKept {
		return 0, false
	}
	clock, c := k.Clock[h.lp], &k.computing[h.lp]
	if t <= clock {
		// A phase that ends at the clock goes on if the rank computes next.
		at = k.inCall(h.lp, t)
		return at, c.called || at < clock
	}
	box := k.Mailbox(h.lp)
	if box == nil {
		return 0, false
	}
	w := &box.Wait
	if w.Kind == WaitOne && !w.queued {
		if s := k.Requests.At(w.Subject); s.Kind == SendRequest && !s.Complete && t <= s.arrival {
			return t, true
		}
	}
	if w.queued || h.request == 0 || !inUse {
		return t, w.queued && t <= w.at
	}
	// Of a message to itself, the rank may wait for either end.
	toItself := h.opposite != 0 && h.peer == k.Global(h.lp)
	return t, k.awaits(w, h.request) || toItself && k.awaits(w, h.opposite)
}

// awaits reports whether a rank is in a call that does not end before a request of it is complete.
func (k *Messages) awaits(w *wait, request int32) bool {
	r := k.Requests.At(request)
	switch w.Kind {
	case NoWait:
		return r.Procedure.Blocks() // which waits for it next
	case WaitOne:
		return w.Subject == request || r.whole > 0 && w.Subject == r.whole
	case WaitAll:
		return r.waited || r.whole > 0 && k.Requests.At(r.whole).waited
	}
	return false
}

// tell has the answer to a handshake reach the other rank at an instant.
func (k *Messages) tell(kind byte, h *handshake, t vtime.Time) {
	answer := handshake{bytes: h.bytes, peer: k.Global(h.lp), request: h.opposite, opposite: h.request, ack: true, large: h.large}
	lp, local := k.Local(int(h.peer))
	if local {
		answer.lp = lp
		k.answered(kind, answer, t)
		return
	}
	k.sendAnswer(kind, int(h.peer), &answer, t)
}

// The sizes of the record of an answer to a handshake, and of what it has more where it goes through interfaces.
const (
	answerRecord  = 1 + 1 + 4*4 + 8 + 8
	passageRecord = 3 * 8
)

// sendAnswer sends an answer to a handshake as a record to the engine of its rank.
func (k *Messages) sendAnswer(kind byte, rank int, answer *handshake, t vtime.Time) {
	bytes := answerRecord
	if k.Interfaces != nil {
		bytes += passageRecord
	}
	w := world.Writer{Rest: k.Engine.Record(k.Engine.Partition().Owner(rank), bytes)}
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
	if k.Interfaces != nil {
		w.U64(uint64(answer.at))
		w.U64(answer.order[0])
		w.U64(answer.order[1])
	}
}

// DeliverAnswer handles the record of an answer to a handshake.
func (k *Messages) DeliverAnswer(kind byte, r world.Reader) {
	answer := handshake{ack: true, large: r.U8() != 0}
	answer.lp, _ = k.Local(int(r.U32()))
	answer.peer, answer.request, answer.opposite = int32(r.U32()), int32(r.U32()), int32(r.U32())
	answer.bytes = int64(r.U64())
	t := vtime.Time(r.U64())
	if k.Interfaces != nil {
		answer.at, answer.order = vtime.Time(r.U64()), [2]uint64{r.U64(), r.U64()}
		k.reachAnswer(kind, &answer, t)
		return
	}
	k.answered(kind, answer, t)
}

// answered handles an answer that reaches its rank at t: ACK or DATA, or that its send is complete.
func (k *Messages) answered(kind byte, h handshake, t vtime.Time) {
	switch {
	case kind == world.RecordData:
		k.arrived(&h, t)
	case kind == world.RecordFree:
		k.closed(h.lp)
		k.Acknowledged(h.request, t)
	case h.large:
		k.expectHandshake(h, t)
	default: // of a synchronous send, which waits in a call for it
		k.Acknowledged(h.request, t)
	}
}

// shake begins the handshake of a message that an LP has matched with a receive, and discards the
// message.
func (k *Messages) shake(lp, ri, index int32) {
	m := k.messages.At(index)
	h := handshake{order: k.orderOfShake(m.comm, m.tag), bytes: m.bytes, lp: lp, peer: m.rank, request: ri, opposite: m.request, large: m.large, blocks: m.sender&sendsInCall != 0}
	matched := max(k.Requests.At(ri).posted, m.arrival)
	k.discard(index)
	k.expectHandshake(h, matched)
}
