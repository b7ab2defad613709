package mpivirt_test

import (
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/random"
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
