package collectives_test

import (
	"fmt"
	"slices"
	"strings"
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

// receivers returns the members to which each member sends, in the order of its rounds.
func receivers(s collectives.Schedule) [][]int {
	to := make([][]int, s.Members())
	for m := range to {
		for round := s.Next(m, 0); round < s.Rounds(m); round = s.Next(m, round+1) {
			if step := s.Step(m, round); step.To != None {
				to[m] = append(to[m], step.To)
			}
		}
	}
	return to
}

// The trees are those of the drawings in Open MPI's coll_base_topo.c. Chains: of ten members, the root has
// nine others in four chains, the first of which is longer. Children come in the order in which the library's loops name
// them.
func TestTreesAreThoseOfOpenMPI(t *testing.T) {
	for _, c := range []struct {
		a       collectives.Algorithm
		members int
		want    string
	}{
		{collectives.Binary, 7, "[[1 2] [3 5] [4 6] [] [] [] []]"},
		{collectives.BinomialDoubling, 8, "[[1 2 4] [3 5] [6] [7] [] [] [] []]"},
		{collectives.Binomial, 8, "[[4 2 1] [] [3] [] [6 5] [] [7] []]"},
		{collectives.Knomial.WithFanout(2), 10, "[[8 4 2 1] [] [3] [] [6 5] [] [7] [] [9] []]"},
		{collectives.Knomial.WithFanout(3), 10, "[[9 3 6 1 2] [] [] [4 5] [] [] [7 8] [] [] []]"},
		{collectives.Knomial.WithFanout(4), 10, "[[4 8 1 2 3] [] [] [] [5 6 7] [] [] [] [9] []]"},
		{collectives.Chain.WithFanout(4), 10, "[[1 4 6 8] [2] [3] [] [5] [] [7] [] [9] []]"},
		{collectives.Pipeline, 4, "[[1] [2] [3] []]"},
	} {
		if got := fmt.Sprint(receivers(build(t, pair{collectives.Bcast, c.a}, c.members, 0))); got != c.want {
			t.Errorf("bcast by %s among %d: %s, want %s", c.a, c.members, got, c.want)
		}
	}
	for members, want := range map[int]string{ // parents in the in-order binary tree
		2: "[[1] []]", 3: "[[2] [2] []]", 4: "[[1] [3] [3] []]",
		9: "[[1] [3] [3] [8] [5] [7] [7] [8] []]",
	} {
		s := build(t, pair{collectives.Reduce, collectives.InOrderBinary}, members, members-1)
		if got := fmt.Sprint(receivers(s)); got != want {
			t.Errorf("in-order tree of %d: parents %s, want %s", members, got, want)
		}
	}
}

// A reduction along a k-nomial tree of radix 2 has the steps of the binomial tree, for every root.
func TestNestedRangesOfTwoAreBinomial(t *testing.T) {
	for members := 1; members <= 20; members++ {
		for root := range members {
			binomial := build(t, pair{collectives.Reduce, collectives.Binomial}, members, root)
			nested := build(t, pair{collectives.Reduce, collectives.Knomial.WithFanout(2)}, members, root)
			if nested.MaxRounds() != binomial.MaxRounds() {
				t.Fatalf("%d members: %d rounds, want %d", members, nested.MaxRounds(), binomial.MaxRounds())
			}
			for round := range binomial.MaxRounds() {
				for m := range members {
					if got, want := nested.Step(m, round), binomial.Step(m, round); got != want {
						t.Fatalf("%d members, root %d, round %d: member %d does %+v, want %+v", members, root, round, m, got, want)
					}
				}
			}
		}
	}
}

// Rounds are counted in 32 bits by those who carry schedules out.
func TestTooManyRounds(t *testing.T) {
	_, err := collectives.For(collectives.Allreduce, collectives.Ring, collectives.Size{Members: 1<<30 + 1, Bytes: 8})
	if err == nil || !strings.Contains(err.Error(), "2147483648 rounds") || !strings.Contains(err.Error(), "another algorithm") {
		t.Errorf("a ring of 2^30 + 1 members: %v", err)
	}
}

// The halves of a vector and the parts of a block, as Open MPI cuts them.
func TestPartsOfVectorsAndBlocks(t *testing.T) {
	for _, c := range []struct {
		p           pair
		count, size int64
		want        []int64 // where positions begin
	}{
		{pair{collectives.Bcast, collectives.SplitBinary}, 9, 8, []int64{0, 40, 72}},
		{pair{collectives.Bcast, collectives.SplitBinary.WithSegment(16)}, 9, 8, []int64{0, 16, 32, 40, 56, 72, 72}},
		{pair{collectives.Bcast, collectives.ScatterAllgather}, 10, 8, []int64{0, 24, 48, 72, 80}},
		{pair{collectives.Bcast, collectives.ScatterAllgatherRing}, 5, 8, []int64{0, 16, 32, 40, 40}},
		{pair{collectives.Gather, collectives.LinearSync}, 5, 8, []int64{0, 40, 40, 80, 80, 120, 120, 160, 160}},
		{pair{collectives.Gather, collectives.LinearSync.WithSegment(16)}, 5, 8, []int64{0, 16, 40, 56, 80, 96, 120, 136, 160}},
	} {
		s, err := collectives.For(c.p.op, c.p.a, collectives.Size{Members: 4, Bytes: c.count * c.size})
		if err != nil {
			t.Fatal(err)
		}
		l := collectives.LayoutOf(c.p.op, s, c.count, c.size)
		var got []int64
		for position := range s.Positions() + 1 {
			got = append(got, l.Offset(position))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s of %d elements: positions begin at %d, want %d", c.p, c.count, got, c.want)
		}
	}
}
