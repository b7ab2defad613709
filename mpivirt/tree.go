package mpivirt

import "gigarank/collectives"

// newTree returns the fold of participants' vectors, which are buffers of the kernel.
func (k *kernel) newTree(op operator, participants int) *collectives.TreeFold[[]byte] {
	return collectives.NewTreeFold(participants, func(lower, higher []byte) []byte {
		op.apply(lower, lower, higher)
		k.buffers.release(higher)
		return lower
	})
}
