package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/quantity"
	"gigarank/mpivirt"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// withoutWeights is the value of --skeleton by which a skeleton's computing takes no time.
const withoutWeights = "none"

// skeletonHelpOf returns the sentence about skeletons in the help of a wrapper.
func skeletonHelpOf(l toolchain.Language) string {
	if l != toolchain.C {
		return ""
	}
	return fmt.Sprintf(`
With %s, or %s=1 in the environment, the program holds its skeleton, too, for gigarank run
--skeleton. The objects are then bitcode of LLVM, and the compiler is %s.`, skeleton.Flag, skeleton.Variable, skeleton.Compiler())
}

// isSet reports whether the value of a variable switches something on.
func isSet(value string) bool { return value != "" && value != "0" }

// fileOf returns the file that is run for a program: the program's own, or that of its skeleton.
func (f *runFlags) fileOf(program string, faults *terminal.UsageError) (string, error) {
	if f.skeleton == "" {
		return program, nil
	}
	if f.skeleton != withoutWeights {
		faults.Add("--skeleton", fmt.Errorf("%s: use %s, which has the skeleton run without times of its computing", f.skeleton, withoutWeights))
	}
	if f.cpu.record != "" || f.cpu.replay != "" || f.cpu.mode == string(cpuMeasured) {
		faults.Add("--skeleton", errors.New("a skeleton has left out the computing whose CPU time is to count: leave out --cpu, --cpu-record and --cpu-replay"))
	}
	return skeleton.Extract(program)
}

func newSkeleton(c *terminal.Console) *cobra.Command {
	group := &cobra.Command{
		Use:   "skeleton",
		Short: "Look at the skeleton of a program, and compare both",
		Long: `A program that gigarank cc --skeleton has built holds its skeleton: a program that makes the same calls
of MPI with the same arguments but the content of messages, without the computing and the arrays that do not
decide on these calls. gigarank run --skeleton none simulates it.`,
	}
	requireSubcommand(group)
	var ranks string
	verify := &cobra.Command{
		Use:   "verify PROGRAM [ARGUMENT]...",
		Short: "Compare a skeleton with its program, by runs of both",
		Long: `Verify runs a program and its skeleton with each number of ranks. Both must have the same virtual times of all
ranks, the same messages and calls of collectives by size, and the same end. The exit code is 1 if they differ.
PROGRAM is the path of a program that gigarank cc --skeleton has built. -- comes before ARGUMENTs that begin with a dash.

` + terminal.ExitHelp,
		Example: "  gigarank skeleton verify ./stencil --ranks 2,4,9",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return arguments(1, "one PROGRAM")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return verifySkeleton(c, args[0], ranks, args[1:]) },
	}
	verify.Flags().StringVar(&ranks, "ranks", "2,4", "numbers of ranks, with commas between them: `LIST`")
	group.AddCommand(&cobra.Command{
		Use:   "report PROGRAM",
		Short: "Show what a skeleton has of its program, and why",
		Long: `Report shows how many instructions of a program its skeleton has kept, which arrays and allocations, and which content of
messages, with the lines that need it: from the line that reads the content up to the call of MPI that depends on it.`,
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
	}, verify)
	return group
}

// verifySkeleton compares a program with its skeleton at each number of ranks of a list.
func verifySkeleton(c *terminal.Console, program, list string, programArguments []string) error {
	var different []string
	for ranks := range strings.SplitSeq(list, ",") {
		n, err := quantity.ParseCount(strings.TrimSpace(ranks))
		if err != nil || n < 1 {
			return terminal.UsageError{fmt.Errorf("--ranks: %q is no number of ranks", ranks)}
		}
		whole, err := outcomeOf(c, program, ranks, "", programArguments)
		if err != nil {
			return err
		}
		bare, err := outcomeOf(c, program, ranks, withoutWeights, programArguments)
		if err != nil {
			return err
		}
		said := "the same"
		if difference := whole.against(bare); difference != "" {
			said = difference
			different = append(different, ranks)
		}
		_, _ = fmt.Fprintf(c.Stdout, "%s ranks: %s\n", strings.TrimSpace(ranks), said)
	}
	if len(different) > 0 {
		return terminal.Ended{Cause: fmt.Errorf("the skeleton of %s differs from the program at %s ranks", program, strings.Join(different, ", ")), Code: terminal.ExitProgram}
	}
	return nil
}

// outcome is what a run has come to.
type outcome struct {
	result *mpivirt.Result
	failed string
}

// outcomeOf runs a program or its skeleton.
func outcomeOf(c *terminal.Console, program, ranks, which string, programArguments []string) (*outcome, error) {
	var f runFlags
	f.define(&cobra.Command{}) // the defaults
	f.ranks, f.skeleton, f.stats, f.programArguments = strings.TrimSpace(ranks), which, true, programArguments
	r, err := newRequest(c, alone(), program, &f)
	if err != nil {
		return nil, err
	}
	s, err := r.silent()
	if err != nil {
		return nil, err
	}
	o := &outcome{}
	if o.result, err = s.Run(); err != nil {
		o.failed = err.Error()
		if file, gone := skeleton.Extract(program); gone == nil {
			o.failed = strings.ReplaceAll(o.failed, file, program)
		}
	}
	return o, nil
}

// against returns the first difference between a program's outcome and that of its skeleton, "" if there is none.
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
	}
	return ""
}
