package study

import (
	"testing"

	"gigarank/network"
	"gigarank/vtime"
)

// A linear barrier or allreduce is not faster than all others on a real machine beyond a handful
// of ranks: its root receives and sends one message after another. On 16 GPUs, whose launch costs more than the messages, it may be level with
// the fastest within a hundredth. Nor is a barrier free on one node.
func TestLinearIsNotFastestOnPresets(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations one after another have nothing for the race detector")
	}
	type question struct{ ranks, payload int64 }
	for _, preset := range network.Presets() {
		if preset.Name == "xsim-star" {
			continue // its processors send any number of messages at once
		}
		for _, axes := range []Axes{
			{Operation: "barrier", Ranks: "4,16,200"}, {Operation: "allreduce", Ranks: "4,16,200", Payload: "8"}, {Operation: "allreduce", Ranks: "4,16", Payload: "8Ki"},
		} {
			axes.Machines, axes.Compute, axes.Iterations = preset.Name, "0", "1"
			best, linear := map[question]vtime.Duration{}, map[question]vtime.Duration{}
			for _, r := range runAll(t, testPlan(t, axes)) {
				q := question{int64(r.Point.Ranks), int64(r.Point.Payload)}
				if r.Time < 100*vtime.Nanosecond {
					t.Errorf("%s: %s %s of %d ranks takes %v", preset.Name, r.Point.Algorithm, axes.Operation, q.ranks, r.Time)
				}
				if r.Point.Algorithm == "linear" {
					linear[q] = r.Time
				} else if least, any := best[q]; !any || r.Time < least {
					best[q] = r.Time
				}
			}
			if len(linear) == 0 || len(best) != len(linear) {
				t.Fatalf("%s, %s: %d points of linear, %d of others", preset.Name, axes.Operation, len(linear), len(best))
			}
			for q, got := range linear {
				if 100*got < 99*best[q] {
					t.Errorf("%s: linear %s of %d bytes, %d ranks takes %v, the best other algorithm %v", preset.Name, axes.Operation, q.payload, q.ranks, got, best[q])
				}
			}
		}
	}
}
