// Package stats sums up times that ranks report: how long operations took, and when
// ranks finished.
//
// # Model
//
// A [Tally] belongs to one engine. For each operation of each iteration it keeps the least,
// the greatest and the sum of the ranks' times. For each operation it keeps a histogram over
// all iterations. Ranks mostly record the time that the rank before them recorded. A run of
// equal times costs a comparison and a counter for each rank, and is summed up when it ends. A
// label stands for an operation of an iteration, so that a collective looks it up once.
//
// # Invariants
//
//   - The memory of a tally grows with operations and iterations, never with ranks.
//   - A tally is a pure function of what was recorded, in whatever order, but for its
//     wall times. So merging the tallies of any partition of the ranks gives the same.
//   - Sums have 128 bits and cannot overflow. A mean is rounded down to a picosecond.
//   - Merge, Append and the results want settled tallies.
//
// # Use
//
// The package knows virtual time. It must not know engines, ranks' numbers,
// communicators or MPI calls: the fingerprint, which depends on which rank finished when,
// is the engine's.
package stats
