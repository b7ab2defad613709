package collectives_test

import (
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
)

// Each message of a regular window goes where the steps of its members say, with as many positions; in all the window combines what its steps
// combine. Vectors that members sum up lie apart from those that they send in the window.
func TestWindowsAreTheMessagesOfTheirRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SampledFrom([]struct {
			op collectives.Operation
			a  collectives.Algorithm
		}{
			{collectives.Barrier, collectives.Dissemination}, {collectives.Allreduce, collectives.RecursiveMultiplying},
			{collectives.Allgather, collectives.KBruck}, {collectives.Alltoall, collectives.LinearSync},
		}).Draw(t, "algorithm")
		members := rapid.IntRange(2, 130).Draw(t, "members")
		a := of.a.WithFanout(rapid.IntRange(3, 9).Draw(t, "fan-out"))
		s, err := collectives.For(of.op, a, collectives.Size{Members: members})
		if err != nil {
			t.Fatal(err)
		}
		windows := 0
		for round := 0; round < s.MaxRounds(); round++ {
			w, ok := collectives.WindowOf(s, round)
			if !ok {
				continue
			}
			if windows++; w.First != round {
				t.Fatalf("a window that begins with round %d is said to begin with %d", round, w.First)
			}
			for j := range w.Messages {
				checkMessage(t, s, &w, j)
			}
			for m := range members {
				if step := s.Step(m, round); step.To != collectives.None && step.Left != w.Last()-round {
					t.Fatalf("round %d: %d rounds of the window follow, not up to round %d", round, step.Left, w.Last())
				}
			}
			round = w.Last()
		}
		if collectives.HasWindows(s) != (windows > 0) {
			t.Fatalf("%v of %v among %d: %d windows", a, of.op, members, windows)
		}
	})
}

// checkMessage compares the pattern of a message of a window with the steps of all members.
func checkMessage(t *rapid.T, s collectives.Schedule, w *collectives.Window, j int) {
	p, first := w.Pattern(j), w.First+w.Messages-1
	for m := range s.Members() {
		sent, to := s.Step(m, w.First+j), collectives.None
		switch {
		case p.Kind == collectives.Shift:
			to = (m + p.Distance) % s.Members()
		case m < p.Count:
			group := m - m%p.Stride
			to = group + (m-group+p.Distance)%p.Stride
		}
		if sent.To != to || to != collectives.None && (sent.Send.Count != p.Sent || s.Step(to, first+j).From != m) {
			t.Fatalf("message %d of a window of %d from round %d on: member %d sends %+v, by the pattern %+v to %d", j, w.Messages, w.First, m, sent, p, to)
		}
		if step := s.Step(m, first+j); step.From != collectives.None && step.Combined() != p.Combined {
			t.Fatalf("message %d: member %d combines %d positions, by the pattern %d", j, m, step.Combined(), p.Combined)
		}
		for k := range w.Messages {
			if step := s.Step(m, first+k); w.Pattern(w.Messages-1).Combined > 0 && step.From != collectives.None && sent.To != collectives.None && sent.Send.First == step.Receive.First {
				t.Fatalf("member %d receives message %d where its own vector lies that it sends as message %d", m, k, j)
			}
		}
	}
}
