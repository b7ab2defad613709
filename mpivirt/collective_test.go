package mpivirt_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/vtime"
)

// exercise is one collective on doubles among so many members, all of whose
// arguments follow from a key.
type exercise struct {
	op            collectives.Operation
	members, root int
	count         int // elements of a vector or block; the most of one, where blocks differ
	key           uint64
	whole         bool // the numbers are small and whole: sums are exact in any order
}

// arguments are what one member hands in.
type arguments struct {
	op                        collectives.Operation
	root                      int
	send, receive             []float64
	sendCounts, receiveCounts []int
}

// untouched is what receive buffers are filled with beforehand.
const untouched = -7777

// block returns what member from has for member to, or for all if to is 0, in an
// operation on blocks.
func (x exercise) block(from, to int) []float64 {
	values := make([]float64, x.blockCount(from, to))
	for i := range values {
		bits := random.Uint64(x.key, uint64(from)<<32|uint64(to), uint64(i))
		if values[i] = float64(bits % 1024); !x.whole {
			values[i] = (float64(bits>>11) - 1<<52) * float64(uint64(1)<<(bits%60))
		}
	}
	return values
}

// blockCount returns the number of elements of a block: the same for all but the
// operations that let them differ, where it may be 0.
func (x exercise) blockCount(from, to int) int {
	switch x.op {
	case collectives.Scatterv, collectives.ReduceScatter:
		return random.Intn(x.key, uint64(to), 1<<40, x.count+1)
	case collectives.Gatherv, collectives.Allgatherv:
		return random.Intn(x.key, uint64(from), 1<<40, x.count+1)
	case collectives.Alltoallv:
		return random.Intn(x.key, uint64(from)<<32|uint64(to), 1<<40, x.count+1)
	}
	return x.count
}

// blocks returns what member from has for every member in turn, and the counts.
func (x exercise) blocks(from int) (all []float64, counts []int) {
	for to := range x.members {
		b := x.block(from, to)
		all, counts = append(all, b...), append(counts, len(b))
	}
	return all, counts
}

// vector returns a member's contribution to a reduction, or its block where it
// has only one.
func (x exercise) vector(member int) []float64 {
	if x.op == collectives.ReduceScatter {
		all, _ := x.blocks(member)
		return all
	}
	return x.block(member, 0)
}

// concatenated returns the blocks of all members for one.
func (x exercise) concatenated(to int) (all []float64, counts []int) {
	for from := range x.members {
		b := x.block(from, to)
		all, counts = append(all, b...), append(counts, len(b))
	}
	return all, counts
}

// arguments returns what a member hands in.
func (x exercise) arguments(member int) *arguments {
	a := &arguments{op: x.op, root: x.root}
	room := 0
	switch x.op {
	case collectives.Barrier:
	case collectives.Bcast:
		a.receive = filled(x.count)
		if member == x.root {
			copy(a.receive, x.vector(member))
		}
		return a
	case collectives.Scatter, collectives.Scatterv:
		if member == x.root {
			a.send, a.sendCounts = x.blocks(member)
		}
		room = x.blockCount(x.root, member)
	case collectives.Alltoall, collectives.Alltoallv:
		a.send, a.sendCounts = x.blocks(member)
		var all []float64
		all, a.receiveCounts = x.concatenated(member)
		room = len(all)
	case collectives.Gather, collectives.Gatherv, collectives.Allgather, collectives.Allgatherv:
		a.send = x.vector(member)
		var all []float64
		if all, a.receiveCounts = x.concatenated(0); member == x.root || !x.op.Rooted() {
			room = len(all)
		}
	case collectives.ReduceScatter:
		a.send, a.receiveCounts = x.blocks(member)
		room = a.receiveCounts[member]
	default:
		a.send = x.vector(member)
		if member == x.root || x.op != collectives.Reduce {
			room = len(a.send)
		}
	}
	a.receive = filled(room)
	return a
}

func filled(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = untouched
	}
	return s
}

// result returns what a member has in its receive buffer afterwards, by the
// definition of the operation in the MPI standard. Sums are made in rank order.
func (x exercise) result(member int) []float64 {
	switch x.op {
	case collectives.Barrier:
		return nil
	case collectives.Bcast:
		return x.vector(x.root)
	case collectives.Scatter, collectives.Scatterv:
		return x.block(x.root, member)
	case collectives.Alltoall, collectives.Alltoallv:
		all, _ := x.concatenated(member)
		return all
	case collectives.Gather, collectives.Gatherv, collectives.Allgather, collectives.Allgatherv:
		if x.op.Rooted() && member != x.root {
			return nil
		}
		all, _ := x.concatenated(0)
		return all
	case collectives.Reduce:
		if member != x.root {
			return nil
		}
		return x.sum(x.members)
	case collectives.Scan:
		return x.sum(member + 1)
	case collectives.Exscan:
		if member == 0 {
			return filled(x.count)
		}
		return x.sum(member)
	case collectives.ReduceScatter:
		before := 0
		for to := range member {
			before += x.blockCount(0, to)
		}
		return x.sum(x.members)[before : before+x.blockCount(0, member)]
	}
	return x.sum(x.members)
}

// sum adds up the vectors of the first n members.
func (x exercise) sum(n int) []float64 {
	total := x.vector(0)
	for m := 1; m < n; m++ {
		for i, v := range x.vector(m) {
			total[i] += v
		}
	}
	return total
}

// call makes the collective in its blocking form.
func (a *arguments) call(c *mpivirt.Comm) error {
	sum := mpivirt.Sum[float64]()
	switch a.op {
	case collectives.Barrier:
		return c.Barrier()
	case collectives.Bcast:
		return mpivirt.Bcast(c, a.receive, a.root)
	case collectives.Reduce:
		return mpivirt.Reduce(c, a.send, a.receive, sum, a.root)
	case collectives.Allreduce:
		return mpivirt.Allreduce(c, a.send, a.receive, sum)
	case collectives.Gather:
		return mpivirt.Gather(c, a.send, a.receive, a.root)
	case collectives.Gatherv:
		return mpivirt.Gatherv(c, a.send, a.receive, a.receiveCounts, a.root)
	case collectives.Scatter:
		return mpivirt.Scatter(c, a.send, a.receive, a.root)
	case collectives.Scatterv:
		return mpivirt.Scatterv(c, a.send, a.sendCounts, a.receive, a.root)
	case collectives.Allgather:
		return mpivirt.Allgather(c, a.send, a.receive)
	case collectives.Allgatherv:
		return mpivirt.Allgatherv(c, a.send, a.receive, a.receiveCounts)
	case collectives.Alltoall:
		return mpivirt.Alltoall(c, a.send, a.receive)
	case collectives.Alltoallv:
		return mpivirt.Alltoallv(c, a.send, a.sendCounts, a.receive, a.receiveCounts)
	case collectives.ReduceScatter:
		return mpivirt.ReduceScatter(c, a.send, a.receive, a.receiveCounts, sum)
	case collectives.Scan:
		return mpivirt.Scan(c, a.send, a.receive, sum)
	default:
		return mpivirt.Exscan(c, a.send, a.receive, sum)
	}
}

// begin makes the collective in its nonblocking form.
func (a *arguments) begin(c *mpivirt.Comm) (mpivirt.Request, error) {
	sum := mpivirt.Sum[float64]()
	switch a.op {
	case collectives.Barrier:
		return c.Ibarrier()
	case collectives.Bcast:
		return mpivirt.Ibcast(c, a.receive, a.root)
	case collectives.Reduce:
		return mpivirt.Ireduce(c, a.send, a.receive, sum, a.root)
	case collectives.Allreduce:
		return mpivirt.Iallreduce(c, a.send, a.receive, sum)
	case collectives.Gather:
		return mpivirt.Igather(c, a.send, a.receive, a.root)
	case collectives.Gatherv:
		return mpivirt.Igatherv(c, a.send, a.receive, a.receiveCounts, a.root)
	case collectives.Scatter:
		return mpivirt.Iscatter(c, a.send, a.receive, a.root)
	case collectives.Scatterv:
		return mpivirt.Iscatterv(c, a.send, a.sendCounts, a.receive, a.root)
	case collectives.Allgather:
		return mpivirt.Iallgather(c, a.send, a.receive)
	case collectives.Allgatherv:
		return mpivirt.Iallgatherv(c, a.send, a.receive, a.receiveCounts)
	case collectives.Alltoall:
		return mpivirt.Ialltoall(c, a.send, a.receive)
	case collectives.Alltoallv:
		return mpivirt.Ialltoallv(c, a.send, a.sendCounts, a.receive, a.receiveCounts)
	case collectives.ReduceScatter:
		return mpivirt.IreduceScatter(c, a.send, a.receive, a.receiveCounts, sum)
	case collectives.Scan:
		return mpivirt.Iscan(c, a.send, a.receive, sum)
	default:
		return mpivirt.Iexscan(c, a.send, a.receive, sum)
	}
}

// hasSizeForm says whether the operation has a form of which only the size is
// simulated.
func hasSizeForm(op collectives.Operation) bool {
	switch op {
	case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv:
		return false
	}
	return true
}

// interpreters are the two ways to carry a collective out that must agree.
var interpreters = []mpivirt.Interpreter{mpivirt.Message, mpivirt.Bulk}

// finish simulates one collective that all ranks enter at time 0, and returns
// when the last one leaves.
func finish(t *testing.T, tgt *network.Target, i mpivirt.Interpreter, engines int, op collectives.Operation, a collectives.Algorithm, call func(c *mpivirt.Comm) error) vtime.Duration {
	t.Helper()
	r, err := simulate(t, mpivirt.Config{
		Target: tgt, Collectives: i, Algorithms: map[collectives.Operation]collectives.Algorithm{op: a},
		Program: mpivirt.Program{Name: "one", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return call(r.World()) })}},
	}, engines)
	if err != nil {
		t.Fatalf("%v %v of %d ranks: %v", op, a, tgt.Ranks(), err)
	}
	return vtime.Duration(r.VirtualTime)
}

// hockney is a machine with α = 1 us, β = 1 ns and γ = 0.5 ns a byte.
const hockney = "name: hockney\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, reduce: {bandwidth: 2GB/s}}\n"

// hockneyCost is what hockney makes of α, β and γ.
func hockneyCost() collectives.Cost {
	return collectives.Cost{
		Alpha: vtime.Microsecond,
		Beta:  func(bytes int64) vtime.Duration { return vtime.Duration(bytes) * vtime.Nanosecond },
		Gamma: func(bytes int64) vtime.Duration { return vtime.Duration(bytes) * vtime.Nanosecond / 2 },
	}
}

// Design, section 7: both interpreters agree with the closed form where it
// applies.
func TestClosedFormsOfAllAlgorithms(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 23, 31, 32, 33}
	for _, op := range collectives.Operations() {
		if op == collectives.Gatherv || op == collectives.Scatterv || op == collectives.Allgatherv || op == collectives.Alltoallv || op == collectives.ReduceScatter {
			continue // their blocks differ here
		}
		for _, a := range collectives.Algorithms(op) {
			if a == collectives.NodeLeader {
				continue // with one rank on each node, it is the butterfly
			}
			for _, ranks := range sizes {
				x := exercise{op: op, members: ranks, count: 37, whole: true}
				want, ok := collectives.ClosedForm(op, a, ranks, 37, 8, hockneyCost())
				if !ok {
					continue
				}
				for _, i := range interpreters {
					got := finish(t, target(t, hockney, ranks), i, 1+ranks%3, op, a, func(c *mpivirt.Comm) error { return x.arguments(c.Rank()).call(c) })
					if got != want {
						t.Errorf("%v %v of %d ranks, interpreter %d: %v, want %v", op, a, ranks, i, got, want)
					}
				}
			}
		}
	}
}

// An operation of which only the size is simulated takes the time of the one with
// data, at every rank, under every algorithm; blocks are of one length.
func TestSizesTakeTheTimeOfData(t *testing.T) {
	for _, op := range collectives.Operations() {
		if !hasSizeForm(op) {
			continue
		}
		for _, a := range collectives.Algorithms(op) {
			for _, ranks := range []int{1, 2, 7, 12} {
				var fingerprints []string
				for _, sized := range []bool{false, true} {
					r, err := simulate(t, mpivirt.Config{
						Target: target(t, joined, ranks), Algorithms: map[collectives.Operation]collectives.Algorithm{op: a},
						Program: mpivirt.Program{Name: "one", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
							r.Compute(vtime.Duration(r.Rank()*r.Rank()%5) * vtime.Microsecond)
							if sized {
								return r.World().CollectiveSize(op, 64, ranks-1)
							}
							return ofBytes(r.World(), op, 64, ranks-1)
						})}},
					}, 2)
					if err != nil {
						t.Fatalf("%v %v of %d ranks: %v", op, a, ranks, err)
					}
					fingerprints = append(fingerprints, r.Fingerprint)
				}
				if fingerprints[0] != fingerprints[1] {
					t.Errorf("%v %v of %d ranks: the size alone takes another time than data", op, a, ranks)
				}
			}
		}
	}
}

// A vector of 64 numbers, which 7 ranks do not divide, is cut alike whatever its
// elements are, so its size takes the time of its data: under every algorithm that
// cuts, and by both interpreters.
func TestSizesAreCutAsData(t *testing.T) {
	for _, op := range []collectives.Operation{collectives.Bcast, collectives.Reduce, collectives.Allreduce} {
		for _, a := range collectives.Algorithms(op) {
			for _, bytes := range []int{64, 256, 512, 448} {
				for _, i := range interpreters {
					time := func(engines int, call func(c *mpivirt.Comm) error) vtime.Duration {
						return finish(t, target(t, "tianhe-1a", 7), i, engines, op, a, call)
					}
					sized := time(1, func(c *mpivirt.Comm) error { return c.CollectiveSize(op, int64(bytes), 0) })
					data := []vtime.Duration{
						time(1, func(c *mpivirt.Comm) error { return ofElements[byte](c, op, bytes, 0) }),
						time(2, func(c *mpivirt.Comm) error { return ofElements[int32](c, op, bytes/4, 0) }),
						time(3, func(c *mpivirt.Comm) error { return ofElements[int](c, op, bytes/8, 0) }),
						time(4, func(c *mpivirt.Comm) error { return ofElements[float64](c, op, bytes/8, 0) }),
					}
					for n, took := range data {
						if took != sized {
							t.Errorf("%v %v of %d bytes, type %d: %v with data, %v with the size", op, a, bytes, n, took, sized)
						}
					}
				}
			}
		}
	}
}

// What a member contributes is read before its result is written: a collective works
// in place, as with MPI_IN_PLACE (MPI 4.1, 6.2), and with slices that overlap anyhow.
// Blocking or not, by both interpreters, on any number of engines.
func TestCollectivesInPlace(t *testing.T) {
	const ranks, count = 5, 3
	for _, op := range collectives.Operations() {
		if op == collectives.Barrier || op == collectives.Bcast {
			continue
		}
		for _, a := range collectives.Algorithms(op) {
			for engines := 1; engines <= 4; engines++ {
				for _, i := range interpreters {
					for at := -1; at <= 2; at++ {
						x := exercise{op: op, members: ranks, root: 1, count: count, whole: true}
						_, err := simulate(t, mpivirt.Config{
							Target: target(t, joined, ranks), Collectives: i, Algorithms: map[collectives.Operation]collectives.Algorithm{op: a},
							Program: mpivirt.Program{Name: "in place", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return inPlace(r, x, at, engines%2 == 0) })}},
						}, engines)
						if err != nil {
							t.Errorf("%v %v, %d engines, interpreter %d, at %d: %v", op, a, engines, i, at, err)
						}
					}
				}
			}
		}
	}
}

// inPlace carries out a collective whose input lies from element at on in the memory of
// its result, or for -1 where the result has this member's block.
func inPlace(r *mpivirt.Rank, x exercise, at int, nonblocking bool) error {
	a := x.arguments(r.Rank())
	if at < 0 {
		if at = 0; x.op == collectives.Gather || x.op == collectives.Allgather {
			at = r.Rank() * len(a.send)
		}
	}
	memory := filled(max(at+len(a.send), len(a.receive)))
	copy(memory[at:], a.send)
	a.send, a.receive = memory[at:at+len(a.send)], memory[:len(a.receive)]
	err := a.call(r.World())
	if nonblocking && err == nil {
		copy(memory, filled(len(memory)))
		b := x.arguments(r.Rank())
		copy(a.send, b.send)
		err = waited(a.begin(r.World()))
	}
	if want := x.result(r.Rank()); err == nil && !(x.op == collectives.Exscan && r.Rank() == 0) && !slices.Equal(a.receive[:len(want)], want) {
		return fmt.Errorf("rank %d has %v, want %v", r.Rank(), a.receive, want)
	}
	return err
}

// ofBytes carries out a collective with data of so many bytes in the vector, or in
// each member's block.
func ofBytes(c *mpivirt.Comm, op collectives.Operation, bytes, root int) error {
	return ofElements[byte](c, op, bytes, root)
}

// ofElements is ofBytes with so many elements of a type.
func ofElements[T byte | int32 | int | float64](c *mpivirt.Comm, op collectives.Operation, bytes, root int) error {
	v, all, sum := make([]T, bytes), make([]T, bytes*c.Size()), mpivirt.Sum[T]()
	switch op {
	case collectives.Bcast:
		return mpivirt.Bcast(c, v, root)
	case collectives.Reduce:
		return mpivirt.Reduce(c, v, v, sum, root)
	case collectives.Allreduce:
		return mpivirt.Allreduce(c, v, v, sum)
	case collectives.Gather:
		return mpivirt.Gather(c, v, all, root)
	case collectives.Scatter:
		return mpivirt.Scatter(c, all, v, root)
	case collectives.Allgather:
		return mpivirt.Allgather(c, v, all)
	case collectives.Alltoall:
		return mpivirt.Alltoall(c, all, make([]T, len(all)))
	case collectives.ReduceScatter:
		counts := slices.Repeat([]int{bytes}, c.Size())
		return mpivirt.ReduceScatter(c, all, v, counts, sum)
	case collectives.Scan:
		return mpivirt.Scan(c, v, v, sum)
	case collectives.Exscan:
		return mpivirt.Exscan(c, v, v, sum)
	default:
		return c.Barrier()
	}
}

// The table of closed forms in the design, section 7, as it stands there, for α,
// β and γ of the machine hockney and m a multiple of the number of chunks. For
// numbers of ranks P = P' + r with 0 < r <= P'/2 the folding of the butterfly ends
// one α + βm sooner than the table says; see [collectives.ClosedForm].
func TestClosedFormsOfTheDesign(t *testing.T) {
	ranks := []int{2, 3, 4, 5, 6, 7, 8, 11, 16, 27, 32, 48, 63, 64, 100, 127, 128, 255, 256, 257, 300}
	for _, p := range ranks {
		l := bits.Len(uint(p)) - 1
		whole := 1 << l
		np2, spared := 0, 0 // spared: the release that costs nothing extra
		if r := p - whole; r > 0 {
			np2 = 1
			if 2*r <= whole {
				spared = 1
			}
		}
		m := int64(p * whole) // bytes: cut evenly by ring and Rabenseifner
		ns := func(alphas int, bytes, reduced int64) vtime.Duration {
			return vtime.Duration(alphas)*vtime.Microsecond + vtime.Duration(bytes)*vtime.Nanosecond + vtime.Duration(reduced)*vtime.Nanosecond/2
		}
		fold := int64(np2)
		parts := m - m/int64(whole) // f·m
		round := m - m/int64(p)     // (P−1)/P·m
		for _, c := range []struct {
			op    collectives.Operation
			a     collectives.Algorithm
			bytes int64
			want  vtime.Duration
		}{
			{collectives.Barrier, collectives.Dissemination, 0, ns(bits.Len(uint(p-1)), 0, 0)},
			{collectives.Barrier, collectives.RecursiveDoubling, 0, ns(l+2*np2-spared, 0, 0)},
			{collectives.Barrier, collectives.NodeLeader, 0, ns(l+2*np2-spared, 0, 0)},
			{collectives.Bcast, collectives.Binomial, m, ns(l, int64(l)*m, 0)},
			{collectives.Allreduce, collectives.RecursiveDoubling, m, ns(l+2*np2-spared, (int64(l)+2*fold-int64(spared))*m, (int64(l)+fold)*m)},
			{collectives.Allreduce, collectives.NodeLeader, m, ns(l+2*np2-spared, (int64(l)+2*fold-int64(spared))*m, (int64(l)+fold)*m)},
			{collectives.Allreduce, collectives.Rabenseifner, m, ns(2*l+2*np2, 2*parts+2*fold*m, parts+fold*m)},
			{collectives.Allreduce, collectives.Ring, m, ns(2*(p-1), 2*round, round)},
		} {
			if p > 128 && c.a == collectives.Ring {
				continue // P² messages
			}
			for _, i := range interpreters {
				got := finish(t, target(t, hockney, p), i, 2, c.op, c.a, func(w *mpivirt.Comm) error { return w.CollectiveSize(c.op, c.bytes, 0) })
				if got != c.want {
					t.Errorf("%v %v of %d ranks, %d bytes, interpreter %d: %v, want %v", c.op, c.a, p, c.bytes, i, got, c.want)
				}
			}
		}
	}
}

// Design, section 7, the figures of LogGOPSim with its default parameters: the
// last finish time in ns. A barrier's messages carry no bytes, which loggops
// charges like one byte.
func TestLogGOPSimFigures(t *testing.T) {
	for _, c := range []struct {
		op    collectives.Operation
		a     collectives.Algorithm
		ranks int
		bytes int64
		want  vtime.Duration
	}{
		{collectives.Barrier, collectives.Dissemination, 8, 0, 16500 * vtime.Nanosecond},
		{collectives.Barrier, collectives.Dissemination, 64, 0, 33000 * vtime.Nanosecond},
		{collectives.Reduce, collectives.Binomial, 8, 1024, 34914 * vtime.Nanosecond},
		{collectives.Bcast, collectives.Binomial, 8, 1 << 20, 18890850 * vtime.Nanosecond},
	} {
		for _, i := range interpreters {
			for _, engines := range []int{1, 3} {
				got := finish(t, target(t, "loggops-default", c.ranks), i, engines, c.op, c.a, func(w *mpivirt.Comm) error { return w.CollectiveSize(c.op, c.bytes, 0) })
				if got != c.want {
					t.Errorf("%v %v of %d ranks, %d bytes, interpreter %d, %d engines: %v, want %v", c.op, c.a, c.ranks, c.bytes, i, engines, got, c.want)
				}
			}
		}
	}
}

// The figures for dissemination with bytes, by a program that sends its messages.
func TestLogGOPSimDisseminationOfBytes(t *testing.T) {
	for _, c := range []struct {
		ranks int
		bytes int64
		want  vtime.Duration
	}{
		{8, 1, 16500 * vtime.Nanosecond}, {64, 1, 33000 * vtime.Nanosecond},
		{8, 8, 16626 * vtime.Nanosecond}, {64, 8, 33252 * vtime.Nanosecond},
	} {
		disseminate := func(w *mpivirt.Comm) error {
			for distance := 1; distance < c.ranks; distance *= 2 {
				if err := w.SendSize(c.bytes, (w.Rank()+distance)%c.ranks, distance); err != nil {
					return err
				}
				if _, err := w.RecvSize(c.bytes, (w.Rank()+c.ranks-distance)%c.ranks, distance); err != nil {
					return err
				}
			}
			return nil
		}
		if got := finish(t, target(t, "loggops-default", c.ranks), mpivirt.Auto, 2, collectives.Barrier, collectives.Linear, disseminate); got != c.want {
			t.Errorf("%d ranks, %d bytes: %v, want %v", c.ranks, c.bytes, got, c.want)
		}
	}
}

// joined is a machine of nodes with three ranks, α_intra = 10 ns, α_inter = 1 us.
const joined = "name: joined\nranks_per_node: 3\nnetwork: {model: twolevel, intra: {latency: 10ns}, inter: {latency: 1us}}\n"

// exits returns when each rank leaves a collective that it enters at the time
// given, in ns.
func exits(t *testing.T, c mpivirt.Config, engines int, entries []int, call func(c *mpivirt.Comm) error) []vtime.Time {
	t.Helper()
	left := make([]vtime.Time, len(entries))
	c.Program = mpivirt.Program{Name: "entries", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		r.Compute(vtime.Duration(entries[r.Rank()]) * vtime.Nanosecond)
		err := call(r.World())
		left[r.Rank()] = r.Now()
		return err
	})}}
	if _, err := simulate(t, c, engines); err != nil {
		t.Fatal(err)
	}
	return left
}

// Design, section 7: "the leader goes on at the latest of its own entry and each other
// member's entry + α_intra; the others leave at the leader's exit + α_intra; a node with
// one rank has only the butterfly."
func TestNodeLeaderSemantics(t *testing.T) {
	for _, c := range []struct {
		name    string
		machine string
		entries []int
		want    []vtime.Duration // ns
	}{
		{"another rank is last", joined, []int{5, 50, 20}, []vtime.Duration{60, 70, 70}},
		{"the leader is last", joined, []int{50, 5, 20}, []vtime.Duration{50, 60, 60}},
		{"the leader is last by less than α_intra", joined, []int{50, 45, 20}, []vtime.Duration{55, 65, 65}},
		{"the leader is last by α_intra", joined, []int{50, 40, 20}, []vtime.Duration{50, 60, 60}},
		{"all at once", joined, []int{7, 7, 7}, []vtime.Duration{17, 27, 27}},
		{"the leader and another rank at once", joined, []int{7, 7, 3}, []vtime.Duration{17, 27, 27}},
		{"an earlier node waits in the butterfly", joined, []int{0, 0, 0, 0, 500, 0}, []vtime.Duration{1510, 1520, 1520, 1010, 1020, 1020}},
		{"one rank on the second node", joined, []int{0, 0, 0, 40}, []vtime.Duration{1040, 1050, 1050, 1010}},
		{"one rank on each node", "name: single\nnetwork: {model: flat, latency: 1us}\n", []int{0, 40}, []vtime.Duration{1040, 1000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, i := range interpreters {
				for engines := 1; engines <= 4; engines++ {
					got := exits(t, mpivirt.Config{Target: target(t, c.machine, len(c.entries)), Collectives: i}, engines, c.entries, (*mpivirt.Comm).Barrier)
					for rank, ns := range c.want {
						if got[rank] != vtime.Time(ns*vtime.Nanosecond) {
							t.Errorf("interpreter %d, %d engines: rank %d leaves at %v, want %dns", i, engines, rank, got[rank], ns)
						}
					}
				}
			}
		})
	}
}

// Design, section 7: "Target nodes come from the machine file, never from how the
// simulation is hosted." With cyclic mapping, ranks 0 and 2 are on one node and 1
// and 3 on the other, whatever engine they belong to.
func TestNodesComeFromTheMachine(t *testing.T) {
	machine := "name: dealt\nnodes: 2\nranks_per_node: 2\nmapping: cyclic\nnetwork: {model: twolevel, intra: {latency: 10ns}, inter: {latency: 1us}}\n"
	for _, i := range interpreters {
		for engines := 1; engines <= 4; engines++ {
			got := exits(t, mpivirt.Config{Target: target(t, machine, 4), Collectives: i}, engines, []int{0, 140, 0, 0}, (*mpivirt.Comm).Barrier)
			for rank, ns := range []vtime.Duration{1140, 1010, 1150, 1020} {
				if got[rank] != vtime.Time(ns*vtime.Nanosecond) {
					t.Errorf("interpreter %d, %d engines: rank %d leaves at %v, want %dns", i, engines, rank, got[rank], ns)
				}
			}
		}
	}
}

// fold is what the algorithm makes of one number from each rank.
func fold(t *testing.T, tgt *network.Target, a collectives.Algorithm, values []float64) float64 {
	add := func(lower, higher float64) float64 { return lower + higher }
	if a == collectives.NodeLeader {
		sums := make([]float64, tgt.Nodes())
		for node := range sums {
			sums[node] = values[tgt.NodeMember(node, 0)]
			for k := 1; k < tgt.NodeSize(node); k++ {
				sums[node] += values[tgt.NodeMember(node, k)]
			}
		}
		values = sums
	}
	sum, err := collectives.Fold(a, values, add)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// Design, section 7: "Allreduce gathers data in the join, in shared buffers, in
// rank order, so that floating-point sums are the same on any number of hosts."
// The sum of each node is made in rank order, and the sums of the nodes in the tree
// of the butterfly; the other algorithms combine in the trees of
// [collectives.Fold].
func TestAllreduceCombinesInTheTreeOfTheAlgorithm(t *testing.T) {
	algorithms := []collectives.Algorithm{
		collectives.NodeLeader, collectives.RecursiveDoubling, collectives.Rabenseifner, collectives.Binomial, collectives.Linear,
	}
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(1, 60).Draw(rt, "ranks")
		machine := fmt.Sprintf("name: m\nranks_per_node: %d\nmapping: %s\nnetwork: {model: flat, latency: 1us}\n",
			rapid.IntRange(1, 7).Draw(rt, "per node"), rapid.SampledFrom([]string{"block", "cyclic", "random:3"}).Draw(rt, "mapping"))
		tgt := target(t, machine, ranks)
		a := rapid.SampledFrom(algorithms).Draw(rt, "algorithm")
		values := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), ranks, ranks).Draw(rt, "values")
		want := fold(t, tgt, a, values)
		for _, i := range interpreters {
			engines := rapid.IntRange(1, 5).Draw(rt, "engines")
			_, err := simulate(t, mpivirt.Config{
				Target: tgt, Collectives: i, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: a},
				Program: mpivirt.Program{Name: "sum", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					sum := []float64{0}
					r.Compute(vtime.Duration(values[r.Rank()]*1e3) & 0xfffff)
					err := mpivirt.Allreduce(r.World(), values[r.Rank():r.Rank()+1], sum, mpivirt.Sum[float64]())
					if math.Float64bits(sum[0]) != math.Float64bits(want) {
						return fmt.Errorf("the sum is %x, want %x", sum[0], want)
					}
					return err
				})}},
			}, engines)
			if err != nil {
				rt.Fatalf("interpreter %d, %d engines: %v", i, engines, err)
			}
		}
	})
}

// Affine maps x → m·x + c modulo 2^32, packed into a word: composing them is
// associative and not commutative.
func compose(first, then uint64) uint64 {
	m, c := first>>32, first&(1<<32-1)
	n, d := then>>32, then&(1<<32-1)
	return (m*n)<<32 | (n*c+d)&(1<<32-1)
}

// An operation that does not commute is combined in rank order by every algorithm
// that has been chosen, whatever the mapping of ranks to nodes, and on
// communicators of another order in that order.
func TestOperationsThatDoNotCommuteKeepTheOrder(t *testing.T) {
	maps := func(member int) []uint64 {
		return []uint64{random.Uint64(1, uint64(member), 0) | 1<<32, random.Uint64(1, uint64(member), 1) | 1<<32}
	}
	between := func(from, to int) []uint64 {
		total := maps(from)
		for m := from + 1; m < to; m++ {
			for i, v := range maps(m) {
				total[i] = compose(total[i], v)
			}
		}
		return total
	}
	check := func(c *mpivirt.Comm, op mpivirt.Op[uint64], step int) error {
		p, me := c.Size(), c.Rank()
		got := map[string][]uint64{"scan": {1, 2}, "exscan": {1, 2}, "allreduce": {1, 2}, "reduce": {1, 2}, "reduce_scatter": {1, 2}}
		counts := make([]int, p)
		counts[p-1] = 2
		err := errors.Join(
			mpivirt.Scan(c, maps(me), got["scan"], op),
			mpivirt.Exscan(c, maps(me), got["exscan"], op),
			mpivirt.Allreduce(c, maps(me), got["allreduce"], op),
			mpivirt.Reduce(c, maps(me), got["reduce"], op, p/2),
			mpivirt.ReduceScatter(c, maps(me), got["reduce_scatter"], counts, op),
		)
		want := map[string][]uint64{"scan": between(0, me+1), "exscan": {1, 2}, "allreduce": between(0, p), "reduce": {1, 2}, "reduce_scatter": {1, 2}}
		if me > 0 {
			want["exscan"] = between(0, me)
		}
		if me == p/2 {
			want["reduce"] = between(0, p)
		}
		if me == p-1 {
			want["reduce_scatter"] = between(0, p)
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("member %d of %d, step %d: %v, want %v", me, p, step, got, want)
		}
		return err
	}
	for n := range 6 { // algorithm n of each operation, or its last
		algorithms := map[collectives.Operation]collectives.Algorithm{}
		for _, op := range collectives.Operations() {
			all := collectives.Algorithms(op)
			algorithms[op] = all[min(n, len(all)-1)]
		}
		for _, mapping := range []string{"block", "cyclic", "random:1"} {
			machine := "name: m\nranks_per_node: 3\nmapping: " + mapping + "\nnetwork: {model: flat, latency: 1us}\n"
			for _, i := range interpreters {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, machine, 11), Collectives: i, Algorithms: algorithms,
					Program: mpivirt.Program{Name: "order", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						op := mpivirt.NewOp(false, compose)
						if err := check(r.World(), op, 0); err != nil {
							return err
						}
						other, err := r.World().Split(r.Rank()%2, -r.Rank())
						if err != nil {
							return err
						}
						return check(other, op, 1)
					})}},
				}, 1+n%3)
				if err != nil {
					t.Errorf("algorithms %v, mapping %s, interpreter %d: %v", algorithms, mapping, i, err)
				}
			}
		}
	}
}

// reduced returns what an allreduce of one element of each of five ranks gives.
func reduced[T mpivirt.Datatype](c *mpivirt.Comm, values [5]T, op mpivirt.Op[T]) T {
	out := []T{values[0]}
	if err := mpivirt.Allreduce(c, values[c.Rank():c.Rank()+1], out, op); err != nil {
		panic(err)
	}
	return out[0]
}

// The predefined operations, as section 6.9.2 of the MPI standard defines them.
func TestPredefinedOperations(t *testing.T) {
	const T, F = true, false
	_, err := simulate(t, mpivirt.Config{
		Target: target(t, hockney, 5),
		Program: mpivirt.Program{Name: "operations", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			c := r.World()
			for _, v := range []struct {
				name      string
				got, want any
			}{
				{"sum", reduced(c, [5]int16{1, -2, 3, 4, 5}, mpivirt.Sum[int16]()), int16(11)},
				{"sum of complex", reduced(c, [5]complex128{1i, 2, 3i, 4, 5}, mpivirt.Sum[complex128]()), 11 + 4i},
				{"prod", reduced(c, [5]uint8{3, 5, 7, 11, 13}, mpivirt.Prod[uint8]()), uint8(15015 % 256)},
				{"prod of complex", reduced(c, [5]complex64{1i, 2, 3i, 4, 5}, mpivirt.Prod[complex64]()), complex64(-120)},
				{"max", reduced(c, [5]float32{1, -2, 9, 4, 5}, mpivirt.Max[float32]()), float32(9)},
				{"min", reduced(c, [5]int{1, -2, 9, 4, 5}, mpivirt.Min[int]()), -2},
				{"land", reduced(c, [5]bool{T, T, F, T, T}, mpivirt.Land[bool]()), false},
				{"land of all", reduced(c, [5]bool{T, T, T, T, T}, mpivirt.Land[bool]()), true},
				{"lor", reduced(c, [5]bool{F, F, F, F, T}, mpivirt.Lor[bool]()), true},
				{"lor of none", reduced(c, [5]bool{}, mpivirt.Lor[bool]()), false},
				{"lxor", reduced(c, [5]bool{T, T, F, F, T}, mpivirt.Lxor[bool]()), true},
				{"band", reduced(c, [5]uint32{0b1110, 0b0111, 0b1111, 0b0110, 0b1110}, mpivirt.Band[uint32]()), uint32(0b0110)},
				{"bor", reduced(c, [5]int64{1, 2, 0, 8, 1}, mpivirt.Bor[int64]()), int64(11)},
				{"bxor", reduced(c, [5]int8{1, 3, 0, 8, 1}, mpivirt.Bxor[int8]()), int8(11)},
			} {
				if v.got != v.want {
					return fmt.Errorf("%s: %v, want %v", v.name, v.got, v.want)
				}
			}
			return nil
		})}},
	}, 2)
	if err != nil {
		t.Error(err)
	}
}

// Members that disagree about a collective: the program ends with an error that
// names a rank, its time and the call, on one engine and on several.
func TestDisagreementIsReported(t *testing.T) {
	sum, product := mpivirt.Sum[float64](), mpivirt.Prod[float64]()
	for _, c := range []struct {
		name  string
		class mpivirt.ErrorClass
		calls []string
		call  func(w *mpivirt.Comm, odd bool) error
	}{
		{"root", mpivirt.ErrRoot, []string{"Reduce"}, func(w *mpivirt.Comm, odd bool) error {
			return w.CollectiveSize(collectives.Reduce, 8, map[bool]int{false: 0, true: 1}[odd])
		}},
		{"size", mpivirt.ErrCount, []string{"Allreduce"}, func(w *mpivirt.Comm, odd bool) error {
			return w.CollectiveSize(collectives.Allreduce, map[bool]int64{false: 8, true: 16}[odd], 0)
		}},
		{"length", mpivirt.ErrCount, []string{"Allreduce"}, func(w *mpivirt.Comm, odd bool) error {
			n := map[bool]int{false: 3, true: 2}[odd]
			return mpivirt.Allreduce(w, make([]float64, n), make([]float64, n), sum)
		}},
		{"counts", mpivirt.ErrCount, []string{"ReduceScatter"}, func(w *mpivirt.Comm, odd bool) error {
			counts := map[bool][]int{false: {1, 1, 1, 1, 0, 2}, true: {1, 1, 2, 0, 0, 2}}[odd]
			return mpivirt.ReduceScatter(w, make([]float64, 6), make([]float64, 6), counts, sum)
		}},
		{"type", mpivirt.ErrCount, []string{"Allgather"}, func(w *mpivirt.Comm, odd bool) error {
			if odd {
				return mpivirt.Allgather(w, make([]float32, 2), make([]float32, 12))
			}
			return mpivirt.Allgather(w, make([]float64, 1), make([]float64, 6))
		}},
		{"operation", mpivirt.ErrOp, []string{"Allreduce"}, func(w *mpivirt.Comm, odd bool) error {
			return mpivirt.Allreduce(w, make([]float64, 3), make([]float64, 3), map[bool]mpivirt.Op[float64]{false: sum, true: product}[odd])
		}},
		{"call", mpivirt.ErrOther, []string{"Barrier", "Allreduce"}, func(w *mpivirt.Comm, odd bool) error {
			if odd {
				return w.Barrier()
			}
			return w.CollectiveSize(collectives.Allreduce, 8, 0)
		}},
	} {
		for _, i := range interpreters {
			for _, engines := range []int{1, 2, 6} {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, hockney, 6), Collectives: i,
					Program: mpivirt.Program{Name: "disagreement", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						r.Compute(vtime.Microsecond)
						return c.call(r.World(), r.Rank() >= 3)
					})}},
				}, engines)
				var failed *mpivirt.RankError
				switch {
				case !errors.As(err, &failed) || !errors.Is(err, c.class):
					t.Errorf("%s, interpreter %d, %d engines: %v, want an error of class %v", c.name, i, engines, err, c.class)
				case !slices.Contains(c.calls, failed.Call) || failed.Time < vtime.Time(vtime.Microsecond):
					t.Errorf("%s, interpreter %d, %d engines: %v: want the call %v, and a time after 1us", c.name, i, engines, err, c.calls)
				}
			}
		}
	}
}

// What is wrong with a call is the error of the call where MPI_ERRORS_RETURN is
// set, and nothing has happened.
func TestFaultyArguments(t *testing.T) {
	sum := mpivirt.Sum[int32]()
	two := make([]int32, 2)
	for _, c := range []struct {
		name  string
		class mpivirt.ErrorClass
		call  func(w *mpivirt.Comm) error
	}{
		{"root of Bcast", mpivirt.ErrRoot, func(w *mpivirt.Comm) error { return mpivirt.Bcast(w, two, 3) }},
		{"root of Gather", mpivirt.ErrRoot, func(w *mpivirt.Comm) error { return mpivirt.Gather(w, two, nil, -1) }},
		{"size of Bcast", mpivirt.ErrCount, func(w *mpivirt.Comm) error { return w.CollectiveSize(collectives.Bcast, -1, 0) }},
		{"root of a size", mpivirt.ErrRoot, func(w *mpivirt.Comm) error { return w.CollectiveSize(collectives.Gather, 8, 3) }},
		{"size of Scatterv", mpivirt.ErrArgument, func(w *mpivirt.Comm) error { return w.CollectiveSize(collectives.Scatterv, 8, 0) }},
		{"result of Allreduce", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error { return mpivirt.Allreduce(w, two, two[:1], sum) }},
		{"result of Reduce", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error { return mpivirt.Reduce(w, two, two[:1], sum, w.Rank()) }},
		{"result of Scan", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error { return mpivirt.Scan(w, two, two[:1], sum) }},
		{"result of Exscan", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error { return mpivirt.Exscan(w, two, nil, sum) }},
		{"result of Gather", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error { return mpivirt.Gather(w, two, two, w.Rank()) }},
		{"result of Gatherv", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error {
			return mpivirt.Gatherv(w, two, two, []int{2, 2, 2}, w.Rank())
		}},
		{"counts of Gatherv", mpivirt.ErrCount, func(w *mpivirt.Comm) error {
			return mpivirt.Gatherv(w, two, make([]int32, 9), []int{1, 1, 1}, w.Rank())
		}},
		{"number of counts of Gatherv", mpivirt.ErrCount, func(w *mpivirt.Comm) error {
			return mpivirt.Gatherv(w, two, make([]int32, 9), []int{2, 2, 2, 2}, w.Rank())
		}},
		{"input of Scatter", mpivirt.ErrCount, func(w *mpivirt.Comm) error { return mpivirt.Scatter(w, two, two, w.Rank()) }},
		{"input of Scatterv", mpivirt.ErrCount, func(w *mpivirt.Comm) error {
			return mpivirt.Scatterv(w, two, []int{1, 1, 1}, two, w.Rank())
		}},
		{"result of Scatterv", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error {
			return mpivirt.Scatterv(w, make([]int32, 9), []int{3, 3, 3}, two, w.Rank())
		}},
		{"negative count of Scatterv", mpivirt.ErrCount, func(w *mpivirt.Comm) error {
			return mpivirt.Scatterv(w, make([]int32, 9), []int{3, -3, 3}, make([]int32, 3), w.Rank())
		}},
		{"result of Allgather", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error { return mpivirt.Allgather(w, two, two) }},
		{"count of Allgatherv", mpivirt.ErrCount, func(w *mpivirt.Comm) error {
			return mpivirt.Allgatherv(w, two, make([]int32, 9), []int{1, 1, 1})
		}},
		{"input of Alltoall", mpivirt.ErrCount, func(w *mpivirt.Comm) error { return mpivirt.Alltoall(w, two, two) }},
		{"result of Alltoall", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error { return mpivirt.Alltoall(w, make([]int32, 3), two) }},
		{"input of Alltoallv", mpivirt.ErrCount, func(w *mpivirt.Comm) error {
			return mpivirt.Alltoallv(w, two, []int{1, 1, 1}, make([]int32, 3), []int{1, 1, 1})
		}},
		{"result of Alltoallv", mpivirt.ErrBuffer, func(w *mpivirt.Comm) error {
			return mpivirt.Alltoallv(w, make([]int32, 3), []int{1, 1, 1}, two, []int{1, 1, 1})
		}},
		{"negative count of Alltoallv", mpivirt.ErrCount, func(w *mpivirt.Comm) error {
			return mpivirt.Alltoallv(w, two, []int{2, -1, 1}, make([]int32, 3), []int{1, 1, 1})
		}},
		{"input of ReduceScatter", mpivirt.ErrCount, func(w *mpivirt.Comm) error {
			return mpivirt.ReduceScatter(w, two, two, []int{1, 1, 1}, sum)
		}},
		{"color of Split", mpivirt.ErrArgument, func(w *mpivirt.Comm) error { _, err := w.Split(-2, 0); return err }},
		{"freeing WORLD", mpivirt.ErrComm, (*mpivirt.Comm).Free},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 3), Program: mpivirt.Program{Name: "faulty", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				r.SetErrorsReturn(true)
				if err := c.call(r.World()); !errors.Is(err, c.class) {
					return fmt.Errorf("%v, want an error of class %v", err, c.class)
				}
				if r.Now() != 0 {
					return fmt.Errorf("it took until %v", r.Now())
				}
				return r.World().Barrier()
			})}}}, 2)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A member that sends more than the root, or its receiver, has counted.
func TestTruncationInCollectives(t *testing.T) {
	for name, call := range map[string]func(w *mpivirt.Comm) error{
		"Gatherv": func(w *mpivirt.Comm) error {
			send := make([]int64, 1)
			if w.Rank() == 2 {
				send = make([]int64, 3)
			}
			return mpivirt.Gatherv(w, send, make([]int64, 6), []int{1, 1, 2, 1, 1}, 0)
		},
		"Scatterv": func(w *mpivirt.Comm) error {
			return mpivirt.Scatterv(w, make([]int64, 6), []int{1, 1, 2, 1, 1}, make([]int64, 1), 0)
		},
		"Alltoallv": func(w *mpivirt.Comm) error {
			counts := []int{1, 1, 1, 1, 1}
			if w.Rank() == 4 {
				counts[1] = 2
			}
			return mpivirt.Alltoallv(w, make([]int64, 6), counts, make([]int64, 5), []int{1, 1, 1, 1, 1})
		},
	} {
		for _, engines := range []int{1, 2, 5} {
			_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 5), Program: mpivirt.Program{Name: "truncation",
				Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return call(r.World()) })}}}, engines)
			var failed *mpivirt.RankError
			if !errors.As(err, &failed) || !errors.Is(err, mpivirt.ErrTruncate) || failed.Call != name {
				t.Errorf("%s, %d engines: %v, want ErrTruncate in that call", name, engines, err)
			}
		}
	}
}

// What nobody sent leaves the receive buffer as it was: more room than a block
// needs, and vectors without elements.
func TestReceiveBuffersBeyondTheMessage(t *testing.T) {
	for ranks := 1; ranks <= 5; ranks++ {
		for _, i := range interpreters {
			for _, engines := range []int{1, 2} {
				_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, ranks), Collectives: i,
					Program: mpivirt.Program{Name: "room", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return roomier(r.World()) })}}}, engines)
				if err != nil {
					t.Errorf("%d ranks, interpreter %d, %d engines: %v", ranks, i, engines, err)
				}
			}
		}
	}
}

// roomier makes collectives with more room than they need.
func roomier(w *mpivirt.Comm) error {
	p, me := w.Size(), w.Rank()
	ones := make([]int, p)
	for i := range ones {
		ones[i] = 1
	}
	dirt := func() error { // leaves memory that is not zero behind in the kernel
		x := exercise{op: collectives.Alltoall, members: p, count: 4, key: 1}
		return x.arguments(me).call(w)
	}
	scattered, exchanged, none := filled(3), filled(p+2), []float64{}
	if err := errors.Join(dirt(), mpivirt.Scatterv(w, make([]float64, p+3), ones, scattered, 0)); err != nil {
		return err
	}
	if want := []float64{0, untouched, untouched}; !slices.Equal(scattered, want) {
		return fmt.Errorf("scatterv: member %d has %v, want %v", me, scattered, want)
	}
	if err := errors.Join(dirt(), mpivirt.Alltoallv(w, make([]float64, p+1), ones, exchanged, ones)); err != nil {
		return err
	}
	if want := append(make([]float64, p), untouched, untouched); !slices.Equal(exchanged, want) {
		return fmt.Errorf("alltoallv: member %d has %v, want %v", me, exchanged, want)
	}
	reduced := filled(2)
	err := errors.Join(
		mpivirt.Allreduce(w, none, reduced, mpivirt.Sum[float64]()),
		mpivirt.Allreduce(w, none, nil, mpivirt.Sum[float64]()),
		mpivirt.Scan(w, none, reduced, mpivirt.Sum[float64]()),
		mpivirt.Bcast(w, none, p-1),
		mpivirt.Alltoall(w, none, reduced),
	)
	if !slices.Equal(reduced, filled(2)) {
		return fmt.Errorf("vectors without elements give member %d %v", me, reduced)
	}
	return err
}

// A report of a deadlock names who waits in a collective, and nobody who has left
// it: the leaves of a reduction are free at once, and the first node of a barrier
// that lacks a member waits as a whole.
func TestDeadlockInCollectives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		machine string
		absent  int
		call    func(w *mpivirt.Comm) error
		waiting []int
	}{
		{"reduce", hockney, 3, func(w *mpivirt.Comm) error { return w.CollectiveSize(collectives.Reduce, 8, 0) }, []int{0, 2}},
		{"barrier", joined, 4, (*mpivirt.Comm).Barrier, []int{0, 1, 2, 3, 5}},
		{"split", hockney, 1, func(w *mpivirt.Comm) error { _, err := w.Split(0, 0); return err }, []int{0, 2, 3, 4, 5}},
	} {
		for _, i := range interpreters {
			for _, engines := range []int{1, 2, 3} {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, c.machine, 6), Collectives: i,
					Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Reduce: collectives.Binomial},
					Program: mpivirt.Program{Name: "absent", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						if r.Rank() == c.absent {
							return nil
						}
						return c.call(r.World())
					})}},
				}, engines)
				var deadlock *mpivirt.DeadlockError
				if !errors.As(err, &deadlock) {
					t.Errorf("%s, interpreter %d, %d engines: %v, want a deadlock", c.name, i, engines, err)
					continue
				}
				var waiting []int
				for _, b := range deadlock.Blocked {
					waiting = append(waiting, b.Rank)
				}
				if !slices.Equal(waiting, c.waiting) || deadlock.Waiting != uint64(len(c.waiting)) {
					t.Errorf("%s, interpreter %d, %d engines: %v, want ranks %v to wait", c.name, i, engines, err, c.waiting)
				}
			}
		}
	}
}

// MPI 4.1, 6.9.7: MPI_REDUCE_LOCAL combines "inbuf" and "inoutbuf" in this order into "inoutbuf".
func TestReduceLocalKeepsTheOrder(t *testing.T) {
	first := mpivirt.NewOp(false, func(a, _ int) int { return a })
	in, inout := []int{1, 2}, []int{3, 4}
	if err := mpivirt.ReduceLocal(in, inout, first); err != nil || !slices.Equal(inout, []int{1, 2}) {
		t.Errorf("the first of both is %v, %v", inout, err)
	}
	if err := mpivirt.ReduceLocal(in, inout, mpivirt.Sum[int]()); err != nil || !slices.Equal(inout, []int{2, 4}) || !slices.Equal(in, []int{1, 2}) {
		t.Errorf("%v, %v", inout, err)
	}
	if err := mpivirt.ReduceLocal(in, nil, first); !errors.Is(err, mpivirt.ErrCount) {
		t.Errorf("two numbers and none: %v", err)
	}
	if err := mpivirt.ReduceLocal(nil, nil, first); err != nil {
		t.Error(err)
	}
}

// MPI 4.1, 6.10.1: MPI_REDUCE_SCATTER_BLOCK is MPI_REDUCE_SCATTER with equal counts, in time too.
func TestReduceScatterBlock(t *testing.T) {
	for engines := 1; engines <= 2; engines++ {
		err := inside(t, 5, engines, false, func(r *mpivirt.Rank) error {
			send, receive, other := make([]int, 10), make([]int, 2), make([]int, 2)
			for i := range send {
				send[i] = 100*r.Rank() + i
			}
			var took [3]vtime.Time
			for i, call := range []func() error{
				func() error { return mpivirt.ReduceScatterBlock(r.World(), send, receive, mpivirt.Sum[int]()) },
				func() error {
					return mpivirt.ReduceScatter(r.World(), send, other, []int{2, 2, 2, 2, 2}, mpivirt.Sum[int]())
				},
				func() error { return waited(mpivirt.IreduceScatterBlock(r.World(), send, other, mpivirt.Sum[int]())) },
			} {
				if err := errors.Join(r.World().Barrier(), call()); err != nil {
					return err
				}
				took[i] = r.Now()
			}
			want := []int{1000 + 10*r.Rank(), 1005 + 10*r.Rank()}
			if !slices.Equal(receive, want) || !slices.Equal(other, want) || took[1]-took[0] != took[2]-took[1] {
				return fmt.Errorf("%v and %v at %v, want %v", receive, other, took, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
