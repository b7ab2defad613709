package mpivirt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// anyOfMany waits for any or some of many requests, or tests them, and returns the places of
// those that were complete and their tags. With short, it hands in the active ones only: they
// are so few that the kernel looks at all of them.
func anyOfMany(call string, requests []mpivirt.Request, short bool) (places, tags []int, err error) {
	list, origin := requests, []int(nil)
	if short {
		list = nil
		for i, q := range requests {
			if q != (mpivirt.Request{}) {
				list, origin = append(list, q), append(origin, i)
			}
		}
	}
	var statuses []mpivirt.Status
	switch call {
	case "any", "testany":
		place, status, found := 0, mpivirt.Status{}, true
		if call == "any" {
			place, status, err = mpivirt.Waitany(list)
		} else {
			place, status, found, err = mpivirt.Testany(list)
		}
		if found && place >= 0 {
			places, statuses = []int{place}, []mpivirt.Status{status}
		}
	case "some":
		places, statuses, err = mpivirt.Waitsome(list)
	default:
		places, statuses, err = mpivirt.Testsome(list)
	}
	for i := range places {
		if short {
			requests[origin[places[i]]] = list[places[i]]
			places[i] = origin[places[i]]
		}
		tags = append(tags, statuses[i].Tag)
	}
	return places, tags, err
}

// A long slice that a rank hands in again and again has the outcome of a short one with the
// same requests, though the rank begins others meanwhile, at places that were complete or not,
// takes some out, waits for them alone, and makes the slice shorter and longer.
func TestLongSlicesOfRequests(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		length, first := rapid.IntRange(256, 400).Draw(rt, "length"), rapid.IntRange(1, 150).Draw(rt, "first")
		total := first + rapid.IntRange(0, 60).Draw(rt, "later")
		calls := rapid.SliceOfN(rapid.SampledFrom([]string{"any", "some", "testany", "testsome"}), 1, 3).Draw(rt, "calls")
		what := rapid.SliceOfN(rapid.SampledFrom([]string{"refill", "begin", "take out", "wait", "send", "swap", "shrink", "grow", "clone"}), 0, 4).Draw(rt, "changes")
		machine := rapid.SampledFrom([]string{"flat", "gigabit-star", "loggops-default"}).Draw(rt, "machine")
		engines := rapid.IntRange(1, 2).Draw(rt, "engines")
		run := func(short bool, engines int) (log []string) {
			main := func(r *mpivirt.Rank) error {
				w, g := r.World(), rand.New(rand.NewPCG(seed, uint64(min(r.Rank(), 1))))
				if r.Rank() == 1 {
					for _, tag := range g.Perm(total) {
						r.Compute(vtime.Duration(g.IntN(3)) * vtime.Microsecond)
						if err := w.SendSize(8, 0, tag); err != nil {
							return err
						}
					}
					for { // the messages of rank 0, the last of which has tag 1
						if status, err := w.RecvSize(8, 0, mpivirt.AnyTag); err != nil || status.Tag == 1 {
							return err
						}
					}
				}
				requests, next := make([]mpivirt.Request, length, 2*length), 0
				begin := func(place int) error {
					if next == total || requests[place] != (mpivirt.Request{}) {
						return nil
					}
					source := 1
					if g.IntN(3) == 0 {
						source = mpivirt.AnySource
					}
					var err error
					requests[place], err = w.IrecvSize(8, source, next)
					next++
					return err
				}
				for _, place := range g.Perm(length)[:first] {
					if err := begin(place); err != nil {
						return err
					}
				}
				var out []mpivirt.Request
				for range 2 * total {
					places, tags, err := anyOfMany(calls[g.IntN(len(calls))], requests, short)
					if err != nil {
						return err
					}
					log = append(log, fmt.Sprint(places, tags, r.Now()))
					change := ""
					if len(what) > 0 {
						change = what[g.IntN(len(what))]
					}
					if len(requests) == 1 && (change == "swap" || change == "shrink") {
						change = ""
					}
					switch at := g.IntN(len(requests)); change {
					case "refill":
						for _, place := range places {
							if err := begin(place); err != nil {
								return err
							}
						}
					case "begin":
						err = begin(at)
					case "take out":
						if requests[at] != (mpivirt.Request{}) {
							out, requests[at] = append(out, requests[at]), mpivirt.Request{}
						}
					case "wait":
						if _, err = requests[at].Wait(); err == nil && len(out) > 0 {
							_, err = out[0].Wait()
							out = out[1:]
						}
					case "send":
						var q mpivirt.Request
						q, err = w.IsendSize(8, 1, 0)
						out = append(out, q)
					case "swap":
						last := len(requests) - 1
						requests[at], requests[last] = requests[last], requests[at]
						requests[last], out = mpivirt.Request{}, append(out, requests[last])
						requests = requests[:last]
					case "shrink":
						last := len(requests) - 1
						out, requests = append(out, requests[last]), requests[:last]
					case "grow":
						requests = append(requests, mpivirt.Request{})
						err = begin(len(requests) - 1)
					case "clone":
						requests = slices.Clone(requests)
					}
					if err != nil {
						return err
					}
				}
				if _, err := mpivirt.Waitall(append(requests, out...)); err != nil {
					return err
				}
				for ; next < total; next++ {
					if _, err := w.RecvSize(8, 1, next); err != nil {
						return err
					}
				}
				log = append(log, fmt.Sprint(r.Now()))
				return w.SendSize(8, 1, 1)
			}
			_, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines[machine], 2),
				Program: mpivirt.Program{Name: "long", Forms: []mpivirt.Form{mpivirt.Main(main)}}}, engines)
			if err != nil {
				rt.Fatal(err)
			}
			return log
		}
		got, want := run(false, engines), run(true, 1)
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				rt.Fatalf("call %d of %d, %d: the long slice gives %q, the short one %q", i, len(want), len(got), got[min(i, len(got)-1)], want[i])
			}
		}
	})
}

// Waiting for any of many requests takes the same times for event ranks, which hand in a slice
// at each step, as for goroutine ranks, and on each number of engines.
func TestLongSlicesOfAllKinds(t *testing.T) {
	for _, g := range anyGrowths {
		for machine := range growthMachines {
			want := ""
			for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
				for _, engines := range []int{1, 2} {
					const n = 300
					result, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines[machine], 2), Program: g.program(n, kind), Kind: kind}, engines)
					if err != nil {
						t.Fatal(err)
					}
					if want == "" {
						want = result.Fingerprint
					}
					if result.Fingerprint != want {
						t.Errorf("%s on %s: %s ranks on %d engines have fingerprint %s, want %s", g.name, machine, kind.Name, engines, result.Fingerprint, want)
					}
				}
			}
		}
	}
}

// A request that has been waited for through a copy is an error in a long slice, too.
func TestStaleRequestInALongSlice(t *testing.T) {
	for _, again := range []bool{false, true} {
		_, err := simulate(t, mpivirt.Config{Target: target(t, growthMachines["flat"], 1), Program: mpivirt.Program{Name: "stale", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			requests := make([]mpivirt.Request, 300)
			for i := range requests {
				requests[i] = must(r.World().IrecvSize(8, 0, i))
			}
			for i := range requests {
				if err := r.World().SendSize(8, 0, i); err != nil {
					return err
				}
			}
			if again {
				if _, _, err := mpivirt.Waitany(requests); err != nil {
					return err
				}
			}
			q := requests[100]
			if _, err := q.Wait(); err != nil {
				return err
			}
			r.SetErrorsReturn(true)
			if _, _, err := mpivirt.Waitany(requests); !errors.Is(err, mpivirt.ErrRequest) {
				return fmt.Errorf("the error is %v", err)
			}
			requests[100] = mpivirt.Request{}
			_, err := mpivirt.Waitall(requests)
			return err
		})}}}, 1)
		if err != nil {
			t.Error(err)
		}
	}
}
