package coll

import (
	"cmp"
	"slices"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// The receives of a window of rounds are posted when the window begins (see [collectives.Step]), so that a message above the
// eager limit is matched when it comes, though the agent may not have come to its round. Its content waits as that of a
// message within the limit does. Where processors have state at the receiver, an agent posts each receive when its turn comes.

// openWindow posts the receives of the window that begins with an agent's round, if one does.
func (c *Collectives) openWindow(index int32, a *agent, step *collectives.Step) {
	if a.round < a.until {
		if c.Messages.Processors != nil {
			a.posted = a.clock
			c.posts(index, false)
		}
		return
	}
	a.posted, a.until = a.clock, a.round+1+int32(step.Left)
	c.posts(index, step.Left > 0 && c.Messages.Processors == nil)
	if step.Left == 0 || c.Messages.Processors != nil {
		return
	}
	if c.partition.Charges {
		reused := false
		if a.window, reused = c.spareWindows.Pop(); !reused {
			a.window = &window{}
		}
		a.window.landings = slices.Grow(a.window.landings, step.Left/2+1)
	}
	c.matchEarly(index, a)
}

// window has the messages that an agent has received in a window of several rounds. Its processor takes messages in as they arrive, during
// the wait at the end of the window, and combines afterwards.
type window struct {
	landings      []landing
	carries       []carried      // by index of a landing, with statistics
	alone, memory vtime.Duration // of the work; see workOf
}

// landing is a message that an agent has received.
type landing struct {
	arrival vtime.Time
	bytes   int64
	rank    int32
	index   int32 // in the order of receiving
}

// chargeWindow charges an agent for the messages of its window of several rounds, in the order of their arrivals, as a wait for requests
// does (room p2p), and then for its work. It reports whether the agent goes on.
func (c *Collectives) chargeWindow(index int32, a *agent) (goesOn bool) {
	w := a.window
	slices.SortStableFunc(w.landings, func(p, q landing) int {
		return cmp.Or(p.arrival.Compare(q.arrival), cmp.Compare(p.rank, q.rank))
	})
	before := a.clock
	for i := range w.landings {
		l, then := &w.landings[i], a.clock
		if a.clock = c.freeFrom(a, c.endsOf(a.inst, l.bytes).Receive(c.port(index), l.bytes, a.posted, a.clock, l.arrival)); c.explains {
			c.lands(index, w, l, then, a.clock)
		}
		c.checkReceived(a, int(l.rank), l.bytes, l.arrival)
	}
	a.window = nil
	if n := len(w.landings); n > 0 && c.explains {
		account, d := c.accounts.Open(index), max(a.clock.Sub(max(before, w.landings[n-1].arrival)), 0)
		account.works += d
		account.phases[stats.WaitingPhase] += d
	}
	if goesOn = c.charge(index, a, w.alone, w.memory); a.clock == vtime.Forever && len(w.landings) > 0 {
		l := &w.landings[len(w.landings)-1]
		c.checkReceived(a, int(l.rank), l.bytes, l.arrival)
	}
	*w = window{landings: w.landings[:0], carries: w.carries[:0]}
	c.spareWindows.Push(w)
	return goesOn
}

// endsWindow reports whether the window of an agent ends with its present round.
func (c *Collectives) endsWindow(a *agent) bool {
	return a.round+1 >= a.until || c.idleToEnd(a)
}

// idleToEnd reports whether an agent takes no part in the further rounds of its window.
func (c *Collectives) idleToEnd(a *agent) bool {
	return c.nextRound(a, int(a.round)+1) >= int(min(a.until, a.rounds))
}

// postedAhead reports whether an agent has posted the receive of a message before its turn, and the message has an effect then:
// one above the eager limit, or any if the agent is paced.
func (c *Collectives) postedAhead(a *agent, m *roundMessage) bool {
	return (m.agent != 0 || a.paced) && m.round >= a.round && m.round < a.until && a.round < a.until && c.Messages.Processors == nil &&
		m.number == a.inst.Number && m.comm == a.inst.comm.Index && c.fits(a, m) && !(a.inst.sparse && c.empty(a, int(m.round)))
}

// postedFor returns the agent of a queue for which postedAhead holds, 0 for none.
func (c *Collectives) postedFor(q *roundQueue, m *roundMessage) int32 {
	for index := q.agents; index != 0; {
		a := c.agents.At(index)
		if c.postedAhead(a, m) {
			return index
		}
		index = a.next
	}
	return 0
}

// matchEarly matches the messages that have come for rounds of an agent's window.
func (c *Collectives) matchEarly(index int32, a *agent) {
	q := c.roundQueue(a.lp)
	if q.ahead == 0 {
		return
	}
	for message := q.early.head; message != 0; message = c.rounds.At(message).next {
		if c.postedAhead(a, c.rounds.At(message)) {
			c.matchAhead(index, message)
		}
	}
	if c.earlyMessages.used == 0 {
		return
	}
	for round := a.round; round < a.until; round++ {
		message := c.earlyMessages.find(&c.rounds, earlyKey{a.lp, a.inst.comm.Index, a.inst.Number, round})
		if message != 0 && c.postedAhead(a, c.rounds.At(message)) {
			c.matchAhead(index, message)
		}
	}
}

// matchAhead matches a message for which postedAhead holds.
func (c *Collectives) matchAhead(index, message int32) {
	a, m := c.agents.At(index), c.rounds.At(message)
	if a.paced && !c.takesInCall(index, a, message) || m.agent == 0 {
		return
	}
	if a.paced || c.shares(m.ways&apart != 0, int(m.rank), int(c.partition.Global(a.lp))) {
		c.reply(index, a, message)
		return
	}
	c.takeOver(m)
	if c.explains {
		c.postsLate(c.carries.Open(message), index, a.posted, m.arrival)
	}
	m.arrival = c.matchRoundMessage(m, index, a, a.posted)
	m.agent = 0
}

// lends reports whether the message that an agent has just sent may be a view of its memory: the agent waits for its match, and
// for no other.
func (c *Collectives) lends(a *agent) bool { return a.round+1 >= a.until && a.unacked == 1 }

// takeOver gives a message a copy of its content if it is its sender's memory: the sender goes on before the content is
// taken in.
func (c *Collectives) takeOver(m *roundMessage) {
	if m.view {
		c.agents.At(m.agent).memory.viewed = false
		c.keep(m, nil, 0)
	}
}
