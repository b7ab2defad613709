// Package p2p is point-to-point communication: matching, requests, waits, probes, and the
// operations of a rank's program on its processor under models with state at the receiver.
//
// # Model
//
// [Messages] adds to a partition the mailboxes of its ranks. A message reaches the mailbox of its
// receiver with its arrival time, and matching.go decides which receive takes the message. Short
// lists hold messages and receives; after a long search bins hold them, by pattern. The requests
// that a wait names determine the instant at which the wait ends. Where this instant depends on
// timing, a timed event evaluates the wait again once more arrivals are known. A long list of
// requests of which a rank waits for any is its wait set, which the rank's next call uses again
// (waitset.go). A message above the eager limit is a rendezvous of REQ, ACK and DATA. Under a model
// with state at the receiver calls become operations of the rank's processor (operations.go), which
// room resource begins in the order of virtual time.
//
// # Invariants
//
//   - Decisions follow the order (virtual time, source rank, order of sending), never the
//     order in which messages and receives reach the host.
//   - The first message or wait of a rank makes its mailbox; the end of the rank releases it.
//   - A [Completion] belongs to the rank that made the call, until the rank's next call.
//
// # Use
//
// The package knows room resource and the rooms below it. Through [Upcalls] it resumes ranks. It
// must not know collectives or kinds of rank. Its cases are the cases of the MPI standard 4.1,
// chapter 3.
package p2p
