package study

import (
	"fmt"
	"slices"
)

// mostCharts bounds the charts of a section. The table has the curves left out.
const mostCharts = 12

// samplesOf returns the samples that keep holds for, in ascending order of key.
func samplesOf(all []sample, keep func(Point) bool, key func(Point) int64) []sample {
	some := where(all, keep)
	slices.SortStableFunc(some, func(a, b sample) int { return int(key(a.point) - key(b.point)) })
	return some
}

func byRanks(p Point) int64   { return p.Ranks }
func byPayload(p Point) int64 { return p.Payload }

// timeCurve draws the time of samples, with the closed form and the spread over
// seeds.
func (p *Plan) timeCurve(name string, style int, some []sample, x func(Point) int64) data {
	d := data{name: name, style: style}
	for _, s := range some {
		title := fmt.Sprintf("%s, %s ranks", name, formatRanks(s.point.Ranks))
		if s.point.Payload > 0 {
			title += ", " + formatBytes(float64(s.point.Payload))
		}
		title += ": " + describeTime(s)
		if s.closedForm > 0 {
			title += " (closed form " + formatTime(s.closedForm) + ")"
		}
		spread := fmt.Sprintf("least and greatest of %d seeds, around their median", len(s.records))
		if len(s.records) >= leastSeeds {
			spread = fmt.Sprintf("the median of %d seeds lies within, %.0f %% sure", len(s.records), confidence*100)
		}
		d.at = append(d.at, xy{float64(x(s.point)), s.time, s.low, s.high, s.closedForm, spread, title})
	}
	return d
}

// algorithmCurves draws a curve for each algorithm.
func (p *Plan) algorithmCurves(all []sample, keep func(Point) bool, x func(Point) int64) []data {
	var curves []data
	for style, a := range p.Choices {
		some := samplesOf(all, func(q Point) bool { return q.Choice() == a && keep(q) }, x)
		curves = append(curves, p.timeCurve(a, style, some, x))
	}
	return curves
}

// some returns the first, the middle and the last of the values.
func some(values []int64) []int64 {
	if len(values) <= 3 {
		return values
	}
	return []int64{values[0], values[len(values)/2], values[len(values)-1]}
}

// againstRanks draws time against ranks for each machine and noise, at up to three of
// the payloads.
func (p *Plan) againstRanks(all []sample) []*chart {
	var charts []*chart
	for _, s := range p.settings() {
		if !slices.Contains(some(p.Payloads), s.payload) {
			continue
		}
		title := p.describe(s)
		charts = appendChart(charts, newChart(title, "Time against ranks: "+title, ranksAxis, timeAxis,
			p.algorithmCurves(all, s.has, byRanks)))
	}
	return charts
}

func appendChart(charts []*chart, c *chart) []*chart {
	if c == nil || len(charts) == mostCharts {
		return charts
	}
	return append(charts, c)
}

// againstPayload draws time against payload for each machine and noise, at up to three
// of the numbers of ranks.
func (p *Plan) againstPayload(all []sample) []*chart {
	if len(p.Payloads) < 2 {
		return nil
	}
	return p.eachRanks(func(title string, keep func(Point) bool) *chart {
		return newChart(title, "Time against payload: "+title, payloadAxis, timeAxis, p.algorithmCurves(all, keep, byPayload))
	})
}

// eachRanks returns the charts that draw makes for each machine and noise, at up to three of the numbers of ranks.
func (p *Plan) eachRanks(draw func(title string, keep func(Point) bool) *chart) (charts []*chart) {
	for _, s := range p.places() {
		for _, ranks := range some(p.Ranks) {
			keep := func(q Point) bool { return s.hasButPayload(q) && q.Ranks == ranks }
			charts = appendChart(charts, draw(p.describe(s)+", "+formatRanks(ranks)+" ranks", keep))
		}
	}
	return charts
}

// variant is one value of an axis that a comparison draws as a curve.
type variant struct {
	name string
	has  func(Point) bool
}

// compare draws, for each algorithm, a curve for each variant at the given payload.
func (p *Plan) compare(all []sample, variants []variant, keep func(Point) bool, payload int64) []*chart {
	var charts []*chart
	if len(variants) < 2 {
		return nil
	}
	for _, a := range p.Choices {
		var curves []data
		for style, v := range variants {
			some := samplesOf(all, func(q Point) bool {
				return q.Choice() == a && q.Payload == payload && v.has(q) && keep(q)
			}, byRanks)
			curve := p.timeCurve(v.name, style, some, byRanks)
			for i := range curve.at {
				curve.at[i].formula = 0 // one for each variant would hide the rest
			}
			curves = append(curves, curve)
		}
		title := a
		if p.alone() {
			title = p.Subject()
		}
		if payload > 0 {
			title += ", " + formatBytes(float64(payload))
		}
		charts = appendChart(charts, newChart(title, "Time against ranks: "+title, ranksAxis, timeAxis, curves))
	}
	return charts
}

// noiseCharts compares the noises on the first machine, no noise first.
func (p *Plan) noiseCharts(all []sample) []*chart {
	var variants []variant
	for _, noise := range p.Noises {
		variants = append(variants, variant{describeNoise(noise), func(q Point) bool { return q.Noise == noise }})
	}
	first := p.digest(p.Machines[0])
	return p.compare(all, variants, func(q Point) bool { return q.MachineDigest == first && q.Varied == p.variations[0].name }, p.Payloads[0])
}

// argumentCharts compares the variations of a program's arguments on the first machine, without noise.
func (p *Plan) argumentCharts(all []sample) []*chart {
	var variants []variant
	for _, v := range p.variations {
		variants = append(variants, variant{v.name, func(q Point) bool { return q.Varied == v.name }})
	}
	first := p.digest(p.Machines[0])
	return p.compare(all, variants, func(q Point) bool { return q.MachineDigest == first && q.Noise == p.Noises[0] }, p.Payloads[0])
}

// machineCharts compares machines, mappings and ranks per node, without noise.
func (p *Plan) machineCharts(all []sample) []*chart {
	var variants []variant
	for _, m := range p.Machines {
		variants = append(variants, variant{p.describeMachine(m), func(q Point) bool { return q.MachineDigest == p.digest(m) }})
	}
	noise := p.Noises[0]
	return p.compare(all, variants, func(q Point) bool { return q.Noise == noise && q.Varied == p.variations[0].name }, p.Payloads[0])
}

// hostCharts draws the host's cost of the simulations on the first machine, without
// noise, at the largest payload.
func (p *Plan) hostCharts(all []sample) []*chart {
	payload := p.Payloads[len(p.Payloads)-1]
	first := p.digest(p.Machines[0])
	keep := func(q Point) bool {
		return q.MachineDigest == first && q.Noise == p.Noises[0] && q.Varied == p.variations[0].name && q.Payload == payload
	}
	draw := func(title string, y axis, of func(Record) float64, text func(float64) string) *chart {
		var curves []data
		for style, a := range p.Choices {
			d := data{name: a, style: style}
			for _, s := range samplesOf(all, func(q Point) bool { return q.Choice() == a && keep(q) }, byRanks) {
				v := of(s.records[0])
				d.at = append(d.at, xy{x: float64(s.point.Ranks), y: v,
					title: fmt.Sprintf("%s, %s ranks: %s", a, formatRanks(s.point.Ranks), text(v))})
			}
			curves = append(curves, d)
		}
		return newChart(title, title, ranksAxis, y, curves)
	}
	var charts []*chart
	charts = appendChart(charts, draw("Wall time of a simulation", wallAxis, func(r Record) float64 { return r.Result.Wall }, formatWall))
	return appendChart(charts, draw("Peak memory over ranks", memoryAxis, func(r Record) float64 { return r.Result.BytesPerRank }, formatBytes))
}

// grid is the crossover map of a machine and a noise: the fastest algorithm by ranks
// and payload.
type grid struct {
	Title   string
	Rows    []gridRow // largest payload first
	Columns []string  // ranks
	Legend  []legend
}

type gridRow struct {
	Label string
	Cells []gridCell
}

type gridCell struct {
	Style  int // -1 if nothing was simulated
	Letter string
	Margin string // over the next
	Sure   bool   // the fastest is known for sure
	Title  string
}

// Color returns the class of the cell.
func (c gridCell) Color() string {
	switch {
	case c.Style < 0:
		return "none"
	case !c.Sure:
		return "tie " + colorClass(c.Style)
	}
	return colorClass(c.Style)
}

type legend struct {
	Style        int
	Letter, Name string
}

// Color returns the class of the entry.
func (l legend) Color() string { return colorClass(l.Style) }

// grids draws the crossover maps, if both payloads and the choices that are compared vary.
func (p *Plan) grids(all []sample) []grid {
	if len(p.Payloads) < 2 || p.comparable() < 2 {
		return nil
	}
	var grids []grid
	all = p.compared(all)
	for _, s := range p.places() {
		g := grid{Title: p.describe(s)}
		for _, ranks := range p.Ranks {
			g.Columns = append(g.Columns, formatRanks(ranks))
		}
		seen := map[int]bool{}
		for _, s.payload = range slices.Backward(p.Payloads) {
			g.Rows = append(g.Rows, p.gridRow(where(all, s.has), s.payload, seen))
		}
		for style, a := range p.Choices {
			if seen[style] {
				g.Legend = append(g.Legend, legend{style, letter(style), a})
			}
		}
		if len(seen) > 0 && len(grids) < mostCharts {
			grids = append(grids, g)
		}
	}
	return grids
}

func letter(style int) string { return string(rune('A' + style%26)) }

func (p *Plan) gridRow(here []sample, payload int64, seen map[int]bool) gridRow {
	row := gridRow{Label: formatBytes(float64(payload))}
	for _, ranks := range p.Ranks {
		at := where(here, func(q Point) bool { return q.Ranks == ranks })
		cell := gridCell{Style: -1, Title: "not simulated"}
		if len(at) > 0 {
			r := rank(at)
			cell.Style = slices.Index(p.Choices, r.best.point.Choice())
			cell.Letter, cell.Margin, cell.Sure = letter(cell.Style), r.margin(), r.sure()
			for _, a := range r.tied[1:] {
				if r.best.vague() {
					break
				}
				style := slices.Index(p.Choices, a)
				seen[style] = true
				cell.Margin += " " + letter(style)
			}
			cell.Title = fmt.Sprintf("%s ranks, %s: %s, %s", formatRanks(ranks), row.Label, r.best.point.Choice(), describeTime(r.best))
			if len(r.next.records) > 0 {
				cell.Title += fmt.Sprintf("; next %s, %s", r.next.point.Choice(), describeTime(r.next))
			}
			if len(at) < len(p.Choices) {
				cell.Title += fmt.Sprintf(" (%d of %d curves simulated)", len(at), len(p.Choices))
			}
			seen[cell.Style] = true
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}
