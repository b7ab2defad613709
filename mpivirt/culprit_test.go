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
