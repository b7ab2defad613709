package kernel

import "gigarank/vtime"

// Messages on their way to a processor, and what it does with those that it takes in.

// arrival is something that reaches a rank at an instant.
type arrival struct {
	at, released vtime.Time
	source       int32
	number       uint32
	index        int32 // the message; of a match, what waits for it
	round        bool  // of a collective: a round message; of a match, an agent in the place of a request
}

func (a *arrival) before(b *arrival) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.source != b.source {
		return a.source < b.source
	}
	return a.number < b.number
}

// arrivals is a heap.
type arrivals []arrival

func (h *arrivals) push(a arrival) {
	*h = append(*h, a)
	s := *h
	i := len(s) - 1
	for i > 0 && a.before(&s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = a
}

func (h *arrivals) pop() arrival {
	s := *h
	least, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return least
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1].before(&s[child]) {
			child++
		}
		if !s[child].before(&last) {
			break
		}
		s[i] = s[child]
		i = child
	}
	s[i] = last
	return least
}

// reach lets a message that an LP of this engine has been sent reach its processor.
func (k *Kernel) reach(lp int32, a arrival) {
	p := &k.processors[lp]
	p.number++
	a.number = p.number
	p.arrivals.push(a)
	k.nudge(lp)
}

// bytesOf returns the size of a message that has reached a processor.
func (k *Kernel) bytesOf(a *arrival) int64 {
	if a.round {
		return k.rounds.at(a.index).bytes
	}
	return k.messages.at(a.index).bytes
}

// takeIn takes in the message that comes first.
func (k *Kernel) takeIn(lp int32, p *processor, at vtime.Time) {
	a := p.arrivals.pop()
	bytes := k.bytesOf(&a)
	k.tgt.TakeIn(&p.state, bytes, at)
	p.taken = at
	if p.state.CPU == vtime.Forever {
		k.pastEnd(int(k.Global(lp)), at, k.callFor(lp, &a), "a message of %d bytes from rank %d", bytes, a.source)
	}
	k.resumePolling(lp, p, at)
	if a.round {
		k.rounds.at(a.index).arrival = at
		k.arriveRound(lp, a.index)
		return
	}
	box, m := k.box(lp), k.messages.at(a.index)
	m.arrival = at
	previous, ri := k.firstPosted(box, m)
	if ri == 0 {
		box.unexpected.appendMessage(&k.messages, a.index)
		k.eng.Buffer(m.bytesHeld())
		return
	}
	box.posted.removeRequest(&k.requests, previous, ri)
	if k.requests.at(ri).peer == AnySource {
		box.wildcards--
	}
	k.take(lp, box, ri, a.index)
}

// callFor returns the call that a message which reaches an LP is for, as far as it is
// known.
func (k *Kernel) callFor(lp int32, a *arrival) Procedure {
	if !a.round {
		return k.box(lp).wait.call
	}
	m := k.rounds.at(a.index)
	if inst := k.comms[m.comm].numbered(m.number); inst != nil {
		return inst.call.Procedure
	}
	return NoProcedure
}
