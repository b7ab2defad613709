package maxplus

import (
	"gigarank/collectives"
	"gigarank/vtime"
)

// Where statistics are on, elements keep accounts beside their clocks, by the rules for collectives of docs/statistics.md. An account is
// that of an agent which goes through the rounds by messages.

// Account is what an element has learned, and what its processor has worked.
type Account struct {
	Latest   vtime.Time     // the latest entry that the element knows of
	Works    vtime.Duration // since the element learned of Latest by a message that it waited for
	Sent     vtime.Duration // for messages to others
	Received vtime.Duration // for messages that had come before the processor received them
	Combined vtime.Duration // on the vectors of the element
	Shared   vtime.Duration // for which other messages at interfaces have delayed the element since then
	Within   vtime.Duration // likewise, other messages and work in the memory of its node
}

// Meter hears of the messages of rounds, where statistics are on.
type Meter interface {
	// Rounded hears of n messages of some bytes, which were under way for a time. Their receivers each combine for another time.
	Rounded(n uint64, bytes int64, way, combine vtime.Duration)
	// Computed hears of the work of a participant in the memory of its node.
	Computed(took vtime.Duration)
}

// accounting is the state of an array for statistics.
type accounting struct {
	accounts []Account    // of the elements
	others   []Account    // while folded: of all participants Low to High-1
	survived []Account    // unused memory for the accounts of survivors
	knew     []vtime.Time // Latest of the elements before a round, but for an exchange without interfaces
	common   Account      // of all elements: what is to be added to Works, Sent and Combined of each, see addCommon
	sharing
}

// Accounts returns the accounts of the elements, in order. Before the first round and after Finish the elements are the participants.
func (a *Array) Accounts() []Account { return a.accounts }

// beginAccounts gives an array accounts that the caller sets.
func (a *Array) beginAccounts() {
	a.common = Account{}
	if n := a.High - a.Low; cap(a.accounts) < n {
		a.accounts = make([]Account, n)
	} else {
		a.accounts = a.accounts[:n]
	}
}

// addCommon adds the common times to the accounts. In a shift or an exchange without shared interfaces all elements work alike, so that a round adds to the common times; an element
// that learns of a later entry stores what it works from then on less the common times.
func (a *Array) addCommon() {
	if a.common == (Account{}) {
		return
	}
	for i := range a.accounts {
		of := &a.accounts[i]
		of.Works += a.common.Works
		of.Sent += a.common.Sent
		of.Combined += a.common.Combined
	}
	a.common = Account{}
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
		lo := collectives.Survivors(a.folded, a.Low)
		for i := range a.accounts {
			a.others[collectives.Survivor(a.folded, lo+i)-a.Low] = a.accounts[i]
		}
		a.survived, a.accounts, a.others = a.accounts, a.others, nil
		return
	}
	lo, hi := collectives.Survivors(folded, a.Low), collectives.Survivors(folded, a.High)
	if cap(a.survived) < hi-lo {
		a.survived = make([]Account, hi-lo)
	}
	a.others, a.accounts = a.accounts, a.survived[:hi-lo]
	for i := range a.accounts {
		a.accounts[i] = a.others[collectives.Survivor(folded, lo+i)-a.Low]
	}
}

// keepKnowledge stores what the elements know before a round. In a shift, and at interfaces, an element receives before its own message
// is read.
func (a *Array) keepKnowledge() {
	if cap(a.knew) < len(a.accounts) {
		a.knew = make([]vtime.Time, len(a.accounts))
	}
	a.knew = a.knew[:len(a.accounts)]
	accounts, knew := a.accounts, a.knew[:len(a.accounts)]
	for i := range accounts {
		knew[i] = accounts[i].Latest
	}
}

// Knows returns the latest entry that an element of the array knows of before the current round.
func (a *Array) Knows(element int) vtime.Time {
	i := element - collectives.Survivors(a.folded, a.Low)
	if a.pattern.Kind == collectives.Exchange && !a.shares {
		return a.accounts[i].Latest
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

// receives has an element with a clock receive the message of an element with another clock, which knows of an entry. The delay is that of
// [Evaluation].
func (a *Account) receives(x, y, knows vtime.Time, delay vtime.Duration, c *charges) {
	before := x + vtime.Time(c.send)
	a.Works += c.send
	if knows > a.Latest {
		a.Latest = knows
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
func (a *Account) together(x, y, knows vtime.Time, delay, worked vtime.Duration, c *charges) {
	if knows > a.Latest {
		a.Latest = knows
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
	type alike struct {
		delay vtime.Duration
		n     int
	}
	var kinds [4]alike // the latest found
	used, at := 0, 0
next:
	for _, d := range delays {
		if kinds[at].delay == d && used > 0 { // most are as the one before
			kinds[at].n++
			continue
		}
		for i := range used {
			if kinds[i].delay == d {
				kinds[i].n++
				at = i
				continue next
			}
		}
		if used == len(kinds) {
			e.meter(kinds[0].n, kinds[0].delay)
			copy(kinds[:], kinds[1:])
			used--
		}
		kinds[used], at = alike{d, 1}, used
		used++
	}
	for _, k := range kinds[:used] {
		e.meter(k.n, k.delay)
	}
}

// exchangeAccounted is exchange with accounts.
func (e *Evaluation) exchangeAccounted(lower, upper, n int) {
	if e.same {
		s := e.step(upper-lower, e.anyDelay(lower, upper))
		s.exchange(e.a.work[lower-e.lo:][:n], e.a.work[upper-e.lo:][:n], e.a.accounts[lower-e.lo:][:n], e.a.accounts[upper-e.lo:][:n])
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
			one, other := &e.a.accounts[low-e.lo], &e.a.accounts[high-e.lo]
			x, y, knows := *left, *right, one.Latest
			one.together(x, y, other.Latest, down, worked, &c)
			other.together(y, x, knows, up, worked, &c)
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
	together, worked := e.a.pattern.Kind != collectives.Strided, e.worked(&c)
	for i := range n {
		to := dst + i*stride - e.lo
		if !e.same {
			delay = e.delay(src+i*stride, dst+i*stride)
			e.meter(1, delay)
		}
		x, y := e.a.work[to], clocks[i*step]
		if account := &e.a.accounts[to]; together {
			account.together(x, y, knows[i*step], delay, worked, &c)
		} else {
			account.receives(x, y, knows[i*step], delay, &c)
		}
		e.next[to] = e.after(dst+i*stride, src+i*stride, x, y, delay)
	}
}

// shiftAccounted has consecutive elements receive the messages of a shift, with accounts. No clock can pass the end of virtual time.
func (e *Evaluation) shiftAccounted(dst, src, n int, clocks, knows []vtime.Time, c *charges) {
	worked := e.worked(c)
	own, next, accounts := e.a.work[dst-e.lo:][:n], e.next[dst-e.lo:][:n], e.a.accounts[dst-e.lo:][:n]
	clocks, knows = clocks[:n], knows[:n]
	if e.same {
		delay := e.anyDelay(src, dst)
		e.meter(n, delay)
		for i, x := range own {
			y := clocks[i]
			accounts[i].together(x, y, knows[i], delay, worked, c)
			next[i] = max(x, y+vtime.Time(delay)) + vtime.Time(e.work)
		}
		return
	}
	for done := 0; done < n; done += delayChunk {
		delays := e.chunk(dst+done, src+done, min(n-done, delayChunk), 1)
		e.meterEach(delays)
		for j, delay := range delays {
			i := done + j
			x, y := own[i], clocks[i]
			accounts[i].together(x, y, knows[i], delay, worked, c)
			next[i] = max(x, y.Add(delay)).Add(e.work)
		}
	}
}

// spendAccounted adds what the senders of a strided round spend to the account of an element.
func (e *Evaluation) spendAccounted(element int) {
	if e.a.Meter != nil {
		account := &e.a.accounts[element-e.lo]
		account.Works += e.spent
		account.Sent += e.spent
	}
}

// accountedStep is a round for elements whose delays are all equal, with accounts.
type accountedStep struct {
	exchangeStep
	charges
	worked vtime.Duration // as in [Account.together]
}

// step returns the exchange of a round.
func (e *Evaluation) step(distance int, delay vtime.Duration) accountedStep {
	c := e.charges()
	return accountedStep{exchangeStep{distance, vtime.Time(delay), vtime.Time(e.work)}, c, e.worked(&c)}
}

// exchange has elements receive the messages of others, and the others those of the elements.
func (s *accountedStep) exchange(left, right []vtime.Time, ones, others []Account) {
	right, ones, others = right[:len(left)], ones[:len(left)], others[:len(left)]
	for i, x := range left {
		y, knows := right[i], ones[i].Latest
		ones[i].together(x, y, others[i].Latest, vtime.Duration(s.delay), s.worked, &s.charges)
		others[i].together(y, x, knows, vtime.Duration(s.delay), s.worked, &s.charges)
		left[i] = max(x, y+s.delay) + s.work
		right[i] = max(y, x+s.delay) + s.work
	}
}

// fuseAccounted carries elements through the rounds from the current one on, whose exchanges are given, in blocks of elements.
func (e *Evaluation) fuseAccounted(clocks []vtime.Time, accounts []Account, block int, exchanges []exchangeStep) {
	a := e.a
	steps, worked := make([]accountedStep, 0, len(exchanges)), a.common.Works
	for i, s := range exchanges {
		r := a.evaluation(a.round+i, a.Schedule.Pattern(a.round+i))
		r.meter(len(clocks), vtime.Duration(s.delay))
		c := r.charges()
		steps = append(steps, accountedStep{s, c, worked + c.send})
		worked += c.send + c.receive + c.combine
	}
	for ; len(clocks) > 0; clocks, accounts = clocks[min(block, len(clocks)):], accounts[min(block, len(clocks)):] {
		n := min(block, len(clocks))
		for i := range steps {
			s := &steps[i]
			for at := 0; at < n; at += 2 * s.distance {
				mid, end := at+s.distance, at+2*s.distance
				s.exchange(clocks[at:mid], clocks[mid:end], accounts[at:mid], accounts[mid:end])
			}
		}
	}
}
