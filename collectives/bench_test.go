package collectives_test

import (
	"testing"
	"unsafe"

	"gigarank/collectives"
)

// large is a number of members that is no power of two.
const large = 221_184_000

func BenchmarkStep(b *testing.B) {
	for _, p := range pairs() {
		b.Run(p.String(), func(b *testing.B) {
			s := build(b, p, large, 0)
			rounds := s.MaxRounds()
			b.ReportAllocs()
			sink, member, round := 0, 0, 0
			for b.Loop() {
				step := s.Step(member, round)
				sink += step.To
				if member += 7919; member >= large {
					member -= large
				}
				if round++; round == rounds {
					round = 0
				}
			}
			if sink == 1<<62 {
				b.Fatal("no sum of members is that large")
			}
		})
	}
}

// A schedule is small for any number of members, and its methods allocate nothing.
func TestSchedulesAllocateNothing(t *testing.T) {
	for _, p := range pairs() {
		s := build(t, p, large, large/3)
		sum := 0
		allocations := testing.AllocsPerRun(10, func() {
			for _, m := range []int{0, 1, large / 2, large - 1} {
				for r := range min(40, s.MaxRounds()) {
					r = s.Next(m, r)
					step := s.Step(m, min(r, s.MaxRounds()-1))
					sum += step.To + s.Pattern(r%s.MaxRounds()).Distance
					for first, n := 0, 0; step.Send.Count > 0 && step.Send.Count < 100; {
						first, n, step.Send = step.Send.Next(s.Positions())
						sum += first + n
					}
				}
				sum += s.Rounds(m) + s.Source(m, 0) + s.Result(m, 0) + s.Extent(m).Count
			}
		})
		if allocations != 0 {
			t.Errorf("%s: %v allocations", p, allocations)
		}
	}
	if size := unsafe.Sizeof(collectives.Step{}); size > 128 {
		t.Errorf("a step has %d bytes, more than two cache lines", size)
	}
}
