package p2p

import "testing"

// Ranks that only wait poll a million times each, ten millions together, but twice as often in any case as makes
// their loops long. They get there in few steps.
func TestPollsOfRanksThatOnlyWait(t *testing.T) {
	for _, c := range []struct {
		longLoop int32
		ranks    uint64
		want     int32
		steps    int
	}{
		{1000, 1, 1_000_000, 1},
		{1000, 2, 1_000_000, 2},
		{1000, 10, 1_000_000, 5},
		{1000, 64, 156_250, 5},
		{1000, 1000, 10_000, 4},
		{1000, 1 << 20, 2000, 1},
		{3, 1 << 30, 6, 1},
		{1 << 30, 5, 1 << 30, 0},
		{1<<31 - 1, 1 << 30, 1<<31 - 1, 0},
	} {
		if got := endlessPolls(c.longLoop, c.ranks); got != c.want {
			t.Errorf("%d ranks, %d polls make a long loop: %d polls are endless, want %d", c.ranks, c.longLoop, got, c.want)
		}
		steps := 0
		for polls := c.longLoop; polls < c.want; steps++ {
			polls += min(furtherPolls(c.longLoop, c.ranks, polls), c.want-polls)
		}
		if steps != c.steps {
			t.Errorf("%d ranks, %d polls make a long loop: %d steps, want %d", c.ranks, c.longLoop, steps, c.steps)
		}
	}
}
