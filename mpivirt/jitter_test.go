package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

const jitteredPair = "name: j\nnetwork: {model: flat, latency: 5us, jitter: {distribution: exponential, mean: 4us}}\n"

// The n-th message of a rank takes its delay and the n-th jitter of the rank. A later one
// to the same rank does not overtake it: it arrives when that has come and its own jitter
// is over.
func TestMessagesTakeTheirJitter(t *testing.T) {
	machine := target(t, jitteredPair, 2)
	const seed = 11
	seeded := machine.Seeded(seed)
	var got [3]vtime.Time
	_, err := simulate(t, mpivirt.Config{Target: machine, Seed: seed, Protocol: sync.Hybrid, Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		for i := range got {
			if r.Rank() == 0 {
				if i == 2 {
					r.Compute(vtime.Millisecond) // nothing is under way
				}
				if err := r.World().SendSize(1, 1, 0); err != nil {
					return err
				}
				continue
			}
			if _, err := r.World().RecvSize(1, 0, 0); err != nil {
				return err
			}
			got[i] = r.Now()
		}
		return nil
	})}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	first := vtime.Time(5*vtime.Microsecond + seeded.Jitter(0, 1, 1))
	want := [3]vtime.Time{first, first.Add(seeded.Jitter(0, 1, 2)), vtime.Time(vtime.Millisecond + 5*vtime.Microsecond + seeded.Jitter(0, 1, 3))}
	if got != want {
		t.Errorf("messages arrive at %v, want %v", got, want)
	}
}

// A barrier among nodes with jitter takes longer than one without, depends on the seed, and
// takes the same on any number of engines and by each interpreter. A later entry of a rank
// makes no exit earlier.
func TestBarriersTakeJitter(t *testing.T) {
	exits := func(machine string, seed uint64, engines int, interpreter mpivirt.Interpreter, algorithm collectives.Algorithm, late vtime.Duration) []vtime.Time {
		all := make([]vtime.Time, 13)
		_, err := simulate(t, mpivirt.Config{Target: target(t, machine, len(all)), Seed: seed, Protocol: sync.Hybrid, Collectives: interpreter,
			Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: algorithm},
			Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				if r.Rank() == 4 {
					r.Compute(late)
				}
				err := r.World().Barrier()
				all[r.Rank()] = r.Now()
				return err
			})}}}, engines)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	const quiet = "name: j\nnetwork: {model: flat, latency: 5us}\n"
	for _, a := range []collectives.Algorithm{collectives.NodeLeader, collectives.Dissemination, collectives.Linear} {
		plain := exits(jitteredPair, 3, 1, mpivirt.Auto, a, 0)
		for _, engines := range []int{1, 2, 5} {
			for _, interpreter := range []mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message, mpivirt.Bulk} {
				if got := exits(jitteredPair, 3, engines, interpreter, a, 0); fmt.Sprint(got) != fmt.Sprint(plain) {
					t.Errorf("%v, %d engines, interpreter %v: exits %v, want %v", a, engines, interpreter, got, plain)
				}
			}
		}
		if fmt.Sprint(exits(jitteredPair, 4, 1, mpivirt.Auto, a, 0)) == fmt.Sprint(plain) {
			t.Errorf("%v: another seed has the same exits", a)
		}
		none := exits(quiet, 3, 1, mpivirt.Auto, a, 0)
		for rank := range plain {
			if plain[rank] <= none[rank] {
				t.Errorf("%v: rank %d leaves at %v with jitter, at %v without", a, rank, plain[rank], none[rank])
			}
		}
		before := plain
		for late := vtime.Microsecond; late < 60*vtime.Microsecond; late += 7 * vtime.Microsecond {
			now := exits(jitteredPair, 3, 1, mpivirt.Auto, a, late)
			for rank := range now {
				if now[rank] < before[rank] {
					t.Errorf("%v: rank 4 enters at %v, and rank %d leaves at %v, earlier than %v", a, late, rank, now[rank], before[rank])
				}
			}
			before = now
		}
	}
}

// Joins and releases take the jitter within the node, once each; messages within it, too. A list of one time makes it exact.
func TestJitterWithinNodes(t *testing.T) {
	const machine = "name: j\nranks_per_node: 4\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 10us}, " +
		"jitter: [{level: node, distribution: list, times: [0.3us]}, {level: machine, distribution: list, times: [5us]}]}\n"
	const us = vtime.Microsecond
	for _, c := range []struct {
		algorithm collectives.Algorithm
		ranks     int
		want      vtime.Duration
	}{
		{collectives.NodeLeader, 4, 2*us + 600*vtime.Nanosecond},
		{collectives.NodeLeader, 8, 2*us + 600*vtime.Nanosecond + 15*us},
		{collectives.Dissemination, 4, 2*us + 600*vtime.Nanosecond},
		{collectives.RecursiveDoubling, 8, 2*us + 600*vtime.Nanosecond + 15*us},
	} {
		for engines := 1; engines <= 3; engines++ {
			for _, interpreter := range interpreters {
				got := finish(t, target(t, machine, c.ranks), interpreter, engines, collectives.Barrier, c.algorithm, func(comm *mpivirt.Comm) error { return comm.Barrier() })
				if got != c.want {
					t.Errorf("%v of %d ranks on %d engines, %v: takes %v, want %v", c.algorithm, c.ranks, engines, interpreter, got, c.want)
				}
			}
		}
	}
}

// Random jitter within nodes, with a heavy tail, is the same on any hosting, of blocking and other forms, of goroutine and event ranks.
func TestJitterWithinNodesDependsOnNoHost(t *testing.T) {
	const machine = "name: j\nranks_per_node: 4\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 10us}, " +
		"jitter: [{level: node, distribution: pareto, least: 0.1us, alpha: 1.2, most: 1ms}, {level: machine, distribution: lognormal, median: 1us, sigma: 2, most: 10ms}]}\n"
	checkBarriersOnAnyHost(t, machine)
}

// checkBarriersOnAnyHost compares barriers on a machine with random times on all hostings, of blocking and other forms, of goroutine and event ranks.
func checkBarriersOnAnyHost(t *testing.T, machine string) {
	t.Helper()
	entries := make([]int, 13)
	for _, nonblocking := range []bool{false, true} {
		var want string
		eachHost(t, len(entries), func(h host) {
			got := fmt.Sprint(exits(t, mpivirt.Config{Target: target(t, machine, len(entries)), Seed: 5, Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict},
				h.Engines, entries, func(c *mpivirt.Comm) error {
					for range 3 {
						if err := barrierOf(c, nonblocking); err != nil {
							return err
						}
					}
					return nil
				}))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%+v: ranks leave at %v, want %v", h, got, want)
			}
		})
	}
	var fingerprint string
	for engines := 1; engines <= 4; engines++ {
		r, err := simulate(t, mpivirt.Config{Target: target(t, machine, 1003), Seed: 5, Program: eventScript(
			func(r *steps.Rank) steps.Outcome { return r.Barrier() }, func(r *steps.Rank) steps.Outcome { return r.Barrier() })}, engines)
		if err != nil {
			t.Fatal(err)
		}
		if fingerprint == "" {
			fingerprint = r.Fingerprint
		}
		if r.Fingerprint != fingerprint {
			t.Errorf("%d engines: another fingerprint", engines)
		}
	}
}
