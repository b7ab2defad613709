package coll

import (
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// The chain of work and messages by which the part of a member ends, back to the entry of a member ([stats.Chain]). An agent goes
// on at the latest of its own clock and the events that it waits for, and takes over the chain of the latest; at a tie it keeps its own
// chain, else it takes the chain of the least rank. A message carries the chain of its sender, and the entries on which it rests.

// unchained is the chain of an answer that the other end has not delayed.
var unchained = stats.Chain{Rank: world.None}

// chainRecord is the size of a chain in a record between engines.
const chainRecord = 4 + 4*8

func writeChain(w *world.Writer, c *stats.Chain) {
	w.U32(uint32(c.Rank))
	w.U64(uint64(c.At))
	w.U64(uint64(c.Works))
	w.U64(uint64(c.Shared))
	w.U64(uint64(c.Within))
}

func readChain(r *world.Reader) stats.Chain {
	return stats.Chain{Rank: int32(r.U32()), At: vtime.Time(r.U64()), Works: vtime.Duration(r.U64()), Shared: vtime.Duration(r.U64()), Within: vtime.Duration(r.U64())}
}

// follows has the chain of an agent, whose clock stood at an instant, come from a message that it has received, if that came later,
// and adds the time of its processor.
func (c *account) follows(m *carried, before, arrival, after vtime.Time) {
	if arrival > before {
		c.chain = m.chain
		c.chain.Shared += m.shared
		c.chain.Within += m.within
	}
	c.chain.Works += max(after.Sub(max(before, arrival)), 0)
}

// lands has the chain of an agent come from a message of its window, if that came later than an instant, and adds the time of its
// processor.
func (c *Collectives) lands(index int32, w *window, l *landing, before, after vtime.Time) {
	m := w.carries[l.index]
	c.accounts.Open(index).follows(&m, before, l.arrival, after)
}

// answers returns the entries on which the answer to a message rests. REQ has come at an instant, and the agent has posted its receive.
func (c *Collectives) answers(index int32, posted, came vtime.Time) (r rest) {
	if !c.explains {
		return r
	}
	if r = c.postedOf(index); posted <= came {
		r.chain = unchained
	}
	return r
}

// postsLate has the chain of a message above the eager limit come from the agent that receives it, if that has posted its receive
// later than REQ has come.
func (c *Collectives) postsLate(m *carried, index int32, posted, came vtime.Time) {
	if posted > came {
		m.chain = c.postedOf(index).chain
	}
}

// frees notes the answer that has come at an instant to an agent for a message that it has sent.
func (c *account) frees(own, answer stats.Chain, at vtime.Time) {
	if answer.Rank == world.None {
		answer = own
	}
	if at > c.freed || at == c.freed && answer.Rank < c.pending.chain.Rank {
		c.freed, c.pending.chain = at, answer
	}
}

// calledAt returns the chain of an agent whose rank has not been in a call until an instant.
func (c *Collectives) calledAt(a *agent, at vtime.Time) stats.Chain {
	return stats.Chain{Rank: c.partition.Global(a.lp), At: at}
}

// joinsChain stores the chain of the leader of a node, who has entered at an instant and goes on with the vectors of all members at
// another, which take some work.
func (c *Collectives) joinsChain(inst *instance, p int, entry, come vtime.Time, work vtime.Duration) {
	if !c.explains {
		return
	}
	r := &inst.join.rests[p-inst.comm.nodes.here]
	if come <= entry {
		r.chain = stats.Chain{Rank: int32(inst.comm.RankOf(inst.comm.nodes.leader(p), 0)), At: entry}
	}
	r.chain.Works += work
}

// joinsLater stores the chain of a member of a node other than the leader, if its vector comes later than all vectors before.
func (j *joinState) joinsLater(node int, c stats.Chain, t vtime.Time) {
	if r := &j.rests[node]; t > j.last[node] || t == j.last[node] && c.Rank < r.chain.Rank {
		r.chain = c
	}
}

// A paced agent waits for its rank if the rank is not in a call when a message comes for the agent. The next functions then have the
// chain come from the program of the rank.

// takesLate notes that the rank of a paced agent handles a message at an instant.
func (c *Collectives) takesLate(a *agent, message int32, at vtime.Time) {
	if c.explains && at > c.rounds.At(message).arrival {
		c.carries.Open(message).chain = c.calledAt(a, at)
	}
}

// joinsLate notes that the rank of a leader handles the vectors of its node, which take some work, at an instant.
func (c *Collectives) joinsLate(index int32, a *agent, at vtime.Time, work vtime.Duration) {
	if c.explains && at.Add(work) > a.clock {
		chain := c.calledAt(a, at)
		chain.Works = work
		c.accounts.Open(index).chain = chain
	}
}

// freesLate notes that the rank of a paced agent learns at an instant that DATA have left.
func (c *Collectives) freesLate(index int32, a *agent, at vtime.Time) {
	if !c.explains {
		return
	}
	if account := c.accounts.Open(index); at > account.free {
		account.frees(unchained, c.calledAt(a, at), at)
	}
}

// answersLate notes that the rank of a paced agent answers ACK at an instant.
func (c *Collectives) answersLate(shake int32, a *agent, at vtime.Time) {
	s := c.shakes.At(shake)
	if !c.explains || at <= s.came || a.fate == ended {
		return
	}
	chain := c.calledAt(a, at)
	c.tells.Open(shake).chain = chain
	c.accounts.Open(s.agent).frees(unchained, chain, at)
}
