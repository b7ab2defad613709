package study

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// predictedTurns are three turns of 2 ranks, whose real runs print 1, 2 and 9 s in the mean of two that are
// 1.2 times apart, and take 4 s of CPU time, and one of 8 ranks. One host always predicts a tenth too much, with 5 s of CPU time. Two
// hosts predict 5 % too little, 5 % too little and 90 % too much, and take a third of the wall time.
func predictedTurns(setting PredictedSetting) []PredictedTurn {
	up := math.Sqrt(1.2)
	turn := func(index int, real, one, two float64) PredictedTurn {
		return PredictedTurn{Schema: Schema, Version: "v", Setting: setting, Ranks: 2, Turn: index, MachineFile: "name: here\n",
			Real: []PredictedRun{{Time: real / up, CPU: 2, Wall: real}, {Time: real * up, CPU: 8, Wall: real}, {Time: real / up, CPU: 2, Wall: real}},
			Simulated: []PredictedRun{
				{Hosts: 2, Time: two, CPU: 8, Wall: 2 * real},
				{Hosts: 1, Time: one, CPU: 5, Wall: 6 * real},
			}}
	}
	return []PredictedTurn{
		turn(0, 9, 9.9, 8.55), turn(1, 1, 1.1, 1.9), turn(2, 2, 2.2, 1.9),
		{Schema: Schema, Version: "v", Setting: setting, Ranks: 8, Real: []PredictedRun{{Time: 1, CPU: 1, Wall: 1}, {Time: 1, CPU: 1, Wall: 1}},
			Simulated: []PredictedRun{{Hosts: 2, Time: 1, CPU: 1, Wall: 1}}},
	}
}

// Values that compare a simulated run with a real one are taken within a turn, and then medians of
// them: turns may differ ninefold, and a prediction be a tenth off in each.
func TestPredictedPoints(t *testing.T) {
	p := &Prediction{Program: "./p", Machine: "here", Turns: predictedTurns(PredictedSetting{})}
	points := p.Points()
	want := []PredictedPoint{
		{Ranks: 2, Hosts: 1, Runs: 3, Real: 2, LeastReal: 1, MostReal: 9, Simulated: 2.2, Error: 0.1, LeastError: 0.1, MostError: 0.1, LowError: 0.1, HighError: 0.1, Slowdown: 1.25, LowSlowdown: 1.25, HighSlowdown: 1.25, Speedup: 1},
		{Ranks: 2, Hosts: 2, Runs: 3, Real: 2, LeastReal: 1, MostReal: 9, Simulated: 1.9, Error: -0.05, LeastError: -0.05, MostError: 0.9, LowError: -0.05, HighError: 0.9, Slowdown: 2, LowSlowdown: 2, HighSlowdown: 2, Speedup: 3},
		{Ranks: 8, Hosts: 2, Runs: 1, Real: 1, LeastReal: 1, MostReal: 1, Simulated: 1, Slowdown: 1, LowSlowdown: 1, HighSlowdown: 1, Speedup: 1},
	}
	if len(points) != len(want) {
		t.Fatalf("points %+v, want %+v", points, want)
	}
	for i, got := range points {
		for _, e := range []struct{ got, want *float64 }{{&got.Real, &want[i].Real}, {&got.LeastReal, &want[i].LeastReal}, {&got.MostReal, &want[i].MostReal}, {&got.Error, &want[i].Error}, {&got.LeastError, &want[i].LeastError}, {&got.MostError, &want[i].MostError}, {&got.LowError, &want[i].LowError}, {&got.HighError, &want[i].HighError}} {
			if math.Abs(*e.got-*e.want) < 1e-12 {
				*e.got = *e.want
			}
		}
		if got != want[i] {
			t.Errorf("point %+v, want %+v", got, want[i])
		}
	}
	var text, table strings.Builder
	p.WriteText(&text)
	for _, part := range []string{"  2   2 s  2.2 s  1.9 s\n", "  2  10.0 % [10.0, 10.0]  -5.0 % [-5.0, 90.0]\n", "  2  1.25 [1.25, 1.25]  2.00 [2.00, 2.00]\n", "  2   1.00   3.00\n"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the tables are\n%s, without %q", &text, part)
		}
	}
	if strings.Contains(text.String(), "aside") {
		t.Errorf("all turns count, and the text is\n%s", &text)
	}
	if err := p.WriteCSV(&table); err != nil || !strings.Contains(table.String(), "\n2,2,3,2,1,9,1.9,") {
		t.Errorf("%v, the table is\n%s", err, &table)
	}
}

// disturbedTurns are the turns of 2 ranks, in each of which the machine has changed by a ratio given:
// between the first two real runs of the first, to slower ones, between the last two of the second, to faster
// ones, by other programs beside a real run of the third.
func disturbedTurns(ratios [3]float64) []PredictedTurn {
	turns := predictedTurns(PredictedSetting{})[:3]
	reals := func(turn int, first, second, third float64) {
		for i, ratio := range []float64{first, second, third} {
			turns[turn].Real[i].Time = ratio
		}
	}
	r := ratios[0]
	reals(0, 1, r, r)
	turns[0].Simulated[0].Time = math.Sqrt(r) * 0.95
	r = ratios[1]
	reals(1, r, r, 1)
	turns[1].Simulated[0].Time = r * 1.9
	reals(2, 2, 2, 2)
	crowd := func(r *PredictedRun, ratio float64) {
		r.Processors, r.Others = 4, 4*r.Wall*(1-1/ratio)
	}
	crowd(&turns[2].Real[2], ratios[2])
	return turns
}

// A turn counts if its disturbance is at most the bound, also where it is just the bound. No median has what
// is set aside, and the text lists it.
func TestPredictionSetsAside(t *testing.T) {
	const none = "no turn counts"
	for _, c := range []struct {
		name            string
		ratios          [3]float64
		bound           float64
		counts          int
		error, least    float64 // of two hosts
		says, saysFirst string
	}{
		{"none", [3]float64{1.25, 1.25, 1.25}, 1.25, 3, -0.05, -0.05, "No turn is set aside", "counts"},
		{"just above", [3]float64{1.2500001, 1, 1}, 1.25, 2, 0.425, -0.05, "1 of 3 turns is set aside", "set aside"},
		{"in the simulated runs", [3]float64{1, 2.9, 1}, 1.25, 2, -0.05, -0.05, "1 of 3 turns is set aside", "counts"},
		{"by others", [3]float64{1, 1, 2}, 1.25, 2, 0.425, -0.05, "1 of 3 turns is set aside", "counts"},
		{"by others, a greater bound", [3]float64{1, 1, 2}, 2, 3, -0.05, -0.05, "No turn is set aside", "counts"},
		{"all but one", [3]float64{3, 1, 3}, 1.25, 1, 0.9, 0.9, "2 of 3 turns are set aside", "set aside"},
		{"all", [3]float64{3, 3, 3}, 1.25, 0, math.NaN(), math.NaN(), "All turns are set aside", "set aside"},
		{"all, and all count", [3]float64{3, 3, 3}, math.Inf(1), 3, -0.05, -0.05, "No turn is set aside", "counts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Prediction{Program: "./p", Machine: "here", Turns: disturbedTurns(c.ratios), Disturbed: c.bound}
			points := p.Points()
			if len(points) != 2 {
				t.Fatalf("points %+v, want one for each number of hosts", points)
			}
			same := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }
			if got := points[1]; got.Runs != c.counts || got.SetAside != 3-c.counts || !same(got.Error, c.error) || !same(got.LeastError, c.least) {
				t.Errorf("two hosts: %+v, want %d turns that count, error %v and at least %v", got, c.counts, c.error, c.least)
			}
			var text, table strings.Builder
			p.WriteText(&text)
			if !strings.Contains(text.String(), c.says) || strings.Contains(text.String(), none) != (c.counts == 0) || strings.Contains(text.String(), "NaN") {
				t.Errorf("the text is\n%s, without %q", &text, c.says)
			}
			var turns []string
			for line := range strings.Lines(text.String()) {
				if strings.HasSuffix(line, "  counts\n") || strings.HasSuffix(line, "  set aside\n") {
					turns = append(turns, line)
				}
			}
			if len(turns) != 3 || !strings.HasSuffix(turns[0], c.saysFirst+"\n") {
				t.Errorf("the text lists turns %q, want 3, the first of which %s", turns, c.saysFirst)
			}
			if err := p.WriteCSV(&table); err != nil || strings.Contains(table.String(), "NaN") || !strings.Contains(table.String(), fmt.Sprintf(",%d\n", 3-c.counts)) {
				t.Errorf("%v, the table is\n%s", err, &table)
			}
		})
	}
}

// The disturbance is the greatest of all changes, in whichever direction. Real runs count by the next ones
// only: a machine that changes evenly may change by more in a whole turn. Clocks that
// disagree by less than a tick make no run quieter than alone, nor does one that others left nothing
// divide by 0.
func TestDisturbance(t *testing.T) {
	run := func(time, others float64) PredictedRun {
		return PredictedRun{Time: time, Wall: 2, Processors: 2, Others: others}
	}
	for _, c := range []struct {
		turn PredictedTurn
		want float64
	}{
		{PredictedTurn{}, 1},
		{PredictedTurn{Real: []PredictedRun{run(1, 0), run(2, 0), run(4, 0)}}, 2},
		{PredictedTurn{Real: []PredictedRun{run(3, 0), run(1, 0), run(2, 0)}}, 3},
		{PredictedTurn{Real: []PredictedRun{run(1, -0.1), run(1, 0)}, Simulated: []PredictedRun{run(9, 2)}}, 2},
		{PredictedTurn{Real: []PredictedRun{run(1, 4), run(1, 0)}, Simulated: []PredictedRun{run(1, 0)}}, math.Inf(1)},
		{PredictedTurn{Real: []PredictedRun{run(1, 5)}}, math.Inf(1)},
		{PredictedTurn{Real: []PredictedRun{{Time: 1, Wall: 2, Others: 5}}}, 1}, // of a system that does not count processors
	} {
		if got := c.turn.Disturbance(); got != c.want {
			t.Errorf("%+v: disturbance %v, want %v", c.turn, got, c.want)
		}
	}
}

// A machine that gets slower by the same factor with each run, or faster, changes no error: a simulated
// run is as long as a real one would be in its place.
func TestDriftCancels(t *testing.T) {
	for _, factor := range []float64{1, 1.2, 1 / 1.2} {
		at := 1.0
		run := func(hosts int, by float64) PredictedRun {
			at *= factor
			return PredictedRun{Hosts: hosts, Time: by * at, CPU: 3 * by * at, Wall: 1}
		}
		turn := PredictedTurn{Ranks: 2, Real: []PredictedRun{run(0, 1)}}
		for _, hosts := range []int{1, 2} {
			turn.Simulated = append(turn.Simulated, run(hosts, 1+0.1*float64(hosts)))
			turn.Real = append(turn.Real, run(0, 1))
		}
		for i, point := range (&Prediction{Turns: []PredictedTurn{turn}}).Points() {
			if want := 0.1 * float64(i+1); math.Abs(point.Error-want) > 1e-12 || math.Abs(point.Slowdown-1-want) > 1e-12 {
				t.Errorf("factor %v: %+v, want error %v", factor, point, want)
			}
		}
	}
}

// A comparison goes on where it ended. A turn that lacks a number of hosts is made again, and
// results of other programs, machines or versions are not mixed.
func TestPredictionGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	setting := PredictedSetting{Program: "./p", Real: "./r", Machine: "calibrated", Launcher: "mpirun -n"}
	journal, err := OpenPredictionJournal(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	turns := predictedTurns(setting)
	turns[0], turns[2] = turns[2], turns[0] // as a resumed study may leave them
	for _, turn := range turns {
		if err := journal.Append(turn); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPredictionJournal(dir, false); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("results that are there, without --resume: %v", err)
	}
	journal, err = OpenPredictionJournal(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	for _, c := range []struct {
		ranks, hosts []int
		want         int
	}{
		{[]int{2}, []int{1, 2}, 3},
		{[]int{2}, []int{2}, 3}, // fewer hosts than there are
		{[]int{2, 8}, []int{1, 2}, 3},
		{[]int{8}, []int{2}, 1},
	} {
		got, err := journal.Outcome(setting, "v", c.ranks, c.hosts)
		if err != nil || len(got) != c.want {
			t.Errorf("%+v: %d turns, %v", c, len(got), err)
		}
		for i, turn := range got {
			if c.ranks[0] == 2 && turn.Turn != i {
				t.Errorf("%+v: turn %d is number %d: they are not in order", c, i, turn.Turn)
			}
		}
	}
	other := setting
	other.Machine = "here"
	if _, err := journal.Outcome(other, "v", []int{2}, []int{1}); err == nil || !strings.Contains(err.Error(), "name another directory") {
		t.Errorf("another machine: %v", err)
	}
	if _, err := journal.Outcome(setting, "w", []int{2}, []int{1}); err == nil || !strings.Contains(err.Error(), "name another directory") {
		t.Errorf("another version: %v", err)
	}
}
