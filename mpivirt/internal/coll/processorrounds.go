package coll

import (
	"fmt"
	"slices"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// The rounds of an agent. An agent is a thread of its own: the send of a round requires the receive
// of the round before, as in LogGOPSim's schedules. Send and receive of one round do not wait for
// each other. A message is matched even if the agent's own message has not begun to leave, but its
// content is received only afterwards.

// goOnAgent carries an agent on until it needs the processor.
func (c *Collectives) goOnAgent(index int32) {
	a := c.agents.At(index)
	if a.fate == ended || a.stage == posting || a.stage == combining || a.stage == receiving && a.message == 0 {
		return
	}
	for {
		if c.nextStep(a) == 0 {
			c.endAgent(index)
			return
		}
		step := c.step // the rest of the function may carry other agents on
		if a.stage == sending {
			c.beginRound(index, a, &step)
		}
		if a.stage == receiving && a.message != 0 {
			c.takeRound(index, a)
		}
		if a.stage == receiving || a.stage == posting || a.sent == leaving {
			return
		}
		if a.stage == matched {
			a.stage = acknowledging
			if !c.finishReceive(index, a, &step) {
				return
			}
		}
		if a.stage == combining {
			return
		}
		if c.endsWindow(a) {
			if a.unacked > 0 {
				return
			}
			c.closesWindow(index, a.clock)
			a.released = max(a.released, a.matched)
			a.clock, a.matched = max(a.clock, a.matched, c.Messages.Processors.FreeFrom(a.lp, a.matched)), 0
		}
		a.stage = sending
		a.round++
	}
}

// beginRound asks the processor to send the message of an agent's round, and to receive the round's
// message if that has arrived: neither waits for the other.
func (c *Collectives) beginRound(index int32, a *agent, step *collectives.Step) {
	c.openWindow(index, a, step)
	a.stage = acknowledging
	if step.To != collectives.None {
		a.sent = leaving
		c.ask(a.lp, resource.Operation{Need: resource.Interface, Kind: opRound, Call: c.callOf(a), Index: index, Earliest: a.clock, Released: a.released})
	}
	if step.From != collectives.None {
		a.stage = receiving
		if a.message = c.takeEarly(a); a.message != 0 {
			c.postRound(index, a)
		}
	}
}

// callOf returns the number of the collective that an agent carries out, among the collectives that
// the agent's rank has called.
func (c *Collectives) callOf(a *agent) uint32 {
	inst, member := a.inst, int(a.member)
	if inst.nonblocking == nil {
		return c.Messages.Processors.Of(a.lp).Calls // the rank is in this collective, and calls no other
	}
	if inst.leaders {
		member = inst.comm.nodes.leader(member)
	}
	return inst.nonblocking.calls[member-inst.comm.First]
}

// postRound has an agent receive, when its round begins, a message that its LP has taken in before.
func (c *Collectives) postRound(index int32, a *agent) {
	a.stage = posting
	c.ask(a.lp, resource.Operation{Kind: opReceive, Call: c.callOf(a), Index: index, Earliest: a.posted, Released: a.released})
}

// sendRoundAt sends the message of an agent's round.
func (c *Collectives) sendRoundAt(p *resource.Processor, index int32, at vtime.Time) {
	a := c.agents.At(index)
	if a.fate == ended {
		return
	}
	step := a.inst.schedule.Step(int(a.member), int(a.round))
	a.sent = gone
	m, dst := c.roundMessage(index, a, &step)
	c.partition.Target.Depart(&p.State, m.bytes, at)
	p.Sent = at
	m.arrival = at.Add(c.partition.Target.Latency(int(m.rank), dst))
	a.clock, a.released = p.State.CPU, max(a.released, at)
	if c.explains {
		c.worked(index, c.sendingPhase(m.bytes), p.State.CPU.Sub(at))
		c.carrying = carried{rest: c.sentRest(index)}
	}
	c.checkSent(a, dst, m.bytes, at, m.arrival)
	if c.partition.Activities != nil {
		c.Messages.DepartedAt(int(m.rank), dst, m.bytes, at, p.State.CPU, m.arrival)
	}
	c.partition.Engine.Statistics.Messages++
	content, offset := c.gather(a, step.Send, a.inst.width)
	c.dispatchRound(a, &m, dst, at, content, offset)
	c.goOnAgent(index)
}

// takeRound has an agent receive the message of its round, which its LP has just taken in.
func (c *Collectives) takeRound(index int32, a *agent) {
	if at := c.rounds.At(a.message).arrival; at >= a.posted {
		c.matchRound(index, a, at)
		return
	}
	c.postRound(index, a)
}

// receiveRoundAt has an agent receive a message that came early.
func (c *Collectives) receiveRoundAt(index int32, at vtime.Time) {
	a := c.agents.At(index)
	if a.fate == ended {
		return
	}
	c.matchRound(index, a, at)
	c.goOnAgent(index)
}

// matchRound matches the message of an agent's round at an instant.
func (c *Collectives) matchRound(index int32, a *agent, at vtime.Time) {
	before := a.clock
	a.stage, a.released = matched, max(a.released, at)
	a.clock = max(a.clock, at, c.Messages.Processors.FreeFrom(a.lp, at))
	if c.explains {
		account, m := c.accounts.Open(index), c.carries.Open(a.message)
		account.receives(m, before, at, a.clock)
		account.follows(m, before, c.rounds.At(a.message).arrival, a.clock)
	}
	if m := c.rounds.At(a.message); m.agent != 0 {
		c.matchRoundMessage(m, index, a, at)
	}
}

// finishReceive receives an agent's message, once the agent's own message has begun to leave. It
// reports whether the agent goes on.
func (c *Collectives) finishReceive(index int32, a *agent, step *collectives.Step) bool {
	work := c.partition.Target.ReduceTime(CombinedBytes(step, c.rounds.At(a.message).bytes)).Plus(c.packing(a.inst, int(a.round), c.copies))
	if !c.acceptRound(a, step) {
		return false
	}
	if work > 0 {
		a.stage = combining
		c.ask(a.lp, resource.Operation{Need: resource.CPU, Kind: opCombine, Call: c.callOf(a), Index: index, Earliest: a.clock, Released: a.released, Length: work})
	}
	return true
}

// combineAt has an agent combine the content that it has received, for a length of time from an
// instant on.
func (c *Collectives) combineAt(lp int32, p *resource.Processor, index int32, at vtime.Time, length vtime.Duration) {
	if p.State.CPU = at.Add(length); p.State.CPU == vtime.Forever {
		_, call, _ := (*rounds)(c).Sender(index)
		c.partition.PastEnd(int(c.partition.Global(lp)), at, call, "%v of combining", length)
	}
	if c.partition.Activities != nil {
		c.Messages.Computed(length)
	}
	a := c.agents.At(index)
	if a.fate == ended {
		return
	}
	c.worked(index, stats.SequentialComputation, length)
	a.clock, a.released, a.stage = c.Messages.Processors.Of(a.lp).State.CPU, max(a.released, at), acknowledging
	c.goOnAgent(index)
}

// The kinds of operations of agents.
const (
	opRound   uint8 = iota // send the message of the round
	opReceive              // receive the message of the round, which came early
	opCombine              // combine the received content
)

// ask requests an operation of an agent from the processor of an LP.
func (c *Collectives) ask(lp int32, op resource.Operation) {
	op.Owner = resource.OfAgents
	c.Messages.Processors.Ask(lp, op)
}

// rounds carries out the operations and messages of agents. It implements [resource.Work].
type rounds Collectives

var _ resource.Work = (*rounds)(nil)

// Begin carries out an operation at an instant.
func (w *rounds) Begin(lp int32, p *resource.Processor, op *resource.Operation, at vtime.Time) bool {
	c := (*Collectives)(w)
	switch op.Kind {
	case opRound:
		c.sendRoundAt(p, op.Index, at)
	case opReceive:
		c.receiveRoundAt(op.Index, at)
	case opCombine:
		c.combineAt(lp, p, op.Index, at, op.Length)
	}
	return true
}

// Size returns the bytes of a round message.
func (w *rounds) Size(index int32) int64 { return w.rounds.At(index).bytes }

// CallOf returns the call for which a round message comes, as far as it is known.
func (w *rounds) CallOf(_, index int32) world.Procedure {
	m := w.rounds.At(index)
	if inst := w.Communicators.At(m.comm).numbered(m.number); inst != nil {
		return inst.Call.Procedure
	}
	return world.NoProcedure
}

// TakeIn passes a round message that an LP takes in at an instant to its agent.
func (w *rounds) TakeIn(lp, index int32, _, at vtime.Time) {
	w.rounds.At(index).arrival = at
	(*Collectives)(w).arriveRound(lp, index, nil, 0)
}

// Sender returns the LP of an agent, the agent's call, and whether the agent is still under way.
func (w *rounds) Sender(index int32) (lp int32, call world.Procedure, live bool) {
	a := w.agents.At(index)
	if a.fate == ended {
		return 0, world.NoProcedure, false
	}
	return a.lp, a.inst.Call.Procedure, true
}

// Matched handles the match of an agent's message at t.
func (w *rounds) Matched(index int32, t vtime.Time) { (*Collectives)(w).AgentAcknowledged(index, t) }

// Leaving returns the call and the name of the message of an agent's round, for errors.
func (w *rounds) Leaving(op *resource.Operation) (call world.Procedure, message string, live bool) {
	_, call, live = w.Sender(op.Index)
	if !live {
		return call, "", false
	}
	return call, fmt.Sprintf("a message of round %d", w.agents.At(op.Index).round), true
}

// EnterLater enters an LP into a collective once all operations that the LP has started before have
// begun.
func (c *Collectives) EnterLater(lp int32, comm *Communicator, member int, v *Collective, request int32) {
	if !c.Messages.Behind(lp) {
		c.Enter(lp, comm, member, v, request)
		return
	}
	e, reused := c.spareEntries.Pop()
	if !reused {
		e = &postponed{}
		e.enter = func() { c.enterPostponed(e) }
	}
	e.call, e.lp, e.comm, e.member, e.request, e.timing, e.beforehand = *v, lp, comm, member, request, c.Timing, c.beforehand
	if v.Transient && len(v.Input) > 0 {
		e.call.Input = c.partition.Buffers.Take(len(v.Input))
		copy(e.call.Input, v.Input)
	}
	e.call.InCounts, e.call.OutCounts = slices.Clone(v.InCounts), slices.Clone(v.OutCounts)
	c.Timing, c.beforehand = stats.Untimed, 0
	c.Messages.After(lp, e.enter)
}

// postponed is the postponed entry of an LP into a collective. Entries and their functions are
// reused. The input of a transient call is a pooled buffer.
type postponed struct {
	call       Collective
	enter      func()
	comm       *Communicator
	member     int
	lp         int32
	request    int32
	timing     int32
	beforehand vtime.Duration
}

// enterPostponed carries out a postponed entry.
func (c *Collectives) enterPostponed(e *postponed) {
	c.Timing, c.beforehand = e.timing, e.beforehand
	c.Enter(e.lp, e.comm, e.member, &e.call, e.request)
	if e.call.Transient && len(e.call.Input) > 0 {
		c.partition.Buffers.Release(e.call.Input)
	}
	*e = postponed{enter: e.enter}
	c.spareEntries.Push(e)
}
