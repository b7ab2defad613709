package study

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"gigarank/internal/spelling"
)

// The size of the plot on a terminal, in characters.
const (
	plotWidth  = 60
	plotHeight = 16
)

// mostTables bounds the tables that are printed. The report has all.
const mostTables = 8

// glyphs mark the curves of a plot, one character each.
const glyphs = "ox+*#@%&~"

// WriteText writes tables of time against ranks and a plot in characters. The plot
// shows the algorithms in the first setting or, if there is only one, that in all
// settings.
func (p *Plan) WriteText(w io.Writer, records []Record) {
	all := p.samples(records)
	var shown []setting
	for _, s := range p.settings() {
		if here := where(all, s.has); len(here) > 0 {
			if shown = append(shown, s); len(shown) <= mostTables {
				_, _ = fmt.Fprintf(w, "%s on %s%s\n\n", p.Subject(), p.describe(s), describeSeeds(here))
				p.writeTable(w, here)
				if p.Program != nil {
					p.writeGains(w, all, s)
				}
				for _, choice := range p.Choices {
					writeShares(w, curveOf(all, s, choice))
					writeEnergy(w, choice, curveOf(all, s, choice))
				}
			}
			if len(shown) == 1 && len(p.Choices) > 1 {
				writePlot(w, p.algorithmCurves(all, s.has, byRanks))
			}
		}
	}
	if len(shown) > mostTables {
		_, _ = fmt.Fprintf(w, "… %s more in the report\n\n", spelling.Count(len(shown)-mostTables, "table"))
	}
	if len(p.Choices) == 1 {
		var curves []data
		for _, s := range shown[:min(len(shown), mostTables)] {
			name := p.describe(s)
			if len(shown) == 1 {
				name = p.Choices[0]
			}
			curves = append(curves, p.timeCurve(name, 0, samplesOf(all, s.has, byRanks), byRanks))
		}
		writePlot(w, curves)
	}
	p.writeCrossovers(w, all)
	if text := agreement(records); text != "" {
		_, _ = fmt.Fprint(w, text, "\n\n")
	}
}

// describeSeeds returns the part of a title that says that times are medians.
func describeSeeds(here []sample) string {
	if n := len(here[0].records); here[0].random && n > 1 {
		return fmt.Sprintf(", medians of %d seeds", n)
	}
	return ""
}

// writeTable prints a line for each number of ranks and a column for each algorithm. It
// marks the fastest of a line and those that cannot be told from it, unless that is
// all.
func (p *Plan) writeTable(w io.Writer, here []sample) {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	algorithms := p.present(here)
	_, _ = fmt.Fprintf(table, "ranks\t%s\t\n", strings.Join(algorithms, " \t")+" ")
	for _, ranks := range p.Ranks {
		row := where(here, func(q Point) bool { return q.Ranks == ranks })
		if len(row) == 0 {
			continue
		}
		compared := p.compared(row)
		var tied []string
		if len(compared) > 0 {
			tied = rank(compared).tied
		}
		_, _ = fmt.Fprintf(table, "%s\t", formatRanks(ranks))
		for _, a := range algorithms {
			i := slices.IndexFunc(row, func(s sample) bool { return s.point.Choice() == a })
			cell := "- "
			if i >= 0 {
				mark := " "
				if slices.Contains(tied, a) && len(tied) < len(compared) {
					mark = "*"
				}
				cell = formatTime(row[i].time) + mark
			}
			_, _ = fmt.Fprintf(table, "%s\t", cell)
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// present returns the algorithms that have samples, in the plan's order.
func (p *Plan) present(here []sample) []string {
	var names []string
	for _, a := range p.Choices {
		if slices.ContainsFunc(here, func(s sample) bool { return s.point.Choice() == a }) {
			names = append(names, a)
		}
	}
	return names
}

// writePlot draws time against ranks, both logarithmic. Where curves meet, the first
// one shows.
func writePlot(w io.Writer, curves []data) {
	curves = slices.DeleteFunc(curves, func(d data) bool { return len(d.at) == 0 })
	x, y := newRange(), newRange()
	for _, d := range curves {
		for _, p := range d.at {
			x.include(p.x)
			if p.y > 0 {
				y.include(p.y)
			}
		}
	}
	if !x.spans() || y.low > y.high {
		return
	}
	y = y.widened()
	rows := make([][]rune, plotHeight)
	for i := range rows {
		rows[i] = []rune(strings.Repeat(" ", plotWidth))
	}
	for k, d := range slices.Backward(curves) {
		for _, p := range d.at {
			if p.y > 0 {
				column := int(math.Round(x.place(p.x) * (plotWidth - 1)))
				row := int(math.Round((1 - y.place(p.y)) * (plotHeight - 1)))
				rows[row][column] = rune(glyphs[k%len(glyphs)])
			}
		}
	}
	printRows(w, rows, x, y)
	line := ""
	for k, d := range curves {
		entry := fmt.Sprintf("  %c %s", glyphs[k%len(glyphs)], d.name)
		if line != "" && len(line)+len(entry) > 80 {
			_, _ = fmt.Fprintln(w, line)
			line = ""
		}
		line += entry
	}
	_, _ = fmt.Fprint(w, line, "\n\n")
}

func printRows(w io.Writer, rows [][]rune, x, y span) {
	const margin = 9
	for i, row := range rows {
		label := ""
		if i%5 == 0 {
			label = formatTime(y.at(1 - float64(i)/(plotHeight-1)))
		}
		_, _ = fmt.Fprintf(w, "%*s |%s\n", margin, label, strings.TrimRight(string(row), " "))
	}
	_, _ = fmt.Fprintf(w, "%*s +%s\n", margin, "", strings.Repeat("-", plotWidth))
	first, last := formatRanks(int64(x.low)), formatRanks(int64(x.high))+" ranks"
	gap := max(1, plotWidth-utf8.RuneCountInString(first)-utf8.RuneCountInString(last))
	_, _ = fmt.Fprintf(w, "%*s  %s%s%s\n", margin, "", first, strings.Repeat(" ", gap), last)
}

// span is a range of positive values on a logarithmic axis.
type span struct{ low, high float64 }

func newRange() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) include(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }

func (s span) spans() bool { return s.low < s.high }

// widened returns the range, or a wider one if it has no extent.
func (s span) widened() span {
	if s.spans() {
		return s
	}
	return span{s.low / 2, s.high * 2}
}

// place returns the place of a value, from 0 at the low end to 1 at the high one.
func (s span) place(v float64) float64 { return math.Log(v/s.low) / math.Log(s.high/s.low) }

// at returns the value at a place.
func (s span) at(place float64) float64 { return s.low * math.Pow(s.high/s.low, place) }

// Name returns the values of the axes at a point.
func (p *Plan) Name(q Point) string {
	var parts []string
	if p.Program == nil || len(p.Choices) > 1 {
		parts = append(parts, q.Choice())
	}
	parts = append(parts, formatRanks(q.Ranks)+" ranks", p.describe(p.settingOf(q)))
	if len(p.Seeds) > 1 {
		parts = append(parts, fmt.Sprintf("seed %d", q.Seed))
	}
	return strings.Join(parts, ", ")
}

// Line returns a line on the outcome of a point.
func (p *Plan) Line(r Record) string {
	name := p.Name(r.Point)
	took := formatWall(r.Result.Wall) + " of wall time"
	if r.Error != "" {
		first, _, _ := strings.Cut(r.Error, "\n")
		return fmt.Sprintf("%s: FAILED: %s (%s)", name, first, took)
	}
	return fmt.Sprintf("%s: %s (%s)", name, formatTime(float64(r.Time)), took)
}

// Ranges sums points up by algorithm and ranks: "ring from 16Ki ranks on". It names the
// payload if only the larger ones are among the points with so many ranks.
func Ranges(points []Point) string {
	least := map[string]Point{}
	var names []string
	smallest := int64(math.MaxInt64)
	for _, p := range points {
		smallest = min(smallest, p.Payload)
		before, known := least[p.Choice()]
		if !known {
			names = append(names, p.Choice())
		}
		if !known || p.Ranks < before.Ranks || p.Ranks == before.Ranks && p.Payload < before.Payload {
			least[p.Choice()] = p
		}
	}
	for i, name := range names {
		p := least[name]
		names[i] = fmt.Sprintf("%s from %s ranks on", name, formatRanks(p.Ranks))
		if p.Payload > smallest {
			names[i] += " with " + formatBytes(float64(p.Payload))
		}
	}
	return strings.Join(names, ", ")
}
