package network

import (
	"sort"

	"gigarank/vtime"
)

// interfaces are the network interfaces that the ranks of a node share, as section node of a machine file
// gives them. The zero value stands for none: messages of a node do not hold each other up.
type interfaces struct {
	count     int // 0 for no section
	bandwidth bandwidth
	gap       vtime.Duration
	shared    bool
}

// The rules by which messages take one of several interfaces.
const (
	railLocal  = "local"
	railShared = "shared"
)

const nodeRemedy = "write node: {interfaces: 4, bandwidth: 25GB/s, message_gap: 45ns, rail: local}"

// parseInterfaces reads section node. The model is known already.
func (m *Machine) parseInterfaces(top *object) {
	if !top.has("node") {
		top.skip("node")
		return
	}
	o := top.object("node", true, nodeRemedy)
	if o == nil {
		return
	}
	m.interfaces = interfaces{count: 1, bandwidth: o.bandwidth("bandwidth", false), gap: o.duration("message_gap", false, 0)}
	if o.has("interfaces") {
		m.interfaces.count = o.count("interfaces", true, 1, maxInterfaces)
	} else {
		o.skip("interfaces")
	}
	if o.has("rail") {
		m.interfaces.shared = pick(o, "rail", []string{railLocal, railShared}, func(s string) string { return s }) == railShared
	} else {
		o.skip("rail")
	}
	o.close("", nil)
	if _, occupies := m.model.(occupier); occupies {
		top.fault("node", "does not go with model "+m.Model()+", which charges the bytes of each message to a rank's own interface", "remove it, or take another model")
	}
}

// maxInterfaces is the most interfaces of a node.
const maxInterfaces = 1 << 10

// limited reports whether messages may hold each other up.
func (i *interfaces) limited() bool { return i.bandwidth != 0 || i.gap != 0 }

// writeInterfaces writes what parseInterfaces reads.
func (m *Machine) writeInterfaces(top *objectWriter) {
	i := &m.interfaces
	if i.count == 0 {
		return
	}
	o := top.writer.object("node")
	o.number("interfaces", i.count)
	if i.bandwidth != 0 {
		o.text("bandwidth", i.bandwidth.String())
	}
	o.text("message_gap", i.gap.String())
	rail := railLocal
	if i.shared {
		rail = railShared
	}
	o.text("rail", rail)
	top.put("node", o.node)
}

// Contended reports whether messages between nodes hold each other up: what one takes depends on the others that
// are under way.
func (t *Target) Contended() bool { return t.contended }

// Crosses reports whether messages between two ranks take a place at what messages share.
func (t *Target) Crosses(src, dst int) bool { return t.contended && t.Node(src) != t.Node(dst) }

// Interfaces returns the number of network interfaces of a node, whether a message may take any of them, and the
// least time between the end of a message at an interface and the begin of the next. A rank uses the interface of
// its RankInNode modulo their number if it may not take any.
func (t *Target) Interfaces() (each int, shared bool, gap vtime.Duration) {
	i := &t.machine.interfaces
	return i.count, i.shared, i.gap
}

// InterfaceTime returns the time for which the bytes of a message take an interface, besides its gap.
func (t *Target) InterfaceTime(bytes int64) vtime.Duration { return t.passage.time(bytes) }

// RankInNode returns the place of a rank among those of its node, in ascending order.
func (t *Target) RankInNode(rank int) int {
	if t.paths.perNode > 0 {
		return rank % t.paths.perNode
	}
	node := t.Node(rank)
	return sort.Search(t.NodeSize(node), func(k int) bool { return t.NodeMember(node, k) >= rank })
}
