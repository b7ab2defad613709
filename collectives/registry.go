package collectives

import "slices"

// entry is one algorithm of an operation.
type entry struct {
	algorithm Algorithm
	unordered bool // does not keep the rank order
	line      string
	build     func(s Shape) Schedule // nil: node-leader, given, offload, torus-trees and the like
	takes     arguments
}

// arguments are those that an algorithm takes, and what it knows of its members.
type arguments struct {
	segments cutting            // what segments are cut from
	segment  func(s Size) int64 // the default segment; nil: a vector goes whole
	fanout   int                // the default fan-out; 0: the algorithm takes none
	nodes    bool               // the schedule depends on the members of a node
}

// none is an algorithm without arguments, byNode one whose schedule depends on nodes.
var none, byNode = arguments{}, arguments{nodes: true}

// cutting is the part of a vector that is cut into segments.
type cutting uint8

// The parts of a vector that are cut.
const (
	uncut    cutting = iota // the algorithm takes no segment
	ofVector                // the vector, or a member's block
	ofChunk                 // the chunk of a vector that is cut into one for each member
)

// segments returns the number of segments of a vector of some bytes. Chunks are cut as Open MPI cuts them
// (coll_base_allreduce.c): a rest of up to half a segment makes no segment.
func (c cutting) segments(segment, bytes int64, members int) int {
	if all := segment * int64(members); c == ofChunk && all > 0 {
		n := bytes / all
		if 2*(bytes%all) > all {
			n++
		}
		return int(max(n, 1))
	}
	if c == uncut || segment == 0 || bytes <= segment {
		return 1
	}
	return int((bytes + segment - 1) / segment)
}

// registry has the algorithms of each operation, the default first.
var registry = [operations][]entry{
	Barrier: {
		{NodeLeader, false, "ranks of a node join, leaders run a butterfly, one release per node", nil, none},
		{Linear, false, "all report to rank 0, which releases them one by one", starBoth, none},
		{Binomial, false, "up a binomial tree to rank 0 and down again", treeBoth, none},
		{Dissemination, false, "ceil(log_k P) phases of messages over k - 1 distances each: 1, 2, 4, … for a fan-out k of 2", dissemination, arguments{fanout: 2}},
		{RecursiveDoubling, false, "butterfly: partners at distances 1, 2, 4, … exchange; P is folded to a power of two", wholeButterfly, none},
		{GivenTime, false, "all leave when the last has entered and the time that the machine file gives is over", nil, none},
		{Offload, false, "ranks of a node join, switches let all nodes go, one release per node", nil, none},
		{SMP, false, "MPICH: dissemination in each node, among first ranks of nodes, and a binomial release in each node", smpBarrier, byNode},
		{HAN, false, "Open MPI: recursive doubling in each node, among first ranks of nodes, and in each node again", hanBarrier, byNode},
		{DoubleRing, false, "a message goes round all ranks twice", ringBarrier, none},
	},
	Bcast: {
		{Binomial, false, "down a binomial tree, the farthest subtree first", treeOne, arguments{segments: ofVector}},
		{BinomialDoubling, false, "down a binomial tree over distances 1, 2, 4, …, the nearest child first", doublingBcast, arguments{segments: ofVector}},
		{Knomial, false, "down a k-nomial tree, k − 1 subtrees of each size; the fan-out is k", knomialOne, arguments{segments: ofVector, fanout: 4}},
		{Binary, false, "down a balanced binary tree", binaryOne, arguments{segments: ofVector}},
		{SplitBinary, false, "halves down the two subtrees of a binary tree, then exchanged between them", splitBinary, arguments{segments: ofVector}},
		{Chain, false, "along as many chains as the fan-out says", chainOne, arguments{segments: ofVector, fanout: 4}},
		{Pipeline, false, "along one chain of all ranks", pipelineOne, arguments{segments: ofVector}},
		{ScatterAllgather, false, "binomial scatter of P chunks, then allgather by recursive doubling", scatterAllgather, none},
		{ScatterAllgatherRing, false, "binomial scatter of P chunks, then allgather round a ring", scatterAllgatherRing, none},
		{Linear, false, "the root sends to one after another", starOne, none},
		{LinearNonblocking, false, "the root sends to all at once", starAtOnce, none},
		{Ring, false, "each rank hands it to the next", ringBcast, none},
		{Offload, false, "ranks of a node join, switches send the vector to all nodes, one release per node", nil, none},
		{SMP, false, "MPICH: binomial among first ranks of nodes, then in each node", smpBcast, byNode},
		{HAN, false, "Open MPI: segments go down a tree of nodes while those before go down a tree in each node", hanBcast, arguments{segments: ofVector, nodes: true}},
		{TorusTrees, false, "Fujitsu: segments are written along the links of a torus, down as many trees side by side as the fan-out says", nil, arguments{segments: ofVector, fanout: 3}},
	},
	Reduce: {
		{Binomial, false, "up a binomial tree that keeps the rank order for every root", treeOne, arguments{segments: ofVector}},
		{Knomial, false, "up a k-nomial tree that keeps the rank order for every root; the fan-out is k", knomialOne, arguments{segments: ofVector, fanout: 4}},
		{Rabenseifner, false, "reduce_scatter by halving, then binomial gather; P is folded to a power of two", halvingReduce, none},
		{Binary, true, "up a balanced binary tree", binaryOne, arguments{segments: ofVector}},
		{InOrderBinary, false, "up a binary tree to the last rank that keeps the rank order, then to the root", inOrderReduce, arguments{segments: ofVector}},
		{Chain, true, "along as many chains as the fan-out says", chainOne, arguments{segments: ofVector, fanout: 4}},
		{Pipeline, true, "along one chain of all ranks", pipelineOne, arguments{segments: ofVector}},
		{Linear, false, "the root receives from one after another", starOne, none},
		{Offload, true, "ranks of a node join, switches sum the vectors of the nodes up, one release per node", nil, none},
		{SMP, true, "MPICH: binomial in each node but the root's, among first ranks of nodes, and in the root's node", smpReduce, byNode},
		{HAN, false, "Open MPI: segments go up a tree in each node while those before go up a tree of nodes", hanReduce, arguments{segments: ofVector, nodes: true}},
		{TorusTrees, true, "Fujitsu: segments are written along the links of a torus, up as many trees side by side as the fan-out says", nil, arguments{segments: ofVector, fanout: 3}},
	},
	Allreduce: {
		{NodeLeader, true, "ranks of a node join, leaders run a butterfly, one release per node", nil, none},
		{RecursiveDoubling, false, "partners at distances 1, 2, 4, … exchange the whole vector; P is folded to a power of two", wholeButterfly, none},
		{Ring, true, "reduce_scatter and allgather of P chunks round a ring", ringAllreduce, none},
		{RingSegmented, true, "ring whose chunks are reduced segment by segment", ringSegmented, arguments{segments: ofChunk}},
		{Rabenseifner, false, "reduce_scatter by halving and allgather by doubling; P is folded to a power of two", rabenseifner, none},
		{Binomial, false, "binomial reduce to rank 0, then binomial bcast", treeBoth, none},
		{RecursiveMultiplying, true, "k partners at distances 1, k, k², … exchange the whole vector, for a fan-out k; ranks beyond a power of k send theirs first", recursiveMultiplying, arguments{fanout: 2}},
		{AllgatherReduce, false, "allgather of whole vectors, which each rank combines by itself", allgatherReduce, none},
		{ReduceBcast, false, "Open MPI's nonoverlapping: binomial reduce to rank 0, then a bcast down a k-nomial tree; the fan-out is k", reduceBcast, arguments{fanout: 4}},
		{Linear, false, "linear reduce to rank 0, then linear bcast", starBoth, none},
		{Offload, true, "ranks of a node join, switches sum the vectors of the nodes up, one release per node", nil, none},
		{SMP, false, "MPICH: binomial reduce in each node, recursive doubling among first ranks of nodes, binomial bcast in each node", smpAllreduce, byNode},
		{SMPRabenseifner, false, "MPICH: as smp, with rabenseifner among first ranks of nodes", smpRabenseifner, byNode},
		{DoubleTree, true, "NCCL: segments go up and down two trees of nodes in turn, in each node along a chain", doubleTree, arguments{segments: ofVector, segment: segmentOfTree, nodes: true}},
		{NVLSTree, true, "NCCL: segments go up and down two trees of nodes in turn, in each node through a switch that sums", nvlsTree, arguments{segments: ofVector, segment: segmentOfTree, nodes: true}},
		{Ring2D, true, "rings in two dimensions: reduce_scatter in each node, ring of the nodes for each place, allgather in each node", ringOfRings, byNode},
		{HAN, false, "Open MPI: segments pass reduce in each node, reduce and bcast of nodes, bcast in each node, four at a time", hanAllreduce, arguments{segments: ofVector, nodes: true}},
		{TorusTrees, true, "Fujitsu: segments are written along the links of a torus, up and down as many trees side by side as the fan-out says", nil, arguments{segments: ofVector, fanout: 3}},
	},
	Gather: {
		{Binomial, false, "up a binomial tree, subtrees together", treeOne, none},
		{Knomial, false, "up a k-nomial tree, subtrees together; the fan-out is k", knomialOne, arguments{fanout: 4}},
		{Linear, false, "the root receives from one after another", starOne, none},
		{LinearSync, false, "the root asks one after another for a first segment and receives the rest meanwhile", linearSync, arguments{segments: ofVector}},
		{HAN, false, "Open MPI: binomial in each node to the root's place there, then among these ranks", hanBlocks, byNode},
		{TorusDirect, false, "Fujitsu: all write their blocks to the root along the links of a torus, which come in over all its links", nil, none},
	},
	Gatherv: {
		{Linear, false, "the root receives from one after another", starOne, none},
	},
	Scatter: {
		{Binomial, false, "down a binomial tree, subtrees together", treeOne, none},
		{Knomial, false, "down a k-nomial tree, subtrees together; the fan-out is k", knomialOne, arguments{fanout: 4}},
		{Linear, false, "the root sends to one after another", starOne, none},
		{LinearNonblocking, false, "the root sends to all at once", starAtOnce, none},
		{HAN, false, "Open MPI: binomial among the ranks with the root's place in their nodes, then in each node", hanBlocks, byNode},
	},
	Scatterv: {
		{Linear, false, "the root sends to one after another", starOne, none},
	},
	Allgather: append(slices.Clip(allgathers), entry{HAN, false, "Open MPI: binomial gather in each node, allgather among first ranks of nodes, bcast of all in each node", hanAllgather, byNode},
		entry{TorusRings, false, "Fujitsu: blocks are written round a torus, in all dimensions and directions at once", nil, none}),
	Allgatherv: allgathers,
	Alltoall: {
		{Pairwise, false, "in round k everyone sends to the rank k further on", pairs, none},
		{Bruck, false, "ceil(log2 P) rounds, half of all blocks in each", bruckAlltoall, none},
		{Linear, false, "everyone sends to ranks 0, 1, 2, … at once", linearAlltoall, none},
		{LinearSync, false, "in round k everyone sends to the rank k back; as many messages as the fan-out at once, all without one", backwards, arguments{fanout: MostFanout}},
		{PairwiseExchange, false, "MPICH's pairwise: in round k everyone exchanges with its rank XOR k; a P that is no power of two takes pairwise", xorPairs, none},
		{Spread, false, "Fujitsu: as linear, by remote writes that take none of the buffers for partners", linearAlltoall, none},
		{TorusSpread, false, "Fujitsu: blocks are written along the links of a torus, to the ranks a distance further on and back in turn", nil, none},
		{TwoLevel, false, "ranks of a node hand each other the blocks for their partners, those with their place in other nodes, who then exchange pairwise", twoLevelAlltoall, byNode},
	},
	Alltoallv: {
		{Pairwise, false, "in round k everyone sends to the rank k further on", pairs, none},
		{Linear, false, "everyone sends to ranks 0, 1, 2, … at once", linearAlltoall, none},
	},
	ReduceScatter: {
		{Binomial, false, "binomial reduce to rank 0, then binomial scatter", treeBoth, none},
		{Pairwise, true, "in round k everyone sends its share to the rank k further on", pairs, none},
		{Ring, true, "partial sums go round a ring", ringReduceScatter, none},
		{Linear, false, "linear reduce to rank 0, then linear scatter", starBoth, none},
		{RecursiveHalving, true, "partners at distances …, 4, 2, 1 send each other half of their blocks; P is folded to a power of two", halving(halveFar), none},
		{Butterfly, false, "partners at distances 1, 2, 4, … send each other half of their blocks, which then go home; P is folded", halving(halveNear), none},
		{RecursiveDoubling, false, "partners at distances 1, 2, 4, … send each other all blocks but their own; P is folded to a power of two", halving(keepOwn), none},
	},
	Scan: {
		{RecursiveDoubling, false, "partners at distances 1, 2, 4, … exchange the sums of their ranges", doublingScan, none},
		{Linear, false, "each rank adds its part and hands the sum to the next", lineScan, none},
	},
	Exscan: {
		{RecursiveDoubling, false, "partners at distances 1, 2, 4, … exchange the sums of their ranges", doublingScan, none},
		{Linear, false, "each rank adds its part and hands the sum to the next", lineScan, none},
	},
}

var allgathers = []entry{
	{Ring, false, "everyone hands blocks round a ring", ringAllgather, none},
	{RecursiveDoubling, false, "partners at distances 1, 2, 4, … exchange what they have; P is folded to a power of two", joiningButterfly, none},
	{Bruck, false, "ceil(log2 P) rounds over distances 1, 2, 4, …", bruckAllgather, none},
	{Linear, false, "linear gather to rank 0, then linear bcast of everything", starBoth, none},
	{Binomial, false, "binomial gather to rank 0, then binomial bcast of everything", treeBoth, none},
	{NeighborExchange, false, "everyone exchanges with the rank before and the rank after in turn; an odd P takes ring", neighborAllgather, none},
	{KBruck, false, "ceil(log_k P) phases of messages over k - 1 distances each, at once, for a fan-out k; of 2 as bruck", kBruckAllgather, arguments{fanout: 2}},
	{Sparbit, false, "ceil(log2 P) phases over distances …, 4, 2, 1, each block a message", sparbitAllgather, none},
}

func find(op Operation, a Algorithm) *entry {
	if op >= operations {
		return nil
	}
	for i := range registry[op] {
		if registry[op][i].algorithm == a.Base() {
			return &registry[op][i]
		}
	}
	return nil
}

// place returns the places of input and output of a call in a buffer with a number of positions.
func place(s Shape, positions int) placement {
	return placement{operation: s.Operation, members: s.Members, root: s.Root, pieces: positions}
}

// placeSegments returns the places of input and output of a vector whose positions are its segments.
func placeSegments(s Shape) placement {
	p := place(s, s.Segments)
	p.segment = s.Segment
	return p
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

func dissemination(s Shape) Schedule {
	if s.Fanout > 2 {
		return &disseminatingSchedule{disseminate(s.Members, s.Fanout), place(s, 0)}
	}
	return &doublingSchedule{doubling{s.Members, s.Operation}, place(s, 0)}
}

func starOne(s Shape) Schedule {
	n := whole(s.Operation, s.Members)
	p := star{members: s.Members, root: s.Root, pieces: n}
	switch s.Operation {
	case Reduce:
		p.inward, p.reduce = true, true
	case Gather, Gatherv:
		p.inward, p.own = true, true
	case Scatter, Scatterv:
		p.own = true
	}
	return &starSchedule{p, place(s, n)}
}

// starAtOnce is a star whose root sends in a window.
func starAtOnce(s Shape) Schedule {
	star := starOne(s).(*starSchedule)
	star.atOnce = true
	return star
}

// starBoth is a star to member 0 and back.
func starBoth(s Shape) Schedule {
	n := whole(s.Operation, s.Members)
	in := star{members: s.Members, root: s.Root, pieces: n, inward: true}
	out := star{members: s.Members, root: s.Root, pieces: n}
	switch s.Operation {
	case Allreduce:
		in.reduce = true
	case ReduceScatter:
		in.reduce, out.own = true, true
	case Allgather, Allgatherv:
		in.own = true
	}
	return &chainSchedule{inTurn(&in, &out), place(s, n)}
}

func treeOne(s Shape) Schedule {
	if s.Segments > 1 {
		s.Fanout = 2
		return knomialOne(s)
	}
	n := whole(s.Operation, s.Members)
	p := place(s, n)
	switch s.Operation {
	case Reduce:
		return &orderedSchedule{ordered{s.Members, s.Root, n}, p}
	case Gather:
		p.tree = true
		return &binomialSchedule{binomial{members: s.Members, root: s.Root, inward: true, subtrees: true, pieces: n}, p}
	case Scatter:
		p.tree = true
		return &binomialSchedule{binomial{members: s.Members, root: s.Root, subtrees: true, pieces: n}, p}
	}
	return &binomialSchedule{binomial{members: s.Members, root: s.Root, pieces: n}, p}
}

// treeBoth is a tree to member 0 and back.
func treeBoth(s Shape) Schedule {
	n := whole(s.Operation, s.Members)
	if s.Operation == Allgather || s.Operation == Allgatherv {
		in := binomial{members: s.Members, inward: true, subtrees: true, pieces: n}
		return &chainSchedule{inTurn(&in, &binomial{members: s.Members, pieces: n}), place(s, n)}
	}
	out := binomial{members: s.Members, root: s.Root, pieces: n, subtrees: s.Operation == ReduceScatter}
	return &chainSchedule{inTurn(&ordered{s.Members, s.Root, n}, &out), place(s, n)}
}

func wholeButterfly(s Shape) Schedule {
	n := whole(s.Operation, s.Members)
	return &butterflySchedule{butterfly{fold(s.Members), combineAll, n}, place(s, n)}
}

func rabenseifner(s Shape) Schedule {
	f := fold(s.Members)
	n := 1 << f.levels
	return &butterflySchedule{butterfly{f, halveAndJoin, n}, place(s, n)}
}

func joiningButterfly(s Shape) Schedule {
	return &butterflySchedule{butterfly{fold(s.Members), joinRanges, s.Members}, place(s, s.Members)}
}

func ringBcast(s Shape) Schedule {
	one := Blocks{First: 0, Count: 1}
	return &lineSchedule{line{s.Members, s.Root, one, Step{Receive: one}}, place(s, 1)}
}

func ringAllreduce(s Shape) Schedule {
	return &ringSchedule{ring{s.Members, 2 * (s.Members - 1), s.Members - 1, 0}, place(s, s.Members)}
}

// reduceBcast has the algorithms that the library takes for short vectors among many ranks.
func reduceBcast(s Shape) Schedule {
	down := knomial{digits: digitsOf(s.Members, s.Fanout), segments: 1}
	return &chainSchedule{inTurn(&ordered{s.Members, 0, 1}, &down), place(s, 1)}
}

func recursiveMultiplying(s Shape) Schedule {
	return &multiplyingSchedule{multiply(s.Members, s.Fanout), place(s, s.Fanout)}
}

func allgatherReduce(s Shape) Schedule {
	return &gatheringAllSchedule{gatherAll(s.Members), place(s, s.Members)}
}

func ringSegmented(s Shape) Schedule {
	return &segmentedRingSchedule{segmentedRing{s.Members, s.Segments}, place(s, s.Members*s.Segments)}
}

func ringBarrier(s Shape) Schedule {
	return &doubleRingSchedule{doubleRing{s.Members}, place(s, 0)}
}

// halving returns the builder of a reduce_scatter by exchanges.
func halving(kind scatters) func(s Shape) Schedule {
	return func(s Shape) Schedule {
		return &scatteringSchedule{scattering{fold(s.Members), kind}, place(s, s.Members)}
	}
}

func ringReduceScatter(s Shape) Schedule {
	return &ringSchedule{ring{s.Members, s.Members - 1, s.Members - 1, -1}, place(s, s.Members)}
}

func ringAllgather(s Shape) Schedule {
	return &ringSchedule{ring{s.Members, s.Members - 1, 0, 0}, place(s, s.Members)}
}

func neighborAllgather(s Shape) Schedule {
	if s.Members%2 == 1 {
		return ringAllgather(s)
	}
	return &neighborSchedule{neighborExchange{s.Members}, place(s, s.Members)}
}

func kBruckAllgather(s Shape) Schedule {
	if s.Fanout == 2 {
		return bruckAllgather(s)
	}
	return &kBruckSchedule{kBrucks(s.Members, s.Fanout), place(s, s.Members)}
}

func sparbitAllgather(s Shape) Schedule {
	return &sparbitSchedule{sparbitAmong(s.Members), place(s, s.Members)}
}

func bruckAllgather(s Shape) Schedule {
	return &doublingSchedule{doubling{s.Members, Allgather}, place(s, s.Members)}
}

func bruckAlltoall(s Shape) Schedule {
	p := place(s, s.Members)
	p.rotated = true
	return &doublingSchedule{doubling{s.Members, Alltoall}, p}
}

func pairs(s Shape) Schedule {
	if s.Operation == ReduceScatter {
		return &pairwiseSchedule{pairwise{s.Members, true}, place(s, s.Members)}
	}
	return &pairwiseSchedule{pairwise{s.Members, false}, place(s, 2*s.Members)}
}

func backwards(s Shape) Schedule {
	return &backwardSchedule{backwardAmong(s.Members, s.Fanout), place(s, 2*s.Members)}
}

func xorPairs(s Shape) Schedule {
	if s.Members&(s.Members-1) != 0 {
		return pairs(s)
	}
	return &xorSchedule{xorPairwise{s.Members}, place(s, 2*s.Members)}
}

func linearAlltoall(s Shape) Schedule {
	return &everyPairSchedule{everyPair{s.Members}, place(s, 2*s.Members)}
}

func lineScan(s Shape) Schedule {
	if s.Operation == Scan {
		one := Blocks{First: prefix, Count: 1}
		return &lineSchedule{line{s.Members, s.Root, one, Step{Receive: one, Combine: TheirsFirst}}, place(s, 1)}
	}
	sum, result := Blocks{First: partial, Count: 1}, Blocks{First: prefix, Count: 1}
	receive := Step{Receive: sum, Combine: TheirsFirst, Also: result, AlsoCombine: Store}
	return &exclusiveLineSchedule{exclusiveLine{line{s.Members, s.Root, sum, receive}}, place(s, 2)}
}

func doublingScan(s Shape) Schedule {
	return &prefixesSchedule{prefixes{s.Members, s.Operation == Exscan}, place(s, 2)}
}
