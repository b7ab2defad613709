package network

import (
	"math"
	"math/big"
	"math/bits"
)

// A routing topology also gives the links of a minimal route. Links between a node and its switch are not among them: those are the
// node's own.
type routing interface {
	topology
	// route appends the links from a to b.
	route(a, b int, taper share, hops []hop) []hop
	// width returns the bandwidth of a link as a multiple of that of a link which is not tapered.
	width(h hop, taper share) share
	// switched reports whether each node is linked to a switch, and not to other nodes.
	switched() bool
	// tapers reports whether the topology has links that a taper thins.
	tapers() bool
}

// hop is a link that messages share, in one direction. Topologies give their links different values.
type hop struct {
	tier, unit int // of a hierarchy: the level, and the unit of it
	level      int // of the link in its topology; negative on the way down
	from, to   int
}

// share is a positive fraction. The zero value is 1.
type share struct{ num, den uint64 }

// share returns the ratio as a fraction.
func (r ratio) share() share { return share{r.rate.num, r.rate.den} }

func (s share) rat() *big.Rat {
	if s.den == 0 {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(s.num), new(big.Int).SetUint64(s.den))
}

// of returns a share of n over d, rounded down to whole numbers that fit.
func (s share) of(n, d int) share {
	r := s.rat()
	r.Mul(r, new(big.Rat).SetFrac64(int64(n), int64(d)))
	if !r.Num().IsUint64() || !r.Denom().IsUint64() {
		return share{math.MaxUint64, 1}
	}
	return share{r.Num().Uint64(), r.Denom().Uint64()}
}

// lanes returns the number of links that carry a share of n links together: the least that can, at least 1.
func (s share) lanes(n int) int {
	if s.den == 0 {
		return n
	}
	hi, lo := bits.Mul64(s.num, uint64(n))
	lo, carry := bits.Add64(lo, s.den-1, 0)
	if hi += carry; hi >= s.den {
		return n
	}
	up, _ := bits.Div64(hi, lo, s.den)
	return int(min(up, uint64(n)))
}

// scale returns a bandwidth times the share, rounded down, at least 1.
func (s share) scale(bytes int64) int64 {
	if s.den == 0 {
		return bytes
	}
	hi, lo := bits.Mul64(uint64(bytes), s.num)
	if hi >= s.den {
		return math.MaxInt64
	}
	scaled, _ := bits.Div64(hi, lo, s.den)
	return int64(max(min(scaled, math.MaxInt64), 1))
}

// Routes say which links the transfers between nodes take under contention of model fair, and what each carries. Numbers are given to
// links as they are asked for.
type Routes struct {
	target     *Target
	contention Contention
	topology   routing // nil for the links of nodes and the backbone alone
	taper      share
	numbers    map[hop]int
	capacities []int64 // of the links of the topology
	hops       []hop   // scratch
}

// Routes returns the routes of a target whose contention has model fair.
func (t *Target) Routes() *Routes {
	r := &Routes{target: t, contention: t.Contention()}
	if r.contention.Topology {
		r.topology = t.paths.topology.(routing)
		r.taper, r.numbers = t.machine.taper.share(), map[hop]int{}
	}
	return r
}

// The numbers of links: the backbone, then those of each node, out and in, then those of the topology.
const backboneLink = 0

// Route appends the numbers of the links from one node to another, each once.
func (r *Routes) Route(from, to int, links []int) []int {
	links = append(links, backboneLink, 2*from+1, 2*to+2)
	if r.topology == nil {
		return links
	}
	p := &r.target.paths
	r.hops = r.topology.route(p.place(from), p.place(to), r.taper, r.hops[:0])
	first := 2*r.target.Nodes() + 1
	for _, h := range r.hops {
		number, known := r.numbers[h]
		if !known {
			number = first + len(r.capacities)
			r.numbers[h] = number
			r.capacities = append(r.capacities, r.topology.width(h, r.taper).scale(r.contention.Link))
		}
		links = append(links, number)
	}
	return links
}

// Capacity returns the bytes per second that a link carries, 0 for any number.
func (r *Routes) Capacity(link int) int64 {
	switch nodes := 2 * r.target.Nodes(); {
	case link == backboneLink:
		return r.contention.Backbone
	case link > nodes:
		return r.capacities[link-nodes-1]
	}
	return r.target.linkBandwidth((link-1)/2, (link-1)%2)
}
