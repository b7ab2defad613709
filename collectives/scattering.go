package collectives

import "math/bits"

// scattering is a reduce_scatter of exchanges between the survivors of a folding, over the distances 2^k. A survivor stands
// for one rank, or for two that have folded, and for their blocks.
//
// Sources: reduce_scatter_intra_recursive_halving.c and reduce_scatter_intra_recursive_doubling.c of MPICH 4;
// coll_base_reduce_scatter.c of Open MPI 4.1 and 5, after Träff, "An improved algorithm for (non-commutative) reduce-scatter
// with an application", 2005, for the butterfly.
type scattering struct {
	folding
	kind scatters
}

// scatters is the work of the survivors of a reduce_scatter.
type scatters uint8

const (
	// The farthest survivors exchange first, each sends the other's half of its blocks: recursive halving.
	halveFar scatters = iota
	// The nearest survivors exchange first, which keeps the rank order. A survivor then has the blocks of another, whose
	// number has the bits of its own in reverse, and sends the blocks to it and to the member that has folded with it: butterfly.
	halveNear
	// The nearest survivors exchange all blocks but those of their own sides: recursive doubling. MPICH does not fold: where
	// the number of ranks is no power of two, ranks without partner get the blocks from others of their side.
	keepOwn
)

// deliveries returns the number of rounds in which results go to members that lack them.
func (c *scattering) deliveries() int {
	n := 0
	if c.extra > 0 {
		n++
	}
	if c.kind == halveNear && c.levels > 1 { // else each survivor has its own blocks
		n++
	}
	return n
}

// folds returns the number of rounds in which members fold.
func (c *scattering) folds() int { return min(c.extra, 1) }

func (c *scattering) MaxRounds() int { return c.folds() + c.levels + c.deliveries() }

func (c *scattering) Rounds(member int) int {
	n := c.MaxRounds()
	for n > 0 && c.idle(member, n-1) {
		n--
	}
	return n
}

func (c *scattering) Next(member, round int) int {
	for round < c.MaxRounds() && c.idle(member, round) {
		round++
	}
	return round
}

func (c *scattering) idle(member, round int) bool {
	step := c.Step(member, round)
	return step.To == None && step.From == None
}

func (c *scattering) Step(member, round int) Step {
	round -= c.folds()
	if round < 0 {
		return c.foldIn(member)
	}
	s, ok := c.survivor(member)
	switch {
	case round >= c.levels+c.deliveries():
		return idle
	case round >= c.levels && c.extra > 0 && round == c.levels:
		return c.deliver(member, s, ok)
	case !ok:
		return idle
	case round >= c.levels:
		return c.swap(s)
	}
	k := round
	if c.kind == halveFar {
		k = c.levels - 1 - round
	}
	peer := s ^ 1<<k
	to := c.member(peer)
	return Step{To: to, From: to, Send: c.part(peer, s, k), Receive: c.part(s, peer, k), Combine: side(s, peer)}
}

// foldIn has an even member of those that fold send all blocks to the next member.
func (c *scattering) foldIn(member int) Step {
	all := Blocks{First: 0, Count: c.members}
	switch {
	case member >= 2*c.extra:
		return idle
	case member&1 == 0:
		return Step{To: member + 1, From: None, Send: all}
	}
	return Step{To: None, From: member - 1, Receive: all, Combine: TheirsFirst}
}

// span returns the blocks of n survivors from s on.
func (c *scattering) span(s, n int) Blocks {
	first := c.lowest(s)
	return Blocks{First: first, Count: c.lowest(s+n) - first}
}

// part returns the blocks that survivor s receives from its peer over the distance 2^k.
func (c *scattering) part(s, peer, k int) Blocks {
	switch c.kind {
	case halveNear:
		n := 1 << (c.levels - 1 - k)
		return c.span(c.holds(s, k+1), n)
	case keepOwn:
		theirs := c.span(peer>>k<<k, 1<<k)
		return Blocks{First: wrap(theirs.First+theirs.Count, c.members), Count: c.members - theirs.Count}
	}
	return c.span(s>>k<<k, 1<<k)
}

// holds returns the first survivor whose blocks survivor s has after k halvings of the butterfly. Bit 0 of s chooses the upper or
// the lower half, bit 1 the half of that, and so on.
func (c *scattering) holds(s, k int) int {
	return int(bits.Reverse64(uint64(s)&(1<<k-1)) >> (64 - c.levels))
}

// owner returns the survivor whose blocks survivor s has in the end, and the other way round.
func (c *scattering) owner(s int) int {
	if c.kind == halveNear {
		return c.holds(s, c.levels)
	}
	return s
}

// deliver sends the block of each member that has folded, from the survivor that has it.
func (c *scattering) deliver(member, s int, survives bool) Step {
	if !survives {
		return Step{To: None, From: c.member(c.owner(s)), Receive: Blocks{First: member, Count: 1}}
	}
	owner := c.owner(s)
	if owner >= c.extra {
		return idle
	}
	to := c.member(owner) - 1
	return Step{To: to, From: None, Send: Blocks{First: to, Count: 1}}
}

// swap has two survivors exchange their own blocks.
func (c *scattering) swap(s int) Step {
	peer := c.owner(s)
	if peer == s {
		return idle
	}
	mine, theirs := c.member(s), c.member(peer)
	return Step{To: theirs, From: theirs, Send: Blocks{First: theirs, Count: 1}, Receive: Blocks{First: mine, Count: 1}}
}

func (c *scattering) Pattern(round int) Pattern {
	if c.extra > 0 && round == 0 {
		return Pattern{Kind: Strided, Distance: 1, First: 0, Stride: 2, Count: c.extra, Sent: c.members, Combined: c.members}
	}
	round -= c.folds()
	switch {
	case round >= c.levels && c.kind == halveNear:
		return Pattern{Kind: Irregular, Sent: 1}
	case round >= c.levels:
		return Pattern{Kind: Strided, Distance: -1, First: 1, Stride: 2, Count: c.extra, Sent: 1}
	}
	k := round
	if c.kind == halveFar {
		k = c.levels - 1 - round
	}
	p := Pattern{Kind: Exchange, Folded: c.extra, Distance: 1 << k, Sent: Varies, Combined: Varies}
	if c.extra == 0 {
		p.Sent = c.part(0, 1<<k, k).Count
		p.Combined = p.Sent
	}
	return p
}
