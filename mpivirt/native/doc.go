// Package native runs the ranks of MPI programs in C, each on a C stack of its own.
//
// # Model
//
// A program is loaded into the process as a shared object (package toolchain builds it). An
// engine has a table of its ranks, and a stack for each, in C memory. A rank that calls MPI
// stores a value, the call, on its stack, and switches to the engine's stack, as a process
// enters a kernel. The engine then runs the next rank. One call of C from Go resumes many
// ranks. It ends when each has made a call or ended, and the calls go to the virtual MPI. No C
// code calls Go, and no rank has a thread.
//
// Calls that need no waiting, as for the rank or the time, are answered in C. Computing adds
// to a sum, which the virtual MPI learns with the next call.
//
// A program's variables belong to the rank that runs. They are copied out and in at a switch,
// of those programs that have any, or moved in the page tables if they are large. Engines that
// run at the same time load a copy of such a program each.
//
// # Invariants
//
//   - Go keeps no pointer into Go memory in C memory.
//   - A stack is left before the call from Go returns. So ranks may go on in another thread,
//     but for those of programs that use errno or the like.
//   - A rank's call is valid while the rank is suspended.
//   - A signal that stops a rank's code ends the rank, and a signal elsewhere is Go's.
//
// # Use
//
//	form, err := native.Open("./ring", []string{"-v"}, native.Options{Stack: 64 << 10})
//	program := mpivirt.Program{Name: "./ring", Forms: []mpivirt.Form{form}}
//
// The package needs cgo. Without it, Open returns an error that says so.
package native
