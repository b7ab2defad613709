package kernel

import (
	"gigarank/collectives"
	"gigarank/vtime"
)

// The rounds of an agent. An agent is a thread of its own: what one of its rounds sends
// requires the receive of the round before, as in LogGOPSim's schedules. Send and receive
// of one round do not wait for each other: a message is matched though the own one has not
// begun to leave, but then its content is taken in only when that has.

// goOnAgent takes an agent as far as it gets without the processor.
func (k *Kernel) goOnAgent(index int32) {
	a := k.agents.at(index)
	if a.ended {
		return
	}
	for {
		step, more := a.nextStep()
		if !more {
			k.endAgent(index)
			return
		}
		if a.stage == sending {
			k.beginRound(index, a, &step)
		}
		if a.stage == receiving && a.message != 0 {
			k.takeRound(index, a)
		}
		if a.stage == receiving || a.stage == posting || a.sent == leaving {
			return
		}
		if a.stage == matched {
			a.stage = acknowledging
			if !k.finishReceive(index, a, &step) {
				return
			}
		}
		if a.stage == combining || a.sent == unacked {
			return
		}
		a.released = max(a.released, a.matched)
		a.clock = max(a.clock, a.matched, k.freeFrom(a.lp, a.matched))
		a.stage, a.matched = sending, 0
		a.round++
	}
}

// freeFrom returns from when on the CPU of an LP is free, as far as is known at t.
func (k *Kernel) freeFrom(lp int32, t vtime.Time) vtime.Time {
	p := &k.processors[lp]
	free := p.state.CPU
	if op := p.poll(k, lp); op != nil && t > op.ready {
		at, _ := k.pollFrom(op, t)
		free = max(free, at)
	}
	return free
}

// beginRound asks for the message of an agent's round to be sent, and for the one that it
// receives if that is there: neither waits for the other.
func (k *Kernel) beginRound(index int32, a *agent, step *collectives.Step) {
	a.posted, a.stage = a.clock, acknowledging
	if step.To != collectives.None {
		a.sent = leaving
		k.ask(a.lp, &k.processors[a.lp], operation{kind: opRound, index: index, ready: a.clock, released: a.released})
	}
	if step.From != collectives.None {
		a.stage = receiving
		if a.message = k.takeEarly(a); a.message != 0 {
			k.postRound(index, a)
		}
	}
}

// postRound has an agent receive, when its round begins, a message that was taken in
// before.
func (k *Kernel) postRound(index int32, a *agent) {
	a.stage = posting
	k.ask(a.lp, &k.processors[a.lp], operation{kind: opReceive, index: index, ready: a.posted, released: a.released})
}

// sendRoundAt sends the message of an agent's round.
func (k *Kernel) sendRoundAt(lp int32, p *processor, index int32, at vtime.Time) {
	a := k.agents.at(index)
	if a.ended {
		return
	}
	step := a.inst.schedule.Step(int(a.member), int(a.round))
	a.sent = gone
	m, dst := k.roundMessage(index, a, &step)
	k.tgt.Depart(&p.state, m.bytes, at)
	p.sent = at
	m.arrival = at.Add(k.tgt.Latency(int(m.rank), dst))
	a.clock, a.released = p.state.CPU, max(a.released, at)
	k.checkSent(a, dst, m.bytes, at, m.arrival)
	k.eng.Statistics.Messages++
	k.dispatchRound(&m, dst, at, k.gather(a, step.Send, a.inst.schedule.Positions()))
	k.goOnAgent(index)
}

// takeRound lets an agent receive the message of its round, which has just been taken in.
func (k *Kernel) takeRound(index int32, a *agent) {
	if at := k.rounds.at(a.message).arrival; at >= a.posted {
		k.matchRound(a, at)
		return
	}
	k.postRound(index, a)
}

// receiveRoundAt lets an agent receive a message that was there before.
func (k *Kernel) receiveRoundAt(index int32, at vtime.Time) {
	a := k.agents.at(index)
	if a.ended {
		return
	}
	k.matchRound(a, at)
	k.goOnAgent(index)
}

// matchRound matches the message of an agent's round at an instant.
func (k *Kernel) matchRound(a *agent, at vtime.Time) {
	a.stage, a.released = matched, max(a.released, at)
	a.clock = max(a.clock, at, k.freeFrom(a.lp, at))
	k.matchRoundMessage(k.rounds.at(a.message), a, at)
}

// finishReceive takes in what an agent has received, when its own message has begun to
// leave. It reports false if that is the end of the agent.
func (k *Kernel) finishReceive(index int32, a *agent, step *collectives.Step) bool {
	work := k.tgt.ReduceTime(combinedBytes(step, k.rounds.at(a.message).bytes))
	if !k.acceptRound(a, step) {
		return false
	}
	if work > 0 {
		a.stage = combining
		k.ask(a.lp, &k.processors[a.lp], operation{kind: opCombine, index: index, ready: a.clock, released: a.released, length: work})
	}
	return true
}

// combined lets an agent go on that has begun to combine what it has received.
func (k *Kernel) combined(p *processor, index int32, at vtime.Time) {
	a := k.agents.at(index)
	if a.ended {
		return
	}
	a.clock, a.released, a.stage = p.state.CPU, max(a.released, at), acknowledging
	k.goOnAgent(index)
}
