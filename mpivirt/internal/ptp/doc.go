// Package ptp is point-to-point communication: matching, requests, waits, probes, and the
// processors of ranks under models with state at the receiver.
//
// # Model
//
// [Messages] adds to a partition the mailboxes of its ranks. A message reaches the mailbox
// of its receiver with its arrival time, and matching.go says which receive takes it. A
// wait is over at an instant that follows from what it waits for; where that depends on
// timing, an event looks again at the least instant at which more is known. Above the eager
// limit a message is REQ, ACK, DATA. Under a model with state at the receiver a rank's
// processor takes all decisions in the order of virtual time (processor.go).
//
// # Invariants
//
//   - What depends on timing is decided in the order (virtual time, source rank, order of
//     sending), never by the order in which the host learns of things.
//   - A rank gets a mailbox with its first message or wait, and gives it back when it ends.
//   - What a call has brought belongs to the rank that called, until its next call
//     ([Completion]).
//
// # Use
//
// The package knows rooms world and below. What it needs of ranks that run, and of rounds of
// collectives that share a processor with a rank's own messages, it asks by [Upcalls]. It
// must not know collectives or kinds of rank. The cases are those of the MPI standard 4.1,
// chapter 3.
package ptp
