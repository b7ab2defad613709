package coll

import "gigarank/vtime"

// On a machine with progress in calls, events for the agent of a nonblocking collective wait until its rank is in a
// call, as the messages of a rendezvous do (progress.go in room p2p): the messages of rounds, ACK, the news that
// DATA have left, and the joins of a leader's node. The agent then finishes its step: it combines
// and begins the next round though the call may be over. A rank in a blocking collective is in a call all the time, so
// that only nonblocking forms are paced. The two forms do not match there: MPI 4.1, 6.12.

// pace is the state that only paced agents have.
type pace struct {
	taken   vtime.Time     // its rank had handled all that had come by then when it entered
	work    vtime.Duration // of a leader, once the vectors of its node have come
	request int32
}

// taking says how far the rank of a paced agent has taken the message of a round.
type taking uint8

const (
	untaken taking = iota
	awaited        // a call
	taken          // REQ, or a message that the agent is about to receive
)

// Names of the events that an agent waits for until its rank is in a call. ACK has the index of the handshake of its round, and a
// message has its own index, counted down from awaitsFree.
const (
	awaitsJoin int32 = 0
	awaitsFree int32 = -1
)

// Later returns a collective in its nonblocking form, until the next is prepared.
func (c *Collectives) Later(v *Collective) *Collective {
	c.prepared = *v
	c.prepared.Later = true
	return &c.prepared
}

// paceAgent has an agent of a member paced that has called the nonblocking form.
func (c *Collectives) paceAgent(index int32, member int) {
	a := c.agents.At(index)
	if !a.inst.callOf(member).Later {
		return
	}
	n, local := a.inst.nonblocking, member-a.inst.comm.First
	a.paced = true
	*c.paces.Open(index) = pace{taken: n.taken[local], request: n.requests[local]}
}

// awaitCall returns the instant at which the rank of a paced agent handles an event that comes at t, if that instant is known. Else
// InCall tells it.
func (c *Collectives) awaitCall(index int32, a *agent, what int32, t vtime.Time) (at vtime.Time, known bool) {
	p := c.paces.Open(index)
	if t <= p.taken {
		return t, true
	}
	return c.Messages.AwaitCall(a.lp, p.request, index, what, t, a.posted)
}

// InCall tells a paced agent the instant at which its rank handles the event that the agent waits for.
func (c *Collectives) InCall(index, what int32, at vtime.Time) {
	a, p := c.agents.At(index), c.paces.Open(index)
	switch {
	case what > 0:
		c.answersLate(what, a, at)
		c.sendRoundData(what, at)
	case a.fate == ended:
	case what == awaitsJoin:
		c.joinsLate(index, a, at, p.work)
		c.startAt(a, at.Add(p.work))
		c.queueAgent(index)
	case what == awaitsFree:
		c.freesLate(index, a, at)
		c.hasLeft(index, a, at)
	default:
		message := awaitsFree - what
		m := c.rounds.At(message)
		c.takesLate(a, message, at)
		m.taking, m.arrival = taken, at
		if a.message == message {
			c.continueAgent(index)
		} else if m.agent != 0 {
			c.reply(index, a, message)
		}
	}
}

// takesInCall reports whether the rank of a paced agent handles a message of a round at an instant that is known,
// which is the message's arrival from then on.
func (c *Collectives) takesInCall(index int32, a *agent, message int32) bool {
	m := c.rounds.At(message)
	if m.taking == untaken {
		if at, known := c.awaitCall(index, a, awaitsFree-message, m.arrival); known {
			c.takesLate(a, message, at)
			m.taking, m.arrival = taken, at
		} else {
			m.taking = awaited
		}
	}
	return m.taking == taken
}

// freeInCall replaces the instant at which DATA leave by the instant at which the rank of a paced agent learns of it. It returns
// false if that instant is not known.
func (c *Collectives) freeInCall(index int32, a *agent, t *vtime.Time) bool {
	at, known := c.awaitCall(index, a, awaitsFree, *t)
	if c.explains {
		c.accounts.Open(index).free = *t
	}
	if known {
		c.freesLate(index, a, at)
		*t = at
	}
	return known
}

// joinInCall reports whether the agent of a leader goes on at an instant that is known. The vectors of its node have come
// at an instant, and take some work.
func (c *Collectives) joinInCall(index int32, come vtime.Time, work vtime.Duration) bool {
	a := c.agents.At(index)
	if !a.paced {
		return true
	}
	c.paces.Open(index).work = work
	at, known := c.awaitCall(index, a, awaitsJoin, come)
	if known {
		c.joinsLate(index, a, at, work)
		c.startAt(a, at.Add(work))
	}
	return known
}

// startAt sets the instant at which an agent of a leader begins.
func (c *Collectives) startAt(a *agent, t vtime.Time) {
	if t == vtime.Forever {
		c.partition.PastEnd(int(c.partition.Global(a.lp)), a.clock, a.inst.Call.Procedure, "the join of its node")
	}
	a.clock, a.released = t, t
}

// EarliestAgent returns an instant before which no agent here acts any more, Forever if there is none.
func (c *Collectives) EarliestAgent() vtime.Time {
	t := vtime.Forever
	for _, slot := range c.roundSlots {
		if slot == 0 {
			continue
		}
		for index := c.queues.At(slot).agents; index != 0; {
			a := c.agents.At(index)
			if index = a.next; a.stage == sending && a.round >= a.until {
				t = min(t, a.clock)
			} else {
				t = min(t, a.posted) // an answer to REQ may leave before the agent is free
			}
		}
	}
	return t
}
