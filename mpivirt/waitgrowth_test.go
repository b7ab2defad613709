//go:build !invariants

// The checks of invariants look through a rank's lists themselves.

package mpivirt_test

import (
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// A wait for any of many requests takes no look at all of them, in a list of a length at which even
// a look at its memory would count.
func TestCostOfAWaitForAnyStaysConstant(t *testing.T) {
	if testing.Short() {
		t.Skip("one engine: nothing for the race detector, which changes the times")
	}
	for _, g := range anyGrowths {
		for _, kind := range []*mpivirt.Kind{steps.Kind, mpivirt.Goroutine} {
			staysConstant(t, g.name+", "+kind.Name, 12_500, func(n int) time.Duration { return g.run(t, n, kind, growthMachines["flat"], false) })
		}
	}
}

// That holds beside another rank that has begun a send and does not wait for it.
func TestCostOfAWaitForAnyBesideAnOpenSendStaysConstant(t *testing.T) {
	if testing.Short() {
		t.Skip("one engine: nothing for the race detector, which changes the times")
	}
	beside := postedReceives("posted, named, Waitany, beside an open send", 1, nil, waitEachStep)
	beside.ranks = func(int) int { return 3 }
	step := beside.step
	beside.step = func(r *steps.Rank, s *growthState, n int) steps.Outcome {
		if r.Rank() < 2 {
			return step(r, s, n)
		}
		if s.at++; s.at > 1 {
			return r.Finish()
		}
		r.IsendSize(8, 2, 0)
		return r.Recv(2, 0)
	}
	staysConstant(t, beside.name, 12_500, func(n int) time.Duration { return beside.run(t, n, steps.Kind, growthMachines["flat"], false) })
}

// Where progress is made in calls, a rank may have a rendezvous under way with each of many others. A
// call looks at few of them.
func TestCostOfAHandshakeThatIsDueStaysConstant(t *testing.T) {
	staysConstant(t, "handshakes", 2000, func(n int) time.Duration {
		began := cpuTime()
		_, err := simulate(t, mpivirt.Config{Target: target(t, inCalls, n+1), Program: mpivirt.Program{Name: "rendezvous", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			w := r.World()
			if r.Rank() > 0 {
				r.Compute(vtime.Duration(r.Rank()) * vtime.Microsecond)
				return w.SendSize(1<<20, 0, 0)
			}
			requests := make([]mpivirt.Request, n)
			for i := range requests {
				var err error
				if requests[i], err = w.IrecvSize(1<<20, i+1, 0); err != nil {
					return err
				}
			}
			for range requests {
				if _, _, err := mpivirt.Waitany(requests); err != nil {
					return err
				}
			}
			return nil
		})}}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return cpuTime() - began
	})
}

// Where progress is made in calls, a rank with a receive open keeps what it has computed since. A message
// looks at little of that.
func TestCostOfARendezvousBesideAnOpenReceiveStaysConstant(t *testing.T) {
	staysConstant(t, "rendezvous", 5000, func(n int) time.Duration {
		began := cpuTime()
		_, err := simulate(t, mpivirt.Config{Target: target(t, inCalls, 2), Program: mpivirt.Program{Name: "open", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			w, other := r.World(), 1-r.Rank()
			open, err := w.IrecvSize(8, other, 1)
			for i := 0; i < n && err == nil; i++ {
				r.Compute(vtime.Microsecond)
				if r.Rank() == i%2 {
					err = w.SendSize(1<<20, other, 0)
				} else {
					_, err = w.RecvSize(1<<20, other, 0)
				}
			}
			if err == nil {
				err = w.SendSize(8, other, 1)
			}
			if err == nil {
				_, err = open.Wait()
			}
			return err
		})}}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return cpuTime() - began
	})
}
