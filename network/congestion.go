package network

import (
	"math"

	"gigarank/vtime"
)

// congestion says by how much messages slow each other down on the links of a torus, mesh or hierarchy. In a round of a
// collective operation in which all nodes send as far, as many messages pass a link of a torus as a message passes links of its
// dimension: a message that goes over h links of one dimension takes as long as h messages on a link. Half way round a ring half of
// the messages go each way. In a hierarchy the messages of a unit of the outermost level go to two other units at most, half of
// them to each, and share the links to that unit: those of half of its nodes, or of as many as the messages go far.
type congestion struct {
	bandwidth bandwidth // of a link in one direction, in a hierarchy of all links from a unit to another; 0 for links that carry any number of messages
	longest   int       // nodes of the longest dimension of the machine, or 0: longer ones of an allocation are folded
}

const congestionField = "congestion"

// congestedModels are the models under which messages of a round slow each other down: those whose delays are paths.
var congestedModels = map[string]bool{"flat": true, "twolevel": true, "levels": true, "table": true, "hops": true}

func parseCongestion(o *object) (c congestion) {
	if inner := o.object(congestionField, false, "write congestion: {bandwidth: 6.35GB/s, longest: 69}"); inner != nil {
		c.bandwidth = inner.bandwidth("bandwidth", true)
		if inner.has("longest") {
			c.longest = inner.count("longest", true, 2, maxRanks)
		} else {
			inner.skip("longest")
		}
		inner.close("", nil)
	}
	return c
}

func (c congestion) write(o *objectWriter) {
	if c.bandwidth == 0 && !o.estimated(o.within(congestionField)) {
		return
	}
	inner := o.writer.object(o.within(congestionField))
	inner.text("bandwidth", c.bandwidth.String())
	if c.longest != 0 {
		inner.number("longest", c.longest)
	}
	o.put(congestionField, inner.node)
}

// checkCongestion reports a machine on which congestion has no meaning.
func (m *Machine) checkCongestion(top *object) {
	if m.congestion.bandwidth == 0 {
		return
	}
	const field = "network." + congestionField
	_, isGrid := m.topology.(*gridSpec)
	_, isRing := m.topology.(ring)
	units, isHierarchy := m.topology.(hierarchySpec)
	switch {
	case !isGrid && !isRing && !isHierarchy:
		top.fault(field, "is that of the links of a torus, mesh or hierarchy", "write topology: {kind: torus, dimensions: 3}, or remove it")
	case isHierarchy && len(units) < 2:
		top.fault(field, "is that of the links between units, and the hierarchy has one level", "write topology: {kind: hierarchy, levels: [{size: 16, hops: 1}, {hops: 3}]}, or remove it")
	case isHierarchy && m.congestion.longest != 0:
		top.fault(field+".longest", "is that of a torus or mesh", "remove it")
	}
	if !congestedModels[m.Model()] {
		top.fault(field, "does not go with model "+m.Model(), "take model levels, or remove it")
	}
	for _, span := range m.typed {
		if span.of.intra != nil {
			top.fault(field, "does not go with node_types that have intra", "remove one of the two")
			break
		}
	}
}

// linkLoad is the congestion of a target.
type linkLoad struct {
	dims []int // of the links; the last varies fastest
	wrap bool
	unit int  // nodes of a unit of the outermost level, in place of dims
	over int  // places, in a hierarchy: the last is followed by the first
	link rate // of a link, or of all links between two units
	own  rate // at which a message passes where no others are
}

// linkLoadOf returns the congestion among nodes at places of a topology, nil if there is none. alone is the bandwidth of the interface of a node, 0 if
// none is given.
func (c congestion) linkLoadOf(t topology, places int, alone bandwidth) *linkLoad {
	if c.bandwidth == 0 {
		return nil
	}
	all := &linkLoad{link: rateOf(c.bandwidth), own: rateOf(c.bandwidth)}
	switch t := t.(type) {
	case grid:
		all.wrap = t.wrap
		for _, n := range t.dims {
			all.dims = append(all.dims, c.fold(n)...)
		}
	case hierarchy:
		all.unit, all.over = 1, places
		for _, u := range t.levels[:len(t.levels)-1] {
			all.unit = multiply(all.unit, u.size)
		}
		if alone != 0 {
			all.own = rateOf(alone)
		}
	default:
		return nil
	}
	return all
}

// fold returns a dimension, or the two into which it is folded: the nearest to a square that hold as many nodes.
func (c congestion) fold(n int) []int {
	if c.longest == 0 || n <= c.longest {
		return []int{n}
	}
	for side := int(math.Sqrt(float64(n))); side > 1; side-- {
		if n%side == 0 {
			return []int{n / side, side}
		}
	}
	return []int{n}
}

// most returns the most messages on a link in a round.
func (c *linkLoad) most() (most int) {
	if c.unit > 0 {
		return (c.unit + 1) / 2
	}
	for _, n := range c.dims {
		if c.wrap {
			most = max(most, (n-1)/2, shorter(n/2, n))
		} else {
			most = max(most, n-1)
		}
	}
	return most
}

// shared returns the messages that pass a link of the way between two places in a round in which all go as far.
func (c *linkLoad) shared(a, b int) (most int) {
	if c.unit > 0 {
		if a/c.unit == b/c.unit {
			return 1
		}
		d := distance(a, b)
		return min(d, c.over-d, (c.unit+1)/2)
	}
	for i := len(c.dims) - 1; i >= 0; i-- {
		n := c.dims[i]
		d := distance(a%n, b%n)
		if c.wrap {
			d = shorter(d, n)
		}
		most = max(most, d)
		a, b = a/n, b/n
	}
	return most
}

// shorter returns the messages that pass a link of a ring of n nodes where all go d nodes further, the shorter way: half of them each
// way where both are as long.
func shorter(d, n int) int {
	if 2*d == n {
		return (d + 1) / 2
	}
	return min(d, n-d)
}

// steady returns a number of places by which two can be shifted without changing the messages on the links between them, plus one.
func (c *linkLoad) steady(a, b int) int {
	n := c.unit
	if n == 0 {
		n = c.dims[len(c.dims)-1]
	}
	return n - max(a%n, b%n)
}

// wait returns the time that messages on the same link, their number with it, add to a message: what the link takes for all of them
// beyond the time in which the message passes alone.
func (c *linkLoad) wait(messages int, bytes int64) vtime.Duration {
	if messages < 2 {
		return 0
	}
	return max(c.link.time(bytes).Times(messages)-c.own.time(bytes), 0)
}

// congestionTime returns the time that messages of the same round add to a message between two ranks.
func (p *paths) congestionTime(src, dst int, bytes int64) vtime.Duration {
	if !p.congested {
		return 0
	}
	a, b := p.node(src), p.node(dst)
	if a == b {
		return 0
	}
	return p.linkLoad.wait(p.linkLoad.shared(p.place(a), p.place(b)), bytes)
}

// HeldByLinks returns the time for which the links of its way keep a message at the interface of its node, beyond its bytes, where all members of a
// collective send messages to the same distances in the same order, one after another.
func (t *Target) HeldByLinks(src, dst int, bytes int64) vtime.Duration {
	if t.congested == nil {
		return 0
	}
	return t.congested.paths.congestionTime(src, dst, bytes)
}

// congestedAlike returns a number of ranks by which two ranks can be shifted without changing the congestion between them, plus one.
func (p *paths) congestedAlike(src, dst int) int {
	if p.perNode == 0 {
		return 1
	}
	a, b := src/p.perNode, dst/p.perNode
	leftA, leftB := p.perNode-src%p.perNode, p.perNode-dst%p.perNode
	if leftA != leftB || p.places != nil {
		return min(leftA, leftB)
	}
	return multiply(p.linkLoad.steady(a, b)-1, p.perNode) + leftA
}

// Congested returns the target as messages find it in a round of a collective operation in which all members send as far: it is the
// target itself on a machine without congestion.
func (t *Target) Congested() *Target {
	if t.congested == nil {
		return t
	}
	return t.congested
}

// withCongestion gives the target its twin for rounds in which all members send.
func (t *Target) withCongestion() {
	if t.paths.linkLoad == nil || t.Nodes() < 2 || t.delays != &t.paths {
		return
	}
	twin := *t
	twin.paths.congested = true
	twin.delays = &twin.paths
	twin.congested = &twin
	t.congested = &twin
}
