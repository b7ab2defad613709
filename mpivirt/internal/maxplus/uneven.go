package maxplus

import "gigarank/vtime"

// Uneven holds the messages of shifts that have other sizes than the other messages, which are empty: those of an
// alltoallv. Rounds are passes over arrays as before; only participants that send or receive such a message have
// arithmetic of their own.
type Uneven struct {
	most int64 // no message has more bytes
	each func(round int, visit func(sender int, bytes int64))

	// Where most messages are not empty, and none is above the eager limit, in place of each: the bytes that the elements send and receive in a round.
	column func(round int, sent, received []int64)
	same   int64 // bytes of all messages of all rounds, -1 if they differ

	costs [costEntries]cost // of the current round, by length

	// Of the current round.
	senders        []int32 // participants
	bytes          []int64
	sent, received []int64 // by element of the array: the bytes that it sends, and receives

	// Of a rendezvous in the current round, by element: the clocks before the round of the element, its sender and its
	// receiver.
	own, from, to []vtime.Time
	owed          []Owed // clocks of receivers here that senders elsewhere need
	awaited       int    // clocks of receivers elsewhere that have not come
}

// Owed is the clock before the round of the receiver of a rendezvous, which frees its sender.
type Owed struct {
	Sender int
	Clock  vtime.Time
}

// SetUneven gives the rounds of the array messages of other sizes, none of which has more than most bytes. each is called once
// for each round, in order; it calls visit for every such message that a participant of the array sends or receives.
func (a *Array) SetUneven(most int64, each func(round int, visit func(sender int, bytes int64))) {
	n := a.High - a.Low
	a.uneven = &Uneven{most: most, each: each, sent: make([]int64, n), received: make([]int64, n)}
	a.span, a.packs = a.Rounds.span(most), false
	if u := a.uneven; most > a.Target.EagerLimit() {
		clocks := make([]vtime.Time, 3*n)
		u.own, u.from, u.to = clocks[:n], clocks[n:2*n], clocks[2*n:]
	}
}

// SetRows is SetUneven for rounds in which most messages are not empty and none is above the eager limit.
// All messages have same bytes; if they differ, same is -1, and column stores the bytes that the elements of the array send and receive in a round.
func (a *Array) SetRows(most, same int64, column func(round int, sent, received []int64)) {
	a.SetUneven(most, nil)
	u := a.uneven
	if u.column, u.same = column, same; same >= 0 {
		for i := range u.sent {
			u.sent[i], u.received[i] = same, same
		}
	}
}

// Owed returns the clocks that other arrays need in the current round besides those that Needed visits.
func (a *Array) Owed() []Owed {
	if a.uneven == nil {
		return nil
	}
	return a.uneven.owed
}

// ReceiveOwed gives a sender of the current round the clock of its receiver in another array.
func (a *Array) ReceiveOwed(sender int, clock vtime.Time) {
	a.uneven.to[sender-a.Low] = clock
	a.uneven.awaited--
}

// load stores the sizes of the current round.
func (u *Uneven) load(a *Array) {
	if u.column != nil {
		u.costs = [costEntries]cost{}
		if u.same < 0 {
			u.column(a.round, u.sent, u.received)
		}
		return
	}
	u.each(a.round, func(sender int, bytes int64) {
		u.senders, u.bytes = append(u.senders, int32(sender)), append(u.bytes, bytes)
		u.set(a, sender, bytes)
		if bytes > a.Target.EagerLimit() {
			u.meet(a, sender)
		}
	})
}

// meet notes the clocks before the round that a rendezvous needs.
func (u *Uneven) meet(a *Array, sender int) {
	s, r, n := sender-a.Low, a.receiver(sender)-a.Low, len(u.sent)
	sends, receives := uint(s) < uint(n), uint(r) < uint(n)
	switch {
	case sends && receives:
		u.to[s] = a.work[r]
	case sends:
		u.awaited++
	case receives:
		u.owed = append(u.owed, Owed{sender, a.work[r]})
	}
}

// set stores the size of a participant's message by element.
func (u *Uneven) set(a *Array, sender int, bytes int64) {
	if s := sender - a.Low; uint(s) < uint(len(u.sent)) {
		u.sent[s] = bytes
	}
	if r := a.receiver(sender) - a.Low; uint(r) < uint(len(u.received)) {
		u.received[r] = bytes
	}
}

// receiver returns the receiver of a participant's message in the current round, which is a shift.
func (a *Array) receiver(sender int) int {
	if r := sender + a.pattern.Distance; r < a.total() {
		return r
	}
	return sender + a.pattern.Distance - a.total()
}

// finish sets the clocks of elements that take part in a rendezvous, and forgets the round.
func (u *Uneven) finish(e *Evaluation) {
	a, limit := e.a, e.target.EagerLimit()
	for i, sender := range u.senders {
		if u.bytes[i] > limit {
			u.settle(e, int(sender))
			u.settle(e, a.receiver(int(sender)))
		}
	}
	for _, sender := range u.senders {
		u.set(a, int(sender), 0)
	}
	u.senders, u.bytes, u.owed = u.senders[:0], u.bytes[:0], u.owed[:0]
}

// settle sets the clock of an element that takes part in a rendezvous, if it is here.
func (u *Uneven) settle(e *Evaluation, element int) {
	a := e.a
	i := element - a.Low
	if uint(i) >= uint(len(u.own)) {
		return
	}
	from := element - a.pattern.Distance
	if from < 0 {
		from += a.total()
	}
	a.work[i] = e.throughUneven(element, from, u.own[i], u.from[i], u.to[i])
}

// receiveUneven is receive for a shift with messages of other sizes.
func (e *Evaluation) receiveUneven(dst, src, n int, clocks []vtime.Time) {
	u, limit := e.a.uneven, e.target.EagerLimit()
	own, next := e.a.work[dst-e.lo:], e.next[dst-e.lo:]
	sent, received := u.sent[dst-e.a.Low:], u.received[dst-e.a.Low:]
	for done := 0; done < n; {
		part := min(n-done, delayChunk)
		if u.column != nil && !e.careful {
			e.receiveRow(dst+done, src+done, own[done:][:part], next[done:], clocks[done:], sent[done:], received[done:])
			done += part
			continue
		}
		var delays []vtime.Duration
		delay := vtime.Duration(0)
		switch {
		case e.careful:
		case e.same:
			delay = e.anyDelay(src+done, dst+done)
		default:
			delays = e.chunk(dst+done, src+done, part, 1)
		}
		for i := done; i < done+part; i++ {
			switch most := max(sent[i], received[i]); {
			case most > limit: // see finish
				at := dst + i - e.a.Low
				u.own[at], u.from[at], next[i] = own[i], clocks[i], own[i]
			case most > 0 || e.careful:
				next[i] = e.throughUneven(dst+i, src+i, own[i], clocks[i], 0)
			case delays == nil:
				next[i] = max(own[i], clocks[i]+vtime.Time(delay)) + vtime.Time(e.work)
			default:
				next[i] = max(own[i], clocks[i].Add(delays[i-done])).Add(e.work)
			}
		}
		done += part
	}
}

// costEntries is the number of lengths whose costs are kept. Blocks of an alltoallv mostly have few lengths.
const costEntries = 64

// cost is the cost of a message by its length.
type cost struct {
	bytes  int64 // and one more; 0 for no entry
	copied vtime.Duration
	delay  vtime.Duration // from the sender's clock to the arrival, where all messages of the length have the same
}

// costOf returns the cost of a message from src to dst, valid until the next call.
func (e *Evaluation) costOf(src, dst int, bytes int64) *cost {
	c := &e.a.uneven.costs[uint64(bytes)*0x9E3779B97F4A7C15>>58]
	if c.bytes != bytes+1 {
		_, leaves := e.target.Send(nil, bytes, 0)
		*c = cost{bytes: bytes + 1, copied: e.target.Copy(bytes)}
		if c.delay = vtime.Duration(leaves); e.same {
			c.delay = c.delay.Plus(e.target.Delay(e.rank(src), e.rank(dst), bytes))
		}
	}
	return c
}

// receiveRow is receive for messages up to the eager limit, none of whose clocks can pass the end of virtual time.
func (e *Evaluation) receiveRow(dst, src int, own, next, clocks []vtime.Time, sent, received []int64) {
	n := len(own)
	next, clocks, sent, received = next[:n], clocks[:n], sent[:n], received[:n]
	o := e.target.Overhead()
	if bytes := sent[0]; e.a.uneven.same >= 0 || areAll(sent, received, bytes) {
		work := o.Send.Plus(o.Receive).Plus(e.target.Copy(bytes).Times(2))
		if e.same {
			c := e.costOf(src, dst, bytes)
			receiveUniform(next, own, clocks, c.delay-o.Send.Plus(c.copied), work)
			return
		}
		even := *e
		even.bytes, even.lag, even.fixed = bytes, -e.target.Copy(bytes), 0
		for i, delay := range even.chunk(dst, src, n, 1) {
			next[i] = max(own[i], clocks[i].Add(delay)).Add(work)
		}
		return
	}
	for i, y := range clocks {
		in := e.costOf(src+i, dst+i, received[i])
		arrival, taken := y.Add(in.delay), o.Receive.Plus(in.copied)
		if !e.same {
			arrival = arrival.Add(e.target.Delay(e.rank(src+i), e.rank(dst+i), received[i]))
		}
		out := e.costOf(src+i, dst+i, sent[i]) // which may take the place of in
		next[i] = max(own[i].Add(o.Send.Plus(out.copied)), arrival).Add(taken)
	}
}

// areAll reports whether all elements of two lists are the same number.
func areAll(a, b []int64, n int64) bool {
	for i, x := range a {
		if x != n || b[i] != n {
			return false
		}
	}
	return true
}

// throughUneven is through for messages of other sizes; z is the clock before the round of the participant to which element
// to sends, which matters above the eager limit only.
func (e *Evaluation) throughUneven(to, from int, x, y, z vtime.Time) vtime.Time {
	a, t, u := e.a, e.target, e.a.uneven
	src, dst := e.rank(from), e.rank(to)
	sent, received := u.sent[to-a.Low], u.received[to-a.Low]
	arrival := e.arrival(src, dst, received, y)
	if received > t.EagerLimit() {
		asked := arrival
		if arrival, _ = t.Rendezvous(src, dst, received, x, asked); arrival == vtime.Forever {
			a.Participants.PastReceive(src, dst, received, max(x, asked))
		}
	}
	free := vtime.Time(0) // once the own message has left
	if sent > t.EagerLimit() {
		next := e.rank(a.receiver(to))
		if _, free = t.Rendezvous(dst, next, sent, z, e.arrival(dst, next, sent, x)); free == vtime.Forever {
			a.Participants.PastReceive(dst, next, sent, max(x, z))
		}
		sent = 0
	}
	end, _ := t.Send(nil, sent, x)
	if end = t.Receive(nil, received, x, end, arrival); end == vtime.Forever {
		a.Participants.PastReceive(src, dst, received, max(x, arrival))
	}
	return max(end, free)
}

// arrival returns the arrival of a message, or of its REQ, that leaves a sender with clock y.
func (e *Evaluation) arrival(src, dst int, bytes int64, y vtime.Time) vtime.Time {
	sent := bytes
	if bytes > e.target.EagerLimit() {
		sent = 0
	}
	free, leaves := e.target.Send(nil, sent, y)
	arrival := leaves.Add(e.target.Delay(src, dst, sent))
	if max(free, arrival) == vtime.Forever {
		e.a.Participants.PastSend(src, dst, bytes, y)
	}
	return arrival
}
