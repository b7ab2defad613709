package network

import (
	"fmt"
	"slices"
	"strconv"
)

// shuffled fills the nodes one after another with the ranks in random order.
type shuffled struct{ seed uint64 }

var randomKind = mappingKind{
	name:     "random",
	argument: "SEED",
	examples: []string{"random:1", "random:77"},
	parse: func(r *mappingReader) mapping {
		seed, err := strconv.ParseUint(r.argument, 10, 64)
		if err != nil {
			r.fault(fmt.Sprintf("the seed %q is not a whole number from 0 to 2^64-1", r.argument), "write one such as random:42")
		}
		return shuffled{seed}
	},
}

func (m shuffled) String() string { return fmt.Sprintf("random:%d", m.seed) }

func (m shuffled) layOut(ranks, perNode, _ int) (layout, error) {
	return &scatter{blocks{ranks, perNode}, newPermutation(ranks, m.seed)}, nil
}

// scatter is the layout of random.
type scatter struct {
	blocks blocks
	order  permutation
}

func (l *scatter) nodes() int               { return l.blocks.nodes() }
func (l *scatter) node(rank int) int        { return l.blocks.node(l.order.forward(rank)) }
func (l *scatter) place(node int) int       { return node }
func (l *scatter) size(node int) int        { return l.blocks.size(node) }
func (l *scatter) sizes() (least, most int) { return l.blocks.sizes() }

func (l *scatter) member(node, k int) int {
	var buffer [128]int // larger nodes take memory from the heap
	members := buffer[:0]
	for i := range l.size(node) {
		members = append(members, l.order.inverse(l.blocks.member(node, i)))
	}
	slices.Sort(members)
	return members[k]
}

func (l *scatter) index(rank int) int {
	node, below := l.node(rank), 0
	for i := range l.size(node) {
		if l.order.inverse(l.blocks.member(node, i)) < rank {
			below++
		}
	}
	return below
}

func (l *scatter) meeting(a, b, c, d int) (same, different bool) {
	return unknownMeeting(l, l.blocks.perNode, a, b, c, d)
}

// unknownMeeting returns the result of meeting as far as it follows without examining single ranks.
func unknownMeeting(l layout, largest, a, b, c, d int) (same, different bool) {
	overlap := a < d && c < b
	single := b-a == 1 && d-c == 1 && a == c
	return overlap || largest > 1, l.nodes() > 1 && !single
}
