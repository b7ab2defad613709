package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt"
	"gigarank/sync"
)

// scripted is a simulation whose steps a test defines.
type scripted struct {
	run     func(stopped <-chan string) (*mpivirt.Result, error)
	stopped chan string
}

func newScripted(run func(<-chan string) (*mpivirt.Result, error)) *scripted {
	return &scripted{run, make(chan string, 8)}
}

func (s *scripted) Run() (*mpivirt.Result, error) { return s.run(s.stopped) }
func (s *scripted) Stop(reason string)            { s.stopped <- reason }
func (s *scripted) Progress() mpivirt.Progress {
	return mpivirt.Progress{Ranks: 9, SetUp: 9, Finished: 4, Time: 77, Events: 5}
}

// raise sends a signal to this process. It is caught while supervise runs.
func raise(t *testing.T, signal unix.Signal) {
	if err := unix.Kill(os.Getpid(), signal); err != nil {
		t.Error(err)
	}
}

func testSignals(t *testing.T) *Signals {
	s := CatchSignals(unix.SIGINT, unix.SIGTERM)
	t.Cleanup(s.Release)
	return s
}

func watchNothing(bench.Simulation) func() { return func() {} }

// untilStopped is the end of a simulation that was stopped.
func untilStopped(stopped <-chan string) (*mpivirt.Result, error) {
	return &mpivirt.Result{Finished: 3}, &sync.Stopped{Reason: []byte(<-stopped)}
}

func TestSignalEndsARun(t *testing.T) {
	for _, signal := range []unix.Signal{unix.SIGINT, unix.SIGTERM} {
		c, _, _ := terminaltest.Console(nil)
		s := newScripted(func(stopped <-chan string) (*mpivirt.Result, error) {
			raise(t, signal)
			return untilStopped(stopped)
		})
		o := Supervise(c, testSignals(t), time.Minute, func() (bench.Simulation, error) { return s, nil }, watchNothing)
		var by terminal.Interrupted
		if !errors.As(o.Err, &by) || by.Reason != "interrupted by "+unix.SignalName(signal) {
			t.Errorf("%v: the run ended with %v", signal, o.Err)
		}
		if o.hung || o.Result == nil || o.Result.Finished != 3 {
			t.Errorf("%v: hung %t, result %+v, want what was finished", signal, o.hung, o.Result)
		}
	}
}

// A signal that comes while the ranks are still set up is not lost.
func TestSignalDuringSetUp(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	o := Supervise(c, testSignals(t), time.Minute, func() (bench.Simulation, error) {
		raise(t, unix.SIGTERM)
		return newScripted(untilStopped), nil
	}, watchNothing)
	var by terminal.Interrupted
	if !errors.As(o.Err, &by) {
		t.Errorf("the run ended with %v", o.Err)
	}
}

// A signal that comes when the simulation has come to its end ends the next one, such as the next point of a study.
func TestSignalAtTheEndOfARunEndsTheNext(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	signals := testSignals(t)
	complete := newScripted(func(stopped <-chan string) (*mpivirt.Result, error) {
		raise(t, unix.SIGTERM)
		<-stopped
		return &mpivirt.Result{Finished: 9, Complete: true}, nil
	})
	o := Supervise(c, signals, time.Minute, func() (bench.Simulation, error) { return complete, nil }, watchNothing)
	if o.Err != nil || !o.Result.Complete {
		t.Fatalf("the first run ended with %v, result %+v", o.Err, o.Result)
	}
	next := newScripted(func(stopped <-chan string) (*mpivirt.Result, error) {
		select {
		case reason := <-stopped:
			return nil, &sync.Stopped{Reason: []byte(reason)}
		case <-time.After(time.Minute):
			return nil, nil
		}
	})
	o = Supervise(c, signals, time.Minute, func() (bench.Simulation, error) { return next, nil }, watchNothing)
	var by terminal.Interrupted
	if !errors.As(o.Err, &by) || by.Reason != "interrupted by SIGTERM" {
		t.Errorf("the next run ended with %v", o.Err)
	}
}

// A simulation that does not end when it is stopped is given up, and its visible
// results are reported.
func TestHungSimulationIsGivenUp(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	release := make(chan struct{})
	defer close(release)
	s := newScripted(func(<-chan string) (*mpivirt.Result, error) {
		raise(t, unix.SIGTERM)
		<-release
		return nil, nil
	})
	o := Supervise(c, testSignals(t), time.Millisecond, func() (bench.Simulation, error) { return s, nil }, watchNothing)
	if !o.hung || o.Result == nil || o.Result.Finished != 4 || o.Result.VirtualTime != 77 || o.Result.Complete {
		t.Errorf("hung %t, result %+v", o.hung, o.Result)
	}
	if terminal.ExitCode(o.Err) != terminal.ExitHost {
		t.Errorf("the run ended with %v", o.Err)
	}
}

// A failure of the program counts, also when a signal came at the same time.
func TestSignalDoesNotHideAFailure(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	failed := &mpivirt.RankError{Rank: 5, Err: errors.New("x")}
	s := newScripted(func(stopped <-chan string) (*mpivirt.Result, error) {
		raise(t, unix.SIGTERM)
		<-stopped
		return &mpivirt.Result{}, failed
	})
	o := Supervise(c, testSignals(t), time.Minute, func() (bench.Simulation, error) { return s, nil }, watchNothing)
	if !errors.Is(o.Err, failed) {
		t.Errorf("the run ended with %v, want the failure of rank 5", o.Err)
	}
}

// The watcher gets the simulation before it ends, and is ended exactly once.
func TestWatcherIsEnded(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	watched, began, ended := make(chan struct{}), 0, 0
	s := newScripted(func(<-chan string) (*mpivirt.Result, error) {
		<-watched
		return &mpivirt.Result{Complete: true}, nil
	})
	o := Supervise(c, testSignals(t), time.Minute, func() (bench.Simulation, error) { return s, nil },
		func(got bench.Simulation) func() {
			if got != bench.Simulation(s) {
				t.Errorf("watching %v", got)
			}
			began++
			close(watched)
			return func() { ended++ }
		})
	if o.Err != nil || began != 1 || ended != 1 {
		t.Errorf("watched %d times, ended %d times, %v", began, ended, o.Err)
	}
}

// A simulation that cannot be set up has no result.
func TestSetUpFails(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	want := errors.New("no room")
	o := Supervise(c, testSignals(t), time.Minute, func() (bench.Simulation, error) { return nil, want }, watchNothing)
	if o.Result != nil || !errors.Is(o.Err, want) {
		t.Errorf("result %+v, %v", o.Result, o.Err)
	}
}

// A device may have no end, and a pipe no size. A regular file has an end: that of a mapping may have gigabytes.
func TestInputsAreBounded(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	_, err = write.WriteString("1234")
	if err := errors.Join(err, write.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "four")
	if err := os.WriteFile(file, []byte("1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, text, err string
		most            int64
	}{
		{file, "1234", "", 3},
		{"/dev/zero", "", "/dev/zero holds more than 1.00 KiB, the most that is read of what is no regular file", 1 << 10},
		{"/dev/null", "", "", 0},
		{fmt.Sprintf("/dev/fd/%d", read.Fd()), "1234", "", 4},
	} {
		text, err := readAtMost(c.path, c.most)
		if string(text) != c.text || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s of at most %d bytes: %q and %v", c.path, c.most, text, err)
		}
	}
	if testing.Short() { // the race detector makes reading slow
		return
	}
	if _, err := testSignals(t).ReadFile("/dev/zero"); err == nil {
		t.Error("/dev/zero was read")
	}
}
