package network

import (
	"math/bits"

	"gigarank/internal/random"
)

// permutation is a random permutation of 0..n-1 that needs no table: a balanced Feistel
// network over the next even number of bits. It walks along its cycles until the value
// falls below n (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002), on
// average fewer than four steps.
type permutation struct {
	n    uint64
	half uint   // bits in each half
	mask uint64 // of one half
	keys [6]uint64
}

func newPermutation(n int, seed uint64) permutation {
	half := uint(bits.Len64(uint64(n-1))+1) / 2
	p := permutation{n: uint64(n), half: half, mask: 1<<half - 1}
	for i := range p.keys {
		p.keys[i] = random.Mix(seed + uint64(i+1)*0x9e3779b97f4a7c15)
	}
	return p
}

func (p *permutation) forward(i int) int {
	v := uint64(i)
	for {
		left, right := v>>p.half, v&p.mask
		for _, key := range p.keys {
			left, right = right, left^random.Mix(right^key)&p.mask
		}
		if v = left<<p.half | right; v < p.n {
			return int(v)
		}
	}
}

func (p *permutation) inverse(i int) int {
	v := uint64(i)
	for {
		left, right := v>>p.half, v&p.mask
		for k := len(p.keys) - 1; k >= 0; k-- {
			left, right = right^random.Mix(left^p.keys[k])&p.mask, left
		}
		if v = left<<p.half | right; v < p.n {
			return int(v)
		}
	}
}
