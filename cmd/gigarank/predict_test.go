package main

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/study"
)

// Wrong command lines are refused before anything runs.
func TestPredictRefuses(t *testing.T) {
	for _, c := range []struct {
		says      string
		arguments []string
	}{
		{"takes one PROGRAM", nil},
		{"is no path", []string{"picalc"}},
		{"--real: name the same program", []string{"./picalc", "--machine", "xt5"}},
		{"is no program", []string{"./picalc", "--real", "/nowhere/picalc"}},
		{"--calibrate", []string{"./picalc", "--calibrate", "hot"}},
		{"--calibrate: the machine is that of --machine", []string{"./picalc", "--machine", "xt5", "--calibrate", "cold"}},
		{"--resume: name the directory", []string{"./picalc", "--machine", "xt5", "--resume"}},
		{"--time-from", []string{"./picalc", "--time-from", "no group"}},
		{"--time-from", []string{"./picalc", "--time-from", "("}},
		{"--ranks", []string{"./picalc", "--ranks", "0"}},
		{"--hosts", []string{"./picalc", "--hosts", "1,,2"}},
		{"--runs", []string{"./picalc", "--runs", "none"}},
		{"--most: 4 turns in all are fewer than the 5 of --runs", []string{"./picalc", "--most", "4"}},
		{"--disturbed", []string{"./picalc", "--disturbed", "1"}},
		{"--disturbed", []string{"./picalc", "--disturbed", "NaN"}},
	} {
		console, _, stderr := terminaltest.Console(nil)
		if code := execute(append([]string{"study", "predict"}, c.arguments...), console); code != terminal.ExitUsage || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: exit code %d, says\n%swant %q", c.arguments, code, stderr, c.says)
		}
	}
}

// madeUp is a predictor of made-up turns with a journal in dir. The i-th turn has the i-th disturbance, those
// after the last one have the last one. It has the numbers of turns that were made.
func madeUp(t *testing.T, dir string, resume bool, ranks []int, runs, most int, bound float64, disturbances []float64) (p *predictor, output *bytes.Buffer, made *[]int) {
	console, output, _ := terminaltest.Console(nil)
	made = new([]int)
	p = &predictor{predictFlags: &predictFlags{out: dir, real: "./real"}, console: console, program: []string{"./p"}, build: "v", ranks: ranks, hosts: []int{1}, runs: runs, most: most}
	p.resume, p.prediction.Disturbed = resume, bound
	if err := p.open(); err != nil {
		t.Fatal(err)
	}
	p.makeTurn = func(n, index int, _ *host.Signals) (study.PredictedTurn, error) {
		*made = append(*made, index)
		return study.PredictedTurn{
			Schema: study.Schema, Version: "v", Setting: p.setting, Ranks: n, Turn: index,
			Real:      []study.PredictedRun{{Time: 1, CPU: 1, Wall: 1}, {Time: disturbances[min(index, len(disturbances)-1)], CPU: 1, Wall: 1}},
			Simulated: []study.PredictedRun{{Hosts: 1, Time: 1 + float64(index), CPU: 1, Wall: 1}},
		}, nil
	}
	return p, output, made
}

// A turn that is set aside is made again, up to --most turns in all. What has been made before counts or
// not by the bound of this study, and all turns are listed, whether they count or not.
func TestPredictRepeatsDisturbedTurns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		name         string
		fresh        bool
		runs, most   int
		bound        float64
		disturbances []float64
		made         []int
		counts       int
		says         string
	}{
		{"none disturbed", true, 3, 6, 1.25, []float64{1}, []int{0, 1, 2}, 3, "No turn is set aside"},
		{"the bound is just met", true, 2, 4, 1.25, []float64{1.25, 0.8}, []int{0, 1}, 2, "No turn is set aside"},
		{"two made again", true, 3, 6, 1.25, []float64{2, 1, 0.5, 1}, []int{0, 1, 2, 3, 4}, 3, "2 of 5 turns are set aside"},
		{"all disturbed", true, 3, 6, 1.25, []float64{3}, []int{0, 1, 2, 3, 4, 5}, 0, "All turns are set aside"},
		{"resumed, still all disturbed", false, 3, 6, 1.25, []float64{1}, nil, 0, "All turns are set aside"},
		{"resumed with more turns", false, 3, 8, 1.25, []float64{1}, []int{6, 7}, 2, "6 of 8 turns are set aside"},
		{"resumed with a greater bound", false, 3, 8, 3, []float64{1}, nil, 3, "No turn is set aside"}, // the first 3 are enough
		{"resumed with the first bound", false, 2, 8, 1.25, []float64{1}, nil, 2, "6 of 8 turns are set aside"},
		{"no more than count", true, 2, 2, 1.25, []float64{2, 1}, []int{0, 1}, 1, "1 of 2 turns is set aside"},
		{"any counts", true, 2, 4, math.Inf(1), []float64{99}, []int{0, 1}, 2, "No turn is set aside"},
	} {
		if c.fresh {
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
		p, output, made := madeUp(t, out, !c.fresh, []int{2}, c.runs, c.most, c.bound, c.disturbances)
		if err := p.run(nil); err != nil {
			t.Fatal(err)
		}
		if err := p.journal.Close(); err != nil {
			t.Fatal(err)
		}
		points := p.prediction.Points()
		if !slices.Equal(*made, c.made) || points[0].Runs != c.counts || !strings.Contains(output.String(), c.says) {
			t.Errorf("%s: made %v, want %v; %d count, want %d; want %q in\n%s", c.name, *made, c.made, points[0].Runs, c.counts, c.says, output)
		}
		if listed := strings.Count(output.String(), "  counts\n") + strings.Count(output.String(), "  set aside\n"); listed != len(p.prediction.Turns) {
			t.Errorf("%s: %d turns are listed of %d in\n%s", c.name, listed, len(p.prediction.Turns), output)
		}
	}
}

// A study goes on with the command that began it: turns whose times another expression has read, or that had
// other arguments, are not mixed with its own. What chooses among turns may change.
func TestPredictGoesOnWithTheSame(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	begun := func(resume bool) *predictor {
		return &predictor{
			predictFlags: &predictFlags{out: out, real: "./real", timeFrom: "first ([0-9]+)", resume: resume},
			program:      []string{"./p", "1", "2"}, launcher: []string{"mpirun", "-n"}, cold: true,
			build: "v", ranks: []int{2}, hosts: []int{1}, runs: 1, most: 2,
		}
	}
	p := begun(false)
	if err := p.open(); err != nil {
		t.Fatal(err)
	}
	turn := study.PredictedTurn{
		Schema: study.Schema, Version: "v", Setting: p.setting, Ranks: 2,
		Real: []study.PredictedRun{{Time: 1}, {Time: 1}}, Simulated: []study.PredictedRun{{Hosts: 1, Time: 1}},
	}
	if err := errors.Join(p.journal.Append(turn), p.journal.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(*predictor)
		says   string // "" if the study goes on
	}{
		{func(*predictor) {}, ""},
		{func(p *predictor) { p.runs, p.most, p.prediction.Disturbed, p.strictFunctions = 9, 18, 2, true }, ""},
		{func(p *predictor) { p.timeFrom = "second ([0-9]+)" }, `--time-from "first ([0-9]+)" and not "second ([0-9]+)"`},
		{func(p *predictor) { p.program = []string{"./p", "1 2"} }, `PROGRAM "./p 1 2" and not "./p '1 2'"`},
		{func(p *predictor) { p.program = []string{"./p", "1", "3"} }, `"./p 1 3"`},
		{func(p *predictor) { p.real = "./other" }, `--real "./real" and not "./other"`},
		{func(p *predictor) { p.cold = false }, `machine "calibrated, cold" and not "calibrated, warm"`},
		{func(p *predictor) { p.launcher = []string{"mpiexec", "-n"} }, `--launcher "mpirun -n" and not "mpiexec -n"`},
		{func(p *predictor) { p.build = "w" }, `gigarank "v" and not "w"`},
	} {
		p := begun(true)
		c.change(p)
		err := p.open()
		if refused := err != nil; refused != (c.says != "") || refused && !strings.Contains(err.Error(), c.says) {
			t.Errorf("goes on with %v, want %q", err, c.says)
		}
		if err := p.journal.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Each number of ranks has its turns: one that is disturbed costs the others nothing.
func TestPredictRepeatsByRanks(t *testing.T) {
	p, output, made := madeUp(t, filepath.Join(t.TempDir(), "out"), false, []int{1, 2}, 2, 4, 1.25, []float64{1})
	undisturbed := p.makeTurn
	p.makeTurn = func(n, index int, s *host.Signals) (study.PredictedTurn, error) {
		turn, err := undisturbed(n, index, s)
		if n == 2 {
			turn.Real[1].Time = 2
		}
		return turn, err
	}
	if err := p.run(nil); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 0, 1, 1, 2, 3}; !slices.Equal(*made, want) || !strings.Contains(output.String(), "4 of 6 turns are set aside") || !strings.Contains(output.String(), "no turn counts") {
		t.Errorf("made %v, want %v:\n%s", *made, want, output)
	}
}
