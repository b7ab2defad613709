package study

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gigarank/internal/result"
)

// stacks are columns of parts that lie on each other, over a linear axis.
type stacks struct {
	Title  string
	About  string
	Text   string
	XLabel string
	YLabel string
	XTicks []tick
	YTicks []tick
	Parts  []stackPart
	Hovers []bar // a column each, which tells its parts
	Legend []legendEntry
	lines  []float64 // a value across each column; nil for none
	y      func(v float64) float64
}

// across has a value drawn across each column, by drawAcross.
func (s *stacks) across(values []float64) { s.lines = values }

// drawAcross draws the values across the columns.
func (s *stacks) drawAcross(style causeStyle) {
	var path strings.Builder
	for i, v := range s.lines {
		h := s.Hovers[i]
		_, _ = fmt.Fprintf(&path, "M%.2f %.2fv3H%.2fv-3z", h.X, s.y(v)-1.5, h.X+h.Width)
	}
	s.Parts = append(s.Parts, stackPart{style, path.String()})
}

// stackPart is one part of all columns, as an outline.
type stackPart struct {
	causeStyle
	Path string
}

// stackColumn is a column before it is drawn.
type stackColumn struct {
	title string
	parts []float64 // by series
}

// widestColumn is the greatest width of a column.
const widestColumn = 44.0

// drawStacks fills in the columns. Each series has a style; the columns are as wide as the plot allows.
func (s *stacks) drawStacks(styles []causeStyle, columns []stackColumn, text func(float64) string) {
	highest := 0.0
	for _, v := range s.lines {
		highest = max(highest, v)
	}
	for _, c := range columns {
		sum := 0.0
		for _, v := range c.parts {
			sum += v
		}
		highest = max(highest, sum)
	}
	if highest == 0 {
		highest = 1
	}
	x := func(i int) float64 { return plotLeft + (plotRight-plotLeft)*float64(i)/float64(len(columns)) }
	y := func(v float64) float64 { return plotBottom + (plotTop-plotBottom)*v/(highest*1.05) }
	s.y = y
	gap := 0.0
	if wide := (plotRight - plotLeft) / float64(len(columns)); len(columns) <= 64 {
		gap = max(wide*0.12, (wide-widestColumn)/2)
	}
	base := make([]float64, len(columns))
	for series, style := range styles {
		var path strings.Builder
		for i := 0; i < len(columns); {
			v := columns[i].parts[series]
			last := i + 1
			for gap == 0 && last < len(columns) && columns[last].parts[series] == v && base[last] == base[i] {
				last++ // equal columns are one
			}
			if v > 0 {
				_, _ = fmt.Fprintf(&path, "M%.2f %.2fV%.2fH%.2fV%.2fz", x(i)+gap, y(base[i]), y(base[i]+v), x(last)-gap, y(base[i]))
			}
			for ; i < last; i++ {
				base[i] += v
			}
		}
		if path.Len() > 0 {
			s.Parts = append(s.Parts, stackPart{style, path.String()})
		}
	}
	for i, c := range columns {
		s.Hovers = append(s.Hovers, bar{x(i), plotTop, x(i+1) - x(i), plotBottom - plotTop, c.title})
	}
	for _, v := range linearSteps(0, highest, 5) {
		s.YTicks = append(s.YTicks, tick{y(v), text(v)})
	}
}

// Numbers of ranks that have a column each, and of columns for more ranks.
const (
	mostRankColumns = 512
	groupColumns    = 256
)

// rankStacks draws the time of ranks by cause: all of it, and that in MPI, which computing may dwarf. Beyond 512 ranks they are sorted by their
// waiting and grouped.
func rankStacks(tasks []result.Task) []*stacks {
	shown := map[string]bool{}
	for i := range tasks {
		for cause := range tasks[i].Causes {
			shown[cause] = true
		}
	}
	legend := legendOf(shown)
	groups, label := grouped(tasks)
	charts := []*stacks{drawRanks("Time of ranks by cause", groups, label, legend)}
	inMPI := slices.DeleteFunc(slices.Clone(legend), func(e legendEntry) bool { return e.Name == "computing" })
	if len(inMPI) > 0 && len(inMPI) < len(legend) {
		charts = append(charts, drawRanks("Time of ranks in MPI, without computing", groups, label, inMPI))
	}
	return charts
}

// grouped returns the groups of ranks that have a column each, and the label of the axis.
func grouped(tasks []result.Task) (groups [][]result.Task, label string) {
	if len(tasks) <= mostRankColumns {
		for i := range tasks {
			groups = append(groups, tasks[i:i+1])
		}
		return groups, "rank"
	}
	sorted := slices.Clone(tasks)
	slices.SortStableFunc(sorted, func(a, b result.Task) int { return a.Waiting.Cmp(b.Waiting) })
	for i := range groupColumns {
		groups = append(groups, sorted[i*len(sorted)/groupColumns:(i+1)*len(sorted)/groupColumns])
	}
	return groups, "ranks, sorted by their waiting, in groups"
}

func drawRanks(title string, groups [][]result.Task, label string, legend []legendEntry) *stacks {
	s := &stacks{Title: title, About: title + ", a column for each rank or group of ranks", XLabel: label, YLabel: "time", Legend: legend}
	var styles []causeStyle
	for _, e := range legend {
		styles = append(styles, e.causeStyle)
	}
	var columns []stackColumn
	for _, g := range groups {
		c := stackColumn{title: fmt.Sprintf("rank %d:", g[0].Rank)}
		if len(g) > 1 {
			c.title = fmt.Sprintf("mean of %d ranks, such as %d and %d:", len(g), g[0].Rank, g[len(g)-1].Rank)
		}
		for _, e := range legend {
			mean := 0.0
			for i := range g {
				mean += floatOf(g[i].Causes[e.Name]) / float64(len(g))
			}
			c.parts = append(c.parts, mean)
			if mean > 0 {
				c.title += fmt.Sprintf(" %s %s,", e.Name, formatTime(mean))
			}
		}
		c.title = strings.TrimRight(c.title, ":,")
		columns = append(columns, c)
	}
	s.drawStacks(styles, columns, formatTime)
	if len(groups) > 0 && len(groups[0]) > 1 {
		s.Text = "The ranks on the left wait least: the others often wait for them. Hover over a column for the numbers of ranks."
		return s
	}
	for _, v := range linearSteps(0, float64(len(groups)-1), 6) {
		if v == float64(int(v)) {
			s.XTicks = append(s.XTicks, tick{plotLeft + (plotRight-plotLeft)*(v+0.5)/float64(len(groups)), fmt.Sprint(int(v))})
		}
	}
	return s
}

// classStacks draws a column for each class from the least to the greatest, of sizes or of other values.
func classStacks(title, value, counted string, style int, classes []result.SizeClass, text func(float64) string) *stacks {
	s := &stacks{Title: title, About: title + " by " + value, XLabel: value, YLabel: counted}
	first, last := bits.Len64(uint64(classes[0].Low)), bits.Len64(uint64(classes[len(classes)-1].Low))
	columns := make([]stackColumn, last-first+1)
	for i := range columns {
		columns[i].parts = []float64{0}
	}
	for _, c := range classes {
		at := bits.Len64(uint64(c.Low)) - first
		columns[at] = stackColumn{fmt.Sprintf("%s to %s: %d %s, %s in all", text(float64(c.Low)), text(float64(c.High)), c.Count, counted, formatBytes(float64(c.Bytes))), []float64{float64(c.Count)}}
	}
	s.drawStacks([]causeStyle{{Class: colorClass(style)}}, columns, formatCount)
	s.Hovers = slices.DeleteFunc(s.Hovers, func(b bar) bool { return b.Title == "" })
	every := (len(columns) + 5) / 6
	for i := 0; i < len(columns); i += every {
		low := 0.0
		if class := first + i; class > 0 {
			low = float64(uint64(1) << (class - 1))
		}
		s.XTicks = append(s.XTicks, tick{plotLeft + (plotRight-plotLeft)*(float64(i)+0.5)/float64(len(columns)), text(low)})
	}
	return s
}
