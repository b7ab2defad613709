package resource

import (
	"cmp"
	"slices"

	"gigarank/internal/invariant"
	"gigarank/network/contention"
)

// Where ranks do nothing but call one collective again and again, messages take an interface in layers: those of
// a round before those of the next round, in the order of asking among themselves. So rounds over arrays, which carry
// such collectives out at scale, give the same times as messages.

// Layers tells which messages pass an interface.
type Layers interface {
	// Next returns the first layer from one on that has messages which pass an interface, outward or inward, and how many.
	// There is one. rail is that of the ranks that use the interface, 0 if they all do.
	Next(node, rail int, inward bool, from uint64) (layer uint64, messages int)
}

// gate lets the messages of a layer pass an interface, or the interfaces of a node if any message takes any.
type gate struct {
	layer uint64
	left  int       // messages of the layer that have not passed; 0 before the first
	held  []Passage // of later layers, in the order of asking
}

// Layer returns the layer of a passage of a collective.
func (p *Passage) Layer() uint64 { return p.Order[1] }

// InLayers has messages take the interfaces in layers from the beginning.
func (x *Interfaces) InLayers(layers Layers) {
	x.layers = layers
	x.out.Layer()
	x.in.Layer()
	_, nodes := x.nodesHere()
	for i := range x.gates {
		x.gates[i] = make([]gate, nodes*x.rails())
	}
}

// rails returns the number of interfaces of a node that have messages of their own.
func (x *Interfaces) rails() int {
	if x.shared {
		return 1
	}
	return x.each
}

// Shared returns the interfaces of nodes in both directions, and the node that they begin with.
func (x *Interfaces) Shared() (out, in *contention.Interfaces, first int) {
	return x.out, x.in, x.first
}

// serveInLayers gives a message its place once all messages of earlier layers have theirs.
func (x *Interfaces) serveInLayers(inward bool, p *Passage) {
	if p.Owner != OfAgents {
		invariant.Broken("rank %d sends %d a message, though its program says that it does nothing but call one collective", p.Source, p.Dest)
	}
	rank, direction, serve, sides := p.Source, 0, x.leave, x.out
	if inward {
		rank, direction, serve, sides = p.Dest, 1, x.arrive, x.in
	}
	node, rail := x.partition.Target.Node(int(rank)), x.rail(rank)%x.rails()
	g := &x.gates[direction][(node-x.first)*x.rails()+rail]
	if g.left == 0 {
		g.layer, g.left = x.layers.Next(node, rail, inward, g.layer)
	}
	if invariant.Enabled && p.Layer() < g.layer {
		invariant.Broken("a message of layer %x from rank %d to %d comes after all of its layer have passed node %d", p.Layer(), p.Source, p.Dest, node)
	}
	if p.Layer() != g.layer {
		at, _ := slices.BinarySearchFunc(g.held, p, func(h Passage, p *Passage) int {
			return cmp.Or(cmp.Compare(h.Layer(), p.Layer()), -1) // behind all of its layer
		})
		g.held = slices.Insert(g.held, at, *p)
		return
	}
	serve(p)
	for g.left--; g.left == 0; {
		sides.Close(node - x.first)
		g.layer, g.left = x.layers.Next(node, rail, inward, g.layer+1)
		n := 0
		for n < len(g.held) && g.held[n].Layer() == g.layer {
			serve(&g.held[n])
			n++
		}
		g.left -= n
		g.held = slices.Delete(g.held, 0, n)
	}
}
