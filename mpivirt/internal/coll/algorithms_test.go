package coll

import (
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// picky is a library that has linear algorithms for one rank a node, and counts the questions.
type picky struct{ asked []collectives.Question }

func (*picky) Name() string { return "picky" }

func (*picky) ByNodes(op collectives.Operation) bool { return op != collectives.Barrier }

func (p *picky) Choose(q collectives.Question) collectives.Algorithm {
	p.asked = append(p.asked, q)
	if q.PerNode > 1 {
		return collectives.Binomial
	}
	return collectives.Linear
}

// The user's algorithm comes first, then the library's. The network sums up what is short enough, and reaches all nodes; for
// longer vectors the library chooses as for a machine without such a network.
func TestAlgorithmOfACall(t *testing.T) {
	const (
		plain  = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us}\n"
		single = "name: m\nnetwork: {model: flat, latency: 1us}\n"
		tree   = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, switches: {most: 24, levels: [{name: all, latency: 1us}]}}\n"
		chip   = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, switches: {most: 24, levels: [{name: chip, nodes: 1, latency: 1us}]}}\n"
		given  = "name: m\nranks_per_node: 4\nnetwork: {model: twolevel, intra: {latency: 30ns}, inter: {latency: 1us}, join: [{size: 0, delay: 100ns}], node_bcast: [{size: 8, delay: 150ns}, {size: 1008, delay: 1150ns}]}\n"
	)
	usual := collectives.Default(collectives.Bcast)
	for _, c := range []struct {
		why, machine string
		ranks        int
		first        collectives.Algorithm
		library      bool
		free         bool
		bytes        int64
		want         collectives.Algorithm
	}{
		{"the default", plain, 4, usual, false, true, 8, usual},
		{"the library's, of nodes of two ranks", plain, 4, usual, true, true, 8, collectives.Binomial},
		{"the library's, of nodes of one", single, 4, usual, true, true, 8, collectives.Linear},
		{"the user's, whatever the library says", plain, 4, collectives.Ring, true, false, 8, collectives.Ring},
		{"switches sum up to their limit", tree, 4, collectives.Offload, false, true, 24, collectives.Offload},
		{"beyond it there is the default", tree, 4, collectives.Offload, false, true, 25, usual},
		{"beyond it the library chooses", tree, 4, collectives.Offload, true, false, 25, collectives.Binomial},
		{"switches within nodes unite no nodes", chip, 4, collectives.Offload, false, true, 8, usual},
		{"switches within nodes unite a node", chip, 2, collectives.Offload, false, true, 8, collectives.Offload},
		{"a measured bcast of a node", given, 4, usual, false, true, 8, collectives.Offload},
		{"it says nothing of two nodes", given, 8, usual, false, true, 8, usual},
	} {
		k := opened(t, c.machine, c.ranks, 1, Auto)
		n := len(collectives.Operations())
		a := Algorithms{First: slices.Repeat([]collectives.Algorithm{c.first}, n), Free: slices.Repeat([]bool{c.free}, n)}
		library := &picky{}
		if c.library {
			a.Library = library
		}
		for range 2 { // the second call asks the same
			if got := a.OfWorld(k.partition.Target, collectives.Bcast, c.bytes, 1); got != c.want {
				t.Errorf("%s: %v, want %v", c.why, got, c.want)
			}
		}
		if len(library.asked) > 1 {
			t.Errorf("%s: the library is asked %d times", c.why, len(library.asked))
		}
		k.algorithms = a
		v := &Collective{Procedure: world.Bcast, Operation: collectives.Bcast, Bytes: c.bytes}
		if got := k.Algorithm(v, k.Communicators.At(world.World)); got != c.want {
			t.Errorf("%s: a call goes by %v, want %v", c.why, got, c.want)
		}
		for _, q := range library.asked {
			if q.Ranks != c.ranks || q.Bytes != c.bytes || !q.Commutative || c.first == collectives.Offload && q.Hardware != (collectives.Hardware{}) {
				t.Errorf("%s: the library is asked %+v", c.why, q)
			}
		}
		if got, want := a.byDefault(collectives.Bcast), c.free && !c.library; got != want {
			t.Errorf("%s: byDefault says %t", c.why, got)
		}
		if got, want := a.byNodes(collectives.Bcast), c.library && (c.free || c.first == collectives.Offload); got != want || a.byNodes(collectives.Barrier) {
			t.Errorf("%s: byNodes says %t, and %t of a barrier", c.why, got, a.byNodes(collectives.Barrier))
		}
	}
}

// Nodes are even if all but the last have as many members, one after another.
func TestEvenNodes(t *testing.T) {
	const three = "ranks_per_node: 3\nnetwork: {model: flat, latency: 1us}\n"
	for _, c := range []struct {
		machine string
		ranks   int
		members []int // of the communicator
		want    int
	}{
		{three, 9, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, 3},
		{three, 8, []int{0, 1, 2, 3, 4, 5, 6, 7}, 3},
		{three, 9, []int{0, 1, 3, 4, 6, 7}, 2},
		{three, 9, []int{0, 1, 3, 4, 6}, 2},
		{three, 9, []int{0, 3, 4, 6, 7}, 1},
		{three, 9, []int{0, 1, 3, 6, 7}, 1},
		{three, 9, []int{0, 3, 1, 4, 6, 7}, 1},
		{three, 9, []int{0, 1, 3, 6, 4, 7}, 1},
	} {
		k := opened(t, "name: m\n"+c.machine, c.ranks, 1, Auto)
		comm := k.addComm(1001, world.NewGroup(c.members))
		if got := k.perNode(comm); got != c.want {
			t.Errorf("members %v of %d ranks: %d members of each node, want %d", c.members, c.ranks, got, c.want)
		}
	}
}

// Algorithms are chosen by the bytes of the vector or of a member's block; where blocks differ, by those of the mean block, as far as
// all members know the blocks.
func TestBytesThatChoose(t *testing.T) {
	for _, c := range []struct {
		v    Collective
		want int64
	}{
		{Collective{Operation: collectives.Allreduce, Bytes: 800}, 800},
		{Collective{Operation: collectives.Alltoall, Bytes: 8}, 8},
		{Collective{Operation: collectives.Allgatherv, Bytes: 60, Counts: []int64{10, 20, 30}}, 20},
		{Collective{Operation: collectives.ReduceScatter, Bytes: 60, Counts: []int64{60, 0}}, 30},
		{Collective{Operation: collectives.Gatherv, Bytes: 10, Counts: []int64{10, 20, 30}}, 0},
		{Collective{Operation: collectives.Alltoallv, InCounts: []int64{10, 20, 30}}, 0},
		{Collective{Operation: collectives.Barrier}, 0},
	} {
		if got := c.v.asked(); got != c.want {
			t.Errorf("%v of %d bytes, blocks of %v: chosen by %d bytes, want %d", c.v.Operation, c.v.Bytes, c.v.Counts, got, c.want)
		}
	}
}

// Members of a node are consecutive where the mapping has consecutive ranks on a node; where ranks go round the nodes, only in groups that
// have one rank of each node, or one node.
func TestNodesInOrder(t *testing.T) {
	for _, c := range []struct {
		mapping string
		group   *world.Group
		want    bool
	}{
		{"block", world.Strided(0, 1, 12), true},
		{"block", world.Strided(1, 3, 4), true},
		{"block", world.Strided(3, 1, 1), true},
		{"cyclic", world.Strided(0, 1, 12), false},
		{"cyclic", world.Strided(0, 1, 6), true}, // one rank of each node
		{"cyclic", world.Strided(0, 3, 4), false},
		{"cyclic", world.Strided(0, 6, 2), true}, // the two of a node
	} {
		k := opened(t, "name: m\nranks_per_node: 2\nmapping: "+c.mapping+"\nnetwork: {model: flat, latency: 1us}\n", 12, 1, Auto)
		comm := k.addComm(7, c.group)
		if got := comm.nodesInOrder(k); got != c.want {
			t.Errorf("%s, %d members from %d on: in order %v, want %v", c.mapping, c.group.Size(), c.group.WorldRank(0), got, c.want)
		}
	}
}
