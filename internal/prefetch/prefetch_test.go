package prefetch_test

import (
	"slices"
	"testing"
	"unsafe"

	"gigarank/internal/prefetch"
)

// No address faults, and no byte of a buffer changes: of none, of part of a line, of several lines.
func TestAnyAddressMayBePrefetched(t *testing.T) {
	for _, address := range []uintptr{0, 1, 63, 1 << 40, ^uintptr(0) - 4096, ^uintptr(0)} {
		prefetch.Ends(address, 1<<20)
		prefetch.Coroutine(address, address, address, address, address)
	}
	prefetch.Pair(nil)
	for n := range 300 {
		buffer := slices.Repeat([]byte{byte(n)}, n)
		prefetch.Buffer(buffer)
		prefetch.BufferToWrite(buffer)
		prefetch.Pair(unsafe.Pointer(unsafe.SliceData(buffer)))
		if i := slices.IndexFunc(buffer, func(b byte) bool { return b != byte(n) }); i >= 0 {
			t.Fatalf("byte %d of %d has changed", i, n)
		}
	}
}
