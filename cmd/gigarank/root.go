package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
)

// execute runs the command line and returns the exit code.
func execute(args []string, c *terminal.Console) int {
	c.Arguments = append([]string{"gigarank"}, args...)
	root := newRoot(c)
	root.SetArgs(args)
	err := unlessItFails(root.Execute)
	if err == nil {
		err = c.Stdout.Failure()
	}
	if c.Stopped.Reason != "" {
		err = c.Stopped
	}
	c.Finish(err)
	return terminal.ExitCode(err)
}

// unlessItFails calls a function. A panic of the function becomes an error with the stack: of gigarank itself, which no command recovers from.
func unlessItFails(call func() error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *mpivirt.Fault:
			err = v
		default:
			err = &mpivirt.Fault{Cause: v, Stack: debug.Stack()}
		}
	}()
	return call()
}

func newRoot(c *terminal.Console) *cobra.Command {
	root := &cobra.Command{
		Use:   "gigarank",
		Short: "Simulate MPI programs with up to a billion virtual ranks",
		Long: `gigarank simulates MPI programs with up to a billion virtual ranks and reports their
cost on a target machine of that size. The same program, ranks, machine and seed
give the same virtual times, bit for bit, on one core or on ten thousand hosts.

` + terminal.ExitHelp,
		Example: `  gigarank list
  gigarank run barriertest --ranks 1M --machine xt5
  gigarank study barrier --quick --out barrier-study
  mpirun -n 64 gigarank run barriertest --ranks 221184000 --lp event`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return terminal.EmptyFlags(cmd.Flags())
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	cobra.AddTemplateFunc("flagGroups", terminal.FlagUsages)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(),
		"Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagGroups .LocalFlags}}", 1))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		remedy := fmt.Sprintf("see %s --help", cmd.CommandPath())
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
			remedy = spelling.Suggest("--"+unknown.GetSpecifiedName(), longFlags(cmd), remedy)
		}
		if cmd.Name() == "run" {
			remedy = cmp.Or(ownFlags(cmd.Flags().Args()), remedy)
		}
		return terminal.UsageError{fmt.Errorf("%w; %s", err, remedy)}
	})
	root.AddCommand(newRun(c), newEfficiency(c), newReplay(c), newCompareRuns(c), newTrace(c), newStudy(c), newPlan(c), newCounts(c), newValidate(c), newTune(c), newList(c), newMachine(c), newDoctor(c), newInit(c), newMan(c), newVersion(c))
	root.AddCommand(newWrappers(c)...)
	root.AddCommand(newLinks(c), newCheck(c), newSkeleton(c))
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	root.InitDefaultCompletionCmd() // which keeps the output that is set
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		requireSubcommand(completion)
		for _, shell := range completion.Commands() {
			shell.Args = arguments(0, "no arguments")
		}
	}
	requireSubcommand(root)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = commandNames
	}
	if asksForValues(c.Arguments) {
		completeValues(root)
	}
	return root
}

// longFlags returns the names of a command's flags, as they are written.
func longFlags(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
	return names
}

// requireSubcommand makes a command that only groups others fail without a subcommand
// or with an unknown one.
func requireSubcommand(group *cobra.Command) {
	group.Args = cobra.ArbitraryArgs
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return terminal.UsageError{fmt.Errorf("%s needs a command: %s; see %s --help",
				cmd.CommandPath(), strings.Join(subcommands(cmd), ", "), cmd.CommandPath())}
		}
		return unknownCommand(cmd, args[0])
	}
}

// commandNames checks that the arguments of help lead to a command.
func commandNames(help *cobra.Command, args []string) error {
	at := help.Root()
	for _, name := range args {
		i := slices.IndexFunc(at.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
		switch {
		case i >= 0:
			at = at.Commands()[i]
		case len(subcommands(at)) > 0:
			return unknownCommand(at, name)
		default:
			return terminal.UsageError{fmt.Errorf("%s has no command %q: leave it out", at.CommandPath(), name)}
		}
	}
	return nil
}

// unknownCommand returns the error that a command has no subcommand of a name.
func unknownCommand(group *cobra.Command, name string) error {
	return terminal.UsageError{fmt.Errorf("unknown command %q for %s: %s", name, group.CommandPath(), spelling.Choices(name, subcommands(group)))}
}

// subcommands returns the names of the commands that a command groups.
func subcommands(group *cobra.Command) (names []string) {
	for _, sub := range group.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// arguments checks the number of arguments of a command. expected names them.
func arguments(n int, expected string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return terminal.UsageError{fmt.Errorf("%s takes %s; %d given; see %s --help", cmd.CommandPath(), expected, len(args), cmd.CommandPath())}
	}
}
