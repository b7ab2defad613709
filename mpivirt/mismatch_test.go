package mpivirt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// disagreement is a program in which some ranks make one call where the others make
// another.
type disagreement struct {
	name        string
	ranks       int
	class       mpivirt.ErrorClass
	odd         func(rank int) bool
	call, other func(w *mpivirt.Comm) error // other is that of the odd ranks
}

func disagreements() []disagreement {
	bcast := func(root int) func(w *mpivirt.Comm) error {
		return func(w *mpivirt.Comm) error { return mpivirt.Bcast(w, []int32{0}, root) }
	}
	gather := func(root int) func(w *mpivirt.Comm) error {
		return func(w *mpivirt.Comm) error { return mpivirt.Gather(w, []int32{0}, make([]int32, w.Size()), root) }
	}
	sum := mpivirt.Sum[int32]()
	barrier := (*mpivirt.Comm).Barrier
	allreduce := func(n int, op mpivirt.Op[int32]) func(w *mpivirt.Comm) error {
		return func(w *mpivirt.Comm) error { return mpivirt.Allreduce(w, make([]int32, n), make([]int32, n), op) }
	}
	last := func(n int) func(int) bool { return func(rank int) bool { return rank >= n } }
	only := func(n int) func(int) bool { return func(rank int) bool { return rank == n } }
	return []disagreement{
		// Both are the root and send: nobody waits for anything.
		{"two roots of two", 2, mpivirt.ErrRoot, last(1), bcast(0), bcast(1)},
		// Nobody is the root: no message at all.
		{"no root of two", 2, mpivirt.ErrRoot, last(1), bcast(1), bcast(0)},
		{"two gather to the other", 2, mpivirt.ErrRoot, last(1), gather(1), gather(0)},
		{"two gather to themselves", 2, mpivirt.ErrRoot, last(1), gather(0), gather(1)},
		{"one of many thinks it is the root", 6, mpivirt.ErrRoot, only(4), bcast(0), bcast(4)},
		{"roots that are equal modulo 256", 300, mpivirt.ErrRoot, only(299), bcast(0), bcast(256)},
		{"a barrier meets a bcast", 6, mpivirt.ErrOther, last(3), barrier, bcast(0)},
		{"a barrier meets a bcast from there", 6, mpivirt.ErrOther, last(3), barrier, bcast(5)},
		{"a barrier meets a reduce", 6, mpivirt.ErrOther, last(3), barrier, func(w *mpivirt.Comm) error {
			return mpivirt.Reduce(w, []int32{1}, []int32{1}, sum, 5)
		}},
		{"a barrier meets an allreduce", 6, mpivirt.ErrOther, only(5), barrier, allreduce(1, sum)},
		{"lengths", 6, mpivirt.ErrCount, only(5), allreduce(1, sum), allreduce(2, sum)},
		{"operations", 6, mpivirt.ErrOp, only(0), allreduce(1, sum), allreduce(1, mpivirt.Max[int32]())},
		{"a scan meets an exscan", 5, mpivirt.ErrOther, last(2), func(w *mpivirt.Comm) error {
			return mpivirt.Scan(w, []int32{1}, []int32{1}, sum)
		}, func(w *mpivirt.Comm) error { return mpivirt.Exscan(w, []int32{1}, []int32{1}, sum) }},
		{"nonblocking roots", 2, mpivirt.ErrRoot, last(1), func(w *mpivirt.Comm) error { return waited(mpivirt.Ibcast(w, []int32{0}, 0)) },
			func(w *mpivirt.Comm) error { return waited(mpivirt.Ibcast(w, []int32{0}, 1)) }},
		{"a split meets a dup", 4, mpivirt.ErrOther, last(2), func(w *mpivirt.Comm) error { _, err := w.Split(0, 0); return err },
			func(w *mpivirt.Comm) error { _, err := w.Dup(); return err }},
	}
}

func waited(q mpivirt.Request, err error) error {
	if err != nil {
		return err
	}
	_, err = q.Wait()
	return err
}

// MPI 4.1, 6.1: all members call the same collectives in the same order, with
// arguments that match. Where they do not, the program ends with an error of the
// class, which names a rank, its time and its call, and the other rank's call: on
// any number of engines, by either interpreter, whoever comes first, and whether or
// not somebody waits for a message.
func TestMismatchedCollectives(t *testing.T) {
	for _, d := range disagreements() {
		for _, engines := range []int{1, 2, 3, d.ranks} {
			if engines > 6 {
				continue
			}
			for _, i := range interpreters {
				for late := range 3 {
					_, err := d.run(t, engines, i, late, false)
					if fault := d.fault(err); fault != "" {
						t.Errorf("%s, %d engines, interpreter %d, late %d: %s: %v", d.name, engines, i, late, fault, err)
					}
				}
			}
		}
	}
}

// run simulates the program. Late says who comes late: nobody, the odd ranks, the
// others.
func (d *disagreement) run(t *testing.T, engines int, i mpivirt.Interpreter, late int, returning bool) (returned []error, err error) {
	returned = make([]error, d.ranks)
	_, err = simulate(t, mpivirt.Config{
		Target: target(t, hockney, d.ranks), Collectives: i,
		Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Bcast: collectives.Linear, collectives.Gather: collectives.Linear},
		Program: mpivirt.Program{Name: "disagreement", Main: func(r *mpivirt.Rank) error {
			r.SetErrorsReturn(returning)
			odd := d.odd(r.Rank())
			r.Compute(vtime.Microsecond)
			if late == 1 && odd || late == 2 && !odd {
				r.Compute(vtime.Millisecond)
			}
			call := d.call
			if odd {
				call = d.other
			}
			returned[r.Rank()] = call(r.World())
			return returned[r.Rank()]
		}},
	}, engines)
	return returned, err
}

// fault says what an error ought to name and does not.
func (d *disagreement) fault(err error) string {
	var failed *mpivirt.RankError
	switch {
	case !errors.As(err, &failed) || !errors.Is(err, d.class):
		return fmt.Sprintf("want a *RankError of class %v", d.class)
	case failed.Call == "":
		return "names no call"
	case failed.Time < vtime.Time(vtime.Microsecond):
		return "the ranks come at 1us"
	}
	// The error of a rank is about another one that made the other call.
	for rank := range d.ranks {
		if d.odd(rank) != d.odd(failed.Rank) && strings.Contains(failed.Err.Error(), fmt.Sprintf("rank %d ", rank)) {
			return ""
		}
	}
	return "names no rank that made the other call"
}

// MPI_ERRORS_RETURN: the call in which a mismatch shows returns it. A rank that has
// left its call when it shows cannot be told: then the run ends with the error.
func TestMismatchReturns(t *testing.T) {
	for _, d := range disagreements() {
		for _, engines := range []int{1, 2} {
			returned, err := d.run(t, engines, mpivirt.Auto, 0, true)
			if fault := d.fault(err); fault != "" {
				t.Errorf("%s, %d engines: %s: %v", d.name, engines, fault, err)
			}
			for rank, err := range returned {
				if err != nil && !errors.Is(err, d.class) {
					t.Errorf("%s, %d engines: rank %d got %v", d.name, engines, rank, err)
				}
			}
		}
	}
}

// MPI 4.1, 6.5 and 3.2.4: a block longer than its receiver has counted is
// MPI_ERR_TRUNCATE, in the call of that receiver alone; what fits is there, the
// others' calls end as ever, and the communicator can be used again.
func TestTruncationReturns(t *testing.T) {
	for _, nonblocking := range []bool{false, true} {
		for _, engines := range []int{1, 2, 5} {
			_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 5), Program: mpivirt.Program{Name: "truncation",
				Main: func(r *mpivirt.Rank) error { return truncations(r, nonblocking) }}}, engines)
			if err != nil {
				t.Errorf("nonblocking %t, %d engines: %v", nonblocking, engines, err)
			}
		}
	}
}

// truncations makes three collectives in which blocks are too long for one rank.
func truncations(r *mpivirt.Rank, nonblocking bool) error {
	r.SetErrorsReturn(true)
	w := r.World()
	either := func(blocking func() error, begin func() (mpivirt.Request, error)) error {
		if nonblocking {
			return waited(begin())
		}
		return blocking()
	}
	check := func(name string, err error, victim int, got, want int64) error {
		switch {
		case r.Rank() == victim && !errors.Is(err, mpivirt.ErrTruncate):
			return fmt.Errorf("%s: rank %d got %v, want ErrTruncate", name, r.Rank(), err)
		case r.Rank() != victim && err != nil:
			return fmt.Errorf("%s: rank %d: %w", name, r.Rank(), err)
		case r.Rank() == victim && got != want:
			return fmt.Errorf("%s: the block that fits is %d, want %d", name, got, want)
		}
		return w.Barrier()
	}
	ones := []int{1, 1, 1, 1, 1}

	send, gathered := []int64{7}, make([]int64, 5)
	if r.Rank() == 2 {
		send = []int64{8, 8, 8}
	}
	err := either(func() error { return mpivirt.Gatherv(w, send, gathered, ones, 0) },
		func() (mpivirt.Request, error) { return mpivirt.Igatherv(w, send, gathered, ones, 0) })
	if err := check("gatherv", err, 0, gathered[2], 8); err != nil {
		return err
	}

	counts, scattered := []int{1, 1, 2, 1, 1}, make([]int64, 1)
	err = either(func() error { return mpivirt.Scatterv(w, []int64{1, 2, 3, 4, 5, 6}, counts, scattered, 0) },
		func() (mpivirt.Request, error) {
			return mpivirt.Iscatterv(w, []int64{1, 2, 3, 4, 5, 6}, counts, scattered, 0)
		})
	if err := check("scatterv", err, 2, scattered[0], 3); err != nil {
		return err
	}

	out, data, got := ones, []int64{9, 9, 9, 9, 9, 9}, make([]int64, 5)
	if r.Rank() == 4 {
		out = []int{1, 2, 1, 1, 1}
	}
	err = either(func() error { return mpivirt.Alltoallv(w, data, out, got, ones) },
		func() (mpivirt.Request, error) { return mpivirt.Ialltoallv(w, data, out, got, ones) })
	return check("alltoallv", err, 1, got[4], 9)
}

// A rank that sends itself more in an alltoallv than it expects of itself.
func TestTruncationOfOnesOwnBlock(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		for _, engines := range []int{1, 2} {
			_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, ranks), Program: mpivirt.Program{Name: "own", Main: func(r *mpivirt.Rank) error {
				r.SetErrorsReturn(true)
				out, in := make([]int, ranks), make([]int, ranks)
				for i := range out {
					out[i], in[i] = 1, 1
				}
				out[r.Rank()] = 3
				got := make([]int64, ranks)
				err := mpivirt.Alltoallv(r.World(), []int64{7, 7, 7, 7, 7, 7}, out, got, in)
				if !errors.Is(err, mpivirt.ErrTruncate) {
					t.Errorf("%d ranks: rank %d got %v", ranks, r.Rank(), err)
				}
				return r.World().Barrier()
			}}}, engines)
			if err != nil {
				t.Error(err)
			}
		}
	}
}
