package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/loggp"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/native/toolchain"
	"gigarank/network"
	"gigarank/study"
	"gigarank/sync/mpi"
)

const predictHelp = `Predict runs a program in C or Fortran for real and simulated, in turns, and compares the
time that the program itself prints. PROGRAM is built by gigarank cc or fc. The same sources
built by mpicc or mpif90 are the program of --real: the two have other binary interfaces.
Give both the same flags. gigarank cc adds -falign-loops=64, since short loops that cross the
ends of cache lines are slower. A real program that has such loops takes longer than predicted.
The real runs use n processes of this machine. The simulated runs have n ranks on a
machine file of this machine, with --cpu measured, on N host processes of one engine each.

A machine differs from one second to the next, above all in its memory. So each simulated run stands
between two real runs, and is compared with the geometric mean of both. Before the first run, each turn measures the machine
by a short gigarank machine calibrate, with n processes, at least 2: the
program itself takes no part in it. --calibrate says where long messages come from: cold is
memory that caches do not hold, warm is an array that was used shortly before. With --machine
nothing is measured, and all runs have that file.

A turn is disturbed if two real runs around a simulated one differ by a ratio of more than
--disturbed, or if other programs took so much processor time during
one of its runs that all processor time, by the time that they left, is a greater ratio. Disturbed turns are
set aside: they are listed with the other turns, and no median has them. More turns are made in their place,
until --runs turns count or --most turns are made. The state of the machine decides, not the prediction.

It prints, as VACED-SIM does, medians over the turns that count of these ratios within a turn:
  RE(n, N)  the relative error: time simulated over real, less 1
  SD(n, N)  the slowdown: CPU time of the simulator's processes over the CPU time of the real processes
  S(n, N)   the speed-up of the simulator: its wall time on the fewest hosts over its wall time on N hosts

--time-from is a regular expression with one group, which is the time in seconds in the
output of the program. The last match counts. With --out it leaves in DIR:
  results.jsonl  one line for each turn, with its machine file
  results.csv    one line for each n and N
A signal ends the study after its tables are written. The same command with --resume goes on with
the turns that are missing, also after a kill, and with a greater --runs adds some. With another
--disturbed it judges all turns anew. Turns of another program, machine, launcher, --time-from or
gigarank are refused.

`

// usualTime finds the time that the NAS Parallel Benchmarks print.
const usualTime = `(?i)time in seconds *[=:] *([-+.0-9e]+)`

// predictFlags are the flags of study predict as they are written.
type predictFlags struct {
	real, timeFrom, ranks, hosts, machine, calibrate, runs, disturbed, most, out, launcher string
	resume, strictFunctions                                                                bool
}

// The values of --calibrate.
const (
	calibrateCold = "cold"
	calibrateWarm = "warm"
)

var calibrateModes = []string{calibrateCold, calibrateWarm}

// turnRuns are the runs of a measurement of the machine in a turn, which is as short as can be: seconds change
// machines, and medians over turns make up for what one run is off.
const turnRuns = 1

func newPredict(c *terminal.Console) *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict PROGRAM --real PROGRAM [-- ARGUMENT]...",
		Short: "Compare real runs of a program with simulated runs",
		Long:  predictHelp + terminal.ExitHelp,
		Example: `  gigarank study predict ./lu --real ./lu.real --ranks 1,2 --hosts 1,2 --out lu
  gigarank study predict ./lu --real ./lu.real --ranks 1,2 --hosts 1,2 --out lu --runs 9 --resume
  gigarank study predict ./ring --real ./ring.real --machine here.yaml --time-from 'took ([0-9.]+) s' -- 100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return terminal.UsageError{errors.New("gigarank study predict takes one PROGRAM and its arguments; see gigarank study predict --help")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return predict(c, args, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.real, "real", "", "the same `PROGRAM`, built for the MPI of this machine (required)")
	flags.StringVar(&f.machine, "machine", "", "machine `FILE` of this machine, in place of measurements in each turn")
	flags.StringVar(&f.calibrate, "calibrate", "", "`MEMORY` from which long messages of these measurements come: cold or warm (default cold)")
	flags.StringVar(&f.ranks, "ranks", "2", "ranks n: a `LIST` such as 1,2")
	flags.StringVar(&f.hosts, "hosts", "1", "host processes N of the simulator: a `LIST` such as 1,2")
	flags.StringVar(&f.runs, "runs", "5", "turns `K` that count")
	flags.StringVar(&f.disturbed, "disturbed", strconv.FormatFloat(loggp.Disturbed, 'g', -1, 64), "set aside turns in which the machine has changed by more than a `RATIO`")
	flags.StringVar(&f.most, "most", "", "turns `M` at most, disturbed turns included (default twice --runs)")
	flags.StringVar(&f.timeFrom, "time-from", usualTime, "`REGEXP` of the time in the program's output")
	flags.BoolVar(&f.strictFunctions, "strict-functions", false, "refuse a program that uses MPI functions which native ranks lack, as run does")
	allowUnserved(flags)
	flags.StringVarP(&f.out, "out", "o", "", "`DIR` of the results")
	flags.BoolVar(&f.resume, "resume", false, "go on with the results in DIR")
	flags.StringVar(&f.launcher, "launcher", launcherAuto, "`COMMAND` that starts processes, with their number as last argument; auto: mpirun -n")
	return cmd
}

// predictor is a checked command line.
type predictor struct {
	*predictFlags
	console      *terminal.Console
	program      []string // with its arguments
	ranks, hosts []int
	runs, most   int // turns of each number of ranks: turns that count, and all
	time         *regexp.Regexp
	launcher     []string
	self, build  string
	machine      *network.Machine // nil if each turn measures it
	machineFile  []byte
	cold         bool
	scratch      string // directory of the files of a turn
	// last is the latest real run, of lastRanks ranks, if nothing has run since.
	last       *study.PredictedRun
	lastRanks  int
	setting    study.PredictedSetting
	journal    *study.PredictionJournal // nil without --out
	prediction study.Prediction
	makeTurn   func(n, index int, signals *host.Signals) (study.PredictedTurn, error)
}

func predict(c *terminal.Console, program []string, f *predictFlags) error {
	if name, processes := mpi.Launched(c.Getenv); processes > 1 {
		return terminal.UsageError{fmt.Errorf("%s has started %d processes: start one, which starts the others itself", name, processes)}
	}
	p := &predictor{predictFlags: f, console: c, program: program}
	p.makeTurn = p.turn
	if err := p.prepare(); err != nil {
		return err
	}
	if p.journal != nil {
		defer func() { _ = p.journal.Close() }() // its lines are on the disk
	}
	signals := host.CatchSignals(host.EndingSignals...)
	defer signals.Release()
	scratch, err := os.MkdirTemp("", "gigarank")
	if err != nil {
		return err
	}
	p.scratch = scratch
	return errors.Join(p.run(signals), os.RemoveAll(scratch))
}

// prepare checks everything before the first run.
func (p *predictor) prepare() error {
	var faults terminal.UsageError
	if !isPath(p.program[0]) {
		faults.Add("PROGRAM", fmt.Errorf("%s is no path: give that of a program that gigarank cc has built, such as ./%s", p.program[0], p.program[0]))
	} else {
		check := toolchain.CheckBuild
		if p.strictFunctions {
			check = toolchain.Check
		}
		faults.Add("PROGRAM", check(p.program[0]))
	}
	if p.real == "" {
		faults.Add("--real", errors.New("name the same program, built by mpicc or the like"))
	} else if info, err := os.Stat(p.real); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		faults.Add("--real", fmt.Errorf("%s is no program: name one, built by mpicc or the like", p.real))
	}
	var err error
	faults.AddFile("--machine", p.readMachine())
	faults.Add("--calibrate", p.checkCalibrate())
	p.ranks, err = processCounts(p.predictFlags.ranks)
	faults.Add("--ranks", err)
	p.hosts, err = processCounts(p.predictFlags.hosts)
	faults.Add("--hosts", err)
	if p.machine != nil {
		for _, n := range p.ranks {
			_, err := p.machine.Target(int64(n))
			faults.Add("--ranks", err)
		}
	}
	runs, err := terminal.ReadCount(p.predictFlags.runs, 1, 1000)
	faults.Add("--runs", err)
	p.runs = int(runs)
	faults.Add("--most", p.checkMost())
	p.prediction.Disturbed, err = strconv.ParseFloat(p.predictFlags.disturbed, 64)
	if err != nil || !(p.prediction.Disturbed > 1) {
		faults.Add("--disturbed", fmt.Errorf("%q is no ratio: use a number above 1, such as 1.25, or inf for turns that all count", p.predictFlags.disturbed))
	}
	p.time, err = regexp.Compile(p.timeFrom)
	if err == nil && p.time.NumSubexp() != 1 {
		err = fmt.Errorf("%q has %s: put the number, and nothing else, in parentheses", p.timeFrom, spelling.Count(p.time.NumSubexp(), "group"))
	}
	faults.Add("--time-from", err)
	if p.launcher, err = (&scalingFlags{launcher: p.predictFlags.launcher}).words(); err == nil && p.launcher == nil {
		err = errors.New("the real runs need mpirun and a build with -tags mpi: build one, or name a launcher")
	}
	faults.Add("--launcher", err)
	if p.self, err = os.Executable(); err == nil {
		p.build, err = host.Build()
	}
	if err != nil {
		faults = append(faults, err)
	}
	if p.resume && p.out == "" {
		faults.Add("--resume", errors.New("name the directory of the results by --out"))
	}
	if len(faults) == 0 {
		p.setting.ProgramDigest, err = host.DigestOf(p.program[0])
		faults.Add("PROGRAM", err)
		p.setting.RealDigest, err = host.DigestOf(p.real)
		faults.Add("--real", err)
	}
	if len(faults) == 0 {
		faults.Add("--out", p.open())
	}
	return faults.OrNil()
}

// readMachine reads the machine file, if one is named.
func (p *predictor) readMachine() (err error) {
	if p.predictFlags.machine != "" {
		if p.machine, err = loadMachine(p.console, p.predictFlags.machine); err == nil {
			p.machineFile = p.machine.YAML()
		}
	}
	return err
}

// checkMost reads how many turns there may be in all.
func (p *predictor) checkMost() error {
	p.most = 2 * p.runs
	if p.predictFlags.most == "" {
		return nil
	}
	most, err := terminal.ReadCount(p.predictFlags.most, 1, 2000)
	if err == nil && int(most) < p.runs {
		err = fmt.Errorf("%d turns in all are fewer than the %d of --runs", most, p.runs)
	}
	p.most = int(most)
	return err
}

// checkCalibrate checks how the machine is to be measured.
func (p *predictor) checkCalibrate() error {
	p.cold = p.calibrate != calibrateWarm
	if p.predictFlags.machine == "" {
		if !mpi.Available() {
			return errors.New("this build has no MPI to measure: build with go build -tags mpi ./cmd/gigarank, or name a file by --machine")
		}
		if p.calibrate != "" {
			_, err := terminal.Choose("memory", p.calibrate, names(calibrateModes))
			return err
		}
		return nil
	}
	if p.calibrate != "" {
		return errors.New("the machine is that of --machine, which is not measured: leave one of the two out")
	}
	return nil
}

// open opens the journal and takes over the turns that are finished.
func (p *predictor) open() (err error) {
	p.setting.Program, p.setting.Real = spelling.Quoted(p.program), p.real
	p.setting.Launcher, p.setting.TimeFrom = spelling.Quoted(p.launcher), p.timeFrom
	p.prediction.Program = p.setting.Program
	if p.machine != nil {
		p.setting.Machine, p.prediction.Machine = p.machine.Name()+" "+p.machine.Digest(), p.machine.Name()
	} else {
		p.setting.Machine = "calibrated, " + calibrateWarm
		if p.cold {
			p.setting.Machine = "calibrated, " + calibrateCold
		}
		p.prediction.Machine = "this machine, measured in each turn"
	}
	if p.out == "" {
		return nil
	}
	if p.journal, err = study.OpenPredictionJournal(p.out, p.resume); err != nil {
		return err
	}
	done, err := p.journal.Outcome(p.setting, p.build, p.ranks, p.hosts)
	for _, t := range done {
		if p.wants(t.Ranks) {
			p.prediction.Turns = append(p.prediction.Turns, t)
		}
	}
	return err
}

// wants reports whether there is to be another turn of n ranks.
func (p *predictor) wants(n int) bool {
	all, counting := 0, 0
	for _, t := range p.prediction.Turns {
		if t.Ranks == n {
			all++
			if p.prediction.Counts(t) {
				counting++
			}
		}
	}
	return counting < p.runs && all < p.most
}

// next returns the least number that no turn of n ranks has.
func (p *predictor) next(n int) (index int) {
	for slices.ContainsFunc(p.prediction.Turns, func(t study.PredictedTurn) bool { return t.Ranks == n && t.Turn == index }) {
		index++
	}
	return index
}

// processCounts reads a list of small numbers.
func processCounts(text string) (list []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		n, err := terminal.ReadCount(strings.TrimSpace(field), 1, 1<<20)
		if err != nil {
			return nil, err
		}
		list = append(list, int(n))
	}
	return list, nil
}

// run makes the runs in turns, so that what else the machine does is shared by all. After each turn
// the tables in the directory are those of the turns until then.
func (p *predictor) run(signals *host.Signals) error {
	if finished := len(p.prediction.Turns); finished > 0 {
		p.say("%s finished already", spelling.Count(finished, "turn"))
	}
	warnOfMissing(p.console, p.program[0])
	var stop error
	for made := true; made && stop == nil; {
		made = false
		for _, n := range p.ranks {
			if !p.wants(n) {
				continue
			}
			turn, err := p.makeTurn(n, p.next(n), signals)
			if err == nil && p.journal != nil {
				err = p.journal.Append(turn)
			}
			if err != nil {
				stop = p.stopped(err)
				break
			}
			made = true
			p.prediction.Turns = append(p.prediction.Turns, turn)
			if !p.prediction.Counts(turn) {
				p.say("turn %d of %s was disturbed by a ratio of %.2f and is set aside", turn.Turn+1, spelling.Count(n, "rank"), turn.Disturbance())
			}
		}
	}
	if len(p.prediction.Turns) == 0 {
		return stop
	}
	p.prediction.WriteText(p.console.Stdout)
	if p.journal != nil {
		stop = errors.Join(stop, p.write(study.TableFile, p.prediction.WriteCSV))
	}
	return stop
}

// stopped adds to the reason of an end that the study can go on.
func (p *predictor) stopped(err error) error {
	var signal terminal.Interrupted
	if p.journal != nil && errors.As(err, &signal) {
		return terminal.Ended{Cause: fmt.Errorf("%w; %s finished; the same command with --resume goes on", signal, study.Are(len(p.prediction.Turns), "turn")), Code: terminal.ExitHost}
	}
	return err
}

func (p *predictor) say(format string, arguments ...any) {
	_, _ = fmt.Fprintf(p.console.Stderr, "gigarank: "+format+"\n", arguments...)
}

// turn runs the program for real, measures the machine, unless there is a file of it, and then, for each
// number of hosts, simulates and runs for real again. The last real run is the first one of the next turn.
func (p *predictor) turn(n, index int, signals *host.Signals) (study.PredictedTurn, error) {
	turn := study.PredictedTurn{Schema: study.Schema, Version: p.build, Setting: p.setting, Ranks: n, Turn: index, MachineFile: string(p.machineFile)}
	one := func(hosts int, machine string, to *[]study.PredictedRun) error {
		r, err := p.measure(n, hosts, machine, signals)
		if err != nil {
			return err
		}
		what := "real"
		if hosts > 0 {
			what = "simulated by " + spelling.Count(hosts, "host")
		}
		p.say("turn %d, %s %s: %v s, %.2f s of CPU time", index+1, spelling.Count(n, "rank"), what, r.Time, r.CPU)
		*to = append(*to, r)
		return nil
	}
	if p.last != nil && p.lastRanks == n {
		turn.Real = append(turn.Real, *p.last)
	} else if err := one(0, "", &turn.Real); err != nil {
		return turn, err
	}
	p.last = nil
	if p.machine == nil {
		measured, err := p.calibrated(n, signals)
		if err != nil {
			return turn, err
		}
		file, err := measured.Machine("here", loggp.Models[0])
		if err != nil {
			return turn, err
		}
		turn.MachineFile = string(file)
	}
	path := filepath.Join(p.scratch, "machine.yaml")
	if err := os.WriteFile(path, []byte(turn.MachineFile), 0o666); err != nil {
		return turn, err
	}
	for _, hosts := range p.hosts {
		if err := one(hosts, path, &turn.Simulated); err != nil {
			return turn, err
		}
		if err := one(0, "", &turn.Real); err != nil {
			return turn, err
		}
	}
	p.last, p.lastRanks = &turn.Real[len(turn.Real)-1], n
	return turn, nil
}

// calibrated measures the machine with n processes, at least 2.
func (p *predictor) calibrated(n int, signals *host.Signals) (m loggp.Measurements, err error) {
	j := jobs{launcher: p.launcher, hosts: int64(max(n, 2)), runs: turnRuns}
	path := filepath.Join(p.scratch, "measured.json")
	if _, _, err = p.execute(j.words(p.self, p.cold, path, filepath.Join(p.scratch, "measured.yaml")), signals); err != nil {
		return m, err
	}
	return j.results(path, "")
}

func (p *predictor) write(name string, text func(io.Writer) error) error {
	var b bytes.Buffer
	if err := text(&b); err != nil {
		return err
	}
	return terminal.ReplaceFile(filepath.Join(p.out, name), b.Bytes(), 0)
}

// command returns the words of a run of n ranks, on some hosts of the simulator or on none.
// The machine file is that of path.
func (p *predictor) command(n, hosts int, path string) (words []string) {
	if hosts == 0 {
		words = append(append(words, p.launcher...), strconv.Itoa(n), p.real)
		return append(words, p.program[1:]...)
	}
	if hosts > 1 {
		words = append(append(words, p.launcher...), strconv.Itoa(hosts))
	}
	words = append(words, p.self, "run", p.program[0], "--ranks", strconv.Itoa(n), "--machine", path,
		"--cpu", string(cpuMeasured), "--engines", "1", "--progress", "none")
	if p.strictFunctions {
		words = append(words, "--strict-functions")
	}
	return append(append(words, "--"), p.program[1:]...)
}

// measure makes a run.
func (p *predictor) measure(n, hosts int, machine string, signals *host.Signals) (study.PredictedRun, error) {
	one := study.PredictedRun{Hosts: hosts}
	words := p.command(n, hosts, machine)
	before, unknown := host.ReadProcessors()
	began := time.Now()
	output, state, err := p.execute(words, signals)
	if err != nil {
		return one, err
	}
	one.Wall = time.Since(began).Seconds()
	one.CPU = (state.UserTime() + state.SystemTime()).Seconds()
	if after, err := host.ReadProcessors(); err == nil && unknown == nil {
		one.Others, one.Processors = max(after.Used-before.Used-one.CPU, 0), after.Number
	}
	if one.Time, err = p.timeIn(output); err != nil {
		err = terminal.UsageError{fmt.Errorf("%s: %w", strings.Join(words, " "), err)}
	}
	return one, err
}

// execute runs a command and returns its output. A signal ends it, and is the error.
func (p *predictor) execute(words []string, signals *host.Signals) (string, *os.ProcessState, error) {
	var output bytes.Buffer
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err := <-exited:
		if err != nil {
			err = terminal.Ended{Cause: fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(output.String())), Code: terminal.ExitHost}
		}
		return output.String(), cmd.ProcessState, err
	case signal := <-signals.Caught:
		stop := signals.StopBy(signal)
		_ = cmd.Process.Signal(unix.SIGTERM)
		<-exited
		return "", nil, terminal.Ended{Cause: stop, Code: terminal.ExitHost}
	}
}

// timeIn returns the time that a program has printed.
func (p *predictor) timeIn(output string) (float64, error) {
	all := p.time.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("its output has no match of %q: name the time by --time-from; it prints\n%s", p.timeFrom, strings.TrimSpace(output))
	}
	text := all[len(all)-1][1]
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds <= 0 {
		return 0, fmt.Errorf("--time-from matches %q in its output, which is no time above 0", text)
	}
	return seconds, nil
}
