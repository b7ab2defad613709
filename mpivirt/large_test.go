package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"

	"pgregory.net/rapid"
)

// Messages, and the records in which engines give each other their parts of a
// collective, may be of any size: here longer than any buffer that is kept for
// reuse.
func TestLargeDataBetweenEngines(t *testing.T) {
	n := 66 << 20 / 8
	if testing.Short() { // the race detector looks at each element
		n = 1 << 20 / 8
	}
	// vector is what a rank gives; its elements differ with rank and place.
	vector := func(rank int) []uint64 {
		data := make([]uint64, n)
		for i := range data {
			data[i] = uint64(i + rank)
		}
		return data
	}
	message := func(r *mpivirt.Rank) error {
		if r.Rank() == 0 {
			return mpivirt.Send(r.World(), vector(0), 1, 5)
		}
		data := make([]uint64, n)
		if _, err := mpivirt.Recv(r.World(), data, 0, 5); err != nil {
			return err
		}
		for i, got := range data {
			if got != uint64(i) {
				return fmt.Errorf("element %d is %d", i, got)
			}
		}
		return nil
	}
	sum := func(r *mpivirt.Rank) error {
		data := make([]uint64, n)
		if err := mpivirt.Allreduce(r.World(), vector(r.Rank()), data, mpivirt.Sum[uint64]()); err != nil {
			return err
		}
		for i, got := range data {
			if got != uint64(2*i+1) {
				return fmt.Errorf("element %d is %d", i, got)
			}
		}
		return nil
	}
	blocks := func(r *mpivirt.Rank) error {
		in, out := vector(r.Rank()), make([]uint64, 2*n)
		if err := mpivirt.Allgather(r.World(), in, out); err != nil {
			return err
		}
		for i, got := range out {
			if want := uint64(i%n + i/n); got != want {
				return fmt.Errorf("element %d of an allgather is %d", i, got)
			}
		}
		for i := range out {
			out[i] = uint64(4*i + r.Rank())
		}
		all := make([]uint64, 2*n)
		if err := mpivirt.Alltoall(r.World(), out, all); err != nil {
			return err
		}
		for i, got := range all {
			if want := uint64(4*(r.Rank()*n+i%n) + i/n); got != want {
				return fmt.Errorf("element %d of an alltoall is %d", i, got)
			}
		}
		return nil
	}
	for _, c := range []struct {
		name, machine string
		collectives   mpivirt.Interpreter
		algorithm     collectives.Algorithm
		main          func(r *mpivirt.Rank) error
	}{
		{"message", "gigabit-star", mpivirt.Auto, collectives.NodeLeader, message},
		{"messages of an allreduce", "gigabit-star", mpivirt.Message, collectives.RecursiveDoubling, sum},
		{"blocks by messages", "gigabit-star", mpivirt.Message, collectives.RecursiveDoubling, blocks},
		{"blocks over arrays", "gigabit-star", mpivirt.Bulk, collectives.RecursiveDoubling, blocks},
		{"tree of an allreduce", "gigabit-star", mpivirt.Bulk, collectives.RecursiveDoubling, sum},
		{"join of a node", "xt5", mpivirt.Auto, collectives.NodeLeader, sum},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := simulate(t, mpivirt.Config{
				Target: target(t, c.machine, 2), Collectives: c.collectives,
				Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: c.algorithm},
				Program:    mpivirt.Program{Name: "large", Forms: []mpivirt.Form{mpivirt.Main(c.main)}},
			}, 2)
			if err != nil {
				t.Fatal(err)
			}
			if r.Statistics.RemoteMessages == 0 {
				t.Error("nothing went from one engine to the other")
			}
		})
	}
}

// Each member gets its block of every other one, in order (MPI 4.1, 6.8 and 6.7), also among more
// members than have their blocks exchanged together, where input and output share memory, and where blocks go
// between engines, with room or without.
func TestBlocksOfManyMembers(t *testing.T) {
	const ranks, elements = 300, 3
	value := func(from, to, i int) int32 { return int32((from*ranks+to)*elements + i) }
	check := func(r *mpivirt.Rank, what string, got []int32, want func(from, i int) int32) error {
		for from := range ranks {
			for i := range elements {
				if x := got[from*elements+i]; x != want(from, i) {
					return fmt.Errorf("%s: rank %d has %d from rank %d, want %d", what, r.Rank(), x, from, want(from, i))
				}
			}
		}
		return nil
	}
	for _, inPlace := range []bool{false, true} {
		main := func(r *mpivirt.Rank) error {
			in := make([]int32, ranks*elements)
			for to := range ranks {
				for i := range elements {
					in[to*elements+i] = value(r.Rank(), to, i)
				}
			}
			out := in
			if !inPlace {
				out = make([]int32, ranks*elements)
			}
			if err := mpivirt.Alltoall(r.World(), in, out); err != nil {
				return err
			}
			if err := check(r, "Alltoall", out, func(from, i int) int32 { return value(from, r.Rank(), i) }); err != nil {
				return err
			}
			mine := make([]int32, elements)
			if inPlace {
				mine = out[r.Rank()*elements:][:elements]
			}
			for i := range mine {
				mine[i] = value(r.Rank(), 0, i)
			}
			if err := mpivirt.Allgather(r.World(), mine, out); err != nil {
				return err
			}
			return check(r, "Allgather", out, func(from, i int) int32 { return value(from, 0, i) })
		}
		for _, engines := range []int{1, 2, 3, 7} {
			for _, window := range []int64{0, 1} {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, "xt5", ranks), Window: window,
					Program: mpivirt.Program{Name: "blocks", Forms: []mpivirt.Form{mpivirt.Main(main)}},
				}, engines)
				if err != nil {
					t.Errorf("in place: %t, %d engines, window %d: %v", inPlace, engines, window, err)
				}
			}
		}
	}
}

// Allgathers and alltoalls of blocks of any length, several at a time and on communicators that lie anywhere
// on the engines, give the same bytes and times as by messages on one engine.
func TestBlocksBetweenEngines(t *testing.T) {
	fewer(t, 50)
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(1, 24).Draw(rt, "ranks")
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 8, 100, 512, 1000, 4096, 5000, 40000, 70000}), 1, 3).Draw(rt, "lengths")
		colors := rapid.IntRange(1, 3).Draw(rt, "colors")
		together := rapid.Bool().Draw(rt, "together")
		late := vtime.Duration(rapid.SampledFrom([]int{0, 1, 50_000_000}).Draw(rt, "late"))
		// Byte i of the block from one member to another in call number n.
		value := func(n, from, to, i int) byte { return byte(n + 7*from + 13*to + i*i%251) }
		main := func(r *mpivirt.Rank) error {
			comm, err := r.World().Split(r.Rank()*colors/ranks, r.Rank())
			if err != nil {
				return err
			}
			members, own := comm.Size(), comm.Rank()
			var begun []mpivirt.Request
			var checks []func() error
			for n, length := range lengths {
				r.Compute(vtime.Duration((r.Rank()*5+n)%7) * late)
				in, out := make([]byte, members*length), make([]byte, members*length)
				gathered := make([]byte, members*length)
				for to := range members {
					for i := range length {
						in[to*length+i] = value(n, own, to, i)
					}
				}
				first := in[:length]
				exchange, err := mpivirt.Ialltoall(comm, in, out)
				if err != nil {
					return err
				}
				gather, err := mpivirt.Iallgather(comm, first, gathered)
				if err != nil {
					return err
				}
				begun = append(begun, exchange, gather)
				checks = append(checks, func() error {
					for from := range members {
						for i := range length {
							if got := out[from*length+i]; got != value(n, from, own, i) {
								return fmt.Errorf("alltoall %d of %d bytes: rank %d has %d in byte %d from member %d", n, length, r.Rank(), got, i, from)
							}
							if got := gathered[from*length+i]; got != value(n, from, 0, i) {
								return fmt.Errorf("allgather %d of %d bytes: rank %d has %d in byte %d from member %d", n, length, r.Rank(), got, i, from)
							}
						}
					}
					return nil
				})
				if !together {
					if _, err := mpivirt.Waitall(begun); err != nil {
						return err
					}
					begun = begun[:0]
				}
			}
			if _, err := mpivirt.Waitall(begun); err != nil {
				return err
			}
			r.Record(0, "end", r.Now().Sub(0))
			for _, check := range checks {
				if err := check(); err != nil {
					return err
				}
			}
			return nil
		}
		run := func(engines int, interpreter mpivirt.Interpreter, window int64) string {
			result, err := simulate(t, mpivirt.Config{
				Target: target(t, hockney, ranks), Collectives: interpreter, Window: window,
				Program: mpivirt.Program{Name: "blocks", Forms: []mpivirt.Form{mpivirt.Main(main)}},
			}, engines)
			if err != nil {
				rt.Fatalf("%d engines, interpreter %d, window %d: %v", engines, interpreter, window, err)
			}
			return result.Fingerprint
		}
		want := run(1, mpivirt.Message, 0)
		engines := rapid.IntRange(2, 7).Draw(rt, "engines")
		window := rapid.SampledFrom([]int64{0, 1, 5000, 100_000}).Draw(rt, "window")
		if got := run(engines, mpivirt.Auto, window); got != want {
			rt.Fatalf("%d engines, window %d: the fingerprint is %s, by messages on one engine %s", engines, window, got, want)
		}
	})
}
