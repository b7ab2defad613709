package mpivirt_test

import (
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
)

// Ranks that repeat a collective by messages stay together on the host, also those that wait
// for nobody, as the root of a broadcast: whoever gets ahead fills the memory of the others.
func TestNobodyGetsFarAhead(t *testing.T) {
	const ranks, times, furthest = 64, 100, 3
	add := mpivirt.Sum[float64]()
	calls := map[string]struct {
		op        collectives.Operation
		algorithm collectives.Algorithm
		call      func(c *mpivirt.Comm, in, out []float64) error
	}{
		"bcast":     {collectives.Bcast, collectives.Binomial, func(c *mpivirt.Comm, _, out []float64) error { return mpivirt.Bcast(c, out, 0) }},
		"reduce":    {collectives.Reduce, collectives.Binomial, func(c *mpivirt.Comm, in, out []float64) error { return mpivirt.Reduce(c, in, out, add, 0) }},
		"allreduce": {collectives.Allreduce, collectives.Binomial, func(c *mpivirt.Comm, in, out []float64) error { return mpivirt.Allreduce(c, in, out, add) }},
		"scan":      {collectives.Scan, collectives.Linear, func(c *mpivirt.Comm, in, out []float64) error { return mpivirt.Scan(c, in, out, add) }},
	}
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			passed, most := make([]int, ranks), 0
			main := func(r *mpivirt.Rank) error {
				in, out := []float64{1}, []float64{2}
				for range times {
					if err := c.call(r.World(), in, out); err != nil {
						return err
					}
					passed[r.Rank()]++
					most = max(most, passed[r.Rank()]-slices.Min(passed))
				}
				return nil
			}
			s := simulation(t, mpivirt.Config{
				Target:      target(t, "name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n", ranks),
				Program:     mpivirt.Program{Name: name, Forms: []mpivirt.Form{mpivirt.Main(main)}},
				Collectives: mpivirt.Message, Algorithms: map[collectives.Operation]collectives.Algorithm{c.op: c.algorithm},
			}, 1)
			defer s.Close()
			if _, err := s.Run(); err != nil {
				t.Fatal(err)
			}
			if most > furthest {
				t.Errorf("a rank gets %d %ss ahead of another; at most %d are expected", most, name, furthest)
			}
		})
	}
}

// The root of a linear bcast among many lets the others of its engine go first, also those that have
// not begun: its early messages would fill the memory. It is as far ahead as 6 MiB of them, or one
// time.
func TestRootsLetManyGoFirst(t *testing.T) {
	cases := []struct{ ranks, times, furthest int }{{3000, 60, 24}, {80_000, 4, 1}}
	if testing.Short() { // one engine has nothing for the race detector
		cases = cases[:1]
	}
	for _, c := range cases {
		passed, most := make([]int, c.ranks), 0
		main := func(r *mpivirt.Rank) error {
			for range c.times {
				if err := mpivirt.Bcast(r.World(), []int64{1}, 0); err != nil {
					return err
				}
				passed[r.Rank()]++
				if r.Rank() == 0 {
					most = max(most, passed[0]-slices.Min(passed))
				}
			}
			return nil
		}
		s := simulation(t, mpivirt.Config{
			Target:      target(t, "name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n", c.ranks),
			Program:     mpivirt.Program{Name: "bcast", Forms: []mpivirt.Form{mpivirt.Main(main)}},
			Collectives: mpivirt.Message, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Bcast: collectives.Linear},
		}, 1)
		defer s.Close()
		if _, err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if most > c.furthest {
			t.Errorf("among %d ranks the root gets %d bcasts ahead; at most %d are expected", c.ranks, most, c.furthest)
		}
	}
}
