package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
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
