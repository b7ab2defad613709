package skeleton_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gigarank/internal/seed"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/skeleton/slice"
)

var described = &skeleton.Description{Program: "p", Machine: "m", Tasks: []*slice.Task{{ID: "a", Line: "p.c:3", Shape: "s"}, {ID: "b", Line: "p.c:9", Shape: "t"}}}

// observe returns the sums over entries with iterations x and times y.
func observe(x, y []float64) (o skeleton.Observed) {
	for n := range x {
		o.Entries++
		o.X, o.XX, o.Y, o.YY, o.XY = o.X+x[n], o.XX+x[n]*x[n], o.Y+y[n], o.YY+y[n]*y[n], o.XY+x[n]*y[n]
	}
	return o
}

// seen returns a run with 4 ranks.
func seen(tasks []skeleton.Observed, rest skeleton.Observed) skeleton.Run {
	return skeleton.Run{Ranks: 4, Tasks: tasks, Rest: rest}
}

// TestPowerOfRanks: where iterations are not all counted, the times of a task may change with a power of the number of ranks, which is found. Weights of counted
// tasks do not.
func TestPowerOfRanks(t *testing.T) {
	d := &skeleton.Description{Program: "p", Tasks: []*slice.Task{{ID: "a", Line: "p.c:3", Unknown: []string{"p.c:4"}}, {ID: "b", Line: "p.c:9"}}}
	var runs []skeleton.Run
	for _, ranks := range []float64{1, 8, 2} {
		var x, y, z []float64
		for n := range 20 {
			x = append(x, float64(n)*1000/ranks)
			y = append(y, (70+3*x[n])*math.Pow(ranks, -0.6))
			z = append(z, 50+2*x[n])
		}
		runs = append(runs, skeleton.Run{Ranks: int64(ranks), Tasks: []skeleton.Observed{observe(x, y), observe(x, z)}})
	}
	w := d.Fit(runs...)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	near("the power", w.Tasks[0].Power, -0.6)
	for _, ranks := range []int64{1, 8, 64} {
		of := w.For(ranks)
		near("the uncounted entry", of[0].Entry, 70e-9*math.Pow(float64(ranks), -0.6))
		near("the uncounted iteration", of[0].Iteration, 3e-9*math.Pow(float64(ranks), -0.6))
		near("the counted entry", of[1].Entry, 50e-9)
		near("the counted iteration", of[1].Iteration, 2e-9)
	}
	if w := d.Fit(runs[1]); w.Tasks[0].Power != 0 || w.For(64)[0].Iteration != w.Tasks[0].Iteration {
		t.Errorf("one run gives the power %g", w.Tasks[0].Power)
	}
	if read, err := d.ReadWeights(w.Text()); err != nil || read.For(64)[0].Iteration != w.For(64)[0].Iteration {
		t.Errorf("the weights that are read: %v", err)
	}
}

// TestPowerOfToldIterations: where the runs tell the iterations that are not counted, these give the power of the number of ranks, and times do not, which have another
// power: here those of a matrix whose rows have 120 elements on 1 rank and 60 on each of 4, with elements that take half as long again on 1 rank, whose vector is larger than a cache.
func TestPowerOfToldIterations(t *testing.T) {
	d := &skeleton.Description{Program: "p", Tasks: []*slice.Task{{ID: "a", Line: "p.c:3", Unknown: []string{"p.c:4"}, Told: true}, {ID: "b", Line: "p.c:9"}}}
	run := func(ranks int64, rows, elements, time float64) skeleton.Run {
		var x, y []float64
		for range 25 * ranks {
			x, y = append(x, rows), append(y, rows*elements*time)
		}
		o := observe(x, y)
		o.Uncounted = (elements - 1) * o.X // an instruction an element, an instruction a row
		return skeleton.Run{Ranks: ranks, Tasks: []skeleton.Observed{o, {}}}
	}
	for _, runs := range [][]skeleton.Run{{run(1, 14000, 120, 3), run(4, 7000, 60, 2)}, {run(4, 7000, 60, 2), run(1, 14000, 120, 3)}} {
		w := d.Fit(runs...)
		if got := w.Tasks[0].Power; math.Abs(got+0.5) > 1e-8 {
			t.Errorf("the power is %g, want -0.5", got)
		}
		if got, want := w.For(16)[0].Iteration, 30*2e-9; math.Abs(got-want) > 1e-6*want {
			t.Errorf("a row takes %g on 16 ranks, want %g", got, want)
		}
	}
	// Without iterations that are counted the unit is an entry: of 90, 30 and 10 iterations on 1, 3 and 9 ranks.
	var runs []skeleton.Run
	for _, ranks := range []float64{1, 3, 9} {
		o := observe([]float64{0, 0}, []float64{500 / ranks, 700 * ranks})
		o.Uncounted = 2 * 90 / ranks
		runs = append(runs, skeleton.Run{Ranks: int64(ranks), Tasks: []skeleton.Observed{o, {}}})
	}
	if got := d.Fit(runs...).Tasks[0].Power; math.Abs(got+1) > 1e-8 {
		t.Errorf("the power of entries is %g, want -1", got)
	}
}

// Of several runs each task, and the time outside tasks, has the run with the median of its own time, whatever the order of the runs, with all sums of that run.
func TestMiddle(t *testing.T) {
	of := func(y, xy float64) skeleton.Observed {
		return skeleton.Observed{Entries: 2, X: 5, XX: 13, Y: y, YY: y * y, XY: xy}
	}
	a := skeleton.Run{Ranks: 4, Tasks: []skeleton.Observed{of(10, 1), of(30, 2)}, Rest: of(7, 0)}
	b := skeleton.Run{Ranks: 4, Tasks: []skeleton.Observed{of(90, 3), of(20, 4)}, Rest: of(8, 0)} // disturbed in the first task
	c := skeleton.Run{Ranks: 4, Tasks: []skeleton.Observed{of(11, 5), of(21, 6)}, Rest: of(99, 0)}
	for _, runs := range [][]skeleton.Run{{a, b, c}, {c, b, a}, {b, a, c}} {
		got := skeleton.Middle(runs)
		if got.Ranks != 4 || !slices.Equal(got.Tasks, []skeleton.Observed{of(11, 5), of(21, 6)}) || got.Rest != of(8, 0) {
			t.Errorf("the middle is %+v", got)
		}
	}
	if got := skeleton.Middle([]skeleton.Run{b, a}); !slices.Equal(got.Tasks, []skeleton.Observed{of(10, 1), of(20, 4)}) || got.Rest != of(7, 0) {
		t.Errorf("the middle of two is %+v", got)
	}
	if got := skeleton.Middle([]skeleton.Run{b}); !slices.Equal(got.Tasks, b.Tasks) || got.Rest != b.Rest {
		t.Errorf("the middle of one is %+v", got)
	}
}

// TestFit: least squares find the line of which the times are, keep the sum of times, and give no negative weights.
func TestFit(t *testing.T) {
	seed := seed.Next()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		a, b := r.Float64()*1e4*float64(r.IntN(2)), r.Float64()*10*float64(r.IntN(2))
		var x, y []float64
		for range 2 + r.IntN(50) {
			x = append(x, float64(len(x)%2*8000+r.IntN(2000)))
			y = append(y, a+b*x[len(x)-1])
		}
		o := observe(x, y)
		w := described.Fit(seen([]skeleton.Observed{o, {}}, skeleton.Observed{Entries: 10, Y: 5000})).Tasks[0]
		if math.Abs(w.Entry*1e9-a) > 1e-4*(a+1e4) || math.Abs(w.Iteration*1e9-b) > 1e-4*(b+1) {
			t.Fatalf("seed %d: %d entries of %g + %g·x: fitted as %g + %g·x", seed, len(x), a, b, w.Entry*1e9, w.Iteration*1e9)
		}
		for n := range y {
			y[n] += r.Float64() * 1e4
		}
		o = observe(x, y)
		w = described.Fit(seen([]skeleton.Observed{o, {}}, skeleton.Observed{})).Tasks[0]
		sum := (w.Entry*float64(o.Entries) + w.Iteration*o.X) * 1e9
		if w.Entry < 0 || w.Iteration < 0 || math.Abs(sum-o.Y) > 1e-6*o.Y {
			t.Fatalf("seed %d: the weights %g and %g give the time %g, want %g", seed, w.Entry, w.Iteration, sum, o.Y)
		}
	}
	// Blocks that differ by a tenth, the smaller of which have been disturbed, do not hide that time goes with the iterations.
	w := described.Fit(seen([]skeleton.Observed{observe([]float64{95, 105, 95, 105}, []float64{120, 105, 110, 105}), {}}, skeleton.Observed{}))
	if w.Tasks[0].Entry != 0 || math.Abs(w.Tasks[0].Iteration*1e9-1.1) > 1e-6 {
		t.Errorf("entries of about the same iterations: %+v", w.Tasks[0])
	}
	w = described.Fit(seen([]skeleton.Observed{observe([]float64{5, 5, 5}, []float64{20, 10, 30}), {}}, skeleton.Observed{Entries: 4, Y: 100}))
	if w.Tasks[0].Iteration != 4e-9 || w.Tasks[0].Entry != 0 || w.Rest != 25e-9 || w.Tasks[1].Entries != 0 || math.Abs(w.Tasks[0].Share-0.375) > 1e-9 {
		t.Errorf("entries of the same iterations: %+v", w)
	}
}

// TestWeightsAreChecked: weights that are not those of a program's tasks are refused, with all reasons.
func TestWeightsAreChecked(t *testing.T) {
	whole := string(described.Fit(seen([]skeleton.Observed{observe([]float64{1, 2}, []float64{3, 5}), observe([]float64{1, 2}, []float64{3, 9})}, skeleton.Observed{})).Text())
	if w, err := described.ReadWeights([]byte(whole)); err != nil || w.Tasks[0].Iteration != 2e-9 || w.Tasks[1].ID != "b" {
		t.Fatalf("%v: %v", w, err)
	}
	for n := range len(whole) - 2 {
		if _, err := described.ReadWeights([]byte(whole[:n])); err == nil {
			t.Fatalf("%d bytes of %d are taken for all of it", n, len(whole))
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{`"gigarank_weights": 2`, `"gigarank_weights": 1`, "weights of format 1, where 2 is wanted"},
		{`"id": "b"`, `"id": "c"`, "task b at p.c:9 has no weight\nthe program has no task c at p.c:9"},
		{`"id": "b"`, `"id": "a"`, "task a at p.c:9 has weights twice\ntask b at p.c:9 has no weight"},
		{`"iteration": 2e-9`, `"iteration": -2e-9`, "task a at p.c:3 has the weight -2e-09"},
		{`"iteration": 2e-9`, `"iteration": 1e999`, "no file of weights"},
		{`"iteration": 2e-9`, `"iteration": 9001`, "task a at p.c:3 has the weight 9001"},
		{`"iteration": 2e-9`, `"iteration": NaN`, "no file of weights"},
		{`"power": 0`, `"power": 5`, "task a at p.c:3 changes with the power 5 of the number of ranks"},
		{`"ranks": [`, `"ranks": [0, `, "the runs have no numbers of ranks"},
		{`"rest": 0`, `"rest": -1`, "rest has the weight -1"},
		{`"rest": 0`, `"tset": 0`, "no file of weights"},
		{"\n}\n", "\n}\n{}", "text follows the weights"},
	} {
		text := strings.Replace(whole, c.old, c.new, 1)
		if text == whole {
			t.Fatalf("no %s in\n%s", c.old, whole)
		}
		if _, err := described.ReadWeights([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}

// TestWeightsOfAnotherProgram: they are taken if the other program has the same tasks, and else refused.
func TestWeightsOfAnotherProgram(t *testing.T) {
	whole := string(described.Fit(seen([]skeleton.Observed{observe([]float64{1, 2}, []float64{3, 5}), observe([]float64{1, 2}, []float64{3, 9})}, skeleton.Observed{})).Text())
	if w, err := described.ReadWeights([]byte(whole)); err != nil || w.Other {
		t.Errorf("the program's own weights are said to be another's: %v", err)
	}
	other := strings.Replace(whole, `"program": "p"`, `"program": "q"`, 1)
	if w, err := described.ReadWeights([]byte(other)); err != nil || !w.Other || w.Tasks[0].Iteration != 2e-9 {
		t.Errorf("weights of a program with the same tasks: %v", err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"machine": "m"`, `"machine": "n"`, "which was compiled for another processor"},
		{`"shape": "t"`, `"shape": "u"`, "whose task at p.c:9 computes something else"},
		{`"id": "b"`, `"id": "c"`, "which has no task at p.c:9"},
	} {
		text := strings.Replace(other, c.old, c.new, 1)
		if text == other {
			t.Fatalf("no %s in\n%s", c.old, other)
		}
		if _, err := described.ReadWeights([]byte(text)); err == nil || !strings.Contains(err.Error(), "those of another program, or of another build of this one, "+c.want) {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
	fewer := &skeleton.Description{Program: "r", Machine: "m", Tasks: described.Tasks[:1]}
	if _, err := fewer.ReadWeights([]byte(whole)); err == nil || !strings.Contains(err.Error(), "which has a further task at p.c:9") {
		t.Errorf("a task more: %v", err)
	}
	if _, err := (&skeleton.Description{Program: "r", Machine: "m"}).ReadWeights([]byte(whole)); err == nil || !strings.Contains(err.Error(), "no tasks by which") {
		t.Errorf("no tasks: %v", err)
	}
}

// TestSweep: the cache loses what is old, and the oldest beyond its size that is not in use.
func TestSweep(t *testing.T) {
	cache, now := t.TempDir(), time.Now()
	add := func(name string, age time.Duration, bytes int64) {
		t.Helper()
		dir := filepath.Join(cache, name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(dir, "p"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(file.Truncate(bytes), file.Close(), os.Chtimes(dir, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	add("old", 31*24*time.Hour, 1)
	add("kept", 29*24*time.Hour, 1)
	skeleton.Sweep(cache, now)
	add("new", time.Minute, 700<<20)
	add("second", 2*time.Minute, 700<<20)
	add("third", 2*time.Hour, 1<<20)
	skeleton.Sweep(cache, now)
	skeleton.Sweep(filepath.Join(cache, "none"), now)
	var left []string
	entries, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{"new", "second"}) {
		t.Errorf("the cache has %q", left)
	}
}
