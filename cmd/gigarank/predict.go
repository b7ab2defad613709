package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gigarank/mpivirt/native/toolchain"
	"gigarank/network"
	"gigarank/study"
	"gigarank/sync/mpi"
)

const predictHelp = `Predict runs a program in C or Fortran for real and simulated, in turns, and compares the
time that the program itself prints. PROGRAM is built by gigarank cc or fc. The same sources
built by mpicc or mpif90 are the program of --real: the two have other binary interfaces.
The real runs use n processes of this machine. Those of the simulator are n ranks on a
machine file, as gigarank machine calibrate writes it for this machine, with --cpu measured,
on N host processes of one engine each.

It prints, as VACED-SIM does, with medians of the runs:
  RE(n, N)  the relative error: time simulated over real, less 1
  SD(n, N)  the slowdown: CPU time of the simulator's processes over that of the real ones
  S(n, N)   the speed-up of the simulator: its wall time on the fewest hosts over that on N

--time-from is a regular expression with one group, which is the time in seconds in the
output of the program. The last match counts. With --out it leaves in DIR:
  results.jsonl  one line for each run
  results.csv    one line for each n and N

`

// usualTime finds what the NAS Parallel Benchmarks print.
const usualTime = `(?i)time in seconds *[=:] *([-+.0-9e]+)`

// predictFlags are the flags of study predict as they are written.
type predictFlags struct{ real, timeFrom, ranks, hosts, machine, runs, out, launcher string }

func newPredict(c *console) *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict PROGRAM --real PROGRAM --machine FILE [-- ARGUMENT]...",
		Short: "Compare real runs of a program with simulated ones",
		Long:  predictHelp + exitHelp,
		Example: `  mpirun -n 2 gigarank machine calibrate -o here.yaml
  gigarank study predict ./lu --real ./lu.real --ranks 1,2 --hosts 1,2 --machine here.yaml
  gigarank study predict ./ring --real ./ring.real --machine here.yaml --time-from 'took ([0-9.]+) s' -- 100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("gigarank study predict takes one PROGRAM and its arguments; see gigarank study predict --help")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return predict(c, args, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.real, "real", "", "the same `PROGRAM`, built for the MPI of this machine (required)")
	flags.StringVar(&f.machine, "machine", "", "machine `FILE` of this machine (required)")
	flags.StringVar(&f.ranks, "ranks", "2", "ranks n: a `LIST` such as 1,2")
	flags.StringVar(&f.hosts, "hosts", "1", "host processes N of the simulator: a `LIST` such as 1,2")
	flags.StringVar(&f.runs, "runs", "5", "runs `K` of each, whose medians count")
	flags.StringVar(&f.timeFrom, "time-from", usualTime, "`REGEXP` of the time in the program's output")
	flags.StringVarP(&f.out, "out", "o", "", "`DIR` of the results")
	flags.StringVar(&f.launcher, "launcher", launcherAuto, "`COMMAND` that starts processes, their number behind it; auto: mpirun -n")
	return cmd
}

// predictor is a checked command line.
type predictor struct {
	*predictFlags
	console      *console
	program      []string // with its arguments
	ranks, hosts []int
	runs         int
	time         *regexp.Regexp
	launcher     []string
	self         string
	machine      *network.Machine
	prediction   study.Prediction
}

func predict(c *console, program []string, f *predictFlags) error {
	if name, processes := mpi.Launched(c.getenv); processes > 1 {
		return usageError{fmt.Errorf("%s has started %d processes: start one, which starts the others itself", name, processes)}
	}
	p := &predictor{predictFlags: f, console: c, program: program}
	if err := p.prepare(); err != nil {
		return err
	}
	signals := catchSignals(endingSignals...)
	defer signals.release()
	return p.run(signals)
}

// prepare checks everything before the first run.
func (p *predictor) prepare() error {
	var faults usageError
	if !isPath(p.program[0]) {
		faults.add("PROGRAM", fmt.Errorf("%s is no path: give that of a program that gigarank cc has built, such as ./%s", p.program[0], p.program[0]))
	} else {
		faults.add("PROGRAM", toolchain.Check(p.program[0]))
	}
	if p.real == "" {
		faults.add("--real", errors.New("name the same program, built by mpicc or the like"))
	} else if info, err := os.Stat(p.real); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		faults.add("--real", fmt.Errorf("%s is no program: name one, built by mpicc or the like", p.real))
	}
	var err error
	if p.predictFlags.machine == "" {
		faults.add("--machine", errors.New("name the file of this machine, which mpirun -n 2 gigarank machine calibrate makes"))
	} else {
		p.machine, err = loadMachine(p.console, p.predictFlags.machine)
		faults.addFile("--machine", err)
	}
	p.ranks, err = processCounts(p.predictFlags.ranks)
	faults.add("--ranks", err)
	p.hosts, err = processCounts(p.predictFlags.hosts)
	faults.add("--hosts", err)
	if p.machine != nil {
		for _, n := range p.ranks {
			_, err := p.machine.Target(int64(n))
			faults.add("--ranks", err)
		}
	}
	runs, err := count(p.predictFlags.runs, 1, 1000)
	faults.add("--runs", err)
	p.runs = int(runs)
	p.time, err = regexp.Compile(p.timeFrom)
	if err == nil && p.time.NumSubexp() != 1 {
		err = fmt.Errorf("%q has %s: put the number, and nothing else, in parentheses", p.timeFrom, plural(p.time.NumSubexp(), "group"))
	}
	faults.add("--time-from", err)
	if p.launcher, err = (&scalingFlags{launcher: p.predictFlags.launcher}).words(); err == nil && p.launcher == nil {
		err = errors.New("the real runs need mpirun and a build with -tags mpi: build one, or name a launcher")
	}
	faults.add("--launcher", err)
	if p.self, err = os.Executable(); err != nil {
		faults = append(faults, err)
	}
	if p.out != "" && len(faults) == 0 {
		faults.add("--out", newDirectory(p.out))
	}
	return faults.orNil()
}

// processCounts reads a list of small numbers.
func processCounts(text string) (list []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		n, err := count(strings.TrimSpace(field), 1, 1<<20)
		if err != nil {
			return nil, err
		}
		list = append(list, int(n))
	}
	return list, nil
}

// run makes the runs in turns, so that what else the machine does is shared by all.
func (p *predictor) run(signals *signals) error {
	p.prediction = study.Prediction{Program: strings.Join(p.program, " "), Machine: p.machine.Name()}
	for i := range p.runs {
		for _, n := range p.ranks {
			for _, hosts := range append([]int{0}, p.hosts...) {
				one, err := p.measure(n, hosts, signals)
				if err != nil {
					return err
				}
				what := "real"
				if hosts > 0 {
					what = "simulated by " + plural(hosts, "host")
				}
				_, _ = fmt.Fprintf(p.console.stderr, "gigarank: run %d of %d, %s %s: %v s, %.2f s of CPU time\n", i+1, p.runs, plural(n, "rank"), what, one.Time, one.CPU)
				p.prediction.Runs = append(p.prediction.Runs, one)
			}
		}
	}
	p.prediction.WriteText(p.console.stdout)
	if p.out == "" {
		return nil
	}
	return errors.Join(p.write(study.ResultsFile, func(b *bytes.Buffer) error {
		e := json.NewEncoder(b)
		for _, r := range p.prediction.Runs {
			if err := e.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}), p.write(study.TableFile, func(b *bytes.Buffer) error { return p.prediction.WriteCSV(b) }))
}

func (p *predictor) write(name string, text func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := text(&b); err != nil {
		return err
	}
	return replaceFile(filepath.Join(p.out, name), b.Bytes(), 0)
}

// command returns the words of a run of n ranks, on some hosts of the simulator or on none.
func (p *predictor) command(n, hosts int) (words []string) {
	if hosts == 0 {
		words = append(append(words, p.launcher...), strconv.Itoa(n), p.real)
		return append(words, p.program[1:]...)
	}
	if hosts > 1 {
		words = append(append(words, p.launcher...), strconv.Itoa(hosts))
	}
	words = append(words, p.self, "run", p.program[0], "--ranks", strconv.Itoa(n), "--machine", p.predictFlags.machine,
		"--cpu", string(cpuMeasured), "--engines", "1", "--progress", "none")
	return append(append(words, "--"), p.program[1:]...)
}

// measure makes a run. A signal ends it, and is the error.
func (p *predictor) measure(n, hosts int, signals *signals) (study.PredictedRun, error) {
	one := study.PredictedRun{Schema: 1, Ranks: n, Hosts: hosts}
	words := p.command(n, hosts)
	var output bytes.Buffer
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return one, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err := <-exited:
		if err != nil {
			return one, ended{cause: fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(output.String())), code: exitHost}
		}
	case signal := <-signals.caught:
		stop := signals.stopBy(signal)
		_ = cmd.Process.Signal(unix.SIGTERM)
		<-exited
		return one, ended{cause: stop, code: exitHost}
	}
	one.Wall = time.Since(began).Seconds()
	one.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	var err error
	if one.Time, err = p.timeIn(output.String()); err != nil {
		err = usageError{fmt.Errorf("%s: %w", strings.Join(words, " "), err)}
	}
	return one, err
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
