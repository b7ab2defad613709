package coll

import (
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Where nobody hears each call, the calls of a collective over arrays are summed up when members leave: a *summed* instance. The
// kernel then keeps no state of these calls, and ranks may enter barriers by the short forms.

// Calling is the kernel's state of calls that are under way.
type Calling interface {
	// Closes drops the call of an LP, which has been summed up. It reports whether there is one.
	Closes(lp int32) bool
	// Reopens takes up a call of an LP, which has begun at an instant, unless it is known.
	Reopens(lp int32, began vtime.Time, c world.Procedure, context uint64)
}

// summedCalls is the state of an instance for [Calling].
type summedCalls struct {
	summed bool  // calls are summed up
	heard  int   // calls of which the kernel has kept the state
	handed int64 // bytes that each member hands to the collective
}

// calling is the state of collectives for [Calling].
type calling struct {
	callers Calling       // nil if calls are not summed up
	Handed  int64         // bytes that the running LP hands to its next collective, known if callers is not nil
	sums    stats.Meeting // of the members that leave
}

// SumsUp has collectives sum up calls themselves where they can.
func (c *Collectives) SumsUp(calls Calling) { c.callers = calls }

// beginSums decides whether the calls of a new instance are summed up.
func (c *Collectives) beginSums(inst *instance) {
	v := &inst.Call
	if c.callers != nil && inst.mode == ByArrays && v.Creation == nil && v.Within == world.NoProcedure && v.Procedure.Class() == world.ClassCollective {
		inst.summed, inst.handed = true, c.Handed
	}
}

// hears notes that the kernel keeps the state of a call by which an LP enters an instance.
func (c *Collectives) hears(inst *instance, v *Collective, request int32) {
	if !inst.summed {
		return
	}
	if c.beforehand != 0 || v.Procedure != inst.Call.Procedure || request == 0 && c.Handed != inst.handed {
		c.hearAll(inst)
		return
	}
	if request == 0 {
		inst.heard++
	}
}

// hearAll has the kernel keep the state of all calls of an instance from now on.
func (c *Collectives) hearAll(inst *instance) {
	if !inst.summed {
		return
	}
	inst.summed = false
	if inst.comm.open == inst {
		inst.comm.open = nil
	}
	for local := range inst.comm.Locals {
		member := inst.comm.First + local
		if lp, here := c.partition.Local(inst.comm.RankOf(member, 0)); here && inst.Has(local) {
			c.reopens(inst, lp, member)
		}
	}
}

// reopens has the kernel keep the state of the call by which an LP has entered an instance.
func (c *Collectives) reopens(inst *instance, lp int32, member int) {
	if inst.nonblocking == nil || inst.nonblocking.requests[member-inst.comm.First] == 0 {
		c.callers.Reopens(lp, inst.entryOf(c, lp, member), inst.Call.Procedure, inst.comm.Context)
	}
}

// meet begins to sum up the calls of the members of an instance that leave. All rest on the same entries.
func (c *Collectives) meet(inst *instance, r *rest) {
	if inst.summed {
		key := stats.CallKey{Procedure: uint8(inst.Call.Procedure), Context: inst.comm.Context}
		c.sums = c.partition.Summary.Calls.Meet(key, inst.handed, inst.Call.lateOf(), r.latest, r.late)
	}
}

// noteLeaving notes why the part of a local member, which leaves at an instant, has taken its time.
func (c *Collectives) noteLeaving(inst *instance, lp int32, member int, a *account, t vtime.Time) {
	if !inst.summed || inst.nonblocking != nil && inst.nonblocking.requests[member-inst.comm.First] != 0 {
		c.noteEnding(inst, lp, member, a)
		return
	}
	phases := a.phases
	c.sumCall(inst, lp, inst.entryOf(c, lp, member), t, a.parts(), &phases)
}

// parts returns what the account knows of the time after the latest entry.
func (c *account) parts() stats.Parts {
	return stats.Parts{Works: c.works, Shared: c.shared, Within: c.within}
}

// sumCall counts the call of an LP that leaves. Its processor has worked in the phases, nil for none.
func (c *Collectives) sumCall(inst *instance, lp int32, entry, t vtime.Time, parts stats.Parts, phases *stats.Phases) {
	if inst.heard > 0 && c.callers.Closes(lp) {
		inst.heard--
	}
	c.sums.Leave(lp, c.Messages.Waiter(lp), entry, t, parts, phases)
}

// sumBlock counts the calls of a node's consecutive LPs that leave: the first at an instant, the others at another.
func (c *Collectives) sumBlock(inst *instance, lp int32, clocks []vtime.Time, t, others vtime.Time) {
	phases := c.leaving.phases
	c.sumCall(inst, lp, clocks[0], t, c.leaving.parts(), &phases)
	if inst.heard == 0 && c.sums.Each() && c.Messages.Blames() {
		c.sums.LeaveTogether(lp+1, c.Messages.Waiters(lp+1, lp+int32(len(clocks))), clocks[1:], others)
		return
	}
	for i, n := 1, 1; i < len(clocks); i += n {
		entry := clocks[i]
		if inst.heard == 0 && !c.sums.Each() {
			for n = 1; i+n < len(clocks) && clocks[i+n] == entry; {
				n++
			}
			c.sums.Alike(n, entry, others)
			continue
		}
		c.sumCall(inst, lp+int32(i), clocks[i], others, stats.Parts{}, nil)
	}
}
