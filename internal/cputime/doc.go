// Package cputime measures the CPU time that ranks take between MPI calls, records it and
// plays it back.
//
// # Model
//
// VACED-SIM predicts the time of a program by measuring its computation and modelling its
// communication. A burst is the computing of a rank from the return of one MPI call to the next call. Its length is the
// CPU time of the thread that executes the rank. The time of the simulator, and of other
// ranks, is outside any burst.
//
// The CPU clock of a thread costs a system call, the monotonic clock does not. [Meter] reads
// the monotonic clock for each burst. It reads the CPU clock only where a thread may have
// been preempted: at the end of a burst longer than some microseconds, and before a burst
// if its latest reading is old. A preemption takes longer than that.
//
// Ranks in C are measured in C, by the same rules: many of them run between two calls of Go.
//
// # Invariants
//
//   - No burst is longer than the wall time that it took, nor shorter than zero.
//   - A recording holds the bursts of a rank in its program's order. Charging them again
//     gives the same virtual times on any number of engines and hosts.
//
// # Use
//
// [Measured], [Recorded] and [Replayed] are sources of bursts for one engine each; see
// mpivirt's Config.Bursts. [Write] and [Read] keep recordings in files, a file for each
// process.
package cputime
