package coll

import (
	"math/bits"
	"slices"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// A barrier of fixed cost has no messages: all members leave after the last entry plus the barrier
// time of the machine. Each engine sends its parent in the tree of engines the last entry that it
// knows, once all its own members have entered and all its children have sent theirs. The root
// sends the last entry of all members down the tree.
//
// The last member's engine is up to 2·levels hops from another engine. A hop counts as a message of
// at least FixedCostHop of virtual time, and the lookahead between engines is at most that long. So
// no exit violates a promise to another engine.

// fixedCostState is an engine's state of a barrier of fixed cost.
type fixedCostState struct {
	last    vtime.Time // last entry that the engine knows
	missing int        // children that have not sent their last entry, plus one for the engine itself
}

// FixedCostHop returns the virtual time of a hop between engines in a barrier of fixed cost.
func FixedCostHop(t *network.Target, engines int) vtime.Duration {
	return t.BarrierTime() / vtime.Duration(2*max(levels(engines), 1))
}

// levels returns the number of levels of a binary tree over n leaves.
func levels(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// beginFixedCost returns the initial state of a barrier of fixed cost.
func (c *Collectives) beginFixedCost(inst *instance) *fixedCostState {
	return &fixedCostState{missing: 1 + len(c.branchesOf(inst.comm.Group.Next).children)}
}

// runFixedCost enters this engine's members, which have all called the barrier.
func (c *Collectives) runFixedCost(inst *instance) {
	last, comm := vtime.Time(0), inst.comm
	if inst.ofAllHere() {
		for _, t := range c.partition.Clock {
			last = max(last, t)
		}
	} else {
		for member := comm.First; member < comm.Last; member++ {
			if lp, here := c.partition.Local(comm.RankOf(member, 0)); here {
				last = max(last, inst.entryOf(c, lp, member))
			}
		}
	}
	c.addEntries(inst, last)
}

// ofAllHere reports whether all ranks of this engine wait in the blocking form.
func (inst *instance) ofAllHere() bool {
	return inst.comm.Index == world.World && inst.nonblocking == nil
}

// addEntries records the last entry below a child, or of this engine's own members. After the last
// of them the engine sends its parent the last entry.
func (c *Collectives) addEntries(inst *instance, last vtime.Time) {
	g := inst.fixedCost
	g.last = max(g.last, last)
	if g.missing--; g.missing > 0 {
		return
	}
	parent := c.branchesOf(inst.comm.Group.Next).parent
	if parent < 0 {
		c.leaveFixedCost(inst, g.last)
		return
	}
	w := c.collectiveRecord(inst, parent, world.RecordTree, 8)
	w.U64(uint64(g.last))
}

// leaveFixedCost ends the parts of this engine's members and sends the children the last entry of
// all members.
func (c *Collectives) leaveFixedCost(inst *instance, last vtime.Time) {
	comm, t := inst.comm, last.Add(c.partition.Target.BarrierTime())
	for _, child := range slices.Backward(c.branchesOf(comm.Group.Next).children) {
		w := c.collectiveRecord(inst, child.engine, world.RecordResult, 8)
		w.U64(uint64(last))
	}
	if invariant.Enabled && t < c.partition.Engine.EIT() && comm.Locals < comm.Size {
		invariant.Broken("%v number %d of %s ends at %v, before the earliest input time %v", inst.Call.Procedure, inst.Number, comm, t, c.partition.Engine.EIT())
	}
	if inst.ofAllHere() && !c.partition.Strict && c.Messages.Processors == nil {
		c.leaveTogether(inst, last, t)
		return
	}
	for member := comm.First; member < comm.Last; member++ {
		if lp, here := c.partition.Local(comm.RankOf(member, 0)); here {
			c.checkFixedCost(inst, lp, last, t)
			c.exit(inst, lp, member, t)
		}
	}
	c.flushRange(inst)
}

// leaveTogether ends the parts of all ranks of this engine, who wait in the blocking form.
func (c *Collectives) leaveTogether(inst *instance, last, t vtime.Time) {
	c.checkFixedCost(inst, 0, last, t)
	c.noteTimes(inst, 0, t, c.partition.Clock)
	for i := range c.partition.Clock {
		c.partition.Clock[i] = t
	}
	c.leave(inst, 0, int32(c.partition.Ranks))
	c.flushRange(inst)
}

// checkFixedCost fails the run if an LP would leave after the end of virtual time.
func (c *Collectives) checkFixedCost(inst *instance, lp int32, last, t vtime.Time) {
	if t == vtime.Forever {
		c.partition.PastEnd(int(c.partition.Global(lp)), last, inst.Call.Procedure, "a barrier, which takes %v on this machine,", c.partition.Target.BarrierTime())
	}
}
