//go:build mpi

package mpi

import (
	"testing"
	"unsafe"
)

// A long buffer begins where a large page may lie. All of each buffer can be written to.
func TestLongBuffersLieInLargePages(t *testing.T) {
	const large = 2 << 20
	for _, size := range []int{1, 256, large, 2 * large, 2*large + 1, 5 * large} {
		buffer := allocate(size)
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(buffer))); size >= 2*large && at%large != 0 {
			t.Errorf("a buffer of %d bytes begins at %#x", size, at)
		}
		for i := range buffer {
			buffer[i] = byte(i)
		}
		release(buffer)
	}
}
