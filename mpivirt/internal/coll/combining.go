package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// Where the ranks of a node share its memory, an agent that combines and packs bytes after a receive asks the
// memory for them, as messages within the node do (room resource): once the message is received, in the order of
// virtual time. The agent waits until the memory has read and written the bytes. Copies before the
// first round take as long as the copies of all members of a node together. Leaders of nodes combine alone
// on their nodes, and do not ask.

// copiersOf returns the number of members of a communicator on the node of its first member, 1 where
// ranks of a node share no memory.
func (c *Collectives) copiersOf(comm *Communicator) int {
	if !c.partition.Target.ContendedWithin() || comm.Size == 1 {
		return 1
	}
	if comm.nodes == nil {
		comm.nodes = c.newNodeTable(comm)
	}
	return comm.nodes.size(0)
}

// copiesOf returns the times of copies in a rank's own memory for an instance.
func (c *Collectives) copiesOf(inst *instance) collectives.Copies {
	if !inst.apart {
		return c.copies
	}
	return c.copiesApart
}

// workOf returns the time in which an agent combines and packs bytes after it has received the message of its round: the time of the
// agent alone, and the time of the memory of its node, 0 if ranks do not share memory.
func (c *Collectives) workOf(a *agent, combined int64) (alone, memory vtime.Duration) {
	t := a.inst.target
	alone = t.ReduceTime(combined).Plus(c.packing(a.inst, int(a.round), c.copiesOf(a.inst)))
	if t.ContendedWithin() && !a.inst.leaders {
		memory = t.CombiningTime(combined).Plus(c.packing(a.inst, int(a.round), c.memoryCopies))
	}
	return alone, memory
}

// charge charges an agent for work, and reports whether the agent goes on. If the ranks of its node share the memory, combined
// says when.
func (c *Collectives) charge(index int32, a *agent, alone, memory vtime.Duration) (goesOn bool) {
	if memory == 0 {
		a.clock = a.clock.Add(alone)
		c.worked(index, stats.SequentialComputation, alone)
		if c.partition.Activities != nil {
			c.Messages.Computed(alone)
		}
		return true
	}
	rank := c.partition.Global(a.lp)
	a.stage = combining
	c.Messages.Interfaces.Leave(resource.Passage{
		At: a.clock, Sent: a.clock, Source: rank, Dest: rank, Owner: resource.OfAgents, Kind: p2p.PassWork, Index: index,
		Order: [2]uint64{a.inst.comm.Context, uint64(a.inst.Number)<<32 | uint64(uint32(a.round))}, Transfer: alone, Work: memory,
	})
	return false
}

// combined has an agent go on that has combined and packed at an instant.
func (c *Collectives) combined(p *resource.Passage, at vtime.Time) {
	a := c.agents.At(p.Index)
	if a.fate == ended {
		return
	}
	if at == vtime.Forever {
		c.partition.PastEnd(int(p.Source), p.At, a.inst.Call.Procedure, "%v of combining", p.Work)
		return
	}
	if c.partition.Activities != nil {
		c.Messages.Computed(at.Sub(p.At))
	}
	if c.explains {
		c.worked(p.Index, stats.SequentialComputation, p.Transfer)
		account, d := c.accounts.Open(p.Index), at.Sub(p.At)-p.Transfer
		account.within += d
		account.chain.Within += d
	}
	a.clock, a.stage = at, acknowledging
	if a.unacked == 0 || !c.endsWindow(a) {
		c.continueAgent(p.Index)
	}
}

// occupies returns the time for which the work of a participant after a round occupies the memory of its
// node.
func (l *layering) occupies(round int) vtime.Duration {
	return l.occupy(round, l.block*int64(l.schedule.Pattern(round).Combined))
}

// worksOf is occupies for a participant whose step of the round is in l.step.
func (l *layering) worksOf(round int) vtime.Duration {
	return l.occupy(round, CombinedBytes(&l.step, l.messageOf(&l.step, round)))
}

// occupy returns the time for which a participant that combines some bytes, and packs, occupies the memory of its node.
func (l *layering) occupy(round int, combined int64) vtime.Duration {
	t := l.target.CombiningTime(combined)
	if l.target.CopiesBytes() && collectives.Packs(l.schedule) {
		t = t.Plus(collectives.Packing(l.schedule, round, l.block, l.layout.Offset(l.schedule.Positions()), collectives.Copies{Copy: l.target.MemoryTime}))
	}
	return t
}
