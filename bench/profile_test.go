package bench_test

import (
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
)

// BenchmarkProfile runs what scripts/profile records for the compiler. Phold is left out: what
// the compiler inlines with a profile of its event list makes it a third slower.
func BenchmarkProfile(b *testing.B) {
	for _, r := range []struct {
		program    string
		ranks      int
		iterations int
		payload    int64
		kind       *mpivirt.Kind
		algorithms map[collectives.Operation]collectives.Algorithm
		mode       mpivirt.Interpreter
	}{
		{"ring", 65536, 100, 8, mpivirt.Goroutine, nil, mpivirt.Auto},
		{"ring", 65536, 150, 8, steps.Kind, nil, mpivirt.Auto},
		{"stencil", 4096, 100, 8, mpivirt.Goroutine, nil, mpivirt.Auto},
		{"barriertest", 65536, 50, bench.None, mpivirt.Goroutine, nil, mpivirt.Auto},
		{"barriertest", 1 << 20, 100, bench.None, steps.Kind, nil, mpivirt.Auto},
		{"barriertest", 1 << 18, 2, bench.None, steps.Kind, map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.Dissemination}, mpivirt.Message},
		{"barriertest", 1 << 20, 40, bench.None, steps.Kind, map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.Dissemination}, mpivirt.Bulk},
	} {
		c := options(r.iterations, r.payload)
		c.Kind, c.Algorithms, c.Collectives = r.kind, r.algorithms, r.mode
		run(b, r.program, "xt5", r.ranks, 1, c)
	}
}
