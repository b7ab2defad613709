package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// newTree returns the fold of participants' vectors, which are buffers of the kernel.
func (k *Collectives) newTree(op world.Operator, participants int) *collectives.TreeFold[[]byte] {
	return collectives.NewTreeFold(participants, func(lower, higher []byte) []byte {
		op.Apply(lower, lower, higher)
		k.Buffers.Release(higher)
		return lower
	})
}
