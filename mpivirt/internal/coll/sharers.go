package coll

import "gigarank/collectives"

// Where the ranks of a node share its memory, so do the vectors that they combine and copy at a time:
// of all members that combine in the same round of a schedule, and of all members where blocks are
// packed. The node of member 0 stands for all nodes. The number of these members depends on the
// schedule alone, so that a round takes the same time by messages and over arrays.

// onFirstNode returns the number of members of a communicator on the node of its first member, 1 where
// ranks of a node share no memory.
func (c *Collectives) onFirstNode(comm *Communicator) int {
	if !c.partition.Target.ContendedWithin() || comm.Size == 1 {
		return 1
	}
	if comm.nodes == nil {
		comm.nodes = c.newNodeTable(comm)
	}
	return comm.nodes.size(0)
}

// sharersOf returns the number of participants of an instance on the node of its first participant, 1
// where ranks of a node share no memory.
func (c *Collectives) sharersOf(inst *instance) int {
	if inst.leaders {
		return 1
	}
	return c.onFirstNode(inst.comm)
}

// combining returns the number of participants on the node of the first participant that combine what
// they receive in a round, at least 1.
func (c *Collectives) combining(inst *instance, round int) int {
	sharers := c.sharersOf(inst)
	if sharers == 1 {
		return 1
	}
	nodes := inst.comm.nodes
	if p := inst.schedule.Pattern(round); p.Kind != collectives.Irregular && nodes.member(0, sharers-1) == sharers-1 {
		return max(p.Receivers(sharers), 1)
	}
	for round >= len(inst.combiners) {
		inst.combiners = append(inst.combiners, 0)
	}
	if inst.combiners[round] == 0 {
		inst.combiners[round] = int32(max(combiners(inst.schedule, nodes, sharers, round), 1))
	}
	return int(inst.combiners[round])
}

// combiners counts the members on the first node of a table that combine what they receive in a round.
func combiners(s collectives.Schedule, nodes *nodeTable, sharers, round int) (n int) {
	const bytes = 1 << 30 // of any message
	for i := range sharers {
		m := nodes.member(0, i)
		if s.Next(m, round) != round || round >= s.Rounds(m) {
			continue
		}
		if step := s.Step(m, round); step.From != collectives.None && CombinedBytes(&step, bytes) > 0 {
			n++
		}
	}
	return n
}
