//go:build !amd64 && !arm64

package prefetch

import "unsafe"

// Pair does nothing on this processor.
func Pair(unsafe.Pointer) {}

// Ends does nothing on this processor.
func Ends(_, _ uintptr) {}

// Buffer does nothing on this processor.
func Buffer([]byte) {}

// BufferToWrite does nothing on this processor.
func BufferToWrite([]byte) {}

// Coroutine does nothing on this processor.
func Coroutine(_, _, _, _, _ uintptr) {}
