package forecast

import (
	"os"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/coll"
	"gigarank/network"
)

// What is under way between engines is most of what all send at once, as long as that is little beside
// the windows between them, and with state at the receiver always. Else it is half of it and the
// windows, among leaders of several ranks that begin the windows alone, and of a root's messages some
// windows, or next to nothing where the others wait for the root.
func TestOnWire(t *testing.T) {
	const participants, window = 1000, 1000
	target := func(machine string) *network.Target {
		m, err := network.Load(machine, os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Target(participants)
		if err != nil {
			t.Fatal(err)
		}
		return target
	}
	plain, state := target("xt5"), target("loggops-default")
	for _, c := range []struct {
		target         *network.Target
		algorithm      collectives.Algorithm
		engines, times int
		bytes, want    float64
	}{
		{plain, collectives.RecursiveDoubling, 1, 1, 0, 0},
		{plain, collectives.RecursiveDoubling, 2, 1, 1, 0.75},
		{plain, collectives.RecursiveDoubling, 2, 1, 100, 51},
		{plain, collectives.RecursiveDoubling, 3, 1, 100, 52},
		{state, collectives.RecursiveDoubling, 2, 1, 100, 75},
		{plain, collectives.NodeLeader, 2, 1, 100, 1},
		{plain, collectives.NodeLeader, 2, 2, 100, 51},
		{plain, collectives.Linear, 2, 1, 100, 0.25},
		{plain, collectives.Linear, 2, 2, 1, 0.9},
		{plain, collectives.Linear, 2, 2, 100, 4},
		{plain, collectives.Linear, 3, 2, 100, 8},
	} {
		o := &costModel{
			hosting: &hosting{target: c.target, engines: c.engines, windowBytes: window}, ranks: participants,
			Plan: coll.Plan{Participants: participants, Leaders: c.algorithm == collectives.NodeLeader},
			use:  Use{Operation: collectives.Allreduce}, call: &coll.Collective{Algorithm: c.algorithm},
		}
		if o.Leaders {
			o.ranks *= 12
		}
		if got := o.onWire(c.bytes, c.times); got != c.want {
			t.Errorf("%v on %d engines, %d times: %v B of %v under way, want %v", c.algorithm, c.engines, c.times, got, c.bytes, c.want)
		}
	}
}
