package collectives_test

import (
	"testing"

	"gigarank/collectives"
)

// through returns the number of positions that a step combines by ⊕.
func through(s collectives.Step) int { return s.Combined() }

// expand returns the destination of each member in a pattern, or None.
func expand(p collectives.Pattern, members int) []int {
	to := make([]int, members)
	for i := range to {
		to[i] = None
	}
	switch p.Kind {
	case collectives.Shift:
		for i := range to {
			to[i] = (i + p.Distance) % members
		}
	case collectives.Exchange:
		member := func(s int) int {
			if s < p.Folded {
				return 2*s + 1
			}
			return s + p.Folded
		}
		for s := range members - p.Folded {
			to[member(s)] = member(s ^ p.Distance)
		}
	case collectives.Strided:
		for n := range p.Count {
			from := p.First + n*p.Stride
			to[from] = from + p.Distance
		}
	}
	return to
}

// A pattern agrees with the steps of all members.
func TestPatternsAreTheirSteps(t *testing.T) {
	for _, p := range pairs() {
		t.Run(p.String(), func(t *testing.T) {
			for members := 1; members <= 40; members++ {
				for root := range members {
					if root > 0 && !p.op.Rooted() {
						break
					}
					s := build(t, p, members, root)
					for round := range s.MaxRounds() {
						checkPattern(t, s, round)
					}
				}
			}
		})
	}
}

func checkPattern(t *testing.T, s collectives.Schedule, round int) {
	t.Helper()
	p := s.Pattern(round)
	switch p.Kind {
	case collectives.Irregular:
		return
	case collectives.Paired:
		for m := range s.Members() {
			if step := s.Step(m, round); step.To != step.From || step.To == m || s.Step(step.To, round).To != m || step.Send.Count != p.Sent || through(step) != p.Combined {
				t.Fatalf("%d members, round %d, %+v: member %d has %+v", s.Members(), round, p, m, step)
			}
		}
		return
	}
	to := expand(p, s.Members())
	for m := range s.Members() {
		step := s.Step(m, round)
		if step.To != to[m] {
			t.Fatalf("%d members, round %d, %+v: member %d sends to %d", s.Members(), round, p, m, step.To)
		}
		if step.To != None && p.Sent != collectives.Varies && step.Send.Count != p.Sent {
			t.Fatalf("%d members, round %d, %+v: member %d sends %d positions", s.Members(), round, p, m, step.Send.Count)
		}
		if step.From != None && p.Combined != collectives.Varies && through(step) != p.Combined {
			t.Fatalf("%d members, round %d, %+v: member %d combines %d positions", s.Members(), round, p, m, through(step))
		}
		if p.Kind == collectives.Strided && step.To != None && step.From != None {
			t.Fatalf("%d members, round %d, %+v: member %d sends and receives", s.Members(), round, p, m)
		}
	}
}

// The rounds that the bulk interpreter runs as arithmetic are regular.
func TestRegularRounds(t *testing.T) {
	for _, c := range []struct {
		p    pair
		want collectives.Kind
	}{
		{pair{collectives.Barrier, collectives.Dissemination}, collectives.Shift},
		{pair{collectives.Barrier, collectives.Binomial}, collectives.Strided},
		{pair{collectives.Allreduce, collectives.Ring}, collectives.Shift},
		{pair{collectives.Allgather, collectives.Ring}, collectives.Shift},
		{pair{collectives.Allgather, collectives.Bruck}, collectives.Shift},
		{pair{collectives.Alltoall, collectives.Pairwise}, collectives.Shift},
		{pair{collectives.Alltoall, collectives.Bruck}, collectives.Shift},
		{pair{collectives.Allgather, collectives.KBruck}, collectives.Shift},
		{pair{collectives.ReduceScatter, collectives.Ring}, collectives.Shift},
		{pair{collectives.Bcast, collectives.Binomial}, collectives.Strided},
		{pair{collectives.Reduce, collectives.Binomial}, collectives.Strided},
		{pair{collectives.Gather, collectives.Binomial}, collectives.Strided},
	} {
		s := build(t, c.p, 37, 0)
		for round := range s.MaxRounds() {
			if got := s.Pattern(round).Kind; got != c.want {
				t.Errorf("%s, round %d: kind %d, want %d", c.p, round, got, c.want)
			}
		}
	}
	for _, p := range []pair{
		{collectives.Barrier, collectives.RecursiveDoubling},
		{collectives.Allreduce, collectives.RecursiveDoubling},
		{collectives.Allreduce, collectives.Rabenseifner},
		{collectives.Allgather, collectives.RecursiveDoubling},
	} {
		s := build(t, p, 37, 0)
		last := s.MaxRounds() - 1
		for round := range s.MaxRounds() {
			want := collectives.Exchange
			if round == 0 || round == last {
				want = collectives.Strided
			}
			if got := s.Pattern(round).Kind; got != want {
				t.Errorf("%s, round %d: kind %d, want %d", p, round, got, want)
			}
		}
	}
}
