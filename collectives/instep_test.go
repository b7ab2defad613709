package collectives_test

import (
	"slices"
	"testing"

	"gigarank/collectives"
)

// stepsAlike reports whether the steps of all members are alike in every round: each
// sends and receives, as many bytes as the others, and combines as many. It looks at
// them one by one.
func stepsAlike(s collectives.Schedule, layout collectives.Layout) bool {
	bytes := func(b collectives.Blocks) int64 { return layout.Bytes(b, s.Positions()) }
	type round struct{ sent, received, combined int64 }
	for k := range s.MaxRounds() {
		var first round
		for member := range s.Members() {
			step := s.Step(member, k)
			if step.To == None || step.From == None {
				return false
			}
			this := round{sent: bytes(step.Send), received: bytes(step.Receive)}
			for _, c := range []collectives.Combine{step.Combine, step.AlsoCombine} {
				if c != collectives.Store {
					this.combined += this.received
				}
			}
			if member == 0 {
				first = this
			}
			if this != first || this.sent != this.received {
				return false
			}
		}
	}
	return true
}

// Algorithms are in step exactly where their steps are alike. An exception is two
// members, whose steps are also alike in irregular rounds.
func TestInStep(t *testing.T) {
	for _, p := range pairs() {
		if collectives.TakesNodes(p.op, p.a) {
			continue
		}
		for members := 1; members <= 20; members++ {
			s := build(t, p, members, 0)
			for _, count := range []int64{1, 16, 60, 16 * 9 * 5 * 7 * 11 * 13 * 17 * 19} {
				want := stepsAlike(s, collectives.LayoutOf(p.op, s, count, 8))
				if got := collectives.InStep(p.op, p.a, members, count); got && !want {
					t.Errorf("%s, %d members, %d elements: in step, and the steps differ", p, members, count)
				} else if want && !got && members > 2 {
					t.Errorf("%s, %d members, %d elements: not in step, and the steps are alike", p, members, count)
				}
			}
		}
	}
}

// Algorithms in step are, for 16 members and a vector in equal parts, those in which
// nobody waits for a root.
func TestAlgorithmsInStep(t *testing.T) {
	var got []string
	for _, p := range pairs() {
		if collectives.InStep(p.op, p.a, 16, 160) {
			got = append(got, p.String())
		}
	}
	want := []string{
		"barrier/dissemination", "barrier/recursive-doubling",
		"allreduce/recursive-doubling", "allreduce/ring", "allreduce/ring-segmented", "allreduce/rabenseifner",
		"allreduce/recursive-multiplying", "allreduce/allgather-reduce",
		"allgather/ring", "allgather/recursive-doubling", "allgather/bruck", "allgather/neighbor-exchange", "allgather/k-bruck",
		"allgatherv/ring", "allgatherv/recursive-doubling", "allgatherv/bruck", "allgatherv/neighbor-exchange", "allgatherv/k-bruck",
		"alltoall/pairwise", "alltoall/bruck", "alltoall/pairwise-exchange", "alltoallv/pairwise",
		"reduce_scatter/pairwise", "reduce_scatter/ring", "reduce_scatter/recursive-halving", "reduce_scatter/recursive-doubling",
	}
	if !slices.Equal(got, want) {
		t.Errorf("in step are\n%q, want\n%q", got, want)
	}
}
