package mpivirt_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// across runs a program on machines of all kinds and any number of engines, with and without contents, and checks that
// each rank ends at the same time everywhere. A recorded run replays with the same fingerprint.
func across(t *testing.T, ranks int, main func(r *mpivirt.Rank) error) {
	t.Helper()
	acrossContents(t, ranks, true, main)
}

// acrossContents is across, for programs that look at what they receive only with contents.
func acrossContents(t *testing.T, ranks int, without bool, main func(r *mpivirt.Rank) error) {
	t.Helper()
	for _, machine := range []string{"xt5", hockney, "loggops-default"} {
		var plain []vtime.Time
		for run := range 6 {
			engines, noContents := 1+run%3, run >= 3
			if noContents && !without {
				continue
			}
			ends := make([]vtime.Time, ranks)
			_, err := simulate(t, mpivirt.Config{Target: target(t, machine, ranks), NoContents: noContents, Strict: engines == 2, Program: mpivirt.Program{Name: "groups", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				r.Compute(us(r.Rank() % 3))
				err := main(r)
				ends[r.Rank()] = r.Now()
				return err
			})}}}, engines)
			if err != nil {
				t.Errorf("%s, %d engines, no contents %v: %v", machine, engines, noContents, err)
			}
			if run == 0 {
				replaysAlike(t, machine, ranks, main)
			}
			if plain = append(plain, ends...); !slices.Equal(plain[:ranks], ends) {
				t.Errorf("%s: ranks end at %v on 1 engine, at %v on %d, no contents %v", machine, plain[:ranks], ends, engines, noContents)
			}
		}
	}
}

// MPI 4.1, 7.6.3, "Three-Group Ring": groups 0, 1 and 2 by rank modulo 3; groups 0 and 1, 1 and 2,
// 2 and 0 make intercommunicators, with leaders 0, 1, 2 of MPI_COMM_WORLD and tags 1, 12 and 2.
func TestThreeGroupRing(t *testing.T) {
	across(t, 8, func(r *mpivirt.Rank) error {
		key := r.Rank() % 3
		mine := must(r.World().Split(key, r.Rank()))
		var first, second *mpivirt.Comm
		switch key {
		case 0:
			first = must(mpivirt.IntercommCreate(mine, 0, r.World(), 1, 1))
			second = must(mpivirt.IntercommCreate(mine, 0, r.World(), 2, 2))
		case 1:
			first = must(mpivirt.IntercommCreate(mine, 0, r.World(), 0, 1))
			second = must(mpivirt.IntercommCreate(mine, 0, r.World(), 2, 12))
		case 2:
			first = must(mpivirt.IntercommCreate(mine, 0, r.World(), 0, 2))
			second = must(mpivirt.IntercommCreate(mine, 0, r.World(), 1, 12))
		}
		groups := [][]int{{0, 3, 6}, {1, 4, 7}, {2, 5}}
		others := [][2]int{{1, 2}, {0, 2}, {0, 1}}[key]
		for i, c := range []*mpivirt.Comm{first, second} {
			remote := groups[others[i]]
			if !c.IsInter() || c.Rank() != mine.Rank() || c.Size() != mine.Size() || !slices.Equal(list(c.RemoteGroup()), remote) || c.RemoteSize() != len(remote) {
				return fmt.Errorf("%d of %d, with %v; want %v", c.Rank(), c.Size(), list(c.RemoteGroup()), remote)
			}
			// point to point: to the remote member of the same number, modulo its group
			to := c.Rank() % c.RemoteSize()
			sent := must(mpivirt.Isend(c, []int{100*r.Rank() + i}, to, 5))
			expected := 0
			for member := range c.RemoteSize() {
				if member%c.Size() == c.Rank() {
					expected++
				}
			}
			for range expected {
				got := []int{0}
				status, err := mpivirt.Recv(c, got, mpivirt.AnySource, mpivirt.AnyTag)
				if err != nil || r.HasContents() && got[0]/100 != remote[status.Source] || status.Source%c.Size() != c.Rank() {
					return fmt.Errorf("%v of %+v, %v", got, status, err)
				}
			}
			if _, err := sent.Wait(); err != nil {
				return err
			}
		}
		return errors.Join(first.Free(), second.Free(), mine.Free())
	})
}

// MPI 4.1, 7.4.2: a part of an intercommunicator has the members of both groups with a color,
// by key; without any in the other group there is none. Create makes one of the groups given.
func TestPartsOfAnIntercommunicator(t *testing.T) {
	const ranks = 9
	across(t, ranks, func(r *mpivirt.Rank) error {
		group := r.Rank() % 2
		mine := must(r.World().Split(group, 0))
		c := must(mpivirt.IntercommCreate(mine, 0, r.World(), 1-group, 3))
		color := mine.Rank() % 4 // color 0 of the first group has the ranks 0 and 8
		ofColor := func(group int) (all []int) {
			for i := ranks - 1; i >= 0; i-- {
				if i%2 == group && i/2%4 == color {
					all = append(all, i)
				}
			}
			return all
		}
		part := must(c.Split(color, -r.Rank()))
		if !part.IsInter() || !slices.Equal(list(part.Group()), ofColor(group)) || !slices.Equal(list(part.RemoteGroup()), ofColor(1-group)) {
			return fmt.Errorf("color %d: %v and %v", color, list(part.Group()), list(part.RemoteGroup()))
		}
		sum, want := []int{0}, 0
		for _, i := range ofColor(1 - group) {
			want += i
		}
		if err := mpivirt.Allreduce(part, []int{r.Rank()}, sum, mpivirt.Sum[int]()); err != nil || r.HasContents() && sum[0] != want {
			return fmt.Errorf("the sum of the others is %d, want %d: %v", sum[0], want, err)
		}
		if none, err := c.Split([]int{7, mpivirt.Undefined}[group], 0); none != nil || err != nil {
			return fmt.Errorf("a color of one group makes %v, %v", none, err)
		}
		some := must(c.Group().Incl([]int{c.Size() - 1, 0}))
		made := must(c.Create(some))
		if (made != nil) != (some.Member(r.Rank()) >= 0) {
			return fmt.Errorf("a communicator of %v: %v", list(some), made)
		}
		if made != nil && (made.Rank() != some.Member(r.Rank()) || !slices.Equal(list(made.RemoteGroup()), [][]int{{7, 1}, {8, 0}}[group])) {
			return fmt.Errorf("%d with %v", made.Rank(), list(made.RemoteGroup()))
		}
		return errors.Join(part.Free(), c.Free(), mine.Free())
	})
}

// after is an operation that is associative but does not commute: the composition of the maps
// x -> (p|1)·x + q modulo 256, each of which is 256·p + q.
func after(a, b int) int {
	factor := func(v int) int { return v>>8 | 1 }
	return factor(a)*factor(b)%256<<8 | (factor(b)*a+b)%256
}

// interCollectives are the collectives on an intercommunicator: each is called by a member of a
// group with the root in the group of `rooted` as its member 1, and returns what the member gets
// and what it should get. low and high are the ranks of WORLD of both groups.
func interCollectives(c *mpivirt.Comm, me, root int, mine, theirs []int, nonblocking bool) map[string]func() (got, want []int, err error) {
	const n = 3
	vector := func(rank, n int) []int {
		v := make([]int, n)
		for i := range v {
			v[i] = 100*rank + i
		}
		return v
	}
	concat := func(ranks []int, at func(rank int) []int) (all []int) {
		for _, rank := range ranks {
			all = append(all, at(rank)...)
		}
		return all
	}
	combined := func(n int) []int { // a non-commutative combination, in the order of the remote group
		v := vector(theirs[0], n)
		for _, rank := range theirs[1:] {
			for i := range v {
				v[i] = after(v[i], 100*rank+i)
			}
		}
		return v
	}
	op := mpivirt.NewOp(false, after)
	m, l, self := len(theirs), len(mine), slices.Index(mine, me)
	isRoot, away := root == mpivirt.Root, root >= 0
	only := func(condition bool, v []int) []int {
		if condition {
			return v
		}
		return nil
	}
	sender := 0
	if away {
		sender = theirs[root]
	}
	counts := func(ranks []int) (counts []int) { // of elements from or to each
		for _, rank := range ranks {
			counts = append(counts, rank%3)
		}
		return counts
	}
	all := counts(theirs)
	run := func(got, want []int, blocking func() error, begin func() (mpivirt.Request, error)) (_, _ []int, err error) {
		if nonblocking {
			err = waited(begin())
		} else {
			err = blocking()
		}
		return got, want, err
	}
	block := func(rank int) []int { return vector(rank, 2) }
	return map[string]func() (got, want []int, err error){
		"barrier": func() (got, want []int, err error) { return run(nil, nil, c.Barrier, c.Ibarrier) },
		"bcast": func() (got, want []int, err error) {
			data := make([]int, n)
			if isRoot {
				data = vector(me, n)
			}
			return run(only(away, data), only(away, vector(sender, n)), func() error { return mpivirt.Bcast(c, data, root) },
				func() (mpivirt.Request, error) { return mpivirt.Ibcast(c, data, root) })
		},
		"reduce": func() (got, want []int, err error) {
			send, receive := only(away, vector(me, n)), make([]int, n)
			return run(only(isRoot, receive), only(isRoot, combined(n)), func() error { return mpivirt.Reduce(c, send, receive, op, root) },
				func() (mpivirt.Request, error) { return mpivirt.Ireduce(c, send, receive, op, root) })
		},
		"allreduce": func() (got, want []int, err error) {
			receive := make([]int, n)
			return run(receive, combined(n), func() error { return mpivirt.Allreduce(c, vector(me, n), receive, op) },
				func() (mpivirt.Request, error) { return mpivirt.Iallreduce(c, vector(me, n), receive, op) })
		},
		"gather": func() (got, want []int, err error) {
			send, receive := only(away, block(me)), make([]int, 2*m)
			return run(only(isRoot, receive), only(isRoot, concat(theirs, block)), func() error { return mpivirt.Gather(c, send, only(isRoot, receive), root) },
				func() (mpivirt.Request, error) { return mpivirt.Igather(c, send, only(isRoot, receive), root) })
		},
		"gatherv": func() (got, want []int, err error) {
			send, receive := only(away, vector(me, me%3)), make([]int, sum(all))
			want = concat(theirs, func(rank int) []int { return vector(rank, rank%3) })
			return run(only(isRoot, receive), only(isRoot, want), func() error { return mpivirt.Gatherv(c, send, receive, all, root) },
				func() (mpivirt.Request, error) { return mpivirt.Igatherv(c, send, receive, all, root) })
		},
		"scatter": func() (got, want []int, err error) {
			send, receive := only(isRoot, vector(me, 2*m)), only(away, make([]int, 2))
			want = nil
			if away {
				want = vector(sender, 2*l)[2*self : 2*self+2]
			}
			return run(receive, want, func() error { return mpivirt.Scatter(c, send, receive, root) },
				func() (mpivirt.Request, error) { return mpivirt.Iscatter(c, send, receive, root) })
		},
		"scatterv": func() (got, want []int, err error) {
			send, receive := only(isRoot, vector(me, sum(all))), only(away, make([]int, me%3))
			if own := counts(mine); away {
				at := sum(own[:self])
				want = vector(sender, sum(own))[at : at+own[self]]
			}
			return run(receive, want, func() error { return mpivirt.Scatterv(c, send, all, receive, root) },
				func() (mpivirt.Request, error) { return mpivirt.Iscatterv(c, send, all, receive, root) })
		},
		"allgather": func() (got, want []int, err error) {
			receive := make([]int, 2*m)
			return run(receive, concat(theirs, block), func() error { return mpivirt.Allgather(c, block(me), receive) },
				func() (mpivirt.Request, error) { return mpivirt.Iallgather(c, block(me), receive) })
		},
		"allgatherv": func() (got, want []int, err error) {
			receive := make([]int, sum(all))
			want = concat(theirs, func(rank int) []int { return vector(rank, rank%3) })
			return run(receive, want, func() error { return mpivirt.Allgatherv(c, vector(me, me%3), receive, all) },
				func() (mpivirt.Request, error) { return mpivirt.Iallgatherv(c, vector(me, me%3), receive, all) })
		},
		"alltoall": func() (got, want []int, err error) {
			receive := make([]int, 2*m)
			want = concat(theirs, func(rank int) []int { return vector(rank, 2*l)[2*self : 2*self+2] })
			return run(receive, want, func() error { return mpivirt.Alltoall(c, vector(me, 2*m), receive) },
				func() (mpivirt.Request, error) { return mpivirt.Ialltoall(c, vector(me, 2*m), receive) })
		},
		"alltoallv": func() (got, want []int, err error) {
			in := make([]int, m) // from each as many as this member's number says
			for i := range in {
				in[i] = me % 3
			}
			receive := make([]int, sum(in))
			want = concat(theirs, func(rank int) []int {
				own := counts(mine)
				at := sum(own[:self])
				return vector(rank, sum(own))[at : at+own[self]]
			})
			return run(receive, want, func() error { return mpivirt.Alltoallv(c, vector(me, sum(all)), all, receive, in) },
				func() (mpivirt.Request, error) { return mpivirt.Ialltoallv(c, vector(me, sum(all)), all, receive, in) })
		},
		"reduce_scatter": func() (got, want []int, err error) {
			shares := make([]int, l) // 12 elements in each group
			for i := range shares {
				shares[i] = 12 / l
			}
			shares[l-1] += 12 % l
			receive := make([]int, shares[self])
			at := sum(shares[:self])
			return run(receive, combined(12)[at:at+shares[self]], func() error { return mpivirt.ReduceScatter(c, vector(me, 12), receive, shares, op) },
				func() (mpivirt.Request, error) { return mpivirt.IreduceScatter(c, vector(me, 12), receive, shares, op) })
		},
	}
}

// MPI 4.1, 6.2.2 and 6.2.3: on an intercommunicator, all-to-all operations bring each group the
// data of the other; in rooted ones, the root gives MPI_ROOT, its group MPI_PROC_NULL and the
// other group the root's rank.
func TestCollectivesBetweenGroups(t *testing.T) {
	for _, groups := range [][2][]int{{{0, 2, 4}, {1, 3, 5, 6}}, {{2, 1}, {0}}, {{5, 0, 1, 2, 3}, {4}}} {
		across(t, len(groups[0])+len(groups[1]), func(r *mpivirt.Rank) error {
			side := 0
			if slices.Contains(groups[1], r.Rank()) {
				side = 1
			}
			mine, theirs := groups[side], groups[1-side]
			local := must(r.World().Split(side, slices.Index(mine, r.Rank())))
			c := must(mpivirt.IntercommCreate(local, 0, r.World(), theirs[0], 9))
			for rooted := range 2 {
				for _, nonblocking := range []bool{false, true} {
					number := len(groups[rooted]) - 1
					root := number
					if side == rooted {
						if root = mpivirt.ProcNull; r.Rank() == groups[rooted][number] {
							root = mpivirt.Root
						}
					}
					calls := interCollectives(c, r.Rank(), root, mine, theirs, nonblocking)
					for _, name := range []string{"barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv",
						"allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter"} {
						got, want, err := calls[name]()
						if err != nil || r.HasContents() && !slices.Equal(got, want) {
							return fmt.Errorf("%s, root %d in group %d, nonblocking %v: rank %d gets %v, %v; want %v", name, number, rooted, nonblocking, r.Rank(), got, err, want)
						}
					}
				}
			}
			return c.Free()
		})
	}
}

// MPI 4.1, 7.6.2: MPI_INTERCOMM_MERGE orders the groups by high, low first. The result, and a
// duplicate, have contexts of their own. 6.6.1: nobody leaves a barrier before all members of the
// other group have entered.
func TestMergeDuplicateAndBarrier(t *testing.T) {
	across(t, 7, func(r *mpivirt.Rank) error {
		side := r.Rank() / 4 // 0 to 3, and 4 to 6
		local := must(r.World().Split(side, -r.Rank()))
		c := must(mpivirt.IntercommCreate(local, 0, r.World(), 6-3*side, 0))
		down, up := must(c.Merge(side == 0)), must(c.Merge(side == 1))
		same := must(c.Merge(true))
		if !slices.Equal(list(down.Group()), []int{6, 5, 4, 3, 2, 1, 0}) || !slices.Equal(list(up.Group()), []int{3, 2, 1, 0, 6, 5, 4}) ||
			same.Size() != 7 || same.Compare(up) == mpivirt.Unequal || down.IsInter() {
			return fmt.Errorf("merged: %v, %v, %v", list(down.Group()), list(up.Group()), list(same.Group()))
		}
		if got := []int{0}; mpivirt.Allreduce(same, []int{r.Rank()}, got, mpivirt.Sum[int]()) != nil || r.HasContents() && got[0] != 21 {
			return fmt.Errorf("the sum of all ranks is %d", got[0])
		}
		dup := must(c.Dup())
		if dup.Compare(c) != mpivirt.Congruent || c.Compare(c) != mpivirt.Ident || c.Compare(local) != mpivirt.Unequal {
			return errors.New("a duplicate that is not congruent")
		}
		for i, on := range []*mpivirt.Comm{c, dup} {
			if _, err := mpivirt.Isend(on, []int{i}, c.Rank()%c.RemoteSize(), 0); err != nil {
				return err
			}
		}
		for member := range c.RemoteSize() {
			for i, on := range []*mpivirt.Comm{dup, c} {
				got := []int{0}
				if member%c.Size() != c.Rank() {
					continue
				}
				if _, err := mpivirt.Recv(on, got, member, 0); err != nil || r.HasContents() && got[0] != 1-i {
					return fmt.Errorf("%v on communicator %d, %v", got, i, err)
				}
			}
		}
		if r.Rank() == 5 {
			r.Compute(us(1000))
		}
		if err := dup.Barrier(); err != nil || side == 0 && r.Now() < vtime.Time(us(1000)) {
			return fmt.Errorf("rank %d leaves at %v, %v", r.Rank(), r.Now(), err)
		}
		return errors.Join(dup.Free(), c.Free(), same.Free())
	})
}

// Faults on intercommunicators have the class that the standard wants.
func TestFaultyIntercommunicators(t *testing.T) {
	err := inside(t, 4, 2, false, func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		local := must(r.World().Split(r.Rank()/2, 0))
		_, leader := mpivirt.IntercommCreate(local, 2, r.World(), 0, 0)
		_, null := mpivirt.IntercommCreate(nil, 0, r.World(), 0, 0)
		_, common := mpivirt.IntercommCreate(r.World(), 0, r.World(), 0, 7)
		c := must(mpivirt.IntercommCreate(local, 1, r.World(), 3-2*(r.Rank()/2), 0))
		_, again := mpivirt.IntercommCreate(c, 0, r.World(), 0, 0)
		_, split := c.Split(-5, 0)
		_, create := c.Create(c.RemoteGroup())
		_, subgroup := c.CreateGroup(c.Group(), 0)
		_, merge := local.Merge(true)
		for i, f := range []struct {
			err  error
			want mpivirt.ErrorClass
		}{
			{leader, mpivirt.ErrRank}, {null, mpivirt.ErrComm}, {common, mpivirt.ErrComm}, {again, mpivirt.ErrComm}, {split, mpivirt.ErrArgument}, {create, mpivirt.ErrGroup}, {subgroup, mpivirt.ErrComm}, {merge, mpivirt.ErrComm},
			{mpivirt.Bcast(c, []int{1}, 2), mpivirt.ErrRoot}, {mpivirt.Bcast(c, []int{1}, -1), mpivirt.ErrRoot},
			{mpivirt.Send(c, []int{1}, 2, 0), mpivirt.ErrRank}, {mpivirt.Scan(c, []int{1}, []int{0}, mpivirt.Sum[int]()), mpivirt.ErrComm},
			{mpivirt.Allgatherv(c, []int{1}, []int{0}, []int{1}), mpivirt.ErrCount},
		} {
			if !errors.Is(f.err, f.want) {
				return fmt.Errorf("%d: %v, want %v", i, f.err, f.want)
			}
		}
		return c.Barrier()
	})
	if err != nil {
		t.Error(err)
	}
}

// MPI 4.1, 6.2.3 and 6.1: all members of both groups call the same collective. Another call of one
// member, or of all members of a group, ends the run, with the same error on any number of engines.
func TestMismatchesBetweenGroups(t *testing.T) {
	t.Parallel()
	calls := map[string]func(c *mpivirt.Comm) error{
		"Barrier":   func(c *mpivirt.Comm) error { return c.Barrier() },
		"Dup":       func(c *mpivirt.Comm) error { _, err := c.Dup(); return err },
		"Merge":     func(c *mpivirt.Comm) error { _, err := c.Merge(true); return err },
		"Split":     func(c *mpivirt.Comm) error { _, err := c.Split(0, 0); return err },
		"Sum":       func(c *mpivirt.Comm) error { return mpivirt.Allreduce(c, []int32{1}, []int32{0}, mpivirt.Sum[int32]()) },
		"Max":       func(c *mpivirt.Comm) error { return mpivirt.Allreduce(c, []int32{1}, []int32{0}, mpivirt.Max[int32]()) },
		"Allgather": func(c *mpivirt.Comm) error { return mpivirt.Allgather(c, []int32{1}, []int32{0, 0}) },
		"Alltoall":  func(c *mpivirt.Comm) error { return mpivirt.Alltoall(c, []int32{1, 2}, []int32{0, 0}) },
		"Ibarrier":  func(c *mpivirt.Comm) error { q := must(c.Ibarrier()); _, err := q.Wait(); return err },
		"Iallgather": func(c *mpivirt.Comm) error {
			q := must(mpivirt.Iallgather(c, []int32{1}, []int32{0, 0}))
			_, err := q.Wait()
			return err
		},
	}
	awaited := regexp.MustCompile(`(?m) for .* since`) // an engine tells of its own members
	for _, pair := range [][2]string{
		{"Barrier", "Dup"}, {"Barrier", "Merge"}, {"Barrier", "Split"}, {"Dup", "Merge"}, {"Dup", "Split"}, {"Sum", "Max"}, {"Barrier", "Sum"},
		{"Sum", "Allgather"}, {"Allgather", "Alltoall"}, {"Alltoall", "Iallgather"}, {"Ibarrier", "Iallgather"}, {"Barrier", "Ibarrier"},
	} {
		for _, odd := range [][]int{{0}, {1}, {2, 3}} {
			if pair[0] == "Sum" && pair[1] == "Max" && len(odd) > 1 {
				continue // nobody hears of the other group's operation
			}
			said := ""
			for engines := 1; engines <= 3; engines++ {
				_, err := simulate(t, mpivirt.Config{Target: target(t, "xt5", 4), Program: mpivirt.Program{Name: "groups", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					local := must(r.World().Split(r.Rank()/2, 0))
					c := must(mpivirt.IntercommCreate(local, 0, r.World(), 2-2*(r.Rank()/2), 0))
					name := pair[0]
					if slices.Contains(odd, r.Rank()) {
						name = pair[1]
					}
					return errors.Join(calls[name](c), r.World().Barrier())
				})}}}, engines)
				if err == nil {
					t.Errorf("%v by %v passes on %d engines", pair, odd, engines)
					continue
				}
				text := awaited.ReplaceAllString(err.Error(), "")
				if engines == 1 {
					said = text
				} else if text != said {
					t.Errorf("%v by %v: %s\n%d engines: %v", pair, odd, said, engines, err)
				}
			}
		}
	}
}
