package coll

import (
	"sort"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// The bulk interpreter over arrays: package maxplus computes exit times from entry times in
// max-plus algebra. Each engine evaluates its own participants, which are consecutive. Engines
// exchange the stretches of the array that a round needs on another engine.

// arrayRun is the state of an instance that is carried out over arrays. The array contains the
// clocks of this engine's participants.
type arrayRun struct {
	maxplus.Array
	collectives *Collectives
	instance    *instance
	begun       bool // all of the engine's own participants have entered
	outbound    outbound
	inbox       []stretch   // stretches that came before the array could take them in, unordered
	sum         *summing    // nil if the operation combines no data
	gathered    *assembling // nil unless blocks of an allgather travel between engines
	traded      *trading    // nil unless blocks of an alltoall travel between engines
	combining   bool        // vectors are still to be combined round by round
	rest        rest        // with accounts: the latest entry that this engine knows of
	hold        hold        // from the least clock of the participants on, while they wait
}

var _ maxplus.Participants = (*arrayRun)(nil)

// RankOf returns the rank in WORLD of a participant.
func (b *arrayRun) RankOf(participant int) int { return b.instance.rankOf(participant) }

// PastSend fails the run: a send ends after the end of virtual time.
func (b *arrayRun) PastSend(src, dst int, bytes int64, t vtime.Time) {
	b.collectives.pastSend(b.instance, src, dst, bytes, t)
}

// PastReceive fails the run: a receive ends after the end of virtual time.
func (b *arrayRun) PastReceive(src, dst int, bytes int64, t vtime.Time) {
	b.collectives.pastReceive(b.instance, src, dst, bytes, t)
}

// arraysOf returns the state of an instance that is carried out over arrays, which it makes at the
// first call.
func (c *Collectives) arraysOf(inst *instance) *arrayRun {
	if inst.arrays == nil {
		b := &arrayRun{collectives: c, instance: inst}
		lo, hi := c.participants(inst, c.partition.Engine.Index())
		meter := maxplus.Meter(nil)
		if c.explains {
			meter = &c.Messages
		}
		b.Array = maxplus.NewArray(maxplus.Rounds{
			Target: inst.target, Partners: inst.partners, InTurn: inst.inTurn, Schedule: inst.schedule, Bytes: inst.blockBytes(),
			UniformFrom: c.uniformFrom(inst.leaders), Consecutive: inst.comm.Index == world.World && !inst.leaders,
			Low: lo, High: hi, Participants: b, Memory: &c.memory, Interfaces: c.interfacesOf(inst), NodesAlike: c.leadersUniform, Meter: meter,
		})
		if inst.Call.Moved() && inst.Call.treeShaped() {
			b.sum = c.newSumming(inst)
		}
		c.beginBlocks(inst, b)
		if invariant.Enabled {
			c.checkCover(inst)
		}
		inst.arrays = b
	}
	return inst.arrays
}

// participants returns the range of participants that belong to an engine.
func (c *Collectives) participants(inst *instance, engine int) (lo, hi int) {
	first, last := c.partition.Engine.Partition().Range(engine)
	return c.participantFrom(inst, first), c.participantFrom(inst, last)
}

// participantFrom returns the first participant whose rank is at least rank.
func (c *Collectives) participantFrom(inst *instance, rank int) int {
	if inst.comm.Index == world.World && !inst.leaders {
		return rank
	}
	if nodes := inst.comm.nodes; inst.leaders && nodes.perNode > 0 {
		return nodes.quotient(rank + nodes.perNode - 1)
	}
	return sort.Search(inst.participants(), func(p int) bool { return inst.rankOf(p) >= rank })
}

// enterBulk enters a member into an instance that is carried out in bulk.
func (c *Collectives) enterBulk(inst *instance, lp int32, member int, v *Collective) {
	if inst.mode == InStep {
		if !c.awaitsOthers(inst, lp) {
			c.demote(inst)
			return
		}
		c.startComplete(inst)
		return
	}
	if v.Moved() && (inst.mode == ByArrays && v.treeShaped() || inst.mode == AtFixedCost) {
		input := inst.contributionOf(member, v)
		value := c.partition.Buffers.Take(len(input))
		copy(value, input)
		c.sumOf(inst).addLeaf(c, member, lp, value)
	} else {
		c.keepMember(inst, member-inst.comm.First, v)
		if inst.uneven != nil {
			c.keepLengths(inst, member, v)
		}
	}
	c.startComplete(inst)
}

// runBulk carries an instance on until it must wait, once all local members or, under node-leader,
// all local nodes are complete.
func (c *Collectives) runBulk(inst *instance) {
	if inst.failed != nil {
		c.endFailed(inst)
		return
	}
	switch inst.mode {
	case Locally:
		c.runLocally(inst)
		return
	case InStep:
		c.runInStep(inst)
		return
	case AtFixedCost:
		c.runFixedCost(inst)
		return
	}
	b := c.arraysOf(inst)
	if !b.begun {
		c.beginArrays(inst, b)
	}
	if inst.uneven != nil && !c.beginUneven(inst, b) || !c.progress(inst, b) {
		c.holdArrays(b)
		return
	}
	c.endHold(&b.hold)
	c.endArrays(inst, b)
}

// holdArrays caps the engine's promises: participants wait for other engines, and may act
// at the instants of their clocks or later.
func (c *Collectives) holdArrays(b *arrayRun) {
	if b.hold.held || c.partition.Engine.Engines() == 1 {
		return
	}
	least := vtime.Forever
	for _, t := range b.Clocks() {
		least = min(least, t)
	}
	c.holdFrom(&b.hold, least)
}

// longPass is the number of an engine's LPs above which a pass takes so long that other engines
// should get the clocks in its packets before.
const longPass = 1 << 13

// progress carries out the rounds whose clocks have arrived. It reports whether all rounds are
// done.
func (c *Collectives) progress(inst *instance, b *arrayRun) bool {
	for !b.Over() {
		b.Prepare()
		sent := c.sendStretches(inst, b)
		if c.partition.Ranks >= longPass {
			c.partition.Engine.Flush()
		}
		c.takeStretches(b)
		if !sent || !b.Complete() {
			return false
		}
		c.partition.Engine.Statistics.Messages += b.Evaluate()
		b.outbound = outbound{}
	}
	b.Finish()
	return (b.sum == nil || b.sum.done) && b.blocksOver()
}

// beginArrays sets the clocks of the participants to their entries.
func (c *Collectives) beginArrays(inst *instance, b *arrayRun) {
	b.begun = true
	spare := &inst.comm.spare.arrays
	if inst.leaders {
		// The nodes that this engine leads are complete: their instants are the clocks of the
		// leaders, and are not used otherwise.
		b.BeginWith(inst.join.last[b.Low-inst.comm.nodes.here:b.High-inst.comm.nodes.here], spare)
	} else {
		b.Begin(spare)
		c.loadClocks(inst, b)
	}
	if c.explains {
		c.beginAccounts(inst, b)
	}
	if b.sum != nil {
		c.addVectors(inst, b.sum)
	}
	c.enterBlocks(inst, b)
	if inst.local != nil && inst.Call.combinesInRounds() {
		c.holdArrays(b) // from the entries on: others may leave with vectors that are still to be sent
		c.localRun.begin(c, inst, false)
		b.combining = !c.localRun.goOn()
	}
}

// loadClocks copies the entries of members into their clocks.
func (c *Collectives) loadClocks(inst *instance, b *arrayRun) {
	work, top := b.Clocks(), b.Top
	if inst.comm.Index == world.World && inst.nonblocking == nil {
		work = work[:len(c.partition.Clock)]
		for i, t := range c.partition.Clock {
			work[i], top = t, max(top, t)
		}
	} else {
		for i := range work {
			lp, _ := c.partition.Local(inst.comm.RankOf(b.Low+i, 0))
			t := inst.entryOf(c, lp, b.Low+i)
			work[i], top = t, max(top, t)
		}
	}
	b.Top = top
}

// endArrays ends the parts of all participants.
func (c *Collectives) endArrays(inst *instance, b *arrayRun) {
	work := b.Clocks()
	if inst.local != nil && inst.Call.combinesInRounds() {
		c.storeCombined()
	}
	c.move(inst)
	if inst.uneven != nil {
		inst.blameCuts()
		inst.comm.spare.uneven.Push(inst.uneven)
		inst.uneven = nil
	}
	c.dropMembers(inst)
	if c.explains {
		c.meet(inst, &b.rest)
		if !inst.leaders {
			c.endAccounts(inst, b)
		}
	}
	switch {
	case inst.leaders:
		if c.explains {
			c.leaving = account{rest: b.rest}
		}
		for i, t := range work {
			if c.explains {
				b.workOf(i, &c.leaving)
			}
			c.release(inst, b.Low+i, t)
		}
	case inst.comm.Index == world.World && inst.nonblocking == nil && inst.split == nil && inst.errors == nil && !c.partition.Strict:
		if inst.timed != stats.Untimed || inst.labels != nil {
			for i, t := range work {
				c.noteTime(inst, int32(i), t.Sub(c.partition.Clock[i]))
			}
		}
		copy(c.partition.Clock, work)
		c.leave(inst, 0, int32(c.partition.Ranks))
	default:
		for i, t := range work {
			lp, _ := c.partition.Local(inst.comm.RankOf(b.Low+i, 0))
			c.exit(inst, lp, b.Low+i, t)
		}
	}
	c.flushRange(inst)
	b.End(&inst.comm.spare.arrays)
	if b.inbox != nil {
		c.idleInbox, b.inbox = b.inbox[:0], nil
	}
}
