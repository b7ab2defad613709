package study

import (
	"math"
	"strings"
	"testing"
)

// The tables by hand: of 2 ranks the real runs print 1, 2 and 9 s, of which the median is 2,
// and take 4 s of CPU time; on one host the simulation prints 2.2 s, and takes 5 s of CPU time
// and 6 s of wall time; on two hosts 1.9 s, 8 s and 3 s.
func TestPredictedPoints(t *testing.T) {
	p := &Prediction{Program: "./p", Machine: "here", Runs: []PredictedRun{
		{Ranks: 2, Time: 9, CPU: 4, Wall: 9}, {Ranks: 2, Hosts: 2, Time: 1.9, CPU: 8, Wall: 3}, {Ranks: 2, Hosts: 1, Time: 2.2, CPU: 5, Wall: 6},
		{Ranks: 2, Time: 1, CPU: 4, Wall: 1}, {Ranks: 2, Time: 2, CPU: 4, Wall: 2},
		{Ranks: 8, Hosts: 1, Time: 7, CPU: 1, Wall: 1}, // no real run, no comparison
	}}
	points := p.Points()
	want := []PredictedPoint{
		{Ranks: 2, Hosts: 1, Runs: 1, Real: 2, Simulated: 2.2, Error: 0.1, Slowdown: 1.25, Speedup: 1},
		{Ranks: 2, Hosts: 2, Runs: 1, Real: 2, Simulated: 1.9, Error: -0.05, Slowdown: 2, Speedup: 2},
	}
	if len(points) != len(want) {
		t.Fatalf("points %+v, want %+v", points, want)
	}
	for i, got := range points {
		if math.Abs(got.Error-want[i].Error) < 1e-12 {
			got.Error = want[i].Error
		}
		if got != want[i] {
			t.Errorf("point %+v, want %+v", got, want[i])
		}
	}
	var text, table strings.Builder
	p.WriteText(&text)
	for _, part := range []string{"  2   2 s  2.2 s  1.9 s\n", "  2  10.0 %  -5.0 %\n", "  2   1.25   2.00\n", "  2   1.00   2.00\n"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the tables are\n%s, without %q", &text, part)
		}
	}
	if err := p.WriteCSV(&table); err != nil || !strings.Contains(table.String(), "\n2,2,1,2,1.9,") {
		t.Errorf("%v, the table is\n%s", err, &table)
	}
}
