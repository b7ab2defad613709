package contention

import "gigarank/vtime"

// Interfaces are the interfaces of nodes in one direction.
type Interfaces struct {
	each   int  // of a node
	shared bool // a message takes any interface; else a rank has its own
	gap    vtime.Duration
	free   []vtime.Time // by node and interface: when the next message may begin

	// By node, where messages come in layers and may take any of several interfaces; else nil.
	latest []vtime.Time // when the latest message asked
	floor  []vtime.Time // before which none begins
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

// Close ends a layer of messages at a node: no later message begins before all of the layer have asked. An interface of its
// own keeps that order without more.
func (i *Interfaces) Close(node int) {
	if i.floor != nil {
		i.floor[node] = i.latest[node]
	}
}

// Take gives a message of the k-th rank of a node, which asks at an instant, its place for the
// time that its bytes take. It returns when the message begins. Messages ask in order, those of a layer after those of the one before.
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

// TakeEach gives one message of the first rank of each of several nodes, the first one and others by a stride, its place, as
// Take does. It puts in the place of each instant of asking that at which the message begins.
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

// Ask is a message that asks a node, one of many.
type Ask struct {
	At    vtime.Time
	Index int32 // among them
}

// Before reports whether a message asks before another.
func (a Ask) Before(b Ask) bool { return a.At < b.At || a.At == b.At && a.Index < b.Index }

// Single reports whether each node has one interface.
func (i *Interfaces) Single() bool { return i.each == 1 }

// TakeAll gives messages that ask the single interface of a node, in order, their places, as Take does. It stores when they begin
// by their index.
func (i *Interfaces) TakeAll(node int, asks []Ask, bytes vtime.Duration, begins []vtime.Time) {
	free, busy := i.free[node], bytes.Plus(i.gap)
	for _, m := range asks {
		free = max(free, m.At)
		begins[m.Index] = free
		free = free.Add(busy)
	}
	i.free[node] = free
}
