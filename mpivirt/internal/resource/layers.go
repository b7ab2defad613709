package resource

import (
	"cmp"
	"slices"
	"unsafe"

	"gigarank/internal/invariant"
	"gigarank/network"
	"gigarank/network/contention"
	"gigarank/vtime"
)

// Where ranks only call one collective repeatedly, messages take an interface in layers: messages
// of a round before messages of the next round, and in the order of asking within a round. So
// rounds over arrays, which carry out such collectives at scale, give the same times as messages.

// Way is the way of a message at a node.
type Way uint8

// The ways of messages at a node.
const (
	Outward Way = iota // through an interface of the sender's node
	Inward             // through an interface of the receiver's node
	Within             // through the memory of the node of both
	ways
)

// Layers returns the numbers of messages that pass interfaces and memories.
type Layers interface {
	// Next returns the first layer, from layer from on, with messages that pass an interface, or the
	// memory, on their way, and the number of these messages. Such a layer exists. rail is the rail
	// of the ranks that use the interface, 0 if all ranks do.
	Next(node, rail int, way Way, from uint64) (layer uint64, messages int)
}

// gate opens an interface, or all interfaces of a node if messages take any of them, for the
// messages of one layer at a time.
type gate struct {
	layer uint64
	left  int       // number of messages of the layer that have not passed; 0 before the first layer
	held  []Passage // messages of later layers, in the order of asking
}

// NodeBytes returns the memory of the interfaces of a node, and of its memory, for messages of at most a number of bytes. gates
// says that messages pass them one by one in layers.
func NodeBytes(t *network.Target, bytes int64, gates bool) int {
	each, shared, _ := t.Interfaces()
	side := func(rails, opens int, long bool) int {
		n := rails * int(unsafe.Sizeof(vtime.Time(0)))
		if long {
			n += rails * contention.LaneBytes
		}
		if gates {
			n += opens * int(unsafe.Sizeof(gate{}))
		}
		return n
	}
	opens := each
	if shared {
		opens = 1
	}
	n := 2 * side(each, opens, t.RailTime(bytes) > t.PacketTime())
	if t.ContendedWithin() {
		n += side(1, 1, t.MemoryTime(bytes) > t.MemoryPacketTime())
	}
	return n
}

// RoundLayers is the number of layers of a round: messages or REQ, ACK, DATA, and the work that follows.
const RoundLayers = 4

// Layer returns the layer of a passage of a collective. Kinds of messages are numbered in the order of the layers of a round.
func (p *Passage) Layer() uint64 {
	if p.Work > 0 {
		return RoundLayers*p.Order[1] + RoundLayers - 1
	}
	return RoundLayers*p.Order[1] + uint64(p.Kind)
}

// InLayers has messages take the interfaces in layers. It is called before the first message. Interfaces that stripe all messages act
// as one.
func (x *Interfaces) InLayers(layers Layers) {
	x.layers = layers
	if x.striped {
		x.each = 1
	}
}

// rails returns the number of interfaces of a node with messages of their own, on their way.
func (x *Interfaces) rails(way Way) int {
	if x.shared || way == Within {
		return 1
	}
	return x.each
}

// Shared returns the interfaces of nodes in both directions, their memories, and the number of the
// first node. The memories are nil where they delay no message.
func (x *Interfaces) Shared() (out, in, memory *contention.Interfaces, first int) {
	if x.partition.Target.ContendedWithin() {
		memory = x.side(Within)
	}
	return x.side(Outward), x.side(Inward), memory, x.first
}

// serveInLayers serves a request once all requests of earlier layers have been served.
func (x *Interfaces) serveInLayers(way Way, p *Passage) {
	if p.Owner != OfAgents {
		invariant.Broken("rank %d sends %d a message, though its program says that it does nothing but call one collective", p.Source, p.Dest)
	}
	rank, side := p.Source, x.side(way)
	if way == Inward {
		rank = p.Dest
	}
	rails := x.rails(way)
	node, rail := x.partition.Target.Node(int(rank)), x.rail(rank)%rails
	if x.gates[way] == nil {
		x.gates[way] = make([]gate, x.nodes*rails)
		for i := range x.gates[way] {
			x.gates[way][i].layer = x.from
		}
	}
	g := &x.gates[way][(node-x.first)*rails+rail]
	if g.left == 0 {
		g.layer, g.left = x.layers.Next(node, rail, way, g.layer)
	}
	if invariant.Enabled && p.Layer() < g.layer {
		invariant.Broken("a message of layer %x from rank %d to %d comes after all of its layer have passed node %d", p.Layer(), p.Source, p.Dest, node)
	}
	if p.Layer() != g.layer {
		at, _ := slices.BinarySearchFunc(g.held, p, func(h Passage, p *Passage) int {
			return cmp.Or(cmp.Compare(h.Layer(), p.Layer()), -1) // after all messages of its layer
		})
		g.held = slices.Insert(g.held, at, *p)
		return
	}
	x.pass(way, p)
	for g.left--; g.left == 0; {
		side.Close(node - x.first)
		g.layer, g.left = x.layers.Next(node, rail, way, g.layer+1)
		n := 0
		for n < len(g.held) && g.held[n].Layer() == g.layer {
			x.pass(way, &g.held[n])
			n++
		}
		g.left -= n
		g.held = slices.Delete(g.held, 0, n)
	}
}
