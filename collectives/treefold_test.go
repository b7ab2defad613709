package collectives_test

import (
	"math"
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

// The streaming fold gives bit for bit what the members get, and all of them
// get the same.
func TestTreeFoldEqualsTheSchedule(t *testing.T) {
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

		f, err := collectives.NewTreeFold(p.a, members, add)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			f.Add(v)
		}
		want := math.Float64bits(f.Result())

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

// The ring is not in rank order, but its members agree, too.
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

// Of seven members three pairs fold, and 6 is on its own; of five only 0 and 1
// fold, so that the halves are not those of the binomial tree.
func TestTreeFoldShapes(t *testing.T) {
	bracket := func(lower, higher string) string { return "(" + lower + higher + ")" }
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
		f, err := collectives.NewTreeFold(c.a, len(c.members), bracket)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range strings.Split(c.members, "") {
			f.Add(m)
		}
		if got := f.Result(); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.a, c.members, got, c.want)
		}
	}
}

func TestTreeFoldRefusesWhatIsNoTree(t *testing.T) {
	if _, err := collectives.NewTreeFold(collectives.Ring, 4, add); err == nil || !strings.Contains(err.Error(), "recursive-doubling") {
		t.Errorf("ring: %v", err)
	}
	if _, err := collectives.NewTreeFold(collectives.Linear, 0, add); err == nil || !strings.Contains(err.Error(), "at least 1") {
		t.Errorf("no members: %v", err)
	}
}
