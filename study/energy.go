package study

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"gigarank/internal/result"
)

var energyScales = []scale{{"pJ", 1e-12}, {"nJ", 1e-9}, {"uJ", 1e-6}, {"mJ", 1e-3}, {"J", 1}, {"kJ", 1e3}, {"MJ", 1e6}, {"GJ", 1e9}, {"TJ", 1e12}}

// Joules returns an energy for people.
func Joules(v float64) string { return scaled(v, energyScales, " ") }

var energyAxis = axis{"energy", Joules, 10}

// EnergyCauses returns the causes of an energy in the order in which they are shown.
func EnergyCauses(e *result.Energy) (names []string) {
	for _, cause := range append(slices.Clone(causes), "nodes", "interfaces") {
		if _, some := e.Causes[cause]; some {
			names = append(names, cause)
		}
	}
	return names
}

// aboutEnergy explains the charts of energy.
const aboutEnergy = "What a run consumes, as field energy of the machine file tells: cores that compute and wait, nodes by themselves, and bytes between nodes " +
	"(docs/statistics.md)."

// energyCharts draws the energy of a run against ranks for each setting, a curve for each choice, with the first of the seeds.
func (p *Plan) energyCharts(all []sample) []*chart {
	var charts []*chart
	for _, s := range p.settings() {
		var curves []data
		for style, choice := range p.Choices {
			d := data{name: choice, style: style}
			if p.alone() {
				d.name = p.Subject()
			}
			for _, at := range curveOf(all, s, choice) {
				if e := at.records[0].Result.Energy; e != nil {
					d.at = append(d.at, xy{x: float64(at.point.Ranks), y: e.Joules, title: fmt.Sprintf("%s ranks: %s, %.4g W on average", formatRanks(at.point.Ranks), Joules(e.Joules), e.Watts)})
				}
			}
			if len(d.at) > 0 {
				curves = append(curves, d)
			}
		}
		if len(curves) > 0 && len(charts) < mostCharts {
			title := "Energy, " + p.describe(s)
			charts = appendChart(charts, newChart(title, "Energy of a run against ranks: "+p.describe(s), ranksAxis, energyAxis, curves))
		}
	}
	return charts
}

// writeEnergy prints the energy of a run for each number of ranks. It prints nothing if no machine tells it.
func writeEnergy(w io.Writer, choice string, samples []sample) {
	samples = slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return s.records[0].Result.Energy == nil })
	if len(samples) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "energy of a run, %s\n\n", choice)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "ranks\ttime\tenergy\tmean power\t")
	for _, s := range samples {
		e := s.records[0].Result.Energy
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%.4g W\t\n", formatRanks(s.point.Ranks), formatTime(float64(s.records[0].Result.VirtualTime)), Joules(e.Joules), e.Watts)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// hasEnergy reports whether some machine of the study tells what it consumes.
func (p *Plan) hasEnergy() bool {
	for _, m := range p.Machines {
		if m.Energy() != nil {
			return true
		}
	}
	return false
}
