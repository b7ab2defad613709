package mpivirt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// letters names the members of a group of a, b, c, ... as the standard does.
func letters(g *mpivirt.Group) string {
	var b strings.Builder
	for _, rank := range list(g) {
		b.WriteByte('a' + byte(rank))
	}
	return b.String()
}

// MPI 4.1, 7.3.2, MPI_GROUP_RANGE_INCL: with the group {a, ..., j} and the ranges (6, 7, 1),
// (1, 6, 2), (0, 9, 4) the result is {g, h, b, d, f, a, e, i}; MPI_GROUP_RANGE_EXCL leaves
// {c, j}. MPI_GROUP_INCL with 8, 6, 2 gives {i, g, c}.
func TestRangesOfTheStandard(t *testing.T) {
	world := worldGroup(t, 10)
	ranges := []mpivirt.Range{{First: 6, Last: 7, Stride: 1}, {First: 1, Last: 6, Stride: 2}, {First: 0, Last: 9, Stride: 4}}
	incl, err1 := world.RangeIncl(ranges)
	excl, err2 := world.RangeExcl(ranges)
	some, err3 := world.Incl([]int{8, 6, 2})
	down, err4 := world.RangeIncl([]mpivirt.Range{{First: 5, Last: 0, Stride: -2}})
	none, err5 := world.RangeIncl([]mpivirt.Range{{First: 5, Last: 6, Stride: -2}})
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		g    *mpivirt.Group
		want string
	}{{incl, "ghbdfaei"}, {excl, "cj"}, {some, "igc"}, {down, "fdb"}, {none, ""}} {
		if got := letters(c.g); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	for _, c := range []struct {
		r    mpivirt.Range
		want mpivirt.ErrorClass
	}{
		{mpivirt.Range{First: 1, Last: 2}, mpivirt.ErrArgument},
		{mpivirt.Range{First: 10, Last: 0, Stride: -1}, mpivirt.ErrRank},
		{mpivirt.Range{First: 8, Last: 12, Stride: 3}, mpivirt.ErrRank},
	} {
		if _, err := world.RangeIncl([]mpivirt.Range{c.r}); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.r, err, c.want)
		}
		if _, err := world.RangeExcl([]mpivirt.Range{c.r}); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.r, err, c.want)
		}
	}
	if _, err := world.RangeIncl([]mpivirt.Range{{First: 1, Last: 3, Stride: 1}, {First: 3, Last: 3, Stride: 1}}); !errors.Is(err, mpivirt.ErrRank) {
		t.Errorf("a member in two ranges: %v", err)
	}
}

// MPI 4.1, 7.3.1 and 7.4.1: MPI_IDENT "if the group members and group order is exactly the
// same", MPI_SIMILAR "if the group members are the same but the order is different", else
// MPI_UNEQUAL. Communicators are MPI_IDENT only if they are the same, and MPI_CONGRUENT if
// "the underlying groups are identical in constituents and rank order".
func TestComparisons(t *testing.T) {
	err := inside(t, 4, 2, false, func(r *mpivirt.Rank) error {
		w := r.World()
		dup, err1 := w.Dup()
		turned, err2 := w.Split(0, -r.Rank())
		half, err3 := w.Split(r.Rank()/2, 0)
		mixed, err4 := w.Split(0, r.Rank()^1)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
		for _, c := range []struct {
			a, b         *mpivirt.Comm
			comms, group mpivirt.Comparison
		}{
			{w, r.World(), mpivirt.Ident, mpivirt.Ident}, {r.Self(), r.Self(), mpivirt.Ident, mpivirt.Ident},
			{w, dup, mpivirt.Congruent, mpivirt.Ident}, {w, turned, mpivirt.Similar, mpivirt.Similar},
			{mixed, turned, mpivirt.Similar, mpivirt.Similar}, {half, w, mpivirt.Unequal, mpivirt.Unequal},
			{half, r.Self(), mpivirt.Unequal, mpivirt.Unequal},
		} {
			if got := c.a.Compare(c.b); got != c.comms || c.b.Compare(c.a) != got {
				return fmt.Errorf("%v and %v compare as %v, want %v", list(c.a.Group()), list(c.b.Group()), got, c.comms)
			}
			if got := c.a.Group().Compare(c.b.Group()); got != c.group {
				return fmt.Errorf("groups %v and %v compare as %v, want %v", list(c.a.Group()), list(c.b.Group()), got, c.group)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// MPI 4.1, 7.4.2: "MPI_COMM_CREATE_GROUP must be called by all processes in group" and by no
// others; several may be under way at once, told apart by their tags. Each call makes a
// communicator of its own, at the price of an allreduce of 8 bytes among the group.
func TestCreateGroupIsCalledByItsMembersOnly(t *testing.T) {
	var times []vtime.Time
	for _, engines := range []int{1, 2, 3} {
		var last vtime.Time
		err := inside(t, 9, engines, engines == 3, func(r *mpivirt.Rank) error {
			w := r.World()
			evens, err1 := w.Group().Incl([]int{4, 2, 0, 8, 6})
			low, err2 := w.Group().Incl([]int{0, 1, 2, 3})
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if r.Rank() == 7 {
				return nil // is in neither group, and calls nothing
			}
			if r.Rank() == 5 {
				none, err := w.CreateGroup(low, 1)
				if none != nil || err != nil || r.Now() != 0 {
					return fmt.Errorf("no member gets %v, %v at %v", none, err, r.Now())
				}
				return nil
			}
			var made []*mpivirt.Comm
			for i, g := range []*mpivirt.Group{low, evens, evens, low} {
				if g.Member(r.Rank()) < 0 {
					continue
				}
				entered := r.Now()
				c, err := w.CreateGroup(g, i/3)
				if err != nil {
					return err
				}
				if c.Group().Compare(g) != mpivirt.Ident || c.Rank() != g.Member(r.Rank()) {
					return fmt.Errorf("%v as member %d, want %v", list(c.Group()), c.Rank(), list(g))
				}
				if i == 0 {
					took := r.Now().Sub(entered)
					if err := c.Barrier(); err != nil {
						return err
					}
					start := r.Now()
					if err := mpivirt.Allreduce(c, []int{1}, []int{0}, mpivirt.Sum[int]()); err != nil {
						return err
					}
					if d := r.Now().Sub(start); d != took {
						return fmt.Errorf("it took %v, an allreduce of 8 bytes takes %v", took, d)
					}
				}
				made = append(made, c)
			}
			for _, c := range made { // in contexts of their own
				if err := mpivirt.Send(c, []int{100*len(made) + c.Size()}, (c.Rank()+1)%c.Size(), 0); err != nil {
					return err
				}
			}
			for _, c := range slices.Backward(made) {
				got := []int{0}
				if _, err := mpivirt.Recv(c, got, (c.Rank()+c.Size()-1)%c.Size(), 0); err != nil || got[0]%100 != c.Size() {
					return fmt.Errorf("%v, %v on %v", got, err, list(c.Group()))
				}
				if err := c.Free(); err != nil {
					return err
				}
			}
			if r.Rank() == 0 {
				last = r.Now()
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
		times = append(times, last)
	}
	if times[0] == 0 || times[1] != times[0] || times[2] != times[0] {
		t.Errorf("rank 0 ends at %v on 1, 2 and 3 engines", times)
	}
	err := inside(t, 3, 1, false, func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		part, err := r.World().Split(r.Rank()/2, 0)
		if err != nil {
			return err
		}
		_, outside := part.CreateGroup(r.World().Group(), 0)
		_, tag := part.CreateGroup(part.Group(), -1)
		if !errors.Is(outside, mpivirt.ErrGroup) || !errors.Is(tag, mpivirt.ErrTag) {
			return fmt.Errorf("%v, %v", outside, tag)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// MPI 4.1, 7.4.2: MPI_COMM_TYPE_SHARED "splits the communicator into subcommunicators, each of
// which can create a shared memory region": the ranks of a target node, on any hosting.
func TestSplitNodesFollowsTheMachine(t *testing.T) {
	machine := "name: m\nranks_per_node: 3\nmapping: cyclic\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	for _, engines := range []int{1, 2, 4} {
		_, err := simulate(t, mpivirt.Config{Target: target(t, machine, 8), Program: mpivirt.Program{Name: "nodes", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			node, err := r.World().SplitNodes(-r.Rank())
			if err != nil {
				return err
			}
			want := only([]int{7, 6, 5, 4, 3, 2, 1, 0}, func(rank int) bool { return r.Node(rank) == r.Node(r.Rank()) })
			if !slices.Equal(list(node.Group()), want) || len(want) < 2 {
				return fmt.Errorf("%v share a node, want %v", list(node.Group()), want)
			}
			return nil
		})}}}, engines)
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
	}
}

// MPI 4.1, 7.7: the copy callback is invoked by MPI_COMM_DUP and says whether there is a new
// attribute, and which; without one, none is copied. The delete callback is invoked when an
// attribute is deleted, replaced, or its communicator freed, and by MPI_FINALIZE for those of
// MPI_COMM_SELF, in the reverse order of their setting (11.2.4). An error of a callback is that
// of the call.
func TestAttributes(t *testing.T) {
	bad := errors.New("bad")
	var log []string
	deleted := func(name string) func(*mpivirt.Comm, any) error {
		return func(_ *mpivirt.Comm, value any) error {
			log = append(log, fmt.Sprint(name, value))
			return nil
		}
	}
	plain := &mpivirt.Keyval{Delete: deleted("plain")}
	same := &mpivirt.Keyval{Copy: mpivirt.CopyAttribute, Delete: deleted("same")}
	more := &mpivirt.Keyval{
		Copy:   func(_ *mpivirt.Comm, value any) (any, bool, error) { return value.(int) + 1, value != 9, nil },
		Delete: deleted("more"),
	}
	stuck := &mpivirt.Keyval{Delete: func(*mpivirt.Comm, any) error { return bad }}
	faulty := &mpivirt.Keyval{Copy: func(*mpivirt.Comm, any) (any, bool, error) { return nil, false, bad }}
	err := inside(t, 1, 1, false, func(r *mpivirt.Rank) error {
		w := r.World()
		set := func(c *mpivirt.Comm, key *mpivirt.Keyval, value int) {
			if err := c.SetAttribute(key, value); err != nil {
				t.Error(err)
			}
		}
		set(w, plain, 1)
		set(w, same, 2)
		set(w, more, 3)
		set(w, plain, 4)
		dup := must(w.Dup())
		_, hasPlain := dup.Attribute(plain)
		copied, hasSame := dup.Attribute(same)
		raised, hasMore := dup.Attribute(more)
		if hasPlain || !hasSame || copied != 2 || !hasMore || raised != 4 {
			return fmt.Errorf("the duplicate has %v %v, %v %v and %v", hasSame, copied, hasMore, raised, hasPlain)
		}
		if value, has := w.Attribute(plain); !has || value != 4 {
			return fmt.Errorf("%v, %v, want the latest value", value, has)
		}
		set(dup, plain, 5)
		set(dup, more, 9)
		again := must(dup.Dup())
		if _, has := again.Attribute(more); has {
			return errors.New("an attribute is copied whose copy callback says that it is not")
		}
		if err := errors.Join(dup.Free(), again.Free(), w.DeleteAttribute(plain)); err != nil {
			return err
		}
		if err := w.DeleteAttribute(plain); !errors.Is(err, mpivirt.ErrKeyval) {
			return fmt.Errorf("no attribute is deleted: %v", err)
		}
		if err := w.SetAttribute(nil, 1); !errors.Is(err, mpivirt.ErrKeyval) {
			return fmt.Errorf("no key: %v", err)
		}
		third := must(w.Dup())
		set(third, stuck, 1)
		set(third, faulty, 1)
		_, copying := third.Dup()
		if err1, err2 := third.SetAttribute(stuck, 2), third.Free(); err1 != bad || err2 != bad || copying != bad {
			return fmt.Errorf("errors of callbacks: %v, %v, %v", err1, err2, copying)
		}
		if value, has := third.Attribute(stuck); !has || value != 1 || third.Barrier() != nil {
			return errors.New("an attribute that could not be deleted is gone")
		}
		set(r.Self(), plain, 6)
		set(r.Self(), same, 7)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	want := []string{"plain1", "more4", "plain5", "more9", "same2", "same2", "plain4", "same7", "plain6"}
	if !slices.Equal(log, want) {
		t.Errorf("deleted %v, want %v", log, want)
	}
}

// MPI 4.1, 7.4.2, 7.7 and 8.5: no cached information propagates to a communicator but to a duplicate, where the copy
// callback says so. None takes a name over.
func TestOnlyDuplicatesInherit(t *testing.T) {
	key := &mpivirt.Keyval{Copy: mpivirt.CopyAttribute}
	err := inside(t, 4, 2, false, func(r *mpivirt.Rank) error {
		w, me, other := r.World(), r.Rank(), 1-r.Rank()%2
		mark := func(c *mpivirt.Comm) *mpivirt.Comm {
			c.SetName("parent")
			if err := c.SetAttribute(key, 1); err != nil {
				t.Error(err)
			}
			return c
		}
		mark(w)
		grid := must(w.CartCreate([]int{2, 2}, []bool{false, false}, false))
		graph := must(w.GraphCreate([]int{0, 0, 0, 0}, nil, false))
		adjacent := must(w.DistGraphCreateAdjacent([]int{me}, nil, []int{me}, nil, false))
		dist := must(w.DistGraphCreate([]int{me}, []int{1}, []int{me}, nil, false))
		half := must(w.Split(me%2, 0))
		inter := must(mpivirt.IntercommCreate(half, 0, w, other, 7))
		made := map[string]*mpivirt.Comm{
			"Split": half, "SplitNodes": must(w.SplitNodes(0)), "Create": must(w.Create(w.Group())), "CreateGroup": must(w.CreateGroup(w.Group(), 1)),
			"CartCreate": grid.Comm, "GraphCreate": graph.Comm, "DistGraphCreateAdjacent": adjacent.Comm, "DistGraphCreate": dist.Comm, "IntercommCreate": inter,
		}
		check := func(duplicates bool) error {
			for function, c := range made {
				if _, has := c.Attribute(key); has != duplicates || c.Name() != "" {
					return fmt.Errorf("%s: an attribute %v, name %q", function, has, c.Name())
				}
			}
			return nil
		}
		if err := check(false); err != nil {
			return err
		}
		for _, c := range made {
			mark(c)
		}
		made = map[string]*mpivirt.Comm{"Sub": must(grid.Sub([]bool{true, false})).Comm, "Merge": must(inter.Merge(false)), "Split of two": must(inter.Split(0, 0)), "Create of two": must(inter.Create(inter.Group()))}
		if err := check(false); err != nil {
			return err
		}
		made = map[string]*mpivirt.Comm{
			"Dup": must(w.Dup()), "Dup of a grid": must(grid.Dup()).Comm, "Dup of a graph": must(graph.Dup()).Comm,
			"Dup of neighbours": must(adjacent.Dup()).Comm, "Dup of two": must(inter.Dup()),
		}
		return check(true)
	})
	if err != nil {
		t.Error(err)
	}
}

// MPI 4.1, 7.8: the predefined communicators have names; others are empty until one is set, and
// a duplicate does not take its name over.
func TestCommunicatorsHaveNames(t *testing.T) {
	err := inside(t, 2, 1, false, func(r *mpivirt.Rank) error {
		dup := must(r.World().Dup())
		names := []string{r.World().Name(), r.Self().Name(), dup.Name()}
		dup.SetName(fmt.Sprint("of rank ", r.Rank()))
		names = append(names, dup.Name(), must(dup.Dup()).Name())
		r.World().SetName("everybody")
		names = append(names, r.World().Name())
		want := []string{"MPI_COMM_WORLD", "MPI_COMM_SELF", "", fmt.Sprint("of rank ", r.Rank()), "", "everybody"}
		if !slices.Equal(names, want) {
			return fmt.Errorf("%q, want %q", names, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
