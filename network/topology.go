package network

import (
	"fmt"
	"math"
)

// A topology places nodes 0, 1, 2, … on a graph of links. Its hop function is the number of links
// on a minimal route between two nodes, in closed form. The function is symmetric, and 0 from a
// node to itself. A topology is immutable and safe for concurrent use. It may also be [ranged] and
// [steady].
type topology interface {
	hops(a, b int) int
	// capacity returns the number of nodes that fit.
	capacity() int
	// fewest returns a lower bound on the hops between two different nodes.
	fewest() int
	// most returns an upper bound on the hops between two of the first nodes nodes.
	most(nodes int) int
}

// A ranged topology also bounds the hops between ranges of nodes. least returns a lower bound on
// the hops between a node of a..b and a node of c..d, inclusive, where b < c.
type ranged interface {
	least(a, b, c, d int) int
}

// A steady topology tells how far hops stay constant. steady returns a number n of at least 1: a
// and b, a+1 and b+1, to a+n-1 and b+n-1 are the same number of hops apart.
type steady interface {
	steady(a, b int) int
}

// topologySpec is a topology as given by a machine file. An omitted field is 0, and follows from
// the number of nodes.
type topologySpec interface {
	// kind returns the name of the topology's entry in the registry.
	kind() string
	// write writes the fields other than kind, in a fixed order.
	write(o *objectWriter)
	// build returns the topology of a machine with n nodes. Its capacity may be smaller
	// than n.
	build(n int) topology
}

// topologyKind is an entry of the registry of topologies.
type topologyKind struct {
	name string
	// fields are all fields other than kind.
	fields []string
	// examples are fields other than kind, as a YAML mapping. They cover all fields.
	examples []string
	// parse reads the fields. Topologies within the topology are of one of the kinds.
	parse func(o *object, kinds []*topologyKind) topologySpec
}

// topologies is the registry of topologies. New entries go to the end.
var topologies = []*topologyKind{
	&starKind,
	&ringKind,
	&meshKind,
	&torusKind,
	&twistedTorusKind,
	&treeKind,
	&fatTreeKind,
	&dragonflyKind,
	&hierarchyKind,
}

// parseTopology reads a topology of one of the kinds.
func parseTopology(o *object, kinds []*topologyKind) topologySpec {
	fields := make(map[string][]string)
	for _, k := range kinds {
		fields[k.name] = k.fields
	}
	kind := pick(o, "kind", kinds, func(k *topologyKind) string { return k.name })
	if kind == nil {
		o.closeAny(fields)
		return nil
	}
	s := kind.parse(o, kinds)
	o.close("kind", fields)
	return s
}

// writeTopology builds the node of a topology at a path.
func writeTopology(w *writer, path string, s topologySpec) *objectWriter {
	o := w.object(path)
	o.text("kind", s.kind())
	s.write(o)
	return o
}

// checkCapacity reports a topology of o with less capacity than the value of field name, in nodes
// or units.
func (o *object) checkCapacity(name string, n int, s topologySpec) {
	if capacity := s.build(n).capacity(); capacity < n {
		o.fault("topology", fmt.Sprintf("%s has room for %d, but %s is %d", s.kind(), capacity, name, n), "enlarge it, or lower "+name)
	}
}

// unlimited is the capacity of a topology that grows with its nodes.
const unlimited = math.MaxInt

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
