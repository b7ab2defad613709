package collectives

import "math/bits"

// Algorithms that scatter a vector over the members and then gather it everywhere, or scatter the
// work of combining it and then gather the result.

// mending is the allgather by recursive doubling of MPICH and Open MPI, for any number of members. Members are numbered from
// the root on, and member v begins with chunk v of the vector. On level i the aligned ranges of 2^i
// members exchange what they have with the next range, member by member. If the higher range is cut short by the
// number of members, the members of the lower range without partners then get the chunks of the higher range from
// those with partners, by recursive halving.
type mending struct {
	members, root int
	levels        []uint8 // by round; nil if all ranges are whole, so that each level has one round
}

func mend(members, root int) mending {
	m := mending{members: members, root: root}
	if members&(members-1) == 0 {
		return m
	}
	for level := range logCeil(members) {
		m.levels = append(m.levels, uint8(level))
		if short := m.short(level); short > 0 {
			for range level - logFloor(short) {
				m.levels = append(m.levels, uint8(level))
			}
		}
	}
	return m
}

// short returns the number of members of the range of a level that is cut short, 0 if none is or if all lower
// members have partners or none has.
func (m *mending) short(level int) int {
	if (m.members-1)>>level&1 == 0 {
		return 0
	}
	return m.members & (1<<level - 1)
}

func (m *mending) MaxRounds() int {
	if m.levels == nil {
		return logFloor(m.members)
	}
	return len(m.levels)
}

func (m *mending) Rounds(member int) int {
	if m.levels == nil {
		return m.MaxRounds()
	}
	v := wrap(member-m.root, m.members)
	for round := m.MaxRounds() - 1; round >= 0; round-- {
		if m.busy(v, round) {
			return round + 1
		}
	}
	return 0
}

func (m *mending) Next(member, round int) int {
	if m.levels == nil {
		return round
	}
	v, rounds := wrap(member-m.root, m.members), len(m.levels)
	for round < rounds {
		peer, level, mends := m.peer(v, round)
		if peer != None {
			return round
		}
		round++
		if mends && !m.lacks(v, level) {
			for round < rounds && int(m.levels[round]) == level {
				round++
			}
		}
	}
	return round
}

// lacks reports whether v is in the range whose higher range is cut short on a level that is mended.
func (m *mending) lacks(v, level int) bool { return v>>level == (m.members-1)>>level-1 }

func (m *mending) busy(v, round int) bool {
	peer, _, _ := m.peer(v, round)
	return peer != None
}

// peer returns the partner of v in a round, or None, and the level of the round. mends says that the lower of
// both sends what it has received last on the level, else both send all chunks that they have.
func (m *mending) peer(v, round int) (peer, level int, mends bool) {
	if m.levels == nil {
		return v ^ 1<<round, round, false
	}
	level = int(m.levels[round])
	step := 0 // rounds of the level before this one
	for step < round && int(m.levels[round-step-1]) == level {
		step++
	}
	if step == 0 {
		if peer = v ^ 1<<level; peer < m.members {
			return peer, level, false
		}
		return None, level, false
	}
	if !m.lacks(v, level) {
		return None, level, true
	}
	half, have := 1<<(level-step), m.short(level) // within ranges of 2·half members, the first ones have the chunks
	lower := v & (2*half - 1) &^ half
	if lower >= have || lower+half < have {
		return None, level, true
	}
	return v ^ half, level, true
}

func (m *mending) Step(member, round int) (step Step) {
	m.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (m *mending) StepInto(step *Step, member, round int) {
	*step = idle
	if round >= m.MaxRounds() {
		return
	}
	v := wrap(member-m.root, m.members)
	peer, level, mends := m.peer(v, round)
	if peer == None {
		return
	}
	to := wrap(peer+m.root, m.members)
	switch {
	case !mends:
		step.To, step.Send = to, m.chunks(v, level)
		step.From, step.Receive = to, m.chunks(peer, level)
	case peer > v:
		step.To, step.Send = to, m.chunks(v^1<<level, level)
	default:
		step.From, step.Receive = to, m.chunks(v^1<<level, level)
	}
}

// chunks returns the chunks of the 2^level members around v.
func (m *mending) chunks(v, level int) Blocks {
	first := v >> level << level
	return Blocks{First: first, Count: min(1<<level, m.members-first)}
}

func (m *mending) Pattern(round int) Pattern {
	if m.levels != nil || m.root != 0 {
		return Pattern{Kind: Irregular}
	}
	return Pattern{Kind: Exchange, Distance: 1 << round, Sent: 1 << round}
}

// collecting is Rabenseifner's reduction as in MPICH: a fold to a power of two, a reduce_scatter by
// halving among the survivors, and a gather of the chunks to the root along a binomial tree. With P = 2^L + r,
// member 2j+1 sends its vector to member 2j for j < r. If the root has folded, member 0
// hands its chunk over to the root, which takes the place of survivor 0 in the gather.
type collecting struct {
	halves butterfly // of the survivors
	root   int
	target int  // survivor that collects the chunks
	hands  bool // the root has folded
}

func collect(members, root int) collecting {
	f := fold(members)
	c := collecting{halves: butterfly{f, halveAndJoin, 1 << f.levels}, root: root}
	switch {
	case root >= 2*f.extra:
		c.target = root - f.extra
	case root&1 == 0:
		c.target = root / 2
	default:
		c.hands = true
	}
	return c
}

// survivor returns the survivor number of a member before the hand-over, or None.
func (c *collecting) survivor(member int) int {
	switch extra := c.halves.extra; {
	case member >= 2*extra:
		return member - extra
	case member&1 == 1:
		return None
	}
	return member / 2
}

// member returns the member that is survivor s before the hand-over.
func (c *collecting) member(s int) int {
	if s < c.halves.extra {
		return 2 * s
	}
	return s + c.halves.extra
}

// phase is a part of the algorithm. Its rounds are those of the phases in their order.
type phase uint8

const (
	folds phase = iota
	halvings
	handsOver
	gathers
)

// at returns the phase of a round, and the number of the round within the phase.
func (c *collecting) at(round int) (phase, int) {
	if c.halves.extra > 0 {
		if round == 0 {
			return folds, 0
		}
		round--
	}
	if round < c.halves.levels {
		return halvings, round
	}
	round -= c.halves.levels
	if c.hands {
		if round == 0 {
			return handsOver, 0
		}
		round--
	}
	return gathers, round
}

func (c *collecting) MaxRounds() int {
	n := 2 * c.halves.levels
	if c.halves.extra > 0 {
		n++
	}
	if c.hands {
		n++
	}
	return n
}

// handsAt returns the round of the hand-over, if there is one, and otherwise the first round of the gather.
func (c *collecting) handsAt() int { return min(c.halves.extra, 1) + c.halves.levels }

func (c *collecting) Rounds(member int) int {
	s := c.survivor(member)
	switch {
	case c.hands && member == c.root:
		return c.MaxRounds()
	case c.hands && member == 0:
		return c.handsAt() + 1
	case s == None:
		return 1
	case s == c.target:
		return c.MaxRounds()
	}
	return c.MaxRounds() - bits.Len(uint(s^c.target)) + 1
}

func (c *collecting) Next(member, round int) int {
	switch s := c.survivor(member); {
	case s == None && round > 0 && c.hands && member == c.root:
		return max(round, c.handsAt())
	case s == None:
		return round
	case member >= 2*c.halves.extra && c.halves.extra > 0:
		round = max(round, 1)
	}
	if c.hands && member != 0 && round == c.handsAt() {
		return round + 1
	}
	return round
}

func (c *collecting) Step(member, round int) (step Step) {
	c.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (c *collecting) StepInto(step *Step, member, round int) {
	*step = idle
	if round >= c.MaxRounds() {
		return
	}
	switch p, n := c.at(round); p {
	case folds:
		c.fold(step, member)
	case halvings:
		if s := c.survivor(member); s != None {
			*step = c.halves.halveOrJoin(s, n)
			step.To = c.member(s ^ 1<<n)
			step.From = step.To
		}
	case handsOver:
		chunk := c.halves.part(0, c.halves.levels)
		switch member {
		case 0:
			step.To, step.Send = c.root, chunk
		case c.root:
			step.From, step.Receive = 0, chunk
		}
	default:
		c.gather(step, member, c.halves.levels-1-n)
	}
}

// fold is the step of a member that folds, or whose neighbour folds.
func (c *collecting) fold(step *Step, member int) {
	all := Blocks{First: 0, Count: c.halves.pieces}
	switch {
	case member >= 2*c.halves.extra:
	case member&1 == 1:
		step.To, step.Send = member-1, all
	default:
		step.From, step.Receive, step.Combine = member+1, all, MineFirst
	}
}

// gather is the step of a member in the round in which survivors meet that differ in bit k.
func (c *collecting) gather(step *Step, member, k int) {
	s := c.survivor(member)
	if c.hands {
		switch member {
		case 0:
			return
		case c.root:
			s = 0
		}
	}
	if s == None || (s^c.target)>>(k+1) != 0 {
		return
	}
	peer := s ^ 1<<k
	to := c.member(peer)
	if c.hands && peer == 0 {
		to = c.root
	}
	if (s^c.target)>>k != 0 {
		step.To, step.Send = to, c.halves.part(s, k+1)
		return
	}
	step.From, step.Receive = to, c.halves.part(peer, k+1)
}

func (c *collecting) Pattern(int) Pattern { return Pattern{Kind: Irregular} }
