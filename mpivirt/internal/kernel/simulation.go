package kernel

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Simulation is one run of a program on a target machine.
type Simulation struct {
	config  Config
	chosen  coll.Algorithms
	engines []*engine.Engine
	setUp   atomic.Int64
	ended   atomic.Int64
	counts  []atomic.Int64           // by engine of this process: iterations complete
	runs    []engineRun              // by engine of this process, in one piece: there may be thousands
	kernels []atomic.Pointer[Kernel] // by engine of this process, while it runs
	blocks  *world.Blocks            // of the engines of this process; nil for a single engine
	going   atomic.Int64             // number of engines of this process that have neither ended nor been lost
	over    chan struct{}            // closed once going is 0
	turns   *engine.Turns            // by which workers run the engines; nil if each engine has its own goroutine
	losing  sync.Mutex               // guards lost in runs
	reason  atomic.Pointer[string]
	started atomic.Bool // Run has been called
}

// New returns a simulation that is ready to run. The error names all faults of the configuration.
func New(c Config) (*Simulation, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	c.Target = c.Target.Seeded(c.Seed)
	n := len(c.Transports)
	s := &Simulation{
		config: c, chosen: c.algorithms(), counts: make([]atomic.Int64, n), runs: world.Announced[engineRun](n, c.Reserve), kernels: make([]atomic.Pointer[Kernel], n), over: make(chan struct{}),
	}
	partition := c.partition()
	s.engines = make([]*engine.Engine, n)
	for i, t := range c.Transports {
		lo, hi := partition.Range(t.Rank())
		s.engines[i] = &s.runs[i].engine
		s.engines[i].Init(engine.Config{
			Partition: partition, Transport: t, Protocol: c.Protocol, BufferLimit: c.BufferLimit, Window: c.Window,
			Lookahead: func(dst int) vtime.Duration {
				dstLo, dstHi := partition.Range(dst)
				if lo == hi || dstLo == dstHi {
					return vtime.Second
				}
				return c.lookahead(lo, hi, dstLo, dstHi)
			},
			LeastLookahead: c.leastLookahead(lo, hi),
			Behind:         resource.SlackOn(c.Target),
		})
	}
	return s, nil
}

// partition returns the division of the ranks among the engines. It keeps the ranks of a node
// together: where possible, for a larger lookahead, and always where they share interfaces, which
// the engine of the node decides about. If the mapping scatters the ranks of nodes, or all ranks
// share a network, one engine has all ranks.
func (c *Config) partition() engine.Partition {
	p := engine.Partition{LPs: c.Target.Ranks(), Engines: c.Transports[0].Size()}
	switch {
	case c.Target.Contention().Model != "":
		p.Unit = p.LPs
	case c.Target.KeepsBlocks() && (c.Target.Nodes() >= p.Engines || c.Target.Contended()):
		p.Unit = c.Target.NodeSize(0)
	case c.Target.Contended():
		p.Unit = p.LPs
	}
	return p
}

// lookahead returns the least delay from an action in a block of ranks to its effect in another
// block. Messages, acknowledgements and steps of collectives have effects.
func (c *Config) lookahead(lo, hi, dstLo, dstHi int) vtime.Duration {
	least := c.Target.Lookahead(lo, hi, dstLo, dstHi)
	hardware := HardwareOf(c.Target.Machine())
	if hardware.Barrier && (c.Library != nil || c.Algorithm(collectives.Barrier) == collectives.GivenTime) {
		least = min(least, coll.FixedCostHop(c.Target.BarrierTime(), c.Transports[0].Size()))
	}
	if hardware.Offload {
		least = min(least, coll.FixedCostHop(c.Target.LeastOffloadTime(), c.Transports[0].Size()))
	}
	if hardware.Torus {
		least = min(least, coll.FixedCostHop(c.Target.LeastTorusTime(), c.Transports[0].Size()))
	}
	if c.Target.ReceiverState() {
		least -= resource.Slack(least) // ranks wait for the match of a rendezvous
	}
	return least
}

// leastLookahead returns the least lookahead from a block of ranks to other ranks, at most a
// second.
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
	if kind := c.RankKind(); c.Bursts != nil && kind != nil && kind.Unmeasurable() != nil {
		faults = append(faults, kind.Unmeasurable())
	}
	if kind := c.RankKind(); c.NoContents && kind != nil && kind.Contentless() != nil {
		faults = append(faults, kind.Contentless())
	}
	if c.Path && !c.Activities {
		fault("the critical path follows the causes of waiting: set Activities, too")
	}
	for op, a := range c.Algorithms {
		switch {
		case a.Check(op) != nil:
			faults = append(faults, a.Check(op))
		case a == collectives.GivenTime && c.Target != nil && c.Target.BarrierTime() == 0:
			fault("algorithm %v for %v on machine %s, which gives no time for it: add barrier: {time: 3us} to network in its file", a, op, c.Target.Machine().Name())
		case a == collectives.Offload && c.Target != nil && c.Target.Machine().Offloads() && !c.Target.OffloadsAcross() && c.Target.Nodes() > 1:
			fault("algorithm %v for %v on %d nodes of machine %s, whose switches sum vectors up within a node only: choose another algorithm", a, op, c.Target.Nodes(), c.Target.Machine().Name())
		case a == collectives.Offload && c.Target != nil && !c.Target.Machine().Offloads():
			fault("algorithm %v for %v on machine %s, whose network sums nothing up: add allreduce or switches to network in its file", a, op, c.Target.Machine().Name())
		case a.AlongTorus() && c.Target != nil && !c.Target.WritesAlongTorus(c.Target.Ranks()):
			fault("algorithm %v for %v on machine %s, whose ranks do not fill a torus, on a node each, along whose links they write: choose another algorithm", a, op, c.Target.Machine().Name())
		}
	}
	return errors.Join(faults...)
}

// Run runs the simulation to its end, once. The result covers the finished part even if there is an
// error: *RankError, *DeadlockError, or an error of the transport. The error is *engine.Stopped if
// another process failed or Stop was called.
func (s *Simulation) Run() (*Result, error) {
	if s.started.Swap(true) {
		return &Result{}, errors.New("the simulation has run already: make another one with New, on transports of its own")
	}
	summaries, errs := s.runEngines()
	s.flush()
	total := &world.Summary{}
	statistics := engine.Statistics{}
	for i, one := range summaries {
		if one == nil {
			continue // the engine's goroutine may still use it
		}
		counts := s.engines[i].Count()
		if invariant.Enabled { // as between processes: a field that does not travel is missing in tests of one process, too
			one, counts, _, _ = world.DecodeSummary(one.Encode(nil, counts))
		}
		total.Merge(one)
		statistics.Add(&counts)
	}
	err := s.beside(firstError(errs))
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
		result.Sent, result.Handed = total.Sent.Classes(), total.Handed.Classes()
		result.Calls = s.statisticsOf(total)
	}
	if err == nil && total.Path.Counts() && total.Path.Ranks() == s.config.Target.Ranks() {
		result.Path = s.pathOf(total)
	}
	result.Complete = err == nil
	return result, err
}

// runEngines runs the engines of this process. An engine whose goroutine does not return has no
// summary.
func (s *Simulation) runEngines() (summaries []*world.Summary, errs []error) {
	began := 0.
	if now := s.config.Now; now != nil {
		began = now()
	}
	ranks := 0
	for _, e := range s.engines {
		lo, hi := e.Range()
		ranks += hi - lo
	}
	if kind := s.config.RankKind(); kind != nil && kind.Prepare != nil {
		kind.Prepare(ranks, len(s.engines), s.config.Touch)
	}
	if len(s.engines) > 1 {
		s.blocks = world.NewBlocks(ranks, s.config.Reserve)
	}
	s.going.Store(int64(len(s.engines)))
	for i := range s.runs {
		r := &s.runs[i]
		r.simulation, r.index, r.began = s, i, began
	}
	s.startHosts()
	stop := s.watch()
	defer stop()
	<-s.over
	summaries, errs = make([]*world.Summary, len(s.engines)), make([]error, len(s.engines))
	for i := range s.runs {
		r := &s.runs[i]
		if r.ended.Load() {
			r.kernel.nameSites()
			summaries[i], errs[i] = &r.kernel.partition.Summary, r.err
		}
		if err := s.lossOf(i); err != nil {
			errs[i] = err
		}
	}
	return summaries, errs
}

// flush writes out the buffered output of files that ranks have left open, also of ranks that have
// not ended: their progress does not depend on the hosting, except beyond a failure. The running
// rank of a lost engine may hold a file.
func (s *Simulation) flush() {
	if s.losesAny() {
		return
	}
	for i := range s.runs {
		if o, is := s.runs[i].kernel.body.(Outsider); is {
			o.Flush()
		}
	}
}

// startHosts starts the hosts of the engines of this process: workers if the engines take turns and
// any goroutine may run their ranks.
func (s *Simulation) startHosts() {
	if kind := s.config.RankKind(); kind != nil && kind.Movable && s.config.Protocol != engine.Null {
		s.turns = engine.TurnsOf(s.config.Transports)
	}
	if s.turns != nil {
		for range s.turns.Hire() {
			go s.newHost(nil).work(s)
		}
		return
	}
	if len(s.runs) == 1 && s.engines[0].Engines() == 1 && s.config.watchdog() == 0 {
		s.newHost(&s.runs[0]).work(s) // nobody watches, and nobody is lost: this goroutine waits for the engine as its host
		return
	}
	for i := range s.runs {
		go s.newHost(&s.runs[i]).work(s)
		runtime.Gosched() // the host goes as far as it can before the next host begins
	}
}

// gather merges the summaries of all processes on host 0, and returns this process's summary
// elsewhere.
func (s *Simulation) gather(own *world.Summary, cause error) (*world.Summary, engine.Statistics, error) {
	e := s.engines[0]
	if own == nil { // the engine's goroutine is blocked for good: its transport is free
		own = &world.Summary{}
		e.Abort([]byte(cause.Error()))
	}
	var deadlock *DeadlockError
	errors.As(cause, &deadlock)
	payloads, err := e.Gather(deadlock.encode(own.Encode(s.report(), e.Count())))
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
		one, counts, report, rest := world.DecodeSummary(payload)
		if len(report) > 0 {
			s.gatherer().Gathers(report)
		}
		if d := decodeDeadlock(rest); d != nil {
			all = mergeDeadlocks(all, d)
		}
		total.Merge(one)
		statistics.Add(&counts)
	}
	if deadlock != nil && all != nil {
		all.Late, cause = deadlock.Late, all
	}
	return total, statistics, cause
}

// gatherer returns the observer of this process that reports to process 0, nil for none.
func (s *Simulation) gatherer() Gatherer {
	k := s.kernels[0].Load() // of an engine whose goroutine has not returned
	if k == nil && s.runs[0].ended.Load() {
		k = &s.runs[0].kernel
	}
	if k == nil {
		return nil
	}
	return k.hearing.gatherer
}

// report returns the report of this process's observer, nil for none. Process 0 has its own already.
func (s *Simulation) report() []byte {
	if g := s.gatherer(); g != nil && s.engines[0].Index() > 0 {
		return g.Report()
	}
	return nil
}

// isStopped reports whether an error says that another engine, or Stop, has ended the run.
func isStopped(err error) bool {
	var stopped *engine.Stopped
	return errors.As(err, &stopped)
}

// firstError returns the error that explains the end of the run best, in this order: an error of
// gigarank itself or of the transport, the least failure of a rank, a failure found from outside, a
// deadlock, the end of the run by another process.
func firstError(errs []error) error {
	var own, stopped error
	var least, blocked *world.RankError
	var deadlock *DeadlockError
	for _, err := range errs {
		if err == nil {
			continue
		}
		var f *world.RankError
		var d *DeadlockError
		switch {
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

// Close unwinds the ranks that have not finished, after a Run that did not reach its end. Their
// deferred calls run. With many ranks this takes time; a process that exits need not call Close.
func (s *Simulation) Close() {
	for i := range s.runs {
		r := &s.runs[i]
		if r.ended.Load() && r.kernel.body != nil {
			r.kernel.body.Stop()
			r.kernel.body = nil
		}
	}
}

// Stop ends the simulation early, on all hosts. Run then returns the result up to that point.
func (s *Simulation) Stop(reason string) {
	s.reason.CompareAndSwap(nil, &reason)
	for _, e := range s.engines {
		e.Stop([]byte(reason))
	}
}

// Progress returns the progress of the simulation in this process. Any goroutine may call it.
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
	p.Computing, p.ComputingFor = s.longestComputing()
	return p
}
