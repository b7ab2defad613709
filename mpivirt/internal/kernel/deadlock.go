package kernel

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"gigarank/vtime"
)

// A deadlock is described in the same words on any number of engines: each lists the
// first of its ranks that wait and who has not called the collectives that others may
// wait in; for whom they wait follows from all lists together.

// waiter is a rank that waits. If it does so in a collective, in the instance of that
// number on the communicator of that context.
type waiter struct {
	Blocked
	context uint64 // noContext if it waits in none
	number  uint32
}

// absence counts the members of one engine that have not called an instance of a
// collective or, onward, that one and all later ones.
type absence struct {
	context uint64
	number  uint32
	onward  bool
	first   int // the least of them
	count   int
}

// covers reports whether the members have not called the instance that w waits in.
func (a *absence) covers(w *waiter) bool {
	return a.context == w.context && (a.number == w.number || a.onward && a.number < w.number)
}

// deadlock describes what the LPs of this engine wait for.
func (k *Kernel) deadlock() *DeadlockError {
	d := &DeadlockError{Waiting: uint64(k.n) - k.summary.digest.Finished, absent: k.absent()}
	for lp := int32(0); lp < int32(k.n) && len(d.waiters) < deadlockReportLimit; lp++ {
		if w, ok := k.blocked(lp); ok {
			d.waiters = append(d.waiters, w)
		}
	}
	return d
}

// Waits reports whether an LP waits for something.
func (k *Kernel) Waits(lp int32) bool {
	_, waits := k.blocked(lp)
	return waits
}

// blocked describes what an LP waits for, if it waits.
func (k *Kernel) blocked(lp int32) (waiter, bool) {
	w := waiter{Blocked: Blocked{Rank: int(k.Global(lp)), Since: k.Clock[lp]}}
	if box := k.mailbox(lp); box != nil && box.wait.kind != notWaiting {
		w.Call, w.For = box.wait.call.String(), k.awaited(box)
		return w, true
	}
	for _, c := range k.comms[1:] {
		if c == nil {
			continue
		}
		if inst := c.blocking(lp, k); inst != nil {
			w.Call, w.context, w.number = inst.call.Procedure.String(), c.context, inst.number
			return w, true
		}
	}
	return w, false
}

// absent lists who of this engine has not called the collectives that are under way, or
// that other engines may have under way.
func (k *Kernel) absent() (all []absence) {
	for _, c := range k.comms[1:] {
		if c == nil || c.Group == nil || c.locals == 0 {
			continue
		}
		for _, inst := range c.live {
			if inst.count < c.locals {
				a := absence{c.context, inst.number, false, 0, c.locals - inst.count}
				a.first = k.firstOf(c, func(member int) bool { return !inst.has(member - c.first) })
				all = append(all, a)
			}
		}
		if c.locals < c.Size {
			all = append(all, absence{c.context, c.next, true, k.firstOf(c, func(int) bool { return true }), c.locals})
		}
	}
	return all
}

// firstOf returns the first member of this engine that is one of those asked for.
func (k *Kernel) firstOf(c *Communicator, one func(member int) bool) int {
	for m := c.first; m < c.last; m++ {
		if _, local := k.local(c.rankOf(m, 0)); local && one(m) {
			return m
		}
	}
	return c.last
}

// missing says who has not called a collective that a rank waits in.
func (e *DeadlockError) missing(w *waiter) string {
	c, first, count := &Communicator{context: w.context}, -1, 0
	for i := range e.absent {
		if a := &e.absent[i]; a.covers(w) {
			if first < 0 || a.first < first {
				first = a.first
			}
			count += a.count
		}
	}
	switch count {
	case 0:
		return fmt.Sprintf("the other members of %s to go on in it", c)
	case 1:
		return fmt.Sprintf("rank %d of %s to call it", first, c)
	}
	return fmt.Sprintf("rank %d of %s and %d more to call it", first, c, count-1)
}

// awaited says whom or what a wait is for.
func (k *Kernel) awaited(box *mailbox) string {
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

func (k *Kernel) describe(ri int32) string {
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

func (k *Kernel) from(comm, peer, tag int32) string {
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
	waiters := append(slices.Clone(a.waiters), b.waiters...)
	slices.SortFunc(waiters, func(x, y waiter) int { return x.Rank - y.Rank })
	return &DeadlockError{
		Waiting: a.Waiting + b.Waiting, waiters: waiters[:min(len(waiters), deadlockReportLimit)],
		absent: append(slices.Clone(a.absent), b.absent...),
	}
}

// explain fills in for whom the ranks wait.
func (e *DeadlockError) explain() {
	e.Blocked = e.Blocked[:0]
	for i := range e.waiters {
		w := e.waiters[i]
		if w.context != noContext {
			w.For = e.missing(&w)
		}
		e.Blocked = append(e.Blocked, w.Blocked)
	}
}

// encode appends the report to b for engine 0; a nil one says that there is none.
func (e *DeadlockError) encode(b []byte) []byte {
	if e == nil {
		return b
	}
	b = appendWords(b, e.Waiting, uint64(len(e.waiters)))
	for i := range e.waiters {
		w := &e.waiters[i]
		b = appendWords(b, uint64(w.Rank), uint64(w.Since), w.context, uint64(w.number), uint64(len(w.Call)), uint64(len(w.For)))
		b = append(append(b, w.Call...), w.For...)
	}
	b = appendWords(b, uint64(len(e.absent)))
	for _, a := range e.absent {
		onward := map[bool]uint64{true: 1}[a.onward]
		b = appendWords(b, a.context, uint64(a.number), onward, uint64(a.first), uint64(a.count))
	}
	return b
}

// encodeCalls writes entrances for engine 0.
func encodeCalls(calls []entrance) (b []byte) {
	for _, c := range calls {
		b = appendWords(b, c.context, c.members, uint64(c.number), uint64(c.at), uint64(c.rank), uint64(c.signature),
			c.count, uint64(c.lowest), uint64(c.latest), uint64(c.span))
	}
	return b
}

// decodeCalls reads what all engines have written; there is nothing on the others than
// engine 0.
func decodeCalls(payloads [][]byte) (all []entrance) {
	for _, payload := range payloads {
		for r := (reader{payload}); len(r.b) > 0; {
			all = append(all, entrance{r.u64(), r.u64(), uint32(r.u64()), entrant{vtime.Time(r.u64()), int32(r.u64()), signature(r.u64())},
				r.u64(), int32(r.u64()), vtime.Time(r.u64()), vtime.Duration(r.u64())})
		}
	}
	return all
}

// decodeDeadlock reads what encode appended.
func decodeDeadlock(b []byte) *DeadlockError {
	if len(b) == 0 {
		return nil
	}
	r := reader{b}
	e := &DeadlockError{Waiting: r.u64()}
	for range r.u64() {
		w := waiter{Blocked: Blocked{Rank: int(r.u64()), Since: vtime.Time(r.u64())}, context: r.u64(), number: uint32(r.u64())}
		call, awaited := r.u64(), r.u64()
		w.Call, w.For = string(r.b[:call]), string(r.b[call:call+awaited])
		r.b = r.b[call+awaited:]
		e.waiters = append(e.waiters, w)
	}
	for range r.u64() {
		e.absent = append(e.absent, absence{r.u64(), uint32(r.u64()), r.u64() == 1, int(r.u64()), int(r.u64())})
	}
	return e
}

func appendWords(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}
