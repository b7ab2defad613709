package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/vtime"
)

// Whatever the order in which ranks record operations of iterations, each lands with
// those of its index and name, and the result is in their order.
func TestTallyFindsIterations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 3
		tally := &Tally{}
		tally.Start(ranks, nil)
		type key struct {
			index     int
			operation string
		}
		want := map[key]uint64{}
		keys := rapid.Custom(func(t *rapid.T) key {
			return key{rapid.IntRange(-3, 12).Draw(t, "index"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "operation")}
		})
		for _, k := range rapid.SliceOfN(keys, 0, 100).Draw(t, "records") {
			if want[k] < ranks {
				want[k]++
				tally.Record(k.index, k.operation, vtime.Duration(100*k.index+500))
			}
		}
		tally.Settle()
		got := tally.Iterations()
		if len(got) != len(want) {
			t.Fatalf("%d operations of iterations, want %d", len(got), len(want))
		}
		for i, it := range got {
			if d := vtime.Duration(100*it.Index + 500); it.Count != want[key{it.Index, it.Operation}] || it.Min != d || it.Max != d {
				t.Errorf("%+v, want %d times %v", it, want[key{it.Index, it.Operation}], d)
			}
			if i > 0 && fmt.Sprintf("%5d%s", got[i-1].Index+10, got[i-1].Operation) >= fmt.Sprintf("%5d%s", it.Index+10, it.Operation) {
				t.Errorf("%+v comes before %+v", got[i-1], it)
			}
		}
	})
}

// However the ranks are divided among engines, whose tallies are merged in whatever order
// after a trip over the wire, the sums and histograms are those of one engine.
func TestMergedTalliesAreThoseOfOneEngine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks, engines = 7, 3
		var whole Tally
		var parts [engines]Tally
		engineOf := make([]int, ranks)
		sizes := make([]int, engines)
		for rank := range engineOf {
			engineOf[rank] = rapid.IntRange(0, engines-1).Draw(t, "engine")
			sizes[engineOf[rank]]++
		}
		whole.Start(ranks, nil)
		for e := range parts {
			parts[e].Start(sizes[e], nil)
		}
		lengths := rapid.SampledFrom([]vtime.Duration{0, 1, 5, 70, 1 << 40, math.MaxInt64})
		operations := []string{"a", "b"}[:rapid.IntRange(1, 2).Draw(t, "operations")]
		for rank := range ranks {
			for index := range rapid.IntRange(0, 3).Draw(t, "iterations") {
				for _, operation := range operations {
					d := lengths.Draw(t, "length")
					whole.Record(index, operation, d)
					parts[engineOf[rank]].Record(index, operation, d)
				}
			}
			at := vtime.Time(lengths.Draw(t, "finish"))
			whole.Finish(at)
			parts[engineOf[rank]].Finish(at)
		}
		whole.Settle()
		var merged Tally
		for _, e := range rapid.Permutation([]int{0, 1, 2}).Draw(t, "order") {
			parts[e].Settle()
			var sent Tally
			rest := sent.Read(append(parts[e].Append(nil), "rest"...))
			if string(rest) != "rest" {
				t.Fatalf("%q is left, want %q", rest, "rest")
			}
			merged.Merge(&sent)
		}
		type results struct {
			Finishes   Distribution
			Operations []OperationTimes
			Iterations []Iteration
		}
		want := results{whole.Finishes(), whole.Operations(), whole.Iterations()}
		got := results{merged.Finishes(), merged.Operations(), merged.Iterations()}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-one engine +merged:\n%s", diff)
		}
	})
}

// Iterations of two operations are found without a look at all that came
// before, also by a rank that is far behind another: with one, this would take minutes.
func TestTallyOfManyIterations(t *testing.T) {
	const n, behind = 1 << 18, 1000
	tally := &Tally{}
	tally.Start(2, nil)
	for i := range n + behind {
		for _, operation := range []string{"a", "b"} {
			if i < n {
				tally.Record(i, operation, 1)
			}
			if i >= behind {
				tally.Record(i-behind, operation, 2)
			}
		}
	}
	if len(tally.iterations) != 2*n {
		t.Fatalf("%d operations of iterations, want %d", len(tally.iterations), 2*n)
	}
	for _, it := range tally.iterations {
		if it.missing != 0 {
			t.Fatalf("%d ranks have not recorded iteration %d", it.missing, it.index)
		}
	}
}

// Wall times are whole nanoseconds: differences of a clock's readings in seconds have more digits.
func TestWallTimesAreWholeNanoseconds(t *testing.T) {
	readings := []float64{0.1, 0.100393775, 0.165672556, 0.3}
	var tally Tally
	next := -1
	tally.Start(1, func() float64 { next++; return readings[next] })
	tally.Begin()
	tally.Record(0, "a", 1)
	tally.Record(1, "a", 1)
	tally.Settle()
	got := []float64{tally.SetUp()}
	for _, it := range tally.Iterations() {
		got = append(got, it.Wall)
	}
	if want := []float64{0.000393775, 0.065278781, 0.134327444}; !slices.Equal(got, want) {
		t.Errorf("set-up and iterations take %v s, want %v", got, want)
	}
}
