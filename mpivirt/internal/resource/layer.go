package resource

import (
	"cmp"
	"slices"

	"gigarank/vtime"
)

// Asking is a message, or work, of a layer.
type Asking struct {
	At    vtime.Time     // instant of asking, then that at which it begins
	Bytes vtime.Duration // of the interface, or of the memory
	Rank  int32          // that sends or works: the order at an instant
	Where int32          // the rank whose node is asked
	Index int32          // for the caller
}

// inTurn compares messages of a layer by the order in which they ask.
func inTurn(a, b Asking) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Rank, b.Rank)) }

// TakeLayer has all messages of a layer pass on their way, which it may sort. Messages of earlier layers have passed. The caller knows the
// layer as a whole: [Interfaces.LayersFrom] tells which layers come by themselves later.
func (x *Interfaces) TakeLayer(way Way, layer []Asking) {
	if len(layer) == 0 {
		return
	}
	x.byNode(layer)
	side, t := x.side(way), x.partition.Target
	for len(layer) > 0 {
		node, n := t.Node(int(layer[0].Where)), 1
		for n < len(layer) && t.Node(int(layer[n].Where)) == node {
			n++
		}
		if here := layer[:n]; !slices.IsSortedFunc(here, inTurn) {
			slices.SortFunc(here, inTurn)
		}
		for i := range layer[:n] {
			a, rail := &layer[i], 0
			if way != Within {
				rail = x.rail(a.Where)
			}
			a.At = side.Take(node-x.first, rail, a.At, a.Bytes)
		}
		side.Close(node - x.first)
		layer = layer[n:]
	}
}

// byNode sorts messages by the nodes that they ask.
func (x *Interfaces) byNode(layer []Asking) {
	t := x.partition.Target
	if cap(x.places) < x.nodes {
		x.places = make([]int32, x.nodes)
	}
	places, before, sorted := x.places[:x.nodes], -1, true
	clear(places)
	for i := range layer {
		node := t.Node(int(layer[i].Where)) - x.first
		places[node]++
		sorted, before = sorted && before <= node, node
	}
	if sorted {
		return
	}
	at := int32(0)
	for node, n := range places {
		places[node], at = at, at+n
	}
	x.layer = append(x.layer[:0], layer...)
	for i := range x.layer {
		place := &places[t.Node(int(x.layer[i].Where))-x.first]
		layer[*place] = x.layer[i]
		*place++
	}
}

// LayersFrom says that all layers before one have passed.
func (x *Interfaces) LayersFrom(layer uint64) { x.from = layer }
