package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/resource"
	"gigarank/network"
	"gigarank/vtime"
)

// Where nodes have interfaces, the messages of a round of a local instance ask for them together, in the layers of room resource: first at
// their senders' nodes, then at their receivers'. Messages within a node ask for its memory, and so does what is combined and packed after
// the round.

// localTurns holds the messages of a round that ask, and what is combined after it.
type localTurns struct {
	all     []localPassage
	between []resource.Asking // of messages between nodes
	within  []resource.Asking // of messages within a node
	works   []resource.Asking // of members that combine and pack
	workers []localWorker     // in the order in which they were added
}

// localPassage is a message of a round that asks.
type localPassage struct {
	source            int32 // member
	dest              int32 // rank
	bytes             int64
	asked             vtime.Time // at which it asks to leave, then at which it asks at its receiver's node
	latency, transfer vtime.Duration
}

// localWorker is a member that combines and packs after a round, and the time for that without others.
type localWorker struct {
	member int32
	alone  vtime.Duration
}

// asksFor adds a message that a member sends, whose passage departRound has left in way.
func (r *localRun) asksFor(m int32) {
	t, way, target := &r.turns, &r.k.way, r.k.partition.Target
	if way.At == vtime.Forever { // its sender has failed
		return
	}
	ask := resource.Asking{At: way.At, Rank: way.Source, Where: way.Source, Index: int32(len(t.all))}
	if target.Node(int(way.Source)) != target.Node(int(way.Dest)) {
		ask.Bytes = target.InterfaceTime(way.Bytes)
		t.between = append(t.between, ask)
	} else if ask.Bytes = target.MemoryTime(way.Bytes); ask.Bytes > 0 {
		t.within = append(t.within, ask)
	} else {
		return
	}
	t.all = append(t.all, localPassage{m, way.Dest, way.Bytes, way.At, way.Latency, way.Transfer})
}

// leaveInTurns has the messages of a round leave their nodes, and those within a node arrive. Of a message for another engine it stores the instant
// at which the message asks at its receiver's node.
func (r *localRun) leaveInTurns() {
	t, shared := &r.turns, r.k.Messages.Interfaces.(*resource.Interfaces)
	shared.TakeLayer(resource.Outward, t.between)
	here := t.between[:0]
	for _, a := range t.between {
		p := &t.all[a.Index]
		a.At = a.At.Add(p.latency).Add(p.transfer - min(p.transfer, a.Bytes))
		if a.Where = p.dest; a.At == vtime.Forever {
			r.k.pastSend(r.inst, int(a.Rank), int(p.dest), p.bytes, p.asked)
			r.sent[p.source].arrival = vtime.Forever
			continue
		}
		p.asked = a.At
		if _, local := r.k.partition.Local(int(p.dest)); local {
			here = append(here, a)
		} else {
			r.sent[p.source].arrival = a.At
		}
	}
	t.between = here
	shared.TakeLayer(resource.Within, t.within)
	for i := range t.within {
		a := &t.within[i]
		p := &t.all[a.Index]
		arrival := network.HeldUntil(p.asked, a.At, a.Bytes, p.transfer).Add(p.latency).Add(p.transfer)
		if arrival == vtime.Forever {
			r.k.pastReceive(r.inst, int(a.Rank), int(p.dest), p.bytes, p.asked)
		}
		r.sent[p.source].arrival = arrival
	}
	t.within = t.within[:0]
}

// arriveInTurns has the messages of a round between nodes arrive, once those of other engines have come.
func (r *localRun) arriveInTurns() {
	t, target := &r.turns, r.k.partition.Target
	for i := range r.between.came {
		if d := &r.between.came[i]; d.at < vtime.Forever && r.k.Messages.Shares(int(d.rank), r.rank(d.dest)) {
			t.between = append(t.between, resource.Asking{At: d.at, Bytes: target.InterfaceTime(d.bytes), Rank: d.rank, Where: int32(r.rank(d.dest)), Index: int32(^i)})
		}
	}
	r.k.Messages.Interfaces.(*resource.Interfaces).TakeLayer(resource.Inward, t.between)
	for i := range t.between {
		a := &t.between[i]
		var bytes int64
		var at, asked *vtime.Time
		if a.Index < 0 {
			d := &r.between.came[^a.Index]
			bytes, at, asked = d.bytes, &d.at, &d.at
		} else {
			p := &t.all[a.Index]
			bytes, at, asked = p.bytes, &r.sent[p.source].arrival, &p.asked
		}
		arrival := a.At.Add(a.Bytes)
		if arrival == vtime.Forever {
			r.k.pastReceive(r.inst, int(a.Rank), int(a.Where), bytes, *asked)
		}
		*at = arrival
	}
	t.all, t.between = t.all[:0], t.between[:0]
}

// combines has a member combine bytes of a message and pack after a round. In a memory that its node shares it does so once all members have
// received.
func (r *localRun) combines(m int32, combined int64, packing vtime.Duration) {
	a, target := &r.members[m], r.k.partition.Target
	alone, memory := target.ReduceTime(combined).Plus(packing), vtime.Duration(0)
	if r.inTurns && target.ContendedWithin() {
		memory = target.CombiningTime(combined).Plus(r.k.packing(r.inst, r.at, r.k.memoryCopies))
	}
	if memory == 0 {
		a.clock = a.clock.Add(alone)
		return
	}
	t, rank := &r.turns, int32(r.rank(m))
	t.works = append(t.works, resource.Asking{At: a.clock, Bytes: memory, Rank: rank, Where: rank, Index: int32(len(t.workers))})
	t.workers = append(t.workers, localWorker{m, alone})
}

// workTurns has members combine and pack in the memories of their nodes.
func (r *localRun) workTurns() {
	t := &r.turns
	r.k.Messages.Interfaces.(*resource.Interfaces).TakeLayer(resource.Within, t.works)
	for i := range t.works {
		w := &t.works[i]
		by := &t.workers[w.Index]
		a := &r.members[by.member]
		received := a.clock
		if a.clock = network.HeldUntil(received, w.At, w.Bytes, by.alone).Add(by.alone); a.clock == vtime.Forever {
			r.k.partition.PastEnd(int(w.Rank), received, r.inst.Call.Procedure, "%v of combining", w.Bytes)
		}
	}
	t.works, t.workers = t.works[:0], t.workers[:0]
}

// messageOf returns the bytes of the message that a member receives in the round of a step.
func (l *layering) messageOf(step *collectives.Step, round int) int64 {
	l.steps.StepInto(&l.other, step.From, round)
	return l.layout.Bytes(l.other.Send, l.schedule.Positions())
}
