package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/bench"
	"gigarank/mpivirt"
	"gigarank/sync"
)

// stopLimit is how long a stopped simulation may take to end by itself. After that the
// run is reported as far as it can be seen from outside. hostsStopLimit holds for one
// of several host processes, which Open MPI kills a second after it has passed a signal
// on (odls_base_sigkill_timeout).
const (
	stopLimit      = 1200 * time.Millisecond
	hostsStopLimit = 700 * time.Millisecond
)

// outcome is how a simulation ended.
type outcome struct {
	result *mpivirt.Result // nil if the simulation could not be set up
	err    error
	hung   bool // the simulation did not end when it was stopped
	wall   time.Duration
}

// refused reports whether the simulation could not be set up.
func (o *outcome) refused() bool { return o.result == nil && !o.hung }

// signals are those that end a command in order. After the first one they have their
// usual effect again: a second one kills at once.
type signals struct{ caught chan os.Signal }

func catchSignals(which ...os.Signal) *signals {
	s := &signals{make(chan os.Signal, 1)}
	signal.Notify(s.caught, which...)
	return s
}

func (s *signals) release() { signal.Stop(s.caught) }

// stopBy releases the signals after one of them has come, and returns the reason to
// end.
func (s *signals) stopBy(one os.Signal) interrupted {
	s.release()
	return interrupted{fmt.Sprintf("interrupted by %s", unix.SignalName(one.(unix.Signal)))}
}

// supervise sets a simulation up, runs it and stops it on a signal. limit is how long
// it may then take to end. Once it is set up, supervise passes it to watch, and at its
// end calls the function that watch returns.
func supervise(c *console, signals *signals, limit time.Duration, setUp func() (bench.Simulation, error),
	watch func(bench.Simulation) (end func())) outcome {
	began := c.now()
	ready := make(chan bench.Simulation, 1)
	ended := make(chan outcome, 1)
	go func() {
		s, err := setUp()
		if err != nil {
			ended <- outcome{err: err}
			return
		}
		ready <- s
		result, err := s.Run()
		ended <- outcome{result: result, err: err}
	}()

	var simulation bench.Simulation
	var stop interrupted
	var late <-chan time.Time
	end := func() {}
	defer func() { end() }()
	for {
		select {
		case simulation = <-ready:
			end = watch(simulation)
			if stop.reason != "" {
				simulation.Stop(stop.reason)
			}
		case s := <-signals.caught:
			stop = signals.stopBy(s)
			late = time.After(limit)
			if simulation != nil {
				simulation.Stop(stop.reason)
			}
		case o := <-ended:
			o.wall = c.now().Sub(began)
			o.err = stop.explain(o.err)
			return o
		case <-late:
			return outcome{result: seen(simulation), err: stop, hung: true, wall: c.now().Sub(began)}
		}
	}
}

// explain replaces an error that says only that the signal stopped the simulation by
// the signal.
func (i interrupted) explain(err error) error {
	var stopped *sync.Stopped
	if i.reason != "" && errors.As(err, &stopped) {
		return i
	}
	return err
}

// seen returns the visible results of a simulation that does not end.
func seen(s bench.Simulation) *mpivirt.Result {
	if s == nil {
		return nil
	}
	p := s.Progress()
	r := &mpivirt.Result{VirtualTime: p.Time, Finished: p.Finished}
	r.Statistics.Events = p.Events
	return r
}
