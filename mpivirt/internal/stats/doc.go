// Package stats summarises times that ranks report: the times of operations, and the finish times
// of ranks. It counts what an observer hears: the activities of ranks and messages, and sizes.
//
// # Model
//
// A [Tally] belongs to one engine. For each operation of each iteration it stores the least, the
// greatest and the sum of the ranks' times. For each operation it stores a histogram over all
// iterations. A rank mostly records the same time as the rank before it. A run of equal times costs
// a comparison and a counter for each rank, and is added up when it ends. A label stands for an
// operation of an iteration, so that a collective looks the operation up once.
//
// [Activities] and [Sizes] of an engine are arrays of counters, and travel with its tally.
//
// # Invariants
//
//   - The memory of a tally grows with operations and iterations, never with ranks.
//   - A tally is a pure function of the recorded times, in any order, except for its wall
//     times. So merging the tallies of any partition of the ranks gives the same result.
//   - Sums of times have 128 bits and cannot overflow. A mean is rounded down to a picosecond. Sums of bytes
//     stay at 2^64-1.
//   - Merge, Append and the results need settled tallies.
//
// # Use
//
// The package knows virtual time. It must not know engines, ranks' numbers, communicators or MPI
// calls: the fingerprint, which depends on the rank of each finish, belongs to the engine.
package stats
