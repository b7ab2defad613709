package coll

import (
	"math/bits"

	"gigarank/collectives"
	"gigarank/internal/invariant"
)

// CheckRoundQueue compares an LP's counters of early round messages with the list of these
// messages, and checks that its agents are its own.
func (c *Collectives) CheckRoundQueue(lp int32) {
	q := c.roundQueue(lp)
	if q == nil {
		return
	}
	last, listed := int32(0), int32(0)
	for index := q.early.head; index != 0; index = c.rounds.At(index).next {
		last = index
		listed++
	}
	if last != q.early.tail || listed > q.ahead {
		invariant.Broken("rank %d counts %d early round messages, the last in its list is %d; there are %d, the last is %d",
			c.partition.Global(lp), q.ahead, q.early.tail, listed, last)
	}
	for index := q.agents; index != 0; index = c.agents.At(index).next {
		if a := c.agents.At(index); a.lp != lp || a.fate == ended {
			invariant.Broken("rank %d has agent %d, which is of LP %d and has ended: %t", c.partition.Global(lp), index, a.lp, a.fate == ended)
		}
	}
}

// checkCounts compares the counters of an instance's members.
func (inst *instance) checkCounts() {
	entered := 0
	for _, word := range inst.entered {
		entered += bits.OnesCount64(word)
	}
	if entered != inst.Count || inst.exited > inst.Count || inst.Count > inst.comm.Locals {
		invariant.Broken("%v number %d of %s: of %d members here, %d have entered, %d are counted, %d have left",
			inst.Call.Procedure, inst.Number, inst.comm, inst.comm.Locals, entered, inst.Count, inst.exited)
	}
}

// checkCover checks that each participant of an instance over arrays lies in the array of exactly
// one engine.
func (c *Collectives) checkCover(inst *instance) {
	next := 0
	for engine := range c.partition.Engine.Engines() {
		lo, hi := c.participants(inst, engine)
		if lo != next || hi < lo {
			invariant.Broken("%v of %s: engine %d has participants %d to %d, the one before it ends at %d",
				inst.Call.Procedure, inst.comm, engine, lo, hi-1, next-1)
		}
		next = hi
	}
	if next != inst.schedule.Members() {
		invariant.Broken("%v of %s: the engines have %d participants of %d", inst.Call.Procedure, inst.comm, next, inst.schedule.Members())
	}
}

// checkHeld checks that an engine with blocks, or messages of rounds, to send has a hold from the entry of each of its
// members on: members of other engines that wait for them may leave at that instant.
func (c *Collectives) checkHeld(inst *instance, h *hold) {
	for member := inst.comm.First; member < inst.comm.Last; member++ {
		lp, _ := c.partition.Local(inst.comm.RankOf(member, 0))
		if t := inst.entryOf(c, lp, member); !h.held || t < h.least {
			invariant.Broken("%v number %d of %s: member %d has entered at %v, the engine holds (%t) from %v on", inst.Call.Procedure, inst.Number, inst.comm, member, t, h.held, h.least)
		}
	}
}

// checkSum checks that the bytes of a call are the sum of the bytes of its blocks.
func (inst *instance) checkSum() {
	v := &inst.Call
	switch v.Operation {
	case collectives.Allgatherv, collectives.ReduceScatter:
		if all := sum(v.Counts); v.Counts != nil && all != v.Bytes {
			invariant.Broken("%v of %d bytes, whose counts add up to %d", v.Procedure, v.Bytes, all)
		}
	}
}
