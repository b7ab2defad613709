package sync

import (
	"math/bits"

	"gigarank/vtime"
)

// promises holds the latest promise of each engine as a tournament: a node is the least of
// its two children, and the leaves are the engines. The lower levels are cut into blocks
// of consecutive engines, each a tournament of its own. A block is made by the first
// packet from one of its engines. Engines that never send one cost one to two bytes each.
type promises struct {
	node   []vtime.Time // node[i] is the least of node[2i] and node[2i+1]; the leaves are the blocks
	leaves int
	blocks []*promiseBlock // by number; nil: not made
	rank   int             // of the engine that receives the promises; its own is Forever
	size   int
	first  vtime.Time // promise of every other engine before its first packet
}

const promisesPerBlock = 16

// promiseBlock is a tournament of promisesPerBlock engines in the layout of
// promises.node.
type promiseBlock [2 * promisesPerBlock]vtime.Time

// newPromises returns the promises of size engines to engine rank before any packet.
func newPromises(rank, size int, first vtime.Time) promises {
	blocks := (size + promisesPerBlock - 1) / promisesPerBlock
	leaves := 1 << bits.Len(uint(blocks-1))
	p := promises{make([]vtime.Time, 2*leaves), leaves, make([]*promiseBlock, blocks), rank, size, first}
	for i := range leaves {
		p.node[leaves+i] = vtime.Forever
		if lo := i * promisesPerBlock; lo < size && (lo != rank || lo != size-1) {
			p.node[leaves+i] = first
		}
	}
	for i := leaves - 1; i > 0; i-- {
		p.node[i] = min(p.node[2*i], p.node[2*i+1])
	}
	return p
}

// atFirst returns the promise of an engine before its first packet.
func (p *promises) atFirst(engine int) vtime.Time {
	if engine == p.rank || engine >= p.size {
		return vtime.Forever
	}
	return p.first
}

func (p *promises) of(engine int) vtime.Time {
	if block := p.blocks[uint(engine)/promisesPerBlock]; block != nil {
		return block[promisesPerBlock+uint(engine)%promisesPerBlock]
	}
	return p.atFirst(engine)
}

func (p *promises) least() vtime.Time { return p.node[1] }

// block returns the block with a number.
func (p *promises) block(number int) *promiseBlock {
	if p.blocks[number] == nil {
		block := new(promiseBlock)
		for i := range promisesPerBlock {
			block[promisesPerBlock+i] = p.atFirst(number*promisesPerBlock + i)
		}
		for i := promisesPerBlock - 1; i > 0; i-- {
			block[i] = min(block[2*i], block[2*i+1])
		}
		p.blocks[number] = block
	}
	return p.blocks[number]
}

// set changes the promise of an engine in O(log engines).
func (p *promises) set(engine int, promise vtime.Time) {
	number := engine / promisesPerBlock
	block := p.block(number)
	if raise(block[:], promisesPerBlock+engine%promisesPerBlock, promise) {
		raise(p.node, p.leaves+number, block[1])
	}
}

// raise changes node i of a tournament, and reports whether that changes its root.
func raise(node []vtime.Time, i int, promise vtime.Time) bool {
	node[i] = promise
	for i > 1 {
		i /= 2
		least := min(node[2*i], node[2*i+1])
		if node[i] == least {
			return false
		}
		node[i] = least
	}
	return true
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
	if i < p.leaves {
		return p.descend(2*i+1, level, limit, p.descend(2*i, level, limit, list))
	}
	first := (i - p.leaves) * promisesPerBlock
	for engine := first; engine < min(first+promisesPerBlock, p.size) && len(list) < limit; engine++ {
		if p.of(engine) < level {
			list = append(list, int32(engine))
		}
	}
	return list
}
