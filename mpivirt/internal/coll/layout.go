package coll

import (
	"slices"

	"gigarank/collectives"
)

// CommonLayout returns the layout of the working buffers if all members have the same layout, else
// nil.
func (v *Collective) CommonLayout(s collectives.Schedule) *collectives.Layout {
	var l collectives.Layout
	switch {
	case v.Operation == collectives.Gatherv || v.Operation == collectives.Scatterv || v.Operation == collectives.Alltoallv:
		return nil
	case v.Counts != nil:
		l = collectives.Uneven(v.Counts, 1)
	default:
		l = collectives.LayoutOf(v.Operation, s, v.Bytes/max(v.Element, 1), v.Element)
	}
	return &l
}

// layoutOf returns a member's own layout, for operations whose counts only some members know.
func (v *Collective) layoutOf(member int) *collectives.Layout {
	var l collectives.Layout
	switch {
	case v.Operation == collectives.Alltoallv:
		l = collectives.Uneven(slices.Concat(v.InCounts, v.OutCounts), 1)
	case member == v.Root:
		l = collectives.Uneven(v.Counts, 1)
	default:
		l = collectives.Uniform(v.Bytes, 1)
	}
	return &l
}

// resultBlocks returns the number of blocks in a member's result.
func (inst *instance) resultBlocks(member int) int {
	switch inst.Call.Operation {
	case collectives.Barrier:
		return 0
	case collectives.Bcast, collectives.Allreduce:
		if inst.vectors {
			return 1
		}
		return inst.width
	case collectives.Reduce, collectives.Gather, collectives.Gatherv:
		return onlyRoot(inst, member, inst.width) // a block of a gather may be several positions
	case collectives.Allgather, collectives.Allgatherv, collectives.Alltoall, collectives.Alltoallv:
		return inst.comm.Size
	default:
		return 1
	}
}

func onlyRoot(inst *instance, member, n int) int {
	if member == inst.Call.Root {
		return n
	}
	return 0
}

// resultBase returns the block of the layout to which the first block of the result belongs.
func (inst *instance) resultBase() int {
	if inst.Call.Operation == collectives.Alltoallv {
		return inst.comm.Size
	}
	return 0
}
