package kernel

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/invariant"
	"gigarank/lp"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/ptp"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Simulation is one run of a program on a target machine.
type Simulation struct {
	config  Config
	chosen  []collectives.Algorithm // by operation
	engines []*engine.Engine
	setUp   atomic.Int64
	ended   atomic.Int64
	counts  []atomic.Int64           // by engine of this process: iterations complete
	bodies  []lp.Body                // by engine of this process, once it has run
	kernels []atomic.Pointer[Kernel] // by engine of this process, while it runs
	lost    []lost                   // by engine of this process
	losing  sync.Mutex               // guards the err of lost
	reason  atomic.Pointer[string]
	started atomic.Bool // Run has been called
}

// New returns a simulation that is ready to run. The error names all faults of the
// configuration.
func New(c Config) (*Simulation, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	c.Target = c.Target.Seeded(c.Seed)
	n := len(c.Transports)
	s := &Simulation{
		config: c, chosen: c.algorithms(), counts: make([]atomic.Int64, n), bodies: make([]lp.Body, n), kernels: make([]atomic.Pointer[Kernel], n), lost: make([]lost, n),
	}
	for i := range s.lost {
		s.lost[i].gone = make(chan struct{})
	}
	partition := c.partition()
	for _, t := range c.Transports {
		lo, hi := partition.Range(t.Rank())
		s.engines = append(s.engines, engine.New(engine.Config{
			Partition: partition, Transport: t, Protocol: c.Protocol, BufferLimit: c.BufferLimit, Window: c.Window,
			Lookahead: func(dst int) vtime.Duration {
				dstLo, dstHi := partition.Range(dst)
				if lo == hi || dstLo == dstHi {
					return vtime.Second
				}
				return c.lookahead(lo, hi, dstLo, dstHi)
			},
			LeastLookahead: c.leastLookahead(lo, hi),
		}))
	}
	return s, nil
}

// partition returns the division of the ranks among the engines. It keeps the ranks of a
// node together where it can, for a larger lookahead.
func (c *Config) partition() engine.Partition {
	p := engine.Partition{LPs: c.Target.Ranks(), Engines: c.Transports[0].Size()}
	if c.Target.KeepsBlocks() && c.Target.Nodes() >= p.Engines {
		p.Unit = c.Target.NodeSize(0)
	}
	return p
}

// lookahead returns the least delay from an action in one block of ranks to its effect in
// another. Messages, acknowledgements and steps of collectives have effects.
func (c *Config) lookahead(lo, hi, dstLo, dstHi int) vtime.Duration {
	least := c.Target.Lookahead(lo, hi, dstLo, dstHi)
	if c.Algorithm(collectives.Barrier) == collectives.GivenTime {
		least = min(least, coll.GivenHop(c.Target, c.Transports[0].Size()))
	}
	if c.Target.ReceiverState() {
		least -= ptp.Slack(least) // the match of a rendezvous is awaited
	}
	return least
}

// leastLookahead returns the least lookahead of a block of ranks to any other. An empty
// block is a second away.
func (c *Config) leastLookahead(lo, hi int) vtime.Duration {
	least := vtime.Duration(vtime.Second)
	if lo < hi && lo > 0 {
		least = min(least, c.lookahead(lo, hi, 0, lo))
	}
	if n := c.Target.Ranks(); lo < hi && hi < n {
		least = min(least, c.lookahead(lo, hi, hi, n))
	}
	return least
}

// algorithms returns the algorithms, by operation.
func (c *Config) algorithms() []collectives.Algorithm {
	all := make([]collectives.Algorithm, 0, len(collectives.Operations()))
	for _, op := range collectives.Operations() {
		all = append(all, c.Algorithm(op))
	}
	return all
}

// validate returns all faults of the configuration, joined.
func (c *Config) validate() error {
	var faults []error
	fault := func(format string, arguments ...any) { faults = append(faults, fmt.Errorf(format, arguments...)) }
	if c.Target == nil {
		fault("no target machine: set Target")
	} else if c.Target.Ranks() > 1<<31-2 {
		fault("%d ranks: simulate at most %d", c.Target.Ranks(), 1<<31-2)
	} else if c.Target.SharedState() {
		fault("delay model %s has state that messages share, which is not simulated: take another model", c.Target.Machine().Model())
	}
	if len(c.Transports) == 0 {
		fault("no transport: give one for each engine of this process, at least one")
	}
	if i := slices.Index(c.Transports, nil); i >= 0 {
		fault("transport %d of %d is nil", i, len(c.Transports))
	}
	if err := c.Program.check(c.Kind); err != nil {
		faults = append(faults, err)
	}
	if kind := c.kind(); c.Bursts != nil && kind != nil && kind.Unmeasurable() != nil {
		faults = append(faults, kind.Unmeasurable())
	}
	for op, a := range c.Algorithms {
		switch {
		case !slices.Contains(collectives.AllAlgorithms(op), a):
			fault("algorithm %v cannot do %v", a, op)
		case a == collectives.GivenTime && c.Target != nil && c.Target.BarrierTime() == 0:
			fault("algorithm %v for %v on machine %s, which gives no time for it: add barrier: {time: 3us} to network in its file", a, op, c.Target.Machine().Name())
		}
	}
	return errors.Join(faults...)
}

// Run runs the simulation to its end, once. The result covers what was finished even if
// there is an error: *RankError, *DeadlockError, or an error of the transport. The error is
// *engine.Stopped if another process failed or Stop was called.
func (s *Simulation) Run() (*Result, error) {
	if s.started.Swap(true) {
		return &Result{}, errors.New("the simulation has run already: make another one with New, on transports of its own")
	}
	summaries, errs := s.runEngines()
	total := &world.Summary{}
	statistics := engine.Statistics{}
	for i, one := range summaries {
		if one == nil {
			continue // its goroutine may still use it
		}
		total.Merge(one)
		counts := s.engines[i].Count()
		statistics.Add(&counts)
	}
	err := firstError(errs)
	if len(s.engines) == 1 && s.engines[0].Engines() > 1 {
		total, statistics, err = s.gather(summaries[0], err)
	}
	if deadlock, stuck := err.(*DeadlockError); stuck {
		deadlock.explain()
	}
	if err == nil {
		err = total.Unreceived.Err()
	}
	result := resultOf(total, statistics)
	if s.config.Activities {
		result.Activities = total.Activities.Times(s.config.Target.Ranks())
	}
	result.Complete = err == nil
	return result, err
}

// end is the outcome of one engine's run.
type end struct {
	summary *world.Summary
	body    lp.Body
	err     error
}

// runEngines runs the engines of this process. An engine whose goroutine does not return
// has no summary.
func (s *Simulation) runEngines() (summaries []*world.Summary, errs []error) {
	began := 0.
	if now := s.config.Now; now != nil {
		began = now()
	}
	if kind := s.config.kind(); kind != nil && kind.Prepare != nil {
		n := 0
		for _, e := range s.engines {
			lo, hi := e.Range()
			n += hi - lo
		}
		kind.Prepare(n, len(s.engines), s.config.Touch)
	}
	ends := make([]chan end, len(s.engines))
	for i := range s.engines {
		ends[i] = make(chan end, 1)
		go func() { ends[i] <- s.runEngine(i, began) }()
		runtime.Gosched() // it goes as far as it can by itself before the next begins
	}
	stop := s.watch()
	defer stop()
	summaries, errs = make([]*world.Summary, len(s.engines)), make([]error, len(s.engines))
	for i := range s.engines {
		select {
		case e := <-ends[i]:
			summaries[i], s.bodies[i], errs[i] = e.summary, e.body, e.err
		case <-s.lost[i].gone:
		}
		if err := s.lossOf(i); err != nil {
			errs[i] = err
		}
	}
	return summaries, errs
}

// gather merges the summaries of all processes on host 0, and returns the own one elsewhere.
func (s *Simulation) gather(own *world.Summary, cause error) (*world.Summary, engine.Statistics, error) {
	e := s.engines[0]
	if own == nil { // the engine's goroutine is blocked for good: its transport is free
		own = &world.Summary{}
		e.Abort([]byte(cause.Error()))
	}
	var deadlock *DeadlockError
	errors.As(cause, &deadlock)
	payloads, err := e.Gather(deadlock.encode(own.Encode(e.Count())))
	if cause == nil {
		cause = err
	}
	if err != nil || e.Index() != 0 {
		return own, e.Count(), cause
	}
	var all *DeadlockError
	total, statistics := &world.Summary{}, engine.Statistics{}
	for _, payload := range payloads {
		if payload == nil {
			continue
		}
		one, counts, rest := world.DecodeSummary(payload)
		if d := decodeDeadlock(rest); d != nil {
			all = mergeDeadlocks(all, d)
		}
		total.Merge(one)
		statistics.Add(&counts)
	}
	if deadlock != nil && all != nil {
		cause = all
	}
	return total, statistics, cause
}

// runEngine runs one engine of this process, whose set-up began at an instant of the wall clock.
func (s *Simulation) runEngine(i int, began float64) end {
	e, c := s.engines[i], &s.config
	k := newKernel(c, s.chosen, e)
	k.Lose = func(err *world.RankError) { s.lose(i, err) }
	k.Summary.Tally.Progressed = func(n int) { s.counts[i].Store(int64(n)) }
	k.Summary.Ended = &s.ended
	k.Summary.Tally.Since(began)
	reported := 0
	report := func(n int) {
		s.setUp.Add(int64(n - reported))
		reported = n
	}
	k.body = c.Program.form(c.Kind).Body(k, k.Ranks, report)
	report(k.Ranks)
	k.Summary.Tally.Begin()
	e.ReadyRange(0, k.Ranks)
	s.kernels[i].Store(k)
	err := k.run()
	s.kernels[i].Store(nil)
	k.Failing.Closed = true
	switch {
	case isStopped(err) && k.Failing.Own.Load() != nil && s.losesAny():
		err = k.Failing.Own.Load()
	case err == nil && k.Limited() || errors.Is(err, engine.ErrDeadlock):
		err = k.conclude()
	case err != nil && !isStopped(err):
		e.Abort([]byte(err.Error()))
	case err == nil:
		k.CountUnreceived()
	}
	k.Summary.Tally.Settle()
	return end{&k.Summary, k.body, err}
}

// expectant is a kernel whose ranks are fetched into the cache ahead.
type expectant struct {
	*Kernel
	body interface{ Expect(lp int) }
}

// Expect implements [engine.Expecter].
func (k expectant) Expect(item int32) {
	if item >= 0 {
		k.body.Expect(int(item))
	}
}

// run runs the engine to the end of the simulation.
func (k *Kernel) run() (err error) {
	var run engine.Kernel = k
	if body, ok := k.body.(interface{ Expect(lp int) }); ok {
		run = expectant{k, body}
	}
	for again := true; again; {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			returned := false
			defer func() {
				if !returned {
					again, err = k.interrupted(recover())
				}
			}()
			makeRoom(0)
			err = k.Engine.Run(run)
			again, returned = false, true
		}()
		k.Engine.AwaitEnd(ended)
	}
	return err
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

// interrupted reports whether the engine goes on after a panic, or nil for a Goexit, has
// ended its goroutine. It does if the panic comes from a rank's code. Else the error is one of
// gigarank itself, and the engine is not used again.
func (k *Kernel) interrupted(v any) (again bool, err error) {
	broken, ours := v.(*invariant.Violation)
	lp := k.Running
	switch {
	case ours:
		return false, failedItself(v, broken.Stack)
	case !k.body.Interrupted(v):
		return false, failedItself(v, debug.Stack())
	}
	k.TakeUp(lp)
	return true, nil
}

// failedItself returns the error of a panic that comes from no rank's code.
func failedItself(v any, stack []byte) error {
	return fmt.Errorf("gigarank itself failed, which is a bug: %v\n%s", v, stack)
}

// isStopped reports whether an error says that another engine, or Stop, has ended the run.
func isStopped(err error) bool {
	var stopped *engine.Stopped
	return errors.As(err, &stopped)
}

// firstError returns the error that explains the end of the run best, in this order: an
// error of gigarank itself or the transport, the least failure of a rank, a failure found
// from outside, a deadlock, the end of the run by another process.
func firstError(errs []error) error {
	var own, stopped error
	var least, blocked *world.RankError
	var deadlock *DeadlockError
	for _, err := range errs {
		var f *world.RankError
		var d *DeadlockError
		switch {
		case err == nil:
		case errors.As(err, &d):
			deadlock = mergeDeadlocks(deadlock, d)
		case errors.As(err, &f) && fromOutside(f):
			if blocked == nil || f.Before(blocked) {
				blocked = f
			}
		case errors.As(err, &f):
			if least == nil || f.Before(least) {
				least = f
			}
		case isStopped(err):
			stopped = err
		case own == nil:
			own = err
		}
	}
	switch {
	case own != nil:
		return own
	case least != nil:
		return least
	case blocked != nil:
		return blocked
	case deadlock != nil:
		return deadlock
	}
	return stopped
}

// Close unwinds the ranks that have not finished, after a Run that did not reach its end.
// Their deferred calls run. With many ranks this takes a while; a process that exits need
// not call it.
func (s *Simulation) Close() {
	for i, body := range s.bodies {
		if body != nil {
			body.Stop()
		}
		s.bodies[i] = nil
	}
}

// Stop ends the simulation early, on all hosts. Run then returns the result so far.
func (s *Simulation) Stop(reason string) {
	s.reason.CompareAndSwap(nil, &reason)
	for _, e := range s.engines {
		e.Stop([]byte(reason))
	}
}

// Progress returns how far the simulation has come on this process. Any goroutine may call it.
func (s *Simulation) Progress() Progress {
	p := Progress{SetUp: uint64(s.setUp.Load()), Finished: uint64(s.ended.Load())}
	iterations := int64(-1)
	for i, e := range s.engines {
		lo, hi := e.Range()
		p.Ranks += uint64(hi - lo)
		events, t := e.Snapshot()
		p.Events += events
		p.Time = max(p.Time, t)
		if n := s.counts[i].Load(); lo < hi && (iterations < 0 || n < iterations) {
			iterations = n
		}
	}
	p.Iteration = int(max(iterations, 0))
	return p
}
