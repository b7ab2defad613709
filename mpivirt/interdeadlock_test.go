package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/mpivirt"
)

// A deadlock between two groups is reported alike on any number of engines: the members of either group that have not called the
// collective, whoever they are and whichever engines simulate them.
func TestDeadlocksBetweenGroups(t *testing.T) {
	t.Parallel()
	const ranks, first = 6, 2 // groups of ranks 0 and 1, and of 2 to 5
	calls := map[string]func(c *mpivirt.Comm) error{
		"Barrier":   func(c *mpivirt.Comm) error { return c.Barrier() },
		"Allgather": func(c *mpivirt.Comm) error { return mpivirt.Allgather(c, []int32{1}, make([]int32, c.RemoteSize())) },
		"Allreduce": func(c *mpivirt.Comm) error {
			return mpivirt.Allreduce(c, []int32{1}, []int32{0}, mpivirt.Sum[int32]())
		},
		"Dup":      func(c *mpivirt.Comm) error { _, err := c.Dup(); return err },
		"Ibarrier": func(c *mpivirt.Comm) error { q := must(c.Ibarrier()); _, err := q.Wait(); return err },
		"Alltoall": func(c *mpivirt.Comm) error {
			return mpivirt.Alltoall(c, make([]int32, c.RemoteSize()), make([]int32, c.RemoteSize()))
		},
	}
	for name, call := range calls {
		for _, before := range []int{0, 1} { // calls that all make before
			for _, missing := range [][]int{{0}, {5}, {2, 3, 4, 5}, {1, 3}} {
				want := ""
				for _, engines := range []int{1, 2, 4} {
					c := mpivirt.Config{Target: target(t, "name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n", ranks), Program: mpivirt.Program{Name: "groups", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						side := 0
						if r.Rank() >= first {
							side = 1
						}
						local := must(r.World().Split(side, 0))
						inter := must(mpivirt.IntercommCreate(local, 0, r.World(), []int{first, 0}[side], 0))
						for range before {
							if err := call(inter); err != nil {
								return err
							}
						}
						for _, m := range missing {
							if r.Rank() == m {
								_, err := r.World().RecvSize(8, m, 7)
								return err
							}
						}
						return call(inter)
					})}}}
					_, err := simulate(t, c, engines)
					if got := fmt.Sprint(err); want == "" {
						want = got
					} else if got != want {
						t.Errorf("%s, %d before, without %v: on %d engines\n%s\nwant\n%s", name, before, missing, engines, got, want)
						break
					}
				}
			}
		}
	}
}
