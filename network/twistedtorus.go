package network

import "math"

// twistedTorus is a torus whose link round the first dimension arrives twist
// places further along the second (Cámara et al., "Twisted Torus Topologies for
// Enhanced Interconnection Networks", 2010).
type twistedTorus struct {
	dims  []int // two or more
	twist int   // 0 <= twist < dims[1]
}

var twistedTorusKind = topologyKind{
	name:     "twisted-torus",
	fields:   []string{"dims", "twist"},
	examples: []string{"{dims: [20, 10], twist: 3}", "{dims: [4, 8, 7], twist: 0}"},
	parse: func(o *object, _ []*topologyKind) topologySpec {
		dims := parseDims(o, 2)
		most := int64(math.MaxInt32)
		if len(dims) >= 2 {
			most = max(0, int64(dims[1])-1)
		}
		return twistedTorus{dims, o.count("twist", true, 0, most)}
	},
}

func (twistedTorus) kind() string         { return "twisted-torus" }
func (t twistedTorus) build(int) topology { return t }

func (t twistedTorus) write(o *objectWriter) {
	o.numbers("dims", t.dims)
	o.number("twist", t.twist)
}

func (t twistedTorus) hops(a, b int) int {
	rest := grid{dims: t.dims[2:], wrap: true}
	layer := rest.capacity()
	sum := rest.hops(a%layer, b%layer)
	a, b = a/layer, b/layer
	n, m := t.dims[0], t.dims[1]
	dx, dy := b/m-a/m, b%m-a%m
	// Going round the first dimension k times moves by (k·n, −k·twist). More rounds
	// than these cost more than the whole plain torus.
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

// most is that of the torus without links round its first dimension.
func (t twistedTorus) most(nodes int) int {
	return t.dims[0] - 1 + grid{dims: t.dims[1:], wrap: true}.most(nodes)
}
