//go:build !linux

package bench

// readingTakesMemory reports whether a page takes memory once it is read, which is not known here.
func readingTakesMemory() bool { return false }
