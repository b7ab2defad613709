// Package coll carries collectives out.
//
// # Model
//
// A call (collective.go) enters an instance (instance.go). Its communicator and its number name
// it on all engines. All engines make the same choice of an interpreter (interpreter.go), since
// it rests on what all of them know. By messages, each participant has an agent on a clock of
// its own. Over arrays of clocks, package maxplus evaluates all participants of an engine at
// once. Locally, one engine that has all members goes through the schedule round by round.
// Schedules come from package collectives. Node-leader wraps the first two with joins and
// releases within nodes (join.go). Signatures that travel with messages show that members call
// different things (mismatch.go). PlanOf tells the same choice
// beforehand (plan.go).
//
// # Invariants
//
//   - All three ways give the same times and bytes, on any hosting.
//   - The bytes of a member's input and output are the operation's from its entry to the end of
//     its part, and only then: the program may change them when its call returns. Nothing else
//     holds bytes of them but messages that nobody has taken in (memory.go, moves.go).
//   - Vectors are combined in rank order or in a fixed tree, so that floating-point results
//     do not depend on the partition.
//   - Entering a barrier that is under way touches two cache lines and makes nothing.
//   - A nonblocking operation takes the time of the blocking one.
//
// # Use
//
// [Collectives] adds to [ptp.Messages] what the members of communicators do together. The
// kernel enters ranks and hands over records and tasks. The package must not know kinds of
// rank, how a run begins or how it ends. The cases are those of the MPI standard 4.1,
// chapters 6 and 7.
package coll
