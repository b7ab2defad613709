package network

import (
	"fmt"
	"slices"
)

// levels is the model in which the innermost level that unites two ranks defines the delay
// between them: core complex, socket, node, leaf switch, group, machine.
type levels struct{ all []level }

// level is one level of the model, from the inside out.
type level struct {
	name  string
	ranks int // of a unit within a node; 0 for the level of the node and the levels around it
	nodes int // of a unit of nodes; 0 for levels up to that of the node, and for the last level
	link  link
	table []measurement // instead of link, unless empty
	// protocols are instead of link and table, unless empty.
	protocols []protocol
}

// mostLevels bounds the levels of a machine.
const mostLevels = 16

var levelsKind = modelKind{
	name:      "levels",
	summary:   "a delay for each level between two ranks: core complex, socket, node, leaf, group, machine",
	fields:    []string{"levels"},
	charged:   true,
	symmetric: true,
	examples: []string{
		"{levels: [{name: socket, ranks: 2, latency: 200ns, bandwidth: 20GB/s}, {name: node, latency: 400ns, bandwidth: 9GB/s}, " +
			"{name: leaf, nodes: 3, delays: [{size: 8, delay: 1us}, {size: 300, delay: 1.4us}]}, {name: group, nodes: 6, latency: 1.5us}, {name: machine, latency: 2us, bandwidth: 3GB/s}]}",
		"{levels: [{name: node, delays: [{size: 0, delay: 2us}]}, {name: machine, latency: 1us}]}",
		"{levels: [{name: node, protocols: [{name: LL, latency: 600ns, bandwidth: 500MB/s}, {name: simple, latency: 3us, bandwidth: 9GB/s}]}, {name: machine, latency: 5us, bandwidth: 1GB/s}]}",
		"{levels: [{name: complex, ranks: 1, latency: 100ns}, {name: socket, ranks: 3, latency: 50ns}, {name: node, latency: 400ns}, {name: machine, latency: 7us, bandwidth: 1GB/s}]}",
	},
	parse: func(o *object) model { return &levels{parseLevels(o)} },
}

func parseLevels(o *object) []level {
	const example = "write a list such as [{name: node, latency: 0.5us, bandwidth: 9GB/s}, {name: leaf, nodes: 16, latency: 1us}, {name: machine, latency: 2us}]"
	var all []level
	list := o.objects("levels", example)
	if n := len(list); n == 1 || n > mostLevels {
		o.fault("levels", fmt.Sprintf("there are %d of them", n), fmt.Sprintf("give from 2, the node and the machine, to %d", mostLevels))
	}
	for _, entry := range list {
		l := level{name: entry.text("name", true)}
		if l.name != "" && slices.ContainsFunc(all, func(other level) bool { return other.name == l.name }) {
			entry.fault("name", fmt.Sprintf("%q is the name of another level, too", l.name), "give each level a name of its own")
		}
		l.ranks = entry.count("ranks", false, 1, maxRanks)
		l.nodes = entry.count("nodes", false, 1, maxRanks)
		switch {
		case entry.has("delays"):
			l.table = parseTable(entry, "delays")
			entry.refuseBeside("delays", "protocols", "latency", "bandwidth")
		case entry.has("protocols"):
			l.protocols = parseProtocols(entry)
			entry.refuseBeside("protocols", "delays", "latency", "bandwidth")
		default:
			entry.skip("delays")
			entry.skip("protocols")
			l.link = parseLink(entry)
		}
		entry.close("", nil)
		all = append(all, l)
	}
	checkNesting(list, all)
	return all
}

// refuseBeside reports fields that are given beside a field that holds what they say.
func (o *object) refuseBeside(key string, others ...string) {
	for _, other := range others {
		if o.has(other) {
			o.take(other, false, "")
			o.fault(other, "is given beside "+key, "remove one of the two")
		}
	}
}

// checkNesting reports levels whose units do not nest: levels within a node, which give ranks, come
// first, then the level of the node, which gives neither ranks nor nodes, then the levels around
// it, which give nodes, except the last.
func checkNesting(list []*object, all []level) {
	node := nodeLevel(all)
	for i, l := range all {
		entry := list[i]
		switch last := i == len(all)-1; {
		case i < node:
			if entry.has("nodes") {
				entry.fault("nodes", "is given beside ranks", "remove one of the two")
			}
			if i > 0 && l.ranks > 0 && all[i-1].ranks > 0 && l.ranks%all[i-1].ranks != 0 {
				entry.fault("ranks", fmt.Sprintf("%d is no multiple of the %d of the level inside it", l.ranks, all[i-1].ranks), "write a multiple")
			}
			if last {
				entry.fault("ranks", "is given in the last level", "add the level of the node and that of the machine, which give no ranks")
			}
		case entry.has("ranks"):
			entry.fault("ranks", "is given outside the node", "write levels with ranks first, then that of the node, which has neither ranks nor nodes")
		case i == node && entry.has("nodes"):
			entry.fault("nodes", "is given in the level of the node", "write the level of the node, which has neither ranks nor nodes, before levels with nodes")
		case i == node && last && len(all) > 1:
			entry.fault("name", "the level of the node is the last", "add that of the machine behind it")
		case i == node:
		case last && entry.has("nodes"):
			entry.fault("nodes", "is given in the last level, which unites all nodes", "remove it, or add a level around it")
		case !last && !entry.has("nodes"):
			entry.doc.Fault(entry.line, entry.path+".nodes", "is missing", "write the number of nodes that the level unites; only the level of the node and the last have none")
		case i > node+1 && !last && all[i-1].nodes > 0 && l.nodes%all[i-1].nodes != 0:
			entry.fault("nodes", fmt.Sprintf("%d is no multiple of the %d of the level inside it", l.nodes, all[i-1].nodes), "write a multiple")
		}
	}
}

// nodeLevel returns the index of the level of the node: the first level that gives no ranks.
func nodeLevel(all []level) int {
	for i, l := range all {
		if l.ranks == 0 {
			return i
		}
	}
	return len(all)
}

func (m *levels) kind() *modelKind { return &levelsKind }

func (m *levels) write(o *objectWriter) {
	putObjects(o, "levels", m.all, func(inner *objectWriter, l level) {
		inner.text("name", l.name)
		if l.ranks != 0 {
			inner.number("ranks", l.ranks)
		}
		if l.nodes != 0 {
			inner.number("nodes", l.nodes)
		}
		switch {
		case l.table != nil:
			writeTable(inner, "delays", l.table)
		case l.protocols != nil:
			writeProtocols(inner, l.protocols)
		default:
			l.link.write(inner)
		}
	})
}

func (m *levels) over(p placement) delays {
	node := nodeLevel(m.all)
	tiers := make([]tier, len(m.all))
	for i, l := range m.all {
		t := &tiers[i]
		switch {
		case l.table != nil:
			t.path = measuredPath(l.table)
		case l.protocols != nil:
			t.path = measuredPath(fastest(l.protocols))
		default:
			t.path = newPath(l.link.latency, l.link.bandwidth)
		}
		switch {
		case i < node:
			t.size, t.inside = l.ranks, true
		case i == node:
			t.size, t.inside = unlimited, true
		case l.nodes == 0:
			t.size = unlimited
		default:
			t.size = l.nodes
		}
	}
	return pathsByLevel(p, tiers, node)
}
