//go:build !amd64 || race

package typed

// addition returns nil: a loop over the elements adds.
func addition[T Datatype]() func(into, left, right []T) { return nil }
