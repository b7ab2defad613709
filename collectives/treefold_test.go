package collectives_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gigarank/collectives"

	"pgregory.net/rapid"
)

func add(lower, higher float64) float64 { return lower + higher }

// numbers are floats whose sum depends on the order of addition.
func numbers(t *rapid.T, n int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), n, n).Draw(t, "numbers")
}

// The fold that defines the tree gives bit for bit the results of the members, and all
// of them get the same.
func TestFoldEqualsTheSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]pair{
			{collectives.Allreduce, collectives.RecursiveDoubling},
			{collectives.Allreduce, collectives.Rabenseifner},
			{collectives.Allreduce, collectives.Binomial},
			{collectives.Allreduce, collectives.Linear},
			{collectives.Reduce, collectives.Binomial},
			{collectives.Reduce, collectives.Linear},
		}).Draw(t, "algorithm")
		members := rapid.IntRange(1, 150).Draw(t, "members")
		root := 0
		if p.op == collectives.Reduce && p.a == collectives.Binomial {
			root = rapid.IntRange(0, members-1).Draw(t, "root") // has the same bits for every root
		}
		values := numbers(t, members)

		sum, err := collectives.Fold(p.a, values, add)
		if err != nil {
			t.Fatal(err)
		}
		want := math.Float64bits(sum)

		s := build(t, p, members, root)
		x := newExecutor(s, func(m, _ int) float64 { return values[m] }, add)
		if err := x.run(ascending(members)); err != nil {
			t.Fatal(err)
		}
		for m := range members {
			for block := range outputs(p.op, s, m, root) {
				if got := math.Float64bits(*x.output(m, block)); got != want {
					t.Fatalf("member %d, block %d: %x, the fold has %x", m, block, got, want)
				}
			}
		}
	})
}

// The ring is not in rank order, but its members agree too.
func TestRingAllreduceGivesAllMembersTheSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(1, 60).Draw(t, "members")
		values := numbers(t, members)
		s := build(t, pair{collectives.Allreduce, collectives.Ring}, members, 0)
		x := newExecutor(s, func(m, block int) float64 { return values[m] * float64(block+1) }, add)
		if err := x.run(ascending(members)); err != nil {
			t.Fatal(err)
		}
		for m := range members {
			for block := range s.Positions() {
				if got, want := *x.output(m, block), *x.output(0, block); math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("block %d: member %d has %v, member 0 %v", block, m, got, want)
				}
			}
		}
	})
}

// Of seven members three pairs fold, and 6 stands alone. Of five only 0 and 1 fold, so
// the halves are not those of the binomial tree.
func TestFoldShapes(t *testing.T) {
	for _, c := range []struct {
		a       collectives.Algorithm
		members string
		want    string
	}{
		{collectives.RecursiveDoubling, "0", "0"},
		{collectives.RecursiveDoubling, "0123456", "(((01)(23))((45)6))"},
		{collectives.RecursiveDoubling, "012345", "(((01)(23))(45))"},
		{collectives.RecursiveDoubling, "01234", "(((01)2)(34))"},
		{collectives.Binomial, "01234", "(((01)(23))4)"},
		{collectives.Binomial, "0123456", "(((01)(23))((45)6))"},
		{collectives.Linear, "0123", "(((01)2)3)"},
	} {
		got, err := collectives.Fold(c.a, strings.Split(c.members, ""), bracket)
		if err != nil || got != c.want {
			t.Errorf("%s of %s: %s, %v, want %s", c.a, c.members, got, err, c.want)
		}
	}
}

// bracket writes out the tree in which strings are combined.
func bracket(lower, higher string) string { return "(" + lower + higher + ")" }

// The tree is the same in any order of the values, and whichever of several folds
// combines them first.
func TestTreeFoldIsThatOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "members")
		values := make([]string, n)
		for m := range values {
			values[m] = strconv.Itoa(m)
		}
		want, err := collectives.Fold(collectives.RecursiveDoubling, values, bracket)
		if err != nil {
			t.Fatal(err)
		}
		parts := make([]*collectives.TreeFold[string], rapid.IntRange(1, 4).Draw(t, "folds"))
		for i := range parts {
			parts[i] = collectives.NewTreeFold(n, bracket)
		}
		members := make([]int, n)
		for m := range members {
			members[m] = m
		}
		for _, m := range rapid.Permutation(members).Draw(t, "order") {
			f := parts[rapid.IntRange(0, len(parts)-1).Draw(t, "fold")]
			f.Add(f.Leaf(m), values[m])
		}
		whole := collectives.NewTreeFold(n, bracket)
		for _, f := range parts {
			for node, v := range f.Values() {
				whole.Add(node, v)
			}
		}
		if got, complete := whole.Result(); !complete || got != want {
			t.Fatalf("%d members in %d folds: %s, %t, want %s", n, len(parts), got, complete, want)
		}
	})
}

// Values in rank order need at most as many partial values at a time as the number of
// members has bits.
func TestTreeFoldHoldsFewValues(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 100, 1000, 1025} {
		f := collectives.NewTreeFold(n, func(lower, _ int) int { return lower })
		for m := range n {
			if _, complete := f.Result(); complete {
				t.Fatalf("%d members: complete after %d", n, m)
			}
			f.Add(f.Leaf(m), m)
			held := 0
			for range f.Values() {
				held++
			}
			if held > 12 {
				t.Fatalf("%d members: %d values after %d", n, held, m+1)
			}
		}
	}
}

// Survivors are numbered in rank order, without gaps.
func TestSurvivors(t *testing.T) {
	for folded := range 20 {
		next := 0
		for member := range 60 {
			if below := collectives.Survivors(folded, member); below != next {
				t.Fatalf("%d pairs folded: %d survivors below %d, want %d", folded, below, member, next)
			}
			if member >= 2*folded || member%2 == 1 {
				if got := collectives.Survivor(folded, next); got != member {
					t.Fatalf("%d pairs folded: survivor %d is %d, want %d", folded, next, got, member)
				}
				next++
			}
		}
	}
}

func TestFoldRefusesWhatIsNoTree(t *testing.T) {
	if _, err := collectives.Fold(collectives.Ring, make([]float64, 4), add); err == nil || !strings.Contains(err.Error(), "recursive-doubling") {
		t.Errorf("ring: %v", err)
	}
	if _, err := collectives.Fold(collectives.Linear, nil, add); err == nil || !strings.Contains(err.Error(), "at least 1") {
		t.Errorf("no members: %v", err)
	}
}
