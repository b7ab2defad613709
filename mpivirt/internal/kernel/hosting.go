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
// one in which the engine runs, and its host, which has started that one and waits for it to end.
type engineRun struct {
	engine     engine.Engine
	kernel     Kernel
	simulation *Simulation
	index      int         // among the engines of this process
	began      float64     // when its set-up did, by the wall clock
	ready      bool        // the kernel is set up
	err        error       // with which the run has ended
	ended      atomic.Bool // kernel and err are what they will be
	counted    atomic.Bool // the simulation does not wait for it any more
	lost       *world.RankError
}

// host starts goroutines in which engines run, one at a time: a rank's code may end the goroutine in
// which it runs. It has an engine of its own, which it runs to its end; or it is a worker, and runs
// any engine that has a turn until that pauses.
type host struct {
	home   *engine.Home
	turns  *engine.Turns // nil unless it is a worker
	run    *engineRun    // to be run next; nil: none, or the one that Turns give
	inside bool          // its goroutine is in Engine.Run
	again  bool          // that has been ended by a rank's code, and the engine goes on
}

// newHost returns the host of an engine, or, without one, a worker.
func (s *Simulation) newHost(r *engineRun) *host {
	return &host{home: engine.NewHome(), run: r, turns: s.turns}
}

// work runs engines until there is none left for this host.
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

// goOn has a worker run an engine next, or if that is negative the one that next gets a turn.
func (h *host) goOn(s *Simulation, engine int) {
	if engine < 0 {
		engine = h.turns.Next()
	}
	h.run = nil
	if engine >= 0 {
		h.run = &s.runs[engine]
	}
}

// end ends the run of an engine. A worker leaves it to another goroutine if the engine may have to wait
// for others.
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

// makeRoom makes the runtime give a goroutine a stack that holds an engine's frames, before
// there are any to move. Only the size of its own frame matters, which is not used.
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
	if o, is := k.body.(Outsider); is && !k.Bursting() {
		k.partition.Summary.Uncharged = o.Uncharged()
	}
	k.partition.Summary.Tally.Settle()
	r.ended.Store(true)
	r.count()
}

// count has the simulation not wait for the engine any more.
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

// prefetcher is a body whose ranks can be prefetched, as [engine.Prefetcher] does.
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
func (k prefetching) PrefetchAhead(lp int32) { k.body.PrefetchAhead(int(lp)) }

// eventHandler returns the kernel as its engine uses it.
func (k *Kernel) eventHandler() engine.Kernel {
	if body, ok := k.body.(prefetcher); ok {
		return prefetching{k, body}
	}
	return k
}

// interrupted reports whether the engine goes on after a panic, or nil for a Goexit, has
// ended its goroutine. It does if the panic comes from a rank's code. Else the error is one of
// gigarank itself, and the engine is not used again.
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

// failedItself returns the error of a panic that comes from no rank's code.
func failedItself(v any, stack []byte) error {
	return fmt.Errorf("gigarank itself failed, which is a bug: %v\n%s", v, stack)
}
