package collectives

import (
	"fmt"
	"math/bits"
)

// TreeFold combines the values of all members, given one after another in rank
// order, in exactly the tree in which an allreduce or a reduction to member 0
// combines them, so that floating-point results are the same bit for bit. It
// holds O(log P) partial values.
//
// The tree of recursive doubling, Rabenseifner and node-leader (there among the
// leaders) folds the first pairs and then joins aligned halves; that of binomial
// joins aligned halves; that of linear adds member after member.
type TreeFold[T any] struct {
	algorithm Algorithm
	folding   folding
	combine   func(lower, higher T) T
	added     int // members so far
	leaves    int // of the tree so far
	pending   T   // even member of a pair that waits for the odd one
	stack     []T // one partial value for each bit set in leaves, the largest first
}

// NewTreeFold returns an empty fold for so many members. combine returns
// lower ⊕ higher; both arguments then belong to it, so that it may reuse the
// memory of either for its result, and keep that of the other for values to be
// added. The error names what is wrong with the arguments.
func NewTreeFold[T any](a Algorithm, members int, combine func(lower, higher T) T) (*TreeFold[T], error) {
	switch a {
	case RecursiveDoubling, Rabenseifner, NodeLeader, Binomial, Linear:
	default:
		return nil, fmt.Errorf("collectives: %s combines in no tree over the rank order: "+
			"choose recursive-doubling, rabenseifner, node-leader, binomial or linear", a)
	}
	if members < 1 {
		return nil, fmt.Errorf("collectives: a fold of %d members: give at least 1", members)
	}
	f := &TreeFold[T]{algorithm: a, folding: fold(members), combine: combine}
	if a == Binomial || a == Linear {
		f.folding.extra = 0
	}
	f.stack = make([]T, 0, f.folding.levels+1)
	return f, nil
}

// Add gives the value of the next member. It belongs to the fold from then on.
// Adding more values than there are members panics.
func (f *TreeFold[T]) Add(value T) {
	if f.added == f.folding.members {
		panic(fmt.Sprintf("collectives: value %d added to a fold of %d members", f.added+1, f.folding.members))
	}
	f.added++
	if f.added <= 2*f.folding.extra {
		if f.added&1 == 1 {
			f.pending = value
			return
		}
		value = f.combine(f.pending, value)
	}
	f.leaf(value)
}

func (f *TreeFold[T]) leaf(value T) {
	f.leaves++
	joins := bits.TrailingZeros(uint(f.leaves))
	if f.algorithm == Linear {
		joins = len(f.stack)
	}
	f.stack = append(f.stack, value)
	for range joins {
		f.join()
	}
}

// join combines the two uppermost partial values.
func (f *TreeFold[T]) join() {
	top := len(f.stack) - 1
	f.stack[top-1] = f.combine(f.stack[top-1], f.stack[top])
	f.stack = f.stack[:top]
}

// Result returns the combined value. It is called once, after as many values
// have been added as there are members; earlier, it panics.
func (f *TreeFold[T]) Result() T {
	if f.added != f.folding.members {
		panic(fmt.Sprintf("collectives: result of a fold of %d members asked for after %d", f.folding.members, f.added))
	}
	for len(f.stack) > 1 {
		f.join()
	}
	return f.stack[0]
}
