package world

import (
	"errors"
	"sync/atomic"

	"gigarank/engine"
	"gigarank/vtime"
)

// SetErrorsReturn sets the error handler of an LP: MPI_ERRORS_RETURN if on, else
// MPI_ERRORS_ARE_FATAL.
func (p *Partition) SetErrorsReturn(lp int32, on bool) {
	p.ErrorsReturn = p.ErrorsReturn || on
	if p.errorsReturn == nil {
		p.errorsReturn = make([]uint64, (p.Ranks+63)/64)
	}
	word, bit := &p.errorsReturn[lp>>6], uint64(1)<<(lp&63)
	*word &^= bit
	if on {
		*word |= bit
	}
}

// ErrorsAreFatal reports whether an LP's error handler is MPI_ERRORS_ARE_FATAL.
func (p *Partition) ErrorsAreFatal(lp int32) bool {
	return p.errorsReturn == nil || p.errorsReturn[lp>>6]>>(lp&63)&1 == 0
}

// A rank that fails stops at its clock. The run ends with the least failure in the order (virtual
// time, rank). Ranks run ahead of virtual time, so the simulation goes on after a failure. Ranks
// whose clocks are before the least known failure are resumed until they pass it, wait, end or
// fail; other ranks are not resumed. An action of a rank affects other ranks a picosecond later at
// the earliest. So the omitted work has no effect before the failure, and every division of the
// ranks among engines finds the same failure.
//
// A rank that has left MPI, for example by MPI_Finalize, has synchronised with the other ranks
// there as in a barrier: its later failures are late. A late failure counts once all ranks have
// left MPI, and bounds nothing.

// failing is the state of a partition's failures.
type failing struct {
	Horizon *engine.Failure                    // least known failure of all engines, nil for none
	Own     ownFailure                         // least failure of this engine; the watchdog reads it
	Failed  map[int32]bool                     // by LP
	Closed  bool                               // the run is over: ranks are unwound, and their calls do nothing
	HasLeft func(lp int32) bool                // reports whether an LP has left MPI; nil if LPs of the kind never leave it
	Name    func(rank int, c Procedure) string // the call at fault as the program wrote it; nil for the names of [Partition.NameOf]
}

// ownFailure is nil for no failure. A stored RankError does not change.
type ownFailure = atomic.Pointer[RankError]

// FailedAt records the failure of a rank at an instant.
func (p *Partition) FailedAt(rank int, t vtime.Time, c Procedure, err error) {
	lp, here := p.Local(rank)
	p.failed(&RankError{Rank: rank, Time: t, Call: p.CallOf(rank, c), Late: here && p.HasLeft(lp), Err: err})
}

// CallOf returns the name of a rank's call of a procedure as the program wrote it.
func (p *Partition) CallOf(rank int, c Procedure) string {
	if p.Failing.Name != nil {
		return p.Failing.Name(rank, c)
	}
	return p.NameOf(c)
}

// FailedIn records the failure of a rank, of any engine, in a call with a name.
func (p *Partition) FailedIn(rank int, t vtime.Time, call string, err error) {
	p.failed(&RankError{Rank: rank, Time: t, Call: call, Err: err})
}

func (p *Partition) failed(e *RankError) {
	f := &p.Failing
	if own := f.Own.Load(); own == nil || e.Before(own) {
		f.Own.Store(e)
		p.Engine.LPFailed(engine.Failure{Time: e.Time, LP: int32(e.Rank), Late: e.Late, Reason: []byte(e.Error())})
	}
}

// HasLeft reports whether an LP has left MPI.
func (p *Partition) HasLeft(lp int32) bool { return p.Failing.HasLeft != nil && p.Failing.HasLeft(lp) }

// NameOf returns the name of a procedure in programs.
func (p *Partition) NameOf(c Procedure) string {
	if p.Names != nil {
		return p.Names(c)
	}
	return c.String()
}

// Before is the order of failures: (virtual time, rank), late failures after all others.
func (e *RankError) Before(o *RankError) bool {
	if e.Late != o.Late {
		return o.Late
	}
	return e.Time < o.Time || e.Time == o.Time && e.Rank < o.Rank
}

// Limit implements [engine.Limited].
func (p *Partition) Limit(f *engine.Failure) { p.Failing.Horizon = f }

// Limited reports whether a known failure of any rank bounds the run.
func (p *Partition) Limited() bool { return p.Failing.Horizon != nil && !p.Failing.Horizon.Late }

// Fails reports whether a failure of any rank is known.
func (p *Partition) Fails() bool { return p.Failing.Horizon != nil }

// Dropped reports whether an LP is no longer resumed: it has failed, or its clock lies beyond a
// failure.
func (p *Partition) Dropped(lp int32) bool {
	f := &p.Failing
	return f.Failed[lp] || f.Horizon.Before(&engine.Failure{Time: p.Clock[lp], LP: p.Global(lp)})
}

// ErrGoexit is the failure of a rank that ends its goroutine.
var ErrGoexit = errors.New("the rank's code has ended its goroutine by runtime.Goexit, as Fatal and FailNow of a test do: " +
	"return an error instead (docs/programs.md)")

// swallowedError is the failure of a rank whose code has recovered from the panic that ends the
// rank.
type swallowedError struct{ cause error }

func (e *swallowedError) Error() string {
	return e.cause.Error() + " (a recover() in the rank's code has stopped the panic that ends the rank after such an error: " +
		"let it pass, or call SetErrorsReturn(true) and look at the error; docs/programs.md)"
}

// Unwrap returns the failure before the recovery.
func (e *swallowedError) Unwrap() error { return e.cause }

// Yield makes LPs lo to hi-1 ready again.
func (p *Partition) Yield(lo, hi int32) {
	if lo < hi {
		p.Engine.ReadyRange(int(lo), int(hi))
	}
}

// Closed reports whether the run is over and its ranks are unwound.
func (p *Partition) Closed() bool { return p.Failing.Closed }

// HasFailed reports whether an LP has failed.
func (p *Partition) HasFailed(lp int32) bool { return p.Failing.Failed != nil && p.Failing.Failed[lp] }

// Swallowed adds to a rank's failure the note that the rank's code has recovered from the panic and
// gone on.
func (p *Partition) Swallowed(lp int32) {
	own := p.Failing.Own.Load()
	if own == nil || own.Rank != int(p.Global(lp)) || own.Err == ErrGoexit {
		return
	}
	if _, known := own.Err.(*swallowedError); !known {
		told := *own
		told.Err = &swallowedError{own.Err}
		p.Failing.Own.Store(&told)
	}
}
