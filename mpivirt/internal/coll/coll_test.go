package coll

import (
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
)

// arc is one message of a round.
type arc struct{ dst, src int }

// drawPattern gives a round of a schedule that is regular, with the messages that
// the steps of its members say.
func drawPattern(t *rapid.T) (p collectives.Pattern, members int, arcs []arc) {
	op := rapid.SampledFrom(collectives.Operations()).Draw(t, "operation")
	all := slices.DeleteFunc(collectives.Algorithms(op), func(a collectives.Algorithm) bool { return a == collectives.NodeLeader })
	members = rapid.IntRange(2, 80).Draw(t, "members")
	root := 0
	if op.Rooted() {
		root = rapid.SampledFrom([]int{0, members / 2}).Draw(t, "root")
	}
	s, err := collectives.New(op, rapid.SampledFrom(all).Draw(t, "algorithm"), members, root)
	if err != nil {
		t.Fatal(err)
	}
	round := rapid.IntRange(0, s.MaxRounds()-1).Draw(t, "round")
	if p = s.Pattern(round); p.Kind == collectives.Irregular {
		t.Skip("an irregular round")
	}
	for m := range members {
		if from := s.Step(m, round).From; from != collectives.None {
			arcs = append(arcs, arc{m, from})
		}
	}
	return p, members, arcs
}

// The runs of a round, cut to the engines of receivers and senders, are the
// messages of the round: each once, where both its ends belong.
func TestRunsAreTheMessagesOfTheRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members, want := drawPattern(t)
		partition := engine.Partition{LPs: members, Engines: rapid.IntRange(1, 5).Draw(t, "engines")}
		folded := 0
		if p.Kind == collectives.Exchange {
			folded = p.Folded
		}
		var got []arc
		for receiver := range partition.Engines {
			lo, hi := bounds(p, first(partition.Range(receiver)), second(partition.Range(receiver)))
			for sender := range partition.Engines {
				from, to := bounds(p, first(partition.Range(sender)), second(partition.Range(sender)))
				reached := [2]interval{}
				if from < to {
					reached = receivers(p, members, from, to)
				}
				runs(p, members, lo, hi, func(dst, src, n, stride int) {
					dst, src, n = clip(dst, src, n, stride, from, to)
					for i := range n {
						d, s := collectives.Survivor(folded, dst+i*stride), collectives.Survivor(folded, src+i*stride)
						if partition.Owner(d) != receiver || partition.Owner(s) != sender {
							t.Fatalf("%+v: the message from %d to %d is not between engines %d and %d", p, s, d, sender, receiver)
						}
						if e := dst + i*stride; !reached[0].has(e) && !reached[1].has(e) {
							t.Fatalf("%+v: elements %d to %d send to element %d, not in %v alone", p, from, to-1, e, reached)
						}
						got = append(got, arc{d, s})
					}
				})
			}
		}
		slices.SortFunc(got, func(a, b arc) int { return a.dst - b.dst })
		if !slices.Equal(got, want) {
			t.Fatalf("%+v among %d members: %v, want %v", p, members, got, want)
		}
	})
}

func (i interval) has(element int) bool { return i.lo <= element && element < i.hi }

// The receivers of a few senders are few, however many members there are, and the lower
// ones come first.
func TestReceiversAreFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members, _ := drawPattern(t)
		partition := engine.Partition{LPs: members, Engines: rapid.IntRange(1, 9).Draw(t, "engines")}
		for e := range partition.Engines {
			lo, hi := bounds(p, first(partition.Range(e)), second(partition.Range(e)))
			if lo == hi {
				continue
			}
			in := receivers(p, members, lo, hi)
			length := in[0].hi - in[0].lo + in[1].hi - in[1].lo
			ascending := in[0].lo <= in[0].hi && (in[1] == interval{} || in[0].hi <= in[1].lo && in[1].lo <= in[1].hi)
			if end := max(in[0].hi, in[1].hi); !ascending || length > 3*(hi-lo) || in[0].lo < 0 || end > members {
				t.Fatalf("%+v among %d: elements %d to %d send to %v", p, members, lo, hi-1, in)
			}
		}
	})
}

func first(a, _ int) int { return a }

func second(_, b int) int { return b }

// A round is complete exactly when all clocks have come that its receivers need of
// other engines.
func TestRoundIsCompleteWhenAllHasCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members, arcs := drawPattern(t)
		partition := engine.Partition{LPs: members, Engines: rapid.IntRange(1, 5).Draw(t, "engines")}
		own := rapid.IntRange(0, partition.Engines-1).Draw(t, "engine")
		b := &arrayRun{total: members, inbox: map[int][]stretch{}}
		b.lo, b.hi = partition.Range(own)
		missing := 0
		for _, a := range arcs {
			if partition.Owner(a.dst) == own && partition.Owner(a.src) != own {
				missing++
			}
		}
		for ; missing > 0; missing-- {
			if b.complete(p) {
				t.Fatalf("%+v: complete for engine %d of %d while %d clocks are missing", p, own, partition.Engines, missing)
			}
			b.received++
		}
		if !b.complete(p) {
			t.Fatalf("%+v: not complete for engine %d of %d", p, own, partition.Engines)
		}
	})
}

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
		if err := c.mismatch(0, v.signature(), w.signature(), 3); err == nil || err.(*world.Error).Class.Error() != name {
			t.Errorf("%v, want %s", err, name)
		}
		if err := c.mismatch(0, v.signature(), v.signature(), 3); err != nil {
			t.Errorf("the same call: %v", err)
		}
	}
	a := Collective{Procedure: world.Gatherv, Operation: collectives.Gatherv, Bytes: 8, Element: 8, Counts: []int64{8, 0}}
	b := Collective{Procedure: world.Gatherv, Operation: collectives.Gatherv, Bytes: 0, Element: 8}
	if a.signature() != b.signature() {
		t.Error("members of a gatherv whose lengths differ do not agree")
	}
	if s := a.signature().describe(4); s != "Gatherv with root 0" {
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
