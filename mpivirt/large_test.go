package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
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
	for _, c := range []struct {
		name, machine string
		collectives   mpivirt.Interpreter
		algorithm     collectives.Algorithm
		main          func(r *mpivirt.Rank) error
	}{
		{"message", "gigabit-star", mpivirt.Auto, collectives.NodeLeader, message},
		{"messages of an allreduce", "gigabit-star", mpivirt.Message, collectives.RecursiveDoubling, sum},
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
// members than have their blocks exchanged together, and where input and output share memory.
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
		_, err := simulate(t, mpivirt.Config{
			Target: target(t, "xt5", ranks), Program: mpivirt.Program{Name: "blocks", Forms: []mpivirt.Form{mpivirt.Main(main)}},
		}, 1)
		if err != nil {
			t.Errorf("in place: %t: %v", inPlace, err)
		}
	}
}
