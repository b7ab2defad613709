package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/quantity"
	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

const wrapperHelp = ` compiles and links MPI programs for gigarank run, with the
flags of the compiler, which is %s unless %s names another. It answers
-show, --showme, -v, -E, -c, -S and -shared as mpicc does.%s A link to gigarank by the name
%s is this command, for cmake and make; gigarank wrappers makes such links.`

// newWrappers returns the commands that stand for compilers.
func newWrappers(c *terminal.Console) []*cobra.Command {
	var commands []*cobra.Command
	for _, l := range toolchain.Languages() {
		usual, variable := l.Compiler()
		commands = append(commands, &cobra.Command{
			Use:                l.String() + " [ARGUMENT]...",
			Short:              "Build an MPI program in " + l.Name() + " for native ranks",
			Long:               "gigarank " + l.String() + fmt.Sprintf(wrapperHelp, usual, variable, skeletonHelpOf(l), strings.Join(append(l.UsualNames(), "or gigarank-"+l.String()), ", ")),
			Example:            "  gigarank " + l.String() + " -O2 -o ring ring" + l.Suffix() + "\n  gigarank run ./ring --ranks 1024",
			DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error {
				wrap := toolchain.Wrap
				if slices.Contains(args, skeleton.Flag) || isSet(c.Getenv(skeleton.Variable)) {
					wrap = skeleton.Wrap
				}
				code, err := wrap(l, args, os.Stdin, c.Stdout, c.Stderr)
				if err == nil && code != 0 {
					err = terminal.Ended{Cause: errors.New("the compiler failed"), Code: code, Silent: true}
				}
				return err
			},
		})
	}
	return commands
}

func newCheck(c *terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "check PROGRAM",
		Short: "Check whether a program can run as native ranks",
		Long: `Check reads a program that gigarank cc, cxx or fc has built, and names the faults that keep it
from running, and the MPI functions that it uses and native ranks lack. Notes name functions whose
effects the ranks of a process share. gigarank run makes the same checks and notes, but goes on with a
warning where MPI functions are missing: a program need not call them.`,
		Example: "  gigarank check ./ring",
		Args:    arguments(1, "one PROGRAM"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := toolchain.Check(args[0]); err != nil {
				return terminal.UsageError{err}
			}
			faults, err := toolchain.Unresolved(args[0])
			for _, fault := range faults {
				err = errors.Join(err, errors.New(fault))
			}
			if err != nil {
				return terminal.UsageError{err}
			}
			_, _ = fmt.Fprintf(c.Stdout, "%s: no faults\n", args[0])
			for _, note := range toolchain.Notes(args[0]) {
				_, _ = fmt.Fprintf(c.Stdout, "note: it uses %s\n", note)
			}
			return nil
		},
	}
}

// stackWays are the values of --stacks.
var stackWays = []native.Stacks{native.Automatic, native.Own, native.Copied}

// isPath reports whether a program is named by its path.
func isPath(program string) bool { return strings.ContainsRune(program, '/') }

// lookUp returns the program that the command line names.
func lookUp(c *terminal.Console, program string, f *runFlags, faults *terminal.UsageError) (bench.Entry, error) {
	if f.replays != nil {
		return *f.replays, nil
	}
	if !isPath(program) {
		for _, of := range []struct{ flag, value string }{{"--stack", f.stack}, {"--stacks", f.stacks}} {
			if of.value != "" {
				faults.Add(of.flag, fmt.Errorf("%s runs on no C stack: leave the flag out", program))
			}
		}
		if f.skeleton != "" {
			faults.Add("--skeleton", fmt.Errorf("%s is no native program: leave the flag out", program))
		}
		if f.label {
			faults.Add("--label", fmt.Errorf("%s is no native program: leave the flag out", program))
		}
		if f.strictFunctions {
			faults.Add("--strict-functions", fmt.Errorf("%s is no native program: leave the flag out", program))
		}
		if err := foreign(program); err != nil {
			return bench.Entry{}, err
		}
		return bench.Lookup(program)
	}
	o := native.Options{Label: f.label, StrictFunctions: f.strictFunctions}
	if f.stack != "" {
		var err error
		if o.Stack, err = quantity.ParseSize(f.stack); err == nil && (o.Stack < leastStack || o.Stack > 1<<40) {
			err = fmt.Errorf("a stack of %s: use at least 16 KiB, at most 1 TiB", f.stack)
		}
		faults.Add("--stack", err)
	}
	if f.stacks != "" {
		var err error
		o.Stacks, err = terminal.Choose("way to have stacks", f.stacks, stackWays)
		faults.Add("--stacks", err)
	}
	for _, of := range []struct{ flag, value string }{{"--iterations", f.iterations}, {"--compute", f.compute}, {"--payload", f.payload}} {
		if of.value != "" {
			faults.Add(of.flag, fmt.Errorf("%s takes arguments of its own: give them after its name", program))
		}
	}
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return bench.Entry{}, fmt.Errorf("there is no file %s: build one by gigarank cc, cxx or fc, or name a program of gigarank list, without a slash", program)
	}
	file, err := f.fileOf(c, program, faults)
	if err != nil {
		return bench.Entry{}, err
	}
	o.Tasks, o.Journal = f.form.tasks, f.form.journal
	form, err := native.Open(file, f.programArguments, o)
	if err != nil {
		return bench.Entry{}, err
	}
	return bench.Entry{
		Name: program, Summary: "a program in C", Forms: []*mpivirt.Kind{native.Kind},
		Build: func(bench.Options) (mpivirt.Program, error) {
			return mpivirt.Program{Forms: []mpivirt.Form{form}}, nil
		},
		State: func(*mpivirt.Kind, bench.Options) float64 { return o.Bytes() },
	}, nil
}

// foreign returns why a word without a slash, which names no program of gigarank list, does not name the
// file either that it may mean: one of the directory, or one that a shell would find. It returns nil if
// there is none.
func foreign(word string) error {
	if _, err := bench.Lookup(word); err == nil || word == "" {
		return nil
	}
	path := "./" + word
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		if path, err = exec.LookPath(word); err != nil {
			if is := toolchain.Starter(word); is != "" {
				return fmt.Errorf("%s is %s", word, is)
			}
			return nil
		}
	}
	if err := toolchain.CheckBuild(path); err != nil {
		return fmt.Errorf("%s is no program of gigarank list, and %w", word, err)
	}
	return fmt.Errorf("%s is no program of gigarank list: name the file with a slash, as %s", word, path)
}

// ownFlags returns the remedy for a flag that run does not have, where it may be one of a program in a
// file, "" elsewhere. words are the arguments before it.
func ownFlags(words []string) string {
	if len(words) == 0 {
		return ""
	}
	if !isPath(words[0]) {
		if err := foreign(words[0]); err != nil {
			return err.Error()
		}
		return ""
	}
	if err := toolchain.CheckBuild(words[0]); err != nil {
		return err.Error()
	}
	return "arguments of " + words[0] + " that begin with a dash come after --"
}

// allowUnserved defines the flag that programs which use functions that native ranks do not have wanted once.
func allowUnserved(flags *pflag.FlagSet) {
	flags.Bool("allow-unserved", true, "run a program that uses MPI functions that native ranks do not have")
	_ = flags.MarkDeprecated("allow-unserved", "leave it out: such programs are run; --strict-functions refuses them") // the flag is there
}

// namedFunctions is the number of functions that a warning names.
const namedFunctions = 12

// warnOfMissing names the functions that a program may come to call and that native ranks do not have.
func warnOfMissing(c *terminal.Console, program string) {
	missing, err := toolchain.Missing(program)
	if err != nil {
		return // the check of the program has read the same, or the run fails of it
	}
	for _, m := range missing {
		listed := strings.Join(m.Functions[:min(namedFunctions, len(m.Functions))], ", ")
		if more := len(m.Functions) - namedFunctions; more > 0 {
			listed += fmt.Sprintf(" and %d more, which gigarank check %s lists", more, program)
		}
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: warning: %s uses MPI functions that native ranks do not have: %s; a call of one is an error of class MPI_ERR_UNSUPPORTED_OPERATION; --strict-functions refuses the program\n", m.Path, listed)
	}
}

// leastStack is the least size of a stack in bytes: printf of the C library takes that much.
const leastStack = 16 << 10
