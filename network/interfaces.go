package network

import (
	"sort"

	"gigarank/vtime"
)

// interfaces are the network interfaces and the memory that the ranks of a node share, as given by
// section node of a machine file. The zero value stands for none: messages of a node do not delay
// each other.
type interfaces struct {
	count     int // 0 without section node
	bandwidth bandwidth
	gap       vtime.Duration
	rail      rail
	memory    bandwidth // bytes that all ranks of a node together read and write per second; 0 for any number
}

// rail is the rule by which messages take one of several interfaces.
type rail uint8

// The rules.
const (
	railLocal   rail = iota // a rank has its own
	railShared              // a message takes the interface that is free first
	railStriped             // a message of a collective is cut into a part for each interface; else as local
)

var rails = []rail{railLocal, railShared, railStriped}

func (r rail) String() string { return [...]string{"local", "shared", "striped"}[r] }

const nodeRemedy = "write node: {interfaces: 4, bandwidth: 25GB/s, message_gap: 45ns, rail: local, memory: 200GB/s}"

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
	m.interfaces = interfaces{count: 1, bandwidth: o.bandwidth("bandwidth", false), gap: o.duration("message_gap", false, 0), memory: o.bandwidth("memory", false)}
	if o.has("interfaces") {
		m.interfaces.count = o.count("interfaces", true, 1, maxInterfaces)
	} else {
		o.skip("interfaces")
	}
	if o.has("rail") {
		m.interfaces.rail = pick(o, "rail", rails, rail.String)
	} else {
		o.skip("rail")
	}
	o.close("", nil)
	if m.model.kind().latencyBySize {
		top.fault("node", "does not go with model "+m.Model()+", whose latency depends on the size of a message", "remove it, or take model levels with delays")
	}
	if m.join.levels != nil && m.join.bandwidth == 0 {
		m.join.bandwidth = m.interfaces.memory
	}
	if _, occupies := m.model.(occupier); occupies {
		top.fault("node", "does not go with model "+m.Model()+", in which each rank has an interface of its own", "remove it, or take another model")
	}
}

// maxInterfaces is the most interfaces of a node.
const maxInterfaces = 1 << 10

// limited reports whether messages between nodes may delay each other.
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
	o.text("rail", i.rail.String())
	if i.memory != 0 {
		o.text("memory", i.memory.String())
	}
	top.put("node", o.node)
}

// Contended reports whether messages delay each other, between nodes or within them: the time of a
// message depends on other messages under way.
func (t *Target) Contended() bool { return t.sharesBetween || t.sharesWithin }

// ContendedWithin reports whether messages within a node delay each other.
func (t *Target) ContendedWithin() bool { return t.sharesWithin }

// Shares reports whether messages between two ranks use what ranks share: interfaces or links
// between nodes, the memory within a node.
func (t *Target) Shares(src, dst int) bool {
	return t.sharesWithin || t.sharesBetween && t.Node(src) != t.Node(dst)
}

// Interfaces returns the number of network interfaces of a node, whether a message may take any of
// them, and the least time between the end of a message at an interface and the beginning of the
// next message. If a message may not take any interface, a rank uses interface RankInNode modulo
// their number.
func (t *Target) Interfaces() (each int, shared bool, gap vtime.Duration) {
	i := &t.machine.interfaces
	return i.count, i.rail == railShared, i.gap
}

// Striped reports whether a message of a collective is cut into a part for each interface of its node, and takes all of them at the
// same time.
func (t *Target) Striped() bool { return t.machine.interfaces.rail == railStriped }

// InterfaceTime returns the time for which the bytes of a message of a collective occupy an interface, or all
// interfaces among which they are striped, without the gap.
func (t *Target) InterfaceTime(bytes int64) vtime.Duration { return t.passage.time(bytes) }

// RailTime returns the time for which the bytes of another message occupy the interface of its rank, without the gap.
func (t *Target) RailTime(bytes int64) vtime.Duration { return t.rail.time(bytes) }

// MemoryTime returns the time for which the bytes of a message within a node occupy the memory of
// the node: each byte is read and written. It is 0 where the memory sets no limit.
func (t *Target) MemoryTime(bytes int64) vtime.Duration {
	if !t.sharesWithin {
		return 0
	}
	return t.copying.time(bytes)
}

// HeldUntil returns the instant from which on a message within a node takes its time alone. The
// message asks the memory at an instant, and the memory carries its bytes from another instant on.
// alone is the time of the message beyond its latency. The message arrives its latency and that time
// later: a latency after the memory has carried its bytes, and not sooner than without other messages.
func HeldUntil(asks, begins vtime.Time, bytes, alone vtime.Duration) vtime.Time {
	return max(asks, begins.Add(bytes-alone))
}

// PacketTime returns the time for which a packet occupies an interface. Messages of at most a packet
// do not wait at an interface for the bytes of longer messages.
func (t *Target) PacketTime() vtime.Duration { return t.RailTime(packet) }

// MemoryPacketTime returns the time for which a packet within a node occupies the memory. See PacketTime.
func (t *Target) MemoryPacketTime() vtime.Duration { return t.MemoryTime(packet) }

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
