package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/internal/measurements"
	"gigarank/internal/spelling"
	"gigarank/network"
	"gigarank/study"
)

const measuredHelp = `Measured simulates each point of a table of measured collectives, with as many nodes and ranks a
node and the algorithm that the row names, and sets the times side by side. FILE is CSV with a line of column names:
  machine, nodes, ppn, op, bytes, measured_us        required
  source, mpi, algorithm, statistic, fallback_suspected, set_aside
bytes are those of the vector for allreduce, reduce, bcast, scan and exscan, of the block of a rank for the other
operations. algorithm is a name as libraries have it (recursive_doubling_ompi, basic-linear); empty or default is the choice of
the library: that of --library, or of field library of the machine file, or else gigarank's defaults. statistic says what the figure is:
  max             from the common entry of all ranks to the last exit, as PICO measures with a barrier
                  before each iteration; also where the column is empty
  avg, min        the mean over the ranks of the time from the exit of a barrier, which is simulated, too, to
                  that of the operation, as the OSU micro-benchmarks measure; the least of these times
  imb, nccl-tests iterations back to back, their mean; also barrier avg, as osu_barrier
With jitter in the machine file the time is the median of several seeds, with interruptions the mean of 8 to 32 iterations.

--machine NAME=FILE gives the machine of the rows whose column machine has NAME, in which * stands for anything.
NAME@NODES is for rows of so many nodes and goes first. FILE alone is for all rows. Rows of a machine
without one take the preset of their name. It prints the median of the relative errors, the quartiles of simulated over measured
time, shares within a factor, and the worst point, by operation, size, ranks a node, nodes and machine.

A row that cannot be simulated or does not count is listed with the reason: the algorithm is not in gigarank,
the library seems to have used another, set_aside in the file, or --set-aside. WHERE selects rows by columns:
COLUMN=VALUE, with * in words, COLUMN<=NUMBER or COLUMN>=NUMBER, with commas between. Columns are those of the file, ranks, line, and
named: 1 where the row names its algorithm.

With --out it leaves in DIR report.html, a page with plots, and results.csv.

`

// measuredFlags are the flags of validate measured as they are written.
type measuredFlags struct {
	machines, setAside, classes []string
	libraries                   []string
	only, limit, out, json      string
}

func newValidateMeasured(c *terminal.Console) *cobra.Command {
	var f measuredFlags
	cmd := &cobra.Command{
		Use:   "measured FILE",
		Short: "Compare measured collectives of any machines with their simulations",
		Long:  measuredHelp + terminal.ExitHelp,
		Example: `  gigarank validate measured mine.csv --machine mine.yaml --out mine
  gigarank validate measured all.csv --machine lumi=frontier --only machine=lumi,ppn=1
  gigarank validate measured all.csv --machine fugaku@512=fugaku-8x8x8.yaml --set-aside 'machine=leonardo,nodes=256: a busy run'`,
		Args: arguments(1, "one FILE of measurements"),
		RunE: func(_ *cobra.Command, args []string) error { return validateMeasured(c, args[0], &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.machines, "machine", nil, "machine `FILE` or preset of all rows, or NAME=FILE, NAME@NODES=FILE of some; may be repeated")
	flags.StringArrayVar(&f.libraries, "library", nil, "MPI `LIBRARY` that chooses the algorithms of rows that name none, a file, or none; or MACHINE=LIBRARY for some rows (default that of the machine file); may be repeated")
	flags.StringVar(&f.only, "only", "", "look only at rows `WHERE` conditions hold")
	flags.StringArrayVar(&f.setAside, "set-aside", nil, "list rows `WHERE` conditions hold without counting them, as 'WHERE: REASON'; may be repeated")
	flags.StringArrayVar(&f.classes, "class", nil, "sum rows up `WHERE` conditions hold, as 'NAME: WHERE'; may be repeated")
	flags.StringVar(&f.limit, "limit", "5m", "leave out points of which an iteration is expected to take more CPU time than `DUR`")
	flags.StringVarP(&f.out, "out", "o", "", "`DIR` of the report")
	flags.StringVar(&f.json, "json", "", "write summaries and points as JSON to a `FILE`, or - for standard output in place of the text")
	return cmd
}

// machineRule gives rows a machine.
type machineRule struct {
	name    string // with * for anything
	nodes   int    // 0 for any number
	machine *network.Machine
	text    string // as it was given
}

// measuredValidator is a checked command line.
type measuredValidator struct {
	*measuredFlags
	rows     []measurements.Row
	rules    []machineRule
	choosers []libraryRule
	presets  map[string]*network.Machine // by name, those that have been asked for
	used     map[string]bool             // texts of rules
	options  measurements.Options
	compared study.Measured
}

// libraryRule gives rows a library.
type libraryRule struct {
	name    string              // of the machine, with * for anything
	library collectives.Library // nil for none
}

// libraryRuleOf reads a --library.
func libraryRuleOf(c *terminal.Console, text string, faults *terminal.UsageError) libraryRule {
	r := libraryRule{name: "*"}
	file := text
	if name, after, named := strings.Cut(text, "="); named {
		r.name, file = name, after
	}
	if _, err := path.Match(r.name, ""); err != nil {
		faults.Add("--library", fmt.Errorf("%q: %w", r.name, err))
	}
	var err error
	r.library, err = loadLibrary(c, file, nil)
	faults.AddFile("--library", err)
	return r
}

// libraryOf returns the library of a row on a machine: of the first rule for the machine's name, or
// else that of the machine file.
func (v *measuredValidator) libraryOf(c *terminal.Console) func(r *measurements.Row, m *network.Machine) (collectives.Library, error) {
	return func(r *measurements.Row, m *network.Machine) (collectives.Library, error) {
		for _, rule := range v.choosers {
			if like, _ := path.Match(rule.name, r.Machine); like {
				if rule.library == nil {
					return loadLibrary(c, noLibrary, m)
				}
				return rule.library, nil
			}
		}
		return loadLibrary(c, "", m)
	}
}

// validateMeasured carries out the command.
func validateMeasured(c *terminal.Console, file string, f *measuredFlags) error {
	v, err := f.prepare(c, file)
	if err != nil {
		return err
	}
	v.compared.Outcomes = measurements.Compare(v.rows, v.options)
	for _, r := range v.rules {
		if !v.used[r.text] {
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: --machine %s: no row is of this machine\n", r.text)
		}
	}
	return v.write(c)
}

func (f *measuredFlags) prepare(c *terminal.Console, file string) (*measuredValidator, error) {
	v := &measuredValidator{measuredFlags: f, presets: map[string]*network.Machine{}, used: map[string]bool{}}
	var faults terminal.UsageError
	text, err := c.ReadFile(file)
	if err == nil {
		var unread []string
		if v.rows, unread, err = measurements.Read(file, text); len(unread) > 0 {
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: %s: these columns are not used: %s\n", file, strings.Join(unread, ", "))
		}
	}
	faults.AddFile("FILE", err)
	for _, text := range f.machines {
		v.rules = append(v.rules, machineRuleOf(c, text, &faults))
	}
	// Rules for a number of nodes go before those of any number.
	slices.SortStableFunc(v.rules, func(a, b machineRule) int { return min(b.nodes, 1) - min(a.nodes, 1) })
	if f.only != "" {
		only, err := measurements.ParseWhere(f.only)
		faults.Add("--only", err)
		if err == nil && len(v.rows) > 0 {
			if v.rows = slices.DeleteFunc(v.rows, func(r measurements.Row) bool { return !only.Matches(&r) }); len(v.rows) == 0 {
				faults.Add("--only", fmt.Errorf("the conditions %s hold for no row", f.only))
			}
		}
	}
	for _, text := range f.setAside {
		where, reason, err := conditional(text, "WHERE", "REASON")
		if err == nil {
			var w measurements.Where
			w, err = measurements.ParseWhere(where)
			v.options.SetAside = append(v.options.SetAside, measurements.Rule{Where: w, Reason: reason})
		}
		faults.Add("--set-aside", err)
	}
	v.compared.File, v.compared.Classes = file, measurements.Classes()
	for _, text := range f.classes {
		faults.Add("--class", v.addClass(text))
	}
	limit, err := time.ParseDuration(f.limit)
	if err != nil || limit <= 0 {
		faults.Add("--limit", fmt.Errorf("%q is no time above 0: write one such as 30s or 5m", f.limit))
	}
	v.options.Limit, v.options.Cores, v.options.Machine = limit.Seconds(), c.Cores, v.machineOf
	for _, text := range f.libraries {
		v.choosers = append(v.choosers, libraryRuleOf(c, text, &faults))
	}
	v.options.Library = v.libraryOf(c)
	v.options.Progress = progressOfPoints(c)
	faults.Add("--json", terminal.CheckWritable(f.json))
	if f.out != "" && len(faults) == 0 {
		if err := terminal.MakeDirectory(f.out); err != nil {
			faults.Add("--out", err)
		} else {
			faults.Add("--out", terminal.CheckWritable(filepath.Join(f.out, study.ReportFile)))
		}
	}
	return v, faults.OrNil()
}

// conditional divides a text in two at a colon and a space.
func conditional(text, first, second string) (string, string, error) {
	before, after, found := strings.Cut(text, ": ")
	if before, after = strings.TrimSpace(before), strings.TrimSpace(after); !found || before == "" || after == "" {
		return "", "", fmt.Errorf("%q: write '%s: %s'", text, first, second)
	}
	return before, after, nil
}

// addClass adds a class, or conditions to that of the same name.
func (v *measuredValidator) addClass(text string) error {
	name, where, err := conditional(text, "NAME", "WHERE")
	if err != nil {
		return err
	}
	w, err := measurements.ParseWhere(where)
	if err != nil {
		return err
	}
	classes := &v.compared.Classes
	at := slices.IndexFunc(*classes, func(c measurements.Class) bool { return c.Name == name })
	if at < 0 {
		at = len(*classes)
		*classes = append(*classes, measurements.Class{Name: name})
	}
	(*classes)[at].Any = append((*classes)[at].Any, w)
	return nil
}

// machineRuleOf reads a --machine.
func machineRuleOf(c *terminal.Console, text string, faults *terminal.UsageError) machineRule {
	r := machineRule{text: text, name: "*"}
	name, file, named := strings.Cut(text, "=")
	if !named {
		file = text
	} else {
		r.name = name
		if before, nodes, found := strings.Cut(name, "@"); found {
			n, err := terminal.ReadCount(nodes, 1, math.MaxInt32)
			faults.Add("--machine", err)
			r.name, r.nodes = before, int(n)
		}
	}
	if _, err := path.Match(r.name, ""); err != nil {
		faults.Add("--machine", fmt.Errorf("%q: %w", r.name, err))
	}
	var err error
	if r.machine, err = loadMachine(c, file); err == nil {
		_, err = measurements.FittedTo(r.machine)
	}
	faults.AddFile("--machine", err)
	return r
}

// machineOf returns the machine of a row.
func (v *measuredValidator) machineOf(r *measurements.Row) (*network.Machine, error) {
	for _, rule := range v.rules {
		if like, _ := path.Match(rule.name, r.Machine); like && (rule.nodes == 0 || rule.nodes == r.Nodes) {
			v.used[rule.text] = true
			return rule.machine, nil
		}
	}
	m, asked := v.presets[r.Machine]
	if !asked {
		if slices.ContainsFunc(network.Presets(), func(p network.Preset) bool { return p.Name == r.Machine }) {
			var err error
			if m, err = network.Load(r.Machine, nil); err != nil {
				return nil, err
			}
		}
		v.presets[r.Machine] = m
	}
	if m == nil {
		return nil, fmt.Errorf("no machine is given for %s", r.Machine)
	}
	return m, nil
}

// progressOfPoints says every few seconds how far the simulations are.
func progressOfPoints(c *terminal.Console) func(done, all int) {
	const interval = 10 * time.Second
	last := c.Now()
	return func(done, all int) {
		if now := c.Now(); now.Sub(last) >= interval {
			last = now
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: %d of %s simulated\n", done, spelling.Count(all, "point"))
		}
	}
}

// write prints the comparison and writes its files. It returns an error where nothing was compared, or
// a simulation failed.
func (v *measuredValidator) write(c *terminal.Console) error {
	all := v.compared.Outcomes
	if f := v.json; f != "" {
		document := measurements.NewDocument(v.compared.File, all, v.compared.Classes)
		text, err := json.MarshalIndent(document, "", "  ")
		if err != nil {
			return err
		}
		if err := writeDocument(c, f, append(text, '\n')); err != nil {
			return err
		}
	}
	if v.json != terminal.StandardOutput {
		v.compared.WriteText(c.Stdout)
	}
	if v.out != "" {
		if err := v.report(c); err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(all, func(o measurements.Outcome) bool { return o.Failed }); i >= 0 {
		return fmt.Errorf("%s:%d: %s", v.compared.File, all[i].Line, all[i].Reason)
	}
	if !slices.ContainsFunc(all, func(o measurements.Outcome) bool { return o.Simulated > 0 }) {
		return terminal.UsageError{errors.New("no row can be simulated: the reasons are listed; --machine NAME=FILE gives a machine")}
	}
	return nil
}

// writeDocument writes a document to a file, or to standard output for -.
func writeDocument(c *terminal.Console, name string, text []byte) error {
	if name == terminal.StandardOutput {
		_, err := c.Stdout.Write(text)
		return err
	}
	to, err := terminal.NewDestination(name)
	if err != nil {
		return err
	}
	return to.Write(text)
}

// report writes the page and the table.
func (v *measuredValidator) report(c *terminal.Console) error {
	build, err := host.Build()
	if err != nil {
		return err
	}
	var table, page bytes.Buffer
	if err := errors.Join(v.compared.WriteCSV(&table), v.compared.WriteReport(&page, origin(c, build, 1))); err != nil {
		return err
	}
	return errors.Join(terminal.ReplaceFile(filepath.Join(v.out, study.TableFile), table.Bytes(), 0),
		terminal.ReplaceFile(filepath.Join(v.out, study.ReportFile), page.Bytes(), 0))
}
