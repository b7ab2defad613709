package network

import (
	"fmt"
	"slices"
)

// A layout says which node each of the ranks is on. Nodes are numbered densely
// from 0, in ascending order of their places in the topology.
type layout interface {
	nodes() int
	node(rank int) int
	size(node int) int
	member(node, k int) int // k-th rank of the node in ascending order
	place(node int) int     // place of the node in the topology
	// meeting says whether a rank of [a,b) and one of [c,d), both not empty,
	// may be on one node, and whether they may be on two. It errs towards true.
	meeting(a, b, c, d int) (same, different bool)
}

// blocks fills the nodes one after the other.
type blocks struct{ ranks, perNode int }

func (l blocks) nodes() int         { return (l.ranks + l.perNode - 1) / l.perNode }
func (l blocks) node(rank int) int  { return rank / l.perNode }
func (l blocks) place(node int) int { return node }
func (l blocks) size(node int) int  { return min(l.perNode, l.ranks-node*l.perNode) }
func (l blocks) member(node, k int) int {
	return node*l.perNode + k
}

func (l blocks) meeting(a, b, c, d int) (same, different bool) {
	first, last := l.node(a), l.node(b-1)
	from, to := l.node(c), l.node(d-1)
	same = first <= to && from <= last
	different = first != last || from != to || first != from
	return same, different
}

// cycle deals the ranks out to the nodes in turn.
type cycle struct{ ranks, count int }

func (l cycle) nodes() int             { return l.count }
func (l cycle) node(rank int) int      { return rank % l.count }
func (l cycle) place(node int) int     { return node }
func (l cycle) size(node int) int      { return (l.ranks - node + l.count - 1) / l.count }
func (l cycle) member(node, k int) int { return node + k*l.count }

func (l cycle) meeting(a, b, c, d int) (same, different bool) {
	if b-a >= l.count || d-c >= l.count {
		return true, l.count > 1
	}
	// Two arcs of a circle meet if one starts within the other.
	ahead := (c%l.count - a%l.count + l.count) % l.count
	same = ahead < b-a || l.count-ahead < d-c || ahead == 0
	different = b-a > 1 || d-c > 1 || ahead != 0
	return same, different
}

// scatter fills the nodes one after the other with the ranks in random order.
type scatter struct {
	blocks blocks
	order  permutation
}

func (l *scatter) nodes() int         { return l.blocks.nodes() }
func (l *scatter) node(rank int) int  { return l.blocks.node(l.order.forward(rank)) }
func (l *scatter) place(node int) int { return node }
func (l *scatter) size(node int) int  { return l.blocks.size(node) }

func (l *scatter) member(node, k int) int {
	var room [128]int // larger nodes take memory from the heap
	members := room[:0]
	for i := range l.size(node) {
		members = append(members, l.order.inverse(l.blocks.member(node, i)))
	}
	slices.Sort(members)
	return members[k]
}

func (l *scatter) meeting(a, b, c, d int) (same, different bool) {
	return unknownMeeting(l, l.blocks.perNode, a, b, c, d)
}

// unknownMeeting is all that can be said without looking at single ranks.
func unknownMeeting(l layout, largest, a, b, c, d int) (same, different bool) {
	overlap := a < d && c < b
	single := b-a == 1 && d-c == 1 && a == c
	return overlap || largest > 1, l.nodes() > 1 && !single
}

// listing is read from a file.
type listing struct {
	nodeOf  []int32 // by rank
	places  []int32 // by node
	start   []int32 // by node: its first index in members; one more at the end
	members []int32 // ranks by node, ascending
	largest int     // node size
}

// newListing lays out ranks whose places are given.
func newListing(places []int32) *listing {
	l := &listing{nodeOf: make([]int32, len(places)), members: make([]int32, len(places))}
	for r := range l.members {
		l.members[r] = int32(r)
	}
	slices.SortStableFunc(l.members, func(a, b int32) int { return int(places[a]) - int(places[b]) })
	for i, r := range l.members {
		if i == 0 || places[r] != l.places[len(l.places)-1] {
			l.places = append(l.places, places[r])
			l.start = append(l.start, int32(i))
		}
		l.nodeOf[r] = int32(len(l.places) - 1)
	}
	l.start = append(l.start, int32(len(places)))
	for node := range l.places {
		l.largest = max(l.largest, l.size(node))
	}
	return l
}

func (l *listing) nodes() int             { return len(l.places) }
func (l *listing) node(rank int) int      { return int(l.nodeOf[rank]) }
func (l *listing) place(node int) int     { return int(l.places[node]) }
func (l *listing) size(node int) int      { return int(l.start[node+1] - l.start[node]) }
func (l *listing) member(node, k int) int { return int(l.members[int(l.start[node])+k]) }

func (l *listing) meeting(a, b, c, d int) (same, different bool) {
	return unknownMeeting(l, l.largest, a, b, c, d)
}

// mapping is the rule by which a machine lays its ranks out.
type mapping struct {
	kind   string  // block, cyclic, random or file
	seed   uint64  // of random
	path   string  // of file, as written
	places []int32 // of file: by rank
}

func (m mapping) String() string {
	switch m.kind {
	case "random":
		return fmt.Sprintf("random:%d", m.seed)
	case "file":
		return "file:" + m.path
	}
	return m.kind
}
