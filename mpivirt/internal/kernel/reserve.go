package kernel

import "gigarank/mpivirt/internal/world"

// Reserve returns an array whose length grows with the number of ranks, announced to
// [Config].Reserve.
func Reserve[T any](k *Kernel, n int) []T { return world.Reserve[T](k.partition, n) }
