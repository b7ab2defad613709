package network

import (
	"math"
	"slices"

	"gigarank/vtime"
)

// placement maps the ranks of a target to nodes and places. It is immutable.
type placement struct {
	ranks    int
	layout   layout
	perNode  int     // of layout, if that is blocks; else 0
	places   []int32 // places in the topology of the nodes of an allocation; nil if the layout gives them
	topology topology
	farthest int            // an upper bound on the hops between two nodes
	perHop   vtime.Duration // latency_per_hop for any model; 0 if hops have no effect
	linkLoad *linkLoad      // nil without congestion
}

// node returns the node of a rank.
func (p *placement) node(rank int) int {
	if p.perNode > 0 {
		return rank / p.perNode
	}
	return p.layout.node(rank)
}

// hops returns the hops between two nodes.
func (p *placement) hops(a, b int) int {
	return p.topology.hops(p.place(a), p.place(b))
}

// place returns the place of a node in the topology.
func (p *placement) place(node int) int {
	if p.perNode > 0 && p.places == nil {
		return node
	}
	place := p.layout.place(node)
	if p.places != nil {
		place = int(p.places[place])
	}
	return place
}

// spread returns the least and the greatest place of the nodes of an allocation.
func (p *placement) spread() (least, most int) {
	used := p.places[:p.layout.place(p.layout.nodes()-1)+1]
	return int(slices.Min(used)), int(slices.Max(used))
}

// paths are the delays of models under which a message takes one of two paths: within a node, or
// between nodes with a latency that may grow with the hops. Between nodes that are no hops apart it
// takes the path within a node.
type paths struct {
	placement
	scope        scope
	intra, inter path   // equal if the scope is everywhere
	tiers        []tier // instead of both paths, if the scope is byLevel, from the inside out
	nodeTier     int    // the index of the node's tier
	congested    bool   // messages slow each other down on links
}

// scope is the property of two ranks on which the delay between them depends.
type scope int

const (
	everywhere scope = iota // none: all pairs have the same delay
	byNode                  // whether they are on one node
	byHops                  // the hops between their nodes
	byLevel                 // the innermost level that unites them, and the hops between their nodes
	byModel                 // other properties, known to the model's own delays
)

// A path is the delay of a message without bytes, and the transfer time of bytes.
type path struct {
	latency vtime.Duration // at least one picosecond
	least   vtime.Duration // a lower bound on the delay of a message of any size
	rate    rate
	table   []measurement // instead of rate, unless empty
	steps   []step        // instead of rate, unless empty; the first is that of no bytes
}

// step is the latency and the rate of the messages from a size on, up to the next step.
type step struct {
	from    int64
	latency vtime.Duration
	rate    rate
}

// newPath returns the path on which every byte passes each stage in turn.
func newPath(latency vtime.Duration, stages ...bandwidth) path {
	latency = max(latency, vtime.Picosecond)
	return path{latency: latency, least: latency, rate: rateOf(stages...)}
}

// measuredPath returns the path through the measurements. There is at least one; sizes ascend and
// delays do not fall.
func measuredPath(table []measurement) path {
	latency := max(table[0].delay, vtime.Picosecond)
	return path{latency: latency, least: latency, table: table}
}

// steppedPath returns the path whose latency and rate depend on the size of the message. The first
// step is from 0 on, and sizes ascend. Delays rise within a step, and may fall from one to the next.
func steppedPath(steps []step) path {
	p := path{latency: steps[0].latency, least: math.MaxInt64, steps: steps}
	for i := range steps {
		p.least = min(p.least, steps[i].delay(steps[i].from))
	}
	return p
}

// step returns the step of a size.
func (p *path) step(bytes int64) *step {
	i := len(p.steps) - 1
	for i > 0 && bytes < p.steps[i].from {
		i--
	}
	return &p.steps[i]
}

func (s *step) delay(bytes int64) vtime.Duration { return s.latency.Plus(s.rate.time(bytes)) }

// leastLatency returns the least latency of a message of any size.
func (p *path) leastLatency() vtime.Duration {
	least := p.latency
	for i := range p.steps {
		least = min(least, p.steps[i].latency)
	}
	return least
}

// excess returns by how much the latency of the bytes exceeds the latency of no bytes. It may be
// negative.
func (p *path) excess(bytes int64) vtime.Duration {
	if p.steps == nil {
		return 0
	}
	return p.step(bytes).latency - p.latency
}

// longest returns the greatest delay of a message of at most so many bytes.
func (p *path) longest(bytes int64) vtime.Duration {
	if p.steps == nil {
		return p.latency.Plus(p.transfer(bytes))
	}
	longest := p.latency
	for i := range p.steps {
		last := bytes
		if i+1 < len(p.steps) {
			last = min(last, p.steps[i+1].from-1)
		}
		if p.steps[i].from <= last {
			longest = max(longest, p.steps[i].delay(last))
		}
	}
	return longest
}

// transfer returns the transfer time of the bytes. A measured path is flat up to its first point,
// linear between two points, and keeps the last slope.
func (p *path) transfer(bytes int64) vtime.Duration {
	if p.steps != nil {
		return p.step(bytes).rate.time(bytes)
	}
	if p.table == nil {
		return p.rate.time(bytes)
	}
	i := 0
	for i+2 < len(p.table) && bytes >= p.table[i+1].size {
		i++
	}
	from := p.table[i]
	if i+1 == len(p.table) {
		return from.delay - p.table[0].delay
	}
	to := p.table[i+1]
	slope := rate{num: uint64(to.delay - from.delay), den: uint64(to.size - from.size)}
	return (from.delay - p.table[0].delay).Plus(slope.time(bytes - from.size))
}

// occupancy returns the part of a transfer time for which the bytes occupy the path: messages behind
// each other pass at that rate. Of a measured path it is the bytes at the last slope, the bandwidth of
// long messages. The rest, such as a step at an inline limit, is latency.
func (p *path) occupancy(bytes int64, transfer vtime.Duration) vtime.Duration {
	last := len(p.table) - 1
	if last < 0 {
		return transfer
	}
	if last == 0 {
		return 0
	}
	from, to := p.table[last-1], p.table[last]
	slope := rate{num: uint64(to.delay - from.delay), den: uint64(to.size - from.size)}
	return min(transfer, slope.time(bytes))
}

// pathEverywhere returns the delays of one path between all pairs. Here and in pathsByNode hops add
// to the latency between nodes if the machine gives latency_per_hop.
func pathEverywhere(p placement, all path) *paths {
	if p.perHop != 0 {
		return pathsByHops(p, all, all, p.perHop)
	}
	return &paths{placement: p, scope: everywhere, intra: all, inter: all}
}

// pathsByNode returns the delays of a path within a node and a path between two nodes.
func pathsByNode(p placement, intra, inter path) *paths {
	if p.perHop != 0 {
		return pathsByHops(p, intra, inter, p.perHop)
	}
	return &paths{placement: p, scope: byNode, intra: intra, inter: inter}
}

// pathsByHops returns the delays of a path over no hops and a path over some hops. Each hop adds
// perHop to the latency.
func pathsByHops(p placement, intra, inter path, perHop vtime.Duration) *paths {
	p.perHop = perHop
	return &paths{placement: p, scope: byHops, intra: intra, inter: inter}
}

func (p *paths) latency(src, dst int, bytes int64) vtime.Duration {
	crossed, latency := p.path(src, dst)
	return latency.Plus(crossed.excess(bytes))
}

func (p *paths) transfer(src, dst int, bytes int64) vtime.Duration {
	crossed, _ := p.path(src, dst)
	return crossed.transfer(bytes).Plus(p.congestionTime(src, dst, bytes))
}

func (p *paths) path(src, dst int) (*path, vtime.Duration) {
	if p.scope == everywhere {
		return &p.inter, p.inter.latency
	}
	if p.scope == byLevel {
		return p.pathOverLevels(src, dst)
	}
	return p.pathBetween(p.node(src), p.node(dst))
}

// pathBetween returns the path and the latency between nodes, for scopes byNode and
// byHops.
func (p *paths) pathBetween(a, b int) (*path, vtime.Duration) {
	if a == b {
		return &p.intra, p.intra.latency
	}
	if p.scope == byNode {
		return &p.inter, p.inter.latency
	}
	if h := p.hops(a, b); h > 0 {
		return &p.inter, p.latencyOf(h)
	}
	return &p.intra, p.intra.latency
}

// latencyOf returns the latency over a number of hops, for scope byHops.
func (p *paths) latencyOf(hops int) vtime.Duration {
	if hops == 0 {
		return p.intra.latency
	}
	return p.inter.latency.Plus(times(int64(hops), p.perHop))
}

func (p *paths) longest(bytes int64) vtime.Duration {
	if p.linkLoad != nil {
		return p.longestAlone(bytes).Plus(p.linkLoad.wait(p.linkLoad.most(), bytes))
	}
	return p.longestAlone(bytes)
}

func (p *paths) longestAlone(bytes int64) vtime.Duration {
	if p.scope == byLevel {
		return p.longestOverLevels(bytes)
	}
	far := p.inter.longest(bytes)
	if p.scope == byHops {
		far = far.Plus(times(int64(p.farthest), p.perHop))
	}
	return max(far, p.intra.longest(bytes))
}

func (p *paths) fill(src, dst int, bytes int64, out []vtime.Duration) {
	p.fillAlone(src, dst, bytes, out)
	for p.congested && len(out) > 0 {
		n := min(p.congestedAlike(src, dst), len(out))
		if wait := p.congestionTime(src, dst, bytes); wait > 0 {
			for j := range out[:n] {
				out[j] = out[j].Plus(wait)
			}
		}
		src, dst, out = src+n, dst+n, out[n:]
	}
}

func (p *paths) fillAlone(src, dst int, bytes int64, out []vtime.Duration) {
	if p.scope == byLevel {
		p.levelDelays(src, dst, bytes, out)
		return
	}
	period := min(p.period(), len(out))
	if p.perNode > 0 && p.scope != everywhere {
		p.blockDelays(src, dst, bytes, out[:period])
	} else {
		p.singleDelays(src, dst, bytes, out[:period])
	}
	for n := period; n < len(out); {
		n += copy(out[n:], out[:n])
	}
}

// period returns a length by which two ranks can be shifted without changing the delay between
// them.
func (p *paths) period() int {
	if p.scope == everywhere {
		return 1
	}
	if l, ok := p.layout.(periodic); ok && p.scope == byNode {
		return l.period()
	}
	return p.ranks
}

// blockDelays is fill for nodes that are filled in turn. The delay changes only where one of the
// two ranks reaches its next node. Over a steady topology it changes more rarely.
func (p *paths) blockDelays(src, dst int, bytes int64, out []vtime.Duration) {
	intra, inter := p.intra.transfer(bytes), p.inter.transfer(bytes)
	near, far := p.intra.excess(bytes), p.inter.excess(bytes)
	for len(out) > 0 {
		a, b := src/p.perNode, dst/p.perNode
		crossed, d := p.pathBetween(a, b)
		if crossed == &p.intra {
			d = d.Plus(near).Plus(intra)
		} else {
			d = d.Plus(far).Plus(inter)
		}
		n := min(p.perNode-src%p.perNode, p.perNode-dst%p.perNode)
		if p.scope == byHops && a != b {
			n = p.steady(src, dst)
		}
		n = min(n, len(out))
		for j := range out[:n] {
			out[j] = d
		}
		src, dst, out = src+n, dst+n, out[n:]
	}
}

// singleDelays is fill for any layout.
func (p *paths) singleDelays(src, dst int, bytes int64, out []vtime.Duration) {
	intra, inter := p.intra.transfer(bytes), p.inter.transfer(bytes)
	near, far := p.intra.excess(bytes), p.inter.excess(bytes)
	for j := range out {
		crossed, d := p.path(src+j, dst+j)
		if crossed == &p.intra {
			d = d.Plus(near).Plus(intra)
		} else {
			d = d.Plus(far).Plus(inter)
		}
		out[j] = d
	}
}

// leastOf returns a lower bound on the delay over a number of hops, for scope byHops.
func (p *paths) leastOf(hops int) vtime.Duration {
	if hops == 0 {
		return p.intra.least
	}
	return p.inter.least.Plus(times(int64(hops), p.perHop))
}

// lookahead returns the exact least delay if the scope is everywhere, or byNode with mapping
// block or cyclic.
func (p *paths) lookahead(loA, hiA, loB, hiB int) vtime.Duration {
	if p.scope == everywhere {
		return p.inter.least
	}
	if p.scope == byLevel {
		return p.lookaheadOverLevels(loA, hiA, loB, hiB)
	}
	var least vtime.Duration = math.MaxInt64
	same, different := p.layout.meeting(loA, hiA, loB, hiB)
	if same {
		least = p.intra.least
	}
	if different && p.scope == byNode {
		least = min(least, p.inter.least)
	}
	if different && p.scope == byHops {
		hops := p.leastHops(loA, hiA, loB, hiB)
		least = min(least, p.leastOf(hops), p.leastOf(max(hops, 1)))
	}
	return least
}

// leastHops returns a lower bound on the hops between two different nodes, one with a rank of
// [loA,hiA) and the other with a rank of [loB,hiB).
func (p *paths) leastHops(loA, hiA, loB, hiB int) int {
	near, isRanged := p.topology.(ranged)
	if isRanged && p.perNode > 0 && p.places == nil {
		a, b := p.node(loA), p.node(hiA-1)
		c, d := p.node(loB), p.node(hiB-1)
		switch {
		case b < c:
			return near.least(a, b, c, d)
		case d < a:
			return near.least(c, d, a, b)
		}
	}
	return p.topology.fewest()
}

func (p *paths) uniformFrom() int {
	switch {
	case p.linkLoad != nil && p.layout.nodes() > 1:
		return p.ranks
	case p.scope == everywhere:
		return 0
	case p.scope == byNode && p.perNode > 0:
		return p.perNode
	case p.scope == byLevel:
		return p.uniformOverLevels()
	}
	return p.ranks
}

func (p *paths) ranksAlike() bool {
	if p.scope == byLevel {
		_, most := p.layout.sizes()
		return p.layout.nodes() == 1 && most <= p.tiers[0].size
	}
	return p.scope == everywhere && p.linkLoad == nil || p.layout.nodes() == 1
}

func (p *paths) leadersAlike() bool {
	if p.linkLoad != nil {
		return p.layout.nodes() <= 2
	}
	switch p.scope {
	case byHops:
		return p.sameHops()
	case byLevel:
		return p.layout.nodes() <= 2 || p.outermost() <= p.nodeTier+1 && (p.perHop == 0 || p.sameHops())
	}
	return true
}

// mostCompared bounds the number of nodes up to which all pairs are compared.
const mostCompared = 1 << 10

// sameHops reports whether any two nodes are the same number of hops apart. For many nodes it may
// return false even so.
func (p *paths) sameHops() bool {
	nodes := p.layout.nodes()
	if p.topology.fewest() == p.farthest || nodes <= 2 {
		return true
	}
	if nodes > mostCompared {
		return false
	}
	hops := p.hops(0, 1)
	for a := range nodes {
		for b := range a {
			if p.hops(a, b) != hops {
				return false
			}
		}
	}
	return true
}
