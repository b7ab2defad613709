// Package typed makes the calls of collectives from slices of Go's basic types.
//
// # Model
//
// A slice is the bytes of a buffer without a copy ([Bytes], [Elements]). An [Op] is a function
// over slices of elements, and for the kernel one over bytes. For each collective, a function
// checks the lengths of slices and returns what the member hands in.
//
// # Invariants
//
//   - Nothing is copied or kept here, and nothing waits here.
//   - The collective that a function returns is scratch of the kernel. It is submitted before
//     another rank runs.
//
// # Use
//
// The APIs of goroutine ranks and of event ranks share the package. It knows the kernel's
// calls. It must not know how a rank runs. Kinds of rank whose programs are not written in
// Go have no need of it.
package typed
