package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// slowClasses finds the class of each size by doubling: 0, 1, 2-3, 4-7 and so on. The sums are small.
func slowClasses(sizes []int64) []SizeClass {
	all := []SizeClass{}
	for low, high := int64(0), int64(0); ; low, high = high+1, 2*high+1 {
		c := SizeClass{Low: low, High: high}
		for _, n := range sizes {
			if low <= n && n <= high {
				c.Count++
				c.Bytes += uint64(n)
			}
		}
		if c.Count > 0 {
			all = append(all, c)
		}
		if high == math.MaxInt64 {
			return all
		}
	}
}

// Whatever the order of the sizes, and however they are divided among engines whose counts are merged in
// whatever order after they have travelled, the classes are the same.
func TestSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(1<<20-2, 1<<20+1), rapid.Int64Range(0, 1<<40), rapid.Just(int64(math.MaxInt64)))
		sizes := rapid.SliceOf(size).Filter(func(all []int64) bool {
			sum := 0. // of float64, which does not overflow
			for _, n := range all {
				sum += float64(n)
			}
			return sum < math.MaxUint64
		}).Draw(t, "sizes")
		var parts [3]Sizes
		for _, n := range sizes {
			parts[rapid.IntRange(0, 2).Draw(t, "engine")].Note(n)
		}
		var all Sizes
		for _, i := range rapid.Permutation([]int{0, 1, 2}).Draw(t, "order") {
			var sent Sizes
			if rest := sent.Read(append(parts[i].Append(nil), 7)); len(rest) != 1 {
				t.Fatalf("%d bytes are left, want 1", len(rest))
			}
			all.Merge(&sent)
		}
		if diff := cmp.Diff(slowClasses(sizes), all.Classes()); diff != "" {
			t.Fatalf("%v (-slow +fast):\n%s", sizes, diff)
		}
	})
}

// A sum of more than 2^64-1 bytes stays at 2^64-1, in whatever order it is added up.
func TestSumOfSizesDoesNotOverflow(t *testing.T) {
	var some, more Sizes
	for range 2 {
		some.Note(math.MaxInt64)
		more.Note(math.MaxInt64 - 1)
	}
	var both Sizes
	both.Merge(&some)
	both.Merge(&more)
	more.Merge(&some)
	more.Note(math.MaxInt64)
	both.Note(math.MaxInt64)
	want := []SizeClass{{Low: 1 << 62, High: math.MaxInt64, Count: 5, Bytes: math.MaxUint64}}
	for _, s := range []*Sizes{&both, &more} {
		if diff := cmp.Diff(want, s.Classes()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
