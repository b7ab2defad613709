package study

import (
	"fmt"
	"math"

	"gigarank/internal/result"
)

// exits is a drawing of the ranks' exits from the last operation over time, counted
// from the first exit.
type exits struct {
	Title  string
	About  string
	Text   string
	Style  int
	XTicks []tick
	YTicks []tick
	Bars   []bar
}

// Color returns the class of the bars.
func (e *exits) Color() string { return colorClass(e.Style) }

type bar struct {
	X, Y, Width, Height float64
	Title               string
}

// exitCharts draws the exits for each algorithm and noise, on the first machine, at the
// largest number of ranks that was simulated.
func (p *Plan) exitCharts(all []sample) []*exits {
	var charts []*exits
	for _, noise := range p.Noises {
		s := p.setting(p.Machines[0], noise, p.variations[0].name, p.Payloads[0])
		for style, a := range p.Choices {
			some := samplesOf(all, func(q Point) bool { return q.Choice() == a && s.has(q) }, byRanks)
			if len(some) == 0 || len(charts) == mostCharts {
				continue
			}
			last := some[len(some)-1]
			title := fmt.Sprintf("%s, %s ranks", a, formatRanks(last.point.Ranks))
			if p.alone() {
				title = fmt.Sprintf("%s, %s ranks", p.Subject(), formatRanks(last.point.Ranks))
			}
			if len(p.Noises) > 1 {
				title += ", " + describeNoise(noise)
			}
			if e := newExits(title, style, last.records[0].Result.Finish); e != nil {
				charts = append(charts, e)
			}
		}
	}
	return charts
}

// exit returns what the ranks do at their exit times.
func (p *Plan) exit() string {
	if p.Program != nil {
		return "end"
	}
	return "leave the last operation"
}

func newExits(title string, style int, d result.Distribution) *exits {
	h := d.Histogram
	if len(h.Counts) == 0 {
		return nil
	}
	e := &exits{Title: title, About: "Exits of the ranks over time: " + title, Style: style}
	e.Text = fmt.Sprintf("First exit at %s, mean %s later, last %s later.", formatTime(float64(d.Min)),
		formatTime(float64(d.Mean-d.Min)), formatTime(float64(d.Max-d.Min)))
	if d.Min == d.Max {
		e.Text = fmt.Sprintf("All ranks leave at %s.", formatTime(float64(d.Min)))
	}
	var total, most uint64
	for _, n := range h.Counts {
		total, most = total+n, max(most, n)
	}
	from := float64(h.Low - d.Min) // at most 0: the first bin begins before the first exit
	to := from + float64(h.Width)*float64(len(h.Counts))
	x := func(t float64) float64 { return plotLeft + (plotRight-plotLeft)*(t-from)/(to-from) }
	highest := float64(most) / float64(total)
	y := func(share float64) float64 { return plotBottom + (plotTop-plotBottom)*share/(highest*1.05) }
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		left := from + float64(i)*float64(h.Width)
		share := float64(n) / float64(total)
		// A bar of a few ranks stays visible.
		height := max(plotBottom-y(share), 1)
		e.Bars = append(e.Bars, bar{x(left), plotBottom - height, max(x(left+float64(h.Width))-x(left)-0.5, 1), height,
			fmt.Sprintf("%s of the ranks (%s) leave up to %s after the first", percent(share), formatRanks(int64(n)), formatTime(left+float64(h.Width)))})
	}
	for _, v := range linearSteps(max(from, 0), to, 5) {
		label := "0"
		if v > 0 {
			label = formatTime(v)
		}
		e.XTicks = append(e.XTicks, tick{x(v), label})
	}
	for _, v := range linearSteps(0, highest, 5) {
		e.YTicks = append(e.YTicks, tick{y(v), percent(v)})
	}
	return e
}

func percent(share float64) string {
	if 0 < share && share < 1e-4 {
		return "< 0.01 %"
	}
	return fmt.Sprintf("%.3g %%", share*100)
}

// linearSteps returns about most multiples of 1, 2 or 5 times a power of ten, in a
// range that begins at 0 or above.
func linearSteps(from, to float64, most int) []float64 {
	step := stepAbove((to - from) / float64(most))
	var values []float64
	for i := math.Ceil(from/step - 1e-9); i*step <= to*(1+1e-9); i++ {
		values = append(values, max(i*step, 0))
	}
	return values
}
