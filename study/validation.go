package study

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
)

// Comparison is a measured time beside the simulated one, in seconds.
type Comparison struct {
	Series    string // the messages or the collective: "within a node", "bcast of 4 processes"
	Bytes     int64
	Real      float64 // the least of the runs
	Most      float64 // the greatest of them
	Simulated float64
}

// Error returns the relative error of the simulation.
func (c Comparison) Error() float64 { return c.Simulated/c.Real - 1 }

// Validation compares a real machine with the simulation of a machine file, as Figs 4 and 5
// of Perumalla and Park, "Simulating Billion-Task Parallel Programs", SPECTS 2014.
type Validation struct {
	Program     string
	Library     string // the MPI library of the measurements
	Machine     string // its name
	YAML        string // its file
	Comparisons []Comparison
	Remark      string // on all measurements; empty for none
}

// series returns the names of the series in order, each with its comparisons.
func (v *Validation) series() (names []string, of map[string][]Comparison) {
	of = map[string][]Comparison{}
	for _, c := range v.Comparisons {
		if len(of[c.Series]) == 0 {
			names = append(names, c.Series)
		}
		of[c.Series] = append(of[c.Series], c)
	}
	return names, of
}

// summary returns a sentence on the errors of a series.
func summaryOf(name string, some []Comparison) string {
	sum, worst := 0.0, some[0]
	for _, c := range some {
		sum += math.Abs(c.Error())
		if math.Abs(c.Error()) > math.Abs(worst.Error()) {
			worst = c
		}
	}
	return fmt.Sprintf("%s: the simulation is off by %s on average, at most by %s (%s).", name,
		formatError(sum/float64(len(some))), formatError(worst.Error()), formatBytes(float64(worst.Bytes)))
}

// formatError prints a relative error as a percentage.
func formatError(e float64) string { return strconv.FormatFloat(e*100, 'f', 1, 64) + " %" }

// seconds prints a time given in seconds as virtual times are printed.
func seconds(s float64) string { return formatTime(s * 1e12) }

// validationColumns are the columns of the table for people and of the table for programs.
var (
	validationShown = []column[Comparison]{
		{"messages", func(c Comparison) string { return c.Series }},
		{"size", func(c Comparison) string { return formatBytes(float64(c.Bytes)) }},
		{"real", func(c Comparison) string { return seconds(c.Real) }},
		{"slowest run", func(c Comparison) string { return seconds(c.Most) }},
		{"simulated", func(c Comparison) string { return seconds(c.Simulated) }},
		{"error", func(c Comparison) string { return formatError(c.Error()) }},
	}
	validationColumns = []column[Comparison]{
		{"messages", func(c Comparison) string { return c.Series }},
		{"bytes", func(c Comparison) string { return whole(c.Bytes) }},
		{"real_s", func(c Comparison) string { return decimal(c.Real) }},
		{"real_most_s", func(c Comparison) string { return decimal(c.Most) }},
		{"simulated_s", func(c Comparison) string { return decimal(c.Simulated) }},
		{"relative_error", func(c Comparison) string { return decimal(c.Error()) }},
	}
)

// WriteCSV writes the comparisons as a table.
func (v *Validation) WriteCSV(w io.Writer) error {
	return writeCSV(w, validationColumns, v.Comparisons)
}

// WriteText writes the comparisons for people.
func (v *Validation) WriteText(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s on %s, beside %s\n\n", v.Program, v.Machine, v.Library)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	for _, c := range validationShown {
		_, _ = fmt.Fprint(table, c.name, "\t")
	}
	_, _ = fmt.Fprintln(table)
	for _, r := range v.Comparisons {
		for _, c := range validationShown {
			_, _ = fmt.Fprint(table, c.value(r), "\t")
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
	names, of := v.series()
	_, _ = fmt.Fprintln(w)
	for _, name := range names {
		_, _ = fmt.Fprintln(w, summaryOf(name, of[name]))
	}
	if v.Remark != "" {
		_, _ = fmt.Fprintln(w, v.Remark)
	}
}

// charts draws measured and simulated times against sizes, for each series of several
// sizes.
func (v *Validation) charts() []*chart {
	names, of := v.series()
	var all []*chart
	for _, name := range names {
		measured, simulated := data{name: "real, from the fastest to the slowest run"}, data{name: "simulated", style: 1}
		for _, c := range of[name] {
			at := fmt.Sprintf("%s, %s: ", name, formatBytes(float64(c.Bytes)))
			x := float64(max(c.Bytes, 1))
			measured.at = append(measured.at, xy{x: x, y: c.Real * 1e12, low: c.Real * 1e12, high: c.Most * 1e12, spread: "fastest and slowest run", title: at + seconds(c.Real) + " real"})
			simulated.at = append(simulated.at, xy{x: x, y: c.Simulated * 1e12, title: at + seconds(c.Simulated) + " simulated, " + formatError(c.Error())})
		}
		all = appendChart(all, newChart(name, "Real and simulated time against size: "+name,
			axis{"size of a message", payloadAxis.text, 2}, timeAxis, []data{measured, simulated}))
	}
	return aligned(all)
}

// aboutValidation says how to read the report.
var aboutValidation = []string{
	"Real times are those of the MPI library, the least of several runs; the whiskers reach to the slowest one. What disturbs a run is no part of the machine file: gigarank run --noise adds it.",
	"Simulated times are those of the same exchange by gigarank on the machine file below. The error is simulated over real, less one.",
	"For messages there and back the time is half of the two-way time, as mpiping reports it.",
}

// WriteReport writes the comparison: one page of HTML that needs no other file.
func (v *Validation) WriteReport(w io.Writer, origin Origin) error {
	g := &page{
		Origin: origin, Style: template.CSS(reportStyle),
		Title: fmt.Sprintf("%s: real and simulated", v.Program), Subtitle: fmt.Sprintf("machine %s beside %s", v.Machine, v.Library),
		TableTitle: "All times", Reading: aboutValidation, Machines: []machineText{{v.Machine, v.YAML}},
		Width: chartWidth, Height: chartHeight, PlotLeft: plotLeft, PlotRight: plotRight, Top: plotTop, Bottom: plotBottom,
	}
	names, of := v.series()
	for _, name := range names {
		g.Findings = append(g.Findings, summaryOf(name, of[name]))
	}
	if v.Remark != "" {
		g.Findings = append(g.Findings, v.Remark)
	}
	if charts := v.charts(); len(charts) > 0 {
		g.Sections = []section{{Name: "times", Title: "Time against size", Charts: charts}}
	}
	for _, c := range validationShown {
		g.Columns = append(g.Columns, c.name)
	}
	for _, c := range v.Comparisons {
		row := make([]string, 0, len(validationShown))
		for _, column := range validationShown {
			row = append(row, column.value(c))
		}
		g.Rows = append(g.Rows, slices.Clip(row))
	}
	return writePage(w, plainTemplate(), g)
}
