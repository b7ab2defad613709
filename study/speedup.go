package study

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

var (
	speedUpAxis    = axis{"speed-up", func(v float64) string { return scaled(v, countScales, "") }, 10}
	efficiencyAxis = axis{"efficiency", percent, 10}
)

// aboutSpeedUp returns the definitions of the quantities of the charts.
func (p *Plan) aboutSpeedUp() string {
	if p.strong {
		return "With the same work at every number of ranks. Speed-up is the time with the fewest ranks of the curve over the time (Amdahl 1967). Efficiency is " +
			"speed-up over the growth of the ranks: 100 % if twice the ranks take half the time."
	}
	return "With each rank's share of the work the same at every number of ranks. Efficiency is the time with the fewest ranks of the curve over the time: " +
		"100 % if more ranks cost nothing. Speed-up is efficiency times the growth of the ranks (Gustafson 1988): how much more is done in the same time."
}

// gain is the speed-up of a sample over that of the fewest ranks, and its efficiency.
type gain struct{ speedUp, efficiency float64 }

// gainOf compares the times of two samples of a curve.
func (p *Plan) gainOf(least, at sample) gain {
	ratio, growth := least.time/at.time, float64(at.point.Ranks)/float64(least.point.Ranks)
	if p.strong {
		return gain{ratio, ratio / growth}
	}
	return gain{ratio * growth, ratio}
}

// curveOf returns the samples of a choice in a setting that took time, in ascending order of ranks.
func curveOf(all []sample, s setting, choice string) []sample {
	return slices.DeleteFunc(samplesOf(all, func(q Point) bool { return q.Choice() == choice && s.has(q) }, byRanks),
		func(at sample) bool { return at.time <= 0 })
}

// scalingOf returns a sentence's part on the samples of a curve: the time on the most ranks, and the efficiency.
func (p *Plan) scalingOf(curve []sample) string {
	if len(curve) == 0 {
		return "it takes no time"
	}
	least, most := curve[0], curve[len(curve)-1]
	text := fmt.Sprintf("on %s it takes %s", countOfRanks(most.point.Ranks), describeTime(most))
	if len(curve) == 1 {
		return text
	}
	g := p.gainOf(least, most)
	return fmt.Sprintf("%s, on %s %s: speed-up %s, efficiency %s (%s scaling)", text, countOfRanks(least.point.Ranks), describeTime(least),
		speedUpAxis.text(g.speedUp), percent(g.efficiency), p.scaling())
}

// countOfRanks returns a number of ranks with its noun.
func countOfRanks(n int64) string {
	if n == 1 {
		return "1 rank"
	}
	return formatRanks(n) + " ranks"
}

// speedUpCharts draws speed-up and efficiency against ranks for each machine and noise, at up
// to three of the payloads.
func (p *Plan) speedUpCharts(all []sample) []*chart {
	var charts []*chart
	for _, s := range p.settings() {
		if !slices.Contains(some(p.Payloads), s.payload) {
			continue
		}
		var speedUps, efficiencies []data
		for style, a := range p.Choices {
			up, share := data{name: a, style: style}, data{name: a, style: style}
			here := curveOf(all, s, a)
			for _, at := range here {
				least := here[0]
				g := p.gainOf(least, at)
				title := fmt.Sprintf("%s, %s ranks over %s: ", a, formatRanks(at.point.Ranks), formatRanks(least.point.Ranks))
				up.at = append(up.at, xy{x: float64(at.point.Ranks), y: g.speedUp, title: title + "speed-up " + speedUpAxis.text(g.speedUp)})
				share.at = append(share.at, xy{x: float64(at.point.Ranks), y: g.efficiency, title: title + "efficiency " + percent(g.efficiency)})
			}
			speedUps, efficiencies = append(speedUps, up), append(efficiencies, share)
		}
		title := p.describe(s)
		charts = appendChart(charts, newChart("Speed-up, "+title, "Speed-up against ranks: "+title, ranksAxis, speedUpAxis, speedUps))
		charts = appendChart(charts, newChart("Efficiency, "+title, "Efficiency against ranks: "+title, ranksAxis, efficiencyAxis, efficiencies))
	}
	return charts
}

// writeGains prints a line for each number of ranks, with the speed-up and the efficiency of each choice. It prints
// nothing for a single number of ranks.
func (p *Plan) writeGains(w io.Writer, all []sample, s setting) {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	cells := map[int64][]string{}
	var names []string
	for _, choice := range p.Choices {
		here := curveOf(all, s, choice)
		if len(here) == 0 {
			continue
		}
		for _, at := range here {
			g := p.gainOf(here[0], at)
			row := cells[at.point.Ranks]
			for len(row) < len(names) {
				row = append(row, "-")
			}
			cells[at.point.Ranks] = append(row, fmt.Sprintf("%s, %s", speedUpAxis.text(g.speedUp), percent(g.efficiency)))
		}
		names = append(names, choice)
	}
	if len(cells) < 2 {
		return
	}
	_, _ = fmt.Fprintf(table, "ranks\t%s\t\n", strings.Join(names, "\t"))
	for _, ranks := range p.Ranks {
		row, known := cells[ranks]
		if !known {
			continue
		}
		for len(row) < len(names) {
			row = append(row, "-")
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t\n", formatRanks(ranks), strings.Join(row, "\t"))
	}
	_, _ = fmt.Fprintf(w, "speed-up and efficiency, %s scaling\n\n", p.scaling())
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// scaling returns how the work grows with the ranks.
func (p *Plan) scaling() string {
	if p.strong {
		return StrongScaling
	}
	return WeakScaling
}
