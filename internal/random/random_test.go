package random

import (
	"math"
	"testing"

	"gigarank/vtime"
)

// The first outputs of SplitMix64 seeded with 0 are known from the generator's
// reference implementation, also quoted in the tests of xoshiro. Output n is the
// finaliser of n times gamma.
func TestMixIsSplitMix64(t *testing.T) {
	step := uint64(gamma)
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		state += step
		if got := Mix(state); got != want {
			t.Errorf("output %d is %#x; want %#x", i, got, want)
		}
	}
}

func TestMoments(t *testing.T) {
	const n = 200_000
	var uniform, exponential, square, tail float64
	counts := make([]int, 7)
	for i := range uint64(n) {
		uniform += Float64(42, i, 3)
		x := float64(Exponential(42, 7, i, vtime.Second)) / float64(vtime.Second)
		exponential += x
		square += x * x
		tail += float64(Pareto(42, 8, i, vtime.Second, 4)) / float64(vtime.Second)
		counts[Intn(9, i, 0, len(counts))]++
	}
	// Six standard errors of the mean of n draws.
	if m := uniform / n; math.Abs(m-0.5) > 6*math.Sqrt(1.0/12/n) {
		t.Errorf("mean of the uniform numbers is %v", m)
	}
	if m := exponential / n; math.Abs(m-1) > 6*math.Sqrt(1.0/n) {
		t.Errorf("mean of the exponential numbers is %v", m)
	}
	if m := square / n; math.Abs(m-2) > 6*math.Sqrt(20.0/n) {
		t.Errorf("second moment of the exponential numbers is %v", m)
	}
	// Mean alpha/(alpha-1), variance alpha/((alpha-1)²(alpha-2)).
	if m := tail / n; math.Abs(m-4.0/3) > 6*math.Sqrt(2.0/9/n) {
		t.Errorf("mean of the Pareto numbers is %v", m)
	}
	for v, c := range counts {
		p := 1.0 / float64(len(counts))
		if math.Abs(float64(c)-n*p) > 6*math.Sqrt(n*p*(1-p)) {
			t.Errorf("value %d came %d times of %d", v, c, n)
		}
	}
}

func TestKeysDiffer(t *testing.T) {
	seen := map[uint64][3]uint64{}
	for seed := range uint64(8) {
		for stream := range uint64(32) {
			for counter := range uint64(32) {
				v := Uint64(seed, stream, counter)
				if other, dup := seen[v]; dup {
					t.Fatalf("keys %v and %v give the same number", other, [3]uint64{seed, stream, counter})
				}
				seen[v] = [3]uint64{seed, stream, counter}
			}
		}
	}
}
