package world

import (
	"slices"
	"sort"

	"gigarank/internal/random"
)

// Group is an ordered set of ranks of WORLD (MPI_Group). It is immutable. A group whose ranks lie
// at equal distances, such as WORLD, a row or a column, needs no list.
type Group struct {
	first, stride, size int
	ranks               []int   // by member; nil if strided
	sorted              []int32 // members in ascending order of rank; nil if ranks ascend
}

// Strided returns the group first, first+stride, ... of a size. Stride may be negative.
func Strided(first, stride, size int) *Group {
	return &Group{first: first, stride: stride, size: size}
}

// NewGroup returns the group of the ranks in the order of the slice. It keeps the slice unless the
// ranks lie at equal distances.
func NewGroup(ranks []int) *Group {
	if len(ranks) == 0 {
		return Strided(0, 1, 0)
	}
	stride := 1
	if len(ranks) > 1 {
		stride = ranks[1] - ranks[0]
	}
	ascending := true
	equal := stride != 0
	for i := 1; i < len(ranks); i++ {
		equal = equal && ranks[i]-ranks[i-1] == stride
		ascending = ascending && ranks[i] > ranks[i-1]
	}
	if equal {
		return Strided(ranks[0], stride, len(ranks))
	}
	g := &Group{size: len(ranks), ranks: ranks}
	if !ascending {
		g.sorted = make([]int32, len(ranks))
		for i := range g.sorted {
			g.sorted[i] = int32(i)
		}
		slices.SortFunc(g.sorted, func(a, b int32) int { return ranks[a] - ranks[b] })
	}
	return g
}

// spans reports whether both groups need no list and all members of the other group are members. It
// checks two of them only.
func (g *Group) spans(other *Group) bool {
	if g.ranks != nil || other.ranks != nil || g.size == 0 || other.size == 0 || g.stride == 0 || other.stride%g.stride != 0 {
		return false
	}
	return g.Member(other.WorldRank(0)) >= 0 && g.Member(other.WorldRank(other.size-1)) >= 0
}

// Size returns the number of members (MPI_Group_size).
func (g *Group) Size() int { return g.size }

// WorldRank returns the rank in WORLD of a member, 0 <= member < Size().
func (g *Group) WorldRank(member int) int {
	if g.ranks != nil {
		return g.ranks[member]
	}
	return g.first + member*g.stride
}

// Member returns the member number of a rank of WORLD, NoMember for a rank outside the group
// (MPI_Group_rank).
func (g *Group) Member(rank int) int {
	switch {
	case g.ranks == nil:
		offset := rank - g.first
		if g.stride == 0 || offset%g.stride != 0 {
			return NoMember
		}
		if m := offset / g.stride; m >= 0 && m < g.size {
			return m
		}
		return NoMember
	case g.sorted == nil:
		if m, found := slices.BinarySearch(g.ranks, rank); found {
			return m
		}
		return NoMember
	default:
		at := sort.Search(g.size, func(i int) bool { return g.ranks[g.sorted[i]] >= rank })
		if at < g.size && g.ranks[g.sorted[at]] == rank {
			return int(g.sorted[at])
		}
		return NoMember
	}
}

// First returns the group of the first n members, n <= Size().
func (g *Group) First(n int) *Group {
	if g.ranks != nil {
		return NewGroup(g.ranks[:n:n])
	}
	return Strided(g.first, g.stride, n)
}

// From returns the group without its first n members, n <= Size().
func (g *Group) From(n int) *Group {
	if g.ranks != nil {
		return NewGroup(g.ranks[n:])
	}
	return Strided(g.first+n*g.stride, g.stride, g.size-n)
}

// Sorted returns the group of the same ranks in ascending order.
func (g *Group) Sorted() *Group {
	ranks := make([]int, g.size)
	for i := range ranks {
		ranks[i] = g.ascending(i)
	}
	return NewGroup(ranks)
}

// Ascending reports whether members are in ascending order of WORLD rank.
func (g *Group) Ascending() bool {
	if g.ranks != nil {
		return g.sorted == nil
	}
	return g.stride > 0 || g.size < 2
}

// LowerBound returns, for an ascending group, the number of members whose rank
// is below rank.
func (g *Group) LowerBound(rank int) int {
	return sort.Search(g.size, func(m int) bool { return g.WorldRank(m) >= rank })
}

// Next returns the least rank of the group that is not below rank, NoMember for none. It takes
// O(log size).
func (g *Group) Next(rank int) int {
	at := sort.Search(g.size, func(i int) bool { return g.ascending(i) >= rank })
	if at == g.size {
		return NoMember
	}
	return g.ascending(at)
}

// ascending returns the i-th rank of the group in ascending order.
func (g *Group) ascending(i int) int {
	switch {
	case g.sorted != nil:
		return g.ranks[g.sorted[i]]
	case g.ranks == nil && g.stride < 0:
		i = g.size - 1 - i
	}
	return g.WorldRank(i)
}

// MeetsRange reports whether the group has a rank with lo <= rank < hi.
func (g *Group) MeetsRange(lo, hi int) bool {
	rank := g.Next(lo)
	return rank >= 0 && rank < hi
}

// Bytes returns the number of bytes that Write writes.
func (g *Group) Bytes() int {
	if g.ranks == nil {
		return 4 + 4 + 4
	}
	return 4 + 4*g.size
}

// listed marks the size of a group that is written as a list of its ranks.
const listed = 1 << 31

// Write appends the group to a record for another engine.
func (g *Group) Write(w *Writer) {
	if g.ranks == nil {
		w.U32(uint32(g.size))
		w.U32(uint32(g.first))
		w.U32(uint32(g.stride))
		return
	}
	w.U32(uint32(g.size) | listed)
	for _, rank := range g.ranks {
		w.U32(uint32(rank))
	}
}

// ReadGroup returns the group that Write has written.
func ReadGroup(r *Reader) *Group {
	size := r.U32()
	if size&listed == 0 {
		first := int(r.U32())
		return Strided(first, int(int32(r.U32())), int(size))
	}
	ranks := make([]int, size&^listed)
	for i := range ranks {
		ranks[i] = int(r.U32())
	}
	return NewGroup(ranks)
}

// Incl returns the group of the given members, in that order (MPI_Group_incl). Errors: ErrRank for
// a member that the group does not have or that is listed twice.
func (g *Group) Incl(members []int) (*Group, error) {
	ranks := make([]int, len(members))
	for i, m := range members {
		if m < 0 || m >= g.size {
			return nil, Errorf(ErrRank, "member %d of a group of %d", m, g.size)
		}
		ranks[i] = g.WorldRank(m)
	}
	if duplicate, ok := firstDuplicate(ranks); ok {
		return nil, Errorf(ErrRank, "rank %d is named twice", duplicate)
	}
	return NewGroup(ranks), nil
}

func firstDuplicate(ranks []int) (int, bool) {
	sorted := slices.Clone(ranks)
	slices.Sort(sorted)
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return sorted[i], true
		}
	}
	return 0, false
}

// Excl returns the group without the given members (MPI_Group_excl). Errors: as Incl.
func (g *Group) Excl(members []int) (*Group, error) {
	if _, err := g.Incl(members); err != nil {
		return nil, err
	}
	if h := g.within(members); h != nil {
		return h, nil
	}
	out := make([]bool, g.size)
	for _, m := range members {
		out[m] = true
	}
	return g.filter(func(m int) bool { return !out[m] }), nil
}

// within returns the group without the given members, if the group has no list and the members are its
// first and last ones, in any order; else nil. The time does not depend on the size of the group.
func (g *Group) within(members []int) *Group {
	if g.ranks != nil {
		return nil
	}
	sorted := slices.Sorted(slices.Values(members))
	first := 0
	for first < len(sorted) && sorted[first] == first {
		first++
	}
	last := len(sorted) - first
	for i, m := range sorted[first:] {
		if m != g.size-last+i {
			return nil
		}
	}
	return Strided(g.first+first*g.stride, g.stride, g.size-len(sorted))
}

func (g *Group) filter(keep func(member int) bool) *Group {
	var ranks []int
	for m := range g.size {
		if keep(m) {
			ranks = append(ranks, g.WorldRank(m))
		}
	}
	return NewGroup(ranks)
}

// Union returns the members of g, then the members of h that are not in g (MPI_Group_union).
func (g *Group) Union(h *Group) *Group {
	ranks := make([]int, 0, g.size)
	for m := range g.size {
		ranks = append(ranks, g.WorldRank(m))
	}
	for m := range h.size {
		if r := h.WorldRank(m); g.Member(r) < 0 {
			ranks = append(ranks, r)
		}
	}
	return NewGroup(ranks)
}

// Intersection returns the members of g that are in h (MPI_Group_intersection).
func (g *Group) Intersection(h *Group) *Group {
	return g.filter(func(m int) bool { return h.Member(g.WorldRank(m)) >= 0 })
}

// Difference returns the members of g that are not in h (MPI_Group_difference).
func (g *Group) Difference(h *Group) *Group {
	return g.filter(func(m int) bool { return h.Member(g.WorldRank(m)) < 0 })
}

// Translate returns the member numbers in h of given members of g: Undefined for a member that is
// not in h, and ProcNull for ProcNull (MPI_Group_translate_ranks; MPI 4.1, 7.3.1). Errors: ErrRank
// for a member that g does not have.
func (g *Group) Translate(members []int, h *Group) ([]int, error) {
	translated := make([]int, len(members))
	for i, m := range members {
		switch {
		case m == ProcNull:
			translated[i] = ProcNull
		case m < 0 || m >= g.size:
			return nil, Errorf(ErrRank, "member %d of a group of %d", m, g.size)
		default:
			if translated[i] = h.Member(g.WorldRank(m)); translated[i] == NoMember {
				translated[i] = Undefined
			}
		}
	}
	return translated, nil
}

// Equal reports whether both groups have the same members in the same order
// (MPI_IDENT of MPI_Group_compare).
func (g *Group) Equal(h *Group) bool {
	if g.size != h.size {
		return false
	}
	if g.ranks == nil && h.ranks == nil {
		return g.size == 0 || g.first == h.first && (g.stride == h.stride || g.size == 1)
	}
	return slices.Equal(g.ranks, h.ranks)
}

// Comparison is the result of comparing two groups or communicators, from equal to different.
type Comparison uint8

// The results of a comparison.
const (
	Ident     Comparison = iota // MPI_IDENT: the same communicator, or the same members in the same order
	Congruent                   // MPI_CONGRUENT: communicators whose groups are identical
	Similar                     // MPI_SIMILAR: the same members in another order
	Unequal                     // MPI_UNEQUAL
)

func (c Comparison) String() string {
	return [...]string{"MPI_IDENT", "MPI_CONGRUENT", "MPI_SIMILAR", "MPI_UNEQUAL"}[c]
}

// Compare returns Ident, Similar or Unequal (MPI_Group_compare).
func (g *Group) Compare(h *Group) Comparison {
	switch {
	case g.Equal(h):
		return Ident
	case g.size == h.size && g.Intersection(h).size == g.size:
		return Similar
	}
	return Unequal
}

// Range names the members First, First+Stride, ... up to Last, inclusive. Stride may be
// negative.
type Range struct{ First, Last, Stride int }

// members returns the members of all ranges, in order.
func (g *Group) members(ranges []Range) ([]int, error) {
	var members []int
	for _, r := range ranges {
		switch {
		case r.Stride == 0:
			return nil, Errorf(ErrArgument, "the range %d:%d has stride 0: give one that is not", r.First, r.Last)
		case r.First < 0 || r.First >= g.size:
			return nil, Errorf(ErrRank, "the range %d:%d:%d begins outside a group of %d", r.First, r.Last, r.Stride, g.size)
		}
		for m := r.First; r.Stride > 0 && m <= r.Last || r.Stride < 0 && m >= r.Last; m += r.Stride {
			if m < 0 || m >= g.size {
				return nil, Errorf(ErrRank, "member %d of the range %d:%d:%d in a group of %d", m, r.First, r.Last, r.Stride, g.size)
			}
			members = append(members, m)
		}
	}
	return members, nil
}

// only returns the group of the members in a single valid range, if this group has no list; else nil. The
// time does not depend on the size of the group.
func (g *Group) only(ranges []Range) *Group {
	if len(ranges) != 1 || g.ranks != nil {
		return nil
	}
	r := ranges[0]
	if r.Stride == 0 || r.First < 0 || r.First >= g.size {
		return nil
	}
	n := max((r.Last-r.First)/r.Stride+1, 0)
	if r.Stride > 0 != (r.Last >= r.First) && r.Last != r.First {
		n = 0
	}
	if last := r.First + (n-1)*r.Stride; n > 0 && (last < 0 || last >= g.size) {
		return nil
	}
	return Strided(g.first+r.First*g.stride, r.Stride*g.stride, n)
}

// RangeIncl returns the group of the members in the ranges, in that order
// (MPI_Group_range_incl). Errors: as Incl; ErrArgument for a stride of 0.
func (g *Group) RangeIncl(ranges []Range) (*Group, error) {
	if h := g.only(ranges); h != nil {
		return h, nil
	}
	members, err := g.members(ranges)
	if err != nil {
		return nil, err
	}
	return g.Incl(members)
}

// RangeExcl returns the group without the members in the ranges (MPI_Group_range_excl).
// Errors: as RangeIncl.
func (g *Group) RangeExcl(ranges []Range) (*Group, error) {
	if out := g.only(ranges); out != nil {
		switch first := ranges[0].First; {
		case out.size == 0 || out.stride != g.stride:
		case first == 0:
			return g.From(out.size), nil
		case first+out.size == g.size:
			return g.First(first), nil
		}
	}
	members, err := g.members(ranges)
	if err != nil {
		return nil, err
	}
	return g.Excl(members)
}

// Hash returns a number that is equal for equal groups, and differs for other groups with high
// probability.
func (g *Group) Hash() uint64 {
	h := random.Mix(uint64(g.size))
	if g.ranks == nil {
		return random.Mix(random.Mix(h^uint64(g.worldRankOr(0))) ^ uint64(g.worldRankOr(g.size-1)))
	}
	for _, rank := range g.ranks {
		h = random.Mix(h ^ uint64(rank))
	}
	return h
}

// groupKey is equal for equal groups, and seldom equal for other groups.
type groupKey struct{ size, first, last int }

// groupTable holds one copy of each group with a list that is in use on an engine. Groups without a
// list are not in the table: there may be one for each rank, and a copy costs less than a look-up.
type groupTable struct {
	groups map[groupKey][]interned
}

// interned is a group with the number of its uses.
type interned struct {
	*Group
	uses int
}

func (g *Group) key() groupKey { return groupKey{g.size, g.worldRankOr(0), g.worldRankOr(g.size - 1)} }

// Intern returns the group of the table that is equal to g, or adds g to the table. It counts a
// use, which Release ends. It returns a group without a list as it is.
func (t *groupTable) Intern(g *Group) *Group {
	if g.ranks == nil {
		return g
	}
	if t.groups == nil {
		t.groups = map[groupKey][]interned{}
	}
	key := g.key()
	for i := range t.groups[key] {
		if other := &t.groups[key][i]; other.Equal(g) {
			other.uses++
			return other.Group
		}
	}
	t.groups[key] = append(t.groups[key], interned{g, 1})
	return g
}

// Release ends a use of a group that Intern has returned. The last Release removes the group from
// the table.
func (t *groupTable) Release(g *Group) {
	if g.ranks == nil {
		return
	}
	key := g.key()
	kept := t.groups[key]
	at := slices.IndexFunc(kept, func(other interned) bool { return other.Group == g })
	if kept[at].uses--; kept[at].uses > 0 {
		return
	}
	if t.groups[key] = slices.Delete(kept, at, at+1); len(kept) == 1 {
		delete(t.groups, key)
	}
}

// InUse returns the number of groups in use.
func (t *groupTable) InUse() (n int) {
	for _, kept := range t.groups {
		n += len(kept)
	}
	return n
}

// worldRankOr returns the rank in WORLD of a member, -1 for a number outside the group.
func (g *Group) worldRankOr(member int) int {
	if member < 0 || member >= g.size {
		return -1
	}
	return g.WorldRank(member)
}
