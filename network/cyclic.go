package network

// cyclic assigns ranks to the nodes in turn.
type cyclic struct{}

var cyclicKind = mappingKind{
	name:     "cyclic",
	examples: []string{"cyclic"},
	parse:    func(*mappingReader) mapping { return cyclic{} },
}

func (cyclic) String() string { return "cyclic" }

// layOut uses all nodes of the machine, as long as there is a rank for each.
func (cyclic) layOut(ranks, perNode, nodes int) (layout, error) {
	if nodes == 0 {
		nodes = (ranks + perNode - 1) / perNode
	}
	return cycle{ranks, min(nodes, ranks)}, nil
}

// cycle is the layout of cyclic.
type cycle struct{ ranks, count int }

func (l cycle) nodes() int               { return l.count }
func (l cycle) node(rank int) int        { return rank % l.count }
func (l cycle) index(rank int) int       { return rank / l.count }
func (l cycle) place(node int) int       { return node }
func (l cycle) size(node int) int        { return (l.ranks - node + l.count - 1) / l.count }
func (l cycle) sizes() (least, most int) { return l.size(l.count - 1), l.size(0) }
func (l cycle) member(node, k int) int   { return node + k*l.count }
func (l cycle) leadersAscend() bool      { return true }

// period returns 1: two ranks that share a node still share a node after a shift of both.
func (l cycle) period() int { return 1 }

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
