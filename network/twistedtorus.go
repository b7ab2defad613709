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
	m := t.dims[1]
	along, across := t.moves(b/m-a/m, b%m-a%m)
	return sum + distance(along, 0) + distance(across, 0)
}

// moves returns the fewest steps along the first dimension and then along the second that lead to where both are so far off.
func (t twistedTorus) moves(dx, dy int) (along, across int) {
	n, m := t.dims[0], t.dims[1]
	// Going round the first dimension k times moves by (k·n, −k·twist). More rounds
	// than these cost more than the whole plain torus.
	best := unlimited
	rounds := 1 + m/(2*n) + 1
	for k := -rounds; k <= rounds; k++ {
		over := ((dy-k*t.twist)%m + m) % m
		if 2*over > m {
			over -= m
		}
		if steps := distance(dx+k*n, 0) + distance(over, 0); steps < best {
			best, along, across = steps, dx+k*n, over
		}
	}
	return along, across
}

func (t twistedTorus) capacity() int { return product(t.dims) }
func (twistedTorus) fewest() int     { return 1 }

// most is that of the torus without links round its first dimension.
func (t twistedTorus) most(nodes int) int {
	return t.dims[0] - 1 + grid{dims: t.dims[1:], wrap: true}.most(nodes)
}

// route goes along the first dimension, then along the second, then along the others.
func (t twistedTorus) route(a, b int, taper share, hops []hop) []hop {
	rest := grid{dims: t.dims[2:], wrap: true}
	layer := rest.capacity()
	n, m := t.dims[0], t.dims[1]
	x, y := a/layer/m, a/layer%m
	along, across := t.moves(b/layer/m-x, b/layer%m-y)
	move := func(nextX, nextY int) {
		to := (nextX*m+nextY)*layer + a%layer
		hops = append(hops, hop{from: a, to: to})
		a, x, y = to, nextX, nextY
	}
	for ; along > 0; along-- {
		if x == n-1 {
			move(0, (y+t.twist)%m)
		} else {
			move(x+1, y)
		}
	}
	for ; along < 0; along++ {
		if x == 0 {
			move(n-1, (y-t.twist+m)%m)
		} else {
			move(x-1, y)
		}
	}
	for ; across > 0; across-- {
		move(x, (y+1)%m)
	}
	for ; across < 0; across++ {
		move(x, (y-1+m)%m)
	}
	base := a - a%layer
	first := len(hops)
	hops = rest.route(a%layer, b%layer, taper, hops)
	for i := first; i < len(hops); i++ {
		hops[i].from, hops[i].to = hops[i].from+base, hops[i].to+base
	}
	return hops
}

func (twistedTorus) width(hop, share) share { return share{} }
func (twistedTorus) switched() bool         { return false }
func (twistedTorus) tapers() bool           { return false }
