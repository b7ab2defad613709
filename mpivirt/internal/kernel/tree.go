package kernel

import "gigarank/collectives"

// newTree returns the fold of participants' vectors, which are buffers of the kernel.
func (k *Kernel) newTree(op Operator, participants int) *collectives.TreeFold[[]byte] {
	return collectives.NewTreeFold(participants, func(lower, higher []byte) []byte {
		op.Apply(lower, lower, higher)
		k.buffers.release(higher)
		return lower
	})
}
