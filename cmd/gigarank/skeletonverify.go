package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
)

func newSkeletonVerify(c *terminal.Console) *cobra.Command {
	var s skeletonRuns
	verify := &cobra.Command{
		Use:   "verify PROGRAM [ARGUMENT]...",
		Short: "Compare a skeleton with its program, by runs of both",
		Long: `Verify runs a program and its skeleton with each number of ranks. Both must have the same virtual times of all
ranks, the same messages and calls of collectives by size, and the same end, and must come to each task as often, with as many
iterations. For ranks that differ it names the first call of MPI that does, or the first task, with the lines of both. The exit code is 1 then.
PROGRAM is the path of a program that gigarank cc or fc --skeleton has built. -- comes before ARGUMENTs that begin with a dash.

` + terminal.ExitHelp,
		Example: "  gigarank skeleton verify ./stencil --ranks 2,4,9",
		Args:    programAndArguments,
		RunE: func(_ *cobra.Command, args []string) error {
			s.arguments = args[1:]
			return verifySkeleton(c, &s, args[0])
		},
	}
	s.define(verify.Flags(), "2,4")
	return verify
}

// verifySkeleton compares a program with its skeleton at each number of ranks.
func verifySkeleton(c *terminal.Console, s *skeletonRuns, program string) error {
	counts, err := s.counts()
	if err != nil {
		return err
	}
	d, err := skeleton.Describe(program)
	if err != nil {
		return terminal.UsageError{err}
	}
	var different []string
	for _, n := range counts {
		difference, err := s.difference(c, program, n, d)
		if err != nil {
			return err
		}
		said := "the same"
		if difference != "" {
			said = difference
			different = append(different, fmt.Sprint(n))
		}
		_, _ = fmt.Fprintf(c.Stdout, "%d ranks: %s\n", n, said)
	}
	if len(different) > 0 {
		return terminal.Ended{Cause: fmt.Errorf("the skeleton of %s differs from the program at %s ranks", program, strings.Join(different, ", ")), Code: terminal.ExitProgram}
	}
	return nil
}

// difference returns how a skeleton differs from its program, "" if it does not. The timed form tells what the program comes by of its tasks.
func (s *skeletonRuns) difference(c *terminal.Console, program string, ranks int64, d *skeleton.Description) (string, error) {
	var outcomes [3]*outcome
	for n, set := range []func(f *runFlags){
		func(*runFlags) {},
		func(f *runFlags) { f.form.timed, f.form.tasks = true, counting(d) },
		func(f *runFlags) { f.skeleton, f.form.tasks = withoutWeights, counting(d) },
	} {
		var err error
		if outcomes[n], err = s.run(c, program, ranks, func(f *runFlags) {
			f.stats, f.form.journal = true, native.NewJournal(nil)
			set(f)
		}); err != nil {
			return "", err
		}
	}
	whole, timed, bare := outcomes[0], outcomes[1], outcomes[2]
	if said := whole.against(bare); said != "" {
		calls, err := s.firstCalls(c, program, ranks, whole.form.journal.Differs(bare.form.journal))
		return said + calls, err
	}
	if said := whole.against(timed); said != "" {
		return "the timed form: " + said, nil
	}
	if whole.failed != "" {
		return "", nil // both fail alike; the counts are incomplete
	}
	return countsDiffer(d, timed.form.tasks.Counts(), bare.form.tasks.Counts()), nil
}

// counting returns tasks that take no time, and that a run counts by rank.
func counting(d *skeleton.Description) *native.Tasks {
	return &native.Tasks{Weights: make([]native.Weight, len(d.Tasks)), ByRank: true}
}

// mostNamed is the number of ranks whose difference is told.
const mostNamed = 4

// firstCalls returns a line for each rank, of the first few, with the first call that differs, by further runs of both.
func (s *skeletonRuns) firstCalls(c *terminal.Console, program string, ranks int64, first map[int]int) (string, error) {
	var journals [2]*native.Journal
	for n, which := range []string{"", withoutWeights} {
		journals[n] = native.NewJournal(first)
		if _, err := s.run(c, program, ranks, func(f *runFlags) { f.skeleton, f.stats, f.form.journal = which, true, journals[n] }); err != nil {
			return "", err
		}
	}
	var lines strings.Builder
	for n, rank := range slices.Sorted(maps.Keys(first)) {
		if n == mostNamed {
			_, _ = fmt.Fprintf(&lines, "\n  and %d further ranks", len(first)-n)
			break
		}
		_, _ = fmt.Fprintf(&lines, "\n  rank %d, call %d: the program makes %s, its skeleton %s", rank, first[rank]+1, journals[0].Text(rank), journals[1].Text(rank))
	}
	return lines.String(), nil
}

// countsDiffer returns the first task of each rank, of the first few, that a program comes to otherwise than its skeleton, "" if there is none.
func countsDiffer(d *skeleton.Description, timed, bare map[int][]native.TaskCount) string {
	var lines []string
	for _, rank := range slices.Sorted(maps.Keys(timed)) {
		for n, t := range d.Tasks {
			a, b := timed[rank][n], bare[rank][n]
			if a == b {
				continue
			}
			if len(lines) < mostNamed {
				lines = append(lines, fmt.Sprintf("rank %d, task at %s: the program has %d entries and %d iterations, its skeleton %d and %d", rank, t.Line, a.Entries, a.Iterations, b.Entries, b.Iterations))
			}
			break
		}
	}
	return strings.Join(lines, "\n  ")
}

// against returns the first difference between a program's outcome and that of another form of it, "" if there is none.
func (o *outcome) against(bare *outcome) string {
	switch {
	case o.failed != bare.failed:
		return fmt.Sprintf("the program ends with %q, its skeleton with %q", o.failed, bare.failed)
	case o.failed != "":
		return "" // both fail alike; the result is incomplete
	case !reflect.DeepEqual(o.result.Sent, bare.result.Sent):
		return fmt.Sprintf("the program sends the messages %v, its skeleton %v", o.result.Sent, bare.result.Sent)
	case !reflect.DeepEqual(o.result.Handed, bare.result.Handed):
		return fmt.Sprintf("the program makes the calls of collectives %v, its skeleton %v", o.result.Handed, bare.result.Handed)
	case o.result.Fingerprint != bare.result.Fingerprint:
		return fmt.Sprintf("the program has the fingerprint %s, its skeleton %s", o.result.Fingerprint, bare.result.Fingerprint)
	case len(o.form.journal.Differs(bare.form.journal)) > 0:
		return "the program makes other calls of MPI than its skeleton"
	}
	return ""
}
