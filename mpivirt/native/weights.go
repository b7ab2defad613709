//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"fmt"
	"unsafe"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// weigh has the engine know the tasks of the program, and the times that they take.
func (b *body) weigh(t *Tasks) error {
	if err := openTasks(b.engine, len(t.Weights), t.ByRank, t.Beside); err != nil {
		return err
	}
	tasks := unsafe.Slice(b.engine.tasks, len(t.Weights))
	for n, w := range t.Weights {
		tasks[n].entry, tasks[n].iteration = cInt64(w.Entry), cInt64(w.Iteration)
	}
	ratios := unsafe.Slice(b.engine.task_ratios, len(b.ranks))
	for lp := range ratios {
		ratios[lp] = cDouble(b.k.Target().CPUTime(int(b.k.Global(int32(lp))), vtime.Second).Seconds())
	}
	b.rest = vtime.Duration(t.Rest / 1000)
	return nil
}

// payRest charges the time between two calls of MPI that no task has taken. Polls take a time of their own. What a task takes is no call of MPI, also where it is told by a call of
// its own.
func (b *body) payRest(lp int32, r *cRank) {
	p := procedureOf(int32(r.call.procedure))
	if class := p.Class(); p == world.NoProcedure || p == world.Compute || class == world.ClassTest || class == world.ClassProbe {
		return
	}
	r.computed += cInt64(b.k.Target().CPUTime(int(b.k.Global(lp)), b.rest))
}

// Weighed implements [kernel.Outsider].
func (b *body) Weighed() int64 {
	t := b.form.options.Tasks
	if t == nil || b.engine == nil || b.engine.tasks == nil {
		return 0
	}
	var sums []TaskSums
	for _, of := range unsafe.Slice(b.engine.tasks, len(t.Weights)) {
		sums = append(sums, TaskSums{Entries: int64(of.entries), X: float64(of.x), XX: float64(of.xx), Y: float64(of.y), YY: float64(of.yy), XY: float64(of.xy), Uncounted: float64(of.uncounted), Time: int64(of.time)})
	}
	counts := map[int][]TaskCount{}
	if t.ByRank {
		all := unsafe.Slice(b.engine.task_counts, len(b.ranks)*len(t.Weights))
		for lp := range b.ranks {
			own := make([]TaskCount, len(t.Weights))
			for n := range own {
				c := all[lp*len(t.Weights)+n]
				own[n] = TaskCount{int64(c.entries), int64(c.iterations)}
			}
			counts[int(b.k.Global(int32(lp)))] = own
		}
	}
	t.add(sums, TaskSums{Entries: int64(b.engine.rests), Y: float64(b.engine.rest)}, counts)
	return int64(b.engine.task_time)
}

// record adds a call of MPI to the journal.
func (b *body) record(lp int32, c *cCall) {
	p := procedureOf(int32(c.procedure))
	if p == world.NoProcedure {
		return
	}
	text := "MPI_" + variantOf(p, c.nonblocking).String() + callText(p, c)
	b.form.options.Journal.add(int(b.k.Global(lp)), text, func() string { return b.Place(lp) })
}

// callText returns the arguments of a call as a text, as far as the call sets them: others hold anything.
func callText(p world.Procedure, c *cCall) string {
	sends, receives := fmt.Sprintf(", %d bytes to rank %d with tag %d", c.bytes, c.dest, c.sendtag), fmt.Sprintf(", up to %d bytes from rank %d with tag %d", c.room, c.source, c.tag)
	text := fmt.Sprintf(" on communicator %d", c.comm)
	switch class := p.Class(); {
	case class == world.ClassNone || class == world.ClassLocal:
		return ""
	case class == world.ClassWait || class == world.ClassTest:
		return fmt.Sprintf(" of %s", spelling.Count(int32(c.n), "request"))
	case class == world.ClassSend:
		return text + sends
	case class == world.ClassReceive:
		return text + receives
	case class == world.ClassSendReceive:
		return text + sends + receives
	case p == world.CommSplit:
		return text + fmt.Sprintf(", color %d, key %d", c.root, c.key)
	case p == world.Bcast || p == world.Gather || p == world.Scatter:
		return text + fmt.Sprintf(", %d bytes, root %d", c.bytes, c.root)
	case p == world.Reduce:
		return text + fmt.Sprintf(", %d bytes, root %d, operation %s", c.bytes, c.root, operatorName(uintptr(c.handle)))
	case p == world.Allreduce || p == world.Scan || p == world.Exscan:
		return text + fmt.Sprintf(", %d bytes, operation %s", c.bytes, operatorName(uintptr(c.handle)))
	case p == world.Allgather || p == world.Alltoall:
		return text + fmt.Sprintf(", %d bytes", c.bytes)
	}
	return text
}
