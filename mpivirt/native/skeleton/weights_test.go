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

	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/skeleton/slice"
)

var described = &skeleton.Description{Program: "p", Tasks: []*slice.Task{{ID: "a", Line: "p.c:3"}, {ID: "b", Line: "p.c:9"}}}

// observe returns the sums over entries with iterations x and times y.
func observe(x, y []float64) (o skeleton.Observed) {
	for n := range x {
		o.Entries++
		o.X, o.XX, o.Y, o.YY, o.XY = o.X+x[n], o.XX+x[n]*x[n], o.Y+y[n], o.YY+y[n]*y[n], o.XY+x[n]*y[n]
	}
	return o
}

// TestFit: least squares find the line of which the times are, keep the sum of times, and give no negative weights.
func TestFit(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		a, b := r.Float64()*1e4*float64(r.IntN(2)), r.Float64()*10*float64(r.IntN(2))
		var x, y []float64
		for range 2 + r.IntN(50) {
			x = append(x, float64(r.IntN(10000)))
			y = append(y, a+b*x[len(x)-1])
		}
		o := observe(x, y)
		w := described.Fit([]skeleton.Observed{o, {}}, skeleton.Observed{Entries: 10, Y: 5000}).Tasks[0]
		if math.Abs(w.Entry*1e9-a) > 1e-4*(a+1e4) || math.Abs(w.Iteration*1e9-b) > 1e-4*(b+1) {
			t.Fatalf("seed %d: %d entries of %g + %g·x: fitted as %g + %g·x", seed, len(x), a, b, w.Entry*1e9, w.Iteration*1e9)
		}
		for n := range y {
			y[n] += r.Float64() * 1e4
		}
		o = observe(x, y)
		w = described.Fit([]skeleton.Observed{o, {}}, skeleton.Observed{}).Tasks[0]
		sum := (w.Entry*float64(o.Entries) + w.Iteration*o.X) * 1e9
		if w.Entry < 0 || w.Iteration < 0 || math.Abs(sum-o.Y) > 1e-6*o.Y {
			t.Fatalf("seed %d: the weights %g and %g give the time %g, want %g", seed, w.Entry, w.Iteration, sum, o.Y)
		}
	}
	w := described.Fit([]skeleton.Observed{observe([]float64{5, 5, 5}, []float64{20, 10, 30}), {}}, skeleton.Observed{Entries: 4, Y: 100})
	if w.Tasks[0].Iteration != 4e-9 || w.Tasks[0].Entry != 0 || w.Rest != 25e-9 || w.Tasks[1].Entries != 0 || math.Abs(w.Tasks[0].Share-0.375) > 1e-9 {
		t.Errorf("entries of the same iterations: %+v", w)
	}
}

// TestWeightsAreChecked: weights that are not those of a program's tasks are refused, with all reasons.
func TestWeightsAreChecked(t *testing.T) {
	whole := string(described.Fit([]skeleton.Observed{observe([]float64{1, 2}, []float64{3, 5}), observe([]float64{1, 2}, []float64{3, 9})}, skeleton.Observed{}).Text())
	if w, err := described.ReadWeights([]byte(whole)); err != nil || w.Tasks[0].Iteration != 2e-9 || w.Tasks[1].ID != "b" {
		t.Fatalf("%v: %v", w, err)
	}
	for n := range len(whole) - 2 {
		if _, err := described.ReadWeights([]byte(whole[:n])); err == nil {
			t.Fatalf("%d bytes of %d are taken for all of it", n, len(whole))
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{`"program": "p"`, `"program": "q"`, "those of another program, or of another build"},
		{`"gigarank_weights": 1`, `"gigarank_weights": 2`, "weights of format 2, where 1 is wanted"},
		{`"id": "b"`, `"id": "c"`, "task b at p.c:9 has no weight\nthe program has no task c at p.c:9"},
		{`"id": "b"`, `"id": "a"`, "task a at p.c:9 has weights twice\ntask b at p.c:9 has no weight"},
		{`"iteration": 2e-9`, `"iteration": -2e-9`, "task a at p.c:3 has the weight -2e-09"},
		{`"iteration": 2e-9`, `"iteration": 1e999`, "no file of weights"},
		{`"iteration": 2e-9`, `"iteration": 9001`, "task a at p.c:3 has the weight 9001"},
		{`"iteration": 2e-9`, `"iteration": NaN`, "no file of weights"},
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
