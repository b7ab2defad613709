// Package typed makes the calls of collectives from slices of Go's basic types.
//
// # Model
//
// A slice is the bytes of a buffer without a copy ([Bytes], [Elements]). An [Op] is a function over
// slices of elements, and for the kernel a function over bytes. For each collective, a function
// checks the lengths of slices and returns the member's arguments.
//
// # Invariants
//
//   - The package copies, stores and waits for nothing.
//   - The collective that a function returns is scratch of the kernel. It is submitted before
//     another rank runs.
//
// # Use
//
// The APIs of goroutine ranks and of event ranks share the package. It knows the kernel's calls. It
// must not know how a rank runs. Kinds of rank whose programs are not in Go do not need it.
package typed
