package collectives

import "math/bits"

// sparbit is the allgather of Loch and Koslovski in Open MPI 5 (coll_base_allgather.c), with Bruck's partners at halving
// distances: in the phase of the distance d a member has every block at a multiple of 2d before its own, and sends them to
// the member d further on, its own first. Each block is a message of its own, and those of a phase go at once: a window for
// each. Where the number of members is no power of two, some phases leave out a block that the receiver has.
type sparbit struct {
	members  int
	excluded int // the distances of the phases that leave out a block, as bits
}

func sparbitAmong(members int) sparbit {
	twos := bits.TrailingZeros(uint(members))
	return sparbit{members, (^(members >> twos) | 1) << twos}
}

// phase returns the distance over which the messages of a phase go, and their number. Have is the number of blocks that a
// member has when it begins.
func (s *sparbit) phase(number, have int) (distance, blocks int) {
	distance = 1 << (logCeil(s.members) - 1 - number)
	if blocks = have; s.excluded&distance != 0 {
		blocks--
	}
	return distance, blocks
}

func (s *sparbit) MaxRounds() int {
	rounds, have := 0, 1
	for i := range logCeil(s.members) {
		_, n := s.phase(i, have)
		rounds, have = rounds+windowRounds(n), have+n
	}
	return rounds
}

func (s *sparbit) Rounds(int) int        { return s.MaxRounds() }
func (s *sparbit) Next(_, round int) int { return round }

// window returns the distance of the phase of a round, the number of the phase's first message, the number of its messages, and
// the number of the round in it.
func (s *sparbit) window(round int) (distance, first, n, at int) {
	for i := range logCeil(s.members) {
		distance, n = s.phase(i, first+1)
		if round < windowRounds(n) {
			return distance, first, n, round
		}
		round, first = round-windowRounds(n), first+n
	}
	return 0, 0, 0, 0
}

// phaseOf returns the distance of the phase of a message, and the number of the message in it.
func (s *sparbit) phaseOf(message int) (distance, number int) {
	have := 1
	for i := range logCeil(s.members) {
		var n int
		if distance, n = s.phase(i, have); message < have-1+n {
			return distance, message - (have - 1)
		}
		have += n
	}
	return 0, 0
}

func (s *sparbit) opens() bool   { return s.members > 2 }
func (s *sparbit) repeats() bool { return s.opens() }

func (s *sparbit) exchange(member, message int) Step {
	distance, number := s.phaseOf(message)
	block := member - 2*number*distance
	return Step{
		To: wrap(member+distance, s.members), From: wrap(member-distance, s.members),
		Send: s.block(block), Receive: s.block(block - distance),
	}
}

// block returns the block of a member, whose number may be below 0.
func (s *sparbit) block(of int) Blocks {
	return Blocks{First: (of%s.members + s.members) % s.members, Count: 1}
}

func (s *sparbit) Step(member, round int) Step {
	_, first, n, at := s.window(round)
	if n == 0 {
		return idle
	}
	return inWindow(s, member, first, n, at)
}

func (s *sparbit) Pattern(round int) Pattern {
	if distance, _, n, _ := s.window(round); n == 1 {
		return Pattern{Kind: Shift, Distance: distance, Sent: 1}
	}
	return Pattern{Kind: Irregular, Sent: 1}
}
