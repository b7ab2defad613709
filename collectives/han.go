package collectives

// Two-level algorithms as Open MPI's component coll/han: the segments of a vector pass several stages, within nodes and among
// nodes, and the stages of consecutive segments overlap. Sources: coll_han_allreduce.c, coll_han_bcast.c, coll_han_reduce.c and
// coll_han_barrier.c of Open MPI 4.1 and 5.
//
// Within nodes all stages are binomial trees, which coll/tuned takes for short vectors. Among nodes the stages are those of
// coll/libnbc (nbc_ibcast.c, nbc_ireduce.c): a bcast is linear among up to four nodes, and else binomial. A reduction of a vector
// with an element for each node, among more than two nodes, is Rabenseifner's; any other reduction is binomial. Exceptions are
// vectors in several segments, whose reductions are always binomial here: its rounds overlap with the other stages.
//
// In an iteration a leader begins the stages among nodes, carries out those within its node, and waits for the former. Here a
// member sends at the beginning what it can send without receiving, and receives at the end: the root of a bcast sends before
// its own node's stage and the other leaders receive after theirs; the leaves of a reduction send before and the inner nodes
// receive after. In an allreduce, a leader that receives from the root and sends to the root in an iteration does both between
// the two stages of its node.

// pipeline takes the segments of a vector through stages. A segment enters a stage some iterations after it has entered
// the pipeline, and passes a stage in each iteration.
type pipeline struct {
	segments int
	stages   []stage // in the order of an iteration
	each     int     // rounds of all stages
	last     int     // iteration in which the first segment is in the last stage
	until    int     // iteration in which the last segment has left a stage; from last up to here all stages have a segment
	steady   int     // round in which iteration last begins
	all      int     // rounds
}

func pipelineOf(segments int, stages ...stage) pipeline {
	p := pipeline{segments: segments, stages: stages}
	first := 0
	for i := range stages {
		s := &stages[i]
		s.behind = p.each
		p.each += s.rounds
		p.last = max(p.last, s.first)
		if i == 0 || s.first < first {
			first = s.first
		}
	}
	// Without a steady part yet, start adds the stages up.
	p.steady, p.all = p.start(0, p.last), p.start(0, p.iterations())
	p.until = first + segments
	return p
}

// stage is a plan for one segment.
type stage struct {
	plan
	steps  Stepper
	first  int // iteration in which the first segment is in the stage
	rounds int // of the plan
	behind int // rounds of the stages before it, in an iteration in which all have a segment
}

func stageOf(p plan, first int) stage {
	return stage{plan: p, steps: stepperOf(p), first: first, rounds: p.MaxRounds()}
}

// has reports whether a segment is in the stage in an iteration.
func (s *stage) has(iteration, segments int) bool {
	return iteration >= s.first && iteration < s.first+segments
}

// iterations returns the number of iterations.
func (p *pipeline) iterations() int { return p.last + p.segments }

// start returns the round in which a stage begins in an iteration. It counts the rounds of the iterations before.
func (p *pipeline) start(which, iteration int) int {
	if iteration >= p.last && iteration < p.until {
		return p.steady + (iteration-p.last)*p.each + p.stages[which].behind
	}
	round := 0
	for i := range p.stages {
		s := &p.stages[i]
		before := min(max(iteration-s.first, 0), p.segments)
		if i < which && s.has(iteration, p.segments) {
			before++
		}
		round += before * s.rounds
	}
	return round
}

// at returns the stage and the iteration of a round, and the number of the round in the stage. No iteration
// has more rounds than all stages together, which bounds the iterations before from below. Only up to p.last iterations at the beginning, and as many
// at the end, have fewer rounds.
func (p *pipeline) at(round int) (which, iteration, offset int) {
	low := p.last + max(round-p.steady, 0)/max(p.each, 1)
	if round < p.steady || low >= p.until {
		low = round / max(p.each, 1) // the iteration is from low to high-1
		high := min(low+2*p.last+2, p.iterations())
		for high-low > 1 {
			if middle := (low + high) / 2; p.start(0, middle) <= round {
				low = middle
			} else {
				high = middle
			}
		}
	}
	round -= p.start(0, low)
	for which = range p.stages {
		s := &p.stages[which]
		if !s.has(low, p.segments) {
			continue
		}
		if n := s.rounds; round >= n {
			round -= n
			continue
		}
		break
	}
	return which, low, round
}

func (p *pipeline) MaxRounds() int { return p.all }

func (p *pipeline) Rounds(member int) int {
	rounds := 0
	for i := range p.stages {
		if n := p.stages[i].Rounds(member); n > 0 {
			rounds = max(rounds, p.start(i, p.stages[i].first+p.segments-1)+n)
		}
	}
	return rounds
}

func (p *pipeline) Next(member, round int) int {
	next := p.MaxRounds()
	if round >= next {
		return round
	}
	current, iteration, offset := p.at(round)
	for i := range p.stages {
		s := &p.stages[i]
		rounds := s.Rounds(member)
		if rounds == 0 {
			continue
		}
		when, from := max(iteration, s.first), 0
		if when == iteration && i == current {
			from = offset
		}
		if when == iteration && i < current || s.Next(member, from) >= rounds {
			when, from = when+1, 0
		}
		if when < s.first+p.segments {
			next = min(next, p.start(i, when)+s.Next(member, from))
		}
	}
	return next
}

func (p *pipeline) Step(member, round int) Step {
	if round >= p.MaxRounds() {
		return idle
	}
	which, iteration, offset := p.at(round)
	step := p.stages[which].Step(member, offset)
	segment := iteration - p.stages[which].first
	step.Send.First, step.Receive.First = segment, segment
	return step
}

// StepInto implements [Stepper].
func (p *pipeline) StepInto(step *Step, member, round int) {
	if round >= p.MaxRounds() {
		*step = idle
		return
	}
	which, iteration, offset := p.at(round)
	s := &p.stages[which]
	s.steps.StepInto(step, member, offset)
	segment := iteration - s.first
	step.Send.First, step.Receive.First = segment, segment
}

func (p *pipeline) Pattern(int) Pattern { return Pattern{Kind: Irregular} }

// alone reports whether the component leaves a call to others: all members are on one node, or each has a node.
func (n nodes) alone() bool { return n.perNode == 1 || n.perNode >= n.members }

// bcastOfNodes is the bcast among the leaders of nodes, from one of these.
func bcastOfNodes(nodes, root, pieces int) plan {
	if nodes <= 4 {
		return &star{members: nodes, root: root, pieces: pieces}
	}
	return bcastFrom(root, pieces)(nodes)
}

// reduceOfNodes returns Rabenseifner's reduction among the leaders of nodes to one of these, and its chunks. ok is false for
// other reductions. Elements count as doubles.
func reduceOfNodes(s Shape, nodes, root int) (p plan, pieces int, ok bool) {
	c := collect(nodes, root)
	pieces = c.halves.pieces
	return &c, pieces, s.Segments == 1 && nodes > 2 && s.Bytes/widest >= int64(pieces)
}

// hanAllreduce takes a segment through a reduction within nodes, a reduction and a broadcast among their first members, and a
// broadcast within nodes. On one node, or with one member on each node, it is recursive doubling.
func hanAllreduce(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	if n.alone() {
		return wholeButterfly(s)
	}
	if rabenseifner, pieces, ok := reduceOfNodes(s, n.count(), 0); ok {
		leaders := inTurn(rabenseifner, bcastOfNodes(n.count(), 0, pieces))
		return twoLevel(s, &leaders, pieces)
	}
	tree := reduceTo(0, 1)(n.count())
	reduce := func(p part) plan { return inNodes(n, nodeSet{p, 0, tree}, reduceTo(0, 1)) }
	bcast := func(p part) plan { return inNodes(n, nodeSet{of: p}, bcastFrom(0, 1)) }
	return &pipelineSchedule{pipelineOf(s.Segments,
		stageOf(bcast(otherNodes), 3), stageOf(amongNodes(n, 0, bcastOfNodes(n.count(), 0, 1)), 2), stageOf(bcast(rootNode), 3),
		stageOf(reduce(innerNodes), 0), stageOf(amongNodes(n, 0, tree), 1), stageOf(reduce(leaves), 0),
	), placeSegments(s)}
}

// hanBcast takes a segment through a broadcast among the members that lie in their nodes where the root does, and a broadcast
// within nodes. It is binomial if the nodes have different numbers of members, on one node, and with one member on each node.
func hanBcast(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	if n.alone() || !n.even() {
		return treeOne(s)
	}
	home, seat := s.Root/n.perNode, s.Root%n.perNode
	within := func(p part) plan { return inNodes(n, nodeSet{of: p, root: home}, bcastFrom(seat, 1)) }
	return &pipelineSchedule{pipelineOf(s.Segments,
		stageOf(within(otherNodes), 1), stageOf(amongNodes(n, seat, bcastOfNodes(n.count(), home, 1)), 0), stageOf(within(rootNode), 1),
	), placeSegments(s)}
}

// hanReduce is hanBcast in the other direction: a reduction within nodes, then among nodes.
func hanReduce(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	if n.alone() || !n.even() {
		return treeOne(s)
	}
	home := s.Root / n.perNode
	if rabenseifner, pieces, ok := reduceOfNodes(s, n.count(), home); ok {
		up := inNodes(n, nodeSet{}, reduceTo(s.Root%n.perNode, pieces))
		return &chainSchedule{inTurn(up, amongNodes(n, s.Root%n.perNode, rabenseifner)), place(s, pieces)}
	}
	tree := reduceTo(home, 1)(n.count())
	within := func(p part) plan { return inNodes(n, nodeSet{p, home, tree}, reduceIn(n, s.Root)) }
	return &pipelineSchedule{pipelineOf(s.Segments,
		stageOf(within(innerNodes), 0), stageOf(amongNodes(n, s.Root%n.perNode, tree), 1), stageOf(within(leaves), 0),
	), placeSegments(s)}
}

// hanBarrier is a barrier of each node, of the first members of the nodes, and of each node again, all by recursive doubling.
func hanBarrier(s Shape) Schedule {
	n := nodes{s.Members, s.PerNode}
	if n.alone() {
		return wholeButterfly(s)
	}
	join := func(members int) plan { return &butterfly{fold(members), combineAll, 0} }
	up := inTurn(inNodes(n, nodeSet{}, join), amongNodes(n, 0, join(n.count())))
	return &chainSchedule{inTurn(&up, inNodes(n, nodeSet{}, join)), place(s, 0)}
}
