package sync

import (
	"slices"

	"gigarank/vtime"
)

// promises holds the latest promise of each other engine. Those of peers stand in a
// tournament by their numbers: a node is the least of its two children, and the leaves are
// the peers. All others have promised the same.
type promises struct {
	node   []vtime.Time // node[i] is the least of node[2i] and node[2i+1]; the second half are the leaves
	heard  int          // leaves in use; the others are Forever
	silent int          // other engines without a leaf
	first  vtime.Time   // promise of an engine without a leaf
}

// init sets p, which is zero, to the promises of a number of other engines before any packet.
func (p *promises) init(others int, first vtime.Time, room *usualRoom) {
	p.node, p.silent, p.first = room.promises[:], others, first
	for i := range p.node {
		p.node[i] = vtime.Forever
	}
}

// of returns the promise of the peer with a number.
func (p *promises) of(number int32) vtime.Time {
	if int(number) >= p.heard {
		return p.first
	}
	return p.node[len(p.node)/2+int(number)]
}

// least returns the least promise, Forever without other engines.
func (p *promises) least() vtime.Time {
	if p.silent > 0 {
		return min(p.first, p.node[1])
	}
	return p.node[1]
}

// set changes the promise of the peer with a number in O(log peers). Peers with lower numbers
// that have no leaf get theirs.
func (p *promises) set(number int32, promise vtime.Time) {
	for p.heard <= int(number) {
		if p.heard == len(p.node)/2 {
			p.grow()
		}
		p.raise(p.heard, p.first)
		p.heard++
		p.silent--
	}
	p.raise(int(number), promise)
}

// reset sets the promises of all engines.
func (p *promises) reset(promise vtime.Time) {
	p.first = promise
	leaves := len(p.node) / 2
	for i := leaves; i < leaves+p.heard; i++ {
		p.node[i] = promise
	}
	for i := leaves - 1; i > 0; i-- {
		p.node[i] = min(p.node[2*i], p.node[2*i+1])
	}
}

// grow doubles the number of leaves.
func (p *promises) grow() {
	leaves := len(p.node)
	node := slices.Repeat([]vtime.Time{vtime.Forever}, 2*leaves)
	copy(node[leaves:], p.node[leaves/2:])
	for i := leaves - 1; i > 0; i-- {
		node[i] = min(node[2*i], node[2*i+1])
	}
	p.node = node
}

// raise changes a leaf.
func (p *promises) raise(leaf int, promise vtime.Time) {
	i := len(p.node)/2 + leaf
	p.node[i] = promise
	for i > 1 {
		i /= 2
		least := min(p.node[2*i], p.node[2*i+1])
		if p.node[i] == least {
			return
		}
		p.node[i] = least
	}
}

// below appends to list the numbers of peers with a leaf whose promise is below level, at most
// limit of them. It visits O(log peers) nodes for each.
func (p *promises) below(level vtime.Time, limit int, list []int32) []int32 {
	return p.descend(1, level, limit, list)
}

func (p *promises) descend(i int, level vtime.Time, limit int, list []int32) []int32 {
	if p.node[i] >= level || len(list) >= limit {
		return list
	}
	if leaves := len(p.node) / 2; i >= leaves {
		return append(list, int32(i-leaves))
	}
	return p.descend(2*i+1, level, limit, p.descend(2*i, level, limit, list))
}
