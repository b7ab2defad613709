package host

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt"
)

// StopLimit is how long a stopped simulation may take to end by itself. After that the
// run is reported as far as it can be seen from outside. hostsStopLimit holds for one
// of several host processes, which Open MPI kills a second after it has passed a signal
// on (odls_base_sigkill_timeout).
const (
	StopLimit      = 1200 * time.Millisecond
	hostsStopLimit = 700 * time.Millisecond
)

// Outcome is how a simulation ended.
type Outcome struct {
	Result *mpivirt.Result // nil if the simulation could not be set up
	Err    error
	hung   bool // the simulation did not end when it was stopped
	// stopped is when a signal came, zero if none has.
	stopped time.Time
	Wall    time.Duration
}

// Refused reports whether the simulation could not be set up.
func (o *Outcome) Refused() bool { return o.Result == nil && !o.hung }

// EndingSignals end a command in order: those of terminals, and those that schedulers send
// before a time limit.
var EndingSignals = []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGXCPU}

// Signals are those that end a command in order. After the first one they have their
// usual effect again: a second one kills at once.
type Signals struct {
	Caught chan os.Signal
	// faults are reasons on this host to end a simulation as a signal does.
	faults chan error
	reason terminal.Interrupted // the first one, once StopBy has taken it
}

// CatchSignals catches signals until they are released. A SIGHUP that is ignored stays so:
// nohup asks for it.
func CatchSignals(which ...os.Signal) *Signals {
	s := &Signals{Caught: make(chan os.Signal, 1), faults: make(chan error, 1)}
	for _, one := range which {
		if one != unix.SIGHUP || !signal.Ignored(one) {
			signal.Notify(s.Caught, one)
		}
	}
	return s
}

func (s *Signals) Release() { signal.Stop(s.Caught) }

// StopBy releases the signals after one of them has come, and returns the reason to
// end.
func (s *Signals) StopBy(one os.Signal) terminal.Interrupted {
	s.Release()
	s.reason = terminal.InterruptedBy(one.(unix.Signal))
	return s.reason
}

// followLimit is how long after one host the others get a signal that the launcher passes on to all.
const followLimit = 100 * time.Millisecond

// Cause returns the reason to end that hosts have agreed on: this host's own, or a signal that only another host has had so
// far. A launcher passes that signal on to this host, too, where it must not come once it has its usual effect again.
func (s *Signals) Cause(own error, all Report) error {
	if own != nil || all.Signal == 0 {
		return own
	}
	select {
	case one := <-s.Caught:
		return s.StopBy(one)
	case <-time.After(followLimit):
		return s.StopBy(all.Signal)
	}
}

// Fail ends the simulation that is running, if nothing has ended it yet.
func (s *Signals) Fail(err error) {
	select {
	case s.faults <- err:
	default:
	}
}

// mostInput bounds an input that is no regular file, in bytes: a device may have no end.
const mostInput = 256 << 20

// ReadFile reads an input. A signal ends the wait for the writer of a pipe.
func (s *Signals) ReadFile(path string) ([]byte, error) {
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
	case one := <-s.Caught:
		return nil, s.StopBy(one)
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
		return nil, fmt.Errorf("%s holds more than %s, the most that is read of what is no regular file", path, terminal.Bytes(most))
	}
	return text, err
}

// OrFaults returns the signal that has ended the reading of a command line, or else its
// faults.
func (s *Signals) OrFaults(faults error) error {
	if s.reason.Reason != "" {
		return s.reason
	}
	return faults
}

// Supervise sets a simulation up, runs it and stops it on a signal, which may have come before. limit is how long
// it may then take to end. Once it is set up, supervise passes it to watch, and at its
// end calls the function that watch returns.
func Supervise(c *terminal.Console, signals *Signals, limit time.Duration, setUp func() (bench.Simulation, error),
	watch func(bench.Simulation) (end func())) Outcome {
	began := c.Now()
	ready := make(chan bench.Simulation, 1)
	ended := make(chan Outcome, 1)
	go func() {
		s, err := setUp()
		if err != nil {
			ended <- Outcome{Err: err}
			return
		}
		ready <- s
		result, err := s.Run()
		ended <- Outcome{Result: result, Err: err}
	}()

	var simulation bench.Simulation
	var stop terminal.Interrupted
	var late <-chan time.Time
	var stopped time.Time
	unwatch := func() {}
	defer func() { unwatch() }()
	end := func(why terminal.Interrupted) {
		if stop.Reason != "" {
			return
		}
		stop, late, stopped = why, time.After(limit), time.Now()
		if simulation != nil {
			simulation.Stop(stop.Reason)
		}
	}
	if signals.reason.Reason != "" { // it came when the simulation before had come to its end
		end(signals.reason)
	}
	for {
		select {
		case simulation = <-ready:
			unwatch = watch(simulation)
			if stop.Reason != "" {
				simulation.Stop(stop.Reason)
			}
		case s := <-signals.Caught:
			end(signals.StopBy(s))
		case err := <-signals.faults:
			end(terminal.Interrupted{Reason: err.Error()})
		case o := <-ended:
			o.Wall, o.stopped = c.Now().Sub(began), stopped
			o.Err = stop.Explain(o.Err)
			return o
		case <-late:
			return Outcome{Result: seen(simulation), Err: stop, hung: true, stopped: stopped, Wall: c.Now().Sub(began)}
		}
	}
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

// ReadInputs makes a console read the inputs of a command that catches no signals itself. A signal
// that comes meanwhile ends the command.
func ReadInputs(c *terminal.Console) {
	c.ReadFile = func(path string) ([]byte, error) {
		s := CatchSignals(EndingSignals...)
		defer s.Release()
		text, err := s.ReadFile(path)
		if s.reason.Reason != "" {
			c.Stopped = s.reason
		}
		return text, err
	}
}
