package main

import (
	"errors"
	"fmt"
	"io"
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
	// stopped is when a signal came, zero if none has.
	stopped time.Time
	wall    time.Duration
}

// refused reports whether the simulation could not be set up.
func (o *outcome) refused() bool { return o.result == nil && !o.hung }

// endingSignals end a command in order: those of terminals, and those that schedulers send
// before a time limit.
var endingSignals = []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGXCPU}

// signals are those that end a command in order. After the first one they have their
// usual effect again: a second one kills at once.
type signals struct {
	caught chan os.Signal
	// faults are reasons on this host to end a simulation as a signal does.
	faults chan error
	reason interrupted // the first one, once stopBy has taken it
}

// catchSignals catches signals until they are released. A SIGHUP that is ignored stays so:
// nohup asks for it.
func catchSignals(which ...os.Signal) *signals {
	s := &signals{caught: make(chan os.Signal, 1), faults: make(chan error, 1)}
	for _, one := range which {
		if one != unix.SIGHUP || !signal.Ignored(one) {
			signal.Notify(s.caught, one)
		}
	}
	return s
}

func (s *signals) release() { signal.Stop(s.caught) }

// stopBy releases the signals after one of them has come, and returns the reason to
// end.
func (s *signals) stopBy(one os.Signal) interrupted {
	s.release()
	s.reason = interrupted{fmt.Sprintf("interrupted by %s", unix.SignalName(one.(unix.Signal)))}
	return s.reason
}

// fail ends the simulation that is running, if nothing has ended it yet.
func (s *signals) fail(err error) {
	select {
	case s.faults <- err:
	default:
	}
}

// mostInput bounds an input that is no regular file, in bytes: a device may have no end.
const mostInput = 256 << 20

// readFile reads an input. A signal ends the wait for the writer of a pipe.
func (s *signals) readFile(path string) ([]byte, error) {
	type content struct {
		text []byte
		err  error
	}
	read := make(chan content, 1)
	go func() {
		text, err := readAtMost(path, mostInput)
		read <- content{text, err}
	}()
	select {
	case c := <-read:
		return c.text, c.err
	case one := <-s.caught:
		return nil, s.stopBy(one)
	}
}

// readAtMost reads a file, unless it is no regular one and holds more than most bytes.
func readAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() {
		return os.ReadFile(path)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s holds more than %s, the most that is read of what is no regular file", path, formatBytes(most))
	}
	return text, err
}

// orFaults returns the signal that has ended the reading of a command line, or else its
// faults.
func (s *signals) orFaults(faults error) error {
	if s.reason.reason != "" {
		return s.reason
	}
	return faults
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
	var stopped time.Time
	unwatch := func() {}
	defer func() { unwatch() }()
	end := func(why interrupted) {
		if stop.reason != "" {
			return
		}
		stop, late, stopped = why, time.After(limit), time.Now()
		if simulation != nil {
			simulation.Stop(stop.reason)
		}
	}
	for {
		select {
		case simulation = <-ready:
			unwatch = watch(simulation)
			if stop.reason != "" {
				simulation.Stop(stop.reason)
			}
		case s := <-signals.caught:
			end(signals.stopBy(s))
		case err := <-signals.faults:
			end(interrupted{err.Error()})
		case o := <-ended:
			o.wall, o.stopped = c.now().Sub(began), stopped
			o.err = stop.explain(o.err)
			return o
		case <-late:
			return outcome{result: seen(simulation), err: stop, hung: true, stopped: stopped, wall: c.now().Sub(began)}
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
