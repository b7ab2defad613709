// Package library has the choices of MPI libraries: which algorithm, with which segment and fan-out, a
// library takes for a collective call. A choice is data: a [Table], read from YAML, one file a library.
//
// # Tables
//
//	name: openmpi-4.1
//	source: coll_tuned_decision_fixed.c of Open MPI 4.1
//	inferred: [bcast]              # operations whose rows were found by matching measured times
//	notes: [han is not described]  # differences from the library
//	base: mpich-4                  # operations that are not here are those of this library
//	allreduce:
//	  bytes: vector
//	  fallbacks:
//	    ring: {elements: ranks, else: recursive-doubling}
//	  rows:
//	    - {commutative: false, ranks: 4.., algorithm: recursive-doubling}
//	    - {power_of_two: true, per_node: 2.., sizes: {0: recursive-doubling, 1MiB: "ring-segmented:1MiB"}}
//	    - {sizes: {0: recursive-doubling, 8Ki: ring}}
//
// Without a base a table has all operations. The first row whose conditions hold decides, and within
// it the greatest size that is not above the bytes of the call. The last row of an operation has no
// condition, so that no call is left over.
//
//	ranks, per_node, nodes   a number or a range: 16, 2..15, 4.., ..3
//	power_of_two             whether the ranks are a power of two
//	commutative              whether the operation of the call commutes; true where nothing is combined
//	sizes                    from these bytes on, this algorithm; the first size is 0
//	algorithm                one algorithm for all sizes, in place of sizes
//
// bytes says what sizes count: vector (bcast, reduce, allreduce, scan, exscan), or block (of a rank) or
// total (the blocks of all ranks) for other operations. Without it sizes count the vector or the block.
//
// A section reduce_scatter_block decides MPI_Reduce_scatter_block; without one reduce_scatter decides it, too.
//
// Libraries leave an algorithm that does not suit a call. Such a rule is a fallback: what the
// algorithm needs, and what runs instead. The needs are
//
//	ranks: even | power-of-two            of the communicator
//	elements: ranks | N                   in the vector at least: one for each rank; a number
//	elements: power-of-two                the greatest power of two up to the ranks
//	elements: power-of-two-nodes          the greatest power of two up to the nodes
//	machine: offload | given | torus      hardware of the target machine; torus: ranks that fill a torus, a node each,
//	                                      along whose links they write
//
// # Cost
//
// [Table.Choose] allocates nothing. It searches the ranks and the size by bisection. Between the two it
// looks at the rows that are left for these ranks: a handful in tables of libraries.
package library
