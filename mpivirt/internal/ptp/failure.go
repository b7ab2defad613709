package ptp

import (
	"fmt"
	"runtime/debug"

	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
)

// Fail notes that a rank fails at its clock, once what it has begun has taken its time. It
// is not resumed again.
func (k *Messages) Fail(lp int32, c world.Procedure, err error) {
	f := &k.Failing
	if f.Closed || f.Failed[lp] {
		return
	}
	if f.Failed == nil {
		f.Failed = map[int32]bool{}
	}
	f.Failed[lp] = true
	if k.Behind(lp) {
		k.Operate(lp, Operation{Kind: OpCall, Late: func() { k.FailedAt(int(k.Global(lp)), k.Clock[lp], c, err) }})
		return
	}
	k.FailedAt(int(k.Global(lp)), k.Clock[lp], c, err)
}

// Die fails a rank from its own code and unwinds it. It does not return.
func (k *Messages) Die(lp int32, c world.Procedure, err error) {
	k.Fail(lp, c, err)
	world.Throw(err)
}

// panicError is a panic of a rank's own code.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// Unwound fails a rank whose code has panicked with a value, or has ended its goroutine if
// that is nil.
func (k *Messages) Unwound(lp int32, c world.Procedure, value any) {
	switch v := value.(type) {
	case nil:
		k.Fail(lp, c, world.ErrGoexit)
	case world.Fatal:
		k.Fail(lp, c, v.Err) // unless die has
	case *invariant.Violation:
		panic(v) // it is none of the rank's own
	default:
		k.Fail(lp, c, &panicError{v, debug.Stack()})
	}
}
