package maxplus

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// Where statistics are on, elements keep accounts beside their clocks. An account is that of an agent which goes through the rounds by messages.

// Meter hears of the messages of rounds, where statistics are on.
type Meter interface {
	// Rounded hears of n messages of some bytes, which were under way for a time. Their receivers each combine for another time.
	Rounded(n uint64, bytes int64, way, combine vtime.Duration)
	// Computed hears of the work of a participant in the memory of its node.
	Computed(took vtime.Duration)
}

// accounting is the state of an array for statistics.
type accounting struct {
	accounts folding[stats.Account]
	latest   folding[vtime.Time] // the latest entry that an element knows of
	knew     []vtime.Time        // latest of the elements before a round, but for an exchange without interfaces
	common   stats.Account       // of all elements: what is to be added to Works, Sent and Combined of each, see addCommon
	sharing
}

// folding has a value of each element.
type folding[T any] struct {
	of       []T // of the elements
	all      []T // while folded: of all participants Low to High-1
	survived []T // unused memory for the values of survivors
}

// begin makes room for n participants.
func (f *folding[T]) begin(n int) { f.of = resized(f.of, n) }

// fold makes the survivors among the participants of an array from first on, of a number of folded pairs, the elements.
func (f *folding[T]) fold(folded, first, n, low int) {
	f.all, f.of = f.of, resized(f.survived, n)
	for i := range f.of {
		f.of[i] = f.all[collectives.Survivor(folded, first+i)-low]
	}
}

// unfold makes all participants of an array the elements again.
func (f *folding[T]) unfold(folded, first, low int) {
	for i, v := range f.of {
		f.all[collectives.Survivor(folded, first+i)-low] = v
	}
	f.survived, f.of, f.all = f.of, f.all, nil
}

// resized returns memory for n values, that of a slice if there is room.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Accounts returns the accounts of the elements, in order. Before the first round and after Finish the elements are the participants.
func (a *Array) Accounts() []stats.Account { return a.accounts.of }

// Latest returns the latest entries that the elements know of, in order. The caller of Begin sets them.
func (a *Array) Latest() []vtime.Time { return a.latest.of }

// beginAccounts gives an array accounts, which the caller sets.
func (a *Array) beginAccounts() {
	a.common = stats.Account{}
	a.accounts.begin(a.High - a.Low)
	a.latest.begin(a.High - a.Low)
}

// addCommon adds the common times to the accounts. In a shift or an exchange without shared interfaces all elements work alike, so that a round adds to the common times; an element
// that learns of a later entry stores what it works from then on less the common times.
func (a *Array) addCommon() {
	if a.common == (stats.Account{}) {
		return
	}
	for i := range a.accounts.of {
		of := &a.accounts.of[i]
		of.Works += a.common.Works
		of.Sent += a.common.Sent
		of.Combined += a.common.Combined
	}
	a.common = stats.Account{}
}

// workTogether adds what all elements work in the current round, which is a shift or an exchange, to the common times.
func (e *Evaluation) workTogether() {
	c, of := e.charges(), &e.a.common
	of.Works += c.send + c.receive + c.combine
	of.Sent += c.send
	of.Combined += c.combine
}

// foldAccounts is renumber for accounts: elements are the survivors of a number of folded pairs, 0 for all participants.
func (a *Array) foldAccounts(folded int) {
	a.addCommon()
	if folded == 0 {
		first := collectives.Survivors(a.folded, a.Low)
		a.accounts.unfold(a.folded, first, a.Low)
		a.latest.unfold(a.folded, first, a.Low)
		return
	}
	first := collectives.Survivors(folded, a.Low)
	n := collectives.Survivors(folded, a.High) - first
	a.accounts.fold(folded, first, n, a.Low)
	a.latest.fold(folded, first, n, a.Low)
}

// keepKnowledge stores what the elements know before a round. In a shift, and at interfaces, an element receives before its own message
// is read.
func (a *Array) keepKnowledge() {
	a.knew = resized(a.knew, len(a.latest.of))
	copy(a.knew, a.latest.of)
}

// Knows returns the latest entry that an element of the array knows of before the current round.
func (a *Array) Knows(element int) vtime.Time {
	i := element - collectives.Survivors(a.folded, a.Low)
	if a.pattern.Kind == collectives.Exchange && !a.shares {
		return a.latest.of[i]
	}
	return a.knew[i]
}

// charges are the times of processors in a round, apart from those of senders that do not receive.
type charges struct {
	send, receive, combine vtime.Duration
}

// charges returns the charges of a round for receivers.
func (e *Evaluation) charges() charges {
	c := charges{receive: e.target.ReceiveTime(e.bytes), combine: e.combine}
	if e.sends {
		c.send = e.target.SendTime(e.bytes)
	}
	return c
}

// receives has an element with a clock, which knows of a latest entry, receive the message of an element with another clock, which knows of another
// entry. The delay is that of [Evaluation].
func receives(a *stats.Account, latest *vtime.Time, x, y, knows vtime.Time, delay vtime.Duration, c *charges) {
	before := x + vtime.Time(c.send)
	a.Works += c.send
	if knows > *latest {
		*latest = knows
		if knows >= before {
			a.Works = 0
		}
	}
	if y+vtime.Time(delay) <= x {
		a.Received += c.receive
	}
	a.Sent += c.send
	a.Works += c.receive + c.combine
	a.Combined += c.combine
}

// together is receives where all elements work alike, less what workTogether adds. worked is what the common times have when the element has sent.
func together(a *stats.Account, latest *vtime.Time, x, y, knows vtime.Time, delay, worked vtime.Duration, c *charges) {
	if knows > *latest {
		*latest = knows
		if knows >= x+vtime.Time(c.send) {
			a.Works = -worked
		}
	}
	if y+vtime.Time(delay) <= x {
		a.Received += c.receive
	}
}

// worked returns what the common times have when the elements have sent in the current round.
func (e *Evaluation) worked(c *charges) vtime.Duration { return e.a.common.Works + c.send }

// meter reports messages with the delay of [Evaluation].
func (e *Evaluation) meter(n int, delay vtime.Duration) {
	e.a.Meter.Rounded(uint64(n), e.bytes, delay-e.lag, e.combine)
}

// meterEach reports messages with delays of which few differ.
func (e *Evaluation) meterEach(delays []vtime.Duration) {
	var kinds [4]alike // the latest found
	used := 0
	for len(delays) > 0 {
		run := alike{delays[0], 1}
		for run.n < len(delays) && delays[run.n] == run.delay {
			run.n++
		}
		delays = delays[run.n:]
		at := 0
		for at < used && kinds[at].delay != run.delay {
			at++
		}
		switch {
		case at < used:
			kinds[at].n += run.n
		case used < len(kinds):
			kinds[used] = run
			used++
		default:
			e.meter(kinds[0].n, kinds[0].delay)
			copy(kinds[:], kinds[1:])
			kinds[used-1] = run
		}
	}
	for _, k := range kinds[:used] {
		e.meter(k.n, k.delay)
	}
}

// alike is a number of messages with equal delays.
type alike struct {
	delay vtime.Duration
	n     int
}

// exchangeAccounted is exchange with accounts.
func (e *Evaluation) exchangeAccounted(lower, upper, n int) {
	if e.same {
		s := e.step(upper-lower, e.anyDelay(lower, upper))
		all := e.elements(e.lo, len(e.a.work))
		s.exchange(&all, lower-e.lo, n)
		e.meter(2*n, vtime.Duration(s.delay))
		return
	}
	c := e.charges()
	worked := e.worked(&c)
	var downs [delayChunk]vtime.Duration
	for done := 0; done < n; {
		part := min(n-done, delayChunk)
		copy(downs[:part], e.chunk(lower+done, upper+done, part, 1))
		e.meterEach(downs[:part])
		ups := e.chunk(upper+done, lower+done, part, 1)
		e.meterEach(ups)
		for i, up := range ups {
			low, high, down := lower+done+i, upper+done+i, downs[i]
			left, right := &e.a.work[low-e.lo], &e.a.work[high-e.lo]
			one, other := &e.a.latest.of[low-e.lo], &e.a.latest.of[high-e.lo]
			x, y, knows := *left, *right, *one
			together(&e.a.accounts.of[low-e.lo], one, x, y, *other, down, worked, &c)
			together(&e.a.accounts.of[high-e.lo], other, y, x, knows, up, worked, &c)
			*left, *right = e.after(low, high, x, y, down), e.after(high, low, y, x, up)
		}
		done += part
	}
}

// after returns the clock of an element after it has received the message of another; x and y are their clocks before that.
func (e *Evaluation) after(to, from int, x, y vtime.Time, delay vtime.Duration) vtime.Time {
	if e.careful {
		return e.through(to, from, x, y)
	}
	return max(x, y+vtime.Time(delay)) + vtime.Time(e.work)
}

// receiveAccounted is receive with accounts. knows has what the senders know, as clocks has their clocks.
func (e *Evaluation) receiveAccounted(dst, src, n, stride int, clocks, knows []vtime.Time, step int) {
	c := e.charges()
	if e.a.pattern.Kind == collectives.Shift && stride == 1 && !e.careful {
		e.shiftAccounted(dst, src, n, clocks, knows, &c)
		return
	}
	delay := vtime.Duration(0)
	if e.same {
		delay = e.anyDelay(src, dst)
		e.meter(n, delay)
	}
	strided, worked := e.a.pattern.Kind == collectives.Strided, e.worked(&c)
	for i := range n {
		to := dst + i*stride - e.lo
		if !e.same {
			delay = e.delay(src+i*stride, dst+i*stride)
			e.meter(1, delay)
		}
		x, y := e.a.work[to], clocks[i*step]
		if account, latest := &e.a.accounts.of[to], &e.a.latest.of[to]; strided {
			receives(account, latest, x, y, knows[i*step], delay, &c)
		} else {
			together(account, latest, x, y, knows[i*step], delay, worked, &c)
		}
		e.next[to] = e.after(dst+i*stride, src+i*stride, x, y, delay)
	}
}

// shiftAccounted has consecutive elements receive the messages of a shift, with accounts. No clock can pass the end of virtual time.
func (e *Evaluation) shiftAccounted(dst, src, n int, clocks, knows []vtime.Time, c *charges) {
	all, next := e.elements(dst, n), e.next[dst-e.lo:][:n]
	all.learn(knows[:n], c.send, e.worked(c))
	if e.same {
		delay := e.anyDelay(src, dst)
		e.meter(n, delay)
		all.receive(next, clocks[:n], delay, c.receive, e.work)
		return
	}
	for done := 0; done < n; done += delayChunk {
		delays := e.chunk(dst+done, src+done, min(n-done, delayChunk), 1)
		e.meterEach(delays)
		part := all.part(done, done+len(delays))
		part.receiveEach(next[done:], clocks[done:], delays, c.receive, e.work)
	}
}

// learn has the elements, which send and receive alike in a shift, learn of entries; see together. The loops of a shift are functions of their own, so that
// each finds registers enough.
//
//go:noinline
func (e *elements) learn(knows []vtime.Time, send, worked vtime.Duration) {
	clocks, accounts, latest := e.clocks[:len(knows)], e.accounts[:len(knows)], e.latest[:len(knows)]
	for i, entry := range knows {
		if entry > latest[i] {
			latest[i] = entry
			if entry >= clocks[i]+vtime.Time(send) {
				accounts[i].Works = -worked
			}
		}
	}
}

// receive has the elements receive messages of equal delay of elements with other clocks, and stores their next clocks. A message that has come before takes a time to
// receive, the whole round the time work.
//
//go:noinline
func (e *elements) receive(next, clocks []vtime.Time, delay, receive, work vtime.Duration) {
	own, accounts, next := e.clocks[:len(clocks)], e.accounts[:len(clocks)], next[:len(clocks)]
	for i, t := range clocks {
		x := own[i]
		if t += vtime.Time(delay); t <= x {
			accounts[i].Received += receive
			t = x
		}
		next[i] = t + vtime.Time(work)
	}
}

// receiveEach is receive for messages with delays of their own.
//
//go:noinline
func (e *elements) receiveEach(next, clocks []vtime.Time, delays []vtime.Duration, receive, work vtime.Duration) {
	clocks, own, accounts, next := clocks[:len(delays)], e.clocks[:len(delays)], e.accounts[:len(delays)], next[:len(delays)]
	for i, delay := range delays {
		x, t := own[i], clocks[i]+vtime.Time(delay)
		if t <= x {
			accounts[i].Received += receive
			t = x
		}
		next[i] = t + vtime.Time(work)
	}
}

// spendAccounted adds what the senders of a strided round spend to the account of an element.
func (e *Evaluation) spendAccounted(element int) {
	if e.a.Meter != nil {
		account := &e.a.accounts.of[element-e.lo]
		account.Works += e.spent
		account.Sent += e.spent
	}
}

// elements are the clocks of consecutive elements, with their accounts and the latest entries that they know of.
type elements struct {
	clocks   []vtime.Time
	accounts []stats.Account
	latest   []vtime.Time
}

// elements returns n elements from a number on.
func (e *Evaluation) elements(from, n int) elements {
	i := from - e.lo
	return elements{e.a.work[i:][:n], e.a.accounts.of[i:][:n], e.a.latest.of[i:][:n]}
}

// part returns the elements from a place to another.
func (e *elements) part(from, to int) elements {
	return elements{e.clocks[from:to], e.accounts[from:to], e.latest[from:to]}
}

// accountedStep is a round for elements whose delays are all equal, with accounts.
type accountedStep struct {
	exchangeStep
	charges
	worked vtime.Duration // as in together
}

// step returns the exchange of a round.
func (e *Evaluation) step(distance int, delay vtime.Duration) accountedStep {
	c := e.charges()
	return accountedStep{exchangeStep{distance, vtime.Time(delay), vtime.Time(e.work)}, c, e.worked(&c)}
}

// exchange has n elements from a place on receive the messages of others at the distance of the step, and the others those of the elements.
func (s *accountedStep) exchange(of *elements, from, n int) {
	left, right := of.part(from, from+n), of.part(from+s.distance, from+s.distance+n)
	for i, x := range left.clocks {
		y := right.clocks[i]
		switch one, other := left.latest[i], right.latest[i]; {
		case one < other:
			left.latest[i] = other
			if other >= x+vtime.Time(s.send) {
				left.accounts[i].Works = -s.worked
			}
		case other < one:
			right.latest[i] = one
			if one >= y+vtime.Time(s.send) {
				right.accounts[i].Works = -s.worked
			}
		}
		if y+s.delay <= x {
			left.accounts[i].Received += s.receive
		}
		if x+s.delay <= y {
			right.accounts[i].Received += s.receive
		}
		left.clocks[i] = max(x, y+s.delay) + s.work
		right.clocks[i] = max(y, x+s.delay) + s.work
	}
}

// fuseAccounted carries elements through the rounds from the current one on, whose exchanges are given, in blocks of elements.
func (e *Evaluation) fuseAccounted(of elements, block int, exchanges []exchangeStep) {
	a := e.a
	steps, worked := make([]accountedStep, 0, len(exchanges)), a.common.Works
	for i, s := range exchanges {
		r := a.evaluation(a.round+i, a.Schedule.Pattern(a.round+i))
		r.meter(len(of.clocks), vtime.Duration(s.delay))
		c := r.charges()
		steps = append(steps, accountedStep{s, c, worked + c.send})
		worked += c.send + c.receive + c.combine
	}
	for from := 0; from < len(of.clocks); from += block {
		to := min(from+block, len(of.clocks))
		for i := range steps {
			s := &steps[i]
			for at := from; at < to; at += 2 * s.distance {
				s.exchange(&of, at, s.distance)
			}
		}
	}
}
