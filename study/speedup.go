package study

import (
	"fmt"
	"slices"
)

var (
	speedUpAxis    = axis{"speed-up", func(v float64) string { return scaled(v, countScales, "") }, 10}
	efficiencyAxis = axis{"efficiency", percent, 10}
)

// aboutSpeedUp defines the quantities of the charts. Gustafson, "Reevaluating Amdahl's Law", CACM 1988.
const aboutSpeedUp = "With each rank's share of the work the same at every number of ranks. Efficiency is the time with the fewest ranks of the curve over the time: " +
	"100 % if more ranks cost nothing. Speed-up is efficiency times the growth of the ranks (Gustafson 1988): how much more is done in the same time."

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
			here := slices.DeleteFunc(samplesOf(all, func(q Point) bool { return q.Choice() == a && s.has(q) }, byRanks),
				func(at sample) bool { return at.time <= 0 })
			for _, at := range here {
				least := here[0]
				efficiency := least.time / at.time
				speedUp := efficiency * float64(at.point.Ranks) / float64(least.point.Ranks)
				title := fmt.Sprintf("%s, %s ranks over %s: ", a, formatRanks(at.point.Ranks), formatRanks(least.point.Ranks))
				up.at = append(up.at, xy{x: float64(at.point.Ranks), y: speedUp, title: title + "speed-up " + speedUpAxis.text(speedUp)})
				share.at = append(share.at, xy{x: float64(at.point.Ranks), y: efficiency, title: title + "efficiency " + percent(efficiency)})
			}
			speedUps, efficiencies = append(speedUps, up), append(efficiencies, share)
		}
		title := p.describe(s)
		charts = appendChart(charts, newChart("Speed-up, "+title, "Speed-up against ranks: "+title, ranksAxis, speedUpAxis, speedUps))
		charts = appendChart(charts, newChart("Efficiency, "+title, "Efficiency against ranks: "+title, ranksAxis, efficiencyAxis, efficiencies))
	}
	return charts
}
