package collectives

// The collectives of blocks of Open MPI's coll/han: coll_han_gather.c, coll_han_scatter.c and coll_han_allgather.c. Two levels
// follow each other. On nodes with different numbers of members, on one node, and with one member on each node the component
// leaves the call to others, here to the binomial tree or, for an allgather, to the algorithm of the leaders.

// wide is a plan whose positions are groups of so many positions.
type wide struct {
	plan
	steps Stepper
	width int
}

func widened(p plan, width int) *wide { return &wide{p, stepperOf(p), width} }

func (w *wide) Step(member, round int) (step Step) {
	w.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (w *wide) StepInto(step *Step, member, round int) {
	w.steps.StepInto(step, member, round)
	for _, b := range []*Blocks{&step.Send, &step.Receive} {
		b.First, b.Count = b.First*w.width, b.Count*w.width
	}
}

// ofOwnNode is a plan within nodes whose positions are those of the node: position i is i places after the first of the node.
type ofOwnNode struct{ *within }

func (o ofOwnNode) Step(member, round int) (step Step) {
	o.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (o ofOwnNode) StepInto(step *Step, member, round int) {
	o.within.StepInto(step, member, round)
	first := member / o.perNode * o.perNode
	step.Send.First, step.Receive.First = step.Send.First+first, step.Receive.First+first
}

// seating is the placement of the blocks of members that sit in a circle on each node, from the seat of the node's leader on.
// Each leader has the place that the root has in its node.
type seating struct {
	placement
	nodes
	seat int
}

// position returns the position of a member's block.
func (s *seating) position(member int) int {
	first := member / s.perNode * s.perNode
	return first + wrap(member-first-s.seat, s.perNode)
}

// member returns the member whose block has a position.
func (s *seating) member(position int) int {
	first := position / s.perNode * s.perNode
	return first + wrap(position-first+s.seat, s.perNode)
}

func (s *seating) Extent(member int) Blocks {
	node := member / s.perNode
	if member%s.perNode != s.seat {
		return Blocks{First: node * s.perNode, Count: s.perNode}
	}
	b := subtree(node, s.root/s.perNode, s.count(), 2)
	return Blocks{First: b.First * s.perNode, Count: b.Count * s.perNode}
}

func (s *seating) Source(member, position int) int {
	switch owner := s.member(position); {
	case s.operation == Gather:
		return only(member == owner, 0)
	case member == s.root:
		return owner
	}
	return None
}

func (s *seating) Result(member, block int) int {
	if s.operation == Scatter {
		return s.position(member)
	}
	if member != s.root {
		return None
	}
	return s.position(block)
}

// permutes reports whether positions have another order than blocks.
func (s *seating) permutes() bool { return s.seat > 0 }

// Permutes reports whether the positions of a gather or a scatter have another order than the blocks of the root.
func Permutes(s Schedule) bool {
	p, ok := s.(interface{ permutes() bool })
	return ok && p.permutes()
}

func (s *seating) Members() int { return s.placement.Members() }

// hanBlocks is a gather within nodes to the members that lie in their nodes where the root does, and a gather among these, or a scatter in
// the other direction. Both levels are binomial trees, which coll/tuned takes among 8 members or more up to 512 bytes of a block.
func hanBlocks(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	if n.alone() || !n.even() {
		return treeOne(s)
	}
	inward := s.Operation == Gather
	home, seat := s.Root/n.perNode, s.Root%n.perNode
	low := ofOwnNode{inNodes(n, nodeSet{}, func(members int) plan {
		return &binomial{members: members, root: seat % members, inward: inward, subtrees: true, numbered: true, pieces: members}
	})}
	up := amongNodes(n, seat, widened(&binomial{members: n.count(), root: home, inward: inward, subtrees: true, pieces: n.count()}, n.perNode))
	levels := inTurn(low, up)
	if !inward {
		levels = inTurn(up, low)
	}
	return &seatedSchedule{levels, seating{place(s, s.Members), n, seat}}
}

// hanAllgather is a gather within nodes to the first members, an allgather among these, and a broadcast of all blocks within
// nodes. The leaders take the algorithm of coll/tuned: recursive doubling, or bruck if they are no power of two; from 32 nodes on, with 1 KiB of
// a node or more, neighbor exchange, or a ring if they are an odd number.
func hanAllgather(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	if n.alone() || !n.even() {
		if s.Members&(s.Members-1) == 0 {
			return joiningButterfly(s)
		}
		return bruckAllgather(s)
	}
	low := ofOwnNode{inNodes(n, nodeSet{}, func(members int) plan {
		return &binomial{members: members, inward: true, subtrees: true, pieces: members}
	})}
	leaders := widened(allgatherOfNodes(n.count(), s.Bytes*int64(n.perNode)), n.perNode)
	up := inTurn(low, amongNodes(n, 0, leaders))
	return &chainSchedule{inTurn(&up, inNodes(n, nodeSet{}, bcastFrom(0, s.Members))), place(s, s.Members)}
}

// allgatherOfNodes is the allgather among the leaders of nodes, whose blocks have some bytes.
func allgatherOfNodes(nodes int, bytes int64) plan {
	const many, long = 32, 1 << 10
	switch {
	case nodes >= many && bytes >= long && nodes%2 == 0:
		return &neighborExchange{nodes}
	case nodes >= many && bytes >= long:
		return &ring{nodes, nodes - 1, 0, 0}
	case nodes&(nodes-1) == 0:
		return &butterfly{fold(nodes), joinRanges, nodes}
	}
	return &doubling{nodes, Allgather}
}
