package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/vtime"
)

// slowHistogram is what a histogram says that it is: the narrowest power of two for
// which the times are in at most 64 bins.
func slowHistogram(times []uint64) Histogram {
	if len(times) == 0 {
		return Histogram{}
	}
	low, high := slices.Min(times), slices.Max(times)
	shift := 0
	for high>>shift-low>>shift >= 64 {
		shift++
	}
	h := Histogram{Low: vtime.Duration(low >> shift << shift), Width: 1 << shift, Counts: make([]uint64, high>>shift-low>>shift+1)}
	for _, t := range times {
		h.Counts[t>>shift-low>>shift]++
	}
	return h
}

// Whatever the order of the times, and however they are divided among engines
// whose histograms are merged in whatever order, with or without a trip over the
// wire, the histogram is the same.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Uint64Range(0, math.MaxInt64/2).Draw(t, "base")
		spread := rapid.SampledFrom([]uint64{1, 40, 63, 64, 65, 1000, 1e9, math.MaxInt64 / 2}).Draw(t, "spread")
		times := rapid.SliceOf(rapid.Map(rapid.Uint64Range(0, spread), func(v uint64) uint64 { return base + v })).Draw(t, "times")
		var parts [3]histogram
		for _, v := range times {
			parts[rapid.IntRange(0, 2).Draw(t, "engine")].add(v, 1)
		}
		order := rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")
		var all histogram
		for _, i := range order {
			var sent histogram
			r := reader{parts[i].append(nil)}
			sent.read(&r)
			if len(r.b) != 0 {
				t.Fatalf("%d bytes are left", len(r.b))
			}
			all.merge(&sent)
		}
		if diff := cmp.Diff(slowHistogram(times), all.result()); diff != "" {
			t.Fatalf("%v (-slow +fast):\n%s", times, diff)
		}
	})
}

// The counts of all ranks, however many, take the room of one histogram.
func TestHistogramDoesNotAllocate(t *testing.T) {
	var h histogram
	v := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		v = v*3 + 1
		h.add(v>>20, 1)
	}); n != 0 {
		t.Errorf("%g allocations for each time", n)
	}
}

func BenchmarkHistogram(b *testing.B) {
	var h histogram
	for i := range b.N {
		h.add(uint64(i*7919)%1_000_000, 1)
	}
}
