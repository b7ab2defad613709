package ptp

import (
	"slices"

	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// beginWait starts a wait of an LP. It reports whether the wait is over at once. Else the LP
// must be suspended until it is resumed, when the wait is over.
func (k *Messages) beginWait(lp int32, box *Mailbox, kind WaitKind, c world.Procedure) bool {
	w := &box.Wait
	w.Kind, w.Procedure, w.queued, w.armed = kind, c, false, vtime.Forever
	w.generation++
	if k.Processors != nil {
		k.Processors.Operate(lp, resource.Operation{Need: resource.End, Kind: opWait, Direct: c.Blocks()})
		return false
	}
	if !k.consider(lp, box, unknown) {
		if k.InCalls {
			k.answerDue(lp)
		}
		return false
	}
	k.Finish(lp, box)
	return k.Clock[lp] < vtime.Forever
}

// reconsider evaluates the wait of an LP again after an event, and queues the LP if the wait
// is over.
func (k *Messages) reconsider(lp int32, box *Mailbox) {
	if k.Processors != nil {
		k.Processors.Look(lp)
		return
	}
	w := &box.Wait
	if w.Kind != NoWait && !w.queued && k.consider(lp, box, unknown) {
		w.queued = true
		k.Engine.Ready(lp)
	}
}

// HandleWait evaluates a wait of an LP at t, the instant for which it was armed. All arrivals
// at or before t are known. It reports whether the wait is over.
func (k *Messages) HandleWait(lp int32, generation uint32, t vtime.Time) bool {
	box := k.Mailbox(lp)
	if box == nil {
		return false // the LP has ended
	}
	w := &box.Wait
	if w.generation != generation || w.Kind == NoWait || w.queued || w.armed != t {
		return false
	}
	w.armed = vtime.Forever
	return k.consider(lp, box, t)
}

// consider reports whether the wait of an LP is over, given that all arrivals at or before
// known have been delivered. If not, it arms a timed event for the next evaluation, if the
// instant of that is known.
func (k *Messages) consider(lp int32, box *Mailbox, known vtime.Time) bool {
	w := &box.Wait
	at, certain := k.evaluate(lp, box, known)
	over := certain && (!k.Strict || at <= known)
	if over && w.ofKept() && k.looksThrough(lp, w, at) {
		at, certain = k.evaluate(lp, box, known)
		over = certain && (!k.Strict || at <= known)
	}
	if over {
		w.at = at
		return true
	}
	if at < w.armed {
		w.armed = at
		k.Engine.Schedule(engine.Event{
			Time: at, Source: k.Global(lp), LP: k.Global(lp), Sequence: uint64(w.generation), Data: world.DataWait,
		})
	}
	return false
}

// settleAt settles the LP's receives from any source at instant t, whatever the LP does by
// then. Senders that wait for the match learn of it then, not at the LP's next wait.
//
// One event is enough, however many messages wait: HandleSettle enters the next.
func (k *Messages) settleAt(lp int32, box *Mailbox, t vtime.Time) {
	if t >= box.settles {
		return
	}
	box.settles = t
	k.Engine.Schedule(engine.Event{Time: t, Source: k.Global(lp), LP: k.Global(lp), Data: world.DataSettle})
}

// HandleSettle settles an LP's receives at t, an instant of settleAt. All arrivals at or
// before t are known. It reports whether the wait of the LP is over.
func (k *Messages) HandleSettle(lp int32, t vtime.Time) bool {
	if k.MailboxOf[lp] == 0 {
		return false
	}
	box := k.Box(lp)
	if box.settles == t { // else this event is one of several: the mailbox counts on another one, or on none
		box.settles = vtime.Forever
	}
	settled, next := k.settle(lp, box, t)
	if next != vtime.Forever {
		k.settleAt(lp, box, next)
	}
	return settled && box.Wait.Kind != NoWait && !box.Wait.queued && k.consider(lp, box, t)
}

// evaluate returns the end of an LP's wait, if it is certain. Else it returns the instant up
// to which arrivals must be known for the next evaluation. That is Forever if an event must
// come first.
func (k *Messages) evaluate(lp int32, box *Mailbox, known vtime.Time) (at vtime.Time, certain bool) {
	w := &box.Wait
	clock := k.Clock[lp]
	switch w.Kind {
	case WaitOne:
		if r := k.Requests.At(w.Subject); r.Complete {
			return max(clock, r.Time), true
		}
		return vtime.Forever, false
	case WaitAll:
		if w.pending == 0 {
			return k.latest(clock, w.Requests), true
		}
		return vtime.Forever, false
	case WaitProbe:
		return k.evaluateProbe(box, clock, known)
	case WaitAny, WaitSome:
		at = max(clock, k.soonest(lp, w))
		return at, at <= known
	default:
		return k.evaluatePoll(lp, box, clock, known)
	}
}

// earliest returns the least completion time of the requests that a wait is for, Forever if
// none is complete. Inactive requests (index 0) are skipped.
func (k *Messages) earliest(lp int32, w *wait) vtime.Time {
	if len(w.Requests) == 0 {
		return k.earliestKept(k.kept[lp])
	}
	least := vtime.Forever
	for _, ri := range w.Requests {
		if ri == 0 {
			continue
		}
		if r := k.Requests.At(ri); r.Complete {
			least = min(least, r.Time)
		}
	}
	return least
}

// latest returns the greatest completion time of the requests, at least clock.
func (k *Messages) latest(clock vtime.Time, requests []int32) vtime.Time {
	for _, ri := range requests {
		if ri != 0 {
			clock = max(clock, k.Requests.At(ri).Time)
		}
	}
	return clock
}

// evaluateProbe is evaluate for a blocking probe.
func (k *Messages) evaluateProbe(box *Mailbox, clock, known vtime.Time) (vtime.Time, bool) {
	w := &box.Wait
	w.Subject = k.leastMessage(box, w.pattern())
	if w.Subject == 0 {
		return vtime.Forever, false
	}
	m := k.messages.At(w.Subject)
	switch {
	case w.Peer == world.AnySource && m.arrival > known:
		return m.arrival, false
	case w.Peer != world.AnySource && k.firstReceive(box, m) != 0: // which gets it, if only later in settle
		return vtime.Forever, false
	}
	return max(clock, m.arrival), true
}

// evaluatePoll is evaluate for a test or a nonblocking probe. It ends at the LP's clock. In a
// long loop of polls it ends with the first that succeeds.
func (k *Messages) evaluatePoll(lp int32, box *Mailbox, clock, known vtime.Time) (vtime.Time, bool) {
	if !k.long(box.polls, clock) {
		return clock, clock <= known
	}
	success := k.successTime(lp, box)
	if success == vtime.Forever {
		k.waitsInLoop(lp)
		return vtime.Forever, false
	}
	at := clock
	if success > clock {
		periods := (success - clock - 1) / vtime.Time(k.pollTime)
		at = clock.Add(k.pollTime.Times(int(periods) + 1))
	}
	return at, at <= known
}

// successTime returns the instant from which a poll succeeds, as far as is known.
func (k *Messages) successTime(lp int32, box *Mailbox) vtime.Time {
	w := &box.Wait
	switch w.Kind {
	case TestAll:
		if w.pending > 0 {
			return vtime.Forever
		}
		return k.latest(0, w.Requests)
	case TestProbe:
		if index := k.probed(box, vtime.Forever); index != 0 {
			return k.messages.At(index).arrival
		}
		return vtime.Forever
	default:
		return k.soonest(lp, w)
	}
}

// soonest returns the least completion time of the requests of a wait for any of them, as far
// as is known, Forever if none is complete.
func (k *Messages) soonest(lp int32, w *wait) vtime.Time {
	if w.ofKept() {
		return k.earliestKept(k.kept[lp])
	}
	return w.at
}

// probed returns the message that a probe at instant t finds, 0 for none.
func (k *Messages) probed(box *Mailbox, t vtime.Time) int32 {
	w := &box.Wait
	index := k.leastMessage(box, w.pattern())
	if index != 0 && k.messages.At(index).arrival > t {
		return 0
	}
	return index
}

// Finish ends the wait of an LP. It sets the clock, charges the complete requests and fills
// the completion.
func (k *Messages) Finish(lp int32, box *Mailbox) {
	w := &box.Wait
	kind := w.Kind
	w.Kind, w.queued = NoWait, false
	k.leavesLoop(lp)
	switch kind {
	case WaitOne:
		k.Charge(lp, k.Requests.At(w.Subject), w.at)
	case WaitAll:
		k.chargeAll(lp, w.Requests, w.at)
	case WaitAny, WaitSome:
		// fillCompletion charges the requests, from the clock at the start of the wait.
		w.found = true
		k.looked(lp, kind, w.Requests, w.at)
	case WaitProbe:
		k.Clock[lp] = w.at
		w.found = true
		if w.Peer == world.AnySource {
			m := k.messages.At(w.Subject)
			k.decides(lp, w.pattern(), m.arrival, m.rank)
		}
	default:
		k.skipped(k.Clock[lp], w.at)
		k.Clock[lp] = w.at
		k.finishPoll(lp, box, kind)
		k.fillCompletion(lp, box, kind)
		return
	}
	k.fillCompletion(lp, box, kind)
	box.polls = 0
}

// finishPoll decides a test or a nonblocking probe at the LP's clock.
func (k *Messages) finishPoll(lp int32, box *Mailbox, kind WaitKind) {
	w, now := &box.Wait, k.Clock[lp]
	switch kind {
	case TestCancel:
		k.finishCancel(lp, box, now)
		w.found = true
	case TestProbe:
		w.Subject = k.probed(box, now)
		if w.found = w.Subject != 0; w.found {
			m := k.messages.At(w.Subject)
			k.decides(lp, w.pattern(), m.arrival, m.rank)
		} else {
			k.decides(lp, w.pattern(), now, inVain)
		}
	case TestAll:
		w.found = k.allComplete(w.Requests, now)
		if w.found {
			k.chargeAll(lp, w.Requests, now)
		}
		k.looked(lp, kind, w.Requests, now)
	default:
		if len(w.Requests) == 0 {
			k.looksThrough(lp, w, now)
		}
		w.found = k.earliest(lp, w) <= now || k.changed(lp, w)
		k.looked(lp, kind, w.Requests, now)
	}
	if w.found {
		box.polls = 0
		return
	}
	box.polls = min(box.polls+1, max(k.longLoop, EndlessPolls))
	if k.anew {
		k.Summary.Late.Polled(box.polls)
	}
	end := now.Add(k.pollTime)
	if end == vtime.Forever {
		k.PastEnd(int(k.Global(lp)), now, w.Procedure, "a poll that finds nothing, of %v,", k.pollTime)
	}
	k.Clock[lp] = end
	if k.Processors != nil {
		k.Processors.Of(lp).State.CPU = end
	}
}

// allComplete reports whether all active requests are complete at now.
func (k *Messages) allComplete(requests []int32, now vtime.Time) bool {
	for _, ri := range requests {
		if ri != 0 {
			if r := k.Requests.At(ri); !r.Complete || r.Time > now {
				return false
			}
		}
	}
	return true
}

// Charge advances the LP's clock to the end of what a complete request costs its CPU, from
// instant at on.
func (k *Messages) Charge(lp int32, r *request, at vtime.Time) {
	if !k.Charges || r.Kind != ReceiveRequest {
		if k.Charges && r.Kind == exchangeRequest {
			k.chargeExchange(lp, r, at)
			return
		}
		k.Clock[lp] = max(at, r.Time)
		return
	}
	k.receive(lp, r.Procedure, r.rank, r.Bytes, r.posted, r.arrival)
}

// chargeAll charges receives in the order of their messages' arrivals, as the CPU takes them
// in during the wait.
func (k *Messages) chargeAll(lp int32, requests []int32, at vtime.Time) {
	if !k.Charges {
		k.Clock[lp] = at
		return
	}
	order, computing := k.chargeOrder[:0], vtime.Duration(0)
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		switch r := k.Requests.At(ri); r.Kind {
		case ReceiveRequest:
			order = append(order, ri)
		case exchangeRequest:
			computing += r.computing()
			for _, part := range k.exchanges[ri].parts {
				if k.Requests.At(part).Kind == ReceiveRequest {
					order = append(order, part)
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		p, q := k.Requests.At(a), k.Requests.At(b)
		if c := p.arrival.Compare(q.arrival); c != 0 {
			return c
		}
		return int(p.rank) - int(q.rank)
	})
	for _, ri := range order {
		k.Charge(lp, k.Requests.At(ri), k.Clock[lp])
	}
	k.chargeOrder = order[:0]
	k.Clock[lp] = max(k.Clock[lp].Add(computing), k.latest(0, requests))
}

// chargeFirst charges an LP for the first request in the list that is complete at instant
// at, and returns its position.
func (k *Messages) chargeFirst(lp int32, list []int32, at vtime.Time) int {
	for i, index := range list {
		if k.completeAt(index, at) {
			k.Charge(lp, k.Requests.At(index), at)
			return i
		}
	}
	invariant.Broken("a wait of rank %d ended without a complete request", k.Global(lp))
	return world.Undefined
}

// chargeSome charges an LP for all requests that are complete at instant at. It appends
// their positions to which.
func (k *Messages) chargeSome(lp int32, list []int32, at vtime.Time, which []int) []int {
	completed := k.completed[:0]
	for i, index := range list {
		if k.completeAt(index, at) {
			which, completed = append(which, i), append(completed, index)
		}
	}
	k.chargeAll(lp, completed, at)
	k.completed = completed[:0]
	return which
}

// completeAt reports whether a request is complete at instant t.
func (k *Messages) completeAt(index int32, t vtime.Time) bool {
	if index == 0 {
		return false
	}
	q := k.Requests.At(index)
	return q.Complete && q.Time <= t
}
