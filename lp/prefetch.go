//go:build amd64 || arm64

package lp

// prefetch asks the processor to load the cache lines from 192 bytes before an address
// up to 128 bytes after it. It reads no data: any address is allowed.
//
//go:noescape
func prefetch(address uintptr)
