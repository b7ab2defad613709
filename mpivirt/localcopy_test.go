package mpivirt_test

import (
	"fmt"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// copying is a machine on which a message takes 1 us, and a rank copies 1 ns a byte.
const copying = "name: copying\nnetwork: {model: flat, latency: 1us, local_copy: {bandwidth: 1GB/s}}\n"

// The time of an alltoall that the tally counts has the copies of own blocks: 1000 bytes and
// a round of 1 us.
func TestTimedAlltoallHasTheCopy(t *testing.T) {
	program := mpivirt.Program{Name: "timed", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, step *uint8) steps.Outcome {
			if *step == 2 {
				return r.Finish()
			}
			*step++
			return r.Timed(int(*step), "alltoall").CollectiveSize(collectives.Alltoall, 1000, 0)
		})
	})}}
	for ranks, want := range map[int]vtime.Duration{1: vtime.Microsecond, 2: 2 * vtime.Microsecond} {
		for _, interpreter := range []mpivirt.Interpreter{mpivirt.Message, mpivirt.Bulk} {
			result, err := simulate(t, mpivirt.Config{Target: target(t, copying, ranks), Program: program, Collectives: interpreter}, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range result.Iterations {
				if it.Min != want || it.Max != want {
					t.Errorf("%d ranks, %v: iteration %d takes %v to %v, want %v", ranks, interpreter, it.Index, it.Min, it.Max, want)
				}
			}
			if got := vtime.Duration(result.VirtualTime); got != 2*want || len(result.Iterations) != 2 {
				t.Errorf("%d ranks, %v: two alltoalls in %d iterations end at %v, want %v", ranks, interpreter, len(result.Iterations), got, 2*want)
			}
		}
	}
}

// Each rank copies its own block of an alltoallv, here 1000 and 3000 bytes, and then exchanges:
// rank 0 enters the round at 1 us, rank 1 at 3 us. Rank 0 has the message of rank 1 at 4 us, and
// rank 1 has that of rank 0 when it enters. A nonblocking call copies before it returns.
func TestAlltoallvCopiesOwnBlocks(t *testing.T) {
	own := []int{1000, 3000}
	for _, nonblocking := range []bool{false, true} {
		result, err := simulate(t, mpivirt.Config{Target: target(t, copying, 2),
			Program: mpivirt.Program{Name: "own", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				counts := []int{1, 1}
				counts[r.Rank()] = own[r.Rank()]
				data, received := make([]byte, own[r.Rank()]+1), make([]byte, own[r.Rank()]+1)
				called := r.Now()
				if nonblocking {
					q, err := mpivirt.Ialltoallv(r.World(), data, counts, received, counts)
					if err != nil {
						return err
					}
					called = r.Now()
					if _, err := q.Wait(); err != nil {
						return err
					}
				} else if err := mpivirt.Alltoallv(r.World(), data, counts, received, counts); err != nil {
					return err
				}
				copied := vtime.Duration(own[r.Rank()]) * vtime.Nanosecond
				if want := vtime.Time(0).Add(copied); nonblocking && called != want {
					return fmt.Errorf("rank %d has copied at %v, want %v", r.Rank(), called, want)
				}
				want := []vtime.Duration{4 * vtime.Microsecond, 3 * vtime.Microsecond}[r.Rank()]
				if got := r.Now().Sub(0); got != want {
					return fmt.Errorf("rank %d is done at %v, want %v", r.Rank(), got, want)
				}
				return nil
			})}}}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := vtime.Duration(result.VirtualTime); got != 4*vtime.Microsecond {
			t.Errorf("nonblocking %v: ends at %v, want 4us", nonblocking, got)
		}
	}
}

// A message of a rank to itself, eager or not, takes a copy: 3000 bytes 3 us. To another rank it takes
// 1 us, and the rendezvous two more.
func TestMessageToOneselfTakesACopy(t *testing.T) {
	for limit, want := range map[string][2]vtime.Duration{
		"":                     {3 * vtime.Microsecond, vtime.Microsecond},
		", eager_limit: 1000B": {5 * vtime.Microsecond, 3 * vtime.Microsecond},
	} {
		machine := strings.Replace(copying, "}}", "}"+limit+"}", 1)
		for engines := 1; engines <= 2; engines++ {
			_, err := simulate(t, mpivirt.Config{Target: target(t, machine, 2),
				Program: mpivirt.Program{Name: "self", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					data, received := make([]byte, 3000), make([]byte, 3000)
					for i, to := range []int{r.Rank(), 1 - r.Rank()} {
						began := r.Now()
						if _, err := mpivirt.Sendrecv(r.World(), data, to, 0, received, to, 0); err != nil {
							return err
						}
						if got := r.Now().Sub(began); got != want[i] {
							return fmt.Errorf("from %d to %d: %v, want %v", r.Rank(), to, got, want[i])
						}
					}
					return nil
				})}}}, engines)
			if err != nil {
				t.Errorf("%d engines%s: %v", engines, limit, err)
			}
		}
	}
}

// Algorithms allocate vectors for themselves: of 2,000 bytes of a reduce_scatter among two ranks one by ring and two by recursive halving,
// beside the message of 1 us. Pages of buffers of more than 1,000 bytes are made at 1 GB/s; a vector of 1,000 bytes is no longer than the
// allocator keeps. Where two ranks share a memory of 4 GB/s, it reads and writes 4,000 bytes of copies in 2 us, and clears their pages in
// 1 us, which is sooner than a rank makes them. Then it has the messages of both ranks until 0.5 and 1 us, which are there at 1.5 and 2 us, and the sums
// until 2.25 and 3 us. A memory of 1 GB/s clears 4,000 bytes in 4 us and has copies for 8 us. It has messages of 2,000 bytes until 4 and 8 us, and sums until 14 and
// 20 us.
func TestBuffersTakeTime(t *testing.T) {
	const alone = "name: m\nnetwork: {model: flat, latency: 1us, fresh_memory: {above: 1000B, bandwidth: 1GB/s}}\n"
	const together = "name: m\nranks_per_node: 2\nnode: {memory: 4GB/s}\nnetwork: {model: flat, latency: 1us, fresh_memory: {above: 1000B, bandwidth: 1GB/s}}\n"
	const crowded = "name: m\nranks_per_node: 2\nnode: {memory: 1GB/s}\nnetwork: {model: flat, latency: 1us, fresh_memory: {above: 1000B, bandwidth: 1GB/s}}\n"
	for _, c := range []struct {
		machine string
		op      collectives.Operation
		a       collectives.Algorithm
		bytes   int64
		want    vtime.Duration // of the last exit
	}{
		{alone, collectives.ReduceScatter, collectives.Ring, 500, vtime.Microsecond},
		{alone, collectives.ReduceScatter, collectives.Ring, 1000, 3 * vtime.Microsecond},
		{alone, collectives.ReduceScatter, collectives.RecursiveHalving, 1000, 5 * vtime.Microsecond},
		{alone, collectives.Allreduce, collectives.RecursiveDoubling, 2000, 3 * vtime.Microsecond},
		{alone, collectives.Allreduce, collectives.Ring, 2000, 2 * vtime.Microsecond},
		{alone, collectives.Alltoall, collectives.Bruck, 1000, 3 * vtime.Microsecond},
		{alone, collectives.Alltoall, collectives.Pairwise, 1000, vtime.Microsecond},
		{together, collectives.ReduceScatter, collectives.Ring, 1000, 7 * vtime.Microsecond},
		{crowded, collectives.Allreduce, collectives.RecursiveDoubling, 2000, 32 * vtime.Microsecond},
	} {
		program := mpivirt.Program{Name: "buffers", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
			return steps.New(func(r *steps.Rank, step *uint8) steps.Outcome {
				if *step == 1 {
					return r.Finish()
				}
				*step++
				return r.Timed(0, "buffers").CollectiveSize(c.op, c.bytes, 0)
			})
		})}}
		for _, interpreter := range []mpivirt.Interpreter{mpivirt.Message, mpivirt.Bulk} {
			for engines := 1; engines <= 2; engines++ {
				result, err := simulate(t, mpivirt.Config{Target: target(t, c.machine, 2), Program: program, Collectives: interpreter,
					Algorithms: map[collectives.Operation]collectives.Algorithm{c.op: c.a}}, engines)
				if err != nil {
					t.Fatal(err)
				}
				if got := result.Iterations[0].Max; got != c.want {
					t.Errorf("%v by %v of %d bytes, %v on %d engines: %v, want %v\n%s", c.op, c.a, c.bytes, interpreter, engines, got, c.want, c.machine)
				}
			}
		}
	}
}
