package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gigarank/engine"
	"gigarank/internal/random"
	"gigarank/lp"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// phold is the synthetic benchmark of parallel discrete event simulation (Fujimoto,
// "Performance of Time Warp under synthetic workloads", 1990). One event for each LP is
// under way at any time. An LP that handles an event causes the next, at itself or at
// another LP.
var phold = Entry{
	Name:     "phold",
	Summary:  "LPs without MPI that send events to random LPs; the standard benchmark of the bare engine",
	Defaults: Options{Iterations: 100},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind},
	Direct:   newPhold,
	State:    func(*mpivirt.Kind, Options) float64 { return pholdStateSize },
}

// The parameters of phold, with a time unit of a microsecond: lookahead 0.1, mean
// delay 1.0, half of the events for other LPs.
const (
	pholdLookahead = 100 * vtime.Nanosecond
	pholdMean      = 900 * vtime.Nanosecond // of the exponential part of the delay
	pholdUnit      = vtime.Microsecond      // mean time between two events of an LP
	pholdRemote    = 0.5
)

// pholdLP is the state of an LP.
type pholdLP struct {
	last     vtime.Time // of its last event
	sequence uint64     // events that it has caused
}

// pholdStateSize is the size of a pholdLP and of its event.
const pholdStateSize = 16 + engine.EventBytes

// pholdKernel gives the events of one engine their meaning.
type pholdKernel struct {
	eng    *engine.Engine
	seed   uint64
	end    vtime.Time // no event is at or after it
	lo, n  int
	total  int // LPs of all engines
	body   lp.Body
	lps    []pholdLP
	over   bool // end has been reached
	digest engine.Digest
	done   *atomic.Int64
}

// pholdEnd marks the event at which all LPs of the engine end.
const pholdEnd = 1

// newPholdKernel returns the kernel of an engine.
func newPholdKernel(c *Config, e *engine.Engine) *pholdKernel {
	lo, hi := e.Range()
	k := &pholdKernel{
		eng: e, seed: c.Seed, end: pholdDuration(c.Options), lo: lo, n: hi - lo, total: e.Partition().LPs,
		lps: make([]pholdLP, hi-lo),
	}
	if c.Kind == steps.Kind {
		k.body = lp.Steps(k.step)
	} else {
		k.body = lp.NewGoroutines(k.n, k.process)
	}
	if k.n > 0 {
		e.ReadyRange(0, k.n)
		e.Schedule(engine.Event{Time: k.end, LP: int32(lo), Data: pholdEnd})
	}
	return k
}

// pholdDuration returns the virtual time of a run: one unit for each event that an LP
// handles on average.
func pholdDuration(o Options) vtime.Time { return vtime.Time(o.Iterations) * vtime.Time(pholdUnit) }

// process is the body of a goroutine LP.
func (k *pholdKernel) process(i int, self lp.Coroutine) {
	k.cause(i, false)
	for {
		self.Wait()
		if k.over {
			return
		}
		k.cause(i, true)
	}
}

// pholdGoroutines is the kernel of goroutine LPs. Their stacks are fetched ahead.
type pholdGoroutines struct {
	*pholdKernel
	lps *lp.Goroutines
}

var _ engine.Prefetcher = pholdGoroutines{}

// Prefetch implements [engine.Prefetcher].
func (k pholdGoroutines) Prefetch(lp int32) { k.lps.Prefetch(int(lp)) }

// PrefetchAhead implements [engine.Prefetcher].
func (k pholdGoroutines) PrefetchAhead(lp int32) { k.lps.PrefetchAhead(int(lp)) }

// step is process for event LPs.
func (k *pholdKernel) step(i int) bool {
	if k.over {
		return false
	}
	k.cause(i, k.lps[i].sequence > 0)
	return true
}

// cause schedules the event that follows the last one of an LP. An LP's first event is
// its own. An event past the end of the run is dropped.
func (k *pholdKernel) cause(i int, move bool) {
	l := &k.lps[i]
	source, draw := k.lo+i, 3*l.sequence
	delay := pholdLookahead + random.Exponential(k.seed, uint64(source), draw, pholdMean)
	destination := source
	if move && k.total > 1 && random.Float64(k.seed, uint64(source), draw+1) < pholdRemote {
		// One of the others.
		destination = random.Intn(k.seed, uint64(source), draw+2, k.total-1)
		if destination >= source {
			destination++
		}
	}
	ev := engine.Event{Time: l.last.Add(delay), Sequence: l.sequence, Source: int32(source), LP: int32(destination)}
	l.sequence++
	if destination != source {
		k.eng.Statistics.Messages++
	}
	if ev.Time >= k.end {
		return
	}
	if uint(destination-k.lo) < uint(k.n) {
		k.eng.Schedule(ev)
		return
	}
	record := k.eng.Record(k.eng.Partition().Owner(destination), pholdRecord)
	binary.LittleEndian.PutUint64(record, uint64(ev.Time))
	binary.LittleEndian.PutUint64(record[8:], uint64(l.last))
	binary.LittleEndian.PutUint64(record[16:], ev.Sequence)
	binary.LittleEndian.PutUint32(record[24:], uint32(ev.Source))
	binary.LittleEndian.PutUint32(record[28:], uint32(ev.LP))
}

// pholdRecord is the size of an event between engines: its time, the time at which it
// was caused, sequence number, source and destination.
const pholdRecord = 32

// Deliver implements [engine.Kernel].
func (k *pholdKernel) Deliver(src int, record []byte) {
	ev := engine.Event{
		Time:     vtime.Time(binary.LittleEndian.Uint64(record)),
		Sequence: binary.LittleEndian.Uint64(record[16:]),
		Source:   int32(binary.LittleEndian.Uint32(record[24:])),
		LP:       int32(binary.LittleEndian.Uint32(record[28:])),
	}
	k.eng.CheckArrival(int(ev.Source), int(ev.LP), vtime.Time(binary.LittleEndian.Uint64(record[8:])), ev.Time)
	k.eng.Schedule(ev)
	k.eng.Consumed(src, len(record))
}

// Handle implements [engine.Kernel].
func (k *pholdKernel) Handle(ev engine.Event) {
	if ev.Data == pholdEnd {
		k.over = true
		k.eng.ReadyRange(0, k.n)
		return
	}
	i := ev.LP - int32(k.lo)
	k.lps[i].last = ev.Time
	k.eng.Statistics.Switches++
	k.body.Resume(int(i))
}

// Run implements [engine.Kernel]: an LP begins or ends.
func (k *pholdKernel) Run(item int32) {
	k.eng.Statistics.Switches++
	if k.body.Resume(int(item)) {
		return
	}
	k.digest.Add(k.lo+int(item), k.lps[item].last)
	k.eng.Finished(1)
	if k.digest.Finished%64 == 0 {
		k.done.Add(64)
	}
}

// Drained implements [engine.Kernel].
func (k *pholdKernel) Drained() {}

// pholdSimulation is a run of phold.
type pholdSimulation struct {
	config  Config
	engines []*engine.Engine
	setUp   atomic.Int64
	done    atomic.Int64
}

// newPhold prepares a run on as many LPs as the target machine has ranks.
func newPhold(c Config) (Simulation, error) {
	if c.Target == nil || len(c.Transports) == 0 {
		return nil, errors.New("phold: no target machine or no transport: set both")
	}
	if n := c.Target.Ranks(); n > 1<<31-1 {
		return nil, fmt.Errorf("phold: %d LPs: at most %d can be simulated", n, 1<<31-1)
	}
	s := &pholdSimulation{config: c}
	partition := engine.Partition{LPs: c.Target.Ranks(), Engines: c.Transports[0].Size()}
	for _, t := range c.Transports {
		s.engines = append(s.engines, engine.New(engine.Config{
			Partition: partition, Transport: t, Protocol: c.Protocol, BufferLimit: c.BufferLimit,
			Lookahead: func(int) vtime.Duration { return pholdLookahead }, LeastLookahead: pholdLookahead,
		}))
	}
	return s, nil
}

// account is the report of an engine at the end.
type account struct {
	digest     engine.Digest
	statistics engine.Statistics
}

func (a *account) add(o *account) {
	a.digest.Merge(&o.digest)
	a.statistics.Add(&o.statistics)
}

// Run implements [Simulation].
func (s *pholdSimulation) Run() (*mpivirt.Result, error) {
	accounts, errs := make([]account, len(s.engines)), make([]error, len(s.engines))
	began, setUp := s.now(), make([]float64, len(s.engines))
	var group sync.WaitGroup
	for i, e := range s.engines {
		group.Go(func() {
			k := newPholdKernel(&s.config, e)
			s.setUp.Add(int64(k.n))
			k.done = &s.done
			setUp[i] = s.now() - began
			errs[i] = s.runEngine(k)
			accounts[i] = account{k.digest, e.Count()}
		})
	}
	group.Wait()
	var total account
	last := 0.0
	for i := range accounts {
		total.add(&accounts[i])
		last = max(last, setUp[i])
	}
	err := causeOf(errs)
	if len(s.engines) == 1 && s.engines[0].Engines() > 1 {
		var gathered error
		if gathered = s.gather(&total); err == nil {
			err = gathered
		}
	}
	return &mpivirt.Result{
		Complete: err == nil, VirtualTime: total.digest.Last, Finished: total.digest.Finished,
		Fingerprint: total.digest.String(), Statistics: total.statistics, SetupWall: last,
	}, err
}

// runEngine runs one engine of this process.
func (s *pholdSimulation) runEngine(k *pholdKernel) error {
	var kernel engine.Kernel = k
	if lps, ok := k.body.(*lp.Goroutines); ok {
		kernel = pholdGoroutines{k, lps}
	}
	err := k.eng.Run(kernel)
	if err != nil {
		var stopped *engine.Stopped
		if !errors.As(err, &stopped) {
			k.eng.Abort([]byte(err.Error()))
		}
		k.body.Stop()
	}
	return err
}

// causeOf returns the first error that is not the consequence of another engine's.
func causeOf(errs []error) error {
	var stopped *engine.Stopped
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.As(first, &stopped)) {
			first = err
		}
	}
	return first
}

// gather brings the accounts of all processes to host 0.
func (s *pholdSimulation) gather(total *account) error {
	e := s.engines[0]
	payloads, err := e.Gather(total.statistics.Append(total.digest.Append(nil)))
	if err != nil || e.Index() != 0 {
		return err
	}
	*total = account{}
	for _, payload := range payloads {
		if payload == nil { // a host that is lost
			continue
		}
		var a account
		a.statistics.Read(a.digest.Read(payload))
		total.add(&a)
	}
	return nil
}

func (s *pholdSimulation) now() float64 {
	if s.config.Now == nil {
		return 0
	}
	return s.config.Now()
}

// Stop implements [Simulation].
func (s *pholdSimulation) Stop(reason string) {
	for _, e := range s.engines {
		e.Stop([]byte(reason))
	}
}

// Progress implements [Simulation]. An iteration is one unit of virtual time, in
// which an LP handles one event on average.
func (s *pholdSimulation) Progress() mpivirt.Progress {
	p := mpivirt.Progress{SetUp: uint64(s.setUp.Load()), Finished: uint64(s.done.Load())}
	for _, e := range s.engines {
		lo, hi := e.Range()
		p.Ranks += uint64(hi - lo)
		events, t := e.Snapshot()
		p.Events += events
		p.Time = max(p.Time, t)
	}
	p.Iteration = int(p.Time / vtime.Time(pholdUnit))
	return p
}
