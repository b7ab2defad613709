package coll

import (
	"math/bits"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Engines that carry an instance out over arrays send each other the stretches of clocks
// that a round needs on another engine.

// outbound is how far an engine has come with sending the stretches of a round: it goes
// by engines, and to each by ascending receivers.
type outbound struct {
	engine  int  // all that engines before it need has been sent
	dst     int  // likewise for the receivers of this engine before dst
	stalled bool // there was no room; a task waits for it
}

// stretch is a piece of another engine's array: the clocks of src to
// src+len(clocks)-1, which send to dst and on, each stride further.
type stretch struct {
	dst, src, stride int
	clocks           []vtime.Time
	from             origin // of the record, which is consumed with the stretch
}

// sendStretches sends the other engines the clocks that they need for a round, as far
// as there is room. It reports whether that is all; if not, it will be called again.
func (k *Collectives) sendStretches(inst *instance, b *arrayRun, p collectives.Pattern) bool {
	lo, hi := bounds(p, b.lo, b.hi)
	if lo == hi {
		return true
	}
	s := &b.outbound
	for _, to := range receivers(p, b.total, lo, hi) {
		if to.lo == to.hi {
			continue
		}
		end := k.ownerOf(inst, p, to.hi-1) + 1
		for s.engine = max(s.engine, k.ownerOf(inst, p, to.lo)); s.engine < end; s.engine, s.dst = s.engine+1, 0 {
			if s.engine != k.Engine.Index() && !k.sendTo(inst, b, p, lo, hi) {
				return false
			}
		}
	}
	s.engine = k.Engine.Engines()
	return true
}

// sendTo sends the engine that is being sent to the clocks of lo to hi-1 that it needs for
// a round. It reports whether there was room for all.
func (k *Collectives) sendTo(inst *instance, b *arrayRun, p collectives.Pattern, lo, hi int) bool {
	s := &b.outbound
	first, last := k.participants(inst, s.engine)
	first, last = bounds(p, first, last)
	if p.Kind == collectives.Exchange {
		// Only receivers within the distance can have their sender here.
		first, last = max(first, lo-p.Distance), min(last, hi+p.Distance)
	}
	room := true
	runs(p, b.total, max(first, s.dst), last, func(dst, src, n, stride int) {
		if dst, src, n = clip(dst, src, n, stride, lo, hi); n > 0 && room {
			room = k.sendRun(inst, b, dst, src, n, stride, lo)
		}
	})
	if !room {
		k.holdArrays(b)
		s.stalled = true
		k.Engine.Throttle(k.item(task{inst, true}), b.hold.least, s.engine)
	}
	return room
}

// ownerOf returns the engine that an element of the array in a round belongs to.
func (k *Collectives) ownerOf(inst *instance, p collectives.Pattern, element int) int {
	if p.Kind == collectives.Exchange && p.Folded > 0 {
		element = collectives.Survivor(p.Folded, element)
	}
	return k.Engine.Partition().Owner(inst.rankOf(element))
}

// maxStretch is the number of clocks in one record.
const maxStretch = 1<<13 - 16 // with its headers less than 64 KiB, a class of buffers

// sendRun sends the clocks of a run to the engine that is being sent to. It reports
// whether there was room for all.
func (k *Collectives) sendRun(inst *instance, b *arrayRun, dst, src, n, stride, lo int) bool {
	for engine := b.outbound.engine; n > 0; {
		if !k.Engine.Room(engine) {
			return false
		}
		part := min(n, maxStretch)
		w := k.collectiveRecord(inst, engine, world.RecordArray, 5*8+8*part)
		w.U64(uint64(b.round))
		w.U64(uint64(b.top))
		w.U64(uint64(dst))
		w.U64(uint64(src))
		w.U64(uint64(stride))
		for i := range part {
			w.U64(uint64(b.work[src+i*stride-lo]))
		}
		dst, src, n = dst+part*stride, src+part*stride, n-part
		b.outbound.dst = dst
	}
	return true
}

// hasSent reports whether the round's stretches to an engine have been sent for
// receivers before dst. In an exchange these are the senders of what comes from there.
func (b *arrayRun) hasSent(engine, dst int) bool {
	return engine < b.outbound.engine || engine == b.outbound.engine && dst <= b.outbound.dst
}

// receiveStretch takes in a piece of another engine's array. It reports false if it keeps
// it for later.
func (k *Collectives) receiveStretch(inst *instance, from origin, r world.Reader) bool {
	b := k.arraysOf(inst)
	round := int(r.U64())
	b.top = max(b.top, vtime.Time(r.U64()))
	s := stretch{dst: int(r.U64()), src: int(r.U64()), stride: int(r.U64())}
	current := b.ready && b.round == round
	p := inst.schedule.Pattern(round)
	if current && (p.Kind != collectives.Exchange || b.hasSent(from.engine, s.src+len(r.Rest)/8)) {
		// What it changes nobody reads any more: no need to keep it.
		e := k.newEvaluation(inst, b, p)
		s.clocks = k.takeClocks(min(len(r.Rest)/8, delayChunk))
		for n := len(r.Rest) / 8; n > 0; n = len(r.Rest) / 8 {
			part := s.clocks[:min(n, delayChunk)]
			for i := range part {
				part[i] = vtime.Time(r.U64())
			}
			e.receive(s.dst, s.src, len(part), s.stride, part, 1)
			b.received += len(part)
			s.dst, s.src = s.dst+len(part)*s.stride, s.src+len(part)*s.stride
		}
		k.stretches = append(k.stretches, s.clocks)
	} else {
		s.clocks = k.takeClocks(len(r.Rest) / 8)
		for i := range s.clocks {
			s.clocks[i] = vtime.Time(r.U64())
		}
		s.from = from
		b.inbox[round] = append(b.inbox[round], s)
	}
	if current && !b.outbound.stalled && b.complete(p) {
		k.queue(inst)
	}
	return s.from.size == 0
}

// takeStretches takes in what came early for the round and changes nothing any more that
// is still to be sent.
func (k *Collectives) takeStretches(inst *instance, b *arrayRun, p collectives.Pattern) {
	early := b.inbox[b.round]
	if len(early) == 0 {
		return
	}
	e := k.newEvaluation(inst, b, p)
	kept := early[:0]
	for _, s := range early {
		if p.Kind == collectives.Exchange && !b.hasSent(s.from.engine, s.src+len(s.clocks)) {
			kept = append(kept, s)
			continue
		}
		e.receive(s.dst, s.src, len(s.clocks), s.stride, s.clocks, 1)
		b.received += len(s.clocks)
		k.stretches = append(k.stretches, s.clocks)
		if s.from.size > 0 {
			k.Engine.Consumed(s.from.engine, s.from.size)
		}
	}
	clear(early[len(kept):])
	b.inbox[b.round] = kept
}

// takeClocks returns room for n clocks, which may go to k.stretches after use.
func (k *Collectives) takeClocks(n int) []vtime.Time {
	if last := len(k.stretches) - 1; last >= 0 {
		clocks := k.stretches[last]
		k.stretches = k.stretches[:last]
		if cap(clocks) >= n {
			return clocks[:n]
		}
	}
	return make([]vtime.Time, n, 1<<bits.Len(uint(n)))
}

// complete reports whether all that the round needs from other engines has come.
func (b *arrayRun) complete(p collectives.Pattern) bool {
	lo, hi := bounds(p, b.lo, b.hi)
	missing := 0
	count := func(dst, src, n, stride int) {
		_, _, inside := clip(dst, src, n, stride, lo, hi)
		missing += n - inside
	}
	if p.Kind == collectives.Exchange && p.Distance < hi-lo {
		// Senders outside belong to the first and the last block of twice the
		// distance.
		span := 2 * p.Distance
		head := min(hi, (lo+span-1)/span*span)
		runs(p, b.total, lo, head, count)
		runs(p, b.total, max(head, hi/span*span), hi, count)
	} else {
		runs(p, b.total, lo, hi, count)
	}
	if invariant.Enabled && missing < b.received {
		invariant.Broken("round %d of participants %d to %d of %d: %d clocks have come, %d were missing",
			b.round, b.lo, b.hi-1, b.total, b.received, missing)
	}
	return missing == b.received
}
