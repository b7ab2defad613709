package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt/native/toolchain"
)

const runHelp = `Run simulates a program and reports the virtual time of each iteration, and the cost
of the simulation itself. Started by an MPI launcher, every host process runs one
engine; otherwise this process runs one engine for each core, or a single engine where that is quicker.

PROGRAM is a program of gigarank list, or the path of a program that gigarank cc, cxx or fc
has built, such as ./ring. The program of a path gets the ARGUMENTs; -- comes before
arguments that begin with a dash. Programs of gigarank list take ARGUMENTs NAME=VALUE
where the list has any.

Numbers take suffixes: 1M is 10^6, 1Mi is 2^20; 2^20 and 1e6 are numbers too.
Everything is checked before anything runs. The virtual results depend on program,
ranks, machine, noise and seed only: equal fingerprints, equal results.

The noise SPEC lengthens compute phases:
  periodic:PERIOD,DURATION          an interruption in each period, at a phase of the rank's own
  exponential:MEANGAP,MEANDURATION  gaps and durations exponentially distributed
  pareto:MEANGAP,MINDURATION,ALPHA  exponential gaps, heavy-tailed durations
  trace:FILE                        the detours that FILE lists, over and over, each rank from an
                                    instant of its own: lines of BEGIN DURATION, as Netgauge's
                                    selfish detour benchmark writes them (nanoseconds, or with a
                                    unit; # begins a comment); from 0 to the end of the last detour

By default the code between MPI calls takes no virtual time but the time that programs
declare. With --cpu measured the CPU time between two MPI calls counts, times the machine's cpu_ratio: results then
differ from run to run. --cpu-record keeps the times, a FILE for each host process
(FILE.0, FILE.1, ... over MPI). --cpu-replay charges them again: the results are the
same on any number of engines and hosts. It wants the program that was recorded, byte for
byte if it is a file, with its ranks and its arguments or --iterations and --payload.
Goroutine and native ranks only.

SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU end the run within two seconds. The
finished part is reported and marked as incomplete (exit code 3). A second signal kills at
once. Under nohup SIGHUP is ignored. An MPI launcher passes the signal on to all host
processes and ends with a code of its own (mpirun of Open MPI with 1). A result FILE is
replaced as a whole, also when the run fails.

The garbage collector would walk the stack of every rank. It waits until the run has
taken twice the memory that it is expected to need. GOGC and GOMEMLIMIT, if set, are
respected; GOMEMLIMIT also overrides the available memory.

`

func newRun(c *terminal.Console) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run PROGRAM [ARGUMENT]...",
		Short: "Simulate a program",
		Long:  runHelp + terminal.ExitHelp,
		Example: `  gigarank run barriertest --ranks 64Ki --iterations 5
  gigarank run barriertest --ranks 1M --machine tianhe-1a --barrier dissemination
  gigarank run barriertest --noise periodic:10ms,25us --json -
  gigarank run stencil --ranks 512 --report stencil-report
  gigarank run ddptraining model=bert-large batch=16 --datatype bf16 --ranks 1Ki --lp event --machine dgx-h100
  mpirun -n 64 gigarank run barriertest --ranks 221184000 --lp event --json result.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return arguments(1, "one PROGRAM (see gigarank list)")(cmd, args)
			}
			return checkArguments(args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			f.programArguments = args[1:]
			return run(c, args[0], &f)
		},
	}
	f.define(cmd)
	terminal.Group(cmd.Flags(), groupResults, f.defineReport)
	terminal.Group(cmd.Flags(), groupResults, f.timeline.define)
	terminal.Group(cmd.Flags(), groupMachine, f.defineIdeal)
	terminal.Group(cmd.Flags(), groupResults, f.trace.define)
	terminal.Group(cmd.Flags(), groupSimulated, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.lambda, "lambda", "", "λ, virtual ranks for each engine: `N` instead of --ranks")
	})
	return cmd
}

// checkArguments returns an error for arguments of a program of gigarank list that takes none.
func checkArguments(args []string) error {
	if e, err := bench.Lookup(args[0]); err == nil && len(e.Arguments) == 0 {
		return terminal.UsageError{fmt.Errorf("%s takes flags alone, and programs in files take arguments: leave out %s; see gigarank run --help", args[0], strings.Join(args[1:], " "))}
	}
	return nil
}

// run carries out a whole run on this host.
func run(c *terminal.Console, program string, f *runFlags) (err error) {
	h, err := host.Open(c.Getenv, f.lostAfter)
	if err != nil {
		return err
	}
	if h.Index != 0 {
		c.Mute()
	}
	s := host.CatchSignals(host.EndingSignals...)
	defer s.Release()
	c.ReadFile = s.ReadFile
	r, err := agreeOnRequest(c, h, s, program, f)
	if err == nil {
		err = simulate(c, h, s, r)
	}
	if f.explains != nil && h.Leads() && terminal.ExitCode(err) == terminal.ExitProgram {
		err = f.explains(err) // the others wait for this host to close
	}
	c.Finish(err) // the launcher ends this host as soon as another one has ended with an error
	if closed := h.Close(terminal.ExitCode(err)); err == nil {
		err = closed
	}
	return err
}

// agreeOnRequest checks the command line. If it is faulty for any host, no host goes
// on.
func agreeOnRequest(c *terminal.Console, h *host.Processes, s *host.Signals, program string, f *runFlags) (*request, error) {
	r, faults := newRequest(c, h, program, f)
	faults = s.OrFaults(faults)
	mine := host.ReportOn(faults)
	mine.Run = rand.Uint64()
	all, err := h.Agree(mine, host.AgreeLimit)
	if err == nil && all.Code == terminal.ExitDone {
		r.cpu.header.Run = all.Run
		return r, nil
	}
	if left := r.trace.discard(); err != nil || left != nil {
		return nil, errors.Join(err, left)
	}
	faults = s.Cause(faults, all)
	switch {
	case h.Index == 0 && faults != nil:
		return nil, faults
	default:
		return nil, terminal.Ended{Cause: faults, Code: all.Code, Silent: h.Index != 0 && h.Index != all.From}
	}
}

// simulate runs a request and reports its outcome.
func simulate(c *terminal.Console, h *host.Processes, s *host.Signals, r *request) error {
	if r.verbose && h.Index == 0 {
		c.Verbose()
	}
	// The choice of algorithms has simulated: the run counts its own memory only.
	debug.FreeOSMemory()
	host.ResetPeak()
	host.TuneCollector(c.Getenv, r.need, r.share)
	if r.json != "" && r.json != terminal.StandardOutput || r.report != "" {
		terminal.OutliveReader()
	}
	if isPath(r.entry.Name) && h.Leads() {
		warnOfMissing(c, r.entry.Name)
		for _, note := range toolchain.Notes(r.entry.Name) {
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: %s uses %s\n", r.entry.Name, note)
		}
	}
	if r.skeleton != "" && h.Leads() {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: %s\n", r.form.note(r.entry.Name))
	}
	printed := terminal.NewOutlet(r.output(c))
	o := perform(c, h, r, s, printed)
	if told := r.cpu.warning(len(r.config.Transports), runtime.NumCPU()); told != "" && h.Leads() {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: %s\n", told)
	}
	if lines := r.form.unweighed(); len(lines) > 0 && h.Leads() {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: warning: tasks that have no weight took no time, since gigarank skeleton weigh did not come to them: %s\n", strings.Join(lines, ", "))
	}
	if lines, share := r.form.unreached(); share >= suspicious && h.Size == 1 && o.Err == nil && o.Result.Complete { // this process has all ranks
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: warning: the run has not come to tasks that took %.0f %% of the time when they were weighed, such as %s: a program that stops early prints why, "+
			"which its skeleton leaves out: run it without --skeleton\n", 100*share, strings.Join(lines, ", "))
	}
	if err := r.cpu.finish(o.Err == nil && o.Result.Complete); err != nil {
		o.Err = errors.Join(err, o.Err)
	}
	if err := r.trace.finish(h, &o); err != nil {
		o.Err = errors.Join(err, o.Err)
	}
	if err := r.picture.finish(c, h, r, &o); err != nil {
		o.Err = errors.Join(err, o.Err)
	}
	return conclude(c, h, s, r, o, printed)
}

// perform runs a request, whose ranks print to printed.
func perform(c *terminal.Console, h *host.Processes, r *request, signals *host.Signals, printed *terminal.Outlet) host.Outcome {
	c.Log.Info("setting up", zap.String("program", r.entry.Name), zap.Int64("ranks", r.ranks),
		zap.String("machine", r.machine), zap.Int("hosts", h.Size), zap.Int("engines", r.engines))
	began := c.Now()
	r.config.Now = func() float64 { return c.Now().Sub(began).Seconds() }
	r.config.Output = printed.Print
	r.config.Reserve = host.AskForHugePages
	r.config.Touch = host.Populate
	return host.Supervise(c, signals, h.StopLimit(),
		func() (bench.Simulation, error) {
			var err error
			if r.config.Transports, err = h.Transports(r.engines); err != nil {
				return nil, err
			}
			s, err := r.entry.New(r.config)
			if err != nil {
				return nil, terminal.UsageError{err}
			}
			return terminal.Printing{Simulation: s, Outlet: printed}, nil
		},
		func(s bench.Simulation) func() {
			c.Log.Info("running")
			mode := r.progress
			if h.Index != 0 {
				mode = terminal.ProgressNone
			}
			return terminal.Later(r.patience, func() func() {
				return terminal.WatchProgress(c, mode, s, r.options.Iterations, func() int64 { return host.ResidentMemory(c.Root, "self") })
			})
		})
}

// output returns the writer of the ranks' output: standard output, or standard error if
// only the document is to go to standard output.
func (r *request) output(c *terminal.Console) io.Writer {
	if r.json == terminal.StandardOutput {
		return c.Stderr.Raw()
	}
	if c.Printed != nil {
		return c.Printed.Raw()
	}
	return c.Stdout.Raw()
}

// conclude reports an outcome on host 0 and makes all hosts end with its code. It
// writes the document before it prints, since printing may wait for its reader.
func conclude(c *terminal.Console, h *host.Processes, s *host.Signals, r *request, o host.Outcome, printed *terminal.Outlet) error {
	all, err := host.Settle(h, &o)
	if failed := r.trace.take(c, h, terminal.ExitCode(err)); failed != nil {
		o.Err = errors.Join(failed, o.Err)
		err = terminal.Ended{Cause: o.Err, Code: terminal.ExitHost}
	}
	if !h.Leads() || o.Refused() {
		s.Release() // the output below may wait for a reader
		printed.Flush()
		return err
	}
	d := newDocument(r, h, o, all.Peak)
	d.Command = terminal.CommandLine(c.Arguments)
	// Only the document tells the build, and finding it may take reading the executable.
	if r.json != "" || r.report != "" {
		if build, unknown := host.Build(); unknown == nil {
			d.Version = build
		}
	}
	err = errors.Join(err, d.writeReport(c, h, r), d.write(c, r.json, s.Release))
	s.Release() // the output below may wait for a reader
	printed.Flush()
	d.log(c)
	if r.json != terminal.StandardOutput {
		d.summarize(c.Stdout)
	}
	return err
}

// log writes the engine statistics to the log.
func (d *document) log(c *terminal.Console) {
	c.Log.Info("ended", zap.Bool("complete", d.Complete), zap.Uint64("finished", d.FinishedRanks),
		zap.String("wall", terminal.Seconds(d.Wall)), zap.String("setup", terminal.Seconds(d.SetUp)))
	c.Log.Info("statistics", zap.Uint64("events", d.Events), zap.Uint64("messages", d.Messages),
		zap.Uint64("remote", d.RemoteMessages), zap.Uint64("sync", d.SyncMessages),
		zap.Uint64("transport", d.TransportMessages), zap.Uint64("switches", d.Switches),
		zap.String("peak", terminal.Bytes(d.PeakRSS)), zap.String("events/s", fmt.Sprintf("%.3g", float64(d.Events)/max(d.Wall, 1e-9))))
}
