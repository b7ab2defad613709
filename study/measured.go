package study

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gigarank/collectives"
	"gigarank/internal/measurements"
	"gigarank/internal/spelling"
	"gigarank/network"
)

// Measured sets measured collectives beside their simulations.
type Measured struct {
	File     string // of the measurements
	Outcomes []measurements.Outcome
	Classes  []measurements.Class
}

// counted returns the rows that count.
func (v *Measured) counted() (some []measurements.Outcome) {
	for _, o := range v.Outcomes {
		if o.Counts() {
			some = append(some, o)
		}
	}
	return some
}

// ratioText prints a ratio with three digits.
func ratioText(r float64) string { return scaled(r, []scale{{"", 1}}, "") }

// share prints a part of all points.
func share(part float64) string { return strconv.FormatFloat(100*part, 'f', 0, 64) + " %" }

// place names a point on its machine: "lumi 32×1".
func placeOf(o *measurements.Outcome) string {
	return fmt.Sprintf("%s %d×%d", o.Machine, o.Nodes, o.PerNode)
}

// worstText describes the point whose times differ most.
func worstText(o *measurements.Outcome) string {
	return fmt.Sprintf("%s (line %d: %s, %s %s)", ratioText(o.Ratio()), o.Line, placeOf(o), o.Operation, formatBytes(float64(o.Bytes)))
}

// summaryColumns are those of a summary.
var summaryColumns = []column[measurements.Summary]{
	{"", func(s measurements.Summary) string { return s.Group }},
	{"points", func(s measurements.Summary) string { return strconv.Itoa(s.Points) }},
	{"median |error|", func(s measurements.Summary) string { return formatError(s.Error) }},
	{"lower quartile", func(s measurements.Summary) string { return ratioText(s.Quartiles[0]) }},
	{"median", func(s measurements.Summary) string { return ratioText(s.Quartiles[1]) }},
	{"upper quartile", func(s measurements.Summary) string { return ratioText(s.Quartiles[2]) }},
	{fmt.Sprintf("within ×%v", measurements.Factors[0]), func(s measurements.Summary) string { return share(s.Within[0]) }},
	{fmt.Sprintf("within ×%v", measurements.Factors[1]), func(s measurements.Summary) string { return share(s.Within[1]) }},
	{fmt.Sprintf("within ×%v", measurements.Factors[2]), func(s measurements.Summary) string { return share(s.Within[2]) }},
	{"90 % within", func(s measurements.Summary) string { return "×" + ratioText(s.Ninety) }},
	{"worst", func(s measurements.Summary) string { return worstText(s.Worst) }},
}

// leftOut are the rows that do not count for one reason.
type leftOut struct {
	reason string
	rows   []*measurements.Outcome
}

// leftOut returns the rows that do not count, by reason, the most frequent one first.
func (v *Measured) leftOut() (all []leftOut) {
	at := map[string]int{}
	for i := range v.Outcomes {
		o := &v.Outcomes[i]
		if o.Counts() {
			continue
		}
		k, known := at[o.Reason]
		if !known {
			k = len(all)
			at[o.Reason] = k
			all = append(all, leftOut{reason: o.Reason})
		}
		all[k].rows = append(all[k].rows, o)
	}
	slices.SortStableFunc(all, func(a, b leftOut) int { return cmp.Compare(len(b.rows), len(a.rows)) })
	return all
}

// simulated sums up the rows that are simulated though they do not count: "simulated : measured 0.3 to 1.2".
func (l *leftOut) simulated() string {
	s := newRange()
	for _, o := range l.rows {
		if o.Simulated > 0 {
			s.include(o.Ratio())
		}
	}
	if s.low > s.high {
		return ""
	}
	return fmt.Sprintf("simulated : measured %s to %s", ratioText(s.low), ratioText(s.high))
}

// lines prints numbers of lines as ranges: "3-7, 9".
func (l *leftOut) lines() string {
	var parts []string
	for i := 0; i < len(l.rows); {
		j := i
		for j+1 < len(l.rows) && l.rows[j+1].Line == l.rows[j].Line+1 {
			j++
		}
		text := strconv.Itoa(l.rows[i].Line)
		if j > i {
			text += "-" + strconv.Itoa(l.rows[j].Line)
		}
		parts, i = append(parts, text), j+1
	}
	return strings.Join(parts, ", ")
}

// WriteText writes summaries for people, and the rows that do not count.
func (v *Measured) WriteText(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s: %s, of which %d count; simulated : measured\n", v.File, spelling.Count(len(v.Outcomes), "row"), len(v.counted()))
	for _, g := range measurements.Summarize(v.Outcomes, v.Classes) {
		_, _ = fmt.Fprintf(w, "\n%s\n", g.Name)
		table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		for _, c := range summaryColumns {
			_, _ = fmt.Fprint(table, "  ", c.name, "\t")
		}
		_, _ = fmt.Fprintln(table)
		for _, s := range g.Summaries {
			for _, c := range summaryColumns {
				_, _ = fmt.Fprint(table, "  ", c.value(s), "\t")
			}
			_, _ = fmt.Fprintln(table)
		}
		_ = table.Flush()
	}
	if left := v.leftOut(); len(left) > 0 {
		_, _ = fmt.Fprint(w, "\nRows that do not count\n")
		for _, l := range left {
			_, _ = fmt.Fprintf(w, "  %d: %s", len(l.rows), l.reason)
			if text := l.simulated(); text != "" {
				_, _ = fmt.Fprintf(w, "; %s", text)
			}
			_, _ = fmt.Fprintf(w, "; lines %s\n", l.lines())
		}
	}
}

// measuredColumns are those of the table for programs, in microseconds.
var measuredColumns = []column[measurements.Outcome]{
	{"line", func(o measurements.Outcome) string { return strconv.Itoa(o.Line) }},
	{"machine", func(o measurements.Outcome) string { return o.Machine }},
	{"nodes", func(o measurements.Outcome) string { return strconv.Itoa(o.Nodes) }},
	{"ppn", func(o measurements.Outcome) string { return strconv.Itoa(o.PerNode) }},
	{"op", func(o measurements.Outcome) string { return o.Operation }},
	{"bytes", func(o measurements.Outcome) string { return whole(o.Bytes) }},
	{"mpi", func(o measurements.Outcome) string { return o.Library }},
	{"algorithm", func(o measurements.Outcome) string { return o.Algorithm }},
	{"simulated_machine", func(o measurements.Outcome) string {
		if o.Model == nil {
			return ""
		}
		return o.Model.Name()
	}},
	{"simulated_algorithm", func(o measurements.Outcome) string { return o.Chosen }},
	{"simulated_statistic", func(o measurements.Outcome) string {
		if o.Simulated == 0 {
			return ""
		}
		return o.Point.Statistic.String()
	}},
	{"measured_us", func(o measurements.Outcome) string { return micro(o.Measured) }},
	{"simulated_us", func(o measurements.Outcome) string { return micro(o.Simulated) }},
	{"ratio", func(o measurements.Outcome) string {
		if o.Simulated == 0 {
			return ""
		}
		return ratioText(o.Ratio())
	}},
	{"reason_not_counted", func(o measurements.Outcome) string { return o.Reason }},
}

// micro prints a time in microseconds, "" for none.
func micro(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return strconv.FormatFloat(seconds*1e6, 'f', -1, 32)
}

// WriteCSV writes all rows as a table.
func (v *Measured) WriteCSV(w io.Writer) error { return writeCSV(w, measuredColumns, v.Outcomes) }

var (
	measuredAxis  = axis{"measured time", formatTime, 10}
	simulatedAxis = axis{"simulated time", formatTime, 10}
	ratioAxis     = axis{"simulated : measured", ratioText, 10}
	bytesAxis     = axis{"bytes", payloadAxis.text, 2}
)

// styles are the operations in the order of their styles on all charts. The others share the next one with the line of equal times.
var styles = []collectives.Operation{collectives.Allreduce, collectives.Reduce, collectives.Bcast, collectives.Allgather, collectives.Alltoall,
	collectives.ReduceScatter, collectives.Gather, collectives.Scatter}

// styleOf returns the style of an operation.
func styleOf(op collectives.Operation) int {
	if k := slices.Index(styles, op); k >= 0 {
		return k
	}
	return len(styles)
}

// series returns points by operation as scattered marks. Each operation has one style on all charts.
func series(some []measurements.Outcome, at func(o *measurements.Outcome) (x, y float64)) (all []data) {
	for i := range some {
		o := &some[i]
		k := slices.IndexFunc(all, func(d data) bool { return d.name == o.Operation })
		if k < 0 {
			k = len(all)
			all = append(all, data{name: o.Operation, style: styleOf(o.Point.Operation), scattered: true})
		}
		x, y := at(o)
		all[k].at = append(all[k].at, xy{x: x, y: y, title: fmt.Sprintf("%s, %s %s, %s: measured %s, simulated %s, ratio %s (line %d)", placeOf(o),
			o.Operation, formatBytes(float64(o.Bytes)), o.Chosen, seconds(o.Measured), seconds(o.Simulated), ratioText(o.Ratio()), o.Line)})
	}
	slices.SortStableFunc(all, func(a, b data) int { return cmp.Compare(a.style, b.style) })
	return all
}

// equalTimes is the line on which simulated and measured times are equal, from the least to the greatest of both.
func equalTimes(some []measurements.Outcome) data {
	s := newRange()
	for i := range some {
		s.include(some[i].Measured * 1e12)
		s.include(some[i].Simulated * 1e12)
	}
	return data{name: "equal", style: colors - 1, at: []xy{{x: s.low, y: s.low, title: "equal"}, {x: s.high, y: s.high, title: "equal"}}}
}

// equalRatio is the line at the ratio 1.
func equalRatio(some []measurements.Outcome) data {
	s := newRange()
	for i := range some {
		s.include(sizeAt(&some[i]))
	}
	return data{name: "equal", style: colors - 1, at: []xy{{x: s.low, y: 1, title: "equal"}, {x: s.high, y: 1, title: "equal"}}}
}

// sizeAt returns the place of a size on a logarithmic axis. A barrier has no bytes, and its place is that of one byte.
func sizeAt(o *measurements.Outcome) float64 { return float64(max(o.Bytes, 1)) }

// sections draw all points, then those of each machine where there are several.
func (v *Measured) sections() []section {
	all := v.counted()
	groups := []struct {
		name string
		some []measurements.Outcome
	}{{"all machines", all}}
	for i := range all {
		k := slices.IndexFunc(groups[1:], func(g struct {
			name string
			some []measurements.Outcome
		}) bool {
			return g.name == all[i].Machine
		}) + 1
		if k == 0 {
			k = len(groups)
			groups = append(groups, groups[0])
			groups[k].name, groups[k].some = all[i].Machine, nil
		}
		groups[k].some = append(groups[k].some, all[i])
	}
	if len(groups) == 2 {
		groups = groups[1:]
	}
	var times, ratios []*chart
	for _, g := range groups {
		times = appendChart(times, newChart(g.name, "Simulated time against measured time: "+g.name, measuredAxis, simulatedAxis,
			append([]data{equalTimes(g.some)}, series(g.some, func(o *measurements.Outcome) (float64, float64) { return o.Measured * 1e12, o.Simulated * 1e12 })...)))
		ratios = appendChart(ratios, newChart(g.name, "Simulated over measured time against size: "+g.name, bytesAxis, ratioAxis,
			append([]data{equalRatio(g.some)}, series(g.some, func(o *measurements.Outcome) (float64, float64) { return sizeAt(o), o.Ratio() })...)))
	}
	var sections []section
	if len(times) > 0 {
		sections = append(sections, section{Name: "times", Title: "Simulated against measured time", Text: "Both axes are logarithmic. A mark on the line is a point whose times are equal.", Charts: aligned(times)})
	}
	if len(ratios) > 0 {
		sections = append(sections, section{Name: "ratios", Title: "Ratio by size", Text: "Above 1 the simulation is too slow, below too fast.", Charts: aligned(ratios)})
	}
	return sections
}

// aboutMeasured says how to read the report.
var aboutMeasured = []string{
	"Each point is one collective, measured on the machine that is named and simulated by gigarank on the machine file below, with as many nodes and ranks a node.",
	"Max over ranks (PICO): a barrier precedes each iteration, so the simulated time is that from the common entry of all ranks to the last exit. Average over ranks (OSU): the mean over the ranks, likewise from a common entry. IMB, nccl-tests and osu_barrier repeat the operation back to back: the mean of iterations after the first ones, which warm the pipeline up.",
	"Bytes are those of the vector for allreduce, reduce and bcast, and of the block of one rank for the other operations, reduce_scatter included.",
	"With jitter in the machine file the time is the median of several seeds.",
	"Rows that do not count have the reason in the last column. They are simulated where they can be.",
}

// WriteReport writes the comparison: one page of HTML that needs no other file.
func (v *Measured) WriteReport(w io.Writer, origin Origin) error {
	g := &page{
		Origin: origin, Style: template.CSS(reportStyle),
		Title: "Measured and simulated collectives", Subtitle: fmt.Sprintf("%s, %d of %s", v.File, len(v.counted()), spelling.Count(len(v.Outcomes), "row")),
		TableTitle: "All rows", Reading: aboutMeasured,
		Width: chartWidth, Height: chartHeight, PlotLeft: plotLeft, PlotRight: plotRight, Top: plotTop, Bottom: plotBottom,
		Sections: v.sections(),
	}
	for _, grouping := range measurements.Summarize(v.Outcomes, v.Classes) {
		t := tableOf{Name: "by-" + strings.ReplaceAll(grouping.Name, " ", "-"), Title: "By " + grouping.Name}
		if grouping.Name == "all" {
			t.Title = "In all"
			first := grouping.Summaries[0]
			g.Findings = append(g.Findings, fmt.Sprintf("%s: the median of the relative error is %s, %s of the points are within a factor of %v, the worst ratio is %s.",
				spelling.Count(first.Points, "point"), formatError(first.Error), share(first.Within[1]), measurements.Factors[1], worstText(first.Worst)))
		}
		for _, c := range summaryColumns {
			t.Columns = append(t.Columns, c.name)
		}
		for _, s := range grouping.Summaries {
			t.Rows = append(t.Rows, cells(summaryColumns, s))
		}
		g.Tables = append(g.Tables, t)
	}
	if left := v.leftOut(); len(left) > 0 {
		t := tableOf{Name: "left-out", Title: "Rows that do not count", Columns: []string{"rows", "reason", "where simulated", "lines"}}
		for _, l := range left {
			t.Rows = append(t.Rows, []string{strconv.Itoa(len(l.rows)), l.reason, l.simulated(), l.lines()})
		}
		g.Tables = append(g.Tables, t)
	}
	for _, c := range measuredColumns {
		g.Columns = append(g.Columns, c.name)
	}
	var shown []*network.Machine
	for _, o := range v.Outcomes {
		g.Rows = append(g.Rows, cells(measuredColumns, o))
		if o.Model != nil && !slices.Contains(shown, o.Model) {
			shown = append(shown, o.Model)
			g.Machines = append(g.Machines, machineText{fmt.Sprintf("%s, for %s", o.Model.Name(), o.Machine), o.Model.String()})
		}
	}
	return writePage(w, plainTemplate(), g)
}

// cells returns the cells of a row.
func cells[R any](columns []column[R], r R) []string {
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.value(r)
	}
	return row
}
