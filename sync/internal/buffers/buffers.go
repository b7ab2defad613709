// Package buffers keeps freed message buffers for reuse, by size class.
//
// A class is a power of two from 256 bytes up: a buffer serves every request of its
// class, and at most half of it is wasted. A buffer longer than the largest class has
// the length asked for and is not kept. A pool belongs to one goroutine or is guarded
// by its owner's lock.
package buffers

import "math/bits"

const (
	smallest = 8  // log2 of the smallest class
	largest  = 26 // and of the largest
	classes  = largest - smallest + 1
	// retained is how many bytes of one class a pool keeps. Engines that exchange
	// arrays have as much in use at a time: two windows of 16 MiB under way, and as
	// much taken in. Released buffers are garbage that a large run does not collect.
	retained = 64 << 20
)

// Pool hands out buffers and takes them back.
type Pool struct {
	fresh   func(size int) []byte
	release func(buffer []byte)
	free    [classes][][]byte
}

// NewPool returns an empty pool. It makes a buffer of size bytes with fresh, and passes
// a buffer that it does not keep to release.
func NewPool(fresh func(size int) []byte, release func(buffer []byte)) *Pool {
	return &Pool{fresh: fresh, release: release}
}

// Get returns a buffer of length n with arbitrary contents. Its capacity is that of its
// class, if it has one.
func (p *Pool) Get(n int) []byte {
	if n > 1<<largest {
		return p.fresh(n)
	}
	c := class(n)
	list := p.free[c]
	if len(list) == 0 {
		return p.fresh(1 << (smallest + c))[:n]
	}
	last := len(list) - 1
	buffer := list[last]
	list[last] = nil
	p.free[c] = list[:last]
	return buffer[:n]
}

// Put takes back a buffer that Get returned. Its length may have changed, its beginning
// and capacity must not.
func (p *Pool) Put(buffer []byte) {
	if cap(buffer) > 1<<largest {
		p.release(buffer)
		return
	}
	c := class(cap(buffer))
	if len(p.free[c]) >= max(1, retained>>(smallest+c)) {
		p.release(buffer)
		return
	}
	p.free[c] = append(p.free[c], buffer)
}

// Drain releases every buffer that the pool keeps.
func (p *Pool) Drain() {
	for c, list := range p.free {
		for _, buffer := range list {
			p.release(buffer)
		}
		p.free[c] = nil
	}
}

func class(n int) int {
	if n <= 1<<smallest {
		return 0
	}
	return bits.Len(uint(n-1)) - smallest
}
