package mpivirt_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
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
	whole       bool                        // nobody can leave either call before all have entered
}

func disagreements() (all []disagreement) {
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
	all = append(all, []disagreement{
		{"a barrier meets an allreduce", 6, mpivirt.ErrOther, only(5), barrier, allreduce(1, sum), true},
		{"three in a barrier, three in an allreduce", 6, mpivirt.ErrOther, last(3), barrier, allreduce(1, sum), true},
		{"every other one in an allgather", 6, mpivirt.ErrOther, func(rank int) bool { return rank%2 == 1 }, barrier,
			func(w *mpivirt.Comm) error { return mpivirt.Allgather(w, []int32{1}, make([]int32, w.Size())) }, true},
		{"nonblocking barriers meet an alltoall", 6, mpivirt.ErrOther, last(2), func(w *mpivirt.Comm) error { return waited(w.Ibarrier()) },
			func(w *mpivirt.Comm) error { return w.CollectiveSize(collectives.Alltoall, 8, 0) }, true},
		{"lengths", 6, mpivirt.ErrCount, only(5), allreduce(1, sum), allreduce(2, sum), true},
		{"lengths about the eager limit", 6, mpivirt.ErrCount, last(2), allreduce(1, sum), allreduce(100, sum), true},
		{"operations", 6, mpivirt.ErrOp, only(0), allreduce(1, sum), allreduce(1, mpivirt.Max[int32]()), true},
		{"a split meets a dup", 4, mpivirt.ErrOther, last(2), func(w *mpivirt.Comm) error { _, err := w.Split(0, 0); return err },
			func(w *mpivirt.Comm) error { _, err := w.Dup(); return err }, true},
	}...)
	return append(all, []disagreement{
		// Both are the root and send: nobody waits for anything.
		{"two roots of two", 2, mpivirt.ErrRoot, last(1), bcast(0), bcast(1), false},
		// Nobody is the root: no message at all.
		{"no root of two", 2, mpivirt.ErrRoot, last(1), bcast(1), bcast(0), false},
		{"two gather to the other", 2, mpivirt.ErrRoot, last(1), gather(1), gather(0), false},
		{"two gather to themselves", 2, mpivirt.ErrRoot, last(1), gather(0), gather(1), false},
		{"one of many thinks it is the root", 6, mpivirt.ErrRoot, only(4), bcast(0), bcast(4), false},
		{"roots that are equal modulo 256", 300, mpivirt.ErrRoot, only(299), bcast(0), bcast(256), false},
		{"a barrier meets a bcast", 6, mpivirt.ErrOther, last(3), barrier, bcast(0), false},
		{"a barrier meets a bcast from there", 6, mpivirt.ErrOther, last(3), barrier, bcast(5), false},
		{"a barrier meets a reduce", 6, mpivirt.ErrOther, last(3), barrier, func(w *mpivirt.Comm) error {
			return mpivirt.Reduce(w, []int32{1}, []int32{1}, sum, 5)
		}, false},
		{"a scan meets an exscan", 5, mpivirt.ErrOther, last(2), func(w *mpivirt.Comm) error {
			return mpivirt.Scan(w, []int32{1}, []int32{1}, sum)
		}, func(w *mpivirt.Comm) error { return mpivirt.Exscan(w, []int32{1}, []int32{1}, sum) }, false},
		{"nonblocking roots", 2, mpivirt.ErrRoot, last(1), func(w *mpivirt.Comm) error { return waited(mpivirt.Ibcast(w, []int32{0}, 0)) },
			func(w *mpivirt.Comm) error { return waited(mpivirt.Ibcast(w, []int32{0}, 1)) }, false},
	}...)
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

// errNotReturned stands for a call that has not returned.
var errNotReturned = errors.New("the call has not returned")

// run simulates the program. Late says who comes late: nobody, the odd ranks, the
// others.
func (d *disagreement) run(t *testing.T, engines int, i mpivirt.Interpreter, late int, returning bool) (returned []error, err error) {
	returned = slices.Repeat([]error{errNotReturned}, d.ranks)
	_, err = simulate(t, mpivirt.Config{
		Target: target(t, hockney, d.ranks), Collectives: i,
		Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Bcast: collectives.Linear, collectives.Gather: collectives.Linear},
		Program: mpivirt.Program{Name: "disagreement", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.SetErrorsReturn(returning)
			returned[r.Rank()] = d.make(r, late)
			return returned[r.Rank()]
		})}},
	}, engines)
	return returned, err
}

// make makes a rank's call.
func (d *disagreement) make(r *mpivirt.Rank, late int) error {
	odd := d.odd(r.Rank())
	r.Compute(vtime.Microsecond)
	if late == 1 && odd || late == 2 && !odd {
		r.Compute(vtime.Millisecond)
	}
	if odd {
		return d.other(r.World())
	}
	return d.call(r.World())
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

// hostings are ways to run a program of so many ranks that must not matter.
func hostings(ranks int) (all []host) {
	for _, engines := range []int{1, 2, 3, 4, 8} {
		if engines > ranks {
			break
		}
		for _, i := range interpreters {
			all = append(all, host{Engines: engines, Collectives: i}, host{Engines: engines, Collectives: i, Strict: true})
			if engines > 1 {
				all = append(all, host{Engines: engines, Collectives: i, Protocol: sync.Null, Strict: true},
					host{Engines: engines, Collectives: i, Protocol: sync.Conditional})
			}
		}
	}
	return all
}

// outcome is what a program came to: the class of each rank's error, 0 for none.
type outcome struct {
	classes     []mpivirt.ErrorClass
	fingerprint string
}

// outcomeOf lets ranks that ask for their errors make a call each, after which they
// use the communicator again.
func outcomeOf(t rapid.TB, h host, machine string, ranks int, algorithms map[collectives.Operation]collectives.Algorithm, call func(r *mpivirt.Rank) error) outcome {
	t.Helper()
	o := outcome{classes: make([]mpivirt.ErrorClass, ranks)}
	sum := mpivirt.Sum[int]()
	result, err := simulate(t, mpivirt.Config{
		Target: target(t, machine, ranks), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Algorithms: algorithms,
		Program: mpivirt.Program{Name: "outcome", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.SetErrorsReturn(true)
			if err := call(r); err != nil && !errors.As(err, &o.classes[r.Rank()]) {
				return err
			}
			total, next := []int{0}, (r.Rank()+1)%ranks
			if _, err := mpivirt.Sendrecv(r.World(), []int{1}, next, 0, total, mpivirt.AnySource, 0); err != nil {
				return err
			}
			if err := mpivirt.Allreduce(r.World(), []int{1}, total, sum); err != nil || total[0] != ranks {
				return fmt.Errorf("the sum afterwards is %d: %w", total[0], err)
			}
			return nil
		})}},
	}, h.Engines)
	if err != nil {
		t.Errorf("%+v: %v", h, err)
	}
	o.fingerprint = result.Fingerprint
	return o
}

// MPI_ERRORS_RETURN: where nobody can leave any of the calls before all have entered,
// every rank's call returns the error, at the same instants on any number of engines, by
// both interpreters and all protocols, whoever comes late; and the communicator can be
// used again.
func TestMismatchReturnsEverywhere(t *testing.T) {
	for _, d := range disagreements() {
		if !d.whole {
			continue
		}
		for _, machine := range []string{hockney, joined} {
			for late := range 3 {
				var want outcome
				for n, h := range hostings(d.ranks) {
					got := outcomeOf(t, h, machine, d.ranks, nil, func(r *mpivirt.Rank) error { return d.make(r, late) })
					for rank, class := range got.classes {
						if class != d.class {
							t.Errorf("%s, late %d, %+v: rank %d got %q, want %v", d.name, late, h, rank, class, d.class)
						}
					}
					if n == 0 {
						want = got
					} else if got.fingerprint != want.fingerprint {
						t.Errorf("%s, late %d, %+v: other times than %+v", d.name, late, h, hostings(d.ranks)[0])
					}
				}
			}
		}
	}
}

// MPI_ERRORS_RETURN where somebody may have left, as the root of a bcast: the run ends
// with the error, and no barrier has returned.
func TestMismatchEndsTheRun(t *testing.T) {
	for _, d := range disagreements() {
		if d.whole {
			continue
		}
		for engines := 1; engines <= min(d.ranks, 4); engines++ {
			for _, i := range interpreters {
				returned, err := d.run(t, engines, i, 0, true)
				if fault := d.fault(err); fault != "" {
					t.Errorf("%s, %d engines, interpreter %d: %s: %v", d.name, engines, i, fault, err)
				}
				for rank, err := range returned {
					if strings.HasPrefix(d.name, "a barrier") && !d.odd(rank) && err == nil {
						t.Errorf("%s, %d engines, interpreter %d: the barrier of rank %d returns", d.name, engines, i, rank)
					}
				}
			}
		}
	}
}

// lengths are the calls of MPICH's test/mpi/errors/coll (bcastlength, gatherlength and
// the others): the root, rank 0, hands in n elements, the others m.
func lengths() map[string]func(w *mpivirt.Comm, n int) error {
	vector := func(n int) []int { return make([]int, n) }
	sum := mpivirt.Sum[int]()
	return map[string]func(w *mpivirt.Comm, n int) error{
		"bcast":      func(w *mpivirt.Comm, n int) error { return mpivirt.Bcast(w, vector(n), 0) },
		"bcast size": func(w *mpivirt.Comm, n int) error { return w.CollectiveSize(collectives.Bcast, int64(n), 0) },
		"reduce":     func(w *mpivirt.Comm, n int) error { return mpivirt.Reduce(w, vector(n), vector(n), sum, 0) },
		"allreduce":  func(w *mpivirt.Comm, n int) error { return mpivirt.Allreduce(w, vector(n), vector(n), sum) },
		"gather":     func(w *mpivirt.Comm, n int) error { return mpivirt.Gather(w, vector(n), vector(n*w.Size()), 0) },
		"scatter":    func(w *mpivirt.Comm, n int) error { return mpivirt.Scatter(w, vector(n*w.Size()), vector(n), 0) },
		"allgather":  func(w *mpivirt.Comm, n int) error { return mpivirt.Allgather(w, vector(n), vector(n*w.Size())) },
		"alltoall":   func(w *mpivirt.Comm, n int) error { return mpivirt.Alltoall(w, vector(n*w.Size()), vector(n*w.Size())) },
		"scan":       func(w *mpivirt.Comm, n int) error { return mpivirt.Scan(w, vector(n), vector(n), sum) },
		"exscan":     func(w *mpivirt.Comm, n int) error { return mpivirt.Exscan(w, vector(n), vector(n), sum) },
		"ibcast":     func(w *mpivirt.Comm, n int) error { return waited(mpivirt.Ibcast(w, vector(n), 0)) },
		"ireduce":    func(w *mpivirt.Comm, n int) error { return waited(mpivirt.Ireduce(w, vector(n), vector(n), sum, 0)) },
		"iallreduce": func(w *mpivirt.Comm, n int) error { return waited(mpivirt.Iallreduce(w, vector(n), vector(n), sum)) },
		"igather": func(w *mpivirt.Comm, n int) error {
			return waited(mpivirt.Igather(w, vector(n), vector(n*w.Size()), 0))
		},
		"reduce_scatter": func(w *mpivirt.Comm, n int) error {
			counts := slices.Repeat([]int{n}, w.Size())
			return mpivirt.ReduceScatter(w, vector(n*w.Size()), vector(n), counts, sum)
		},
	}
}

// told says who must learn of lengths that differ, as MPICH's tests want it: the
// receivers. Those of a bcast or scatter are all but the root, that of a reduce or
// gather is the root, those of a scan all after rank 0; else all are.
func told(name string, rank int) bool {
	switch name = strings.TrimSuffix(strings.TrimPrefix(name, "i"), " size"); name {
	case "bcast", "scatter", "scan", "exscan":
		return rank > 0
	case "reduce", "gather":
		return rank == 0
	}
	return true
}

// Lengths that differ under MPI_ERRORS_RETURN: nobody waits for ever, who receives gets
// the error, and what each rank gets, and when, is the same however the run is hosted.
// Under every algorithm, for messages below and above the eager limit.
func TestMismatchedLengths(t *testing.T) {
	const ranks = 5
	choices := 4
	if testing.Short() { // enough for the race detector
		choices = 1
	}
	for name, call := range lengths() {
		for choice := range choices {
			algorithms := map[collectives.Operation]collectives.Algorithm{}
			for _, op := range collectives.Operations() {
				all := collectives.Algorithms(op)
				algorithms[op] = all[min(choice, len(all)-1)]
			}
			for _, sizes := range [][2]int{{0, 10}, {10, 1}, {10, 100}} {
				var want outcome
				for n, h := range hostings(ranks) {
					got := outcomeOf(t, h, rendezvous, ranks, algorithms, func(r *mpivirt.Rank) error {
						r.Compute(vtime.Duration(r.Rank()*r.Rank()%3) * vtime.Microsecond)
						if r.Rank() == 0 {
							return call(r.World(), sizes[0])
						}
						return call(r.World(), sizes[1])
					})
					for rank, class := range got.classes {
						if told(name, rank) && class != mpivirt.ErrCount {
							t.Errorf("%s of %v, algorithm %d, %+v: rank %d got %d, want %v", name, sizes, choice, h, rank, class, mpivirt.ErrCount)
						}
					}
					if n == 0 {
						want = got
					} else if !slices.Equal(got.classes, want.classes) || got.fingerprint != want.fingerprint {
						t.Errorf("%s of %v, algorithm %d, %+v: %v at other times or than %v of %+v", name, sizes, choice, h, got, want, hostings(ranks)[0])
					}
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
				Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return truncations(r, nonblocking) })}}}, engines)
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
			_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, ranks), Program: mpivirt.Program{Name: "own", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
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
			})}}}, engines)
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// Types that differ are found as lengths are, even if they have one size: MPI 4.1, 6.1, wants
// one type signature, and 6.9.1 one operation on one type.
func TestMismatchedTypes(t *testing.T) {
	type reduction = func(w *mpivirt.Comm) error
	allreduce := [2]reduction{
		func(w *mpivirt.Comm) error { return mpivirt.Allreduce(w, []int64{1}, []int64{0}, mpivirt.Sum[int64]()) },
		func(w *mpivirt.Comm) error {
			return mpivirt.Allreduce(w, []float64{1}, []float64{0}, mpivirt.Sum[float64]())
		},
	}
	scan := [2]reduction{
		func(w *mpivirt.Comm) error { return mpivirt.Scan(w, []int32{1}, []int32{0}, mpivirt.Sum[int32]()) },
		func(w *mpivirt.Comm) error { return mpivirt.Scan(w, []uint32{1}, []uint32{0}, mpivirt.Sum[uint32]()) },
	}
	reduce := [2]reduction{
		func(w *mpivirt.Comm) error {
			return mpivirt.Reduce(w, []complex64{1}, []complex64{0}, mpivirt.Sum[complex64](), 0)
		},
		func(w *mpivirt.Comm) error {
			return mpivirt.Reduce(w, []float64{1}, []float64{0}, mpivirt.Sum[float64](), 0)
		},
	}
	bcast := [2]reduction{
		func(w *mpivirt.Comm) error { return mpivirt.Bcast(w, []int64{1}, 0) },
		func(w *mpivirt.Comm) error { return mpivirt.Bcast(w, []float64{1}, 0) },
	}
	for name, calls := range map[string][2]reduction{"Allreduce": allreduce, "Scan": scan, "Reduce": reduce, "Bcast": bcast} {
		for engines := 1; engines <= 4; engines++ {
			for _, i := range interpreters {
				_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 4), Collectives: i, Program: mpivirt.Program{Name: "types",
					Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return calls[r.Rank()/3](r.World()) })}}}, engines)
				if !errors.Is(err, mpivirt.ErrType) || !strings.Contains(err.Error(), " of ") || !strings.Contains(err.Error(), name) {
					t.Errorf("%s, %d engines, interpreter %d: %v", name, engines, i, err)
				}
			}
		}
	}
	// An int has 64 bits: it is the same type as an int64.
	err := inside(t, 2, 2, false, func(r *mpivirt.Rank) error {
		if r.Rank() == 0 {
			return mpivirt.Bcast(r.World(), []int{1}, 0)
		}
		return mpivirt.Bcast(r.World(), []int64{1}, 0)
	})
	if err != nil {
		t.Error(err)
	}
}

// Errors that end the program are of the same rank, at the same time, on any number of
// engines, for event ranks and for goroutine ranks.
func TestMismatchOfEventRanks(t *testing.T) {
	sum := mpivirt.Sum[int32]()
	for _, c := range []struct {
		name        string
		class       mpivirt.ErrorClass
		call, other func(r *steps.Rank) steps.Outcome
		goroutine   func(w *mpivirt.Comm, odd bool) error
	}{
		{"barrier and allreduce", mpivirt.ErrOther, (*steps.Rank).Barrier,
			func(r *steps.Rank) steps.Outcome { return steps.Allreduce(r, []int32{1}, sum) },
			func(w *mpivirt.Comm, odd bool) error {
				if odd {
					return mpivirt.Allreduce(w, []int32{1}, []int32{0}, sum)
				}
				return w.Barrier()
			}},
		{"lengths of an allreduce", mpivirt.ErrCount,
			func(r *steps.Rank) steps.Outcome { return steps.Allreduce(r, []int32{1}, sum) },
			func(r *steps.Rank) steps.Outcome { return steps.Allreduce(r, []int32{1, 2}, sum) },
			func(w *mpivirt.Comm, odd bool) error {
				v := make([]int32, 1+map[bool]int{true: 1}[odd])
				return mpivirt.Allreduce(w, v, v, sum)
			}},
		{"lengths of a bcast", mpivirt.ErrCount,
			func(r *steps.Rank) steps.Outcome { return steps.Bcast(r, []int32{1}, 0) },
			func(r *steps.Rank) steps.Outcome { return steps.Bcast(r, []int32{1, 2}, 0) },
			func(w *mpivirt.Comm, odd bool) error {
				return mpivirt.Bcast(w, make([]int32, 1+map[bool]int{true: 1}[odd]), 0)
			}},
		{"types of a reduce", mpivirt.ErrType,
			func(r *steps.Rank) steps.Outcome {
				return steps.Reduce(r, []int32{1}, []int32{1}, sum, 0)
			},
			func(r *steps.Rank) steps.Outcome {
				return steps.Reduce(r, []float32{1}, []float32{1}, mpivirt.Sum[float32](), 0)
			},
			func(w *mpivirt.Comm, odd bool) error {
				if odd {
					return mpivirt.Reduce(w, []float32{1}, []float32{1}, mpivirt.Sum[float32](), 0)
				}
				return mpivirt.Reduce(w, []int32{1}, []int32{1}, sum, 0)
			}},
	} {
		late := func(rank int) vtime.Duration { return vtime.Duration(rank%4) * vtime.Millisecond }
		events := eventScript(func(r *steps.Rank) steps.Outcome { r.Compute(late(r.Rank())); return r.Continue() },
			func(r *steps.Rank) steps.Outcome {
				if r.Rank() >= 3 {
					return c.other(r)
				}
				return c.call(r)
			}, (*steps.Rank).Barrier)
		goroutines := mpivirt.Program{Name: "goroutines", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.Compute(late(r.Rank()))
			if err := c.goroutine(r.World(), r.Rank() >= 3); err != nil {
				return err
			}
			return r.World().Barrier()
		})}}
		var want *mpivirt.RankError
		for _, p := range []mpivirt.Program{events, goroutines} {
			for _, h := range hostings(6) {
				_, err := simulate(t, mpivirt.Config{Target: target(t, joined, 6), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Program: p}, h.Engines)
				var got *mpivirt.RankError
				if !errors.As(err, &got) || !errors.Is(err, c.class) {
					t.Errorf("%s, %s, %+v: %v", c.name, p.Name, h, err)
					continue
				}
				if want == nil {
					want = got
				}
				if got.Rank != want.Rank || got.Time != want.Time || got.Call != want.Call {
					t.Errorf("%s, %s, %+v: %v, want %v", c.name, p.Name, h, got, want)
				}
			}
		}
	}
}

// A mismatch that ranks were told of is no cause of what comes later; one of which they
// are not told, because some rank never calls, is the cause of the deadlock.
func TestDeadlocksAndMismatches(t *testing.T) {
	t.Parallel()
	sum := mpivirt.Sum[int]()
	mismatch := func(r *mpivirt.Rank) error {
		if r.Rank() >= 3 {
			return mpivirt.Allreduce(r.World(), []int{1}, []int{0}, sum)
		}
		return r.World().Barrier()
	}
	for _, h := range hostings(6) {
		run := func(main func(r *mpivirt.Rank) error) error {
			_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 6), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
				Program: mpivirt.Program{Name: "deadlock", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { r.SetErrorsReturn(true); return main(r) })}}}, h.Engines)
			return err
		}
		var deadlock *mpivirt.DeadlockError
		err := run(func(r *mpivirt.Rank) error {
			if err := mismatch(r); !errors.Is(err, mpivirt.ErrOther) {
				return fmt.Errorf("rank %d got %w", r.Rank(), err)
			}
			_, err := mpivirt.Recv(r.World(), []int{0}, (r.Rank()+1)%6, 0)
			return err
		})
		if !errors.As(err, &deadlock) || deadlock.Waiting != 6 {
			t.Errorf("%+v: %v, want a deadlock", h, err)
		}
		err = run(func(r *mpivirt.Rank) error {
			if r.Rank() == 5 {
				return nil
			}
			return mismatch(r)
		})
		if !errors.Is(err, mpivirt.ErrOther) {
			t.Errorf("%+v, one rank does not call: %v", h, err)
		}
	}
}

// A rank whose nonblocking call does not fit the others' is told in the call in which it waits, on one
// engine and on several. Which rank that is depends on the machine only.
func TestMismatchIsToldInTheWait(t *testing.T) {
	t.Parallel()
	calls := lengths()
	program := mpivirt.Main(func(r *mpivirt.Rank) error {
		r.Compute([]vtime.Duration{9, 4, 1, 4, 0}[r.Rank()] * 700 * vtime.Nanosecond)
		if r.Rank() == 1 {
			return calls["allgather"](r.World(), 0)
		}
		return calls["iallreduce"](r.World(), 40)
	})
	for _, machine := range []string{hockney, joined, "xt5", "gigabit-star", "loggops-default"} {
		for _, algorithm := range collectives.Algorithms(collectives.Allreduce) {
			algorithms := map[collectives.Operation]collectives.Algorithm{collectives.Allgather: collectives.RecursiveDoubling, collectives.Allreduce: algorithm}
			var first string
			for _, h := range hostings(5) {
				_, err := simulate(t, mpivirt.Config{Target: target(t, machine, 5), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
					Algorithms: algorithms, Program: mpivirt.Program{Name: "wait", Forms: []mpivirt.Form{program}}}, h.Engines)
				failed := rankError(t, err)
				if !errors.Is(err, mpivirt.ErrOther) || machine == hockney && (failed.Rank != 0 || failed.Call != "Wait") {
					t.Errorf("%.20q, %v, %+v: %v, want an error, on hockney of rank 0 in Wait", machine, algorithms, h, err)
				}
				if first == "" {
					first = err.Error()
				} else if err.Error() != first {
					t.Errorf("%.20q, %v, %+v: %v, want %s as on one engine", machine, algorithms, h, err, first)
				}
			}
		}
	}
}

// Where calls of two families differ, and calls within one of them too, the other family's messages go on: which
// ranks have finished before the error is the same on any number of engines.
func TestMismatchWithinOneOfTwoFamilies(t *testing.T) {
	calls := lengths()
	program := mpivirt.Main(func(r *mpivirt.Rank) (err error) {
		r.Compute([]vtime.Duration{0, 4, 0, 0, 4}[r.Rank()] * 700 * vtime.Nanosecond)
		switch r.Rank() {
		case 1:
			err = calls["allgather"](r.World(), 0)
		case 4:
			err = calls["allgather"](r.World(), 1)
		default:
			err = calls["bcast"](r.World(), 0)
		}
		r.Compute(vtime.Microsecond)
		return err
	})
	for _, h := range hostings(5) {
		result, err := simulate(t, mpivirt.Config{
			Target: target(t, hockney, 5), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
			Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Bcast: collectives.Binomial},
			Program:    mpivirt.Program{Name: "families", Forms: []mpivirt.Form{program}},
		}, h.Engines)
		// Rank 0 leaves the bcast at once, ranks 2 and 3 after one and two messages; each computes for 1 us.
		if failed := rankError(t, err); failed.Rank != 1 || result.Finished != 2 {
			t.Errorf("%+v: %v; %d finished, want an error of rank 1 and 2 finished", h, err, result.Finished)
		}
	}
}

// Any two calls of which each part of the ranks makes one come to the same outcome under
// any two hostings: on any communicator, by any algorithms, whoever comes when.
func TestAnyMismatch(t *testing.T) {
	names := slices.Sorted(maps.Keys(lengths()))
	machines := []string{hockney, joined, rendezvous, "tianhe-1a", "loggops-default"}
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 9).Draw(rt, "ranks")
		machine := rapid.SampledFrom(machines).Draw(rt, "machine")
		first, second := rapid.SampledFrom(names).Draw(rt, "first"), rapid.SampledFrom(names).Draw(rt, "second")
		n, m := rapid.SampledFrom([]int{0, 1, 7, 40}).Draw(rt, "n"), rapid.SampledFrom([]int{0, 1, 7, 40}).Draw(rt, "m")
		odd := rapid.SliceOfN(rapid.Bool(), ranks, ranks).Draw(rt, "odd")
		delays := rapid.SliceOfN(rapid.IntRange(0, 3), ranks, ranks).Draw(rt, "delays")
		reordered := rapid.Bool().Draw(rt, "reordered")
		algorithms := map[collectives.Operation]collectives.Algorithm{}
		for _, op := range collectives.Operations() {
			algorithms[op] = rapid.SampledFrom(collectives.Algorithms(op)).Draw(rt, op.String())
		}
		differ := slices.Contains(odd, true) && slices.Contains(odd, false) && (first != second || n != m)
		if strings.TrimPrefix(first, "i") != strings.TrimPrefix(second, "i") && !(whole(first) && whole(second)) && differ {
			second = first // else the run ends; see TestMismatchEndsTheRun
		}
		if machine == "loggops-default" && whole(first) {
			second, m, differ = first, n, false // else the run ends: there is state at the receiver
		}
		all := hostings(ranks)
		run := func(h host) outcome {
			return outcomeOf(rt, h, machine, ranks, algorithms, func(r *mpivirt.Rank) error {
				w := r.World()
				if reordered {
					var err error
					if w, err = w.Split(0, -r.Rank()); err != nil {
						return err
					}
				}
				r.Compute(vtime.Duration(delays[r.Rank()]*delays[r.Rank()]) * 700 * vtime.Nanosecond)
				if odd[r.Rank()] {
					return lengths()[second](w, m)
				}
				return lengths()[first](w, n)
			})
		}
		want := run(all[0])
		if told := slices.ContainsFunc(want.classes, func(c mpivirt.ErrorClass) bool { return c != 0 }); told != differ {
			if !(strings.TrimPrefix(first, "i") == strings.TrimPrefix(second, "i") && n == m) {
				rt.Errorf("%v, though calls differ: %t", want, differ)
			}
		}
		for range 3 {
			h := rapid.SampledFrom(all).Draw(rt, "host")
			if got := run(h); !slices.Equal(got.classes, want.classes) || got.fingerprint != want.fingerprint {
				rt.Errorf("%+v: %v, want %v", h, got, want)
			}
		}
	})
}

// Calls that do not fit together end the run with one and the same error on any engines,
// by any interpreter and protocol: it names the first rank in the order of (virtual time,
// rank) whose call is of another kind than the first of all, unless some rank has failed
// before.
func TestAnyMismatchNamesOneRank(t *testing.T) {
	t.Parallel()
	calls := lengths()
	for _, op := range []collectives.Operation{collectives.Bcast, collectives.Reduce, collectives.Gather, collectives.Scatter} {
		calls[fmt.Sprintf("%v from 1", op)] = func(w *mpivirt.Comm, n int) error { return w.CollectiveSize(op, int64(n), 1) }
	}
	calls["barrier"] = func(w *mpivirt.Comm, _ int) error { return w.Barrier() }
	calls["dup"] = func(w *mpivirt.Comm, _ int) error { _, err := w.Dup(); return err }
	names := slices.Sorted(maps.Keys(calls))
	machines := []string{hockney, joined, rendezvous, "tianhe-1a", "loggops-default"}
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 9).Draw(rt, "ranks")
		machine := rapid.SampledFrom(machines).Draw(rt, "machine")
		common := rapid.SampledFrom(names).Draw(rt, "common")
		before, after := rapid.IntRange(0, 2).Draw(rt, "before"), rapid.IntRange(0, 2).Draw(rt, "after")
		drawn := rapid.SliceOfN(rapid.SampledFrom(names), 2, 3).Draw(rt, "calls")
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 40}), 3, 3).Draw(rt, "sizes")
		choice := rapid.SliceOfN(rapid.IntRange(0, len(drawn)-1), ranks, ranks).Draw(rt, "choice")
		delays := rapid.SliceOfN(rapid.IntRange(0, 3), ranks, ranks).Draw(rt, "delays")
		reordered, returning := rapid.Bool().Draw(rt, "reordered"), rapid.Bool().Draw(rt, "returning")
		failing, failsAt := rapid.IntRange(-ranks, ranks-1).Draw(rt, "failing"), rapid.IntRange(0, 9).Draw(rt, "failsAt")
		algorithms := map[collectives.Operation]collectives.Algorithm{}
		for _, op := range collectives.Operations() {
			algorithms[op] = rapid.SampledFrom(collectives.Algorithms(op)).Draw(rt, op.String())
		}
		run := func(h host) string {
			result, err := simulate(rt, mpivirt.Config{
				Target: target(t, machine, ranks), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Algorithms: algorithms,
				Program: mpivirt.Program{Name: "mismatch", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) (err error) {
					w := r.World()
					if reordered {
						if w, err = w.Split(0, -r.Rank()); err != nil {
							return err
						}
					}
					r.SetErrorsReturn(returning)
					for range before {
						err = errors.Join(err, calls[common](w, 1))
					}
					r.Compute(vtime.Duration(delays[r.Rank()]*delays[r.Rank()]) * 700 * vtime.Nanosecond)
					err = errors.Join(err, calls[drawn[choice[r.Rank()]]](w, sizes[choice[r.Rank()]]))
					if r.Rank() == failing {
						r.Compute(vtime.Duration(failsAt*failsAt) * 300 * vtime.Nanosecond)
						return errors.New("the rank fails by itself")
					}
					for range after {
						err = errors.Join(err, calls[common](w, 1))
					}
					r.Compute(vtime.Microsecond)
					return err
				})}},
			}, h.Engines)
			if err != nil {
				return fmt.Sprintf("%v; %d finished", err, result.Finished)
			}
			return result.Fingerprint
		}
		all := hostings(ranks)
		want := run(all[0])
		for range 3 {
			h := rapid.SampledFrom(all).Draw(rt, "host")
			if got := run(h); got != want {
				rt.Errorf("%+v: %s, want %s", h, got, want)
			}
		}
	})
}

// whole reports whether nobody leaves a call of lengths before all have entered.
func whole(name string) bool {
	switch strings.TrimPrefix(name, "i") {
	case "allreduce", "allgather", "alltoall", "reduce_scatter":
		return true
	}
	return false
}

// The news that a collective fails, and what it has come to, takes a number of messages of each engine that
// does not grow with the number of engines.
func TestMessagesOfAFailingCollective(t *testing.T) {
	program := eventScript(func(r *steps.Rank) steps.Outcome { r.SetErrorsReturn(true); return r.Barrier() },
		func(r *steps.Rank) steps.Outcome {
			if r.Rank() == 3 {
				return steps.Allreduce(r, []int32{1}, mpivirt.Sum[int32]())
			}
			return r.Barrier()
		})
	messages := func(engines int) float64 {
		r, err := simulate(t, mpivirt.Config{Target: target(t, joined, 2*engines), Program: program}, engines)
		if err != nil {
			t.Fatal(err)
		}
		return float64(r.Statistics.TransportMessages) / float64(engines)
	}
	few, many := messages(16), messages(256)
	t.Logf("%.1f messages of each of 16 engines, %.1f of 256", few, many)
	if many > few+12 { // two for each further level of the barrier's rounds, and room
		t.Errorf("%.1f messages of each of 16 engines, %.1f of 256", few, many)
	}
}

// here returns the line of its caller, as reports name it.
func here() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("(%s:%d)", filepath.Base(file), line)
}

// A failure of ranks in Go names the line of the call that fails, and that of the other call where nobody can have left it, on any number of engines.
// Elements of different types have their MPI names.
func TestFailuresOfGoRanksNameTheirLines(t *testing.T) {
	var send, barrier, allreduce, floats, doubles, first, second atomic.Value
	late := func(r *mpivirt.Rank, by int) { r.Compute(vtime.Duration(by) * vtime.Millisecond) }
	for _, c := range []struct {
		main func(r *mpivirt.Rank) error
		says func() []string
	}{
		{func(r *mpivirt.Rank) error {
			if r.World().Rank() != 2 {
				return r.World().Barrier()
			}
			send.Store(here())
			return mpivirt.Send(r.World(), []int32{1}, 99, 0) // a line after send
		}, func() []string {
			return []string{"rank 2 failed", " in Send, called in ", lineAfter(&send), "MPI_ERR_RANK"}
		}},
		{func(r *mpivirt.Rank) error {
			if r.World().Rank() != 3 {
				barrier.Store(here())
				return r.World().Barrier()
			}
			allreduce.Store(here())
			return mpivirt.Allreduce(r.World(), []int32{1}, []int32{0}, mpivirt.Sum[int32]())
		}, func() []string {
			return []string{"rank 0 failed", " in Barrier, called in ", lineAfter(&barrier) + ": MPI_ERR_OTHER", "but rank 3 calls Allreduce", ", called in ", lineAfter(&allreduce)}
		}},
		{func(r *mpivirt.Rank) error {
			if r.World().Rank() != 1 {
				doubles.Store(here())
				return mpivirt.Allreduce(r.World(), []float64{1}, []float64{0}, mpivirt.Sum[float64]())
			}
			floats.Store(here())
			return mpivirt.Allreduce(r.World(), []float32{1}, []float32{0}, mpivirt.Sum[float32]())
		}, func() []string {
			return []string{lineAfter(&doubles), "Allreduce of MPI_DOUBLE, but rank 1 calls Allreduce of MPI_FLOAT as collective 0", lineAfter(&floats)}
		}},
		{func(r *mpivirt.Rank) error { // the root, who is first, does not wait
			late(r, r.Rank())
			if r.Rank() != 2 {
				first.Store(here())
				return mpivirt.Bcast(r.World(), []int32{1}, 0)
			}
			second.Store(here())
			return mpivirt.Bcast(r.World(), []int32{1}, 2)
		}, func() []string {
			return []string{"rank 2 failed", " in Bcast, called in ", lineAfter(&second) + ": MPI_ERR_ROOT", "Bcast with root 2, but rank 0 calls Bcast with root 0", ", called in ", lineAfter(&first)}
		}},
		{func(r *mpivirt.Rank) error { // all enter at once, so that their numbers count
			if r.Rank() != 1 {
				first.Store(here())
				return mpivirt.Reduce(r.World(), []int32{1}, []int32{0}, mpivirt.Sum[int32](), 3)
			}
			second.Store(here())
			return mpivirt.Reduce(r.World(), []int32{1}, []int32{0}, mpivirt.Sum[int32](), 2)
		}, func() []string {
			return []string{"rank 1 failed", " in Reduce, called in ", lineAfter(&second) + ": MPI_ERR_ROOT", "but rank 0 calls Reduce with root 3", ", called in ", lineAfter(&first)}
		}},
		{func(r *mpivirt.Rank) error { // in the first calls of a rank its engine submits, later the rank itself
			for range 9 {
				if err := r.World().Barrier(); err != nil {
					return err
				}
			}
			late(r, 4-r.Rank())
			if r.Rank() != 1 {
				barrier.Store(here())
				return r.World().Barrier()
			}
			second.Store(here())
			return mpivirt.Gather(r.World(), []int32{1}, make([]int32, 4), 2)
		}, func() []string {
			return []string{"rank 1 failed", " in Gather, called in ", lineAfter(&second), "Gather with root 2, but rank 3 calls Barrier", ", called in ", lineAfter(&barrier)}
		}},
		{func(r *mpivirt.Rank) error { // a rank that has gone on
			if r.Rank() == 0 {
				first.Store(here())
				err := mpivirt.Bcast(r.World(), []int32{1}, 0)
				late(r, 3)
				return errors.Join(err, r.World().Barrier())
			}
			late(r, 1)
			second.Store(here())
			return mpivirt.Bcast(r.World(), []int32{1, 2}, 0)
		}, func() []string {
			return []string{"rank 1 failed", " in Bcast, called in ", lineAfter(&second) + ": MPI_ERR_COUNT", "but rank 0 calls Bcast with root 0 of other lengths", ", called in ", lineAfter(&first)}
		}},
	} {
		first := ""
		for _, engines := range []int{1, 2, 4} {
			_, err := simulate(t, mpivirt.Config{
				Target: target(t, flat4, 4), Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(c.main)}},
			}, engines)
			if err == nil {
				t.Fatal("no error")
			}
			for _, says := range c.says() {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%d engines: %v\nwant %q", engines, err, says)
				}
			}
			if first == "" {
				first = err.Error()
			}
			if err.Error() != first {
				t.Errorf("%d engines: %v\nwith 1: %s", engines, err, first)
			}
		}
	}
}

// lineAfter returns the line that follows a line of here.
func lineAfter(line *atomic.Value) string {
	var n int
	text := line.Load().(string)
	name, number, _ := strings.Cut(strings.Trim(text, "()"), ":")
	if _, err := fmt.Sscan(number, &n); err != nil {
		return text
	}
	return fmt.Sprintf("(%s:%d)", name, n+1)
}
