package study

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"gigarank/internal/profile"
	"gigarank/internal/spelling"
)

// signed prints a relative error in per cent with its sign, a dash for none.
func signed(e *float64) string {
	if e == nil {
		return "–"
	}
	return fmt.Sprintf("%+.1f %%", *e*100)
}

// comparedTables returns the tables of a comparison. tasks bounds the tasks that have a row.
func comparedTables(c *profile.Comparison, tasks int) (all []tableOf) {
	a, b := c.Names()
	whole := tableOf{Columns: []string{"time", a, b, "error"}}
	for _, row := range []struct {
		name string
		p    *profile.Pair
	}{{"run", c.Run}, {"all tasks in MPI", c.InMPI}} {
		if row.p != nil {
			whole.Rows = append(whole.Rows, []string{row.name, seconds(row.p.A), seconds(row.p.B), signed(row.p.Error)})
		}
	}
	functions := tableOf{Columns: []string{"function, mean of a task", a, b, "error", "share " + a, "share " + b, "calls " + a, "calls " + b}}
	of := float64(max(c.Tasks, 1))
	for _, f := range c.Functions {
		functions.Rows = append(functions.Rows, []string{f.Function, seconds(f.A / of), seconds(f.B / of), signed(f.Error), percent(f.ShareA), percent(f.ShareB), calls(f.CallsA), calls(f.CallsB)})
	}
	byTask := tableOf{Columns: []string{"task, in MPI", a, b, "error"}}
	for i, p := range c.ByTask[:min(len(c.ByTask), tasks)] {
		byTask.Rows = append(byTask.Rows, []string{fmt.Sprint(i), seconds(p.A), seconds(p.B), signed(p.Error)})
	}
	benchmarks := tableOf{Columns: []string{"benchmark", "size", a, b, "error"}}
	for _, p := range c.Benchmarks {
		text := seconds
		if p.Rate {
			text = formatBandwidth
		}
		benchmarks.Rows = append(benchmarks.Rows, []string{p.Benchmark, sizeOf(p), text(p.A), text(p.B), signed(p.Error)})
	}
	for _, t := range []tableOf{whole, functions, byTask, benchmarks} {
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// sizeOf prints the size of a call, a dash for an unknown size.
func sizeOf(p profile.BenchmarkPair) string {
	if p.Bytes == profile.UnknownBytes {
		return "–"
	}
	return formatBytes(float64(p.Bytes))
}

// calls prints a number of calls, a dash where the file tells none.
func calls(n uint64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

// comparedFindings returns sentences on a comparison.
func comparedFindings(c *profile.Comparison) (found []string) {
	a, b := c.Names()
	found = append(found, fmt.Sprintf("%s is %s (%s), %s is %s (%s). An error is %s over %s, less one.", capital(a), c.A.File, c.A.Format, b, c.B.File, c.B.Format, b, a))
	if c.MeanTaskError != nil {
		worst := 0
		for i, p := range c.ByTask {
			if p.Error != nil && (c.ByTask[worst].Error == nil || math.Abs(*p.Error) > math.Abs(*c.ByTask[worst].Error)) {
				worst = i
			}
		}
		found = append(found, fmt.Sprintf("The time in MPI of a task is off by %s on average, at most by %s, that of task %d.", formatError(*c.MeanTaskError), signed(c.ByTask[worst].Error), worst))
	}
	if len(c.Benchmarks) > 0 {
		sum, n, worst := 0.0, 0, 0
		for i, p := range c.Benchmarks {
			if p.Error != nil {
				sum, n = sum+math.Abs(*p.Error), n+1
				if c.Benchmarks[worst].Error == nil || math.Abs(*p.Error) > math.Abs(*c.Benchmarks[worst].Error) {
					worst = i
				}
			}
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("Calls are off by %s on average, at most by %s, %s.", formatError(sum/float64(n)), signed(c.Benchmarks[worst].Error),
				profile.Benchmark{Name: c.Benchmarks[worst].Benchmark, Bytes: c.Benchmarks[worst].Bytes}))
		}
	}
	for _, only := range []struct {
		side  string
		names []string
	}{{a, c.OnlyA}, {b, c.OnlyB}} {
		if len(only.names) > 0 {
			found = append(found, fmt.Sprintf("Only %s: %s.", only.side, strings.Join(only.names, ", ")))
		}
	}
	for _, s := range []profile.Side{c.A, c.B} {
		if s.Note != "" {
			found = append(found, fmt.Sprintf("%s: %s.", s.File, s.Note))
		}
	}
	return found
}

// WriteComparedText writes a comparison of two runs for people.
func WriteComparedText(w io.Writer, c *profile.Comparison) {
	for _, t := range comparedTables(c, mostListedRanks) {
		table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
		for _, row := range append([][]string{t.Columns}, t.Rows...) {
			_, _ = fmt.Fprintf(table, "%s\t\n", strings.Join(row, "\t"))
		}
		_ = table.Flush()
		if more := len(c.ByTask) - mostListedRanks; more > 0 && strings.HasPrefix(t.Columns[0], "task") {
			_, _ = fmt.Fprintf(w, "… and %s more; --json FILE has all\n", spelling.Count(more, "task"))
		}
		_, _ = fmt.Fprintln(w)
	}
	for _, text := range comparedFindings(c) {
		_, _ = fmt.Fprintln(w, text)
	}
}

// aboutCompared says how to read the page of a comparison.
var aboutCompared = []string{
	"The error is that of PSINS (Tikir, Laurenzano, Carrington and Snavely, Euro-Par 2009, Tables 1 and 2): simulated over measured, less one. The charts are its Figs 5 and 6.",
	"The time of a run is that of its longest task. mpiP counts from the end of MPI_Init to the beginning of MPI_Finalize; a simulation counts from the beginning of a rank to its end.",
	"Measured times are rounded: mpiP prints three digits, the banner of IPM hundredths of a second.",
	"A function on one side only has no error; the library may have called another function for the same purpose, or the tool does not record it.",
}

// WriteComparedReport writes a comparison of two runs: one page of HTML that needs no other file.
func WriteComparedReport(w io.Writer, c *profile.Comparison, origin Origin) error {
	a, b := c.Names()
	g := &page{
		Origin: origin, Style: template.CSS(reportStyle),
		Title: fmt.Sprintf("%s and %s, side by side", c.A.File, c.B.File), Subtitle: fmt.Sprintf("%s: %s · %s: %s", a, c.A.Format, b, c.B.Format),
		Findings: comparedFindings(c), Reading: aboutCompared,
		Width: chartWidth, Height: chartHeight, PlotLeft: plotLeft, PlotRight: plotRight, Top: plotTop, Bottom: plotBottom,
	}
	titles := map[string]string{"time": "Times", "function, mean of a task": "Functions", "task, in MPI": "Tasks", "benchmark": "Benchmarks"}
	for _, t := range comparedTables(c, mostRankColumns) {
		s := section{Name: strings.ToLower(titles[t.Columns[0]]), Title: titles[t.Columns[0]], Tables: []tableOf{t}}
		switch s.Name {
		case "functions":
			s.Shares = []*shares{comparedShares(c)}
		case "tasks":
			s.Stacks = []*stacks{comparedTasks(c)}
		case "benchmarks":
			s.Charts = comparedCharts(c)
		}
		g.Sections = append(g.Sections, s)
	}
	return writePage(w, plainTemplate(), g)
}

// comparedShares draws the shares of functions of the time in MPI, those of both sides below each other.
func comparedShares(c *profile.Comparison) *shares {
	a, b := c.Names()
	s := &shares{Title: "Share of the time in MPI", About: "Share of the time in MPI by function, of both sides", Width: chartWidth, Left: functionLeft - 6, Right: functionRight + 6}
	s.Legend = []legendEntry{{causeStyle{Class: colorClass(0)}, a}, {causeStyle{Class: colorClass(1)}, b}}
	most := 0.0
	for _, f := range c.Functions {
		most = max(most, f.ShareA, f.ShareB)
	}
	if most == 0 {
		most = 1
	}
	for _, f := range c.Functions[:min(len(c.Functions), mostFunctions)] {
		for side, share := range []float64{f.ShareA, f.ShareB} {
			row := shareRow{Y: (float64(len(s.Rows)) + 0.5) * shareRowHeight, Text: percent(share)}
			if side == 0 {
				row.Label = shortened(f.Function, 22)
			}
			row.Bars = []shareBar{{bar{functionLeft, row.Y - shareBarHeight/2, share / most * (functionRight - functionLeft), shareBarHeight,
				fmt.Sprintf("%s: %s of the %s time in MPI", f.Function, percent(share), s.Legend[side].Name)}, s.Legend[side].causeStyle}}
			s.Rows = append(s.Rows, row)
		}
	}
	s.Height = float64(len(s.Rows)) * shareRowHeight
	return s
}

// comparedTasks draws the time in MPI of each task: a column for A, and a line across it for B.
func comparedTasks(c *profile.Comparison) *stacks {
	a, b := c.Names()
	s := &stacks{Title: "Time in MPI by task", About: "Time in MPI by task, of both sides", XLabel: "task", YLabel: "time"}
	s.Legend = []legendEntry{{causeStyle{Class: colorClass(0)}, a}, {causeStyle{Class: colorClass(1)}, b}}
	by := (len(c.ByTask) + mostRankColumns - 1) / mostRankColumns
	var columns []stackColumn
	var lines []float64
	for from := 0; from < len(c.ByTask); from += by {
		group := c.ByTask[from:min(from+by, len(c.ByTask))]
		sumA, sumB := 0.0, 0.0
		for _, p := range group {
			sumA, sumB = sumA+p.A*1e12/float64(len(group)), sumB+p.B*1e12/float64(len(group))
		}
		title := fmt.Sprintf("task %d: %s %s, %s %s", from, formatTime(sumA), a, formatTime(sumB), b)
		if by > 1 {
			title = fmt.Sprintf("mean of tasks %d to %d: %s %s, %s %s", from, from+len(group)-1, formatTime(sumA), a, formatTime(sumB), b)
		}
		columns, lines = append(columns, stackColumn{title, []float64{sumA}}), append(lines, sumB)
	}
	s.across(lines)
	s.drawStacks([]causeStyle{s.Legend[0].causeStyle}, columns, formatTime)
	s.drawAcross(s.Legend[1].causeStyle)
	for _, v := range linearSteps(0, float64(len(columns)-1), 6) {
		if v == float64(int(v)) {
			s.XTicks = append(s.XTicks, tick{plotLeft + (plotRight-plotLeft)*(v+0.5)/float64(len(columns)), fmt.Sprint(int(v) * by)})
		}
	}
	return s
}

// comparedCharts draws the values of benchmarks against the size, where there are several sizes.
func comparedCharts(c *profile.Comparison) []*chart {
	a, b := c.Names()
	var names []string
	of := map[string][]profile.BenchmarkPair{}
	for _, p := range c.Benchmarks {
		if of[p.Benchmark] == nil {
			names = append(names, p.Benchmark)
		}
		of[p.Benchmark] = append(of[p.Benchmark], p)
	}
	var all []*chart
	for _, name := range names {
		left, right := data{name: a}, data{name: b, style: 1}
		text, scale, vertical := seconds, 1e12, timeAxis
		for _, p := range of[name] {
			if p.Bytes == profile.UnknownBytes {
				continue
			}
			if p.Rate {
				text, scale, vertical = formatBandwidth, 1, axis{"bandwidth", formatBandwidth, 10}
			}
			at := fmt.Sprintf("%s, %s: ", name, formatBytes(float64(p.Bytes)))
			x := float64(max(p.Bytes, 1))
			left.at = append(left.at, xy{x: x, y: p.A * scale, title: at + text(p.A) + " " + a})
			right.at = append(right.at, xy{x: x, y: p.B * scale, title: at + text(p.B) + " " + b + ", " + signed(p.Error)})
		}
		all = appendChart(all, newChart(name, "Both sides against the size: "+name, axis{"size of a message", payloadAxis.text, 2}, vertical, []data{left, right}))
	}
	return aligned(all)
}
