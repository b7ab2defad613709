package coll

import (
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Engines that carry out an instance round by round, each for its own members, send each other the messages of a round: the instants at which
// these ask for the interfaces of their receivers' nodes, if the rounds take time, and their contents. A round is over on an engine once
// the messages of other engines for it have come. Beside an array of clocks, rounds combine vectors alone: their contents travel
// independent of the clocks.

// roundsBetween is the progress of the present round among engines.
type roundsBetween struct {
	sending   bool // messages for other engines are still to be sent
	receiving bool // all have been sent
	outward   []outwardMessage
	sent      int       // messages of outward that have been sent
	missing   int       // messages from other engines that have not come
	came      []distant // messages from other engines that have come, if the rounds take time; their contents have been taken in
}

// outwardMessage is a message for a member on another engine.
type outwardMessage struct {
	member int32 // that sends it
	to     int   // counted from the first of all members
}

// distant is a message of a round from another engine.
type distant struct {
	round   int32
	dest    int32      // member here that receives it
	rank    int32      // that has sent it
	at      vtime.Time // at which it asks for interfaces, or arrives; in rounds that take time
	bytes   int64
	content []byte // a buffer
}

// distantState is what an instance whose engines exchange the messages of rounds has beside its localRun.
type distantState struct {
	hold  hold      // from the least clock of the members here on, while they wait
	early []distant // messages of rounds that have not begun here
}

// goesByRounds reports whether the rounds of an instance, or the contents of its vectors beside an array of clocks, are carried out round by round.
func (inst *instance) goesByRounds() bool {
	return inst.mode == Locally || inst.mode == ByArrays && inst.Call.Moved() && inst.Call.combinesInRounds()
}

// begin forgets the messages of an earlier instance.
func (b *roundsBetween) begin() {
	*b = roundsBetween{outward: b.outward[:0], came: b.came[:0]}
}

// notes notes whether the message that a member sends in a round, or the message that it receives, crosses engines.
func (r *localRun) notes(m int32, from, to int) {
	if to >= 0 && !r.isHere(to) {
		r.between.outward = append(r.between.outward, outwardMessage{m, to})
	}
	if from >= 0 && !r.isHere(from) {
		r.between.missing++
	}
}

// recordOf returns the number of bytes that a message of a round takes in a record, beside its content.
func (r *localRun) recordOf() int {
	if r.timed {
		return 4 + 8 + 8
	}
	return 4 + 8
}

// sendBetween sends other engines the messages of the present round, as far as there is room. It reports whether all have been sent; if not, a
// task waits for room.
func (r *localRun) sendBetween() bool {
	b, c := &r.between, r.k
	if !b.sending {
		return true
	}
	for b.sent < len(b.outward) {
		rank := r.inst.rankOf(b.outward[b.sent].to)
		engine := c.partition.Engine.Partition().Owner(rank)
		if !c.partition.Engine.Room(engine) {
			h := c.holdRounds(r.inst)
			if invariant.Enabled {
				c.checkHeld(r.inst, h)
			}
			c.partition.Engine.Throttle(c.item(task{instance: r.inst, rounds: true}), h.least, engine)
			return false
		}
		r.sendPiece(engine)
	}
	if b.sending, b.receiving = false, true; b.missing > 0 || len(b.outward) > 0 {
		c.partition.Engine.Flush() // to receive and combine takes long
	}
	return true
}

// sendPiece sends an engine the next messages of the present round, as far as they are all for members there and fit a piece.
func (r *localRun) sendPiece(engine int) {
	b, c := &r.between, r.k
	first, end := c.participants(r.inst, engine)
	n, size := 0, 0
	for _, m := range b.outward[b.sent:] {
		if more := r.recordOf() + len(r.contentOf(m.member)); m.to < first || m.to >= end || n > 0 && size+more > pieceBytes {
			break
		} else {
			n, size = n+1, size+more
		}
	}
	w := c.collectiveRecord(r.inst, engine, world.RecordBlocks, 4+size)
	w.U32(uint32(r.at))
	for _, m := range b.outward[b.sent:][:n] {
		content := r.contentOf(m.member)
		w.U32(uint32(m.to - first))
		if r.timed {
			w.U64(uint64(r.sent[m.member].arrival))
			w.U64(uint64(r.sent[m.member].bytes))
		} else {
			w.U64(uint64(len(content)))
		}
		w.Rest = w.Rest[copy(w.Rest, content):]
		c.partition.Engine.Copied(len(content))
		if content != nil {
			r.taken(m.member)
		}
	}
	b.sent += n
}

// contentOf returns the content of the message that a member sends, nil if rounds have sizes alone.
func (r *localRun) contentOf(m int32) []byte {
	if r.members[m].memory == nil {
		return nil
	}
	return r.payloads[m]
}

// receiveDistant reads a record of sendPiece.
func (c *Collectives) receiveDistant(inst *instance, r world.Reader) {
	run, round := &c.localRun, int32(r.U32())
	b := &run.between
	current := run.inst == inst && int(round) == run.at && (b.sending || b.receiving)
	for len(r.Rest) > 0 {
		d := distant{round: round, dest: int32(r.U32())}
		if inst.mode == Locally {
			d.at = vtime.Time(r.U64())
		}
		if d.bytes = int64(r.U64()); inst.Call.Moved() {
			d.content, r.Rest = r.Rest[:d.bytes], r.Rest[d.bytes:]
		}
		if current {
			run.take(d)
			continue
		}
		if d.content != nil {
			content := c.partition.Buffers.Take(len(d.content))
			copy(content, d.content)
			d.content = content
		}
		state := inst.distantHere()
		state.early = append(state.early, d)
	}
	if current && b.receiving && b.missing == 0 {
		c.partition.Engine.Ready(c.item(task{instance: inst, rounds: true}))
	}
}

// take takes in the content of a message from another engine in the present round.
func (r *localRun) take(d distant) {
	b, step := &r.between, r.stepOf(d.dest)
	b.missing--
	if r.members[d.dest].memory != nil {
		r.k.absorb(&r.members[d.dest], step, d.content)
	}
	if d.content, d.rank = nil, int32(r.inst.rankOf(step.From)); r.timed {
		b.came = append(b.came, d)
	}
}

// takeEarly takes in the messages of the present round that have come before it.
func (r *localRun) takeEarly() {
	if r.inst.distant == nil {
		return
	}
	early := r.inst.distant.early
	for i := 0; i < len(early); {
		d := early[i]
		if int(d.round) != r.at {
			i++
			continue
		}
		r.take(d)
		r.k.partition.Buffers.Release(d.content)
		last := len(early) - 1
		early[i], early[last] = early[last], distant{}
		early = early[:last]
	}
	r.inst.distant.early = early
}

// receiveBetween charges members for receiving the messages of other engines in the present round.
func (r *localRun) receiveBetween(packing vtime.Duration) {
	b := &r.between
	for i := range b.came {
		d := &b.came[i]
		r.arrive(d.dest, r.stepOf(d.dest), d.bytes, d.at, packing)
	}
	b.came = b.came[:0]
}

// distantHere returns the state of an instance whose engines exchange the messages of rounds, which it makes at the first call.
func (inst *instance) distantHere() *distantState {
	if inst.distant == nil {
		inst.distant = &distantState{}
	}
	return inst.distant
}

// holdRounds caps the engine's promises while members that go round by round wait for other engines, see holdArrays. It returns the hold.
func (c *Collectives) holdRounds(inst *instance) *hold {
	if inst.mode == ByArrays {
		c.holdArrays(inst.arrays)
		return &inst.arrays.hold
	}
	h := &inst.distantHere().hold
	if !h.held {
		least := vtime.Forever
		for m := range c.localRun.members {
			least = min(least, c.localRun.members[m].clock)
		}
		c.holdFrom(h, least)
	}
	return h
}

// goOnRounds carries on the rounds of an instance, unless it has failed meanwhile.
func (c *Collectives) goOnRounds(inst *instance) {
	switch r := &c.localRun; {
	case r.inst != inst:
	case inst.mode == Locally:
		c.goOnLocally(inst)
	case r.goOn():
		inst.arrays.combining = false
		c.queueBlocks(inst, inst.arrays)
	}
}

// dropRounds ends the rounds of an instance that fails.
func (c *Collectives) dropRounds(inst *instance) {
	if inst.distant != nil {
		c.endHold(&inst.distant.hold)
		inst.distant = nil
	}
	r := &c.localRun
	if r.inst != inst {
		return
	}
	for m := range r.members {
		if r.members[m].memory != nil {
			r.taken(int32(m))
			c.forget(&r.members[m])
		}
	}
	r.end()
}
