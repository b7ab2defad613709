// Package ptp is point-to-point communication: matching, requests, waits, probes, and the
// processors of ranks under models with state at the receiver.
//
// # Model
//
// [Messages] adds to a partition the mailboxes of its ranks. A message reaches the mailbox
// of its receiver with its arrival time, and matching.go says which receive takes it. Short
// lists hold messages and receives; after a long search bins do, by what they match. The
// requests that a wait names determine the instant at which it ends. Where that depends on
// timing, a timed event evaluates the wait again once more is known. A long list of requests of
// which a rank waits for any is kept for its next call (kept.go). Above the eager limit a
// message is REQ, ACK, DATA. Under a model with state at the receiver a rank's processor
// takes all decisions in the order of virtual time (processor.go).
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
// The package knows rooms world and below. Through [Upcalls] it resumes ranks, and carries
// out rounds of collectives that share a processor with a rank's own messages. It must not
// know collectives or kinds of rank. The cases are those of the MPI standard 4.1, chapter 3.
//
// # State at the receiver
//
// Under most delay models what a message costs follows from its sender's clock and its
// receiver's call. Under one with state at the receiver, as `loggops`
// (`network.Target.ReceiverState`), it depends on what else arrives there. Each rank then has
// a processor (`mpivirt/internal/ptp/processor.go`), which takes its decisions in the order of virtual time,
// when all arrivals up to that instant are known, as receives from any source do. A rank's
// calls become operations in a queue; it is suspended only where it asks for an outcome or
// the time. Collectives are carried out by messages.
//
// The lookahead between engines is what a message takes (o + L), less the slack of a
// nanosecond for matches that lead to matches without time between them. The match of a
// rendezvous keeps no lookahead. So an engine that has one under way lets promises bound its
// EIT only up to the message's arrival; beyond it counts a round of the global minimum, plus
// a picosecond (`sync.Endpoint.Await`).
//
// A message takes effect on its receiver's processor whether or not somebody waits for it.
// So a collective cannot fail as a whole there: members that call different ones end the run.
//
// docs/decisions/0005-exact-processors.md has the price of that.
package ptp
