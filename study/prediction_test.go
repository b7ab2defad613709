package study

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// predictedTurns are three turns of 2 ranks, whose real runs print 1, 2 and 9 s and take 4 s of CPU
// time, and one of 8 ranks. One host always predicts a tenth too much, with 5 s of CPU time. Two
// hosts predict 5 % too little, 5 % too little and 90 % too much, and take a third of the wall time.
func predictedTurns(setting PredictedSetting) []PredictedTurn {
	turn := func(index int, real, one, two float64) PredictedTurn {
		return PredictedTurn{Schema: Schema, Version: "v", Setting: setting, Ranks: 2, Turn: index, MachineFile: "name: here\n",
			Real: PredictedRun{Time: real, CPU: 4, Wall: real},
			Simulated: []PredictedRun{
				{Hosts: 2, Time: two, CPU: 8, Wall: 2 * real},
				{Hosts: 1, Time: one, CPU: 5, Wall: 6 * real},
			}}
	}
	return []PredictedTurn{
		turn(0, 9, 9.9, 8.55), turn(1, 1, 1.1, 1.9), turn(2, 2, 2.2, 1.9),
		{Schema: Schema, Version: "v", Setting: setting, Ranks: 8, Real: PredictedRun{Time: 1, CPU: 1, Wall: 1},
			Simulated: []PredictedRun{{Hosts: 2, Time: 1, CPU: 1, Wall: 1}}},
	}
}

// Values that compare a simulated run with a real one are taken within a turn, and then medians of
// them: turns may differ ninefold, and a prediction be a tenth off in each.
func TestPredictedPoints(t *testing.T) {
	p := &Prediction{Program: "./p", Machine: "here", Turns: predictedTurns(PredictedSetting{})}
	points := p.Points()
	want := []PredictedPoint{
		{Ranks: 2, Hosts: 1, Runs: 3, Real: 2, LeastReal: 1, MostReal: 9, Simulated: 2.2, Error: 0.1, LeastError: 0.1, MostError: 0.1, Slowdown: 1.25, Speedup: 1},
		{Ranks: 2, Hosts: 2, Runs: 3, Real: 2, LeastReal: 1, MostReal: 9, Simulated: 1.9, Error: -0.05, LeastError: -0.05, MostError: 0.9, Slowdown: 2, Speedup: 3},
		{Ranks: 8, Hosts: 2, Runs: 1, Real: 1, LeastReal: 1, MostReal: 1, Simulated: 1, Slowdown: 1, Speedup: 1},
	}
	if len(points) != len(want) {
		t.Fatalf("points %+v, want %+v", points, want)
	}
	for i, got := range points {
		for _, e := range []struct{ got, want *float64 }{{&got.Error, &want[i].Error}, {&got.LeastError, &want[i].LeastError}, {&got.MostError, &want[i].MostError}} {
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
	for _, part := range []string{"  2   2 s  2.2 s  1.9 s\n", "  2  10.0 %  -5.0 %\n", "  2   1.25   2.00\n", "  2   1.00   3.00\n"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the tables are\n%s, without %q", &text, part)
		}
	}
	if strings.Contains(text.String(), "ping-pongs") {
		t.Errorf("nothing was measured, and the text is\n%s", &text)
	}
	if err := p.WriteCSV(&table); err != nil || !strings.Contains(table.String(), "\n2,2,3,2,1,9,1.9,") {
		t.Errorf("%v, the table is\n%s", err, &table)
	}
}

// Where the machine was measured before and after each real run, the text says how the two differ.
func TestPredictionTellsDrift(t *testing.T) {
	p := &Prediction{Program: "./p", Machine: "this machine", Turns: predictedTurns(PredictedSetting{})}
	for i, drift := range []Drift{{Short: 1, Long: 1.61}, {Short: 0.93, Long: 1}, {Short: 1.02, Long: 0.7}, {Short: 1, Long: 1}} {
		p.Turns[i].Drift = &drift
	}
	var text strings.Builder
	p.WriteText(&text)
	if want := "After a real run, ping-pongs up to 4 KiB took 0.93 to 1.02 times those before it, longer ones 0.70 to 1.61 times.\n"; !strings.Contains(text.String(), want) {
		t.Errorf("the text is\n%s, without %q", &text, want)
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
		runs, want   int
	}{
		{[]int{2}, []int{1, 2}, 3, 3},
		{[]int{2}, []int{2}, 2, 2}, // fewer turns and hosts than there are
		{[]int{2, 8}, []int{1, 2}, 5, 3},
		{[]int{8}, []int{2}, 5, 1},
	} {
		got, err := journal.Outcome(setting, "v", c.ranks, c.hosts, c.runs)
		if err != nil || len(got) != c.want {
			t.Errorf("%+v: %d turns, %v", c, len(got), err)
		}
	}
	other := setting
	other.Machine = "here"
	if _, err := journal.Outcome(other, "v", []int{2}, []int{1}, 1); err == nil || !strings.Contains(err.Error(), "name another directory") {
		t.Errorf("another machine: %v", err)
	}
	if _, err := journal.Outcome(setting, "w", []int{2}, []int{1}, 1); err == nil || !strings.Contains(err.Error(), "name another directory") {
		t.Errorf("another version: %v", err)
	}
}
