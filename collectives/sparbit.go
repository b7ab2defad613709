package collectives

import "math/bits"

// sparbit is the allgather of Loch and Koslovski in Open MPI 5 (coll_base_allgather.c), with Bruck's partners at halving
// distances: in the round of the distance d a member has every block at a multiple of 2d before its own, and sends them to
// the member d further on. Where the number of members is no power of two, some rounds leave out a block that the receiver
// has. Open MPI sends each block as a message of its own, all of a round at once; here they are one message.
type sparbit struct {
	members  int
	excluded int // the distances of the rounds that leave out a block, as bits
}

func sparbitAmong(members int) sparbit {
	twos := bits.TrailingZeros(uint(members))
	return sparbit{members, (^(members >> twos) | 1) << twos}
}

func (s *sparbit) MaxRounds() int        { return logCeil(s.members) }
func (s *sparbit) Rounds(int) int        { return logCeil(s.members) }
func (s *sparbit) Next(_, round int) int { return round }

// message returns the distance over which the messages of a round go, and the number of their blocks.
func (s *sparbit) message(round int) (distance, blocks int) {
	have := 1
	for i := 0; ; i++ {
		distance = 1 << (logCeil(s.members) - 1 - i)
		blocks = have
		if s.excluded&distance != 0 {
			blocks--
		}
		if i == round {
			return distance, blocks
		}
		have += blocks
	}
}

func (s *sparbit) Step(member, round int) Step {
	if round >= s.MaxRounds() {
		return idle
	}
	distance, n := s.message(round)
	first := member - 2*(n-1)*distance
	return Step{
		To: wrap(member+distance, s.members), From: wrap(member-distance, s.members),
		Send: s.every(first, n, distance), Receive: s.every(first-distance, n, distance),
	}
}

// every returns n blocks that are twice a distance apart, from a block on, which may be below 0.
func (s *sparbit) every(first, n, distance int) Blocks {
	return Blocks{First: (first%s.members + s.members) % s.members, Count: n, Run: -2 * distance}
}

func (s *sparbit) Pattern(round int) Pattern {
	distance, n := s.message(round)
	return Pattern{Kind: Shift, Distance: distance, Sent: n}
}
