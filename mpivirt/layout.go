package mpivirt

import (
	"gigarank/invariant"
	"slices"

	"gigarank/collectives"
)

// schedule returns the schedule of a collective among its participants: the
// members, or the node leaders.
func (k *kernel) schedule(v *collective, participants int) collectives.Schedule {
	var s collectives.Schedule
	var err error
	if v.algorithm == collectives.NodeLeader {
		s, err = collectives.LeaderSchedule(v.op, participants)
	} else {
		s, err = collectives.New(v.op, v.algorithm, participants, v.root)
	}
	if err != nil {
		invariant.Broken("a collective whose arguments were checked: %v", err)
	}
	return s
}

// commonLayout returns the layout of the working buffers if it is the same for
// all members, else nil.
func (v *collective) commonLayout(s collectives.Schedule) *collectives.Layout {
	var l collectives.Layout
	switch {
	case v.op == collectives.Gatherv || v.op == collectives.Scatterv || v.op == collectives.Alltoallv:
		return nil
	case v.counts != nil:
		l = collectives.Given(v.counts, 1)
	default:
		l = collectives.LayoutOf(v.op, s, v.bytes/max(v.element, 1), v.element)
	}
	return &l
}

// layoutOf returns a member's own layout, for the operations in which members
// know different things.
func (v *collective) layoutOf(member int) *collectives.Layout {
	var l collectives.Layout
	switch {
	case v.op == collectives.Alltoallv:
		l = collectives.Given(slices.Concat(v.inCounts, v.outCounts), 1)
	case member == v.root:
		l = collectives.Given(v.counts, 1)
	default:
		l = collectives.Uniform(v.bytes, 1)
	}
	return &l
}

// resultBlocks returns how many blocks a member's result has.
func (inst *instance) resultBlocks(member int) int {
	switch inst.call.op {
	case collectives.Barrier:
		return 0
	case collectives.Bcast, collectives.Allreduce:
		return inst.schedule.Positions()
	case collectives.Reduce:
		return onlyRoot(inst, member, inst.schedule.Positions())
	case collectives.Gather, collectives.Gatherv:
		return onlyRoot(inst, member, inst.comm.size)
	case collectives.Allgather, collectives.Allgatherv, collectives.Alltoall, collectives.Alltoallv:
		return inst.comm.size
	default:
		return 1
	}
}

func onlyRoot(inst *instance, member, n int) int {
	if member == inst.call.root {
		return n
	}
	return 0
}

// resultBase is the block of the layout that belongs to the first block of the
// result.
func (inst *instance) resultBase() int {
	if inst.call.op == collectives.Alltoallv {
		return inst.comm.size
	}
	return 0
}

// dependsOnAll reports whether no member can leave the operation before every
// member has entered it.
func dependsOnAll(op collectives.Operation) bool {
	switch op {
	case collectives.Barrier, collectives.Allreduce, collectives.Allgather, collectives.Alltoall, collectives.ReduceScatter:
		return true
	}
	return false
}

// chooseMode picks the interpreter of an instance. All engines pick the same for
// the instances that they share: the choice rests on what they all know.
func (k *kernel) chooseMode(inst *instance) mode {
	c := inst.comm
	switch {
	case k.config.Collectives == Message || c.size == 1 || k.processors != nil:
		return byMessages
	case k.arraysFit(inst):
		return byArrays
	case c.locals == c.size && !inst.leaders && inst.layout != nil:
		return locally
	default:
		return byMessages
	}
}

// longRounds is more rounds than any algorithm has whose rounds differ in kind: twice
// the logarithm of the number of members. Algorithms with more have rounds of one
// kind, or of one kind after another that are both regular or both not.
const longRounds = 64

// arraysFit reports whether an instance can be carried out over arrays of clocks:
// the exit of each member must depend on the entries of all, so that nobody
// waits for one that has left; messages must not depend on those before; every round
// must be regular, with messages of one size; and data must be of the kind that a
// tree of partial results carries.
func (k *kernel) arraysFit(inst *instance) bool {
	v, s := &inst.call, inst.schedule
	switch {
	case !dependsOnAll(v.op) || inst.layout == nil:
		return false
	case k.eng.Null() && inst.comm.locals < inst.comm.size:
		// While engines exchange arrays their promises do not help; see
		// [engine.Engine.Cap].
		return false
	case !inst.comm.group.ascending() || inst.leaders && !inst.comm.nodes.ascending:
		return false
	case v.data && !inst.treeShaped() || !inst.evenChunks():
		return false
	}
	for round := range min(s.MaxRounds(), longRounds) {
		if !k.roundFits(inst, s.Pattern(round)) {
			return false
		}
	}
	return true
}

// roundFits reports whether a round can be carried out over arrays of clocks.
func (k *kernel) roundFits(inst *instance, p collectives.Pattern) bool {
	switch {
	case p.Kind == collectives.Irregular || p.Sent == collectives.Varies || p.Combined == collectives.Varies:
		return false
	case p.Kind == collectives.Strided && p.Count < 2 && inst.schedule.MaxRounds() > longRounds:
		return false // one message a round: nothing to do in bulk
	case k.hasPorts && !k.hidesGap(inst, p):
		return false
	case inst.blockBytes()*int64(p.Sent) > k.eagerLimit:
		return k.rendezvousFits(inst, p)
	}
	return true
}

// rendezvousFits reports whether a round of messages above the eager limit can be
// carried out over arrays of clocks. Its senders wait for their receivers. That is
// simple where two exchange messages, and where a participant folds: it has nothing to
// do until the result comes back, long after its own data have left.
func (k *kernel) rendezvousFits(inst *instance, p collectives.Pattern) bool {
	return k.uniformDelay(inst, p) && (p.Kind == collectives.Exchange || inst.folds(p))
}

// folds reports whether a round folds members before exchanges, or gives them the
// result after these.
func (inst *instance) folds(p collectives.Pattern) bool {
	s := inst.schedule
	return p.Kind == collectives.Strided && s.MaxRounds() > 1 && s.Pattern(1).Folded > 0
}

// hidesGap reports whether participants never wait for their ports in a round. Who
// sends and receives in each round is busy for both overheads from one message to the
// next, in either direction; who folds sends once and receives once.
func (k *kernel) hidesGap(inst *instance, p collectives.Pattern) bool {
	o := k.tgt.Overhead()
	return (p.Kind != collectives.Strided || inst.folds(p)) && k.tgt.Gap() <= o.Send+o.Receive
}

// blockBytes returns the bytes of a position, of which all have the same number.
func (inst *instance) blockBytes() int64 {
	w := inst.schedule.Positions()
	return inst.layout.Offset(w) / int64(max(w, 1))
}

// treeShaped reports whether the result is that of the fixed tree over the
// participants in order.
func (inst *instance) treeShaped() bool {
	a := inst.call.algorithm
	return inst.call.op == collectives.Allreduce && (a == collectives.NodeLeader || a == collectives.RecursiveDoubling)
}

// evenChunks reports whether all positions have the same number of bytes.
func (inst *instance) evenChunks() bool {
	w := inst.schedule.Positions()
	if w < 2 {
		return true
	}
	total, first := inst.layout.Offset(w), inst.layout.Offset(1)
	if first*int64(w) != total {
		return false
	}
	if inst.call.counts == nil {
		return true
	}
	return !slices.ContainsFunc(inst.call.counts, func(n int64) bool { return n != first })
}
