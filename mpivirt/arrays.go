package mpivirt

import (
	"slices"
	"sort"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// The bulk interpreter over arrays: exit times follow from entry times in max-plus
// algebra. In each round every receiver's clock becomes the maximum of itself and
// its sender's clock plus the delay; a whole round is a pass over an array, with
// no event and no switch. Each engine evaluates its own participants, which are
// consecutive, and engines exchange the stretches of the array that a round
// carries across.

// arrayRun is the state of one instance that is carried out over arrays.
type arrayRun struct {
	lo, hi   int // this engine's participants
	total    int
	work     []vtime.Time // clocks of participants lo to hi-1, or of survivors while folded
	next     []vtime.Time // what a shift across engines makes of them
	third    []vtime.Time // room for the survivors' clocks while they are not in use
	all      []vtime.Time // while folded: clocks of all participants lo to hi-1
	folded   int          // pairs folded together in work's numbering; 0 if it is the participants'
	round    int
	begun    bool // the engine's own participants have all entered
	ready    bool // this round's arrays are ready to take in what comes
	outbound outbound
	inbox    map[int][]stretch
	received int // clocks of this round that have come and been evaluated
	tree     *collectives.TreeFold[[]byte]
	early    []treePart
	hold     hold   // from the least of the participants' clocks on, while they wait
	fusion   fusion // rounds that part of the array is through already
	delays   []vtime.Duration
	kept     []vtime.Time // scratch of exchange

	// No clock can pass the end of virtual time as long as top + span does not: top is
	// the latest entry that this engine's clocks may depend on, and span is more than
	// the rounds of the schedule add to a clock.
	top  vtime.Time
	span vtime.Duration
}

// careful reports whether clocks have to be looked at after each addition: some may
// pass the end of virtual time.
func (b *arrayRun) careful() bool { return b.top.Add(b.span) == vtime.Forever }

// spanOf returns an upper bound on what the rounds of an instance add to a clock. A
// rendezvous is three messages.
func (k *kernel) spanOf(inst *instance) vtime.Duration {
	bytes, t := inst.layout.Offset(inst.schedule.Positions()), k.tgt
	round := t.LongestDelay(bytes).Times(3).Plus(t.SendTime(bytes)).Plus(t.ReceiveTime(bytes)).Plus(t.ReduceTime(bytes).Times(2))
	return round.Times(inst.schedule.MaxRounds())
}

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

// delayChunk is the number of delays computed at a time: they stay in the L1
// cache.
const delayChunk = 512

// arraysOf returns the state of an instance that is carried out over arrays.
func (k *kernel) arraysOf(inst *instance) *arrayRun {
	if inst.arrays == nil {
		b := &arrayRun{total: inst.schedule.Members(), inbox: map[int][]stretch{}, span: k.spanOf(inst)}
		b.lo, b.hi = k.participants(inst, k.eng.Index())
		if inst.call.data {
			b.tree = k.newTree(inst.call.operator, b.total)
		}
		if invariant.Enabled {
			k.checkCover(inst)
		}
		inst.arrays = b
	}
	return inst.arrays
}

// participants returns the range of participants that belong to an engine.
func (k *kernel) participants(inst *instance, engine int) (lo, hi int) {
	first, last := k.eng.Partition().Range(engine)
	bound := func(rank int) int {
		if inst.comm.index == worldComm && !inst.leaders {
			return rank
		}
		return sort.Search(inst.schedule.Members(), func(p int) bool { return inst.rankOf(p) >= rank })
	}
	return bound(first), bound(last)
}

// enterBulk enters a member of an instance that is carried out in bulk.
func (k *kernel) enterBulk(inst *instance, member int, v *collective) {
	if inst.mode == byArrays && v.data {
		value := k.buffers.take(len(v.input))
		copy(value, v.input)
		b := k.arraysOf(inst)
		b.tree.Add(b.tree.Leaf(member), value)
	} else {
		inst.keep(member-inst.comm.first, v)
	}
	k.startComplete(inst)
}

// runBulk carries an instance as far as it gets, once all local members or, under
// node-leader, all local nodes are complete.
func (k *kernel) runBulk(inst *instance) {
	if inst.failed != nil {
		k.endFailed(inst)
		return
	}
	if inst.mode == locally {
		k.runLocally(inst)
		return
	}
	b := k.arraysOf(inst)
	if !b.begun {
		k.beginArrays(inst, b)
	}
	if !k.progress(inst, b) {
		k.holdArrays(b)
		return
	}
	k.endHold(&b.hold)
	k.endArrays(inst, b)
}

// holdArrays tells the engine that participants wait for other engines: they may act
// at the instants that their clocks show now, or later.
func (k *kernel) holdArrays(b *arrayRun) {
	if b.hold.held || k.eng.Engines() == 1 {
		return
	}
	least := vtime.Forever
	for _, t := range b.work {
		least = min(least, t)
	}
	k.holdFrom(&b.hold, least)
}

// progress goes through the rounds as far as what has come allows. It reports
// whether all are done.
func (k *kernel) progress(inst *instance, b *arrayRun) bool {
	for b.round < inst.schedule.MaxRounds() {
		p := inst.schedule.Pattern(b.round)
		b.renumber(k, p)
		if !b.ready {
			b.ready = true
			if p.Kind == collectives.Shift && !b.whole() {
				b.makeNext(k)
			}
		}
		sent := k.sendStretches(inst, b, p)
		k.takeStretches(inst, b, p)
		if !sent || !b.complete(p) {
			return false
		}
		k.evaluateRound(inst, b, p)
		delete(b.inbox, b.round)
		b.round++
		b.ready, b.outbound, b.received = false, outbound{}, 0
	}
	b.renumber(k, collectives.Pattern{})
	if b.tree != nil {
		result, complete := b.tree.Result()
		if !complete {
			return false
		}
		inst.result = append([]byte(nil), result...)
	}
	return true
}

// beginArrays sets the clocks that the participants start with.
func (k *kernel) beginArrays(inst *instance, b *arrayRun) {
	b.begun = true
	spare := &inst.comm.spare
	b.next, b.third = spare.next, spare.third
	spare.next, spare.third = nil, nil
	if inst.leaders {
		// The nodes that this engine leads are complete: their instants are the
		// leaders' clocks, and nobody else needs them any more.
		b.work = inst.join.last[b.lo-inst.comm.nodes.here : b.hi-inst.comm.nodes.here]
		for _, t := range b.work {
			b.top = max(b.top, t)
		}
	} else {
		b.work, spare.work = spare.work, nil
		k.loadClocks(inst, b)
	}
	if b.tree != nil {
		k.sendTree(inst, b)
	}
}

// loadClocks sets the clocks of members to their entries.
func (k *kernel) loadClocks(inst *instance, b *arrayRun) {
	if len(b.work) != b.hi-b.lo {
		b.work = reserve[vtime.Time](k, b.hi-b.lo)
	}
	top := b.top
	if inst.comm.index == worldComm && inst.nonblocking == nil {
		work := b.work[:len(k.clock)]
		for i, t := range k.clock {
			work[i], top = t, max(top, t)
		}
	} else {
		for i := range b.work {
			lp, _ := k.local(inst.comm.rankOf(b.lo+i, 0))
			t := inst.entryOf(k, lp, b.lo+i)
			b.work[i], top = t, max(top, t)
		}
	}
	b.top = top
}

// endArrays lets the participants leave.
func (k *kernel) endArrays(inst *instance, b *arrayRun) {
	switch {
	case inst.leaders:
		for i, t := range b.work {
			k.release(inst, b.lo+i, t)
		}
	case inst.comm.index == worldComm && inst.nonblocking == nil && inst.split == nil && !k.strict:
		if inst.timed != stats.Untimed || inst.labels != nil {
			for i, t := range b.work {
				k.noteTime(inst, int32(i), t.Sub(k.clock[i]))
			}
		}
		copy(k.clock, b.work)
		k.leave(inst, 0, int32(k.n))
	default:
		for i, t := range b.work {
			lp, _ := k.local(inst.comm.rankOf(b.lo+i, 0))
			k.exit(inst, lp, b.lo+i, t)
		}
	}
	k.flushRange(inst)
	spare := &inst.comm.spare
	spare.next, spare.third = b.next, b.third
	if inst.leaders {
		spare.awaited, spare.last = inst.join.awaited, inst.join.last
	} else {
		spare.work = b.work
	}
}

// renumber brings the clocks into the numbering of a round: that of the survivors
// for an exchange, else that of the participants.
func (b *arrayRun) renumber(k *kernel, p collectives.Pattern) {
	folded := 0
	if p.Kind == collectives.Exchange {
		folded = p.Folded
	}
	if folded == b.folded {
		return
	}
	if folded == 0 {
		lo := collectives.Survivors(b.folded, b.lo)
		for i, t := range b.work {
			b.all[collectives.Survivor(b.folded, lo+i)-b.lo] = t
		}
		b.third, b.work, b.all, b.folded = b.work, b.all, nil, 0
		return
	}
	lo, hi := collectives.Survivors(folded, b.lo), collectives.Survivors(folded, b.hi)
	if cap(b.third) < hi-lo {
		b.third = reserve[vtime.Time](k, hi-lo)
	}
	b.all, b.folded, b.work = b.work, folded, b.third[:hi-lo]
	for i := range b.work {
		b.work[i] = b.all[collectives.Survivor(folded, lo+i)-b.lo]
	}
}

// bounds returns the numbers of an engine's elements of the array in a round.
func bounds(p collectives.Pattern, lo, hi int) (int, int) {
	if p.Kind == collectives.Exchange && p.Folded > 0 {
		return collectives.Survivors(p.Folded, lo), collectives.Survivors(p.Folded, hi)
	}
	return lo, hi
}

// runs calls visit for each run of receivers dst, dst+stride, ... that lie in
// [lo, hi) with their senders src, src+stride, ....
func runs(p collectives.Pattern, total, lo, hi int, visit func(dst, src, n, stride int)) {
	switch p.Kind {
	case collectives.Shift:
		if cut := min(max(p.Distance, lo), hi); p.Distance != 0 {
			if lo < cut {
				visit(lo, lo-p.Distance+total, cut-lo, 1)
			}
			if cut < hi {
				visit(cut, cut-p.Distance, hi-cut, 1)
			}
		}
	case collectives.Exchange:
		for s := lo; s < hi; {
			n := min(p.Distance-s%p.Distance, hi-s)
			visit(s, s^p.Distance, n, 1)
			s += n
		}
	case collectives.Strided:
		first := p.First + p.Distance
		skip := max(0, (lo-first+p.Stride-1)/p.Stride)
		n := min(p.Count, (hi-first+p.Stride-1)/p.Stride) - skip
		if n > 0 && hi > first {
			visit(first+skip*p.Stride, p.First+skip*p.Stride, n, p.Stride)
		}
	}
}

// clip cuts a run to the part whose senders lie in [lo, hi).
func clip(dst, src, n, stride, lo, hi int) (int, int, int) {
	if src < lo {
		skip := (lo - src + stride - 1) / stride
		dst, src, n = dst+skip*stride, src+skip*stride, n-skip
	}
	if last := src + (n-1)*stride; last >= hi {
		n -= (last - hi + stride) / stride
	}
	return dst, src, max(n, 0)
}

// sendStretches sends the other engines the clocks that they need for a round, as far
// as there is room. It reports whether that is all; if not, it will be called again.
func (k *kernel) sendStretches(inst *instance, b *arrayRun, p collectives.Pattern) bool {
	lo, hi := bounds(p, b.lo, b.hi)
	if lo == hi {
		return true
	}
	s := &b.outbound
	for ; s.engine < k.eng.Engines(); s.engine, s.dst = s.engine+1, 0 {
		if s.engine == k.eng.Index() {
			continue
		}
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
			k.eng.Throttle(k.item(task{inst, true}), b.hold.least, s.engine)
			return false
		}
	}
	return true
}

// maxStretch is the number of clocks in one record.
const maxStretch = 1<<13 - 16 // with its headers less than 64 KiB, a class of buffers

// sendRun sends the clocks of a run to the engine that is being sent to. It reports
// whether there was room for all.
func (k *kernel) sendRun(inst *instance, b *arrayRun, dst, src, n, stride, lo int) bool {
	for engine := b.outbound.engine; n > 0; {
		if !k.eng.Room(engine) {
			return false
		}
		part := min(n, maxStretch)
		w := k.collectiveRecord(inst, engine, recordArray, 5*8+8*part)
		w.u64(uint64(b.round))
		w.u64(uint64(b.top))
		w.u64(uint64(dst))
		w.u64(uint64(src))
		w.u64(uint64(stride))
		for i := range part {
			w.u64(uint64(b.work[src+i*stride-lo]))
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
func (k *kernel) receiveStretch(inst *instance, from origin, r reader) bool {
	b := k.arraysOf(inst)
	round := int(r.u64())
	b.top = max(b.top, vtime.Time(r.u64()))
	s := stretch{dst: int(r.u64()), src: int(r.u64()), stride: int(r.u64())}
	current := b.ready && b.round == round
	p := inst.schedule.Pattern(round)
	if current && (p.Kind != collectives.Exchange || b.hasSent(from.engine, s.src+len(r.b)/8)) {
		// What it changes nobody reads any more: no need to keep it.
		e := k.newEvaluation(inst, b, p)
		s.clocks = k.takeClocks(delayChunk)
		for n := len(r.b) / 8; n > 0; n = len(r.b) / 8 {
			part := s.clocks[:min(n, delayChunk)]
			for i := range part {
				part[i] = vtime.Time(r.u64())
			}
			e.receive(s.dst, s.src, len(part), s.stride, part, 1)
			b.received += len(part)
			s.dst, s.src = s.dst+len(part)*s.stride, s.src+len(part)*s.stride
		}
		k.stretches = append(k.stretches, s.clocks)
	} else {
		s.clocks = k.takeClocks(len(r.b) / 8)
		for i := range s.clocks {
			s.clocks[i] = vtime.Time(r.u64())
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
func (k *kernel) takeStretches(inst *instance, b *arrayRun, p collectives.Pattern) {
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
			k.eng.Consumed(s.from.engine, s.from.size)
		}
	}
	clear(early[len(kept):])
	b.inbox[b.round] = kept
}

// takeClocks returns room for n clocks, which may go to k.stretches after use.
func (k *kernel) takeClocks(n int) []vtime.Time {
	if last := len(k.stretches) - 1; last >= 0 {
		clocks := k.stretches[last]
		k.stretches = k.stretches[:last]
		if cap(clocks) >= n {
			return clocks[:n]
		}
	}
	return make([]vtime.Time, n, max(n, maxStretch))
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

// makeNext makes room for what a shift makes of the clocks. Everybody receives once,
// so every element will be set.
func (b *arrayRun) makeNext(k *kernel) {
	if cap(b.next) < len(b.work) {
		b.next = reserve[vtime.Time](k, len(b.work))
	}
	b.next = b.next[:len(b.work)]
}

// evaluation is what one round does to the clocks. A participant whose clock shows x
// and that takes in the message of one at y, lag after the message's network delay, is
// at max(x, y + lag + delay) + work afterwards.
type evaluation struct {
	k     *kernel
	inst  *instance
	b     *arrayRun
	lo    int          // number of the first element of work and next
	next  []vtime.Time // where the new clocks go: work itself, but for a shift across engines
	bytes int64
	lag   vtime.Duration
	work  vtime.Duration
	spent vtime.Duration // what the senders of a strided round pay, who receive nothing
	same  bool           // all messages have the same delay, and no clock can pass the end of time
	fixed vtime.Duration // this one, lag included, if it is set: that of a rendezvous

	// Clocks may pass the end of time, see arrayRun, and through does the arithmetic.
	careful bool
	sends   bool           // who receives in the round sends, too
	combine vtime.Duration // part of work
}

// newEvaluation prepares the arithmetic of a round.
func (k *kernel) newEvaluation(inst *instance, b *arrayRun, p collectives.Pattern) evaluation {
	lo, _ := bounds(p, b.lo, b.hi)
	block := blockBytes(inst.layout, inst.schedule)
	next := b.work
	if p.Kind == collectives.Shift && !b.whole() {
		next = b.next
	}
	careful := b.careful()
	e := evaluation{k: k, inst: inst, b: b, lo: lo, next: next, bytes: block * int64(p.Sent),
		same: !careful && uniformDelay(k.uniformFrom(inst.leaders), inst.schedule.Members(), p), careful: careful}
	e.sends, e.combine = p.Kind != collectives.Strided, k.tgt.ReduceTime(block*int64(p.Combined))
	if e.bytes > k.eagerLimit {
		e.chargeRendezvous(p)
	} else {
		e.charge(p)
	}
	return e
}

// charge sets what the round costs processors. Who sends is busy for SendTime first, and
// its message leaves before the copy of its bytes is made: max(x + send, y + overhead +
// delay) is max(x, y − copy + delay) + send.
func (e *evaluation) charge(p collectives.Pattern) {
	tgt := e.k.tgt
	e.work = tgt.ReceiveTime(e.bytes).Plus(e.combine)
	if p.Kind == collectives.Strided {
		e.lag, e.spent = tgt.Overhead().Send, tgt.SendTime(e.bytes)
		return
	}
	e.lag = -tgt.Copy(e.bytes)
	e.work = e.work.Plus(tgt.SendTime(e.bytes))
}

// whole reports whether all participants belong to this engine.
func (b *arrayRun) whole() bool { return b.lo == 0 && b.hi == b.total }

// chargeRendezvous is charge for messages above the eager limit, whose delays are all
// alike: α for the request; after the match, data until the content is there and free
// until the sender is. With s and r for the overheads of both ends, reductions
// included, an exchange ends at
//
//	max(max(x + s, max(x, y + s + α) + data) + r, max(y, x + s + α) + free).
//
// Who folds is free when its data have left. When that is makes no difference: the
// result comes back later. So its receiver's clock may be left out.
func (e *evaluation) chargeRendezvous(p collectives.Pattern) {
	tgt := e.k.tgt
	src, dst := e.inst.rankOf(0), e.inst.rankOf(e.b.total-1)
	there, gone := tgt.Rendezvous(src, dst, e.bytes, 0, 0)
	data, free := vtime.Duration(there), vtime.Duration(gone)
	send, receive := tgt.Overhead().Send, tgt.ReceiveTime(e.bytes).Plus(e.combine)
	request := send.Plus(tgt.Latency(src, dst))
	if p.Kind == collectives.Strided {
		e.fixed, e.work, e.spent = request, data.Plus(receive), request.Plus(free)
		return
	}
	e.work = max(max(send, data).Plus(receive), request.Plus(free))
	e.fixed = max(request.Plus(data).Plus(receive), free) - e.work
}

// evaluateRound carries out one round, for which everything has come. Only a shift
// across engines needs a second array: in an exchange each pair depends on itself
// alone, and the senders of a strided round do not receive.
func (k *kernel) evaluateRound(inst *instance, b *arrayRun, p collectives.Pattern) {
	lo, hi := bounds(p, b.lo, b.hi)
	e := k.newEvaluation(inst, b, p)
	var before []vtime.Time
	if invariant.Enabled {
		checkRuns(p, b.total, lo, hi)
		before = slices.Clone(b.work)
	}
	visit := func(dst, src, n, stride int) {
		dst, src, n = clip(dst, src, n, stride, lo, hi)
		switch {
		case n <= 0:
		case p.Kind != collectives.Exchange:
			e.receive(dst, src, n, stride, b.work[src-lo:], stride)
		case dst < src:
			e.exchange(dst, src, n)
		}
	}
	done := fusion{first: lo, last: lo}
	switch {
	case p.Kind == collectives.Exchange:
		done = e.exchangeBlocks(p.Distance, lo, hi)
	case p.Kind == collectives.Shift && b.whole():
		e.shiftInPlace(p.Distance)
		done = fusion{first: lo, last: hi}
	}
	runs(p, b.total, lo, done.first, visit)
	runs(p, b.total, done.last, hi, visit)
	k.eng.Statistics.Messages += e.messages(p, hi-lo)
	if p.Kind == collectives.Shift && !b.whole() {
		b.work, b.next = b.next, b.work
	}
	if e.spent != 0 {
		e.spend(p, hi)
	}
	if invariant.Enabled {
		b.checkRound(before)
	}
}

// spend lets the senders of a strided round pay, once nobody needs their old clocks.
func (e *evaluation) spend(p collectives.Pattern, hi int) {
	skip := max(0, (e.lo-p.First+p.Stride-1)/p.Stride)
	for i := skip; i < p.Count && p.First+i*p.Stride < hi; i++ {
		clock := &e.b.work[p.First+i*p.Stride-e.lo]
		*clock = clock.Add(e.spent)
	}
}

// rank returns the rank in WORLD of an element.
func (e *evaluation) rank(element int) int {
	return e.inst.rankOf(collectives.Survivor(e.b.folded, element))
}

// exchange lets the elements lower, lower+1, ... and upper, upper+1, ..., n of
// each, take in each other's messages.
func (e *evaluation) exchange(lower, upper, n int) {
	left, right := e.b.work[lower-e.lo:][:n], e.b.work[upper-e.lo:][:n]
	if e.careful {
		sent := slices.Clone(left)
		e.receiveCarefully(lower, upper, n, 1, right, 1)
		e.receiveCarefully(upper, lower, n, 1, sent, 1)
		return
	}
	if e.same {
		delay := vtime.Time(e.delay(lower, upper))
		for i, x := range left {
			y := right[i]
			left[i] = max(x, y+delay) + vtime.Time(e.work)
			right[i] = max(y, x+delay) + vtime.Time(e.work)
		}
		return
	}
	for done := 0; done < n; {
		part := min(n-done, delayChunk)
		if e.b.kept == nil {
			e.b.kept = make([]vtime.Time, delayChunk)
		}
		up := e.chunk(upper+done, lower+done, part, 1)
		for i, delay := range up {
			e.b.kept[i] = max(right[done+i], left[done+i].Add(delay)).Add(e.work)
		}
		down := e.chunk(lower+done, upper+done, part, 1)
		for i, delay := range down {
			left[done+i] = max(left[done+i], right[done+i].Add(delay)).Add(e.work)
		}
		copy(right[done:], e.b.kept[:part])
		done += part
	}
}

// messages counts the messages of a round that go to this engine's participants.
func (e *evaluation) messages(p collectives.Pattern, n int) uint64 {
	count := n
	if p.Kind == collectives.Strided {
		count = 0
		runs(p, e.b.total, e.lo, e.lo+n, func(_, _, n, _ int) { count += n })
	}
	return uint64(count)
}

// receive lets n receivers dst, dst+stride, ... take in the messages of src,
// src+stride, ..., whose clocks lie in the given slice, step apart.
func (e *evaluation) receive(dst, src, n, stride int, clocks []vtime.Time, step int) {
	own, next := e.b.work[dst-e.lo:], e.next[dst-e.lo:]
	if e.careful {
		e.receiveCarefully(dst, src, n, stride, clocks, step)
		return
	}
	if e.same {
		delay := e.delay(src, dst)
		if stride == 1 && step == 1 {
			receiveUniform(next[:n], own[:n], clocks[:n], delay, e.work)
			return
		}
		for i := range n {
			next[i*stride] = max(own[i*stride], clocks[i*step].Add(delay)).Add(e.work)
		}
		return
	}
	for n > 0 {
		part := min(n, delayChunk)
		delays := e.chunk(dst, src, part, stride)
		for i, delay := range delays {
			next[i*stride] = max(own[i*stride], clocks[i*step].Add(delay)).Add(e.work)
		}
		if n -= part; n > 0 {
			dst, src, clocks = dst+part*stride, src+part*stride, clocks[part*step:]
			own, next = own[part*stride:], next[part*stride:]
		}
	}
}

// receiveCarefully is receive with a look at each clock.
func (e *evaluation) receiveCarefully(dst, src, n, stride int, clocks []vtime.Time, step int) {
	for i := range n {
		to, from := dst+i*stride, src+i*stride
		e.next[to-e.lo] = e.through(to, from, e.b.work[to-e.lo], clocks[i*step])
	}
}

// receiveUniform is the inner loop: every message takes the same time.
func receiveUniform(next, own, clocks []vtime.Time, delay, work vtime.Duration) {
	own, clocks = own[:len(next)], clocks[:len(next)]
	for i, t := range clocks {
		next[i] = max(own[i], t+vtime.Time(delay)) + vtime.Time(work)
	}
}

// delay returns the delay from element src to element dst, with the lag.
func (e *evaluation) delay(src, dst int) vtime.Duration {
	if e.fixed != 0 {
		return e.fixed
	}
	return e.k.tgt.Delay(e.rank(src), e.rank(dst), e.bytes).Plus(e.lag)
}

// chunk returns the delays of n messages, with the lag.
func (e *evaluation) chunk(dst, src, n, stride int) []vtime.Duration {
	if e.b.delays == nil {
		e.b.delays = make([]vtime.Duration, delayChunk)
	}
	delays := e.b.delays[:n]
	unfolded := e.b.folded == 0 || min(src, dst) >= e.b.folded
	if stride == 1 && unfolded && !e.inst.leaders && e.inst.comm.index == worldComm {
		e.consecutive(src+e.b.folded, dst+e.b.folded, delays)
		return delays
	}
	for i := range delays {
		delays[i] = e.delay(src+i*stride, dst+i*stride)
	}
	return delays
}

// consecutive sets the delays, with the lag, from ranks src, src + 1, ... to dst, dst +
// 1, ....
func (e *evaluation) consecutive(src, dst int, delays []vtime.Duration) {
	e.k.tgt.Delays(src, dst, e.bytes, delays)
	if e.lag != 0 {
		for i := range delays {
			delays[i] += e.lag
		}
	}
}
