//go:build !amd64 || race

package world

// CopyPast copies as many bytes as both have.
func CopyPast(to, from []byte) { copy(to, from) }

// Fence does nothing: CopyPast copies as others do.
func Fence() {}
