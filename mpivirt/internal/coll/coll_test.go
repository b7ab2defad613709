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
	for _, name := range []string{"min", "max", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "minloc", "maxloc"} { // whatever bits of their digests differ
		w := v
		w.Operator = world.Operator{Name: name, Commutative: true}
		c := &Communicator{Comm: world.Comm{Context: world.WorldContext, Size: 4}}
		if err := c.mismatch(0, v.signature(), w.signature(), 3, world.Procedure.String); err == nil || err.(*world.Error).Class.Error() != "MPI_ERR_OP" {
			t.Errorf("operation %s instead of a sum: %v, want MPI_ERR_OP", name, err)
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

// Two calls agree if all arguments on which MPI wants them to agree are alike (MPI 4.1, 6.1 to 6.12), whichever of them differ. Then, and
// only then, their signatures are alike, and no error names a difference.
func TestCallsThatAgree(t *testing.T) {
	base := Collective{Bytes: 48, Element: 8, Data: true, Operator: sumOfDoubles, Type: world.ElementType(1)}
	changes := []func(v *Collective){
		func(v *Collective) { v.Root++ },
		func(v *Collective) { v.Bytes += 16 },
		func(v *Collective) { v.Operator.Name = "max" },
		func(v *Collective) { v.Type++ },
		func(v *Collective) { v.Element = 4 },
		func(v *Collective) { v.Later = !v.Later },
		func(v *Collective) { v.Within = world.Bcast },
		func(v *Collective) { v.Counts = append(v.Counts, 8) },
	}
	c := &Communicator{Comm: world.Comm{Context: world.WorldContext, Size: 4}}
	for _, op := range collectives.Operations() {
		for _, other := range collectives.Operations() {
			for which := range 1 << len(changes) {
				v := base
				v.Operation, v.Procedure = op, world.ProcedureOf(op)
				w := v
				w.Operation, w.Procedure = other, world.ProcedureOf(other)
				for i, change := range changes {
					if which>>i&1 != 0 {
						change(&w)
					}
				}
				counted := which
				switch op {
				case collectives.Barrier: // has no arguments
					counted &= 1 << 5
				case collectives.Gatherv, collectives.Scatterv: // blocks differ
					counted &^= 1<<1 | 1<<7
				}
				same := op == other && counted == 0
				inst := &instance{Call: v}
				if got := inst.agrees(&w); got != same {
					t.Fatalf("%v and %v with the changes %b: agree %v, want %v", op, other, which, got, same)
				}
				if got := v.signature() == w.signature(); got != same {
					t.Fatalf("%v and %v with the changes %b: signatures are alike %v, want %v", op, other, which, got, same)
				}
				if err := c.mismatch(0, v.signature(), w.signature(), 1, world.Procedure.String); (err == nil) != same {
					t.Fatalf("%v and %v with the changes %b: %v", op, other, which, err)
				}
			}
		}
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
