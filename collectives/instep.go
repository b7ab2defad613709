package collectives

// InStep reports whether all members do the same in every round: each sends one message and
// receives one message, all of equal size, and combines equally many bytes. Members that enter
// together then stay together round for round, and leave together. The time of a round is the time
// of one message, including its cost at sender and receiver. The arguments are those of
// [ClosedForm]. Node-leader is in step if each node has one rank and members are the nodes. Other
// algorithms that depend on nodes, and vectors in segments, are not.
func InStep(op Operation, a Algorithm, members int, count int64) bool {
	switch {
	case a == NodeLeader:
		a = RecursiveDoubling
	case TakesNodes(op, a) || a.Segment() > 0:
		return false
	}
	s, err := New(op, a, members, 0)
	if err != nil {
		return false
	}
	if pieces := s.Positions(); op == Allreduce && pieces > 1 && !KeepsVectors(s) && count%int64(pieces) != 0 {
		return false // chunks of two sizes
	}
	for round := range s.MaxRounds() {
		p := s.Pattern(round)
		together := p.Kind == Shift || p.Kind == Paired || p.Kind == Exchange && p.Folded == 0
		if !together || p.Sent == Varies || p.Combined == Varies {
			return false
		}
	}
	return true
}
