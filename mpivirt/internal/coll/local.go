package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/resource"
	"gigarank/network"
	"gigarank/vtime"
)

// The local bulk interpreter: all members of the communicator that are on this engine have entered.
// It goes through the schedule round by round over all members that are active in the round, for
// any algorithm, data and delay model. Where other engines have members, too, engines send each other the messages of
// a round (roundsbetween.go).

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
	first    int // the first member here, from which on members are counted
	members  []agent
	ports    []network.Port // of members; see port
	memories []memory       // of members
	lists    []memberList   // by round: the members whose next active round it is
	next     []int32        // by member: the next member of its list
	sent     []localMessage
	payloads [][]byte         // of sent: views of the senders' memory, or buffers
	at       int              // the present round
	windows  bool             // messages of a window take no time: see stepInWindow
	step     collectives.Step // scratch of stepOf
	inTurns  bool             // messages take the interfaces of nodes in turn
	timed    bool             // rounds take time; else only vectors are combined
	turns    localTurns
	between  roundsBetween
}

// memberList is a linked list of members; each member is in one list at most.
type memberList struct{ first, last int32 } // counted from 1; 0 for none

// localMessage is the message that a member sends in a round.
type localMessage struct {
	arrival vtime.Time // of a message for another engine that takes interfaces the instant at which it asks there
	bytes   int64
	kept    bool       // its payload is a buffer
	over    bool       // the sender has received its own message
	free    vtime.Time // instant at which the match frees a sender that waits for it
}

// runLocally carries out an instance that all members here have entered.
func (c *Collectives) runLocally(inst *instance) {
	c.localRun.begin(c, inst, true)
	if inst.comm.Locals < inst.comm.Size {
		c.holdRounds(inst) // from the entries on: others may leave with messages that are still to be sent
	}
	c.goOnLocally(inst)
}

// goOnLocally carries on the rounds of an instance, and ends it once they are over.
func (c *Collectives) goOnLocally(inst *instance) {
	r := &c.localRun
	if !r.goOn() {
		c.holdRounds(inst)
		return
	}
	if inst.distant != nil {
		c.endHold(&inst.distant.hold)
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
		c.exit(inst, a.lp, int(a.member), a.clock)
	}
	r.end()
	c.dropMembers(inst)
	c.flushRange(inst)
}

// storeCombined stores the results of the members of an instance over arrays, whose vectors have been combined round by round.
func (c *Collectives) storeCombined() {
	r := &c.localRun
	for m := range r.members {
		a := &r.members[m]
		a.store()
		c.finish(a)
	}
	r.end()
}

// begin has the members of an instance begin its rounds, which take time if timed is set.
func (r *localRun) begin(c *Collectives, inst *instance, timed bool) {
	r.k, r.inst, r.first, r.at, r.timed, r.inTurns = c, inst, inst.comm.First, 0, timed, timed && c.layering != nil && !inst.apart
	r.windows = !timed && collectives.HasWindows(inst.schedule)
	n := inst.comm.Locals
	r.members, r.sent = room(r.members, n), room(r.sent, n)
	r.next, r.lists = room(r.next, n), room(r.lists, inst.schedule.MaxRounds())
	clear(r.lists)
	if c.partition.HasPorts {
		r.ports = room(r.ports, n)
		clear(r.ports)
	}
	if inst.local != nil && !inst.movesDirectly() {
		r.memories, r.payloads = room(r.memories, n), room(r.payloads, n)
	}
	r.between.begin()
	call := inst.Call
	call.Transient = false // the inputs are copies
	for m := range r.members {
		a, member := &r.members[m], r.first+m
		a.lp, _ = c.partition.Local(inst.comm.RankOf(member, 0))
		*a = agent{inst: inst, layout: inst.layout, lp: a.lp, member: int32(member), rounds: int32(inst.schedule.Rounds(member)), clock: inst.entryOf(c, a.lp, member)}
		if inst.local != nil && !inst.movesDirectly() {
			c.lay(a, &r.memories[m], &call, inst.local.inputs[m], inst.output(m))
		}
		r.enlist(int32(m), 0)
	}
}

// stepOf returns the step of a member in the present round, valid until the next call.
func (r *localRun) stepOf(m int32) *collectives.Step {
	if r.windows {
		r.step = stepInWindow(r.inst.schedule, r.first+int(m), r.at)
	} else {
		r.inst.steps.StepInto(&r.step, r.first+int(m), r.at)
	}
	return &r.step
}

// rank returns the rank of a member.
func (r *localRun) rank(m int32) int { return r.inst.rankOf(r.first + int(m)) }

// isHere reports whether a member of the instance, counted from the first of all, is on this engine.
func (r *localRun) isHere(member int) bool { return uint(member-r.first) < uint(len(r.members)) }

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
	next := s.Next(r.first+int(m), round)
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

// goOn carries on the rounds until messages of other engines are missing, or there is no room for messages to them. It reports whether all rounds
// are over.
func (r *localRun) goOn() bool {
	for ; r.at < len(r.lists); r.at++ {
		if !r.between.sending && !r.between.receiving {
			r.beginRound()
		}
		if !r.sendBetween() || r.between.missing > 0 {
			return false
		}
		r.endRound()
	}
	return true
}

// beginRound has the members send in the present round.
func (r *localRun) beginRound() {
	r.between.begin()
	for m := r.lists[r.at].first - 1; m >= 0; m = r.next[m] - 1 {
		r.send(m, r.stepOf(m))
	}
	if r.inTurns {
		r.leaveInTurns()
	}
	r.between.sending = true
	r.takeEarly()
}

// endRound has the members receive in the present round, and enlists them for their next rounds.
func (r *localRun) endRound() {
	first := r.lists[r.at].first
	if r.inTurns {
		r.arriveInTurns()
	}
	packing := r.k.packing(r.inst, r.at, r.k.copiesOf(r.inst))
	for m := first - 1; m >= 0; m = r.next[m] - 1 {
		r.receiveFrom(m, packing)
	}
	r.receiveBetween(packing)
	if r.inTurns {
		r.workTurns()
	}
	for m := first - 1; m >= 0; {
		next := r.next[m] - 1
		a, sent := &r.members[m], &r.sent[m]
		a.clock = max(a.clock, sent.free)
		*sent = localMessage{}
		r.enlist(m, r.at+1)
		m = next
	}
	r.between.receiving = false
}

func (r *localRun) send(m int32, step *collectives.Step) {
	a := &r.members[m]
	a.posted = a.clock
	r.notes(m, step.From, step.To)
	if step.To == collectives.None {
		return
	}
	if r.timed {
		r.depart(m, step)
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

// depart charges a member for sending the message of the present round.
func (r *localRun) depart(m int32, step *collectives.Step) {
	a, sent, k, src, dst := &r.members[m], &r.sent[m], r.k, r.rank(m), r.inst.rankOf(step.To)
	sent.bytes = a.layout.Bytes(step.Send, r.inst.width)
	a.clock, sent.arrival = k.departRound(a, r.port(m), int32(r.at), src, dst, sent.bytes)
	k.checkSent(a, dst, sent.bytes, a.posted, sent.arrival)
	k.partition.Engine.Statistics.Messages++
	if r.inTurns && k.Messages.Shares(src, dst) {
		r.asksFor(m)
	}
}

// keep copies the message that a member sends in a round, before its memory changes.
func (r *localRun) keep(m int32) {
	sent := &r.sent[m]
	view := r.payloads[m]
	r.payloads[m], sent.kept = r.k.partition.Buffers.Take(len(view)), true
	copy(r.payloads[m], view)
}

// receiveFrom has a member receive the message of another member here. If that has changed the message that the member
// sends, the receiver of that message is next: so a single buffer holds the messages of exchanges.
func (r *localRun) receiveFrom(m int32, packing vtime.Duration) {
	for !r.sent[m].over {
		step := r.stepOf(m)
		r.sent[m].over = true
		r.receive(m, step, packing)
		if !r.sent[m].kept {
			return
		}
		m = int32(step.To - r.first)
	}
}

func (r *localRun) receive(m int32, step *collectives.Step, packing vtime.Duration) {
	if step.From == collectives.None || !r.isHere(step.From) {
		return
	}
	from := int32(step.From - r.first)
	if r.members[m].memory != nil {
		r.k.absorb(&r.members[m], step, r.payloads[from])
		r.taken(from)
	}
	if !r.timed {
		return
	}
	sent, arrival := &r.sent[from], r.sent[from].arrival
	if sent.bytes > r.k.partition.EagerLimit {
		src, dst, posted := r.rank(from), r.rank(m), r.members[m].posted
		if arrival, sent.free = r.k.congested(r.inst, int32(r.at)).Rendezvous(src, dst, sent.bytes, posted, sent.arrival); max(arrival, sent.free) == vtime.Forever {
			r.k.pastReceive(r.inst, src, dst, sent.bytes, max(posted, sent.arrival))
		}
	}
	r.arrive(m, step, sent.bytes, arrival, packing)
}

// arrive charges a member for receiving a message, which arrives at an instant, and for what it combines and packs then.
func (r *localRun) arrive(m int32, step *collectives.Step, bytes int64, arrival vtime.Time, packing vtime.Duration) {
	a := &r.members[m]
	a.clock = r.k.endsOf(r.inst, bytes).Receive(r.port(m), bytes, a.posted, a.clock, arrival)
	r.combines(m, CombinedBytes(step, bytes), packing)
	r.k.checkReceived(a, r.inst.rankOf(step.From), bytes, arrival)
}

// taken releases the content of a member's message, which the receiver has absorbed.
func (r *localRun) taken(m int32) {
	sent := &r.sent[m]
	if sent.kept {
		r.k.partition.Buffers.Release(r.payloads[m])
	}
	r.payloads[m], sent.kept = nil, false
	if from := &r.members[m]; from.memory != nil {
		from.memory.viewed = false
	}
}
