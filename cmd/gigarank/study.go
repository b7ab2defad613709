package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/study"
	"gigarank/sync"
)

const studyHelp = `Study simulates a collective operation, or a program, at every combination of the axes below
and leaves in DIR:
  results.jsonl  one line for each point, on the disk as soon as it is finished
  results.csv    the same as a table
  study.json     times as medians over seeds, and the crossovers: where the fastest changes
  report.html    one page with plots, tables, machine, command and version
  output.txt     the output of a program, point by point
It prints tables and a plot, too. Every point is one simulation, as gigarank run
does it with the program of the operation: barriertest, or reducescattertest for
reduce_scatter, or with the PROGRAM that is named: a program of gigarank list, or the path of
a program that gigarank cc, cxx or fc has built. No time comes from a formula. The closed form of the algorithm is
drawn under its curve.

The time of a point is the cost of an iteration beyond its compute time: virtual
time of the run / iterations − compute time. With one iteration, the default without
noise, it is the time from the common entry of all ranks to the last exit. Of a PROGRAM it is the
virtual time of the whole run.

In the ARGUMENTs of a program {ranks} stands for the number of ranks, and {NAME} for the values of
--arg NAME=LIST, which are an axis of their own. The algorithms of its collectives are those of the
machine's library, or of each --library. CPU times count as with gigarank run: not at all, measured, or
those of a recording for each combination, such as --cpu-replay 'cpu-{ranks}'.

Axes take lists (1K,4K), ranges that double (2^10..2^30) and ranges with a step
(2^10..2^30:x4, 100..1000:+100). --noise may be given several times; the study
without noise is added, for comparison. --ranks-per-node and --mapping replace the
machine's. Points run in the order of growing cost, so that a time limit loses the
fewest. Algorithms that --algorithms does not name are left out where a simulation
is expected to take over a minute. --library compares MPI libraries, each of which chooses the
algorithm of each point, with each other, with no library, and with the algorithms
that --algorithms names.

A study ends by itself, or on the signals that end a run, which schedulers send before
a time limit. Finished points stay, table and report are written from them,
and the exit code is 3. The same command with --resume goes on, also after a kill or
a power cut, which lose at most the point that was running. A point that was killed comes
last then, and after the second time it is left out. Lines of the file that
belong to no point of the study are kept and not shown, so that a study can be
extended. Results of another version of gigarank are refused, and results of another
build where the version names no commit; --mix-versions accepts both. After a point
that fails the others go on, and the exit code is 1; --resume simulates it again.
Points that do not fit the memory are refused before anything runs;
--skip-too-large leaves them out.

`

// studyFlags are the flags of study as they are written.
type studyFlags struct {
	axes                      study.Axes
	hosting                   runFlags // only the flags on how simulations are carried out
	out, json                 string
	resume, mix, skipTooLarge bool
}

func newStudy(c *terminal.Console) *cobra.Command {
	var f studyFlags
	cmd := &cobra.Command{
		Use:   "study OPERATION | study PROGRAM [ARGUMENT]...",
		Short: "Study how a collective operation or a program scales",
		Long:  studyHelp + terminal.ExitHelp,
		Example: `  gigarank study barrier --quick --out barrier-study
  gigarank study barrier --ranks 2^10..2^30 --algorithms node-leader,dissemination --out d --resume
  gigarank study allreduce --ranks 2^4..2^16:x4 --payload 8..1Mi:x8 --out d
  gigarank study barrier --ranks 2^6..2^20 --noise periodic:10ms,250us --out d
  gigarank study allreduce --machine frontier --library cray-mpich,openmpi-5 --ranks 2^6..2^12:x4 --payload 8..4Mi:x8 --out d
  gigarank study ./jacobi --arg n=100,200 --ranks 4..256:x4 --machine frontier,lumi --out d -- -n {n}
  gigarank study ddptraining model={m} --arg m=resnet-50,gpt2-xl --ranks 8..1Ki:x2 --machine dgx-h100 --out d
  gigarank study stencil --ranks 2^6..2^14:x4 --machine frontier --library cray-mpich,openmpi-5 --out d
  mpirun -n 64 gigarank study barrier --ranks 2^20..2^30 --out d`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return arguments(1, "an OPERATION ("+strings.Join(study.Operations(), ", ")+") or a PROGRAM")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return conductStudy(c, args, &f)
		},
	}
	f.define(cmd)
	cmd.AddCommand(newScaling(c), newCompare(c), newPredict(c))
	return cmd
}

func (f *studyFlags) define(cmd *cobra.Command) {
	h, all := &f.hosting, cmd.Flags()
	all.SortFlags = false
	terminal.Group(all, "What is studied", func(flags *pflag.FlagSet) {
		flags.StringArrayVar(&f.axes.Values, "arg", nil, "`NAME=LIST` of values that {NAME} in an ARGUMENT of the program stands for, such as size=100,200; may be repeated")
		flags.StringVar(&f.axes.Ranks, "ranks", "", "virtual ranks: an `AXIS` (default 2^10..2^20)")
		flags.StringVar(&f.axes.Algorithms, "algorithms", "", "a `LIST` of algorithms with arguments, such as ring,pipeline:64KiB, or all (default those worth seeing); see gigarank list")
		flags.StringVar(&f.axes.Libraries, "library", "", "a `LIST` of MPI libraries and tables, each compared with the others and with none; see gigarank list libraries")
		flags.StringVar(&f.axes.Payload, "payload", "", "bytes of each rank: an `AXIS` (default the program's)")
		defineContents(flags, &h.contents, &h.datatype, noContents.String()+"; of a program full")
		flags.StringArrayVar(&f.axes.Noise, "noise", nil, "operating system noise: a `SPEC` as for run; may be repeated")
		flags.StringVar(&f.axes.Seed, "seed", "", "a `LIST` of seeds (default 1); six or more give the median an interval")
		flags.StringVar(&f.axes.Compute, "compute", "", "virtual compute time `DUR` before each operation (default 0; 1ms with noise)")
		flags.StringVar(&f.axes.Iterations, "iterations", "", "operations `N` of each point (default 1; 10 with noise)")
		flags.StringVar(&h.lp, "lp", "", "`KIND` of ranks: "+kindNames(studiedKinds())+" (default the kind of the program that takes the least memory)")
		flags.StringVar(&f.axes.Scaling, "scaling", "", "`SCALING` that speed-up and efficiency mean: strong, the same work on more ranks, or weak, the same work of each rank (default strong for programs in files)")
		flags.StringVar(&h.cpu.mode, "cpu", "", "time of a program's code between MPI calls: `MODE` measured (CPU time here, times the machine's cpu_ratio) or ignored (default)")
		flags.StringVar(&h.cpu.replay, "cpu-replay", "", "charge the CPU times of a `FILE` that run --cpu-record has written, in whose name {ranks} and {NAME} stand for values")
		flags.BoolVar(&f.axes.Quick, "quick", false, "other defaults, for a study in under a minute")
	})
	terminal.Group(all, groupMachine, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.axes.Machines, "machine", "", "a `LIST` of presets and machine files (default xt5)")
		flags.StringVar(&f.axes.RanksPerNode, "ranks-per-node", "", "ranks of a node: an `AXIS` (default the machine's)")
		flags.StringVar(&f.axes.Mapping, "mapping", "", "mappings of ranks to nodes: a `LIST` of "+strings.Join(network.Mappings(), ", ")+" (default the machine's)")
	})
	terminal.Group(all, groupResults, func(flags *pflag.FlagSet) {
		flags.StringVarP(&f.out, "out", "o", "", "`DIR` of the results (required)")
		flags.StringVar(&f.json, "json", "", "write the summary, as in study.json, to a `FILE`, or - for standard output in place of tables and plot")
		flags.BoolVar(&h.stats, "stats", false, "say why the time of ranks passes, by cause: computing, late sender, wait at barrier and others")
		flags.BoolVar(&f.resume, "resume", false, "go on with the results in DIR")
		flags.BoolVar(&f.mix, "mix-versions", false, "accept results of another version of gigarank as results of this version")
		flags.BoolVar(&f.skipTooLarge, "skip-too-large", false, "leave out points that do not fit the memory")
	})
	terminal.Group(all, "Native programs", func(flags *pflag.FlagSet) {
		flags.StringVar(&h.stack, "stack", "", "`BYTES` of the stack of a native rank, such as 64KiB (default the limit of ulimit -s)")
		flags.StringVar(&h.stacks, "stacks", "", "`WAY` in which native ranks have stacks: own, copied or auto (default auto)")
	})
	terminal.Group(all, groupHosting, func(flags *pflag.FlagSet) {
		flags.StringVar(&h.engines, "engines", "", "engines `K` of this process, at most one per rank (default one per core, or 1 where a single engine is quicker; over MPI always 1)")
		flags.StringVar(&h.sync, "sync", "hybrid", "synchronisation `PROTOCOL`: null, conditional or hybrid")
		flags.StringVar(&h.collectives, "collectives", "auto", "`INTERPRETER` of collectives: auto, message or bulk; same results")
		host.DefineLostAfter(flags, &h.lostAfter)
		flags.StringVar(&h.progress, "progress", "auto", "`MODE` of progress on standard error: auto, plain or none")
	})
	terminal.Group(all, groupFaults, func(flags *pflag.FlagSet) {
		flags.BoolVar(&h.strict, "strict", false, "resume ranks in the order of virtual time only; same results, slower")
		flags.BoolVarP(&h.verbose, "verbose", "v", false, "log the phases of each point on standard error")
	})
}

// conductor carries out a study on this host.
type conductor struct {
	console  *terminal.Console
	hosts    *host.Processes
	flags    *studyFlags
	words    []string // of the command line, that say what is studied
	signals  *host.Signals
	plan     *study.Plan
	hosting  request        // the common part of all points
	build    string         // of gigarank, on host 0
	journal  *study.Journal // on host 0
	finished map[study.Point]bool
	todo     []study.Point
	again    []study.Point // the points of todo that were killed before
	failed   int
	progress progressSoFar // before the study has begun anew in its process
	before   int64         // resident memory before the first point
	unkept   error         // why host 0 can keep no more results; the others learn it before the next point
}

// conductStudy carries out a whole study on this host.
func conductStudy(c *terminal.Console, words []string, f *studyFlags) (err error) {
	h, err := host.Open(c.Getenv, f.hosting.lostAfter)
	if err != nil {
		return err
	}
	if h.Index != 0 {
		c.Mute()
	}
	s := &conductor{console: c, hosts: h, flags: f, words: words, progress: readProgress(c.Restarted), signals: host.CatchSignals(host.EndingSignals...)}
	defer s.signals.Release()
	c.ReadFile = s.signals.ReadFile
	terminal.OutliveReader()
	if err = s.prepare(); err == nil {
		err = s.run()
	}
	if s.journal != nil {
		err = errors.Join(err, s.journal.Close())
	}
	c.Finish(err) // see run
	if closed := h.Close(terminal.ExitCode(err)); err == nil {
		err = closed
	}
	return err
}

// prepare checks the command line and finds the points to simulate. If anything is
// wrong for any host, no host goes on.
func (s *conductor) prepare() error {
	faults := s.signals.OrFaults(s.check())
	all, err := s.hosts.Agree(host.ReportOn(faults), host.AgreeLimit)
	if err != nil {
		return err
	}
	faults = s.signals.Cause(faults, all)
	switch {
	case all.Code != terminal.ExitDone && s.hosts.Index == 0 && faults != nil:
		return faults
	case all.Code != terminal.ExitDone:
		return terminal.Ended{Cause: faults, Code: all.Code, Silent: s.hosts.Index != 0 && s.hosts.Index != all.From}
	}
	if err := s.sort(); err != nil {
		return err
	}
	if len(s.plan.TooLarge) > 0 && !s.flags.skipTooLarge {
		return s.tooLarge()
	}
	return nil
}

// check finds all faults of the command line, and on host 0 opens the results.
func (s *conductor) check() error {
	var faults terminal.UsageError
	var chosen request
	usual := fullContents // the course of a program may depend on contents
	if slices.Contains(study.Operations(), s.words[0]) {
		usual = noContents
	}
	chosen.readContents(cmp.Or(s.flags.hosting.contents, usual.String()), s.flags.hosting.datatype, &faults)
	s.flags.axes.NoContents, s.flags.axes.Datatype = chosen.config.Options.NoContents, chosen.config.Datatype
	s.readSubject(s.words, &faults)
	s.plan = study.NewPlan(s.flags.axes, s.console.ReadFile, func(flag string, err error) { faults.AddFile(flag, err) })
	s.hosting = request{entry: s.plan.Entry, progress: terminal.ProgressAuto, patience: time.Second, verbose: s.flags.hosting.verbose}
	if forms := s.plan.Entry.Forms; s.flags.hosting.lp == "" && s.plan.Program != nil && s.plan.Program.CPU != "" && len(forms) > 0 {
		s.flags.hosting.lp = forms[0].String()
	} else if s.flags.hosting.lp == "" {
		s.flags.hosting.lp = defaultKind(s.plan.Entry.Forms).String()
	}
	s.hosting.readHosting(&s.flags.hosting, len(s.plan.Entry.Forms) > 0, &faults)
	s.hosting.ranks = math.MaxInt32
	s.hosting.countEngines(s.console, s.hosts, &s.flags.hosting, &faults)
	if len(faults) == 0 {
		for _, m := range s.plan.Machines {
			r := s.hosting
			r.config.Target, _ = m.Target(1)
			if err := r.countEnergy(); err != nil {
				faults.Add("--collectives", err)
				break
			}
		}
	}
	if s.flags.out == "" {
		faults.Add("--out", errors.New("name the directory of the results"))
	}
	if slices.Contains(terminal.StandardNames, s.flags.json) {
		s.flags.json = terminal.StandardOutput
	}
	if s.hosts.Index == 0 {
		faults.Add("--json", terminal.CheckWritable(s.flags.json))
	}
	if len(faults) > 0 || s.hosts.Index != 0 {
		return faults.OrNil()
	}
	var err error
	if s.build, err = host.Build(); err != nil {
		faults = append(faults, err)
	}
	if s.journal, err = study.OpenJournal(s.flags.out, s.flags.resume || s.progress.total > 0); err == nil {
		s.finished, err = s.journal.Finished(s.plan, s.build, s.flags.mix)
	}
	faults.Add("--out", err)
	return faults.OrNil()
}

// defaultKind returns the kind of rank, among a program's kinds, that takes the least memory; among
// all kinds if the program is not known.
func defaultKind(kinds []*mpivirt.Kind) *mpivirt.Kind {
	if len(kinds) == 0 {
		kinds = mpivirt.Kinds()
	}
	return slices.MinFunc(kinds, func(a, b *mpivirt.Kind) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

// sort finds the points to simulate: those that host 0 does not have and for which all
// hosts have the memory. Points that were killed come last, so that the others are done if
// they are killed again. After the second time they are left out. A point that cannot be simulated for another reason
// than its memory is a fault, and all faults are returned.
func (s *conductor) sort() error {
	const run, again, large, wrong, killed, done = 0, 1, 2, 3, 4, 5
	var wrongs []wrongPoints
	from, failed := 0, false
	for i, point := range s.plan.Points {
		mine := host.Report{Code: run}
		kills, leaveOut := 0, false
		if s.journal != nil {
			kills, leaveOut = s.journal.Kills(point)
		}
		var fault error
		var lack *host.MemoryError
		if s.finished[point] {
			mine.Code = done
		} else if slices.Contains(s.progress.failed, i) {
			mine.Code = done
			s.failed++
		} else if leaveOut {
			mine.Code = killed
		} else if _, fault = s.request(point); errors.As(fault, &lack) {
			mine.Code = large
		} else if fault != nil {
			mine.Code = wrong
		} else if kills > 0 {
			mine.Code = again
		}
		all, err := s.hosts.Agree(mine, host.AgreeLimit)
		if err != nil {
			return err
		}
		switch all.Code {
		case run:
			s.todo = append(s.todo, point)
		case again:
			s.again = append(s.again, point)
		case large:
			s.plan.TooLarge = append(s.plan.TooLarge, point)
		case wrong:
			if !failed {
				from, failed = all.From, true
			}
			if mine.Code == wrong {
				wrongs = addWrong(wrongs, s.plan.Name(point), fault)
			}
		case killed:
			s.plan.Killed = append(s.plan.Killed, point)
		}
	}
	s.todo = append(s.todo, s.again...)
	if !failed {
		return nil
	}
	var faults terminal.UsageError
	for _, w := range wrongs {
		faults.Add(w.String(), w.fault)
	}
	return terminal.Ended{Cause: faults.OrNil(), Code: terminal.ExitUsage, Silent: s.hosts.Index != from}
}

// wrongPoints are points that cannot be simulated for one reason.
type wrongPoints struct {
	first string
	more  int
	fault error
}

func (w wrongPoints) String() string {
	if w.more == 0 {
		return w.first
	}
	return fmt.Sprintf("%s, and %s", w.first, spelling.Count(w.more, "other point"))
}

// addWrong adds a point to those with the same fault.
func addWrong(all []wrongPoints, name string, fault error) []wrongPoints {
	i := slices.IndexFunc(all, func(w wrongPoints) bool { return w.fault.Error() == fault.Error() })
	if i < 0 {
		return append(all, wrongPoints{first: name, fault: fault})
	}
	all[i].more++
	return all
}

// tooLarge returns the error of a study with points that do not fit the memory.
func (s *conductor) tooLarge() error {
	least := s.plan.TooLarge[0]
	for _, point := range s.plan.TooLarge {
		if point.Ranks < least.Ranks {
			least = point
		}
	}
	_, why := s.request(least)
	if why == nil {
		why = errors.New("another host lacks the memory")
	}
	var faults terminal.UsageError
	faults.Add("--ranks", fmt.Errorf("%d of %s will not fit, from %d ranks on: %w; --skip-too-large leaves them out",
		len(s.plan.TooLarge), spelling.Count(len(s.plan.Points), "point"), least.Ranks, why))
	return terminal.Ended{Cause: faults, Code: terminal.ExitUsage, Silent: s.hosts.Index != 0}
}

// request returns the run of a point. The error is a [host.MemoryError] if the point does not fit the
// memory.
func (s *conductor) request(point study.Point) (*request, error) {
	r := s.hosting
	target, err := s.plan.Machine(point).Target(point.Ranks)
	if err != nil {
		return nil, err
	}
	r.machine, r.ranks = point.Machine, point.Ranks
	r.engines = int(min(int64(r.engines), point.Ranks))
	r.config.Target = target
	if err := r.countEnergy(); err != nil {
		return nil, err
	}
	s.plan.Choose(point, &r.config.Config)
	r.config.Seed = point.Seed
	r.noise = point.Noise
	r.config.Noise = s.plan.Noise(point).Seeded(point.Seed)
	r.config.Options = bench.Options{Iterations: point.Iterations, Compute: point.Compute, Payload: point.Payload, Datatype: s.plan.Datatype, NoContents: s.plan.NoContents}
	if point.Compute == 0 {
		r.config.Compute = bench.None
	}
	if point.Payload == 0 {
		r.config.Payload = bench.None
	}
	r.options = r.entry.Resolve(r.config.Options)
	if s.flags.hosting.engines == "" {
		r.joinEngines()
	}
	if s.plan.Program != nil {
		if err := s.atPoint(point, &r); err != nil {
			return nil, err
		}
	}
	if err := r.entry.CheckCollectives(r.config); err != nil {
		return nil, err
	}
	return &r, r.checkMemory(s.console, s.hosts)
}

// run simulates the points to simulate and reports the study.
func (s *conductor) run() error {
	if s.flags.hosting.verbose && s.hosts.Index == 0 {
		s.console.Verbose()
	}
	s.announce()
	var err error
	s.before = s.resident()
	for i, point := range s.todo {
		if i > 0 {
			s.restart(i)
		}
		if err = s.conduct(point, i); err != nil {
			break
		}
	}
	if err == nil {
		err = s.unkept // after the last point
	}
	if err == nil && s.failed > 0 {
		err = terminal.Ended{Cause: fmt.Errorf("%s of %d failed; see the errors in %s", spelling.Count(s.failed, "point"), len(s.plan.Points), study.ResultsFile),
			Code: terminal.ExitProgram, Silent: s.hosts.Index != 0}
	}
	if s.hosts.Index != 0 {
		return err
	}
	return errors.Join(s.advise(err), s.report())
}

// conduct simulates a point if no host has a reason not to.
func (s *conductor) conduct(point study.Point, index int) error {
	// Each point counts its own memory only, and gets the memory that the one before
	// has left.
	debug.FreeOSMemory()
	host.ResetPeak()
	r, err := s.request(point)
	if err == nil {
		err = s.begin(point)
	}
	switch stop := s.agreeToGoOn(err); {
	case stop == nil:
		return s.simulate(point, r, index)
	case err == nil:
		return errors.Join(stop, s.abandon(nil))
	default:
		return stop
	}
}

// agreeToGoOn ends the study on all hosts if one of them cannot go on, or if a signal
// has come to one of them between two points. mine is this host's reason.
func (s *conductor) agreeToGoOn(mine error) error {
	stop := mine
	select {
	case one := <-s.signals.Caught:
		if signal := s.signals.StopBy(one); stop == nil {
			stop = signal
		}
	default:
	}
	all, err := s.hosts.Agree(host.ReportOn(stop), host.AgreeLimit)
	if err != nil {
		return err
	}
	stop = s.signals.Cause(stop, all)
	if all.Code != terminal.ExitDone {
		return terminal.Ended{Cause: stop, Code: all.Code, Silent: s.hosts.Index != 0 && !host.OfThisHost(stop)}
	}
	return nil
}

// simulate runs a point by its request r and keeps its result. A failure of the
// simulated program is a result too; an error ends the study.
func (s *conductor) simulate(point study.Point, r *request, index int) error {
	defer host.TuneCollector(s.console.Getenv, r.need, r.share)()
	to, closed, err := s.printer(point, r)
	if err != nil {
		return errors.Join(err, s.abandon(err))
	}
	guard := s.guard()
	o := perform(s.console, s.hosts, r, s.signals, terminal.NewOutlet(to))
	guard()
	if err := errors.Join(closed(), r.cpu.finish(o.Err == nil && o.Result.Complete)); err != nil {
		o.Err = errors.Join(err, o.Err)
	}
	all, err := host.Settle(s.hosts, &o)
	if err != nil && (all.Code != terminal.ExitProgram || o.Refused()) {
		return errors.Join(err, s.abandon(err))
	}
	if s.hosts.Index != 0 {
		return nil
	}
	d := newDocument(r, s.hosts, o, all.Peak)
	record := s.plan.NewRecord(s.build, point, d.Document)
	if record.Error != "" {
		s.failed++
		s.progress.failed = append(s.progress.failed, slices.Index(s.plan.Points, point))
	}
	s.unkept = s.journal.Append(record)
	if err := s.journal.End(s.unkept == nil); s.unkept == nil {
		s.unkept = err
	}
	if s.unkept == nil && s.flags.hosting.progress != terminal.ProgressNone.String() {
		_, _ = fmt.Fprintf(s.console.Stderr, "gigarank: %d/%d %s\n", s.progress.done+index+1, s.progress.done+len(s.todo), s.plan.Line(record))
	}
	return nil
}

// guardInterval is the time between looks at the files of a study while a point is simulated.
const guardInterval = time.Second

// begin marks a point as under way on host 0. It returns the error that keeps that host from keeping results.
func (s *conductor) begin(point study.Point) error {
	switch {
	case s.unkept != nil:
		return s.unkept
	case s.journal == nil:
		return nil
	}
	return s.journal.Begin(point)
}

// guard ends the simulation of a point if its result could no longer be kept. end ends the watch.
func (s *conductor) guard() (end func()) {
	if s.journal == nil {
		return func() {}
	}
	return terminal.Every(guardInterval, func() {
		if err := s.journal.Check(); err != nil {
			s.signals.Fail(err)
		}
	})
}

// abandon takes the mark of the point under way back after it has ended by err, unless
// another host was lost: a point that kills any of them is marked.
func (s *conductor) abandon(err error) error {
	var lost *sync.Lost
	if s.journal == nil || errors.As(err, &lost) || errors.Is(err, host.ErrNoReport) {
		return nil
	}
	return s.journal.End(false)
}

// announce prints the points that will be simulated, and those that are left out, with the reasons.
func (s *conductor) announce() {
	p := func(format string, arguments ...any) {
		_, _ = fmt.Fprintf(s.console.Stderr, "gigarank: "+format+"\n", arguments...)
	}
	if s.hosts.Index != 0 || s.progress.total > 0 {
		return
	}
	if n := s.journal.Dropped(); n > 0 {
		p("%s: a torn line of %d bytes at its end was removed", study.ResultsFile, n)
	}
	for _, note := range s.plan.Notes {
		p("%s", note)
	}
	s.warn()
	done := len(s.plan.Points) - len(s.todo) - len(s.plan.TooLarge) - len(s.plan.Killed)
	p("%s: %d to simulate, %d finished before", spelling.Count(len(s.plan.Points), "point"), len(s.todo), done)
	if len(s.plan.TooLarge) > 0 {
		p("left out, too large for the memory: %s", study.Ranges(s.plan.TooLarge))
	}
	if len(s.again) > 0 {
		p("killed while they were simulated, so they come last: %s", study.Ranges(s.again))
	}
	if len(s.plan.Killed) > 0 {
		p("left out, since they were killed twice while they were simulated: %s; remove %s to simulate them again",
			study.Ranges(s.plan.Killed), filepath.Join(s.flags.out, study.KilledFile))
	}
	if len(s.plan.LeftOut) > 0 {
		p("left out as too slow to simulate unless named by --algorithms: %s", study.Ranges(s.plan.LeftOut))
	}
}

// advise adds a hint on how to go on to the error of a study that was ended.
func (s *conductor) advise(err error) error {
	if err == nil || terminal.ExitCode(err) != terminal.ExitHost {
		return err
	}
	var damaged *study.DamagedError
	if errors.As(s.journal.Check(), &damaged) {
		return err
	}
	const mix = true // versions have been checked before
	finished, _ := s.journal.Finished(s.plan, s.build, mix)
	return terminal.Ended{Cause: fmt.Errorf("%w; %d of %s are finished; the same command with --resume goes on",
		err, len(finished), spelling.Count(len(s.plan.Points), "point")), Code: terminal.ExitCode(err)}
}

// report writes the results so far: the table and the report as files, and tables and a
// plot for people.
func (s *conductor) report() error {
	records, others := s.journal.Outcome(s.plan)
	// Files come first: printing may have to wait for its reader.
	err := s.writeFiles(records)
	if others > 0 {
		_, _ = fmt.Fprintf(s.console.Stderr, "gigarank: %s holds the results of %s besides\n", study.ResultsFile, spelling.Count(others, "other point"))
	}
	s.signals.Release() // the output below may wait for a reader
	if s.flags.json != "" {
		var text bytes.Buffer
		err = errors.Join(err, s.plan.Summarize(records, s.build).Write(&text), writeDocument(s.console, s.flags.json, text.Bytes()))
	}
	if s.flags.json != terminal.StandardOutput {
		s.plan.WriteText(s.console.Stdout, records)
	}
	return err
}

// writeFiles writes the table and the report.
func (s *conductor) writeFiles(records []study.Record) error {
	var table, page, summary bytes.Buffer
	if err := study.WriteCSV(&table, records); err != nil {
		return err
	}
	if err := s.plan.WriteReport(&page, records, origin(s.console, s.build, s.hosts.Size)); err != nil {
		return err
	}
	if err := s.plan.Summarize(records, s.build).Write(&summary); err != nil {
		return err
	}
	return errors.Join(
		terminal.ReplaceFile(filepath.Join(s.flags.out, study.SummaryFile), summary.Bytes(), 0),
		terminal.ReplaceFile(filepath.Join(s.flags.out, study.TableFile), table.Bytes(), 0),
		terminal.ReplaceFile(filepath.Join(s.flags.out, study.ReportFile), page.Bytes(), 0))
}

// origin returns how a study was made, by a build on some host processes.
func origin(c *terminal.Console, build string, hosts int) study.Origin {
	cores := spelling.Count(c.Cores, "core")
	if hosts > 1 {
		cores = spelling.Count(hosts, "host")
	}
	return study.Origin{
		Command: terminal.CommandLine(c.Arguments),
		Version: fmt.Sprintf("%s, %s, %s/%s, %s", build, runtime.Version(), runtime.GOOS, runtime.GOARCH, host.MPISupport()),
		Host:    cores,
		Written: c.Now().UTC().Format("2006-01-02 15:04 UTC"),
	}
}
