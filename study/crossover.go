package study

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"gigarank/vtime"
)

// SummaryFile is the file of the summary of a study.
const SummaryFile = "study.json"

// SummarySchema is the version of the fields of a [Summary].
const SummarySchema = 1

// Summary is the outcome of a study: medians over seeds, and where the fastest changes.
type Summary struct {
	Schema     int          `json:"schema"`
	Version    string       `json:"version"`   // of gigarank
	Operation  string       `json:"operation"` // empty for a program
	Program    string       `json:"program,omitempty"`
	Complete   bool         `json:"complete"` // all points of the plan have been simulated without a failure
	Times      []MedianTime `json:"times"`
	Crossovers []Crossover  `json:"crossovers"`
}

// Place is where times are compared: the fields of a point beside its ranks, payload and choice.
type Place struct {
	Machine       string `json:"machine"`
	MachineDigest string `json:"machine_digest"`
	RanksPerNode  int    `json:"ranks_per_node"`
	Mapping       string `json:"mapping"`
	Noise         string `json:"noise"`
	Varied        string `json:"varied,omitempty"` // of a program's arguments
}

// MedianTime is the time of points that differ only by their seed.
type MedianTime struct {
	Place
	Ranks     int64          `json:"ranks"`
	Payload   int64          `json:"payload_bytes"`
	Choice    string         `json:"choice"`
	Algorithm string         `json:"algorithm"` // that ran, also if a library has chosen it
	Library   string         `json:"library,omitempty"`
	Seeds     int            `json:"seeds"`
	Time      vtime.Duration `json:"time_ps"` // the median
	Low       vtime.Duration `json:"low_ps"`  // the interval of the median, or the least with fewer than six seeds
	High      vtime.Duration `json:"high_ps"`
}

// The axes of crossovers.
const (
	alongRanks   = "ranks"
	alongPayload = "payload_bytes"
)

// Crossover is a change of the fastest choice along an axis. Between the two values nothing was simulated.
type Crossover struct {
	Place
	Along   string `json:"along"`                   // ranks or payload_bytes
	Ranks   int64  `json:"ranks,omitempty"`         // along payload_bytes
	Payload int64  `json:"payload_bytes,omitempty"` // along ranks
	// Fastest are the choices that cannot be told from the fastest up to Last, Then those from First on.
	Fastest []string `json:"fastest"`
	Last    int64    `json:"last"`
	Then    []string `json:"then"`
	First   int64    `json:"first"`
	// Cut: one of Fastest was not simulated at First.
	Cut bool `json:"cut,omitempty"`
}

// place returns where the times of a point are compared.
func (p Point) place() Place {
	return Place{p.Machine, p.MachineDigest, p.RanksPerNode, p.Mapping, p.Noise, p.Varied}
}

// Summarize returns the summary of a study. The records may cover only a part of the plan.
func (p *Plan) Summarize(records []Record, version string) Summary {
	all := p.samples(records)
	s := Summary{Schema: SummarySchema, Version: version, Times: []MedianTime{}, Crossovers: p.crossovers(all)}
	if p.Program == nil {
		s.Operation = p.Operation.String()
	} else {
		s.Program = p.Program.Name
	}
	finished := 0
	for _, one := range all {
		q := one.point
		finished += len(one.records)
		t := MedianTime{Place: q.place(), Ranks: q.Ranks, Payload: q.Payload, Choice: q.Choice(), Algorithm: q.Algorithm, Library: q.Library,
			Seeds: len(one.records), Time: vtime.Duration(one.time), Low: vtime.Duration(one.low), High: vtime.Duration(one.high)}
		if q.Library != "" {
			t.Algorithm = one.records[0].Chosen
		}
		s.Times = append(s.Times, t)
	}
	s.Complete = finished == len(p.Points)
	return s
}

// Write writes the summary as JSON.
func (s Summary) Write(w io.Writer) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// crossovers returns the changes of the fastest, along ranks and along payloads, in the order of the settings.
func (p *Plan) crossovers(all []sample) []Crossover {
	all = p.compared(all)
	changes := []Crossover{}
	between := func(here []sample, values []int64, key func(Point) int64, c Crossover) {
		stretches := p.stretches(here, values, key)
		for i := 1; i < len(stretches); i++ {
			before, after := stretches[i-1], stretches[i]
			c.Fastest, c.Last, c.Then, c.First, c.Cut = before.names, before.to, after.names, after.from, before.cut
			changes = append(changes, c)
		}
	}
	for _, s := range p.settings() {
		if here := where(all, s.has); len(here) > 0 {
			between(here, p.Ranks, byRanks, Crossover{Place: here[0].point.place(), Along: alongRanks, Payload: s.payload})
		}
	}
	for _, s := range p.places() {
		for _, ranks := range p.Ranks {
			here := where(all, func(q Point) bool { return s.hasButPayload(q) && q.Ranks == ranks })
			if len(here) > 0 {
				between(here, p.Payloads, byPayload, Crossover{Place: here[0].point.place(), Along: alongPayload, Ranks: ranks})
			}
		}
	}
	return changes
}

// crossoverColumns are the names of a row of crossoverRow.
var crossoverColumns = []string{"where", "fastest", "up to", "then", "from"}

// crossoverRow returns the cells of a crossover.
func (p *Plan) crossoverRow(c Crossover) []string {
	m := p.Machine(Point{MachineDigest: c.MachineDigest})
	at, text := p.describe(p.setting(m, c.Noise, c.Varied, c.Payload)), formatRanks
	last, first := " ranks", " ranks"
	if c.Along == alongPayload {
		at += ", " + formatRanks(c.Ranks) + " ranks"
		text, last, first = func(n int64) string { return formatBytes(float64(n)) }, "", ""
	}
	if c.Cut {
		last += " (not simulated with more)"
	}
	return []string{at, listed(c.Fastest), text(c.Last) + last, listed(c.Then), text(c.First) + first}
}

// mostCrossovers bounds the crossovers that are printed. The report has all.
const mostCrossovers = 24

// writeCrossovers prints a line for each change of the fastest.
func (p *Plan) writeCrossovers(w io.Writer, all []sample) {
	changes := p.crossovers(all)
	if len(changes) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "crossovers: where the fastest %s changes\n\n", p.noun())
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "  "+strings.Join(crossoverColumns, "\t"))
	for _, c := range changes[:min(len(changes), mostCrossovers)] {
		_, _ = fmt.Fprintln(table, "  "+strings.Join(p.crossoverRow(c), "\t"))
	}
	_ = table.Flush()
	if more := len(changes) - mostCrossovers; more > 0 {
		_, _ = fmt.Fprintf(w, "  … %d more in the report\n", more)
	}
	_, _ = fmt.Fprintln(w)
}

// crossoverTable returns the table of the report, nil if the fastest never changes.
func (p *Plan) crossoverTable(all []sample) *tableOf {
	t := &tableOf{Name: "crossovers", Title: "Crossovers", Columns: slices.Clone(crossoverColumns)}
	for _, c := range p.crossovers(all) {
		t.Rows = append(t.Rows, p.crossoverRow(c))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}
