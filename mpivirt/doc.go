// Package mpivirt is a virtual MPI: it runs programs of up to 2^31 ranks on a
// simulated machine.
//
// # Model
//
// Each rank is a logical process of an [engine.Engine] with a clock of its own.
// Calls that need not wait (Compute, Isend, Wtime) change the kernel's state at
// once; calls that wait suspend the rank. A message sent at t arrives at t plus
// the delay of the target machine ([network.Target]); a receive is over at the
// later of its posting and that arrival, plus what the message costs the processor.
// Above the eager limit a message is REQ, ACK, DATA. Matching, wildcards, probes and
// completion follow the MPI standard 4.1, chapters 3 (point-to-point), 6
// (collectives) and 7 (groups, communicators).
//
// Collectives are carried out from the schedules of package collectives, message
// by message or in bulk; nonblocking ones progress on their own, so both forms
// take the same time.
//
// # Invariants
//
//   - Every virtual time and every received byte is a pure function of program,
//     ranks, machine and seed. What depends on timing is decided in the order
//     (virtual time, source rank, order of sending).
//   - Nothing is kept per rank that grows with the number of ranks; a rank has a
//     clock and its own body. With the first message or wait for requests it gets a
//     mailbox, with the first collective by messages a round queue.
//   - No virtual time depends on the wall clock.
//
// # Use
//
// Programs come in two forms. As goroutines, ranks are ordinary Go functions
// ([Program].Main, [Rank], [Comm]):
//
//	result, err := mpivirt.Simulate(machine, 1000, func(r *mpivirt.Rank) error {
//		return r.World().Barrier()
//	})
//
// As events, ranks are small values with a step function ([Steps], [steps.Rank]):
// for studies with hundreds of millions of ranks; docs/event-ranks.md tells how to
// write them.
//
// The slices that a collective sends from and receives into may be one, or overlap:
// what a member contributes is read before its result is written, as with MPI_IN_PLACE.
// Those of a Sendrecv must not. Members hand in elements of one type, else the error is
// ErrType. A nil [Comm] is MPI_COMM_NULL.
//
// MPI errors end the program unless a rank asks for them with
// [Rank.SetErrorsReturn]; either way they have a class ([ErrorClass]) that
// errors.Is finds. Sizes are in elements for typed data and in bytes for the
// operations whose names end in Size, which simulate the size only.
package mpivirt
