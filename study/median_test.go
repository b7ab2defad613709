package study

import (
	"math"
	"slices"
	"testing"

	"gigarank/internal/random"
)

// The orders of the interval of the median with a confidence of 95 %, as in tables of
// nonparametric statistics: (x_k, x_(n+1−k)).
func TestIntervalsOfTables(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 0, 5: 0, 6: 1, 7: 1, 8: 1, 9: 2, 10: 2, 11: 2, 12: 3, 15: 4, 20: 6, 25: 8, 30: 10, 50: 18, 100: 40} {
		if got := intervalOrder(n); got != want {
			t.Errorf("of %d values it begins with the %d-th, want the %d-th", n, got, want)
		}
		if (intervalOrder(n) > 0) != (n >= leastSeeds) {
			t.Errorf("%d values bound the median with order %d, and %d are the least", n, intervalOrder(n), leastSeeds)
		}
	}
}

// At most one in twenty samples of a skew distribution has an interval without the
// median, ln 2 for the exponential.
func TestIntervalHoldsTheMedian(t *testing.T) {
	const samples = 4000
	for _, n := range []int{6, 9, 10, 25} {
		missed := 0
		for s := range uint64(samples) {
			values := make([]float64, n)
			for i := range values {
				values[i] = -math.Log(1 - random.Float64(3, s, uint64(i)))
			}
			middle, low, high := median(values)
			if low > middle || middle > high || low < slices.Min(values) || high > slices.Max(values) {
				t.Fatalf("median %g of %v between %g and %g", middle, values, low, high)
			}
			if low > math.Ln2 || high < math.Ln2 {
				missed++
			}
		}
		if share := float64(missed) / samples; share > 1-confidence+3*math.Sqrt(0.05*0.95/samples) {
			t.Errorf("of %d values, %.3f of the intervals miss the median", n, share)
		}
	}
}

func TestMedianOfFew(t *testing.T) {
	for _, c := range []struct {
		values            []float64
		middle, low, high float64
	}{
		{[]float64{5}, 5, 5, 5},
		{[]float64{3, 1}, 2, 1, 3},
		{[]float64{3, 1, 2}, 2, 1, 3},
		{[]float64{6, 1, 2, 5, 4, 3}, 3.5, 1, 6},
		{[]float64{9, 6, 1, 2, 8, 5, 4, 3, 7}, 5, 2, 8},
	} {
		if middle, low, high := median(c.values); middle != c.middle || low != c.low || high != c.high {
			t.Errorf("%v: %g in %g to %g, want %g in %g to %g", c.values, middle, low, high, c.middle, c.low, c.high)
		}
	}
}
