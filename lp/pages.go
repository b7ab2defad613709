package lp

import (
	"runtime"
	"sync"
)

// The Go runtime makes stacks of goroutines under one lock, and links free stacks through their
// own memory. So whoever touches a page for the first time holds up all that make goroutines.
// Memory that the collector has freed is given out again with its pages in place, to stacks and
// to values alike.

const (
	// An LP takes a stack of 2,048 bytes, the runtime's descriptor of it and the state of iter.Pull:
	// 2,840 bytes. This is a little less, so that no page is touched in vain.
	lpBytes   = 2800
	fewLPs    = 1 << 15 // so many are made in less time than a collection takes
	pageBytes = 4096
)

// TouchPages has the pages that n LPs take in place before several goroutines make the LPs at the
// same time. touch has the pages of a piece of memory in place; if it is nil, each page is
// written to. It is called for several pieces at once, without the lock of the runtime. The memory
// is that which the LPs take afterwards.
func TouchPages(n, makers int, touch func(memory []byte)) {
	if makers = min(makers, runtime.GOMAXPROCS(0)); makers < 2 || n < fewLPs {
		return
	}
	if touch == nil {
		touch = writePages
	}
	// All pieces live until the last is touched: a collection would give one out again as another.
	pieces := make([][]byte, makers)
	var touched sync.WaitGroup
	for i := range pieces {
		touched.Go(func() {
			pieces[i] = make([]byte, n/makers*lpBytes)
			touch(pieces[i])
		})
	}
	touched.Wait()
	clear(pieces)
	runtime.GC()
}

// writePages writes into each page of a piece of memory.
func writePages(memory []byte) {
	for i := 0; i < len(memory); i += pageBytes {
		memory[i] = 1
	}
}
