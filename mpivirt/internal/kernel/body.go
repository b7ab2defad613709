package kernel

import (
	"gigarank/lp"
	"gigarank/mpivirt/internal/world"
)

// Body runs the ranks of a partition, all of one kind. It is used by the goroutine that
// runs the engine.
//
// The life of a rank is, for any kind:
//
//	for !k.HasFailed(lp) {
//		if no call is left {
//			return false // from Resume; the kernel calls End
//		}
//		begin the call: Compose it, fill it in, Submit it
//		if it is not over, or k.Pause(lp) holds the rank back {
//			return true // Resume goes on here
//		}
//		if b := k.CompletionOf(lp); b.Err != nil && b.Fatal {
//			k.Fail(lp, b.Procedure, b.Err)
//		}
//	}
//	return true
//
// Compute counts as a call: under a model with state at the receiver a rank that does not
// pause after it ends too early. A body that does not pause after each call asks
// PostponeEnd before it returns false. The completion of a call that was waited for is
// there when Resume begins. A rank's number in WORLD is k.Global(lp).
//
// The kernel sets Kernel.Running before Resume. ResumeRange sets it for each rank, and to
// [world.None] after the last if Interrupted may return true. It calls End for those that
// have ended, and Yield for the rest once k.Limited().
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
