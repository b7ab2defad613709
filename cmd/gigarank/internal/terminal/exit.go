package terminal

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"gigarank/mpivirt"
	"gigarank/sync"
)

// The exit codes of the command.
const (
	ExitDone    = 0
	ExitProgram = 1 // the simulated program failed: error, panic, abort, deadlock
	ExitUsage   = 2 // wrong usage or a bad input file
	ExitHost    = 3 // the host failed or ended the run: memory, transport, lost process, signal
)

const ExitHelp = `Exit codes:
  0  done
  1  the simulated program failed (error, abort, deadlock)
  2  wrong usage or a bad input file; nothing was run
  3  the host failed (memory, transport, lost process, an error of the Go runtime), or a
     signal ended the run`

// UsageError holds all faults of a command line and of the files that it names.
type UsageError []error

// mostFaults bounds the faults that are printed. A file of another kind has one in each line.
const mostFaults = 20

// Error returns one fault per line.
func (u UsageError) Error() string {
	var lines []string
	for _, fault := range u {
		lines = append(lines, strings.Split(fault.Error(), "\n")...)
	}
	if more := len(lines) - mostFaults; more > 1 {
		lines = append(lines[:mostFaults], fmt.Sprintf("… and %d more lines of faults", more))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults, for errors.As.
func (u UsageError) Unwrap() []error { return u }

// Add adds a fault of a flag or argument, unless err is nil.
func (u *UsageError) Add(flag string, err error) {
	if err != nil {
		*u = append(*u, fmt.Errorf("%s: %w", flag, err))
	}
}

// OrNil returns u as an error if it holds a fault.
func (u UsageError) OrNil() error {
	if len(u) == 0 {
		return nil
	}
	return u
}

// Interrupted says that a signal ended the run, or a fault of this host did as a signal does.
type Interrupted struct {
	Reason string
	Signal unix.Signal // 0 for a fault
}

// InterruptedBy returns the end by a signal.
func InterruptedBy(signal unix.Signal) Interrupted {
	return Interrupted{Reason: "interrupted by " + unix.SignalName(signal), Signal: signal}
}

func (i Interrupted) Error() string { return i.Reason }

// Ended is the end of a command on all hosts, with the exit code that they have agreed
// on.
type Ended struct {
	Cause  error // on this host; nil if only others have failed
	Code   int
	Silent bool // another host reports it
}

func (e Ended) Error() string {
	if e.Cause == nil {
		return "another host process has failed; see its messages"
	}
	return e.Cause.Error()
}

// Unwrap returns the cause, for errors.As.
func (e Ended) Unwrap() error { return e.Cause }

// ExitCode returns the exit code for the error that a command ended with.
func ExitCode(err error) int {
	var (
		agreed   Ended
		usage    UsageError
		rank     *mpivirt.RankError
		deadlock *mpivirt.DeadlockError
	)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &agreed):
		return agreed.Code
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &rank), errors.As(err, &deadlock):
		return ExitProgram
	default:
		return ExitHost
	}
}

// OwnCode returns the exit code for this host's error. An error that only says that
// another host ended the run counts as none.
func OwnCode(err error) int {
	var stopped *sync.Stopped
	if errors.As(err, &stopped) {
		return ExitDone
	}
	return ExitCode(err)
}

// Explain replaces an error that says only that the signal stopped the simulation by
// the signal.
func (i Interrupted) Explain(err error) error {
	var stopped *sync.Stopped
	if i.Reason != "" && errors.As(err, &stopped) {
		return i
	}
	return err
}
