package coll

import (
	"sort"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// The bulk interpreter over arrays: exit times follow from entry times in max-plus
// algebra. In each round every receiver's clock becomes the maximum of itself and
// its sender's clock plus the delay; a whole round is a pass over an array, with
// no event and no switch. Each engine evaluates its own participants, which are
// consecutive, and engines exchange the stretches of the array that a round
// carries across.

// arrayRun is the state of one instance that is carried out over arrays.
type arrayRun struct {
	lo, hi   int // this engine's participants
	total    int
	work     []vtime.Time // clocks of participants lo to hi-1, or of survivors while folded
	next     []vtime.Time // what a shift across engines makes of them
	third    []vtime.Time // room for the survivors' clocks while they are not in use
	all      []vtime.Time // while folded: clocks of all participants lo to hi-1
	folded   int          // pairs folded together in work's numbering; 0 if it is the participants'
	round    int
	begun    bool // the engine's own participants have all entered
	ready    bool // this round's arrays are ready to take in what comes
	outbound outbound
	inbox    map[int][]stretch
	received int // clocks of this round that have come and been evaluated
	tree     *collectives.TreeFold[[]byte]
	early    []treePart
	hold     hold   // from the least of the participants' clocks on, while they wait
	fusion   fusion // rounds that part of the array is through already
	delays   []vtime.Duration
	kept     []vtime.Time // scratch of exchange

	// No clock can pass the end of virtual time as long as top + span does not: top is
	// the latest entry that this engine's clocks may depend on, and span is more than
	// the rounds of the schedule add to a clock.
	top  vtime.Time
	span vtime.Duration
}

// careful reports whether clocks have to be looked at after each addition: some may
// pass the end of virtual time.
func (b *arrayRun) careful() bool { return b.top.Add(b.span) == vtime.Forever }

// spanOf returns an upper bound on what the rounds of an instance add to a clock. A
// rendezvous is three messages.
func (k *Collectives) spanOf(inst *instance) vtime.Duration {
	bytes, t := inst.layout.Offset(inst.schedule.Positions()), k.Target
	round := t.LongestDelay(bytes).Times(3).Plus(t.SendTime(bytes)).Plus(t.ReceiveTime(bytes)).Plus(t.ReduceTime(bytes).Times(2))
	return round.Times(inst.schedule.MaxRounds())
}

// arraysOf returns the state of an instance that is carried out over arrays.
func (k *Collectives) arraysOf(inst *instance) *arrayRun {
	if inst.arrays == nil {
		b := &arrayRun{total: inst.schedule.Members(), inbox: map[int][]stretch{}, span: k.spanOf(inst)}
		b.lo, b.hi = k.participants(inst, k.Engine.Index())
		if inst.Call.Data {
			b.tree = k.newTree(inst.Call.Operator, b.total)
		}
		if invariant.Enabled {
			k.checkCover(inst)
		}
		inst.arrays = b
	}
	return inst.arrays
}

// participants returns the range of participants that belong to an engine.
func (k *Collectives) participants(inst *instance, engine int) (lo, hi int) {
	first, last := k.Engine.Partition().Range(engine)
	bound := func(rank int) int {
		if inst.comm.Index == world.World && !inst.leaders {
			return rank
		}
		if nodes := inst.comm.nodes; inst.leaders && nodes.perNode > 0 {
			return nodes.quotient(rank + nodes.perNode - 1)
		}
		return sort.Search(inst.schedule.Members(), func(p int) bool { return inst.rankOf(p) >= rank })
	}
	return bound(first), bound(last)
}

// enterBulk enters a member of an instance that is carried out in bulk.
func (k *Collectives) enterBulk(inst *instance, member int, v *Collective) {
	if inst.mode == byArrays && v.Data {
		value := k.Buffers.Take(len(v.Input))
		copy(value, v.Input)
		b := k.arraysOf(inst)
		b.tree.Add(b.tree.Leaf(member), value)
	} else {
		inst.keep(member-inst.comm.First, v)
	}
	k.startComplete(inst)
}

// runBulk carries an instance as far as it gets, once all local members or, under
// node-leader, all local nodes are complete.
func (k *Collectives) runBulk(inst *instance) {
	if inst.failed != nil {
		k.endFailed(inst)
		return
	}
	if inst.mode == locally {
		k.runLocally(inst)
		return
	}
	b := k.arraysOf(inst)
	if !b.begun {
		k.beginArrays(inst, b)
	}
	if !k.progress(inst, b) {
		k.holdArrays(b)
		return
	}
	k.endHold(&b.hold)
	k.endArrays(inst, b)
}

// holdArrays tells the engine that participants wait for other engines: they may act
// at the instants that their clocks show now, or later.
func (k *Collectives) holdArrays(b *arrayRun) {
	if b.hold.held || k.Engine.Engines() == 1 {
		return
	}
	least := vtime.Forever
	for _, t := range b.work {
		least = min(least, t)
	}
	k.holdFrom(&b.hold, least)
}

// progress goes through the rounds as far as what has come allows. It reports
// whether all are done.
func (k *Collectives) progress(inst *instance, b *arrayRun) bool {
	for b.round < inst.schedule.MaxRounds() {
		p := inst.schedule.Pattern(b.round)
		b.renumber(k, p)
		if !b.ready {
			b.ready = true
			if p.Kind == collectives.Shift && !b.whole() {
				b.makeNext(k)
			}
		}
		sent := k.sendStretches(inst, b, p)
		k.takeStretches(inst, b, p)
		if !sent || !b.complete(p) {
			return false
		}
		k.evaluateRound(inst, b, p)
		delete(b.inbox, b.round)
		b.round++
		b.ready, b.outbound, b.received = false, outbound{}, 0
	}
	b.renumber(k, collectives.Pattern{})
	if b.tree != nil {
		result, complete := b.tree.Result()
		if !complete {
			return false
		}
		inst.result = append([]byte(nil), result...)
	}
	return true
}

// beginArrays sets the clocks that the participants start with.
func (k *Collectives) beginArrays(inst *instance, b *arrayRun) {
	b.begun = true
	spare := &inst.comm.spare
	b.next, b.third = spare.next, spare.third
	spare.next, spare.third = nil, nil
	if inst.leaders {
		// The nodes that this engine leads are complete: their instants are the
		// leaders' clocks, and nobody else needs them any more.
		b.work = inst.join.last[b.lo-inst.comm.nodes.here : b.hi-inst.comm.nodes.here]
		for _, t := range b.work {
			b.top = max(b.top, t)
		}
	} else {
		b.work, spare.work = spare.work, nil
		k.loadClocks(inst, b)
	}
	if b.tree != nil {
		k.sendTree(inst, b)
	}
}

// loadClocks sets the clocks of members to their entries.
func (k *Collectives) loadClocks(inst *instance, b *arrayRun) {
	if len(b.work) != b.hi-b.lo {
		b.work = world.Reserve[vtime.Time](&k.Partition, b.hi-b.lo)
	}
	top := b.top
	if inst.comm.Index == world.World && inst.nonblocking == nil {
		work := b.work[:len(k.Clock)]
		for i, t := range k.Clock {
			work[i], top = t, max(top, t)
		}
	} else {
		for i := range b.work {
			lp, _ := k.Local(inst.comm.RankOf(b.lo+i, 0))
			t := inst.entryOf(k, lp, b.lo+i)
			b.work[i], top = t, max(top, t)
		}
	}
	b.top = top
}

// endArrays lets the participants leave.
func (k *Collectives) endArrays(inst *instance, b *arrayRun) {
	switch {
	case inst.leaders:
		for i, t := range b.work {
			k.release(inst, b.lo+i, t)
		}
	case inst.comm.Index == world.World && inst.nonblocking == nil && inst.split == nil && !k.Strict:
		if inst.timed != stats.Untimed || inst.labels != nil {
			for i, t := range b.work {
				k.noteTime(inst, int32(i), t.Sub(k.Clock[i]))
			}
		}
		copy(k.Clock, b.work)
		k.leave(inst, 0, int32(k.Ranks))
	default:
		for i, t := range b.work {
			lp, _ := k.Local(inst.comm.RankOf(b.lo+i, 0))
			k.exit(inst, lp, b.lo+i, t)
		}
	}
	k.flushRange(inst)
	spare := &inst.comm.spare
	spare.next, spare.third = b.next, b.third
	if inst.leaders {
		spare.awaited, spare.last = inst.join.awaited, inst.join.last
	} else {
		spare.work = b.work
	}
}

// renumber brings the clocks into the numbering of a round: that of the survivors
// for an exchange, else that of the participants.
func (b *arrayRun) renumber(k *Collectives, p collectives.Pattern) {
	folded := 0
	if p.Kind == collectives.Exchange {
		folded = p.Folded
	}
	if folded == b.folded {
		return
	}
	if folded == 0 {
		lo := collectives.Survivors(b.folded, b.lo)
		for i, t := range b.work {
			b.all[collectives.Survivor(b.folded, lo+i)-b.lo] = t
		}
		b.third, b.work, b.all, b.folded = b.work, b.all, nil, 0
		return
	}
	lo, hi := collectives.Survivors(folded, b.lo), collectives.Survivors(folded, b.hi)
	if cap(b.third) < hi-lo {
		b.third = world.Reserve[vtime.Time](&k.Partition, hi-lo)
	}
	b.all, b.folded, b.work = b.work, folded, b.third[:hi-lo]
	for i := range b.work {
		b.work[i] = b.all[collectives.Survivor(folded, lo+i)-b.lo]
	}
}

// makeNext makes room for what a shift makes of the clocks. Everybody receives once,
// so every element will be set.
func (b *arrayRun) makeNext(k *Collectives) {
	if cap(b.next) < len(b.work) {
		b.next = world.Reserve[vtime.Time](&k.Partition, len(b.work))
	}
	b.next = b.next[:len(b.work)]
}

// whole reports whether all participants belong to this engine.
func (b *arrayRun) whole() bool { return b.lo == 0 && b.hi == b.total }
