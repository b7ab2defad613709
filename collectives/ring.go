package collectives

import "math/bits"

// ring passes blocks round: in round k member i sends block i + offset − k to its
// successor. In the first reduce rounds, arriving blocks are combined.
type ring struct {
	members, rounds, reduce, offset int
}

func (r *ring) MaxRounds() int        { return r.rounds }
func (r *ring) Rounds(int) int        { return r.rounds }
func (r *ring) Next(_, round int) int { return round }

func (r *ring) Step(member, round int) Step {
	if round >= r.rounds {
		return idle
	}
	block := member + r.offset - round // above −2·members
	for block < 0 {
		block += r.members
	}
	how := Store
	if round < r.reduce {
		how = TheirsFirst
	}
	return Step{
		To:      wrap(member+1, r.members),
		From:    wrap(member-1, r.members),
		Send:    Blocks{First: block, Count: 1},
		Receive: Blocks{First: wrap(block-1, r.members), Count: 1},
		Combine: how,
	}
}

func (r *ring) Pattern(round int) Pattern {
	p := Pattern{Kind: Shift, Distance: 1, Sent: 1}
	if round < r.reduce {
		p.Combined = 1
	}
	return p
}

// pairwise sends, in round k, the block for the member k+1 places further on to that member. It
// stores arriving blocks (alltoall) or adds them to the member's own block (reduce_scatter).
type pairwise struct {
	members int
	reduce  bool
}

func (p *pairwise) MaxRounds() int        { return p.members - 1 }
func (p *pairwise) Rounds(int) int        { return p.members - 1 }
func (p *pairwise) Next(_, round int) int { return round }

func (p *pairwise) Step(member, round int) Step {
	if round >= p.members-1 {
		return idle
	}
	to, from := wrap(member+round+1, p.members), wrap(member-round-1, p.members)
	step := Step{To: to, From: from, Send: Blocks{First: to, Count: 1}}
	if p.reduce {
		step.Receive, step.Combine = Blocks{First: member, Count: 1}, TheirsFirst
	} else {
		step.Receive = Blocks{First: p.members + from, Count: 1}
	}
	return step
}

func (p *pairwise) Pattern(round int) Pattern {
	pattern := Pattern{Kind: Shift, Distance: round + 1, Sent: 1}
	if p.reduce {
		pattern.Combined = 1
	}
	return pattern
}

// backward is pairwise in the other direction: in round k a member sends to the member k+1 places before it. It is the order
// of the linear alltoalls of Open MPI (coll_base_alltoall.c, linear and linear_sync), which begin all messages at once, and
// of MPICH (alltoall_intra_scattered.c), which has windows of as many messages as the fan-out, of which the first is that of
// the member to itself.
type backward struct {
	members int
	windows
}

func backwardAmong(members, fanout int) backward {
	return backward{members, windows{members - 1, fanout - 1, fanout}}
}

func (b *backward) MaxRounds() int        { return b.rounds() }
func (b *backward) Rounds(int) int        { return b.rounds() }
func (b *backward) Next(_, round int) int { return round }

func (b *backward) exchange(member, message int) Step {
	return exchangeBlocks(b.members, wrap(member-message-1, b.members), wrap(member+message+1, b.members))
}

func (b *backward) Step(member, round int) Step {
	if round >= b.rounds() {
		return idle
	}
	first, n, at := b.at(round)
	return inWindow(b, member, first, n, at)
}

func (b *backward) byDistance() bool { return b.opens() }

func (b *backward) Pattern(round int) Pattern {
	if first, n, _ := b.at(round); n == 1 {
		return b.shape(first)
	}
	return Pattern{Kind: Irregular, Sent: 1}
}

func (b *backward) shape(message int) Pattern {
	return Pattern{Kind: Shift, Distance: b.members - message - 1, Sent: 1}
}

// exchangeBlocks returns the step of an alltoall that sends a member its block and receives a block from another.
func exchangeBlocks(members, to, from int) Step {
	return Step{To: to, From: from, Send: Blocks{First: to, Count: 1}, Receive: Blocks{First: members + from, Count: 1}}
}

// xorPairwise is the pairwise alltoall of MPICH among a power of two (alltoall_intra_pairwise.c): in round k a member
// exchanges with the member whose number differs in the bits of k+1.
type xorPairwise struct{ members int }

func (x *xorPairwise) MaxRounds() int        { return x.members - 1 }
func (x *xorPairwise) Rounds(int) int        { return x.members - 1 }
func (x *xorPairwise) Next(_, round int) int { return round }

func (x *xorPairwise) Step(member, round int) Step {
	if round >= x.members-1 {
		return idle
	}
	partner := member ^ (round + 1)
	return exchangeBlocks(x.members, partner, partner)
}

func (x *xorPairwise) Pattern(int) Pattern { return Pattern{Kind: Paired, Sent: 1} }

// doubling has ⌈log2 P⌉ rounds in which every member sends over the distance 2^k. It is
// the dissemination barrier of Hensgen, Finkel and Manber, and the algorithms of Bruck
// et al., which follow the same rule.
type doubling struct {
	members int
	carries Operation // Barrier, Allgather or Alltoall
}

func (d *doubling) MaxRounds() int        { return logCeil(d.members) }
func (d *doubling) Rounds(int) int        { return logCeil(d.members) }
func (d *doubling) Next(_, round int) int { return round }

func (d *doubling) Step(member, round int) (step Step) {
	d.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (d *doubling) StepInto(step *Step, member, round int) {
	*step = idle
	distance := 1 << round
	if distance >= d.members {
		return
	}
	up, down := wrap(member+distance, d.members), wrap(member-distance, d.members)
	step.To, step.From = up, down
	switch d.carries {
	case Allgather:
		n := min(distance, d.members-distance)
		step.To, step.From = down, up
		step.Send, step.Receive = Blocks{First: member, Count: n}, Blocks{First: up, Count: n}
	case Alltoall:
		step.Send = withBit(round, d.members)
		step.Receive = step.Send
	}
}

func (d *doubling) Pattern(round int) Pattern {
	distance := 1 << round
	switch d.carries {
	case Allgather:
		return Pattern{Kind: Shift, Distance: d.members - distance, Sent: min(distance, d.members-distance)}
	case Alltoall:
		return Pattern{Kind: Shift, Distance: distance, Sent: withBit(round, d.members).Count}
	}
	return Pattern{Kind: Shift, Distance: distance}
}

// logFloor returns ⌊log2 n⌋ for n >= 1.
func logFloor(n int) int { return bits.Len(uint(n)) - 1 }

// logCeil returns ⌈log2 n⌉ for n >= 1.
func logCeil(n int) int { return bits.Len(uint(n - 1)) }

// segmentedRing is the ring allreduce of Open MPI (coll_base_allreduce.c): each chunk is cut into segments. The first segments
// of all chunks go round and are combined, then the second, and so on. In the end whole chunks go round.
type segmentedRing struct{ members, segments int }

func (r *segmentedRing) reduceRounds() int { return r.segments * (r.members - 1) }

func (r *segmentedRing) MaxRounds() int        { return r.reduceRounds() + r.members - 1 }
func (r *segmentedRing) Rounds(int) int        { return r.MaxRounds() }
func (r *segmentedRing) Next(_, round int) int { return round }

func (r *segmentedRing) Step(member, round int) Step {
	if round >= r.MaxRounds() {
		return idle
	}
	step := Step{To: wrap(member+1, r.members), From: wrap(member-1, r.members)}
	if round < r.reduceRounds() {
		segment, k := round/(r.members-1), round%(r.members-1)
		chunk := wrap(member-k, r.members)
		step.Combine = TheirsFirst
		step.Send = Blocks{First: chunk*r.segments + segment, Count: 1}
		step.Receive = Blocks{First: wrap(chunk-1, r.members)*r.segments + segment, Count: 1}
		return step
	}
	k := round - r.reduceRounds()
	chunk := wrap(wrap(member+1, r.members)-k, r.members)
	step.Send = Blocks{First: chunk * r.segments, Count: r.segments}
	step.Receive = Blocks{First: wrap(chunk-1, r.members) * r.segments, Count: r.segments}
	return step
}

func (r *segmentedRing) Pattern(round int) Pattern {
	if round < r.reduceRounds() {
		return Pattern{Kind: Shift, Distance: 1, Sent: 1, Combined: 1}
	}
	return Pattern{Kind: Shift, Distance: 1, Sent: r.segments}
}
