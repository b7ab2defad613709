package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"gigarank/mpivirt"
	"gigarank/sync"
)

// The exit codes of the command.
const (
	exitDone    = 0
	exitProgram = 1 // the simulated program failed: error, panic, abort, deadlock
	exitUsage   = 2 // wrong usage or a bad input file
	exitHost    = 3 // the host failed or ended the run: memory, transport, lost process, signal
)

const exitHelp = `Exit codes:
  0  done
  1  the simulated program failed (error, abort, deadlock)
  2  wrong usage or a bad input file; nothing was run
  3  the host failed (memory, transport, lost process, an error of the Go runtime), or a
     signal ended the run`

// usageError holds all faults of a command line and of the files that it names.
type usageError []error

// mostFaults bounds the faults that are printed. A file of another kind has one in each line.
const mostFaults = 20

// Error returns one fault per line.
func (u usageError) Error() string {
	var lines []string
	for _, fault := range u {
		lines = append(lines, strings.Split(fault.Error(), "\n")...)
	}
	if more := len(lines) - mostFaults; more > 1 {
		lines = append(lines[:mostFaults], fmt.Sprintf("… and %d more lines of faults", more))
	}
	return strings.Join(lines, "\n")
}

// emptyFlags returns the flags that were given without a value as faults: a variable of a job
// script may not be set.
func emptyFlags(flags *pflag.FlagSet) error {
	var faults usageError
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
			faults.add("--"+f.Name, errors.New("the value is empty: give one, or leave the flag out"))
		}
	})
	return faults.orNil()
}

// Unwrap returns the faults, for errors.As.
func (u usageError) Unwrap() []error { return u }

// add adds a fault of a flag or argument, unless err is nil.
func (u *usageError) add(flag string, err error) {
	if err != nil {
		*u = append(*u, fmt.Errorf("%s: %w", flag, err))
	}
}

// orNil returns u as an error if it holds a fault.
func (u usageError) orNil() error {
	if len(u) == 0 {
		return nil
	}
	return u
}

// interrupted says that a signal ended the run.
type interrupted struct{ reason string }

func (i interrupted) Error() string { return i.reason }

// ended is the end of a command on all hosts, with the exit code that they have agreed
// on.
type ended struct {
	cause  error // on this host; nil if only others have failed
	code   int
	silent bool // another host reports it
}

func (e ended) Error() string {
	if e.cause == nil {
		return "another host process has failed; see its messages"
	}
	return e.cause.Error()
}

// Unwrap returns the cause, for errors.As.
func (e ended) Unwrap() error { return e.cause }

// exitCode returns the exit code for the error that a command ended with.
func exitCode(err error) int {
	var (
		agreed   ended
		usage    usageError
		rank     *mpivirt.RankError
		deadlock *mpivirt.DeadlockError
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &agreed):
		return agreed.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &rank), errors.As(err, &deadlock):
		return exitProgram
	default:
		return exitHost
	}
}

// ownCode returns the exit code for this host's error. An error that only says that
// another host ended the run counts as none.
func ownCode(err error) int {
	var stopped *sync.Stopped
	if errors.As(err, &stopped) {
		return exitDone
	}
	return exitCode(err)
}
