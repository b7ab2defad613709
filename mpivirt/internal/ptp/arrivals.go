package ptp

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Messages on their way to a processor, and how the processor takes them in.

// Arrival is a message, or the match of one, that reaches a rank at an instant.
type Arrival struct {
	At, Released vtime.Time
	Source       int32
	number       uint32 // messages and matches of one source come in the order of sending
	Index        int32  // the message; of a match, the sender's request or agent
	Round        bool   // a round message of a collective; of a match, it is for an agent
}

// before orders arrivals by (instant, source rank, number).
func (a *Arrival) before(b *Arrival) bool {
	if a.At != b.At {
		return a.At < b.At
	}
	if a.Source != b.Source {
		return a.Source < b.Source
	}
	return a.number < b.number
}

// arrivals is a binary heap, with the least arrival first.
type arrivals []Arrival

func (h *arrivals) push(a Arrival) {
	if len(*h) == cap(*h) {
		*h = engine.Doubled(*h, 1)
	}
	*h = append(*h, a)
	s := *h
	i := len(s) - 1
	for i > 0 && a.before(&s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = a
}

func (h *arrivals) pop() Arrival {
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

// Reach enters the arrival of a message at the processor of an LP.
func (k *Messages) Reach(lp int32, a Arrival) {
	p := &k.Processors[lp]
	p.number++
	a.number = p.number
	k.checkReach(lp, p, &a)
	p.arrivals.push(a)
	k.nudge(lp)
}

// bytesOf returns the size of a message that has reached a processor.
func (k *Messages) bytesOf(a *Arrival) int64 {
	if a.Round {
		return k.above.RoundBytes(a.Index)
	}
	return k.messages.At(a.Index).bytes
}

// takeIn takes in the least arrival at an instant, and matches it.
func (k *Messages) takeIn(lp int32, p *processor, at vtime.Time) {
	a := p.arrivals.pop()
	bytes := k.bytesOf(&a)
	k.Target.TakeIn(&p.State, bytes, at)
	p.taken = at
	if p.State.CPU == vtime.Forever {
		k.PastEnd(int(k.Global(lp)), at, k.callFor(lp, &a), "a message of %d bytes from rank %d", bytes, a.Source)
	}
	if k.Activities != nil {
		k.Activities.Note(stats.ReceiveCopy, vtime.Duration(p.State.CPU-at))
	}
	k.resumePolling(lp, p, at)
	if a.Round {
		k.above.TakeInRound(lp, a.Index, at)
		return
	}
	box, m := k.Box(lp), k.messages.At(a.Index)
	m.arrival = at
	ri := k.firstReceive(box, m)
	if m.readyMode() && a.At < at && (ri == 0 || k.Requests.At(ri).posted > a.At) {
		m.sender |= sentTooEarly
	}
	if ri == 0 {
		k.addUnexpected(box, a.Index)
		return
	}
	k.removePosted(box, ri)
	k.take(lp, box, ri, a.Index)
}

// callFor returns the call for which a message reaches an LP, as far as it is known.
func (k *Messages) callFor(lp int32, a *Arrival) world.Procedure {
	if !a.Round {
		return k.Box(lp).Wait.Procedure
	}
	return k.above.RoundCall(a.Index)
}
