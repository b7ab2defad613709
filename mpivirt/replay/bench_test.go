package replay_test

import (
	"testing"

	"gigarank/bench"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
)

// BenchmarkStencil replays stencil as event ranks have run it, beside these ranks.
func BenchmarkStencil(b *testing.B) {
	const ranks = 16384
	e, err := bench.Lookup("stencil")
	if err != nil {
		b.Fatal(err)
	}
	c := bench.Config{Config: mpivirt.Config{Kind: steps.Kind, Seed: 1, Target: target(b, "xt5", ranks)}, Options: bench.Options{Iterations: 5}}
	file, _, err := recorded(b, e, c, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("replay", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := replayed(b, file, c.Config, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("event", func(b *testing.B) {
		for b.Loop() {
			c.Transports = sync.NewInProcess(1)
			s, err := e.New(c)
			if err == nil {
				_, err = s.Run()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
