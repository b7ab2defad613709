package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/resource"
	"gigarank/network"
	"gigarank/vtime"
)

// The local bulk interpreter: all members of the communicator are on this engine and have entered.
// It goes through the schedule round by round over all members that are active in the round, for
// any algorithm, data and delay model.

// localState holds the memory of the members of an instance, counted from comm.first, until all
// have entered.
type localState struct {
	inputs   [][]byte
	outputs  [][]byte // memory for results, by member; nil before the first operation but a gather
	gathered []byte   // memory for the result of a gather
	copied   bool     // the inputs are buffers of the pool
}

// localRun is the state of a local instance that is carried out. All instances share one localRun:
// an instance is over before the next begins, which reuses the memory.
type localRun struct {
	k        *Collectives
	inst     *instance
	members  []agent
	ports    []network.Port // of members; see port
	memories []memory       // of members
	lists    []memberList   // by round: the members whose next active round it is
	next     []int32        // by member: the next member of its list
	sent     []localMessage
	payloads [][]byte // of sent: views of the senders' memory, or buffers
	inTurns  bool     // messages take the interfaces of nodes in turn
	timed    bool     // rounds take time; else only vectors are combined
	turns    localTurns
}

// memberList is a linked list of members; each member is in one list at most.
type memberList struct{ first, last int32 } // counted from 1; 0 for none

// localMessage is the message that a member sends in a round, to a member of the same run.
type localMessage struct {
	arrival vtime.Time
	bytes   int64
	kept    bool       // its payload is a buffer
	over    bool       // the sender has received its own message
	free    vtime.Time // instant at which the match frees a sender that waits for it
}

// runLocally carries out an instance that all members have entered.
func (c *Collectives) runLocally(inst *instance) {
	r := &c.localRun
	r.begin(c, inst, true)
	for round := range r.lists {
		r.round(round)
	}
	if r.inTurns {
		c.Messages.Interfaces.(*resource.Interfaces).LayersFrom(resource.RoundLayers * (uint64(inst.Number+1) << 32))
	}
	c.move(inst)
	for m := range r.members {
		a := &r.members[m]
		if a.memory != nil {
			a.store()
			c.finish(a)
		}
		c.exit(inst, a.lp, m, a.clock)
	}
	r.end()
	c.dropMembers(inst)
	c.flushRange(inst)
}

// combineInRounds combines the vectors of the members of an instance over arrays, which are all here, as the rounds of its schedule say.
// The clocks have passed the rounds.
func (c *Collectives) combineInRounds(inst *instance) {
	r := &c.localRun
	r.begin(c, inst, false)
	for round := range r.lists {
		r.round(round)
	}
	for m := range r.members {
		a := &r.members[m]
		a.store()
		c.finish(a)
	}
	r.end()
}

// begin has the members of an instance begin its rounds, which take time if timed is set.
func (r *localRun) begin(c *Collectives, inst *instance, timed bool) {
	r.k, r.inst, r.timed, r.inTurns = c, inst, timed, timed && c.layering != nil && !inst.apart
	r.members, r.sent = room(r.members, inst.comm.Size), room(r.sent, inst.comm.Size)
	r.next, r.lists = room(r.next, inst.comm.Size), room(r.lists, inst.schedule.MaxRounds())
	clear(r.lists)
	if c.partition.HasPorts {
		r.ports = room(r.ports, inst.comm.Size)
		clear(r.ports)
	}
	if inst.local != nil && !inst.movesDirectly() {
		r.memories, r.payloads = room(r.memories, inst.comm.Size), room(r.payloads, inst.comm.Size)
	}
	call := inst.Call
	call.Transient = false // the inputs are copies
	for m := range r.members {
		a := &r.members[m]
		a.lp, _ = c.partition.Local(inst.comm.RankOf(m, 0))
		*a = agent{inst: inst, layout: inst.layout, lp: a.lp, member: int32(m), rounds: int32(inst.schedule.Rounds(m)), clock: inst.entryOf(c, a.lp, m)}
		if inst.local != nil && !inst.movesDirectly() {
			c.lay(a, &r.memories[m], &call, inst.local.inputs[m], inst.output(m))
		}
		r.enlist(int32(m), 0)
	}
}

// end ends the use of the members, which refer to the instance.
func (r *localRun) end() {
	r.inst = nil
	clear(r.members)
}

// room returns a slice of n elements with arbitrary contents, in the memory of s if that suffices.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// port returns the network interface of a member, nil if no message depends on it.
func (r *localRun) port(m int32) *network.Port {
	if !r.k.partition.HasPorts {
		return nil
	}
	return &r.ports[m]
}

// enlist adds a member to the list of the first round from round on in which it is active.
func (r *localRun) enlist(m int32, round int) {
	s := r.inst.schedule
	next := s.Next(int(m), round)
	if next >= int(r.members[m].rounds) {
		return
	}
	list := &r.lists[next]
	r.next[m] = 0
	if list.first == 0 {
		list.first = m + 1
	} else {
		r.next[list.last-1] = m + 1
	}
	list.last = m + 1
}

func (r *localRun) round(round int) {
	first := r.lists[round].first
	for m := first - 1; m >= 0; m = r.next[m] - 1 {
		r.send(m, round, r.inst.schedule.Step(int(m), round))
	}
	if r.inTurns {
		r.passTurns()
	}
	packing := r.k.packing(r.inst, round, r.k.copiesOf(r.inst))
	for m := first - 1; m >= 0; m = r.next[m] - 1 {
		r.receiveFrom(m, round, packing)
	}
	if r.inTurns {
		r.workTurns()
	}
	for m := first - 1; m >= 0; {
		next := r.next[m] - 1
		a, sent := &r.members[m], &r.sent[m]
		a.clock = max(a.clock, sent.free)
		*sent = localMessage{}
		r.enlist(m, round+1)
		m = next
	}
}

func (r *localRun) send(m int32, round int, step collectives.Step) {
	a := &r.members[m]
	a.posted = a.clock
	if step.To == collectives.None {
		return
	}
	if r.timed {
		r.depart(m, round, step)
	}
	if a.memory == nil {
		return
	}
	content, at := r.k.gather(a, step.Send, r.inst.width)
	switch r.payloads[m] = content; {
	case content == nil:
	case at >= 0:
		a.memory.viewed = true
	default:
		r.keep(m)
	}
}

// depart charges a member for sending the message of a round.
func (r *localRun) depart(m int32, round int, step collectives.Step) {
	a, sent, k := &r.members[m], &r.sent[m], r.k
	sent.bytes = a.layout.Bytes(step.Send, r.inst.width)
	a.clock, sent.arrival = k.departRound(a, r.port(m), int32(round), r.inst.rankOf(int(m)), r.inst.rankOf(step.To), sent.bytes)
	k.checkSent(a, r.inst.rankOf(step.To), sent.bytes, a.posted, sent.arrival)
	k.partition.Engine.Statistics.Messages++
	if r.inTurns && k.Messages.Shares(r.inst.rankOf(int(m)), r.inst.rankOf(step.To)) {
		r.asksFor(m, int32(step.To))
	}
}

// keep copies the message that a member sends in a round, before its memory changes.
func (r *localRun) keep(m int32) {
	sent := &r.sent[m]
	view := r.payloads[m]
	r.payloads[m], sent.kept = r.k.partition.Buffers.Take(len(view)), true
	copy(r.payloads[m], view)
}

// receiveFrom has a member receive in a round. If that has changed the message that the member
// sends, the receiver of that message is next: so a single buffer holds the messages of exchanges.
func (r *localRun) receiveFrom(m int32, round int, packing vtime.Duration) {
	for !r.sent[m].over {
		step := r.inst.schedule.Step(int(m), round)
		r.sent[m].over = true
		r.receive(m, round, step, packing)
		if !r.sent[m].kept {
			return
		}
		m = int32(step.To)
	}
}

func (r *localRun) receive(m int32, round int, step collectives.Step, packing vtime.Duration) {
	if step.From == collectives.None {
		return
	}
	if !r.timed {
		r.absorb(m, &step)
		return
	}
	a, k, sent := &r.members[m], r.k, &r.sent[step.From]
	arrival := sent.arrival
	if sent.bytes > k.partition.EagerLimit {
		src, dst := r.inst.rankOf(step.From), r.inst.rankOf(int(m))
		if arrival, sent.free = k.congested(r.inst, int32(round)).Rendezvous(src, dst, sent.bytes, a.posted, sent.arrival); max(arrival, sent.free) == vtime.Forever {
			k.pastReceive(r.inst, src, dst, sent.bytes, max(a.posted, sent.arrival))
		}
	}
	a.clock = k.endsOf(r.inst, sent.bytes).Receive(r.port(m), sent.bytes, a.posted, a.clock, arrival)
	if a.memory != nil {
		r.absorb(m, &step)
	}
	r.combines(m, round, CombinedBytes(&step, sent.bytes), packing)
	k.checkReceived(a, r.inst.rankOf(step.From), sent.bytes, arrival)
}

// absorb has a member store or combine the content of the message that it receives in a step.
func (r *localRun) absorb(m int32, step *collectives.Step) {
	r.k.absorb(&r.members[m], step, r.payloads[step.From])
	r.taken(step.From)
}

// taken releases the content of a member's message, which the receiver has absorbed.
func (r *localRun) taken(m int) {
	sent := &r.sent[m]
	if sent.kept {
		r.k.partition.Buffers.Release(r.payloads[m])
	}
	r.payloads[m], sent.kept = nil, false
	if from := &r.members[m]; from.memory != nil {
		from.memory.viewed = false
	}
}
