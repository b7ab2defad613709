package mpivirt_test

import (
	"fmt"
	"math/bits"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/random"
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
	case collectives.Barrier, collectives.Bcast, collectives.Reduce, collectives.Allreduce, collectives.Allgather, collectives.Alltoall:
		return true
	}
	return false
}

// callSize makes the collective of which only the size is simulated.
func callSize(c *mpivirt.Comm, op collectives.Operation, bytes int64, root int) error {
	switch op {
	case collectives.Bcast:
		return c.BcastSize(bytes, root)
	case collectives.Reduce:
		return c.ReduceSize(bytes, root)
	case collectives.Allreduce:
		return c.AllreduceSize(bytes)
	case collectives.Allgather:
		return c.AllgatherSize(bytes)
	case collectives.Alltoall:
		return c.AlltoallSize(bytes)
	default:
		return c.Barrier()
	}
}

// interpreters are the two ways to carry a collective out that must agree.
var interpreters = []mpivirt.Interpreter{mpivirt.Message, mpivirt.Bulk}

// finish simulates one collective that all ranks enter at time 0, and returns
// when the last one leaves.
func finish(t *testing.T, tgt *network.Target, i mpivirt.Interpreter, engines int, op collectives.Operation, a collectives.Algorithm, call func(c *mpivirt.Comm) error) vtime.Duration {
	t.Helper()
	r, err := simulate(t, mpivirt.Config{
		Target: tgt, Collectives: i, Algorithms: map[collectives.Operation]collectives.Algorithm{op: a},
		Program: mpivirt.Program{Name: "one", Main: func(r *mpivirt.Rank) error { return call(r.World()) }},
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
				got := finish(t, target(t, hockney, p), i, 2, c.op, c.a, func(w *mpivirt.Comm) error { return callSize(w, c.op, c.bytes, 0) })
				if got != c.want {
					t.Errorf("%v %v of %d ranks, %d bytes, interpreter %d: %v, want %v", c.op, c.a, p, c.bytes, i, got, c.want)
				}
			}
		}
	}
}

// Design, section 7: the node-leader barrier of n nodes of more than one rank takes
// 2 α_intra and the butterfly of n leaders over α_inter.
func TestNodeLeaderBarrierClosedForm(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 31, 33} {
		for _, perNode := range []int{2, 3, 8} {
			machine := fmt.Sprintf("name: two\nranks_per_node: %d\nnetwork: {model: twolevel, intra: {latency: 300ns}, inter: {latency: 7us}}\n", perNode)
			want, _ := collectives.ClosedForm(collectives.Barrier, collectives.NodeLeader, nodes, 0, 0,
				collectives.Cost{Alpha: 7 * vtime.Microsecond, Intra: 300 * vtime.Nanosecond})
			for _, i := range interpreters {
				got := finish(t, target(t, machine, nodes*perNode), i, 3, collectives.Barrier, collectives.NodeLeader, (*mpivirt.Comm).Barrier)
				if got != want {
					t.Errorf("%d nodes of %d ranks, interpreter %d: %v, want %v", nodes, perNode, i, got, want)
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
				got := finish(t, target(t, "loggops-default", c.ranks), i, engines, c.op, c.a, func(w *mpivirt.Comm) error { return callSize(w, c.op, c.bytes, 0) })
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
