package mpivirt

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/vtime"
)

// Whatever the order in which ranks record operations of iterations, each lands with
// those of its index and name, and the result is in their order.
func TestTallyFindsIterations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 3
		tally := &tally{}
		tally.start(&Config{}, ranks)
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
				tally.record(k.index, k.operation, vtime.Duration(100*k.index+500))
			}
		}
		tally.settle()
		got := tally.result(engine.Statistics{}).Iterations
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

// Iterations of two operations are found without a look at all that came
// before, also by a rank that is far behind another: with one, this would take minutes.
func TestTallyOfManyIterations(t *testing.T) {
	const n, behind = 1 << 18, 1000
	tally := &tally{}
	tally.start(&Config{}, 2)
	for i := range n + behind {
		for _, operation := range []string{"a", "b"} {
			if i < n {
				tally.record(i, operation, 1)
			}
			if i >= behind {
				tally.record(i-behind, operation, 2)
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
