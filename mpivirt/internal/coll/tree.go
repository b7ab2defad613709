package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
)

// newTree returns the fold of participants' vectors, which are pooled buffers.
func (c *Collectives) newTree(op world.Operator, participants int) *collectives.TreeFold[[]byte] {
	return collectives.NewTreeFold(participants, func(lower, higher []byte) []byte {
		op.Apply(lower, lower, higher)
		c.partition.Buffers.Release(higher)
		return lower
	})
}

// summing is an engine's state of the vectors of an instance over arrays. Each engine sends its
// parent the partial results of its own participants and of the engines below, once it has all of
// them. The engine at the root has the result, which travels back. The fixed tree over the
// participants determines which vectors may be combined, so values do not depend on the tree of
// engines.
type summing struct {
	fold    *collectives.TreeFold[[]byte] // nil once its vectors have been sent to the parent
	missing int                           // children whose vectors have not all arrived, plus one for the engine itself
	latest  int32                         // LP whose vector was added last; vectors of other engines are combined in its call
	done    bool                          // inst.result is complete, and has been sent to the children
}

// newSumming returns the initial state of an engine with participants.
func (c *Collectives) newSumming(inst *instance) *summing {
	return &summing{
		fold:    c.newTree(inst.Call.Operator, inst.participants()),
		latest:  world.None,
		missing: 1 + len(c.engineTree(inst).children),
	}
}

// sumOf returns this engine's state of the vectors of an instance.
func (c *Collectives) sumOf(inst *instance) *summing {
	if inst.fixedCost != nil {
		return inst.fixedCost.sum
	}
	return c.arraysOf(inst).sum
}

// addLeaf adds the vector of a participant, whose LP is here. The vector is a pooled buffer.
func (s *summing) addLeaf(c *Collectives, participant int, lp int32, value []byte) {
	s.latest, c.Combining = lp, lp
	s.fold.Add(s.fold.Leaf(participant), value)
}

// engineTree returns the neighbours of this engine among those that have participants, who
// ascend.
func (c *Collectives) engineTree(inst *instance) branches {
	return c.branchesOf(func(rank int) int {
		if p := c.participantFrom(inst, rank); p < inst.participants() {
			return inst.rankOf(p)
		}
		return -1
	})
}

// addVectors records that the vectors of one child, or of the engine itself, are complete. After
// the last of them they go to the parent.
func (c *Collectives) addVectors(inst *instance, s *summing) {
	if s.missing--; s.missing > 0 {
		return
	}
	tree := c.engineTree(inst)
	if tree.parent < 0 {
		result := c.resultOf(inst, s)
		c.handOut(inst, s, result, tree)
		c.partition.Buffers.Release(result)
		s.fold = nil
		return
	}
	c.sendValues(inst, s.fold, tree.parent, 0, func(*world.Writer) {})
	s.fold = nil
}

// resultOf returns the sum of all vectors, which have arrived, in a pooled buffer.
func (c *Collectives) resultOf(inst *instance, s *summing) []byte {
	result, complete := s.fold.Result()
	if !complete {
		invariant.Broken("%v number %d of %s lacks vectors though all engines have sent theirs", inst.Call.Procedure, inst.Number, inst.comm)
	}
	return result
}

// sendValues sends the parent the vectors of this engine and the engines below, a record for each
// vector. A record begins with a number of bytes that begin writes.
func (c *Collectives) sendValues(inst *instance, fold *collectives.TreeFold[[]byte], parent, bytes int, begin func(w *world.Writer)) {
	rest := fold.Count()
	for n, value := range fold.Values() {
		rest--
		w := c.collectiveRecord(inst, parent, world.RecordTree, bytes+4+16+len(value))
		begin(&w)
		w.U32(uint32(rest))
		w.U64(uint64(n.Level))
		w.U64(uint64(n.Index))
		copy(w.Rest, value)
		c.partition.Buffers.Release(value)
	}
}

// receiveValue adds a vector of sendValues. It reports whether the vector is the last of its
// sender.
func (c *Collectives) receiveValue(s *summing, r world.Reader) (last bool) {
	rest := r.U32()
	n := collectives.TreeNode{Level: int(r.U64()), Index: int(r.U64())}
	value := c.partition.Buffers.Take(len(r.Rest))
	copy(value, r.Rest)
	c.Combining = s.latest
	s.fold.Add(n, value)
	return rest == 0
}

// receiveTree reads a vector, or blocks, of the engines below this engine, or the news that all
// members there have entered an alltoall.
func (c *Collectives) receiveTree(inst *instance, from int, r world.Reader) {
	b := c.arraysOf(inst)
	switch {
	case b.gathered != nil:
		c.receiveBlocks(inst, b, from, r)
		return
	case b.traded != nil:
		inst.receiveEntered(r)
		c.enterTrade(inst, b.traded)
		return
	}
	if c.receiveValue(b.sum, r) {
		c.addVectors(inst, b.sum)
	}
	c.queueSummed(inst, b)
}

// receiveResult reads the result, or the news that all members have entered an alltoall.
func (c *Collectives) receiveResult(inst *instance, r world.Reader) {
	b := c.arraysOf(inst)
	switch {
	case b.gathered != nil:
		c.receiveAllBlocks(inst, b, r)
		return
	case b.traded != nil:
		inst.receiveEntered(r)
		c.trade(inst, c.engineTree(inst))
		return
	}
	c.handOut(inst, b.sum, r.Rest, c.engineTree(inst))
	c.queueSummed(inst, b)
}

// queueSummed queues an instance that lacked only the result, if the result has arrived.
func (c *Collectives) queueSummed(inst *instance, b *arrayRun) {
	if b.sum.done && b.begun && b.Over() {
		c.queue(inst)
	}
}

// handOut stores a copy of the result and sends the result to the children; the child above most
// engines comes first.
func (c *Collectives) handOut(inst *instance, s *summing, result []byte, tree branches) {
	inst.result, s.done = append([]byte(nil), result...), true
	for _, child := range slices.Backward(tree.children) {
		w := c.collectiveRecord(inst, child.engine, world.RecordResult, len(result))
		copy(w.Rest, result)
	}
}
