package native_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/sync"
)

// Calls that go with the next call of their rank have the times and contents of calls that each switch to the engine.
func TestPostedCalls(t *testing.T) {
	program := build(t, "posts.c")
	seeds := 12
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		for _, machine := range []string{"xt5", "vaced-sim", "loggops-default", "frontier"} {
			ranks := 2 + seed%6
			first, want, err := run(t, program, machine, ranks, hosting{engines: 1, protocol: sync.Hybrid, unposted: true}, fmt.Sprint(seed))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range []hosting{
				{engines: 1, protocol: sync.Hybrid}, {engines: 1, protocol: sync.Hybrid, stacks: native.Copied}, {engines: 2, protocol: sync.Hybrid},
				{engines: min(3, ranks), protocol: sync.Null, stacks: native.Copied}, {engines: 2, protocol: sync.Conditional, strict: true},
				{engines: 1, protocol: sync.Hybrid, collectives: mpivirt.Message},
			} {
				result, lines, err := run(t, program, machine, ranks, h, fmt.Sprint(seed))
				if err != nil {
					t.Fatalf("seed %d, %s, %+v: %v", seed, machine, h, err)
				}
				if !slices.Equal(lines, want) || result.Fingerprint != first.Fingerprint {
					t.Errorf("seed %d, %s, %+v: %v, want %v", seed, machine, h, lines, want)
				}
			}
		}
	}
}

// On one engine the order of lines of different ranks is the program's: it does not depend on the time that ranks compute on the host.
func TestLinesKeepTheirOrder(t *testing.T) {
	program := build(t, "order.c")
	for _, stacks := range []native.Stacks{native.Own, native.Copied} {
		h := hosting{engines: 1, protocol: sync.Hybrid, stacks: stacks, ordered: true}
		_, want, err := run(t, program, "xt5", 6, h)
		if err != nil {
			t.Fatal(err)
		}
		_, lines, err := run(t, program, "xt5", 6, h, "long")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%v stacks: with long computing %q, want %q", stacks, lines, want)
		}
	}
}
