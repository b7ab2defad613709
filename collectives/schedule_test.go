package collectives_test

import (
	"fmt"
	"strings"
	"testing"

	"gigarank/collectives"

	"pgregory.net/rapid"
)

// pair is an algorithm of an operation.
type pair struct {
	op collectives.Operation
	a  collectives.Algorithm
}

func (p pair) String() string { return p.op.String() + "/" + p.a.String() }

// pairs returns everything that New builds.
func pairs() []pair {
	var all []pair
	for _, op := range collectives.Operations() {
		for _, a := range collectives.Algorithms(op) {
			if a != collectives.NodeLeader {
				all = append(all, pair{op, a})
			}
		}
	}
	return all
}

const None = collectives.None

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func build(t fataler, p pair, members, root int) collectives.Schedule {
	t.Helper()
	s, err := collectives.New(p.op, p.a, members, root)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

// ranks has a bit for each of up to 320 ranks.
type ranks [5]uint64

func only(member int) *ranks {
	var r ranks
	r[member>>6] = 1 << (member & 63)
	return &r
}

// A set is the abstract content of a block. For data that is moved it is the source.
// For a reduction it is a bag of ranks, each once and, if spans are kept, a contiguous
// range in rank order.
type set struct {
	block       int // of the input
	first, last int // ranks
	unordered   *ranks
	bad         bool
}

func input(ordered bool) func(member, block int) set {
	return func(member, block int) set {
		s := set{block: block, first: member, last: member}
		if !ordered {
			s.unordered = only(member)
		}
		return s
	}
}

// merge combines the ranks of two sets. In an ordered reduction the ranks of the higher
// must follow directly on those of the lower.
func merge(lower, higher set) set {
	s := set{block: lower.block, first: lower.first, last: higher.last}
	s.bad = lower.bad || higher.bad || lower.block != higher.block
	if lower.unordered == nil {
		s.bad = s.bad || lower.last+1 != higher.first
		return s
	}
	s.unordered = &ranks{}
	for i := range s.unordered {
		s.bad = s.bad || lower.unordered[i]&higher.unordered[i] != 0
		s.unordered[i] = lower.unordered[i] | higher.unordered[i]
	}
	return s
}

// covers reports whether the set is the ranks from first to last, each once.
func (s set) covers(first, last int) bool {
	if s.bad {
		return false
	}
	if s.unordered == nil {
		return s.first == first && s.last == last
	}
	var want ranks
	for m := first; m <= last; m++ {
		want[m>>6] |= 1 << (m & 63)
	}
	return *s.unordered == want
}

// outputs returns the number of blocks of output that the operation defines for the
// member.
func outputs(op collectives.Operation, s collectives.Schedule, m, root int) int {
	switch op {
	case collectives.Barrier:
		return 0
	case collectives.Bcast, collectives.Allreduce:
		if collectives.KeepsVectors(s) {
			return 1
		}
		return s.Positions()
	case collectives.Reduce:
		if m == root {
			return s.Positions()
		}
		return 0
	case collectives.Gather, collectives.Gatherv:
		if m == root {
			return s.Positions()
		}
		return 0
	case collectives.Exscan:
		return min(m, 1)
	case collectives.Scatter, collectives.Scatterv, collectives.ReduceScatter, collectives.Scan:
		return 1
	}
	return s.Members()
}

// right reports whether a block of output is the one that the operation defines.
func right(op collectives.Operation, s collectives.Schedule, root, m, block int, got set) bool {
	members := s.Members()
	switch op {
	case collectives.Bcast:
		return got.block == block && got.covers(root, root)
	case collectives.Scatter, collectives.Scatterv:
		return got.block == m && got.covers(root, root)
	case collectives.Gather:
		each := s.Positions() / members
		return got.block == block%each && got.covers(block/each, block/each)
	case collectives.Gatherv, collectives.Allgather, collectives.Allgatherv:
		return got.block == 0 && got.covers(block, block)
	case collectives.Alltoall, collectives.Alltoallv:
		return got.block == m && got.covers(block, block)
	case collectives.Reduce, collectives.Allreduce:
		return got.block == block && got.covers(0, members-1)
	case collectives.ReduceScatter:
		return got.block == m && got.covers(0, members-1)
	case collectives.Scan:
		return got.covers(0, m)
	case collectives.Exscan:
		return got.covers(0, m-1)
	}
	return false
}

// check runs a schedule and compares every output with the definition.
func check(p pair, s collectives.Schedule, root int, order []int) error {
	x := newExecutor(s, input(collectives.Ordered(p.op, p.a)), merge)
	if err := x.run(order); err != nil {
		return err
	}
	for m := range s.Members() {
		n := outputs(p.op, s, m, root)
		for block := range n {
			got := x.output(m, block)
			if got == nil {
				return fmt.Errorf("member %d lacks block %d of its output", m, block)
			}
			if !right(p.op, s, root, m, block, *got) {
				return fmt.Errorf("member %d has %+v as block %d of its output", m, *got, block)
			}
		}
		if n == 0 && s.Result(m, 0) != collectives.None {
			return fmt.Errorf("member %d has an output, and should not", m)
		}
	}
	return nil
}

func ascending(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// mostMembers returns up to how many members tests go, fewer in short ones: 13 has three powers of two below it, and
// numbers on both sides of each.
func mostMembers(most int) int {
	if testing.Short() {
		return min(most, 13)
	}
	return most
}

// Every algorithm gives the result of its operation, for every small number of members.
// Every send has its receive, and nothing deadlocks.
func TestSchedulesMatchTheirOperations(t *testing.T) {
	for _, p := range pairs() {
		t.Run(p.String(), func(t *testing.T) {
			for members := 1; members <= mostMembers(70); members++ {
				s := build(t, p, members, 0)
				if err := check(p, s, 0, ascending(members)); err != nil {
					t.Fatalf("%d members: %v", members, err)
				}
			}
		})
	}
}

func TestSchedulesMatchTheirOperationsForEveryRoot(t *testing.T) {
	for _, p := range pairs() {
		if !p.op.Rooted() {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			for members := 1; members <= mostMembers(20); members++ {
				for root := range members {
					s := build(t, p, members, root)
					if err := check(p, s, root, ascending(members)); err != nil {
						t.Fatalf("%d members, root %d: %v", members, root, err)
					}
				}
			}
		})
	}
}

// The outcome does not depend on the order in which members run.
func TestSchedulesAtRandomSizesAndOrders(t *testing.T) {
	all := pairs()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(all).Draw(t, "algorithm")
		members := rapid.IntRange(1, 300).Draw(t, "members")
		root := 0
		if p.op.Rooted() {
			root = rapid.IntRange(0, members-1).Draw(t, "root")
		}
		order := rapid.Permutation(ascending(members)).Draw(t, "order")
		if err := check(p, build(t, p, members, root), root, order); err != nil {
			t.Fatalf("%s, %d members, root %d: %v", p, members, root, err)
		}
	})
}

// Next and Rounds agree with a pass over every Step.
func TestNextAndRoundsSkipOnlyIdleRounds(t *testing.T) {
	for _, p := range pairs() {
		t.Run(p.String(), func(t *testing.T) {
			for members := 1; members <= 40; members++ {
				s := build(t, p, members, members/3)
				for m := range members {
					if err := checkSkips(s, m); err != nil {
						t.Fatalf("%d members, member %d: %v", members, m, err)
					}
				}
			}
		})
	}
}

func checkSkips(s collectives.Schedule, m int) error {
	rounds, next := 0, None // the next round with something to do
	for round := s.MaxRounds() - 1; round >= 0; round-- {
		if step := s.Step(m, round); step.To != None || step.From != None {
			rounds, next = max(rounds, round+1), round
		}
		got := s.Next(m, round)
		if next != None && got != next || next == None && got < rounds {
			return fmt.Errorf("Next(%d) = %d, want %d", round, got, next)
		}
	}
	if got := s.Rounds(m); got != rounds {
		return fmt.Errorf("Rounds = %d, want %d", got, rounds)
	}
	return nil
}

// A barrier releases no member before all have entered: the knowledge of each member at
// its exit must include the entry of all others.
func TestBarriersWaitForEverybody(t *testing.T) {
	for _, p := range pairs() {
		if p.op != collectives.Barrier {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			for members := 1; members <= 33; members++ {
				for late := range members {
					s := build(t, p, members, 0)
					x := newExecutor(s, input(true), merge)
					x.clocks[late] = 1000
					if err := x.run(ascending(members)); err != nil {
						t.Fatalf("%d members: %v", members, err)
					}
					for m, c := range x.clocks {
						if c < 1000 {
							t.Fatalf("%d members: %d leaves at %d, before %d enters at 1000", members, m, c, late)
						}
					}
				}
			}
		})
	}
}

// At sizes too large to execute, every message is also received in its round, in
// as many positions, and the other way round.
func TestSendsAndReceivesPairUpAtLargeSizes(t *testing.T) {
	for _, p := range pairs() {
		t.Run(p.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				members := rapid.IntRange(2, 1<<30-1).Draw(t, "members") // the double ring has 2^31 rounds among 2^30
				root := 0
				if p.op.Rooted() {
					root = rapid.IntRange(0, members-1).Draw(t, "root")
				}
				s := build(t, p, members, root)
				m := rapid.IntRange(0, members-1).Draw(t, "member")
				round := s.Next(m, rapid.IntRange(0, s.MaxRounds()-1).Draw(t, "round"))
				if round < s.Rounds(m) {
					checkPeers(t, s, m, round)
				}
			})
		})
	}
}

// checkPeers compares a member's step with those of its peers.
func checkPeers(t *rapid.T, s collectives.Schedule, m, round int) {
	step := s.Step(m, round)
	if step.To == None && step.From == None {
		t.Fatalf("member %d is idle in round %d, which Next names", m, round)
	}
	if step.To != None {
		if peer := s.Step(step.To, round+step.Later); peer.From != m || peer.Receive.Count != step.Send.Count {
			t.Fatalf("round %d: member %d does %+v, but its receiver %+v", round, m, step, peer)
		}
	}
	if step.From != None && !collectives.HasWindows(s) {
		if peer := s.Step(step.From, round); peer.To != m || peer.Send.Count != step.Receive.Count {
			t.Fatalf("round %d: member %d does %+v, but its sender %+v", round, m, step, peer)
		}
	}
}

func TestNamesAreReadBack(t *testing.T) {
	for _, op := range collectives.Operations() {
		for i, a := range collectives.AllAlgorithms(op) {
			if a.String() == "" {
				t.Errorf("algorithm %d has no name", a)
			}
			if got, err := collectives.ParseAlgorithm(op, a.String()); got != a || err != nil {
				t.Errorf("%s: %s is read as %s (%v)", op, a, got, err)
			}
			if collectives.Describe(op, a) == "" {
				t.Errorf("%s: %s has no description", op, a)
			}
			if i == 0 && collectives.Default(op) != a {
				t.Errorf("%s: the default %s does not come first", op, collectives.Default(op))
			}
		}
	}
	_, err := collectives.ParseAlgorithm(collectives.Gatherv, "binomial")
	if err == nil || !strings.Contains(err.Error(), `gatherv has no algorithm "binomial": choose one of linear`) {
		t.Errorf("error %q does not say what gatherv has", err)
	}
}

// The leaders of a node-leader barrier run the butterfly.
func TestLeadersRunTheButterfly(t *testing.T) {
	for _, op := range []collectives.Operation{collectives.Barrier, collectives.Allreduce} {
		leaders, err := collectives.LeaderSchedule(op, 13)
		if err != nil {
			t.Fatal(err)
		}
		butterfly := build(t, pair{op, collectives.RecursiveDoubling}, 13, 0)
		for m := range 13 {
			for round := range max(leaders.MaxRounds(), butterfly.MaxRounds()) {
				if got, want := leaders.Step(m, round), butterfly.Step(m, round); got != want {
					t.Errorf("%s, leader %d, round %d: %+v, want %+v", op, m, round, got, want)
				}
			}
		}
	}
}

func TestErrorsNameFaultsAndRemedies(t *testing.T) {
	_, err := collectives.New(collectives.Barrier, collectives.Bruck, 0, -1)
	for _, want := range []string{
		"barrier has no algorithm bruck", "dissemination", "0 members: give at least 1", "root -1",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	_, err = collectives.New(collectives.Allreduce, collectives.NodeLeader, 4, 0)
	if err == nil || !strings.Contains(err.Error(), "LeaderSchedule") {
		t.Errorf("error %q does not name LeaderSchedule", err)
	}
	_, err = collectives.LeaderSchedule(collectives.Bcast, 4)
	if err == nil || !strings.Contains(err.Error(), "bcast has no algorithm node-leader") {
		t.Errorf("error %q does not say that bcast has no node-leader", err)
	}
}

// A call goes in at most 2^24 segments: with the least segment that an error names it does, with a byte less it does not. Neither makes
// the schedule, whose rounds do not fit the memory.
func TestTooManySegments(t *testing.T) {
	for _, c := range []struct {
		op    collectives.Operation
		text  string // of the algorithm, without its segment
		bytes int64
		least int64 // segment
	}{
		{collectives.Bcast, "pipeline", 4 << 30, 256},
		{collectives.Bcast, "pipeline", 1<<24 + 1, 2},
		{collectives.Reduce, "chain", 1 << 40, 1 << 16},
		{collectives.Allreduce, "ring-segmented", 8 << 33, 512}, // chunks of eight members
		{collectives.Allreduce, "han", 1 << 30, 64},
	} {
		for segment, refused := range map[int64]bool{c.least: false, c.least - 1: true} {
			a, err := collectives.ParseAlgorithm(c.op, fmt.Sprintf("%s:%d", c.text, segment))
			if err != nil {
				t.Fatal(err)
			}
			_, err = collectives.For(c.op, a, collectives.Size{Members: 8, Bytes: c.bytes, PerNode: 2})
			switch {
			case !refused && err != nil:
				t.Errorf("%v of %d bytes by %v: %v", c.op, c.bytes, a, err)
			case refused && (err == nil || !strings.Contains(err.Error(), a.String()) || !strings.Contains(err.Error(), "at most 16777216 segments")):
				t.Errorf("%v of %d bytes by %v: %v", c.op, c.bytes, a, err)
			}
		}
	}
}
