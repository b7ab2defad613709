package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/result"
	"gigarank/internal/spelling"
	"gigarank/study"
	"gigarank/sync/mpi"
)

const scalingHelp = `Scaling studies the simulator itself: the wall time of a barrier or an allreduce and its
remote events (messages between engines), against virtual ranks. Every point has λ ranks
on each of some host processes, as in Figs 6 and 7 of Perumalla and Park, "Simulating
Billion-Task Parallel Programs", SPECTS 2014. It leaves in DIR:
  results.jsonl  one line for each run, with the document of gigarank run
  results.csv    the same as a table, with remote, sync and transport messages
  report.html    one page with plots (lines: wall time; bars: remote events) and table

It starts the host processes itself, one run after the other: by mpirun where this build
has MPI and mpirun is on the PATH, else as engines of one process. --launcher names
another command, which is given the number of processes and the command line of
gigarank, such as "srun -n" or "mpirun --oversubscribe -n"; none stands for engines.

Runs of equal numbers of ranks on different numbers of hosts must have the same fingerprint. The
report says whether they have. After a run that fails the others go on, and the exit code
is 3. A signal ends the study after its report is written. The same command with --resume
goes on, also after a kill or a power cut, and makes runs that have failed again.

`

// scalingFlags are the flags of study scaling as they are written.
type scalingFlags struct {
	axes          study.ScalingAxes
	out, launcher string
	resume        bool
}

func newScaling(c *terminal.Console) *cobra.Command {
	var f scalingFlags
	cmd := &cobra.Command{
		Use:   "scaling barrier|allreduce",
		Short: "Study what the simulation costs as ranks and hosts grow",
		Long:  scalingHelp + terminal.ExitHelp,
		Example: `  gigarank study scaling barrier --hosts 1,2 --out barrier-scaling
  gigarank study scaling allreduce --hosts 1,2,4,8 --lambda 128,1024 --machine xt5,tianhe-1a --out d
  gigarank study scaling barrier --hosts 1..64 --lambda 1M --launcher "srun -n" --out d`,
		Args: arguments(1, "one OPERATION: barrier or allreduce"),
		RunE: func(_ *cobra.Command, args []string) error {
			f.axes.Operation = args[0]
			return conductScaling(c, &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "out", "o", "", "`DIR` of the results (required)")
	flags.BoolVar(&f.resume, "resume", false, "go on with the results in DIR")
	flags.StringVar(&f.axes.Hosts, "hosts", "", "host processes: an `AXIS` such as 1,2,4 (default 1,2)")
	flags.StringVar(&f.axes.Lambda, "lambda", "", "λ, virtual ranks of each host process: an `AXIS` (default 128,1024)")
	flags.StringVar(&f.axes.Machines, "machine", "", "a `LIST` of presets and machine files (default xt5)")
	flags.StringVar(&f.axes.Algorithm, "algorithm", "", "the operation's `ALGORITHM` (default the algorithm of run)")
	flags.StringVar(&f.axes.Payload, "payload", "", "`BYTES` of each rank (default the program's)")
	flags.StringVar(&f.axes.Iterations, "iterations", "", "operations `N` of each run (default 5)")
	flags.StringVar(&f.axes.LP, "lp", "", "`KIND` of ranks: "+kindNames(studiedKinds())+" (default the kind that takes the least memory)")
	flags.StringVar(&f.launcher, "launcher", launcherAuto, "`COMMAND` that starts host processes, with their number as last argument; auto or none")
	return cmd
}

// The values of --launcher that are no command.
const (
	launcherAuto = "auto"
	launcherNone = "none"
)

// engineHosts is the launcher of records whose host processes are engines of one.
const engineHosts = "engines"

// launcher returns the words of the command that starts host processes, without their
// number; none where engines stand for them.
func (f *scalingFlags) words() ([]string, error) {
	switch f.launcher {
	case launcherNone:
		return nil, nil
	case launcherAuto:
		if _, err := exec.LookPath("mpirun"); err != nil || !mpi.Available() {
			return nil, nil
		}
		return []string{"mpirun", "-n"}, nil
	}
	words := strings.Fields(f.launcher)
	if !mpi.Available() {
		return nil, errors.New("this build has no MPI, and host processes need it: build with go build -tags mpi ./cmd/gigarank, or use none")
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, fmt.Errorf("%w: name a command on the PATH", err)
	}
	return words, nil
}

// scalingConductor carries out a study of the simulator.
type scalingConductor struct {
	console  *terminal.Console
	flags    *scalingFlags
	scaling  *study.Scaling
	launcher []string
	self     string
	build    string
	journal  *study.ScalingJournal
	records  []study.ScalingRecord // in the order of the runs
	failed   int
}

func conductScaling(c *terminal.Console, f *scalingFlags) error {
	if name, processes := mpi.Launched(c.Getenv); processes > 1 {
		return terminal.UsageError{fmt.Errorf("%s has started %d processes: start one, which starts the host processes of each run itself", name, processes)}
	}
	s := &scalingConductor{console: c, flags: f}
	if err := s.prepare(); err != nil {
		return err
	}
	defer func() { _ = s.journal.Close() }() // its lines are on the disk
	signals := host.CatchSignals(host.EndingSignals...)
	defer signals.Release()
	return s.run(signals)
}

// prepare checks everything before the first run.
func (s *scalingConductor) prepare() error {
	var faults terminal.UsageError
	s.scaling = study.NewScaling(s.flags.axes, s.console.ReadFile, func(flag string, err error) { faults.AddFile(flag, err) })
	var err error
	s.launcher, err = s.flags.words()
	faults.Add("--launcher", err)
	if s.self, err = os.Executable(); err == nil {
		s.build, err = host.Build()
	}
	if err != nil {
		faults = append(faults, err)
	}
	if s.flags.out == "" {
		faults.Add("--out", errors.New("name the directory of the results"))
	}
	if len(faults) > 0 {
		return faults.OrNil()
	}
	if s.journal, err = study.OpenScalingJournal(s.flags.out, s.flags.resume); err == nil {
		s.records, err = s.journal.Outcome(s.scaling, s.hosting(), s.build)
	}
	faults.Add("--out", err)
	return faults.OrNil()
}

// hosting returns the launcher of a record of some host processes.
func (s *scalingConductor) hosting() string {
	if len(s.launcher) == 0 {
		return engineHosts
	}
	return strings.Join(s.launcher, " ")
}

// run makes the runs and writes the results after each.
func (s *scalingConductor) run(signals *host.Signals) error {
	say := func(format string, arguments ...any) {
		_, _ = fmt.Fprintf(s.console.Stderr, "gigarank: "+format+"\n", arguments...)
	}
	for _, note := range s.scaling.Notes {
		say("%s", note)
	}
	say("%s, host processes by %s", spelling.Count(len(s.scaling.Points), "run"), s.hosting())
	done := map[study.ScalingPoint]bool{}
	for _, r := range s.records {
		done[r.Point] = true
	}
	if len(done) > 0 {
		say("%d of them are finished", len(done))
	}
	var stop error
	for i, point := range s.scaling.Points {
		if done[point] {
			continue
		}
		d, err := s.launch(point, signals)
		var signal terminal.Interrupted
		if errors.As(err, &signal) {
			stop = terminal.Ended{Cause: fmt.Errorf("%w; %d of %s are finished; the same command with --resume goes on", signal, len(s.records)-s.failed, spelling.Count(len(s.scaling.Points), "run")), Code: terminal.ExitHost}
			break
		}
		if err != nil {
			s.failed++
		}
		record := study.NewScalingRecord(s.build, s.hosting(), point, d, err)
		s.records = append(s.records, record)
		if err := s.journal.Append(record); err != nil {
			return errors.Join(err, s.report())
		}
		say("%d/%d %s", i+1, len(s.scaling.Points), record.Line())
	}
	if stop == nil && s.failed > 0 {
		stop = terminal.Ended{Cause: fmt.Errorf("%s of %d failed; see the errors in %s", spelling.Count(s.failed, "run"), len(s.scaling.Points), study.ResultsFile), Code: terminal.ExitHost}
	}
	return errors.Join(stop, s.report())
}

// report writes the table and the page, and prints the table.
func (s *scalingConductor) report() error {
	order := func(r study.ScalingRecord) int { return slices.Index(s.scaling.Points, r.Point) }
	slices.SortStableFunc(s.records, func(a, b study.ScalingRecord) int { return cmp.Compare(order(a), order(b)) })
	err := errors.Join(
		s.write(study.TableFile, func(b *bytes.Buffer) error { return study.WriteScalingCSV(b, s.records) }),
		s.write(study.ReportFile, func(b *bytes.Buffer) error { return s.scaling.WriteReport(b, s.records, origin(s.console, s.build, 1)) }))
	s.scaling.WriteText(s.console.Stdout, s.records)
	return err
}

// write replaces a file of the results.
func (s *scalingConductor) write(name string, text func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := text(&b); err != nil {
		return err
	}
	return terminal.ReplaceFile(filepath.Join(s.flags.out, name), b.Bytes(), 0)
}

// launch makes a run and returns its document. A signal ends the run, and is the error.
func (s *scalingConductor) launch(point study.ScalingPoint, signals *host.Signals) (d result.Document, err error) {
	document := filepath.Join(s.flags.out, ".running.json")
	defer func() { _ = os.Remove(document) }()
	run := append(s.scaling.Arguments(point), "--json", document, "--engines")
	hosts := strconv.FormatInt(point.Hosts, 10)
	command := append([]string{s.self}, append(run, hosts)...)
	if len(s.launcher) > 0 {
		command = append(append(append([]string{}, s.launcher...), hosts, s.self), append(run, "1")...)
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return d, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err = <-exited:
	case one := <-signals.Caught:
		stop := signals.StopBy(one)
		_ = cmd.Process.Signal(unix.SIGTERM)
		<-exited
		return d, stop
	}
	if err != nil {
		return d, fmt.Errorf("%w%s", err, onLinesOfItsOwn(output.String()))
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return d, notStarted(strings.Join(append(slices.Clone(s.launcher), hosts), " "), err, output.String())
	}
	return d, json.Unmarshal(text, &d)
}
