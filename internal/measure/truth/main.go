package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"gigarank/internal/quantity"
	"gigarank/network"
)

// settings are the parameters of the checks.
type settings struct {
	out      io.Writer
	machine  *network.Machine
	seed     uint64
	ranks    int // at most, for the interpreters
	messages int // at most, for one run of the message interpreter
	large    int // for samples and closed forms
	samples  int // ranks to compute anew
}

// check is a part of the whole. It returns the number of correct runs, and the faults
// of the others.
type check struct {
	name string
	run  func(s *settings) (good int, faults []error)
}

var checks = []check{{"interpreters", interpreters}, {"samples", samples}, {"closedforms", closedForms}}

func main() { os.Exit(execute(os.Args[1:], os.Stderr)) }

// execute runs the command line and returns the exit code.
func execute(arguments []string, stderr io.Writer) int {
	s, selected, err := parse(arguments, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "truth:", err)
		return 2
	case !verify(s, selected):
		return 1
	}
	return 0
}

// parse reads the command line; help goes to stderr.
func parse(arguments []string, stderr io.Writer) (*settings, []check, error) {
	s := &settings{out: os.Stdout}
	flags := flag.NewFlagSet("truth", flag.ContinueOnError)
	flags.SetOutput(stderr)
	machine := flags.String("machine", "xt5", "the `FILE|PRESET` of the interpreters and the samples")
	ranks := flags.String("ranks", "2^20", "most `RANKS` for the interpreters")
	messages := flags.String("messages", "2^26", "most `MESSAGES` of a run for the interpreters")
	large := flags.String("large", "2^24", "`RANKS` of the samples, and most of the closed forms")
	flags.IntVar(&s.samples, "samples", 8, "`RANKS` to compute anew")
	flags.Uint64Var(&s.seed, "seed", 1, "of the times at which ranks come")
	if err := flags.Parse(arguments); err != nil {
		return nil, nil, err
	}
	for _, n := range []struct {
		flag, text string
		into       *int
	}{{"-ranks", *ranks, &s.ranks}, {"-messages", *messages, &s.messages}, {"-large", *large, &s.large}} {
		count, err := quantity.ParseCount(n.text)
		if err == nil && (count < 1 || count > 1<<31-2) {
			err = fmt.Errorf("%s is out of range: use a number from 1 to 2^31-2", n.text)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", n.flag, err)
		}
		*n.into = int(count)
	}
	var err error
	if s.machine, err = network.Load(*machine, os.ReadFile); err != nil {
		return nil, nil, err
	}
	selected, err := choose(flags.Args())
	return s, selected, err
}

// choose returns the checks with the names, all if there are none.
func choose(names []string) (selected []check, err error) {
	for _, name := range names {
		found := false
		for _, c := range checks {
			if c.name == name {
				selected, found = append(selected, c), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no check %q: choose of interpreters, samples, closedforms", name)
		}
	}
	if len(names) == 0 {
		return checks, nil
	}
	return selected, nil
}

// verify runs checks and reports whether all results were correct.
func verify(s *settings, selected []check) bool {
	wrong := 0
	for _, c := range selected {
		_, _ = fmt.Fprintf(s.out, "== %s\n", c.name)
		good, faults := c.run(s)
		for _, fault := range faults {
			_, _ = fmt.Fprintf(s.out, "WRONG: %v\n", fault)
		}
		_, _ = fmt.Fprintf(s.out, "%s: %d right, %d wrong\n", c.name, good, len(faults))
		wrong += len(faults)
	}
	return wrong == 0
}
