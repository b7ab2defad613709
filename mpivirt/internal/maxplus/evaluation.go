package maxplus

import (
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/network"
	"gigarank/vtime"
)

// The arithmetic of a round over the clocks of an array.

// delayChunk is the number of delays computed at a time, so that they stay in the L1 cache.
const delayChunk = 512

// Evaluation is the arithmetic of the current step on the clocks of an array. A participant with
// clock x that receives a message of a participant with clock y, lag later than the message's
// network delay, has clock max(x, y + lag + delay) + work after the round. An Evaluation is valid
// until the step is over, or Top rises.
type Evaluation struct {
	a      *Array
	target *network.Target
	lo     int          // number of the first element of work and next
	next   []vtime.Time // the new clocks: work itself, except for a shift across arrays
	bytes  int64
	lag    vtime.Duration
	work   vtime.Duration
	spent  vtime.Duration // cost of a strided round for its senders, which do not receive
	same   bool           // all messages have the same delay, and no clock can pass the end of virtual time
	fixed  vtime.Duration // if set, the delay of every message, with the lag: of a rendezvous, or where all delays are equal

	// careful says that clocks may pass the end of virtual time, see Array, and through does the
	// arithmetic.
	careful bool
	sends   bool           // the receivers of the round send, too
	combine vtime.Duration // part of work
}

// Evaluation returns the arithmetic of the current step, for which the array is prepared.
func (a *Array) Evaluation() *Evaluation {
	if !a.evaluated || a.current.careful != a.careful() {
		a.current, a.evaluated = a.evaluation(a.round, a.Pattern()), true
	}
	return &a.current
}

// evaluation prepares the arithmetic of a round.
func (a *Array) evaluation(round int, p collectives.Pattern) Evaluation {
	lo, _ := bounds(p, a.Low, a.High)
	next := a.work
	if p.Kind == collectives.Shift && a.apart() && !a.contends(&p) {
		next = a.next
	}
	careful := a.careful()
	e := Evaluation{a: a, target: Congested(a.Target.Among(a.Partners, a.InTurn, a.Bytes*int64(p.Sent)), &p), lo: lo, next: next, bytes: a.Bytes * int64(p.Sent),
		same: !careful && UniformDelay(a.UniformFrom, a.total(), p), careful: careful}
	e.sends, e.combine = p.Kind != collectives.Strided, e.target.ReduceTime(a.Bytes*int64(p.Combined))
	if a.packs {
		e.combine = e.combine.Plus(a.packing(round, CopiesOf(e.target)))
	}
	switch large := e.bytes > e.target.EagerLimit(); {
	case large && a.contends(&p): // see contendedrendezvous.go
	case large:
		e.chargeRendezvous(p)
	default:
		e.charge(p)
	}
	return e
}

// Congested returns the target as the messages of a round find it.
func Congested(t *network.Target, p *collectives.Pattern) *network.Target {
	if p.Congests() {
		return t.Congested()
	}
	return t
}

// UniformDelay reports whether all pairs of participants that a round connects have the same delay.
// Pairs whose numbers differ by at least from have the same delay.
func UniformDelay(from, participants int, p collectives.Pattern) bool {
	distance := max(p.Distance, -p.Distance)
	switch p.Kind {
	case collectives.Shift:
		distance = min(distance, participants-distance)
	case collectives.Grouped:
		distance = min(distance, p.Stride-distance)
	}
	return distance >= from
}

// charge sets the costs of the round for processors. A sender is first busy for SendTime, and its
// message leaves before the copy of its bytes is made: max(x + send, y + overhead + delay) is
// max(x, y − copy + delay) + send.
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

// chargeRendezvous is charge for messages above the eager limit, whose delays are all equal: α for
// the request; after the match, data until the content arrives and free until the sender is free.
// With s and r for the overheads of both ends, including reductions, an exchange ends at
//
//	max(max(x + s, max(x, y + s + α) + data) + r, max(y, x + s + α) + free).
//
// A participant that folds is free when its data have left. That instant makes no difference, since
// the result comes back later. So the clock of the folding receiver may be left out.
//
// In a shift the sender of the first instant y and the receiver of the last instant y are two
// participants, so the round has two steps; see [Array.Evaluate].
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
	content := request.Plus(data).Plus(receive)
	switch {
	case p.Kind != collectives.Shift:
		e.fixed = max(content, free) - e.work
	case e.a.step == 0:
		e.fixed, e.work = content-e.work, 0
	default:
		e.fixed = free - e.work
	}
}

// Evaluate carries out the current step, whose clocks are complete, and begins the next step. It
// returns the number of messages that the array's participants receive in the round. Only a shift
// across arrays needs a second array: in an exchange each pair depends on itself alone, and the
// senders of a strided round do not receive.
//
// A round is one step, but for messages above the eager limit. Where these share interfaces, the steps are those of contendedrendezvous.go. Else a
// shift has two steps. There a participant with
// clock x, whose sender has clock y and whose receiver has clock z, has clock max(x + a, y + b, z + c)
// after the round: b until the content has arrived, c until the content has left, a until both may
// have happened at the earliest. The first step makes x' = max(x, y + b - a). The second step is a
// shift back and makes max(x' + a, z' + c). The term x + b - a + c that it adds makes no difference:
// b + c is at most 2a, since a is at least the time that the receiver and the data take, and at
// least the time that the request and its sender take.
func (a *Array) Evaluate() (messages uint64) {
	if a.inWindow() {
		return a.evaluateMessage()
	}
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
		case a.Meter != nil && p.Kind != collectives.Exchange:
			e.receiveAccounted(dst, src, n, stride, a.work[src-lo:], a.knew[src-lo:], stride)
		case p.Kind != collectives.Exchange:
			e.receive(dst, src, n, stride, a.work[src-lo:], stride)
		case dst < src:
			e.exchange(dst, src, n)
		}
	}
	done := fusion{first: lo, last: lo}
	switch {
	case a.shares:
		a.arrive()
		if a.staged && a.step == moving {
			a.freeSenders(lo, hi)
		}
		done = fusion{first: lo, last: hi}
	case p.Kind == collectives.Exchange:
		done = e.exchangeBlocks(p.Distance, lo, hi)
	case p.Kind == collectives.Shift && !a.apart():
		e.shiftInPlace(p.Distance)
		done = fusion{first: lo, last: hi}
	}
	runs(p, a.total(), lo, done.first, visit)
	runs(p, a.total(), done.last, hi, visit)
	if a.step == 0 {
		messages = e.messages(p, hi-lo)
	}
	if p.Kind == collectives.Shift && a.apart() && !a.shares {
		a.work, a.next = a.next, a.work
	}
	if e.spent != 0 {
		e.spend(p, hi)
	}
	if a.uneven != nil {
		a.uneven.finish(e)
	}
	if a.Meter != nil && !a.shares && p.Kind != collectives.Strided {
		e.workTogether()
	}
	if invariant.Enabled {
		a.checkRound(before)
	}
	switch {
	case a.staged && a.step < moving, !a.staged && a.step == 0 && p.Kind == collectives.Shift && e.bytes > e.target.EagerLimit():
		a.enter(a.round, a.step+1)
	default:
		a.enter(a.round+1, 0)
	}
	return messages
}

// Receive has elements dst, dst+stride, ... of this array receive the messages of elements src,
// src+stride, ... of another array, which have the given clocks, and tell more if the arrays have accounts. In an
// exchange the old clocks of the receivers must not be needed any more.
func (e *Evaluation) Receive(dst, src, stride int, clocks []vtime.Time, told Told) {
	e.a.received += len(clocks)
	if a := e.a; a.inWindow() {
		came := a.foreign[a.message()*(a.High-a.Low):]
		for i, t := range clocks {
			came[dst+i*stride-a.Low] = t
		}
		return
	}
	if e.a.shares {
		for i, t := range clocks {
			e.a.came[dst+i*stride-e.lo] = t
		}
		for i, t := range told.Left {
			e.a.told.Left[dst+i*stride-e.lo], e.a.told.Knows[dst+i*stride-e.lo] = t, told.Knows[i]
		}
		return
	}
	if e.a.Meter != nil {
		e.receiveAccounted(dst, src, len(clocks), stride, clocks, told.Knows, 1)
		return
	}
	e.receive(dst, src, len(clocks), stride, clocks, 1)
}

// spend charges the senders of a strided round, once their old clocks are not needed any more.
func (e *Evaluation) spend(p collectives.Pattern, hi int) {
	skip := max(0, (e.lo-p.First+p.Stride-1)/p.Stride)
	for i := skip; i < p.Count && p.First+i*p.Stride < hi; i++ {
		clock := &e.a.work[p.First+i*p.Stride-e.lo]
		*clock = clock.Add(e.spent)
		e.spendAccounted(p.First + i*p.Stride)
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

// exchange has n elements from lower on and n elements from upper on receive each other's messages.
func (e *Evaluation) exchange(lower, upper, n int) {
	if e.a.Meter != nil {
		e.exchangeAccounted(lower, upper, n)
		return
	}
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

// messages returns the number of messages of a round to the array's participants.
func (e *Evaluation) messages(p collectives.Pattern, n int) uint64 {
	count := n
	if p.Kind == collectives.Strided {
		count = 0
		runs(p, e.a.total(), e.lo, e.lo+n, func(_, _, n, _ int) { count += n })
	}
	return uint64(count)
}

// receive has n elements dst, dst+stride, ... receive the messages of elements src, src+stride,
// ..., whose clocks lie in a slice, step apart.
func (e *Evaluation) receive(dst, src, n, stride int, clocks []vtime.Time, step int) {
	if e.a.uneven != nil {
		e.receiveUneven(dst, src, n, clocks)
		return
	}
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

// receiveCarefully is receive with a check of each clock.
func (e *Evaluation) receiveCarefully(dst, src, n, stride int, clocks []vtime.Time, step int) {
	for i := range n {
		to, from := dst+i*stride, src+i*stride
		e.next[to-e.lo] = e.through(to, from, e.a.work[to-e.lo], clocks[i*step])
	}
}

// receiveUniform is the inner loop for messages of equal delay.
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

// anyDelay is delay for messages of equal delay.
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
