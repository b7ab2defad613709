package kernel

import "gigarank/mpivirt/internal/world"

// Reserve makes an array whose length grows with the number of ranks.
func Reserve[T any](k *Kernel, n int) []T { return world.Reserve[T](&k.Partition, n) }
