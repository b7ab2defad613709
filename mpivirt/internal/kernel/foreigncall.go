package kernel

import (
	"errors"
	"fmt"
	"math"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
)

// Ranks of an engine run one at a time, in the engine's thread of control. A rank violates this
// rule if its code waits outside MPI, or calls MPI from another goroutine. The watchdog finds such
// waits, and a check of the running rank finds such calls. docs/programs.md has the rules.

// errBlocked is the failure of a rank whose code is blocked outside MPI.
type errBlocked struct {
	where   string
	seconds float64
}

func (e *errBlocked) Error() string {
	return fmt.Sprintf("the rank's code has been blocked outside MPI for %g s or longer, in %s: the other ranks of its engine cannot run meanwhile; "+
		"wait for them by MPI calls only, not by a lock, a channel or a pipe (docs/programs.md)", e.seconds, e.where)
}

var errForeign = errors.New("a goroutine that is no rank's has called it in the rank's place: " +
	"only the rank's own code may use what belongs to the rank, not goroutines that it starts (docs/programs.md)")

// Foreign ends the run after a foreign call: a goroutine that belongs to no rank has called a
// procedure in the place of an LP.
func (k *Kernel) Foreign(lp int32, c world.Procedure) {
	k.partition.Lose(k.glance(lp, c, errForeign))
}

// blockedRank returns the failure of the running rank, whose code is blocked. An earlier failure in
// the engine takes precedence: the blocked rank may wait for a lock of the failed rank.
func (k *Kernel) blockedRank(where string) *world.RankError {
	if own := k.partition.Failing.Own.Load(); own != nil && !own.Late {
		return own
	}
	return k.glance(k.standing(), world.NoProcedure, &errBlocked{where, k.config.watchdog()})
}

// standing returns the LP whose code runs. Another goroutine calls it while that code is blocked.
//
//go:norace
func (k *Kernel) standing() int32 {
	if lp, _ := k.outside(); lp != world.None {
		return lp
	}
	return k.partition.Running
}

// outside returns the LP whose code in another language than Go runs, and the place at which this
// code waits.
func (k *Kernel) outside() (lp int32, where string) {
	if o, is := k.body.(Outsider); is {
		return o.Outside()
	}
	return world.None, ""
}

// glance returns the failure of an LP in a call; NoProcedure stands for the LP's latest call.
// Another goroutine reads the LP's state.
//
//go:norace
func (k *Kernel) glance(lp int32, c world.Procedure, err error) *world.RankError {
	if c == world.NoProcedure {
		c = k.body.LastCall(lp)
	}
	return &world.RankError{Rank: k.partition.First + int(lp), Time: k.partition.Clock[lp], Call: k.partition.NameOf(c), Err: err}
}

// defaultWatchdog is the time, in seconds, after which a rank that is blocked outside MPI
// ends the run.
const defaultWatchdog = 5

// watchdog returns the configured time in seconds, 0 for never.
func (c *Config) watchdog() float64 {
	if c.Watchdog == 0 {
		return defaultWatchdog
	}
	return max(c.Watchdog, 0)
}

// fromOutside reports whether a goroutine other than the engine's has found a failure. Such a
// failure may follow from another failure, for example of a rank that holds a lock.
func fromOutside(e *world.RankError) bool {
	var blocked *errBlocked
	return errors.As(e.Err, &blocked) || e.Err == errForeign
}

// watch starts the watchdog of the engines of this process. It runs until stop is called.
func (s *Simulation) watch() (stop func()) {
	seconds := s.config.watchdog()
	if seconds == 0 {
		return func() {}
	}
	outside := func(i int) (where string) {
		if k := s.kernels[i].Load(); k != nil && k.body != nil {
			_, where = k.outside()
		}
		return where
	}
	still := func(i int, t float64) {
		if k := s.kernels[i].Load(); k != nil && k.body != nil {
			s.standsStill(i, k, t)
		}
	}
	return engine.Watch(s.engines, seconds, outside, still, func(i int, where string) bool {
		k := s.kernels[i].Load()
		if k == nil || k.standing() == world.None {
			return false
		}
		s.lose(i, k.blockedRank(where))
		return true
	})
}

// standsStill is called when an engine has stood still for some seconds, and with 0 when it goes
// on. It interrupts a computing rank: now and then to let other ranks run, and at each glance if
// the run is to end. Where CPU times do not count, each rank that runs after an interrupted rank
// has a single glance, too.
func (s *Simulation) standsStill(i int, k *Kernel, seconds float64) {
	c := &k.computing
	if c.since.Store(math.Float64bits(seconds)); seconds == 0 {
		c.unheard, c.paused = 0, 0
		return
	}
	if k.standing() == world.None {
		return // no rank computes: with more engines than processors, many engines wait for a processor
	}
	failure := s.someFailure()
	if failure != nil && failure.Late && !k.partition.HasLeft(k.standing()) {
		failure = nil // the failure waits for the rank
	}
	ends := failure != nil || s.reason.Load() != nil || c.hurries.Load()
	if !ends && !c.others.Load() && seconds < c.paused+s.config.watchdog()/turns {
		return
	}
	c.paused = seconds
	if o, is := k.body.(Outsider); is && o.Interrupt() {
		c.unheard = 0
		return
	}
	if failure == nil {
		return
	}
	if c.unheard++; c.unheard >= engine.Glances {
		s.lose(i, failure)
	}
}

// someFailure returns the least failure of a rank that an engine of this process has found.
func (s *Simulation) someFailure() (least *world.RankError) {
	for i := range s.kernels {
		if k := s.kernels[i].Load(); k != nil {
			if own := k.partition.Failing.Own.Load(); own != nil && (least == nil || own.Before(least)) {
				least = own
			}
		}
	}
	return least
}

// lose ends the run of an engine with an error, although its goroutine has not returned, and stops
// the other engines.
func (s *Simulation) lose(i int, err *world.RankError) {
	s.losing.Lock()
	defer s.losing.Unlock()
	if s.runs[i].lost != nil {
		return
	}
	s.runs[i].lost = err
	s.runs[i].count()
	if s.turns != nil {
		s.turns.Lose(i)
		go s.newHost(nil).work(s)
	}
	for _, e := range s.engines {
		e.Stop([]byte(err.Error()))
	}
}

// lossOf returns the error with which an engine was lost, nil for none.
func (s *Simulation) lossOf(i int) error {
	s.losing.Lock()
	defer s.losing.Unlock()
	if err := s.runs[i].lost; err != nil {
		return err
	}
	return nil
}

// losesAny reports whether an engine of this process is lost.
func (s *Simulation) losesAny() bool {
	s.losing.Lock()
	defer s.losing.Unlock()
	for i := range s.runs {
		if s.runs[i].lost != nil {
			return true
		}
	}
	return false
}
