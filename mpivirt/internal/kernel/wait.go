package kernel

import (
	"slices"

	"gigarank/engine"
	"gigarank/invariant"
	"gigarank/vtime"
)

// pollsAbsorbed is the number of failing tests or probes in a row, with no other
// call of the rank between them, after which the rank is taken to be in a loop
// that polls until it succeeds: the next poll does not return before that, at the
// instant at which the loop would have found out.
const pollsAbsorbed = 1000

// begin starts a wait of an LP. It reports whether the LP can go on at once;
// otherwise the LP must be suspended, and the wait is over when it is resumed.
func (k *Kernel) begin(lp int32, box *mailbox, kind waitKind, c Procedure) bool {
	w := &box.wait
	w.kind, w.call, w.ready, w.armed = kind, c, false, vtime.Forever
	w.generation++
	if k.processors != nil {
		k.operate(lp, operation{kind: opWait, direct: c.blocks()})
		return false
	}
	if !k.consider(lp, box, none) {
		return false
	}
	k.finish(lp, box)
	return k.Clock[lp] < vtime.Forever
}

// look lets an LP that waits look again after something has happened to it.
func (k *Kernel) look(lp int32, box *mailbox) {
	if k.processors != nil {
		k.nudge(lp)
		return
	}
	w := &box.wait
	if w.kind != notWaiting && !w.ready && k.consider(lp, box, none) {
		w.ready = true
		k.eng.Ready(lp)
	}
}

// handleWait is called when all arrivals at or before t are known, at the
// instant for which a wait of the LP was armed. It reports whether the wait is
// over.
func (k *Kernel) handleWait(lp int32, generation uint32, t vtime.Time) bool {
	box := k.mailbox(lp)
	if box == nil {
		return false // the LP has ended
	}
	w := &box.wait
	if w.generation != generation || w.kind == notWaiting || w.ready || w.armed != t {
		return false
	}
	w.armed = vtime.Forever
	return k.consider(lp, box, t)
}

// consider reports whether the wait of an LP is over, given that all arrivals at
// or before known have been delivered. If not, it arms a timed event for the
// instant at which there will be more to say, if there is one.
func (k *Kernel) consider(lp int32, box *mailbox, known vtime.Time) bool {
	w := &box.wait
	at, certain := k.evaluate(lp, box, known)
	if certain && (!k.strict || at <= known) {
		w.at = at
		return true
	}
	if at < w.armed {
		w.armed = at
		k.eng.Schedule(engine.Event{
			Time: at, Source: k.Global(lp), LP: k.Global(lp), Sequence: uint64(w.generation), Data: dataWait,
		})
	}
	return false
}

// settleAt has the LP's receives from any source settle at instant t, whatever
// the LP does by then: who sent to them and waits for the match must learn of it
// at its time, not when the LP next waits.
func (k *Kernel) settleAt(lp int32, t vtime.Time) {
	k.eng.Schedule(engine.Event{Time: t, Source: k.Global(lp), LP: k.Global(lp), Data: dataSettle})
}

// handleSettle is called when all arrivals at or before t are known, at an
// instant that was given to settleAt. It reports whether the wait that the LP is
// in is over.
func (k *Kernel) handleSettle(lp int32, t vtime.Time) bool {
	if k.slots[lp] == 0 {
		return false
	}
	box := k.box(lp)
	if !k.settle(lp, box, t) {
		return false
	}
	if next := k.candidate(box); next != vtime.Forever {
		k.settleAt(lp, next)
	}
	return box.wait.kind != notWaiting && !box.wait.ready && k.consider(lp, box, t)
}

// evaluate returns the instant at which the wait of an LP is over, if that is
// certain; else the instant up to which arrivals must be known to say more about
// the wait itself, Forever if something has to happen first.
func (k *Kernel) evaluate(lp int32, box *mailbox, known vtime.Time) (at vtime.Time, certain bool) {
	w := &box.wait
	clock := k.Clock[lp]
	switch w.kind {
	case waitOne:
		if r := k.requests.at(w.request); r.complete {
			return max(clock, r.time), true
		}
		return vtime.Forever, false
	case waitAll:
		if w.pending == 0 {
			return k.latest(clock, w.requests), true
		}
		return vtime.Forever, false
	case waitProbe:
		return k.evaluateProbe(box, clock, known)
	case waitAny, waitSome:
		at = max(clock, k.earliest(w.requests))
		return at, at <= known
	default:
		return k.evaluatePoll(box, clock, known)
	}
}

// earliest returns the least completion time of the requests, Forever if none is
// complete. Inactive requests (index 0) do not count.
func (k *Kernel) earliest(requests []int32) vtime.Time {
	least := vtime.Forever
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		if r := k.requests.at(ri); r.complete {
			least = min(least, r.time)
		}
	}
	return least
}

func (k *Kernel) latest(clock vtime.Time, requests []int32) vtime.Time {
	for _, ri := range requests {
		if ri != 0 {
			clock = max(clock, k.requests.at(ri).time)
		}
	}
	return clock
}

// evaluateProbe is evaluate for a blocking probe.
func (k *Kernel) evaluateProbe(box *mailbox, clock, known vtime.Time) (vtime.Time, bool) {
	w := &box.wait
	probe := request{comm: w.comm, peer: w.peer, tag: w.tag}
	if w.peer != AnySource {
		_, w.message = k.firstUnexpected(box, &probe)
		if w.message == 0 {
			return vtime.Forever, false
		}
		m := k.messages.at(w.message)
		if box.wildcards == 0 || !k.claimed(box, m) {
			return max(clock, m.arrival), true
		}
		return vtime.Forever, false
	}
	_, w.message = k.leastUnexpected(box, &probe)
	if w.message == 0 {
		return vtime.Forever, false
	}
	m := k.messages.at(w.message)
	if m.arrival <= known {
		return max(clock, m.arrival), true
	}
	return m.arrival, false
}

// evaluatePoll is evaluate for a test or a nonblocking probe: it is over at the
// LP's clock, or, in a long loop of them, at the first poll that succeeds.
func (k *Kernel) evaluatePoll(box *mailbox, clock, known vtime.Time) (vtime.Time, bool) {
	if box.polls < pollsAbsorbed {
		return clock, clock <= known
	}
	success := k.successTime(box)
	if success == vtime.Forever {
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
func (k *Kernel) successTime(box *mailbox) vtime.Time {
	w := &box.wait
	switch w.kind {
	case testAll:
		for _, ri := range w.requests {
			if ri != 0 && !k.requests.at(ri).complete {
				return vtime.Forever
			}
		}
		return k.latest(0, w.requests)
	case testProbe:
		if index := k.probed(box, vtime.Forever); index != 0 {
			return k.messages.at(index).arrival
		}
		return vtime.Forever
	default:
		return k.earliest(w.requests)
	}
}

// probed returns the message that a probe at instant t finds.
func (k *Kernel) probed(box *mailbox, t vtime.Time) int32 {
	w := &box.wait
	probe := request{comm: w.comm, peer: w.peer, tag: w.tag}
	var index int32
	if w.peer == AnySource && k.processors == nil {
		_, index = k.leastUnexpected(box, &probe)
	} else {
		_, index = k.firstUnexpected(box, &probe)
	}
	if index != 0 && k.messages.at(index).arrival > t {
		return 0
	}
	return index
}

// finish ends the wait of an LP: its clock is set, and what it waited for is
// charged. The results stay in the wait for the caller of the operation.
func (k *Kernel) finish(lp int32, box *mailbox) {
	w := &box.wait
	kind := w.kind
	w.kind, w.ready = notWaiting, false
	switch kind {
	case waitOne:
		k.charge(lp, k.requests.at(w.request), w.at)
	case waitAll:
		k.chargeAll(lp, w.requests, w.at)
	case waitAny, waitSome:
		// The caller knows which requests are charged, from the clock on at which
		// the wait began.
		w.found = true
	case waitProbe:
		k.Clock[lp] = w.at
		w.found = true
	default:
		k.Clock[lp] = w.at
		k.finishPoll(lp, box, kind)
		k.bring(lp, box, kind)
		return
	}
	k.bring(lp, box, kind)
	box.polls = 0
}

// finishPoll answers a test or a nonblocking probe at the LP's clock.
func (k *Kernel) finishPoll(lp int32, box *mailbox, kind waitKind) {
	w, now := &box.wait, k.Clock[lp]
	switch kind {
	case testProbe:
		w.message = k.probed(box, now)
		w.found = w.message != 0
	case testAll:
		w.found = k.allComplete(w.requests, now)
		if w.found {
			k.chargeAll(lp, w.requests, now)
		}
	default:
		w.found = k.earliest(w.requests) <= now
	}
	if w.found {
		box.polls = 0
		return
	}
	box.polls++
	end := now.Add(k.pollTime)
	if end == vtime.Forever {
		k.pastEnd(int(k.Global(lp)), now, w.call, "a poll that finds nothing, of %v,", k.pollTime)
	}
	k.Clock[lp] = end
	if k.processors != nil {
		k.processors[lp].state.CPU = end
	}
}

func (k *Kernel) allComplete(requests []int32, now vtime.Time) bool {
	for _, ri := range requests {
		if ri != 0 {
			if r := k.requests.at(ri); !r.complete || r.time > now {
				return false
			}
		}
	}
	return true
}

// charge makes the LP spend what the completion of a request costs its CPU, from
// instant at on; its clock shows the end.
func (k *Kernel) charge(lp int32, r *request, at vtime.Time) {
	if !k.charges || r.kind != receiveRequest {
		k.Clock[lp] = max(at, r.time)
		return
	}
	done := k.tgt.Receive(k.port(lp), r.bytes, r.posted, k.Clock[lp], r.arrival)
	if done == vtime.Forever {
		k.pastEnd(int(k.Global(lp)), max(k.Clock[lp], r.arrival), r.call, "a message of %d bytes from rank %d", r.bytes, r.rank)
	}
	k.Clock[lp] = done
}

// chargeAll charges receives in the order in which their messages arrived, as the
// CPU takes them in while the LP waits.
func (k *Kernel) chargeAll(lp int32, requests []int32, at vtime.Time) {
	if !k.charges {
		k.Clock[lp] = at
		return
	}
	order := k.order[:0]
	for _, ri := range requests {
		if ri != 0 && k.requests.at(ri).kind == receiveRequest {
			order = append(order, ri)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		p, q := k.requests.at(a), k.requests.at(b)
		if c := p.arrival.Compare(q.arrival); c != 0 {
			return c
		}
		return int(p.rank) - int(q.rank)
	})
	for _, ri := range order {
		k.charge(lp, k.requests.at(ri), k.Clock[lp])
	}
	k.order = order[:0]
	k.Clock[lp] = max(k.Clock[lp], k.latest(0, requests))
}

// chargeFirst charges an LP for the first request that is complete at instant at,
// when a wait for any of them is over, and returns its position.
func (k *Kernel) chargeFirst(lp int32, list []int32, at vtime.Time) int {
	for i, index := range list {
		if k.completeAt(index, at) {
			k.charge(lp, k.requests.at(index), at)
			return i
		}
	}
	invariant.Broken("a wait of rank %d ended without a complete request", k.Global(lp))
	return Undefined
}

// chargeSome charges an LP for all requests that are complete at instant at, and
// appends their positions to which.
func (k *Kernel) chargeSome(lp int32, list []int32, at vtime.Time, which []int) []int {
	over := k.over[:0]
	for i, index := range list {
		if k.completeAt(index, at) {
			which, over = append(which, i), append(over, index)
		}
	}
	k.chargeAll(lp, over, at)
	k.over = over[:0]
	return which
}

// completeAt reports whether a request is complete at instant t.
func (k *Kernel) completeAt(index int32, t vtime.Time) bool {
	if index == 0 {
		return false
	}
	q := k.requests.at(index)
	return q.complete && q.time <= t
}
