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

// route climbs to the nearest common ancestor.
func (t tree) route(a, b int, _ share, hops []hop) []hop {
	var down []int // nodes below the ancestor on the way to b, from b on
	for a != b {
		if a > b {
			above := (a - 1) / t.arity
			hops = append(hops, hop{from: a, to: above})
			a = above
			continue
		}
		down = append(down, b)
		b = (b - 1) / t.arity
	}
	for i := len(down) - 1; i >= 0; i-- {
		hops = append(hops, hop{from: a, to: down[i]})
		a = down[i]
	}
	return hops
}

func (tree) width(hop, share) share { return share{} }
func (tree) switched() bool         { return false }
func (tree) tapers() bool           { return false }
