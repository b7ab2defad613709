package collectives

import "math/bits"

// A k-nomial tree has a radix k, and members that are numbered from the root on. The parent of v is
// v without its lowest digit in base k that is not 0. The subtree of v is a range with as many
// numbers as the value of that digit's place. The tree of radix 2 is the binomial tree.
//
// Rounds are those of the root: a round for each digit of each place. Outwards the places descend,
// inwards they ascend, and digits ascend within a place.

// digits are the places of the numbers of members in base radix.
type digits struct {
	members, radix int
	places         int
	top            int // greatest digit in the highest place
	rounds         int // in which one segment passes
}

func digitsOf(members, radix int) digits {
	d := digits{members: members, radix: radix}
	width := 1
	for n := 1; n < members; n *= radix {
		width = n
		d.places++
		if n > members/radix {
			break
		}
	}
	if d.places > 0 {
		d.top = (members - 1) / width
		d.rounds = (d.places-1)*(radix-1) + d.top
	}
	return d
}

// width returns the value of digit 1 in a place.
func (d *digits) width(place int) int {
	if d.radix == 2 {
		return 1 << place
	}
	w := 1
	for range place {
		w *= d.radix
	}
	return w
}

// lowest returns the place, the digit and the value of digit 1 of the lowest digit of v that is not 0. The
// root has a place above all others.
func (d *digits) lowest(v int) (place, digit, width int) {
	if v == 0 {
		return d.places, 0, 0
	}
	if d.radix == 2 {
		place = bits.TrailingZeros(uint(v))
		return place, 1, 1 << place
	}
	width = 1
	for v%d.radix == 0 {
		v /= d.radix
		width *= d.radix
		place++
	}
	return place, v % d.radix, width
}

// knomial sends a vector in segments down a k-nomial tree, or parts of it that belong to subtrees down or up
// the tree. Outwards it is the tree of Open MPI (coll_base_topo.c): a node sends to the farthest subtrees
// first.
type knomial struct {
	digits
	root, segments int
	inward         bool
	subtrees       bool // a message carries the blocks of the subtree; else a segment
}

// round returns the round of a digit in a place.
func (k *knomial) round(place, digit int) int {
	switch {
	case k.inward:
		return place*(k.radix-1) + digit - 1
	case place == k.places-1:
		return digit - 1
	}
	return k.top + (k.places-2-place)*(k.radix-1) + digit - 1
}

// at returns the place and the digit of a round.
func (k *knomial) at(round int) (place, digit int) {
	switch {
	case k.inward:
		place = min(round/(k.radix-1), k.places-1)
		return place, round - place*(k.radix-1) + 1
	case round < k.top:
		return k.places - 1, round + 1
	}
	round -= k.top
	return k.places - 2 - round/(k.radix-1), round%(k.radix-1) + 1
}

func (k *knomial) MaxRounds() int { return k.segments * k.rounds }

func (k *knomial) number(member int) int { return wrap(member-k.root, k.members) }

func (k *knomial) Rounds(member int) int {
	v := k.number(member)
	place, digit, _ := k.lowest(v)
	last := 0
	switch {
	case k.members == 1:
		return 0
	case k.inward && v == 0:
		last = k.rounds - 1
	case !k.inward && place > 0 && v+1 < k.members:
		last = k.round(0, min(k.radix-1, k.members-1-v))
	default:
		last = k.round(place, digit)
	}
	return (k.segments-1)*k.rounds + last + 1
}

func (k *knomial) Next(member, round int) int {
	if round >= k.MaxRounds() {
		return round
	}
	v := k.number(member)
	begin := round / k.rounds * k.rounds
	if next, ok := k.next(v, round-begin); ok {
		return begin + next
	}
	if begin += k.rounds; begin < k.MaxRounds() {
		next, _ := k.next(v, 0)
		return begin + next
	}
	return begin
}

// next returns the first round of a segment, from round on, in which v has a message.
func (k *knomial) next(v, round int) (next int, ok bool) {
	place, digit, _ := k.lowest(v)
	own := k.rounds
	if v != 0 {
		own = k.round(place, digit)
	}
	switch {
	case k.inward:
		return k.nextUp(v, place, round, own)
	case v != 0 && round <= own:
		return own, true
	case place == 0:
		return 0, false
	}
	for at, digit := k.at(max(round, k.round(place-1, 1))); ; at, digit = at-1, 1 {
		if v+digit*k.width(at) < k.members {
			return k.round(at, digit), true
		}
		if at == 0 {
			return 0, false
		}
	}
}

// nextUp is next inwards, for a node with a place that sends in round own.
func (k *knomial) nextUp(v, place, round, own int) (next int, ok bool) {
	for round < own {
		at, digit := k.at(round)
		if at == place {
			break
		}
		if v+digit*k.width(at) < k.members {
			return round, true
		}
		round = k.round(at, 1) + k.radix - 1
	}
	return own, own < k.rounds && round <= own
}

func (k *knomial) Step(member, round int) (step Step) {
	k.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (k *knomial) StepInto(step *Step, member, round int) {
	*step = idle
	if round >= k.MaxRounds() {
		return
	}
	s := round / k.rounds
	at, digit := k.at(round - s*k.rounds)
	v := k.number(member)
	place, own, width := k.lowest(v)
	var child int
	switch {
	case at == place && digit == own:
		child = v
		k.pass(step, member-digit*width, k.inward, k.blocks(s, child, width))
	case at < place:
		width = k.width(at)
		if child = v + digit*width; child < k.members {
			k.pass(step, member+digit*width, !k.inward, k.blocks(s, child, width))
		}
	}
}

// pass has a step send to a member, or receive from it. The member may be beyond the last or the first.
func (k *knomial) pass(step *Step, peer int, sends bool, b Blocks) {
	peer = wrap(peer, k.members)
	if sends {
		step.To, step.Send = peer, b
		return
	}
	step.From, step.Receive = peer, b
}

// blocks returns the positions that pass between a node and its parent.
func (k *knomial) blocks(s, v, width int) Blocks {
	if k.subtrees {
		return Blocks{First: wrap(v+k.root, k.members), Count: min(width, k.members-v)}
	}
	return Blocks{First: s, Count: 1}
}

func (k *knomial) Pattern(int) Pattern { return Pattern{Kind: Irregular} }

// nested is the k-nomial tree of a reduction in segments. It is not rotated, which keeps the rank
// order for every root: aligned ranges of k^place ranks join, k at a time. The root represents a
// range that contains it; the lowest rank represents any other range. The member that represents a
// group of ranges receives from the ranges below its own, the nearest first, and then from those
// above. For radix 2 it is the tree of [ordered].
type nested struct {
	digits
	root, segments int
}

// holder returns the member that represents range number r of width ranks.
func (n *nested) holder(r, width int) int {
	if n.root/width == r {
		return n.root
	}
	return r * width
}

// group returns the number of a member's range among the ranges of its group, and that of the range whose
// holder represents the group.
func (n *nested) group(member, width int) (own, head int) {
	r := member / width
	if root := n.root / width; root/n.radix == r/n.radix {
		head = root % n.radix
	}
	return r % n.radix, head
}

// sends returns the place, with its width, in which a member sends the sum of its range, and the turn of
// the message there. The root has a place above all others. Another member represents its range up to the place of its
// lowest digit that is not 0, or that of the highest digit that is not the root's, if that is lower.
func (n *nested) sends(member int) (place, turn, width int) {
	if member == n.root {
		return n.places, 0, 1
	}
	place, _, width = n.lowest(member)
	if n.radix == 2 {
		if meet := bits.Len(uint(member^n.root)) - 1; meet < place {
			place, width = meet, 1<<meet
		}
	} else {
		w := 1
		for p := range place {
			if member/(w*n.radix) == n.root/(w*n.radix) {
				place, width = p, w
				break
			}
			w *= n.radix
		}
	}
	own, head := n.group(member, width)
	return place, turnOf(own, head), width
}

// turnOf returns the turn of a range in a group: the first is 0.
func turnOf(own, head int) int {
	if own < head {
		return head - 1 - own
	}
	return own - 1
}

// rangeOf is the inverse of turnOf.
func rangeOf(turn, head int) int {
	if turn < head {
		return head - 1 - turn
	}
	return turn + 1
}

func (n *nested) MaxRounds() int { return n.segments * n.rounds }

func (n *nested) at(round int) (place, turn int) {
	place = min(round/(n.radix-1), n.places-1)
	return place, round - place*(n.radix-1)
}

func (n *nested) Rounds(member int) int {
	if n.members == 1 {
		return 0
	}
	last := n.rounds - 1
	if place, turn, _ := n.sends(member); place < n.places {
		last = place*(n.radix-1) + turn
	}
	return (n.segments-1)*n.rounds + last + 1
}

func (n *nested) Next(member, round int) int {
	if round >= n.MaxRounds() {
		return round
	}
	begin := round / n.rounds * n.rounds
	if next := n.next(member, round-begin); next < n.rounds {
		return begin + next
	}
	if begin += n.rounds; begin < n.MaxRounds() {
		return begin + n.next(member, 0)
	}
	return begin
}

// next returns the first round of a segment, from round on, in which a member has a message, or the number
// of rounds.
func (n *nested) next(member, round int) int {
	place, turn, _ := n.sends(member)
	own := n.rounds
	if place < n.places {
		own = place*(n.radix-1) + turn
		if round > own {
			return n.rounds
		}
	}
	for round < own {
		at, turn := n.at(round)
		if at == place {
			return own
		}
		width := n.width(at)
		mine, head := n.group(member, width)
		other := (member/width - mine + rangeOf(turn, head)) * width
		if other < n.members {
			return round
		}
		round = (at + 1) * (n.radix - 1)
	}
	return min(round, own)
}

func (n *nested) Step(member, round int) (step Step) {
	n.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (n *nested) StepInto(step *Step, member, round int) {
	*step = idle
	if round >= n.MaxRounds() {
		return
	}
	s := round / n.rounds
	at, turn := n.at(round - s*n.rounds)
	place, own, width := n.sends(member)
	if at > place || at == place && turn != own {
		return
	}
	all := Blocks{First: s, Count: 1}
	if at < place {
		width = n.width(at)
	}
	mine, head := n.group(member, width)
	first := member/width - mine
	if at == place {
		step.To, step.Send = n.holder(first+head, width), all
		return
	}
	other := rangeOf(turn, head)
	if (first+other)*width >= n.members {
		return
	}
	step.From, step.Receive, step.Combine = n.holder(first+other, width), all, MineFirst
	if other < head {
		step.Combine = TheirsFirst
	}
}

func (n *nested) Pattern(int) Pattern { return Pattern{Kind: Irregular} }
