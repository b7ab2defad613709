package study

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	stdsync "sync"
	"text/tabwriter"

	"gigarank/internal/spelling"
)

//go:embed plain.html.tmpl
var plainText string

var plainTemplate = stdsync.OnceValue(func() *template.Template {
	return template.Must(parseReport().New("plain").Parse(plainText))
})

// done returns the records of a machine and a λ that have ended well, by growing ranks.
func done(records []ScalingRecord, machine string, lambda int64) []ScalingRecord {
	some := slices.DeleteFunc(slices.Clone(records), func(r ScalingRecord) bool {
		return r.Error != "" || r.Point.Machine != machine || r.Point.Lambda != lambda
	})
	slices.SortStableFunc(some, func(a, b ScalingRecord) int { return int(a.Point.Ranks - b.Point.Ranks) })
	return some
}

// charts draws, for each machine, wall time (lines) and remote events (bars) against
// ranks, a line and a row of bars for each λ.
func (s *Scaling) charts(records []ScalingRecord) []*chart {
	var all []*chart
	for _, m := range s.Machines {
		var lines, behind []data
		for style, lambda := range s.Lambdas {
			line := data{name: fmt.Sprintf("λ = %d, wall time", lambda), style: style}
			events := data{name: fmt.Sprintf("λ = %d, remote events", lambda), style: style}
			for _, r := range done(records, m.Name(), lambda) {
				at := fmt.Sprintf("λ = %d on %s, %s ranks: ", lambda, spelling.Count(r.Point.Hosts, "host"), formatRanks(r.Point.Ranks))
				line.at = append(line.at, xy{x: float64(r.Point.Ranks), y: r.Wall, title: at + formatWall(r.Wall)})
				events.at = append(events.at, xy{x: float64(r.Point.Ranks), y: r.Remote, title: at + formatCount(r.Remote) + " remote events"})
			}
			lines, behind = append(lines, line), append(behind, events)
		}
		title := fmt.Sprintf("%s on %s", s.Operation, m.Name())
		all = appendChart(all, drawChart(title, "Wall time and remote events of an operation against ranks: "+title, ranksAxis, axis{"wall time of an operation", wallAxis.text, wallAxis.base}, lines, eventsAxis, behind))
	}
	return aligned(all)
}

// findings returns sentences on the records.
func (s *Scaling) findings(records []ScalingRecord) []string {
	var all []string
	if text := hostIndependence(records); text != "" {
		all = append(all, text)
	}
	for _, m := range s.Machines {
		for _, lambda := range s.Lambdas {
			some := done(records, m.Name(), lambda)
			if len(some) < 2 {
				continue
			}
			first, last := some[0], some[len(some)-1]
			all = append(all, fmt.Sprintf("λ = %d on %s: from %s to %s ranks (%d to %s), an operation takes %s to %s of wall time.", lambda, m.Name(),
				formatRanks(first.Point.Ranks), formatRanks(last.Point.Ranks), first.Point.Hosts, spelling.Count(last.Point.Hosts, "host"),
				formatWall(first.Wall), formatWall(last.Wall)))
		}
	}
	return all
}

// hostIndependence returns a sentence on whether runs of equal ranks on one machine have
// equal fingerprints. It returns "" if there are no two such runs.
func hostIndependence(records []ScalingRecord) string {
	first := map[string]string{}
	alike, differ := 0, ""
	for _, r := range records {
		if r.Error != "" {
			continue
		}
		key := fmt.Sprintf("%s ranks on %s", formatRanks(r.Point.Ranks), r.Point.Machine)
		before, known := first[key]
		switch {
		case !known:
			first[key] = r.Result.Fingerprint
		case before == r.Result.Fingerprint:
			alike++
		case differ == "":
			differ = key
		}
	}
	switch {
	case differ != "":
		return fmt.Sprintf("The virtual results DIFFER between hostings of %s. Please report this as a fault of gigarank.", differ)
	case alike == 0:
		return ""
	}
	return fmt.Sprintf("The fingerprint of %s is that of another one of as many ranks, hosted otherwise: the virtual results do not depend on λ or the hosts.", spelling.Count(alike, "run"))
}

// shown are the columns of the tables for people.
var shown = []column[ScalingRecord]{
	{"ranks", func(r ScalingRecord) string { return thousands(r.Point.Ranks) }},
	{"machine", func(r ScalingRecord) string { return r.Point.Machine }},
	{"λ", func(r ScalingRecord) string { return thousands(r.Point.Lambda) }},
	{"hosts", func(r ScalingRecord) string { return whole(r.Point.Hosts) }},
	{"wall time of an operation", func(r ScalingRecord) string { return formatWall(r.Wall) }},
	{"remote events", func(r ScalingRecord) string { return formatCount(r.Remote) }},
	{"remote messages", func(r ScalingRecord) string { return formatCount(float64(r.Result.RemoteMessages)) }},
	{"sync messages", func(r ScalingRecord) string { return formatCount(float64(r.Result.SyncMessages)) }},
	{"transport messages", func(r ScalingRecord) string { return formatCount(float64(r.Result.TransportMessages)) }},
	{"memory per rank", func(r ScalingRecord) string { return formatBytes(r.Result.BytesPerRank) }},
}

// formatCount prints a number in three digits with a suffix.
func formatCount(v float64) string { return scaled(v, countScales, "") }

// WriteText writes the table for people.
func (s *Scaling) WriteText(w io.Writer, records []ScalingRecord) {
	_, _ = fmt.Fprintf(w, "%s, %s, %s ranks, %s\n\n", s.Operation, s.Algorithm, s.Kind.Name, spelling.Count(s.Iterations, "operation")+" each")
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	for _, c := range shown {
		_, _ = fmt.Fprint(table, c.name, "\t")
	}
	_, _ = fmt.Fprintln(table)
	for _, r := range records {
		if r.Error != "" {
			continue
		}
		for _, c := range shown {
			_, _ = fmt.Fprint(table, c.value(r), "\t")
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
	if text := hostIndependence(records); text != "" {
		_, _ = fmt.Fprint(w, "\n", text, "\n")
	}
}

// Line returns a line on the outcome of a run.
func (r ScalingRecord) Line() string {
	text := fmt.Sprintf("%s on %s, λ %d, %s, %s ranks", r.Point.Operation, r.Point.Machine, r.Point.Lambda,
		spelling.Count(r.Point.Hosts, "host"), formatRanks(r.Point.Ranks))
	if r.Error != "" {
		return fmt.Sprintf("%s: FAILED: %s", text, strings.TrimSpace(r.Error))
	}
	return fmt.Sprintf("%s: %s an operation, %s remote events", text, formatWall(r.Wall), formatCount(r.Remote))
}

// aboutScaling says how to read the report.
var aboutScaling = []string{
	"Every point is one run of gigarank with λ virtual ranks on each host process (one core each), so ranks = λ · hosts. " +
		"The lines are the wall time of one operation: the median of those after the first of the run, in which the ranks begin and first touch their memory.",
	"The bars are the remote events of one operation: virtual messages between two engines. A run of one engine has none. " +
		"Bars of different λ stand beside each other at the same ranks.",
	"Both axes are logarithmic. Wall times depend on the host and its load; the virtual results do not: " +
		"runs of equal ranks on one machine have equal fingerprints, however they are hosted.",
	"The figures are those of Perumalla and Park, “Simulating Billion-Task Parallel Programs”, SPECTS 2014, Figs 6 and 7. " +
		"There every rank is a thread with a stack. Here ranks are of the kind named above: an event rank is a step function without a stack.",
}

// WriteReport writes the report: one page of HTML that needs no other file.
func (s *Scaling) WriteReport(w io.Writer, records []ScalingRecord, origin Origin) error {
	g := &page{
		Origin: origin, Style: template.CSS(reportStyle),
		Title: fmt.Sprintf("%s: what the simulation costs", s.Operation),
		Subtitle: fmt.Sprintf("%s, %s ranks, λ %s, %s host processes, %s", s.Algorithm, s.Kind.Name,
			span64(s.Lambdas, whole), span64(s.Hosts, whole), spelling.Count(len(s.Points), "run")),
		Findings: s.findings(records), TableTitle: "All runs", Reading: aboutScaling,
		Width: chartWidth, Height: chartHeight, PlotLeft: plotLeft, PlotRight: plotRight, Top: plotTop, Bottom: plotBottom,
	}
	if missing := len(s.Points) - len(records); missing > 0 {
		g.Missing = fmt.Sprintf("%d of %s were not made: the same command with --resume makes them.", missing, spelling.Count(len(s.Points), "run"))
	}
	if charts := s.charts(records); len(charts) > 0 {
		g.Sections = []section{{Name: "scaling", Title: "Wall time and remote events against ranks", Charts: charts}}
	}
	for _, c := range shown {
		g.Columns = append(g.Columns, c.name)
	}
	for _, r := range records {
		if r.Error != "" {
			g.Failures = append(g.Failures, r.Line())
			continue
		}
		row := make([]string, len(shown))
		for i, c := range shown {
			row[i] = c.value(r)
		}
		g.Rows = append(g.Rows, row)
	}
	for _, m := range s.Machines {
		g.Machines = append(g.Machines, machineText{m.Name(), m.String()})
	}
	return writePage(w, plainTemplate(), g)
}
