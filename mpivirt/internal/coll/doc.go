// Package coll carries collectives out.
//
// # Model
//
// A call enters an instance, which communicator and number name on all engines alike. The
// engines carry it out in one of three ways, which they choose alike from what they all know
// (interpreter.go): by messages, each participant with an agent on a clock of its own; over
// arrays of clocks, by package maxplus; or locally, round by round, where one engine has
// all members. Schedules come from package collectives. Node-leader wraps the first two with
// joins and releases within nodes (join.go). Members that call different things are found out
// by signatures that travel with messages (mismatch.go). CostOf foresees what an instance
// takes on the host from the same choice.
//
// # Invariants
//
//   - All three ways give the same times and bytes, on any hosting.
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
