package collectives

// neighborExchange is the allgather of Chen, Zhang, Zhang and Yuan (2005) in Open MPI (coll_base_allgather.c): an even
// member and the odd member after it exchange their blocks; then each member exchanges with its two neighbours in turn the
// two blocks that it has received last. It serves even numbers of members.
type neighborExchange struct{ members int }

func (n *neighborExchange) MaxRounds() int        { return n.members / 2 }
func (n *neighborExchange) Rounds(int) int        { return n.members / 2 }
func (n *neighborExchange) Next(_, round int) int { return round }

// pair returns the first of the two blocks that a member receives in a round: those of the pairs of an even member and the
// odd member after it, at growing distances to either side. In round 0 it is the member's own pair.
func (n *neighborExchange) pair(member, round int) int {
	distance := round &^ 1 // even, on the side of the partner in even rounds
	if round&1 == 1 {
		distance = -(round + 1)
	}
	if member&1 == 1 {
		distance = -distance
	}
	return wrap(member&^1+distance, n.members)
}

func (n *neighborExchange) Step(member, round int) Step {
	if round >= n.MaxRounds() {
		return idle
	}
	partner := member ^ 1
	if round&1 == 1 {
		partner = wrap(2*member-partner, n.members) // on the other side
	}
	if round == 0 {
		return Step{To: partner, From: partner, Send: Blocks{First: member, Count: 1}, Receive: Blocks{First: partner, Count: 1}}
	}
	return Step{
		To: partner, From: partner,
		Send: Blocks{First: n.pair(member, round-1), Count: 2}, Receive: Blocks{First: n.pair(member, round), Count: 2},
	}
}

func (n *neighborExchange) Pattern(round int) Pattern {
	return Pattern{Kind: Paired, Sent: min(round+1, 2)}
}
