package coll

import (
	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The message interpreter: each participant of a collective has an agent, which
// goes through the rounds of the schedule on a clock of its own and sends and
// receives the messages. It works whether or not the rank itself waits, as a
// network interface that carries collectives out would; so blocking and
// nonblocking forms take the same time.
//
// A round's message is named by (communicator, instance, round): there is nothing
// to match, and messages of one collective cannot overtake each other in a way
// that matters. They stand apart from the order kept between point-to-point
// messages.

// agent carries one participant through one collective.
type agent struct {
	inst     *instance
	layout   *collectives.Layout
	lp       int32
	member   int32 // participant: a member, or the position of a node under node-leader
	round    int32
	next     int32 // of the LP's agents
	stage    stage
	sent     sentStage        // the message of this round
	ended    bool             // by an error; what is still on its way to it is lost
	fault    world.ErrorClass // of the calls of members, as far as the agent knows; see learn
	message  int32
	clock    vtime.Time
	posted   vtime.Time // when the round began
	matched  vtime.Time // when the sender of this round became free
	released vtime.Time // see processor
	port     network.Port
	working  []byte // content of the positions of the schedule; nil if only sizes are simulated
	base     int64  // offset in the layout at which working begins
	output   []byte
}

// stage is what an agent does next in its round.
type stage uint8

const (
	sending stage = iota
	receiving
	acknowledging
	posting   // has asked the processor to receive what was there before; see processor
	matched   // has received, but what it sends may not have left
	combining // has asked the processor to combine what was received
)

// sentStage is how far the message is that an agent sends in its round.
type sentStage uint8

const (
	gone    sentStage = iota // or there is none
	leaving                  // the processor has been asked to send it; see processor
	unacked                  // waits for its match
)

// startAgent begins a member's part by messages.
func (k *Collectives) startAgent(inst *instance, lp int32, member int32, v *Collective) {
	layout := inst.layout
	switch {
	case layout == nil:
		layout = v.layoutOf(int(member))
	case inst.odd[int(member)] != nil:
		layout = v.commonLayout(inst.schedule)
	}
	if v.Operation == collectives.Alltoallv && v.InCounts[member] > v.OutCounts[member] {
		inst.blame(int(member), world.Errorf(world.ErrTruncate, "the rank sends itself %d bytes where %d are expected",
			v.InCounts[member], v.OutCounts[member]))
	}
	a := k.newAgent(inst, lp, member, layout, inst.entryOf(k, lp, int(member)))
	if v.Data {
		k.agents.At(a).output = v.Output
		k.load(k.agents.At(a), v.Input)
	}
	k.queueAgent(a)
}

// startLeader begins the part of a node's leader among the leaders.
func (k *Collectives) startLeader(inst *instance, p int, lp int32, start vtime.Time) {
	a := k.newAgent(inst, lp, int32(p), inst.layout, start)
	if inst.join.sums != nil {
		k.agents.At(a).working, _ = inst.join.sums.take(p)
	}
	k.queueAgent(a)
}

func (k *Collectives) newAgent(inst *instance, lp, member int32, layout *collectives.Layout, start vtime.Time) int32 {
	q := k.openRoundQueue(lp)
	index := k.agents.Take()
	if index >= TaskItems {
		invariant.Broken("agent %d: its item of the ready queue would be that of an instance", index)
	}
	*k.agents.At(index) = agent{inst: inst, layout: layout, lp: lp, member: member, clock: start, next: q.agents, released: start}
	if a := k.agents.At(index); k.Processors != nil && a.single() {
		a.released = k.Processors[lp].Released
	}
	q.agents = index
	return index
}

// single reports whether an agent stands for one member: node-leader joins and releases
// nobody where a node has only one.
func (a *agent) single() bool {
	return !a.inst.leaders || a.inst.comm.nodes.size(int(a.member)) == 1
}

// signature is that of the agent's member.
func (a *agent) signature() signature {
	if a.inst.odd == nil {
		return a.inst.signature
	}
	return a.inst.signatureOf(int(a.member))
}

// load lays a member's input out in the working buffer.
func (k *Collectives) load(a *agent, input []byte) {
	s, w := a.inst.schedule, a.inst.schedule.Positions()
	extent := s.Extent(int(a.member))
	if extent.Run != 0 || extent.First+extent.Count > w {
		extent = collectives.Blocks{Count: w}
	}
	a.base = a.layout.Offset(extent.First)
	a.working = k.Buffers.Take(int(a.layout.Offset(extent.First+extent.Count) - a.base))
	if a.inst.layout == nil { // messages may be shorter than the room for them
		a.results(func(out, working []byte) { copy(working, out) })
	}
	for p := extent.First; p < extent.First+extent.Count; p++ {
		if b := s.Source(int(a.member), p); b != collectives.None {
			at := a.layout.Offset(b)
			copy(a.at(p, 1), input[at:at+a.layout.Offset(p+1)-a.layout.Offset(p)])
		}
	}
}

// at returns the memory of n positions.
func (a *agent) at(position, n int) []byte {
	return a.working[a.layout.Offset(position)-a.base : a.layout.Offset(position+n)-a.base]
}

// store writes a member's result to its output, if it wants it for itself.
func (a *agent) store() {
	if a.output == nil {
		return
	}
	a.results(func(out, working []byte) { copy(out, working) })
}

// results visits the blocks of a member's result: where each lies in the output,
// with all that comes after it, and in the working buffer.
func (a *agent) results(visit func(out, working []byte)) {
	s, n := a.inst.schedule, a.inst.resultBlocks(int(a.member))
	out := a.inst.resultBase()
	for b := range n {
		p := s.Result(int(a.member), b)
		if p == collectives.None {
			continue
		}
		at := int64(0)
		if n > 1 {
			at = a.layout.Offset(out+b) - a.layout.Offset(out)
		}
		visit(a.output[at:], a.at(p, 1))
	}
}

// flow returns the state of the network interface that an agent uses: one of its own,
// since collectives stand apart from other messages.
func (k *Collectives) flow(a *agent) *network.Port {
	if !k.HasPorts {
		return nil
	}
	return &a.port
}

// rankOf returns the rank in WORLD of a participant.
func (inst *instance) rankOf(participant int) int {
	if inst.leaders {
		participant = inst.comm.nodes.leader(participant)
	}
	return inst.comm.RankOf(participant, 0)
}

// RunAgent takes an agent as far as it gets.
func (k *Collectives) RunAgent(index int32) {
	if k.Processors != nil {
		k.goOnAgent(index)
		return
	}
	a := k.agents.At(index)
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
			a.posted = a.clock
			if step.To != collectives.None {
				k.sendRound(index, a, &step)
			}
			a.stage = receiving
		}
		if a.stage == receiving {
			if step.From != collectives.None && !k.receiveRound(index, a, &step) {
				return
			}
			a.stage = acknowledging
		}
		if a.sent == unacked {
			return
		}
		a.clock = max(a.clock, a.matched)
		a.stage, a.matched = sending, 0
		a.round++
	}
}

// nextStep takes an agent to the first round from its own on in which it does something,
// and returns what. It reports false if there is none.
func (a *agent) nextStep() (step collectives.Step, more bool) {
	s, member := a.inst.schedule, int(a.member)
	round := s.Next(member, int(a.round))
	if round >= s.Rounds(member) {
		return step, false
	}
	a.round = int32(round)
	return s.Step(member, round), true
}

// sendRound sends the message of a round.
func (k *Collectives) sendRound(index int32, a *agent, step *collectives.Step) {
	m, dst := k.roundMessage(index, a, step)
	a.clock, m.arrival = k.departRound(a, int(m.rank), dst, m.bytes)
	k.checkSent(a, dst, m.bytes, a.posted, m.arrival)
	k.Engine.Statistics.Messages++
	k.dispatchRound(&m, dst, a.posted, k.gather(a, step.Send, a.inst.schedule.Positions()))
}

// roundMessage returns the message that an agent sends in its round, without its times,
// and the rank that it goes to.
func (k *Collectives) roundMessage(index int32, a *agent, step *collectives.Step) (m roundMessage, dst int) {
	m = roundMessage{
		bytes: a.layout.Bytes(step.Send, a.inst.schedule.Positions()), signature: a.signature(), comm: a.inst.comm.Index,
		number: a.inst.Number, round: a.round, rank: k.Global(a.lp), engine: int32(k.Engine.Index()), fault: a.fault,
	}
	if m.bytes > k.EagerLimit {
		m.agent = index
		a.sent = unacked
	}
	return m, a.inst.rankOf(step.To)
}

// departRound charges an agent for sending the message of a round and returns when it
// is free and when the message, or the request for it, arrives.
func (k *Collectives) departRound(a *agent, src, dst int, bytes int64) (free, arrival vtime.Time) {
	if bytes > k.EagerLimit {
		bytes = 0
	}
	free, leaves := k.Target.Send(k.flow(a), bytes, a.posted)
	return free, leaves.Add(k.Target.Delay(src, dst, bytes))
}

// checkSent notes it if a participant's message, which begins to leave it at an instant,
// would not be gone, or not arrive, before the end of virtual time.
func (k *Collectives) checkSent(a *agent, dst int, bytes int64, begun, arrival vtime.Time) {
	if max(a.clock, arrival) == vtime.Forever {
		k.pastSend(a.inst, int(k.Global(a.lp)), dst, bytes, begun)
	}
}

// checkReceived notes it if a participant would not be done with a message before the end
// of virtual time.
func (k *Collectives) checkReceived(a *agent, src int, bytes int64, arrival vtime.Time) {
	if a.clock == vtime.Forever {
		k.pastReceive(a.inst, src, int(k.Global(a.lp)), bytes, max(a.posted, arrival))
	}
}

// gather returns the content of the positions, valid until the next call.
func (k *Collectives) gather(a *agent, b collectives.Blocks, w int) []byte {
	if a.working == nil || b.Count == 0 {
		return nil
	}
	first, n, rest := b.Next(w)
	if rest.Count == 0 {
		return a.at(first, n)
	}
	k.scratch = append(k.scratch[:0], a.at(first, n)...)
	for rest.Count > 0 {
		first, n, rest = rest.Next(w)
		k.scratch = append(k.scratch, a.at(first, n)...)
	}
	return k.scratch
}

// receiveRound takes in the message of a round, if it is there. If it comes from
// another call, that is the end of the agent.
func (k *Collectives) receiveRound(index int32, a *agent, step *collectives.Step) bool {
	if a.message == 0 {
		a.message = k.takeEarly(a)
		if a.message == 0 {
			return false
		}
	}
	m := k.rounds.At(a.message)
	arrival := k.matchRoundMessage(m, a, a.posted)
	a.clock = k.Target.Receive(k.flow(a), m.bytes, a.posted, a.clock, arrival)
	src, bytes := int(m.rank), m.bytes
	if !k.acceptRound(a, step) {
		return false
	}
	a.clock = a.clock.Add(k.Target.ReduceTime(combinedBytes(step, bytes)))
	k.checkReceived(a, src, bytes, arrival)
	return true
}

// acceptRound takes in what the message of a round carries. It reports false if that is
// the end of the agent, since it comes from another call.
func (k *Collectives) acceptRound(a *agent, step *collectives.Step) bool {
	m := k.rounds.At(a.message)
	own, theirs := a.signature(), m.signature
	if own != theirs && own.whole() {
		k.contradiction(a.inst)
		return false
	}
	if own != theirs || m.fault != 0 {
		k.learn(a, own, m)
	}
	if expected := a.layout.Bytes(step.Receive, a.inst.schedule.Positions()); m.bytes > expected {
		a.inst.blame(int(a.member), world.Errorf(world.ErrTruncate, "rank %d sends %d bytes where %d are expected", m.rank, m.bytes, expected))
	}
	if a.working != nil && a.fault == 0 {
		a.absorb(step, m.payload)
	}
	k.disposeRound(a.message)
	a.message = 0
	return true
}

// combinedBytes is how many bytes of a received message go through the operator.
func combinedBytes(step *collectives.Step, bytes int64) int64 {
	n := int64(0)
	if step.Combine != collectives.Store {
		n += bytes
	}
	if step.Also.Count > 0 && step.AlsoCombine != collectives.Store {
		n += bytes
	}
	return n
}

// absorb puts received content where the step says.
func (a *agent) absorb(step *collectives.Step, payload []byte) {
	a.combine(step.Receive, step.Combine, payload)
	if step.Also.Count > 0 {
		a.combine(step.Also, step.AlsoCombine, payload)
	}
}

func (a *agent) combine(b collectives.Blocks, how collectives.Combine, payload []byte) {
	w := a.inst.schedule.Positions()
	for b.Count > 0 {
		var first, n int
		first, n, b = b.Next(w)
		mine := a.at(first, n)
		theirs := payload[:min(len(mine), len(payload))]
		payload = payload[len(theirs):]
		switch how {
		case collectives.Store:
			copy(mine, theirs)
		case collectives.TheirsFirst:
			a.inst.callOf(int(a.member)).Operator.Apply(mine, theirs, mine)
		case collectives.MineFirst:
			a.inst.callOf(int(a.member)).Operator.Apply(mine, mine, theirs)
		}
	}
}

// AgentAcknowledged tells an agent that the message of its round was matched.
func (k *Collectives) AgentAcknowledged(index int32, t vtime.Time) {
	a := k.agents.At(index)
	if a.ended {
		return
	}
	a.matched, a.sent = t, gone
	if a.stage == acknowledging {
		k.continueAgent(index)
	}
}

// continueAgent has an agent go on: at once if that is in the order of virtual time.
func (k *Collectives) continueAgent(index int32) {
	if k.Processors != nil {
		k.goOnAgent(index)
	} else {
		k.queueAgent(index)
	}
}

// endAgent ends a participant's part.
func (k *Collectives) endAgent(index int32) {
	a := k.unlinkAgent(index)
	k.agents.Release(index)
	inst, lp, member, t, working := a.inst, a.lp, int(a.member), a.clock, a.working
	if working != nil && !inst.leaders && a.fault == 0 {
		a.store()
	}
	if inst.comm.Locals < inst.comm.Size {
		k.checkLeftOver(inst, lp)
	}
	if working != nil && inst.result == nil && inst.Call.Operation == collectives.Allreduce {
		inst.result = append([]byte(nil), working...)
	}
	switch {
	case k.Processors == nil && !inst.leaders:
		k.exit(inst, lp, member, t)
	case k.Processors == nil || !a.single():
		k.release(inst, member, t)
	case inst.leaders:
		k.exitFrom(inst, lp, inst.comm.nodes.leader(member), t, a.released)
	default:
		k.exitFrom(inst, lp, member, t, a.released)
	}
	k.Buffers.Release(working)
	k.flushRange(inst)
}

// unlinkAgent takes an agent off its LP and returns what it is.
func (k *Collectives) unlinkAgent(index int32) agent {
	a := *k.agents.At(index)
	link := &k.roundQueue(a.lp).agents
	for *link != index {
		link = &k.agents.At(*link).next
	}
	*link = a.next
	return a
}
