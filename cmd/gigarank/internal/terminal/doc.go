// Package terminal is the side of the command that faces its user: the streams, the
// progress of a run, units and tables, the files of results, errors and exit codes.
//
// # Model
//
// A [Console] holds the streams of a command and everything that the command reads from
// its environment, so that tests pass a console on buffers (package terminaltest). A [Writer]
// serialises lines of several goroutines and keeps control characters from the terminal.
// Ranks print through an [Outlet], which does not make a run wait for a slow reader.
//
// Errors have a type for each exit code: a [UsageError] holds all faults of a command
// line, [Interrupted] names a signal, [Ended] is the end that all hosts have agreed on.
// [ExitCode] maps them, and the errors of a simulated program, to exit codes.
//
// # Invariants
//
//   - A file of results is complete on disk or not there: it is written under another name
//     and renamed ([ReplaceFile]).
//   - The error that a command ends with is printed once, on one host.
//   - No text of a program or of a file reaches a terminal with control characters, but for
//     the output of ranks.
//
// # Use
//
// Package host stands above this package: it reads memory and signals, and reports in the
// errors and units of this package.
package terminal
