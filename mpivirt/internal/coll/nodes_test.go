package coll

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/internal/world"
)

// The table of a communicator's nodes is that of a list of its members: their nodes in the order of the first members, the members of each, and
// the number of members of each node if all nodes but the last have as many in a row.
func TestNodesOfCommunicators(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		ranks := rapid.IntRange(2, 24).Draw(r, "ranks")
		k := opened(t, fmt.Sprintf("name: m\nranks_per_node: %d\nmapping: %s\nnetwork: {model: flat, latency: 1us}\n", rapid.IntRange(1, 6).Draw(r, "ranks per node"), rapid.SampledFrom([]string{"block", "cyclic", "random:3"}).Draw(r, "mapping")), ranks, 1, Auto)
		members := rapid.Permutation(ascending(ranks)).Draw(r, "members")[:rapid.IntRange(2, ranks).Draw(r, "size")]
		if rapid.Bool().Draw(r, "in order") {
			slices.Sort(members)
		}
		comm := k.addComm(77, world.NewGroup(slices.Clone(members)))
		var nodes [][]int // the members of each
		at := map[int]int{}
		for m, rank := range members {
			node := k.partition.Target.Node(rank)
			if _, seen := at[node]; !seen {
				at[node] = len(nodes)
				nodes = append(nodes, nil)
			}
			nodes[at[node]] = append(nodes[at[node]], m)
		}
		table := k.newNodeTable(comm)
		if table.count != len(nodes) {
			r.Fatalf("members %v are on %d nodes, %d in the table", members, len(nodes), table.count)
		}
		each := len(nodes[0])
		for p, of := range nodes {
			if got := table.size(p); got != len(of) || table.leader(p) != of[0] {
				r.Fatalf("members %v: node %d has %d members, the first is %d, in the table %d and %d", members, p, len(of), of[0], got, table.leader(p))
			}
			for i, m := range of {
				if got := table.member(p, i); got != m {
					r.Fatalf("members %v: member %d of node %d is %d, in the table %d", members, i, p, m, got)
				}
				if m != of[0]+i {
					each = 1
				}
			}
			if len(of) > len(nodes[0]) || len(of) < len(nodes[0]) && p < len(nodes)-1 {
				each = 1
			}
		}
		if got := k.perNode(comm); got != each {
			r.Fatalf("members %v on nodes %v: %d of each, want %d", members, nodes, got, each)
		}
	})
}

// ascending returns the numbers below n.
func ascending(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
