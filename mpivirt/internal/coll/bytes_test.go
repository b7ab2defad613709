package coll

import (
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// A member contributes its send buffer and obtains its receive buffer (MPI 4.1, chapter 6). Among the members of a group those are all, the root
// or all but the root. Between groups the members of one group contribute, which at a bcast or a scatter is the root alone, and those of the other obtain.
func TestBytesOfMembers(t *testing.T) {
	own := &Communicator{Comm: world.Comm{Size: 4}}
	between := &Communicator{Comm: world.Comm{Size: 4, Remote: &world.Comm{Size: 3}}}
	for _, c := range []struct {
		comm             *Communicator
		op               collectives.Operation
		member, root     int
		handed, obtained int64
	}{
		{own, collectives.Barrier, 0, 0, 0, 0}, {own, collectives.Barrier, 1, 0, 0, 0},
		{own, collectives.Bcast, 1, 1, 8, 0}, {own, collectives.Bcast, 0, 1, 0, 8},
		{own, collectives.Scatter, 2, 2, 32, 8}, {own, collectives.Scatter, 3, 2, 0, 8},
		{own, collectives.Gather, 0, 0, 8, 32}, {own, collectives.Gather, 3, 0, 8, 0},
		{own, collectives.Reduce, 0, 0, 8, 8}, {own, collectives.Reduce, 3, 0, 8, 0},
		{own, collectives.Allreduce, 3, 0, 8, 8}, {own, collectives.Scan, 0, 0, 8, 8},
		{own, collectives.Exscan, 0, 0, 8, 0}, {own, collectives.Exscan, 1, 0, 8, 8},
		{own, collectives.Alltoall, 1, 0, 32, 32}, {own, collectives.ReduceScatter, 1, 0, 32, 8}, {own, collectives.Allgather, 1, 0, 8, 32},
		{between, collectives.Bcast, 0, world.Root, 8, 0}, {between, collectives.Bcast, 0, world.ProcNull, 0, 0}, {between, collectives.Bcast, 2, 2, 0, 8},
		{between, collectives.Scatter, 0, world.Root, 24, 0}, {between, collectives.Scatter, 0, world.ProcNull, 0, 0}, {between, collectives.Scatter, 2, 2, 0, 8},
		{between, collectives.Gather, 0, world.Root, 0, 24}, {between, collectives.Gather, 0, world.ProcNull, 0, 0}, {between, collectives.Gather, 2, 1, 8, 0},
		{between, collectives.Reduce, 0, world.Root, 0, 8}, {between, collectives.Reduce, 0, world.ProcNull, 0, 0}, {between, collectives.Reduce, 2, 1, 8, 0},
		{between, collectives.Alltoall, 1, 0, 24, 24}, {between, collectives.Allgather, 1, 0, 8, 24},
	} {
		v := &Collective{Procedure: world.ProcedureOf(c.op), Operation: c.op, Root: c.root, Bytes: 8}
		if handed, obtained := c.comm.Handed(c.member, v, Lengths{}), c.comm.Obtained(c.member, v, Lengths{}); handed != c.handed || obtained != c.obtained {
			t.Errorf("%v with root %d, between groups %v: member %d hands %d bytes over and obtains %d, want %d and %d",
				c.op, c.root, c.comm.Remote != nil, c.member, handed, obtained, c.handed, c.obtained)
		}
	}
	v := &Collective{Procedure: world.Allgather, Operation: collectives.Allgather, Bytes: 8, Data: true}
	if got := between.Handed(1, v, Lengths{Input: 40}); got != 40 {
		t.Errorf("a member with a vector of 40 bytes hands %d over", got)
	}
}

// A member whose blocks differ in length contributes and obtains its own block, or the blocks of all members: the sum of their counts. Those
// that do not know the counts have a vector.
func TestBytesOfMembersByCounts(t *testing.T) {
	counts := []int64{8, 16, 0, 32}
	own := &Communicator{Comm: world.Comm{Size: 4}}
	for _, c := range []struct {
		op               collectives.Operation
		member           int
		given            []int64
		handed, obtained int64
	}{
		{collectives.Gatherv, 0, counts, 8, 56}, {collectives.Gatherv, 1, counts, 8, 0},
		{collectives.Scatterv, 0, counts, 56, 8}, {collectives.Scatterv, 1, counts, 0, 16}, {collectives.Scatterv, 2, counts, 0, 0}, {collectives.Scatterv, 1, nil, 0, 24},
		{collectives.Allgatherv, 1, counts, 16, 56}, {collectives.Allgatherv, 2, counts, 0, 56},
		{collectives.ReduceScatter, 3, counts, 56, 32}, {collectives.ReduceScatter, 3, nil, 32, 8},
		{collectives.Alltoallv, 2, counts, 56, 16},
	} {
		v := &Collective{Procedure: world.ProcedureOf(c.op), Operation: c.op, Bytes: 8, Counts: c.given}
		if c.op == collectives.Alltoallv {
			v.Counts, v.InCounts, v.OutCounts = nil, counts, []int64{4, 4, 4, 4}
		}
		if handed, obtained := own.Handed(c.member, v, Lengths{Output: 24}), own.Obtained(c.member, v, Lengths{Output: 24}); handed != c.handed || obtained != c.obtained {
			t.Errorf("%v with counts %v: member %d hands %d bytes over and obtains %d, want %d and %d", c.op, c.given, c.member, handed, obtained, c.handed, c.obtained)
		}
	}
}
