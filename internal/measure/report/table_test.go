package main

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	rows := []row{
		{"a barrier", 12.5, "ns", 15, "floor", 1, true},
		{"a slow ring", 2.4e6, "messages/CPU s", 5e6, "floor", 1, false},
		{"beside a peer", 100e3, "B", 12.7e3, "SMPI", 0, true},
	}
	want := `
| measurement    | gigarank             | floor or reference       | ratio        |
| ---            | ---                  | ---                      | ---          |
| a barrier      | 12.5 ns              | 15 ns floor              | 0.833        |
| a slow ring    | 2.4M messages/CPU s  | 5M messages/CPU s floor  | 0.48 MISSED  |
| beside a peer  | 100k B               | 12.7k B SMPI             | 7.87         |
`
	if got := "\n" + table(rows); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0 ns"},
		{0.01, "0.01 ns"},
		{9.876, "9.88 ns"},
		{999.4, "999 ns"},
		{999.7, "1k ns"}, // as many digits as anywhere
		{1000, "1k ns"},
		{57e3, "57k ns"},
		{999_600, "1M ns"},
		{12.34e6, "12.3M ns"},
		{2.5e9, "2.5G ns"},
		{640e9, "640G ns"},
	} {
		if got := quantity(c.v, "ns"); got != c.want {
			t.Errorf("%v is %q, want %q", c.v, got, c.want)
		}
	}
}

// A ratio must not exceed its bound where less is better, and must reach it elsewhere.
// Without a bound nothing is missed.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		why   string
		value float64
		bound float64
		less  bool
		want  bool
	}{
		{"less is better and it is less", 149, 1.5, true, false},
		{"on the bound", 150, 1.5, true, false},
		{"more than the bound", 151, 1.5, true, true},
		{"more is better and it is more", 101, 1, false, false},
		{"on the floor", 100, 1, false, false},
		{"below the floor", 99, 1, false, true},
		{"a comparison only", 1e9, 0, true, false},
		{"a comparison only, however small", 0, 0, false, false},
		{"nothing was measured", math.NaN(), 1, true, true},
		{"nothing was measured where more is better", math.NaN(), 1, false, true},
	} {
		r := row{value: c.value, reference: 100, bound: c.bound, less: c.less}
		if r.missed() != c.want {
			t.Errorf("%s: missed %t, want %t", c.why, r.missed(), c.want)
		}
		code := exitCode([]row{{value: 1, reference: 1, bound: 1}, r}, nil)
		if (code != 0) != c.want || strings.Contains(table([]row{r}), "MISSED") != c.want {
			t.Errorf("%s: the exit code is %d and the table\n%s", c.why, code, table([]row{r}))
		}
	}
	if exitCode(nil, errors.New("no binary")) != 1 {
		t.Error("a measurement that failed ends with 0")
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{100, 1, 2}, 2},
		{[]float64{4, 1, 100, 2}, 3},
		{[]float64{5, 1000, 3, 4, 1}, 4},
	} {
		if got := middle(c.values); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.values, got, c.want)
		}
	}
	if got := middle(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

// The first iteration, in which the ranks begin, does not count.
func TestIterationWithoutTheFirst(t *testing.T) {
	s := sample{Ranks: 4, Wall: 120, SetUp: 20, cpu: 60}
	for _, wall := range []float64{99, 3, 1, 2} {
		s.Iterations = append(s.Iterations, struct {
			Wall float64 `json:"wall_s"`
		}{wall})
	}
	if got := s.iteration(); got != 2 {
		t.Errorf("an iteration takes %v s, want 2", got)
	}
	if s.run() != 100 {
		t.Errorf("the run takes %v s without set-up, want 100", s.run())
	}
	if got, want := perRank(&s), 60e9/16; got != want {
		t.Errorf("a rank and iteration take %v ns, want %v", got, want)
	}
	for n := 1; n >= 0; n-- {
		s.Iterations = s.Iterations[:n]
		if got := s.iteration(); !math.IsNaN(got) {
			t.Errorf("with %d iterations one takes %v s, want none", n, got)
		}
	}
	samples := []sample{{Wall: 5}, {Wall: 1}, {Wall: 4}}
	if got := median(samples, (*sample).run); got != 4 || samples[0].Wall != 5 {
		t.Errorf("the median of runs is %v, want 4, and they are now %v", got, samples)
	}
}
