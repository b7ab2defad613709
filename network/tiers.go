package network

import (
	"math"

	"gigarank/vtime"
)

// tier is the path between two ranks that a level unites and no level inside it does.
type tier struct {
	path   path
	inside bool // within a node
	size   int  // of a unit: in ranks within a node, in places of the topology outside; or unlimited
}

// pathsByLevel returns the delays of nested tiers, from the inside out. nodeTier is the index of
// the node's tier; the last tier unites all nodes. Each hop between two nodes adds perHop.
func pathsByLevel(p placement, tiers []tier, nodeTier int) *paths {
	return &paths{placement: p, scope: byLevel, tiers: tiers, nodeTier: nodeTier}
}

// tierOf returns the index of the innermost tier that unites two ranks.
func (p *paths) tierOf(src, dst int) int {
	a, b := p.node(src), p.node(dst)
	if a != b {
		return p.tierBetween(p.place(a), p.place(b))
	}
	if p.nodeTier > 0 {
		i, j := p.index(src), p.index(dst)
		for n := range p.tiers[:p.nodeTier] {
			if size := p.tiers[n].size; i/size == j/size {
				return n
			}
		}
	}
	return p.nodeTier
}

// tierBetween returns the index of the innermost tier that unites two places of different nodes.
func (p *paths) tierBetween(x, y int) int {
	last := len(p.tiers) - 1
	for n := p.nodeTier + 1; n < last; n++ {
		if size := p.tiers[n].size; x/size == y/size {
			return n
		}
	}
	return last
}

// index returns the number of a rank among the ranks of its node.
func (p *placement) index(rank int) int {
	if p.perNode > 0 {
		return rank % p.perNode
	}
	return p.layout.index(rank)
}

// pathOverLevels returns the path and the latency between two ranks, for scope byLevel.
func (p *paths) pathOverLevels(src, dst int) (*path, vtime.Duration) {
	n := p.tierOf(src, dst)
	return &p.tiers[n].path, p.latencyAt(n, src, dst)
}

// latencyAt returns the latency between two ranks that tier n unites.
func (p *paths) latencyAt(n, src, dst int) vtime.Duration {
	latency := p.tiers[n].path.latency
	if n > p.nodeTier && p.perHop != 0 {
		latency = latency.Plus(times(int64(p.hops(p.node(src), p.node(dst))), p.perHop))
	}
	return latency
}

func (p *paths) longestOverLevels(bytes int64) (longest vtime.Duration) {
	for n := range p.tiers {
		d := p.tiers[n].path.latency.Plus(p.tiers[n].path.transfer(bytes))
		if n > p.nodeTier {
			d = d.Plus(times(int64(p.farthest), p.perHop))
		}
		longest = max(longest, d)
	}
	return longest
}

// levelDelays is fill for scope byLevel.
func (p *paths) levelDelays(src, dst int, bytes int64, out []vtime.Duration) {
	var transfers [mostLevels]vtime.Duration
	for n := range p.tiers {
		transfers[n] = p.tiers[n].path.transfer(bytes)
	}
	for len(out) > 0 {
		n := p.tierOf(src, dst)
		d := p.latencyAt(n, src, dst).Plus(transfers[n])
		steps := min(p.stretch(n, src, dst), len(out))
		for j := range out[:steps] {
			out[j] = d
		}
		src, dst, out = src+steps, dst+steps, out[steps:]
	}
}

// stretch returns a number of ranks by which two ranks that tier n unites can be shifted without
// changing the delay between them, plus one.
func (p *paths) stretch(n, src, dst int) int {
	if p.perNode == 0 {
		return 1
	}
	steps := unlimited
	if n != len(p.tiers)-1 {
		steps = min(p.left(n, src), p.left(n, dst))
	}
	if n > 0 && distance(src, dst) < p.width(n-1) { // a shift may bring them into one unit of the inner tier
		steps = min(steps, p.left(n-1, src), p.left(n-1, dst))
	}
	if n > p.nodeTier && p.places != nil {
		return min(steps, p.left(p.nodeTier, src), p.left(p.nodeTier, dst))
	}
	if n > p.nodeTier && p.perHop != 0 {
		steps = min(steps, p.steady(src, dst))
	}
	return steps
}

// steady returns a number of ranks by which two ranks of different nodes can be shifted without
// changing the hops between their nodes, plus one, where nodes are filled in turn.
func (p *paths) steady(src, dst int) int {
	leftA, leftB := p.perNode-src%p.perNode, p.perNode-dst%p.perNode
	if t, ok := p.topology.(steady); ok && p.places == nil && leftA == leftB {
		if nodes := min(t.steady(src/p.perNode, dst/p.perNode), p.layout.nodes()); nodes > 1 {
			return multiply(nodes-1, p.perNode) + leftA
		}
	}
	return min(leftA, leftB)
}

// width returns the number of ranks of a unit of tier n, where nodes are filled in turn.
func (p *paths) width(n int) int {
	switch t := &p.tiers[n]; {
	case !t.inside:
		return multiply(t.size, p.perNode)
	case n < p.nodeTier:
		return min(t.size, p.perNode)
	}
	return p.perNode
}

// left returns the number of ranks from a rank to the end of its unit of tier n, where nodes are
// filled in turn.
func (p *paths) left(n, rank int) int {
	if n >= p.nodeTier {
		width := p.width(n)
		return width - rank%width
	}
	i, size := rank%p.perNode, p.tiers[n].size
	return min(size-i%size, p.perNode-i)
}

// lookaheadOverLevels returns the least latency of the tiers that can unite a rank of one range
// with a rank of the other. Where nodes are filled in turn, no such tier is inside the tier of the
// two nearest ranks, or around the tier of the two farthest ranks.
func (p *paths) lookaheadOverLevels(loA, hiA, loB, hiB int) vtime.Duration {
	same, different := p.layout.meeting(loA, hiA, loB, hiB)
	first, last := 0, len(p.tiers)-1
	if !same {
		first = p.nodeTier + 1
	}
	if !different {
		last = p.nodeTier
	}
	if p.perNode > 0 && p.places == nil {
		switch {
		case hiA <= loB:
			first, last = p.tierOf(hiA-1, loB), p.tierOf(loA, hiB-1)
		case hiB <= loA:
			first, last = p.tierOf(hiB-1, loA), p.tierOf(loB, hiA-1)
		}
	}
	var least vtime.Duration = math.MaxInt64
	hops := 0
	if last > p.nodeTier && p.perHop != 0 {
		hops = p.leastHops(loA, hiA, loB, hiB)
	}
	for n := first; n <= last; n++ {
		latency := p.tiers[n].path.latency
		if n > p.nodeTier {
			latency = latency.Plus(times(int64(hops), p.perHop))
		}
		least = min(least, latency)
	}
	return least
}

// uniformOverLevels returns the distance from which on two ranks share no unit inside the outermost
// tier that any two ranks of the target need.
func (p *paths) uniformOverLevels() int {
	n := p.outermost()
	switch {
	case p.perNode == 0 || p.places != nil && n > p.nodeTier+1 || p.perHop != 0 && n > p.nodeTier:
		return p.ranks
	case n == 0:
		return 0
	}
	return min(p.width(n-1), p.ranks)
}

// outermost returns the innermost tier that unites all ranks, or one around it.
func (p *paths) outermost() int {
	nodes := p.layout.nodes()
	if nodes == 1 {
		_, most := p.layout.sizes()
		for n := range p.tiers[:p.nodeTier] {
			if most <= p.tiers[n].size {
				return n
			}
		}
		return p.nodeTier
	}
	first, last := p.place(0), p.place(nodes-1)
	if p.places != nil {
		first, last = p.spread()
	}
	return p.tierBetween(first, last)
}
