// Package buffers keeps freed message buffers for reuse, by size class.
//
// A class is a power of two from 256 bytes up: a buffer serves every request of its
// class, and at most half of it is wasted. A buffer longer than the largest class has
// the length asked for, and serves requests of more than half of it. A pool belongs to one
// goroutine or is guarded by its owner's lock.
package buffers

import (
	"math/bits"
	"slices"
)

const (
	smallest = 8  // log2 of the smallest class
	largest  = 26 // and of the largest
	classes  = largest - smallest + 1
	// retained is how many bytes of one class a pool keeps, and of buffers that have no class. Engines
	// that exchange long messages of ranks have as much in use at a time. Released buffers are
	// garbage that a large run does not collect, and each new one costs more to touch for the first
	// time than to fill.
	retained = 256 << 20
)

// Pool hands out buffers and takes them back.
type Pool struct {
	fresh   func(size int) []byte
	release func(buffer []byte)
	free    [classes][][]byte
	long    [][]byte // without a class
	kept    int      // bytes of long
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
		return p.getLong(n)
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

// getLong is Get for a buffer without a class. It takes the shortest that fits.
func (p *Pool) getLong(n int) []byte {
	best := -1
	for i, buffer := range p.long {
		if c := cap(buffer); c >= n && c/2 < n && (best < 0 || c < cap(p.long[best])) {
			best = i
		}
	}
	if best < 0 {
		return p.fresh(n)
	}
	buffer := p.long[best]
	p.long = slices.Delete(p.long, best, best+1)
	p.kept -= cap(buffer)
	return buffer[:n]
}

// Put takes back a buffer that Get returned. Its length may have changed, its beginning
// and capacity must not.
func (p *Pool) Put(buffer []byte) {
	if cap(buffer) > 1<<largest {
		if p.kept+cap(buffer) > retained {
			p.release(buffer)
			return
		}
		p.long = append(p.long, buffer)
		p.kept += cap(buffer)
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
	for _, buffer := range p.long {
		p.release(buffer)
	}
	p.long, p.kept = nil, 0
}

func class(n int) int {
	if n <= 1<<smallest {
		return 0
	}
	return bits.Len(uint(n-1)) - smallest
}
