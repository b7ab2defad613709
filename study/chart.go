package study

import (
	"fmt"
	"math"
	"slices"
)

// The size of a chart, in pixels of a page at full width. Labels stay readable where
// the chart is scaled down to a phone.
const (
	chartWidth  = 440.0
	chartHeight = 300.0

	plotLeft        = 66.0
	plotRight       = chartWidth - 24
	plotRightOfBars = chartWidth - 60 // where there is an axis on the right
	plotTop         = 24.0
	plotBottom      = chartHeight - 46
)

// A chart is a drawing of curves over two logarithmic axes, in the form that the page's
// template takes.
type chart struct {
	Title  string
	About  string // describes the drawing to readers who do not see it
	XLabel string
	YLabel string
	XTicks []tick
	YTicks []tick
	Curves []curve
	// Right is the right end of the plot. RLabel and RTicks are the label and ticks of the axis there,
	// to which Bars belong; empty for none.
	Right   float64
	RLabel  string
	RTicks  []tick
	Bars    []bars
	Formula bool   // some curve has a closed form under it
	Seeds   string // the meaning of the whiskers, if some mark has any
	Shared  bool   // some curves coincide
	// The ranges of the points, and a function that draws the chart over others.
	xs, ys, lengths span // of curves, and of bars
	redraw          func(xs, ys, lengths span) *chart
}

type tick struct {
	At    float64
	Label string
}

// A curve is one of the alternatives that a chart compares. Its style counts from 0.
type curve struct {
	Name    string
	Style   int
	Path    string // of the line
	Parts   []part // of the line, as it is drawn
	Formula string // of the closed form
	Marks   []mark
	// Scattered marks have no line between them, and none is left out.
	Scattered bool
	points    []mark // all of them, unless they are scattered
}

// A part of a curve's line is solid, or has dashes between which other curves show.
type part struct {
	Path   string
	Dashes string
	Offset int
}

// A mark is a point of a curve. Low and High are the ends of its whiskers.
type mark struct {
	X, Y      float64
	Low, High float64
	Whiskers  bool
	Scale     float64 // of the mark, 0 for one
	Spread    string  // the meaning of the whiskers
	Title     string
}

// Shape returns the outline of the marks of the curve's style, around the origin.
func (c curve) Shape() string { return shapes[c.Style%len(shapes)] }

// Color returns the class of the curve's style.
func (c curve) Color() string { return colorClass(c.Style) }

func colorClass(style int) string { return fmt.Sprintf("c%d", style%colors) }

// colors is the number of colours that the page's style sheet has.
const colors = 9

var shapes = []string{
	"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", // circle
	"M-3.5 -3.5h7v7h-7z",                  // square
	"M0 -4.8L4.6 3.4H-4.6z",               // triangle
	"M0 -5L5 0L0 5L-5 0z",                 // diamond
	"M0 4.8L4.6 -3.4H-4.6z",               // triangle on its head
	"M-4.5 -1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3z",
	"M-4.5 -2.2L-2.2 -4.5L0 -2.2L2.2 -4.5L4.5 -2.2L2.2 0L4.5 2.2L2.2 4.5L0 2.2L-2.2 4.5L-4.5 2.2L-2.2 0z",
	"M0 -5L1.4 -1.6L5 -1.2L2.3 1.2L3.1 4.8L0 2.9L-3.1 4.8L-2.3 1.2L-5 -1.2L-1.4 -1.6z",
	"M-5 -2h10v4h-10z",
}

// xy is a point of a curve before it is drawn.
type xy struct {
	x, y, low, high, formula float64
	spread                   string // the meaning of low and high
	title                    string
}

// data is a curve before it is drawn.
type data struct {
	name      string
	style     int
	scattered bool
	at        []xy // ascending in x, unless they are scattered
}

// axis defines the labels of an axis.
type axis struct {
	label string
	text  func(float64) string
	base  float64 // 2 for ticks at powers of two, 10 for decades
}

var (
	ranksAxis   = axis{"ranks", func(v float64) string { return formatRanks(int64(math.Round(v))) }, 2}
	payloadAxis = axis{"payload of a rank", func(v float64) string { return formatBytes(v) }, 2}
	timeAxis    = axis{"time", formatTime, 10}
	wallAxis    = axis{"wall time", formatWall, 10}
	eventsAxis  = axis{"remote events", func(v float64) string { return scaled(v, countScales, "") }, 10}
	memoryAxis  = axis{"memory per rank", formatBytes, 2}
)

// newChart draws curves. It returns nil if there is nothing to draw, or all of it lies
// at one x.
func newChart(title, about string, x, y axis, all []data) *chart {
	return drawChart(title, about, x, y, all, axis{}, nil)
}

// drawChart is newChart with bars behind the curves, whose lengths are read at an axis on
// the right. There are none if all is nil.
func drawChart(title, about string, x, y axis, all []data, length axis, behind []data) *chart {
	xs, ys := extent(all)
	if !xs.spans() {
		return nil
	}
	lengths := newRange()
	for _, d := range behind {
		for _, p := range d.at {
			if p.y > 0 {
				lengths.include(p.y)
			}
		}
	}
	draw := func(xs, ys, lengths span) *chart {
		c := &chart{Title: title, About: about, XLabel: x.label, YLabel: y.label, Right: plotRight}
		return drawIn(c, xs, ys.rounded(), lengths, x, y, all, length, behind)
	}
	c := draw(xs, ys, lengths)
	c.xs, c.ys, c.lengths, c.redraw = xs, ys, lengths, draw
	return c
}

// extent returns the ranges of all points.
func extent(all []data) (xs, ys span) {
	xs, ys = newRange(), newRange()
	for _, d := range all {
		for _, p := range d.at {
			if p.y <= 0 || p.x <= 0 {
				continue
			}
			xs.include(p.x)
			for _, v := range []float64{p.y, p.low, p.high, p.formula} {
				if v > 0 {
					ys.include(v)
				}
			}
		}
	}
	return xs, ys
}

// aligned draws charts again, so that charts of the same quantities have the same axes.
// Charts beside each other are compared by eye.
func aligned(charts []*chart) []*chart {
	type axes struct{ x, y string }
	xs, ys, lengths := map[axes]span{}, map[axes]span{}, map[axes]span{}
	include := func(all map[axes]span, key axes, s span) {
		whole, known := all[key]
		if !known {
			whole = newRange()
		}
		whole.include(s.low)
		whole.include(s.high)
		all[key] = whole
	}
	for _, c := range charts {
		key := axes{c.XLabel, c.YLabel}
		include(xs, key, c.xs)
		include(ys, key, c.ys)
		include(lengths, key, c.lengths)
	}
	again := make([]*chart, len(charts))
	for i, c := range charts {
		key := axes{c.XLabel, c.YLabel}
		again[i] = c.redraw(xs[key], ys[key], lengths[key])
	}
	return again
}

// drawIn draws curves and bars into an empty chart over given ranges.
func drawIn(c *chart, xs, ys, lengths span, x, y axis, all []data, length axis, behind []data) *chart {
	if behind != nil {
		c.Right = plotRightOfBars
		xs = span{xs.low * 0.8, xs.high * 1.25} // room for bars at the ends
		c.addBars(xs, lengths, length, behind)
	}
	c.XTicks = ticks(xs, x, plotLeft, c.Right, 7)
	c.YTicks = ticks(ys, y, plotBottom, plotTop, 7)
	for _, d := range all {
		if drawn, some := d.draw(xs, ys, c.Right); some {
			c.Curves = append(c.Curves, drawn)
			c.Formula = c.Formula || drawn.Formula != ""
			for _, m := range drawn.Marks {
				if m.Whiskers {
					c.Seeds = m.Spread
				}
			}
		}
	}
	c.share()
	return c
}

// Distances in pixels within which lines and marks hide each other.
const (
	hiddenLine = 1.5
	hiddenMark = 3.0
)

// largestShared is by how much the first of several marks at a point is larger than the last.
const largestShared = 1.1

// dash is the length in pixels of a curve's part of a line that several share.
const dash = 7

// share makes curves that coincide visible. Between two points each takes its turn along the
// line; at a point the first has the largest mark.
func (c *chart) share() {
	for i := range c.Curves {
		own := &c.Curves[i]
		solid := ""
		flush := func() {
			if solid != "" {
				own.Parts = append(own.Parts, part{Path: solid})
				solid = ""
			}
		}
		for k := 1; k < len(own.points); k++ {
			from, to := own.points[k-1], own.points[k]
			turn, all := c.among(i, func(other []mark) bool { return passes(other, from, to) })
			if all > 1 {
				flush()
				line := lineTo(lineTo("", from.X, from.Y), to.X, to.Y)
				own.Parts = append(own.Parts, part{line, fmt.Sprintf("%d %d", dash, dash*(all-1)), -dash * turn})
				c.Shared = true
				continue
			}
			if solid == "" {
				solid = lineTo(solid, from.X, from.Y)
			}
			solid = lineTo(solid, to.X, to.Y)
		}
		flush()
		for k := range own.Marks {
			m := &own.Marks[k]
			turn, all := c.among(i, func(other []mark) bool { return meets(other, *m) })
			if all > 1 {
				m.Scale = 1 + largestShared*float64(all-1-turn)/float64(all-1)
			}
		}
	}
}

// among returns the place of curve i among the curves that hold for a test, and their number.
func (c *chart) among(i int, test func([]mark) bool) (turn, all int) {
	for j, other := range c.Curves {
		if j == i || test(other.points) {
			if j < i {
				turn++
			}
			all++
		}
	}
	return turn, all
}

// passes reports whether a curve has a line where another goes.
func passes(points []mark, from, to mark) bool {
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		if a.X == from.X && b.X == to.X {
			return math.Abs(a.Y-from.Y) < hiddenLine && math.Abs(b.Y-to.Y) < hiddenLine
		}
	}
	return false
}

// meets reports whether a curve has a point where another has a mark.
func meets(points []mark, m mark) bool {
	return slices.ContainsFunc(points, func(p mark) bool { return p.X == m.X && math.Abs(p.Y-m.Y) < hiddenMark })
}

// bars are the bars of one alternative.
type bars struct {
	Name  string
	Style int
	Bars  []bar
}

// Color returns the class of the bars.
func (b bars) Color() string { return colorClass(b.Style) }

// barWidth is the width of a bar. Those of several alternatives stand beside each other.
const barWidth = 7.0

// addBars draws bars from the bottom up to their values, and the axis on the right. Where
// no value is above zero there is none.
func (c *chart) addBars(xs, lengths span, length axis, all []data) {
	if lengths.low > lengths.high {
		return
	}
	lengths.low /= 2 // the shortest bar is one, too
	lengths = lengths.rounded()
	c.RLabel, c.RTicks = length.label, ticks(lengths, length, plotBottom, plotTop, 7)
	for i, d := range all {
		b := bars{Name: d.name, Style: d.style}
		shift := (float64(i) - float64(len(all))/2) * barWidth
		for _, p := range d.at {
			if p.y > 0 {
				height := (plotBottom - plotTop) * lengths.place(p.y)
				b.Bars = append(b.Bars, bar{plotLeft + (c.Right-plotLeft)*xs.place(p.x) + shift, plotBottom - height, barWidth, height, p.title})
			}
		}
		if len(b.Bars) > 0 {
			c.Bars = append(c.Bars, b)
		}
	}
}

func (d data) draw(xs, ys span, right float64) (c curve, some bool) {
	c = curve{Name: d.name, Style: d.style}
	at := func(v float64) float64 { return plotBottom + (plotTop-plotBottom)*ys.place(v) }
	formula := false
	for _, p := range d.at {
		if p.y <= 0 || p.x <= 0 {
			continue
		}
		m := mark{X: plotLeft + (right-plotLeft)*xs.place(p.x), Y: at(p.y), Title: p.title}
		if p.low > 0 && p.low < p.high {
			m.Whiskers, m.Spread, m.Low, m.High = true, p.spread, at(p.low), at(p.high)
		}
		c.Path = lineTo(c.Path, m.X, m.Y)
		before := len(c.Marks) > 0 && formula // the point before has one, too
		if formula = p.formula > 0; formula {
			c.Formula = bandTo(c.Formula, before, m.X, at(p.formula))
		}
		c.Marks = append(c.Marks, m)
	}
	some = len(c.Marks) > 0
	if c.Scattered = d.scattered; d.scattered {
		c.Path = ""
		return c, some
	}
	c.points = c.Marks
	c.Marks = thinned(c.Marks)
	return c, some
}

// mostMarks is the number of marks of a curve above which some are left out. More would
// hide the line and each other.
const mostMarks = 24

// thinned keeps about mostMarks marks, evenly over the curve, the last among them.
func thinned(marks []mark) []mark {
	step := (len(marks) + mostMarks - 1) / mostMarks
	if step <= 1 {
		return marks
	}
	var some []mark
	for i := (len(marks) - 1) % step; i < len(marks); i += step {
		some = append(some, marks[i])
	}
	return some
}

// bandTo continues a line to a point, or begins another there. The new line has round
// ends, so that a single point is a dot.
func bandTo(path string, on bool, x, y float64) string {
	if !on {
		path = fmt.Sprintf("%sM%.1f %.1f", path, x, y)
	}
	return lineTo(path, x, y)
}

func lineTo(path string, x, y float64) string {
	command := "L"
	if path == "" {
		command = "M"
	}
	return fmt.Sprintf("%s%s%.1f %.1f", path, command, x, y)
}

// rounded widens a range to steps of 1, 2 and 5 times a power of ten. It widens it to
// at least a factor of four, so that a flat curve looks flat.
func (s span) rounded() span {
	if s.high < 4*s.low {
		middle := math.Sqrt(s.low * s.high)
		s = span{min(s.low, middle/2), max(s.high, middle*2)}
	}
	return span{stepBelow(s.low * 1.0000001), stepAbove(s.high * 0.9999999)}
}

// stepBelow returns the largest of 1, 2 and 5 times a power of ten that is at most v.
func stepBelow(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if m*decade <= v {
			return m * decade
		}
	}
	return decade
}

func stepAbove(v float64) float64 {
	below := stepBelow(v)
	if below >= v {
		return below
	}
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{2, 5} {
		if m*decade >= v {
			return m * decade
		}
	}
	return 10 * decade
}

// ticks places up to most labels on an axis: at powers of two or a power of it, or at
// 1, 2 and 5 times powers of ten or at decades.
func ticks(s span, a axis, from, to float64, most int) []tick {
	var values []float64
	if a.base == 2 {
		values = powersOfTwo(s, most)
	} else {
		values = decimalSteps(s, most)
	}
	var all []tick
	for i, v := range values {
		label := a.text(v)
		if i > 0 && label == all[len(all)-1].Label {
			continue // ends of a range that look alike in three digits
		}
		all = append(all, tick{from + (to-from)*s.place(v), label})
	}
	return all
}

// powersOfTwo returns the powers of two in the range. If they are too many it returns each second,
// third and so on from the top, down to the lowest if that comes out even. If there is
// none it returns the ends of the range.
func powersOfTwo(s span, most int) []float64 {
	first, last := math.Ceil(math.Log2(s.low)-1e-9), math.Floor(math.Log2(s.high)+1e-9)
	if last <= first {
		return []float64{s.low, s.high}
	}
	least := math.Ceil((last - first + 1) / float64(most))
	step := least
	for even := least; even <= 2*least; even++ {
		if math.Mod(last-first, even) == 0 {
			step = even
			break
		}
	}
	var values []float64
	for e := last; e >= first; e -= step {
		values = append(values, math.Exp2(e))
	}
	return values
}

func decimalSteps(s span, most int) []float64 {
	var values, decades []float64
	for v := math.Pow(10, math.Floor(math.Log10(s.low)+1e-9)); v <= s.high*1.0001; v *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if w := m * v; w >= s.low*0.9999 && w <= s.high*1.0001 {
				values = append(values, w)
				if m == 1 {
					decades = append(decades, w)
				}
			}
		}
	}
	if len(values) <= most {
		return values
	}
	for step := 1; ; step++ {
		var some []float64
		for i := 0; i < len(decades); i += step {
			some = append(some, decades[i])
		}
		if len(some) <= most {
			return some
		}
	}
}
