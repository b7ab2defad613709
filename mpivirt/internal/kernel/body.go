package kernel

import (
	"gigarank/lp"
	"gigarank/mpivirt/internal/world"
)

// Body runs the ranks of a partition, all of one kind. It is used by the goroutine that
// runs the engine.
//
// A body that resumes a rank goes on with it, call after call, until one is not over, the rank
// has failed ([Kernel.HasFailed]) or it ends. After a call that was over at once it asks
// [Kernel.Pause], which may hold the rank back. The kernel sets Kernel.Running before Resume; a
// body sets it itself for each rank of a range, and to None after the last one if its
// Interrupted may return true.
type Body interface {
	// Resume runs an LP, whose wait is over, until it waits again. It reports whether the LP
	// goes on: false once it has ended. Stop unwinds the LPs that have not.
	lp.Body
	// ResumeRange runs LPs lo to hi-1, which leave a collective or begin, and ends those that
	// come to their end. When one fails, the rest is made ready instead.
	ResumeRange(lo, hi int32)
	// Interrupted is told that a panic with a value, or Goexit if that is nil, has ended the
	// engine's goroutine. It reports whether that came from a rank's code: the rank has
	// failed then, and the engine goes on. It is asked by a deferred function.
	Interrupted(value any) bool
	// Ended reports, when the run is over, whether an LP has come to its end.
	Ended(lp int32) bool
	// LastCall returns the MPI call that an LP has made last. Another goroutine may ask while
	// the engine's stands still.
	LastCall(lp int32) world.Procedure
}
