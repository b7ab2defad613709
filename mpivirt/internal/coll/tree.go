package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
)

// newTree returns the fold of participants' vectors, which are buffers of the kernel.
func (k *Collectives) newTree(op world.Operator, participants int) *collectives.TreeFold[[]byte] {
	return collectives.NewTreeFold(participants, func(lower, higher []byte) []byte {
		op.Apply(lower, lower, higher)
		k.Buffers.Release(higher)
		return lower
	})
}

// summing is what an engine keeps of the vectors of an instance over arrays. Each engine
// sends its parent what the participants of the engines below it and its own come to, once it
// has all of that. The engine at the root has the result, which takes the way back. The fixed
// tree over the participants says what may be combined, so the values do not depend on the
// tree of engines.
type summing struct {
	fold    *collectives.TreeFold[[]byte] // nil once its vectors have gone to the parent
	missing int                           // children whose vectors have not all come, and the engine itself
	latest  int32                         // LP whose vector was added last; those of other engines are combined in its call
	done    bool                          // the result is in inst.result, and children have been sent it
}

// newSumming returns what an engine with participants begins with.
func (k *Collectives) newSumming(inst *instance) *summing {
	return &summing{
		fold:    k.newTree(inst.Call.Operator, inst.schedule.Members()),
		latest:  world.None,
		missing: 1 + len(k.engineTree(inst).children),
	}
}

// engineTree returns the neighbours of this engine among those that have participants, who
// ascend.
func (k *Collectives) engineTree(inst *instance) branches {
	return k.branchesOf(func(rank int) int {
		if p := k.participantFrom(inst, rank); p < inst.schedule.Members() {
			return inst.rankOf(p)
		}
		return -1
	})
}

// addVectors notes that the vectors of one child, or the engine's own, are complete. After
// the last one they go to the parent.
func (k *Collectives) addVectors(inst *instance, s *summing) {
	if s.missing--; s.missing > 0 {
		return
	}
	tree := k.engineTree(inst)
	if tree.parent < 0 {
		result, complete := s.fold.Result()
		if !complete {
			invariant.Broken("%v number %d of %s lacks vectors though all engines have sent theirs", inst.Call.Procedure, inst.Number, inst.comm)
		}
		k.handOut(inst, s, result, tree)
		k.Buffers.Release(result)
		s.fold = nil
		return
	}
	rest := s.fold.Count()
	for n, value := range s.fold.Values() {
		rest--
		w := k.collectiveRecord(inst, tree.parent, world.RecordTree, 4+16+len(value))
		w.U32(uint32(rest))
		w.U64(uint64(n.Level))
		w.U64(uint64(n.Index))
		copy(w.Rest, value)
		k.Buffers.Release(value)
	}
	s.fold = nil
}

// receiveTree takes in a vector, or the blocks, of the engines below this one, or that all members there have
// entered an alltoall.
func (k *Collectives) receiveTree(inst *instance, from int, r world.Reader) {
	b := k.arraysOf(inst)
	switch {
	case b.gathered != nil:
		k.receiveBlocks(inst, b, from, r)
		return
	case b.traded != nil:
		k.enterTrade(inst, b.traded)
		return
	}
	rest := r.U32()
	n := collectives.TreeNode{Level: int(r.U64()), Index: int(r.U64())}
	value := k.Buffers.Take(len(r.Rest))
	copy(value, r.Rest)
	k.Combining = b.sum.latest
	b.sum.fold.Add(n, value)
	if rest == 0 {
		k.addVectors(inst, b.sum)
	}
	k.queueSummed(inst, b)
}

// receiveResult takes in the result, or that all members have entered an alltoall.
func (k *Collectives) receiveResult(inst *instance, r world.Reader) {
	b := k.arraysOf(inst)
	switch {
	case b.gathered != nil:
		k.receiveAllBlocks(inst, b, r)
		return
	case b.traded != nil:
		k.trade(inst, k.engineTree(inst))
		return
	}
	k.handOut(inst, b.sum, r.Rest, k.engineTree(inst))
	k.queueSummed(inst, b)
}

// queueSummed has an instance go on that lacked nothing but the result, if it is there.
func (k *Collectives) queueSummed(inst *instance, b *arrayRun) {
	if b.sum.done && b.begun && b.Over() {
		k.queue(inst)
	}
}

// handOut keeps a copy of the result and sends it to the children, those above most engines
// first.
func (k *Collectives) handOut(inst *instance, s *summing, result []byte, tree branches) {
	inst.result, s.done = append([]byte(nil), result...), true
	for _, child := range slices.Backward(tree.children) {
		w := k.collectiveRecord(inst, child.engine, world.RecordResult, len(result))
		copy(w.Rest, result)
	}
}
