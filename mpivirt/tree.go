package mpivirt

import "math/bits"

// treeFold reduces the vectors of P participants in the fixed tree of recursive
// doubling, whatever the order in which they come: with P = 2^L + r, participants
// 2j and 2j+1 are combined first for j < r, and the 2^L vectors then in aligned
// halves, the lower always on the left. As soon as both halves of a node are there
// they become one vector, so contributions in order need O(log P) of them.
type treeFold struct {
	k        *kernel
	operator operator
	extra    int // r
	top      int // level of the root
	nodes    map[treeNode][]byte
}

// treeNode is a node of the tree. Level 0 are the participants that are folded,
// level 1 the vectors that recursive doubling starts with.
type treeNode struct{ level, index int }

func newTreeFold(k *kernel, op operator, participants int) *treeFold {
	levels := bits.Len(uint(participants)) - 1
	return &treeFold{k: k, operator: op, extra: participants - 1<<levels, top: levels + 1, nodes: map[treeNode][]byte{}}
}

// leaf is the node at which a participant's vector enters.
func (t *treeFold) leaf(participant int) treeNode {
	if participant < 2*t.extra {
		return treeNode{0, participant}
	}
	return treeNode{1, participant - t.extra}
}

// add enters the vector of a node. The tree owns it from then on.
func (t *treeFold) add(n treeNode, value []byte) {
	if value == nil {
		value = []byte{} // a vector without elements is there all the same
	}
	for n.level < t.top {
		sibling := treeNode{n.level, n.index ^ 1}
		other, there := t.nodes[sibling]
		if !there {
			break
		}
		delete(t.nodes, sibling)
		left, right := other, value
		if n.index&1 == 0 {
			left, right = value, other
		}
		t.operator.apply(left, left, right)
		t.k.buffers.release(right)
		n, value = treeNode{n.level + 1, n.index >> 1}, left
	}
	t.nodes[n] = value
}

// result returns the vector of all participants, nil while some are missing.
func (t *treeFold) result() []byte { return t.nodes[treeNode{t.top, 0}] }
