//go:build amd64 || arm64

package lp

// descriptor returns the address of the runtime's descriptor of the calling goroutine. It
// stays where it is.
func descriptor() uintptr

// prefetch asks the processor to load the cache lines that a switch to an LP touches: from
// 192 bytes before top up to 384 bytes after it, those fields of the descriptor that the
// runtime's coroswitch uses, and one or two lines from each of the others. It reads no
// data: any addresses are allowed.
func prefetch(top, descriptor, pull, next, yield uintptr)

// prefetchEnds asks for the cache lines of an address and of the one that comes length bytes after it.
func prefetchEnds(from, length uintptr)
