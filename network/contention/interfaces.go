package contention

import "gigarank/vtime"

// Interfaces are the interfaces of nodes in one direction.
//
// Messages of more than a packet, and all messages while no such message is in front of them, begin
// one after the other. A message of at most a packet does not wait for the bytes of longer messages
// in front of it: their packets interleave. It begins after the other messages of at most a packet,
// and the longer messages that have not asked yet begin later by its bytes. The length of a transfer
// in front of it is decided already, so its bytes are borrowed: an interface lends a packet until the
// transfers in front of the first borrower are over. A message that would need more waits its turn.
type Interfaces struct {
	each   int  // of a node
	shared bool // a message takes any interface; else a rank has its own
	gap    vtime.Duration
	packet vtime.Duration // of the bytes of a packet
	free   []vtime.Time   // by node and interface: instant at which the next message may begin, after the bytes of all others
	lanes  []lane         // likewise; nil before the first message of more than a packet

	// By node, where messages come in layers and may take any of several interfaces; else nil.
	latest []vtime.Time // instant at which the latest message asked
	floor  []vtime.Time // instant before which no message begins
}

// lane is the state of an interface for messages of at most a packet.
type lane struct {
	next     vtime.Time     // instant at which the next such message may begin: at most free, and not before any message has asked
	borrowed vtime.Duration // of the bytes of the messages that have not waited for longer messages
	due      vtime.Time     // instant from which on borrowed no longer counts
}

// LaneBytes is the size in bytes of the state of an interface that has carried a message of more than a packet, beyond its clock.
const LaneBytes = 3 * 8

// lends reports whether a message that asks at an instant may begin before its turn.
func (l *lane) lends(asks vtime.Time, bytes, packet vtime.Duration) bool {
	return bytes <= packet && (asks >= l.due || l.borrowed+bytes <= packet)
}

// NewInterfaces returns the idle interfaces of nodes, in one direction. If they are not shared, the
// k-th rank of a node uses interface k modulo their number. gap is the least time between the end
// of a message and the beginning of the next message, packet the time of the bytes of a packet.
func NewInterfaces(nodes, each int, shared bool, gap, packet vtime.Duration) *Interfaces {
	return &Interfaces{each: each, shared: shared, gap: gap, packet: packet, free: make([]vtime.Time, nodes*each)}
}

// Layer prepares for messages that ask in layers, each of which [Interfaces.Close] ends.
func (i *Interfaces) Layer() {
	if i.shared && i.each > 1 {
		nodes := len(i.free) / i.each
		i.latest, i.floor = make([]vtime.Time, nodes), make([]vtime.Time, nodes)
	}
}

// Close ends a layer of messages at a node: no later message begins before all messages of the
// layer have asked. A single interface keeps that order by itself.
func (i *Interfaces) Close(node int) {
	if i.floor != nil {
		i.floor[node] = i.latest[node]
	}
}

// Overtakes reports whether a message may begin before a message that has asked earlier.
func (i *Interfaces) Overtakes() bool { return i.lanes != nil }

// Take reserves an interface for a message of the k-th rank of a node, which asks at an instant,
// for the time of its bytes. It returns when the message begins. Messages ask in order, messages of
// a layer after messages of the layer before.
func (i *Interfaces) Take(node, k int, asks vtime.Time, bytes vtime.Duration) (begins vtime.Time) {
	if i.floor != nil {
		asks = max(asks, i.floor[node])
		i.latest[node] = max(i.latest[node], asks)
	}
	at := node * i.each
	switch {
	case i.each == 1:
	case i.shared:
		at = i.first(at, asks, bytes)
	default:
		at += k % i.each
	}
	if !i.plain(bytes) {
		return i.takeInLanes(at, asks, bytes)
	}
	begins = max(asks, i.free[at])
	i.free[at] = begins.Add(bytes).Add(i.gap)
	return begins
}

// TakeEvery reserves all interfaces of a node for the parts of a message that asks at an instant, for the time of the bytes of a
// part. It returns when the last part begins. Interfaces are not shared then.
func (i *Interfaces) TakeEvery(node int, asks vtime.Time, bytes vtime.Duration) (begins vtime.Time) {
	for k := range i.each {
		begins = max(begins, i.Take(node, k, asks, bytes))
	}
	return begins
}

// plain reports whether a message, like all messages before, is of at most a packet: then messages
// begin in the order of asking. It makes the lanes for the first message that is longer.
func (i *Interfaces) plain(bytes vtime.Duration) bool {
	if i.lanes == nil && bytes > i.packet {
		i.lanes = make([]lane, len(i.free))
		for at, t := range i.free {
			i.lanes[at].next = t
		}
	}
	return i.lanes == nil
}

// first returns the interface of a node, from interface own on, that is free first; if that is busy,
// the one at which a message that asks at an instant begins first.
func (i *Interfaces) first(own int, asks vtime.Time, bytes vtime.Duration) int {
	at := own
	for j := own + 1; j < own+i.each; j++ {
		if i.free[j] < i.free[at] {
			at = j
		}
	}
	if i.lanes == nil || i.free[at] <= asks {
		return at
	}
	least := i.free[at]
	for j := own; j < own+i.each; j++ {
		if l := &i.lanes[j]; l.next < least && l.lends(asks, bytes, i.packet) {
			at, least = j, l.next
		}
	}
	return at
}

// takeInLanes takes an interface that messages of more than a packet take, too.
func (i *Interfaces) takeInLanes(at int, asks vtime.Time, bytes vtime.Duration) (begins vtime.Time) {
	free, l := &i.free[at], &i.lanes[at]
	begins = max(asks, l.next)
	switch {
	case begins >= *free && bytes <= i.packet:
		*free = begins.Add(bytes).Add(i.gap)
		l.next = *free
	case l.lends(asks, bytes, i.packet):
		if asks >= l.due {
			l.borrowed, l.due = 0, *free
		}
		l.borrowed += bytes
		l.next = begins.Add(bytes).Add(i.gap)
		*free = max(free.Add(bytes), l.next)
	default:
		l.next = begins.Add(i.gap)
		begins = max(asks, *free)
		*free = begins.Add(bytes).Add(i.gap)
	}
	return begins
}

// TakeEach takes an interface, as Take does, for one message of the first rank of each of several
// nodes: first, first+stride, .... It replaces each instant of asking by the instant at which the
// message begins.
func (i *Interfaces) TakeEach(first, stride int, asks []vtime.Time, bytes vtime.Duration) {
	if i.floor != nil || !i.plain(bytes) {
		for k, t := range asks {
			asks[k] = i.Take(first+k*stride, 0, t, bytes)
			i.Close(first + k*stride)
		}
		return
	}
	at, stride := first*i.each, stride*i.each
	busy := bytes.Plus(i.gap)
	for k, t := range asks {
		own := &i.free[at]
		t = max(t, *own)
		asks[k], *own = t, t.Add(busy)
		at += stride
	}
}

// Ask is one of many messages that ask at a node.
type Ask struct {
	At    vtime.Time
	Index int32 // of the message
}

// Before reports whether a message asks before another.
func (a Ask) Before(b Ask) bool { return a.At < b.At || a.At == b.At && a.Index < b.Index }

// Single reports whether each node has one interface.
func (i *Interfaces) Single() bool { return i.each == 1 }

// Plain reports whether each node has one interface, at which messages of some bytes begin one after the other, as all messages before. A caller
// may then work out their beginnings itself: see Free and Occupy.
func (i *Interfaces) Plain(bytes vtime.Duration) bool {
	return i.each == 1 && i.lanes == nil && bytes <= i.packet
}

// Busy returns the time from the beginning of a message of some bytes to that of the next.
func (i *Interfaces) Busy(bytes vtime.Duration) vtime.Duration { return bytes.Plus(i.gap) }

// Free returns the instant at which the next message may begin at the single interface of a node.
func (i *Interfaces) Free(node int) vtime.Time { return i.free[node] }

// Occupy has the single interface of a node be busy until an instant.
func (i *Interfaces) Occupy(node int, until vtime.Time) { i.free[node] = until }

// TakeAll takes the single interface of a node, as Take does, for messages that ask in order. It
// stores the instants at which they begin, by index.
func (i *Interfaces) TakeAll(node int, asks []Ask, bytes vtime.Duration, begins []vtime.Time) {
	if !i.plain(bytes) {
		for _, m := range asks {
			begins[m.Index] = i.takeInLanes(node, m.At, bytes)
		}
		return
	}
	free, busy := i.free[node], bytes.Plus(i.gap)
	for _, m := range asks {
		free = max(free, m.At)
		begins[m.Index] = free
		free = free.Add(busy)
	}
	i.free[node] = free
}
