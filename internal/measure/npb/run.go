package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// outcome is the end of a run, and its output.
type outcome struct {
	wall, cpu float64 // seconds; cpu of all its processes
	memory    int64   // bytes that its largest process has had
	output    string
	err       error
}

// commands starts command lines, one at a time, and ends the one that runs with all its processes.
type commands struct {
	lock  sync.Mutex
	group int // of the processes of the one that runs, 0 for none
	over  bool
}

// run runs a command line to its end, or until the context is done.
func (c *commands) run(ctx context.Context, command ...string) (output []byte, state *os.ProcessState, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.SysProcAttr = endingWithThis()
	runtime.LockOSThread() // which starts the process, and must not end before it
	defer runtime.UnlockOSThread()
	cmd.Cancel = func() error { c.endGroup(); return nil }
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := c.start(cmd); err != nil {
		return nil, nil, err
	}
	err = cmd.Wait()
	c.lock.Lock()
	c.group = 0
	c.lock.Unlock()
	return text.Bytes(), cmd.ProcessState, err
}

func (c *commands) start(cmd *exec.Cmd) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.over {
		return context.Canceled
	}
	err := cmd.Start()
	if err == nil {
		c.group = cmd.Process.Pid
	}
	return err
}

// endGroup ends the processes of the command that runs. An MPI launcher has time to end those that
// it has started in groups of their own.
func (c *commands) endGroup() {
	const patience = 5 * time.Second
	c.lock.Lock()
	group := c.group
	c.lock.Unlock()
	if group == 0 {
		return
	}
	_ = syscall.Kill(-group, syscall.SIGTERM)
	for start := time.Now(); time.Since(start) < patience && syscall.Kill(-group, 0) == nil; {
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
}

// end ends the command that runs, and starts no other.
func (c *commands) end() {
	c.lock.Lock()
	c.over = true
	c.lock.Unlock()
	c.endGroup()
}

func (c *commands) ended() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.over
}

// run runs a command line, and ends all its processes when the time is up.
func (s *settings) run(limit time.Duration, command ...string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var o outcome
	start := time.Now()
	output, state, err := s.commands.run(ctx, command...)
	o.wall, o.output, o.err = time.Since(start).Seconds(), string(output), err
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		o.err = fmt.Errorf("not at its end after %v", limit)
	}
	if state != nil {
		o.cpu = (state.UserTime() + state.SystemTime()).Seconds()
		o.memory = int64(state.SysUsage().(*syscall.Rusage).Maxrss) << 10 // children's included
	}
	return o
}

var (
	success     = regexp.MustCompile(`(?i)verification\s*=?\s*successful`)
	refusal     = regexp.MustCompile(`(?im)^.*(size too small|is too small|error determining processor topology|could not determine proper proc_grid|number of mpi processes should not be less|too many nodes|not within range).*$`)
	timeTaken   = regexp.MustCompile(`Time in seconds\s*=\s*([0-9.E+]+)`)
	fingerprint = regexp.MustCompile(`fingerprint +(\w+)`)
)

// verified reports whether the benchmark has found its results right.
func (o *outcome) verified() bool { return o.err == nil && success.MatchString(o.output) }

// refused returns the benchmark's message that it cannot run on so many ranks, empty for none.
func (o *outcome) refused() string { return strings.TrimSpace(refusal.FindString(o.output)) }

// seconds returns the time that the benchmark prints.
func (o *outcome) seconds() float64 {
	if m := timeTaken.FindStringSubmatch(o.output); m != nil {
		if t, err := strconv.ParseFloat(m[1], 64); err == nil {
			return t
		}
	}
	return 0
}

// said returns the match of an expression in the output.
func (o *outcome) said(e *regexp.Regexp) string {
	if m := e.FindStringSubmatch(o.output); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// fault returns the failure in one line.
func (o *outcome) fault() string {
	if o.err == nil {
		return "it does not verify"
	}
	lines := strings.Split(strings.TrimSpace(o.output), "\n")
	return fmt.Sprintf("%v: %.200s", o.err, lines[len(lines)-1])
}

// middle returns the outcome whose wall time is the median. One that has failed stands for all.
func middle(outcomes []outcome) outcome {
	for _, o := range outcomes {
		if o.err != nil {
			return o
		}
	}
	slices.SortFunc(outcomes, func(a, b outcome) int {
		switch {
		case a.wall < b.wall:
			return -1
		case a.wall > b.wall:
			return 1
		}
		return 0
	})
	return outcomes[len(outcomes)/2]
}

// simulation returns the command line of one.
func (s *settings) simulation(program string, ranks int, more ...string) []string {
	return append([]string{s.gigarank, "run", program, "--ranks", strconv.Itoa(ranks), "--progress", "none"}, more...)
}

// oversubscription are the flags of Open MPI's mpirun for more processes than cores: one that waits
// gives its core to another, and none is bound to a core. Fewer processes go without, as usual.
var oversubscription = []string{"--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"}

// byMPI returns the command line of a program on some processes of MPI.
func (s *settings) byMPI(processes int, program ...string) []string {
	command := append(slices.Clone(s.launcher), "-n", strconv.Itoa(processes))
	if processes > runtime.NumCPU() {
		command = append(command, oversubscription...)
	}
	return append(command, program...)
}
