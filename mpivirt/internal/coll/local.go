package coll

import (
	"gigarank/collectives"
	"gigarank/vtime"
)

// The local bulk interpreter: all members of the communicator are on this engine
// and have entered. It goes through the schedule round by round over all members
// that do something in the round, for any algorithm, data and delay model.

// localState is the memory of the members of an instance, counted from comm.first, until
// all have entered.
type localState struct {
	inputs  [][]byte
	outputs [][]byte // where results go member by member
}

// localRun is the state of one instance that is carried out locally. There is one for
// all instances: it is over before another begins, and the next finds its room.
type localRun struct {
	k       *Collectives
	inst    *instance
	members []agent
	lists   [][]int32 // by round: the members that are active in it next
	spare   [][]int32 // lists that are empty
	sent    []localMessage
}

// localMessage is what a member sends in a round, to a member of the same run.
type localMessage struct {
	arrival vtime.Time
	bytes   int64
	payload []byte
	free    vtime.Time // when its match frees a sender that waits for that
}

// runLocally carries out an instance that all members have entered.
func (k *Collectives) runLocally(inst *instance) {
	r := &k.localRun
	r.k, r.inst = k, inst
	r.members, r.sent = room(r.members, inst.comm.Size), room(r.sent, inst.comm.Size)
	r.lists = room(r.lists, inst.schedule.MaxRounds())
	for m := range r.members {
		a := &r.members[m]
		a.lp, _ = k.Local(inst.comm.RankOf(m, 0))
		*a = agent{inst: inst, layout: inst.layout, lp: a.lp, member: int32(m), clock: inst.entryOf(k, a.lp, m)}
		if inst.local != nil {
			a.output = inst.local.outputs[m]
			k.load(a, inst.local.inputs[m])
		}
		r.enlist(int32(m), 0)
	}
	for round := range r.lists {
		r.round(round)
	}
	for m := range r.members {
		a := &r.members[m]
		if a.working != nil {
			a.store()
			if inst.result == nil && inst.Call.Operation == collectives.Allreduce {
				inst.result = append([]byte(nil), a.working...)
			}
			k.Buffers.Release(a.working)
		}
		k.exit(inst, a.lp, m, a.clock)
	}
	r.inst = nil
	clear(r.members) // they refer to the instance
	k.flushRange(inst)
}

// room returns a slice of n elements, which may hold anything, in the memory of another
// if it suffices.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// enlist enters a member for the first round from round on in which it is active.
func (r *localRun) enlist(m int32, round int) {
	s := r.inst.schedule
	next := s.Next(int(m), round)
	if next >= s.Rounds(int(m)) {
		return
	}
	if last := len(r.spare) - 1; r.lists[next] == nil && last >= 0 {
		r.lists[next], r.spare = r.spare[last], r.spare[:last]
	}
	r.lists[next] = append(r.lists[next], m)
}

func (r *localRun) round(round int) {
	active := r.lists[round]
	for _, m := range active {
		r.send(m, r.inst.schedule.Step(int(m), round))
	}
	for _, m := range active {
		r.receive(m, r.inst.schedule.Step(int(m), round))
	}
	for _, m := range active {
		a, sent := &r.members[m], &r.sent[m]
		a.clock = max(a.clock, sent.free)
		r.k.Buffers.Release(sent.payload)
		*sent = localMessage{}
		r.enlist(m, round+1)
	}
	if active != nil {
		r.spare = append(r.spare, active[:0])
	}
	r.lists[round] = nil
}

func (r *localRun) send(m int32, step collectives.Step) {
	a := &r.members[m]
	a.posted = a.clock
	if step.To == collectives.None {
		return
	}
	k, w := r.k, r.inst.schedule.Positions()
	sent := &r.sent[m]
	sent.bytes = a.layout.Bytes(step.Send, w)
	a.clock, sent.arrival = k.departRound(a, r.inst.rankOf(int(m)), r.inst.rankOf(step.To), sent.bytes)
	k.checkSent(a, r.inst.rankOf(step.To), sent.bytes, a.posted, sent.arrival)
	k.Engine.Statistics.Messages++
	if content := k.gather(a, step.Send, w); content != nil {
		sent.payload = k.Buffers.Take(len(content))
		copy(sent.payload, content)
	}
}

func (r *localRun) receive(m int32, step collectives.Step) {
	if step.From == collectives.None {
		return
	}
	a, k, sent := &r.members[m], r.k, &r.sent[step.From]
	arrival := sent.arrival
	if sent.bytes > k.EagerLimit {
		src, dst := r.inst.rankOf(step.From), r.inst.rankOf(int(m))
		if arrival, sent.free = k.Target.Rendezvous(src, dst, sent.bytes, a.posted, sent.arrival); max(arrival, sent.free) == vtime.Forever {
			k.pastReceive(r.inst, src, dst, sent.bytes, max(a.posted, sent.arrival))
		}
	}
	a.clock = k.Target.Receive(k.flow(a), sent.bytes, a.posted, a.clock, arrival)
	if a.working != nil {
		a.absorb(&step, sent.payload)
	}
	a.clock = a.clock.Add(k.Target.ReduceTime(combinedBytes(&step, sent.bytes)))
	k.checkReceived(a, r.inst.rankOf(step.From), sent.bytes, arrival)
}
