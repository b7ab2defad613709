// Package result describes the result of a simulation as a document for other programs.
//
// # Model
//
// A [Document] has the run that was simulated, its results in virtual time, and the
// cost of the simulation on the host. Its JSON form is schema 1: virtual times are whole
// picoseconds, wall times seconds, memory bytes. `gigarank run --json` writes one
// document; a study keeps one in each line of its results.
//
// # Invariants
//
//   - Fields of a schema keep their names and meanings; new ones may be added.
//   - Times are integers: none is rounded by a reader's floating point.
package result
