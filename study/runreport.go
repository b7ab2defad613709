package study

import (
	"fmt"
	"html/template"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"gigarank/internal/result"
	"gigarank/internal/spelling"
)

// aboutRun says how to read the page of a run.
var aboutRun = []string{
	"Times are virtual: those of the simulated machine. They are the same, bit for bit, on any number of hosts.",
	"The time of a rank is the sum of its causes, to the picosecond. Computing and processor are work, the others are waiting; docs/statistics.md has the rules.",
	"Load balance is the mean of the ranks' computing times over the greatest, communication efficiency the greatest over the time of the run, and parallel efficiency their product (POP).",
	"A rank that waits far less than the others at a collective is a rank for which the others wait.",
	"The matrix and the sizes of messages are those of messages point to point.",
	"What the run would take if its network cost nothing: the same command with --ideal.",
	"The page has sums. gigarank run … --timeline FILE.html draws the calls of ranks over virtual time, and --critical-path follows the chain that ends the run.",
}

// causeWords explains the causes in the words of docs/statistics.md.
var causeWords = map[string]string{
	"computing":       "the rank computes, or a call concerns the rank alone",
	"processor":       "the rank's processor works for MPI: overheads, copies, combining",
	"network":         "a message is under way on an idle network, or keeps its place behind earlier messages of its pair",
	"interface":       "other messages keep the interface of a node busy, which the message needs",
	"bus":             "other messages keep the busses between nodes busy",
	"link":            "other messages keep links busy, or share their bandwidth",
	"memory":          "other copies keep the memory of the node busy",
	"late sender":     "a receive waits, since the sender of the message has not begun its send",
	"late receiver":   "a send above the eager limit or a synchronous send waits, since the receiver has not posted its receive",
	"wait at barrier": "a member has not entered the barrier yet",
	"wait at n-to-n":  "a member has not entered yet an allreduce, allgather, alltoall or reduce-scatter, in which all need all",
	"late root":       "the root has not entered a bcast or scatter yet",
	"late member":     "another member has not entered yet a bcast, scatter, reduce, gather or scan",
}

// readingOf says how to read the page of a run, with the causes that it has.
func readingOf(d *result.Document) []string {
	all := slices.Clone(aboutRun)
	if d.Statistics == nil {
		return all
	}
	for _, cause := range causes {
		if d.Statistics.Causes[cause] != nil {
			all = append(all, fmt.Sprintf("%s: %s.", capital(cause), causeWords[cause]))
		}
	}
	return all
}

// WriteRunReport writes the report of a run whose statistics were counted: one page of HTML that needs no other file and no network.
// machine is the text of its machine file.
func WriteRunReport(w io.Writer, d *result.Document, machine string, origin Origin) error {
	g := &page{
		Origin: origin, Style: template.CSS(reportStyle),
		Title:    d.Program + ": where the time goes",
		Subtitle: fmt.Sprintf("%s on %s, %s a node, %s", spelling.Count(d.Ranks, "rank"), d.Machine, spelling.Count(d.RanksPerNode, "rank"), d.Mapping),
		Findings: runFindings(d), Reading: readingOf(d), Machines: []machineText{{d.Machine, machine}},
		Width: chartWidth, Height: chartHeight, PlotLeft: plotLeft, PlotRight: plotRight, Top: plotTop, Bottom: plotBottom,
	}
	if !d.Complete {
		g.Missing = fmt.Sprintf("%d of %s have finished; the figures cover what was done until then.", d.FinishedRanks, spelling.Count(d.Ranks, "rank"))
		g.Stopped = firstLines(d.Reason, mostReasonLines)
	}
	all := []section{
		{Name: "figures", Title: "Figures", Tables: []tableOf{runFigures(d)}},
		causesOfRun(d), courseOfRun(d), energyOfRun(d), functionsOfRun(d), sitesOfRun(d), ranksOfRun(d), sizesOfRun(d), bandwidthsOfRun(d), matrixOfRun(d), iterationsOfRun(d), endsOfRun(d),
	}
	g.Sections = slices.DeleteFunc(all, func(s section) bool {
		return len(s.Shares)+len(s.Stacks)+len(s.Maps)+len(s.Tables)+len(s.Exits) == 0
	})
	return writePage(w, plainTemplate(), g)
}

// mostReasonLines is the number of lines of an error that a page shows.
const mostReasonLines = 24

// firstLines returns the first lines of a text, and how many are left out.
func firstLines(text string, most int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("… and %s more", spelling.Count(more, "line")))
	}
	return strings.Join(lines, "\n")
}

// floatOf returns an integer as a float, 0 for nil.
func floatOf(v *big.Int) float64 {
	if v == nil {
		return 0
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	return f
}

// perRank returns a sum over the ranks as a time of a rank.
func (s *section) perRank(d *result.Document, sum *big.Int) string {
	return formatTime(floatOf(sum) / float64(d.Ranks))
}

// runFigures returns the table of the figures of a run.
func runFigures(d *result.Document) tableOf {
	t := tableOf{Columns: []string{"figure", "value"}}
	row := func(name, value string) { t.Rows = append(t.Rows, []string{name, value}) }
	took := "unknown: no rank has finished"
	if d.FinishedRanks > 0 {
		took = formatTime(float64(d.VirtualTime))
	}
	row("virtual time", took)
	if s := d.Statistics; s != nil {
		if s.Time.Sign() > 0 {
			row("computing, of the time of all ranks", percent(shareOf(&s.Times, "computing")))
			row("waiting, of the time of all ranks", percent(floatOf(s.Waiting)/floatOf(s.Time)))
		}
		if e := s.Efficiency; e != nil {
			row("load balance", percent(e.LoadBalance))
			row("communication efficiency", percent(e.Communication))
			row("parallel efficiency", percent(e.Parallel))
		}
	}
	for _, f := range d.Figures {
		row(f.Name, formatFigure(f))
	}
	for _, name := range sortedKeys(d.Algorithms) {
		row("algorithm of "+name, d.Algorithms[name])
	}
	if d.Library != "" {
		row("MPI library", d.Library)
	}
	row("kind of rank", d.LP)
	row("CPU times", d.CPU)
	row("noise", d.Noise)
	row("seed", fmt.Sprint(d.Seed))
	if d.FinishedRanks > 0 {
		row("fingerprint", d.Fingerprint)
	}
	return t
}

// sortedKeys returns the keys of a map in order.
func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// formatFigure returns the number of a program for people.
func formatFigure(f result.Figure) string {
	switch f.Unit {
	case "ps":
		return formatTime(f.Value)
	case "":
		return percent(f.Value)
	}
	return formatCount(f.Value) + " " + f.Unit
}

// runFindings returns what stands out in a run.
func runFindings(d *result.Document) (found []string) {
	s := d.Statistics
	if s == nil || s.Time.Sign() == 0 {
		return nil
	}
	found = append(found, fmt.Sprintf("Of the time of all ranks, %s is computing, %s is work for MPI and %s is waiting.",
		percent(shareOf(&s.Times, "computing")), percent(shareOf(&s.Times, "processor")), percent(floatOf(s.Waiting)/floatOf(s.Time))))
	found = append(found, culprits(s)...)
	for _, cause := range waitingCauses(&s.Times) {
		if share := shareOf(&s.Times, cause); share >= leastFinding {
			found = append(found, fmt.Sprintf("%s takes %s%s%s%s%s%s.", capital(cause), percent(share), mostIn(s.Calls, cause), mostAt(s.Sites, cause),
				extremesOf(s.Tasks, cause), crowded(s.Matrix, d.Ranks, cause), whenMost(d, cause)))
		}
	}
	if e := s.Efficiency; e != nil && e.LoadBalance < 1-leastFinding {
		found = append(found, fmt.Sprintf("Load balance is %s: rank %d computes longest, %s, where the mean is %s.%s", percent(e.LoadBalance), e.GreatestRank,
			formatTime(float64(e.Greatest)), formatTime(float64(e.Greatest)*e.LoadBalance), gainOf(d)))
	}
	return found
}

// gainOf says what a run gains if the rank that computes longest computes less: that is bounded by the rank that comes next, since the others then wait
// for that rank. It says nothing where ranks wait for late senders, since the gain then depends on who waits for whom.
func gainOf(d *result.Document) string {
	if shareOf(&d.Statistics.Times, "late sender") >= leastFinding {
		return ""
	}
	e, next := d.Statistics.Efficiency, -1
	tasks := d.Statistics.Tasks
	for i := range tasks {
		if tasks[i].Rank != e.GreatestRank && (next < 0 || floatOf(tasks[i].Causes["computing"]) > floatOf(tasks[next].Causes["computing"])) {
			next = i
		}
	}
	if next < 0 {
		return ""
	}
	second := floatOf(tasks[next].Causes["computing"])
	return fmt.Sprintf(" Rank %d comes next, %s: where the difference is the same throughout and ranks meet at collectives alone, mending rank %d alone gains at most %s of the %s.",
		tasks[next].Rank, formatTime(second), e.GreatestRank, formatTime(float64(e.Greatest)-second), formatTime(float64(d.VirtualTime)))
}

// culprits returns sentences on the ranks for which others wait: those with a share of the time of all ranks that is worth a sentence, and of
// the waiting that is more than that of an average rank.
func culprits(s *result.Statistics) (found []string) {
	if s.Late == nil || s.Late.Sign() == 0 {
		return nil
	}
	for i := range s.WaitedFor[:min(len(s.WaitedFor), mostCulprits)] {
		w := &s.WaitedFor[i]
		of := floatOf(w.Time) / floatOf(s.Late)
		if floatOf(w.Time) < leastFinding*floatOf(s.Time) || of*float64(len(s.Tasks)) < leastCulprit {
			break
		}
		found = append(found, fmt.Sprintf("Others wait for rank %d: %s over all ranks, %s of all waiting for ranks, most of it as %s.%s%s", w.Rank,
			formatTime(floatOf(w.Time)), percent(of), w.MostlyAs(), whyLate(s, w), whyHeld(w)))
	}
	if s.Held != nil && floatOf(s.Held) >= leastFinding*floatOf(s.Time) {
		found = append(found, fmt.Sprintf("For %s of all waiting for ranks, %s over all ranks, other messages delay the rank that is late: these messages are to be mended, not the rank.",
			percent(floatOf(s.Held)/floatOf(s.Late)), formatTime(floatOf(s.Held))))
	}
	return found
}

// whyHeld says for how long other messages delay a rank for which others wait.
func whyHeld(w *result.WaitedFor) string {
	if w.Held == nil || floatOf(w.Held) < leastFinding*floatOf(w.Time) {
		return ""
	}
	return fmt.Sprintf(" For %s of that time other messages delay rank %d.", formatTime(floatOf(w.Held)), w.Rank)
}

// The number of ranks that a page blames, and the least share of a rank in the waiting, over that of an average rank.
const (
	mostCulprits = 3
	leastCulprit = 2
)

// whyLate compares the computing of a rank for which others wait with the mean. A rank that computes no longer sends late if others wait for its messages.
func whyLate(s *result.Statistics, w *result.WaitedFor) string {
	if w.Rank >= len(s.Tasks) {
		return ""
	}
	own, mean := floatOf(s.Tasks[w.Rank].Causes["computing"]), floatOf(s.Causes["computing"])/float64(len(s.Tasks))
	sent := floatOf(w.Causes["late sender"])
	switch {
	case own >= mean*(1+leastFinding):
		return fmt.Sprintf(" It computes for %s, where the mean is %s.", formatTime(own), formatTime(mean))
	case sent >= leastFinding*floatOf(w.Time):
		return fmt.Sprintf(" It computes no longer than the mean: it sends late, and others wait for its messages for %s.", formatTime(sent))
	}
	return ""
}

// crowded names the rank, or block of ranks, that receives a far greater part of the bytes than an average one, for a cause by which messages wait for each other.
func crowded(m *result.Matrix, ranks int64, cause string) string {
	if m == nil || !slices.Contains([]string{"interface", "bus", "link"}, cause) {
		return ""
	}
	all, to, senders := 0.0, make([]float64, len(m.Bytes)), make([]int, len(m.Bytes))
	for _, row := range m.Bytes {
		for column, bytes := range row {
			to[column] += float64(bytes)
			all += float64(bytes)
			if bytes > 0 {
				senders[column]++
			}
		}
	}
	most := 0
	for column := range to {
		if to[column] > to[most] {
			most = column
		}
	}
	if all == 0 || to[most]*float64(len(to)) < leastCulprit*all {
		return ""
	}
	from := ""
	if m.Block == 1 {
		from = ", from " + spelling.Count(senders[most], "rank")
	}
	return fmt.Sprintf("; %s of the bytes between ranks, %s, go to %s%s", percent(to[most]/all), formatBytes(to[most]), blockText(most, m.Block, ranks), from)
}

// leastFinding is the share of the time that is worth a sentence.
const leastFinding = 0.01

// capital returns a text with a capital letter at its beginning.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// waitingCauses returns the causes of waiting, those with more time first.
func waitingCauses(t *result.Times) []string {
	waits := slices.DeleteFunc(slices.Clone(causes), func(c string) bool { return c == "computing" || c == "processor" || t.Causes[c] == nil })
	slices.SortStableFunc(waits, func(a, b string) int { return t.Causes[b].Cmp(t.Causes[a]) })
	return waits
}

// mostIn names the call with most of the time for a cause.
func mostIn(calls []result.CallTimes, cause string) string {
	var most *result.CallTimes
	for i := range calls {
		if d := calls[i].Causes[cause]; d != nil && (most == nil || d.Cmp(most.Causes[cause]) > 0) {
			most = &calls[i]
		}
	}
	if most == nil {
		return ""
	}
	return ", most of it in " + nameOfCall(most)
}

// extremesOf names the ranks that wait longest for a cause, and the rank that waits least.
func extremesOf(tasks []result.Task, cause string) string {
	if len(tasks) < 2 {
		return ""
	}
	least, most := 0, 0
	for i := range tasks {
		if v := floatOf(tasks[i].Causes[cause]); v < floatOf(tasks[least].Causes[cause]) {
			least = i
		} else if v > floatOf(tasks[most].Causes[cause]) {
			most = i
		}
	}
	longest, shortest := floatOf(tasks[most].Causes[cause]), floatOf(tasks[least].Causes[cause])
	if least == most || shortest > longest*(1-leastFinding) {
		return ""
	}
	who := fmt.Sprintf("rank %d waits longest, %s", tasks[most].Rank, formatTime(longest))
	switch alike := waitAlike(tasks, cause, longest); {
	case len(alike) > len(tasks)/2:
		who = fmt.Sprintf("%d of %d ranks wait for up to %s each", len(alike), len(tasks), formatTime(longest))
	case len(alike) > 1:
		who = fmt.Sprintf("%s wait longest, up to %s each", rangesOfRanks(alike), formatTime(longest))
	}
	how := "not at all"
	if shortest > 0 {
		how = "least, " + formatTime(shortest)
	}
	return fmt.Sprintf("; %s, and rank %d %s", who, tasks[least].Rank, how)
}

// waitAlike returns the ranks that wait for a cause nearly as long as the rank that waits longest.
func waitAlike(tasks []result.Task, cause string, longest float64) (alike []int) {
	const nearly = 0.9
	for i := range tasks {
		if floatOf(tasks[i].Causes[cause]) >= nearly*longest {
			alike = append(alike, tasks[i].Rank)
		}
	}
	return alike
}

// rangesOfRanks returns a list of several ranks, in their order, as text: at most three ranges, and the number of the others.
func rangesOfRanks(ranks []int) string {
	const most = 3
	var named []string
	left := len(ranks)
	for from := 0; from < len(ranks) && len(named) < most; {
		to := from
		for to+1 < len(ranks) && ranks[to+1] == ranks[to]+1 {
			to++
		}
		text := strconv.Itoa(ranks[from])
		if to > from {
			text += " to " + strconv.Itoa(ranks[to])
		}
		named, left, from = append(named, text), left-(to-from+1), to+1
	}
	if left > 0 {
		named = append(named, spelling.Count(left, "other"))
	}
	last := len(named) - 1
	if last == 0 {
		return "ranks " + named[0]
	}
	return "ranks " + strings.Join(named[:last], ", ") + " and " + named[last]
}

// nameOfCall returns the function and communicator of calls.
func nameOfCall(c *result.CallTimes) string {
	if c.Communicator == "" {
		return c.Function
	}
	return c.Function + " on " + c.Communicator
}

// causesOfRun has the time of a rank by cause.
func causesOfRun(d *result.Document) (s section) {
	if d.Statistics == nil || d.Statistics.Time.Sign() == 0 {
		return s
	}
	s = section{Name: "causes", Title: "Time by cause"}
	t := tableOf{Columns: []string{"cause", "time of a rank", "share"}}
	for _, cause := range causes {
		if sum := d.Statistics.Causes[cause]; sum != nil {
			t.Rows = append(t.Rows, []string{cause, s.perRank(d, sum), percent(shareOf(&d.Statistics.Times, cause))})
		}
	}
	s.Tables = []tableOf{t}
	return s
}

// functionsOfRun has the time in each function of MPI.
func functionsOfRun(d *result.Document) (s section) {
	if d.Statistics == nil || len(d.Statistics.Calls) == 0 {
		return s
	}
	s = section{Name: "functions", Title: "Time by function"}
	calls := slices.Clone(d.Statistics.Calls)
	slices.SortStableFunc(calls, func(a, b result.CallTimes) int { return b.Time.Cmp(a.Time) })
	if c := functionShares(d, calls); c != nil {
		s.Shares = []*shares{c}
	}
	t := tableOf{Columns: []string{"function", "calls", "bytes", "time of a rank", "waiting"}}
	shown := map[string]bool{}
	for i := range calls {
		for cause := range calls[i].Causes {
			shown[cause] = true
		}
	}
	for _, e := range legendOf(shown) {
		t.Columns = append(t.Columns, e.Name)
	}
	for i := range calls {
		c := &calls[i]
		row := []string{nameOfCall(c), fmt.Sprint(c.Count), formatBytes(float64(c.Bytes)), s.perRank(d, c.Time), s.perRank(d, c.Waiting)}
		for _, e := range legendOf(shown) {
			row = append(row, dashed(c.Causes[e.Name], float64(d.Ranks)))
		}
		t.Rows = append(t.Rows, row)
	}
	s.Tables = []tableOf{t}
	return s
}

// dashed returns a sum of times over a number, a dash for no time.
func dashed(sum *big.Int, n float64) string {
	if sum == nil {
		return "–"
	}
	return formatTime(floatOf(sum) / n)
}

// The sizes of the drawing of functions.
const (
	functionLeft  = 150.0
	functionRight = 366.0
	mostFunctions = 16
)

// functionShares draws a row for each of the calls with most time, nil if none takes time.
func functionShares(d *result.Document, calls []result.CallTimes) *shares {
	longest := floatOf(calls[0].Time)
	if longest == 0 {
		return nil
	}
	c := &shares{Title: "Time of a rank in MPI", About: "Time of a rank in each function of MPI, by cause", Width: chartWidth, Left: functionLeft - 6, Right: functionRight + 6}
	shown := map[string]bool{}
	for i := range calls[:min(len(calls), mostFunctions)] {
		of := &calls[i]
		if of.Time.Sign() == 0 {
			break
		}
		row := shareRow{Label: shortened(nameOfCall(of), 22), Y: (float64(i) + 0.5) * shareRowHeight, Text: formatTime(floatOf(of.Time) / float64(d.Ranks))}
		at := functionLeft
		for _, cause := range causes {
			sum := of.Causes[cause]
			if sum == nil {
				continue
			}
			shown[cause] = true
			width := floatOf(sum) / longest * (functionRight - functionLeft)
			row.Bars = append(row.Bars, shareBar{bar{at, row.Y - shareBarHeight/2, width, shareBarHeight,
				fmt.Sprintf("%s: %s %s", nameOfCall(of), cause, formatTime(floatOf(sum)/float64(d.Ranks)))}, styleOfCause(cause)})
			at += width
		}
		c.Rows = append(c.Rows, row)
	}
	c.Legend, c.Height = legendOf(shown), float64(len(c.Rows))*shareRowHeight
	return c
}

// shortened returns a text of at most some letters.
func shortened(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}

// mostListedRanks is the number of ranks up to which a table has each of them.
const mostListedRanks = 16

// ranksOfRun has the time of each rank.
func ranksOfRun(d *result.Document) (s section) {
	if d.Statistics == nil || d.Statistics.Time.Sign() == 0 {
		return s
	}
	s = section{Name: "ranks", Title: "Time by rank"}
	tasks := d.Statistics.Tasks
	if len(tasks) == 0 {
		return section{} // of more than 65,536 ranks there are sums alone
	}
	s.Stacks = rankStacks(tasks)
	shown := map[string]bool{}
	for cause := range d.Statistics.Causes {
		shown[cause] = true
	}
	over := tableOf{Columns: []string{"over ranks", "least", "of rank", "mean", "greatest", "of rank"}}
	each := tableOf{Columns: []string{"rank", "calls", "bytes", "time", "waiting"}}
	for _, e := range legendOf(shown) {
		least, most := 0, 0
		for i := range tasks {
			if v := floatOf(tasks[i].Causes[e.Name]); v < floatOf(tasks[least].Causes[e.Name]) {
				least = i
			} else if v > floatOf(tasks[most].Causes[e.Name]) {
				most = i
			}
		}
		over.Rows = append(over.Rows, []string{e.Name, formatTime(floatOf(tasks[least].Causes[e.Name])), fmt.Sprint(tasks[least].Rank),
			s.perRank(d, d.Statistics.Causes[e.Name]), formatTime(floatOf(tasks[most].Causes[e.Name])), fmt.Sprint(tasks[most].Rank)})
		each.Columns = append(each.Columns, e.Name)
	}
	over.Rows = append(over.Rows, bytesOfRanks(d.Statistics.Matrix)...)
	s.Tables = []tableOf{over}
	if len(tasks) > mostListedRanks {
		return s
	}
	for i := range tasks {
		t := &tasks[i]
		row := []string{fmt.Sprint(t.Rank), fmt.Sprint(t.Count), formatBytes(float64(t.Bytes)), formatTime(floatOf(t.Time)), formatTime(floatOf(t.Waiting))}
		for _, e := range legendOf(shown) {
			row = append(row, dashed(t.Causes[e.Name], 1))
		}
		each.Rows = append(each.Rows, row)
	}
	s.Tables = append(s.Tables, each)
	return s
}

// bytesOfRanks returns the rows of the bytes that ranks send and receive point to point, if the matrix has each rank.
func bytesOfRanks(m *result.Matrix) (rows [][]string) {
	if m == nil || m.Block != 1 || len(m.Bytes) == 0 {
		return nil
	}
	sent, received := make([]float64, len(m.Bytes)), make([]float64, len(m.Bytes))
	for from, row := range m.Bytes {
		for to, bytes := range row {
			sent[from] += float64(bytes)
			received[to] += float64(bytes)
		}
	}
	for _, of := range []struct {
		name  string
		bytes []float64
	}{{"bytes sent", sent}, {"bytes received", received}} {
		least, most, all := 0, 0, 0.0
		for rank, bytes := range of.bytes {
			all += bytes
			if bytes < of.bytes[least] {
				least = rank
			}
			if bytes > of.bytes[most] {
				most = rank
			}
		}
		rows = append(rows, []string{of.name, formatBytes(of.bytes[least]), fmt.Sprint(least), formatBytes(all / float64(len(of.bytes))), formatBytes(of.bytes[most]), fmt.Sprint(most)})
	}
	return rows
}

// sizesOfRun has the messages and the calls of collectives by size.
func sizesOfRun(d *result.Document) (s section) {
	s = section{Name: "sizes", Title: "Sizes of messages"}
	for _, of := range []struct {
		title, counted string
		style          int
		classes        []result.SizeClass
	}{{"Messages point to point", "messages", 0, d.Sent}, {"Bytes that a rank hands to a collective", "calls", 2, d.Handed}} {
		if len(of.classes) == 0 {
			continue
		}
		s.Stacks = append(s.Stacks, classStacks(of.title, "size", of.counted, of.style, of.classes, formatBytes))
		t := tableOf{Columns: []string{of.title, of.counted, "bytes in all"}}
		for _, c := range of.classes {
			t.Rows = append(t.Rows, []string{classText(c), fmt.Sprint(c.Count), formatBytes(float64(c.Bytes))})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// bandwidthsOfRun has the messages by the bandwidth that they saw.
func bandwidthsOfRun(d *result.Document) (s section) {
	if d.Statistics == nil || len(d.Statistics.Bandwidths) == 0 {
		return s
	}
	s = section{Name: "bandwidths", Title: "Bandwidths that messages saw",
		Text: "The bytes of a message over the time from when its content leaves until it is there. The messages of collectives count."}
	classes := d.Statistics.Bandwidths
	var sizes []result.SizeClass
	t := tableOf{Columns: []string{"bandwidth", "messages", "bytes in all"}}
	for _, c := range classes {
		sizes = append(sizes, result.SizeClass(c))
		t.Rows = append(t.Rows, []string{formatBandwidth(float64(c.Low)) + " to " + formatBandwidth(float64(c.High)), fmt.Sprint(c.Count), formatBytes(float64(c.Bytes))})
	}
	s.Stacks = []*stacks{classStacks("Messages by bandwidth", "bandwidth", "messages", 3, sizes, formatBandwidth)}
	s.Tables = []tableOf{t}
	return s
}

// energyOfRun has the energy by cause, if the machine tells it.
func energyOfRun(d *result.Document) (s section) {
	e := d.Energy
	if e == nil {
		return s
	}
	s = section{Name: "energy", Title: "Energy", Text: fmt.Sprintf("%s on %s, %.4g W on average.", Joules(e.Joules), spelling.Count(e.Nodes, "node"), e.Watts)}
	t := tableOf{Columns: []string{"cause", "energy", "share"}}
	for _, cause := range EnergyCauses(e) {
		t.Rows = append(t.Rows, []string{cause, Joules(e.Causes[cause]), percent(e.Causes[cause] / e.Joules)})
	}
	s.Tables = []tableOf{t}
	return s
}

// classText returns the range of a class of sizes.
func classText(c result.SizeClass) string {
	if c.High == c.Low {
		return fmt.Sprintf("%d B", c.Low)
	}
	return fmt.Sprintf("%d to %d B", c.Low, c.High)
}

// mostIterations is the number of iterations up to which a page has all.
const mostIterations = 40

// iterationsOfRun has the times of iterations.
func iterationsOfRun(d *result.Document) (s section) {
	if len(d.Iterations) == 0 {
		return s
	}
	s = section{Name: "iterations", Title: "Iterations"}
	t := tableOf{Columns: []string{"iteration", "operation", "least of a rank", "mean", "longest of a rank"}}
	for _, it := range d.Iterations[:min(len(d.Iterations), mostIterations)] {
		t.Rows = append(t.Rows, []string{fmt.Sprint(it.Index), it.Operation, formatTime(float64(it.Min)), formatTime(float64(it.Mean)), formatTime(float64(it.Max))})
	}
	if more := len(d.Iterations) - mostIterations; more > 0 {
		s.Text = fmt.Sprintf("The first %d; %s has %d more.", mostIterations, RunFile, more)
	}
	s.Tables = []tableOf{t}
	return s
}

// RunFile is the name of the result of a run beside its report.
const RunFile = "result.json"

// endsOfRun has the distribution of the ranks' ends.
func endsOfRun(d *result.Document) (s section) {
	if e := newExits("Ends of the ranks", 0, d.Finish); e != nil && d.FinishedRanks > 0 {
		s = section{Name: "ends", Title: "When ranks end", Exits: []*exits{e}}
	}
	return s
}
