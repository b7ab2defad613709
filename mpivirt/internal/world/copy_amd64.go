//go:build !race

package world

import "golang.org/x/sys/cpu"

// copySideBySide copies pairs of pages and returns the number of bytes copied. The slices have
// equal length.
func copySideBySide(to, from []byte) (done int) {
	if !cpu.X86.HasAVX {
		return 0
	}
	pairs := len(to) / (2 * PageBytes)
	copyPairs(to, from, pairs)
	return pairs * 2 * PageBytes
}

// copyPairs copies a number of pairs of pages, at least one.
//
//go:noescape
func copyPairs(to, from []byte, pairs int)
