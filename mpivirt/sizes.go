package mpivirt

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// CollectiveSize carries out a collective of which only the size is simulated: it
// takes the time of the operation with data of that size, and no memory. Where an
// algorithm cuts the vector into chunks, even ones are taken if they are whole bytes,
// else chunks of whole numbers of 8 bytes, as with data of such numbers. bytes are
// those of the vector of a bcast, reduce, allreduce, scan or exscan, and of one
// member's block of a gather, scatter, allgather, alltoall or reduce_scatter, whose
// blocks are all of one size (MPI_Reduce_scatter_block); a barrier has none. Only
// operations with a root look at root. Errors: ErrRoot, ErrCount; ErrArgument for
// gatherv, scatterv, allgatherv and alltoallv.
func (c *Comm) CollectiveSize(op collectives.Operation, bytes int64, root int) error {
	if c == nil {
		return world.NoComm(world.ProcedureOf(op))
	}
	return c.run(c.r.k.Sized(op, bytes, root))
}

// IcollectiveSize is the nonblocking CollectiveSize.
func (c *Comm) IcollectiveSize(op collectives.Operation, bytes int64, root int) (Request, error) {
	if c == nil {
		return Request{}, world.NoComm(world.ProcedureOf(op))
	}
	return c.begin(c.r.k.Sized(op, bytes, root))
}
