package bench_test

import (
	"fmt"
	"testing"

	"gigarank/bench"
	"gigarank/lp"
	"gigarank/mpivirt"
)

// BenchmarkPhold reports events handled in a second on one engine.
func BenchmarkPhold(b *testing.B) {
	for _, kind := range []lp.Kind{lp.Event, lp.Goroutine} {
		for _, lps := range []int{1024, 65536} {
			b.Run(fmt.Sprintf("%s/%d", kind, lps), func(b *testing.B) {
				handled := uint64(0)
				for b.Loop() {
					r := run(b, "phold", "xt5", lps, 1, bench.Config{Config: mpivirt.Config{LP: kind, Seed: 1}, Options: bench.Options{Iterations: 1 << 20 / lps}})
					handled += r.Statistics.Switches
				}
				b.ReportMetric(float64(handled)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}
