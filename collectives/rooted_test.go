package collectives_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/vtime"

	"pgregory.net/rapid"
)

// A variant is an algorithm of a rooted operation with arguments, for a vector that has some segments.
type variant struct {
	pair
	segments int
}

func (v variant) String() string { return fmt.Sprintf("%s in %d", v.pair, v.segments) }

// variants returns the algorithms of rooted operations with the arguments that they take.
func variants() []variant {
	var all []variant
	for _, op := range []collectives.Operation{collectives.Bcast, collectives.Reduce, collectives.Gather, collectives.Scatter} {
		for _, a := range collectives.Algorithms(op) {
			for _, fanout := range []int{0, 2, 3, 7} {
				for _, segments := range []int{1, 2, 3, 6} {
					v := variant{pair{op, a.WithFanout(fanout)}, segments}
					if segments > 1 {
						v.a = v.a.WithSegment(1)
					}
					if v.a.Check(op) == nil {
						all = append(all, v)
					}
				}
			}
		}
	}
	return all
}

func (v variant) build(t fataler, members, root int) collectives.Schedule {
	t.Helper()
	s, err := collectives.For(v.op, v.a, collectives.Size{Members: members, Root: root, Bytes: int64(v.segments)})
	if err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	return s
}

// Every algorithm gives the result of its operation with every argument, at every small number of
// members and every root, and says rightly when members are idle.
func TestVariantsMatchTheirOperations(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			for members := 1; members <= mostMembers(34); members++ {
				for root := range members {
					if members > 18 && root%5 != members%5 {
						continue
					}
					s := v.build(t, members, root)
					if err := check(v.pair, s, root, ascending(members)); err != nil {
						t.Fatalf("%d members, root %d: %v", members, root, err)
					}
					for m := range members {
						if err := checkSkips(s, m); err != nil {
							t.Fatalf("%d members, root %d, member %d: %v", members, root, m, err)
						}
					}
					if round := idleRound(s); round != None {
						t.Fatalf("%d members, root %d: all are idle in round %d of %d", members, root, round, s.MaxRounds())
					}
				}
			}
		})
	}
}

// idleRound returns a round in which no member has anything to do, or None.
func idleRound(s collectives.Schedule) int {
	for round := range s.MaxRounds() {
		idle := true
		for m := range s.Members() {
			step := s.Step(m, round)
			idle = idle && step.To == None && step.From == None
		}
		if idle {
			return round
		}
	}
	return None
}

// At sizes too large to execute, both ends of a message agree.
func TestVariantsPairUpAtLargeSizes(t *testing.T) {
	all := variants()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(all).Draw(t, "variant")
		members := rapid.IntRange(2, 1<<30).Draw(t, "members")
		s := v.build(t, members, rapid.IntRange(0, members-1).Draw(t, "root"))
		m := rapid.IntRange(0, members-1).Draw(t, "member")
		round := s.Next(m, rapid.IntRange(0, s.MaxRounds()-1).Draw(t, "round"))
		if round < s.Rounds(m) {
			checkPeers(t, s, m, round)
		}
	})
}

// The closed form of a pipeline is exact with segments, the last of which is shorter, and with gaps.
func TestPipelineFormWithSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]collectives.Operation{collectives.Bcast, collectives.Reduce}).Draw(t, "operation")
		members := rapid.IntRange(1, 9).Draw(t, "members")
		count := rapid.Int64Range(0, 100).Draw(t, "count")
		segment := 8 * rapid.Int64Range(1, 50).Draw(t, "elements of a segment")
		p := pair{op, collectives.Pipeline.WithSegment(segment)}
		c := collectives.Cost{
			Alpha: vtime.Duration(rapid.Int64Range(0, 1e4).Draw(t, "alpha")), Send: vtime.Duration(rapid.Int64Range(0, 1e4).Draw(t, "send")),
			Receive: vtime.Duration(rapid.Int64Range(0, 1e4).Draw(t, "receive")),
			Beta:    perByte(rapid.Float64Range(0, 100).Draw(t, "beta")), Gamma: perByte(rapid.Float64Range(0, 100).Draw(t, "gamma")),
		}
		c.Gap = vtime.Duration(rapid.Int64Range(0, int64(c.Send+c.Receive)).Draw(t, "gap"))
		want, ok := collectives.ClosedForm(op, p.a, members, count, 8, c)
		if got := measure(t, p, members, count, 8, c); !ok || got != want {
			t.Fatalf("%s of %d elements among %d takes %d, closed form %d (%t)", p, count, members, got, want, ok)
		}
	})
}
