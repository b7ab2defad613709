package coll

import (
	"unsafe"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/internal/random"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The message interpreter: each participant of a collective has an agent, which
// goes through the rounds of the schedule on a clock of its own and sends and
// receives the messages. It works whether or not the rank itself waits, as a
// network interface that carries collectives out would; so blocking and
// nonblocking forms take the same time, but for the Wait under state at the receiver, and
// on machines with progress in calls; see paced.go.
//
// The message of a round has the name (communicator, instance, round). So it needs no matching, and
// messages of one collective cannot overtake each other in a way that matters. They do not take
// part in the send order of point-to-point messages.

// agent carries one participant through one collective.
type agent struct {
	inst     *instance
	layout   *collectives.Layout
	lp       int32
	member   int32 // number of the participant: a member, or the position of a node under node-leader
	round    int32
	rounds   int32 // number of rounds of the participant
	next     int32 // next agent of the same LP
	until    int32 // the round behind the present window
	unacked  int32 // number of messages of the window above the eager limit that are not matched
	stage    stage
	sent     sentStage // state of this round's message
	fate     fate
	fault    world.ErrorClass // of members' calls, as far as this agent knows; see learn
	paced    bool             // it goes on only while its rank is in calls; see pace
	message  int32
	clock    vtime.Time
	posted   vtime.Time // when the receives of the window were posted
	matched  vtime.Time // when all matched messages of the window had left
	released vtime.Time // see room resource
	memory   *memory    // nil if only sizes are simulated
	window   *window    // of several rounds; nil where the order of receives takes no time
}

// fate is the outcome of an agent so far.
type fate uint8

const (
	alone  fate = iota // the agent has received no message
	served             // the agent has received a message
	ended              // ended by an error; messages on their way to the agent are lost
)

// stage is the next action of an agent in its round.
type stage uint8

const (
	sending stage = iota
	receiving
	acknowledging // the message is received; at the end of a window, the agent's own messages may not have left
	posting       // the processor has yet to receive a message that came early; see room resource
	matched       // the message is received, but the agent's own may not have left
	combining     // the processor, or the memory of the node, has yet to combine the received content
)

// sentStage is the progress of the message that an agent sends in its round.
type sentStage uint8

const (
	unsent  sentStage = iota // the agent has sent no message
	gone                     // the message has left, or the round has none
	held                     // the message waits for room; see holdBack
	leaving                  // the processor has yet to send the message; see room resource
)

// startAgent starts a member's part by messages.
func (c *Collectives) startAgent(inst *instance, lp int32, member int32, v *Collective) {
	layout := inst.layout
	switch {
	case layout == nil:
		layout = v.layoutOf(int(member))
	case inst.odd[int(member)] != nil:
		layout = v.CommonLayout(inst.schedule)
	}
	if v.Operation == collectives.Alltoallv && v.InCounts[member] > v.OutCounts[member] {
		inst.blame(int(member), selfTruncated(v.InCounts[member], v.OutCounts[member]))
	}
	a := c.newAgent(inst, lp, member, layout, inst.entryOf(c, lp, int(member)))
	if c.explains {
		c.beginAccount(a, c.restOf(inst, lp, int(member), inst.entryOf(c, lp, int(member))), 0)
	}
	c.paceAgent(a, int(member))
	if v.Moved() {
		c.lay(c.agents.At(a), c.memories.Open(a), v, v.Input, v.Output)
	}
	c.queueAgent(a)
}

// startLeader begins the part of a node's leader among the leaders.
// The vectors of the other members have come at an instant, and take some work.
func (c *Collectives) startLeader(inst *instance, p int, lp int32, come vtime.Time, work vtime.Duration) {
	a := c.newAgent(inst, lp, int32(p), inst.layout, come.Add(work))
	if c.explains {
		c.beginAccount(a, inst.join.rests[p-inst.comm.nodes.here], work)
	}
	if inst.join.sums != nil {
		m := c.memories.Open(a)
		m.own, _ = inst.join.sums.take(p)
		m.buffered = true
		c.agents.At(a).memory = m
	}
	if c.paceAgent(a, inst.comm.nodes.leader(p)); c.joinInCall(a, come, work) {
		c.queueAgent(a)
	}
}

func (c *Collectives) newAgent(inst *instance, lp, member int32, layout *collectives.Layout, start vtime.Time) int32 {
	q := c.openRoundQueue(lp)
	index := c.agents.Take()
	if index >= TaskItems {
		invariant.Broken("agent %d: its item of the ready queue would be that of an instance", index)
	}
	a := c.agents.At(index)
	*a = agent{inst: inst, layout: layout, lp: lp, member: member, rounds: int32(inst.schedule.Rounds(int(member))), clock: start, next: q.agents, released: start}
	if c.Messages.Processors != nil && a.single() {
		a.released = c.Messages.Processors.Of(lp).Released
	}
	if c.partition.HasPorts {
		*c.ports.Open(index) = network.Port{}
	}
	q.agents = index
	return index
}

// single reports whether an agent acts for a single member, as under node-leader on a node with one
// member. Such a node has neither joins nor releases.
func (a *agent) single() bool {
	return !a.inst.leaders || a.inst.comm.nodes.size(int(a.member)) == 1
}

// signature returns the signature of the call of the agent's member.
func (a *agent) signature() signature {
	if a.inst.odd == nil {
		return a.inst.signature
	}
	return a.inst.signatureOf(int(a.member))
}

// port returns the network interface of an agent, nil if no message depends on it. Each agent has its own
// interface, since messages of collectives are independent of other messages.
func (c *Collectives) port(index int32) *network.Port {
	if !c.partition.HasPorts {
		return nil
	}
	return c.ports.Open(index)
}

// rankOf returns the rank in WORLD of a participant.
func (inst *instance) rankOf(participant int) int {
	if inst.leaders {
		participant = inst.comm.nodes.leader(participant)
	}
	return inst.comm.RankOf(participant, 0)
}

// RunAgent carries an agent on until it must wait.
func (c *Collectives) RunAgent(index int32) {
	if c.Messages.Processors != nil {
		c.goOnAgent(index)
		return
	}
	a := c.agents.At(index)
	if a.fate == ended || a.stage == combining {
		return
	}
	step := &c.step // no other agent goes on before this agent stops
	for {
		if a.stage != acknowledging { // else the round's message has been received
			rounds := c.nextStep(a)
			if rounds == 0 {
				c.endAgent(index)
				return
			}
			if rounds == 1 && step.From == collectives.None && a.memory != nil {
				c.partition.Engine.Prefetch(a.lp)
			}
		}
		if a.stage == sending {
			c.openWindow(index, a, step)
			if step.To != collectives.None {
				if c.mayHoldBack(a) && c.holdBack(index, a, step) {
					c.dropKept(a.memory)
					return
				}
				c.sendRound(index, a, step)
			}
			a.stage = receiving
		}
		if a.stage == receiving {
			if step.From != collectives.None && !c.receiveRound(index, a, step) {
				c.dropKept(a.memory)
				return
			}
			a.stage = acknowledging
		}
		if c.endsWindow(a) {
			if a.window != nil && !c.chargeWindow(index, a) || a.unacked > 0 {
				c.dropKept(a.memory)
				return
			}
			c.closesWindow(index, a.clock)
			a.clock, a.matched = max(a.clock, a.matched), 0
		}
		a.stage = sending
		a.round++
	}
}

// nextStep advances an agent to its next round with a step, which may be the present round, and
// stores the step in c.step. It returns the number of rounds left from this round on, 0 if the
// agent has finished.
func (c *Collectives) nextStep(a *agent) (rounds int) {
	if a.round >= a.rounds {
		return 0
	}
	round := a.inst.schedule.Next(int(a.member), int(a.round))
	if a.inst.sparse {
		round = c.nextBlock(a, round)
	}
	if rounds = int(a.rounds) - round; rounds <= 0 {
		return 0
	}
	a.round = int32(round)
	a.inst.steps.StepInto(&c.step, int(a.member), round)
	return rounds
}

// farAhead is the number of instances of a communicator that some local member has not left, from
// which on agents let slower members go first.
const farAhead = 256

// A root that sends to all members itself has begun the next instance before most members have
// begun this one. Its early messages take memory, one for each member in each instance. So a root
// that is several instances ahead yields to slower ranks of its engine: past a number of bytes on
// its engine, or two instances if members are many.
const (
	earlyFromRoot  = 6 << 20
	leastRootAhead = 1
)

// RootAhead returns the number of instances that a root may have begun, of a collective with a
// number of members on its engine.
func (v *Collective) RootAhead(members int) int {
	each := int64(unsafe.Sizeof(roundMessage{}))
	if v.Moved() && v.Operation == collectives.Scatter {
		each += v.Bytes
	}
	return int(min(max(earlyFromRoot/(each*int64(max(members, 1))), leastRootAhead), farAhead))
}

// FromRoot reports whether one member sends to each other member, without answers.
func (v *Collective) FromRoot() bool {
	return v.Algorithm == collectives.Linear && (v.Operation == collectives.Bcast || v.Operation == collectives.Scatter) ||
		v.Algorithm == collectives.LinearNonblocking
}

// isFarAhead reports whether an agent that is about to send must let slower members go first. A
// root is asked before its first message.
func (a *agent) isFarAhead() bool {
	c, q := a.inst.comm, &a.inst.Call
	n := len(c.Live)
	return n > leastRootAhead && (n > farAhead || a.sent == unsent && q.FromRoot() && n > q.RootAhead(c.Locals))
}

// mayHoldBack reports whether holdBack may hold an agent back. It is quick.
func (c *Collectives) mayHoldBack(a *agent) bool {
	return !c.Messages.SharesLinks() && (c.partition.Engine.AnyCongested() || a.isFarAhead())
}

// holdBack delays an agent that is about to send, once for each message, and reports whether it
// does. It does if the buffers of the receiver's engine or of this engine are full, or if other
// members are far behind, perhaps because they wait for room themselves. So a rank that needs no
// answers cannot fill the memory of other hosts. The engine carries the agent on when there is room
// or nothing else is left to do: no agent is stopped for good.
func (c *Collectives) holdBack(index int32, a *agent, step *collectives.Step) bool {
	if a.sent == held {
		return false
	}
	engine := c.partition.Engine.Partition().Owner(a.inst.rankOf(step.To))
	switch {
	case c.partition.Engine.Congested(engine):
		c.fullest = engine
	case a.isFarAhead():
		engine = c.fullest
	default:
		return false
	}
	a.sent = held
	c.partition.Engine.Throttle(^index, a.clock, engine)
	return true
}

// sendRound sends the message of a round.
func (c *Collectives) sendRound(index int32, a *agent, step *collectives.Step) {
	a.sent = gone
	m, dst := c.roundMessage(index, a, step)
	begun := a.clock
	a.clock, m.arrival = c.departRound(a, c.port(index), m.round, int(m.rank), dst, m.bytes)
	if c.explains {
		c.worked(index, c.sendingPhase(m.bytes), a.clock.Sub(begun))
		c.carrying = carried{rest: c.sentRest(index)}
	}
	c.checkSent(a, dst, m.bytes, begun, m.arrival)
	c.partition.Engine.Statistics.Messages++
	content, at := c.gather(a, step.Send, a.inst.width)
	if c.shares(m.ways&apart != 0, int(m.rank), dst) {
		c.sendRoundAcross(a, &m, content, at)
		return
	}
	c.dispatchRound(a, &m, dst, begun, content, at)
}

// roundMessage returns the message that an agent sends in its round, without times, and the rank of
// its receiver.
func (c *Collectives) roundMessage(index int32, a *agent, step *collectives.Step) (m roundMessage, dst int) {
	m = roundMessage{
		bytes: a.layout.Bytes(step.Send, a.inst.width), signature: a.signature(), comm: a.inst.comm.Index,
		number: a.inst.Number, round: a.round + int32(step.Later), rank: c.partition.Global(a.lp), engine: int32(c.partition.Engine.Index()), fault: a.fault,
	}
	if a.inst.apart {
		m.ways = apart
	}
	if m.bytes > c.partition.EagerLimit {
		m.agent = index
		a.unacked++
	}
	return m, a.inst.rankOf(step.To)
}

// departRound charges an agent for sending the message of a round. It returns the instant at which
// the agent is free and the arrival of the message or of its REQ. For a message through interfaces,
// which decide the arrival, it stores the passage. round is that in which the message is received.
func (c *Collectives) departRound(a *agent, port *network.Port, round int32, src, dst int, bytes int64) (free, arrival vtime.Time) {
	large, ends := bytes > c.partition.EagerLimit, c.endsOf(a.inst, bytes)
	if large {
		bytes = 0
	}
	free, leaves := ends.Send(port, bytes, c.partition.Target.Free(src, a.clock))
	arrival = leaves.Add(c.congested(a.inst, round).Delay(src, dst, bytes))
	jitter := vtime.Duration(0)
	if c.partition.Target.HasJitter() {
		jitter = c.partition.Target.Jitter(src, dst, c.nameOfRound(a, dst))
		arrival = arrival.Add(jitter)
	}
	if c.partition.Activities != nil {
		c.Messages.Departed(src, dst, bytes, large, c.shares(a.inst.apart, src, dst), leaves, arrival)
	}
	if c.shares(a.inst.apart, src, dst) {
		c.way = c.passageOf(a.inst, round, src, dst, bytes, leaves, jitter)
	}
	return free, arrival
}

// freeFrom returns the instant from which on the rank of an agent goes on after a receive: see [network.Target.Free].
func (c *Collectives) freeFrom(a *agent, t vtime.Time) vtime.Time {
	return c.partition.Target.Free(int(c.partition.Global(a.lp)), t)
}

// endsOf returns the target as the processors at both ends of a message of an instance find it.
func (c *Collectives) endsOf(inst *instance, bytes int64) *network.Target {
	return inst.target.Among(inst.partners, inst.inTurn, bytes)
}

// congested returns the target as the messages of an instance find it that are received in a round.
func (c *Collectives) congested(inst *instance, round int32) *network.Target {
	if t := inst.target; t.Congested() == t {
		return t
	}
	return c.congestedIn(inst, round)
}

// congestedIn is congested on a machine with congestion.
func (c *Collectives) congestedIn(inst *instance, round int32) *network.Target {
	p := inst.schedule.Pattern(int(round))
	return maxplus.Congested(inst.target, &p)
}

// passageOf returns the passage of a message of an instance, see [p2p.Messages.PassageOf].
func (c *Collectives) passageOf(inst *instance, round int32, src, dst int, bytes int64, leaves vtime.Time, jitter vtime.Duration) resource.Passage {
	p := c.Messages.PassageOf(src, dst, bytes, leaves, jitter)
	if t := c.congested(inst, round); t != c.partition.Target {
		p.Latency, p.Transfer = t.LatencyAndTransfer(src, dst, bytes)
	}
	if bytes > 0 && inst.repeats {
		p.Path = c.partition.Target.Occupancy(src, dst, bytes, p.Transfer)
	}
	if inst.byDistance {
		p.Held = c.partition.Target.HeldByLinks(src, dst, bytes)
	}
	return p
}

// nameOfRound returns the number by which an agent names the message of its round to a rank. It has
// the highest bit, which numbers of point-to-point messages do not have.
func (c *Collectives) nameOfRound(a *agent, dst int) uint64 {
	return 1<<63 | random.Uint64(a.inst.comm.Context, uint64(a.inst.Number), uint64(a.round)<<32|uint64(dst))
}

// checkSent fails the run if a participant's message, which begins to leave at begun, would
// leave or arrive after the end of virtual time.
func (c *Collectives) checkSent(a *agent, dst int, bytes int64, begun, arrival vtime.Time) {
	if max(a.clock, arrival) == vtime.Forever {
		c.pastSend(a.inst, int(c.partition.Global(a.lp)), dst, bytes, begun)
	}
}

// checkReceived fails the run if a participant would receive a message after the end of
// virtual time.
func (c *Collectives) checkReceived(a *agent, src int, bytes int64, arrival vtime.Time) {
	if a.clock == vtime.Forever {
		c.pastReceive(a.inst, src, int(c.partition.Global(a.lp)), bytes, max(a.posted, arrival))
	}
}

// gather returns the content of the positions, valid until the next call or until the agent changes
// its memory, and the offset in the layout at which the content begins; a negative offset if the
// content is not one piece of that memory.
func (c *Collectives) gather(a *agent, b collectives.Blocks, w int) (content []byte, at int64) {
	if a.memory == nil || b.Count == 0 {
		return nil, -1
	}
	first, n, rest := b.Next(w)
	if rest.Count == 0 {
		return a.at(first, n), a.layout.Offset(first)
	}
	c.scratch = append(c.scratch[:0], a.at(first, n)...)
	for rest.Count > 0 {
		first, n, rest = rest.Next(w)
		c.scratch = append(c.scratch, a.at(first, n)...)
	}
	return c.scratch, -1
}

// receiveRound receives the message of a round, if it has arrived. It reports whether the agent
// goes on: a message of another call ends the agent.
func (c *Collectives) receiveRound(index int32, a *agent, step *collectives.Step) bool {
	if a.message == 0 {
		a.message = c.takeEarly(a)
		if a.message == 0 {
			return false
		}
	}
	m := c.rounds.At(a.message)
	if a.paced && !c.takesInCall(index, a, a.message) {
		return false
	}
	if m.agent != 0 && (a.paced || c.shares(m.ways&apart != 0, int(m.rank), int(c.partition.Global(a.lp)))) {
		c.reply(index, a, a.message)
		return false
	}
	if c.explains {
		c.carrying = *c.carries.Open(a.message)
	}
	arrival := c.chargeReceive(index, a, m)
	src, bytes := int(m.rank), m.bytes
	if !c.acceptRound(a, step) {
		return false
	}
	return c.chargeCombine(index, a, step, src, bytes, arrival)
}

// chargeReceive charges an agent for receiving the message of its round and returns the arrival of
// the content.
func (c *Collectives) chargeReceive(index int32, a *agent, m *roundMessage) (arrival vtime.Time) {
	if c.explains {
		return c.chargeExplained(index, a, m)
	}
	return c.chargeFor(index, a, m)
}

// chargeFor is chargeReceive without statistics.
func (c *Collectives) chargeFor(index int32, a *agent, m *roundMessage) (arrival vtime.Time) {
	if arrival = m.arrival; m.agent != 0 {
		arrival = c.matchRoundMessage(m, index, a, a.posted)
	}
	if a.window != nil {
		a.window.landings = append(a.window.landings, landing{arrival, m.bytes, m.rank, int32(len(a.window.landings))})
		return arrival
	}
	a.clock = c.freeFrom(a, c.endsOf(a.inst, m.bytes).Receive(c.port(index), m.bytes, a.posted, a.clock, arrival))
	return arrival
}

// chargeCombine charges an agent for combining the content that it has received, and reports whether
// the agent goes on.
func (c *Collectives) chargeCombine(index int32, a *agent, step *collectives.Step, src int, bytes int64, arrival vtime.Time) (goesOn bool) {
	a.fate = served
	if c.partition.Activities != nil {
		c.Messages.Received(bytes)
	}
	goesOn = true
	if combined := CombinedBytes(step, bytes); combined > 0 || a.inst.packs {
		goesOn = c.chargeWork(index, a, combined, src, bytes, arrival)
	}
	c.checkReceived(a, src, bytes, arrival)
	return goesOn
}

// chargeWork charges an agent for combining and packing bytes, at the end of a window of several rounds. It reports whether
// the agent goes on.
func (c *Collectives) chargeWork(index int32, a *agent, combined int64, src int, bytes int64, arrival vtime.Time) (goesOn bool) {
	alone, memory := c.workOf(a, combined)
	if w := a.window; w != nil {
		w.alone, w.memory = w.alone.Plus(alone), w.memory.Plus(memory)
		return true
	}
	c.checkReceived(a, src, bytes, arrival) // no passage begins at the end of virtual time
	return c.charge(index, a, alone, memory)
}

// acceptRound absorbs the content of a round's message. It reports whether the agent goes on: a
// message of another call ends the agent.
func (c *Collectives) acceptRound(a *agent, step *collectives.Step) bool {
	m := c.rounds.At(a.message)
	own, theirs := a.signature(), m.signature
	if own != theirs && own.synchronizing() {
		c.contradiction(a.inst)
		return false
	}
	if own != theirs || m.fault != 0 {
		c.learn(a, own, m)
	}
	c.takeIn(a, step, m)
	c.disposeRound(a.message)
	a.message = 0
	return true
}

// AgentAcknowledged handles the match of an agent's message at t.
func (c *Collectives) AgentAcknowledged(index int32, t vtime.Time) {
	a := c.agents.At(index)
	if a.fate == ended || a.paced && !c.freeInCall(index, a, &t) {
		return
	}
	c.hasLeft(index, a, t)
}

// hasLeft has an agent go on whose message has left at an instant.
func (c *Collectives) hasLeft(index int32, a *agent, t vtime.Time) {
	a.matched = max(a.matched, t)
	if a.unacked--; a.unacked == 0 && a.stage == acknowledging && c.endsWindow(a) {
		c.continueAgent(index)
	}
}

// continueAgent carries an agent on: at once if that keeps the order of virtual time.
func (c *Collectives) continueAgent(index int32) {
	if c.Messages.Processors != nil {
		c.goOnAgent(index)
	} else {
		c.queueAgent(index)
	}
}

// endAgent ends a participant's part.
func (c *Collectives) endAgent(index int32) {
	a := c.unlinkAgent(index)
	inst, lp, member, t := a.inst, a.lp, int(a.member), a.clock
	brought := a.memory != nil && a.fate == served && c.Messages.Processors == nil
	if a.memory != nil && !inst.leaders && a.fault == 0 {
		a.store()
	}
	if inst.comm.Locals < inst.comm.Size || inst.sparse {
		c.checkLeftOver(inst, lp)
	}
	if a.memory != nil {
		c.finish(a)
	}
	if c.explains {
		c.explain(inst, lp, member, index)
	}
	switch {
	case c.Messages.Processors == nil && !inst.leaders:
		c.exit(inst, lp, member, t)
	case c.Messages.Processors == nil || !a.single():
		c.release(inst, member, t)
	case inst.leaders:
		c.exitFrom(inst, lp, inst.comm.nodes.leader(member), t, a.released)
	default:
		c.exitFrom(inst, lp, member, t, a.released)
	}
	c.agents.Release(index)
	if brought {
		c.goOnWithContent(inst)
	} else {
		c.flushRange(inst)
	}
}

// goOnWithContent resumes the LPs that have left, as flushRange does. A single LP goes on before
// all ready items: its received content is in the cache. It has waited for a message, so it does
// not get ahead of other LPs that way.
func (c *Collectives) goOnWithContent(inst *instance) {
	if r := inst.resuming; r.hi == r.lo+1 {
		inst.resuming = lpRange{}
		c.partition.Engine.ReadyFirst(r.lo)
		return
	}
	c.flushRange(inst)
}

// unlinkAgent removes an agent from its LP.
func (c *Collectives) unlinkAgent(index int32) *agent {
	a := c.agents.At(index)
	link := &c.roundQueue(a.lp).agents
	for *link != index {
		link = &c.agents.At(*link).next
	}
	*link = a.next
	return a
}
