package study

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
)

// PredictedRun is one run of a program.
type PredictedRun struct {
	// Hosts is the number of host processes of the simulator, 0 for a real run.
	Hosts int `json:"hosts"`
	// Time is what the program itself has printed, in seconds.
	Time float64 `json:"time_s"`
	// CPU is the user and system time of all its processes and Wall the wall time, in
	// seconds, from the start of the first process to the end of the last.
	CPU  float64 `json:"cpu_s"`
	Wall float64 `json:"wall_s"`
}

// PredictedSetting is what all turns of a study share.
type PredictedSetting struct {
	Program string `json:"program"` // with its arguments
	Real    string `json:"real"`
	// Machine names the machine file and its digest, or how the machine is measured.
	Machine  string `json:"machine"`
	Launcher string `json:"launcher"`
}

// PredictedTurn is a real run and the simulated runs that are compared with it, made one after the
// other: a line of results.jsonl.
type PredictedTurn struct {
	Schema  int              `json:"schema"`
	Version string           `json:"version"` // of gigarank
	Setting PredictedSetting `json:"setting"`
	Ranks   int              `json:"ranks"`
	Turn    int              `json:"turn"` // of these ranks, from 0
	// MachineFile is the text of the machine file of the simulated runs.
	MachineFile string `json:"machine_file"`
	// Drift is null where the machine was not measured around the real run.
	Drift     *Drift         `json:"drift,omitempty"`
	Real      PredictedRun   `json:"real"`
	Simulated []PredictedRun `json:"simulated"`
}

// Drift is how the machine has changed during a real run: medians, over sizes, of the times of
// ping-pongs measured after it by those before it, up to 4 KiB and longer.
type Drift struct {
	Short float64 `json:"short"`
	Long  float64 `json:"long"`
}

func (t PredictedTurn) schemas() (own, document int, failed bool) { return t.Schema, Schema, false }

// on returns the simulated run on some hosts.
func (t PredictedTurn) on(hosts int) (r PredictedRun, made bool) {
	at := slices.IndexFunc(t.Simulated, func(r PredictedRun) bool { return r.Hosts == hosts })
	if at < 0 {
		return r, false
	}
	return t.Simulated[at], true
}

// PredictionJournal is the journal of a study that compares real runs with simulated ones.
type PredictionJournal struct{ lines[PredictedTurn] }

// OpenPredictionJournal is OpenJournal for a study that compares real runs with simulated ones.
func OpenPredictionJournal(dir string, resume bool) (*PredictionJournal, error) {
	l, err := openLines[PredictedTurn](dir, resume)
	if err != nil {
		return nil, err
	}
	return &PredictionJournal{*l}, nil
}

// Outcome returns the finished turns, up to a number for each of the ranks, that have runs on all the
// hosts. It is an error if there is a turn of another setting or version, since times must not
// be mixed.
func (j *PredictionJournal) Outcome(setting PredictedSetting, version string, ranks, hosts []int, turns int) (done []PredictedTurn, err error) {
	for _, t := range j.records {
		if t.Setting != setting || t.Version != version {
			return nil, fmt.Errorf("%s has a turn of %+v by gigarank %s, and this is %+v by %s: go on with the same, or name another directory",
				j.file.Name(), t.Setting, t.Version, setting, version)
		}
		whole := !slices.ContainsFunc(hosts, func(n int) bool { _, made := t.on(n); return !made })
		if whole && t.Turn < turns && slices.Contains(ranks, t.Ranks) {
			done = append(done, t)
		}
	}
	return done, nil
}

// Prediction compares real runs of a program with simulated ones, as the tables of VACED-SIM:
// n is the number of ranks, N that of host processes of the simulator.
type Prediction struct {
	Program string
	Machine string // its name
	Turns   []PredictedTurn
}

// PredictedPoint is what is compared of n ranks on N hosts. Values are medians over the turns, of
// values within a turn: a machine that changes from turn to turn changes both runs of a turn.
type PredictedPoint struct {
	Ranks, Hosts int
	Runs         int
	// What the program prints, in seconds.
	Real, LeastReal, MostReal, Simulated float64
	// Error is RE(n, N) = simulated / real − 1.
	Error, LeastError, MostError float64
	// Slowdown is SD(n, N), the simulator's CPU time over that of the real run.
	Slowdown float64
	// Speedup is S(n, N), the wall time of the simulation on the fewest hosts over that on N.
	Speedup float64
}

// Points returns what is compared, by ranks and hosts.
func (p *Prediction) Points() []PredictedPoint {
	type key struct{ ranks, hosts int }
	var keys []key
	for _, t := range p.Turns {
		for _, r := range t.Simulated {
			if k := (key{t.Ranks, r.Hosts}); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(a.ranks-b.ranks, a.hosts-b.hosts)
	})
	var points []PredictedPoint
	var fewest key // hosts of the ranks at hand
	for _, k := range keys {
		if fewest.ranks != k.ranks {
			fewest = k
		}
		var real, simulated, errors, slowdowns, speedups []float64
		for _, t := range p.Turns {
			r, made := t.on(k.hosts)
			if t.Ranks != k.ranks || !made {
				continue
			}
			real, simulated = append(real, t.Real.Time), append(simulated, r.Time)
			errors = append(errors, r.Time/t.Real.Time-1)
			slowdowns = append(slowdowns, r.CPU/t.Real.CPU)
			if first, made := t.on(fewest.hosts); made {
				speedups = append(speedups, first.Wall/r.Wall)
			}
		}
		point := PredictedPoint{Ranks: k.ranks, Hosts: k.hosts, Runs: len(real),
			LeastReal: slices.Min(real), MostReal: slices.Max(real), LeastError: slices.Min(errors), MostError: slices.Max(errors)}
		point.Real, _, _ = median(real)
		point.Simulated, _, _ = median(simulated)
		point.Error, _, _ = median(errors)
		point.Slowdown, _, _ = median(slowdowns)
		if len(speedups) > 0 {
			point.Speedup, _, _ = median(speedups)
		}
		points = append(points, point)
	}
	return points
}

// writeDrift writes how much the machine has changed during real runs, where that was measured.
func (p *Prediction) writeDrift(w io.Writer) {
	var short, long []float64
	for _, t := range p.Turns {
		if t.Drift != nil {
			short, long = append(short, t.Drift.Short), append(long, t.Drift.Long)
		}
	}
	if len(short) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\nAfter a real run, ping-pongs up to 4 KiB took %.2f to %.2f times those before it, longer ones %.2f to %.2f times.\n",
		slices.Min(short), slices.Max(short), slices.Min(long), slices.Max(long))
}

// predictionColumns are those of results.csv.
var predictionColumns = []column[PredictedPoint]{
	{"ranks", func(p PredictedPoint) string { return strconv.Itoa(p.Ranks) }},
	{"hosts", func(p PredictedPoint) string { return strconv.Itoa(p.Hosts) }},
	{"runs", func(p PredictedPoint) string { return strconv.Itoa(p.Runs) }},
	{"real_s", func(p PredictedPoint) string { return decimal(p.Real) }},
	{"least_real_s", func(p PredictedPoint) string { return decimal(p.LeastReal) }},
	{"most_real_s", func(p PredictedPoint) string { return decimal(p.MostReal) }},
	{"simulated_s", func(p PredictedPoint) string { return decimal(p.Simulated) }},
	{"relative_error", func(p PredictedPoint) string { return decimal(p.Error) }},
	{"least_relative_error", func(p PredictedPoint) string { return decimal(p.LeastError) }},
	{"most_relative_error", func(p PredictedPoint) string { return decimal(p.MostError) }},
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
	p.writeDrift(w)
}
