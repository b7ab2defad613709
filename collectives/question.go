package collectives

// A Question is a call of an operation, as far as libraries choose the algorithm by it.
type Question struct {
	Operation   Operation
	Ranks       int   // members of the communicator
	PerNode     int   // ranks of each node, where all nodes have as many and their ranks are consecutive; else 1
	Bytes       int64 // of the vector, or of a member's block
	Commutative bool  // the operation of a reduction commutes
}
