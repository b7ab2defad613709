package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"gigarank/internal/spelling"
)

// nodeType is what some nodes of a machine have that the others have not. What is zero is as on the others.
type nodeType struct {
	name       string
	processors int // ranks that fit on such a node
	ratio      ratio
	links      [2]int       // out and in, of models links and pmac
	bandwidths [2]bandwidth // of the links out and in, of model fair
	intra      *link        // between the ranks of such a node
}

// typedNodes are nodes of a type, by their places in the topology.
type typedNodes struct {
	from, to int
	of       *nodeType
}

// wayNames are the fields of both ways of a node, in the order of nodeType.links.
var wayNames = [2]string{"out", "in"}

const (
	typesRemedy = "write node_types: {fat: {processors: 16, cpu_ratio: 1.5}} and nodes_of: {0-63: fat}"
	nodesRemedy = "write the first and the last node of a type, such as 0-63: fat, or one, such as 7: fat"
)

// parseNodeTypes reads fields node_types and nodes_of, after all others.
func (m *Machine) parseNodeTypes(top *object) {
	types := top.object("node_types", top.has("nodes_of"), typesRemedy)
	known := map[string]*nodeType{}
	if types != nil {
		for _, name := range types.order {
			known[name] = m.parseNodeType(types, name)
		}
	}
	nodes := top.object("nodes_of", top.has("node_types"), typesRemedy)
	if nodes == nil {
		return
	}
	used := map[string]bool{}
	for _, span := range nodes.order {
		name, ok := nodes.scalar(span, true, "write the name of a type")
		if !ok {
			continue
		}
		used[name] = true
		of, declared := known[name]
		if !declared && types != nil {
			nodes.fault(span, fmt.Sprintf("%q is no type of nodes", name), spelling.Suggest(name, types.order, typesRemedy))
		}
		if from, to, ok := m.parseSpan(nodes, span); ok && of != nil {
			m.typed = append(m.typed, typedNodes{from, to, of})
		}
	}
	if types == nil {
		return
	}
	for _, name := range types.order {
		if !used[name] {
			types.fault(name, "is the type of no node", "name its nodes, such as nodes_of: {0-63: "+name+"}, or remove it")
		}
	}
	slices.SortFunc(m.typed, func(a, b typedNodes) int { return cmp.Compare(a.from, b.from) })
	m.checkTyped(top, nodes)
}

// parseNodeType reads a type of nodes. Fields that make no difference are faults.
func (m *Machine) parseNodeType(types *object, name string) *nodeType {
	o := types.object(name, true, typesRemedy)
	if o == nil {
		return nil
	}
	if len(o.order) == 0 {
		types.fault(name, "says nothing of its nodes", typesRemedy)
	}
	t := &nodeType{name: name, processors: o.count("processors", false, 1, maxRanks), ratio: o.ratio("cpu_ratio", false)}
	for i, way := range wayNames {
		switch model := m.contention.Model; {
		case !o.has(way):
			o.skip(way)
		case model == ModelFair:
			t.bandwidths[i] = o.bandwidth(way, true)
		case model != "":
			t.links[i] = o.count(way, true, 1, math.MaxInt32)
		default:
			o.skip(way)
			o.fault(way, "makes no difference without section contention", contentionRemedy)
		}
	}
	if inner := o.object("intra", false, "write intra: {latency: 0.4us, bandwidth: 12GB/s}"); inner != nil {
		l := parseLink(inner)
		t.intra = &l
		inner.close("", nil)
		if m.model != nil {
			_, occupies := m.model.(occupier)
			if _, copies := m.model.(copier); occupies || copies {
				o.fault("intra", "does not go with model "+m.Model()+", which has messages within a node pass its processors or its memory", "remove it, or take another model")
			}
		}
	}
	o.close("", nil)
	return t
}

// parseSpan reads the key of nodes_of: the first and the last node, or one node.
func (m *Machine) parseSpan(o *object, span string) (from, to int, ok bool) {
	a, b, isRange := parseRange(span, maxRanks)
	switch {
	case !isRange:
		o.fault(span, "names no nodes", nodesRemedy)
	case b < a:
		o.fault(span, fmt.Sprintf("ends at node %d, before it begins", b), nodesRemedy)
	case m.nodes != 0 && b >= int64(m.nodes):
		o.fault(span, fmt.Sprintf("names node %d, and the machine has %d, from 0 on", b, m.nodes), "correct it, or raise nodes")
	default:
		return int(a), int(b), true
	}
	return 0, 0, false
}

// parseRange returns the ends of a range such as 16-31, or a number twice. It returns false for another text, a negative number
// and a second number above most. The second number may be less than the first.
func parseRange(text string, most int64) (from, to int64, ok bool) {
	first, last, several := strings.Cut(text, "-")
	if !several {
		last = first
	}
	from, errFrom := strconv.ParseInt(strings.TrimSpace(first), 10, 64)
	to, errTo := strconv.ParseInt(strings.TrimSpace(last), 10, 64)
	return from, to, errFrom == nil && errTo == nil && from >= 0 && to <= most
}

// checkTyped reports nodes of two types, or with two ratios, and a mapping that does not go with nodes of several sizes.
func (m *Machine) checkTyped(top, nodes *object) {
	for i := range m.typed[min(1, len(m.typed)):] {
		if a, b := m.typed[i], m.typed[i+1]; b.from <= a.to {
			top.fault("nodes_of", fmt.Sprintf("nodes %d to %d and %d to %d overlap", a.from, a.to, b.from, b.to), "give each node one type")
		}
	}
	for _, t := range m.typed {
		for _, r := range m.cpuRatios {
			if t.of.ratio.text != "" && r.from <= t.to && t.from <= r.to {
				top.fault("cpu_ratios", fmt.Sprintf("nodes %d to %d have a ratio by their type, too", max(t.from, r.from), min(t.to, r.to)), "remove one of the two")
			}
		}
	}
	if err := m.checkRoom(m.mapping); err != nil {
		top.fault("node_types", err.Error(), "write mapping block or file:PATH, or remove processors")
	}
}

// checkRoom returns an error if a mapping does not go with nodes on which different numbers of ranks fit.
func (m *Machine) checkRoom(rule mapping) error {
	switch rule.(type) {
	case cyclic, shuffled:
		if m.unevenRoom() {
			return fmt.Errorf("processors of a type of nodes do not go with mapping %s", rule)
		}
	}
	return nil
}

// unevenRoom reports whether nodes may have room for different numbers of ranks.
func (m *Machine) unevenRoom() bool {
	return slices.ContainsFunc(m.typed, func(t typedNodes) bool { return t.of.processors != 0 })
}

// typeOf returns the type of the node at a place of the topology, nil for that of the others.
func (m *Machine) typeOf(place int) *nodeType {
	if len(m.typed) == 0 {
		return nil
	}
	at, found := slices.BinarySearchFunc(m.typed, place, func(t typedNodes, place int) int {
		switch {
		case t.to < place:
			return -1
		case t.from > place:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return m.typed[at].of
}

// roomOf returns the number of ranks that fit on the node at a place of the topology.
func (m *Machine) roomOf(place int) int {
	if t := m.typeOf(place); t != nil && t.processors != 0 {
		return t.processors
	}
	return m.perNode
}

// RoomOn returns the number of ranks that fit on the first nodes of a job, and the most that fit on one of them.
func (m *Machine) RoomOn(nodes int) (ranks, most int) {
	if places := m.allocation.places; places != nil {
		for _, place := range places[:min(nodes, len(places))] {
			room := m.roomOf(int(place))
			ranks, most = ranks+room, max(most, room)
		}
		return ranks, most
	}
	others := nodes
	for _, t := range m.typed {
		if span := min(t.to+1, nodes) - t.from; span > 0 {
			room := m.roomOf(t.from)
			others -= span
			ranks, most = ranks+multiply(span, room), max(most, room)
		}
	}
	if others > 0 {
		ranks, most = ranks+multiply(others, m.perNode), max(most, m.perNode)
	}
	return ranks, most
}

// writeNodeTypes writes what parseNodeTypes reads.
func (m *Machine) writeNodeTypes(top *objectWriter) {
	if len(m.typed) == 0 {
		return
	}
	types, nodes := top.writer.object("node_types"), top.writer.object("nodes_of")
	var done []*nodeType
	for _, span := range m.typed {
		key := strconv.Itoa(span.from)
		if span.to != span.from {
			key += "-" + strconv.Itoa(span.to)
		}
		nodes.text(key, span.of.name)
		if slices.Contains(done, span.of) {
			continue
		}
		done = append(done, span.of)
		types.put(span.of.name, span.of.node(types))
	}
	top.put("node_types", types.node)
	top.put("nodes_of", nodes.node)
}

// node returns a type of nodes as YAML.
func (t *nodeType) node(types *objectWriter) *yaml.Node {
	o := types.object(types.within(t.name))
	if t.processors != 0 {
		o.number("processors", t.processors)
	}
	if t.ratio.text != "" {
		o.put("cpu_ratio", t.ratio.node())
	}
	for i, way := range wayNames {
		switch {
		case t.links[i] != 0:
			o.number(way, t.links[i])
		case t.bandwidths[i] != 0:
			o.text(way, t.bandwidths[i].String())
		}
	}
	if t.intra != nil {
		inner := o.object(o.within("intra"))
		t.intra.write(inner)
		o.put("intra", inner.node)
	}
	return o.node
}

// typeOfNode returns the type of a node of the target, nil for that of the others.
func (t *Target) typeOfNode(node int) *nodeType {
	if len(t.machine.typed) == 0 {
		return nil
	}
	return t.machine.typeOf(t.paths.place(node))
}

// Links returns how many links out of and into a node messages may take at a time under models links and pmac of contention; 0 for any
// number.
func (t *Target) Links(node int) (out, in int) {
	c := &t.machine.contention
	out, in = c.Out, c.In
	if of := t.typeOfNode(node); of != nil {
		if of.links[0] != 0 {
			out = of.links[0]
		}
		if of.links[1] != 0 {
			in = of.links[1]
		}
	}
	return out, in
}

// linkBandwidth returns the bytes per second of the link of a node out (0) or in (1) under model fair; 0 for any number.
func (t *Target) linkBandwidth(node, way int) int64 {
	if of := t.typeOfNode(node); of != nil && of.bandwidths[way] != 0 {
		return int64(of.bandwidths[way])
	}
	return [...]int64{t.machine.contention.OutBandwidth, t.machine.contention.InBandwidth}[way]
}
