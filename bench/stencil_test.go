package bench

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// MPI_Dims_create (MPI 4.1, section 8.5.2): the extents are as close to each other
// as possible and not increasing.
func TestGridIsBalanced(t *testing.T) {
	for _, c := range []struct {
		ranks int
		want  [dimensions]int
	}{
		{1, [3]int{1, 1, 1}}, {2, [3]int{2, 1, 1}}, {7, [3]int{7, 1, 1}}, {8, [3]int{2, 2, 2}},
		{12, [3]int{3, 2, 2}}, {36, [3]int{4, 3, 3}}, {1000, [3]int{10, 10, 10}}, {2 * 3 * 5 * 7, [3]int{7, 6, 5}},
		{10_000_000, [3]int{250, 200, 200}}, {1 << 30, [3]int{1024, 1024, 1024}},
	} {
		if got := newGrid(c.ranks).extent; got != c.want {
			t.Errorf("%d ranks are arranged as %v, want %v", c.ranks, got, c.want)
		}
	}
}

// Against all ways to write n as a product of three.
func TestGridIsTheLeastOfAll(t *testing.T) {
	for n := 1; n <= 300; n++ {
		least := n + 2
		for a := 1; a <= n; a++ {
			for b := 1; b <= n/a; b++ {
				if c := n / a / b; a*b*c == n {
					least = min(least, a+b+c)
				}
			}
		}
		e := newGrid(n).extent
		if e[0]*e[1]*e[2] != n || e[0]+e[1]+e[2] != least || !slices.IsSortedFunc(e[:], func(a, b int) int { return b - a }) {
			t.Errorf("%d ranks are arranged as %v; three extents add up to %d", n, e, least)
		}
	}
}

// Neighbours by coordinates: the steps along a dimension come back after its extent,
// and a step forth and one back undo each other.
func TestNeighboursGoRound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newGrid(rapid.IntRange(1, 5000).Draw(rt, "ranks"))
		rank := rapid.IntRange(0, g.ranks()-1).Draw(rt, "rank")
		d := rapid.IntRange(0, dimensions-1).Draw(rt, "dimension")
		at, seen := rank, map[int]bool{}
		for !seen[at] {
			seen[at] = true
			_, after := g.neighbours(at, d)
			if before, _ := g.neighbours(after, d); before != at {
				rt.Fatalf("grid %v: after %d comes %d, before that %d", g.extent, at, after, before)
			}
			at = after
		}
		if at != rank || len(seen) != g.extent[d] {
			rt.Fatalf("grid %v: from rank %d along dimension %d there are %d ranks", g.extent, rank, d, len(seen))
		}
	})
}
