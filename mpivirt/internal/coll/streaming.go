//go:build amd64 && !race

package coll

import "unsafe"

// line is the size of a cache line in bytes.
const line = 64

// copyPast copies as many bytes as both have by stores that neither read the target nor leave it in the
// cache, where the target begins with a line. No other thread may read it before the next fence.
func copyPast(to, from []byte) {
	n := min(len(to), len(from)) &^ (line - 1)
	if uintptr(unsafe.Pointer(unsafe.SliceData(to)))%line != 0 {
		n = 0
	}
	stream(to[:n], from)
	copy(to[n:], from[n:])
}

// stream is copyPast for whole lines, of which from has at least as many. The runtime cannot interrupt it.
//
//go:noescape
func stream(to, from []byte)

// fence makes the bytes that copyPast has stored visible to other threads before all later ones.
func fence()
