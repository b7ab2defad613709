package coll

import (
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// Operators that do not commute are applied in the order of ranks (MPI 4.1, 6.9.1): by an algorithm that keeps this order, or by leaders of nodes
// whose members are consecutive. All other calls go by the algorithm that was chosen.
func TestAlgorithmsKeepTheOrderOfRanks(t *testing.T) {
	for _, c := range []struct {
		mapping string
		members []int
		inOrder bool // the members of each node are consecutive, and their leaders ascend
	}{
		{"block", []int{0, 1, 2, 3, 4, 5, 6}, true}, {"cyclic", []int{0, 1, 2, 3, 4, 5, 6}, false},
		{"block", []int{1, 2, 3, 6}, true}, {"block", []int{1, 3, 2, 6}, false}, {"block", []int{0, 3, 1, 4}, false}, {"cyclic", []int{0, 3, 6}, true},
	} {
		k := opened(t, "name: m\nranks_per_node: 3\nmapping: "+c.mapping+"\nnetwork: {model: flat, latency: 1us}\n", 7, 1, Auto)
		comm := k.Communicators.At(world.World)
		if len(c.members) < 7 {
			comm = k.addComm(1234, world.NewGroup(c.members))
		}
		for _, op := range collectives.Operations() {
			if op == collectives.Barrier {
				continue
			}
			for _, a := range collectives.AllAlgorithms(op) {
				if a == collectives.GivenTime || a == collectives.Offload || a.AlongTorus() {
					continue
				}
				k.algorithms = Algorithms{First: slices.Repeat([]collectives.Algorithm{a}, len(collectives.Operations())), Free: make([]bool, len(collectives.Operations()))}
				v := &Collective{Procedure: world.ProcedureOf(op), Operation: op, Bytes: 64, Element: 8}
				if got := k.Algorithm(v, comm); got != a {
					t.Errorf("%v by %v without content goes by %v", op, a, got)
				}
				v.Operator = world.Operator{Name: "affine", Apply: func(_, _, _ []byte) {}}
				kept := collectives.Ordered(op, a) || a == collectives.NodeLeader && c.inOrder
				if got := k.Algorithm(v, comm); kept != (got == a) || !kept && !collectives.Ordered(op, got) {
					t.Errorf("%v by %v of %v in mapping %s, of an operator that does not commute, goes by %v", op, a, c.members, c.mapping, got)
				}
				v.Operator.Commutative = true
				if got := k.Algorithm(v, comm); got != a {
					t.Errorf("%v by %v of an operator that commutes goes by %v", op, a, got)
				}
			}
		}
	}
}

// A call is in as many segments as its algorithm says, at most as many as its schedule can have.
func TestSegmentsOfCalls(t *testing.T) {
	k := opened(t, "name: m\nnetwork: {model: flat, latency: 1us}\n", 4, 1, Auto)
	for text, failing := range map[string]bool{"binomial": false, "pipeline:1KiB": false, "pipeline:1": true} {
		a, err := collectives.ParseAlgorithm(collectives.Bcast, text)
		if err != nil {
			t.Fatal(err)
		}
		v := &Collective{Procedure: world.Bcast, Operation: collectives.Bcast, Algorithm: a, Bytes: 1 << 50, Element: 1}
		if !failing && a.Segment() > 0 {
			v.Bytes = 1 << 20
		}
		if got := classOf(k.CheckSegments(v, k.Communicators.At(world.World))); (got == "MPI_ERR_OTHER") != failing || !failing && got != "" {
			t.Errorf("%s of %d bytes: %q", text, v.Bytes, got)
		}
	}
}

// A call whose content is dropped has the lengths of its vectors, and differs from a call with content, unless it makes communicators.
func TestCallsWithoutContent(t *testing.T) {
	c := &Communicator{Comm: world.Comm{Context: world.WorldContext, Size: 4}}
	with := func() Collective {
		return Collective{Procedure: world.Allreduce, Operation: collectives.Allreduce, Bytes: 16, Element: 8, Data: true, Input: make([]byte, 16), Output: make([]byte, 16)}
	}
	full, bare := with(), with()
	if bare.DropContents(); bare.Moved() || bare.Input != nil || bare.Output != nil || bare.Lengths() != (Lengths{16, 16}) || full.Lengths() != (Lengths{16, 16}) {
		t.Errorf("without content the call is %+v", bare)
	}
	if full.signature() == bare.signature() || classOf(c.mismatch(0, full.signature(), bare.signature(), 1, world.Procedure.String)) != "MPI_ERR_OTHER" {
		t.Error("a call with content agrees with a call without")
	}
	sized := with()
	if sized.OfSize(24); sized.Moved() || sized.Lengths() != (Lengths{24, 24}) {
		t.Errorf("a call of 24 bytes is %+v", sized)
	}
	for _, keeps := range []func(v *Collective){
		func(v *Collective) { v.Creation = &creation{} }, func(v *Collective) { v.Procedure = world.IntercommMerge },
	} {
		v := with()
		keeps(&v)
		if v.DropContents(); !v.Moved() || v.Input == nil || v.Output == nil {
			t.Errorf("a call that rests on its content has lost it: %+v", v)
		}
	}
}
