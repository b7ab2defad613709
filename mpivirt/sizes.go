package mpivirt

import "gigarank/collectives"

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
	return c.run(c.caller().k.sized(op, bytes, root))
}

// IcollectiveSize is the nonblocking CollectiveSize.
func (c *Comm) IcollectiveSize(op collectives.Operation, bytes int64, root int) (Request, error) {
	return c.begin(c.caller().k.sized(op, bytes, root))
}

// CollectiveSize carries out a collective of which only the size is simulated; see
// [Comm.CollectiveSize].
func (r *EventRank) CollectiveSize(op collectives.Operation, bytes int64, root int) Outcome {
	return r.collective(r.k.sized(op, bytes, root))
}

// IcollectiveSize begins a CollectiveSize.
func (r *EventRank) IcollectiveSize(op collectives.Operation, bytes int64, root int) EventRequest {
	return r.nonblocking(r.k.sized(op, bytes, root))
}

// sized hands over a collective of which only the size is simulated.
func (k *kernel) sized(op collectives.Operation, bytes int64, root int) (*collective, error) {
	v := k.hand(collective{name: callOf(op), op: op, bytes: bytes, element: 1})
	switch op {
	case collectives.Barrier:
		return &k.barrier, nil
	case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv:
		return v, mpiError(ErrArgument, "the blocks of %v differ by member: hand in their data and counts", op)
	}
	if op.Rooted() {
		v.root = root
	}
	return v, nil
}
