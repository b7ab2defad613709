package mpivirt_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// inside runs a program of so many ranks on a small machine.
func inside(t testing.TB, ranks, engines int, strict bool, main func(r *mpivirt.Rank) error) error {
	_, err := simulate(t, mpivirt.Config{
		Target: target(t, hockney, ranks), Strict: strict, Program: mpivirt.Program{Name: "groups", Forms: []mpivirt.Form{mpivirt.Main(main)}},
	}, engines)
	return err
}

// list returns the ranks of a group by member.
func list(g *mpivirt.Group) []int {
	ranks := []int{}
	for m := range g.Size() {
		ranks = append(ranks, g.WorldRank(m))
	}
	return ranks
}

// only returns the ranks for which keep holds, in order.
func only(ranks []int, keep func(rank int) bool) []int {
	kept := []int{}
	for _, r := range ranks {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// worldGroup returns the group of WORLD of so many ranks.
func worldGroup(t testing.TB, ranks int) *mpivirt.Group {
	var world *mpivirt.Group
	if err := inside(t, ranks, 1, false, func(r *mpivirt.Rank) error { world = r.World().Group(); return nil }); err != nil {
		t.Fatal(err)
	}
	return world
}

// drawRanks gives different ranks below n: some at random, some at equal distances.
func drawRanks(t *rapid.T, n int, name string) []int {
	if rapid.Bool().Draw(t, name+" at equal distances") {
		first, stride := rapid.IntRange(0, n-1).Draw(t, "first"), rapid.IntRange(-3, 3).Filter(func(s int) bool { return s != 0 }).Draw(t, "stride")
		var ranks []int
		for r := first; r >= 0 && r < n && len(ranks) < 9; r += stride {
			ranks = append(ranks, r)
		}
		return ranks
	}
	return rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID[int]).Draw(t, name)
}

// Section 7.3.2 of the MPI standard: groups are ordered sets of ranks; union is
// "all elements of the first group, followed by all elements of second group not in
// the first", intersection "all elements of the first group that are also in the
// second group, ordered as in the first", difference likewise.
func TestGroupsAreOrderedSets(t *testing.T) {
	const n = 30
	world := worldGroup(t, n)
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRanks(t, n, "a"), drawRanks(t, n, "b")
		g, errA := world.Incl(a)
		h, errB := world.Incl(b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		inA := func(rank int) bool { return slices.Contains(a, rank) }
		inB := func(rank int) bool { return slices.Contains(b, rank) }
		outA := func(rank int) bool { return !inA(rank) }
		outB := func(rank int) bool { return !inB(rank) }
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		expect := func(name string, got *mpivirt.Group, want []int) {
			t.Helper()
			if !slices.Equal(list(got), want) {
				t.Fatalf("%s of %v and %v is %v, want %v", name, a, b, list(got), want)
			}
			for rank := -3; rank < n+3; rank++ {
				if m := got.Member(rank); m != slices.Index(want, rank) {
					t.Fatalf("%s of %v and %v: rank %d is member %d of %v", name, a, b, rank, m, want)
				}
			}
		}
		expect("incl", g, append([]int{}, a...))
		expect("union", g.Union(h), append(append([]int{}, a...), only(b, outA)...))
		expect("intersection", g.Intersection(h), only(a, inB))
		expect("difference", g.Difference(h), only(a, outB))
		excl, err := world.Excl(a)
		if err != nil {
			t.Fatal(err)
		}
		expect("excl", excl, only(all, outA))
		if same := slices.Equal(a, b); g.Equal(h) != same || h.Equal(g) != same {
			t.Fatalf("%v and %v: equal is %v", a, b, g.Equal(h))
		}
		members := rapid.SliceOf(rapid.IntRange(0, max(len(a)-1, 0))).Draw(t, "members")
		if len(a) == 0 {
			members = nil
		}
		translated, err := g.Translate(append(members, mpivirt.ProcNull), h)
		if err != nil || translated[len(members)] != mpivirt.ProcNull {
			t.Fatalf("translate: %v, %v", translated, err)
		}
		for i, m := range members {
			want := slices.Index(b, a[m])
			if want < 0 {
				want = mpivirt.Undefined // MPI 4.1, 7.3.1
			}
			if translated[i] != want {
				t.Fatalf("member %d of %v is %d of %v, not %d", m, a, want, b, translated[i])
			}
		}
	})
}

func TestGroupsRefuseFaultyMembers(t *testing.T) {
	world := worldGroup(t, 5)
	_, twice := world.Incl([]int{1, 2, 1})
	_, above := world.Incl([]int{5})
	_, below := world.Excl([]int{-1})
	_, translated := world.Translate([]int{5}, world)
	for _, err := range []error{twice, above, below, translated} {
		if !errors.Is(err, mpivirt.ErrRank) {
			t.Errorf("%v, want ErrRank", err)
		}
	}
}

// Section 7.4.2 of the MPI standard: a split groups the members by color, orders
// them by key and then by their rank in the old communicator, and gives those of
// color MPI_UNDEFINED nothing. Held for splits of splits, on any number of engines.
func TestSplitFollowsColorAndKey(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(rt, "ranks")
		colors := rapid.SliceOfN(rapid.SampledFrom([]int{mpivirt.Undefined, 0, 1, 2, 1<<31 + 1, math.MaxInt}), n, n).Draw(rt, "colors")
		keys := rapid.SliceOfN(rapid.IntRange(-2, 2), n, n).Draw(rt, "keys")
		want := map[int][]int{}
		for rank, color := range colors {
			want[color] = append(want[color], rank)
		}
		for _, ranks := range want {
			slices.SortStableFunc(ranks, func(a, b int) int { return keys[a] - keys[b] })
		}
		main := func(r *mpivirt.Rank) error {
			part, err := r.World().Split(colors[r.Rank()], keys[r.Rank()])
			if err != nil || (part == nil) != (colors[r.Rank()] == mpivirt.Undefined) {
				return fmt.Errorf("color %d gives %v, %v", colors[r.Rank()], part, err)
			}
			if part == nil {
				return nil
			}
			mine := want[colors[r.Rank()]]
			if !slices.Equal(list(part.Group()), mine) || part.Size() != len(mine) || mine[part.Rank()] != r.Rank() {
				return fmt.Errorf("member %d of %v, want %v", part.Rank(), list(part.Group()), mine)
			}
			back, err := part.Split(7, r.Rank()) // in the order of WORLD again
			if err != nil {
				return err
			}
			if sorted := slices.Sorted(slices.Values(mine)); !slices.Equal(list(back.Group()), sorted) || sorted[back.Rank()] != r.Rank() {
				return fmt.Errorf("member %d of %v, want %v", back.Rank(), list(back.Group()), sorted)
			}
			return nil
		}
		engines, strict := rapid.IntRange(1, 4).Draw(rt, "engines"), rapid.Bool().Draw(rt, "strict")
		if err := inside(t, n, engines, strict, main); err != nil {
			rt.Fatal(err)
		}
	})
}

// Comm.Create with disjoint groups makes a communicator of each; who is in none
// gets nil. Dup has the same members. On WORLD, parts of it, and SELF.
func TestCreateAndDup(t *testing.T) {
	for _, engines := range []int{1, 2, 3} {
		err := inside(t, 7, engines, false, func(r *mpivirt.Rank) error {
			w := r.World()
			evens, err := w.Group().Incl([]int{4, 2, 0})
			if err != nil {
				return err
			}
			odds, err := w.Group().Incl([]int{1, 3, 5})
			if err != nil {
				return err
			}
			mine := map[bool]*mpivirt.Group{true: evens, false: odds}[r.Rank()%2 == 0]
			made, err := w.Create(mine)
			switch {
			case err != nil:
				return err
			case r.Rank() == 6:
				if made != nil {
					return errors.New("6 is in no group, but gets a communicator")
				}
				return nil
			case !made.Group().Equal(mine) || made.Rank() != mine.Member(r.Rank()):
				return fmt.Errorf("member %d of %v", made.Rank(), list(made.Group()))
			}
			dup, err := made.Dup()
			if err != nil || dup.Group() != made.Group() || dup.Rank() != made.Rank() {
				return fmt.Errorf("a duplicate with a group of its own, or %v", err)
			}
			sum := []int{0}
			if err := mpivirt.Allreduce(dup, []int{r.Rank()}, sum, mpivirt.Sum[int]()); err != nil || sum[0] != 6+3*(r.Rank()%2) {
				return fmt.Errorf("the sum is %d, %v", sum[0], err)
			}
			return errors.Join(dup.Free(), made.Free())
		})
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
	}
}

// MPI 4.1, 7.4.3: a communicator that has been freed is no longer valid; WORLD and
// SELF cannot be freed.
func TestFreedCommunicator(t *testing.T) {
	err := inside(t, 4, 2, false, func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		dup, err := r.World().Dup()
		if err != nil {
			return err
		}
		q, err := dup.Ibarrier() // is completed as ever
		if err != nil {
			return err
		}
		if err := dup.Free(); err != nil {
			return err
		}
		_, receive := mpivirt.Recv(dup, []byte{0}, 0, 0)
		_, probe := dup.Probe(0, 0)
		_, split := dup.Split(0, 0)
		_, again := dup.Dup()
		for i, err := range []error{
			dup.Free(), dup.Barrier(), mpivirt.Send(dup, []byte{0}, 0, 0), receive, probe, split, again,
			mpivirt.Bcast(dup, []byte{0}, 0), r.World().Free(), r.Self().Free(),
		} {
			if !errors.Is(err, mpivirt.ErrComm) {
				return fmt.Errorf("use %d returned %v", i, err)
			}
		}
		_, err = q.Wait()
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A communicator of one rank has the operations of any other.
func TestCommunicatorsOfOneRank(t *testing.T) {
	err := inside(t, 3, 2, false, func(r *mpivirt.Rank) error {
		alone, err := r.World().Split(r.Rank(), 0)
		if err != nil {
			return err
		}
		for _, c := range []*mpivirt.Comm{alone, r.Self()} {
			dup, err1 := c.Dup()
			split, err2 := c.Split(3, 9)
			none, err3 := c.Split(mpivirt.Undefined, 0)
			created, err4 := c.Create(c.Group())
			empty, err5 := c.Create(nil)
			if err := errors.Join(err1, err2, err3, err4, err5); err != nil || none != nil || empty != nil {
				return fmt.Errorf("%v, %v, %v", none, empty, err)
			}
			for _, made := range []*mpivirt.Comm{dup, split, created} {
				x := []int{0}
				q, err := mpivirt.Irecv(made, x, 0, 1)
				if err != nil {
					return err
				}
				if err := errors.Join(mpivirt.Send(made, []int{r.Rank() + 1}, 0, 1), made.Barrier()); err != nil {
					return err
				}
				if _, err := q.Wait(); err != nil || x[0] != r.Rank()+1 || made.Size() != 1 || made.Group().WorldRank(0) != r.Rank() {
					return fmt.Errorf("%v from %v: %v", x, list(made.Group()), err)
				}
				if err := made.Free(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Section 7.2 of the MPI standard: messages sent in one context cannot be received
// in another. Every rank sends on several communicators with the same tag, and
// receives them in another order.
func TestCommunicatorsDoNotMix(t *testing.T) {
	for _, engines := range []int{1, 2, 4} {
		for _, strict := range []bool{false, true} {
			err := inside(t, 8, engines, strict, func(r *mpivirt.Rank) error {
				w := r.World()
				dup, err1 := w.Dup()
				turned, err2 := w.Split(0, -r.Rank())
				again, err3 := w.Dup()
				if err := errors.Join(err1, err2, err3); err != nil {
					return err
				}
				comms := []*mpivirt.Comm{w, dup, turned, again}
				for i, c := range comms {
					if err := mpivirt.Send(c, []int{100*i + c.Rank()}, (c.Rank()+1)%8, 5); err != nil {
						return err
					}
				}
				for _, i := range []int{2, 0, 3, 1} {
					c, got := comms[i], []int{0}
					status, err := mpivirt.Recv(c, got, mpivirt.AnySource, mpivirt.AnyTag)
					if want := (c.Rank() + 7) % 8; err != nil || got[0] != 100*i+want || status.Source != want {
						return fmt.Errorf("communicator %d gives %d from %d, %v; want it from %d", i, got[0], status.Source, err, want)
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("%d engines, strict %v: %v", engines, strict, err)
			}
		}
	}
}

// The first members of a new communicator use it while others have not yet got it,
// point to point and for collectives: what comes early waits. Times do not depend
// on the number of engines.
func TestEarlyUseOfACommunicator(t *testing.T) {
	program := func(left []vtime.Time) func(r *mpivirt.Rank) error {
		return func(r *mpivirt.Rank) error {
			w := r.World()
			for round := range 4 {
				r.Compute(vtime.Duration(r.Rank()*(round+1)) * vtime.Microsecond)
				c, err := w.Split(r.Rank()%2, (round-2)*r.Rank())
				if err != nil {
					return err
				}
				next, previous := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
				got := []int{0}
				if _, err := mpivirt.Sendrecv(c, []int{c.Rank()}, next, 1, got, previous, 1); err != nil || got[0] != previous {
					return fmt.Errorf("round %d: %d, %v", round, got[0], err)
				}
				if err := mpivirt.Bcast(c, got, 0); err != nil || got[0] != c.Size()-1 {
					return fmt.Errorf("round %d: %d, %v", round, got[0], err)
				}
				if err := c.Free(); err != nil {
					return err
				}
			}
			left[r.Rank()] = r.Now()
			return nil
		}
	}
	want := make([]vtime.Time, 13)
	if err := inside(t, 13, 1, false, program(want)); err != nil {
		t.Fatal(err)
	}
	for _, engines := range []int{2, 3, 5, 13} {
		for _, strict := range []bool{false, true} {
			left := make([]vtime.Time, 13)
			if err := inside(t, 13, engines, strict, program(left)); err != nil {
				t.Fatalf("%d engines: %v", engines, err)
			}
			if !slices.Equal(left, want) {
				t.Errorf("%d engines, strict %v: %v, want %v", engines, strict, left, want)
			}
		}
	}
}

// Section 7.4.3 of the MPI standard on MPI_Comm_free: "any pending operations that
// use this communicator will complete normally".
func TestPendingOperationsOutliveTheirCommunicator(t *testing.T) {
	for _, engines := range []int{1, 2} {
		for _, barrier := range []bool{false, true} {
			err := inside(t, 2, engines, false, func(r *mpivirt.Rank) error { return freeEarly(r, barrier) })
			if err != nil {
				t.Errorf("%d engines, barrier %v: %v", engines, barrier, err)
			}
		}
	}
}

// freeEarly frees a communicator while operations on it are pending.
func freeEarly(r *mpivirt.Rank, barrier bool) error {
	c, err := r.World().Dup()
	if err != nil {
		return err
	}
	var pending []mpivirt.Request
	begun := func(q mpivirt.Request, err error) error {
		pending = append(pending, q)
		return err
	}
	got := []int{0}
	if barrier {
		err = begun(c.Ibarrier())
	}
	if r.Rank() == 0 {
		err = errors.Join(err, r.World().Barrier(), begun(mpivirt.Issend(c, []int{42}, 1, 3)), c.Free())
	} else {
		err = errors.Join(err, begun(mpivirt.Irecv(c, got, 0, 3)), c.Free(), r.World().Barrier())
	}
	if err != nil {
		return err
	}
	if _, err := mpivirt.Waitall(pending); err != nil || got[0] != 42*r.Rank() {
		return fmt.Errorf("received %d, %v", got[0], err)
	}
	return nil
}

// A receive that is pending on a freed communicator is part of the report of a
// deadlock.
func TestDeadlockOnAFreedCommunicator(t *testing.T) {
	err := inside(t, 2, 1, false, func(r *mpivirt.Rank) error {
		c, err := r.World().Dup()
		if err != nil {
			return err
		}
		q, err := mpivirt.Irecv(c, []int{0}, 1-r.Rank(), 3)
		if err := errors.Join(err, c.Free()); err != nil {
			return err
		}
		_, err = q.Wait()
		return err
	})
	var deadlock *mpivirt.DeadlockError
	if !errors.As(err, &deadlock) || len(deadlock.Blocked) != 2 || !strings.Contains(deadlock.Blocked[0].For, "from rank 1 of communicator") {
		t.Errorf("%v, want a deadlock of two ranks that wait for each other on the communicator", err)
	}
}

// MPI 4.1, 7.4.2: a color is any nonnegative int. Colors that agree in their lower 32
// bits are different ones, for goroutine and for event ranks, be the communicator
// spread over engines, on one, or of one rank.
func TestWideColors(t *testing.T) {
	colors := []int{0, 1 << 31, 1 << 32, math.MaxInt, 1<<32 + 1, 1 << 31, 0, 1}
	size := func(color int) (n int) {
		for _, c := range colors {
			if c == color {
				n++
			}
		}
		return n
	}
	for _, engines := range []int{1, 2, 3, 4} {
		err := inside(t, len(colors), engines, engines == 2, func(r *mpivirt.Rank) error {
			color := colors[r.Rank()]
			part, err := r.World().Split(color, 0)
			if err != nil || part.Size() != size(color) {
				return fmt.Errorf("color %d: %v, %w", color, part, err)
			}
			alone, err := r.Self().Split(color, 0)
			if err != nil || alone.Size() != 1 {
				return fmt.Errorf("color %d of SELF: %v, %w", color, alone, err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
		_, err = simulate(t, mpivirt.Config{Target: target(t, hockney, len(colors)), Program: eventScript(
			func(r *steps.Rank) steps.Outcome { return r.Split(colors[r.Rank()], 0) },
			func(r *steps.Rank) steps.Outcome {
				color := colors[r.Rank()]
				if n := r.On(r.NewComm(color)).Members(); n != size(color) {
					t.Errorf("color %d has %d event ranks", color, n)
				}
				return r.On(steps.Self).Split(color, 0)
			},
			func(r *steps.Rank) steps.Outcome {
				if n := r.On(r.On(steps.Self).NewComm(colors[r.Rank()])).Members(); n != 1 {
					t.Errorf("color %d of SELF has %d event ranks", colors[r.Rank()], n)
				}
				return r.Finish()
			},
		)}, engines)
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
	}
}

// A negative color other than MPI_UNDEFINED is MPI_ERR_ARG.
func TestNegativeColors(t *testing.T) {
	for _, color := range []int{-1, math.MinInt, -1 << 32} {
		err := inside(t, 2, 2, false, func(r *mpivirt.Rank) error { _, err := r.World().Split(color, 0); return err })
		if !errors.Is(err, mpivirt.ErrArgument) {
			t.Errorf("color %d: %v", color, err)
		}
	}
}

// The names of communicators in reports are the same on any number of engines, those
// of one rank among them.
func TestNamesOfCommunicators(t *testing.T) {
	t.Parallel()
	name := func(engines int, make func(r *mpivirt.Rank) (*mpivirt.Comm, error)) string {
		err := inside(t, 6, engines, false, func(r *mpivirt.Rank) error {
			c, err := make(r)
			if err != nil || r.Rank() != 4 {
				return err
			}
			_, err = mpivirt.Recv(c, []int{0}, 0, 9)
			return err
		})
		var deadlock *mpivirt.DeadlockError
		if !errors.As(err, &deadlock) || !strings.Contains(deadlock.Blocked[0].For, "communicator ") {
			t.Fatalf("%d engines: %v", engines, err)
		}
		return deadlock.Blocked[0].For
	}
	for what, make := range map[string]func(r *mpivirt.Rank) (*mpivirt.Comm, error){
		"split": func(r *mpivirt.Rank) (*mpivirt.Comm, error) { return r.World().Split(r.Rank()%2, 0) },
		"alone": func(r *mpivirt.Rank) (*mpivirt.Comm, error) { return r.Self().Dup() },
		"alone from": func(r *mpivirt.Rank) (*mpivirt.Comm, error) {
			c, err := r.World().Split(r.Rank(), 0)
			if err != nil {
				return nil, err
			}
			return c.Dup()
		},
	} {
		want := name(1, make)
		for engines := 2; engines <= 4; engines++ {
			if got := name(engines, make); got != want {
				t.Errorf("%s: %q on %d engines, %q on one", what, got, engines, want)
			}
		}
	}
}
