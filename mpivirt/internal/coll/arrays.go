package coll

import (
	"sort"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// The bulk interpreter over arrays: package maxplus evaluates exit times from entry times
// in max-plus algebra. Each engine evaluates its own participants, which
// are consecutive, and engines exchange the stretches of the array that a round carries
// across.

// arrayRun is the state of one instance that is carried out over arrays. The array holds
// the clocks of this engine's participants.
type arrayRun struct {
	maxplus.Array
	collectives *Collectives
	instance    *instance
	begun       bool // the engine's own participants have all entered
	outbound    outbound
	inbox       []stretch   // what came before the array could take it in, in no order
	sum         *summing    // nil if no data are combined
	gathered    *assembling // nil unless blocks of an allgather go between engines
	traded      *trading    // likewise of an alltoall
	hold        hold        // from the least of the participants' clocks on, while they wait
}

var _ maxplus.Participants = (*arrayRun)(nil)

// RankOf returns the rank in WORLD of a participant.
func (b *arrayRun) RankOf(participant int) int { return b.instance.rankOf(participant) }

// PastSend lets the sender of a message fail that ends past the end of virtual time.
func (b *arrayRun) PastSend(src, dst int, bytes int64, t vtime.Time) {
	b.collectives.pastSend(b.instance, src, dst, bytes, t)
}

// PastReceive lets the receiver of a message fail that ends past the end of virtual time.
func (b *arrayRun) PastReceive(src, dst int, bytes int64, t vtime.Time) {
	b.collectives.pastReceive(b.instance, src, dst, bytes, t)
}

// arraysOf returns the state of an instance that is carried out over arrays.
func (k *Collectives) arraysOf(inst *instance) *arrayRun {
	if inst.arrays == nil {
		b := &arrayRun{collectives: k, instance: inst}
		lo, hi := k.participants(inst, k.Engine.Index())
		b.Array = maxplus.NewArray(maxplus.Rounds{
			Target: k.Target, Schedule: inst.schedule, Bytes: blockBytes(inst.layout, inst.schedule),
			UniformFrom: k.uniformFrom(inst.leaders), Consecutive: inst.comm.Index == world.World && !inst.leaders,
			Low: lo, High: hi, Participants: b, Memory: &k.memory,
		})
		if inst.Call.Data && !Moves(inst.Call.Operation) {
			b.sum = k.newSumming(inst)
		}
		k.beginBlocks(inst, b)
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
	return k.participantFrom(inst, first), k.participantFrom(inst, last)
}

// participantFrom returns the first participant whose rank is not below a rank.
func (k *Collectives) participantFrom(inst *instance, rank int) int {
	if inst.comm.Index == world.World && !inst.leaders {
		return rank
	}
	if nodes := inst.comm.nodes; inst.leaders && nodes.perNode > 0 {
		return nodes.quotient(rank + nodes.perNode - 1)
	}
	return sort.Search(inst.schedule.Members(), func(p int) bool { return inst.rankOf(p) >= rank })
}

// enterBulk enters a member of an instance that is carried out in bulk.
func (k *Collectives) enterBulk(inst *instance, lp int32, member int, v *Collective) {
	if inst.mode == ByArrays && v.Data && !Moves(v.Operation) {
		value := k.Buffers.Take(len(v.Input))
		copy(value, v.Input)
		b := k.arraysOf(inst)
		b.sum.latest, k.Combining = lp, lp
		b.sum.fold.Add(b.sum.fold.Leaf(member), value)
	} else {
		k.keepMember(inst, member-inst.comm.First, v)
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
	switch inst.mode {
	case Locally:
		k.runLocally(inst)
		return
	case InGivenTime:
		k.runGiven(inst)
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

// holdArrays caps the engine's promises: participants wait for other engines, and may act
// at the instants of their clocks or later.
func (k *Collectives) holdArrays(b *arrayRun) {
	if b.hold.held || k.Engine.Engines() == 1 {
		return
	}
	least := vtime.Forever
	for _, t := range b.Clocks() {
		least = min(least, t)
	}
	k.holdFrom(&b.hold, least)
}

// longPass is the number of LPs of an engine over which a pass takes longer than other
// engines should wait for the clocks that it has in a packet.
const longPass = 1 << 13

// progress carries out the rounds whose clocks have come. It reports whether all are done.
func (k *Collectives) progress(inst *instance, b *arrayRun) bool {
	for !b.Over() {
		b.Prepare()
		sent := k.sendStretches(inst, b)
		if k.Ranks >= longPass {
			k.Engine.Flush()
		}
		k.takeStretches(b)
		if !sent || !b.Complete() {
			return false
		}
		k.Engine.Statistics.Messages += b.Evaluate()
		b.outbound = outbound{}
	}
	b.Finish()
	return (b.sum == nil || b.sum.done) && b.blocksOver()
}

// beginArrays sets the clocks of the participants to their entries.
func (k *Collectives) beginArrays(inst *instance, b *arrayRun) {
	b.begun = true
	spare := &inst.comm.spare.arrays
	if inst.leaders {
		// The nodes that this engine leads are complete: their instants are the
		// leaders' clocks, and nobody else needs them any more.
		b.BeginWith(inst.join.last[b.Low-inst.comm.nodes.here:b.High-inst.comm.nodes.here], spare)
	} else {
		b.Begin(spare)
		k.loadClocks(inst, b)
	}
	if b.sum != nil {
		k.addVectors(inst, b.sum)
	}
	k.enterBlocks(inst, b)
}

// loadClocks sets the clocks of members to their entries.
func (k *Collectives) loadClocks(inst *instance, b *arrayRun) {
	work, top := b.Clocks(), b.Top
	if inst.comm.Index == world.World && inst.nonblocking == nil {
		work = work[:len(k.Clock)]
		for i, t := range k.Clock {
			work[i], top = t, max(top, t)
		}
	} else {
		for i := range work {
			lp, _ := k.Local(inst.comm.RankOf(b.Low+i, 0))
			t := inst.entryOf(k, lp, b.Low+i)
			work[i], top = t, max(top, t)
		}
	}
	b.Top = top
}

// endArrays lets the participants leave.
func (k *Collectives) endArrays(inst *instance, b *arrayRun) {
	work := b.Clocks()
	k.move(inst)
	k.dropMembers(inst)
	switch {
	case inst.leaders:
		for i, t := range work {
			k.release(inst, b.Low+i, t)
		}
	case inst.comm.Index == world.World && inst.nonblocking == nil && inst.split == nil && !k.Strict:
		if inst.timed != stats.Untimed || inst.labels != nil {
			for i, t := range work {
				k.noteTime(inst, int32(i), t.Sub(k.Clock[i]))
			}
		}
		copy(k.Clock, work)
		k.leave(inst, 0, int32(k.Ranks))
	default:
		for i, t := range work {
			lp, _ := k.Local(inst.comm.RankOf(b.Low+i, 0))
			k.exit(inst, lp, b.Low+i, t)
		}
	}
	k.flushRange(inst)
	b.End(&inst.comm.spare.arrays)
	if b.inbox != nil {
		k.idleInbox, b.inbox = b.inbox[:0], nil
	}
}
