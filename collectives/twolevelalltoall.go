package collectives

// partners is an alltoall in two levels, as Open MPI's coll/han has it (coll_han_alltoall.c) and as Bienz, Olson and Gropp describe it in
// "Node-aware improvements to allreduce", 2019, for other collectives: the members with one place in their nodes are partners. First each
// member collects from the members of its node the blocks for its partners. Then it exchanges them with its partners, the blocks for
// a node in one message. Both levels are pairwise: in round k a member sends to the member or the node k further on. All nodes have equal numbers of members.
//
// A member has three positions for each member: its input, the blocks that it has collected, by their destination node and their
// sender, and the blocks from other nodes.
type partners struct{ nodes }

// withinRounds returns the number of rounds within nodes.
func (p *partners) withinRounds() int { return p.perNode - 1 }

func (p *partners) MaxRounds() int        { return p.withinRounds() + p.count() - 1 }
func (p *partners) Rounds(int) int        { return p.MaxRounds() }
func (p *partners) Next(_, round int) int { return round }

func (p *partners) Step(member, round int) (step Step) {
	p.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (p *partners) StepInto(step *Step, member, round int) {
	*step = idle
	if round >= p.MaxRounds() {
		return
	}
	place := member % p.perNode
	first := member - place
	if round < p.withinRounds() {
		to, from := wrap(place+round+1, p.perNode), wrap(place-round-1, p.perNode)
		step.To, step.From = first+to, first+from
		step.Send = Blocks{First: to, Count: p.count(), Run: -p.perNode}
		step.Receive = Blocks{First: p.members + from, Count: p.count(), Run: -p.perNode}
		return
	}
	distance := (round - p.withinRounds() + 1) * p.perNode
	step.To, step.From = wrap(member+distance, p.members), wrap(member-distance, p.members)
	step.Send = Blocks{First: p.members + wrap(first+distance, p.members), Count: p.perNode}
	step.Receive = Blocks{First: 2*p.members + wrap(first-distance, p.members), Count: p.perNode}
}

func (p *partners) Pattern(round int) Pattern {
	if round < p.withinRounds() {
		if p.count() == 1 {
			return Pattern{Kind: Shift, Distance: round + 1, Sent: 1}
		}
		return Pattern{Kind: Irregular}
	}
	return Pattern{Kind: Shift, Distance: (round - p.withinRounds() + 1) * p.perNode, Sent: p.perNode}
}

// Source returns the block of the input at a position. The blocks for partners that the member has itself are in their places.
func (s *partnersSchedule) Source(member, position int) int {
	switch place := member % s.perNode; {
	case position < s.members:
		return position
	case position < 2*s.members && position%s.perNode == place:
		return position - s.members
	}
	return None
}

// Result returns the position of the block from another member. Those from the own node are among the collected blocks.
func (s *partnersSchedule) Result(member, block int) int {
	if block/s.perNode == member/s.perNode {
		return s.members + block
	}
	return 2*s.members + block
}

// Members returns the number of members.
func (s *partnersSchedule) Members() int { return s.nodes.members }

// twoLevelAlltoall is pairwise where the nodes have different numbers of members, and where each member has a node.
func twoLevelAlltoall(s Shape) Schedule {
	n := nodes{s.Members, min(s.PerNode, s.Members)}
	if n.perNode == 1 || !n.even() {
		return pairs(s)
	}
	return &partnersSchedule{partners{n}, place(s, 3*s.Members)}
}
