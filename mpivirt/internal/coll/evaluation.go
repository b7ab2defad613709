package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// The arithmetic of a round over the clocks of an engine's participants.

// delayChunk is the number of delays computed at a time: they stay in the L1
// cache.
const delayChunk = 512

// evaluation is what one round does to the clocks. A participant whose clock shows x
// and that takes in the message of one at y, lag after the message's network delay, is
// at max(x, y + lag + delay) + work afterwards.
type evaluation struct {
	k     *Collectives
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
func (k *Collectives) newEvaluation(inst *instance, b *arrayRun, p collectives.Pattern) evaluation {
	lo, _ := bounds(p, b.lo, b.hi)
	block := blockBytes(inst.layout, inst.schedule)
	next := b.work
	if p.Kind == collectives.Shift && !b.whole() {
		next = b.next
	}
	careful := b.careful()
	e := evaluation{k: k, inst: inst, b: b, lo: lo, next: next, bytes: block * int64(p.Sent),
		same: !careful && uniformDelay(k.uniformFrom(inst.leaders), inst.schedule.Members(), p), careful: careful}
	e.sends, e.combine = p.Kind != collectives.Strided, k.Target.ReduceTime(block*int64(p.Combined))
	if e.bytes > k.EagerLimit {
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
	tgt := e.k.Target
	e.work = tgt.ReceiveTime(e.bytes).Plus(e.combine)
	if p.Kind == collectives.Strided {
		e.lag, e.spent = tgt.Overhead().Send, tgt.SendTime(e.bytes)
		return
	}
	e.lag = -tgt.Copy(e.bytes)
	e.work = e.work.Plus(tgt.SendTime(e.bytes))
}

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
	tgt := e.k.Target
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
func (k *Collectives) evaluateRound(inst *instance, b *arrayRun, p collectives.Pattern) {
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
	k.Engine.Statistics.Messages += e.messages(p, hi-lo)
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
	return e.k.Target.Delay(e.rank(src), e.rank(dst), e.bytes).Plus(e.lag)
}

// chunk returns the delays of n messages, with the lag.
func (e *evaluation) chunk(dst, src, n, stride int) []vtime.Duration {
	if e.b.delays == nil {
		e.b.delays = make([]vtime.Duration, delayChunk)
	}
	delays := e.b.delays[:n]
	unfolded := e.b.folded == 0 || min(src, dst) >= e.b.folded
	if stride == 1 && unfolded && !e.inst.leaders && e.inst.comm.Index == world.World {
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
	e.k.Target.Delays(src, dst, e.bytes, delays)
	if e.lag != 0 {
		for i := range delays {
			delays[i] += e.lag
		}
	}
}
