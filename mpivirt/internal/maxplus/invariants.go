package maxplus

import (
	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// checkRuns checks that a round visits each of the receivers lo to hi-1 once at most, and exactly
// once where all receive.
func checkRuns(p collectives.Pattern, total, lo, hi int) {
	visits := make([]uint8, hi-lo)
	runs(p, total, lo, hi, func(dst, _, n, stride int) {
		for i := range n {
			visits[dst+i*stride-lo]++
		}
	})
	for i, n := range visits {
		if n > 1 || n == 0 && p.Kind != collectives.Strided && p.Distance != 0 {
			invariant.Broken("round %+v of %d: receiver %d is visited %d times", p, total, lo+i, n)
		}
	}
}

// checkRound compares the clocks after a round with the clocks before it.
func (a *Array) checkRound(before []vtime.Time) {
	for i, t := range before {
		if a.work[i] < t {
			invariant.Broken("round %d: the clock of element %d of participants %d to %d goes back from %v to %v",
				a.round, i, a.Low, a.High-1, t, a.work[i])
		}
	}
}

// checkReceived checks that no more clocks have come than were missing.
func (a *Array) checkReceived(missing int) {
	if missing < a.received {
		invariant.Broken("round %d of participants %d to %d of %d: %d clocks have come, %d were missing",
			a.round, a.Low, a.High-1, a.total(), a.received, missing)
	}
}
