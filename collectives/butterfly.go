package collectives

import "math/bits"

// folding reduces a number of members to a power of two. With P = 2^L + r, member 2j sends its
// contents to member 2j+1 for j < r, and gets the result back at the end. The 2^L survivors are
// numbered in rank order: survivor s is member 2s+1 if s < r and else member s+r. Each survivor
// stands for contiguous ranks.
type folding struct {
	members, levels, extra int // P, L, r
}

func fold(members int) folding {
	levels := logFloor(members)
	return folding{members, levels, members - 1<<levels}
}

// Survivors returns the number of survivors below a member, after folded pairs have folded; see
// [Exchange].
func Survivors(folded, member int) int {
	if member < 2*folded {
		return member >> 1
	}
	return member - folded
}

// Survivor returns the member number of survivor s, after folded pairs have folded.
func Survivor(folded, s int) int {
	if s < folded {
		return 2*s + 1
	}
	return s + folded
}

// survivor returns the survivor number of a member; ok is false for a member that is none.
func (f folding) survivor(member int) (s int, ok bool) {
	return Survivors(f.extra, member), member >= 2*f.extra || member&1 == 1
}

// member returns the member that is survivor s.
func (f folding) member(s int) int { return Survivor(f.extra, s) }

// lowest returns the lowest rank that survivor s stands for; lowest(2^L) is P.
func (f folding) lowest(s int) int { return s + min(s, f.extra) }

// exchanges is the work of the survivors of a folding.
type exchanges uint8

const (
	combineAll   exchanges = iota // recursive doubling on the whole vector
	halveAndJoin                  // Rabenseifner: reduce_scatter by halving, allgather by doubling
	joinRanges                    // recursive doubling allgather
)

// butterfly is an algorithm of exchanges between survivors over the distances 2^k. A
// fold comes before and after it.
type butterfly struct {
	folding
	kind   exchanges
	pieces int // all positions
}

func (b *butterfly) exchangeRounds() int {
	if b.kind == halveAndJoin {
		return 2 * b.levels
	}
	return b.levels
}

func (b *butterfly) MaxRounds() int {
	if b.extra > 0 {
		return b.exchangeRounds() + 2
	}
	return b.exchangeRounds()
}

func (b *butterfly) Rounds(member int) int {
	if b.extra > 0 && member >= 2*b.extra {
		return b.exchangeRounds() + 1
	}
	return b.MaxRounds()
}

func (b *butterfly) Next(member, round int) int {
	if b.extra == 0 {
		return round
	}
	if member >= 2*b.extra {
		return max(round, 1)
	}
	if member&1 == 0 && round > 0 {
		return max(round, b.MaxRounds()-1)
	}
	return round
}

func (b *butterfly) Step(member, round int) Step {
	if b.extra > 0 {
		switch round {
		case 0:
			return b.foldIn(member)
		case b.exchangeRounds() + 1:
			return b.foldOut(member)
		}
		round--
	}
	s, ok := b.survivor(member)
	if !ok || round >= b.exchangeRounds() {
		return idle
	}
	switch b.kind {
	case halveAndJoin:
		return b.halveOrJoin(s, round)
	case joinRanges:
		return b.join(s, round)
	}
	return b.combine(s, round)
}

func (b *butterfly) foldIn(member int) Step {
	if member >= 2*b.extra {
		return idle
	}
	blocks, how := Blocks{First: 0, Count: b.pieces}, TheirsFirst
	if b.kind == joinRanges {
		blocks, how = Blocks{First: member &^ 1, Count: 1}, Store
	}
	if member&1 == 0 {
		return Step{To: member + 1, From: None, Send: blocks}
	}
	return Step{To: None, From: member - 1, Receive: blocks, Combine: how}
}

func (b *butterfly) foldOut(member int) Step {
	if member >= 2*b.extra {
		return idle
	}
	blocks := Blocks{First: 0, Count: b.pieces}
	if b.kind == joinRanges { // all but the block that came from the peer
		blocks = Blocks{First: member | 1, Count: b.members - 1}
	}
	if member&1 == 1 {
		return Step{To: member - 1, From: None, Send: blocks}
	}
	return Step{To: None, From: member + 1, Receive: blocks}
}

// side returns the way in which survivor s combines the values of its peer: the lower ranks first,
// on both sides, so that both have the same bits.
func side(s, peer int) Combine {
	if peer < s {
		return TheirsFirst
	}
	return MineFirst
}

func (b *butterfly) combine(s, k int) Step {
	peer := s ^ 1<<k
	all := Blocks{First: 0, Count: b.pieces}
	to := b.member(peer)
	return Step{To: to, From: to, Send: all, Receive: all, Combine: side(s, peer)}
}

// part returns the chunks that survivor s holds after k halvings. The nearest survivors
// halve first, so that combined ranks are contiguous. Bit 0 of s then chooses the upper
// or lower half, bit 1 the half of that, and so on.
func (b *butterfly) part(s, k int) Blocks {
	low := uint64(s) & (1<<k - 1)
	return Blocks{First: int(bits.Reverse64(low) >> (64 - b.levels)), Count: 1 << (b.levels - k)}
}

func (b *butterfly) halveOrJoin(s, round int) Step {
	if round < b.levels {
		peer := s ^ 1<<round
		to := b.member(peer)
		return Step{To: to, From: to, Send: b.part(peer, round+1), Receive: b.part(s, round+1), Combine: side(s, peer)}
	}
	k := 2*b.levels - 1 - round
	peer := s ^ 1<<k
	to := b.member(peer)
	return Step{To: to, From: to, Send: b.part(s, k+1), Receive: b.part(peer, k+1)}
}

// ranks returns the ranks that the 2^k survivors around s stand for.
func (b *butterfly) ranks(s, k int) Blocks {
	s = s >> k << k
	first := b.lowest(s)
	return Blocks{First: first, Count: b.lowest(s+1<<k) - first}
}

func (b *butterfly) join(s, k int) Step {
	peer := s ^ 1<<k
	to := b.member(peer)
	return Step{To: to, From: to, Send: b.ranks(s, k), Receive: b.ranks(peer, k)}
}

func (b *butterfly) Pattern(round int) Pattern {
	if b.extra > 0 {
		switch round {
		case 0:
			return b.foldPattern(0, 1, b.foldIn(1))
		case b.exchangeRounds() + 1:
			return b.foldPattern(1, -1, b.foldOut(0))
		}
		round--
	}
	p := Pattern{Kind: Exchange, Folded: b.extra, Distance: 1 << round}
	switch b.kind {
	case combineAll:
		p.Sent, p.Combined = b.pieces, b.pieces
	case halveAndJoin:
		if round < b.levels {
			p.Sent = 1 << (b.levels - 1 - round)
			p.Combined = p.Sent
		} else {
			k := 2*b.levels - 1 - round
			p.Sent, p.Distance = 1<<(b.levels-1-k), 1<<k
		}
	case joinRanges:
		p.Sent = 1 << round
		if b.extra > 0 {
			p.Sent = Varies
		}
	}
	return p
}

func (b *butterfly) foldPattern(first, distance int, receiver Step) Pattern {
	n := receiver.Receive.Count
	return Pattern{
		Kind: Strided, Distance: distance, First: first, Stride: 2, Count: b.extra,
		Sent: n, Combined: combined(receiver.Combine, n),
	}
}

// Positions of a prefix reduction: the result, and the sum over the aligned range of
// 2^k ranks around the member.
const (
	prefix  = 0
	partial = 1
)

// prefixes is the scan by recursive doubling. In round k the members whose numbers
// differ in bit k exchange the sums over their ranges.
type prefixes struct {
	members   int
	exclusive bool
}

func (p *prefixes) MaxRounds() int { return logCeil(p.members) }

func (p *prefixes) Rounds(member int) int {
	k := logCeil(p.members)
	for k > 0 && member^1<<(k-1) >= p.members {
		k--
	}
	return k
}

func (p *prefixes) Next(member, round int) int {
	for round < logCeil(p.members) && member^1<<round >= p.members {
		round++
	}
	return round
}

func (p *prefixes) Step(member, round int) Step {
	peer := member ^ 1<<round
	if round >= logCeil(p.members) || peer >= p.members {
		return idle
	}
	sum := Blocks{First: partial, Count: 1}
	step := Step{To: peer, From: peer, Send: sum, Receive: sum, Combine: MineFirst}
	if peer < member {
		step.Combine = TheirsFirst
		step.Also, step.AlsoCombine = Blocks{First: prefix, Count: 1}, TheirsFirst
		if p.exclusive && bits.TrailingZeros(uint(member)) == round {
			step.AlsoCombine = Store // the first ranks below the member
		}
	}
	return step
}

func (p *prefixes) Pattern(int) Pattern { return Pattern{Kind: Irregular, Sent: 1, Combined: Varies} }
