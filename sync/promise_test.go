package sync

import (
	"slices"
	"testing"

	"gigarank/vtime"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The tournament gives the same as a look at every engine.
func TestPromisesTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 100).Draw(t, "size")
		rank := rapid.IntRange(0, size-1).Draw(t, "rank")
		p, slow := newPromises(rank, size, 20), slices.Repeat([]vtime.Time{20}, size)
		slow[rank] = vtime.Forever
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			engine := rapid.IntRange(0, size-1).Draw(t, "engine")
			slow[engine] = vtime.Time(rapid.IntRange(0, 50).Draw(t, "promise"))
			p.set(engine, slow[engine])
			level := vtime.Time(rapid.IntRange(0, 50).Draw(t, "level"))
			limit := rapid.IntRange(1, size).Draw(t, "limit")
			least, below := vtime.Forever, []int32(nil)
			for i, promise := range slow {
				least = min(least, promise)
				if promise < level && len(below) < limit {
					below = append(below, int32(i))
				}
				if p.of(i) != promise {
					t.Fatalf("promise of %d is %v; want %v", i, p.of(i), promise)
				}
			}
			if p.least() != least {
				t.Fatalf("the least is %v; want %v", p.least(), least)
			}
			if diff := gocmp.Diff(below, p.below(level, limit, nil)); diff != "" {
				t.Fatalf("below %v, at most %d (-want +got):\n%s", level, limit, diff)
			}
		}
	})
}
