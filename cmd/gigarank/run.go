package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"gigarank/bench"
	"gigarank/mpivirt/native/toolchain"
	"gigarank/sync"
)

const runHelp = `Run simulates a program and reports the virtual time of each iteration, and the cost
of the simulation itself. Started by an MPI launcher, every host process runs one
engine; otherwise this process runs one engine for each core.

PROGRAM is a program of gigarank list, or the path of a program that gigarank cc, cxx or fc
has built, such as ./ring. The program of a path gets the ARGUMENTs; -- comes before
arguments that begin with a dash.

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

// agreeLimit is how long a host waits for the others before a run, and after one that
// ended well. abandonLimit is how long it waits after a failure.
const (
	agreeLimit   = 60 * time.Second
	abandonLimit = 500 * time.Millisecond

	// rollCallLimit is how much longer than a stopped simulation takes a host waits for the
	// others after a signal. The launcher that has sent it kills soon after.
	rollCallLimit = 100 * time.Millisecond
)

func newRun(c *console) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run PROGRAM [ARGUMENT]...",
		Short: "Simulate a program",
		Long:  runHelp + exitHelp,
		Example: `  gigarank run barriertest --ranks 64Ki --iterations 5
  gigarank run barriertest --ranks 1M --machine tianhe-1a --barrier dissemination
  gigarank run barriertest --noise periodic:10ms,25us --json -
  mpirun -n 64 gigarank run barriertest --ranks 221184000 --lp event --json result.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return arguments(1, "one PROGRAM (see gigarank list)")(cmd, args)
			}
			if _, err := bench.Lookup(args[0]); err == nil {
				return usageError{fmt.Errorf("%s takes flags alone, and programs in files take arguments: leave out %s; see gigarank run --help", args[0], strings.Join(args[1:], " "))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			f.programArguments = args[1:]
			return run(c, args[0], &f)
		},
	}
	f.define(cmd)
	cmd.Flags().StringVar(&f.lambda, "lambda", "", "λ, virtual ranks for each engine: `N` instead of --ranks")
	return cmd
}

// run carries out a whole run on this host.
func run(c *console, program string, f *runFlags) (err error) {
	h, err := openHosts(c.getenv, f.lostAfter)
	if err != nil {
		return err
	}
	if h.index != 0 {
		c.mute()
	}
	s := catchSignals(endingSignals...)
	defer s.release()
	c.readFile = s.readFile
	r, err := agreeOnRequest(c, h, s, program, f)
	if err == nil {
		err = simulate(c, h, s, r)
	}
	c.finish(err) // the launcher ends this host as soon as another one has ended with an error
	if closed := h.close(exitCode(err)); err == nil {
		err = closed
	}
	return err
}

// agreeOnRequest checks the command line. If it is faulty for any host, no host goes
// on.
func agreeOnRequest(c *console, h *hosts, s *signals, program string, f *runFlags) (*request, error) {
	r, faults := newRequest(c, h, program, f)
	faults = s.orFaults(faults)
	all, err := h.agree(report{code: exitCode(faults), run: rand.Uint64()}, agreeLimit)
	switch {
	case err != nil:
		return nil, err
	case all.code == exitDone:
		r.cpu.header.Run = all.run
		return r, nil
	case h.index == 0 && faults != nil:
		return nil, faults
	default:
		return nil, ended{cause: faults, code: all.code, silent: h.index != 0 && h.index != all.from}
	}
}

// simulate runs a request and reports its outcome.
func simulate(c *console, h *hosts, s *signals, r *request) error {
	if r.verbose && h.index == 0 {
		c.verbose()
	}
	tuneCollector(c.getenv, r.need, r.share)
	if r.json != "" && r.json != standardOutput {
		outliveReader()
	}
	if isPath(r.entry.Name) && h.leads() {
		warnOfMissing(c, r.entry.Name)
		for _, note := range toolchain.Notes(r.entry.Name) {
			_, _ = fmt.Fprintf(c.stderr, "gigarank: %s uses %s\n", r.entry.Name, note)
		}
	}
	printed := newOutlet(r.output(c))
	o := perform(c, h, r, s, printed)
	if told := r.cpu.warning(len(r.config.Transports), runtime.NumCPU()); told != "" && h.leads() {
		_, _ = fmt.Fprintf(c.stderr, "gigarank: %s\n", told)
	}
	if err := r.cpu.finish(o.err == nil && o.result.Complete); err != nil {
		o.err = errors.Join(err, o.err)
	}
	return conclude(c, h, s, r, o, printed)
}

// perform runs a request, whose ranks print to printed.
func perform(c *console, h *hosts, r *request, signals *signals, printed *outlet) outcome {
	c.log.Info("setting up", zap.String("program", r.entry.Name), zap.Int64("ranks", r.ranks),
		zap.String("machine", r.machine), zap.Int("hosts", h.size), zap.Int("engines", r.engines))
	began := c.now()
	r.config.Now = func() float64 { return c.now().Sub(began).Seconds() }
	r.config.Output = printed.print
	r.config.Reserve = askForHugePages
	r.config.Touch = populate
	return supervise(c, signals, h.stopLimit(),
		func() (bench.Simulation, error) {
			var err error
			if r.config.Transports, err = h.transports(r.engines); err != nil {
				return nil, err
			}
			s, err := r.entry.New(r.config)
			if err != nil {
				return nil, usageError{err}
			}
			return printing{s, printed}, nil
		},
		func(s bench.Simulation) func() {
			c.log.Info("running")
			mode := r.progress
			if h.index != 0 {
				mode = progressNone
			}
			return later(r.patience, func() func() { return watchProgress(c, mode, s, r.options.Iterations) })
		})
}

// output returns the writer of the ranks' output: standard output, or standard error if
// only the document is to go to standard output.
func (r *request) output(c *console) io.Writer {
	if r.json == standardOutput {
		return raw{c.stderr}
	}
	if c.printed != nil {
		return raw{c.printed}
	}
	return raw{c.stdout}
}

// conclude reports an outcome on host 0 and makes all hosts end with its code. It
// writes the document before it prints, since printing may wait for its reader.
func conclude(c *console, h *hosts, s *signals, r *request, o outcome, printed *outlet) error {
	all, err := settle(h, &o)
	if !h.leads() || o.refused() {
		s.release() // what follows may wait for a reader
		printed.flush()
		return err
	}
	d := newDocument(r, h, o, all.peak)
	d.Command = commandLine(c.arguments)
	// Only the document tells the build, and finding it may take reading the executable.
	if r.json != "" {
		if build, unknown := thisBuild(); unknown == nil {
			d.Version = build
		}
	}
	err = errors.Join(err, d.write(c, r.json, s.release))
	s.release() // what follows may wait for a reader
	printed.flush()
	d.log(c)
	if r.json != standardOutput {
		d.summarize(c.stdout)
	}
	return err
}

// settle makes all hosts agree on how a simulation has ended. The error has the code of
// all of them.
func settle(h *hosts, o *outcome) (all report, err error) {
	if o.refused() { // on all hosts, or one of them is lost
		h.apart = ofThisHost(o.err)
		return all, ended{cause: o.err, code: exitCode(o.err), silent: h.index != 0 && !h.apart}
	}
	all = report{code: ownCode(o.err), peak: peakResident()}
	limit := agreeLimit
	switch {
	case !o.stopped.IsZero():
		limit = max(hostsStopLimit-time.Since(o.stopped), 0) + rollCallLimit
	case o.err != nil:
		limit = abandonLimit
	}
	agreed, err := h.agree(all, limit)
	told := err == nil || h.knowLoss(err) // host 0 reports for this one
	switch {
	case err == nil:
		all = agreed
	case o.err == nil:
		o.err = err
	default:
		o.err = explainBy(o.err, err)
	}
	h.apart = h.apart || o.hung // the engine may still use the transport
	if h.index == 0 && h.present != nil && h.isolated() {
		o.err = fmt.Errorf("%w; host process 0 on %s hears from %d of %d only: perhaps its own machine has lost the network", o.err, machineName(), len(h.present), h.size)
	}
	if o.err != nil && all.code == exitDone {
		all.code = exitHost // the host that knows the cause is gone
	}
	if all.code != exitDone {
		err = ended{cause: o.err, code: all.code, silent: !h.leads() && (!ofThisHost(o.err) || told && h.knowLoss(o.err))}
	}
	return all, err
}

// explainBy returns the error of a run whose hosts cannot agree on its end. A launcher sends
// all processes a signal when it has lost one: that one is the cause.
func explainBy(err, missing error) error {
	var signal interrupted
	var silent missingHosts
	if errors.As(err, &signal) && errors.As(missing, &silent) {
		return fmt.Errorf("%w; %w: the launcher ends all when it has lost one", silent, err)
	}
	return err
}

// knowLoss reports whether an error is the loss of a host, of which all others know. It finds
// out who of them reports for all.
func (h *hosts) knowLoss(err error) bool {
	var lost *sync.Lost
	if !errors.As(err, &lost) {
		return false
	}
	h.callRoll()
	return true
}

// ofThisHost reports whether an error is a failure of this host that the others do not
// report.
func ofThisHost(err error) bool {
	var signal interrupted
	return ownCode(err) == exitHost && !errors.As(err, &signal)
}

// log writes the engine statistics to the log.
func (d *document) log(c *console) {
	c.log.Info("ended", zap.Bool("complete", d.Complete), zap.Uint64("finished", d.FinishedRanks),
		zap.String("wall", formatSeconds(d.Wall)), zap.String("setup", formatSeconds(d.SetUp)))
	c.log.Info("statistics", zap.Uint64("events", d.Events), zap.Uint64("messages", d.Messages),
		zap.Uint64("remote", d.RemoteMessages), zap.Uint64("sync", d.SyncMessages),
		zap.Uint64("transport", d.TransportMessages), zap.Uint64("switches", d.Switches),
		zap.String("peak", formatBytes(d.PeakRSS)), zap.String("events/s", fmt.Sprintf("%.3g", float64(d.Events)/max(d.Wall, 1e-9))))
}
