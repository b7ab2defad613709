package main

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"gigarank/internal/result"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/study"
	"gigarank/vtime"
)

// statisticsOf returns the statistics of calls in the form of a document without tasks, nil for none. A run takes a time.
func statisticsOf(c *mpivirt.CallStatistics, ranks int64, took vtime.Time) *result.Statistics {
	if c == nil {
		return nil
	}
	s := &result.Statistics{Calls: []result.CallTimes{}}
	var all [mpivirt.NumberOfCauses]mpivirt.Total
	all[mpivirt.Computing] = c.Balance.Computing
	for _, row := range c.Calls {
		of := result.CallTimes{Function: row.Procedure, Communicator: row.Communicator, Count: row.Count, Bytes: row.Bytes}
		of.Times = causeTimes(&row.Times)
		for i := range all {
			all[i].Merge(row.Times[i])
		}
		s.Calls = append(s.Calls, of)
	}
	s.Times = causeTimes(&all)
	s.WaitedFor, s.Late, s.Held = waitedFor(c.Blamed), lateOf(&all), heldOf(c.Blamed)
	for _, phase := range c.Phases {
		s.Phases = append(s.Phases, result.Phase{Activity: phase.Name, Count: phase.Count, Time: phase.Time.Big()})
	}
	if greatest := float64(c.Balance.Greatest); greatest > 0 && took > 0 { // else no rank has finished
		mean := float64(c.Balance.Computing.Over(uint64(ranks)))
		s.Efficiency = &result.Efficiency{
			LoadBalance: mean / greatest, Communication: greatest / float64(took), Parallel: mean / float64(took),
			Greatest: int64(c.Balance.Greatest), GreatestRank: c.Balance.Rank,
		}
	}
	s.Bandwidths = []result.BandwidthClass{}
	for _, class := range c.Speeds {
		s.Bandwidths = append(s.Bandwidths, result.BandwidthClass(class))
	}
	for i := range c.Sites {
		of := &c.Sites[i]
		site := result.Site{Place: of.Place, Function: of.Procedure, Count: of.Count, Bytes: of.Bytes, Times: causeTimes(&of.Times)}
		for _, from := range of.Senders {
			site.Senders = append(site.Senders, result.LateSends{Place: from.Place, Time: from.Time.Big()})
		}
		s.Sites = append(s.Sites, site)
	}
	s.Course = courseOf(&c.Course)
	if c.Block > 0 {
		s.Matrix = &result.Matrix{Block: c.Block, Bytes: c.Matrix}
	}
	return s
}

// courseOf returns the course of a run in the form of a document, nil for none.
func courseOf(c *mpivirt.CourseTimes) *result.Course {
	if len(c.Bins) == 0 {
		return nil
	}
	of := &result.Course{Width: int64(c.Width), Causes: map[string][]*big.Int{}}
	for cause := range mpivirt.NumberOfCauses {
		times, some := make([]*big.Int, len(c.Bins)), false
		for i := range c.Bins {
			times[i] = c.Bins[i][cause].Big()
			some = some || times[i].Sign() > 0
		}
		if some {
			of.Causes[mpivirt.Cause(cause).String()] = times
		}
	}
	return of
}

// tasksOf returns the sums of each rank in the form of a document.
func tasksOf(c *mpivirt.CallStatistics) (all []result.Task) {
	all = make([]result.Task, 0, len(c.Tasks))
	for rank, task := range c.Tasks {
		of := result.Task{Rank: rank, Count: task.Count, Bytes: task.Bytes, Times: taskTimes(&task.Times)}
		for i := range c.ByTask {
			if calls := &c.ByTask[i].Tasks[rank]; calls.Count > 0 {
				of.Functions = append(of.Functions, result.CallTimes{Function: c.ByTask[i].Procedure, Count: calls.Count, Bytes: calls.Bytes, Times: taskTimes(&calls.Times)})
			}
		}
		all = append(all, of)
	}
	return all
}

// spread has the least and the greatest time of a rank for a cause, and the first ranks with these.
type spread struct {
	least, greatest         vtime.Duration
	leastRank, greatestRank int
}

// spreadOf returns how the ranks' times spread, by cause.
func spreadOf(tasks []mpivirt.Task) []spread {
	if len(tasks) == 0 {
		return nil
	}
	all := make([]spread, mpivirt.NumberOfCauses)
	for cause, d := range tasks[0].Times {
		all[cause] = spread{least: d, greatest: d}
	}
	for rank := range tasks {
		times := &tasks[rank].Times
		for cause := range all {
			s, d := &all[cause], times[cause]
			if d < s.least {
				s.least, s.leastRank = d, rank
			}
			if d > s.greatest {
				s.greatest, s.greatestRank = d, rank
			}
		}
	}
	return all
}

// waitedFor returns the ranks for which others wait longest in the form of a document.
func waitedFor(blamed []mpivirt.RankBlame) (of []result.WaitedFor) {
	for i := range blamed[:min(len(blamed), result.MostWaitedFor)] {
		b := result.WaitedFor{Rank: blamed[i].Rank, Time: blamed[i].All().Big(), Causes: map[string]*big.Int{}}
		if d := blamed[i].Held.Big(); d.Sign() > 0 {
			b.Held = d
		}
		for cause, sum := range blamed[i].Times {
			if d := sum.Big(); d.Sign() > 0 {
				b.Causes[(mpivirt.LateSender + mpivirt.Cause(cause)).String()] = d
			}
		}
		of = append(of, b)
	}
	return of
}

// heldOf returns the time for which ranks wait for others while other messages delay these, nil for none.
func heldOf(blamed []mpivirt.RankBlame) *big.Int {
	var sum mpivirt.Total
	for i := range blamed {
		sum.Merge(blamed[i].Held)
	}
	if sum == (mpivirt.Total{}) {
		return nil
	}
	return sum.Big()
}

// lateOf returns the time for which ranks wait for other ranks.
func lateOf(times *[mpivirt.NumberOfCauses]mpivirt.Total) *big.Int {
	var sum mpivirt.Total
	for cause := range (mpivirt.RankBlame{}).Times {
		sum.Merge(times[int(mpivirt.LateSender)+cause])
	}
	return sum.Big()
}

// taskTimes returns the times of a rank by cause in the form of a document. A rank's times add up to the time of the run at most.
func taskTimes(times *mpivirt.Causes) result.Times {
	of := result.Times{Time: big.NewInt(int64(times.Total())), Waiting: big.NewInt(int64(times.Waiting())), Causes: map[string]*big.Int{}}
	for i, d := range times {
		if d > 0 {
			of.Causes[mpivirt.Cause(i).String()] = big.NewInt(int64(d))
		}
	}
	return of
}

// causeTimes returns times by cause in the form of a document.
func causeTimes(times *[mpivirt.NumberOfCauses]mpivirt.Total) (of result.Times) {
	of.Time, of.Waiting, of.Causes = new(big.Int), new(big.Int), map[string]*big.Int{}
	for i, sum := range times {
		if sum == (mpivirt.Total{}) {
			continue
		}
		cause, d := mpivirt.Cause(i), sum.Big()
		of.Causes[cause.String()] = d
		of.Time.Add(of.Time, d)
		if cause.Waits() {
			of.Waiting.Add(of.Waiting, d)
		}
	}
	return of
}

// over returns a sum of times divided by a number, rounded down.
func over(sum *big.Int, n int64) vtime.Duration {
	return vtime.Duration(new(big.Int).Quo(sum, big.NewInt(n)).Int64())
}

// causes are the names of all causes in their order.
func causes() (names []string) {
	for i := range mpivirt.NumberOfCauses {
		names = append(names, mpivirt.Cause(i).String())
	}
	return names
}

// tabulateStatistics prints the statistics of calls, if they were counted.
func (d *document) tabulateStatistics(w io.Writer) {
	s := d.Statistics
	if s == nil {
		return
	}
	d.tabulateCauses(w)
	if e := s.Efficiency; e != nil {
		_, _ = fmt.Fprintf(w, "load balance %.3f: rank %d computes longest, %v; communication efficiency %.3f, parallel efficiency %.3f\n\n",
			e.LoadBalance, e.GreatestRank, vtime.Duration(e.Greatest), e.Communication, e.Parallel)
	}
	d.tabulateWaitedFor(w)
	d.tabulateCalls(w)
	d.tabulateSites(w)
	d.tabulateTasks(w)
	tabulateMatrix(w, s.Matrix)
	tabulateBandwidths(w, s.Bandwidths)
	d.tabulatePhases(w)
}

// tabulateCauses prints for which causes the time of a rank passes.
func (d *document) tabulateCauses(w io.Writer) {
	s := d.Statistics
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "where time goes\ttime of a rank\tshare")
	for _, name := range causes() {
		if sum := s.Times.Causes[name]; sum != nil {
			_, _ = fmt.Fprintf(table, "%s\t%v\t%s\n", name, over(sum, d.Ranks), share(sum, s.Times.Time))
		}
	}
	_, _ = fmt.Fprintf(table, "all\t%v\t%s\n", over(s.Times.Time, d.Ranks), share(s.Times.Time, s.Times.Time))
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// shownWaitedFor is the number of ranks that a summary shows of those for which others wait.
const shownWaitedFor = 4

// tabulateWaitedFor prints the ranks for which others wait longest.
func (d *document) tabulateWaitedFor(w io.Writer) {
	s := d.Statistics
	if len(s.WaitedFor) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	head := "others wait for\ttime in all\tof waiting for ranks\tmost of it as"
	if s.Held != nil {
		head += "\twhile other messages delay the rank"
	}
	_, _ = fmt.Fprintln(table, head)
	for i := range s.WaitedFor[:min(len(s.WaitedFor), shownWaitedFor)] {
		b := &s.WaitedFor[i]
		_, _ = fmt.Fprintf(table, "rank %d\t%v\t%s\t%s", b.Rank, over(b.Time, 1), share(b.Time, s.Late), b.MostlyAs())
		switch {
		case b.Held != nil:
			_, _ = fmt.Fprintf(table, "\t%v", over(b.Held, 1))
		case s.Held != nil:
			_, _ = fmt.Fprint(table, "\t-")
		}
		_, _ = fmt.Fprintln(table)
	}
	if s.Held != nil {
		_, _ = fmt.Fprintf(table, "all ranks\t%v\t%s\t\t%v\n", over(s.Late, 1), share(s.Late, s.Late), over(s.Held, 1))
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// share returns a part of a whole in per cent.
func share(part, whole *big.Int) string {
	if whole.Sign() == 0 {
		return "-"
	}
	ratio, _ := new(big.Rat).SetFrac(part, whole).Float64()
	return perCent(ratio)
}

// perCent writes a share. One that is too small for a digit is not nothing.
func perCent(share float64) string {
	if 0 < share && share < 0.0005 {
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// tabulateCalls prints a row for each function and communicator, with the causes that take any time.
func (d *document) tabulateCalls(w io.Writer) {
	if len(d.Statistics.Calls) == 0 {
		return
	}
	var shown []string
	for _, name := range causes() {
		for _, row := range d.Statistics.Calls {
			if row.Causes[name] != nil {
				shown = append(shown, name)
				break
			}
		}
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, strings.Join(append([]string{"function", "communicator", "calls", "bytes", "time of a rank", "waiting"}, shown...), "\t"))
	for _, row := range d.Statistics.Calls {
		communicator := row.Communicator
		if communicator == "" {
			communicator = "-"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%v\t%v", row.Function, communicator, row.Count, row.Bytes, over(row.Time, d.Ranks), over(row.Waiting, d.Ranks))
		for _, name := range shown {
			_, _ = fmt.Fprintf(table, "\t%s", mean(row.Causes[name], d.Ranks))
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// shownSites is the number of places of the program that a summary shows.
const shownSites = 12

// tabulateSites prints the places of the program whose calls take most time, with the causes that take any.
func (d *document) tabulateSites(w io.Writer) {
	sites := study.LongestSites(d.Statistics.Sites, shownSites)
	if len(sites) == 0 {
		return
	}
	shown := slices.DeleteFunc(causes(), func(name string) bool {
		return !slices.ContainsFunc(sites, func(s result.Site) bool { return s.Causes[name] != nil })
	})
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, strings.Join(append([]string{"called from", "function", "calls", "bytes", "time of a rank", "waiting"}, shown...), "\t"))
	for i := range sites {
		s := &sites[i]
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%v\t%v", study.PlaceOf(s), s.Function, s.Count, s.Bytes, over(s.Time, d.Ranks), over(s.Waiting, d.Ranks))
		for _, name := range shown {
			_, _ = fmt.Fprintf(table, "\t%s", mean(s.Causes[name], d.Ranks))
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
	if more := len(d.Statistics.Sites) - len(sites); more > 0 {
		_, _ = fmt.Fprintf(w, "and %s more: --json FILE has all\n", spelling.Count(more, "place"))
	}
	_, _ = fmt.Fprintln(w)
	if pairs := study.LateSends(d.Statistics.Sites, shownSites); len(pairs) > 0 {
		_, _ = fmt.Fprintln(table, "waits for a late sender\tthat sends from\ttime of a rank")
		for _, p := range pairs {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%v\n", p.Waits, p.Sends, over(p.Time, d.Ranks))
		}
		_ = table.Flush()
		_, _ = fmt.Fprintln(w)
	}
}

// mean returns a sum of times divided by a number, a dash for no time.
func mean(sum *big.Int, n int64) string {
	if sum == nil {
		return "-"
	}
	return over(sum, n).String()
}

// shownTasks is the number of ranks up to which a summary has a row for each of them.
const shownTasks = 16

// tabulateTasks prints a row for each rank; of many ranks the least, mean and greatest time of each cause.
func (d *document) tabulateTasks(w io.Writer) {
	if d.Spread == nil {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	if d.Ranks > shownTasks {
		d.tabulateSpread(table)
	} else {
		d.tabulateEach(table)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// tabulateSpread prints the least, mean and greatest time of the ranks for each cause.
func (d *document) tabulateSpread(w io.Writer) {
	_, _ = fmt.Fprintln(w, "over ranks\tleast\trank\tmean\tgreatest\trank")
	for cause, name := range causes() {
		if sum := d.Statistics.Times.Causes[name]; sum != nil {
			s := &d.Spread[cause]
			_, _ = fmt.Fprintf(w, "%s\t%v\t%d\t%s\t%v\t%d\n", name, s.least, s.leastRank, mean(sum, d.Ranks), s.greatest, s.greatestRank)
		}
	}
}

// tabulateEach prints the times of each rank.
func (d *document) tabulateEach(w io.Writer) {
	var shown []string
	for _, name := range causes() {
		if d.Statistics.Times.Causes[name] != nil {
			shown = append(shown, name)
		}
	}
	_, _ = fmt.Fprintln(w, strings.Join(append([]string{"rank", "calls", "bytes", "time", "waiting"}, shown...), "\t"))
	for i := range d.Statistics.Tasks {
		t := &d.Statistics.Tasks[i]
		_, _ = fmt.Fprintf(w, "%d\t%d\t%d\t%v\t%v", t.Rank, t.Count, t.Bytes, over(t.Time, 1), over(t.Waiting, 1))
		for _, name := range shown {
			_, _ = fmt.Fprintf(w, "\t%s", mean(t.Causes[name], 1))
		}
		_, _ = fmt.Fprintln(w)
	}
}

// tabulateMatrix prints the bytes between ranks, or the size of a matrix that is too large for a terminal.
func tabulateMatrix(w io.Writer, m *result.Matrix) {
	if m == nil {
		return
	}
	n := len(m.Bytes)
	if n > shownTasks {
		_, _ = fmt.Fprintf(w, "bytes between ranks: %d x %d blocks of ranks, %d each; --json FILE has them\n\n", n, n, m.Block)
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(table, "bytes from rank\t")
	for to := range n {
		_, _ = fmt.Fprintf(table, "to %d\t", to*m.Block)
	}
	_, _ = fmt.Fprintln(table)
	for from, row := range m.Bytes {
		_, _ = fmt.Fprintf(table, "%d\t", from*m.Block)
		for _, bytes := range row {
			_, _ = fmt.Fprintf(table, "%d\t", bytes)
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// tabulateBandwidths prints how many messages saw which bandwidths.
func tabulateBandwidths(w io.Writer, classes []result.BandwidthClass) {
	if len(classes) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "bandwidth that messages saw\tmessages\tbytes in all")
	for _, c := range classes {
		_, _ = fmt.Fprintf(table, "%s-%s\t%d\t%d\n", study.Bandwidth(c.Low), study.Bandwidth(c.High), c.Count, c.Bytes)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// tabulatePhases prints the activities of processes.
func (d *document) tabulatePhases(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "activity of VACED-SIM\tcount\ttime of a rank")
	for _, phase := range d.Statistics.Phases {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%v\n", phase.Activity, phase.Count, over(phase.Time, d.Ranks))
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}
