package p2p

import (
	"slices"

	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// beginWait starts a wait of an LP. It reports whether the wait is over at once. If not, the LP
// must be suspended; it is resumed when the wait is over.
func (m *Messages) beginWait(lp int32, box *Mailbox, kind WaitKind, c world.Procedure) bool {
	if kind != TestCancel {
		m.EnterWait(lp) // before there is a wait that it would end
	}
	w := &box.Wait
	w.Kind, w.Procedure, w.queued, w.armed = kind, c, false, vtime.Forever
	w.generation++
	if m.why != nil {
		*m.why.waits.Open(lp) = m.Partition.Clock[lp]
	}
	if m.Processors != nil {
		m.Processors.Operate(lp, resource.Operation{Need: resource.End, Kind: opWait, Direct: c.Blocks()})
		return false
	}
	if !m.consider(lp, box, unknown) {
		if m.InCalls {
			m.answerDue(lp)
		}
		return false
	}
	m.Finish(lp, box)
	return m.Partition.Clock[lp] < vtime.Forever
}

// reconsider evaluates the wait of an LP again after an event, and queues the LP if the wait is
// over.
func (m *Messages) reconsider(lp int32, box *Mailbox) {
	if m.Processors != nil {
		m.Processors.Look(lp)
		return
	}
	w := &box.Wait
	if w.Kind != NoWait && !w.queued && m.consider(lp, box, unknown) {
		w.queued = true
		m.Partition.Engine.Ready(lp)
	}
}

// HandleWait evaluates a wait of an LP at t, the instant for which it was armed. All arrivals
// at or before t are known. It reports whether the wait is over.
func (m *Messages) HandleWait(lp int32, generation uint32, t vtime.Time) bool {
	box := m.Mailbox(lp)
	if box == nil {
		return false // the LP has ended
	}
	w := &box.Wait
	if w.generation != generation || w.Kind == NoWait || w.queued || w.armed != t {
		return false
	}
	w.armed = vtime.Forever
	return m.consider(lp, box, t)
}

// consider reports whether the wait of an LP is over, given that all arrivals at or before known
// have been delivered. If not, it arms a timed event for the next evaluation, unless the instant of
// the next evaluation is unknown.
func (m *Messages) consider(lp int32, box *Mailbox, known vtime.Time) bool {
	w := &box.Wait
	at, certain := m.evaluate(lp, box, known)
	over := certain && (!m.Partition.Strict || at <= known)
	if over && w.ofWaitSet() && m.looksThrough(lp, w, at) {
		at, certain = m.evaluate(lp, box, known)
		over = certain && (!m.Partition.Strict || at <= known)
	}
	if over {
		w.at = at
		return true
	}
	if at < w.armed {
		w.armed = at
		m.Partition.Engine.Schedule(engine.Event{
			Time: at, Source: m.Partition.Global(lp), LP: m.Partition.Global(lp), Sequence: afterHandshakes | uint64(w.generation), Data: world.DataWait,
		})
	}
	return false
}

// afterHandshakes has the evaluation of a wait come after the handshakes of its LP at the same instant: the call takes them
// first. The number of a wait has 32 bits, and the numbers of handshakes are less than afterHandshakes.
const afterHandshakes = 1 << 32

// settleAt settles the LP's receives from any source at instant t, whatever the LP does by
// then. Senders that wait for the match learn of it then, not at the LP's next wait.
//
// A single event is enough for any number of waiting messages: HandleSettle schedules the next
// event.
func (m *Messages) settleAt(lp int32, box *Mailbox, t vtime.Time) {
	if t >= box.settles {
		return
	}
	box.settles = t
	m.Partition.Engine.Schedule(engine.Event{Time: t, Source: m.Partition.Global(lp), LP: m.Partition.Global(lp), Data: world.DataSettle})
}

// HandleSettle settles an LP's receives at t, an instant of settleAt. All arrivals at or before t
// are known. It reports whether the LP's wait is over.
func (m *Messages) HandleSettle(lp int32, t vtime.Time) bool {
	if m.MailboxOf[lp] == 0 {
		return false
	}
	box := m.Box(lp)
	if box.settles == t { // else several events are pending: the mailbox waits for another event, or for none
		box.settles = vtime.Forever
	}
	settled, next := m.settle(lp, box, t)
	if next != vtime.Forever {
		m.settleAt(lp, box, next)
	}
	return settled && box.Wait.Kind != NoWait && !box.Wait.queued && m.consider(lp, box, t)
}

// evaluate returns the end of an LP's wait, if the end is certain. Else it returns the instant up
// to which arrivals must be known for the next evaluation, Forever if the wait needs an event
// first.
func (m *Messages) evaluate(lp int32, box *Mailbox, known vtime.Time) (at vtime.Time, certain bool) {
	w := &box.Wait
	clock := m.Partition.Clock[lp]
	switch w.Kind {
	case WaitOne:
		if r := m.Requests.At(w.Subject); r.Complete {
			return max(clock, r.Time), true
		}
		return vtime.Forever, false
	case WaitAll:
		if w.pending == 0 {
			return m.latest(clock, w.Requests), true
		}
		return vtime.Forever, false
	case WaitProbe:
		return m.evaluateProbe(box, clock, known)
	case WaitAny, WaitSome:
		at = max(clock, m.soonest(lp, w))
		return at, at <= known
	default:
		return m.evaluatePoll(lp, box, clock, known)
	}
}

// earliest returns the least completion time of the requests of a wait, Forever if no request is
// complete. Inactive requests (index 0) are skipped.
func (m *Messages) earliest(lp int32, w *wait) vtime.Time {
	if len(w.Requests) == 0 {
		return m.earliestInSet(m.waitSets[lp])
	}
	least := vtime.Forever
	for _, ri := range w.Requests {
		if ri == 0 {
			continue
		}
		if r := m.Requests.At(ri); r.Complete {
			least = min(least, r.Time)
		}
	}
	return least
}

// latest returns the greatest completion time of the requests, or clock if that is greater.
func (m *Messages) latest(clock vtime.Time, requests []int32) vtime.Time {
	for _, ri := range requests {
		if ri != 0 {
			clock = max(clock, m.Requests.At(ri).Time)
		}
	}
	return clock
}

// evaluateProbe is evaluate for a blocking probe.
func (m *Messages) evaluateProbe(box *Mailbox, clock, known vtime.Time) (vtime.Time, bool) {
	w := &box.Wait
	w.Subject = m.leastMessage(box, w.pattern())
	if w.Subject == 0 {
		return vtime.Forever, false
	}
	msg := m.messages.At(w.Subject)
	switch {
	case w.Peer == world.AnySource && msg.arrival > known:
		return msg.arrival, false
	case w.Peer != world.AnySource && m.firstReceive(box, msg) != 0: // that receive gets the message, if only later in settle
		return vtime.Forever, false
	}
	return max(clock, msg.arrival), true
}

// evaluatePoll is evaluate for a test or a nonblocking probe, which ends at the LP's clock. A long
// loop of polls ends with the first successful poll.
func (m *Messages) evaluatePoll(lp int32, box *Mailbox, clock, known vtime.Time) (vtime.Time, bool) {
	if !m.long(box.polls, clock) {
		return clock, clock <= known || m.foresees(lp, box, clock)
	}
	success := m.successTime(lp, box)
	if success == vtime.Forever {
		m.waitsInLoop(lp)
		return vtime.Forever, false
	}
	at := clock
	if success > clock {
		periods := (success - clock - 1) / vtime.Time(m.pollTime)
		at = clock.Add(m.pollTime.Times(int(periods) + 1))
	}
	return at, at <= known
}

// successTime returns the instant from which on a poll succeeds, as far as is known.
func (m *Messages) successTime(lp int32, box *Mailbox) vtime.Time {
	w := &box.Wait
	switch w.Kind {
	case TestAll:
		if w.pending > 0 {
			return vtime.Forever
		}
		return m.latest(0, w.Requests)
	case TestProbe:
		if index := m.probed(box, vtime.Forever); index != 0 {
			return m.messages.At(index).arrival
		}
		return vtime.Forever
	default:
		return m.soonest(lp, w)
	}
}

// soonest returns the least known completion time of the requests of a wait for any of them,
// Forever if no request is complete.
func (m *Messages) soonest(lp int32, w *wait) vtime.Time {
	if w.ofWaitSet() {
		return m.earliestInSet(m.waitSets[lp])
	}
	return w.at
}

// probed returns the message that a probe at instant t finds, 0 for none.
func (m *Messages) probed(box *Mailbox, t vtime.Time) int32 {
	w := &box.Wait
	index := m.leastMessage(box, w.pattern())
	if index != 0 && m.messages.At(index).arrival > t {
		return 0
	}
	return index
}

// Finish ends the wait of an LP. It sets the clock, charges the complete requests and fills
// the completion.
func (m *Messages) Finish(lp int32, box *Mailbox) {
	w := &box.Wait
	kind := w.Kind
	w.Kind, w.queued = NoWait, false
	m.leavesLoop(lp)
	switch kind {
	case WaitOne:
		m.Charge(lp, m.Requests.At(w.Subject), w.at)
	case WaitAll:
		m.chargeAll(lp, w.Requests, w.at)
	case WaitAny, WaitSome:
		// fillCompletion charges the requests, from the clock at the start of the wait.
		w.found = true
		m.looked(lp, kind, w.Requests, w.at)
	case WaitProbe:
		m.Partition.Clock[lp] = w.at
		w.found = true
		if w.Peer == world.AnySource {
			msg := m.messages.At(w.Subject)
			m.decides(lp, w.pattern(), msg.arrival, msg.rank)
		}
	default:
		m.skipped(m.Partition.Clock[lp], w.at)
		m.Partition.Clock[lp] = w.at
		m.finishPoll(lp, box, kind)
		m.fillCompletion(lp, box, kind)
		return
	}
	m.fillCompletion(lp, box, kind)
	box.polls = 0
}

// finishPoll finishes a test or a nonblocking probe at the LP's clock.
func (m *Messages) finishPoll(lp int32, box *Mailbox, kind WaitKind) {
	w, now := &box.Wait, m.Partition.Clock[lp]
	switch kind {
	case TestCancel:
		m.finishCancel(lp, box, now)
		w.found = true
	case TestProbe:
		w.Subject = m.probed(box, now)
		if w.found = w.Subject != 0; w.found {
			msg := m.messages.At(w.Subject)
			m.decides(lp, w.pattern(), msg.arrival, msg.rank)
		} else {
			m.decides(lp, w.pattern(), now, inVain)
		}
	case TestAll:
		w.found = m.allComplete(w.Requests, now)
		if w.found {
			m.chargeAll(lp, w.Requests, now)
		}
		m.looked(lp, kind, w.Requests, now)
	default:
		if len(w.Requests) == 0 {
			m.looksThrough(lp, w, now)
		}
		w.found = m.earliest(lp, w) <= now || m.changed(lp, w)
		m.looked(lp, kind, w.Requests, now)
	}
	if w.found {
		box.polls = 0
		return
	}
	box.polls = min(box.polls+1, max(m.longLoop, EndlessPolls))
	if m.anew {
		m.Partition.Summary.Late.Polled(box.polls)
	}
	end := now.Add(m.pollTime)
	if end == vtime.Forever {
		m.Partition.PastEnd(int(m.Partition.Global(lp)), now, w.Procedure, "a poll that finds nothing, of %v,", m.pollTime)
	}
	m.Partition.Clock[lp] = end
	if m.Processors != nil {
		m.Processors.Of(lp).State.CPU = end
	}
}

// allComplete reports whether all active requests are complete at now.
func (m *Messages) allComplete(requests []int32, now vtime.Time) bool {
	for _, ri := range requests {
		if ri != 0 {
			if r := m.Requests.At(ri); !r.Complete || r.Time > now {
				return false
			}
		}
	}
	return true
}

// Charge advances the LP's clock from instant at by the CPU time of a complete request.
func (m *Messages) Charge(lp int32, r *request, at vtime.Time) {
	if !m.Partition.Charges || r.Kind != ReceiveRequest {
		if m.Partition.Charges && r.Kind == exchangeRequest {
			m.chargeExchange(lp, r, at)
			return
		}
		m.Partition.Clock[lp] = max(at, r.Time)
		return
	}
	m.receive(lp, r.Procedure, r.rank, r.Bytes, r.posted, r.arrival)
}

// chargeAll charges an LP for receives in the order of the arrivals of their messages, since the
// CPU takes messages in during the wait.
func (m *Messages) chargeAll(lp int32, requests []int32, at vtime.Time) {
	if !m.Partition.Charges {
		m.Partition.Clock[lp] = at
		return
	}
	order, computing := m.chargeOrder[:0], vtime.Duration(0)
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		switch r := m.Requests.At(ri); r.Kind {
		case ReceiveRequest:
			order = append(order, ri)
		case exchangeRequest:
			computing += r.computing()
			for _, part := range m.exchanges[ri].parts {
				if m.Requests.At(part).Kind == ReceiveRequest {
					order = append(order, part)
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		p, q := m.Requests.At(a), m.Requests.At(b)
		if c := p.arrival.Compare(q.arrival); c != 0 {
			return c
		}
		return int(p.rank) - int(q.rank)
	})
	for _, ri := range order {
		m.Charge(lp, m.Requests.At(ri), m.Partition.Clock[lp])
	}
	m.chargeOrder = order[:0]
	m.Partition.Clock[lp] = max(m.Partition.Clock[lp].Add(computing), m.latest(0, requests))
}

// chargeFirst charges an LP for the first request in the list that is complete at instant
// at, and returns its position.
func (m *Messages) chargeFirst(lp int32, list []int32, at vtime.Time) int {
	for i, index := range list {
		if m.completeAt(index, at) {
			m.Charge(lp, m.Requests.At(index), at)
			return i
		}
	}
	invariant.Broken("a wait of rank %d ended without a complete request", m.Partition.Global(lp))
	return world.Undefined
}

// chargeSome charges an LP for all requests that are complete at instant at. It appends
// their positions to which.
func (m *Messages) chargeSome(lp int32, list []int32, at vtime.Time, which []int) []int {
	completed := m.completed[:0]
	for i, index := range list {
		if m.completeAt(index, at) {
			which, completed = append(which, i), append(completed, index)
		}
	}
	m.chargeAll(lp, completed, at)
	m.completed = completed[:0]
	return which
}

// completeAt reports whether a request is complete at instant t.
func (m *Messages) completeAt(index int32, t vtime.Time) bool {
	if index == 0 {
		return false
	}
	q := m.Requests.At(index)
	return q.Complete && q.Time <= t
}
