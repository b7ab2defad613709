//go:build !race

package world

import "golang.org/x/sys/cpu"

// copySideBySide copies pairs of pages and returns how many bytes it has copied. The slices have one
// length.
func copySideBySide(to, from []byte) (done int) {
	if !cpu.X86.HasAVX {
		return 0
	}
	pairs := len(to) / (2 * PageBytes)
	copyPairs(to, from, pairs)
	return pairs * 2 * PageBytes
}

// copyPairs copies so many pairs of pages, at least one.
//
//go:noescape
func copyPairs(to, from []byte, pairs int)
