package maxplus

import (
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
)

// arc is one message of a round.
type arc struct{ dst, src int }

// drawRound gives a round of a schedule that is regular, with the messages that the steps
// of its members say.
func drawRound(t *rapid.T) (s collectives.Schedule, round int, p collectives.Pattern, arcs []arc) {
	members := rapid.IntRange(2, 80).Draw(t, "members")
	half := rapid.Bool().Draw(t, "root in the middle")
	type regular struct {
		schedule collectives.Schedule
		rounds   []int
	}
	var all []regular
	for _, op := range collectives.Operations() {
		root := 0
		if op.Rooted() && half {
			root = members / 2
		}
		for _, s := range schedules(t, op, members, root) {
			rounds := slices.DeleteFunc(upTo(s.MaxRounds()), func(round int) bool {
				kind := s.Pattern(round).Kind
				return kind == collectives.Irregular || kind == collectives.Paired
			})
			if len(rounds) > 0 {
				all = append(all, regular{s, rounds})
			}
		}
	}
	drawn := rapid.SampledFrom(all).Draw(t, "schedule")
	s, round = drawn.schedule, rapid.SampledFrom(drawn.rounds).Draw(t, "round")
	p = s.Pattern(round)
	for m := range members {
		if from := s.Step(m, round).From; from != collectives.None {
			arcs = append(arcs, arc{m, from})
		}
	}
	return s, round, p, arcs
}

// schedules returns the schedules of an operation by all algorithms but node-leader.
func schedules(t *rapid.T, op collectives.Operation, members, root int) (all []collectives.Schedule) {
	for _, a := range collectives.Algorithms(op) {
		if a == collectives.NodeLeader {
			continue
		}
		s, err := collectives.New(op, a, members, root)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// upTo returns 0 to n-1.
func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// cuts are the first participants of arrays, and the number of participants.
type cuts []int

// drawCuts gives the bounds of some arrays, which may be empty.
func drawCuts(t *rapid.T, members int) cuts {
	inner := rapid.SliceOfN(rapid.IntRange(0, members), 0, 8).Draw(t, "cuts")
	slices.Sort(inner)
	return slices.Concat(cuts{0}, inner, cuts{members})
}

func (c cuts) arrays() int { return len(c) - 1 }

// owner returns the array that holds a participant.
func (c cuts) owner(participant int) int {
	return sort.Search(c.arrays(), func(array int) bool { return participant < c[array+1] })
}

// The runs of a round, cut to the arrays of receivers and senders, are the
// messages of the round: each once, where both its ends belong.
func TestRunsAreTheMessagesOfTheRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _, p, want := drawRound(t)
		members := s.Members()
		cuts := drawCuts(t, members)
		folded := 0
		if p.Kind == collectives.Exchange {
			folded = p.Folded
		}
		var got []arc
		for receiver := range cuts.arrays() {
			lo, hi := bounds(p, cuts[receiver], cuts[receiver+1])
			for sender := range cuts.arrays() {
				from, to := bounds(p, cuts[sender], cuts[sender+1])
				reached := [2]Interval{}
				if from < to {
					reached = receivers(p, members, from, to)
				}
				runs(p, members, lo, hi, func(dst, src, n, stride int) {
					dst, src, n = clip(dst, src, n, stride, from, to)
					for i := range n {
						d, s := collectives.Survivor(folded, dst+i*stride), collectives.Survivor(folded, src+i*stride)
						if cuts.owner(d) != receiver || cuts.owner(s) != sender {
							t.Fatalf("%+v: the message from %d to %d is not between arrays %d and %d", p, s, d, sender, receiver)
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

func (i Interval) has(element int) bool { return i.Low <= element && element < i.High }

// The receivers of a few senders are few, however many members there are, and the lower
// ones come first.
func TestReceiversAreFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _, p, _ := drawRound(t)
		members := s.Members()
		cuts := drawCuts(t, members)
		for array := range cuts.arrays() {
			lo, hi := bounds(p, cuts[array], cuts[array+1])
			if lo == hi {
				continue
			}
			in := receivers(p, members, lo, hi)
			length := in[0].High - in[0].Low + in[1].High - in[1].Low
			ascending := in[0].Low <= in[0].High && (in[1] == Interval{} || in[0].High <= in[1].Low && in[1].Low <= in[1].High)
			if end := max(in[0].High, in[1].High); !ascending || length > 3*(hi-lo) || in[0].Low < 0 || end > members {
				t.Fatalf("%+v among %d: elements %d to %d send to %v", p, members, lo, hi-1, in)
			}
		}
	})
}

// A round is complete exactly when all clocks have come that its receivers need of
// other arrays.
func TestRoundIsCompleteWhenAllHasCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, round, p, arcs := drawRound(t)
		members := s.Members()
		cuts := drawCuts(t, members)
		own := rapid.IntRange(0, cuts.arrays()-1).Draw(t, "array")
		b := &Array{Rounds: Rounds{Schedule: s, Low: cuts[own], High: cuts[own+1]}}
		b.enter(round, 0)
		missing := 0
		for _, a := range arcs {
			if cuts.owner(a.dst) == own && cuts.owner(a.src) != own {
				missing++
			}
		}
		for ; missing > 0; missing-- {
			if b.Complete() {
				t.Fatalf("%+v: complete for array %d of %d while %d clocks are missing", p, own, cuts.arrays(), missing)
			}
			b.received++
		}
		if !b.Complete() {
			t.Fatalf("%+v: not complete for array %d of %d", p, own, cuts.arrays())
		}
	})
}
