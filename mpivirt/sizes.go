package mpivirt

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// CollectiveSize carries out a collective of which only the size is simulated. It takes the
// virtual time of the operation with data of that size, and no memory.
//
// For a bcast, reduce, allreduce, scan or exscan, bytes is the size of the vector. For a
// gather, scatter, allgather, alltoall or reduce_scatter it is that of one member's block; all
// blocks have one size (MPI_Reduce_scatter_block). A barrier ignores it. An algorithm that
// cuts the vector into chunks makes them equal if they are whole bytes, else multiples of 8
// bytes. Only operations with a root use root.
//
// Errors: ErrRoot, ErrCount; ErrArgument for gatherv, scatterv, allgatherv and alltoallv.
func (c *Comm) CollectiveSize(op collectives.Operation, bytes int64, root int) error {
	if c == nil {
		return world.NoComm(world.ProcedureOf(op))
	}
	return c.run(c.r.k.Sized(op, bytes, 1, root))
}

// CollectiveSizeOf is CollectiveSize of elements of a number of bytes, of which bytes is a multiple. An algorithm cuts the vector
// between elements. Errors: as CollectiveSize.
func (c *Comm) CollectiveSizeOf(op collectives.Operation, bytes, element int64, root int) error {
	if c == nil {
		return world.NoComm(world.ProcedureOf(op))
	}
	return c.run(c.r.k.Sized(op, bytes, element, root))
}

// AllreduceSize is Allreduce of vectors of a number of elements of which only the size is simulated. It takes the virtual time
// of Allreduce, and no memory. Errors: ErrCount.
func AllreduceSize[T Datatype](c *Comm, elements int64, o Op[T]) error {
	return c.run(typed.AllreduceSize(c.caller(), elements, o))
}

// IcollectiveSize is the nonblocking CollectiveSize.
func (c *Comm) IcollectiveSize(op collectives.Operation, bytes int64, root int) (Request, error) {
	if c == nil {
		return Request{}, world.NoComm(world.ProcedureOf(op))
	}
	return c.begin(c.r.k.Sized(op, bytes, 1, root))
}
