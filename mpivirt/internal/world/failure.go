package world

import (
	"errors"

	"gigarank/engine"
	"gigarank/vtime"
)

// SetErrorsReturn chooses the error handler of an LP.
func (k *Partition) SetErrorsReturn(lp int32, on bool) {
	k.Returning = k.Returning || on
	if k.errorsReturn == nil {
		k.errorsReturn = make([]uint64, (k.Ranks+63)/64)
	}
	word, bit := &k.errorsReturn[lp>>6], uint64(1)<<(lp&63)
	*word &^= bit
	if on {
		*word |= bit
	}
}

// ErrorsAreFatal reports whether an LP's error handler ends the program.
func (k *Partition) ErrorsAreFatal(lp int32) bool {
	return k.errorsReturn == nil || k.errorsReturn[lp>>6]>>(lp&63)&1 == 0
}

// A rank that fails stops at its clock, and the least failure in the order of (virtual
// time, rank) is what the run ends with. Ranks run ahead of virtual time, so the
// simulation goes on after a failure: ranks whose clocks lie before the least one known,
// here or elsewhere, are resumed until they pass it, wait, end or fail themselves; those
// beyond it are not. What a rank does takes effect on others a picosecond later at the
// earliest. So nothing that is left out has an effect before the failure, and every
// division of the ranks among engines comes to the same one.

// failing is what a kernel knows of ranks that have failed.
type failing struct {
	Horizon *engine.Failure // the least of all engines that is known, nil if there is none
	Own     *RankError      // the least of this engine
	Failed  map[int32]bool  // LPs that have
	Closed  bool            // the run is over: what ranks do while they are unwound does not count
}

// FailedAt notes that a rank, of this engine or another, fails at an instant.
func (k *Partition) FailedAt(rank int, t vtime.Time, c Procedure, err error) {
	f := &k.Failing
	e := &RankError{Rank: rank, Time: t, Call: c.String(), Err: err}
	if f.Own == nil || e.Before(f.Own) {
		f.Own = e
		k.Engine.LPFailed(engine.Failure{Time: e.Time, LP: int32(rank), Reason: []byte(e.Error())})
	}
}

// Before is the order of failures: (virtual time, rank).
func (e *RankError) Before(o *RankError) bool {
	return e.Time < o.Time || e.Time == o.Time && e.Rank < o.Rank
}

// Limit implements [engine.Limited].
func (k *Partition) Limit(f *engine.Failure) { k.Failing.Horizon = f }

// Limited reports whether some rank has failed.
func (k *Partition) Limited() bool { return k.Failing.Horizon != nil }

// Dropped reports whether an LP that is ready goes on no more: it has failed, or all
// that it would do comes after a failure.
func (k *Partition) Dropped(lp int32) bool {
	f := &k.Failing
	return f.Failed[lp] || f.Horizon.Before(&engine.Failure{Time: k.Clock[lp], LP: k.Global(lp)})
}

// ErrGoexit is the failure of a rank that ends its goroutine.
var ErrGoexit = errors.New("the rank's code has ended its goroutine by runtime.Goexit, as Fatal and FailNow of a test do: " +
	"return an error instead (docs/programs.md)")

// swallowedError is the failure of a rank whose code has recovered from the panic by
// which it was ended.
type swallowedError struct{ cause error }

func (e *swallowedError) Error() string {
	return e.cause.Error() + " (a recover() in the rank's code has held up the panic that ends the rank after such an error: " +
		"let it pass, or call SetErrorsReturn(true) and look at the error; docs/programs.md)"
}

func (e *swallowedError) Unwrap() error { return e.cause }

// Yield makes LPs lo to hi-1 ready, which have not had their turn.
func (k *Partition) Yield(lo, hi int32) {
	if lo < hi {
		k.Engine.ReadyRange(int(lo), int(hi))
	}
}

// Closed reports whether the run is over: ranks that have not ended are unwound.
func (k *Partition) Closed() bool { return k.Failing.Closed }

// HasFailed reports whether an LP has failed.
func (k *Partition) HasFailed(lp int32) bool { return k.Failing.Failed != nil && k.Failing.Failed[lp] }

// Swallowed notes that a rank that was ended has gone on.
func (k *Partition) Swallowed(lp int32) {
	own := k.Failing.Own
	if own == nil || own.Rank != int(k.Global(lp)) || own.Err == ErrGoexit {
		return
	}
	if _, known := own.Err.(*swallowedError); !known {
		own.Err = &swallowedError{own.Err}
	}
}
