package study

import (
	"fmt"
	"slices"
)

// aboutPhases defines the quantity of the charts of phases.
const aboutPhases = "The parts of a run that the program marks by gigarank_phase, MPI_Pcontrol or gigarank_record: the time of an iteration on the rank on which it takes longest, as the mean over the iterations."

// phaseTime returns the mean over the iterations of a phase of the longest time of a rank, in picoseconds, and whether the record has any.
func phaseTime(r Record, phase string) (time float64, timed bool) {
	count := 0.
	for _, it := range r.Result.Iterations {
		if it.Operation == phase {
			time, count = time+float64(it.Max), count+1
		}
	}
	return time / max(count, 1), count > 0
}

// phasesOf returns the phases of all samples, in the order in which they come first.
func phasesOf(all []sample) []string {
	var names []string
	for _, s := range all {
		for _, it := range s.records[0].Result.Iterations {
			if !slices.Contains(names, it.Operation) {
				names = append(names, it.Operation)
			}
		}
	}
	return names
}

// phaseCharts draws the time of a program's phases against ranks, for each setting and choice, with the first of the seeds.
func (p *Plan) phaseCharts(all []sample) []*chart {
	if p.Program == nil {
		return nil
	}
	phases := phasesOf(all)
	var charts []*chart
	for _, s := range p.settings() {
		for _, choice := range p.Choices {
			var curves []data
			for style, phase := range phases {
				d := data{name: phase, style: style}
				for _, at := range curveOf(all, s, choice) {
					if time, timed := phaseTime(at.records[0], phase); timed {
						d.at = append(d.at, xy{x: float64(at.point.Ranks), y: time,
							title: fmt.Sprintf("%s, %s ranks: %s", phase, formatRanks(at.point.Ranks), formatTime(time))})
					}
				}
				curves = append(curves, d)
			}
			title := p.describe(s)
			if !p.alone() {
				title += ", " + choice
			}
			charts = appendChart(charts, newChart(title, "Time of phases against ranks: "+title, ranksAxis, timeAxis, curves))
		}
	}
	return charts
}
