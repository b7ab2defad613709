package steps_test

import (
	"os"
	"strings"
	"testing"

	"gigarank/mpivirt/steps"
	"gigarank/network"
)

// Operations that steps time are told apart by number and name, wherever the names lie, also if they have no name.
func TestTimedOperationsAreToldApart(t *testing.T) {
	machine, err := network.Load("xt5", os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	type operation struct {
		index int
		name  string
	}
	const ranks = 30
	calls := []operation{{0, ""}, {0, "one"}, {0, "two"}, {1, "one"}, {1, strings.Clone("two")}, {1, ""}, {1, strings.Clone("three")}, {7, "two"}, {8, "two"}}
	result, err := steps.Simulate(machine, ranks, steps.New(func(r *steps.Rank, at *uint8) steps.Outcome {
		if *at++; int(*at) > len(calls) {
			return r.Finish()
		}
		c := calls[*at-1]
		return r.Timed(c.index, c.name).Barrier()
	}))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[operation]uint64{}
	for _, it := range result.Iterations {
		counts[operation{it.Index, it.Operation}] += it.Count
	}
	for _, c := range calls {
		if counts[c] != ranks {
			t.Errorf("%d %q has the times of %d ranks, want %d", c.index, c.name, counts[c], ranks)
		}
	}
	if len(result.Iterations) != len(calls) {
		t.Errorf("%d operations are timed, want %d", len(result.Iterations), len(calls))
	}
}
