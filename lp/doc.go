// Package lp suspends and resumes the control flow of logical processes.
//
// A logical process (LP) is one rank of the simulated program. It runs until it must
// wait. Control then goes back to the engine, which resumes it when the outcome is
// known. The package knows nothing of time, messages or why an LP waits: the engine and
// its kernel do.
//
// Every kind of body gives the same results; they differ in cost:
//
//   - [Goroutines]: the LP is ordinary Go code on a stack of its own. It is entered
//     and left as a coroutine (iter.Pull), without channels and without the Go
//     scheduler. It takes about 2.9 KB as long as the frames beneath the entry fit in
//     its first stack of 2 KB (some 640 bytes of frames). It takes that when it begins. One
//     that ends leaves its coroutine, with the stack, to an LP that has not begun.
//   - [Steps]: the LP is a value in a slab and a function that takes one step.
//     Nothing is kept here per LP.
//
// Invariants: one engine resumes an LP, never while it runs, and not again after Resume
// returned false.
package lp
