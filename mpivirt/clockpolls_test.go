package mpivirt_test

import (
	"testing"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// A rank that waits for a time by looking at the clock comes to an end: after 1,000 looks in a row each
// takes a poll of 100 ns. Calls end a row, and looks of one rank do not count for another.
func TestWaitByTheClock(t *testing.T) {
	for name, model := range map[string]string{
		"flat":    "name: m\nnetwork: {model: flat, latency: 1us, poll: 100ns}",
		"loggops": "name: m\nnetwork: {model: loggops, L: 1us, o: 0s, g: 0s, G: 0s, O: 0s, S: 64KiB, poll: 100ns}",
	} {
		looks := make([]int, 2)
		got := instants(t, model, 2, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
			for range 999 {
				r.Wtime()
			}
			if err := r.World().Barrier(); err != nil {
				return err
			}
			start := r.Now()
			for range 998 {
				r.Wtime()
			}
			if _, _, err := r.World().Iprobe(mpivirt.ProcNull, 0); err != nil || r.Now() != start {
				t.Errorf("%s: looks before a call take %v, %v", name, r.Now()-start, err)
			}
			looks[r.Rank()] = 1 // the one above
			for end := start + 100*psOfUs; r.Now() < end; {
				looks[r.Rank()]++
			}
			note("through") // by a further look
			return nil
		})
		for rank, n := range looks {
			if want := 1000 + 1000 - 1; n != want { // the last look shows the end
				t.Errorf("%s: rank %d has looked %d times, want %d", name, rank, n, want)
			}
		}
		wantInstants(t, got, []map[string]vtime.Time{{"through": 101_100_000}, {"through": 101_100_000}})
	}
}
