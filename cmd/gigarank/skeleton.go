package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/quantity"
	"gigarank/internal/result"
	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// withoutWeights is the value of --skeleton by which a skeleton's computing takes no time.
const withoutWeights = "none"

// skeletonHelpOf returns the sentence about skeletons in the help of a wrapper.
func skeletonHelpOf(l toolchain.Language) string {
	compiler := skeleton.Compiler(l)
	if compiler == "" {
		return ""
	}
	return fmt.Sprintf(`
With %s, or %s=1 in the environment, the program holds its skeleton, too, for gigarank run
--skeleton. The objects are then bitcode of LLVM, and the compiler is %s. %s FILE, at the link,
names assumptions about data by source line. %s builds a skeleton that computes the data on which
its calls of MPI depend, where the program would be refused.`, skeleton.Flag, skeleton.Variable, compiler, skeleton.DirectivesFlag, skeleton.KeepDataFlag)
}

// isSet reports whether the value of a variable switches something on.
func isSet(value string) bool { return value != "" && value != "0" }

// skeletonForm is what is run of a program with a skeleton.
type skeletonForm struct {
	timed   bool // the timed form, in the place of the program
	tasks   *native.Tasks
	journal *native.Journal
	of      *skeleton.Description // of the program, if its skeleton is run
	weights *skeleton.Weights     // nil: tasks take no time
}

// fileOf returns the file that is run for a program: the program's own, that of its timed form, or that of its skeleton.
func (f *runFlags) fileOf(c *terminal.Console, program string, faults *terminal.UsageError) (string, error) {
	switch {
	case f.form.timed:
		return skeleton.ExtractTimed(program)
	case f.skeleton == "":
		return program, nil
	}
	if f.cpu.record != "" || f.cpu.replay != "" || f.cpu.mode == string(cpuMeasured) {
		faults.Add("--skeleton", errors.New("a skeleton has left out the computing whose CPU time is to count: leave out --cpu, --cpu-record and --cpu-replay"))
	}
	var err error
	if f.form.of, err = skeleton.Describe(program); err != nil {
		return "", err
	}
	if f.skeleton != withoutWeights {
		faults.AddFile("--skeleton", f.form.readWeights(c, f.skeleton))
	}
	return skeleton.Extract(program)
}

// readWeights reads the weights of the program's tasks.
func (f *skeletonForm) readWeights(c *terminal.Console, file string) error {
	text, err := c.ReadFile(file)
	if err != nil {
		return err
	}
	w, err := f.of.ReadWeights(text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	f.weights, f.tasks = w, &native.Tasks{Rest: femtoseconds(w.Rest), Weights: make([]native.Weight, len(w.Tasks))}
	return nil
}

// weigh gives the tasks their weights for a number of ranks.
func (f *skeletonForm) weigh(ranks int64) {
	if f.weights == nil {
		return
	}
	for n, t := range f.weights.For(ranks) {
		f.tasks.Weights[n] = native.Weight{Entry: femtoseconds(t.Entry), Iteration: femtoseconds(t.Iteration)}
	}
}

func femtoseconds(seconds float64) int64 { return int64(seconds*1e15 + 0.5) }

// note returns what the user is to know of a run of the skeleton before it begins.
func (f *skeletonForm) note(program string) string {
	takes := "takes no time"
	if f.weights != nil {
		takes = "takes the time of its weights"
	}
	return fmt.Sprintf("this is the skeleton of %s: what it has left out %s, and is not printed", program, takes)
}

// unweighed returns the lines of tasks that the run has come to, and that the runs have not come to by which the weights were found.
func (f *skeletonForm) unweighed() (lines []string) {
	if f.weights == nil {
		return nil
	}
	for n, s := range f.tasks.Sums() {
		if s.Entries > 0 && f.weights.Tasks[n].Entries == 0 {
			lines = append(lines, f.weights.Tasks[n].Line)
		}
	}
	return lines
}

// unreached returns the lines of tasks that the run has not come to, longest first, and their share of the time as the weights were found.
func (f *skeletonForm) unreached() (lines []string, share float64) {
	if f.weights == nil || f.tasks.Sums() == nil {
		return nil, 0
	}
	sums := f.tasks.Sums()
	var left []skeleton.Weight
	for n, w := range f.weights.Tasks {
		if w.Share > 0 && sums[n].Entries == 0 {
			left, share = append(left, w), share+w.Share
		}
	}
	slices.SortStableFunc(left, func(a, b skeleton.Weight) int { return cmp.Compare(b.Share, a.Share) })
	for _, w := range left[:min(len(left), shownUnreached)] {
		lines = append(lines, w.Line)
	}
	return lines, share
}

// A run that leaves out tasks with so large a share of the time is taken to have stopped early. So many of them are named.
const (
	suspicious     = 0.5
	shownUnreached = 3
)

// uncounted returns the tasks with iterations that the skeleton cannot count, with their share of the time as the weights were found.
func (f *skeletonForm) uncounted() (all []result.UncountedTask) {
	if f.weights == nil {
		return nil
	}
	for n, t := range f.of.Tasks {
		if w := f.weights.Tasks[n]; len(t.Unknown) > 0 && w.Entries > 0 {
			all = append(all, result.UncountedTask{Line: t.Line, Loops: t.Unknown, Share: w.Share})
		}
	}
	slices.SortStableFunc(all, func(a, b result.UncountedTask) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

func newSkeleton(c *terminal.Console) *cobra.Command {
	group := &cobra.Command{
		Use:   "skeleton",
		Short: "Look at the skeleton of a program, compare both, and find the times of what it leaves out",
		Long: `A program that gigarank cc or fc --skeleton has built holds its skeleton: a program that makes the same calls
of MPI with the same arguments but the content of messages, without the computing and the arrays that do not
decide on these calls. Each piece of computing that is left out is a task. gigarank skeleton weigh finds the
times of tasks, and gigarank run --skeleton simulates the skeleton with these times.`,
	}
	requireSubcommand(group)
	group.AddCommand(newSkeletonReport(c), newSkeletonVerify(c), newSkeletonWeigh(c))
	return group
}

func newSkeletonReport(c *terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "report PROGRAM",
		Short: "Show what a skeleton has of its program, and why",
		Long: `Report shows how many instructions of a program its skeleton has kept, which arrays and allocations, and which content of
messages, with the lines that need it: from the line that reads the content up to the call of MPI that depends on it. Then come
the tasks, with the loops whose iterations the skeleton counts, and the directives.`,
		Example: "  gigarank skeleton report ./stencil",
		Args:    arguments(1, "one PROGRAM"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := skeleton.Report(args[0])
			if err != nil {
				return terminal.UsageError{err}
			}
			_, err = fmt.Fprint(c.Stdout, text)
			return err
		},
	}
}

// programAndArguments returns an error for a command line without a program.
func programAndArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return arguments(1, "one PROGRAM")(cmd, args)
	}
	return nil
}

// skeletonRuns are the flags of commands that run forms of a program with several numbers of ranks.
type skeletonRuns struct {
	ranks, stack string
	arguments    []string // of the program
	beside       int64    // bytes of memory that stand for that of other ranks
	rounds       int      // runs of each number of ranks; 0 for as many as short runs take
}

func (s *skeletonRuns) define(flags *pflag.FlagSet, usual string) {
	flags.StringVar(&s.ranks, "ranks", usual, "numbers of ranks, with commas between them: `LIST`")
	flags.StringVar(&s.stack, "stack", "", "`BYTES` of the stack of a rank, such as 64MiB (default the limit of ulimit -s)")
}

// counts returns the numbers of ranks.
func (s *skeletonRuns) counts() (all []int64, err error) {
	for ranks := range strings.SplitSeq(s.ranks, ",") {
		n, err := quantity.ParseCount(strings.TrimSpace(ranks))
		if err != nil || n < 1 {
			return nil, terminal.UsageError{fmt.Errorf("--ranks: %q is no number of ranks", ranks)}
		}
		all = append(all, n)
	}
	return all, nil
}

// outcome is what a run has come to.
type outcome struct {
	result *mpivirt.Result
	failed string
	form   skeletonForm
}

// run runs a form of a program. Change sets further flags.
func (s *skeletonRuns) run(c *terminal.Console, program string, ranks int64, change func(f *runFlags)) (*outcome, error) {
	var f runFlags
	f.define(&cobra.Command{}) // the defaults
	f.ranks, f.stack, f.programArguments = strconv.FormatInt(ranks, 10), s.stack, s.arguments
	change(&f)
	r, err := newRequest(c, alone(), program, &f)
	if err != nil {
		return nil, err
	}
	simulation, err := r.silent()
	if err != nil {
		return nil, err
	}
	o := &outcome{form: f.form}
	if o.result, err = simulation.Run(); err != nil {
		o.failed = err.Error()
		for _, extract := range []func(string) (string, error){skeleton.Extract, skeleton.ExtractTimed} {
			if file, gone := extract(program); gone == nil {
				o.failed = strings.ReplaceAll(o.failed, file, program)
			}
		}
	}
	return o, nil
}
