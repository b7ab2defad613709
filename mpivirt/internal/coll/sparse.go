package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/world"
)

// A linear alltoallv has no messages for empty blocks. Each member knows which of its own blocks are empty, those that it expects included.

// sparse reports whether members send and receive no empty blocks, as in the linear alltoallv of Open MPI from 4.1.6 on and of
// MPICH. So a member may leave before all have entered.
func (v *Collective) sparse() bool {
	return v.Operation == collectives.Alltoallv && v.Algorithm == collectives.Linear
}

// sparse reports the same of the call with a signature.
func (s signature) sparse() bool {
	return s>>signedSparse&1 != 0 && s.call().Plain() == world.Alltoallv
}

// nextRound returns the first round, from a round on, in which an agent sends or receives a message, or a value of at least its number
// of rounds.
func (c *Collectives) nextRound(a *agent, round int) int {
	round = a.inst.schedule.Next(int(a.member), round)
	if a.inst.sparse {
		round = c.nextBlock(a, round)
	}
	return round
}

// nextBlock is nextRound where empty blocks are not sent, from a round on in which the agent is active.
func (c *Collectives) nextBlock(a *agent, round int) int {
	for round < int(a.rounds) && c.empty(a, round) {
		round = a.inst.schedule.Next(int(a.member), round+1)
	}
	return round
}

// empty reports whether an agent sends and receives no bytes in a round.
func (c *Collectives) empty(a *agent, round int) bool {
	inst, step := a.inst, &c.skimmed
	inst.steps.StepInto(step, int(a.member), round)
	return a.layout.Bytes(step.Send, inst.width)+a.layout.Bytes(step.Receive, inst.width) == 0
}

// unexpected fails the run for a block of an alltoallv whose receiver expects an empty block, and so may have gone on.
func (c *Collectives) unexpected(lp int32, m *roundMessage) {
	rank := int(c.partition.Global(lp))
	c.partition.FailedIn(rank, m.arrival, c.partition.NameOf(m.signature.call()), truncated(int(m.rank), m.bytes, 0))
}
