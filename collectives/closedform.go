package collectives

import "gigarank/vtime"

// Cost is what messages and reductions cost in the closed forms: Hockney's model
// α + βm for a message of m bytes, whose sender is free at once, and γm for
// reducing m bytes. Beta and Gamma return a time for a number of bytes, rounded
// to picoseconds as the machine rounds it; nil is no time. Neither may decrease
// with the number of bytes.
type Cost struct {
	Alpha vtime.Duration // latency of a message
	Intra vtime.Duration // latency within a node; only node-leader uses it
	Beta  func(bytes int64) vtime.Duration
	Gamma func(bytes int64) vtime.Duration
}

// message returns what a message of so many bytes takes.
func (c Cost) message(bytes int64) vtime.Duration {
	if c.Beta == nil {
		return c.Alpha
	}
	return c.Alpha + c.Beta(bytes)
}

// work returns what reducing so many bytes takes.
func (c Cost) work(bytes int64) vtime.Duration {
	if c.Gamma == nil {
		return 0
	}
	return c.Gamma(bytes)
}

// ClosedForm returns the time from the common entry of all members to the last
// exit, exact to the picosecond. The operation is on count elements of size
// bytes, as for LayoutOf, and its root is 0. For the node-leader barrier,
// members is the number of nodes, each of more than one rank. ok is false where
// there is no closed form: for alltoall linear, node-leader allreduce, and, at
// numbers of members that are no powers of two, for allgather, scan and exscan by
// recursive doubling.
//
// With L = ⌊log2 P⌋, P' = 2^L, r = P − P', x = α + βm and g = γm, the butterfly
// takes L(x + g) if r = 0, (L + 1)(x + g) if 0 < r <= P'/2, and
// (L + 1)(x + g) + x if r > P'/2. The usual formula L(x + g) + 2x + g for r > 0
// is that of rounds in step, and an upper bound here: survivor s, which is late
// because it folds, holds up survivor P' − 1 − s by the full L rounds, and only if
// r > P'/2 are there such pairs in which both release a folded member at the end.
func ClosedForm(op Operation, a Algorithm, members int, count, size int64, c Cost) (d vtime.Duration, ok bool) {
	if find(op, a) == nil || members < 1 {
		return 0, false
	}
	f := form{members, fold(members), count, size, c}
	switch op {
	case Barrier:
		f.count = 0
		return f.barrier(a)
	case Bcast:
		return f.bcast(a, count*size), true
	case Reduce:
		return f.reduce(a, count*size), true
	case Allreduce:
		return f.allreduce(a)
	case Gather, Gatherv, Scatter, Scatterv:
		return f.gather(a), true
	case Allgather, Allgatherv:
		return f.allgather(a)
	case Alltoall, Alltoallv:
		return f.alltoall(a)
	case ReduceScatter:
		return f.reduceScatter(a), true
	}
	return f.scan(a, op == Exscan)
}

// form has what the closed forms depend on.
type form struct {
	members int
	fold    folding
	count   int64
	size    int64
	cost    Cost
}

// times returns n·d for a number of members or rounds.
func times(n int, d vtime.Duration) vtime.Duration { return vtime.Duration(n) * d }

// any returns d, or no time if there is but one member.
func (f form) any(d vtime.Duration) vtime.Duration {
	if f.members == 1 {
		return 0
	}
	return d
}

func (f form) barrier(a Algorithm) (vtime.Duration, bool) {
	alpha := f.cost.message(0)
	switch a {
	case NodeLeader:
		return 2*f.cost.Intra + f.butterfly(0), true
	case Dissemination:
		return times(logCeil(f.members), alpha), true
	case RecursiveDoubling:
		return f.butterfly(0), true
	}
	return f.reduce(a, 0) + f.bcast(a, 0), true
}

func (f form) butterfly(bytes int64) vtime.Duration {
	x, g := f.cost.message(bytes), f.cost.work(bytes)
	rounds := times(f.fold.levels, x+g)
	switch r := f.fold.extra; {
	case r == 0:
		return rounds
	case 2*r <= 1<<f.fold.levels:
		return rounds + x + g
	}
	return rounds + 2*x + g
}

// bcast: a binomial tree is as deep as a number below P has bits set.
func (f form) bcast(a Algorithm, bytes int64) vtime.Duration {
	x := f.cost.message(bytes)
	switch a {
	case Binomial:
		return times(f.fold.levels, x)
	case Ring:
		return times(f.members-1, x)
	}
	return f.any(x)
}

func (f form) reduce(a Algorithm, bytes int64) vtime.Duration {
	x, g := f.cost.message(bytes), f.cost.work(bytes)
	if a == Binomial {
		return treeReduce(f.members, x, g)
	}
	return f.any(x + times(f.members-1, g))
}

// treeReduce: the full left part of the tree is through after L rounds and then
// waits for the rest, which is a smaller tree.
func treeReduce(members int, x, g vtime.Duration) vtime.Duration {
	levels := logFloor(members)
	full := times(levels, x+g)
	rest := members - 1<<levels
	if rest == 0 {
		return full
	}
	return max(full, treeReduce(rest, x, g)+x) + g
}

func (f form) allreduce(a Algorithm) (vtime.Duration, bool) {
	bytes := f.count * f.size
	switch a {
	case NodeLeader:
		return 0, false
	case RecursiveDoubling:
		return f.butterfly(bytes), true
	case Ring: // the largest chunk goes all the way round, twice
		x, g := f.chunk(int64(f.members))
		return times(2*(f.members-1), x) + times(f.members-1, g), true
	case Rabenseifner:
		return f.rabenseifner(), true
	}
	return f.reduce(a, bytes) + f.bcast(a, bytes), true
}

// chunk returns the costs of the largest of n chunks of the vector.
func (f form) chunk(n int64) (x, g vtime.Duration) {
	elements := f.count / n
	if f.count%n != 0 {
		elements++
	}
	return f.cost.message(elements * f.size), f.cost.work(elements * f.size)
}

// rabenseifner: the upper half of an uneven range is the larger one, and the
// upper half of that again, so that the message path from survivor 0 to the last
// one, and back, takes the largest parts; survivor 0 is also the first to fold.
func (f form) rabenseifner() vtime.Duration {
	var d vtime.Duration
	if f.fold.extra > 0 {
		x, g := f.chunk(1)
		d = 2*x + g
	}
	for k := 1; k <= f.fold.levels; k++ {
		x, g := f.chunk(1 << k)
		d += 2*x + g
	}
	return d
}

// gather and scatter have the same paths in opposite directions.
func (f form) gather(a Algorithm) vtime.Duration {
	if a == Linear {
		return f.any(f.blocks(1))
	}
	return f.treeGather(f.members)
}

// blocks returns what a message of the blocks of n members takes.
func (f form) blocks(n int) vtime.Duration { return f.cost.message(int64(n) * f.count * f.size) }

func (f form) treeGather(members int) vtime.Duration {
	levels := logFloor(members)
	var full vtime.Duration
	for k := range levels {
		full += f.blocks(1 << k)
	}
	rest := members - 1<<levels
	if rest == 0 {
		return full
	}
	return max(full, f.treeGather(rest)+f.blocks(rest))
}

func (f form) allgather(a Algorithm) (vtime.Duration, bool) {
	switch a {
	case Ring:
		return times(f.members-1, f.blocks(1)), true
	case Linear:
		return f.any(f.blocks(1) + f.blocks(f.members)), true
	case RecursiveDoubling:
		if f.fold.extra > 0 {
			return 0, false
		}
	}
	var d vtime.Duration
	for n := 1; n < f.members; n *= 2 {
		d += f.blocks(min(n, f.members-n))
	}
	return d, true
}

func (f form) alltoall(a Algorithm) (vtime.Duration, bool) {
	switch a {
	case Pairwise:
		return times(f.members-1, f.blocks(1)), true
	case Bruck:
		var d vtime.Duration
		for k := range logCeil(f.members) {
			d += f.blocks(withBit(k, f.members).Count)
		}
		return d, true
	}
	return 0, f.members == 1
}

func (f form) reduceScatter(a Algorithm) vtime.Duration {
	if a == Ring || a == Pairwise {
		return times(f.members-1, f.blocks(1)+f.cost.work(f.count*f.size))
	}
	return f.reduce(a, int64(f.members)*f.count*f.size) + f.gather(a)
}

// scan by recursive doubling is longest at the last member, which combines twice
// in every round; in an exscan only once in the first.
func (f form) scan(a Algorithm, exclusive bool) (vtime.Duration, bool) {
	x, g := f.blocks(1), f.cost.work(f.count*f.size)
	if a == Linear {
		return times(f.members-1, x+g), true
	}
	d := times(f.fold.levels, x+2*g)
	if exclusive {
		d = f.any(d - g)
	}
	return d, f.fold.extra == 0
}
