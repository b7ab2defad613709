package study

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"gigarank/internal/result"
)

// causes are the causes of the time of ranks in the order in which they are shown, as docs/statistics.md has them.
var causes = []string{"computing", "processor", "network", "interface", "bus", "link", "memory", "late sender", "late receiver",
	"wait at barrier", "wait at n-to-n", "late root", "late member"}

// shares are the parts of the time of all ranks that pass for each cause, for some numbers of ranks.
type shares struct {
	Title  string
	About  string
	Rows   []shareRow
	Legend []legendEntry
	Width  float64
	Height float64
	Left   float64 // where labels end
	Right  float64 // where texts begin
}

type shareRow struct {
	Label string
	Y     float64 // of the middle
	Bars  []shareBar
	Text  string // the efficiencies
}

// shareBar is the part of a row that stands for a cause.
type shareBar struct {
	bar
	causeStyle
}

type legendEntry struct {
	causeStyle
	Name string
}

// causeStyle is the look of a cause: the class of a colour, paler for the causes beyond the number of colours.
type causeStyle struct {
	Class string
	Pale  bool
}

// Sizes of a drawing of shares.
const (
	shareRowHeight = 26.0
	shareBarHeight = 18.0
	shareLeft      = 50.0
	shareRight     = 400.0
)

// aboutCauses explains the drawings of shares.
const aboutCauses = "The time of all ranks by the cause for which it passes, as gigarank run --stats counts it (docs/statistics.md). Computing and processor are work, " +
	"the others waiting. Right of a bar: parallel efficiency = load balance × communication efficiency, as POP has them."

// shareOf returns the part of the time of all ranks that passes for a cause.
func shareOf(t *result.Times, cause string) float64 {
	part, whole := t.Causes[cause], t.Time
	if part == nil || whole == nil || whole.Sign() <= 0 {
		return 0
	}
	share, _ := new(big.Rat).SetFrac(part, whole).Float64()
	return share
}

// styleOfCause returns the look of a cause.
func styleOfCause(cause string) causeStyle {
	at := slices.Index(causes, cause)
	return causeStyle{colorClass(at), at >= colors}
}

// shareCharts draws the shares of causes for each setting and choice, with the first of the seeds.
func (p *Plan) shareCharts(all []sample) []*shares {
	var charts []*shares
	for _, s := range p.settings() {
		for _, choice := range p.Choices {
			title := p.describe(s)
			if !p.alone() {
				title += ", " + choice
			}
			if c := newShares(title, curveOf(all, s, choice)); c != nil && len(charts) < mostCharts {
				charts = append(charts, c)
			}
		}
	}
	return charts
}

// newShares draws a row for each sample, nil if none has statistics.
func newShares(title string, samples []sample) *shares {
	c := &shares{Title: title, About: "Time of all ranks by cause: " + title, Width: 590, Left: shareLeft - 6, Right: shareRight + 8}
	shown := map[string]bool{}
	for _, s := range samples {
		of := s.records[0].Result.Statistics
		if of == nil {
			continue
		}
		row := shareRow{Label: formatRanks(s.point.Ranks), Y: (float64(len(c.Rows)) + 0.5) * shareRowHeight}
		if e := of.Efficiency; e != nil {
			row.Text = fmt.Sprintf("%s = %s × %s", percent(e.Parallel), percent(e.LoadBalance), percent(e.Communication))
		}
		at := shareLeft
		for _, cause := range causes {
			share := shareOf(&of.Times, cause)
			if share <= 0 {
				continue
			}
			shown[cause] = true
			width := share * (shareRight - shareLeft)
			row.Bars = append(row.Bars, shareBar{bar{at, row.Y - shareBarHeight/2, width, shareBarHeight,
				fmt.Sprintf("%s ranks: %s %s", row.Label, cause, percent(share))}, styleOfCause(cause)})
			at += width
		}
		c.Rows = append(c.Rows, row)
	}
	c.Legend = legendOf(shown)
	if c.Height = float64(len(c.Rows)) * shareRowHeight; len(c.Legend) == 0 {
		return nil
	}
	return c
}

// legendOf returns the entries of the causes that are shown.
func legendOf(shown map[string]bool) (entries []legendEntry) {
	for _, cause := range causes {
		if shown[cause] {
			entries = append(entries, legendEntry{styleOfCause(cause), cause})
		}
	}
	return entries
}

// writeShares prints a line for each number of ranks, with the share of each cause. It prints nothing without statistics.
func writeShares(w io.Writer, samples []sample) {
	samples = slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return s.records[0].Result.Statistics == nil })
	var shown []string
	for _, cause := range causes {
		if slices.ContainsFunc(samples, func(s sample) bool { return shareOf(&s.records[0].Result.Statistics.Times, cause) >= leastShare }) {
			shown = append(shown, cause)
		}
	}
	if len(shown) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "time of all ranks by cause\n\n")
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(table, "ranks\t%s\t\n", strings.Join(shown, "\t"))
	for _, s := range samples {
		_, _ = fmt.Fprintf(table, "%s\t", formatRanks(s.point.Ranks))
		for _, cause := range shown {
			_, _ = fmt.Fprintf(table, "%.1f %%\t", shareOf(&s.records[0].Result.Statistics.Times, cause)*100)
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// leastShare is the share of a cause that a table of text shows.
const leastShare = 0.0005
