package network

// block fills the nodes one after another.
type block struct{}

var blockKind = mappingKind{
	name:     "block",
	examples: []string{"block"},
	parse:    func(*mappingReader) mapping { return block{} },
}

func (block) String() string { return "block" }

func (block) layOut(ranks, perNode, _ int) (layout, error) { return blocks{ranks, perNode}, nil }

// blocks is the layout of block. Targets recognise its type and compute with it without
// an interface.
type blocks struct{ ranks, perNode int }

func (l blocks) nodes() int               { return (l.ranks + l.perNode - 1) / l.perNode }
func (l blocks) node(rank int) int        { return rank / l.perNode }
func (l blocks) index(rank int) int       { return rank % l.perNode }
func (l blocks) place(node int) int       { return node }
func (l blocks) size(node int) int        { return min(l.perNode, l.ranks-node*l.perNode) }
func (l blocks) sizes() (least, most int) { return l.size(l.nodes() - 1), l.size(0) }
func (l blocks) member(node, k int) int   { return node*l.perNode + k }
func (l blocks) leadersAscend() bool      { return true }
func (l blocks) period() int              { return min(l.perNode, l.ranks) }

func (l blocks) meeting(a, b, c, d int) (same, different bool) {
	return meetingOf(l.node(a), l.node(b-1), l.node(c), l.node(d-1))
}

// meetingOf is meeting of ranks that are on nodes first to last, and on nodes from to to, where nodes are filled in turn.
func meetingOf(first, last, from, to int) (same, different bool) {
	same = first <= to && from <= last
	different = first != last || from != to || first != from
	return same, different
}
