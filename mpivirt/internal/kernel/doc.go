// Package kernel is the virtual MPI behind every kind of rank: matching, requests,
// communicators, collectives, errors, and the simulation that runs it.
//
// # Model
//
// Each rank is a logical process of an [engine.Engine] with a clock of its own. Whatever a
// rank asks, it asks by a [Call], which is composed and submitted, and reads the [Completion]
// when it goes on. How its program runs is the business of a [Body].
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
// A kind of rank is a package beside this one. It registers its [Kind], makes a [Body] for
// the ranks of an engine from a [Form] of a program, and hands the ranks' calls to
// [Kernel.Submit]. A rank whose call is not over waits until the body is told to resume it.
// The kernel asks nowhere which kind it serves, and no kind touches anything else.
//
// The package must not know Go's types of elements, how control flow is suspended, or where
// output goes.
package kernel
