package collectives

// A Question is a call of an operation, as far as libraries choose the algorithm by it.
type Question struct {
	Operation   Operation
	Ranks       int   // members of the communicator
	PerNode     int   // ranks of each node, where all nodes have as many and their ranks are consecutive; else 1
	Bytes       int64 // of the vector, or of a member's block; of blocks that differ the mean
	Commutative bool  // the operation of a reduction commutes; true where nothing is combined

	EqualBlocks  bool     // a reduce_scatter is MPI_Reduce_scatter_block, not MPI_Reduce_scatter
	ElementBytes int64    // of an element of the vector; 0: only sizes are simulated, and it counts as that of a double
	Hardware     Hardware // of the machine
}

// A Library chooses the algorithm of each call, as a library of MPI does. It is safe for concurrent
// use, and allocates nothing.
type Library interface {
	// Name returns the name of the library.
	Name() string
	// ByNodes reports whether the choice for an operation depends on the ranks of each node.
	ByNodes(op Operation) bool
	// Choose returns the algorithm of a call. It needs no hardware but that of the question.
	Choose(q Question) Algorithm
}
