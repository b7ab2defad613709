package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	stdsync "sync"
	"testing"
	"time"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// beFailing makes the test binary run a program that fails, by name, and exit as the
// command does.
const beFailing = "GIGARANK_TEST_BE_FAILING"

// fail runs a program that fails on two engines and returns the exit code.
func fail(name string) int {
	host.ExitOnFatalErrors()
	c, _, _ := terminaltest.Console(nil)
	program, known := failing[name]
	if !known {
		program = fatal[name]
	}
	o := host.Supervise(c, host.CatchSignals(), host.StopLimit, func() (bench.Simulation, error) {
		machine, err := network.Load("xt5", os.ReadFile)
		if err != nil {
			return nil, err
		}
		target, err := machine.Target(24)
		if err != nil {
			return nil, err
		}
		config := mpivirt.Config{Target: target, Transports: sync.NewInProcess(2), Watchdog: 0.5, Program: program}
		return mpivirt.New(config)
	}, func(bench.Simulation) func() { return func() {} })
	fmt.Fprintln(os.Stderr, o.Err)
	return terminal.ExitCode(o.Err)
}

// inRank returns a program in which rank 17 calls do after a microsecond and the others
// meet in a barrier.
func inRank(do func(r *mpivirt.Rank) error) mpivirt.Program {
	return mpivirt.Program{Name: "failing", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		r.Compute(vtime.Microsecond)
		if r.Rank() == 17 {
			return do(r)
		}
		return r.World().Barrier()
	})}}
}

func inStep(do func(r *steps.Rank) steps.Outcome) mpivirt.Program {
	return mpivirt.Program{Name: "failing", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, _ *struct{}) steps.Outcome {
			if r.Rank() == 17 {
				r.Compute(vtime.Microsecond)
				return do(r)
			}
			return r.Barrier()
		})
	})}}
}

var failing = map[string]mpivirt.Program{
	"error":  inRank(func(*mpivirt.Rank) error { return errors.New("no convergence") }),
	"panic":  inRank(func(*mpivirt.Rank) error { panic("no convergence") }),
	"abort":  inRank(func(r *mpivirt.Rank) error { r.Abort(3); return nil }),
	"goexit": inRank(func(*mpivirt.Rank) error { runtime.Goexit(); return nil }),
	"lock": inRank(func(*mpivirt.Rank) error {
		var lock stdsync.Mutex
		lock.Lock()
		lock.Lock()
		return nil
	}),
	"channel":         inRank(func(*mpivirt.Rank) error { <-make(chan int); return nil }),
	"recover":         inRank(func(r *mpivirt.Rank) error { defer func() { _ = recover() }(); r.Abort(3); return nil }),
	"deadlock":        inRank(func(*mpivirt.Rank) error { return nil }),
	"zero outcome":    inStep(func(*steps.Rank) steps.Outcome { return 0 }),
	"dropped outcome": inStep(func(r *steps.Rank) steps.Outcome { r.Barrier(); return r.Finish() }),
	"step goexit":     inStep(func(*steps.Rank) steps.Outcome { runtime.Goexit(); return 0 }),
	"step channel":    inStep(func(*steps.Rank) steps.Outcome { <-make(chan int); return 0 }),
}

// Whatever a rank does, the process ends by itself and soon, with exit code 1 and one
// message that names the rank.
func TestFailingProgramsEndTheProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name := range failing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env, cmd.Stderr, cmd.WaitDelay = append(os.Environ(), beFailing+"="+name), &stderr, time.Minute
			err := cmd.Run()
			want := "^rank 17 failed at virtual time 1us"
			if name == "deadlock" {
				want = "^deadlock: 23 ranks wait(.|\n)*for rank 17 of WORLD to call it"
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != terminal.ExitProgram || !regexp.MustCompile(want).Match(stderr.Bytes()) {
				t.Errorf("%v, want exit code %d and %s; it said\n%s", err, terminal.ExitProgram, want, stderr.Bytes())
			}
		})
	}
}

// Times of the watchdog are read with the other faults of the command line.
func TestReadWatchdog(t *testing.T) {
	for text, want := range map[string]float64{"5s": 5, "250ms": 0.25, "2m": 120, "off": -1, "": 0} {
		if got, err := readWatchdog(text); err != nil || got != want {
			t.Errorf("%s is read as %g, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1s", "5", "soon"} {
		if got, err := readWatchdog(text); err == nil {
			t.Errorf("%q is read as %g", text, got)
		}
	}
}

// fatal are programs that make Go's runtime end the process.
var fatal = map[string]mpivirt.Program{
	"stack overflow": inRank(func(*mpivirt.Rank) error {
		debug.SetMaxStack(1 << 20)
		return errorOfDepth(0)
	}),
	"unlock": inRank(func(*mpivirt.Rank) error {
		var lock stdsync.Mutex
		lock.Unlock()
		return nil
	}),
	"outside": inRank(func(*mpivirt.Rank) error {
		go panic("outside of any rank")
		select {}
	}),
}

// errorOfDepth calls itself until the stack ends.
func errorOfDepth(depth int) error {
	if depth < 0 { // never
		return nil
	}
	var frame [64]byte
	frame[depth%64] = byte(depth)
	err := errorOfDepth(depth + 1)
	runtime.KeepAlive(&frame)
	return err
}
