package coll

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Engines that carry out an instance over arrays send each other the stretches of clocks that a
// round needs on another engine.

// outbound is the progress of sending the stretches of a round: by engine, and for each engine by
// ascending receivers.
type outbound struct {
	engine  int  // all stretches for engines before it have been sent
	dst     int  // all stretches for receivers of this engine before dst have been sent
	owed    int  // number of owed clocks that have been sent; see sendOwed
	stalled bool // there was no room; a task waits for room
}

// stretch is a piece of another engine's array: the clocks of src to src+len(clocks)-1, which send
// to dst, dst+stride, ....
type stretch struct {
	dst, src, stride int
	step             int32
	clocks           []vtime.Time
	told             maxplus.Told // with accounts
	from             origin       // of the record, which is consumed together with the stretch
}

// sendStretches sends the other engines the clocks that they need for a round, as far as there is
// room. It reports whether all have been sent; if not, it is called again.
func (c *Collectives) sendStretches(inst *instance, b *arrayRun) bool {
	s := &b.outbound
	for _, to := range b.Receivers() {
		if to.Low == to.High {
			continue
		}
		end := c.ownerOf(b, to.High-1) + 1
		for s.engine = max(s.engine, c.ownerOf(b, to.Low)); s.engine < end; s.engine, s.dst = s.engine+1, 0 {
			if s.engine != c.partition.Engine.Index() && !c.sendTo(inst, b) {
				return false
			}
		}
	}
	s.engine = c.partition.Engine.Engines()
	return c.sendOwed(inst, b)
}

// sendTo sends the present engine of b.outbound the clocks that the engine needs for a round. It
// reports whether there was room for all.
func (c *Collectives) sendTo(inst *instance, b *arrayRun) bool {
	s := &b.outbound
	lo, hi := c.participants(inst, s.engine)
	room := b.Needed(lo, hi, s.dst, func(dst, src, n, stride int) bool {
		return c.sendRun(inst, b, dst, src, n, stride)
	})
	if !room {
		c.stall(inst, b, s.engine)
	}
	return room
}

// stall has an instance wait for room at an engine.
func (c *Collectives) stall(inst *instance, b *arrayRun, engine int) {
	c.holdArrays(b)
	b.outbound.stalled = true
	c.partition.Engine.Throttle(c.item(task{instance: inst, stalled: true}), b.hold.least, engine)
}

// ownerOf returns the engine that owns an element in the current round.
func (c *Collectives) ownerOf(b *arrayRun, element int) int {
	return c.partition.Engine.Partition().Owner(b.RankOf(b.Participant(element)))
}

// maxStretch is the greatest number of clocks, and of instants that they bring for accounts, in a record.
const maxStretch = 1<<13 - 16 // with its headers less than 64 KiB, a class of buffers

// sendRun sends the clocks of a run to the present engine of b.outbound. It reports whether there
// was room for all.
func (c *Collectives) sendRun(inst *instance, b *arrayRun, dst, src, n, stride int) bool {
	for engine := b.outbound.engine; n > 0; {
		if !c.partition.Engine.Room(engine) {
			return false
		}
		part, size := min(n, maxStretch), 0
		if b.Meter != nil {
			part = min(n, maxStretch/(1+b.tells())-restRecord)
			size = restRecord + 8*part*b.tells()
		}
		w := c.collectiveRecord(inst, engine, world.RecordArray, 5*8+8*part+size)
		w.U64(uint64(b.Step()))
		w.U64(uint64(b.Top))
		w.U64(uint64(dst))
		w.U64(uint64(src))
		w.U64(uint64(stride))
		b.writeKnowledge(&w, src, part, stride)
		w.Times(b.From(src), part, stride)
		dst, src, n = dst+part*stride, src+part*stride, n-part
		b.outbound.dst = dst
	}
	return true
}

// takes reports whether the array can take in the clocks of an engine's elements before src in the
// current round. In an exchange these elements are the receivers of clocks of this engine, which
// must already have been sent.
func (b *arrayRun) takes(engine, src int) bool {
	return b.Pattern().Kind != collectives.Exchange ||
		engine < b.outbound.engine || engine == b.outbound.engine && src <= b.outbound.dst
}

// Initial room for early stretches, and for the clocks in them. With thousands of engines about as
// many stretches come early: engines that take turns are far ahead of one another.
const (
	usual       = 8
	usualClocks = 1 << 9
)

// chunk is the number of clocks of a record that are read at a time, so that they stay in the L1
// cache.
const chunk = 512

// receiveStretch handles a piece of another engine's array. It returns false if it stores the piece
// for later.
func (c *Collectives) receiveStretch(inst *instance, from origin, r world.Reader) bool {
	b := c.arraysOf(inst)
	step := int(r.U64())
	b.Top = max(b.Top, vtime.Time(r.U64()))
	s := stretch{dst: int(r.U64()), src: int(r.U64()), stride: int(r.U64())}
	s.told = b.readKnowledge(&r)
	owed := inst.uneven != nil && step&1 == 1
	current := b.Prepared(step) || owed && b.Prepared(step-1)
	switch {
	case current && owed:
		b.ReceiveOwed(s.dst, vtime.Time(r.U64()))
	case current && b.takes(from.engine, s.src+len(r.Rest)/8):
		// The clocks that the piece changes are not read any more, so it need not be stored.
		e := b.Evaluation()
		s.clocks = c.memory.Take(min(len(r.Rest)/8, chunk))
		for n := len(r.Rest) / 8; n > 0; n = len(r.Rest) / 8 {
			part := s.clocks[:min(n, chunk)]
			r.Times(part)
			e.Receive(s.dst, s.src, s.stride, part, s.told)
			s.told = s.told.From(len(part))
			s.dst, s.src = s.dst+len(part)*s.stride, s.src+len(part)*s.stride
		}
		c.memory.Give(s.clocks)
	default:
		s.clocks = c.memory.Take(len(r.Rest) / 8)
		r.Times(s.clocks)
		s.step, s.from = int32(step), from
		if b.inbox == nil {
			b.inbox, c.idleInbox = c.idleInbox, nil
		}
		b.inbox = append(b.inbox, s)
	}
	if current && !b.outbound.stalled && b.Complete() {
		c.queue(inst)
	}
	return s.from.size == 0
}

// takeStretches takes in the early stretches of the round that do not change clocks still to be
// sent.
func (c *Collectives) takeStretches(b *arrayRun) {
	step, e := int32(b.Step()), (*maxplus.Evaluation)(nil)
	for i := 0; i < len(b.inbox); {
		s := &b.inbox[i]
		owed := b.instance.uneven != nil && s.step == step+1
		if !owed && (s.step != step || !b.takes(s.from.engine, s.src+len(s.clocks))) {
			i++
			continue
		}
		if e == nil {
			e = b.Evaluation()
		}
		if owed {
			b.ReceiveOwed(s.dst, s.clocks[0])
		} else {
			e.Receive(s.dst, s.src, s.stride, s.clocks, s.told)
		}
		c.memory.Give(s.clocks)
		if s.from.size > 0 {
			c.partition.Engine.Consumed(s.from.engine, s.from.size)
		}
		last := len(b.inbox) - 1
		*s, b.inbox[last] = b.inbox[last], stretch{}
		b.inbox = b.inbox[:last]
	}
}

// tells returns the number of instants that a clock brings for accounts.
func (b *arrayRun) tells() int {
	switch {
	case b.Meter == nil:
		return 0
	case b.Interfaces == nil:
		return 1
	}
	return 2
}

// writeKnowledge writes to the record of a stretch, if the array has accounts, which entry is the latest of those that this engine knows of,
// and for each clock which entry the element knows of and, where messages share interfaces, when its message has left.
func (b *arrayRun) writeKnowledge(w *world.Writer, src, n, stride int) {
	if b.Meter == nil {
		return
	}
	b.rest.write(w)
	for i := range n {
		w.U64(uint64(b.Knows(src + i*stride)))
	}
	if b.Interfaces == nil {
		return
	}
	for i := range n {
		w.U64(uint64(b.Left(src + i*stride)))
	}
}

// readKnowledge reads what writeKnowledge has written, behind which come the clocks.
func (b *arrayRun) readKnowledge(r *world.Reader) (told maxplus.Told) {
	if b.Meter == nil {
		return told
	}
	b.rest.add(readRest(r))
	n := len(r.Rest) / 8 / (1 + b.tells())
	told.Knows = make([]vtime.Time, n)
	r.Times(told.Knows)
	if b.Interfaces != nil {
		told.Left = make([]vtime.Time, n)
		r.Times(told.Left)
	}
	return told
}
