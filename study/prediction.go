package study

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
)

// PredictedRun is one run of a program: a line of results.jsonl.
type PredictedRun struct {
	Schema int `json:"schema"`
	Ranks  int `json:"ranks"`
	// Hosts is the number of host processes of the simulator, 0 for a real run.
	Hosts int `json:"hosts"`
	// Time is what the program itself has printed, in seconds.
	Time float64 `json:"time_s"`
	// CPU is the user and system time of all its processes and Wall the wall time, in
	// seconds, from the start of the first process to the end of the last.
	CPU  float64 `json:"cpu_s"`
	Wall float64 `json:"wall_s"`
}

// Prediction compares real runs of a program with simulated ones, as the tables of VACED-SIM:
// n is the number of ranks, N that of host processes of the simulator. All values are medians
// of several runs.
type Prediction struct {
	Program string
	Machine string // its name
	Runs    []PredictedRun
}

// PredictedPoint is what is compared of n ranks on N hosts.
type PredictedPoint struct {
	Ranks, Hosts    int
	Runs            int
	Real, Simulated float64 // what the program prints, in seconds
	// Error is RE(n, N) = simulated / real − 1.
	Error float64
	// Slowdown is SD(n, N), the simulator's CPU time over that of the real run.
	Slowdown float64
	// Speedup is S(n, N), the wall time of the simulation on the fewest hosts over that on N.
	Speedup float64
}

// Points returns what is compared, by ranks and hosts.
func (p *Prediction) Points() []PredictedPoint {
	type key struct{ ranks, hosts int }
	runs := map[key][]PredictedRun{}
	var keys []key
	for _, r := range p.Runs {
		k := key{r.Ranks, r.Hosts}
		if len(runs[k]) == 0 {
			keys = append(keys, k)
		}
		runs[k] = append(runs[k], r)
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.ranks != b.ranks {
			return a.ranks - b.ranks
		}
		return a.hosts - b.hosts
	})
	middle := func(k key, value func(PredictedRun) float64) float64 {
		var all []float64
		for _, r := range runs[k] {
			all = append(all, value(r))
		}
		m, _, _ := median(all)
		return m
	}
	time, cpu, wall := func(r PredictedRun) float64 { return r.Time }, func(r PredictedRun) float64 { return r.CPU }, func(r PredictedRun) float64 { return r.Wall }
	var points []PredictedPoint
	var fewest key // hosts of the ranks at hand
	for _, k := range keys {
		real := key{ranks: k.ranks}
		if k.hosts == 0 || len(runs[real]) == 0 {
			continue
		}
		if fewest.ranks != k.ranks {
			fewest = k
		}
		point := PredictedPoint{Ranks: k.ranks, Hosts: k.hosts, Runs: len(runs[k]), Real: middle(real, time), Simulated: middle(k, time)}
		point.Error = point.Simulated/point.Real - 1
		point.Slowdown = middle(k, cpu) / middle(real, cpu)
		point.Speedup = middle(fewest, wall) / middle(k, wall)
		points = append(points, point)
	}
	return points
}

// predictionColumns are those of results.csv.
var predictionColumns = []column[PredictedPoint]{
	{"ranks", func(p PredictedPoint) string { return strconv.Itoa(p.Ranks) }},
	{"hosts", func(p PredictedPoint) string { return strconv.Itoa(p.Hosts) }},
	{"runs", func(p PredictedPoint) string { return strconv.Itoa(p.Runs) }},
	{"real_s", func(p PredictedPoint) string { return decimal(p.Real) }},
	{"simulated_s", func(p PredictedPoint) string { return decimal(p.Simulated) }},
	{"relative_error", func(p PredictedPoint) string { return decimal(p.Error) }},
	{"slowdown", func(p PredictedPoint) string { return decimal(p.Slowdown) }},
	{"speedup", func(p PredictedPoint) string { return decimal(p.Speedup) }},
}

// WriteCSV writes the points as a table.
func (p *Prediction) WriteCSV(w io.Writer) error { return writeCSV(w, predictionColumns, p.Points()) }

// WriteText writes the tables: times, then RE, SD and S with a line for each n and a column
// for each N.
func (p *Prediction) WriteText(w io.Writer) {
	points := p.Points()
	var ranks, hosts []int
	cells := map[[2]int]PredictedPoint{}
	for _, q := range points {
		if !slices.Contains(ranks, q.Ranks) {
			ranks = append(ranks, q.Ranks)
		}
		if !slices.Contains(hosts, q.Hosts) {
			hosts = append(hosts, q.Hosts)
		}
		cells[[2]int{q.Ranks, q.Hosts}] = q
	}
	slices.Sort(hosts)
	_, _ = fmt.Fprintf(w, "%s on %s: n ranks, simulated by N host processes\n", p.Program, p.Machine)
	for _, t := range []struct {
		title string
		real  bool
		value func(PredictedPoint) string
	}{
		{"time that the program prints", true, func(q PredictedPoint) string { return seconds(q.Simulated) }},
		{"relative error RE(n, N)", false, func(q PredictedPoint) string { return formatError(q.Error) }},
		{"slowdown SD(n, N): CPU time of the simulator over that of the real run", false, func(q PredictedPoint) string { return fmt.Sprintf("%.2f", q.Slowdown) }},
		{"speed-up S(n, N) of the simulator", false, func(q PredictedPoint) string { return fmt.Sprintf("%.2f", q.Speedup) }},
	} {
		_, _ = fmt.Fprintf(w, "\n%s\n", t.title)
		table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
		_, _ = fmt.Fprint(table, "n\t")
		if t.real {
			_, _ = fmt.Fprint(table, "real\t")
		}
		for _, h := range hosts {
			_, _ = fmt.Fprintf(table, "N = %d\t", h)
		}
		_, _ = fmt.Fprintln(table)
		for _, n := range ranks {
			_, _ = fmt.Fprintf(table, "%d\t", n)
			for i, h := range hosts {
				q, known := cells[[2]int{n, h}]
				if t.real && i == 0 {
					_, _ = fmt.Fprintf(table, "%s\t", seconds(q.Real))
				}
				text := ""
				if known {
					text = t.value(q)
				}
				_, _ = fmt.Fprintf(table, "%s\t", text)
			}
			_, _ = fmt.Fprintln(table)
		}
		_ = table.Flush()
	}
}
