package kernel

import (
	"testing"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/network"
	"gigarank/vtime"
)

// An exit that a split holds back until it has the data of another engine is an instant
// at which this engine may act: promises must not let it go beyond, however far they go.
func TestHeldExitsBoundTheEngine(t *testing.T) {
	machine, err := network.Parse("flat", []byte("name: flat\nnetwork: {model: flat, latency: 1us}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := machine.Target(4)
	if err != nil {
		t.Fatal(err)
	}
	c := &Config{Target: target}
	// The EIT of an engine that hears of no other is Forever.
	k := newKernel(c, engine.New(engine.Config{Partition: engine.Partition{LPs: 4, Engines: 1}, Transport: engine.NewInProcess(1)[0]}))
	inst := k.newInstance(k.comms[World], 0, 0, &Collective{
		Procedure: CommSplit, Operation: collectives.Allgather, algorithm: collectives.Ring, Bytes: 8, Element: 8, exchange: &exchange{},
	})
	k.comms[World].live = append(k.comms[World].live, inst)
	inst.entered[0], inst.count = 0b111, 3
	for i, held := range []struct{ exit, eit vtime.Time }{{500, 500}, {300, 300}, {400, 300}} {
		k.exit(inst, int32(i), i, held.exit)
		if got := k.eng.EIT(); got != held.eit {
			t.Errorf("an exit at %v is held back, EIT is %v, want %v", held.exit, got, held.eit)
		}
	}
	inst.split.done = true
	k.letGo(inst)
	if got := k.eng.EIT(); got != vtime.Forever {
		t.Errorf("no exit is held back, EIT is %v", got)
	}
	if len(k.holds) > 0 {
		t.Error("the kernel still knows a split that holds exits")
	}
}
