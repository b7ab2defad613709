package maxplus

import (
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/network"
	"gigarank/vtime"
)

// The arithmetic of a round over the clocks of an array.

// delayChunk is the number of delays computed at a time: they stay in the L1
// cache.
const delayChunk = 512

// Evaluation is what the current round does to the clocks of an array. A participant
// whose clock shows x and that takes in the message of one at y, lag after the message's
// network delay, is at max(x, y + lag + delay) + work afterwards. It holds until the round
// is over, or Top rises.
type Evaluation struct {
	a      *Array
	target *network.Target
	lo     int          // number of the first element of work and next
	next   []vtime.Time // where the new clocks go: work itself, but for a shift across arrays
	bytes  int64
	lag    vtime.Duration
	work   vtime.Duration
	spent  vtime.Duration // what the senders of a strided round pay, who receive nothing
	same   bool           // all messages have the same delay, and no clock can pass the end of time
	fixed  vtime.Duration // that of every message, lag included, if it is set: of a rendezvous, or where all are the same

	// Clocks may pass the end of time, see Array, and through does the arithmetic.
	careful bool
	sends   bool           // who receives in the round sends, too
	combine vtime.Duration // part of work
}

// Evaluation returns the arithmetic of the current round, for which the array is prepared.
func (a *Array) Evaluation() *Evaluation {
	if !a.evaluated || a.current.careful != a.careful() {
		a.current, a.evaluated = a.evaluation(a.Pattern()), true
	}
	return &a.current
}

// evaluation prepares the arithmetic of a round.
func (a *Array) evaluation(p collectives.Pattern) Evaluation {
	lo, _ := bounds(p, a.Low, a.High)
	next := a.work
	if p.Kind == collectives.Shift && !a.whole() && a.Interfaces == nil {
		next = a.next
	}
	careful := a.careful()
	e := Evaluation{a: a, target: a.Target, lo: lo, next: next, bytes: a.Bytes * int64(p.Sent),
		same: !careful && UniformDelay(a.UniformFrom, a.total(), p), careful: careful}
	e.sends, e.combine = p.Kind != collectives.Strided, e.target.ReduceTime(a.Bytes*int64(p.Combined))
	if e.bytes > e.target.EagerLimit() {
		e.chargeRendezvous(p)
	} else {
		e.charge(p)
	}
	return e
}

// UniformDelay reports whether every pair of participants that a round connects has the
// same delay. It has between any two whose numbers are at least from apart.
func UniformDelay(from, participants int, p collectives.Pattern) bool {
	distance := max(p.Distance, -p.Distance)
	if p.Kind == collectives.Shift {
		distance = min(distance, participants-distance)
	}
	return distance >= from
}

// charge sets what the round costs processors. Who sends is busy for SendTime first, and
// its message leaves before the copy of its bytes is made: max(x + send, y + overhead +
// delay) is max(x, y − copy + delay) + send.
func (e *Evaluation) charge(p collectives.Pattern) {
	tgt := e.target
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
func (e *Evaluation) chargeRendezvous(p collectives.Pattern) {
	tgt := e.target
	src, dst := e.a.Participants.RankOf(0), e.a.Participants.RankOf(e.a.total()-1)
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

// Evaluate carries out the current round, for which everything has come, and begins the
// next one. It returns the number of messages that the array's participants receive in
// it, from wherever. Only a shift across arrays needs a second array: in an exchange each
// pair depends on itself alone, and the senders of a strided round do not receive.
func (a *Array) Evaluate() (messages uint64) {
	p := a.Pattern()
	lo, hi := bounds(p, a.Low, a.High)
	e := a.Evaluation()
	var before []vtime.Time
	if invariant.Enabled {
		checkRuns(p, a.total(), lo, hi)
		before = slices.Clone(a.work)
	}
	visit := func(dst, src, n, stride int) {
		dst, src, n = clip(dst, src, n, stride, lo, hi)
		switch {
		case n <= 0:
		case p.Kind != collectives.Exchange:
			e.receive(dst, src, n, stride, a.work[src-lo:], stride)
		case dst < src:
			e.exchange(dst, src, n)
		}
	}
	done := fusion{first: lo, last: lo}
	switch {
	case a.Interfaces != nil:
		a.arrive()
		done = fusion{first: lo, last: hi}
	case p.Kind == collectives.Exchange:
		done = e.exchangeBlocks(p.Distance, lo, hi)
	case p.Kind == collectives.Shift && a.whole():
		e.shiftInPlace(p.Distance)
		done = fusion{first: lo, last: hi}
	}
	runs(p, a.total(), lo, done.first, visit)
	runs(p, a.total(), done.last, hi, visit)
	messages = e.messages(p, hi-lo)
	if p.Kind == collectives.Shift && !a.whole() && a.Interfaces == nil {
		a.work, a.next = a.next, a.work
	}
	if e.spent != 0 {
		e.spend(p, hi)
	}
	if invariant.Enabled {
		a.checkRound(before)
	}
	a.enter(a.round + 1)
	return messages
}

// Receive takes in the messages of elements src, src+stride, ... of another array, whose
// clocks are given, for as many elements of this one: dst, dst+stride, .... In an exchange
// the clocks of the receivers must not be wanted any more as they were before the round.
func (e *Evaluation) Receive(dst, src, stride int, clocks []vtime.Time) {
	e.a.received += len(clocks)
	if e.a.Interfaces != nil {
		for i, t := range clocks {
			e.a.came[dst+i*stride-e.lo] = t
		}
		return
	}
	e.receive(dst, src, len(clocks), stride, clocks, 1)
}

// spend lets the senders of a strided round pay, once nobody needs their old clocks.
func (e *Evaluation) spend(p collectives.Pattern, hi int) {
	skip := max(0, (e.lo-p.First+p.Stride-1)/p.Stride)
	for i := skip; i < p.Count && p.First+i*p.Stride < hi; i++ {
		clock := &e.a.work[p.First+i*p.Stride-e.lo]
		*clock = clock.Add(e.spent)
	}
}

// rank returns the rank in WORLD of an element.
func (e *Evaluation) rank(element int) int {
	participant := e.a.Participant(element)
	if e.a.Consecutive {
		return participant
	}
	return e.a.Participants.RankOf(participant)
}

// exchange lets the elements lower, lower+1, ... and upper, upper+1, ..., n of
// each, take in each other's messages.
func (e *Evaluation) exchange(lower, upper, n int) {
	left, right := e.a.work[lower-e.lo:][:n], e.a.work[upper-e.lo:][:n]
	if e.careful {
		sent := slices.Clone(left)
		e.receiveCarefully(lower, upper, n, 1, right, 1)
		e.receiveCarefully(upper, lower, n, 1, sent, 1)
		return
	}
	if e.same {
		delay := vtime.Time(e.anyDelay(lower, upper))
		for i, x := range left {
			y := right[i]
			left[i] = max(x, y+delay) + vtime.Time(e.work)
			right[i] = max(y, x+delay) + vtime.Time(e.work)
		}
		return
	}
	memory := e.a.Memory
	if memory.kept == nil {
		memory.kept = make([]vtime.Time, delayChunk)
	}
	kept := memory.kept
	for done := 0; done < n; {
		part := min(n-done, delayChunk)
		up := e.chunk(upper+done, lower+done, part, 1)
		for i, delay := range up {
			kept[i] = max(right[done+i], left[done+i].Add(delay)).Add(e.work)
		}
		down := e.chunk(lower+done, upper+done, part, 1)
		for i, delay := range down {
			left[done+i] = max(left[done+i], right[done+i].Add(delay)).Add(e.work)
		}
		copy(right[done:], kept[:part])
		done += part
	}
}

// messages counts the messages of a round that go to the array's participants.
func (e *Evaluation) messages(p collectives.Pattern, n int) uint64 {
	count := n
	if p.Kind == collectives.Strided {
		count = 0
		runs(p, e.a.total(), e.lo, e.lo+n, func(_, _, n, _ int) { count += n })
	}
	return uint64(count)
}

// receive lets n receivers dst, dst+stride, ... take in the messages of src,
// src+stride, ..., whose clocks lie in the given slice, step apart.
func (e *Evaluation) receive(dst, src, n, stride int, clocks []vtime.Time, step int) {
	own, next := e.a.work[dst-e.lo:], e.next[dst-e.lo:]
	if e.careful {
		e.receiveCarefully(dst, src, n, stride, clocks, step)
		return
	}
	if e.same {
		delay := e.anyDelay(src, dst)
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
func (e *Evaluation) receiveCarefully(dst, src, n, stride int, clocks []vtime.Time, step int) {
	for i := range n {
		to, from := dst+i*stride, src+i*stride
		e.next[to-e.lo] = e.through(to, from, e.a.work[to-e.lo], clocks[i*step])
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
func (e *Evaluation) delay(src, dst int) vtime.Duration {
	if e.fixed != 0 {
		return e.fixed
	}
	return e.target.Delay(e.rank(src), e.rank(dst), e.bytes).Plus(e.lag)
}

// anyDelay is delay where all messages have the same.
func (e *Evaluation) anyDelay(src, dst int) vtime.Duration {
	e.fixed = e.delay(src, dst)
	return e.fixed
}

// chunk returns the delays of n messages, with the lag.
func (e *Evaluation) chunk(dst, src, n, stride int) []vtime.Duration {
	memory := e.a.Memory
	if memory.delays == nil {
		memory.delays = make([]vtime.Duration, delayChunk)
	}
	delays := memory.delays[:n]
	unfolded := e.a.folded == 0 || min(src, dst) >= e.a.folded
	if stride == 1 && unfolded && e.a.Consecutive {
		e.consecutive(src+e.a.folded, dst+e.a.folded, delays)
		return delays
	}
	for i := range delays {
		delays[i] = e.delay(src+i*stride, dst+i*stride)
	}
	return delays
}

// consecutive sets the delays, with the lag, from ranks src, src + 1, ... to dst, dst +
// 1, ....
func (e *Evaluation) consecutive(src, dst int, delays []vtime.Duration) {
	e.target.Delays(src, dst, e.bytes, delays)
	if e.lag != 0 {
		for i := range delays {
			delays[i] += e.lag
		}
	}
}
