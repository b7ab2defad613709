package network

// tree has a node at every vertex: node 0 is the root, and the children of node
// i are arity·i+1 … arity·i+arity.
type tree struct{ arity int }

var treeKind = topologyKind{
	name:     "tree",
	fields:   []string{"arity"},
	examples: []string{"{arity: 2}", "{arity: 5}"},
	parse: func(o *object, _ []*topologyKind) topologySpec {
		return tree{o.count("arity", true, 2, maxRanks)}
	},
}

func (tree) kind() string            { return "tree" }
func (t tree) write(o *objectWriter) { o.number("arity", t.arity) }
func (t tree) build(int) topology    { return t }

func (t tree) hops(a, b int) int {
	n := 0
	for ; a != b; n++ {
		if a < b {
			a, b = b, a
		}
		a = (a - 1) / t.arity
	}
	return n
}
func (tree) capacity() int { return unlimited }
func (tree) fewest() int   { return 1 }

// most is twice the distance of the last node from the root.
func (t tree) most(nodes int) int { return 2 * t.hops(0, max(nodes-1, 0)) }
