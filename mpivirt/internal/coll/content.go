package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// The content of round messages: agents store or combine it as their steps say.

// takeIn absorbs the content of a message.
func (c *Collectives) takeIn(a *agent, step *collectives.Step, m *roundMessage) {
	if expected := a.layout.Bytes(step.Receive, a.inst.width); m.bytes > expected {
		a.inst.blame(int(a.member), truncated(int(m.rank), m.bytes, expected))
	}
	if a.memory == nil || a.fault != 0 {
		return
	}
	c.absorb(a, step, m.payload)
	if m.content != 0 && step.Combine == collectives.Store && step.Sum.Count == 0 {
		c.keepReceived(a, step.Receive, m)
	}
}

// CombinedBytes returns the number of bytes that a member combines after the receive of a message.
func CombinedBytes(step *collectives.Step, bytes int64) int64 {
	if step.Switched {
		return 0
	}
	n := int64(0)
	if step.Combine != collectives.Store {
		n += bytes
	}
	if step.Also.Count > 0 && step.AlsoCombine != collectives.Store {
		n += bytes
	}
	if sum := int64(step.Sum.Count); sum > 0 {
		n += (sum - 1) * bytes / int64(step.Receive.Count)
	}
	return n
}

// absorb stores or combines received content, as the step says.
func (c *Collectives) absorb(a *agent, step *collectives.Step, content []byte) {
	c.combine(a, step.Receive, step.Combine, content)
	if step.Also.Count > 0 {
		c.combine(a, step.Also, step.AlsoCombine, content)
	}
	if step.Sum.Count > 0 {
		c.sumUp(a, step.Sum)
	}
}

// sumUp combines positions of an agent, each into the next.
func (c *Collectives) sumUp(a *agent, s collectives.Sum) {
	sum, last := int(s.First), int(s.First+s.Count-1)
	for sum < last {
		sum++
		into := c.toWrite(a, sum, 1)
		c.Combining = a.lp
		a.inst.callOf(int(a.member)).Operator.Apply(into, a.at(sum-1, 1), into)
		c.partition.Engine.Copied(len(into))
	}
	if into := int(s.Into); into != sum {
		copy(c.toWrite(a, into, 1), a.at(sum, 1))
	}
}

func (c *Collectives) combine(a *agent, b collectives.Blocks, how collectives.Combine, content []byte) {
	w := a.inst.width
	for b.Count > 0 {
		var first, n int
		first, n, b = b.Next(w)
		mine := a.at(first, n)
		theirs := content[:min(len(mine), len(content))]
		content = content[len(theirs):]
		if first < int(a.memory.split) && a.inst.Call.Operation == collectives.Bcast {
			continue // the root has these bytes
		}
		into := c.toWrite(a, first, n)
		c.Combining = a.lp
		c.partition.Engine.Copied(len(theirs))
		switch how {
		case collectives.Store:
			world.CopyContent(into, theirs)
		case collectives.TheirsFirst:
			a.inst.callOf(int(a.member)).Operator.Apply(into, theirs, mine)
		case collectives.MineFirst:
			a.inst.callOf(int(a.member)).Operator.Apply(into, mine, theirs)
		}
	}
}
