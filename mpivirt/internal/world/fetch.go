//go:build amd64 || arm64

package world

import "unsafe"

// fetch has the processor load two cache lines from an address on. It reads no data.
//
//go:noescape
func fetch(p unsafe.Pointer)
