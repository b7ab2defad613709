package typed

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A sum of vectors has the bits of the sums of their elements, whatever the length, where it is
// stored, and how the vectors lie in memory.
func TestSumOfVectors(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1}
	vector := func(n int) []float64 {
		v := make([]float64, n+1)[n&1:]
		for i := range v {
			if v[i] = random.NormFloat64(); random.IntN(4) == 0 {
				v[i] = special[random.IntN(len(special))]
			}
		}
		return v[:n]
	}
	sum := Sum[float64]()
	for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 1000, 1023, 1024, 1031, 2048, 2500, 4095, 4096, 1<<16 - 1, 1 << 16, 1<<17 + 5} {
		for _, in := range []string{"a third", "left", "right"} {
			left, right := vector(n), vector(n + 3)[:n]
			want := make([]uint64, n)
			for i := range want {
				want[i] = math.Float64bits(left[i] + right[i])
			}
			into := map[string][]float64{"a third": append(vector(n), 7), "left": left, "right": right}[in]
			sum.Combine(into[:n], left, right)
			for i, w := range want {
				if got := math.Float64bits(into[i]); got != w && !(math.IsNaN(into[i]) && math.IsNaN(math.Float64frombits(w))) {
					t.Fatalf("%d elements, stored in %s: element %d is %v; it must be %v", n, in, i, into[i], math.Float64frombits(w))
				}
			}
			if in == "a third" && into[n] != 7 {
				t.Fatalf("%d elements: the one after the last is changed", n)
			}
		}
	}
}

func BenchmarkSum(b *testing.B) {
	into, left, right := make([]float64, 1024), make([]float64, 1024), make([]float64, 1024)
	sum := Sum[float64]()
	b.SetBytes(1024 * 8)
	for b.Loop() {
		sum.Combine(into, left, right)
	}
}
