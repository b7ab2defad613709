package collectives

// asking is the synchronised linear gather of Open MPI (coll_base_gather.c). The root asks one
// member after another, in rank order, by an empty message. A member that has been asked sends
// the first part of its block, and then the rest of it. The root asks the next member once the first part is
// there, and receives the rest meanwhile.
type asking struct {
	members, root int
}

// turn returns the turn of a member, from 0 on.
func (a *asking) turn(member int) int {
	if member > a.root {
		return member - 1
	}
	return member
}

// asked returns the member with a turn.
func (a *asking) asked(turn int) int {
	if turn >= a.root {
		return turn + 1
	}
	return turn
}

func (a *asking) MaxRounds() int {
	if a.members == 1 {
		return 0
	}
	return 2*a.members - 1
}

func (a *asking) Rounds(member int) int {
	if a.members == 1 || member == a.root {
		return a.MaxRounds()
	}
	return 2*a.turn(member) + 3
}

func (a *asking) Next(member, round int) int {
	if member == a.root {
		return round
	}
	return max(round, 2*a.turn(member))
}

// Step of the root in round 2t asks the member with turn t and receives the rest of the block of the member
// before; in round 2t + 1 it receives the first part of the block of the member with turn t.
func (a *asking) Step(member, round int) Step {
	step := idle
	if round >= a.Rounds(member) {
		return step
	}
	turn := round / 2
	if member == a.root {
		if round%2 == 1 {
			step.From, step.Receive = a.asked(turn), a.first(a.asked(turn))
			return step
		}
		if turn < a.members-1 {
			step.To = a.asked(turn)
		}
		if turn > 0 {
			step.From, step.Receive = a.asked(turn-1), a.rest(a.asked(turn-1))
		}
		return step
	}
	switch round - 2*a.turn(member) {
	case 0:
		step.From = a.root
	case 1:
		step.To, step.Send = a.root, a.first(member)
	case 2:
		step.To, step.Send = a.root, a.rest(member)
	}
	return step
}

// first and rest return the positions of the two parts of a member's block.
func (a *asking) first(member int) Blocks { return Blocks{First: 2 * member, Count: 1} }
func (a *asking) rest(member int) Blocks  { return Blocks{First: 2*member + 1, Count: 1} }

func (a *asking) Pattern(int) Pattern { return Pattern{Kind: Irregular} }
