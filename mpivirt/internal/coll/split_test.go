package coll

import (
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// An exit that a split holds back until it has the data of another engine is an instant
// at which this engine may act: promises must not let it go beyond, however far they go.
func TestHeldExitsBoundTheEngine(t *testing.T) {
	// The EIT of an engine that hears of no other is Forever.
	k := opened(t, "name: flat\nnetwork: {model: flat, latency: 1us}\n", 4, 1, Auto)
	inst := k.newInstance(k.Communicators.At(world.World), 0, 0, &Collective{
		Procedure: world.CommSplit, Operation: collectives.Allgather, Algorithm: collectives.Ring, Bytes: 8, Element: 8, Creation: &creation{},
	})
	k.Communicators.At(world.World).Live = append(k.Communicators.At(world.World).Live, inst)
	inst.entered[0], inst.Count = 0b111, 3
	for i, held := range []struct{ exit, eit vtime.Time }{{500, 500}, {300, 300}, {400, 300}} {
		k.exit(inst, int32(i), i, held.exit)
		if got := k.partition.Engine.EIT(); got != held.eit {
			t.Errorf("an exit at %v is held back, EIT is %v, want %v", held.exit, got, held.eit)
		}
	}
	inst.split.done = true
	k.letGo(inst)
	if got := k.partition.Engine.EIT(); got != vtime.Forever {
		t.Errorf("no exit is held back, EIT is %v", got)
	}
	if len(k.holds) > 0 {
		t.Error("the kernel still knows a split that holds exits")
	}
}
