package kernel

import (
	"errors"
	"fmt"
	"runtime/debug"

	"gigarank/engine"
	"gigarank/invariant"
	"gigarank/vtime"
)

// A rank that fails stops at its clock, and the least failure in the order of (virtual
// time, rank) is what the run ends with. Ranks run ahead of virtual time, so the
// simulation goes on after a failure: ranks whose clocks lie before the least one known,
// here or elsewhere, are resumed until they pass it, wait, end or fail themselves; those
// beyond it are not. What a rank does takes effect on others a picosecond later at the
// earliest. So nothing that is left out has an effect before the failure, and every
// division of the ranks among engines comes to the same one.

// failing is what a kernel knows of ranks that have failed.
type failing struct {
	horizon *engine.Failure // the least of all engines that is known, nil if there is none
	own     *RankError      // the least of this engine
	failed  map[int32]bool  // LPs that have
	behind  map[int32]fault // by LP that fails once what it began before has begun
	closed  bool            // the run is over: what ranks do while they are unwound does not count
}

// Fail notes that a rank fails at its clock, once what it has begun has taken its time. It
// is not resumed again.
func (k *Kernel) Fail(lp int32, c Procedure, err error) {
	f := &k.failing
	if f.closed || f.failed[lp] {
		return
	}
	if f.failed == nil {
		f.failed = map[int32]bool{}
	}
	f.failed[lp] = true
	if k.Behind(lp) {
		if f.behind == nil {
			f.behind = map[int32]fault{}
		}
		f.behind[lp] = fault{c, err}
		k.operate(lp, operation{kind: opFail})
		return
	}
	k.failedAt(int(k.Global(lp)), k.Clock[lp], c, err)
}

// failBehind fails an LP whose failure was put off.
func (k *Kernel) failBehind(lp int32) {
	f := k.failing.behind[lp]
	k.failedAt(int(k.Global(lp)), k.Clock[lp], f.op, f.err)
}

// failedAt notes that a rank, of this engine or another, fails at an instant.
func (k *Kernel) failedAt(rank int, t vtime.Time, c Procedure, err error) {
	f := &k.failing
	e := &RankError{Rank: rank, Time: t, Call: c.String(), Err: err}
	if f.own == nil || e.before(f.own) {
		f.own = e
		k.eng.LPFailed(engine.Failure{Time: e.Time, LP: int32(rank), Reason: []byte(e.Error())})
	}
}

// before is the order of failures: (virtual time, rank).
func (e *RankError) before(o *RankError) bool {
	return e.Time < o.Time || e.Time == o.Time && e.Rank < o.Rank
}

// Die fails a rank from its own code and unwinds it. It does not return.
func (k *Kernel) Die(lp int32, c Procedure, err error) {
	k.Fail(lp, c, err)
	Throw(err)
}

// Limit implements [engine.Limited].
func (k *Kernel) Limit(f *engine.Failure) { k.failing.horizon = f }

// Limited reports whether some rank has failed.
func (k *Kernel) Limited() bool { return k.failing.horizon != nil }

// dropped reports whether an LP that is ready goes on no more: it has failed, or all
// that it would do comes after a failure.
func (k *Kernel) dropped(lp int32) bool {
	f := &k.failing
	return f.failed[lp] || f.horizon.Before(&engine.Failure{Time: k.Clock[lp], LP: k.Global(lp)})
}

// conclude returns the error of a run in which nobody can go on: the least failure, or that
// of a rank whose call does not fit the others', if it comes before that or is why they
// wait, else what they wait for. Engine 0 finds that rank. All engines call it together.
func (k *Kernel) conclude() error {
	f := &k.failing
	payloads, err := k.eng.Gather(encodeCalls(k.calls()))
	if err != nil {
		return err
	}
	var answer []byte
	if mismatch := disagreement(decodeCalls(payloads), !k.Limited(), k.together()); mismatch != nil {
		least := engine.Failure{Time: mismatch.Time, LP: int32(mismatch.Rank), Reason: []byte(mismatch.Error())}
		if !k.Limited() || !f.horizon.Before(&least) {
			f.own, answer = mismatch, append(appendWords(nil, uint64(least.Time), uint64(least.LP)), least.Reason...)
		}
	}
	if answer, err = k.eng.Share(answer); err != nil {
		return err
	}
	if r := (reader{answer}); len(answer) > 0 {
		f.horizon = &engine.Failure{Time: vtime.Time(r.u64()), LP: int32(r.u64()), Reason: r.b}
	}
	if !k.Limited() {
		return k.deadlock()
	}
	k.recount()
	return k.leastFailure()
}

// leastFailure is the error of a run that has ended with a failure: the least one, if it is
// known here, else that another engine has ended the run.
func (k *Kernel) leastFailure() error {
	least := k.failing.horizon
	if own := k.failing.own; own != nil && own.Rank == int(least.LP) && own.Time == least.Time {
		return own
	}
	return &engine.Stopped{From: k.eng.Partition().Owner(int(least.LP)), Reason: least.Reason}
}

// panicError is a panic of a rank's own code.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// Unwound fails a rank whose code has panicked with a value, or has ended its goroutine if
// that is nil.
func (k *Kernel) Unwound(lp int32, c Procedure, value any) {
	switch v := value.(type) {
	case nil:
		k.Fail(lp, c, errGoexit)
	case fatal:
		k.Fail(lp, c, v.err) // unless die has
	case *invariant.Violation:
		panic(v) // it is none of the rank's own
	default:
		k.Fail(lp, c, &panicError{v, debug.Stack()})
	}
}

// errGoexit is the failure of a rank that ends its goroutine.
var errGoexit = errors.New("the rank's code has ended its goroutine by runtime.Goexit, as Fatal and FailNow of a test do: " +
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
func (k *Kernel) Yield(lo, hi int32) {
	if lo < hi {
		k.eng.ReadyRange(int(lo), int(hi))
	}
}

// Closed reports whether the run is over: ranks that have not ended are unwound.
func (k *Kernel) Closed() bool { return k.failing.closed }

// HasFailed reports whether an LP has failed.
func (k *Kernel) HasFailed(lp int32) bool { return k.failing.failed != nil && k.failing.failed[lp] }

// Swallowed notes that a rank that was ended has gone on.
func (k *Kernel) Swallowed(lp int32) {
	own := k.failing.own
	if own == nil || own.Rank != int(k.Global(lp)) || own.Err == errGoexit {
		return
	}
	if _, known := own.Err.(*swallowedError); !known {
		own.Err = &swallowedError{own.Err}
	}
}

// recount counts anew, after a failure, the ranks that had finished before it in
// virtual time: which others had run ahead to their end depends on the hosting.
func (k *Kernel) recount() {
	least := k.failing.horizon
	if k.summary.digest.Last < least.Time {
		return
	}
	k.summary.forgetFinishes()
	for lp := range int32(k.n) {
		at := engine.Failure{Time: k.Clock[lp], LP: k.Global(lp)}
		if at.Before(least) && k.body.Ended(lp) {
			k.summary.finish(int(at.LP), at.Time)
		}
	}
}
