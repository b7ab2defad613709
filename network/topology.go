package network

import (
	"fmt"
	"math"
)

// A topology places nodes 0, 1, 2, … on a graph of links. Its hop function is
// the number of links on a minimal route between two of them, in closed form;
// it is symmetric, and 0 from a node to itself. A topology is immutable and safe for
// concurrent use. It may also be [ranged].
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

// topologySpec is a topology as the machine file gives it. What the file leaves
// out is 0, and follows from the number of nodes.
type topologySpec interface {
	// kind returns the name of the topology's entry in the registry.
	kind() string
	// write puts the fields beside the kind, in a fixed order.
	write(o *objectWriter)
	// build returns the topology of a machine with n nodes. Its capacity may turn
	// out smaller.
	build(n int) topology
}

// topologyKind is an entry of the registry of topologies.
type topologyKind struct {
	name string
	// fields are those beside the kind.
	fields []string
	// examples are fields but kind, as a YAML mapping. They cover all fields.
	examples []string
	// parse reads the fields. Topologies within the topology are of one of the kinds.
	parse func(o *object, kinds []*topologyKind) topologySpec
}

// topologies is the registry of topologies. A new one goes to the end.
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

// checkRoom reports a topology of o that has not room for the nodes or units
// that the field of that name asks for.
func (o *object) checkRoom(name string, n int, s topologySpec) {
	if room := s.build(n).capacity(); room < n {
		o.fault("topology", fmt.Sprintf("%s has room for %d, but %s is %d", s.kind(), room, name, n), "enlarge it, or lower "+name)
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
