package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/trace"
	"gigarank/trace/record"
)

const traceRecordHelp = `Record runs a real MPI program by --launcher and records what its tasks do. Each task writes a file of its
own into the directory of -o: bursts of computing by CPU time and by wall time, each call of MPI with
its arguments and its duration, no contents of messages. gigarank trace merge makes one trace of the files.

The recorder is a library, libgigatrace, which is compiled for the MPI of --mpicc at its first use. A
program needs no change: the library is loaded before it, and hears C, C++ and Fortran. In a job script,
use what gigarank trace library prints.

MPI_Pcontrol(0) switches the recording off, and other levels on, which begin phases; communicators are recorded all the time. --calls
FROM..TO records the calls with these numbers, by task, from 1. One-sided communication, files, persistent
collectives and partitioned messages are not recorded: gigarank trace info names those that the program has called. Only the thread that
has called MPI_Init is recorded.

With --mode count there are no operations, but for each function and task calls, time and bytes, and the
counters of the processor that the kernel allows; --mode light has run times and counters alone. gigarank trace profile prints them.

`

// recordFlags are the flags of trace record as they are written.
type recordFlags struct {
	processes                            int
	out, mpicc, launcher, mode, selected string
}

// recordingMode is what the tasks of a real program write.
type recordingMode string

// The modes.
const (
	modeTrace recordingMode = "trace"
	modeCount recordingMode = "count"
	modeLight recordingMode = "light"
)

// recordingModes are the values of --mode.
var recordingModes = []recordingMode{modeTrace, modeCount, modeLight}

func (m recordingMode) String() string { return string(m) }

func newTraceRecord(c *terminal.Console) *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record -n N PROGRAM [ARGUMENT...]",
		Short: "Record a run of a real MPI program",
		Long:  traceRecordHelp + terminal.ExitHelp,
		Example: `  gigarank trace record -n 64 ./prog input.dat
  gigarank trace merge prog.trace -o prog.grt
  gigarank replay prog.grt --machine frontier
  gigarank trace record -n 64 --launcher "srun -n" -o d ./prog`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return arguments(1, "a PROGRAM and its arguments")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return recordProgram(c, args, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.SetInterspersed(false)
	flags.IntVarP(&f.processes, "processes", "n", 0, "number `N` of processes")
	flags.StringVarP(&f.out, "output", "o", "", "new `DIR` for the files of the tasks (default PROGRAM.trace)")
	defineMPICC(cmd, &f.mpicc)
	flags.StringVar(&f.launcher, "launcher", launcherAuto, "`COMMAND` that starts processes, with their number as last argument; auto: the mpirun of --mpicc")
	flags.StringVar(&f.mode, "mode", string(modeTrace), "`MODE` of the recording: trace, count or light")
	flags.StringVar(&f.selected, "calls", "", "record the calls of each task with numbers `FROM..TO`")
	return cmd
}

func defineMPICC(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "mpicc", "mpicc", "`COMMAND` of the C compiler of the program's MPI")
}

// readCalls reads the numbers of calls, as settings of the recorder.
func readCalls(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	first, last, _ := strings.Cut(text, "..")
	from, err := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	if err != nil || err2 != nil || from < 1 || to < from {
		return "", fmt.Errorf("%q are no numbers of calls: write FROM..TO, such as 1000..2000", text)
	}
	return fmt.Sprintf(",from=%d,to=%d", from, to), nil
}

// recording is a run of a real program that is recorded.
type realRun struct {
	words   []string // of the launcher
	program []string
	library *record.Library
	dir     string
	setting string // of the recorder
}

// read reads the flags and opens the recorder.
func (f *recordFlags) read(args []string) (*realRun, error) {
	var faults terminal.UsageError
	r := &realRun{program: args}
	if f.processes < 1 {
		faults.Add("-n", errors.New("name the number of processes"))
	}
	mode, err := terminal.Choose("mode", f.mode, recordingModes)
	faults.Add("--mode", err)
	calls, err := readCalls(f.selected)
	faults.Add("--calls", err)
	r.words = strings.Fields(f.launcher)
	switch {
	case f.launcher == launcherAuto:
		r.words = []string{launcherOf(f.mpicc), "-n"}
	case len(r.words) == 0:
		faults.Add("--launcher", errors.New("name a command"))
	}
	path, err := exec.LookPath(args[0])
	faults.Add("PROGRAM", err)
	out := f.out
	if out == "" {
		out = filepath.Base(args[0]) + ".trace"
	}
	if r.dir, err = filepath.Abs(out); err == nil {
		err = checkNewDirectory(r.dir)
	}
	faults.Add("-o", err)
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	if r.library, err = record.Open(f.mpicc, host.Version()); err == nil {
		err = r.library.CheckProgram(path)
	}
	if err != nil {
		return nil, terminal.UsageError{fmt.Errorf("--mpicc: %w", err)}
	}
	r.setting = "dir=" + r.dir + ",mode=" + string(mode) + calls
	if digest, err := host.DigestOf(path); err == nil {
		r.setting += ",sha256=" + digest
	}
	return r, nil
}

// launcherOf returns the mpirun that lies beside a compiler of MPI, as mpirun.mpich beside mpicc.mpich.
func launcherOf(mpicc string) string {
	if path, err := exec.LookPath(mpicc); err == nil {
		beside := filepath.Join(filepath.Dir(path), strings.Replace(filepath.Base(path), "mpicc", "mpirun", 1))
		if _, err := os.Stat(beside); err == nil && beside != path {
			return beside
		}
	}
	return "mpirun"
}

// checkNewDirectory returns the error of a directory in which files would be lost, or whose name the recorder cannot be told.
func checkNewDirectory(dir string) error {
	if strings.Contains(dir, ",") {
		return fmt.Errorf("the name %s has a comma, which ends a setting of the recorder: take another", dir)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return os.MkdirAll(dir, 0o777)
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: remove it, or name another directory", dir)
	}
	return nil
}

// recordProgram runs a program and records it.
func recordProgram(c *terminal.Console, args []string, f *recordFlags) error {
	r, err := f.read(args)
	if err != nil {
		return err
	}
	words := append(r.words, strconv.Itoa(f.processes), "env", "LD_PRELOAD="+r.library.Path, "GIGATRACE="+r.setting)
	words = append(words, r.program...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.Stdout, c.Stderr
	failed := runForwarding(cmd)
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		return terminal.UsageError{fmt.Errorf("--launcher: %w", failed)}
	}
	files, err := record.Files(r.dir)
	switch {
	case err == nil && failed == nil:
		next := "gigarank trace merge " + r.dir + " -o NEW.grt makes one trace of them"
		if f.mode != string(modeTrace) {
			next = "gigarank trace profile " + r.dir + " prints them"
		}
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: %s left %s in %s; %s\n", spelling.Count(f.processes, "process"), spelling.Count(len(files), "file"), r.dir, next)
		return nil
	case failed != nil:
		return terminal.Ended{Cause: fmt.Errorf("%s: %w; %s left %s", strings.Join(words[:len(r.words)+1], " "), failed, r.program[0], spelling.Count(len(files), "file")), Code: terminal.ExitProgram}
	}
	return terminal.Ended{Cause: fmt.Errorf("%s was not recorded: %w; a program that has its MPI in itself, linked statically, cannot be recorded", r.program[0], err), Code: terminal.ExitProgram}
}

// runForwarding runs a command, which gets the signals that would end this process.
func runForwarding(cmd *exec.Cmd) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it may have ended
		case err := <-ended:
			return err
		}
	}
}

func newTraceLibrary(c *terminal.Console) *cobra.Command {
	var mpicc string
	cmd := &cobra.Command{
		Use:   "library",
		Short: "Print the path of the library that records real programs",
		Long: `Library compiles libgigatrace, which records real programs, for the MPI of --mpicc, if that was not done before, and
prints its path. A job script needs

  export GIGATRACE=dir=DIR
  mpirun -n 64 env LD_PRELOAD=$(gigarank trace library) ./prog

Settings in GIGATRACE are dir=DIR (default gigatrace), mode=trace, count or light, and from=N,to=M, the numbers of the calls of each
task that are recorded. The directory is made on each node; where nodes share no file system, collect the files before the merge.

` + terminal.ExitHelp,
		Example: "  LD_PRELOAD=$(gigarank trace library) GIGATRACE=dir=d ./prog",
		Args:    arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			l, err := record.Open(mpicc, host.Version())
			if err != nil {
				return terminal.UsageError{fmt.Errorf("--mpicc: %w", err)}
			}
			_, err = fmt.Fprintln(c.Stdout, l.Path)
			return err
		},
	}
	defineMPICC(cmd, &mpicc)
	return cmd
}

func newTraceMerge(c *terminal.Console) *cobra.Command {
	var to newFile
	cmd := &cobra.Command{
		Use:   "merge DIR -o NEW",
		Short: "Make one trace of the files of a recorded run",
		Long: `Merge makes one trace of the files that the tasks of a recorded run have left in DIR. It reads one file after the other.
Of a task that was killed it keeps what is sound, up to its last full block. What is missing of tasks is said on standard
error, and kept in the trace: gigarank trace info tells it again, and a replay goes on up to there.

` + terminal.ExitHelp,
		Example: "  gigarank trace merge prog.trace -o prog.grt",
		Args:    arguments(1, "one DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			way, err := to.way()
			if err != nil {
				return err
			}
			files, err := record.Files(args[0])
			if err != nil {
				return terminal.UsageError{err}
			}
			return mergeTrace(c, files, to.name, way)
		},
	}
	to.define(cmd.Flags())
	return cmd
}

// mergeTrace merges the files of tasks.
func mergeTrace(c *terminal.Console, files []string, out string, way trace.Compression) error {
	var m *record.Merged
	err := writeTrace(out, func(w io.Writer) (err error) {
		m, err = record.Merge(files, w, way)
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range m.Problems {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: %s\n", p)
	}
	if more := m.Count - len(m.Problems); more > 0 {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: and %s\n", spelling.Count(more, "more problem"))
	}
	tellUnrecorded(c, m.Summary.Unrecorded)
	_, err = fmt.Fprintf(c.Stdout, "%s: %s, %s\n", out, spelling.Count(m.Tasks, "task"), spelling.Count(m.Summary.Operations, "operation"))
	return err
}
