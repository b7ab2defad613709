package collectives

// star is a linear algorithm: the root communicates with the other members one by one.
type star struct {
	members, root int
	inward        bool // to the root; else from it
	own           bool // the message is the other member's block; else all positions
	pieces        int  // all positions
	reduce        bool // the root combines
	atOnce        bool // the root sends in a window
}

// The root of a gather, a scatter or a broadcast handles the other members in rank order. The root
// of a reduction handles the members below it in descending order and then the members above it in
// ascending order. So its partial result always covers contiguous ranks and needs no second buffer.

func (s *star) peer(round int) int {
	switch {
	case round >= s.root:
		return round + 1
	case s.reduce:
		return s.root - 1 - round
	}
	return round
}

func (s *star) round(member int) int {
	switch {
	case member > s.root:
		return member - 1
	case s.reduce:
		return s.root - 1 - member
	}
	return member
}

func (s *star) MaxRounds() int { return s.members - 1 }

func (s *star) Rounds(member int) int {
	if member == s.root {
		return s.members - 1
	}
	return s.round(member) + 1
}

func (s *star) Next(member, round int) int {
	if member == s.root {
		return round
	}
	if own := s.round(member); round <= own {
		return own
	}
	return round
}

func (s *star) Step(member, round int) Step {
	peer := s.root
	other := member
	if member == s.root {
		if round >= s.members-1 {
			return idle
		}
		peer = s.peer(round)
		other = peer
	} else if round != s.round(member) {
		return idle
	}
	blocks := Blocks{First: 0, Count: s.pieces}
	if s.own {
		blocks = Blocks{First: other, Count: 1}
	}
	if (member == s.root) != s.inward {
		step := Step{To: peer, From: None, Send: blocks}
		if s.opens() && member == s.root {
			step.Left = s.members - 2 - round
		}
		return step
	}
	return Step{To: None, From: peer, Receive: blocks, Combine: s.combine(peer)}
}

func (s *star) opens() bool { return s.atOnce && s.members > 2 }

func (s *star) combine(peer int) Combine {
	switch {
	case !s.reduce:
		return Store
	case peer < s.root:
		return TheirsFirst
	}
	return MineFirst
}

func (s *star) Pattern(round int) Pattern {
	peer, sent := s.peer(round), s.pieces
	if s.own {
		sent = 1
	}
	if s.inward {
		return message(peer, s.root, sent, combined(s.combine(peer), sent))
	}
	return message(s.root, peer, sent, 0)
}

// line passes data from member to member, from the root round to the member before it.
// Round k is the message to the member k+1 places after the root.
type line struct {
	members, root int
	send          Blocks
	receive       Step // of the receiver; To and From are not used
}

func (l *line) place(member int) int { return wrap(member-l.root, l.members) }

func (l *line) MaxRounds() int { return l.members - 1 }

func (l *line) Rounds(member int) int { return min(l.place(member)+1, l.members-1) }

func (l *line) Next(member, round int) int { return max(round, l.place(member)-1) }

func (l *line) Step(member, round int) Step {
	switch place := l.place(member); {
	case round >= l.members-1:
		return idle
	case place == round:
		return Step{To: wrap(member+1, l.members), From: None, Send: l.send}
	case place == round+1:
		step := l.receive
		step.To, step.From = None, wrap(member-1, l.members)
		return step
	}
	return idle
}

func (l *line) Pattern(round int) Pattern {
	from := wrap(l.root+round, l.members)
	through := combined(l.receive.Combine, l.receive.Receive.Count) + combined(l.receive.AlsoCombine, l.receive.Also.Count)
	return message(from, wrap(from+1, l.members), l.send.Count, through)
}

// exclusiveLine is the line of an exscan. The last member adds nothing to the sum that it receives.
type exclusiveLine struct{ line }

func (l *exclusiveLine) Step(member, round int) Step {
	step := l.line.Step(member, round)
	if step.From != None && member == l.members-1 {
		step.Receive, step.Combine, step.Also = step.Also, step.AlsoCombine, Blocks{}
	}
	return step
}

func (l *exclusiveLine) Pattern(round int) Pattern {
	p := l.line.Pattern(round)
	if round == l.members-2 {
		p.Combined = 0
	}
	return p
}

// everyPair is the linear alltoall: every member posts all receives and sends to members 0, 1, 2, … at once, as the
// alltoallv of Open MPI (coll_base_alltoallv.c, basic_linear). There, from 4.1.6 on, empty blocks have no message; interpreters leave them out. A window has all rounds: first those in which a member sends,
// then those in which it receives, each in the order of the others.
type everyPair struct{ members int }

func (e *everyPair) MaxRounds() int        { return 2 * (e.members - 1) }
func (e *everyPair) Rounds(int) int        { return e.MaxRounds() }
func (e *everyPair) Next(_, round int) int { return round }
func (e *everyPair) opens() bool           { return e.members > 1 }
func (e *everyPair) Pattern(int) Pattern   { return Pattern{Kind: Irregular, Sent: 1} }

// other returns a member by its number among those other than a member, and number the reverse.
func other(member, number int) int {
	if number >= member {
		return number + 1
	}
	return number
}

func numberOf(member, other int) int {
	if other > member {
		return other - 1
	}
	return other
}

func (e *everyPair) Step(member, round int) Step {
	others := e.members - 1
	if round >= 2*others {
		return idle
	}
	step := idle
	step.Left = 2*others - 1 - round
	if round < others {
		step.To = other(member, round)
		step.Send, step.Later = Blocks{First: step.To, Count: 1}, others+numberOf(step.To, member)-round
		return step
	}
	step.From = other(member, round-others)
	step.Receive = Blocks{First: e.members + step.From, Count: 1}
	return step
}
