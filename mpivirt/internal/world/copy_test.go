package world_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/internal/world"
)

// TestCopyContent compares CopyContent with copy: for lengths about those at which it copies
// otherwise, for slices that begin anywhere, of which one is longer, and that overlap.
func TestCopyContent(t *testing.T) {
	const most = 40 << 10
	source := make([]byte, most+64)
	for i := range source {
		source[i] = byte(i*7 + i>>8)
	}
	for _, n := range []int{0, 1, 4096, 8191, 8192, 8193, 12288, 16384, 20000, 24576, 32767, 32768, 32769, most} {
		for _, at := range [][2]int{{0, 0}, {1, 0}, {0, 3}, {32, 8}, {63, 64}} {
			got, want := make([]byte, most+64), make([]byte, most+64)
			for _, more := range [][2]int{{0, 0}, {0, 1}, {1, 0}} {
				name := fmt.Sprintf("%d bytes at %d from %d, %d longer", n, at[0], at[1], more)
				if at[0]+n+more[0] > len(got) || at[1]+n+more[1] > len(source) {
					continue
				}
				world.CopyContent(got[at[0]:at[0]+n+more[0]], source[at[1]:at[1]+n+more[1]])
				copy(want[at[0]:at[0]+n+more[0]], source[at[1]:at[1]+n+more[1]])
				if !bytes.Equal(got, want) {
					t.Fatalf("%s: not what copy gives", name)
				}
			}
		}
		for _, at := range [][2]int{{0, 64}, {64, 0}} {
			got, want := bytes.Clone(source), bytes.Clone(source)
			n := min(n, most)
			world.CopyContent(got[at[0]:at[0]+n], got[at[1]:at[1]+n])
			copy(want[at[0]:at[0]+n], want[at[1]:at[1]+n])
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes to %d from %d of one slice: not what copy gives", n, at[0], at[1])
			}
		}
	}
}

// CopyPast writes what copy writes, and nothing besides, wherever the pieces begin.
func TestCopyPast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SliceOfN(rapid.Byte(), 0, 1000).Draw(t, "from")
		to := make([]byte, rapid.IntRange(0, 1000).Draw(t, "to"))
		wanted := make([]byte, len(to))
		first := rapid.IntRange(0, len(to)).Draw(t, "first in to") &^ rapid.SampledFrom([]int{0, 63}).Draw(t, "mask")
		last := rapid.IntRange(first, len(to)).Draw(t, "last in to")
		skip := rapid.IntRange(0, len(from)).Draw(t, "first in from")
		copy(wanted[first:last], from[skip:])
		world.CopyPast(to[first:last], from[skip:])
		world.Fence()
		if !bytes.Equal(to, wanted) {
			t.Fatalf("%v, want %v", to, wanted)
		}
	})
}
