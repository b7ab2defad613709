package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
)

func newSkeletonWeigh(c *terminal.Console) *cobra.Command {
	var s skeletonRuns
	var out, beside string
	weigh := &cobra.Command{
		Use:   "weigh PROGRAM [ARGUMENT]...",
		Short: "Find the times of what a skeleton leaves out, by runs of the program",
		Long: `Weigh runs a program with each number of ranks, and measures the CPU time of each task at each entry. The weights are
those of least squares over the entries: time = entry + iteration x iterations. They are right for the size of the
arrays of a rank in these runs: weigh with the block of a rank that is to be simulated.

Where the skeleton does not count all iterations of a task, what an entry takes may change with the number of ranks, as the
elements in rows of a sparse matrix do. With several numbers in --ranks the weight of such a task changes with a power of the number of
ranks that is fitted to the iterations of the runs. Numbers of ranks on grids of the same shape show it best, as 1,4 for 16.

A native run with more memory finds less of it in the caches when a rank goes on after the others: with --beside, of as many bytes as all ranks of
that run have, tasks are timed with the caches as there.

Other work on the machine disturbs some runs more than others: the time of each task is the median of several runs, as many as --rounds says, and else
up to nine, of which the last begins within two seconds.

The weights are good for PROGRAM, and for another program with the same tasks, as the same source built for another size of its arrays.
PROGRAM is the path of a program that gigarank cc or fc --skeleton has built. -- comes before ARGUMENTs that begin with a dash.

` + terminal.ExitHelp,
		Example: "  gigarank skeleton weigh ./stencil --ranks 4 -o stencil.weights\n  gigarank run ./stencil --skeleton stencil.weights --ranks 10000",
		Args:    programAndArguments,
		RunE: func(weigh *cobra.Command, args []string) error {
			s.arguments = args[1:]
			if beside != "" {
				var err error
				if s.beside, err = quantity.ParseSize(beside); err == nil && (s.beside < leastBeside || s.beside > mostBeside) {
					err = errors.New("use at least 1MiB, at most 64GiB")
				}
				if err != nil {
					return terminal.UsageError{fmt.Errorf("--beside: %w", err)}
				}
			}
			if given := weigh.Flags().Changed("rounds"); given && (s.rounds < 1 || s.rounds > mostRounds) {
				return terminal.UsageError{fmt.Errorf("--rounds: %d is no number from 1 to %d", s.rounds, mostRounds)}
			}
			return weighSkeleton(c, &s, args[0], out)
		},
	}
	s.define(weigh.Flags(), "4")
	weigh.Flags().StringVar(&beside, "beside", "", "`BYTES` that are written while each rank runs once, as other ranks write their memory, such as 96MiB (default none)")
	weigh.Flags().IntVar(&s.rounds, "rounds", 0, "`N` runs with each number of ranks, 1 to 1000; the time of each task is the median (default up to 9, for two seconds)")
	weigh.Flags().StringVarP(&out, "output", "o", "", "`FILE` of the weights (default PROGRAM.weights)")
	return weigh
}

// The bounds of the memory that stands for that of other ranks.
const (
	leastBeside = 1 << 20
	mostBeside  = 64 << 30
)

// mostRounds bounds the runs with a number of ranks. Without a number from the user they are usualRounds if the last of them begins within enough: the weights of a program whose
// runs are short differ from one run to the next by more.
const (
	mostRounds  = 1000
	usualRounds = 9
	enough      = 2 * time.Second
)

// goesOn reports whether another round follows after some have taken a time.
func (s *skeletonRuns) goesOn(done int, took time.Duration) bool {
	if s.rounds > 0 {
		return done < s.rounds
	}
	return done == 0 || done < usualRounds && took < enough
}

// observe runs the timed form of a program with each number of ranks, in rounds.
func (s *skeletonRuns) observe(c *terminal.Console, program string, counts []int64, d *skeleton.Description) (runs []skeleton.Run, err error) {
	rounds := make([][]skeleton.Run, len(counts))
	began := time.Now()
	for done := 0; s.goesOn(done, time.Since(began)); done++ {
		for k, n := range counts {
			one, err := s.observeOnce(c, program, n, d)
			if err != nil {
				return nil, err
			}
			rounds[k] = append(rounds[k], one)
		}
	}
	for _, of := range rounds {
		runs = append(runs, skeleton.Middle(of))
	}
	return runs, nil
}

// observeOnce runs the timed form of a program with a number of ranks.
func (s *skeletonRuns) observeOnce(c *terminal.Console, program string, ranks int64, d *skeleton.Description) (one skeleton.Run, err error) {
	tasks := &native.Tasks{Weights: make([]native.Weight, len(d.Tasks)), Beside: s.beside}
	o, err := s.run(c, program, ranks, func(f *runFlags) {
		f.engines, f.cpu.mode = "1", string(cpuMeasured)
		f.form = skeletonForm{timed: true, tasks: tasks}
	})
	if err != nil {
		return one, err
	}
	if o.failed != "" {
		return one, terminal.Ended{Cause: fmt.Errorf("%s with %s: %s", program, spelling.Count(ranks, "rank"), o.failed), Code: terminal.ExitProgram}
	}
	one = skeleton.Run{Ranks: ranks, Tasks: make([]skeleton.Observed, len(d.Tasks)), Rest: skeleton.Observed(tasks.RestSums())}
	for n, sums := range tasks.Sums() {
		one.Tasks[n] = skeleton.Observed(sums)
	}
	return one, nil
}

// weighSkeleton writes the weights of a program's tasks.
func weighSkeleton(c *terminal.Console, s *skeletonRuns, program, out string) error {
	if out == "" {
		out = program + ".weights"
	}
	counts, err := s.counts()
	if err != nil {
		return err
	}
	d, err := skeleton.Describe(program)
	if err != nil {
		return terminal.UsageError{err}
	}
	if err := terminal.CheckWritable(out); err != nil {
		return terminal.UsageError{fmt.Errorf("--output: %w", err)}
	}
	runs, err := s.observe(c, program, counts, d)
	if err != nil {
		return err
	}
	w := d.Fit(runs...)
	w.File, w.Beside = program, s.beside
	w.Arguments = append(w.Arguments, s.arguments...)
	if err := terminal.ReplaceFile(out, w.Text(), 0); err != nil {
		return err
	}
	said := fmt.Sprintf("%s: %s", out, spelling.Count(len(w.Tasks), "task"))
	never := 0
	for n, t := range w.Tasks {
		if t.Entries == 0 {
			never++
		}
		if t.Share >= 0.01 {
			said += fmt.Sprintf("\n%5.1f %%  %s, %s entries, spread %.0f %%", 100*t.Share, t.Line, terminal.Count(float64(t.Entries)), 100*t.Spread)
			if unknown := d.Tasks[n].Unknown; len(unknown) > 0 {
				said += fmt.Sprintf(", not counted: %s", unknown)
				if len(counts) > 1 {
					said += fmt.Sprintf(", changes with ranks^%.2f", t.Power)
				}
			}
		}
	}
	if never > 0 {
		said += fmt.Sprintf("\n%s were not entered, and have no weight", spelling.Count(never, "task"))
	}
	_, err = fmt.Fprintln(c.Stdout, said)
	return err
}
