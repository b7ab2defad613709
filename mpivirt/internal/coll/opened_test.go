package coll

import (
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// opened returns the collectives of engine 0 of some, on a machine, without ranks that run.
func opened(t *testing.T, machine string, ranks, engines int, wanted Interpreter) *Collectives {
	t.Helper()
	m, err := network.Parse("m", []byte(machine), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(int64(ranks))
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{
		Partition: engine.Partition{LPs: ranks, Engines: engines}, Transport: engine.NewInProcess(engines)[0],
		Lookahead: func(int) vtime.Duration { return vtime.Second },
	})
	k := &Collectives{}
	k.Messages.Partition.Init(world.Settings{Engine: e, Target: target})
	k.Messages.Open(nil, 0, idle{k})
	algorithms := make([]collectives.Algorithm, len(collectives.Operations()))
	k.Open(Algorithms{First: algorithms, Free: slices.Repeat([]bool{true}, len(algorithms))}, wanted, nil)
	return k
}

// idle has no ranks to resume.
type idle struct{ *Collectives }

var _ p2p.Upcalls = idle{}

func (idle) Resume(int32) {}

func (idle) End(int32) {}

func (idle) Deliver(int, []byte) {}
