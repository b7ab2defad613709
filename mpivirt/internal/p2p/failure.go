package p2p

import (
	"fmt"
	"runtime/debug"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
)

// Fail records the failure of a rank at its clock, after all operations that the rank has started.
// The rank is not resumed again.
func (m *Messages) Fail(lp int32, c world.Procedure, err error) {
	f := &m.Partition.Failing
	if f.Closed || f.Failed[lp] {
		return
	}
	if f.Failed == nil {
		f.Failed = map[int32]bool{}
	}
	f.Failed[lp] = true
	m.EndsWith(lp, c, err)
}

// EndsWith records an error of a rank at its clock, after all operations that the rank has started.
// The rank still runs to its end.
func (m *Messages) EndsWith(lp int32, c world.Procedure, err error) {
	m.After(lp, func() { m.Partition.FailedAt(int(m.Partition.Global(lp)), m.Partition.Clock[lp], c, err) })
}

// Die fails a rank from the rank's own code and unwinds that code. It does not return.
func (m *Messages) Die(lp int32, c world.Procedure, err error) {
	m.Fail(lp, c, err)
	world.Throw(err)
}

// panicError is the error of a panic in a rank's own code.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// Unwound fails a rank whose code has panicked with a value. A nil value means that the code has
// ended its goroutine.
func (m *Messages) Unwound(lp int32, c world.Procedure, value any) {
	switch v := value.(type) {
	case nil:
		m.Fail(lp, c, world.ErrGoexit)
	case world.Fatal:
		m.Fail(lp, c, v.Err) // no effect after Die
	case *invariant.Violation:
		panic(v) // not from the rank's code
	default:
		m.Fail(lp, c, &panicError{v, debug.Stack()})
	}
}
