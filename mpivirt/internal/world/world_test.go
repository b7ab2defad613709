package world

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gigarank/internal/random"
)

// count returns 0 to n-1.
func count(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// A slab gives out each index once, never 0, keeps values where they are, and clears
// those that are released.
func TestSlabAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Slab[int]
		held := map[int32]int{}
		places := map[int32]*int{}
		var order []int32
		for i := range rapid.IntRange(0, 3000).Draw(t, "steps") {
			if len(order) > 0 && random.Intn(1, uint64(i), 0, 3) == 0 {
				at := random.Intn(2, uint64(i), 0, len(order))
				index := order[at]
				if *s.At(index) != held[index] || s.At(index) != places[index] {
					t.Fatalf("index %d: %d at %p, want %d at %p", index, *s.At(index), s.At(index), held[index], places[index])
				}
				s.Release(index)
				delete(held, index)
				order = slices.Delete(order, at, at+1)
				continue
			}
			index := s.Take()
			if _, twice := held[index]; twice || index == 0 || *s.At(index) != 0 {
				t.Fatalf("index %d is given out with the value %d", index, *s.At(index))
			}
			*s.At(index) = i + 1
			held[index], places[index] = i+1, s.At(index)
			order = append(order, index)
		}
		if s.InUse() != len(held) {
			t.Fatalf("%d in use, want %d", s.InUse(), len(held))
		}
	})
}

// Buffers have the length asked for, are not given out twice at a time, and are
// used again.
func TestBufferPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pool bufferPool
		var held [][]byte
		for i, n := range rapid.SliceOf(rapid.IntRange(-1, 5000)).Draw(t, "lengths") {
			if n < 0 {
				if len(held) > 0 {
					pool.Release(held[0])
					held = held[1:]
				}
				continue
			}
			b := pool.Take(n)
			if len(b) != n || (b == nil) != (n == 0) {
				t.Fatalf("a buffer of %d bytes for %d", len(b), n)
			}
			for j := range b {
				b[j] = byte(i)
			}
			held = append(held, b)
		}
		if want := len(slices.DeleteFunc(slices.Clone(held), func(b []byte) bool { return b == nil })); pool.Held() != want {
			t.Fatalf("%d buffers are held, want %d", pool.Held(), want)
		}
		for i, b := range held {
			for j := range b {
				if b[j] != b[0] {
					t.Fatalf("buffer %d shares memory with another", i)
				}
			}
		}
	})
	var pool bufferPool
	if allocations := testing.AllocsPerRun(100, func() { pool.Release(pool.Take(1000)) }); allocations > 0 {
		t.Errorf("%v allocations for a buffer that has been released", allocations)
	}
}

// Equal groups with a list are one in memory on an engine. Groups of ranks at equal distances have no
// list and no place in the table, so that WORLD, rows and columns cost nothing per member.
func TestGroupsAreSharedAndStrided(t *testing.T) {
	var table groupTable
	list := []int{5, 3, 8, 1}
	a, b := table.Intern(NewGroup(slices.Clone(list))), table.Intern(NewGroup(slices.Clone(list)))
	if a != b || a.ranks == nil {
		t.Errorf("equal groups at %p and %p", a, b)
	}
	if other := table.Intern(NewGroup([]int{5, 8, 3, 1})); other == a {
		t.Error("a group in another order is the same")
	}
	for _, ranks := range [][]int{count(1000), {7}, {9, 6, 3, 0}, {4, 104, 204}, {}} {
		if g := NewGroup(ranks); g.ranks != nil || g.sorted != nil {
			t.Errorf("a list for %v", ranks[:min(len(ranks), 5)])
		}
	}
	row := table.Intern(NewGroup([]int{4, 5, 6, 7}))
	if table.InUse() != 2 || !row.Equal(Strided(4, 1, 4)) {
		t.Errorf("%d groups in the table, want the 2 with lists", table.InUse())
	}
	table.Release(row)
}

// What each group says about ascending order, from which the array interpreter
// takes which members an engine has.
func TestLocalMembersOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 1, 20, rapid.ID[int]).Draw(t, "ranks")
		g := NewGroup(slices.Clone(ranks))
		if g.Ascending() != slices.IsSorted(ranks) && len(ranks) > 1 {
			t.Fatalf("%v: ascending is %v", ranks, g.Ascending())
		}
		k := &Partition{First: rapid.IntRange(0, 30).Draw(t, "lo"), Ranks: rapid.IntRange(0, 12).Draw(t, "n")}
		first, last, locals := k.LocalMembers(g)
		found := 0
		for m, r := range ranks {
			if _, local := k.Local(r); local {
				if found++; m < first || m >= last {
					t.Fatalf("%v: member %d of [%d,%d) is not in [%d,%d)", ranks, m, k.First, k.First+k.Ranks, first, last)
				}
			}
		}
		if found != locals || locals == 0 && first < last {
			t.Fatalf("%v: %d members in [%d,%d), want %d", ranks, locals, first, last, found)
		}
	})
}

// The next rank of a group is the least of its ranks that is not below, whatever their order.
func TestNextRankOfAGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 0, 12, rapid.ID).Draw(t, "ranks")
		if rapid.Bool().Draw(t, "strided") {
			first, stride, size := rapid.IntRange(0, 9).Draw(t, "first"), rapid.SampledFrom([]int{-3, -1, 1, 2, 5}).Draw(t, "stride"), rapid.IntRange(0, 6).Draw(t, "size")
			if ranks = ranks[:0]; stride < 0 {
				first += 30
			}
			for i := range size {
				ranks = append(ranks, first+i*stride)
			}
		}
		g := NewGroup(slices.Clone(ranks))
		for rank := range 45 {
			want := NoMember
			for _, r := range ranks {
				if r >= rank && (want < 0 || r < want) {
					want = r
				}
			}
			if got := g.Next(rank); got != want {
				t.Fatalf("group %v: %d comes next from %d on, want %d", ranks, got, rank, want)
			}
		}
	})
}

// A table finds each value that is in use by its index, and no other, like a map.
func TestTableAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table[int]
		held := map[int32]*int{}
		var order []int32
		next := int32(0)
		for i := range rapid.IntRange(1, 400).Draw(t, "steps") {
			if n := len(order); n > 0 && random.Intn(1, uint64(i), 0, 100) < rapid.SampledFrom([]int{5, 45, 60}).Draw(t, "removals of 100") {
				at := random.Intn(2, uint64(i), 0, n)
				table.Remove(order[at])
				delete(held, order[at])
				order = slices.Delete(order, at, at+1)
			} else {
				value := new(int)
				if index := table.Add(value); index != next {
					t.Fatalf("value %d gets the index %d", next, index)
				}
				held[next] = value
				order = append(order, next)
				next++
			}
			for index := range next {
				if table.At(index) != held[index] {
					t.Fatalf("index %d of %v finds %p, want %p", index, order, table.At(index), held[index])
				}
			}
			all := table.All()
			if table.InUse() != len(held) || len(all) != len(held) {
				t.Fatalf("%d in use, %d listed, want %d", table.InUse(), len(all), len(held))
			}
			for i, index := range order {
				if all[i] != held[index] {
					t.Fatalf("value %d of all is not that of index %d", i, index)
				}
			}
			visited := 0
			for value := range table.Values() {
				if visited++; !slices.Contains(all, value) {
					t.Fatal("a value is visited that is not in use")
				}
			}
			if visited != len(all) {
				t.Fatalf("%d of %d values are visited", visited, len(all))
			}
		}
	})
}

// Values that are removed in the order of their indices take as long as their entry does, beside values that
// stay, and also when their places were used before.
func TestTableRemovesInOrder(t *testing.T) {
	const n = 1 << 18
	var table Table[int]
	value := new(int)
	for range 3 {
		table.Add(value)
	}
	for range 3 {
		begin := time.Now()
		first := table.next
		for range n {
			table.Add(value)
		}
		added := time.Since(begin)
		for index := range int32(n) {
			table.Remove(first + index)
		}
		if all := time.Since(begin); all > 50*added+time.Second {
			t.Fatalf("%d values are entered in %v and removed in %v", n, added, all-added)
		}
	}
}

// Groups are forgotten with their last use.
func TestGroupsAreReleased(t *testing.T) {
	var table groupTable
	one, other := table.Intern(NewGroup([]int{1, 5, 6})), table.Intern(NewGroup([]int{1, 4, 6}))
	if table.Intern(NewGroup([]int{1, 5, 6})) != one || one == other || table.InUse() != 2 {
		t.Fatalf("%d groups in use, want 2", table.InUse())
	}
	table.Release(one)
	if table.Intern(NewGroup([]int{1, 5, 6})) != one {
		t.Error("a group in use is forgotten")
	}
	for _, g := range []*Group{one, other, one} {
		table.Release(g)
	}
	if table.InUse() != 0 || len(table.groups) != 0 {
		t.Errorf("%d groups in use, want none", table.InUse())
	}
}
