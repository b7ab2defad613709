package mpivirt

import (
	"fmt"
	"gigarank/vtime"
	"slices"
	"strings"
)

// deadlock describes what the LPs of this engine wait for.
func (k *kernel) deadlock() *DeadlockError {
	d := &DeadlockError{Waiting: uint64(k.n) - k.tally.Finished, calls: k.calls()}
	for lp := int32(0); lp < int32(k.n) && len(d.Blocked) < deadlockReportLimit; lp++ {
		if b, ok := k.blocked(lp); ok {
			d.Blocked = append(d.Blocked, b)
		}
	}
	return d
}

// blocked describes what an LP waits for, if it waits.
func (k *kernel) blocked(lp int32) (Blocked, bool) {
	b := Blocked{Rank: int(k.global(lp)), Since: k.clock[lp]}
	if k.slots != nil && k.slots[lp] != 0 {
		if box := k.boxes.at(k.slots[lp]); box.wait.kind != notWaiting {
			b.Call, b.For = box.wait.call.String(), k.awaited(box)
			return b, true
		}
	}
	for _, c := range k.comms[1:] {
		if c == nil {
			continue
		}
		if inst := c.blocking(lp, k); inst != nil {
			b.Call = inst.call.name.String()
			b.For = inst.missing(k)
			return b, true
		}
	}
	return b, false
}

// missing says who has not called a collective that others wait in.
func (inst *instance) missing(k *kernel) string {
	c := inst.comm
	for m := c.first; m < c.last; m++ {
		if _, local := k.local(c.rankOf(m, 0)); local && !inst.has(m-c.first) {
			if c.locals-inst.count == 1 {
				return fmt.Sprintf("rank %d of %s to call it", m, c)
			}
			return fmt.Sprintf("rank %d of %s and %d more to call it", m, c, c.locals-inst.count-1)
		}
	}
	return fmt.Sprintf("ranks of %s on other engines to call it", c)
}

// awaited says whom or what a wait is for.
func (k *kernel) awaited(box *mailbox) string {
	w := &box.wait
	switch w.kind {
	case waitOne:
		return k.describe(w.request)
	case waitProbe, testProbe:
		return "a message " + k.from(w.comm, w.peer, w.tag)
	}
	var parts []string
	for _, ri := range w.requests {
		if ri != 0 && !k.requests.at(ri).complete {
			parts = append(parts, k.describe(ri))
		}
	}
	if len(parts) > 3 {
		parts = append(parts[:3], fmt.Sprintf("and %d more", len(parts)-3))
	}
	return strings.Join(parts, ", ")
}

func (k *kernel) describe(ri int32) string {
	r := k.requests.at(ri)
	switch r.kind {
	case receiveRequest:
		return "a message " + k.from(r.comm, r.peer, r.tag)
	case sendRequest:
		return fmt.Sprintf("rank %d of %s to receive its message with tag %d", r.peer, k.comms[r.comm], r.tag)
	default:
		return fmt.Sprintf("the end of %s on %s", r.call, k.comms[r.comm])
	}
}

func (k *kernel) from(comm, peer, tag int32) string {
	source, which := fmt.Sprintf("from rank %d", peer), fmt.Sprintf("with tag %d", tag)
	if peer == AnySource {
		source = "from any rank"
	}
	if tag == AnyTag {
		which = "with any tag"
	}
	return fmt.Sprintf("%s of %s %s", source, k.comms[comm], which)
}

// mergeDeadlocks joins the reports of two engines.
func mergeDeadlocks(a, b *DeadlockError) *DeadlockError {
	if a == nil {
		return b
	}
	all := append(slices.Clone(a.Blocked), b.Blocked...)
	slices.SortFunc(all, func(x, y Blocked) int { return x.Rank - y.Rank })
	d := &DeadlockError{Waiting: a.Waiting + b.Waiting, Blocked: all[:min(len(all), deadlockReportLimit)], mismatch: a.mismatch}
	// Engines that have made the same calls add nothing.
	fresh := unlike(b.calls, a.calls)
	if d.mismatch == nil {
		d.mismatch = disagreement(a.calls, fresh)
	}
	d.calls = append(slices.Clone(a.calls), fresh...)
	return d
}

// cause is the error to report: that ranks called different collectives, if they
// did, which is why they wait.
func (e *DeadlockError) cause() error {
	if e.mismatch != nil {
		return e.mismatch
	}
	return e
}

// encode appends the report to b for engine 0; a nil one says that there is none.
func (e *DeadlockError) encode(b []byte) []byte {
	if e == nil {
		return b
	}
	b = appendWords(b, e.Waiting, uint64(len(e.Blocked)))
	for _, r := range e.Blocked {
		b = appendWords(b, uint64(r.Rank), uint64(r.Since), uint64(len(r.Call)), uint64(len(r.For)))
		b = append(append(b, r.Call...), r.For...)
	}
	b = appendWords(b, uint64(len(e.calls)))
	for _, c := range e.calls {
		b = appendWords(b, c.context, c.members, uint64(c.from), uint64(c.until), uint64(c.signature), uint64(c.rank), uint64(c.at))
	}
	return b
}

// decodeDeadlock reads what encode appended.
func decodeDeadlock(b []byte) *DeadlockError {
	if len(b) == 0 {
		return nil
	}
	r := reader{b}
	e := &DeadlockError{Waiting: r.u64()}
	for range r.u64() {
		w := Blocked{Rank: int(r.u64()), Since: vtime.Time(r.u64())}
		call, awaited := r.u64(), r.u64()
		w.Call, w.For = string(r.b[:call]), string(r.b[call:call+awaited])
		r.b = r.b[call+awaited:]
		e.Blocked = append(e.Blocked, w)
	}
	for range r.u64() {
		e.calls = append(e.calls, called{r.u64(), r.u64(), spell{uint32(r.u64()), uint32(r.u64()), signature(r.u64()), int32(r.u64()), vtime.Time(r.u64())}})
	}
	return e
}
