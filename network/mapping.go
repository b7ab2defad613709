package network

import (
	"fmt"
	"strings"

	"gigarank/internal/spelling"
)

// A mapping is the rule by which a machine places its ranks on nodes. It is immutable.
type mapping interface {
	// String returns the rule as written in machine files.
	String() string
	// layOut puts ranks on nodes that hold perNode each. nodes is the number of nodes, which
	// suffices, or 0 for as many as the ranks need.
	layOut(ranks, perNode, nodes int) (layout, error)
}

// A layout gives the node of each rank. Nodes are numbered densely from 0, in ascending
// order of their places in the topology. It is immutable and safe for concurrent use.
// It may also be [ordered] or [periodic].
type layout interface {
	nodes() int
	node(rank int) int
	size(node int) int
	sizes() (least, most int) // of all nodes
	member(node, k int) int   // k-th rank of the node in ascending order
	place(node int) int       // place of the node in the topology, or among the nodes of an allocation
	index(rank int) int       // number of the rank among the ranks of its node
	// meeting reports whether a rank of [a,b) and a rank of [c,d), both not empty, may be on one
	// node, and whether they may be on two nodes. It errs towards true.
	meeting(a, b, c, d int) (same, different bool)
}

// An ordered layout reports whether the leaders of its nodes ascend with the nodes, and
// member takes constant time and no search.
type ordered interface{ leadersAscend() bool }

// A periodic layout returns a length, at most the number of ranks. Two ranks share a node if and
// only if the two ranks a multiple of that length further on share a node.
type periodic interface{ period() int }

// mappingKind is an entry of the registry of mappings.
type mappingKind struct {
	name     string
	argument string // follows the name and a colon, such as SEED; empty for none
	examples []string
	parse    func(r *mappingReader) mapping
}

// mappings is the registry of mappings. New entries go to the end.
var mappings = []*mappingKind{
	&blockKind,
	&cyclicKind,
	&randomKind,
	&fileKind,
}

// mappingReader reads field mapping of a machine file.
type mappingReader struct {
	top      *object
	argument string
	nodes    int                               // of the machine, or 0
	read     func(path string) ([]byte, error) // nil without files
	remedy   string                            // lists the rules
}

func (r *mappingReader) fault(what, remedy string) { r.top.fault("mapping", what, remedy) }

// Mappings returns the rules by which machines may lay ranks out, such as random:SEED.
func Mappings() []string {
	var rules []string
	for _, k := range mappings {
		rules = append(rules, k.rule())
	}
	return rules
}

func (k *mappingKind) rule() string {
	if k.argument == "" {
		return k.name
	}
	return k.name + ":" + k.argument
}

func (m *Machine) parseMapping(top *object, read func(path string) ([]byte, error)) {
	rules := Mappings()
	last := len(rules) - 1
	remedy := "write " + strings.Join(rules[:last], ", ") + " or " + rules[last]
	m.mapping = block{}
	text, ok := top.scalar("mapping", false, remedy)
	if !ok {
		return
	}
	name, argument, given := strings.Cut(text, ":")
	var names []string
	for _, k := range mappings {
		names = append(names, k.name)
		if k.name != name {
			continue
		}
		if needed := k.argument != ""; needed != given {
			what := fmt.Sprintf("%q takes nothing after its name", name)
			if needed {
				what = fmt.Sprintf("%q lacks its %s", name, k.argument)
			}
			top.fault("mapping", what, "write "+k.rule())
			return
		}
		m.mapping = k.parse(&mappingReader{top, argument, m.nodes, read, remedy})
		return
	}
	top.fault("mapping", fmt.Sprintf("%q is unknown", text), spelling.Suggest(name, names, remedy))
}
