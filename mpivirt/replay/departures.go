package replay

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/trace"
	"gigarank/vtime"
)

// slot is the number of a request of a rank.
type slot struct {
	lp     int32
	number int64
}

// passing is a call that has waited for another request than the one in a slot: when it was made, and when that other request was complete.
type passing struct{ asked, over vtime.Time }

// comparesOutcome reports whether the outcome of a call may be another one than in the record. It notes when a call that may pass over requests is made.
func (b *body) comparesOutcome(lp int32, o *trace.Operation) bool {
	if o.Form.Has(trace.Missed) || o.Form.Has(trace.Failed) {
		return false
	}
	switch o.Function.Class() {
	case trace.ClassReceive, trace.ClassSendReceive:
		return !b.recorded && o.Message == 0 && procedures[o.Function].Blocks() && isWild(o)
	case trace.ClassProbe:
		return !b.recorded && isWild(o)
	case trace.ClassWait, trace.ClassTest:
		passes := passesOver(o) && !b.k.HasProcessors()
		if passes {
			if b.asked == nil {
				b.asked = map[int32]vtime.Time{}
			}
			b.asked[lp] = b.k.Clocks()[lp]
		}
		return passes || len(o.Matched) > 0 || len(b.passed) > 0
	}
	return false
}

// isWild reports whether an operation receives or probes for a message of any source, or with any tag.
func isWild(o *trace.Operation) bool {
	return o.Source == trace.AnySource || o.SourceTag == trace.AnyTag
}

// passesOver reports whether a call has completed some requests of its list and left others.
func passesOver(o *trace.Operation) bool {
	switch o.Function {
	case trace.Waitany, trace.Waitsome, trace.Testany, trace.Testsome:
		return !o.Form.Has(trace.Long) && len(o.Completed) > 0 && len(o.Completed) < len(o.Requests)
	}
	return false
}

// compare compares the outcome of a call that is over with that in the record.
func (b *body) compare(lp int32, r *rank, done *kernel.Completion) {
	if !b.again(lp, r) {
		return
	}
	switch r.function.Class() {
	case trace.ClassReceive, trace.ClassSendReceive:
		b.comparesMessage(&b.o, b.k.StatusOf(done))
	case trace.ClassProbe:
		b.comparesMessage(&b.o, done.Status)
	case trace.ClassWait, trace.ClassTest:
		if b.completes(lp, r, &b.o, true) {
			b.comparesRequests(lp, &b.o)
		}
	}
}

// comparesMessage compares the message that a call with wildcards has found with that in the record.
func (b *body) comparesMessage(o *trace.Operation, s world.Status) {
	if int64(s.Source) != o.GotSource || int64(s.Tag) != o.GotTag {
		b.k.Departures().Matched++
	}
}

// comparesRequests compares the requests in b.list, which a call has completed, with the record: messages of receives with wildcards, and
// whether a call that passed over them would have taken them.
func (b *body) comparesRequests(lp int32, o *trace.Operation) {
	k := b.k
	b.named = o.Named(b.named[:0])
	over := vtime.Time(0)
	for i, index := range b.list {
		if index <= 0 || k.IsStandIn(index) {
			continue
		}
		at := k.RequestTime(index)
		over = max(over, at)
		s := slot{lp, b.named[i]}
		if p, has := b.passed[s]; has {
			if max(at, p.asked) < p.over {
				k.Departures().Passed++
			}
			delete(b.passed, s)
		}
	}
	if !b.recorded {
		b.comparesMatched(o.Matched)
	}
	if passesOver(o) && !k.HasProcessors() {
		b.passOver(lp, o, over)
	}
}

// comparesMatched compares the messages of receives with wildcards, among the requests in b.list, with those in the record. Both lists have the
// same order, so that the search from the latest place on is short.
func (b *body) comparesMatched(matched []int64) {
	at := 0
	for m := matched; len(m) >= 3; m = m[3:] {
		for range b.named {
			if at++; at > len(b.named) {
				at = 1
			}
			if b.named[at-1] == m[0] {
				break
			}
		}
		if at == 0 || b.named[at-1] != m[0] || b.list[at-1] <= 0 {
			continue
		}
		if got := b.k.RequestStatus(b.list[at-1]); !got.Cancelled && (int64(got.Source) != m[1] || int64(got.Tag) != m[2]) {
			b.k.Departures().Matched++
		}
	}
}

// passOver notes the requests that a call has left, and when those that it took were complete.
func (b *body) passOver(lp int32, o *trace.Operation, over vtime.Time) {
	asked := b.asked[lp]
	delete(b.asked, lp)
	over = max(over, asked)
	if b.passed == nil {
		b.passed = map[slot]passing{}
	}
	for _, number := range o.Requests {
		if index := b.ranks[lp].slot(number); number >= 0 && index > 0 && !b.k.IsStandIn(index) {
			b.passed[slot{lp, number}] = passing{asked, over}
		}
	}
}
