package record

import "math/bits"

// numbers gives the least number that is free.
type numbers struct {
	used []uint64 // set of the numbers in use
	from int      // words before it are full
}

// take returns the least free number, which is then in use.
func (n *numbers) take() int64 {
	for ; n.from < len(n.used); n.from++ {
		if w := n.used[n.from]; w != ^uint64(0) {
			bit := bits.TrailingZeros64(^w)
			n.used[n.from] |= 1 << bit
			return int64(n.from*64 + bit)
		}
	}
	n.used = append(n.used, 1)
	return int64(n.from * 64)
}

// free makes a number free again.
func (n *numbers) free(i int64) {
	n.used[i/64] &^= 1 << (i % 64)
	n.from = min(n.from, int(i/64))
}
