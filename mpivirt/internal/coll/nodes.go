package coll

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"gigarank/mpivirt/internal/world"
	"gigarank/network"
)

// nodeTable maps the members of a communicator to the target's nodes, numbered by position. The
// leader of a node is its first member. For WORLD the table takes no memory per member nor, unless
// the mapping is irregular, per node.
type nodeTable struct {
	target *network.Target
	world  bool
	count  int

	// WORLD under block mapping: the members of node p begin at p·perNode.
	perNode    int
	ranks      int
	reciprocal uint64 // of perNode, times 2^64, rounded up

	// WORLD under a mapping for which finding leaders takes time: by position.
	leaders []int32

	// Communicators other than WORLD.
	position []int32 // by member
	start    []int32 // by position: index in members at which its members begin; one more at the end
	members  []int32 // by node, ascending

	sorted []int32 // ranks of the leaders in ascending order, if they do not ascend; nil until the first use
	span   network.Span
	spans  bool // span is known

	// ascending says that the ranks of the leaders ascend with the position.
	ascending bool
	// Positions from here to there-1 contain all nodes with members of this engine; local counts
	// these members, nil under block mapping.
	here, there int
	local       []int32
}

// spanOf returns the span of the nodes of a communicator.
func (c *Collectives) spanOf(comm *Communicator) network.Span {
	if comm.Index == world.World {
		return c.partition.Target.Span()
	}
	if comm.nodes == nil {
		comm.nodes = c.newNodeTable(comm)
	}
	t := comm.nodes
	if !t.spans {
		t.span, t.spans = t.target.SpanOf(t.count, func(p int) int { return t.target.Node(comm.RankOf(t.leader(p), 0)) }), true
	}
	return t.span
}

// newNodeTable returns the node table of c for this engine.
func (c *Collectives) newNodeTable(comm *Communicator) *nodeTable {
	t := &nodeTable{target: c.partition.Target, world: comm.Index == world.World}
	if t.world {
		t.layOutWorld(c)
	} else {
		t.layOut(c, comm)
	}
	if t.perNode > 0 {
		t.here, t.there = c.partition.First/t.perNode, (c.partition.First+c.partition.Ranks+t.perNode-1)/t.perNode
		return t
	}
	t.countLocal(c, comm)
	return t
}

func (t *nodeTable) layOutWorld(k *Collectives) {
	t.count = k.partition.Target.Nodes()
	switch {
	case k.partition.Target.KeepsBlocks():
		t.perNode, t.ascending = k.partition.Target.NodeSize(0), true
		t.ranks = k.partition.Target.Ranks()
		t.reciprocal = math.MaxUint64/uint64(t.perNode) + 1
	case k.partition.Target.LeadersAscend():
		t.ascending = true
	default:
		t.leaders = make([]int32, t.count)
		for p := range t.leaders {
			t.leaders[p] = int32(t.member(p, 0))
		}
		t.ascending = slices.IsSorted(t.leaders)
	}
}

// layOut numbers the nodes of a communicator in the order of their first members.
func (t *nodeTable) layOut(k *Collectives, c *Communicator) {
	t.ascending = c.Group.Ascending()
	t.position = make([]int32, c.Size)
	numbers := map[int]int32{}
	for m := range c.Size {
		node := k.partition.Target.Node(c.Group.WorldRank(m))
		p, known := numbers[node]
		if !known {
			p = int32(len(numbers))
			numbers[node] = p
		}
		t.position[m] = p
	}
	t.count = len(numbers)
	t.start = make([]int32, t.count+1)
	for _, p := range t.position {
		t.start[p+1]++
	}
	for p := range t.count {
		t.start[p+1] += t.start[p]
	}
	t.members = make([]int32, c.Size)
	fill := make([]int32, t.count)
	for m, p := range t.position {
		t.members[t.start[p]+fill[p]] = int32(m)
		fill[p]++
	}
}

// countLocal counts the members of this engine on each node.
func (t *nodeTable) countLocal(k *Collectives, c *Communicator) {
	t.here, t.there = t.count, 0
	for m := c.First; m < c.Last; m++ {
		if _, local := k.partition.Local(c.RankOf(m, 0)); local {
			p := t.at(m)
			t.here, t.there = min(t.here, p), max(t.there, p+1)
		}
	}
	t.here = min(t.here, t.there)
	t.local = make([]int32, t.there-t.here)
	for m := c.First; m < c.Last; m++ {
		if _, local := k.partition.Local(c.RankOf(m, 0)); local {
			t.local[t.at(m)-t.here]++
		}
	}
}

// at returns the position of a member's node.
func (t *nodeTable) at(member int) int {
	switch {
	case t.perNode > 0:
		return t.quotient(member)
	case t.world:
		return t.target.Node(member)
	default:
		return int(t.position[member])
	}
}

// quotient returns member / perNode for 0 <= member < 2^32 by a multiplication
// (Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019).
func (t *nodeTable) quotient(member int) int {
	if t.perNode == 1 {
		return member
	}
	high, _ := bits.Mul64(t.reciprocal, uint64(member))
	return int(high)
}

// size returns the number of members on a node.
func (t *nodeTable) size(position int) int {
	switch {
	case t.perNode > 0:
		return min(t.perNode, t.ranks-position*t.perNode)
	case t.world:
		return t.target.NodeSize(position)
	default:
		return int(t.start[position+1] - t.start[position])
	}
}

// member returns the i-th member on a node.
func (t *nodeTable) member(position, i int) int {
	switch {
	case t.perNode > 0:
		return position*t.perNode + i
	case t.world:
		return t.target.NodeMember(position, i)
	default:
		return int(t.members[int(t.start[position])+i])
	}
}

// indexOf returns the number of a member among the members of its node.
func (t *nodeTable) indexOf(position, member int) int {
	if t.perNode > 0 {
		return member - position*t.perNode
	}
	return sort.Search(t.size(position), func(i int) bool { return t.member(position, i) >= member })
}

// leader returns the first member of a node.
func (t *nodeTable) leader(position int) int {
	if t.leaders != nil {
		return int(t.leaders[position])
	}
	return t.member(position, 0)
}

// ledBy reports whether a member is the leader of its node.
func (t *nodeTable) ledBy(position, member int) bool {
	if t.perNode > 0 {
		return member == position*t.perNode
	}
	return member == t.leader(position)
}

// locals returns the number of members of this engine on a node, here <= position
// < there.
func (t *nodeTable) locals(k *Collectives, position int) int {
	if t.perNode == 0 {
		return int(t.local[position-t.here])
	}
	first := position * t.perNode
	return min(first+t.size(position), k.partition.First+k.partition.Ranks) - max(first, k.partition.First)
}
