//go:build amd64 || arm64

package prefetch

import "unsafe"

// Pair prefetches the two cache lines from an address on.
//
//go:noescape
func Pair(p unsafe.Pointer)

// Ends prefetches the cache lines of an address and of the address that comes length bytes after it.
func Ends(from, length uintptr)

// Buffer prefetches the cache lines of a buffer. They come side by side: one after another, as a reader
// comes to them, each would take as long as the caches of two processors are apart.
//
//go:noescape
func Buffer(buffer []byte)

// BufferToWrite is Buffer for a buffer that is written to next. Other processors' caches give its lines up.
//
//go:noescape
func BufferToWrite(buffer []byte)

// Coroutine prefetches the cache lines that a switch to a suspended coroutine touches: from 192 bytes before
// the top of its stack up to 384 bytes after it, those fields of the runtime's descriptor of its goroutine
// that coroswitch uses, and one or two lines from each of its functions pull, next and yield.
func Coroutine(top, descriptor, pull, next, yield uintptr)
