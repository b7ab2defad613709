package coll

import (
	"math"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The interpreter in step: a collective of all ranks on one engine, under state at the receiver. While all ranks are in the
// collective and nothing else is under way, processors have the messages of its rounds alone. Where the message of a round
// reaches each processor after the processor has done all of the rounds before, a round is arithmetic over an array of
// processors. Any other order at a processor is that of messages: the instance goes by messages from the start, before any
// processor has changed.
//
// A member that has entered asks its processor for nothing until all have entered. So the first message of the instance
// is late from a deadline on, the least entry plus the least latency. No processor has begun a use at the deadline or later, since a
// timed event just before turns an instance that lacks members into an instance by messages. So does anything that
// reaches the processor of a member that waits.

// inStepFits reports whether an instance can be carried out in step.
func (c *choice) inStepFits() bool {
	switch {
	case !c.alone || c.members != c.target.Ranks() || c.leaders || c.layout == nil || c.call.Moved() || c.call.Creation != nil:
		return false
	case !synchronizing(c.call.Operation):
		return false
	}
	for round := range min(c.schedule.MaxRounds(), LongRounds) {
		if p := c.schedule.Pattern(round); p.Sent != collectives.Varies && blockBytes(c.layout, c.schedule)*int64(p.Sent) > c.target.EagerLimit() {
			return false
		}
	}
	return true
}

// leadsAlone reports whether each leader of a node is alone on it and has the leader's number, so that the leaders' schedule is one
// of all ranks without joins.
func leadsAlone(t *network.Target, v *Collective) bool {
	return t.ReceiverState() && t.Nodes() == t.Ranks() && t.KeepsBlocks() && v.Algorithm == collectives.NodeLeader && !v.Moved()
}

// awaitsOthers has a member that enters an instance wait in step for the others. It returns false if the instance must go by
// messages.
func (c *Collectives) awaitsOthers(inst *instance, lp int32) bool {
	if inst.nonblocking != nil || c.hasAgents(lp) || !c.Messages.Processors.Hold(lp) {
		return false
	}
	if at := c.partition.Clock[lp].Add(c.leastLatency()); at < inst.deadline {
		inst.deadline = at
		rank := c.partition.Global(lp)
		c.partition.Engine.Schedule(engine.Event{Time: at - vtime.Time(vtime.Picosecond), Source: rank, LP: rank, Data: world.DataDeadline})
	}
	return true
}

// hasAgents reports whether an LP takes part in a nonblocking collective by messages. Its agent may still have to begin, and asks the
// processor for its sends before a collective that the LP enters later.
func (c *Collectives) hasAgents(lp int32) bool {
	q := c.roundQueue(lp)
	return q != nil && q.agents != 0
}

// leastLatency returns the least time of a message between two ranks.
func (c *Collectives) leastLatency() vtime.Duration {
	n := c.partition.Target.Ranks()
	return c.partition.Target.Lookahead(0, n, 0, n)
}

// PastDeadline has the instances in step that lack members and whose deadline follows an instant go by messages.
func (c *Collectives) PastDeadline(now vtime.Time) {
	for _, inst := range c.incomplete {
		if inst.mode == InStep && inst.lacksMembers() && inst.deadline <= now.Add(vtime.Picosecond) {
			c.demote(inst)
		}
	}
}

// outOfStep has all instances in step that lack members go by messages.
func (c *Collectives) outOfStep() {
	for _, inst := range c.incomplete {
		if inst.mode == InStep && inst.lacksMembers() {
			c.demote(inst)
		}
	}
}

// processorRun is the state of an instance in step. All instances share one, as they do a localRun.
type processorRun struct {
	k         *Collectives
	inst      *instance
	places    []place
	sent      []vtime.Time // by participant: start of its latest send
	first     []int32      // participants whose processor takes in the message of the round before it sends
	takesIn   []bool       // by participant: whether it is in first; nil before the first such participant
	messages  uint64
	least     vtime.Duration // of a message
	alike     vtime.Duration // latency of every message; 0 if they differ
	regular   bool           // positions have one size
	shape     roundShape     // of the present round
	packing   vtime.Duration // of the present round
	earliest  vtime.Time     // of the round's sends, as far as they precede receives
	latest    vtime.Time     // likewise
	same      bool           // the places of all are the same: there is one
	neighbour collectives.Step
}

// place is a participant and its processor.
type place struct {
	clock, released vtime.Time // as those of an agent
	network.Occupancy
	since  vtime.Time // messages that reach the processor by then would meet uses of earlier rounds
	taken  vtime.Time // start of taking in the latest message
	source int32      // of a message that has arrived at since, if nothing else is done then: messages of later sources come behind it
}

// roundShape is the shape of a round. Only a shift and an exchange have sizes and a distance.
type roundShape struct {
	kind     collectives.Kind // Shift or Exchange, or Irregular for all others
	distance int
	bytes    int64
	work     vtime.Duration
}

// duty is the part of a participant in a round: its messages and its work.
type duty struct {
	to, from       int // participants or None
	sends, takesIn int64
	work           vtime.Duration // behind the receive
}

// runInStep carries out an instance that all members have entered.
func (c *Collectives) runInStep(inst *instance) {
	r := &c.processorRun
	r.begin(c, inst)
	for round := range inst.schedule.MaxRounds() {
		if !r.round(round) {
			c.demote(inst)
			return
		}
	}
	if !r.endsInStep() {
		c.demote(inst)
		return
	}
	r.end()
}

// begin takes the entries of the members and the state of their processors.
func (r *processorRun) begin(c *Collectives, inst *instance) {
	n := inst.comm.Size
	r.k, r.inst, r.places, r.sent = c, inst, room(r.places, n), room(r.sent, n)
	r.least = c.leastLatency()
	r.alike, r.messages = 0, 0
	if src, dst, alike := c.partition.Target.AlikeRanks(); alike {
		r.alike = c.partition.Target.Latency(src, dst)
	}
	choice := c.choiceFor(inst)
	r.regular = choice.evenChunks()
	for m := range r.places {
		lp, _ := c.partition.Local(inst.comm.RankOf(m, 0))
		p := c.Messages.Processors.Of(lp)
		done := p.Done()
		r.places[m] = place{clock: c.partition.Clock[lp], released: p.Released, Occupancy: done.State, taken: done.Taken}
		r.sent[m] = done.Sent
	}
	if r.same = r.alikeAll(); r.same {
		r.places, r.sent = r.places[:1], r.sent[:1]
	}
}

// dutyOf returns the duty of a participant in the present round.
func (r *processorRun) dutyOf(m, round int) duty {
	s, n := &r.shape, len(r.places)
	p := duty{to: collectives.None, from: collectives.None, sends: s.bytes, takesIn: s.bytes, work: s.work}
	if s.kind != collectives.Irregular {
		p.from = s.from(m, n)
		p.to = p.from // whichever: the participant sends
		return p
	}
	inst := r.inst
	if inst.schedule.Next(m, round) != round || round >= inst.schedule.Rounds(m) {
		return p
	}
	step := &r.neighbour
	inst.steps.StepInto(step, m, round)
	p.to, p.from = step.To, step.From
	p.sends = inst.layout.Bytes(step.Send, inst.width)
	if p.from == collectives.None {
		return p
	}
	combined := *step
	inst.steps.StepInto(step, p.from, round)
	p.takesIn = inst.layout.Bytes(step.Send, inst.width)
	p.work = r.k.partition.Target.ReduceTime(CombinedBytes(&combined, p.takesIn)).Plus(r.packing)
	return p
}

// shapeOf returns the shape of a round.
func (r *processorRun) shapeOf(round int) roundShape {
	p := r.inst.schedule.Pattern(round)
	n := r.inst.comm.Size
	if !r.regular || p.Sent == collectives.Varies || p.Combined == collectives.Varies {
		return roundShape{kind: collectives.Irregular}
	}
	block := blockBytes(r.inst.layout, r.inst.schedule)
	s := roundShape{distance: p.Distance, bytes: block * int64(p.Sent)}
	s.work = r.k.partition.Target.ReduceTime(block * int64(p.Combined)).Plus(r.packing)
	switch {
	case p.Kind == collectives.Shift && p.Distance > 0 && p.Distance < n:
		s.kind = collectives.Shift
	case p.Kind == collectives.Exchange && p.Folded == 0:
		s.kind = collectives.Exchange
	default:
		s.kind = collectives.Irregular
	}
	return s
}

// from returns the participant, of n, from which a participant receives in a shift or an exchange.
func (s *roundShape) from(m, n int) int {
	if s.kind == collectives.Exchange {
		return m ^ s.distance
	}
	if m -= s.distance; m < 0 {
		m += n
	}
	return m
}

// latency returns the time of a message between participants.
func (r *processorRun) latency(from, to int) vtime.Duration {
	if r.alike > 0 {
		return r.alike
	}
	return r.k.partition.Target.Latency(r.inst.rankOf(from), r.inst.rankOf(to))
}

// round carries out a round, unless the order of messages at a processor may be another than that of rounds.
func (r *processorRun) round(round int) bool {
	r.packing = r.k.packing(r.inst, round, r.k.copies)
	if r.shape = r.shapeOf(round); r.same && r.shape.kind == collectives.Irregular {
		r.spread()
	}
	if !r.beginSends(round) {
		return false
	}
	if r.latest >= r.earliest.Add(r.least) && !r.orderReceives(round) {
		return false
	}
	defer r.forget()
	if r.shape.kind != collectives.Irregular && r.alike > 0 && len(r.first) == 0 {
		return r.finishRegular()
	}
	return r.finish(round)
}

// spread gives each participant a place of its own, where one has stood for all.
func (r *processorRun) spread() {
	r.same = false
	r.places, r.sent = r.places[:r.inst.comm.Size], r.sent[:r.inst.comm.Size]
	for m := range r.places {
		r.places[m], r.sent[m] = r.places[0], r.sent[0]
	}
}

// alikeAll reports whether all participants are at the same instant, with processors in the same state.
func (r *processorRun) alikeAll() bool {
	for m := range r.places {
		if r.places[m] != r.places[0] || r.sent[m] != r.sent[0] {
			return false
		}
	}
	return r.alike > 0
}

// beginSends sets the instants at which messages of the round begin to leave where they precede receives. It returns false if
// a message is above the eager limit.
func (r *processorRun) beginSends(round int) bool {
	r.earliest, r.latest = vtime.Forever, 0
	if r.shape.kind != collectives.Irregular {
		for m := range r.places {
			p := &r.places[m]
			at := p.CanSend(p.clock)
			r.sent[m], r.earliest, r.latest = at, min(r.earliest, at), max(r.latest, at)
		}
		return r.shape.bytes <= r.k.partition.EagerLimit
	}
	for m := range r.places {
		d := r.dutyOf(m, round)
		if d.to == collectives.None {
			continue
		}
		if d.sends > r.k.partition.EagerLimit {
			return false
		}
		p := &r.places[m]
		at := p.CanSend(p.clock)
		r.sent[m], r.earliest, r.latest = at, min(r.earliest, at), max(r.latest, at)
	}
	return true
}

// orderReceives finds the participants whose processors take in the message of the round before they send their own. It returns
// false where such a message depends on another one.
func (r *processorRun) orderReceives(round int) bool {
	r.first = r.first[:0]
	if r.takesIn == nil {
		r.takesIn = make([]bool, r.inst.comm.Size)
	}
	for m := range r.places {
		d := r.dutyOf(m, round)
		if d.to == collectives.None || d.from == collectives.None {
			continue
		}
		// The message arrives then or later.
		p, left := &r.places[m], r.sent[d.from]
		at := p.CanReceive(left.Add(r.latency(d.from, m)))
		if at < r.sent[m] || at == r.sent[m] && left < p.released {
			r.first = append(r.first, int32(m))
			r.takesIn[m] = true
		}
	}
	for _, m := range r.first {
		if d := r.dutyOf(int(m), round); r.takesIn[d.from] {
			r.forget()
			return false
		}
	}
	for _, m := range r.first {
		d := r.dutyOf(int(m), round)
		p := r.places[m]
		r.k.partition.Target.TakeIn(&p.Occupancy, d.takesIn, p.CanReceive(r.sent[d.from].Add(r.latency(d.from, int(m)))))
		r.sent[m] = p.CanSend(p.clock)
	}
	return true
}

// forget empties first.
func (r *processorRun) forget() {
	for _, m := range r.first {
		r.takesIn[m] = false
	}
	r.first = r.first[:0]
}

// finishRegular is finish where all participants send before they receive, in a shift or an exchange.
func (r *processorRun) finishRegular() bool {
	target, s, n := r.k.partition.Target, &r.shape, len(r.places)
	d := duty{sends: s.bytes, takesIn: s.bytes}
	for m := range r.places {
		from := m // where one place stands for all
		if !r.same {
			from = s.from(m, n)
		}
		p, posted := &r.places[m], r.places[m].clock
		arrival, source := r.sent[from].Add(r.alike), int32(math.MaxInt32)
		if arrival <= p.since {
			if source = int32(r.inst.rankOf(from)); !p.meetsNothing(arrival, source) {
				return false
			}
		}
		p.send(target, &d, r.sent[m])
		p.takeIn(target, &d, arrival, source, posted)
		if p.clock = max(p.clock, p.CPU); s.work > 0 {
			p.combine(s.work)
		}
		if max(p.clock, p.Send, p.Receive, arrival) == vtime.Forever {
			return false
		}
	}
	r.messages += uint64(r.inst.comm.Size)
	return true
}

// finish has processors send, receive and combine in a round.
func (r *processorRun) finish(round int) bool {
	target, before := r.k.partition.Target, len(r.first) > 0
	for m := range r.places {
		d := r.dutyOf(m, round)
		if d.to == collectives.None && d.from == collectives.None {
			continue
		}
		p, posted := &r.places[m], r.places[m].clock
		arrival, source := vtime.Time(0), int32(math.MaxInt32)
		if d.from != collectives.None {
			arrival, source = r.sent[d.from].Add(r.latency(d.from, m)), int32(r.inst.rankOf(d.from))
			if !p.meetsNothing(arrival, source) {
				return false
			}
		}
		if before && r.takesIn[m] {
			p.takeIn(target, &d, arrival, source, posted)
			p.send(target, &d, r.sent[m])
			r.messages++
		} else {
			if d.to != collectives.None {
				p.send(target, &d, r.sent[m])
				r.messages++
			}
			if d.from != collectives.None {
				p.takeIn(target, &d, arrival, source, posted)
			}
		}
		p.clock = max(p.clock, p.CPU)
		if d.from != collectives.None && d.work > 0 {
			p.combine(d.work)
		}
		if max(p.clock, p.Send, p.Receive, arrival) == vtime.Forever {
			return false
		}
	}
	return true
}

// meetsNothing reports whether a message that arrives at an instant comes behind all that the processor has done.
func (p *place) meetsNothing(arrival vtime.Time, source int32) bool {
	return arrival > p.since || arrival == p.since && source > p.source
}

// busyUntil notes a use or an arrival at an instant, of a source or math.MaxInt32.
func (p *place) busyUntil(at vtime.Time, source int32) {
	if at > p.since || at == p.since && source > p.source {
		p.since, p.source = at, source
	}
}

// send sends the message of a round at an instant.
func (p *place) send(t *network.Target, d *duty, at vtime.Time) {
	t.Depart(&p.Occupancy, d.sends, at)
	p.released = max(p.released, at)
	p.busyUntil(at, math.MaxInt32)
}

// takeIn takes the message of a round in, whose receive has been posted at an instant.
func (p *place) takeIn(t *network.Target, d *duty, arrival vtime.Time, source int32, posted vtime.Time) {
	at := p.CanReceive(arrival)
	t.TakeIn(&p.Occupancy, d.takesIn, at)
	p.taken = at
	p.busyUntil(arrival, source)
	if at < posted {
		p.busyUntil(posted, math.MaxInt32)
	}
	p.released = max(p.released, at, posted)
}

// combine combines the received vector.
func (p *place) combine(work vtime.Duration) {
	at := p.clock
	p.CPU = at.Add(work)
	p.clock, p.released = p.CPU, max(p.released, at)
	p.busyUntil(at, math.MaxInt32)
}

// endsInStep reports whether all that a member does behind the collective reaches any processor after the processor has done all
// of the collective.
func (r *processorRun) endsInStep() bool {
	first, rank := vtime.Forever, int32(0)
	for m := range r.places {
		own := int32(r.inst.rankOf(m))
		if t := r.places[m].clock; t < first || t == first && own < rank {
			first, rank = t, own
		}
	}
	first = first.Add(r.least)
	for m := range r.places {
		if !r.places[m].meetsNothing(first, rank) {
			return false
		}
	}
	return true
}

// end ends the parts of all members.
func (r *processorRun) end() {
	c, inst := r.k, r.inst
	if r.same {
		r.spread()
	}
	for m := range r.places {
		p := &r.places[m]
		lp, _ := c.partition.Local(inst.comm.RankOf(m, 0))
		processor := c.Messages.Processors.Of(lp)
		processor.Do(&resource.Done{State: p.Occupancy, Sent: r.sent[m], Taken: p.taken, Begun: max(r.sent[m], p.taken, min(p.since, p.released))})
		c.Messages.Processors.Free(lp)
		c.exitFrom(inst, lp, m, p.clock, p.released)
	}
	r.inst = nil
	c.partition.Engine.Statistics.Messages += r.messages
	c.flushRange(inst)
}
