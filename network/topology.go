package network

import (
	"math"
	"sort"
)

// A topology places nodes 0, 1, 2, … on a graph of links. Its hop function is
// the number of links on a minimal route between two of them, in closed form;
// it is symmetric, and 0 from a node to itself.
type topology interface {
	hops(a, b int) int
	// capacity is the number of nodes that there is room for.
	capacity() int
	// fewest is a lower bound on the hops between two different nodes.
	fewest() int
	// most is an upper bound on the hops between two of the first so many nodes.
	most(nodes int) int
}

// A ranged topology knows more about ranges of nodes: least is a lower bound on
// the hops between any node of a..b and any of c..d, inclusive, where b < c.
type ranged interface {
	least(a, b, c, d int) int
}

// unlimited is the capacity of a topology that grows with its nodes.
const unlimited = math.MaxInt

// star links every node to one switch.
type star struct{}

func (star) hops(a, b int) int {
	if a == b {
		return 0
	}
	return 2
}
func (star) capacity() int { return unlimited }
func (star) fewest() int   { return 2 }
func (star) most(int) int  { return 2 }

// grid is a mesh or torus of any number of dimensions; a ring is the torus of
// one. The last dimension varies fastest with the node's number.
type grid struct {
	dims []int
	wrap bool
}

func (g grid) hops(a, b int) int {
	sum := 0
	for i := len(g.dims) - 1; i >= 0; i-- {
		n := g.dims[i]
		d := distance(a%n, b%n)
		if g.wrap {
			d = min(d, n-d)
		}
		sum += d
		a, b = a/n, b/n
	}
	return sum
}

func (g grid) capacity() int { return product(g.dims) }
func (grid) fewest() int     { return 1 }

func (g grid) most(int) int {
	sum := 0
	for _, n := range g.dims {
		if g.wrap {
			sum += n / 2
		} else {
			sum += n - 1
		}
	}
	return sum
}

func (g grid) least(a, b, c, d int) int {
	if len(g.dims) > 1 {
		return 1
	}
	if n := g.dims[0]; g.wrap {
		return min(c-b, n-(d-a))
	}
	return c - b
}

// twistedTorus is a torus whose link round the first dimension arrives twist
// places further along the second (Cámara et al., "Twisted Torus Topologies for
// Enhanced Interconnection Networks", 2010).
type twistedTorus struct {
	dims  []int // two or more
	twist int   // 0 <= twist < dims[1]
}

func (t twistedTorus) hops(a, b int) int {
	rest := grid{dims: t.dims[2:], wrap: true}
	layer := rest.capacity()
	sum := rest.hops(a%layer, b%layer)
	a, b = a/layer, b/layer
	n, m := t.dims[0], t.dims[1]
	dx, dy := b/m-a/m, b%m-a%m
	// Going round the first dimension k times moves by (k·n, −k·twist). More
	// rounds than these cost more than all of the plain torus.
	best := unlimited
	rounds := 1 + m/(2*n) + 1
	for k := -rounds; k <= rounds; k++ {
		along := distance(dx+k*n, 0)
		across := ((dy-k*t.twist)%m + m) % m
		best = min(best, along+min(across, m-across))
	}
	return sum + best
}

func (t twistedTorus) capacity() int { return product(t.dims) }
func (twistedTorus) fewest() int     { return 1 }

// most is that of the torus whose first dimension has no links round it.
func (t twistedTorus) most(nodes int) int {
	return t.dims[0] - 1 + grid{dims: t.dims[1:], wrap: true}.most(nodes)
}

// tree has a node at every vertex: node 0 is the root, and the children of node
// i are arity·i+1 … arity·i+arity.
type tree struct{ arity int }

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

// most is twice the way of the last node to the root.
func (t tree) most(nodes int) int { return 2 * t.hops(0, max(nodes-1, 0)) }

// fatTree is the k-ary n-tree of Petrini and Vanneschi (1997): arity^levels
// nodes are the leaves, and a route climbs to the lowest common level.
type fatTree struct{ arity, levels int }

func (t fatTree) hops(a, b int) int {
	n := 0
	for ; a != b; n += 2 {
		a, b = a/t.arity, b/t.arity
	}
	return n
}

func (t fatTree) capacity() int {
	return raise(t.arity, t.levels)
}

func (fatTree) fewest() int    { return 2 }
func (t fatTree) most(int) int { return 2 * t.levels }

func (t fatTree) least(_, b, c, _ int) int { return t.hops(b, c) }

// dragonfly is that of Kim et al. ("Technology-Driven, Highly-Scalable
// Dragonfly Topology", 2008). The routers of a group are linked all to all, and
// one global link joins every two groups: link q of a group goes to the q-th of
// the other groups, from router q/links. The hops are those of the paper's
// minimal route, over at most one global link.
type dragonfly struct {
	groups  int
	routers int // per group
	nodes   int // per router
	links   int // global links per router; routers·links >= groups-1
}

func (d dragonfly) hops(a, b int) int {
	if a == b {
		return 0
	}
	ra, rb := a/d.nodes, b/d.nodes
	if ra == rb {
		return 2
	}
	ga, gb := ra/d.routers, rb/d.routers
	if ga == gb {
		return 3
	}
	n := 3
	if ra%d.routers != d.gateway(ga, gb) {
		n++
	}
	if rb%d.routers != d.gateway(gb, ga) {
		n++
	}
	return n
}

// gateway is the router of a group that has the global link to another.
func (d dragonfly) gateway(from, to int) int {
	if to > from {
		to--
	}
	return to / d.links
}

func (d dragonfly) capacity() int {
	return multiply(multiply(d.groups, d.routers), d.nodes)
}

func (dragonfly) fewest() int  { return 2 }
func (dragonfly) most(int) int { return 5 }

// hierarchy groups nodes into units, units into larger units, and so on. Two
// nodes are as many hops apart as the innermost level that unites them says.
type hierarchy struct{ levels []unit }

// unit is one level of a hierarchy: size units of the level below, so many hops
// apart, or so many as the topology that links them says.
type unit struct {
	size  int // unlimited in the outermost level, if it has no bound
	hops  int
	links topology // nil for the same hops between any two
}

func (h hierarchy) hops(a, b int) int {
	if a == b {
		return 0
	}
	for _, u := range h.levels {
		if u.size == unlimited || a/u.size == b/u.size {
			if u.links == nil {
				return u.hops
			}
			if u.size != unlimited {
				a, b = a%u.size, b%u.size
			}
			return u.links.hops(a, b)
		}
		a, b = a/u.size, b/u.size
	}
	panic("network: a node outside the hierarchy")
}

func (h hierarchy) capacity() int {
	n := 1
	for _, u := range h.levels {
		size := u.size
		if u.links != nil {
			size = min(size, u.links.capacity())
		}
		n = multiply(n, size)
	}
	return n
}

func (h hierarchy) fewest() int {
	best := unlimited
	for _, u := range h.levels {
		best = min(best, u.fewest())
	}
	return best
}

func (h hierarchy) most(nodes int) int {
	farthest := 0
	for _, u := range h.levels {
		if u.links == nil {
			farthest = max(farthest, u.hops)
		} else {
			farthest = max(farthest, u.links.most(min(nodes, u.size)))
		}
	}
	return farthest
}

func (u unit) fewest() int {
	if u.links == nil {
		return u.hops
	}
	return u.links.fewest()
}

// least finds the levels that can unite a node of one range with one of the
// other: none below that of the two nearest by number, none above that of the
// two farthest.
func (h hierarchy) least(a, b, c, d int) int {
	best := unlimited
	for _, u := range h.levels {
		if u.size == unlimited || b/u.size == c/u.size {
			best = min(best, u.fewest())
		}
		if u.size == unlimited || a/u.size == d/u.size {
			break
		}
		a, b, c, d = a/u.size, b/u.size, c/u.size, d/u.size
	}
	return best
}

// nearCube returns count dimensions, as equal as can be and in descending
// order, that hold n nodes, with no dimension longer than it must be.
func nearCube(n, count int) []int {
	dims := make([]int, count)
	for i := range dims {
		left := count - i
		side := 1 + sort.Search(n-1, func(less int) bool { return raise(1+less, left) >= n })
		dims[i] = side
		n = (n + side - 1) / side
	}
	return dims
}

// raise returns base to the exponent, or unlimited where it is larger.
func raise(base, exponent int) int {
	n := 1
	for range exponent {
		n = multiply(n, base)
	}
	return n
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n = multiply(n, d)
	}
	return n
}

// multiply returns a·b for positive a and b, or unlimited where it is larger.
func multiply(a, b int) int {
	if a > unlimited/b {
		return unlimited
	}
	return a * b
}

func distance(a, b int) int {
	if a > b {
		return a - b
	}
	return b - a
}
