// Package p2p is point-to-point communication: matching, requests, waits, probes, and what
// the program of a rank asks of its processor under models with state at the receiver.
//
// # Model
//
// [Messages] adds to a partition the mailboxes of its ranks. A message reaches the mailbox
// of its receiver with its arrival time, and matching.go says which receive takes it. Short
// lists hold messages and receives; after a long search bins do, by what they match. The
// requests that a wait names determine the instant at which it ends. Where that depends on
// timing, a timed event evaluates the wait again once more is known. A long list of requests of
// which a rank waits for any is kept for its next call (waitset.go). Above the eager limit a
// message is REQ, ACK, DATA. Under a model with state at the receiver calls become
// operations of the rank's processor (operations.go), which room resource has begin in the order of virtual time.
//
// # Invariants
//
//   - Decisions follow the order (virtual time, source rank, order of sending), never the
//     order in which the host learns of messages and receives.
//   - A rank gets a mailbox with its first message or wait, and releases it when it ends.
//   - A [Completion] belongs to the rank that made the call, until its next call.
//
// # Use
//
// The package knows rooms resource, world and below. Through [Upcalls] it resumes ranks. It must not
// know collectives or kinds of rank. The cases are those of the MPI standard 4.1, chapter 3.
package p2p
