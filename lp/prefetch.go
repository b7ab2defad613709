//go:build amd64 || arm64

package lp

// prefetch asks the processor to bring the cache lines around an address, those from
// 192 bytes before it up to 128 bytes after it, closer. It reads nothing: any address
// will do.
//
//go:noescape
func prefetch(address uintptr)
