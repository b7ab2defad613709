package collectives

import "math/bits"

// binomial is the binomial tree on the members renumbered so that the root is 0. The parent of v is
// v without its lowest bit. The subtree of v is a range with as many numbers as the value of that
// bit. Outward, distances are halved; inward they are doubled.
type binomial struct {
	members, root int
	inward        bool
	subtrees      bool // a message carries the blocks of the subtree; else all positions
	numbered      bool // the block of a member has its number from the root on; else its own
	pieces        int  // all positions
}

func (b *binomial) number(member int) int { return wrap(member-b.root, b.members) }

// level returns the number of children that v can have. Its parent is 2^level below it.
func (b *binomial) level(v int) int {
	if v == 0 {
		return logCeil(b.members)
	}
	return bits.TrailingZeros(uint(v))
}

// at converts between a round and a distance's exponent, in both directions.
func (b *binomial) at(n int) int {
	if b.inward {
		return n
	}
	return logCeil(b.members) - 1 - n
}

func (b *binomial) MaxRounds() int { return logCeil(b.members) }

func (b *binomial) Rounds(member int) int {
	v := b.number(member)
	if b.inward {
		return min(b.level(v)+1, logCeil(b.members))
	}
	if v+1 < b.members && v&1 == 0 {
		return logCeil(b.members)
	}
	return b.at(b.level(v)) + 1
}

func (b *binomial) Next(member, round int) int {
	rounds := b.Rounds(member)
	v := b.number(member)
	if !b.inward && v != 0 {
		round = max(round, b.at(b.level(v)))
	}
	for round < rounds && !b.busy(v, b.at(round)) {
		round++
	}
	return round
}

// busy reports whether v has a message over the distance 2^k.
func (b *binomial) busy(v, k int) bool {
	level := b.level(v)
	return k == level && v != 0 || k < level && v+1<<k < b.members
}

func (b *binomial) Step(member, round int) (step Step) {
	b.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (b *binomial) StepInto(step *Step, member, round int) {
	k := b.at(round)
	v := b.number(member)
	*step = idle
	if k < 0 || k >= logCeil(b.members) || !b.busy(v, k) {
		return
	}
	child := v
	peer := wrap(member-1<<k, b.members)
	if k < b.level(v) {
		child = v + 1<<k
		peer = wrap(member+1<<k, b.members)
	}
	blocks := Blocks{First: 0, Count: b.pieces}
	if b.subtrees {
		blocks = Blocks{First: wrap(child+b.root, b.members), Count: min(1<<k, b.members-child)}
		if b.numbered {
			blocks.First = child
		}
	}
	if (child == v) == b.inward {
		step.To, step.Send = peer, blocks
		return
	}
	step.From, step.Receive = peer, blocks
}

func (b *binomial) Pattern(round int) Pattern {
	if b.root != 0 {
		return Pattern{Kind: Irregular}
	}
	return b.pattern(b.at(round))
}

func (b *binomial) pattern(k int) Pattern {
	distance := 1 << k
	p := Pattern{Kind: Strided, Distance: distance, Stride: 2 * distance, Sent: b.pieces}
	p.Count = (b.members-distance-1)/p.Stride + 1
	if b.subtrees {
		p.Sent = distance
		if (distance+(p.Count-1)*p.Stride)+distance > b.members {
			p.Sent = Varies
		}
	}
	if b.inward {
		p.First, p.Distance = distance, -distance
	}
	return p
}

// subtree returns the blocks of the member's subtree of the k-nomial tree of a radix.
func subtree(member, root, members, radix int) Blocks {
	v := wrap(member-root, members)
	if v == 0 {
		return Blocks{First: member, Count: members}
	}
	width := v & -v
	if radix != 2 {
		d := digits{members: members, radix: radix}
		_, _, width = d.lowest(v)
	}
	return Blocks{First: member, Count: min(width, members-v)}
}

// ordered is the binomial tree of a reduction. It is not rotated, which keeps the rank order for
// every root: in round k the aligned ranges of 2^k ranks join in pairs. The root represents a range
// that contains it; the lowest rank represents any other range. So the result does not depend on
// the root, bit for bit. For root 0 it is the ordinary binomial tree.
type ordered struct {
	members, root, pieces int
}

// holder returns the member that represents range number r of 2^k ranks.
func (o *ordered) holder(r, k int) int {
	if o.root>>k == r {
		return o.root
	}
	return r << k
}

func (o *ordered) MaxRounds() int { return logCeil(o.members) }

func (o *ordered) Rounds(member int) int {
	if member == o.root {
		return logCeil(o.members)
	}
	last := bits.Len(uint(member^o.root)) - 1
	if member != 0 {
		last = min(last, bits.TrailingZeros(uint(member)))
	}
	return last + 1
}

func (o *ordered) Next(member, round int) int {
	rounds := o.Rounds(member)
	for round < rounds && (member>>round^1)<<round >= o.members {
		round++
	}
	return round
}

func (o *ordered) Step(member, round int) (step Step) {
	o.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (o *ordered) StepInto(step *Step, member, round int) {
	mine := member >> round
	theirs := mine ^ 1
	*step = idle
	if round >= logCeil(o.members) || theirs<<round >= o.members || o.holder(mine, round) != member {
		return
	}
	peer := o.holder(theirs, round)
	all := Blocks{First: 0, Count: o.pieces}
	if o.holder(mine>>1, round+1) != member {
		step.To, step.Send = peer, all
		return
	}
	step.From, step.Receive, step.Combine = peer, all, MineFirst
	if theirs < mine {
		step.Combine = TheirsFirst
	}
}

func (o *ordered) Pattern(round int) Pattern {
	if o.root != 0 {
		return Pattern{Kind: Irregular}
	}
	tree := binomial{members: o.members, inward: true, pieces: o.pieces}
	p := tree.pattern(round)
	p.Combined = o.pieces
	return p
}
