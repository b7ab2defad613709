// Package lp suspends and resumes the control flow of logical processes.
//
// A logical process (LP) is one rank of the simulated program. It runs until it
// must wait; then control goes back to the engine, which resumes it when what it
// waits for is known. The package knows nothing of time, messages or why an LP
// waits: that is the engine's business and its kernel's.
//
// Every kind of body gives the same results; they differ in cost:
//
//   - [Goroutines]: the LP is ordinary Go code on a stack of its own, entered
//     and left as a coroutine (iter.Pull), without channels and without the Go
//     scheduler. About 2.9 KB an LP as long as what runs beneath the entry fits
//     in the 2 KB stack it starts with (some 640 bytes of frames).
//   - [Steps]: the LP is a value in a slab and a function that takes one step.
//     Nothing is kept here per LP.
//
// Invariants: an LP is resumed by one engine only and never while it runs; it is
// not resumed again after Resume returned false.
package lp
