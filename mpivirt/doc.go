// Package mpivirt is a virtual MPI: it runs programs of up to 2^31 ranks on a
// simulated machine.
//
// # Model
//
// Each rank is a logical process with a clock of its own. Calls that need not wait
// (Compute, Isend, Wtime) return at once; calls that wait suspend the rank. A message sent at
// t arrives at t plus the delay of the target machine ([network.Target]). A receive completes
// at the later of its posting and that arrival, plus the cost of the message to the
// processor. Matching, wildcards, probes and completion follow the MPI
// standard 4.1, chapters 3 (point-to-point), 5 (datatypes), 6 (collectives), 7 (groups, communicators,
// attributes) and 8 (topologies). Collectives are carried out from the schedules of package collectives;
// nonblocking ones progress on their own, so both forms take the same time, unless the machine has progress in calls: then
// they go on only in calls, and take that time if the wait follows at once.
//
// The package is the API for goroutine ranks and for simulations: a [Config] goes in, a [Simulation] runs, a
// [Result] comes out. Package mpivirt/internal/kernel carries out the calls, for all kinds of rank.
//
// # Invariants
//
//   - Every virtual time and every received byte is a pure function of program,
//     ranks, machine and seed.
//   - The package decides nothing about virtual time. A call composes a value and submits it
//     to the kernel. The rank reads the completion when it goes on.
//   - A rank's stack stays within its first 2 KB: the path from a blocking call to the switch
//     is shallow.
//
// # Use
//
// Ranks come in several kinds ([Kinds]); a [Program] has a [Form] for each kind that it can
// run as. As goroutines, ranks are ordinary Go functions ([Main], [Rank], [Comm]):
//
//	result, err := mpivirt.Simulate(machine, 1000, func(r *mpivirt.Rank) error {
//		return r.World().Barrier()
//	})
//
// As events, ranks are small values with a step function (mpivirt/steps): for studies with
// hundreds of millions of ranks. docs/event-ranks.md tells how to write them.
//
// A [Cart], a [Graph] and a [DistGraph] are communicators with a topology, and have
// neighbourhood collectives ([NeighborAlltoall]). Event ranks hand in their [Neighbors].
//
// [IntercommCreate] makes an intercommunicator. Its collectives send data between the groups, by
// way of the first member of each. [SendType], [RecvType] and [Alltoallw]
// take values of derived datatypes (mpivirt/datatype). docs/mpi.md lists MPI's procedures.
//
// The send and receive slices of a collective may be the same, or overlap. A member's input
// is read before its result is written, as with MPI_IN_PLACE. Those of a Sendrecv must not
// overlap. All members give elements of one type, else the error is ErrType. A nil [Comm] is
// MPI_COMM_NULL.
//
// MPI errors end the program unless a rank asks for them with [Rank.SetErrorsReturn]. Each
// has a class ([ErrorClass]) that errors.Is finds. Sizes are in elements for typed data.
// Operations whose names end in Size simulate the size only, in bytes.
package mpivirt
