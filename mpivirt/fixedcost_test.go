package mpivirt_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// fixedCost returns a machine file with a barrier of 3 us and nothing that it may depend on.
func fixedCost(model string) string {
	return "name: given\nranks_per_node: 3\nnetwork: {" + model + ", barrier: {time: 3us}}\n"
}

// Perumalla and Park (SPECTS 2014) give the barrier of µπ a cost of the user's choice. All
// members leave at the last entry and that time: on WORLD and parts of it, in the blocking
// and the other form, on any machine and hosting.
func TestABarrierOfFixedCost(t *testing.T) {
	machines := []string{
		fixedCost("model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 2us, receive: 4us}, gap: 9us"),
		fixedCost("model: flat, latency: 8us, jitter: {distribution: exponential, mean: 4us}"),
		fixedCost("model: loggops, L: 2500ns, o: 1500ns, g: 1000ns, G: 6ns, O: 0, S: 65535"),
	}
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 20).Draw(rt, "ranks")
		machine := rapid.SampledFrom(machines).Draw(rt, "machine")
		colors := rapid.SliceOfN(rapid.IntRange(0, 2), ranks, ranks).Draw(rt, "colors")
		entries := rapid.SliceOfN(rapid.Int64Range(0, 5_000_000), ranks, ranks).Draw(rt, "entries")
		split, nonblocking := rapid.Bool().Draw(rt, "split"), rapid.SliceOfN(rapid.Bool(), ranks, ranks).Draw(rt, "nonblocking")
		h := rapid.SampledFrom(hostings(ranks)).Draw(rt, "host")
		if h.Engines > 1 {
			h.Engines = rapid.IntRange(2, ranks).Draw(rt, "engines")
		}
		entered, left := make([]vtime.Time, ranks), make([]vtime.Time, ranks)
		_, err := simulate(rt, mpivirt.Config{
			Target: target(rt, machine, ranks), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
			Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				c := r.World()
				if split {
					var err error
					if c, err = c.Split(colors[r.Rank()], r.Rank()); err != nil {
						return err
					}
				}
				r.Compute(vtime.Duration(entries[r.Rank()]))
				entered[r.Rank()] = r.Now()
				if err := barrierOf(c, nonblocking[r.Rank()]); err != nil {
					return err
				}
				left[r.Rank()] = r.Now()
				return nil
			})}},
		}, h.Engines)
		if err != nil {
			rt.Fatal(err)
		}
		for rank := range ranks {
			last, members := vtime.Time(0), 0
			for other := range ranks {
				if !split || colors[other] == colors[rank] {
					last, members = max(last, entered[other]), members+1
				}
			}
			want := last.Add(3 * vtime.Microsecond)
			if members == 1 {
				want = last
			}
			if left[rank] != want {
				rt.Errorf("%+v: rank %d, one of %d, leaves at %v, want %v", h, rank, members, left[rank], want)
			}
		}
	})
}

// barrierOf goes through a barrier of c.
func barrierOf(c *mpivirt.Comm, nonblocking bool) error {
	if !nonblocking {
		return c.Barrier()
	}
	q, err := c.Ibarrier()
	if err != nil {
		return err
	}
	_, err = q.Wait()
	return err
}

// Event ranks leave as goroutine ranks do, on more engines than there are ranks, too.
func TestABarrierOfFixedCostForEventRanks(t *testing.T) {
	program := eventScript(func(r *steps.Rank) steps.Outcome { return r.Barrier() })
	for _, engines := range []int{1, 2, 7, 30} {
		r, err := simulate(t, mpivirt.Config{Target: target(t, fixedCost("model: flat, latency: 1us"), 23), Program: program}, engines)
		if err != nil {
			t.Fatal(err)
		}
		if got := vtime.Duration(r.VirtualTime); got != 3*vtime.Microsecond {
			t.Errorf("%d engines: the barrier takes %v, want 3us", engines, got)
		}
		if r.Statistics.RemoteMessages > uint64(2*engines) {
			t.Errorf("%d engines exchange %d records: each tells its parent and hears from it", engines, r.Statistics.RemoteMessages)
		}
	}
}

// Another algorithm can be chosen on such a machine, and the time of the barrier is asked
// for where there is none.
func TestTheTimeOfABarrierIsChosen(t *testing.T) {
	barrier := func(c *mpivirt.Comm) error { return c.Barrier() }
	got := finish(t, target(t, fixedCost("model: flat, latency: 1us"), 8), mpivirt.Auto, 2, collectives.Barrier, collectives.Dissemination, barrier)
	if want := 3 * vtime.Microsecond; got != want {
		t.Errorf("dissemination among 8 takes %v, want %v, three rounds of 1us", got, want)
	}
	_, err := mpivirt.New(mpivirt.Config{
		Target: target(t, hockney, 2), Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.GivenTime},
		Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return nil })}},
	})
	if !strings.Contains(fmt.Sprint(err), "barrier: {time: 3us}") {
		t.Errorf("error %v names no remedy", err)
	}
}
