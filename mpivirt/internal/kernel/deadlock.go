package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// A deadlock report is the same on any number of engines. Each engine lists the first of its
// waiting ranks, and its members that have not called a collective. All lists together show for
// whom each rank waits.

// Blocked is one rank that waits forever.
type Blocked struct {
	Rank  int
	Call  string
	Place string // the function, file and line that have made the call, as "exchange (halo.c:42)"; "" if they are not known
	For   string // the rank or event for which it waits
	Near  string // how the message that is nearest to the awaited message differs from it; "" for none
	Since vtime.Time
	Polls int // in a loop of tests or probes: the number of failing polls in a row, the last before Since; else 0
}

func (b Blocked) String() string {
	call := b.Call
	if b.Place != "" {
		call += ", called in " + b.Place + ","
	}
	if b.Polls > 0 {
		return fmt.Sprintf("rank %d polls by %s for %s: %d in a row have found nothing by %v", b.Rank, call, b.For, b.Polls, b.Since)
	}
	text := fmt.Sprintf("rank %d waits in %s for %s since %v", b.Rank, call, b.For, b.Since)
	if b.Near != "" {
		text += "; " + b.Near
	}
	return text
}

// DeadlockError is the error of a run in which no rank can go on and some ranks have not finished.
type DeadlockError struct {
	Waiting uint64    // ranks that have not finished
	Blocked []Blocked // the first of these ranks
	Late    string    // the least failure of a rank that has left MPI, "" for none

	waiters []waiter  // the blocked ranks before explain
	absent  []absence // members that have not called a collective
}

// deadlockReportLimit is the greatest number of ranks in a report.
const deadlockReportLimit = 16

func (e *DeadlockError) Error() string {
	var b strings.Builder
	if e.Waiting == 1 {
		b.WriteString("deadlock: 1 rank waits and cannot go on")
	} else {
		fmt.Fprintf(&b, "deadlock: %d ranks wait and none can go on", e.Waiting)
	}
	for _, r := range e.Blocked {
		b.WriteString("\n  ")
		b.WriteString(r.String())
	}
	if more := e.Waiting - uint64(len(e.Blocked)); more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	for _, r := range e.Blocked {
		if r.Polls > 0 {
			fmt.Fprintf(&b, "\nif rank %d would have made another call after more polls that find nothing, allow more of them by --polls (Config.Polls)", r.Rank)
			break
		}
	}
	if e.Late != "" {
		fmt.Fprintf(&b, "\n%s (when it had left MPI, as by MPI_Finalize, which not all ranks have done)", e.Late)
	}
	return b.String()
}

// waiter is a waiting rank. In a collective, context and number identify the instance.
type waiter struct {
	Blocked
	context uint64 // of the communicator; NoContext outside collectives
	number  uint32
	comm    string // describes the communicator
}

// texts returns the texts of a waiter, in the order of their bytes in a report.
func (w *waiter) texts() []*string { return []*string{&w.Call, &w.Place, &w.For, &w.Near, &w.comm} }

// absence counts the members of one engine that have not called an instance. With onward set, they
// have not called a later instance either.
type absence struct {
	context uint64
	number  uint32
	onward  bool
	first   int // least member
	count   int
}

// covers reports whether w waits in an instance that the absent members have not called.
func (a *absence) covers(w *waiter) bool {
	return a.context == w.context && (a.number == w.number || a.onward && a.number < w.number)
}

// deadlock returns the report of this engine.
func (k *Kernel) deadlock() *DeadlockError {
	d := &DeadlockError{Waiting: uint64(k.partition.Ranks) - k.partition.Summary.Digest.Finished, absent: k.absent()}
	if k.partition.Fails() {
		d.Late = string(k.partition.Failing.Horizon.Reason)
		d.Waiting -= uint64(len(k.partition.Failing.Failed))
	}
	for lp := int32(0); lp < int32(k.partition.Ranks) && len(d.waiters) < deadlockReportLimit; lp++ {
		if w, ok := k.blocked(lp); ok {
			if w.context == world.NoContext {
				w.Near = k.near(lp)
			}
			if k.locator != nil {
				w.Place = k.locator.Place(lp)
			}
			d.waiters = append(d.waiters, w)
		}
	}
	return d
}

// IsBlocked reports whether an LP waits in a call.
func (k *Kernel) IsBlocked(lp int32) bool {
	_, waits := k.blocked(lp)
	return waits
}

// blocked returns the description of an LP's wait, and whether the LP waits.
func (k *Kernel) blocked(lp int32) (waiter, bool) {
	w := waiter{Blocked: Blocked{Rank: int(k.partition.Global(lp)), Since: k.partition.Clock[lp]}}
	if box := k.messages.Mailbox(lp); box != nil && box.Wait.Kind != p2p.NoWait {
		w.Call, w.For, w.Polls = k.partition.NameOf(box.Wait.Procedure), k.awaited(lp, box), k.messages.PollsInVain(lp)
		return w, true
	}
	for c := range k.collectives.Communicators.Values() {
		if inst := c.Blocking(lp, &k.collectives); inst != nil {
			w.Call, w.context, w.number = k.partition.NameOf(inst.Call.Procedure), c.Context, inst.Number
			w.comm = k.commText(lp, c.Index)
			if x := k.inParts[lp]; x != nil {
				w.Call = k.partition.NameOf(x.Procedure())
			}
			return w, true
		}
	}
	return w, false
}

// absent returns the members of this engine that have not called instances under way, here or
// possibly elsewhere.
func (k *Kernel) absent() (all []absence) {
	k.collectives.OpenCompanions()
	for _, c := range k.collectives.Communicators.All()[1:] {
		if c.Group == nil || c.Locals == 0 {
			continue
		}
		for _, inst := range c.Live {
			if inst.Count < c.Locals {
				a := absence{c.Context, inst.Number, false, 0, c.Locals - inst.Count}
				a.first = k.firstOf(c, func(member int) bool { return !inst.Has(member - c.First) })
				all = append(all, a)
			}
		}
		if c.Locals < c.Size {
			all = append(all, absence{c.Context, c.Next, true, k.firstOf(c, func(int) bool { return true }), c.Locals})
		}
	}
	return all
}

// firstOf returns the first member of this engine that satisfies a predicate.
func (k *Kernel) firstOf(c *coll.Communicator, one func(member int) bool) int {
	for m := c.First; m < c.Last; m++ {
		if _, local := k.partition.Local(c.RankOf(m, 0)); local && one(m) {
			return m
		}
	}
	return c.Last
}

// missing describes the members that have not called the collective in which w waits.
func (e *DeadlockError) missing(w *waiter) string {
	c, first, count := w.comm, -1, 0
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

// awaited describes the event for which the LP of a mailbox waits.
func (k *Kernel) awaited(lp int32, box *p2p.Mailbox) string {
	w := &box.Wait
	switch w.Kind {
	case p2p.WaitOne:
		return k.describe(lp, w.Subject)
	case p2p.WaitProbe, p2p.TestProbe:
		return "a message " + k.from(lp, w.Comm, w.Peer, w.Tag)
	}
	var parts []string
	more := 0
	for _, ri := range k.messages.WaitedFor(lp) {
		switch {
		case ri == 0 || k.messages.Requests.At(ri).Complete:
		case len(parts) < 3:
			parts = append(parts, k.describe(lp, ri))
		default:
			more++
		}
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// near describes how the message that is nearest to the first message for which an LP waits differs from it.
func (k *Kernel) near(lp int32) string {
	w := &k.messages.Mailbox(lp).Wait
	comm, peer, tag := w.Comm, w.Peer, w.Tag
	if w.Kind != p2p.WaitProbe && w.Kind != p2p.TestProbe {
		requests := []int32{w.Subject}
		if w.Kind != p2p.WaitOne {
			requests = k.messages.WaitedFor(lp)
		}
		i := slices.IndexFunc(requests, func(ri int32) bool {
			if ri == 0 {
				return false
			}
			r := k.messages.Requests.At(ri)
			return !r.Complete && r.Kind == p2p.ReceiveRequest
		})
		if i < 0 {
			return ""
		}
		r := k.messages.Requests.At(requests[i])
		comm, peer, tag = r.Comm, r.Peer, r.Tag
	}
	by, otherComm, source, otherTag := k.messages.Nearest(lp, comm, peer, tag)
	switch by {
	case p2p.OtherTag:
		return fmt.Sprintf("from rank %d lies tag %d where %d is wanted", source, otherTag, tag)
	case p2p.OtherSource:
		return fmt.Sprintf("tag %d lies from rank %d where rank %d is wanted", otherTag, source, peer)
	case p2p.OtherComm:
		return fmt.Sprintf("from rank %d lies tag %d on %s", source, otherTag, k.commText(lp, otherComm))
	}
	return ""
}

// commText describes a communicator by the name that an LP has given it, and by the collective that has made it.
func (k *Kernel) commText(lp, index int32) string {
	c := &k.collectives.Communicator(index).Comm
	if c.Of != nil {
		c = c.Of
	}
	name, made := "", k.madeBy(c)
	if k.locator != nil {
		name = k.locator.CommName(lp, c.Index)
	}
	switch {
	case name != "":
		return fmt.Sprintf("%q%s", name, made)
	case made != "":
		return "communicator" + made
	}
	return c.String()
}

// madeText describes a communicator by the collective that has made it.
func (k *Kernel) madeText(c *world.Comm) string { return c.MadeText(k.partition.NameOf) }

// madeBy describes the collective that has made a communicator, "" for one that was there from the beginning, or was made
// otherwise.
func (k *Kernel) madeBy(c *world.Comm) (made string) { return c.MadeBy(k.partition.NameOf) }

// describe describes the event that completes a request of an LP.
func (k *Kernel) describe(lp, ri int32) string {
	r := k.messages.Requests.At(ri)
	switch r.Kind {
	case p2p.ReceiveRequest:
		return "a " + messageOf(r.Procedure) + " " + k.from(lp, r.Comm, r.Peer, r.Tag)
	case p2p.SendRequest:
		return fmt.Sprintf("rank %d of %s to receive its %s with tag %d", r.Peer, k.commText(lp, r.Comm), messageOf(r.Procedure), r.Tag)
	default:
		return fmt.Sprintf("the end of %s on %s", k.partition.NameOf(r.Procedure), k.commText(lp, r.Comm))
	}
}

// messageOf returns the noun for the message of a procedure.
func messageOf(c world.Procedure) string {
	if c == world.Psend || c == world.Precv {
		return "partitioned message"
	}
	return "message"
}

// from describes the source and tag of a receive of an LP.
func (k *Kernel) from(lp, comm, peer, tag int32) string {
	source, which := fmt.Sprintf("from rank %d", peer), fmt.Sprintf("with tag %d", tag)
	if peer == world.AnySource {
		source = "from any rank"
	}
	if tag == world.AnyTag {
		which = "with any tag"
	}
	return fmt.Sprintf("%s of %s %s", source, k.commText(lp, comm), which)
}

// mergeDeadlocks merges the reports of two engines.
func mergeDeadlocks(a, b *DeadlockError) *DeadlockError {
	if a == nil {
		return b
	}
	waiters := append(slices.Clone(a.waiters), b.waiters...)
	slices.SortFunc(waiters, func(x, y waiter) int { return x.Rank - y.Rank })
	return &DeadlockError{
		Waiting: a.Waiting + b.Waiting, waiters: waiters[:min(len(waiters), deadlockReportLimit)],
		absent: append(slices.Clone(a.absent), b.absent...), Late: cmp.Or(a.Late, b.Late),
	}
}

// explain fills Blocked, with the ranks for which each rank waits.
func (e *DeadlockError) explain() {
	e.Blocked = e.Blocked[:0]
	for i := range e.waiters {
		w := e.waiters[i]
		if w.context != world.NoContext {
			w.For = e.missing(&w)
		}
		e.Blocked = append(e.Blocked, w.Blocked)
	}
}

// encode appends the report to b, for engine 0. A nil report appends no bytes.
func (e *DeadlockError) encode(b []byte) []byte {
	if e == nil {
		return b
	}
	b = world.AppendWords(b, e.Waiting, uint64(len(e.waiters)))
	for i := range e.waiters {
		w := &e.waiters[i]
		b = world.AppendWords(b, uint64(w.Rank), uint64(w.Since), w.context, uint64(w.number), uint64(w.Polls))
		for _, text := range w.texts() {
			b = append(world.AppendWords(b, uint64(len(*text))), *text...)
		}
	}
	b = world.AppendWords(b, uint64(len(e.absent)))
	for _, a := range e.absent {
		onward := map[bool]uint64{true: 1}[a.onward]
		b = world.AppendWords(b, a.context, uint64(a.number), onward, uint64(a.first), uint64(a.count))
	}
	return b
}

// decodeDeadlock returns a report decoded from the bytes of encode, nil for no bytes.
func decodeDeadlock(b []byte) *DeadlockError {
	if len(b) == 0 {
		return nil
	}
	r := world.Reader{Rest: b}
	e := &DeadlockError{Waiting: r.U64()}
	for range r.U64() {
		w := waiter{Blocked: Blocked{Rank: int(r.U64()), Since: vtime.Time(r.U64())}, context: r.U64(), number: uint32(r.U64())}
		w.Polls = int(r.U64())
		for _, text := range w.texts() {
			n := r.U64()
			*text, r.Rest = string(r.Rest[:n]), r.Rest[n:]
		}
		e.waiters = append(e.waiters, w)
	}
	for range r.U64() {
		e.absent = append(e.absent, absence{r.U64(), uint32(r.U64()), r.U64() == 1, int(r.U64()), int(r.U64())})
	}
	return e
}
