package forecast

import (
	"testing"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/network"
)

// CostOf counts arrays of clocks where engines use them, and messages elsewhere:
// it asks the same choice.
func TestCostKnowsTheInterpreter(t *testing.T) {
	machine, err := network.Load("vaced-sim", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why       string
		op        collectives.Operation
		algorithm collectives.Algorithm
		config    kernel.Config
		ranks     int64
		engines   int
		messages  bool
	}{
		{"regular rounds", collectives.Barrier, collectives.Dissemination, kernel.Config{}, 1000, 2, false},
		{"messages are asked for", collectives.Barrier, collectives.Dissemination, kernel.Config{Collectives: coll.Message}, 1000, 2, true},
		{"null messages alone", collectives.Barrier, collectives.Dissemination, kernel.Config{Protocol: engine.Null}, 1000, 2, true},
		{"and one engine", collectives.Barrier, collectives.Dissemination, kernel.Config{Protocol: engine.Null}, 1000, 1, false},
		{"a message a round", collectives.Barrier, collectives.Linear, kernel.Config{}, 1000, 2, true},
		{"blocks that vary", collectives.Allgather, collectives.RecursiveDoubling, kernel.Config{}, 1000, 2, true},
		{"blocks that do not", collectives.Allgather, collectives.RecursiveDoubling, kernel.Config{}, 1024, 2, false},
		{"members leave before others enter", collectives.Bcast, collectives.Binomial, kernel.Config{}, 1000, 1, true},
	} {
		c.config.Kind = &kernel.Kind{}
		c.config.Algorithms = map[collectives.Operation]collectives.Algorithm{c.op: c.algorithm}
		if c.config.Target, err = machine.Target(c.ranks); err != nil {
			t.Fatal(err)
		}
		if got := CostOf(&c.config, c.engines, Use{Operation: c.op}).BytesPerRank; got > 100 != c.messages {
			t.Errorf("%s: %g bytes a rank", c.why, got)
		}
	}
}
