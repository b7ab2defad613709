package collectives

import "gigarank/vtime"

// kBruck is the allgather of Bruck et al. with a radix k, as in MPICH (allgather_intra_k_brucks.c) and Open MPI
// (coll_base_allgather.c): in each phase a member has d blocks, those of the d members from itself on, and sends them
// to the k − 1 members at the distances d, 2d, 3d, … before it, as far as these lack them. The messages of a phase go at
// once: a window for each. Among fewer members than the radix, their number is the radix.
type kBruck struct {
	members, radix int
	windows
}

// kBrucks returns the plan for a radix of at least 2.
func kBrucks(members, radix int) kBruck {
	k := kBruck{members: members, radix: min(radix, max(members, 2))}
	k.windows = windows{0, k.radix - 1, k.radix - 1}
	for d := 1; d < members; d *= k.radix {
		k.messages += min(k.radix-1, (members-1)/d)
	}
	return k
}

func (k *kBruck) MaxRounds() int        { return k.rounds() }
func (k *kBruck) Rounds(int) int        { return k.rounds() }
func (k *kBruck) Next(_, round int) int { return round }

// message returns the distance over which messages of a number go, and their blocks.
func (k *kBruck) message(number int) (distance, blocks int) {
	d := 1
	for ; number >= k.radix-1; number -= k.radix - 1 {
		d *= k.radix
	}
	distance = (number + 1) * d
	return distance, min(d, k.members-distance)
}

func (k *kBruck) exchange(member, message int) Step {
	distance, n := k.message(message)
	from := wrap(member+distance, k.members)
	return Step{To: wrap(member-distance, k.members), From: from, Send: Blocks{First: member, Count: n}, Receive: Blocks{First: from, Count: n}}
}

func (k *kBruck) Step(member, round int) Step {
	if round >= k.rounds() {
		return idle
	}
	first, n, at := k.at(round)
	return inWindow(k, member, first, n, at)
}

func (k *kBruck) Pattern(round int) Pattern {
	first, n, _ := k.at(round)
	if n > 1 {
		return Pattern{Kind: Irregular, Sent: Varies}
	}
	return k.shape(first)
}

func (k *kBruck) shape(message int) Pattern {
	distance, blocks := k.message(message)
	return Pattern{Kind: Shift, Distance: k.members - distance, Sent: blocks}
}

func (k *kBruck) packs() bool { return true }

// packing returns the time of the rotation of the result, after the last round.
func (k *kBruck) packing(round int, _, total int64, copies Copies) vtime.Duration {
	if round < k.rounds()-1 {
		return 0
	}
	return copies.Copy(total)
}
