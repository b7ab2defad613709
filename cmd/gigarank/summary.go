package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/result"
	"gigarank/internal/spelling"
	"gigarank/vtime"
)

// shownIterations is the number of iterations at each end of a long list that a summary
// shows.
const shownIterations = 5

// summarize prints a document for people.
func (d *document) summarize(w io.Writer) {
	strict := ""
	if d.Strict {
		strict = ", strict"
	}
	p := func(format string, arguments ...any) { _, _ = fmt.Fprintf(w, format, arguments...) }
	p("%s: %s as %s LPs on %s; %s, %s, %s%s, seed %d\n", d.Program, spelling.Count(d.Ranks, "rank"), d.LP, d.Machine,
		spelling.Count(d.Hosts, "host"), spelling.Count(d.Engines, "engine"), d.Sync, strict, d.Seed)
	switch {
	case d.Complete:
	case int64(d.FinishedRanks) == d.Ranks:
		p("FAILED: all ranks have finished; the figures cover all of their work\n")
	default:
		p("INCOMPLETE: %d of %d ranks have finished; the figures cover finished work only\n", d.FinishedRanks, d.Ranks)
	}
	p("\n")
	d.tabulate(w)
	d.tabulateFigures(w)
	d.tabulateStatistics(w)
	d.tabulateEnergy(w)
	d.tabulatePath(w)
	d.tabulateActivities(w)
	d.tabulateDepartures(w)
	tabulateSizes(w, "messages sent point to point", "messages", d.Sent)
	tabulateSizes(w, "bytes that a rank hands to a collective", "calls", d.Handed)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	t := func(name, format string, arguments ...any) {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, arguments...))
	}
	finish, fingerprint := vtime.Time(d.VirtualTime).String(), d.Fingerprint
	if d.FinishedRanks == 0 {
		finish, fingerprint = "unknown: no rank has finished", "none: no rank has finished"
	}
	t("virtual time", "%s", finish)
	t("wall time", "%s, set-up %s%s", terminal.Seconds(d.Wall), terminal.Seconds(d.SetUp), d.rate())
	t("events", "%s, %s messages, %s switches", terminal.Count(float64(d.Events)), terminal.Count(float64(d.Messages)), terminal.Count(float64(d.Switches)))
	t("between engines", "%s messages in %s, %s for synchronisation",
		terminal.Count(float64(d.RemoteMessages)), terminal.Count(float64(d.TransportMessages)), terminal.Count(float64(d.SyncMessages)))
	t("memory", "%s, %s a rank", terminal.Bytes(d.PeakRSS), terminal.Bytes(int64(d.BytesPerRank)))
	t("fingerprint", "%s", fingerprint)
	_ = table.Flush()
	if d.TaskShare != nil {
		p("%s\n", d.skeletonLine())
	}
	if d.Uncharged {
		p("The program's computing took no virtual time, and times and rates that it prints leave it out: charge it by --cpu measured, or declare it by gigarank_compute\n")
	}
	if d.Departures != nil && *d.Departures != (result.Departures{}) {
		p("%s\n", d.departuresLine())
	}
	if d.Late != "" {
		p("%s\n", d.Late)
	}
}

// rate returns how many ranks have completed a timed operation per second of the run
// after its set-up.
func (d *document) rate() string {
	took := d.Wall - d.SetUp
	if took <= 0 || len(d.Iterations) == 0 {
		return ""
	}
	name := "operations"
	if operations := d.operations(); len(operations) == 1 && strings.Trim(operations[0], "abcdefghijklmnopqrstuvwxyz_-") == "" { // a word with a plural
		name = operations[0] + "s"
	}
	return fmt.Sprintf(", %s rank-%s/s", terminal.Count(float64(d.Ranks)*float64(len(d.Iterations))/took), name)
}

// operations returns the timed operations in the order in which they appear.
func (d *document) operations() []string {
	var names []string
	seen := map[string]bool{}
	for _, it := range d.Iterations {
		if !seen[it.Operation] {
			seen[it.Operation] = true
			names = append(names, it.Operation)
		}
	}
	return names
}

// tabulate prints the iterations, without the middle of a long list, and for each
// operation a line over all of them.
func (d *document) tabulate(w io.Writer) {
	if len(d.Iterations) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(index any, operation string, low, mean, high int64, wall float64) {
		took := "-" // unknown where not all ranks record the operation
		if wall > 0 {
			took = terminal.Seconds(wall)
		}
		_, _ = fmt.Fprintf(table, "%v\t%s\t%v\t%v\t%v\t%s\n", index, operation,
			vtime.Duration(low), vtime.Duration(mean), vtime.Duration(high), took)
	}
	_, _ = fmt.Fprintln(table, "iteration\toperation\tmin\tmean\tmax\twall")
	hidden := len(d.Iterations) - 2*shownIterations
	for i, it := range d.Iterations {
		switch {
		case hidden > 1 && i == shownIterations:
			_, _ = fmt.Fprintf(table, "… %d more\t…\t…\t…\t…\t…\n", hidden)
		case hidden > 1 && i > shownIterations && i < shownIterations+hidden:
		default:
			row(it.Index, it.Operation, it.Min, it.Mean, it.Max, it.Wall)
		}
	}
	for _, name := range d.operations() {
		all, n := d.over(name)
		if n > 1 {
			row("all", name, all.Min, all.Mean, all.Max, all.Wall)
		}
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// tabulateFigures prints the numbers that the program makes of its iterations.
func (d *document) tabulateFigures(w io.Writer) {
	if len(d.Figures) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, f := range d.Figures {
		text := ""
		switch f.Unit {
		case "ps":
			text = vtime.Duration(f.Value).String()
		case "":
			text = fmt.Sprintf("%.1f %%", 100*f.Value)
		default:
			text = terminal.Count(f.Value) + " " + f.Unit
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\n", f.Name, text)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// tabulateActivities prints the activities, if they were counted.
func (d *document) tabulateActivities(w io.Writer) {
	if len(d.Activities) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "part of messages\tcount\tmin\tmean\tmax\ttime of a rank")
	for _, a := range d.Activities {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%v\t%v\t%v\t%v\n", a.Activity, a.Count,
			vtime.Duration(a.Min), vtime.Duration(a.Mean), vtime.Duration(a.Max), vtime.Duration(a.PerRank))
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// tabulateDepartures prints how often a replay did not take the course of the record.
func (d *document) tabulateDepartures(w io.Writer) {
	if d.Departures == nil || len(d.Activities) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(what string, count uint64) { _, _ = fmt.Fprintf(table, "%s\t%d\n", what, count) }
	_, _ = fmt.Fprintln(table, "departures from the record\tcount")
	row("tests and probes that had to wait", d.Departures.Waited)
	row("tests and probes that found what they had not", d.Departures.Found)
	row("wildcards that took another message", d.Departures.Matched)
	row("requests that Waitany and the like passed over", d.Departures.Passed)
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// times returns a number of times as text.
func times(n uint64) string { return spelling.Count(n, "time") }

// departuresLine tells how often a replay did not take the course of the record.
func (d *document) departuresLine() string {
	n := d.Departures
	return fmt.Sprintf("The course departs from the record: tests and probes had to wait %s for what they had found, and found %s what they had not; wildcards took another message %s; Waitany and the like passed over %s that came first",
		times(n.Waited), times(n.Found), times(n.Matched), spelling.Count(n.Passed, "request"))
}

// tabulateSizes prints the classes of sizes that have messages or calls.
func tabulateSizes(w io.Writer, title, counted string, classes []result.SizeClass) {
	if len(classes) == 0 {
		return
	}
	_, _ = fmt.Fprintln(w, title)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "bytes\t%s\tbytes in all\n", counted)
	for _, c := range classes {
		size := fmt.Sprint(c.Low)
		if c.High > c.Low {
			size += fmt.Sprintf("-%d", c.High)
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\n", size, c.Count, c.Bytes)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// over sums up the iterations of an operation: least, mean of the means rounded down,
// greatest, total wall time, and their number.
func (d *document) over(operation string) (all result.Iteration, n int) {
	var rest int64
	var means []int64
	for _, it := range d.Iterations {
		if it.Operation != operation {
			continue
		}
		if n == 0 || it.Min < all.Min {
			all.Min = it.Min
		}
		all.Max = max(all.Max, it.Max)
		all.Wall += it.Wall
		means = append(means, it.Mean)
		n++
	}
	for _, m := range means {
		all.Mean += m / int64(n)
		rest += m % int64(n)
	}
	if n > 0 {
		all.Mean += rest / int64(n)
	}
	return all, n
}

// skeletonLine returns how much of the time tasks of a skeleton have taken, which of these it does not count, the failures that it leaves out, and the directives.
func (d *document) skeletonLine() string {
	line := fmt.Sprintf("Tasks take %.1f %% of the ranks' time by the weights of %s", 100**d.TaskShare, d.Skeleton)
	if d.WeightsOf != "" {
		line += ", found with another program of the same tasks, " + d.WeightsOf
	}
	line += "; "
	if len(d.UncountedTasks) == 0 {
		line += "all their iterations are counted"
	} else {
		var tasks []string
		for _, t := range d.UncountedTasks {
			tasks = append(tasks, fmt.Sprintf("%s (%.1f %%)", t.Line, 100*t.Share))
		}
		line += "not all iterations are counted of the tasks at " + strings.Join(tasks, ", ")
	}
	if len(d.Failures) > 0 {
		line += "; no failure is assumed behind " + strings.Join(d.Failures, ", ")
	}
	if len(d.Directives) == 0 {
		return line + "; no directives"
	}
	return line + "; directives: " + strings.Join(d.Directives, ", ")
}
