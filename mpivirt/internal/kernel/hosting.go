package kernel

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/lp"
	"gigarank/mpivirt/internal/world"
)

// engineRun is the run of one engine of this process. Two goroutines use it, one at a time: the
// goroutine in which the engine runs, and its host, which has started that goroutine and waits for
// its end.
type engineRun struct {
	engine     engine.Engine
	kernel     Kernel
	simulation *Simulation
	index      int         // among the engines of this process
	began      float64     // start of its set-up, by the wall clock
	ready      bool        // the kernel is set up
	err        error       // error with which the run has ended
	ended      atomic.Bool // kernel and err are final
	counted    atomic.Bool // the simulation no longer waits for the engine
	lost       *world.RankError
}

// host starts goroutines in which engines run, one at a time: a rank's code may end the goroutine
// in which it runs. A host runs its own engine to the end of the engine. A host without an own
// engine is a worker, which runs any engine that has a turn until that engine pauses.
type host struct {
	home   *engine.Home
	turns  *engine.Turns // nil for a host that is no worker
	run    *engineRun    // next engine to run; nil for none, or for the next engine of Turns
	inside bool          // the goroutine is in Engine.Run
	again  bool          // a rank's code has ended Engine.Run, and the engine goes on
}

// newHost returns the host of an engine, or a worker for nil.
func (s *Simulation) newHost(r *engineRun) *host {
	return &host{home: engine.NewHome(), run: r, turns: s.turns}
}

// work runs engines until no engine is left for this host.
func (h *host) work(s *Simulation) {
	for more := true; more; more = h.run != nil {
		h.again = false
		go h.runEngines(s)
		h.home.AwaitEnd()
		if h.run != nil && !h.again {
			h.end(s)
		}
	}
}

// runEngines is the goroutine of a host.
func (h *host) runEngines(s *Simulation) {
	defer h.home.Ended()
	makeRoom(0)
	if h.run == nil {
		h.goOn(s, -1)
	}
	defer func() {
		if h.inside {
			h.inside = false
			h.again, h.run.err = h.run.kernel.interrupted(recover())
		}
	}()
	for h.run != nil {
		r := h.run
		r.engine.RunsFrom(h.home)
		if !r.ready {
			r.setUp()
		}
		h.inside = true
		r.err = r.engine.Run(r.kernel.eventHandler())
		h.inside = false
		if r.err == engine.ErrPaused {
			h.goOn(s, h.turns.Pause(r.index))
		} else {
			h.end(s)
		}
	}
}

// goOn sets the engine that a worker runs next; a negative number stands for the next engine with a
// turn.
func (h *host) goOn(s *Simulation, engine int) {
	if engine < 0 {
		engine = h.turns.Next()
	}
	h.run = nil
	if engine >= 0 {
		h.run = &s.runs[engine]
	}
}

// end ends the run of an engine. A worker starts another goroutine for that if the engine may have
// to wait for other engines.
func (h *host) end(s *Simulation) {
	r := h.run
	switch {
	case h.turns == nil:
		r.conclude()
		h.run = nil
		return
	case r.err == nil && !r.kernel.partition.Fails():
		r.conclude()
	default:
		go r.conclude()
	}
	h.goOn(s, h.turns.End(r.index))
}

// makeRoom has the runtime give a goroutine a stack that holds an engine's frames, before there are
// frames to move. Only the size of its own unused frame matters.
//
//go:noinline
func makeRoom(use int) byte {
	if use == 0 {
		return 0
	}
	var frame [6 << 10]byte
	return frame[use]
}

// setUp makes the kernel of the engine.
func (r *engineRun) setUp() {
	s, i, k := r.simulation, r.index, &r.kernel
	k.init(&s.config, s.chosen, &r.engine, s.blocks)
	k.partition.Lose = func(err *world.RankError) { s.lose(i, err) }
	k.partition.Summary.Tally.Progressed = func(n int) { s.counts[i].Store(int64(n)) }
	k.partition.Summary.Ended = &s.ended
	k.partition.Summary.Tally.Since(r.began)
	k.body = s.config.Program.form(s.config.Kind).Body(k, k.partition.Ranks)
	k.locator, _ = k.body.(Locator)
	if k.caller, _ = k.body.(Caller); k.caller != nil {
		k.collectives.SiteOf = k.caller.Called
	}
	if k.Sited() {
		if k.hearing.siter, _ = k.body.(Siter); k.hearing.siter != nil {
			k.messages.Site(func(lp int32) Site { return *k.hearing.sites.Open(lp) })
		}
	}
	k.ranges, _ = k.body.(RangeResumer)
	s.setUp.Add(int64(k.partition.Ranks))
	k.partition.EndSetUp()
	k.partition.Summary.Tally.Begin()
	k.partition.Engine.ReadyRange(0, k.partition.Ranks)
	r.ready = true
	s.kernels[i].Store(k)
}

// conclude ends the run of an engine, with an error or without.
func (r *engineRun) conclude() {
	s, k := r.simulation, &r.kernel
	s.kernels[r.index].Store(nil)
	k.partition.Failing.Closed = true
	switch err := r.err; {
	case err == nil && !k.partition.Fails():
		k.messages.CountUnreceived()
	case err == nil, errors.Is(err, engine.ErrDeadlock):
		r.err = k.conclude()
	case !isStopped(err):
		k.partition.Engine.Abort([]byte(err.Error()))
	case s.losesAny():
		if own := k.partition.Failing.Own.Load(); own != nil && !own.Late {
			r.err = own
		}
	}
	if o, is := k.body.(Outsider); is {
		k.partition.Summary.Weighed = o.Weighed()
		if !k.Bursting() {
			k.partition.Summary.Uncharged = o.Uncharged()
		}
	}
	k.partition.Summary.Tally.Settle()
	k.messages.SettleSums()
	r.ended.Store(true)
	r.count()
}

// count has the simulation no longer wait for the engine.
func (r *engineRun) count() {
	if !r.counted.Swap(true) && r.simulation.going.Add(-1) == 0 {
		close(r.simulation.over)
	}
}

// prefetching is a kernel whose ranks are prefetched.
type prefetching struct {
	*Kernel
	body prefetcher
}

// prefetcher is a body that prefetches ranks, as [engine.Prefetcher] does.
type prefetcher interface {
	Prefetch(lp int)
	PrefetchAhead(lp int)
}

var (
	_ engine.Prefetcher = prefetching{}
	_ prefetcher        = (*lp.Goroutines)(nil)
)

// Prefetch implements [engine.Prefetcher].
func (k prefetching) Prefetch(item int32) {
	if item >= 0 {
		k.body.Prefetch(int(item))
	}
}

// PrefetchAhead implements [engine.Prefetcher].
func (k prefetching) PrefetchAhead(lp int32) {
	k.body.PrefetchAhead(int(lp))
	if k.hearing.recorder != nil {
		k.hearing.recorder.Prefetch(lp)
	}
}

// eventHandler returns the kernel in the form that its engine uses.
func (k *Kernel) eventHandler() engine.Kernel {
	if body, ok := k.body.(prefetcher); ok {
		return prefetching{k, body}
	}
	return k
}

// interrupted reports whether the engine goes on after a panic with v, or after a Goexit for nil,
// has ended its goroutine. The engine goes on if the panic comes from a rank's code. Else err is a
// fault of gigarank itself, and the engine is not used again.
func (k *Kernel) interrupted(v any) (again bool, err error) {
	broken, ours := v.(*invariant.Violation)
	lp := k.partition.Running
	switch {
	case ours:
		return false, failedItself(v, broken.Stack)
	case !k.body.Interrupted(v):
		return false, failedItself(v, debug.Stack())
	}
	k.messages.TakeUp(lp)
	return true, nil
}

// Fault is the error of a run in which gigarank itself fails, by a panic that comes from no rank's code. It says nothing of the program or the machine.
type Fault struct {
	Cause any    // the value of the panic
	Stack []byte // of the goroutine
}

func (f *Fault) Error() string {
	return fmt.Sprintf("gigarank itself failed, which is a bug: %v\n%s", f.Cause, f.Stack)
}

// failedItself returns the error of a panic that does not come from a rank's code.
func failedItself(v any, stack []byte) error {
	if f, again := v.(*Fault); again { // of a simulation that chose an algorithm
		return f
	}
	return &Fault{v, stack}
}
