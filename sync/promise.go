package sync

import (
	"math/bits"

	"gigarank/vtime"
)

// promises holds the latest promise of each engine as a tournament: node[i] is the
// least of node[2i] and node[2i+1], and the leaves are the engines.
type promises struct {
	node   []vtime.Time
	leaves int
}

// newPromises returns the promises of size engines, all Forever.
func newPromises(size int) promises {
	leaves := 1 << bits.Len(uint(size-1))
	node := make([]vtime.Time, 2*leaves)
	for i := range node {
		node[i] = vtime.Forever
	}
	return promises{node, leaves}
}

func (p *promises) of(engine int) vtime.Time { return p.node[p.leaves+engine] }

func (p *promises) least() vtime.Time { return p.node[1] }

// set changes the promise of an engine in O(log engines).
func (p *promises) set(engine int, promise vtime.Time) {
	i := p.leaves + engine
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

// below appends to list the engines whose promise is below level, by rank, at most
// limit of them. It visits O(log engines) nodes for each.
func (p *promises) below(level vtime.Time, limit int, list []int32) []int32 {
	return p.descend(1, level, limit, list)
}

func (p *promises) descend(i int, level vtime.Time, limit int, list []int32) []int32 {
	if p.node[i] >= level || len(list) >= limit {
		return list
	}
	if i >= p.leaves {
		return append(list, int32(i-p.leaves))
	}
	return p.descend(2*i+1, level, limit, p.descend(2*i, level, limit, list))
}
