package mpivirt_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
)

// Algorithms with segments, fan-outs and several ranks a node give the result of their operation, and the same times by all
// interpreters and on any number of engines.
func TestAlgorithmsWithArguments(t *testing.T) {
	for _, c := range []struct {
		op   collectives.Operation
		text string
	}{
		{collectives.Barrier, "dissemination:fanout=3"}, {collectives.Barrier, "smp"}, {collectives.Barrier, "han"},
		{collectives.Bcast, "smp"}, {collectives.Bcast, "han:16B"}, {collectives.Reduce, "smp"}, {collectives.Reduce, "han:16B"},
		{collectives.Allreduce, "smp"}, {collectives.Allreduce, "smp-rabenseifner"}, {collectives.Allreduce, "han:16B"},
		{collectives.Gather, "han"}, {collectives.Scatter, "han"}, {collectives.Allgather, "han"}, {collectives.Alltoall, "two-level"},
		{collectives.Allreduce, "ring-segmented:8B"}, {collectives.Allreduce, "allgather-reduce"},
		{collectives.Allreduce, "recursive-multiplying:fanout=3"}, {collectives.Allreduce, "recursive-multiplying:fanout=5"},
	} {
		a, err := collectives.ParseAlgorithm(c.op, c.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{1, 2, 5, 9, 12, 16} {
			for _, count := range []int{0, 1, 7, 64} {
				x := exercise{op: c.op, members: ranks, root: ranks / 2, count: count, whole: true}
				want := ""
				for engines := 1; engines <= 3; engines++ {
					for _, i := range interpreters {
						got, err := simulate(t, mpivirt.Config{
							Target: target(t, joined, ranks), Collectives: i, Algorithms: map[collectives.Operation]collectives.Algorithm{c.op: a},
							Program: mpivirt.Program{Name: "arguments", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return twice(r, x) })}},
						}, engines)
						if err != nil {
							t.Fatalf("%v %v of %d elements, %d ranks, %d engines, interpreter %d: %v", c.op, a, count, ranks, engines, i, err)
						}
						if want == "" {
							want = fmt.Sprint(got.Fingerprint)
						} else if fmt.Sprint(got.Fingerprint) != want {
							t.Errorf("%v %v of %d elements, %d ranks, %d engines, interpreter %d: other times", c.op, a, count, ranks, engines, i)
						}
					}
				}
			}
		}
	}
}

// twice carries out a collective, blocking and nonblocking, and looks at the results.
func twice(r *mpivirt.Rank, x exercise) error {
	for _, nonblocking := range []bool{false, true} {
		a := x.arguments(r.Rank())
		var err error
		if nonblocking {
			err = waited(a.begin(r.World()))
		} else {
			err = a.call(r.World())
		}
		if want := x.result(r.Rank()); err == nil && len(want) > 0 && !slices.Equal(a.receive[:len(want)], want) {
			err = fmt.Errorf("rank %d has %v, want %v", r.Rank(), a.receive, want)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
