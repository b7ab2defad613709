package fit

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gigarank/collectives"
	"gigarank/internal/loggp"
	"gigarank/internal/measurements"
	"gigarank/internal/spelling"
	"gigarank/network"
	"gigarank/vtime"
)

// Options are the user's options.
type Options struct {
	Name         string // of the machine
	RanksPerNode int    // 0 for the greatest number of any benchmark
	// Algorithms are the algorithms that the library used, by name; other operations have those that Library chooses, or else
	// the defaults of gigarank.
	Algorithms map[collectives.Operation]string
	// Library is the name or the file of the library's table, which the machine file names; empty for none. Chooser is that table,
	// nil for none. Where Algorithms names no algorithm, the library chooses it.
	Library    string
	Chooser    collectives.Library
	Interfaces int // number for a node; 0 for one interface that stands for all of them
	Cores      int // greatest number of concurrent simulations; 0 for all cores
}

// Fact is a field of the machine file, with the benchmark that determines it.
type Fact struct {
	Field    string
	Value    string
	From     string
	Estimate bool
}

// Missing is a field that no benchmark determines.
type Missing struct {
	Field  string
	Effect string // on simulations
	Remedy string // the benchmark that determines it
}

// Result is a machine with the facts from which it follows.
type Result struct {
	Machine   *network.Machine
	YAML      []byte // the machine file, with the facts as comments
	Facts     []Fact
	Missing   []Missing
	Residuals []measurements.Outcome // residuals of all points, in their order
	Series    []*Series              // of each residual
}

// fitter computes the fields of a machine file.
type fitter struct {
	Options
	series []Series

	levels       []level     // from the inside out, with the levels of the node and of the machine
	intra, inter *loggp.Pair // of these two levels
	node         shared
	gap          float64 // seconds; 0 if unknown
	overhead     float64 // of each processor
	reduce       float64 // seconds a byte; 0 for none
	near         []loggp.Collective
	nearRanks    int

	facts   []Fact
	missing []Missing
}

// Machine returns the machine that follows from the tables. The error names missing tables.
func Machine(series []Series, o Options) (*Result, error) {
	f := &fitter{Options: o, series: series}
	for i := range series {
		f.RanksPerNode = max(f.RanksPerNode, series[i].Layout.PerNode)
		if series[i].near() {
			f.RanksPerNode = max(f.RanksPerNode, series[i].Level.Size) // a node has a unit of so many
		}
	}
	from := "the most of any benchmark, or of a unit within a node"
	if o.RanksPerNode == f.RanksPerNode {
		from = "given"
	}
	f.fact("ranks_per_node", fmt.Sprint(f.RanksPerNode), from)
	if err := f.delays(); err != nil {
		return nil, err
	}
	f.findGap()
	f.findLimit()
	f.findJoins()
	if err := f.findInterfaces(); err != nil {
		return nil, err
	}
	f.findMemory()
	if err := f.findReduction(); err != nil {
		return nil, err
	}
	machine, text, err := f.write()
	if err != nil {
		return nil, err
	}
	r := &Result{Machine: machine, YAML: text, Facts: f.facts, Missing: f.missing}
	r.Residuals, r.Series = f.residuals(machine)
	return r, nil
}

func (f *fitter) fact(field, value, from string) {
	f.facts = append(f.facts, Fact{Field: field, Value: value, From: from})
}

func (f *fitter) estimate(field, value, from string) {
	f.facts = append(f.facts, Fact{Field: field, Value: value, From: from, Estimate: true})
}

func (f *fitter) lacks(field, effect, remedy string) {
	f.missing = append(f.missing, Missing{field, effect, remedy})
}

// row returns the place of a row as text.
func (s *Series) row(p Sample) string { return fmt.Sprintf("%s, %s:%d", s.Benchmark, s.File, p.Line) }

// place returns the place of a table's heading as text.
func (s *Series) place() string { return fmt.Sprintf("%s, %s:%d", s.Benchmark, s.File, s.Line) }

// pingPongs returns the delays of ping-pongs at a level, the least of each size, and their tables.
func (f *fitter) pingPongs(l *level) (points []loggp.Point, from string) {
	var places []string
	for i := range f.series {
		s := &f.series[i]
		if s.Kind != Latency || !l.of(s) {
			continue
		}
		places = append(places, s.place())
		for _, p := range s.Samples {
			points = include(points, p.Bytes, p.Seconds)
		}
	}
	return points, strings.Join(places, "; ")
}

// rings returns the time of a step of a ring by the size of its message, from tables of nccl-tests.
// All steps take as long as the slowest step, which goes between nodes where there are several.
func (f *fitter) rings(near bool) (points []loggp.Point, from string) {
	var places []string
	for i := range f.series {
		s := &f.series[i]
		ranks := s.Layout.Ranks()
		if s.Statistic != "nccl-tests" || s.near() != near || ranks < 2 || (s.Operation != collectives.Allreduce && s.Operation != collectives.Allgather) {
			continue
		}
		s.Algorithm = collectives.Ring.String()
		places = append(places, "steps of a ring, "+s.place())
		for _, p := range s.Samples {
			steps, message := ranks-1, p.Bytes
			if s.Operation == collectives.Allreduce {
				steps, message = 2*(ranks-1), p.Bytes/int64(ranks)
			}
			if message > 0 {
				points = include(points, message, p.Seconds/float64(steps))
			}
		}
	}
	return points, strings.Join(places, "; ")
}

// include keeps the least time of each size, by ascending size.
func include(points []loggp.Point, bytes int64, seconds float64) []loggp.Point {
	at, known := slices.BinarySearchFunc(points, bytes, func(p loggp.Point, n int64) int { return cmp.Compare(p.Bytes, n) })
	if known {
		points[at].Seconds = min(points[at].Seconds, seconds)
		return points
	}
	return slices.Insert(points, at, loggp.Point{Bytes: bytes, Seconds: seconds})
}

// delay returns the delay of a size, on the line between the sizes around it.
func delay(points []loggp.Point, bytes int64) float64 {
	at, _ := slices.BinarySearchFunc(points, bytes, func(p loggp.Point, n int64) int { return cmp.Compare(p.Bytes, n) })
	switch {
	case at == 0:
		return points[0].Seconds
	case at == len(points):
		return points[len(points)-1].Seconds
	}
	a, b := points[at-1], points[at]
	return a.Seconds + (b.Seconds-a.Seconds)*float64(bytes-a.Bytes)/float64(b.Bytes-a.Bytes)
}

// mostOverhead is the greatest share of the shortest delay that both overheads may take.
const mostOverhead = 0.9

// answerBytes is the size of the message with which a receiver answers a window of osu_bw.
const answerBytes = 4

// findGap finds the gap between messages of a rank and estimates the overheads.
func (f *fitter) findGap() {
	const remedy = "osu_bw of two nodes with one rank each"
	s := f.windows(func(s *Series) bool { return !s.near() && (s.Kind == Bandwidth || s.Pairs == 1) })
	delays := f.inter.Delays
	if s == nil {
		s, delays = f.windows(func(s *Series) bool { return s.near() && (s.Kind == Bandwidth || s.Pairs == 1) }), f.intra.Delays
	}
	if s == nil {
		f.lacks("network.gap, network.overhead", "messages cost no processor anything, which flatters linear algorithms and rings", remedy)
		return
	}
	p := s.Samples[0]
	window := float64(s.Window) * float64(p.Bytes) / p.Rate
	gap := (window - delay(delays, p.Bytes) - delay(delays, answerBytes)) / float64(s.Window-1)
	if gap <= 0 {
		f.lacks("network.gap, network.overhead", fmt.Sprintf("the window of %d messages at %s takes no longer than a message and its answer", s.Window, s.row(p)), remedy+", with its default window")
		return
	}
	f.gap = gap
	f.fact("network.gap", duration(gap).String(), fmt.Sprintf("%s of %d messages, less a message and its answer: %s", size(p.Bytes), s.Window, s.row(p)))
	f.overhead = min(gap, mostOverhead/2*f.shortest())
	from := "as long as the gap: the outputs do not tell processor and port apart"
	if f.overhead < gap {
		from = fmt.Sprintf("both overheads are %.0f %% of the shortest delay, less than the gap", 100*mostOverhead)
	}
	f.estimate("network.overhead", duration(f.overhead).String()+" to send and to receive", from)
}

// windows returns the first table of windows of messages that satisfies a condition.
func (f *fitter) windows(holds func(s *Series) bool) *Series {
	for i := range f.series {
		s := &f.series[i]
		if (s.Kind == Bandwidth || s.Kind == MessageRate) && s.Window > 1 && len(s.Samples) > 0 && holds(s) {
			return s
		}
	}
	return nil
}

// leastLimit is the least size of a message that may be the last eager one, and leastStep the least
// step after it as a share of its delay: bandwidths of long messages vary by less.
const (
	leastLimit = 512
	leastStep  = 0.25
)

// findLimit finds the eager limit as a step in the delays.
func (f *fitter) findLimit() {
	d := f.inter.Delays
	best, at := 0.0, -1
	for i := 1; i+2 < len(d); i++ {
		if d[i].Bytes < leastLimit {
			continue
		}
		slope := func(k int) float64 { return (d[k+1].Seconds - d[k].Seconds) / float64(d[k+1].Bytes-d[k].Bytes) }
		step := d[i+1].Seconds - d[i].Seconds - max(slope(i-1), slope(i+1))*float64(d[i+1].Bytes-d[i].Bytes)
		if step > max(best, leastStep*d[i].Seconds) {
			best, at = step, i
		}
	}
	if at < 0 || best < d[0].Seconds {
		f.lacks("network.eager_limit", "no sender waits for its receiver", "the library's documentation (no step in the delays shows it); write it into the file")
		return
	}
	f.setLimit(d[at].Bytes)
	f.fact("network.eager_limit", size(d[at].Bytes), fmt.Sprintf("a step of %v in the delays between %s and %s", duration(best), size(d[at].Bytes), size(d[at+1].Bytes)))
}

// findJoins finds the times of joins on a full node.
func (f *fitter) findJoins() {
	for i := range f.series {
		s := &f.series[i]
		if s.Kind == Collective && s.near() && s.Layout.PerNode == f.RanksPerNode && s.Layout.PerNode > 1 && s.Statistic != "nccl-tests" &&
			(s.Operation == collectives.Barrier || s.Operation == collectives.Allreduce) {
			for _, p := range s.Samples {
				if !slices.ContainsFunc(f.near, func(c loggp.Collective) bool { return c.Bytes == p.Bytes }) {
					f.near = append(f.near, loggp.Collective{Operation: s.Operation.String(), Point: loggp.Point{Bytes: p.Bytes, Seconds: p.Seconds}})
				}
			}
			f.nearRanks = s.Layout.PerNode
		}
	}
	if len(f.near) == 0 {
		if f.RanksPerNode > 1 {
			f.lacks("network.join", "ranks of a node join by a message within it", fmt.Sprintf("osu_barrier and osu_allreduce of %d ranks on one node", f.RanksPerNode))
		}
		return
	}
	slices.SortFunc(f.near, func(a, b loggp.Collective) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for i := len(f.near) - 2; i >= 0; i-- { // a disturbance adds to a measurement
		f.near[i].Seconds = min(f.near[i].Seconds, f.near[i+1].Seconds)
	}
	f.fact("network.join", spelling.Count(len(f.near), "size"), fmt.Sprintf("half of the barrier and of allreduces of %d ranks on one node, less the sums", f.nearRanks))
}

// leastReduction is the least size in bytes of the reductions that determine the bandwidth of sums.
const leastReduction = 64 << 10

// The range of the search for the bandwidth of sums, in bytes a second, and the number of trials.
const (
	slowestReduction = 0.1e9
	fastestReduction = 1e12
	reductionTrials  = 24
	// goodFit is the greatest factor at which the reductions determine the bandwidth. Beyond it,
	// their time has another cause.
	goodFit = 1.25
)

// findReduction finds the bandwidth of sums by simulations: by golden section search on the
// logarithm of the bandwidth.
func (f *fitter) findReduction() error {
	rows, _ := f.rows(func(s *Series, p Sample) bool {
		reduces := s.Operation == collectives.Allreduce || s.Operation == collectives.Reduce || s.Operation == collectives.ReduceScatter
		bytes := p.Bytes
		if s.Operation == collectives.ReduceScatter {
			bytes *= int64(s.Layout.Ranks())
		}
		return s.Kind == Collective && reduces && bytes >= leastReduction && s.Layout.Ranks() > 1
	})
	const remedy = "osu_allreduce to 1 MiB"
	if len(rows) == 0 {
		f.lacks("network.reduce", "sums take no time", remedy)
		return nil
	}
	misfit := func(logarithm float64) (float64, error) {
		f.reduce = math.Exp(-logarithm)
		machine, _, err := f.write()
		if err != nil {
			return 0, err
		}
		sum, n := 0.0, 0
		for _, o := range f.simulate(machine, rows) {
			if o.Simulated > 0 {
				sum, n = sum+math.Pow(math.Log(o.Ratio()), 2), n+1
			}
		}
		if n == 0 {
			return math.Inf(1), nil
		}
		return sum / float64(n), nil
	}
	low, high := math.Log(slowestReduction), math.Log(fastestReduction)
	best, least, err := goldenSection(misfit, low, high, reductionTrials)
	if err != nil {
		return err
	}
	if math.IsInf(least, 1) || best-low < 0.1 || high-best < 0.1 {
		f.reduce = 0
		f.lacks("network.reduce", "sums take no time", remedy+" (those that were given fit no bandwidth of sums)")
		return nil
	}
	f.reduce = math.Exp(-best)
	off := math.Exp(math.Sqrt(least))
	f.facts = append(f.facts, Fact{Field: "network.reduce", Value: fmt.Sprintf("%.3g GB/s", 1e-9/f.reduce), Estimate: off > goodFit,
		From: fmt.Sprintf("simulations of %s of %s or more, which then are off by a factor of %.2f (root of the mean square)", spelling.Count(len(rows), "reduction"), size(leastReduction), off)})
	return nil
}

// goldenSection returns the place of the minimum of a function with a single minimum between two
// ends, and the value there.
func goldenSection(of func(float64) (float64, error), low, high float64, trials int) (at, least float64, err error) {
	const ratio = 0.6180339887498949
	a, b := high-ratio*(high-low), low+ratio*(high-low)
	atA, err := of(a)
	if err != nil {
		return 0, 0, err
	}
	atB, err := of(b)
	if err != nil {
		return 0, 0, err
	}
	for range trials {
		if atA <= atB {
			high, b, atB = b, a, atA
			a = high - ratio*(high-low)
			atA, err = of(a)
		} else {
			low, a, atA = a, b, atB
			b = low + ratio*(high-low)
			atB, err = of(b)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if atA <= atB {
		return a, atA, nil
	}
	return b, atB, nil
}

// rows returns the collectives, which are simulated as those of measurements.
func (f *fitter) rows(wanted func(*Series, Sample) bool) (rows []measurements.Row, of []*Series) {
	for i := range f.series {
		s := &f.series[i]
		if s.Kind != Collective {
			continue
		}
		for _, p := range s.Samples {
			if !wanted(s, p) {
				continue
			}
			row := measurements.Row{Line: p.Line, Machine: f.Name, Nodes: s.Layout.Nodes, PerNode: s.Layout.PerNode, Operation: s.Operation.String(),
				Bytes: p.Bytes, Measured: p.Seconds, Source: s.File, Library: s.Benchmark, Algorithm: s.Algorithm, Statistic: s.Statistic}
			if name := f.Algorithms[s.Operation]; name != "" {
				row.Algorithm = name
			}
			rows, of = append(rows, row), append(of, s)
		}
	}
	return rows, of
}

// residuals returns all points beside their simulations, in their order, and the table of each.
func (f *fitter) residuals(m *network.Machine) (all []measurements.Outcome, of []*Series) {
	rows, _ := f.rows(func(*Series, Sample) bool { return true })
	simulated := f.simulate(m, rows)
	cores := f.Cores
	if cores < 1 {
		cores = runtime.GOMAXPROCS(0)
	}
	var workers sync.WaitGroup
	free := make(chan struct{}, cores)
	for i := range f.series {
		for range f.series[i].Samples {
			of = append(of, &f.series[i])
		}
	}
	all = make([]measurements.Outcome, len(of))
	at := 0
	for i := range f.series {
		s := &f.series[i]
		for _, p := range s.Samples {
			to := &all[at]
			at++
			if s.Kind == Collective {
				*to, simulated = simulated[0], simulated[1:]
				continue
			}
			free <- struct{}{}
			workers.Go(func() {
				*to = f.outcome(m, s, p)
				<-free
			})
		}
	}
	workers.Wait()
	return all, of
}

// mostCost is the greatest CPU time in seconds for the simulation of a point.
const mostCost = 60

func (f *fitter) simulate(m *network.Machine, rows []measurements.Row) []measurements.Outcome {
	options := measurements.Options{Limit: mostCost, Cores: f.Cores, Machine: func(*measurements.Row) (*network.Machine, error) { return m, nil }}
	if f.Chooser != nil {
		options.Library = func(*measurements.Row, *network.Machine) (collectives.Library, error) { return f.Chooser, nil }
	}
	return measurements.Compare(rows, options)
}

// write returns the machine with the fields found so far, and its file.
func (f *fitter) write() (*network.Machine, []byte, error) {
	var text strings.Builder
	line := func(format string, arguments ...any) { _, _ = fmt.Fprintf(&text, format+"\n", arguments...) }
	line("name: %q", f.Name)
	line("description: made of the output of benchmarks by gigarank machine fit")
	line("source: %q", f.source())
	line("ranks_per_node: %d", f.RanksPerNode)
	if f.Library != "" {
		line("library: %q", f.Library)
	}
	var estimates []string
	for _, fact := range f.facts {
		if fact.Estimate {
			estimates = append(estimates, fact.Field)
		}
	}
	if len(estimates) > 0 {
		line("estimates: [%s]", strings.Join(estimates, ", "))
	}
	if node := f.writeInterfaces(); node != "" {
		line("%s", node)
	}
	line("network:")
	line("  model: levels")
	overhead := duration(f.overhead)
	limit := int64(math.MaxInt64)
	if f.inter.Rendezvous != nil {
		limit = f.inter.Rendezvous.EagerLimit
		line("  eager_limit: %d", limit)
	}
	line("  levels: %s", f.writeLevels(limit))
	if f.gap > 0 {
		line("  overhead: {send: %v, receive: %v}", overhead, overhead)
		line("  gap: %v", duration(f.gap))
	}
	if f.reduce > 0 {
		line("  reduce: {bandwidth: %.0fB/s}", 1/f.reduce)
	}
	if len(f.near) > 0 {
		line("  join: %s", loggp.Joins(f.near, f.nearRanks, f.reduce))
	}
	machine, err := network.Parse(f.Name, []byte(text.String()), nil)
	if err != nil {
		return nil, nil, fmt.Errorf("the outputs make no machine: %w", err)
	}
	var file strings.Builder
	for _, fact := range f.facts {
		estimate := ""
		if fact.Estimate {
			estimate = "estimate: "
		}
		_, _ = fmt.Fprintf(&file, "# %s: %s. %s%s.\n", fact.Field, fact.Value, estimate, fact.From)
	}
	for _, m := range f.missing {
		_, _ = fmt.Fprintf(&file, "# Not determined: %s; %s.\n", m.Field, m.Effect)
	}
	return machine, append([]byte(file.String()), machine.YAML()...), nil
}

// source returns the names of the benchmarks.
func (f *fitter) source() string {
	var names []string
	for i := range f.series {
		if name := f.series[i].Benchmark + " in " + f.series[i].File; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// duration rounds a time to picoseconds.
func duration(seconds float64) vtime.Duration { return vtime.FromSeconds(max(seconds, 0)) }

// size prints a number of bytes.
func size(n int64) string {
	for _, u := range []struct {
		unit string
		bits int
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if n >= 1<<u.bits && n%(1<<u.bits) == 0 {
			return fmt.Sprintf("%d %s", n>>u.bits, u.unit)
		}
	}
	return fmt.Sprintf("%d B", n)
}
