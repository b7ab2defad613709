package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// outcome is what a run has come to.
type outcome struct {
	wall, cpu float64 // seconds; cpu of all its processes
	memory    int64   // bytes that its largest process has had
	output    string
	err       error
}

// run runs a command line, and ends all its processes when the time is up.
func run(limit time.Duration, command ...string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var o outcome
	start := time.Now()
	output, err := cmd.CombinedOutput()
	o.wall, o.output, o.err = time.Since(start).Seconds(), string(output), err
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		o.err = fmt.Errorf("not at its end after %v", limit)
	}
	if state := cmd.ProcessState; state != nil {
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

// said returns what an expression finds in the output.
func (o *outcome) said(e *regexp.Regexp) string {
	if m := e.FindStringSubmatch(o.output); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// fault returns what has gone wrong, in one line.
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
