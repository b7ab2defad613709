package collectives

// entry is one algorithm of an operation.
type entry struct {
	algorithm Algorithm
	unordered bool // does not keep the rank order
	line      string
	build     func(op Operation, members, root int) Schedule // nil: node-leader, given, offload
}

// registry has the algorithms of each operation, the default first.
var registry = [operations][]entry{
	Barrier: {
		{NodeLeader, false, "ranks of a node join, leaders run a butterfly, one release per node", nil},
		{Linear, false, "all report to rank 0, which releases them one by one", starBoth},
		{Binomial, false, "up a binomial tree to rank 0 and down again", treeBoth},
		{Dissemination, false, "ceil(log2 P) rounds of messages over distances 1, 2, 4, …", dissemination},
		{RecursiveDoubling, false, "butterfly: partners at distances 1, 2, 4, … exchange; P is folded to a power of two", wholeButterfly},
		{GivenTime, false, "all leave when the last has entered and the time that the machine file gives is over", nil},
		{Offload, false, "ranks of a node join, switches let all nodes go, one release per node", nil},
	},
	Bcast: {
		{Binomial, false, "down a binomial tree", treeOne},
		{Linear, false, "the root sends to one after another", starOne},
		{Ring, false, "each rank hands it to the next", ringBcast},
		{Offload, false, "ranks of a node join, switches send the vector to all nodes, one release per node", nil},
	},
	Reduce: {
		{Binomial, false, "up a binomial tree that keeps the rank order for every root", treeOne},
		{Linear, false, "the root receives from one after another", starOne},
		{Offload, true, "ranks of a node join, switches sum the vectors of the nodes up, one release per node", nil},
	},
	Allreduce: {
		{NodeLeader, true, "ranks of a node join, leaders run a butterfly, one release per node", nil},
		{RecursiveDoubling, false, "partners at distances 1, 2, 4, … exchange the whole vector; P is folded to a power of two", wholeButterfly},
		{Ring, true, "reduce_scatter and allgather of P chunks round a ring", ringAllreduce},
		{Rabenseifner, false, "reduce_scatter by halving and allgather by doubling; P is folded to a power of two", rabenseifner},
		{Binomial, false, "binomial reduce to rank 0, then binomial bcast", treeBoth},
		{Linear, false, "linear reduce to rank 0, then linear bcast", starBoth},
		{Offload, true, "ranks of a node join, switches sum the vectors of the nodes up, one release per node", nil},
	},
	Gather: {
		{Binomial, false, "up a binomial tree, subtrees together", treeOne},
		{Linear, false, "the root receives from one after another", starOne},
	},
	Gatherv: {
		{Linear, false, "the root receives from one after another", starOne},
	},
	Scatter: {
		{Binomial, false, "down a binomial tree, subtrees together", treeOne},
		{Linear, false, "the root sends to one after another", starOne},
	},
	Scatterv: {
		{Linear, false, "the root sends to one after another", starOne},
	},
	Allgather:  allgathers,
	Allgatherv: allgathers,
	Alltoall: {
		{Pairwise, false, "in round k everyone sends to the rank k further on", pairs},
		{Bruck, false, "ceil(log2 P) rounds, half of all blocks in each", bruckAlltoall},
		{Linear, false, "everyone exchanges with ranks 0, 1, 2, … in turn", linearAlltoall},
	},
	Alltoallv: {
		{Pairwise, false, "in round k everyone sends to the rank k further on", pairs},
		{Linear, false, "everyone exchanges with ranks 0, 1, 2, … in turn", linearAlltoall},
	},
	ReduceScatter: {
		{Binomial, false, "binomial reduce to rank 0, then binomial scatter", treeBoth},
		{Pairwise, true, "in round k everyone sends its share to the rank k further on", pairs},
		{Ring, true, "partial sums go round a ring", ringReduceScatter},
		{Linear, false, "linear reduce to rank 0, then linear scatter", starBoth},
	},
	Scan: {
		{RecursiveDoubling, false, "partners at distances 1, 2, 4, … exchange the sums of their ranges", doublingScan},
		{Linear, false, "each rank adds its part and hands the sum to the next", lineScan},
	},
	Exscan: {
		{RecursiveDoubling, false, "partners at distances 1, 2, 4, … exchange the sums of their ranges", doublingScan},
		{Linear, false, "each rank adds its part and hands the sum to the next", lineScan},
	},
}

var allgathers = []entry{
	{Ring, false, "everyone hands blocks round a ring", ringAllgather},
	{RecursiveDoubling, false, "partners at distances 1, 2, 4, … exchange what they have; P is folded to a power of two", joiningButterfly},
	{Bruck, false, "ceil(log2 P) rounds over distances 1, 2, 4, …", bruckAllgather},
	{Linear, false, "linear gather to rank 0, then linear bcast of everything", starBoth},
}

func find(op Operation, a Algorithm) *entry {
	if op >= operations {
		return nil
	}
	for i := range registry[op] {
		if registry[op][i].algorithm == a {
			return &registry[op][i]
		}
	}
	return nil
}

// place returns the places of input and output in a buffer with a number of positions.
func place(op Operation, members, root, positions int) placement {
	return placement{operation: op, members: members, root: root, pieces: positions}
}

// whole returns the number of positions for algorithms that do not cut a vector: 0 for a barrier, 1
// for a vector, else one per member.
func whole(op Operation, members int) int {
	switch op {
	case Barrier:
		return 0
	case Bcast, Reduce, Allreduce:
		return 1
	}
	return members
}

func dissemination(op Operation, members, root int) Schedule {
	return &doublingSchedule{doubling{members, op}, place(op, members, root, 0)}
}

func starOne(op Operation, members, root int) Schedule {
	n := whole(op, members)
	s := star{members: members, root: root, pieces: n}
	switch op {
	case Reduce:
		s.inward, s.reduce = true, true
	case Gather, Gatherv:
		s.inward, s.own = true, true
	case Scatter, Scatterv:
		s.own = true
	}
	return &starSchedule{s, place(op, members, root, n)}
}

// starBoth is a star to member 0 and back.
func starBoth(op Operation, members, root int) Schedule {
	n := whole(op, members)
	in := star{members: members, root: root, pieces: n, inward: true}
	out := star{members: members, root: root, pieces: n}
	switch op {
	case Allreduce:
		in.reduce = true
	case ReduceScatter:
		in.reduce, out.own = true, true
	case Allgather, Allgatherv:
		in.own = true
	}
	return &chainSchedule{inTurn(&in, &out), place(op, members, root, n)}
}

func treeOne(op Operation, members, root int) Schedule {
	n := whole(op, members)
	p := place(op, members, root, n)
	switch op {
	case Reduce:
		return &orderedSchedule{ordered{members, root, n}, p}
	case Gather:
		p.tree = true
		return &binomialSchedule{binomial{members: members, root: root, inward: true, subtrees: true, pieces: n}, p}
	case Scatter:
		p.tree = true
		return &binomialSchedule{binomial{members: members, root: root, subtrees: true, pieces: n}, p}
	}
	return &binomialSchedule{binomial{members: members, root: root, pieces: n}, p}
}

// treeBoth is a tree to member 0 and back.
func treeBoth(op Operation, members, root int) Schedule {
	n := whole(op, members)
	out := binomial{members: members, root: root, pieces: n, subtrees: op == ReduceScatter}
	return &chainSchedule{inTurn(&ordered{members, root, n}, &out), place(op, members, root, n)}
}

func wholeButterfly(op Operation, members, root int) Schedule {
	n := whole(op, members)
	return &butterflySchedule{butterfly{fold(members), combineAll, n}, place(op, members, root, n)}
}

func rabenseifner(op Operation, members, root int) Schedule {
	f := fold(members)
	n := 1 << f.levels
	return &butterflySchedule{butterfly{f, halveAndJoin, n}, place(op, members, root, n)}
}

func joiningButterfly(op Operation, members, root int) Schedule {
	return &butterflySchedule{butterfly{fold(members), joinRanges, members}, place(op, members, root, members)}
}

func ringBcast(op Operation, members, root int) Schedule {
	one := Blocks{First: 0, Count: 1}
	return &lineSchedule{line{members, root, one, Step{Receive: one}}, place(op, members, root, 1)}
}

func ringAllreduce(op Operation, members, root int) Schedule {
	return &ringSchedule{ring{members, 2 * (members - 1), members - 1, 0}, place(op, members, root, members)}
}

func ringReduceScatter(op Operation, members, root int) Schedule {
	return &ringSchedule{ring{members, members - 1, members - 1, -1}, place(op, members, root, members)}
}

func ringAllgather(op Operation, members, root int) Schedule {
	return &ringSchedule{ring{members, members - 1, 0, 0}, place(op, members, root, members)}
}

func bruckAllgather(op Operation, members, root int) Schedule {
	return &doublingSchedule{doubling{members, Allgather}, place(op, members, root, members)}
}

func bruckAlltoall(op Operation, members, root int) Schedule {
	p := place(op, members, root, members)
	p.rotated = true
	return &doublingSchedule{doubling{members, Alltoall}, p}
}

func pairs(op Operation, members, root int) Schedule {
	if op == ReduceScatter {
		return &pairwiseSchedule{pairwise{members, true}, place(op, members, root, members)}
	}
	return &pairwiseSchedule{pairwise{members, false}, place(op, members, root, 2*members)}
}

func linearAlltoall(op Operation, members, root int) Schedule {
	return &everyPairSchedule{everyPair{members}, place(op, members, root, 2*members)}
}

func lineScan(op Operation, members, root int) Schedule {
	if op == Scan {
		one := Blocks{First: prefix, Count: 1}
		return &lineSchedule{line{members, root, one, Step{Receive: one, Combine: TheirsFirst}}, place(op, members, root, 1)}
	}
	sum, result := Blocks{First: partial, Count: 1}, Blocks{First: prefix, Count: 1}
	receive := Step{Receive: sum, Combine: TheirsFirst, Also: result, AlsoCombine: Store}
	return &lineSchedule{line{members, root, sum, receive}, place(op, members, root, 2)}
}

func doublingScan(op Operation, members, root int) Schedule {
	return &prefixesSchedule{prefixes{members, op == Exscan}, place(op, members, root, 2)}
}
