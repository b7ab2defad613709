// Package steps is the API of event ranks: a rank is a small value and a step function, for
// hundreds of millions of ranks.
//
// # Model
//
// The engine calls the step function for a rank at its start, and again after each wait. A
// step does one piece of work and ends with one operation, whose [Outcome] it returns. The
// rank's value holds what later steps need. [New] returns a program of the function.
//
// # Invariants
//
//   - Results are those of the same calls by a goroutine rank, bit for bit.
//   - A rank takes the bytes of its value, and eight for its clock.
//   - A step that drops the outcome of an operation, or returns another, ends the run.
//
// # Use
//
//	program := steps.New(func(r *steps.Rank, done *bool) steps.Outcome {
//		if *done {
//			return r.Finish()
//		}
//		*done = true
//		return r.Barrier()
//	})
//	result, err := steps.Simulate(machine, 100_000_000, program)
//
// Functions and methods have the names of package mpivirt, and take the same virtual time.
// Their comments say what differs. docs/event-ranks.md explains how to write steps. The package
// composes calls of the kernel and reads their completions. It decides nothing about virtual
// time.
package steps
