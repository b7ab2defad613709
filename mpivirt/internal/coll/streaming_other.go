//go:build !amd64 || race

package coll

// copyPast copies as many bytes as both have.
func copyPast(to, from []byte) { copy(to, from) }

// fence does nothing: copyPast copies as others do.
func fence() {}
