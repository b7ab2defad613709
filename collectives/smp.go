package collectives

// Two-level algorithms as MPICH's: within each node, among the first members of the nodes, within each node again. Sources:
// allreduce_intra_smp.c, reduce_intra_smp.c, bcast_intra_smp.c and barrier_intra_smp.c of MPICH 4. The parts are those that
// MPICH takes for short vectors. Where each node has one member, or one node has all, only one of the levels is left.

// handover is one message of all positions.
type handover struct{ from, to, pieces int }

func (h *handover) MaxRounds() int { return 1 }

func (h *handover) Rounds(member int) int {
	if member == h.from || member == h.to {
		return 1
	}
	return 0
}

func (h *handover) Next(_, round int) int { return round }

func (h *handover) Step(member, round int) Step {
	all := Blocks{First: 0, Count: h.pieces}
	switch {
	case round > 0:
	case member == h.from:
		return Step{To: h.to, From: None, Send: all}
	case member == h.to:
		return Step{To: None, From: h.from, Receive: all}
	}
	return idle
}

func (h *handover) Pattern(int) Pattern { return message(h.from, h.to, h.pieces, 0) }

// reduceTo returns the tree of a reduction to a member, for each number of members.
func reduceTo(root, pieces int) func(members int) plan {
	return func(members int) plan { return &ordered{members, root, pieces} }
}

// bcastFrom returns the tree of a broadcast from a member, for each number of members.
func bcastFrom(root, pieces int) func(members int) plan {
	return func(members int) plan { return &binomial{members: members, root: root, pieces: pieces} }
}

// smpAllreduce reduces within each node to its first member by a binomial tree. These leaders run recursive doubling. Then
// each sends the result down a binomial tree of its node.
func smpAllreduce(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	return twoLevel(s, &butterfly{fold(n.count()), combineAll, 1}, 1)
}

// smpRabenseifner is smpAllreduce whose leaders run Rabenseifner's algorithm, as MPICH's do above 2 KiB.
func smpRabenseifner(s Shape) Schedule {
	f := fold(nodes{s.Members, s.PerNode}.count())
	pieces := 1 << f.levels
	return twoLevel(s, &butterfly{f, halveAndJoin, pieces}, pieces)
}

func twoLevel(s Shape, leaders plan, pieces int) Schedule {
	n := nodes{s.Members, s.PerNode}
	up := inTurn(inNodes(n, nodeSet{}, reduceTo(0, pieces)), amongNodes(n, 0, leaders))
	return &chainSchedule{inTurn(&up, inNodes(n, nodeSet{}, bcastFrom(0, pieces))), place(s, pieces)}
}

// smpBarrier is a dissemination barrier of each node, one of the first members of the nodes, and a release down a binomial
// tree of each node.
func smpBarrier(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	join := func(members int) plan { return &doubling{members, Barrier} }
	up := inTurn(inNodes(n, nodeSet{}, join), amongNodes(n, 0, join(n.count())))
	return &chainSchedule{inTurn(&up, inNodes(n, nodeSet{}, bcastFrom(0, 0))), place(s, 0)}
}

// smpBcast hands the vector to the first member of the root's node, sends it down a binomial tree of the first members of the
// nodes, and then down a binomial tree of each node. In its node the root receives the vector back.
func smpBcast(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	first := s.Root / n.perNode * n.perNode
	var leaders plan = amongNodes(n, 0, bcastFrom(s.Root/n.perNode, 1)(n.count()))
	if first != s.Root {
		c := inTurn(&handover{s.Root, first, 1}, leaders)
		leaders = &c
	}
	return &chainSchedule{inTurn(leaders, inNodes(n, nodeSet{}, bcastFrom(0, 1))), place(s, 1)}
}

// smpReduce reduces within each node but the root's to its first member, and among the first members to that of the root's
// node, both up binomial trees. Then the root's node reduces to the root. The order is not that of the ranks, since the first
// member of the root's node adds the other nodes to its own vector before it adds the vectors of its node.
func smpReduce(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	home := s.Root / n.perNode
	others := inNodes(n, nodeSet{of: otherNodes, root: home}, reduceTo(0, 1))
	up := inTurn(others, amongNodes(n, 0, reduceTo(home, 1)(n.count())))
	last := inNodes(n, nodeSet{of: rootNode, root: home}, reduceIn(n, s.Root))
	return &chainSchedule{inTurn(&up, last), place(s, 1)}
}

// reduceIn is reduceTo for the node of a member.
func reduceIn(n nodes, root int) func(members int) plan {
	return func(members int) plan { return &ordered{members, min(root%n.perNode, members-1), 1} }
}
