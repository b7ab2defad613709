package collectives

import "gigarank/vtime"

// Allreduces in which a member keeps several vectors until it combines all of them, in rank order: so all members get the same
// bits. Their working buffers have several positions of a whole vector each.

// multiplying is recursive multiplying with a fan-out k of MPICH 4 (allreduce_intra_recursive_multiplying.c). The members whose
// numbers are below the greatest power of k go through phases over the distances 1, k, k², …. In a phase the k members whose
// numbers differ in one digit in base k exchange their vectors at once, in a window, and each combines them. The other members send their vectors to the members that
// have their numbers modulo the power, and get the results from these.
//
// A member has k positions. In a phase its own vector is at the position of its digit.
type multiplying struct {
	members, fanout int
	phases, power   int // power is fanout to the phases
	rest            int // most members that send their vectors to one member
	windows             // of the exchanges
}

func multiply(members, fanout int) multiplying {
	m := multiplying{members: members, fanout: fanout, power: 1}
	for m.power <= members/fanout {
		m.power *= fanout
		m.phases++
	}
	m.rest = (members - 1) / m.power
	m.windows = windows{m.phases * (fanout - 1), fanout - 1, fanout - 1}
	return m
}

func (m *multiplying) exchangeRounds() int { return m.rounds() }

func (m *multiplying) MaxRounds() int { return 2*m.rest + m.exchangeRounds() }

func (m *multiplying) Rounds(member int) int {
	last := m.rest + m.exchangeRounds()
	if member >= m.power {
		return last + member/m.power
	}
	if n := m.sources(member); n > 0 {
		return last + n
	}
	return last * min(m.phases, 1)
}

// sources returns the number of members beyond the power that send to a member.
func (m *multiplying) sources(member int) int { return (m.members - 1 - member) / m.power }

// Next follows the rounds of a member: those of its sources, the exchanges, those of its sources again.
func (m *multiplying) Next(member, round int) int {
	first, last := m.rest, m.rest+m.exchangeRounds() // the exchanges
	if member >= m.power {
		own := member/m.power - 1
		if round <= own {
			return own
		}
		return max(round, last+own)
	}
	n := m.sources(member)
	switch {
	case round < n || round >= last:
		return round
	case round < first:
		round = first
	}
	return round
}

func (m *multiplying) Step(member, round int) Step {
	last := m.rest + m.exchangeRounds()
	switch {
	case round >= m.MaxRounds():
		return idle
	case round < m.rest:
		return m.exclude(member, round, false)
	case round >= last:
		return m.exclude(member, round-last, true)
	case member >= m.power:
		return idle
	}
	first, n, at := m.at(round - m.rest)
	return inWindow(m, member, first, n, at)
}

// exchange is the step of a message of the exchanges.
func (m *multiplying) exchange(member, message int) Step {
	phase, j := message/(m.fanout-1), message%(m.fanout-1)+1
	distance := m.distance(phase)
	digit := member / distance % m.fanout
	to, from := wrap(digit+j, m.fanout), wrap(digit-j, m.fanout)
	step := Step{
		To: member + (to-digit)*distance, From: member + (from-digit)*distance,
		Send: Blocks{First: digit, Count: 1}, Receive: Blocks{First: from, Count: 1},
	}
	if j == m.fanout-1 {
		step.Sum = Sum{First: 0, Count: int32(m.fanout), Into: int32(m.place(member, phase+1))}
	}
	return step
}

// distance returns the distance of a phase.
func (m *multiplying) distance(phase int) int {
	distance := 1
	for range phase {
		distance *= m.fanout
	}
	return distance
}

// place returns the position of a member's vector at the beginning of a phase, or in the end.
func (m *multiplying) place(member, phase int) int {
	if member >= m.power || phase == m.phases {
		return 0
	}
	return member / m.distance(phase) % m.fanout
}

// exclude is the step of round j of the members beyond the power: they send their vectors, or receive results.
func (m *multiplying) exclude(member, j int, back bool) Step {
	other := member + (j+1)*m.power
	if member >= m.power {
		other = member % m.power
		if member/m.power != j+1 {
			return idle
		}
	} else if other >= m.members {
		return idle
	}
	at := Blocks{First: m.place(member, 0), Count: 1}
	if back {
		at.First = 0
	}
	if (member >= m.power) != back {
		return Step{To: other, From: None, Send: at}
	}
	step := Step{To: None, From: other, Receive: at}
	if !back {
		step.Combine = MineFirst
	}
	return step
}

func (m *multiplying) Pattern(round int) Pattern {
	last := m.rest + m.exchangeRounds()
	if round >= m.rest && round < last {
		p := Pattern{Kind: Irregular, Sent: 1}
		if m.fanout == 2 && m.power == m.members {
			p = Pattern{Kind: Exchange, Distance: 1 << (round - m.rest), Sent: 1, Combined: 1}
		}
		return p
	}
	j := round + 1
	if round >= last {
		j = round - last + 1
	}
	first := j * m.power
	p := Pattern{Kind: Strided, Distance: -first, First: first, Stride: 1, Count: min(m.power, m.members-first), Sent: 1, Combined: 1}
	if round >= last {
		p.First, p.Distance, p.Combined = 0, first, 0
	}
	return p
}

// window counts the rounds of the exchanges from behind those of the members beyond the power.
func (m *multiplying) window(round int) (first, message, messages int) {
	if round < m.rest || round >= m.rest+m.exchangeRounds() {
		return round, 0, 0
	}
	first, message, messages = m.windows.window(round - m.rest)
	return m.rest + first, message, messages
}

// shape returns the pattern of a message of the exchanges: a shift among the members that differ in one digit.
func (m *multiplying) shape(message int) Pattern {
	phase, j := message/(m.fanout-1), message%(m.fanout-1)+1
	distance := m.distance(phase)
	p := Pattern{Kind: Grouped, Distance: j * distance, Stride: m.fanout * distance, Count: m.power, Sent: 1}
	if j == m.fanout-1 {
		p.Combined = m.fanout - 1
	}
	return p
}

// gatheringAll is an allgather of all members' vectors, after which each member combines them. In Open MPI
// (coll_base_allreduce.c) the allgather is the default one, which here is recursive doubling for powers of two and else Bruck's,
// as that of short vectors is there.
type gatheringAll struct {
	members int
	inner   plan
	steps   Stepper
}

func gatherAll(members int) gatheringAll {
	var inner plan = &doubling{members, Allgather}
	if f := fold(members); f.extra == 0 {
		inner = &butterfly{f, joinRanges, members}
	}
	return gatheringAll{members, inner, stepperOf(inner)}
}

func (g *gatheringAll) MaxRounds() int             { return g.inner.MaxRounds() }
func (g *gatheringAll) Rounds(member int) int      { return g.inner.Rounds(member) }
func (g *gatheringAll) Next(member, round int) int { return g.inner.Next(member, round) }

func (g *gatheringAll) Step(member, round int) Step {
	step := g.inner.Step(member, round)
	g.add(&step, round)
	return step
}

// StepInto implements [Stepper].
func (g *gatheringAll) StepInto(step *Step, member, round int) {
	g.steps.StepInto(step, member, round)
	g.add(step, round)
}

// add has a member combine all vectors in its last round.
func (g *gatheringAll) add(step *Step, round int) {
	if round == g.MaxRounds()-1 {
		step.Sum = Sum{First: 0, Count: int32(g.members), Into: 0}
	}
}

func (g *gatheringAll) Pattern(round int) Pattern {
	p := g.inner.Pattern(round)
	if round == g.MaxRounds()-1 {
		p.Combined = g.members - 1
	}
	return p
}

func (g *gatheringAll) packs() bool {
	p, ok := g.inner.(packer)
	return ok && p.packs()
}

func (g *gatheringAll) packing(round int, block, total int64, copies Copies) vtime.Duration {
	if p, ok := g.inner.(packer); ok {
		return p.packing(round, block, total, copies)
	}
	return 0
}

// wholeVectors is a schedule of an allreduce whose positions have a whole vector each.
type wholeVectors interface{ keepsVectors() }

// KeepsVectors reports whether each position of an allreduce has a whole vector. Else the vector is cut into the positions.
func KeepsVectors(s Schedule) bool {
	_, ok := s.(wholeVectors)
	return ok
}

// Methods of such schedules: a member's vector is at one position, and the result at position 0.

func (s *multiplyingSchedule) keepsVectors() {}

func (s *multiplyingSchedule) Source(member, position int) int {
	return only(position == s.place(member, 0), 0)
}

func (s *multiplyingSchedule) Result(int, int) int { return 0 }

func (s *gatheringAllSchedule) keepsVectors() {}

func (s *gatheringAllSchedule) Source(member, position int) int { return only(position == member, 0) }

func (s *gatheringAllSchedule) Result(int, int) int { return 0 }
