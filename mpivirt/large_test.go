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
	const n = 66 << 20 / 8
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
