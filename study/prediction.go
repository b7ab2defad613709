package study

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// PredictedRun is one run of a program.
type PredictedRun struct {
	// Hosts is the number of host processes of the simulator, 0 for a real run.
	Hosts int `json:"hosts"`
	// Time is the time in seconds that the program itself has printed.
	Time float64 `json:"time_s"`
	// CPU is the user and system time of all its processes and Wall the wall time, in
	// seconds, from the start of the first process to the end of the last.
	CPU  float64 `json:"cpu_s"`
	Wall float64 `json:"wall_s"`
	// Others is the processor time that went to other programs meanwhile, and to other machines of the
	// same host, in seconds. Processors is the number of processors, 0 where the system does not say.
	Others     float64 `json:"others_s"`
	Processors int     `json:"processors"`
}

// crowding returns the processor time that there was during a run over the part that others left of it.
func (r PredictedRun) crowding() float64 {
	all := float64(r.Processors) * r.Wall
	if all <= 0 || r.Others <= 0 {
		return 1
	}
	return all / max(all-r.Others, 0)
}

// PredictedSetting is what all turns of a study share: all that changes what their figures mean.
type PredictedSetting struct {
	Program string `json:"program"` // with its arguments, as a shell reads them
	Real    string `json:"real"`
	// ProgramDigest and RealDigest are the SHA-256 of the two executables in hexadecimal.
	ProgramDigest string `json:"program_sha256"`
	RealDigest    string `json:"real_sha256"`
	// Machine names the machine file and its digest, or how the machine is measured.
	Machine  string `json:"machine"`
	Launcher string `json:"launcher"`
	// TimeFrom is the regular expression that has read the times in the output.
	TimeFrom string `json:"time_from"`
}

// differences returns the settings in which a turn of s by a version of gigarank differs from another turn, "" if in none.
func (s PredictedSetting) differences(version string, other PredictedSetting, otherVersion string) string {
	var all []string
	for _, of := range []struct{ what, here, there string }{
		{"PROGRAM", s.Program, other.Program},
		{"the SHA-256 of PROGRAM", s.ProgramDigest, other.ProgramDigest},
		{"--real", s.Real, other.Real},
		{"the SHA-256 of the program of --real", s.RealDigest, other.RealDigest},
		{"the machine", s.Machine, other.Machine},
		{"--launcher", s.Launcher, other.Launcher},
		{"--time-from", s.TimeFrom, other.TimeFrom},
		{"gigarank", version, otherVersion},
	} {
		if of.here != of.there {
			all = append(all, fmt.Sprintf(`%s "%s" and not "%s"`, of.what, of.here, of.there))
		}
	}
	return strings.Join(all, ", ")
}

// PredictedTurn is a simulated run on each number of hosts between two real runs each, made one after
// the other: a line of results.jsonl.
type PredictedTurn struct {
	Schema  int              `json:"schema"`
	Version string           `json:"version"` // of gigarank
	Setting PredictedSetting `json:"setting"`
	Ranks   int              `json:"ranks"`
	Turn    int              `json:"turn"` // of these ranks, from 0
	// MachineFile is the text of the machine file of the simulated runs.
	MachineFile string `json:"machine_file"`
	// Real has one run more than Simulated, in the order of time: the i-th simulated run was made between
	// the i-th real run and the next.
	Real      []PredictedRun `json:"real_runs"`
	Simulated []PredictedRun `json:"simulated"`
}

// Disturbance returns by what ratio, at least 1, the machine was another one within the turn: the
// greatest of the times that two real runs around a simulated one have printed, the longer by the shorter,
// and of the processor time during each run over what other programs left of it.
func (t PredictedTurn) Disturbance() float64 {
	most := 1.0
	for i, r := range t.Real {
		most = max(most, r.crowding())
		if i > 0 {
			before := t.Real[i-1].Time
			most = max(most, r.Time/before, before/r.Time)
		}
	}
	for _, r := range t.Simulated {
		most = max(most, r.crowding())
	}
	return most
}

func (t PredictedTurn) schemas() (own, document int, failed bool) { return t.Schema, Schema, false }

// on returns the simulated run on some hosts, and the time and the CPU time of the real runs around it: their
// geometric means, in which a change that grows evenly in time cancels, whichever way it goes.
func (t PredictedTurn) on(hosts int) (r, real PredictedRun, made bool) {
	at := slices.IndexFunc(t.Simulated, func(r PredictedRun) bool { return r.Hosts == hosts })
	if at < 0 || len(t.Real) != len(t.Simulated)+1 {
		return r, real, false
	}
	before, after := t.Real[at], t.Real[at+1]
	real.Time, real.CPU = math.Sqrt(before.Time*after.Time), math.Sqrt(before.CPU*after.CPU)
	return t.Simulated[at], real, true
}

// PredictionJournal is the journal of a study that compares real runs with simulated runs.
type PredictionJournal struct{ lines[PredictedTurn] }

// OpenPredictionJournal is OpenJournal for a study that compares real runs with simulated runs.
func OpenPredictionJournal(dir string, resume bool) (*PredictionJournal, error) {
	l, err := openLines[PredictedTurn](dir, resume)
	if err != nil {
		return nil, err
	}
	return &PredictionJournal{*l}, nil
}

// Outcome returns the finished turns of the ranks that have runs on all the hosts, in the order of their
// numbers. It is an error if there is a turn of another setting or version, since times must not
// be mixed.
func (j *PredictionJournal) Outcome(setting PredictedSetting, version string, ranks, hosts []int) (done []PredictedTurn, err error) {
	for _, t := range j.records {
		if other := t.Setting.differences(t.Version, setting, version); other != "" {
			return nil, fmt.Errorf("%s has a turn with %s: go on with the same, or name another directory", j.file.Name(), other)
		}
		whole := !slices.ContainsFunc(hosts, func(n int) bool { _, _, made := t.on(n); return !made })
		if whole && slices.Contains(ranks, t.Ranks) {
			done = append(done, t)
		}
	}
	slices.SortStableFunc(done, func(a, b PredictedTurn) int { return a.Turn - b.Turn })
	return done, nil
}

// Prediction compares real runs of a program with simulated runs, as the tables of VACED-SIM:
// n is the number of ranks, N that of host processes of the simulator.
type Prediction struct {
	Program string
	Machine string // its name
	Turns   []PredictedTurn
	// Disturbed is the greatest disturbance of a turn that counts. The others are set aside: they are
	// listed, and no median has them. With 0 all count.
	Disturbed float64
}

// Counts reports whether a turn is not set aside.
func (p *Prediction) Counts(t PredictedTurn) bool {
	return p.Disturbed == 0 || t.Disturbance() <= p.Disturbed
}

// PredictedPoint compares runs of n ranks on N hosts. Values are medians over the turns that
// count, of values within a turn: a machine that changes from turn to turn changes all runs of a turn.
// They are NaN if no turn counts.
type PredictedPoint struct {
	Ranks, Hosts int
	Runs         int // turns that count
	SetAside     int // turns that do not
	// What the program prints, in seconds. A real time is the geometric mean of two runs.
	Real, LeastReal, MostReal, Simulated float64
	// Error is RE(n, N) = simulated / real − 1. LowError and HighError bound the median that endless turns
	// would have, as those of medians over seeds do.
	Error, LeastError, MostError, LowError, HighError float64
	// Slowdown is SD(n, N), the simulator's CPU time over that of the real run, with such bounds.
	Slowdown, LowSlowdown, HighSlowdown float64
	// Speedup is S(n, N), the wall time of the simulation on the fewest hosts over that on N.
	Speedup float64
}

// Points returns the comparisons, by ranks and hosts.
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
		point := PredictedPoint{Ranks: k.ranks, Hosts: k.hosts}
		var real, simulated, errors, slowdowns, speedups []float64
		for _, t := range p.Turns {
			r, around, made := t.on(k.hosts)
			switch {
			case t.Ranks != k.ranks || !made:
				continue
			case !p.Counts(t):
				point.SetAside++
				continue
			}
			real, simulated = append(real, around.Time), append(simulated, r.Time)
			errors = append(errors, r.Time/around.Time-1)
			slowdowns = append(slowdowns, r.CPU/around.CPU)
			if first, _, made := t.on(fewest.hosts); made {
				speedups = append(speedups, first.Wall/r.Wall)
			}
		}
		point.Runs = len(real)
		point.Real, point.LeastReal, point.MostReal = medianAndRange(real)
		point.Simulated, _, _ = medianAndRange(simulated)
		_, point.LeastError, point.MostError = medianAndRange(errors)
		point.Speedup, _, _ = medianAndRange(speedups)
		point.Error, point.LowError, point.HighError = math.NaN(), math.NaN(), math.NaN()
		point.Slowdown, point.LowSlowdown, point.HighSlowdown = math.NaN(), math.NaN(), math.NaN()
		if point.Runs > 0 {
			point.Error, point.LowError, point.HighError = median(errors)
			point.Slowdown, point.LowSlowdown, point.HighSlowdown = median(slowdowns)
		}
		points = append(points, point)
	}
	return points
}

// medianAndRange returns the median, the least and the greatest of values, NaN if there are none.
func medianAndRange(values []float64) (middle, least, most float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	middle, _, _ = median(values)
	return middle, slices.Min(values), slices.Max(values)
}

// writeTurns writes a line for each turn, and how many do not count.
func (p *Prediction) writeTurns(w io.Writer, hosts []int) {
	_, _ = fmt.Fprintf(w, "\nturns; processors that other programs took meanwhile, at most; the ratio by which the machine changed within the turn\n")
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(table, "n\tturn\treal runs\t")
	for _, h := range hosts {
		_, _ = fmt.Fprintf(table, "RE, N = %d\t", h)
	}
	_, _ = fmt.Fprintln(table, "others\tratio\t\t")
	aside := 0
	for _, t := range p.Turns {
		var real []string
		others := 0.0
		for _, r := range t.Real {
			real, others = append(real, seconds(r.Time)), max(others, r.Others/r.Wall)
		}
		_, _ = fmt.Fprintf(table, "%d\t%d\t%s\t", t.Ranks, t.Turn+1, strings.Join(real, ", "))
		for _, h := range hosts {
			text := ""
			if r, around, made := t.on(h); made {
				text, others = formatError(r.Time/around.Time-1), max(others, r.Others/r.Wall)
			}
			_, _ = fmt.Fprintf(table, "%s\t", text)
		}
		verdict := "counts"
		if !p.Counts(t) {
			aside++
			verdict = "set aside"
		}
		_, _ = fmt.Fprintf(table, "%.2f\t%.2f\t%s\t\n", others, t.Disturbance(), verdict)
	}
	_ = table.Flush()
	switch {
	case p.Disturbed == 0:
	case aside == 0:
		_, _ = fmt.Fprintf(w, "\nNo turn is set aside: none was disturbed by a ratio of more than %g.\n", p.Disturbed)
	case aside == len(p.Turns):
		_, _ = fmt.Fprintf(w, "\nAll turns are set aside: each was disturbed by a ratio of more than %g. Measure when nothing else runs, or allow more by --disturbed.\n", p.Disturbed)
	default:
		are := "are"
		if aside == 1 {
			are = "is"
		}
		_, _ = fmt.Fprintf(w, "\n%d of %d turns %s set aside, disturbed by a ratio of more than %g. No median has what is set aside.\n", aside, len(p.Turns), are, p.Disturbed)
	}
}

// number writes a value of a point, nothing if no turn counts.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return decimal(v)
}

// predictionColumns are the columns of results.csv.
var predictionColumns = []column[PredictedPoint]{
	{"ranks", func(p PredictedPoint) string { return strconv.Itoa(p.Ranks) }},
	{"hosts", func(p PredictedPoint) string { return strconv.Itoa(p.Hosts) }},
	{"runs", func(p PredictedPoint) string { return strconv.Itoa(p.Runs) }},
	{"real_s", func(p PredictedPoint) string { return number(p.Real) }},
	{"least_real_s", func(p PredictedPoint) string { return number(p.LeastReal) }},
	{"most_real_s", func(p PredictedPoint) string { return number(p.MostReal) }},
	{"simulated_s", func(p PredictedPoint) string { return number(p.Simulated) }},
	{"relative_error", func(p PredictedPoint) string { return number(p.Error) }},
	{"least_relative_error", func(p PredictedPoint) string { return number(p.LeastError) }},
	{"most_relative_error", func(p PredictedPoint) string { return number(p.MostError) }},
	{"slowdown", func(p PredictedPoint) string { return number(p.Slowdown) }},
	{"speedup", func(p PredictedPoint) string { return number(p.Speedup) }},
	{"low_relative_error", func(p PredictedPoint) string { return number(p.LowError) }},
	{"high_relative_error", func(p PredictedPoint) string { return number(p.HighError) }},
	{"low_slowdown", func(p PredictedPoint) string { return number(p.LowSlowdown) }},
	{"high_slowdown", func(p PredictedPoint) string { return number(p.HighSlowdown) }},
	{"set_aside", func(p PredictedPoint) string { return strconv.Itoa(p.SetAside) }},
}

// WriteCSV writes the points as a table.
func (p *Prediction) WriteCSV(w io.Writer) error { return writeCSV(w, predictionColumns, p.Points()) }

// WriteText writes the tables: times, then RE, SD and S with a line for each n and a column
// for each N, and all turns.
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
	_, _ = fmt.Fprintf(w, "%s on %s: n ranks, simulated by N host processes\nmedians over turns that count; in brackets intervals of 95 %% of medians, of fewer than %d turns least and most\n", p.Program, p.Machine, leastSeeds)
	for _, t := range []struct {
		title string
		real  bool
		value func(PredictedPoint) string
	}{
		{"time that the program prints", true, func(q PredictedPoint) string { return seconds(q.Simulated) }},
		{"relative error RE(n, N)", false, func(q PredictedPoint) string {
			return fmt.Sprintf("%s [%.1f, %.1f]", formatError(q.Error), 100*q.LowError, 100*q.HighError)
		}},
		{"slowdown SD(n, N): CPU time of the simulator over that of the real run", false, func(q PredictedPoint) string {
			return fmt.Sprintf("%.2f [%.2f, %.2f]", q.Slowdown, q.LowSlowdown, q.HighSlowdown)
		}},
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
					real := ""
					if q.Runs > 0 {
						real = seconds(q.Real)
					}
					_, _ = fmt.Fprintf(table, "%s\t", real)
				}
				text := ""
				switch {
				case known && q.Runs > 0:
					text = t.value(q)
				case known:
					text = "no turn counts"
				}
				_, _ = fmt.Fprintf(table, "%s\t", text)
			}
			_, _ = fmt.Fprintln(table)
		}
		_ = table.Flush()
	}
	p.writeTurns(w, hosts)
}
