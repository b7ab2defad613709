package kernel

import (
	"gigarank/lp"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
)

// Body runs the ranks of a partition, all of one kind. Only the goroutine that runs the engine uses
// it.
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
// Compute counts as a call: under a model with state at the receiver a rank that does not pause
// after it ends too early. A body that does not pause after each call calls PostponeEnd before it
// returns false. When Resume begins, the completion of the call that the rank waited for is
// available. A rank's number in WORLD is k.Global(lp).
//
// The kernel sets Kernel.Running before Resume.
type Body interface {
	// Resume runs an LP until it waits again. It returns false once the LP has ended.
	// Stop unwinds the LPs that have not ended.
	lp.Body
	// Interrupted reports whether a rank's code has ended the engine's goroutine, by a panic with
	// value or, for a nil value, by Goexit. If so, the rank has failed, and the engine goes on. A
	// deferred function calls it.
	Interrupted(value any) bool
	// Ended reports, after the run, whether an LP has ended.
	Ended(lp int32) bool
	// LastCall returns the latest MPI call of an LP. Another goroutine may call it while the
	// engine's goroutine is blocked.
	LastCall(lp int32) world.Procedure
}

// RangeResumer is a Body that has a way of its own to resume LPs that become ready together. The kernel resumes those of another
// Body one by one.
type RangeResumer interface {
	// ResumeRange runs LPs lo to hi-1, which leave a collective or start. It sets Kernel.Running for each LP, and to [world.None]
	// after the last LP if Interrupted may return true. It calls [Kernel.End] for each LP that ends, and [Kernel.Yield] for the
	// remaining LPs once [Kernel.Limited] holds.
	ResumeRange(lo, hi int32)
}

// Locator is a Body that knows where in its source a program has made a call.
type Locator interface {
	// Place returns the function, file and line in which an LP has made the call in which it waits, such as "exchange
	// (halo.c:42)"; "" if they are not known. It is called after the run: the LP is not resumed any more.
	Place(lp int32) string
	// CommName returns the name that an LP has given the communicator with an index, "" for none.
	CommName(lp, comm int32) string
}

// Site is a place of a program that calls MPI, 0 if it is not known.
type Site = stats.Site

// Siter is a Body of a [Kind] that is Sited: it knows where in its source a program makes a call, while it makes it.
type Siter interface {
	Caller
	// Site returns the place of the call that an LP begins, if places of calls are kept.
	Site(lp int32) Site
}

// Caller is a Body that knows where in its source a program has made a collective call.
type Caller interface {
	// Called returns the place of the collective call with which an LP is being submitted; 0 if it is not known.
	Called(lp int32) Site
	// SiteText returns the function, file and line of a place, such as "exchange (halo.c:42)". They and the numbers of places are the same in all
	// processes.
	SiteText(s Site) string
}

// Outsider is a Body whose ranks run code in other languages than Go.
type Outsider interface {
	// Outside returns the LP whose code runs, [world.None] for none, and the place at which this
	// code waits in the operating system, "" if it is not known to wait. Another goroutine calls
	// it.
	Outside() (lp int32, where string)
	// Interrupt has the LP whose code runs yield to other LPs, if it can, and reports whether it
	// has. The body then passes that LP to [Kernel.SetAside]. Another goroutine calls it.
	Interrupt() bool
	// Flush writes out the buffered output of open files of ranks, once no rank of the process runs
	// any more.
	Flush()
	// Uncharged returns the computing for which no virtual time was charged. The kernel calls it
	// after the run.
	Uncharged() world.Uncharged
	// Weighed returns the virtual time that tasks of a skeleton have taken by their weights, summed over the ranks, in nanoseconds. The kernel calls
	// it after the run.
	Weighed() int64
}
