package collectives

import "gigarank/vtime"

// kBruck is the allgather of Bruck et al. with a radix k, as in MPICH (allgather_intra_k_brucks.c) and Open MPI
// (coll_base_allgather.c): in each phase a member has d blocks, those of the d members from itself on, and sends them
// to the k − 1 members at the distances d, 2d, 3d, … before it, as far as these lack them. The libraries send the
// messages of a phase at once; here a member receives a message before it sends the next. Among fewer members than the
// radix, their number is the radix.
type kBruck struct {
	members, radix int
	rounds         int
}

// kBrucks returns the plan for a radix of at least 2.
func kBrucks(members, radix int) kBruck {
	k := kBruck{members: members, radix: min(radix, max(members, 2))}
	for d := 1; d < members; d *= k.radix {
		k.rounds += min(k.radix-1, (members-1)/d)
	}
	return k
}

func (k *kBruck) MaxRounds() int        { return k.rounds }
func (k *kBruck) Rounds(int) int        { return k.rounds }
func (k *kBruck) Next(_, round int) int { return round }

// message returns the distance over which the messages of a round go, and their blocks.
func (k *kBruck) message(round int) (distance, blocks int) {
	d := 1
	for ; round >= k.radix-1; round -= k.radix - 1 {
		d *= k.radix
	}
	distance = (round + 1) * d
	return distance, min(d, k.members-distance)
}

func (k *kBruck) Step(member, round int) Step {
	if round >= k.rounds {
		return idle
	}
	distance, n := k.message(round)
	from := wrap(member+distance, k.members)
	return Step{To: wrap(member-distance, k.members), From: from, Send: Blocks{First: member, Count: n}, Receive: Blocks{First: from, Count: n}}
}

func (k *kBruck) Pattern(round int) Pattern {
	distance, n := k.message(round)
	return Pattern{Kind: Shift, Distance: k.members - distance, Sent: n}
}

func (k *kBruck) packs() bool { return true }

// packing returns the time of the rotation of the result, after the last round.
func (k *kBruck) packing(round int, _, total int64, copied func(bytes int64) vtime.Duration) vtime.Duration {
	if round < k.rounds-1 {
		return 0
	}
	return copied(total)
}
