package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/mpivirt"
)

const countsHelp = `Counts sets two counts of the events of a node-leader barrier side by side: the formula in
Perumalla and Park, "Simulating Billion-Task Parallel Programs", SPECTS 2014, and the events
of a run, on N nodes of C cores with λ virtual ranks each. The paper has
c + cn + n log2 n + cn + λc events in all, and (cλ − 1) log2 n inter-node events saved on
each node against a barrier in which every rank goes through the rounds itself.

The run has event ranks on one engine, with an event for each message. The saved events
are counted between engines that hold a node each: messages of the butterfly
(recursive-doubling) of all ranks less the messages of node-leader. That takes P log2 P messages
for P ranks, so it is done up to 16Mi of them and 1024 nodes, or always with --saved.
docs/paper-counts.md says why the figures differ where they do.

`

// countsFlags are the flags of counts as they are written.
type countsFlags struct {
	lambda, cores, nodes, json string
	saved                      bool
}

func newCounts(c *terminal.Console) *cobra.Command {
	var f countsFlags
	cmd := &cobra.Command{
		Use:   "counts",
		Short: "Count the events of a barrier, beside the paper's formula",
		Long:  countsHelp + terminal.ExitHelp,
		Example: `  gigarank counts --lambda 1024 --cores 12 --nodes 512
  gigarank counts --lambda 4 --cores 4 --nodes 64 --json -`,
		Args: arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return counts(c, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.lambda, "lambda", "1024", "λ, virtual ranks of each core: `N`")
	flags.StringVar(&f.cores, "cores", "12", "cores `N` of a node")
	flags.StringVar(&f.nodes, "nodes", "512", "nodes `N`")
	flags.BoolVar(&f.saved, "saved", false, "count the saved events, however many messages that takes")
	flags.StringVar(&f.json, "json", "", "write the counts as JSON to a `FILE`, or - for standard output")
	return cmd
}

// The bounds on the messages and the engines of the barrier that counts the saved events,
// unless it is asked for.
const (
	mostSavedMessages = 16 << 20
	mostSavedEngines  = 1 << 10
)

// countsDocument is the result of counts. What was not counted is null.
type countsDocument struct {
	Schema int        `json:"schema"`
	Lambda int64      `json:"lambda"`
	Cores  int64      `json:"cores"`
	Nodes  int64      `json:"nodes"`
	Ranks  int64      `json:"ranks"`
	Steps  []stepRow  `json:"steps"`
	Saved  savedCount `json:"saved_per_node"`
}

// stepRow is a step of the barrier: its events by the paper's formula and in the run.
type stepRow struct {
	Step    string  `json:"step"`
	Formula string  `json:"formula"`
	Paper   float64 `json:"paper"`
	Counted uint64  `json:"counted"`
	What    string  `json:"what"`
}

type savedCount struct {
	Formula string   `json:"formula"`
	Paper   float64  `json:"paper"`
	Counted *float64 `json:"counted"`
	Reason  string   `json:"reason,omitempty"` // why it was not counted
}

// counts carries out the command.
func counts(c *terminal.Console, f *countsFlags) error {
	var faults terminal.UsageError
	read := func(flag, text string) int64 {
		n, err := terminal.ReadCount(text, 1, math.MaxInt32)
		faults.Add(flag, err)
		return max(n, 1)
	}
	d := countsDocument{Schema: 1, Lambda: read("--lambda", f.lambda), Cores: read("--cores", f.cores), Nodes: read("--nodes", f.nodes)}
	switch {
	case len(faults) > 0:
	case d.Lambda > mostRanks/d.Cores || d.Lambda*d.Cores > mostRanks/d.Nodes:
		faults.Add("--lambda", fmt.Errorf("λcn, %d ranks on each of %d cores of %d nodes, are too many ranks: use at most %d in all",
			d.Lambda, d.Cores, d.Nodes, int64(mostRanks)))
	default:
		d.Ranks = d.Lambda * d.Cores * d.Nodes
	}
	faults.Add("--json", terminal.CheckWritable(f.json))
	if len(faults) > 0 {
		return faults.OrNil()
	}
	if err := d.count(c, f.saved); err != nil {
		return err
	}
	if f.json != terminal.StandardOutput {
		d.print(c)
	}
	return terminal.WriteTo(c, f.json, d.encode())
}

// count makes the runs.
func (d *countsDocument) count(c *terminal.Console, always bool) error {
	formula := bench.PaperFormula(d.Lambda, d.Cores, d.Nodes)
	leader, err := d.barrier(c, collectives.NodeLeader, 1)
	if err != nil {
		return err
	}
	d.Steps = []stepRow{
		{"join", "c + cn", formula.Join, 0, "nothing: a rank joins within its own step"},
		{"leaders", "n log2 n", formula.Leaders, leader.Messages, "messages between nodes"},
		{"release", "cn", formula.Release, 0, "nothing: a node is released in the leader's last step"},
		{"wake", "λc", formula.Wake, leader.Switches, "ranks resumed, λcn"},
		{"all", "the sum", formula.All(), leader.Events, fmt.Sprintf("events: ranks resumed, and %s steps of the leaders", grouped(leader.Events-leader.Switches))},
	}
	d.Saved = savedCount{Formula: "(cλ − 1) log2 n", Paper: formula.Saved}
	messages := d.Ranks * int64(bits.Len64(uint64(d.Ranks-1)))
	if (messages > mostSavedMessages || d.Nodes > mostSavedEngines) && !always {
		d.Saved.Reason = fmt.Sprintf("not counted: it takes some %s messages between %s engines; --saved counts it", terminal.Count(float64(messages)), grouped(uint64(d.Nodes)))
		return nil
	}
	every, err := d.barrier(c, collectives.RecursiveDoubling, d.Nodes)
	if err != nil {
		return err
	}
	saved := (float64(every.RemoteMessages) - float64(leader.Messages)) / float64(d.Nodes)
	d.Saved.Counted = &saved
	return nil
}

// barrier returns the counts of a barrier, if there is the memory for it.
func (d *countsDocument) barrier(c *terminal.Console, algorithm collectives.Algorithm, engines int64) (bench.BarrierCounts, error) {
	run := bench.BarrierRun{Ranks: d.Ranks, PerNode: d.Lambda * d.Cores, Engines: int(engines), Algorithm: algorithm, Collectives: mpivirt.Message}
	r := request{ranks: d.Ranks, engines: int(engines)}
	var err error
	if r.entry, err = bench.Lookup("barriertest"); err == nil {
		r.config, err = run.Config()
	}
	if err != nil {
		return bench.BarrierCounts{}, err
	}
	if err := r.checkMemory(c, &host.Processes{Size: 1, Local: 1}); err != nil {
		return bench.BarrierCounts{}, terminal.UsageError{errors.Join(fmt.Errorf("the barrier by %v: %w", algorithm, err))}
	}
	defer host.TuneCollector(c.Getenv, r.need, r.share)()
	return run.Count()
}

func (d *countsDocument) encode() []byte {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("gigarank: counts that are no JSON: %v", err))
	}
	return append(text, '\n')
}

// print prints the counts for people.
func (d *countsDocument) print(c *terminal.Console) {
	_, _ = fmt.Fprintf(c.Stdout, "a barrier of %s ranks: λ = %s on each of c = %s cores of n = %s nodes\n\n",
		grouped(uint64(d.Ranks)), grouped(uint64(d.Lambda)), grouped(uint64(d.Cores)), grouped(uint64(d.Nodes)))
	table := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', 0)
	row := func(cells ...any) { _, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", cells...) }
	row("step", "formula", "paper", "counted", "")
	for _, s := range d.Steps {
		row(s.Step, s.Formula, groupedFigure(s.Paper), grouped(s.Counted), s.What)
	}
	counted, what := "-", d.Saved.Reason
	if d.Saved.Counted != nil {
		counted, what = groupedFigure(*d.Saved.Counted), "messages between nodes, against recursive-doubling of all ranks"
	}
	row("saved on each node", d.Saved.Formula, groupedFigure(d.Saved.Paper), counted, what)
	_ = table.Flush()
}

// grouped prints a number with a comma before each three digits.
func grouped(n uint64) string {
	if n < 1000 {
		return strconv.FormatUint(n, 10)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// groupedFigure prints a figure that is not negative, with a digit after the point unless
// it is whole.
func groupedFigure(v float64) string {
	if v == math.Trunc(v) {
		return grouped(uint64(v))
	}
	tenths := uint64(math.Round(v * 10))
	return fmt.Sprintf("%s.%d", grouped(tenths/10), tenths%10)
}
