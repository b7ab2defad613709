package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/loggp"
	"gigarank/internal/spelling"
	"gigarank/network"
	"gigarank/sync/mpi"
)

const measureHelp = `Calibrate measures the messages of the MPI library that it runs on and makes a machine
file of them. It needs a build with -tags mpi and at least two processes; with processes on
two nodes it measures messages within a node and between nodes.

It starts several jobs by --launcher, one after the other, takes the least of several runs in
each job, and the medians of the jobs. Jobs are left out that take more than --disturbed times the
quickest job in ping-pongs up to 4 KiB, in longer ping-pongs or in all figures, by the median. If these are half
of the jobs, it starts up to three times as many, until as many are left as would be of most of --jobs; else it ends without a file. Started by mpirun itself it is one job, whose figures may be
figures of a disturbed machine. If FILE is a machine file already, it says how the new ping-pongs
compare with the ping-pongs of that file: jobs that are all disturbed alike show nowhere else.

Measured are ping-pongs from 8 B to 64 MiB. Then receivers are late: the eager_limit of the file is
the longest message whose sender does not wait for a receiver that posts its receive late. The field
progress says whether longer messages wait for a receiver that has posted its receive and computes. Measured are also the overheads of
sending and receiving and the gap, by the LogGP method (Kielmann, Bal and Verstoep, "Fast Measurement of LogP Parameters
for Message Passing Platforms", 2000); sums of doubles; messages of processes to themselves,
8 B to 32 MiB, all at a time, of which the local_copy of the file is made; barriers, broadcasts and
allreduces of all processes, and of the processes on one node. The file begins with the
least-squares line and the LogGP parameters. Its delay model is a table of the measured
delays, or with --model hockney that line. Its joins are taken from the barriers and
allreduces on a node. gigarank validate compares it with the machine.

A program may send an array that it has used shortly before, as a ping-pong does, or an array
that caches do not hold any more, as a program that exchanges all its data does. With --cold messages of 1 MiB or
more, also of processes to themselves, come from memory that caches do not hold: two at a time go both ways, and the median of the
runs counts, since no program has the memory at its best each time.

`

// measureFlags are the flags of machine calibrate as they are written.
type measureFlags struct {
	out, json, name, model string
	cold                   bool
	jobs                   jobFlags
}

func newMeasure(c *terminal.Console) *cobra.Command {
	var f measureFlags
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the machine that this runs on, over its MPI",
		Long:  measureHelp + terminal.ExitHelp,
		Example: `  gigarank machine calibrate -o here.yaml
  gigarank machine calibrate --hosts 4 --jobs 9 -o here.yaml
  mpirun -n 2 gigarank machine calibrate -o here.yaml
  srun -N 2 -n 4 gigarank machine calibrate -o cluster.yaml --json cluster.json`,
		Args: arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return measure(c, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "out", "o", "", "machine `FILE` to write (default standard output)")
	flags.StringVar(&f.json, "json", "", "write all measurements as JSON to a `FILE`, or - for standard output")
	flags.StringVar(&f.name, "name", "", "`NAME` of the machine (default the name in the file, or here)")
	flags.StringVar(&f.model, "model", loggp.Models[0], "delay `MODEL`: "+strings.Join(loggp.Models, " or "))
	flags.BoolVar(&f.cold, "cold", false, "messages of 1 MiB or more come from memory that caches do not hold")
	f.jobs.define(flags)
	return cmd
}

// measure carries out the command on this process.
func measure(c *terminal.Console, f *measureFlags) error {
	if !mpi.Available() {
		return terminal.UsageError{errors.New("this build has no MPI to measure: build with go build -tags mpi ./cmd/gigarank")}
	}
	if _, processes := mpi.Launched(c.Getenv); processes < 2 {
		return f.measureJobs(c)
	}
	link, err := mpi.OpenLink(loggp.LongestMessage, f.cold)
	if err != nil {
		return err
	}
	if link.Rank() != 0 {
		c.Mute()
	}
	err = f.measure(c, link)
	c.Finish(err)                                                   // in front of Close, for which processes wait for each other: a launcher ends all of them once another has ended with a code
	if err != nil && terminal.ExitCode(err) != terminal.ExitUsage { // the others may wait for this process
		mpi.Abort(terminal.ExitCode(err))
	}
	return errors.Join(err, link.Close())
}

// measureJobs measures by jobs that it starts, and writes the files.
func (f *measureFlags) measureJobs(c *terminal.Console) error {
	var faults terminal.UsageError
	f.check(&faults, true)
	j := f.jobs.check(&faults, true)
	if err := faults.OrNil(); err != nil {
		return err
	}
	m, err := j.measure(c, f.cold)
	if err != nil {
		return err
	}
	return f.write(c, m)
}

// measure measures and, on process 0, writes the files. A usage error is one of all
// processes.
func (f *measureFlags) measure(c *terminal.Console, link mpi.Link) error {
	var found terminal.UsageError
	f.check(&found, link.Rank() == 0)
	runs := f.jobs.checkOne(&found)
	faults := found.OrNil()
	code, err := link.Most(terminal.ExitCode(faults))
	if err != nil {
		return err
	}
	if code != terminal.ExitDone {
		return terminal.Ended{Cause: faults, Code: code, Silent: link.Rank() != 0}
	}
	m, err := loggp.Measure(link, runs, func(what string) {
		if link.Rank() == 0 {
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: measuring %s\n", what)
		}
	})
	m.Library, _, _ = strings.Cut(mpi.Version(), ",")
	m.Processors = c.Cores
	if err != nil || link.Rank() != 0 {
		return err
	}
	return f.write(c, m)
}

// check checks the flags of what is written. Only process 0 tries the files.
func (f *measureFlags) check(faults *terminal.UsageError, first bool) {
	if f.name == "" && f.out != "" {
		f.name = strings.TrimSuffix(filepath.Base(f.out), filepath.Ext(f.out))
	} else if f.name == "" {
		f.name = "here"
	}
	_, err := terminal.Choose("model", f.model, names(loggp.Models))
	faults.Add("--model", err)
	if f.out == "" && f.json == terminal.StandardOutput {
		faults.Add("--json", errors.New("the machine file goes to standard output: name a file for one of the two"))
	}
	if first {
		faults.Add("--out", terminal.CheckWritable(f.out))
		faults.Add("--json", terminal.CheckWritable(f.json))
	}
}

// name is a value that is its own name.
type name string

func (n name) String() string { return string(n) }

func names(texts []string) []name {
	var all []name
	for _, text := range texts {
		all = append(all, name(text))
	}
	return all
}

// write writes the machine file and the measurements.
func (f *measureFlags) write(c *terminal.Console, m loggp.Measurements) error {
	text, err := m.Machine(f.name, f.model)
	if err != nil {
		return err
	}
	measurements, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	out, compared := f.out, ""
	if out == "" {
		out = terminal.StandardOutput
	} else if there, err := os.Stat(out); err == nil && there.Mode().IsRegular() {
		if before, err := os.ReadFile(out); err == nil {
			compared = f.against(before, text, &m)
		}
	}
	if err := errors.Join(terminal.WriteTo(c, f.json, append(measurements, '\n')), terminal.WriteTo(c, out, text)); err != nil {
		return err
	}
	if f.out == "" {
		return nil
	}
	remarks, _, _ := bytes.Cut(text, []byte("name:"))
	_, err = fmt.Fprintf(c.Stdout, "%s: a machine file of %s\n%s%s", f.out, spelling.Count(m.Processes, "process"), remarks, compared)
	return err
}

// against returns a line about the delays of a new machine file beside those of the file that it
// replaces. Jobs that are all disturbed alike show nowhere else. It returns "" if there is no
// machine file of as many processes before.
func (f *measureFlags) against(before, text []byte, m *loggp.Measurements) string {
	old, errOld := network.Parse(f.out, before, nil)
	now, errNow := network.Parse(f.out, text, nil)
	if len(before) == 0 || errOld != nil || errNow != nil {
		return ""
	}
	then, errOld := old.Target(int64(m.Processes))
	after, errNow := now.Target(int64(m.Processes))
	if errOld != nil || errNow != nil {
		return ""
	}
	ratios := m.Ratios(then, after)
	line := "# " + ratios.Sentence("the file before") + "\n"
	if ratios.Differ() {
		line += "# One of the two may be of a disturbed machine: measure once more when nothing else runs, unless the machine has changed.\n"
	}
	return line
}

// readMeasurements reads what calibrate has written with --json.
func readMeasurements(path string, read func(string) ([]byte, error)) (m loggp.Measurements, err error) {
	text, err := read(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s holds no measurements: %w; make them by gigarank machine calibrate --json", path, err)
	}
	if m.Schema != loggp.Schema || m.Intra == nil && m.Inter == nil {
		return m, fmt.Errorf("%s holds no measurements of schema %d: make them by gigarank machine calibrate --json", path, loggp.Schema)
	}
	for _, pair := range []*loggp.Pair{m.Intra, m.Inter} {
		if pair == nil {
			continue
		}
		for _, p := range pair.Delays {
			if p.Bytes < 0 || !(p.Seconds > 0) || math.IsInf(p.Seconds, 0) {
				return m, fmt.Errorf("%s: a message of %d bytes took %v s: make the measurements again", path, p.Bytes, p.Seconds)
			}
		}
	}
	return m, nil
}
