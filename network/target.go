package network

import (
	"fmt"
	"math"

	"gigarank/vtime"
)

// maxRanks bounds the ranks and the nodes of a target.
const maxRanks = 1 << 40

// Target is a Machine laid out for a number of ranks. It is immutable, and safe
// for concurrent use. Unless its mapping comes from a file, it takes the same
// memory for any number of ranks.
type Target struct {
	machine      *Machine
	ranks        int
	layout       layout
	topology     topology
	scope        scope
	intra, inter path           // alike if the scope is everywhere
	perHop       vtime.Duration // added to inter for each hop, if the scope is byHops
	farthest     int            // an upper bound on the hops between two nodes
	reduce       rate
	copied       rate // what a byte costs the processor of either end; zero but for hops
	loggops      *LogGOPS
}

// Target lays the machine out for so many ranks. It fails if they do not fit
// the nodes, or if the nodes do not fit the topology.
func (m *Machine) Target(ranks int64) (*Target, error) {
	if ranks < 1 || ranks > maxRanks {
		return nil, fmt.Errorf("machine %s: %d ranks: the number of ranks must be from 1 to 2^40", m.name, ranks)
	}
	t := &Target{machine: m, ranks: int(ranks), reduce: rateOf(m.reduce), loggops: m.loggops}
	var err error
	if t.layout, err = m.layOut(int(ranks)); err != nil {
		return nil, err
	}
	places := m.nodes
	if places == 0 {
		places = t.layout.place(t.layout.nodes()-1) + 1
	}
	t.topology = m.topology.build(places)
	t.farthest = t.topology.most(places)
	if room := t.topology.capacity(); room < places {
		return nil, fmt.Errorf("machine %s: %d ranks need %d nodes of %d ranks, but topology %s has room for %d: enlarge it, raise ranks_per_node, or ask for at most %d ranks",
			m.name, ranks, places, m.perNode, m.topology.kind, room, multiply(room, m.perNode))
	}
	t.connect()
	return t, nil
}

// layOut applies the mapping, having checked that the ranks fit.
func (m *Machine) layOut(ranks int) (layout, error) {
	needed := (ranks + m.perNode - 1) / m.perNode
	if m.nodes != 0 && needed > m.nodes {
		return nil, fmt.Errorf("machine %s: %d ranks need %d nodes of %d ranks, but nodes is %d: raise nodes or ranks_per_node, or ask for at most %d ranks",
			m.name, ranks, needed, m.perNode, m.nodes, multiply(m.nodes, m.perNode))
	}
	filled := blocks{ranks, m.perNode}
	switch m.mapping.kind {
	case "cyclic":
		if m.nodes != 0 {
			needed = min(m.nodes, ranks)
		}
		return cycle{ranks, needed}, nil
	case "random":
		return &scatter{filled, newPermutation(ranks, m.mapping.seed)}, nil
	case "file":
		return m.listed(ranks)
	}
	return filled, nil
}

func (m *Machine) listed(ranks int) (layout, error) {
	if ranks > len(m.mapping.places) {
		return nil, fmt.Errorf("machine %s: mapping %s gives the nodes of %d ranks, but there are %d: add a line for each rank",
			m.name, m.mapping, len(m.mapping.places), ranks)
	}
	l := newListing(m.mapping.places[:ranks])
	for node := range l.places {
		if n := l.size(node); n > m.perNode {
			return nil, fmt.Errorf("machine %s: mapping %s puts %d ranks on node %d, but ranks_per_node is %d: raise it, or move ranks",
				m.name, m.mapping, n, l.places[node], m.perNode)
		}
	}
	return l, nil
}

// connect sets the paths and what they depend on from the delay model.
func (t *Target) connect() {
	m := t.machine
	switch m.model {
	case "flat":
		t.inter = newPath(m.inter.latency, m.inter.bandwidth)
		t.intra = t.inter
	case "loggops":
		t.inter = newPath(m.loggops.Overhead + m.loggops.Latency)
		t.intra = t.inter
	case "twolevel":
		t.scope = byNode
		t.intra = newPath(m.intra.latency, m.intra.bandwidth)
		t.inter = newPath(m.inter.latency, m.inter.bandwidth)
	case "table":
		t.scope = byNode
		t.intra, t.inter = measuredPath(m.intra.table), measuredPath(m.inter.table)
	case "hops":
		t.scope = byHops
		t.intra = newPath(m.intra.latency, m.intra.bandwidth, m.intra.bandwidth)
		t.inter = newPath(m.inter.latency, m.intra.bandwidth, m.inter.bandwidth)
		t.perHop = m.perHop
		t.copied = rateOf(m.intra.bandwidth)
	default:
		panic("network: unknown delay model " + m.model)
	}
}

// Machine returns the description of the target.
func (t *Target) Machine() *Machine { return t.machine }

// Ranks returns the number of ranks.
func (t *Target) Ranks() int { return t.ranks }

// Node returns the node that the rank is on.
func (t *Target) Node(rank int) int { return t.layout.node(rank) }

// Nodes returns the number of nodes that hold at least one rank. They are
// numbered from 0.
func (t *Target) Nodes() int { return t.layout.nodes() }

// NodeSize returns the number of ranks on the node, at least 1.
func (t *Target) NodeSize(node int) int { return t.layout.size(node) }

// NodeMember returns the k-th rank of the node in ascending order. The 0th is
// the node's leader.
func (t *Target) NodeMember(node, k int) int { return t.layout.member(node, k) }

// Hops returns the hops between two nodes: the links of a minimal route.
func (t *Target) Hops(a, b int) int {
	return t.topology.hops(t.layout.place(a), t.layout.place(b))
}

// Latency returns the delay of a message without bytes, which is at least one
// picosecond, also from a rank to itself.
func (t *Target) Latency(src, dst int) vtime.Duration {
	_, latency := t.path(src, dst)
	return latency
}

// Transfer returns what the bytes of a message add to its Latency, to the
// nearest picosecond, ties to even.
func (t *Target) Transfer(src, dst int, bytes int64) vtime.Duration {
	p, _ := t.path(src, dst)
	return p.transfer(bytes)
}

// Delay returns Latency + Transfer: the time from the sending of a message to
// its arrival. In loggops it is o + L, because bytes are paid for by the
// receiver and by later messages: see Send and Receive.
func (t *Target) Delay(src, dst int, bytes int64) vtime.Duration {
	p, latency := t.path(src, dst)
	return latency.Plus(p.transfer(bytes))
}

// LongestDelay returns an upper bound on the Delay of a message between any two ranks.
func (t *Target) LongestDelay(bytes int64) vtime.Duration {
	latency := t.inter.latency
	if t.scope == byHops {
		latency = t.latencyOf(t.farthest)
	}
	return max(latency.Plus(t.inter.transfer(bytes)), t.intra.latency.Plus(t.intra.transfer(bytes)))
}

func (t *Target) path(src, dst int) (*path, vtime.Duration) {
	if t.scope == everywhere {
		return &t.inter, t.inter.latency
	}
	return t.pathBetween(t.layout.node(src), t.layout.node(dst))
}

// pathBetween gives the path and the latency between nodes, for any scope but
// everywhere.
func (t *Target) pathBetween(a, b int) (*path, vtime.Duration) {
	if a == b {
		return &t.intra, t.intra.latency
	}
	if t.scope == byNode {
		return &t.inter, t.inter.latency
	}
	if h := t.Hops(a, b); h > 0 {
		return &t.inter, t.latencyOf(h)
	}
	return &t.intra, t.intra.latency
}

// latencyOf is the latency over a number of hops, for scope byHops.
func (t *Target) latencyOf(hops int) vtime.Duration {
	if hops == 0 {
		return t.intra.latency
	}
	return t.inter.latency.Plus(times(int64(hops), t.perHop))
}

// Delays sets out[j] to Delay(src+j, dst+j, bytes) for every j.
func (t *Target) Delays(src, dst int, bytes int64, out []vtime.Duration) {
	filled, isBlocks := t.layout.(blocks)
	period := min(t.period(), len(out))
	if isBlocks && t.scope != everywhere {
		t.blockDelays(filled.perNode, src, dst, bytes, out[:period])
	} else {
		t.singleDelays(src, dst, bytes, out[:period])
	}
	for n := period; n < len(out); {
		n += copy(out[n:], out[:n])
	}
}

// period is such a length that the delay between two ranks is the same if both
// are shifted by it.
func (t *Target) period() int {
	if t.scope == everywhere {
		return 1
	}
	if t.scope == byNode {
		switch l := t.layout.(type) {
		case blocks:
			return l.perNode
		case cycle:
			return 1 // ranks that share a node do so wherever they are shifted to
		}
	}
	return t.ranks
}

// blockDelays is Delays for nodes that are filled in turn. The delay changes
// only where one of the two ranks passes on to its next node.
func (t *Target) blockDelays(perNode, src, dst int, bytes int64, out []vtime.Duration) {
	intra, inter := t.intra.transfer(bytes), t.inter.transfer(bytes)
	a, b := src/perNode, dst/perNode
	leftA, leftB := perNode-src%perNode, perNode-dst%perNode
	for len(out) > 0 {
		p, d := t.pathBetween(a, b)
		if p == &t.intra {
			d = d.Plus(intra)
		} else {
			d = d.Plus(inter)
		}
		n := min(leftA, leftB, len(out))
		for j := range out[:n] {
			out[j] = d
		}
		out = out[n:]
		if leftA -= n; leftA == 0 {
			a, leftA = a+1, perNode
		}
		if leftB -= n; leftB == 0 {
			b, leftB = b+1, perNode
		}
	}
}

// singleDelays is Delays for any layout.
func (t *Target) singleDelays(src, dst int, bytes int64, out []vtime.Duration) {
	intra, inter := t.intra.transfer(bytes), t.inter.transfer(bytes)
	for j := range out {
		p, d := t.path(src+j, dst+j)
		if p == &t.intra {
			d = d.Plus(intra)
		} else {
			d = d.Plus(inter)
		}
		out[j] = d
	}
}

// Lookahead returns a lower bound on the Latency between a rank of [loA,hiA)
// and one of [loB,hiB), in constant time. It is the least Latency itself for
// flat and loggops, and for twolevel and table with mapping block or cyclic.
// Where a range is empty, it is the longest Duration.
func (t *Target) Lookahead(loA, hiA, loB, hiB int) vtime.Duration {
	var least vtime.Duration = math.MaxInt64
	if loA >= hiA || loB >= hiB {
		return least
	}
	if t.scope == everywhere {
		return t.inter.latency
	}
	same, different := t.layout.meeting(loA, hiA, loB, hiB)
	if same {
		least = t.intra.latency
	}
	if different && t.scope == byNode {
		least = min(least, t.inter.latency)
	}
	if different && t.scope == byHops {
		hops := t.leastHops(loA, hiA, loB, hiB)
		least = min(least, t.latencyOf(hops), t.latencyOf(max(hops, 1)))
	}
	return least
}

// leastHops is a lower bound on the hops between different nodes of which one
// has a rank of [loA,hiA) and the other one of [loB,hiB).
func (t *Target) leastHops(loA, hiA, loB, hiB int) int {
	near, isRanged := t.topology.(ranged)
	filled, isBlocks := t.layout.(blocks)
	if isRanged && isBlocks {
		a, b := filled.node(loA), filled.node(hiA-1)
		c, d := filled.node(loB), filled.node(hiB-1)
		switch {
		case b < c:
			return near.least(a, b, c, d)
		case d < a:
			return near.least(c, d, a, b)
		}
	}
	return t.topology.fewest()
}

// EagerLimit returns the size in bytes above which a message uses rendezvous.
func (t *Target) EagerLimit() int64 {
	if t.loggops != nil {
		return t.loggops.Eager
	}
	return t.machine.eagerLimit
}

// ReduceTime returns the time to combine so many bytes with as many others.
func (t *Target) ReduceTime(bytes int64) vtime.Duration { return t.reduce.time(bytes) }

// PollTime returns what a failing Test or Iprobe costs; more than zero.
func (t *Target) PollTime() vtime.Duration { return t.machine.poll }

// LogGOPS returns the parameters of the loggops model, which must not be
// changed, or nil under another model.
func (t *Target) LogGOPS() *LogGOPS { return t.loggops }

// UniformFrom returns a distance such that the delay between any two ranks at least so
// far apart depends on the size of the message alone: 0 in flat, the ranks of a node
// where only nodes matter and are filled in turn. It is Ranks() if there is none.
func (t *Target) UniformFrom() int {
	filled, isBlocks := t.layout.(blocks)
	switch {
	case t.loggops != nil:
		return t.ranks
	case t.scope == everywhere:
		return 0
	case t.scope == byNode && isBlocks:
		return filled.perNode
	}
	return t.ranks
}
