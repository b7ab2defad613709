package resource

import (
	"gigarank/engine"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// Messages on their way to a processor, and their reception by the processor.

// Arrival is a message, or the match of a message, that reaches a rank at an instant.
type Arrival struct {
	At, Released vtime.Time
	Source       int32
	number       uint32 // keeps messages and matches of one source in the order of sending
	Index        int32  // the message; of a match, the request or agent of the sender
	Owner        Owner  // of the message
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

// arrivals is a binary heap with the least arrival first.
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

// Reach adds the arrival of a message at the processor of an LP.
func (x *Processors) Reach(lp int32, a Arrival) {
	p := &x.all[lp]
	if p.held {
		x.disturbed()
	}
	p.number++
	a.number = p.number
	x.turns.reaches(lp, &p.Turn, a.Source, a.At)
	p.arrivals.push(a)
	if at := p.State.CanReceive(a.At); at < vtime.Forever && x.poll(lp, p) == nil {
		x.turns.adds(lp, &p.Turn, at) // other uses begin no earlier than before
		return
	}
	x.turns.after(lp, &p.Turn)
}

// takeIn has the CPU take in the least arrival at an instant.
func (x *Processors) takeIn(lp int32, p *Processor, at vtime.Time) {
	k, a := x.partition, p.arrivals.pop()
	work := x.works[a.Owner]
	bytes := work.Size(a.Index)
	k.Target.TakeIn(&p.State, bytes, at)
	p.taken = at
	if p.State.CPU == vtime.Forever {
		k.PastEnd(int(k.Global(lp)), at, work.CallOf(lp, a.Index), "a message of %s from rank %d", spelling.Count(bytes, "byte"), a.Source)
	}
	if k.Activities != nil {
		k.Activities.Note(stats.ReceiveCopy, vtime.Duration(p.State.CPU-at))
	}
	x.resumePolling(lp, p, at)
	work.TakeIn(lp, a.Index, a.At, at)
}
