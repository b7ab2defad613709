package mpivirt_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// faulty is a program of some iterations in which a rank is at fault.
type faulty func(r *mpivirt.Rank, w *mpivirt.Comm, culprit int) error

// swap exchanges some bytes with both neighbours in a ring.
func swap(w *mpivirt.Comm, rank, size int, bytes int64) error {
	for _, to := range []int{1, size - 1} {
		if _, err := w.SendrecvSize(bytes, (rank+to)%size, 0, bytes, (rank+size-to)%size, 0); err != nil {
			return err
		}
	}
	return nil
}

// faults are programs with a rank at fault: it has more work than the others, it does work before a send that could be done after it,
// it receives late what others send by rendezvous, or it is a root that comes late.
var faults = map[string]faulty{
	"imbalance in a ring": func(r *mpivirt.Rank, w *mpivirt.Comm, culprit int) error {
		r.Compute(vtime.Millisecond)
		if r.Rank() == culprit {
			r.Compute(4 * vtime.Millisecond)
		}
		if err := swap(w, r.Rank(), r.Size(), 1000); err != nil {
			return err
		}
		return swap(w, r.Rank(), r.Size(), 1000)
	},
	"imbalance before a collective": func(r *mpivirt.Rank, w *mpivirt.Comm, culprit int) error {
		r.Compute(vtime.Millisecond)
		if r.Rank() == culprit {
			r.Compute(4 * vtime.Millisecond)
		}
		return w.CollectiveSize(collectives.Allreduce, 8, 0)
	},
	"late sender in a chain": func(r *mpivirt.Rank, w *mpivirt.Comm, culprit int) error {
		before, after := vtime.Duration(0), 4*vtime.Millisecond
		if r.Rank() == culprit {
			before, after = after, before
		}
		if r.Rank() > 0 {
			if _, err := w.RecvSize(1000, r.Rank()-1, 0); err != nil {
				return err
			}
		}
		r.Compute(before)
		if r.Rank()+1 < r.Size() {
			if err := w.SendSize(1000, r.Rank()+1, 0); err != nil {
				return err
			}
		}
		r.Compute(after)
		return w.Barrier()
	},
	"late receiver": func(r *mpivirt.Rank, w *mpivirt.Comm, culprit int) error {
		if r.Rank() != culprit {
			if err := w.SendSize(1<<20, culprit, 0); err != nil {
				return err
			}
			return w.Barrier()
		}
		r.Compute(4 * vtime.Millisecond)
		for source := range r.Size() {
			if source != culprit {
				if _, err := w.RecvSize(1<<20, source, 0); err != nil {
					return err
				}
			}
		}
		return w.Barrier()
	},
	"late root": func(r *mpivirt.Rank, w *mpivirt.Comm, culprit int) error {
		if r.Rank() == culprit {
			r.Compute(4 * vtime.Millisecond)
		}
		return w.CollectiveSize(collectives.Bcast, 1000, culprit)
	},
}

// Others wait longest for the rank that is at fault, whoever waits for whom in between.
func TestCulpritsAreNamedFirst(t *testing.T) {
	machines := []string{
		"name: m\nnetwork: {model: flat, latency: 2us, bandwidth: 10GB/s}\n",
		"name: m\nnetwork: {model: flat, latency: 2us, bandwidth: 10GB/s, eager_limit: 8KiB, overhead: {send: 1us, receive: 1us}}\n",
		"name: m\nranks_per_node: 4\nnode: {interfaces: 1, bandwidth: 10GB/s, memory: 20GB/s}\nnetwork: {model: flat, latency: 2us, bandwidth: 10GB/s, eager_limit: 8KiB}\n",
		"name: m\nnetwork: {model: flat, latency: 2us, bandwidth: 10GB/s, eager_limit: 8KiB, overhead: {send: 1us, receive: 1us}, progress: calls}\n",
		"name: m\nnetwork: {model: loggops, L: 2us, o: 1us, g: 1us, G: 100ps, O: 0s, S: 8KiB}\n",
	}
	for name, iteration := range faults {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			fewer(t, 20)
			rapid.Check(t, func(t *rapid.T) {
				ranks := rapid.IntRange(4, 24).Draw(t, "ranks")
				culprit := rapid.IntRange(0, ranks-2).Draw(t, "culprit") // who has nobody to send to is no late sender
				fitting := machines
				if name == "late receiver" {
					fitting = machines[1:] // those with an eager limit
				}
				machine := rapid.SampledFrom(fitting).Draw(t, "machine")
				first := ""
				for _, engines := range []int{1, rapid.IntRange(2, 4).Draw(t, "engines")} {
					result, err := simulate(t, mpivirt.Config{
						Target: target(t, machine, ranks), Activities: true,
						Program: mpivirt.Program{Name: "fault", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
							for range 6 {
								if err := iteration(r, r.World(), culprit); err != nil {
									return err
								}
							}
							return nil
						})}},
					}, engines)
					if err != nil {
						t.Fatal(err)
					}
					if b := result.Calls.Blamed; b[0].Rank != culprit {
						t.Errorf("%d engines: others wait for rank %d for %v, and for rank %d, which is at fault, less", engines, b[0].Rank, b[0].All().Over(1), culprit)
					}
					text := fmt.Sprint(result.Calls.Blamed)
					if first == "" {
						first = text
					}
					if text != first {
						t.Errorf("%d engines: %s; one engine: %s", engines, text, first)
					}
				}
			})
		})
	}
}

// Two ranks of a node send a MB at once through its interface of 1 GB/s, so that the second message is a millisecond late at rank 3. Who waits for
// rank 3 afterwards waits while other messages delay it: a receiver for a millisecond, at a barrier each of five ranks.
func TestWaitingForDelayedRanksByHand(t *testing.T) {
	const machine = "name: m\nranks_per_node: 2\nnode: {interfaces: 1, bandwidth: 1GB/s}\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	exchange := func(r *mpivirt.Rank) (err error) {
		switch r.Rank() {
		case 0, 1:
			err = r.World().SendSize(1e6, r.Rank()+2, 0)
		case 2, 3:
			_, err = r.World().RecvSize(1e6, r.Rank()-2, 0)
		}
		return err
	}
	for _, c := range []struct {
		cause string
		then  func(r *mpivirt.Rank) error
		held  vtime.Duration
	}{
		{"late sender", func(r *mpivirt.Rank) (err error) {
			switch r.Rank() {
			case 3:
				err = r.World().SendSize(0, 4, 0)
			case 4:
				_, err = r.World().RecvSize(0, 3, 0)
			}
			return err
		}, vtime.Millisecond},
		{"wait at barrier", func(r *mpivirt.Rank) error { return r.World().Barrier() }, 5 * vtime.Millisecond},
	} {
		for engines := 1; engines <= 3; engines++ {
			result, err := simulate(t, mpivirt.Config{
				Target: target(t, machine, 6), Activities: true,
				Program: mpivirt.Program{Name: "delayed", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					if err := exchange(r); err != nil {
						return err
					}
					return c.then(r)
				})}},
			}, engines)
			if err != nil {
				t.Fatal(err)
			}
			if d := result.Calls.Tasks[3].Times[causeNamed("interface")]; d != vtime.Millisecond {
				t.Errorf("%s: other messages delay rank 3 for %v, want a millisecond", c.cause, d)
			}
			b := &result.Calls.Blamed[0]
			if b.Rank != 3 || b.Held.Over(1) != c.held || b.Times[causeNamed(c.cause)-mpivirt.LateSender] == (mpivirt.Total{}) {
				t.Errorf("%s on %d engines: ranks wait for rank %d as %v, and while other messages delay it for %v; want rank 3 and %v", c.cause, engines, b.Rank, b.Times, b.Held.Over(1), c.held)
			}
		}
	}
}
