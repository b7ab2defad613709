package kernel

import (
	"errors"
	"fmt"
	"slices"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
)

// Ranks of an engine run one at a time, on its thread of control. Code of a rank that
// waits for something else than MPI, or calls MPI from elsewhere, breaks that. It is
// found by the watchdog and by a look at who runs; docs/programs.md has the rules.

// errBlocked is the failure of a rank that waits outside MPI.
type errBlocked struct {
	where   string
	seconds float64
}

func (e *errBlocked) Error() string {
	return fmt.Sprintf("the rank's code has been blocked outside MPI for %g s or longer, in %s: a rank waits for other ranks by MPI calls only, "+
		"never by a channel, a lock or a WaitGroup, for while it runs the other ranks of its engine do not (docs/programs.md)", e.seconds, e.where)
}

var errForeign = errors.New("a goroutine that is no rank's has called it in the rank's place: " +
	"only the rank's own code may use what belongs to the rank, not goroutines that it starts (docs/programs.md)")

// Foreign ends the run: a goroutine that is no rank's has called a procedure in the place
// of an LP, which does not run.
func (k *Kernel) Foreign(lp int32, c world.Procedure) { k.Lose(k.glance(lp, c, errForeign)) }

// blockedRank is the failure of the rank whose code runs, and is blocked, unless a rank of
// the engine has failed before: what it held may be what the other one waits for.
//
//go:norace
func (k *Kernel) blockedRank(where string) *world.RankError {
	if k.Failing.Own != nil {
		return k.Failing.Own
	}
	return k.glance(k.standing(), world.NoProcedure, &errBlocked{where, k.config.watchdog()})
}

// standing returns the LP whose code runs, as seen from another goroutine while it
// stands still.
//
//go:norace
func (k *Kernel) standing() int32 { return k.Running }

// glance makes the failure of an LP, as seen from another goroutine: in a call, or the
// last one that it has made.
//
//go:norace
func (k *Kernel) glance(lp int32, c world.Procedure, err error) *world.RankError {
	if c == world.NoProcedure {
		c = k.body.LastCall(lp)
	}
	return &world.RankError{Rank: k.First + int(lp), Time: k.Clock[lp], Call: c.String(), Err: err}
}

// defaultWatchdog is the time, in seconds, after which a rank that is blocked outside MPI
// ends the run.
const defaultWatchdog = 5

// watchdog returns the time that is configured, 0 for never.
func (c *Config) watchdog() float64 {
	if c.Watchdog == 0 {
		return defaultWatchdog
	}
	return max(c.Watchdog, 0)
}

// fromOutside reports whether a failure was found from outside the engine. It may follow from
// another one, such as that of a rank that holds a lock.
func fromOutside(e *world.RankError) bool {
	var blocked *errBlocked
	return errors.As(e.Err, &blocked) || e.Err == errForeign
}

// lost is an engine's end without its goroutine, which may never come back.
type lost struct {
	gone chan struct{}    // closed when it is
	err  *world.RankError // why, once it is
}

// watch has the watchdog look at the engines of this process until stop is called.
func (s *Simulation) watch() (stop func()) {
	seconds := s.config.watchdog()
	if seconds == 0 {
		return func() {}
	}
	return engine.Watch(s.engines, seconds, func(i int, where string) bool {
		k := s.kernels[i].Load()
		if k == nil || k.printing.Load() || k.standing() == world.None {
			return false
		}
		s.lose(i, k.blockedRank(where))
		return true
	})
}

// lose ends the run of an engine with an error though its goroutine has not come to its
// end, and stops the others.
func (s *Simulation) lose(i int, err *world.RankError) {
	l := &s.lost[i]
	s.losing.Lock()
	defer s.losing.Unlock()
	if l.err != nil {
		return
	}
	l.err = err
	close(l.gone)
	for _, e := range s.engines {
		e.Stop([]byte(err.Error()))
	}
}

// lossOf returns why an engine is lost, nil if it is not.
func (s *Simulation) lossOf(i int) error {
	s.losing.Lock()
	defer s.losing.Unlock()
	if err := s.lost[i].err; err != nil {
		return err
	}
	return nil
}

// losesAny reports whether an engine of this process is lost.
func (s *Simulation) losesAny() bool {
	s.losing.Lock()
	defer s.losing.Unlock()
	return slices.ContainsFunc(s.lost, func(l lost) bool { return l.err != nil })
}
