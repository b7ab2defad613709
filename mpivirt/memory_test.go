//go:build !race && !invariants

// The race detector and the checks of invariants take memory of their own.

package mpivirt_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// allocated counts the bytes of the slices that the ranks of a program allocate.
type allocated struct{ bytes int64 }

func (a *allocated) slice(n int) []float64 {
	atomic.AddInt64(&a.bytes, 8*int64(n))
	return make([]float64, n)
}

// taken returns the bytes that a run allocates.
func taken(t *testing.T, c mpivirt.Config, engines int) int64 {
	t.Helper()
	c.Watchdog = -1 // of a run that the host holds up it reads the stacks, into a megabyte
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := simulate(t, c, engines); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// once is a program for event ranks that do one thing.
func once(do func(r *steps.Rank) steps.Outcome) mpivirt.Form {
	return steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, begun *bool) steps.Outcome {
			if *begun {
				return r.Finish()
			}
			*begun = true
			return do(r)
		})
	})
}

// keepsPlaces reports whether an algorithm has each block, in any round, where its member's input
// or output has it. Others need buffers, by messages.
func keepsPlaces(op collectives.Operation, a collectives.Algorithm) bool {
	return a != collectives.Bruck && !(op == collectives.Scatter && a == collectives.Binomial)
}

// Collectives take no memory that grows with the data, beside the program's own slices: from
// one size to four times that, the bytes that a run allocates grow as those of the program.
// That holds by either interpreter, for eager messages and for those whose senders wait, and
// on one engine for every algorithm that combines nothing.
func TestCollectivesTakeNoMemoryForData(t *testing.T) {
	const ranks = 32
	sum := mpivirt.Sum[float64]()
	for _, c := range []struct {
		op         collectives.Operation
		algorithms []collectives.Algorithm
		form       func(a *allocated, n int) mpivirt.Form // each rank gets n elements in all
	}{
		{collectives.Bcast, []collectives.Algorithm{collectives.Binomial, collectives.Linear, collectives.Ring}, func(a *allocated, n int) mpivirt.Form {
			return mpivirt.Main(func(r *mpivirt.Rank) error { return mpivirt.Bcast(r.World(), a.slice(n), 5) })
		}},
		{collectives.Bcast, []collectives.Algorithm{collectives.Binomial}, func(a *allocated, n int) mpivirt.Form {
			return once(func(r *steps.Rank) steps.Outcome { return steps.Bcast(r, a.slice(n), 5) })
		}},
		{collectives.Allreduce, []collectives.Algorithm{collectives.NodeLeader, collectives.Binomial}, func(a *allocated, n int) mpivirt.Form {
			return mpivirt.Main(func(r *mpivirt.Rank) error { return mpivirt.Allreduce(r.World(), a.slice(n), a.slice(n), sum) })
		}},
		{collectives.Allgather, []collectives.Algorithm{collectives.Ring, collectives.Linear, collectives.Bruck}, func(a *allocated, n int) mpivirt.Form {
			return mpivirt.Main(func(r *mpivirt.Rank) error { return mpivirt.Allgather(r.World(), a.slice(n/ranks), a.slice(n)) })
		}},
		{collectives.Alltoall, []collectives.Algorithm{collectives.Pairwise, collectives.Linear, collectives.Bruck}, func(a *allocated, n int) mpivirt.Form {
			return mpivirt.Main(func(r *mpivirt.Rank) error { return mpivirt.Alltoall(r.World(), a.slice(n), a.slice(n)) })
		}},
		{collectives.Scatter, []collectives.Algorithm{collectives.Linear, collectives.Binomial}, func(a *allocated, n int) mpivirt.Form {
			return mpivirt.Main(func(r *mpivirt.Rank) error {
				all := []float64(nil)
				if r.Rank() == 5 {
					all = a.slice(n * ranks)
				}
				return mpivirt.Scatter(r.World(), all, a.slice(n), 5)
			})
		}},
	} {
		for _, algorithm := range c.algorithms {
			for _, interpreter := range []mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message} {
				if interpreter == mpivirt.Message && !keepsPlaces(c.op, algorithm) {
					continue
				}
				for _, n := range []int{1 << 12, 1 << 15} {
					bytes := func(n int) (run, program int64) {
						var a allocated
						run = taken(t, mpivirt.Config{
							Target: target(t, twelve, ranks), Collectives: interpreter,
							Algorithms: map[collectives.Operation]collectives.Algorithm{c.op: algorithm},
							Program:    mpivirt.Program{Name: c.op.String(), Forms: []mpivirt.Form{c.form(&a, n)}},
						}, 1)
						return run, a.bytes
					}
					small, own := bytes(n)
					large, all := bytes(4 * n)
					grown := float64(large-small) / float64(all-own)
					what := fmt.Sprintf("%v, %v, interpreter %d, %d to %d elements", c.op, algorithm, interpreter, n, 4*n)
					t.Logf("%s: %.3f bytes for each of the program", what, grown)
					most := 1.1
					if c.op == collectives.Alltoall && algorithm == collectives.Linear {
						most = 1.6 // all its messages are under way at a time: who sends early has copies of its blocks wait
					}
					if grown > most {
						t.Errorf("%s: the run takes %.3f bytes for each of the program, want %.1f", what, grown, most)
					}
				}
			}
		}
	}
}

// Nor do blocks that go between engines, but for what is on the way: at most a window from each engine to
// each other, or a result of one member for each engine. Records lie in buffers of up to twice their length.
func TestBlocksBetweenEnginesTakeNoMemory(t *testing.T) {
	const ranks, n, window = 64, 1 << 16, 256 << 10
	for name, call := range map[string]func(r *mpivirt.Rank, a *allocated) error{
		"allgather": func(r *mpivirt.Rank, a *allocated) error {
			return mpivirt.Allgather(r.World(), a.slice(n/ranks), a.slice(n))
		},
		"alltoall": func(r *mpivirt.Rank, a *allocated) error {
			return mpivirt.Alltoall(r.World(), a.slice(n), a.slice(n))
		},
	} {
		for _, engines := range []int{2, 4} {
			var a allocated
			program := mpivirt.Program{Name: name, Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return call(r, &a) })}}
			run := float64(taken(t, mpivirt.Config{Target: target(t, twelve, ranks), Program: program, Window: window}, engines))
			const others = 1 << 20 // of the simulation
			onTheWay := 2 * (engines - 1) * max(engines*window, 8*n)
			t.Logf("%s, %d engines: %.0f bytes, %.3f for each of the program", name, engines, run, run/float64(a.bytes))
			if most := float64(a.bytes) + float64(onTheWay+others); run > most {
				t.Errorf("%s, %d engines: the run takes %.0f bytes, want %.0f", name, engines, run, most)
			}
		}
	}
}

// A send that waits for its match takes no memory for the data, whether the receive is posted
// before it or after it.
func TestSendsTakeNoMemoryForData(t *testing.T) {
	const ranks = 32
	for name, main := range map[string]func(r *mpivirt.Rank, data []float64) error{
		"send first": func(r *mpivirt.Rank, data []float64) error {
			if r.Rank()%2 == 0 {
				return mpivirt.Send(r.World(), data, r.Rank()+1, 0)
			}
			_, err := mpivirt.Recv(r.World(), data, r.Rank()-1, 0)
			return err
		},
		"receive first": func(r *mpivirt.Rank, data []float64) error {
			if r.Rank()%2 == 1 {
				return mpivirt.Send(r.World(), data, r.Rank()-1, 0)
			}
			_, err := mpivirt.Recv(r.World(), data, r.Rank()+1, 0)
			return err
		},
		"any source": func(r *mpivirt.Rank, data []float64) error {
			if r.Rank()%2 == 0 {
				return mpivirt.Ssend(r.World(), data, r.Rank()+1, 0)
			}
			_, err := mpivirt.Recv(r.World(), data, mpivirt.AnySource, 0)
			return err
		},
		"both": func(r *mpivirt.Rank, data []float64) error {
			next, before := (r.Rank()+1)%ranks, (r.Rank()+ranks-1)%ranks
			_, err := mpivirt.Sendrecv(r.World(), data[:len(data)/2], next, 0, data[len(data)/2:], before, 0)
			return err
		},
	} {
		bytes := func(n int) (run, program int64) {
			var a allocated
			run = taken(t, mpivirt.Config{Target: target(t, twelve, ranks), Program: mpivirt.Program{
				Name: "send", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return main(r, a.slice(n)) })},
			}}, 1)
			return run, a.bytes
		}
		small, own := bytes(1 << 16)
		large, all := bytes(1 << 18)
		if grown := float64(large-small) / float64(all-own); grown > 1.1 {
			t.Errorf("%s: the run takes %.3f bytes for each of the program, want 1.1", name, grown)
		}
	}
}

// Collectives that are over leave nothing behind, though their ranks always have something to
// do, so that the engine never comes to an end of what is ready.
func TestEndedCollectivesLeaveNothing(t *testing.T) {
	const calls = 8000
	var first, last int64
	program := mpivirt.Program{Name: "reduce", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		for i := range calls {
			switch {
			case r.Rank() == 0 && i == calls/2:
				first = liveBytes()
			case r.Rank() == 0 && i == calls-1:
				last = liveBytes()
			}
			if err := mpivirt.Reduce(r.World(), []int64{1}, make([]int64, 1), mpivirt.Sum[int64](), 0); err != nil {
				return err
			}
		}
		return nil
	})}}
	if _, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 3), Program: program}, 1); err != nil {
		t.Fatal(err)
	}
	if last > first+calls/2*100 {
		t.Errorf("%d calls leave %d bytes", calls/2, last-first)
	}
}

// liveBytes returns the bytes of live values.
func liveBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// In the order of virtual time, members whose part takes no time make all their calls before the root
// makes its second one. The call and its messages wait for the root.
func TestBytesOfReduceAheadOfRoot(t *testing.T) {
	const calls = 8000
	for ranks, most := range map[int]int64{3: 1_700, 12: 3_000} {
		var before, after int64
		main := func(r *mpivirt.Rank) error {
			for i := range 2 * calls {
				switch {
				case r.Rank() == 0 && i == 0:
					before = liveBytes()
				case r.Rank() == 0 && i == calls:
					after = liveBytes()
				}
				if err := mpivirt.Reduce(r.World(), []int64{1}, make([]int64, 1), mpivirt.Sum[int64](), 0); err != nil {
					return err
				}
			}
			return nil
		}
		c := mpivirt.Config{Strict: true, Target: target(t, hockney, ranks), Program: mpivirt.Program{Name: "reduce", Forms: []mpivirt.Form{mpivirt.Main(main)}}}
		if _, err := simulate(t, c, 1); err != nil {
			t.Fatal(err)
		}
		kept := (after - before) / calls
		t.Logf("%d ranks: a call that the others are ahead of the root takes %d bytes", ranks, kept)
		if kept > most {
			t.Errorf("a call that %d ranks are ahead of the root takes %d bytes, want %d at most", ranks-1, kept, most)
		}
	}
}

// A member that goes ahead leaves messages for the others, and nothing for each member that has yet to
// enter.
func TestCollectivesAheadKeepNothingForEachMember(t *testing.T) {
	const ranks, calls, most = 1000, 500, 10_000
	var before, after int64
	main := func(r *mpivirt.Rank) error {
		world, number, root := r.World(), []int64{1}, r.Rank() == 0
		if !root {
			if _, err := world.RecvSize(8, 0, 0); err != nil {
				return err
			}
		} else {
			before = liveBytes()
		}
		for range calls {
			if err := mpivirt.Bcast(world, number, 0); err != nil {
				return err
			}
		}
		if !root {
			return nil
		}
		after = liveBytes()
		for other := 1; other < ranks; other++ {
			if err := world.SendSize(8, other, 0); err != nil {
				return err
			}
		}
		return nil
	}
	c := mpivirt.Config{Target: target(t, hockney, ranks), Program: mpivirt.Program{Name: "bcast", Forms: []mpivirt.Form{mpivirt.Main(main)}}}
	if _, err := simulate(t, c, 1); err != nil {
		t.Fatal(err)
	}
	if kept := (after - before) / calls; kept > most {
		t.Errorf("a call that one of %d members is ahead of the others takes %d bytes, want %d at most", ranks, kept, most)
	}
}

// A rank with an open receive does not keep all its compute phases: those stay that an early message
// may still meet, though no handshake tells of the time.
func TestComputePhasesBesideAnOpenReceive(t *testing.T) {
	const ranks, steps, other = 10, 20_000, 4_000
	for name, ends := range map[string]bool{"all compute": false, "one ends at once": true} {
		var first, last int64
		main := func(r *mpivirt.Rank) error {
			n, color := ranks, 0
			if ends {
				n, color = ranks-1, r.Rank()/(ranks-1)
			}
			c, err := r.World().Split(color, 0)
			if err != nil || color > 0 {
				return err
			}
			open, err := r.World().IrecvSize(8, mpivirt.AnySource, 7)
			if err != nil {
				return err
			}
			for i := range steps {
				switch {
				case r.Rank() == 0 && i == other:
					first = liveBytes()
				case r.Rank() == 0 && i == steps-1:
					last = liveBytes()
				}
				r.Compute(vtime.Microsecond)
				if err := c.Barrier(); err != nil {
					return err
				}
			}
			if err := r.World().SendSize(8, (r.Rank()+1)%n, 7); err != nil {
				return err
			}
			_, err = open.Wait()
			return err
		}
		if _, err := simulate(t, mpivirt.Config{Target: target(t, inCalls, ranks), Program: mpivirt.Program{Name: "open", Forms: []mpivirt.Form{mpivirt.Main(main)}}}, 1); err != nil {
			t.Fatal(err)
		}
		if grown := last - first; grown > 4*ranks*(steps-other) {
			t.Errorf("%s: %d phases of each of %d ranks leave %d bytes", name, steps-other, ranks, grown)
		}
	}
}
