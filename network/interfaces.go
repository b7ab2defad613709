package network

import (
	"sort"

	"gigarank/vtime"
)

// interfaces are the network interfaces that the ranks of a node share, as given by section node of
// a machine file. The zero value stands for none: messages of a node do not delay each other.
type interfaces struct {
	count     int // 0 without section node
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

// parseInterfaces reads section node. The delay model has been read before.
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
	if m.model.kind().latencyBySize {
		top.fault("node", "does not go with model "+m.Model()+", whose latency depends on the size of a message", "remove it, or take model levels with delays")
	}
	if _, occupies := m.model.(occupier); occupies {
		top.fault("node", "does not go with model "+m.Model()+", which charges the bytes of each message to a rank's own interface", "remove it, or take another model")
	}
}

// maxInterfaces is the most interfaces of a node.
const maxInterfaces = 1 << 10

// limited reports whether messages may delay each other.
func (i *interfaces) limited() bool { return i.bandwidth != 0 || i.gap != 0 }

// writeInterfaces writes section node, in the form that parseInterfaces reads.
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

// Contended reports whether messages between nodes delay each other: the time of a message depends
// on other messages under way.
func (t *Target) Contended() bool { return t.contended }

// Crosses reports whether messages between two ranks use shared interfaces or links.
func (t *Target) Crosses(src, dst int) bool { return t.contended && t.Node(src) != t.Node(dst) }

// Interfaces returns the number of network interfaces of a node, whether a message may take any of
// them, and the least time between the end of a message at an interface and the beginning of the
// next message. If a message may not take any interface, a rank uses interface RankInNode modulo
// their number.
func (t *Target) Interfaces() (each int, shared bool, gap vtime.Duration) {
	i := &t.machine.interfaces
	return i.count, i.shared, i.gap
}

// InterfaceTime returns the time for which the bytes of a message occupy an interface, without the
// gap.
func (t *Target) InterfaceTime(bytes int64) vtime.Duration { return t.passage.time(bytes) }

// PacketTime returns the time for which a packet occupies an interface. Messages of at most a packet
// do not wait at an interface for the bytes of longer messages.
func (t *Target) PacketTime() vtime.Duration { return t.InterfaceTime(packet) }

// packet is the size of the packets into which interfaces divide messages, in bytes: the greatest MTU of InfiniBand.
const packet = 4 << 10

// RankInNode returns the number of a rank among the ranks of its node, in ascending order.
func (t *Target) RankInNode(rank int) int {
	if t.paths.perNode > 0 {
		return rank % t.paths.perNode
	}
	node := t.Node(rank)
	return sort.Search(t.NodeSize(node), func(k int) bool { return t.NodeMember(node, k) >= rank })
}
