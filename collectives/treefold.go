package collectives

import (
	"fmt"
	"iter"
	"maps"
)

// TreeFold combines the values of all members, added in any order, in the tree of recursive
// doubling, Rabenseifner's allreduce and node-leader (there among the leaders). Floating-point
// results are therefore the same bit for bit. With P = 2^L + r members, 2j and 2j+1 are combined
// first for j < r. The 2^L values are then combined in aligned halves, the lower always on the
// left. Two halves become one value as soon as both are there, so values in rank order need O(log
// P) stored values at a time.
//
// Several folds may divide the members among them: the values of one fold are added to another.
type TreeFold[T any] struct {
	folding folding
	combine func(lower, higher T) T
	values  map[TreeNode]T
}

// TreeNode is a node of the tree of a [TreeFold]. Level 0 holds members that fold,
// level 1 the values that recursive doubling starts with.
type TreeNode struct{ Level, Index int }

// NewTreeFold returns an empty fold for a number of members. combine returns lower ⊕ higher and
// owns both arguments: it may reuse the memory of one for its result, and keep the memory of the
// other.
func NewTreeFold[T any](members int, combine func(lower, higher T) T) *TreeFold[T] {
	return &TreeFold[T]{folding: fold(members), combine: combine, values: map[TreeNode]T{}}
}

// Leaf returns the node at which a member's value is added.
func (f *TreeFold[T]) Leaf(member int) TreeNode {
	if member < 2*f.folding.extra {
		return TreeNode{0, member}
	}
	return TreeNode{1, member - f.folding.extra}
}

// root returns the node of the value of all members.
func (f *TreeFold[T]) root() TreeNode { return TreeNode{f.folding.levels + 1, 0} }

// Add adds the value of a node, once, and owns the value from then on.
func (f *TreeFold[T]) Add(n TreeNode, value T) {
	top := f.root().Level
	for n.Level < top {
		sibling := TreeNode{n.Level, n.Index ^ 1}
		other, there := f.values[sibling]
		if !there {
			break
		}
		delete(f.values, sibling)
		if n.Index&1 == 0 {
			value = f.combine(value, other)
		} else {
			value = f.combine(other, value)
		}
		n = TreeNode{n.Level + 1, n.Index >> 1}
	}
	f.values[n] = value
}

// Count returns the number of nodes whose siblings are missing.
func (f *TreeFold[T]) Count() int { return len(f.values) }

// Values returns the nodes whose siblings are missing, with their values, in arbitrary order.
func (f *TreeFold[T]) Values() iter.Seq2[TreeNode, T] { return maps.All(f.values) }

// Result returns the value of all members; complete is false while values are missing.
func (f *TreeFold[T]) Result() (value T, complete bool) {
	value, complete = f.values[f.root()]
	return value, complete
}

// Fold returns the values of all members, combined in the tree of an algorithm in an allreduce or a
// reduction to member 0. It is the reference for [TreeFold] and the interpreters. The tree of
// binomial joins aligned halves. Linear adds member after member.
func Fold[T any](a Algorithm, values []T, combine func(lower, higher T) T) (T, error) {
	var none T
	if len(values) == 0 {
		return none, fmt.Errorf("collectives: a fold of no members: give at least 1")
	}
	switch a {
	case RecursiveDoubling, Rabenseifner, NodeLeader:
		extra := fold(len(values)).extra
		var folded []T
		for i := range extra {
			folded = append(folded, combine(values[2*i], values[2*i+1]))
		}
		return joinHalves(append(folded, values[2*extra:]...), combine), nil
	case Binomial:
		return joinHalves(values, combine), nil
	case Linear:
		sum := values[0]
		for _, v := range values[1:] {
			sum = combine(sum, v)
		}
		return sum, nil
	}
	return none, fmt.Errorf("collectives: %s combines in no tree over the rank order: "+
		"choose recursive-doubling, rabenseifner, node-leader, binomial or linear", a)
}

// joinHalves combines aligned halves. The number of values in the lower half is the largest power
// of two that leaves values for the higher half.
func joinHalves[T any](values []T, combine func(lower, higher T) T) T {
	if len(values) == 1 {
		return values[0]
	}
	half := 1 << logFloor(len(values)-1)
	return combine(joinHalves(values[:half], combine), joinHalves(values[half:], combine))
}
