package contention

import "gigarank/vtime"

// Interfaces are the interfaces of nodes in one direction.
type Interfaces struct {
	each   int  // of a node
	shared bool // a message takes any interface; else a rank has its own
	gap    vtime.Duration
	free   []vtime.Time // by node and interface: instant at which the next message may begin

	// By node, where messages come in layers and may take any of several interfaces; else nil.
	latest []vtime.Time // instant at which the latest message asked
	floor  []vtime.Time // instant before which no message begins
}

// NewInterfaces returns the idle interfaces of nodes, in one direction. If they are not shared, the
// k-th rank of a node uses interface k modulo their number. gap is the least time between the end
// of a message and the beginning of the next message.
func NewInterfaces(nodes, each int, shared bool, gap vtime.Duration) *Interfaces {
	return &Interfaces{each: each, shared: shared, gap: gap, free: make([]vtime.Time, nodes*each)}
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

// Take reserves an interface for a message of the k-th rank of a node, which asks at an instant,
// for the time of its bytes. It returns when the message begins. Messages ask in order, messages of
// a layer after messages of the layer before.
func (i *Interfaces) Take(node, k int, asks vtime.Time, bytes vtime.Duration) (begins vtime.Time) {
	if i.each == 1 {
		own := &i.free[node]
		begins = max(asks, *own)
		*own = begins.Add(bytes).Add(i.gap)
		return begins
	}
	own := i.free[node*i.each : (node+1)*i.each]
	at := 0
	if i.floor != nil {
		asks = max(asks, i.floor[node])
		i.latest[node] = max(i.latest[node], asks)
	}
	if i.shared {
		for j := range own {
			if own[j] < own[at] {
				at = j
			}
		}
	} else {
		at = k % i.each
	}
	begins = max(asks, own[at])
	own[at] = begins.Add(bytes).Add(i.gap)
	return begins
}

// TakeEach takes an interface, as Take does, for one message of the first rank of each of several
// nodes: first, first+stride, .... It replaces each instant of asking by the instant at which the
// message begins.
func (i *Interfaces) TakeEach(first, stride int, asks []vtime.Time, bytes vtime.Duration) {
	if i.floor != nil {
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

// TakeAll takes the single interface of a node, as Take does, for messages that ask in order. It
// stores the instants at which they begin, by index.
func (i *Interfaces) TakeAll(node int, asks []Ask, bytes vtime.Duration, begins []vtime.Time) {
	free, busy := i.free[node], bytes.Plus(i.gap)
	for _, m := range asks {
		free = max(free, m.At)
		begins[m.Index] = free
		free = free.Add(busy)
	}
	i.free[node] = free
}
