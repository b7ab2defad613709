package study

import (
	"fmt"
	"math"
	"testing"

	"gigarank/vtime"
)

// Noise that is rare for one rank shows in every iteration of many. A detour of 250 us
// each second costs a rank a part in 4000 of its time. The slowest of P ranks is hit in
// an iteration of length L with a probability of 1 − (1 − L/1s)^P, and the barrier
// makes all ranks wait for it (Petrini, Kerbyson and Pakin, "The Case of the Missing
// Supercomputer Performance", SC 2003; Hoefler, Schneider and Lumsdaine,
// "Characterizing the Influence of System Noise on Large-Scale Applications by
// Simulation", SC 2010). So the cost grows with the ranks from nearly nothing to the
// detour, and no further. The time that the barrier would have made the detour's rank
// wait anyway is saved: at most the time of a barrier.
func TestNoiseIsAmplifiedByRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations one after another have nothing for the race detector")
	}
	const period, detour = vtime.Second, 250 * vtime.Microsecond
	noise := fmt.Sprintf("periodic:%v,%v", period, detour)
	p := testPlan(t, Axes{
		Operation: "barrier", Ranks: "2^4..2^14:x4", Algorithms: "dissemination", Noise: []string{noise}, Iterations: "250",
	})
	quiet, noisy := map[int64]vtime.Duration{}, map[int64]vtime.Duration{}
	for _, r := range runAll(t, p) {
		if r.Point.Noise == NoNoise {
			quiet[r.Point.Ranks] = r.Time
		} else {
			noisy[r.Point.Ranks] = r.Time
		}
	}
	before := -1.0
	for _, ranks := range p.Ranks {
		length := float64(vtime.Millisecond + noisy[ranks])
		want := float64(detour) * -math.Expm1(float64(ranks)*math.Log1p(-length/float64(period)))
		got := float64(noisy[ranks] - quiet[ranks])
		t.Logf("%d ranks: %v without noise, %v more with it, expected %v", ranks, quiet[ranks], vtime.Duration(got), vtime.Duration(want))
		// The iterations are a sample: three standard deviations of a share of 250.
		share := want / float64(detour)
		slack := 3*math.Sqrt(share*(1-share)/250) + 0.03
		if got > want+slack*float64(detour) || got < want-slack*float64(detour)-float64(quiet[ranks]) {
			t.Errorf("%d ranks: noise costs %v, expected %v within %.0f %% of the detour, less what a barrier of %v hides",
				ranks, vtime.Duration(got), vtime.Duration(want), 100*slack, quiet[ranks])
		}
		if got < before-0.01*float64(detour) || got > 1.03*float64(detour) {
			t.Errorf("%d ranks: noise costs %v, after %v for a quarter of the ranks", ranks, vtime.Duration(got), vtime.Duration(before))
		}
		before = got
	}
	if least, most := p.Ranks[0], p.Ranks[len(p.Ranks)-1]; noisy[least]-quiet[least] > detour/20 || noisy[most]-quiet[most] < detour*9/10 {
		t.Errorf("noise costs %v at %d ranks and %v at %d: no amplification", noisy[least]-quiet[least], least, noisy[most]-quiet[most], most)
	}
}
