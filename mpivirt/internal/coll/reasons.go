package coll

import (
	"math"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Why members wait. Where statistics are on, each message of a collective carries the latest entry among the members on
// which it rests, and the entry of the root where all members need the root. A member waits for these members until the
// latest of their entries. The rest of its wait is the work of its processor, and the network. docs/statistics.md has the rules.

// rest has the entries of members on which a message, or the part of a member, rests.
type rest struct {
	latest vtime.Time // entry of a member
	root   vtime.Time // entry of the root, 0 if it is not known, or does not matter
	last   int32      // member with the latest entry, the least rank of several; its rank in WORLD
	late   stats.Late // the root once its entry is known, else the member with the latest entry
	chain  stats.Chain
}

// unjoined is the rest of a node that no member has joined: an entry at the beginning of virtual time is later.
var unjoined = rest{last: math.MaxInt32, chain: stats.Chain{Rank: math.MaxInt32}}

// add adds the entries on which another message rests, and leaves out its chain.
func (r *rest) add(o rest) {
	later := o.latest > r.latest || o.latest == r.latest && o.last < r.last
	if o.root > r.root || o.root == r.root && o.root == 0 && later {
		r.root, r.late = o.root, o.late
	}
	if later {
		r.latest, r.last = o.latest, o.last
	}
}

// restRecord is the size of a rest in a record between engines.
const restRecord = 2*8 + 4 + world.LateRecord + chainRecord

// account is the part of an agent so far.
type account struct {
	rest
	posted         rest           // when the receives of the window were posted
	pending        rest           // of what the window waits for, from its end on
	freed          vtime.Time     // the latest answer to a message of the window has come; pending has its chain
	free           vtime.Time     // DATA of the window have left, as far as the rank of a paced agent has yet to learn of it
	several        bool           // the window has several rounds
	works          vtime.Duration // of the processor since the latest entry
	shared, within vtime.Duration // for which other messages and work have delayed it since then
	left           departed       // the latest message of the window that has left
	later          vtime.Duration // the part of works that comes after the request of a nonblocking collective is complete
	phases         stats.Phases   // of the processor, since the beginning
}

// departed is a message above the eager limit that has left.
type departed struct {
	at             vtime.Time
	shared, within vtime.Duration // for which other messages have delayed ACK and the leaving
}

// carried has the data for statistics that a round message carries.
type carried struct {
	rest
	shared, within vtime.Duration // for which other messages have delayed it
}

// carriedRecord is the size of carried in a record between engines.
const carriedRecord = restRecord + 2*8

// reasoning is the state of a partition for statistics.
type reasoning struct {
	accounts world.Beside[account] // of agents
	carries  world.Beside[carried] // of round messages
	tells    world.Beside[carried] // of shakes: what ACK or DATA tells the agent that it is for
	carrying carried               // of the round message that is handled, while it has no place
	leaving  account               // of the members that leave
	endings  world.Beside[ending]  // by LP: of its latest collective in the blocking form
	none     ending                // of LPs without room in endings, which have left no collective
}

// ending is the ending of a member's part, and the activities of the member's process.
type ending struct {
	stats.Ending
	phases stats.Phases
}

// Explain has collectives note the causes for which members wait. They go by messages unless arrays will do: nobody is to hear the chains by which
// members' parts end.
func (c *Collectives) Explain(arrays, blames bool) {
	c.Messages.Explain(blames)
	if !arrays {
		c.interpreter = Message
	}
	c.explains, c.reasoning = true, &reasoning{}
}

// Begins notes that an LP's call begins.
func (c *Collectives) Begins(lp int32) {
	c.Messages.Begins(lp)
	if c.explains {
		if e := c.endings.Peek(lp); e != nil {
			e.Known = false
		}
	}
}

// EndingOf returns the ending of the collective that an LP has left, and the activities of its process. The ending is unknown if no
// member has waited for another.
func (c *Collectives) EndingOf(lp int32) (*stats.Ending, *stats.Phases) {
	e := c.endings.Peek(lp)
	if e == nil {
		e = &c.none
	}
	return &e.Ending, &e.phases
}

// PartEnds notes the ending of a part of an LP's call that consists of messages.
func (c *Collectives) PartEnds(lp int32, e p2p.Ended) {
	of := c.endings.Open(lp)
	of.phases = stats.Phases{}
	c.Messages.EndingOf(lp, e, &of.Ending)
}

// toRoot reports whether all members need the root.
func (v *Collective) toRoot() bool {
	return v.Operation == collectives.Bcast || v.Operation == collectives.Scatter || v.Operation == collectives.Scatterv
}

// lateOf returns the cause for which members wait for each other.
func (v *Collective) lateOf() stats.Cause {
	switch {
	case v.Operation == collectives.Barrier:
		return stats.WaitAtBarrier
	case synchronizing(v.Operation) || v.Creation != nil || v.Operation == collectives.Allgatherv || v.Operation == collectives.Alltoallv:
		return stats.WaitAtNToN
	}
	return stats.LateMember
}

// lateAt returns a local member with its waits for other ranks before it entered.
func (c *Collectives) lateAt(inst *instance, lp int32, member int) stats.Late {
	if inst.nonblocking != nil {
		if request := inst.nonblocking.requests[member-inst.comm.First]; request != 0 {
			return *c.Messages.LateAt(request)
		}
	}
	return c.Messages.Waiter(lp).Late
}

// restOf returns the rest of the part of a local member that enters at an instant.
func (c *Collectives) restOf(inst *instance, lp int32, member int, entry vtime.Time) rest {
	late := c.lateAt(inst, lp, member)
	r := rest{latest: entry, last: late.Rank, late: late, chain: stats.Chain{Rank: late.Rank, At: entry}}
	if inst.Call.toRoot() && member == inst.Call.Root {
		r.root = entry
	}
	return r
}

// beginAccount begins the account of an agent.
func (c *Collectives) beginAccount(index int32, r rest, works vtime.Duration) {
	a := account{rest: r, posted: r, works: works}
	a.phases[stats.SequentialComputation] = works
	*c.accounts.Open(index) = a
}

// learns has the account of an agent rest on more, of which the agent learns while its clock stands at an instant.
func (c *account) learns(r rest, before vtime.Time) {
	if r.latest > c.latest && r.latest >= before {
		c.works, c.shared, c.within = 0, 0, 0
	}
	c.rest.add(r)
}

// receives adds a message to the account of an agent that has received it from an instant on.
func (c *account) receives(m *carried, before, arrival, after vtime.Time) {
	if c.several {
		c.pending.add(m.rest)
	} else {
		c.learns(m.rest, before)
	}
	waited := max(arrival.Sub(max(before, c.latest)), 0)
	within := min(m.within, waited)
	c.within += within
	c.shared += min(m.shared, waited-within)
	if d := after.Sub(max(before, arrival)); d > 0 {
		c.works += d
		if arrival <= before {
			c.phases[stats.DataReceiving] += d
		}
	}
}

// worked adds time for which the processor of an agent has worked to the agent's account.
func (c *Collectives) worked(index int32, p stats.Phase, d vtime.Duration) {
	if c.explains {
		a := c.accounts.Open(index)
		a.works += d
		a.chain.Works += d
		a.phases[p] += d
	}
}

// sendingPhase returns the activity of a processor that sends a message.
func (c *Collectives) sendingPhase(bytes int64) stats.Phase {
	if bytes > c.partition.EagerLimit {
		return stats.RequestSending
	}
	return stats.DataSending
}

// noteEnding notes why the part of a local member, which leaves, has taken its time.
func (c *Collectives) noteEnding(inst *instance, lp int32, member int, a *account) {
	var e *stats.Ending
	later := vtime.Duration(0)
	if inst.nonblocking != nil && inst.nonblocking.requests[member-inst.comm.First] != 0 {
		e, later = c.Messages.ReasonOf(inst.nonblocking.requests[member-inst.comm.First]), a.later
	} else {
		of := c.endings.Open(lp)
		e, of.phases = &of.Ending, a.phases
	}
	*e = c.Messages.Ending()
	e.Known, e.From, e.Root, e.Other, e.Late = true, inst.entryOf(c, lp, member), a.root, a.latest, inst.callOf(member).lateOf()
	e.Works, e.Shared, e.Within, e.Chain, e.Whom, e.Last = max(a.works-later, 0), a.shared, a.within, a.chain, a.late, a.last
	e.Chain.Works = max(e.Chain.Works-later, 0)
}

// readied has the account of an agent rest, from the end of the window on, on the call of the receiver of its message, whose answer
// comes at an instant.
func (c *Collectives) readied(index int32, r rest, at vtime.Time) {
	if c.explains && c.agents.At(index).fate != ended {
		a := c.accounts.Open(index)
		a.pending.add(r)
		a.frees(a.posted.chain, r.chain, at)
	}
}

// posts notes that an agent posts the receives of a window.
func (c *Collectives) posts(index int32, several bool) {
	if c.explains {
		a := c.accounts.Open(index)
		a.posted, a.several = a.rest, several
	}
}

// leaves notes that a message of an agent has left.
func (c *Collectives) leaves(index int32, g departed) {
	if !c.explains || c.agents.At(index).fate == ended {
		return
	}
	if a := c.accounts.Open(index); g.at > a.left.at || g.at == a.left.at && g.shared+g.within > a.left.shared+a.left.within {
		a.left = g
	}
}

// closesWindow notes that the window of an agent ends, whose clock stands at an instant.
func (c *Collectives) closesWindow(index int32, at vtime.Time) {
	if c.explains {
		a := c.accounts.Open(index)
		a.learns(a.pending, at)
		matched := c.agents.At(index).matched
		if a.freed > 0 && matched > at {
			a.chain = a.pending.chain
		}
		if waited := matched.Sub(max(at, a.latest)); waited > 0 && a.left.at == matched {
			within := min(a.left.within, waited)
			a.within += within
			a.shared += min(a.left.shared, waited-within)
			a.chain.Shared += a.left.shared
			a.chain.Within += a.left.within
		}
		a.pending, a.freed, a.left = rest{}, 0, departed{}
	}
}

// postedOf returns the rest of an agent from the time when it posted the receives of its window.
func (c *Collectives) postedOf(index int32) (r rest) {
	if c.explains {
		r = c.accounts.Open(index).posted
	}
	return r
}

// write writes a rest to a record.
func (r rest) write(w *world.Writer) {
	w.U64(uint64(r.latest))
	w.U64(uint64(r.root))
	w.U32(uint32(r.last))
	w.Late(&r.late)
	writeChain(w, &r.chain)
}

func readRest(r *world.Reader) rest {
	return rest{vtime.Time(r.U64()), vtime.Time(r.U64()), int32(r.U32()), r.Late(), readChain(r)}
}

// write writes the data that a round message carries to a record.
func (m *carried) write(w *world.Writer) {
	m.rest.write(w)
	w.U64(uint64(m.shared))
	w.U64(uint64(m.within))
}

func readCarried(r *world.Reader) carried {
	return carried{readRest(r), vtime.Duration(r.U64()), vtime.Duration(r.U64())}
}

// delayed adds the time by which other messages have delayed a message that has passed until an instant.
func (c *Collectives) delayed(m *carried, p *resource.Passage, at vtime.Time) {
	if d := c.Messages.Interfaces.Delay(p, at); c.Messages.WithinNode(p) {
		m.within += d
	} else {
		m.shared += d
	}
}

// roundSize returns the size of the fixed part of a round message between engines.
func (c *Collectives) roundSize() int {
	if c.explains {
		return roundRecord + carriedRecord
	}
	return roundRecord
}

// DeliverAcknowledgement handles the record of an acknowledgement for an agent.
func (c *Collectives) DeliverAcknowledgement(r world.Reader) {
	index, t := int32(r.U32()), vtime.Time(r.U64())
	if c.explains {
		c.readied(index, readRest(&r), t)
	}
	c.AgentAcknowledged(index, t)
}

// sentRest returns the rest of a message that an agent sends.
func (c *Collectives) sentRest(index int32) rest {
	a := c.accounts.Open(index)
	if a.several {
		return a.posted
	}
	return a.rest
}

// explain notes why the part of an agent, which ends, has taken its time. Of a node with several members it notes it when they are
// released.
func (c *Collectives) explain(inst *instance, lp int32, member int, index int32) {
	c.leaving = *c.accounts.Open(index)
	if a := c.agents.At(index); c.Messages.Processors != nil {
		c.leaving.later = a.clock.Sub(a.released)
	}
	switch {
	case !inst.leaders:
		c.noteEnding(inst, lp, member, &c.leaving)
	case c.Messages.Processors != nil && c.agents.At(index).single():
		c.noteEnding(inst, lp, inst.comm.nodes.leader(member), &c.leaving)
	}
}

// explainMember notes why the part of a member of a node has taken its time. The account of the members that leave is that of
// their leader, who alone has worked.
func (c *Collectives) explainMember(inst *instance, lp int32, member int, leader bool, t vtime.Time) {
	switch {
	case !c.explains:
	case leader:
		c.noteLeaving(inst, lp, member, &c.leaving, t)
	default:
		c.noteLeaving(inst, lp, member, &account{rest: c.leaving.rest}, t)
	}
}

// explainBlock is explainMember for all members of a node, which are consecutive LPs: the leader leaves at an instant, the others at another.
func (c *Collectives) explainBlock(inst *instance, lp int32, clocks []vtime.Time, t, others vtime.Time) {
	if inst.summed {
		c.sumBlock(inst, lp, clocks, t, others)
		return
	}
	for i := range clocks {
		c.explainMember(inst, lp+int32(i), c.partition.First+int(lp)+i, i == 0, max(t, others))
	}
}

// passing returns the data for statistics that a message, an ACK or DATA of a round carries on its way.
func (c *Collectives) passing(p *resource.Passage) *carried {
	if p.Kind == p2p.PassMessage {
		return c.carries.Open(p.Index)
	}
	return c.tells.Open(p.Index)
}

// chargeExplained is chargeReceive with statistics. The message carries c.carrying.
func (c *Collectives) chargeExplained(index int32, a *agent, m *roundMessage) (arrival vtime.Time) {
	carrying, before := c.carrying, a.clock
	if m.agent != 0 {
		c.postsLate(&carrying, index, a.posted, m.arrival)
	}
	arrival = c.chargeFor(index, a, m)
	account := c.accounts.Open(index)
	account.receives(&carrying, before, arrival, a.clock)
	if w := a.window; w != nil {
		w.carries = append(w.carries, carrying)
	} else {
		account.follows(&carrying, before, arrival, a.clock)
	}
	return arrival
}
