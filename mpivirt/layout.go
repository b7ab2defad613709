package mpivirt

import (
	"slices"

	"gigarank/collectives"
)

// commonLayout returns the layout of the working buffers if it is the same for
// all members, else nil.
func (v *collective) commonLayout(s collectives.Schedule) *collectives.Layout {
	var l collectives.Layout
	switch {
	case v.op == collectives.Gatherv || v.op == collectives.Scatterv || v.op == collectives.Alltoallv:
		return nil
	case v.counts != nil:
		l = collectives.Given(v.counts, 1)
	default:
		l = collectives.LayoutOf(v.op, s, v.bytes/max(v.element, 1), v.element)
	}
	return &l
}

// layoutOf returns a member's own layout, for the operations in which members
// know different things.
func (v *collective) layoutOf(member int) *collectives.Layout {
	var l collectives.Layout
	switch {
	case v.op == collectives.Alltoallv:
		l = collectives.Given(slices.Concat(v.inCounts, v.outCounts), 1)
	case member == v.root:
		l = collectives.Given(v.counts, 1)
	default:
		l = collectives.Uniform(v.bytes, 1)
	}
	return &l
}

// resultBlocks returns how many blocks a member's result has.
func (inst *instance) resultBlocks(member int) int {
	switch inst.call.op {
	case collectives.Barrier:
		return 0
	case collectives.Bcast, collectives.Allreduce:
		return inst.schedule.Positions()
	case collectives.Reduce:
		return onlyRoot(inst, member, inst.schedule.Positions())
	case collectives.Gather, collectives.Gatherv:
		return onlyRoot(inst, member, inst.comm.size)
	case collectives.Allgather, collectives.Allgatherv, collectives.Alltoall, collectives.Alltoallv:
		return inst.comm.size
	default:
		return 1
	}
}

func onlyRoot(inst *instance, member, n int) int {
	if member == inst.call.root {
		return n
	}
	return 0
}

// resultBase is the block of the layout that belongs to the first block of the
// result.
func (inst *instance) resultBase() int {
	if inst.call.op == collectives.Alltoallv {
		return inst.comm.size
	}
	return 0
}
