package network

import (
	"fmt"
	"sort"

	"gigarank/internal/input"
	"gigarank/internal/quantity"
)

// grid is a mesh or torus of any number of dimensions; a ring is the torus of one dimension. The
// last dimension varies fastest with the number of the node.
type grid struct {
	dims []int
	wrap bool
}

// ring is a torus of one dimension, whose length is the number of nodes.
type ring struct{}

var ringKind = topologyKind{
	name:     "ring",
	examples: []string{"{}"},
	parse:    func(*object, []*topologyKind) topologySpec { return ring{} },
}

func (ring) kind() string         { return "ring" }
func (ring) write(*objectWriter)  {}
func (ring) build(n int) topology { return grid{dims: []int{n}, wrap: true} }

// gridSpec is a mesh or torus as the machine file gives it.
type gridSpec struct {
	wrap       bool
	dims       []int
	dimensions int // number of dims, where dims is left out
}

var meshKind = topologyKind{
	name:     "mesh",
	fields:   []string{"dims", "dimensions"},
	examples: []string{"{dims: [20, 10]}", "{dimensions: 2}"},
	parse:    func(o *object, _ []*topologyKind) topologySpec { return parseGrid(o, false) },
}

var torusKind = topologyKind{
	name:     "torus",
	fields:   []string{"dims", "dimensions"},
	examples: []string{"{dims: [5, 5, 8]}", "{dimensions: 3}"},
	parse:    func(o *object, _ []*topologyKind) topologySpec { return parseGrid(o, true) },
}

func parseGrid(o *object, wrap bool) topologySpec {
	s := &gridSpec{wrap: wrap, dimensions: o.count("dimensions", false, 1, 16)}
	if !o.has("dimensions") {
		s.dims = parseDims(o, 1)
	} else if _, both := o.take("dims", false, ""); both {
		o.fault("dimensions", "is given beside dims", "remove one of the two")
	}
	return s
}

func parseDims(o *object, least int) []int {
	dims := parseWholes(o, "dims")
	if n := len(dims); n > 0 && n < least || n > 16 {
		o.fault("dims", fmt.Sprintf("there are %d of them", n), fmt.Sprintf("give from %d to 16 dimensions", least))
	}
	return dims
}

// parseWholes reads a list of whole numbers of at least 1.
func parseWholes(o *object, key string) []int {
	const remedy = "write a list such as [8, 8, 16]"
	var all []int
	for _, node := range o.list(key, true, remedy) {
		n, err := quantity.ParseCount(input.Target(node).Value)
		if err != nil || n < 1 || n > maxRanks {
			o.doc.Fault(node.Line, input.Path(o.path, key), "an entry is "+input.KindOf(input.Target(node)), "write whole numbers of at least 1")
			n = 1
		}
		all = append(all, int(n))
	}
	return all
}

func (s *gridSpec) kind() string {
	if s.wrap {
		return "torus"
	}
	return "mesh"
}

func (s *gridSpec) write(o *objectWriter) {
	if s.dims != nil {
		o.numbers("dims", s.dims)
		return
	}
	o.number("dimensions", s.dimensions)
}

func (s *gridSpec) build(n int) topology {
	dims := s.dims
	if dims == nil {
		dims = nearCube(n, s.dimensions)
	}
	return grid{dims: dims, wrap: s.wrap}
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

// steady goes to the end of the shorter of two rows.
func (g grid) steady(a, b int) int {
	n := g.dims[len(g.dims)-1]
	return n - max(a%n, b%n)
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

// nearCube returns count dimensions that hold n nodes: as equal as possible, in descending order,
// and none longer than necessary.
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

// route goes along the dimensions in their order: round a ring the shorter way, and up where both are as long.
func (g grid) route(a, b int, _ share, hops []hop) []hop {
	stride := product(g.dims)
	for _, n := range g.dims {
		stride /= n
		x, to := a/stride%n, b/stride%n
		step := 1
		if g.wrap && 2*((to-x+n)%n) > n || !g.wrap && to < x {
			step = -1
		}
		for x != to {
			next := (x + step + n) % n
			moved := a + (next-x)*stride
			hops = append(hops, hop{from: a, to: moved})
			a, x = moved, next
		}
	}
	return hops
}

func (grid) width(hop, share) share { return share{} }
func (grid) switched() bool         { return false }
func (grid) tapers() bool           { return false }
