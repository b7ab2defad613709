//go:build amd64 && !race

package world

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// lineBytes is the size of a cache line in bytes.
const lineBytes = 64

// CopyPast copies as many bytes as the shorter slice has. If the target begins with a cache line
// and the processor has the instructions, it copies by stores that neither read the target nor
// leave it in the cache. No other thread may read the target before the next Fence.
func CopyPast(to, from []byte) {
	n := min(len(to), len(from)) &^ (lineBytes - 1)
	switch begins := uintptr(unsafe.Pointer(unsafe.SliceData(to)))%lineBytes == 0; {
	case begins && cpu.X86.HasAVX512F:
		streamLines(to[:n], from)
	case begins && cpu.X86.HasAVX:
		streamHalves(to[:n], from)
	default:
		n = 0
	}
	copy(to[n:], from[n:])
}

// streamLines is CopyPast for whole lines, of which from has at least as many as to. It stores a
// line at once: stores of a quarter line take half as long again (Zen 5). The runtime cannot
// interrupt it.
//
//go:noescape
func streamLines(to, from []byte)

// streamHalves is streamLines by stores of half a line.
//
//go:noescape
func streamHalves(to, from []byte)

// Fence makes the bytes that CopyPast has stored visible to other threads before all later stores.
func Fence()
