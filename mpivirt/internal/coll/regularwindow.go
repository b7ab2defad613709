package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
)

// Windows of several rounds over arrays of clocks, and in layers. The messages of a window take interfaces together, in one layer: that of the last
// round of the window.

// windowsFit reports whether the windows of several rounds of a schedule can be carried out over arrays of clocks: their messages are
// regular and do not wait for their match.
func (c *choice) windowsFit() bool {
	switch s := c.schedule; {
	case c.leaders, c.accounted, c.layout == nil,
		collectives.RepeatsPartners(s), collectives.SendsByDistance(s) && c.target.Congested() != c.target:
		return false
	case c.target.HasPorts() && c.target.Gap() > c.target.Overhead().Send+c.target.Overhead().Receive: // a port may keep the next window waiting
		return false
	}
	return true
}

// windowFits reports whether a window can be carried out over arrays of clocks.
func (c *choice) windowFits(w *collectives.Window) bool {
	block := blockBytes(c.layout, c.schedule)
	for j := range w.Messages {
		if p := w.Pattern(j); block*int64(p.Sent) > c.target.EagerLimit() {
			return false
		}
	}
	return true
}

// layerOf returns the round whose layer the messages take that are received in a round.
func (l *layering) layerOf(round int32) int32 {
	if l == nil || !l.windows {
		return round
	}
	if w, ok := collectives.WindowOf(l.schedule, int(round)); ok {
		return int32(w.Last())
	}
	return round
}

// windowMessages returns the number of messages of a window that pass an interface of a node, or its memory.
func (l *layering) windowMessages(w *collectives.Window, node, rail int, way resource.Way) (n int) {
	first, each := node*l.perNode, l.each
	if way == resource.Within {
		each = 1
	}
	for j := range w.Messages {
		if p := w.Pattern(j); way == resource.Within && l.target.MemoryTime(l.block*int64(p.Sent)) == 0 {
			continue
		}
		round := w.First + j
		if way == resource.Inward {
			round += w.Messages - 1
		}
		for p := first + rail; p < min(first+l.perNode, l.schedule.Members()); p += each {
			if l.schedule.Next(p, round) != round || round >= l.schedule.Rounds(p) {
				continue
			}
			l.steps.StepInto(&l.step, p, round)
			other := l.step.To
			if way == resource.Inward {
				other = l.step.From
			}
			if other != collectives.None && (other/l.perNode == node) == (way == resource.Within) {
				n++
			}
		}
	}
	return n
}

// windowWork returns the number of participants of a node that work in its memory at the end of a window.
func (l *layering) windowWork(w *collectives.Window, node int) (n int) {
	if l.perNode == 1 {
		return 0
	}
	occupied := false
	for j := range w.Messages {
		p := w.Pattern(j)
		occupied = occupied || l.occupy(w.First+w.Messages-1+j, l.block*int64(p.Combined)) > 0
	}
	first, last := node*l.perNode, w.Last()
	for p := first; occupied && p < min(first+l.perNode, l.schedule.Members()); p++ {
		if l.schedule.Next(p, last) == last && last < l.schedule.Rounds(p) {
			n++
		}
	}
	return n
}

// inWindow returns the number of messages, or works, of the layer of a round in a window of several rounds.
func (l *layering) inWindow(w *collectives.Window, node, rail int, way resource.Way, round int, kind uint8) int {
	switch {
	case round != w.Last():
	case kind == p2p.PassMessage:
		return l.windowMessages(w, node, rail, way)
	case kind == p2p.PassWork && way == resource.Within:
		return l.windowWork(w, node)
	}
	return 0
}

// stepInWindow returns the step of a member in a round. In a regular window whose messages take no time, each is sent in the round in which it is received: nothing that a member
// receives in the window goes to a position that it sends there.
func stepInWindow(s collectives.Schedule, member, round int) collectives.Step {
	w, ok := collectives.WindowOf(s, round)
	if !ok {
		return s.Step(member, round)
	}
	j := round - w.First - w.Messages + 1
	if j < 0 {
		return collectives.Step{To: collectives.None, From: collectives.None}
	}
	step, sent := s.Step(member, round), s.Step(member, w.First+j)
	step.To, step.Send, step.Later, step.Left = sent.To, sent.Send, 0, 0
	return step
}
