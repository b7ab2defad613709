package study

import (
	"fmt"
	"strings"

	"gigarank/internal/result"
)

// courseOfRun has the ranks' time by cause over the time of the run.
func courseOfRun(d *result.Document) (s section) {
	if d.Statistics == nil || d.Statistics.Course == nil {
		return s
	}
	return section{Name: "course", Title: "Time by cause over the run",
		Text:   "A column is a part of the virtual time of the run, and tells for which causes the time of all ranks passes in it. Ranks that have ended are left out.",
		Stacks: []*stacks{drawCourse(d.Statistics.Course, d)}}
}

// drawCourse draws a column for each bin of the course of a run, as the share of the ranks.
func drawCourse(c *result.Course, d *result.Document) *stacks {
	shown := map[string]bool{}
	for cause := range c.Causes {
		shown[cause] = true
	}
	s := &stacks{Title: "Share of the ranks by cause", About: "Share of the ranks by cause, a column for each part of the virtual time", XLabel: "virtual time", YLabel: "share of the ranks", Legend: legendOf(shown)}
	var styles []causeStyle
	for _, e := range s.Legend {
		styles = append(styles, e.causeStyle)
	}
	columns := make([]stackColumn, binsOf(c))
	for i := range columns {
		from, to := binOf(c, i, d)
		column := &columns[i]
		column.title = fmt.Sprintf("from %s to %s:", formatTime(from), formatTime(to))
		for _, e := range s.Legend {
			share := 0.0
			if times := c.Causes[e.Name]; to > from {
				share = floatOf(times[i]) / ((to - from) * float64(d.Ranks))
			}
			column.parts = append(column.parts, share)
			if share > 0 {
				column.title += fmt.Sprintf(" %s %s,", e.Name, percent(share))
			}
		}
		column.title = strings.TrimRight(column.title, ":,")
	}
	s.drawStacks(styles, columns, percent)
	_, end := binOf(c, len(columns)-1, d)
	for _, v := range linearSteps(0, end, 5) {
		s.XTicks = append(s.XTicks, tick{plotLeft + (plotRight-plotLeft)*v/(float64(c.Width)*float64(len(columns))), formatTime(v)})
	}
	return s
}

// binsOf returns the number of bins of the course of a run.
func binsOf(c *result.Course) (n int) {
	for _, times := range c.Causes {
		n = len(times)
	}
	return n
}

// binOf returns the instants at which a bin of the course of a run begins and ends. The last one ends with the run.
func binOf(c *result.Course, i int, d *result.Document) (from, to float64) {
	from, to = float64(c.Width)*float64(i), float64(c.Width)*float64(i+1)
	if end := float64(d.VirtualTime); d.Complete && end > from {
		to = min(to, end)
	}
	return from, to
}

// A cause is said to pass in a part of the run if that part, of at most half of the run, has so much of its time.
const mostOfCause = 0.9

// whenMost names the shortest part of a run that has most of the time for a cause, "" if it is longer than half of the run.
func whenMost(d *result.Document, cause string) string {
	c := d.Statistics.Course
	if c == nil || c.Causes[cause] == nil {
		return ""
	}
	times, all := c.Causes[cause], 0.0
	for _, t := range times {
		all += floatOf(t)
	}
	first, last, length := 0, 0, len(times)+1
	for from, to, sum := 0, 0, 0.0; ; {
		switch {
		case sum >= mostOfCause*all && from < to:
			if to-from < length {
				first, last, length = from, to-1, to-from
			}
			sum -= floatOf(times[from])
			from++
		case to < len(times):
			sum += floatOf(times[to])
			to++
		default:
			if 2*length > len(times) {
				return ""
			}
			begin, _ := binOf(c, first, d)
			_, end := binOf(c, last, d)
			return fmt.Sprintf("; %s of it between %s and %s of the run", percent(mostOfCause), formatTime(begin), formatTime(end))
		}
	}
}
