package coll

import (
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// A member contributes its send buffer (MPI 4.1, chapter 6): among the members of a group all or the root, between groups the members of
// the group that sends, which at a bcast or a scatter is the root alone and at a gather or a reduce the group without the root.
func TestBytesHandedOver(t *testing.T) {
	own := &Communicator{Comm: world.Comm{Size: 4}}
	between := &Communicator{Comm: world.Comm{Size: 4, Remote: &world.Comm{Size: 3}}}
	for _, c := range []struct {
		comm   *Communicator
		op     collectives.Operation
		member int
		root   int
		want   int64
	}{
		{own, collectives.Barrier, 0, 0, 0},
		{own, collectives.Bcast, 1, 1, 8}, {own, collectives.Bcast, 0, 1, 0},
		{own, collectives.Scatter, 2, 2, 32}, {own, collectives.Scatter, 3, 2, 0},
		{own, collectives.Gather, 0, 0, 8}, {own, collectives.Gather, 3, 0, 8},
		{own, collectives.Reduce, 0, 0, 8}, {own, collectives.Reduce, 3, 0, 8},
		{own, collectives.Alltoall, 1, 0, 32}, {own, collectives.ReduceScatter, 1, 0, 32}, {own, collectives.Allgather, 1, 0, 8},
		{between, collectives.Bcast, 0, world.Root, 8}, {between, collectives.Bcast, 0, world.ProcNull, 0}, {between, collectives.Bcast, 2, 2, 0},
		{between, collectives.Scatter, 0, world.Root, 24}, {between, collectives.Scatter, 0, world.ProcNull, 0}, {between, collectives.Scatter, 2, 2, 0},
		{between, collectives.Gather, 0, world.Root, 0}, {between, collectives.Gather, 0, world.ProcNull, 0}, {between, collectives.Gather, 2, 1, 8},
		{between, collectives.Reduce, 0, world.Root, 0}, {between, collectives.Reduce, 0, world.ProcNull, 0}, {between, collectives.Reduce, 2, 1, 8},
		{between, collectives.Alltoall, 1, 0, 24}, {between, collectives.Allgather, 1, 0, 8},
	} {
		v := &Collective{Procedure: world.ProcedureOf(c.op), Operation: c.op, Root: c.root, Bytes: 8}
		if got := c.comm.Handed(c.member, v, Lengths{}); got != c.want {
			t.Errorf("%v with root %d, between groups %v: member %d hands %d bytes over, want %d", c.op, c.root, c.comm.Remote != nil, c.member, got, c.want)
		}
	}
}

// A member whose blocks differ in length contributes its own block, or the blocks of all members: the sum of their counts.
func TestBytesHandedOverByCounts(t *testing.T) {
	counts := []int64{8, 16, 0, 32}
	c := &Communicator{Comm: world.Comm{Size: 4}}
	for _, x := range []struct {
		op     collectives.Operation
		member int
		want   int64
	}{
		{collectives.Gatherv, 0, 8}, {collectives.Gatherv, 1, 8},
		{collectives.Scatterv, 0, 56}, {collectives.Scatterv, 1, 0},
		{collectives.Allgatherv, 1, 16}, {collectives.Allgatherv, 2, 0},
		{collectives.ReduceScatter, 3, 56},
		{collectives.Alltoallv, 2, 56},
	} {
		v := &Collective{Procedure: world.ProcedureOf(x.op), Operation: x.op, Bytes: 8, Counts: counts}
		if x.op == collectives.Alltoallv {
			v.Counts, v.InCounts, v.OutCounts = nil, counts, []int64{4, 4, 4, 4}
		}
		if got := c.Handed(x.member, v, Lengths{}); got != x.want {
			t.Errorf("%v: member %d hands %d bytes over, want %d", x.op, x.member, got, x.want)
		}
	}
}
