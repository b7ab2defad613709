package mpivirt_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// throttled is the linear alltoall of Open MPI (coll_base_alltoall.c, linear) and that of MPICH with a throttle
// (alltoall_intra_scattered.c) by the functions of MPI: the receives and sends of a window, then a Waitall. The member's
// message to itself is the first of the first window.
func throttled(c *mpivirt.Comm, send, receive []byte, throttle int) error {
	rank, size, block := c.Rank(), c.Size(), len(send)/c.Size()
	of := func(all []byte, member int) []byte { return all[member*block : (member+1)*block] }
	copy(of(receive, rank), of(send, rank))
	for first := 0; first < size; first += throttle {
		var requests []mpivirt.Request
		for i := max(first, 1); i < min(first+throttle, size); i++ {
			from := (rank + i) % size
			q, err := mpivirt.Irecv(c, of(receive, from), from, 1)
			if err != nil {
				return err
			}
			requests = append(requests, q)
		}
		for i := max(first, 1); i < min(first+throttle, size); i++ {
			to := (rank - i + size) % size
			q, err := mpivirt.Isend(c, of(send, to), to, 1)
			if err != nil {
				return err
			}
			requests = append(requests, q)
		}
		if _, err := mpivirt.Waitall(requests); err != nil {
			return err
		}
	}
	return nil
}

// machinesOfWindows have overheads and gaps, a price of copies, interfaces that the ranks of a node share, and eager limits
// below the longer blocks.
var machinesOfWindows = []string{
	"name: plain\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 1KiB}\n",
	"name: charged\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 1KiB, overhead: {send: 300ns, receive: 400ns}, gap: 900ns}\n",
	"frontera", "leonardo", "lumi", "aws-c5n", "vaced-sim",
}

// An alltoall by linear-sync sends and receives, and takes, as the same program by nonblocking messages does, whenever ranks
// enter: MPI 4.1, 3.7.3 and 3.7.5.
func TestWindowsAreWaitalls(t *testing.T) {
	const seed = 31
	for n, machine := range machinesOfWindows {
		for _, ranks := range []int{2, 3, 8, 13} {
			tgt := target(t, machine, ranks)
			for i, throttle := range []int{2, 3, 5, 32} {
				for j, block := range []int{8, 1000, 100_000} {
					run := func(alltoall func(r *mpivirt.Rank, send, receive []byte) error, engines int) []vtime.Time {
						ends := make([]vtime.Time, ranks)
						_, err := simulate(t, mpivirt.Config{
							Target: tgt, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Alltoall: collectives.LinearSync.WithFanout(throttle)},
							Program: mpivirt.Program{Name: "windows", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
								send, receive := make([]byte, ranks*block), make([]byte, ranks*block)
								for to := range ranks {
									send[to*block] = byte(r.Rank()*ranks + to)
								}
								r.Compute(vtime.Duration(random.Intn(seed, uint64(n), uint64(r.Rank()), 40_000)) * vtime.Nanosecond)
								if err := alltoall(r, send, receive); err != nil {
									return err
								}
								for from := range ranks {
									if got, want := receive[from*block], byte(from*ranks+r.Rank()); got != want {
										return fmt.Errorf("rank %d has %d of rank %d, want %d", r.Rank(), got, from, want)
									}
								}
								ends[r.Rank()] = r.Now()
								return nil
							})}},
						}, engines)
						if err != nil {
							t.Fatalf("%s, %d ranks: %v", machine, ranks, err)
						}
						return ends
					}
					want := run(func(r *mpivirt.Rank, send, receive []byte) error {
						r.Compute(tgt.LocalCopyTimeAmong(ranks, int64(block))) // of its own block: all ranks are on one node
						return throttled(r.World(), send, receive, throttle)
					}, 1)
					got := run(func(r *mpivirt.Rank, send, receive []byte) error { return mpivirt.Alltoall(r.World(), send, receive) }, 1+(n+i+j)%min(3, ranks))
					if !slices.Equal(got, want) {
						t.Errorf("%s, %d ranks, %d bytes, %d messages at once: the alltoall ends at %v, the program at %v", machine, ranks, block, throttle, got, want)
					}
				}
			}
		}
	}
}
