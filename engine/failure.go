package engine

import (
	"errors"
	"fmt"

	"gigarank/vtime"
)

// Failures: of an LP, after which the simulation goes on up to the least failure, and of the simulation itself.

// Limited is a [Kernel] whose LPs may fail. Past the least failure the engine runs no
// timed event and resumes no throttled LP. The kernel runs no ready LP that lies beyond
// it.
type Limited interface {
	// Limit hands over the least known failure, each time it becomes less.
	Limit(f *Failure)
}

// LPFailed reports that an LP has failed and does nothing more. The simulation goes on
// until nothing is left before the least failure of all engines. Run then ends with
// ErrDeadlock, and Failure is the same everywhere, in whatever order the host works. A late
// failure leaves everything to its course; if its LP is finished, Run ends without an error.
func (e *Engine) LPFailed(f Failure) {
	e.endpoint.Fail(f)
	e.notice()
}

// Failure returns the least known failure, nil if there is none.
func (e *Engine) Failure() *Failure { return e.failure }

// notice takes in a failure that is less than the known one.
func (e *Engine) notice() {
	f := e.endpoint.Failure()
	if f == e.failure {
		return
	}
	e.failure = f
	if !f.Late {
		e.horizon = f.Time.Add(e.config.Behind)
	}
	if k, ok := e.kernel.(Limited); ok {
		k.Limit(f)
	}
}

// Fail ends the simulation at once because of an error in the simulation itself. The
// first error counts.
func (e *Engine) Fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// Err returns the error given to Fail.
func (e *Engine) Err() error { return e.err }

// ErrDeadlock is returned by Run when all engines are quiescent and some LPs have
// not finished.
var ErrDeadlock = errors.New("deadlock")

// CausalityError says that a record reached an engine below its EIT: the bound that it
// relied on was wrong.
type CausalityError struct {
	Source, Destination int // LPs
	Sent, Arrival, EIT  vtime.Time
}

func (err *CausalityError) Error() string {
	return fmt.Sprintf("causality violated: a message from rank %d (sent at %v) reaches rank %d at %v, below the bound %v "+
		"that its engine relied on; the likely cause is a delay model whose delay is shorter than the lookahead it claims",
		err.Source, err.Sent, err.Destination, err.Arrival, err.EIT)
}

// CheckArrival fails the simulation if an effect at the given time violates the
// EIT.
func (e *Engine) CheckArrival(source, destination int, sent, arrival vtime.Time) {
	if arrival < e.endpoint.EIT() && e.Engines() > 1 {
		e.Fail(&CausalityError{source, destination, sent, arrival, e.endpoint.EIT()})
	}
}

// within returns t, or Forever if an event at t comes after the least failure, and resumes no LP before it.
func (e *Engine) within(t vtime.Time) vtime.Time {
	if t > e.horizon {
		return vtime.Forever
	}
	return t
}
