package coll

import (
	"testing"
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// The signature tells calls apart that must not meet, and not those that may.
func TestSignature(t *testing.T) {
	v := Collective{Procedure: world.Reduce, Operation: collectives.Reduce, Root: 1, Bytes: 16, Element: 8, Data: true, Operator: sumOfDoubles}
	for name, change := range map[string]func(w *Collective){
		"MPI_ERR_OTHER": func(w *Collective) { w.Procedure, w.Operation = world.Bcast, collectives.Bcast },
		"MPI_ERR_ROOT":  func(w *Collective) { w.Root = 2 },
		"MPI_ERR_COUNT": func(w *Collective) { w.Bytes = 24 },
		"MPI_ERR_OP":    func(w *Collective) { w.Operator = world.Operator{Name: "max", Commutative: true} },
	} {
		w := v
		change(&w)
		c := &Communicator{Comm: world.Comm{Context: world.WorldContext, Size: 4}}
		if err := c.mismatch(0, v.signature(), w.signature(), 3, world.Procedure.String); err == nil || err.(*world.Error).Class.Error() != name {
			t.Errorf("%v, want %s", err, name)
		}
		if err := c.mismatch(0, v.signature(), v.signature(), 3, world.Procedure.String); err != nil {
			t.Errorf("the same call: %v", err)
		}
	}
	a := Collective{Procedure: world.Gatherv, Operation: collectives.Gatherv, Bytes: 8, Element: 8, Counts: []int64{8, 0}}
	b := Collective{Procedure: world.Gatherv, Operation: collectives.Gatherv, Bytes: 0, Element: 8}
	if a.signature() != b.signature() {
		t.Error("members of a gatherv whose lengths differ do not agree")
	}
	if s := a.signature().describe(4, world.Procedure.String); s != "Gatherv with root 0" {
		t.Errorf("the signature names %s", s)
	}
}

// The fast path of a barrier reads and writes no more than two cache lines of its
// instance for each member.
func TestBarriersTouchTwoCacheLinesOfTheirInstance(t *testing.T) {
	var inst instance
	for _, end := range []uintptr{
		unsafe.Offsetof(inst.entered) + unsafe.Sizeof(inst.entered),
		unsafe.Offsetof(inst.labels) + unsafe.Sizeof(inst.labels),
		unsafe.Offsetof(inst.join) + unsafe.Offsetof(inst.join.last) + unsafe.Sizeof(inst.join.last),
	} {
		if end > 128 {
			t.Errorf("a field that enterBarrier needs ends at %d, past two cache lines", end)
		}
	}
}

// sumOfDoubles adds; what it does with elements is of no interest.
var sumOfDoubles = world.Operator{Name: "sum", Commutative: true, Apply: func(_, _, _ []byte) {}}
