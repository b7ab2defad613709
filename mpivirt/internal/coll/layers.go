package coll

import (
	"math"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/network"
	"gigarank/vtime"
)

// Repeated is the blocking collective of WORLD that all ranks of a program call repeatedly, with
// equal arguments, as their only communication. Its operation commutes, and the blocks of a reduce-scatter have equal lengths.
type Repeated struct {
	Operation collectives.Operation
	Bytes     int64 // size of the vector, or of one block; of a reduce-scatter of elements the sum of the blocks
	Element   int64 // size of an element; 0 if only sizes are simulated
	Data      bool  // vectors of elements; else only sizes
}

// asked returns the bytes by which the algorithm of the calls is chosen among a number of ranks: as [Collective.asked], since calls of a
// reduce-scatter of elements have a count of each rank.
func (r *Repeated) asked(ranks int) int64 {
	if r.Operation == collectives.ReduceScatter && r.Data {
		return r.Bytes / int64(ranks)
	}
	return r.Bytes
}

// layering defines the layers in which the messages of a repeated collective take the interfaces of
// nodes (room resource): one layer for each round of each call. It implements [resource.Layers].
type layering struct {
	repeated  Repeated
	target    *network.Target
	algorithm collectives.Algorithm
	schedule  collectives.Schedule
	steps     collectives.Stepper
	step      collectives.Step // scratch of messages
	perNode   int              // number of participants of a node: all ranks, or the leader
	each      int              // number of interfaces with ranks of their own; 1 if all ranks share the interfaces
	hidden    bool             // interfaces never delay a participant
	block     int64            // bytes of a position of the schedule; 0 if positions differ
	layout    *collectives.Layout
	even      bool             // all positions have the same number of bytes
	windows   bool             // the schedule has windows of several rounds, each of which is a layer
	other     collectives.Step // scratch of messageOf
}

var _ resource.Layers = (*layering)(nil)

// layeringOf returns the layering of a repeated collective with an algorithm. It is nil where nodes
// have no interfaces, where messages take no places at them, and where no number of engines could carry out the collective over arrays:
// messages then take interfaces in the order of asking alone.
func layeringOf(t *network.Target, a collectives.Algorithm, r *Repeated) *layering {
	if r == nil || !t.Contended() || t.Contention().Model != "" || !t.KeepsBlocks() || t.HasJitter() || t.ReceiverState() {
		return nil
	}
	v := &Collective{Operation: r.Operation, Algorithm: a, Bytes: r.Bytes, Element: max(r.Element, 1), Data: r.Data}
	if r.Operation == collectives.ReduceScatter && r.Data {
		v.Counts = slices.Repeat([]int64{r.asked(t.Ranks())}, t.Ranks())
	}
	if takesNoPlaces(t, v, t.Ranks()) {
		return nil
	}
	l := &layering{repeated: *r, target: t, algorithm: a, perNode: t.NodeSize(0)}
	participants, leaders := t.Ranks(), a == collectives.NodeLeader
	if leaders {
		participants, l.perNode = t.Nodes(), 1
	}
	s, err := ScheduleOf(v.Operation, a, v.sized(participants, PerNodeOf(t)))
	if err != nil || s == nil || participants == 1 {
		return nil
	}
	c := choice{
		target: t, call: v, schedule: s, layout: v.CommonLayout(s), members: t.Ranks(), leaders: leaders, ascending: true, alone: true,
		uniformFrom: math.MaxInt, layered: true,
	}
	if l.even = c.evenChunks(); !c.arraysFit() && (l.even || !c.layersFit()) {
		return nil
	}
	l.schedule, l.steps, l.each, l.layout = s, collectives.StepperOf(s), 1, c.layout
	if each, shared, _ := t.Interfaces(); !shared && !t.Striped() {
		l.each = each
	}
	l.block = blockBytes(c.layout, s)
	l.windows = collectives.HasWindows(s)
	l.hidden = l.perNode == 1 && l.even && !l.windows && l.hides(&c)
	return l
}

// leftOut reports whether rounds over arrays leave interfaces out, as these delay no participant. Where statistics are on, they
// have the delays of messages that have come early.
func (l *layering) leftOut(accounted bool) bool {
	return l != nil && l.hidden && !accounted
}

// hides reports whether interfaces with one participant each never delay it: its rank is not
// ready for another message before the interface is. Between two messages that a participant sends
// it receives one, and between two that it receives it sends one.
func (l *layering) hides(c *choice) bool {
	t := l.target
	_, _, gap := t.Interfaces()
	busy, ready := vtime.Duration(0), vtime.Endless
	for round := range min(l.schedule.MaxRounds(), LongRounds) {
		if l.isLarge(round) {
			return false
		}
		p := l.schedule.Pattern(round)
		if p.Kind == collectives.Strided && !c.folds(p) {
			return false
		}
		bytes := blockBytes(c.layout, l.schedule) * int64(p.Sent)
		if bytes > 0 && (c.leaders && !t.LeadersUniform() || !c.leaders && t.UniformFrom() > 1 || t.Transfer(0, t.Ranks()-1, bytes) < t.InterfaceTime(bytes)) {
			return false // the interface may be slower than the path
		}
		busy = max(busy, t.InterfaceTime(bytes).Plus(gap))
		ready = min(ready, t.SendTime(0).Plus(t.ReceiveTime(0)))
	}
	return busy <= ready
}

// Next returns the first layer, from layer from on, with messages that pass an interface, or the memory
// of a node, and the number of these messages.
func (l *layering) Next(node, rail int, way resource.Way, from uint64) (layer uint64, messages int) {
	const call = resource.RoundLayers << 32
	number, stage := from/call, int(from%call)
	for {
		for ; stage < resource.RoundLayers*l.schedule.MaxRounds(); stage++ {
			n, round := 0, stage/resource.RoundLayers
			kind, window, several := uint8(stage%resource.RoundLayers), collectives.Window{}, false
			if l.windows {
				window, several = collectives.WindowOf(l.schedule, round)
			}
			switch {
			case several:
				n = l.inWindow(&window, node, rail, way, round, kind)
			case kind == p2p.PassMessage || kind != p2p.PassWork && l.isLarge(round):
				n = l.messages(node, rail, way, round, kind)
			case kind == p2p.PassWork && way == resource.Within:
				n = l.works(node, round)
			}
			if n > 0 {
				return call*number + uint64(stage), n
			}
		}
		number, stage = number+1, 0
	}
}

// works returns the number of participants of a node that work in its memory after a round.
func (l *layering) works(node, round int) (n int) {
	if l.perNode == 1 || l.even && l.occupies(round) == 0 {
		return 0
	}
	first := node * l.perNode
	for p := first; p < min(first+l.perNode, l.schedule.Members()); p++ {
		if l.schedule.Next(p, round) != round || round >= l.schedule.Rounds(p) {
			continue
		}
		if l.steps.StepInto(&l.step, p, round); l.step.From != collectives.None && (l.even || l.worksOf(round) > 0) {
			n++
		}
	}
	return n
}

// isLarge reports whether the messages of a round are above the eager limit.
func (l *layering) isLarge(round int) bool {
	return l.even && l.block*int64(l.schedule.Pattern(round).Sent) > l.target.EagerLimit()
}

// messages returns the number of messages of a kind of a round that pass an interface, or the memory of a node.
func (l *layering) messages(node, rail int, way resource.Way, round int, kind uint8) (n int) {
	first, each := node*l.perNode, l.each
	if way == resource.Within {
		without := kind != p2p.PassData && l.isLarge(round) // REQ and ACK have no bytes
		if each = 1; without || l.even && l.target.MemoryTime(l.block*int64(l.schedule.Pattern(round).Sent)) == 0 {
			return 0
		}
	}
	memory := way == resource.Within && !l.even
	for p := first + rail; p < min(first+l.perNode, l.schedule.Members()); p += each {
		if l.schedule.Next(p, round) != round || round >= l.schedule.Rounds(p) {
			continue
		}
		l.steps.StepInto(&l.step, p, round)
		other := l.step.To
		if (way == resource.Inward) != (kind == p2p.PassReply) {
			other = l.step.From
		}
		if memory && other != collectives.None && l.target.MemoryTime(l.layout.Bytes(l.step.Send, l.schedule.Positions())) == 0 {
			continue
		}
		if other != collectives.None && (other/l.perNode == node) == (way == resource.Within) {
			n++
		}
	}
	return n
}

// check ends the simulator if a call is not the repeated collective.
func (l *layering) check(inst *instance) {
	v, r := &inst.Call, &l.repeated
	if v.Operation != r.Operation || v.Bytes != r.Bytes || v.Element != max(r.Element, 1) && v.Bytes > 0 || v.Data != r.Data || inst.nonblocking != nil {
		invariant.Broken("a program says that its ranks do nothing but call %v of %d bytes, and they call %v of %d bytes", r.Operation, r.Bytes, v.Procedure, v.Bytes)
	}
	if v.Algorithm != l.algorithm {
		invariant.Broken("a program says that its ranks do nothing but call %v of %d bytes, which goes by %v, and they call it by %v, as where an operation does not commute", r.Operation, r.Bytes, l.algorithm, v.Algorithm)
	}
	if v.Counts != nil && !inst.hasLayout(l.layout) {
		invariant.Broken("a program says that its ranks do nothing but call %v of %d bytes, and they call it with blocks of other lengths than that gives", r.Operation, r.Bytes)
	}
}

// hasLayout reports whether the positions of an instance have the lengths of a layout.
func (inst *instance) hasLayout(l *collectives.Layout) bool {
	for p := range inst.width {
		if inst.layout.Offset(p+1) != l.Offset(p+1) {
			return false
		}
	}
	return true
}

// interfacesOf returns the interfaces that the messages of an instance over arrays share, nil if
// interfaces delay no participant.
func (c *Collectives) interfacesOf(inst *instance) *maxplus.Interfaces {
	if inst.apart || c.layering == nil || c.layering.leftOut(c.explains) {
		return nil
	}
	out, in, memory, first := c.Messages.Interfaces.(*resource.Interfaces).Shared()
	return &maxplus.Interfaces{Out: out, In: in, Memory: memory, First: first, PerNode: c.layering.perNode}
}
