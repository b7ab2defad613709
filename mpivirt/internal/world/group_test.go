package world

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawGroup returns a group and its ranks in order: a list, or ranks at equal distances.
func drawGroup(t *rapid.T, name string) (*Group, []int) {
	if rapid.Bool().Draw(t, name+" is a list") {
		ranks := rapid.SliceOfNDistinct(rapid.IntRange(0, 20), 0, 12, rapid.ID[int]).Draw(t, name)
		return NewGroup(slices.Clone(ranks)), ranks
	}
	stride, size := rapid.SampledFrom([]int{-3, -2, -1, 1, 2, 3}).Draw(t, name+"'s stride"), rapid.IntRange(0, 6).Draw(t, name+"'s size")
	first := rapid.IntRange(0, 5).Draw(t, name+"'s first") + max(-stride*size, 0)
	var ranks []int
	for i := range size {
		ranks = append(ranks, first+i*stride)
	}
	return Strided(first, stride, size), ranks
}

// ranksOf returns the ranks of a group in order.
func ranksOf(g *Group) []int {
	ranks := make([]int, g.Size())
	for m := range ranks {
		ranks[m] = g.WorldRank(m)
	}
	return ranks
}

// only returns the ranks that are in the other list, or those that are not.
func only(ranks, others []int, in bool) []int {
	return slices.DeleteFunc(slices.Clone(ranks), func(r int) bool { return slices.Contains(others, r) != in })
}

// MPI 4.1, 7.3.2, on lists: the union has the members of the first group and then those of the second that are
// not in the first, the intersection and the difference have members of the first in its order.
func TestSetOperationsOfGroupsAgainstLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, of := drawGroup(t, "group 1")
		h, other := drawGroup(t, "group 2")
		for _, c := range []struct {
			name string
			got  *Group
			want []int
		}{
			{"union", g.Union(h), append(slices.Clone(of), only(other, of, false)...)},
			{"intersection", g.Intersection(h), only(of, other, true)},
			{"difference", g.Difference(h), only(of, other, false)},
			{"sorted", g.Sorted(), slices.Sorted(slices.Values(of))},
		} {
			if got := ranksOf(c.got); !slices.Equal(got, c.want) {
				t.Fatalf("the %s of %v and %v is %v, want %v", c.name, of, other, got, c.want)
			}
		}
		n := rapid.IntRange(0, len(of)).Draw(t, "first members")
		if first, rest := ranksOf(g.First(n)), ranksOf(g.From(n)); !slices.Equal(first, of[:n]) || !slices.Equal(rest, of[n:]) {
			t.Fatalf("%v divided at %d is %v and %v", of, n, first, rest)
		}
		contains := len(only(other, of, true)) == len(other)
		if err := g.Contains(h); (err == nil) != contains || err != nil && !errors.Is(err, ErrGroup) {
			t.Fatalf("%v contains %v: %v", of, other, err)
		}
		lo, hi := rapid.IntRange(0, 22).Draw(t, "lo"), rapid.IntRange(0, 22).Draw(t, "hi")
		if got, want := g.MeetsRange(lo, hi), slices.ContainsFunc(of, func(r int) bool { return lo <= r && r < hi }); got != want {
			t.Fatalf("%v meets [%d,%d): %t", of, lo, hi, got)
		}
	})
}

// MPI 4.1, 7.3.1: MPI_Group_rank and MPI_Group_translate_ranks give the place of a rank in a group, MPI_UNDEFINED
// for none, MPI_PROC_NULL for MPI_PROC_NULL; MPI_Group_compare tells members and their order.
func TestPlacesInGroupsAgainstLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, of := drawGroup(t, "group 1")
		h, other := drawGroup(t, "group 2")
		if len(of) > 0 && rapid.Bool().Draw(t, "the same ranks") {
			other = rapid.Permutation(of).Draw(t, "in another order")
			h = NewGroup(slices.Clone(other))
		}
		for rank := range 30 {
			if got, want := g.Member(rank), slices.Index(of, rank); got != want {
				t.Fatalf("rank %d in %v is %d, want %d", rank, of, got, want)
			}
		}
		members, want := []int{ProcNull}, []int{ProcNull}
		for m, rank := range of {
			at := slices.Index(other, rank)
			if at < 0 {
				at = Undefined
			}
			members, want = append(members, m), append(want, at)
		}
		if got, err := g.Translate(members, h); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v of %v in %v are %v, want %v (%v)", members, of, other, got, want, err)
		}
		for _, m := range []int{-1, len(of)} {
			if _, err := g.Translate([]int{m}, h); !errors.Is(err, ErrRank) {
				t.Fatalf("member %d of %v: %v", m, of, err)
			}
		}
		same, sameSet := slices.Equal(of, other), slices.Equal(slices.Sorted(slices.Values(of)), slices.Sorted(slices.Values(other)))
		compared := Unequal
		switch {
		case same:
			compared = Ident
		case sameSet:
			compared = Similar
		}
		if got := g.Compare(h); got != compared || g.Equal(h) != same || g.Ascending() != slices.IsSorted(of) {
			t.Fatalf("%v and %v: %v, equal %t, ascending %t", of, other, got, g.Equal(h), g.Ascending())
		}
		if (g.Hash() == h.Hash()) != same {
			t.Fatalf("%v and %v: hashes %x and %x", of, other, g.Hash(), h.Hash())
		}
	})
}

// MPI 4.1, 7.3.2: MPI_Group_incl, excl, range_incl and range_excl. A range is first, first + stride and so on up
// to last; members must be valid and distinct.
func TestSubgroupsAgainstLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, of := drawGroup(t, "group")
		var members []int
		var ranges []Range
		valid := true
		for range rapid.IntRange(0, 3).Draw(t, "ranges") {
			r := Range{rapid.IntRange(-1, 7).Draw(t, "first"), rapid.IntRange(-1, 7).Draw(t, "last"), rapid.IntRange(-3, 3).Draw(t, "stride")}
			ranges = append(ranges, r)
			valid = valid && r.Stride != 0 && r.First >= 0 && r.First < len(of)
			for m, n := r.First, 0; n < 10 && (r.Stride > 0 && m <= r.Last || r.Stride < 0 && m >= r.Last); m, n = m+r.Stride, n+1 {
				members = append(members, m)
			}
		}
		in, rest := []int{}, slices.Clone(of)
		for i, m := range members {
			if valid = valid && m >= 0 && m < len(of) && !slices.Contains(members[:i], m); valid {
				in, rest = append(in, of[m]), slices.DeleteFunc(rest, func(r int) bool { return r == of[m] })
			}
		}
		check := func(name string, got *Group, err error, want []int) {
			switch {
			case err == nil != valid || err != nil && !errors.Is(err, ErrRank) && !errors.Is(err, ErrArgument):
				t.Fatalf("%s of %v from %v: %v", name, ranges, of, err)
			case valid && !slices.Equal(ranksOf(got), want):
				t.Fatalf("%s of %v from %v: %v, want %v", name, ranges, of, ranksOf(got), want)
			}
		}
		with, err := g.RangeIncl(ranges)
		check("range_incl", with, err, in)
		without, err := g.RangeExcl(ranges)
		check("range_excl", without, err, rest)
		if !valid {
			return // a range may be faulty where the list of its members is not
		}
		with, err = g.Incl(members)
		check("incl", with, err, in)
		without, err = g.Excl(members)
		check("excl", without, err, rest)
	})
	g := Strided(3, 2, 5)
	for _, members := range [][]int{{-1}, {5}, {2, 0, 2}} {
		for name, subgroup := range map[string]func([]int) (*Group, error){"incl": g.Incl, "excl": g.Excl} {
			if _, err := subgroup(members); !errors.Is(err, ErrRank) {
				t.Errorf("%s of %v: %v", name, members, err)
			}
		}
	}
	if _, err := g.RangeIncl([]Range{{First: 1, Last: 2}}); !errors.Is(err, ErrArgument) {
		t.Errorf("a stride of 0: %v", err)
	}
}

// A group that is written for another engine is read there, with nothing left over, and those at equal distances
// take 12 bytes, whatever their size.
func TestGroupsTravel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, of := drawGroup(t, "group")
		w := Writer{make([]byte, g.Bytes()+3)}
		g.Write(&w)
		if len(w.Rest) != 3 {
			t.Fatalf("%v takes %d bytes, not %d", of, g.Bytes()+3-len(w.Rest), g.Bytes())
		}
		record := make([]byte, g.Bytes()+3)
		w = Writer{record}
		g.Write(&w)
		r := Reader{record}
		if got := ranksOf(ReadGroup(&r)); !slices.Equal(got, of) || len(r.Rest) != 3 {
			t.Fatalf("%v is read as %v, and %d bytes are left", of, got, len(r.Rest))
		}
	})
	if n := Strided(1<<20, -1, 1<<20).Bytes(); n != 12 {
		t.Errorf("a group at equal distances takes %d bytes", n)
	}
}

// A range of a group without a list needs none, nor does the rest without its first or last members: each
// rank may make such a group, of as many members as there are ranks.
func TestSubgroupsOfManyRanksHaveNoLists(t *testing.T) {
	const n = 1 << 30
	g := Strided(0, 1, n)
	for name, c := range map[string]struct {
		of   func() (*Group, error)
		want *Group
	}{
		"each second":   {func() (*Group, error) { return g.RangeIncl([]Range{{0, n - 1, 2}}) }, Strided(0, 2, n/2)},
		"backwards":     {func() (*Group, error) { return g.RangeIncl([]Range{{n - 1, 0, -1}}) }, Strided(n-1, -1, n)},
		"without 0":     {func() (*Group, error) { return g.Excl([]int{0}) }, Strided(1, 1, n-1)},
		"without both":  {func() (*Group, error) { return g.Excl([]int{n - 1, 0}) }, Strided(1, 1, n-2)},
		"all but half":  {func() (*Group, error) { return g.RangeExcl([]Range{{0, n/2 - 1, 1}}) }, Strided(n/2, 1, n/2)},
		"the lower one": {func() (*Group, error) { return g.RangeExcl([]Range{{n / 2, n - 1, 1}}) }, Strided(0, 1, n/2)},
	} {
		got, err := c.of()
		if err != nil || got.ranks != nil || !got.Equal(c.want) {
			t.Errorf("%s: %d members from %d on, %v; want %d from %d on", name, got.Size(), got.WorldRank(0), err, c.want.Size(), c.want.WorldRank(0))
		}
	}
}
