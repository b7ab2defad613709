package coll

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// classOf returns the name of MPI's class of an error, "" for no error.
func classOf(err error) string {
	var e *world.Error
	if errors.As(err, &e) {
		return e.Class.Error()
	}
	return ""
}

// A call names a root of the communicator, no count is negative, and there is a count for each member (MPI 4.1, chapter 6). Between two groups
// the counts are those of the members of the other group; those of a reduce-scatter, of the own.
func TestArgumentsThatMembersMayNotGive(t *testing.T) {
	own := &Communicator{Comm: world.Comm{Size: 3}}
	one := &Communicator{Comm: world.Comm{Size: 1}}
	between := &Communicator{Comm: world.Comm{Size: 3, Remote: &world.Comm{Size: 2}}}
	two, three, four := []int64{1, 0}, []int64{1, 0, 2}, []int64{1, 2, 3, 4}
	for _, c := range []struct {
		comm *Communicator
		v    Collective
		want string
	}{
		{&Communicator{}, Collective{Operation: collectives.Barrier}, "MPI_ERR_COMM"},
		{own, Collective{Operation: collectives.Bcast, Root: 0}, ""}, {own, Collective{Operation: collectives.Bcast, Root: 2}, ""},
		{own, Collective{Operation: collectives.Bcast, Root: 3}, "MPI_ERR_ROOT"}, {own, Collective{Operation: collectives.Bcast, Root: -1}, "MPI_ERR_ROOT"},
		{own, Collective{Operation: collectives.Allreduce, Root: -1}, ""},
		{own, Collective{Operation: collectives.Allreduce, Bytes: -1}, "MPI_ERR_COUNT"}, {own, Collective{Operation: collectives.Allreduce}, ""},
		{own, Collective{Operation: collectives.Allgatherv, Counts: []int64{1, -1, 1}}, "MPI_ERR_COUNT"},
		{own, Collective{Operation: collectives.Alltoallv, InCounts: []int64{1, -1, 1}, OutCounts: three}, "MPI_ERR_COUNT"},
		{own, Collective{Operation: collectives.Alltoallv, InCounts: three, OutCounts: []int64{1, -1, 1}}, "MPI_ERR_COUNT"},
		{own, Collective{Operation: collectives.Allgatherv, Counts: three}, ""},
		{own, Collective{Operation: collectives.Allgatherv, Counts: two}, "MPI_ERR_COUNT"}, {own, Collective{Operation: collectives.Allgatherv, Counts: four}, "MPI_ERR_COUNT"},
		{own, Collective{Operation: collectives.Alltoallv, InCounts: three, OutCounts: three}, ""},
		{own, Collective{Operation: collectives.Alltoallv, InCounts: three, OutCounts: two}, "MPI_ERR_COUNT"},
		{own, Collective{Operation: collectives.Alltoallv, InCounts: two, OutCounts: three}, "MPI_ERR_COUNT"},
		{own, Collective{Operation: collectives.Alltoallv, InCounts: three}, "MPI_ERR_COUNT"}, {own, Collective{Operation: collectives.Alltoallv, OutCounts: three}, "MPI_ERR_COUNT"},
		{one, Collective{Operation: collectives.Alltoallv, InCounts: []int64{8}, OutCounts: []int64{8}}, ""},
		{one, Collective{Operation: collectives.Alltoallv, InCounts: []int64{9}, OutCounts: []int64{8}}, "MPI_ERR_TRUNCATE"},
		{own, Collective{Operation: collectives.Alltoallv, InCounts: four[:3], OutCounts: three}, ""}, // members find that out later

		{between, Collective{Operation: collectives.Bcast, Root: 1}, ""}, {between, Collective{Operation: collectives.Bcast, Root: 2}, "MPI_ERR_ROOT"},
		{between, Collective{Operation: collectives.Bcast, Root: world.Root}, ""}, {between, Collective{Operation: collectives.Bcast, Root: world.ProcNull}, ""},
		{between, Collective{Operation: collectives.Bcast, Root: -77}, "MPI_ERR_ROOT"}, {between, Collective{Operation: collectives.Bcast, Root: 0}, ""},
		{between, Collective{Operation: collectives.Allreduce, Bytes: -1}, "MPI_ERR_COUNT"},
		{between, Collective{Operation: collectives.Allgatherv, Counts: []int64{-1, 1}}, "MPI_ERR_COUNT"},
		{between, Collective{Operation: collectives.Allgatherv, Counts: two}, ""}, {between, Collective{Operation: collectives.Allgatherv, Counts: three}, "MPI_ERR_COUNT"},
		{between, Collective{Operation: collectives.ReduceScatter, Counts: three}, ""}, {between, Collective{Operation: collectives.ReduceScatter, Counts: two}, "MPI_ERR_COUNT"},
		{between, Collective{Operation: collectives.Alltoallv, InCounts: two, OutCounts: two}, ""},
		{between, Collective{Operation: collectives.Alltoallv, InCounts: three, OutCounts: two}, "MPI_ERR_COUNT"},
		{between, Collective{Operation: collectives.Alltoallv, InCounts: two, OutCounts: three}, "MPI_ERR_COUNT"},
		{between, Collective{Operation: collectives.Scan}, "MPI_ERR_COMM"}, {between, Collective{Operation: collectives.Exscan}, "MPI_ERR_COMM"},
		{between, Collective{Procedure: world.CommSplit, Operation: collectives.Allgather, Creation: &creation{}}, ""},
		{between, Collective{Procedure: world.CommCreate, Operation: collectives.Allreduce, Creation: &creation{}}, "MPI_ERR_COMM"},
	} {
		if got := classOf(c.comm.Check(&c.v)); got != c.want {
			t.Errorf("%+v among %d, between groups %v: %q, want %q", c.v, c.comm.Size, c.comm.Remote != nil, got, c.want)
		}
	}
}

// The bytes of many blocks have a greatest value, which is that of a count of MPI.
func TestBytesOfManyBlocks(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		n     int
		want  int64
	}{{0, 5, 0}, {7, 3, 21}, {1 << 31, 1 << 31, 1 << 62}, {1 << 31, 1 << 32, math.MaxInt64}, {1 << 62, 1 << 40, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64}} {
		if got := blocks(c.bytes, c.n); got != c.want {
			t.Errorf("%d blocks of %d bytes are %d, want %d", c.n, c.bytes, got, c.want)
		}
	}
	for _, c := range []struct {
		v    Collective
		want int64
	}{
		{Collective{Operation: collectives.Alltoall, Bytes: 8}, 24}, {Collective{Operation: collectives.Allgather, Bytes: 8}, 24},
		{Collective{Operation: collectives.ReduceScatter, Bytes: 8}, 24}, {Collective{Operation: collectives.ReduceScatter, Bytes: 8, Counts: []int64{8, 0, 0}}, 8},
		{Collective{Operation: collectives.Allreduce, Bytes: 8}, 8},
	} {
		if got := c.v.vector(3); got != c.want {
			t.Errorf("the vector of %v of 3 members has %d bytes, want %d", c.v.Operation, got, c.want)
		}
	}
}

// A call that makes a communicator of some members takes a tag of MPI and members of the communicator alone. All members find the
// same communicator on which they carry it out, and with another tag, or another group, another.
func TestGroupsOfMembers(t *testing.T) {
	k := opened(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 6, 1, Auto)
	all := k.Communicators.At(world.World)
	some := k.addComm(1001, world.Strided(1, 1, 4))
	for _, c := range []struct {
		comm *Communicator
		g    *world.Group
		tag  int
		want string
	}{
		{all, world.Strided(0, 2, 3), 0, ""}, {all, world.Strided(0, 2, 3), world.TagUB, ""}, {some, world.Strided(2, 1, 2), 5, ""},
		{all, world.Strided(0, 2, 3), -1, "MPI_ERR_TAG"}, {all, world.Strided(0, 2, 3), world.TagUB + 1, "MPI_ERR_TAG"},
		{some, world.Strided(0, 1, 3), 5, "MPI_ERR_GROUP"}, {&Communicator{}, world.Strided(0, 1, 3), 5, "MPI_ERR_COMM"},
		{&Communicator{Comm: world.Comm{Size: 2, Remote: &world.Comm{Size: 1}}}, world.Strided(0, 1, 2), 5, "MPI_ERR_COMM"},
	} {
		on, v, err := k.CreateGroup(c.comm, c.g, c.tag, 2)
		if got := classOf(err); got != c.want || v == nil || v.NewGroup() != c.g {
			t.Errorf("a group of %d of %d members with tag %d: %q, want %q", c.g.Size(), c.comm.Size, c.tag, got, c.want)
		}
		if err == nil && (on.Size != c.g.Size() || on == c.comm) {
			t.Errorf("a group of %d members meets on %v", c.g.Size(), on)
		}
	}
	meets := func(tag int, g *world.Group) *Communicator {
		on, _, err := k.CreateGroup(all, g, tag, 0)
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	first := meets(3, world.Strided(0, 2, 3))
	if meets(3, world.Strided(0, 2, 3)) != first || meets(4, world.Strided(0, 2, 3)) == first || meets(3, world.Strided(1, 2, 3)) == first {
		t.Error("members of a group meet on other communicators than those of its tag and members")
	}
	on, _, err := k.CreateGroupAs(first.Context, world.Strided(0, 2, 3), 0)
	if err != nil || on != first {
		t.Errorf("members that know the context meet on %v, %v", on, err)
	}
	if _, _, err := k.CreateGroupAs(first.Context, world.Strided(0, 2, 2), 0); classOf(err) != "MPI_ERR_COMM" {
		t.Errorf("another group with the context: %v", err)
	}
	if _, _, err := k.CreateGroupAs(77, world.Strided(4, 1, 3), 0); classOf(err) != "MPI_ERR_GROUP" {
		t.Errorf("a rank that there is not: %v", err)
	}
}

// A collective without content has whole elements, and a root if it is rooted; one whose blocks differ needs its counts.
func TestCollectivesOfSizes(t *testing.T) {
	k := opened(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 4, 1, Auto)
	for _, op := range collectives.Operations() {
		differ := slices.Contains([]collectives.Operation{collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv}, op)
		v, err := k.Sized(op, 24, 8, 2)
		switch {
		case op == collectives.Barrier:
			if v != &k.Barrier || err != nil {
				t.Errorf("a barrier of sizes is %+v, %v", *v, err)
			}
			continue
		case differ:
			if classOf(err) != "MPI_ERR_ARG" {
				t.Errorf("%v without counts: %v", op, err)
			}
			continue
		}
		if root := map[bool]int{true: 2}[op.Rooted()]; err != nil || v.Operation != op || v.Procedure != world.ProcedureOf(op) || v.Bytes != 24 || v.Element != 8 || v.Root != root || v.Data {
			t.Errorf("%v of 24 bytes with root 2 is %+v, %v", op, *v, err)
		}
		for _, wrong := range [][2]int64{{20, 8}, {24, 0}, {8, -8}} {
			if _, err := k.Sized(op, wrong[0], wrong[1], 0); classOf(err) != "MPI_ERR_COUNT" {
				t.Errorf("%v of %d bytes in elements of %d: %v", op, wrong[0], wrong[1], err)
			}
		}
		if got, want := v.SharesResult(), op == collectives.Allreduce; got != want {
			t.Errorf("members of %v share a result: %v", op, got)
		}
	}
	v := k.Blank(world.Bcast, collectives.Bcast)
	if v.Procedure != world.Bcast || v.Operation != collectives.Bcast || v.Bytes != 0 || v.Root != 0 || v.Element != 0 {
		t.Errorf("a call without arguments is %+v", *v)
	}
	if v, err := k.Split(3, -7); err != nil || v.Color() != 3 || v.Key() != -7 || v.SharesResult() || v.Bytes != 8 || v.Element != 8 {
		t.Errorf("a split of color 3 and key -7 is %+v, %v", *v, err)
	}
	if _, err := k.Split(-2, 0); classOf(err) != "MPI_ERR_ARG" {
		t.Errorf("a split of color -2: %v", err)
	}
	if _, err := k.Split(world.Undefined, 0); err != nil {
		t.Errorf("a split without a color: %v", err)
	}
	if v := k.Dup(world.Strided(0, 1, 4)); v.SharesResult() || v.NewGroup().Size() != 4 {
		t.Errorf("a duplicate is %+v", *v)
	}
}

// A rank alone on a communicator makes communicators of itself, each another; it frees each of them once, and never SELF.
func TestCommunicatorsOfOneRank(t *testing.T) {
	k := opened(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 4, 1, Auto)
	self, all := k.Communicators.At(world.Self), k.Communicators.At(world.World)
	if g := k.GroupOf(self, 2); g.Size() != 1 || g.WorldRank(0) != 2 {
		t.Errorf("the group of rank 2 alone has %d members, the first is %d", g.Size(), g.WorldRank(0))
	}
	if g := k.GroupOf(all, 2); g != all.Group {
		t.Error("the group of WORLD is another")
	}
	seen := map[uint64]bool{}
	for _, lp := range []int32{0, 1, 0, 1, 1} {
		made := k.makeAlone(lp, self, 0)
		if seen[made.Context] || made.Size != 1 || made.Group.WorldRank(0) != int(lp) {
			t.Errorf("rank %d makes a communicator of %d ranks, whose context is that of another %v", lp, made.Size, seen[made.Context])
		}
		seen[made.Context] = true
		again := k.makeAlone(lp, made, 0)
		if seen[again.Context] || again.Group.WorldRank(0) != int(lp) {
			t.Errorf("rank %d makes a communicator of its own whose context is that of another", lp)
		}
		seen[again.Context] = true
		if k.makeAlone(lp, made, world.Undefined) != nil {
			t.Error("a rank without a color makes a communicator")
		}
		if err := k.Free(3, made); classOf(err) != "MPI_ERR_COMM" {
			t.Errorf("rank 3 frees the communicator of rank %d: %v", lp, err)
		}
		index := made.Index
		if err := k.Free(lp, made); err != nil || k.Communicator(index) == made {
			t.Errorf("rank %d frees its communicator, which is there: %v", lp, err)
		}
	}
	pair := k.addComm(99, world.Strided(0, 1, 2))
	if err := k.Free(0, pair); err != nil || !pair.FreedBy(0) || pair.FreedBy(1) || k.Communicator(pair.Index) != pair {
		t.Errorf("one of two members has freed a communicator: %v", err)
	}
	if err := k.Free(0, pair); classOf(err) != "MPI_ERR_COMM" {
		t.Errorf("a member frees a communicator twice: %v", err)
	}
	for _, comm := range []*Communicator{self, all} {
		if err := k.Free(0, comm); classOf(err) != "MPI_ERR_COMM" {
			t.Errorf("a rank frees %v: %v", comm, err)
		}
	}
	exchanging := k.Exchanging(pair)
	if k.Exchanging(pair) != exchanging || exchanging.Context == pair.Context || exchanging.Size != 2 {
		t.Errorf("messages of exchanges of %v travel on %v", pair, exchanging)
	}
	index := exchanging.Index
	if err := k.Free(1, pair); err != nil || k.Communicator(index) == exchanging {
		t.Errorf("the communicator of exchanges is there after both members have freed theirs: %v", err)
	}
	for i := range int32(20) { // of a number each rank has one duplicate, and another of another number
		for _, lp := range []int32{0, 1} {
			d := k.LocalDuplicate(lp, self, i)
			if k.LocalDuplicate(lp, self, i) != d || seen[d.Context] || d.Group.WorldRank(0) != int(lp) {
				t.Errorf("duplicate %d of rank %d alone is %v", i, lp, d)
			}
			seen[d.Context] = true
		}
	}
}
