package world_test

import (
	"bytes"
	"fmt"
	"testing"

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
