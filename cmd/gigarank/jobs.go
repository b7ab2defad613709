package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/loggp"
)

// jobFlags are the flags of jobs that are started to measure a machine, as they are written.
type jobFlags struct {
	launcher, hosts, jobs, runs, disturbed string
	set                                    *pflag.FlagSet
}

func (f *jobFlags) define(flags *pflag.FlagSet) {
	f.set = flags
	flags.StringVar(&f.hosts, "hosts", "2", "processes `N` of a job")
	flags.StringVar(&f.jobs, "jobs", "5", "jobs `N`, one after the other, whose medians count")
	flags.StringVar(&f.runs, "runs", "10", "runs `N` within a job, of which the least time counts")
	flags.StringVar(&f.disturbed, "disturbed", strconv.FormatFloat(loggp.Disturbed, 'g', -1, 64), "leave out jobs that take more than `RATIO` times the quickest job, in short messages, in long messages or in all")
	flags.StringVar(&f.launcher, "launcher", launcherAuto, "`COMMAND` that starts processes, with their number as last argument; auto: mpirun -n")
}

// jobs are jobs to start.
type jobs struct {
	launcher    []string
	hosts, runs int64
	number      int64
	disturbed   float64
}

// check checks the flags. The launcher counts if jobs are to be started.
func (f *jobFlags) check(faults *terminal.UsageError, start bool) (j jobs) {
	var err error
	j.hosts, err = terminal.ReadCount(f.hosts, 2, 1<<20)
	faults.Add("--hosts", err)
	j.number, err = terminal.ReadCount(f.jobs, 1, 1000)
	faults.Add("--jobs", err)
	j.runs, err = terminal.ReadCount(f.runs, 1, 1000)
	faults.Add("--runs", err)
	j.disturbed, err = strconv.ParseFloat(f.disturbed, 64)
	if err != nil || !(j.disturbed > 1) {
		faults.Add("--disturbed", fmt.Errorf("%q is no ratio: use a number above 1, such as 1.25", f.disturbed))
	}
	if !start {
		return j
	}
	if j.launcher, err = (&scalingFlags{launcher: f.launcher}).words(); err == nil && j.launcher == nil {
		err = errors.New("measuring needs mpirun and a build with -tags mpi: build one (go build -tags mpi ./cmd/gigarank), or name a launcher such as \"srun -n\"")
	}
	faults.Add("--launcher", err)
	return j
}

// checkOne checks the flags in a process of a job, and returns its runs.
func (f *jobFlags) checkOne(faults *terminal.UsageError) int {
	for _, name := range []string{"hosts", "jobs", "disturbed", "launcher"} {
		if f.set.Changed(name) {
			faults.Add("--"+name, errors.New("an MPI launcher has started this process, and its job is the only one: leave the flag out, or the launcher"))
		}
	}
	runs, err := terminal.ReadCount(f.runs, 1, 1000)
	faults.Add("--runs", err)
	return int(runs)
}

// words returns the command of a job, which writes its measurements and its machine file.
func (j *jobs) words(self string, cold bool, measurements, machine string) []string {
	return append(slices.Clone(j.launcher), strconv.FormatInt(j.hosts, 10), self, "machine", "calibrate",
		"--runs", strconv.FormatInt(j.runs, 10), "--json", measurements, "--out", machine, "--cold="+strconv.FormatBool(cold))
}

// command returns the launcher and the number of processes, as messages name them.
func (j *jobs) command() string { return fmt.Sprintf("%s %d", strings.Join(j.launcher, " "), j.hosts) }

// results reads the measurements of a job, which has printed output.
func (j *jobs) results(path, output string) (loggp.Measurements, error) {
	m, err := readMeasurements(path, os.ReadFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = notStarted(j.command(), err, output)
	}
	return m, err
}

// notStarted returns the error of a launcher that ended well and left no results.
func notStarted(launcher string, missing error, output string) error {
	return fmt.Errorf("%s ended well, but its processes have left no results: %w: name by --launcher a command that starts them where this directory is shared%s",
		launcher, missing, onLinesOfItsOwn(output))
}

// onLinesOfItsOwn returns the output of a command, to be told behind an error.
func onLinesOfItsOwn(output string) string {
	if output = strings.TrimSpace(output); output == "" {
		return ""
	}
	return "\n" + output
}

// measure starts the jobs, with or without --cold, one after the other, and returns their medians.
func (j *jobs) measure(c *terminal.Console, cold bool) (m loggp.Measurements, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	dir, err := os.MkdirTemp("", "gigarank")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "measured.json")
	words := j.words(self, cold, path, filepath.Join(dir, "measured.yaml"))
	one := func(i int64) (loggp.Measurements, error) {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: measuring with %s, job %d of %d\n", j.command(), i+1, max(i+1, j.number))
		cmd := exec.Command(words[0], words[1:]...)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Run(); err != nil {
			return m, fmt.Errorf("the measurement by %s failed: %w%s", j.command(), err, onLinesOfItsOwn(output.String()))
		}
		return j.results(path, output.String())
	}
	return j.combine(one)
}

// furtherJobs is how many times as many jobs as asked for are started at most, if too few agree.
const furtherJobs = 3

// combine returns the medians of jobs. While too few of them agree, it starts further ones, until as many agree as would if most of the jobs asked for did.
func (j *jobs) combine(start func(i int64) (loggp.Measurements, error)) (m loggp.Measurements, err error) {
	var all []loggp.Measurements
	for i := int64(0); i < j.number || errors.Is(err, loggp.ErrDisturbed) && i < furtherJobs*j.number; i++ {
		one, failed := start(i)
		if failed != nil {
			return m, failed
		}
		if all = append(all, one); i+1 >= j.number {
			m, err = loggp.Combine(all, j.disturbed, loggp.Majority(int(j.number)))
		}
	}
	return m, err
}
