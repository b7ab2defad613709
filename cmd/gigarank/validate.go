package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/internal/loggp"
	"gigarank/internal/spelling"
	"gigarank/network"
	"gigarank/study"
	"gigarank/sync"
)

const validateHelp = `Validate sets a real machine and the simulation of its machine file side by side:
  mpiping      messages there and back, 8 B to 16 MiB, between two processes
  collectives  barrier, bcast and allreduce of all processes, by the algorithms that a run takes on the machine

The real times are measured anew: validate starts jobs by --launcher, which run gigarank
machine calibrate, and takes their medians, as calibrate does. Or they come from FILE of --measured, which machine calibrate
--json has written. A machine file made with --cold wants --cold here too. It prints each time and its
error, and how the measured ping-pongs compare with the ping-pongs of the machine file: jobs that are
all disturbed alike show nowhere else. With --out it leaves in DIR report.html, a page with plots, and
results.csv. Figs 4 and 5 of Perumalla and Park,
"Simulating Billion-Task Parallel Programs", SPECTS 2014, are such a comparison.

`

// validateFlags are the flags of validate as they are written.
type validateFlags struct {
	machine, measured, out string
	cold                   bool
	jobs                   jobFlags
}

// validated are the programs that validate compares.
var validated = []string{"mpiping", "collectives"}

func newValidate(c *terminal.Console) *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate mpiping|collectives",
		Short: "Compare a real machine with the simulation of its machine file",
		Long:  validateHelp + terminal.ExitHelp,
		Example: `  gigarank validate mpiping --machine here.yaml --out here-validation
  gigarank validate collectives --machine here.yaml --hosts 4
  gigarank validate mpiping --machine here.yaml --measured here.json`,
		Args: arguments(1, "one PROGRAM: mpiping or collectives"),
		RunE: func(_ *cobra.Command, args []string) error { return validate(c, args[0], &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.machine, "machine", "", "machine `FILE` or preset to compare (required)")
	flags.StringVar(&f.measured, "measured", "", "`FILE` of measurements (default: measure now)")
	flags.StringVarP(&f.out, "out", "o", "", "`DIR` of the report")
	flags.BoolVar(&f.cold, "cold", false, "messages of 1 MiB or more come from memory that caches do not hold")
	f.jobs.define(flags)
	cmd.AddCommand(newValidateMeasured(c))
	return cmd
}

// validate carries out the command.
func validate(c *terminal.Console, program string, f *validateFlags) error {
	v, err := f.prepare(c, program)
	if err != nil {
		return err
	}
	m, err := v.measurements(c)
	if err != nil {
		return err
	}
	compared, err := v.compare(c, m)
	if err != nil {
		return err
	}
	compared.WriteText(c.Stdout)
	if f.out == "" {
		return nil
	}
	return v.report(c, compared)
}

// validator is a checked command line.
type validator struct {
	*validateFlags
	program  string
	machine  *network.Machine
	jobs     jobs
	measured *loggp.Measurements // nil to measure now
}

func (f *validateFlags) prepare(c *terminal.Console, program string) (*validator, error) {
	v := &validator{validateFlags: f, program: program}
	var faults terminal.UsageError
	_, err := terminal.Choose("program", program, names(validated))
	faults.Add("PROGRAM", err)
	if f.machine == "" {
		faults.Add("--machine", errors.New("name the machine file to compare, which gigarank machine calibrate makes"))
	} else {
		v.machine, err = loadMachine(c, f.machine)
		faults.AddFile("--machine", err)
	}
	if f.measured != "" {
		m, err := readMeasurements(f.measured, c.ReadFile)
		faults.Add("--measured", err)
		v.measured = &m
		if f.cold && err == nil && !m.Cold {
			faults.Add("--cold", fmt.Errorf("%s was measured without: measure again by gigarank machine calibrate --cold, or leave the flag out", f.measured))
		}
	}
	v.jobs = f.jobs.check(&faults, f.measured == "")
	if f.out != "" && len(faults) == 0 {
		if err := terminal.MakeDirectory(f.out); err != nil {
			faults.Add("--out", err)
		} else {
			faults.Add("--out", terminal.CheckWritable(filepath.Join(f.out, study.ReportFile)))
		}
	}
	return v, faults.OrNil()
}

// measurements returns the real times.
func (v *validator) measurements(c *terminal.Console) (loggp.Measurements, error) {
	if v.measured != nil {
		return *v.measured, nil
	}
	return v.jobs.measure(c, v.cold)
}

// compare simulates what was measured.
func (v *validator) compare(c *terminal.Console, m loggp.Measurements) (*study.Validation, error) {
	compared := &study.Validation{Program: v.program, Library: m.Library, Machine: v.machine.Name(), YAML: v.machine.String()}
	pings, err := v.pings(c, m)
	if err != nil {
		return nil, err
	}
	compared.Comparisons, compared.Remark = pings, remark(pings)
	if v.program != "mpiping" && m.NearProcesses > 1 && m.NearProcesses != v.machine.RanksPerNode() {
		compared.Remark += fmt.Sprintf(" The machine file has %s a node and %s measured here: the joins of a node are those of the file. Compare as many as were calibrated.",
			spelling.Count(v.machine.RanksPerNode(), "rank"), wereOf(m.NearProcesses))
	}
	if v.program != "mpiping" {
		if compared.Comparisons, err = v.collectives(c, m); err != nil {
			return nil, err
		}
	}
	if len(compared.Comparisons) == 0 {
		return nil, errors.New("nothing that was measured can be simulated on this machine")
	}
	return compared, nil
}

// wereOf returns a number of processes with its verb.
func wereOf(processes int) string {
	return spelling.Count(processes, "process") + " of a node were"
}

// remark says how measured ping-pongs compare with simulated ones, and what to do where they differ.
func remark(pings []study.Comparison) string {
	if len(pings) == 0 {
		return ""
	}
	var sizes []int64
	var ratios []float64
	for _, p := range pings {
		sizes, ratios = append(sizes, p.Bytes), append(ratios, p.Real/p.Simulated)
	}
	r := loggp.RatiosOf(sizes, ratios)
	text := r.Sentence("the machine file")
	if r.Differ() {
		text += " Unless the file is of another machine, one of the two is of a disturbed one: validate once more when nothing else runs, and if they differ again, calibrate anew."
	}
	return text
}

// pings compares the pairs of processes that were measured and that the machine has.
func (v *validator) pings(c *terminal.Console, m loggp.Measurements) (all []study.Comparison, err error) {
	for _, pair := range []struct {
		*loggp.Pair
		name    string
		perNode int
	}{{m.Intra, "within a node", 2}, {m.Inter, "between nodes", 1}} {
		if pair.Pair == nil {
			continue
		}
		machine := v.machine
		if pair.perNode == 1 || machine.RanksPerNode() < 2 {
			if machine, err = v.machine.WithRanksPerNode(pair.perNode); err != nil {
				return nil, err
			}
		}
		times, err := timesOf(c, machine, 2, "mpiping", bench.Options{Iterations: 1, Compute: bench.None})
		if err != nil {
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: messages %s are left out: %v\n", pair.name, err)
			continue
		}
		for i, p := range pair.Delays {
			if i < len(times) {
				all = append(all, study.Comparison{Series: pair.name, Bytes: p.Bytes, Real: p.Seconds, Most: p.Most(), Simulated: times[i] / 2})
			}
		}
	}
	return all, nil
}

// collectives compares the collectives of all processes.
func (v *validator) collectives(c *terminal.Console, m loggp.Measurements) (all []study.Comparison, err error) {
	near := m.Near
	if m.NearProcesses == m.Processes {
		near = nil // the same
	}
	for _, group := range []struct {
		of        []loggp.Collective
		processes int
		where     string
	}{{near, m.NearProcesses, " on a node"}, {m.Collectives, m.Processes, ""}} {
		for _, one := range group.of {
			op, err := terminal.Choose("operation", one.Operation, collectives.Operations())
			if err != nil {
				return nil, err
			}
			o := bench.Options{Iterations: 1, Compute: bench.None, Payload: one.Bytes}
			if one.Bytes == 0 {
				o.Payload = bench.None
			}
			times, err := timesOf(c, v.machine, int64(group.processes), bench.TimedBy(op), o)
			if err != nil {
				return nil, err
			}
			all = append(all, study.Comparison{Series: fmt.Sprintf("%s of %s%s", op, spelling.Count(group.processes, "process"), group.where),
				Bytes: one.Bytes, Real: one.Seconds, Most: one.Most(), Simulated: times[0]})
		}
	}
	return all, nil
}

// report writes the files.
func (v *validator) report(c *terminal.Console, compared *study.Validation) error {
	build, err := host.Build()
	if err != nil {
		return err
	}
	var table, page bytes.Buffer
	if err := errors.Join(compared.WriteCSV(&table), compared.WriteReport(&page, origin(c, build, 1))); err != nil {
		return err
	}
	return errors.Join(terminal.ReplaceFile(filepath.Join(v.out, study.TableFile), table.Bytes(), 0),
		terminal.ReplaceFile(filepath.Join(v.out, study.ReportFile), page.Bytes(), 0))
}

// timesOf simulates a program on a machine, with the choices of its library, and returns the greatest time of any rank in
// each of its timed operations, in seconds, in their order.
func timesOf(c *terminal.Console, machine *network.Machine, ranks int64, program string, o bench.Options) ([]float64, error) {
	target, err := machine.Target(ranks)
	if err != nil {
		return nil, err
	}
	entry, err := bench.Lookup(program)
	if err != nil {
		return nil, err
	}
	config := bench.Config{Options: o}
	config.Target, config.Kind, config.Seed = target, defaultKind(entry.Forms), 1
	config.Transports, config.Protocol = sync.NewInProcess(1), sync.Hybrid
	config.Output = func(string) {}
	if config.Library, err = loadLibrary(c, "", machine); err != nil {
		return nil, err
	}
	simulation, err := bench.New(program, config)
	if err != nil {
		return nil, err
	}
	result, err := simulation.Run()
	if err != nil {
		return nil, err
	}
	var times []float64
	for _, it := range result.Iterations {
		times = append(times, it.Max.Seconds())
	}
	return times, nil
}
