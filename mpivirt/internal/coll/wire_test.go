package coll

import (
	"testing"

	"gigarank/collectives"
)

// What is under way between engines is most of what all send at once, as long as that is little beside
// the windows between them; then half of it and the windows, and of a root's messages the windows alone.
func TestOnWire(t *testing.T) {
	const participants, window = 1000, 1000
	for _, c := range []struct {
		algorithm   collectives.Algorithm
		engines     int
		bytes, want float64
	}{
		{collectives.RecursiveDoubling, 1, 0, 0},
		{collectives.RecursiveDoubling, 2, 1, 0.75},
		{collectives.RecursiveDoubling, 2, 100, 51},
		{collectives.RecursiveDoubling, 3, 100, 52},
		{collectives.Linear, 2, 1, 0.75},
		{collectives.Linear, 2, 100, 4},
		{collectives.Linear, 3, 100, 8},
	} {
		o := &outlay{Hosting: &Hosting{Engines: c.engines, Window: window}, call: &Collective{Algorithm: c.algorithm}, participants: participants}
		if got := o.onWire(c.bytes); got != c.want {
			t.Errorf("%v on %d engines: %v B of %v under way, want %v", c.algorithm, c.engines, got, c.bytes, c.want)
		}
	}
}
