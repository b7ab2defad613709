package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt"
	"gigarank/mpivirt/replay"
	"gigarank/study"
	"gigarank/sync"
	"gigarank/vtime"
)

const efficiencyHelp = `Efficiency simulates a program twice with each number of ranks: on the machine, and on the machine with an
ideal network, whose messages take no time. It prints the efficiencies of POP (https://pop-coe.eu):

  load balance    mean of the ranks' computing times over the greatest
  serialisation   greatest computing time over the time on the ideal network: what waiting for others costs
  transfer        time on the ideal network over the time on the machine: what the network costs
  communication   serialisation × transfer
  parallel        load balance × communication
  computation     computing of all ranks with the fewest ranks over that with these; with --scaling weak, of each rank
  global          parallel × computation

Computing is the time that a program declares, and with --cpu measured the CPU time of its code: then the run on
the ideal network is charged the times that the run on the machine has measured.

A PROGRAM may be a trace, of a real program, of run --trace or of Dimemas: it is replayed on both, with its own number of
ranks. Computing is then that of its bursts.

`

// efficiencyFlags are the flags of efficiency as they are written.
type efficiencyFlags struct {
	run            runFlags
	ranks, scaling string
	json           string
}

// efficientFlags are the flags of run that efficiency has, too.
var efficientFlags = []string{
	"lp", "iterations", "compute", "payload", "seed", "noise", "polls", "barrier", "allreduce", "algorithm",
	"machine", "ranks-per-node", "mapping", "library", "allocation",
	"stack", "stacks", "skeleton",
}

func newEfficiency(c *terminal.Console) *cobra.Command {
	var f efficiencyFlags
	cmd := &cobra.Command{
		Use:   "efficiency PROGRAM [ARGUMENT]...",
		Short: "Show how efficient a program is, and what it loses to what",
		Long:  efficiencyHelp + terminal.ExitHelp,
		Example: `  gigarank efficiency ./prog --ranks 64,128,256 --machine frontier --cpu measured
  gigarank efficiency stencil --ranks 2^4..2^8:x4 --scaling weak
  gigarank efficiency prog.grt --machine frontier`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return arguments(1, "one PROGRAM (see gigarank list)")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return showEfficiency(c, args[0], args[1:], &f) },
	}
	all := &cobra.Command{}
	f.run.define(all)
	for _, name := range efficientFlags {
		cmd.Flags().AddFlag(all.Flags().Lookup(name))
	}
	cmd.Flags().SortFlags = false
	terminal.Group(cmd.Flags(), groupSimulated, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.ranks, "ranks", defaultEfficiencyRanks, "virtual ranks: an `AXIS`")
		flags.StringVar(&f.scaling, "scaling", study.StrongScaling, "`SCALING` by which computing is compared: strong, the same work on more ranks, or weak, the same work of each rank")
		flags.StringVar(&f.run.cpu.mode, "cpu", "", "time of the code between MPI calls: `MODE` measured (CPU time here, times the machine's cpu_ratio) or ignored (default)")
	})
	terminal.Group(cmd.Flags(), groupResults, func(flags *pflag.FlagSet) {
		flags.StringVar(&f.json, "json", "", "write the efficiencies as JSON to a `FILE`, or - for standard output")
	})
	return cmd
}

// efficiency is the outcome with a number of ranks. Ratios are those of POP; Computation and Global compare with the fewest ranks.
type efficiency struct {
	Ranks         int64   `json:"ranks"`
	Time          int64   `json:"time_ps"`
	Ideal         int64   `json:"ideal_time_ps"`
	Greatest      int64   `json:"greatest_computing_ps"`
	Mean          int64   `json:"mean_computing_ps"`
	LoadBalance   float64 `json:"load_balance"`
	Serialisation float64 `json:"serialisation"`
	Transfer      float64 `json:"transfer"`
	Communication float64 `json:"communication"`
	Parallel      float64 `json:"parallel"`
	Computation   float64 `json:"computation"`
	Global        float64 `json:"global"`
}

// showEfficiency simulates a program with each number of ranks, and prints a line for each.
func showEfficiency(c *terminal.Console, program string, arguments []string, f *efficiencyFlags) error {
	var faults terminal.UsageError
	if isTrace(program) {
		var err error
		if program, err = f.replayTrace(c, program, arguments); err != nil {
			return err
		}
	}
	counts, err := study.Counts(f.ranks, 1, mostRanks)
	faults.Add("--ranks", err)
	_, err = terminal.Choose("scaling", f.scaling, scalings)
	faults.Add("--scaling", err)
	if slices.Contains(terminal.StandardNames, f.json) {
		f.json = terminal.StandardOutput
	}
	if len(counts) == 0 {
		return faults.OrNil()
	}
	for _, ranks := range counts { // all faults before anything runs
		own := f.run
		own.ranks, own.stats, own.programArguments = fmt.Sprint(ranks), true, arguments
		r, err := newRequest(c, alone(), program, &own)
		if r.entry.Direct != nil {
			err = fmt.Errorf("PROGRAM: %s has no MPI messages, whose cost efficiencies tell", program)
		}
		if err != nil {
			faults = append(faults, err)
			break
		}
	}
	faults.Add("--json", terminal.CheckWritable(f.json))
	if len(faults) > 0 {
		return faults
	}
	var all []efficiency
	for _, ranks := range counts {
		e, err := efficiencyOf(c, program, arguments, f, ranks)
		if err != nil {
			return err
		}
		all = append(all, *e)
		all[len(all)-1].compare(&all[0], f.scaling == study.WeakScaling)
	}
	var text bytes.Buffer
	if f.json != "" {
		encoder := json.NewEncoder(&text)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(all); err != nil {
			return err
		}
		if err := writeDocument(c, f.json, text.Bytes()); err != nil {
			return err
		}
	}
	if f.json != terminal.StandardOutput {
		writeEfficiencies(c.Stdout, all)
	}
	return nil
}

// replayTrace has the runs replay a trace, and returns its name as a program.
func (f *efficiencyFlags) replayTrace(c *terminal.Console, name string, arguments []string) (string, error) {
	var faults terminal.UsageError
	if len(arguments) > 0 {
		faults = append(faults, fmt.Errorf("ARGUMENT: %s is a trace, and has the arguments of its run", name))
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--ranks", f.ranks != defaultEfficiencyRanks}, {"--cpu", f.run.cpu.mode != ""}} {
		if flag.set {
			faults.Add(flag.name, fmt.Errorf("%s is a trace, and has its own", name))
		}
	}
	file, err := openTrace(name)
	faults.AddFile("PROGRAM", err)
	if err := faults.OrNil(); err != nil {
		return "", err
	}
	warnOfTrace(c, file)
	if err := f.run.replay(name, file, bursts{ratio: fraction{1, 1}, time: burstThread}, replay.Options{}); err != nil {
		return "", terminal.UsageError{fmt.Errorf("PROGRAM: %w", err)}
	}
	f.ranks = f.run.ranks
	return f.run.replays.Name, nil
}

// defaultEfficiencyRanks is the default of --ranks.
const defaultEfficiencyRanks = "16,64,256"

// scalings are the values of --scaling.
var scalings = []scaling{study.StrongScaling, study.WeakScaling}

type scaling string

func (s scaling) String() string { return string(s) }

// alone are the host processes of a command that runs by itself.
func alone() *host.Processes { return &host.Processes{Size: 1, Local: 1} }

// efficiencyOf simulates a program on the machine, and on its ideal network.
func efficiencyOf(c *terminal.Console, program string, arguments []string, f *efficiencyFlags, ranks int64) (*efficiency, error) {
	own := f.run
	own.ranks, own.stats, own.programArguments = fmt.Sprint(ranks), true, arguments
	if own.cpu.mode == cpuMeasured.String() {
		dir, err := os.MkdirTemp("", "gigarank")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		own.cpu = cpuFlags{record: filepath.Join(dir, "cpu")}
	}
	real, err := simulated(c, program, &own, false)
	if err != nil {
		return nil, err
	}
	if own.cpu.record != "" {
		own.cpu = cpuFlags{replay: own.cpu.record}
	}
	own.stats = false
	ideal, err := simulated(c, program, &own, true)
	if err != nil {
		return nil, err
	}
	computing := real.Calls.Balance.Computing
	e := &efficiency{Ranks: ranks, Time: int64(real.VirtualTime), Ideal: int64(ideal.VirtualTime),
		Greatest: int64(real.Calls.Balance.Greatest), Mean: int64(computing.Over(uint64(ranks)))}
	if e.Greatest == 0 {
		return nil, terminal.Ended{Cause: fmt.Errorf("%s computes for no time on %d ranks, of which efficiencies are parts: charge its code by --cpu measured, or declare computing", program, ranks), Code: terminal.ExitProgram}
	}
	e.LoadBalance = float64(e.Mean) / float64(e.Greatest)
	e.Serialisation = float64(e.Greatest) / float64(e.Ideal)
	e.Transfer = float64(e.Ideal) / float64(e.Time)
	e.Communication = float64(e.Greatest) / float64(e.Time)
	e.Parallel = float64(e.Mean) / float64(e.Time)
	return e, nil
}

// compare sets the computing of all ranks, or with weak scaling of each, beside that of the fewest ranks.
func (e *efficiency) compare(fewest *efficiency, weak bool) {
	e.Computation = float64(fewest.Mean) / float64(e.Mean)
	if !weak {
		e.Computation *= float64(fewest.Ranks) / float64(e.Ranks)
	}
	e.Global = e.Parallel * e.Computation
}

// silent returns the simulation of a request within this process. Its ranks print nothing.
func (r *request) silent() (bench.Simulation, error) {
	r.config.Transports, r.config.Output = sync.NewInProcess(r.engines), func(string) {}
	s, err := r.entry.New(r.config)
	if err != nil {
		return nil, terminal.UsageError{err}
	}
	return s, nil
}

// simulated runs a program whose flags were checked, on the machine or on its ideal network. Ranks print nothing.
func simulated(c *terminal.Console, program string, f *runFlags, ideal bool) (*mpivirt.Result, error) {
	f.ideal = ideal
	r, err := newRequest(c, alone(), program, f)
	if err != nil {
		return nil, err
	}
	s, err := r.silent()
	if err != nil {
		return nil, err
	}
	result, err := s.Run()
	if err == nil {
		err = r.cpu.finish(true)
	}
	if err != nil {
		where := ""
		if ideal {
			where = " on the ideal network"
		}
		return nil, terminal.Ended{Cause: fmt.Errorf("%s on %d ranks%s: %w", program, r.ranks, where, err), Code: terminal.ExitProgram}
	}
	return result, nil
}

// writeEfficiencies prints a line for each number of ranks.
func writeEfficiencies(w io.Writer, all []efficiency) {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "ranks\ttime\tload balance\tserialisation\ttransfer\tcommunication\tparallel\tcomputation\tglobal\t")
	for _, e := range all {
		_, _ = fmt.Fprintf(table, "%d\t%v\t", e.Ranks, vtime.Duration(e.Time))
		for _, v := range []float64{e.LoadBalance, e.Serialisation, e.Transfer, e.Communication, e.Parallel, e.Computation, e.Global} {
			_, _ = fmt.Fprintf(table, "%.3f\t", v)
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
}
