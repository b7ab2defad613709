package maxplus

import (
	"gigarank/collectives"
	"gigarank/vtime"
)

// A round of messages above the eager limit that share interfaces has three steps. REQ goes to the receiver, ACK goes back once the receive is
// posted and REQ is there, and DATA go when ACK has come. Each of them takes interfaces and memories, REQ and ACK without bytes. A sender goes
// on once its DATA have left.

// The steps of such a round.
const (
	requesting = iota
	answering
	moving
)

// rendezvous is the state of an array in a round of messages above the eager limit that share interfaces.
type rendezvous struct {
	asked    []vtime.Time // by element: posted, and REQ for it is there; then its own DATA have left, 0 if it sends none
	answered []vtime.Time // by element: ACK for it is there
}

// isLarge reports whether the messages of a round of a pattern are above the eager limit.
func (r *Rounds) isLarge(p *collectives.Pattern) bool {
	return r.Bytes*int64(p.Sent) > r.Target.EagerLimit()
}

// reversed returns the pattern of the answers to the messages of a pattern among a number of participants.
func reversed(p collectives.Pattern, total int) collectives.Pattern {
	switch p.Kind {
	case collectives.Shift:
		p.Distance = total - p.Distance
	case collectives.Strided:
		p.First, p.Distance = p.First+p.Distance, -p.Distance
	}
	return p
}

// leaving returns the instants from which on the messages of the current step leave, by element.
func (a *Array) leaving() []vtime.Time {
	switch {
	case !a.staged || a.step == requesting:
		return a.work
	case a.step == answering:
		return a.asked
	}
	return a.answered
}

// reached returns the clocks that the messages of the current step change, by element of the receiver.
func (a *Array) reached() []vtime.Time {
	switch {
	case !a.staged || a.step == moving:
		return a.work
	case a.step == requesting:
		return a.asked
	}
	return a.answered
}

// beginStep prepares the clocks that the messages of the current step change.
func (a *Array) beginStep() {
	n := len(a.work)
	switch {
	case !a.staged:
	case a.step == requesting:
		if cap(a.asked) < n {
			a.asked, a.answered = a.Memory.Reserve(n), a.Memory.Reserve(n)
		}
		a.asked, a.answered = a.asked[:n], a.answered[:n]
		copy(a.asked, a.work)
	case a.step == answering:
		clear(a.answered)
	default:
		clear(a.asked)
	}
}

// dataLeave stores when DATA of the elements of a node have left, for their senders. Those that the memory has taken are stored already.
func (a *Array) dataLeave(c *crossing, first, last, lo int) {
	e, p := &a.current, a.pattern
	for from := first; from < last; from++ {
		to, sends := destination(&p, a.total(), from)
		if !sends {
			continue
		}
		src, dst, free := e.rank(from), e.rank(to), &a.asked[from-lo]
		switch within := !c.alike && first <= to && to < last; {
		case !within:
			_, *free = a.Target.Data(src, dst, e.bytes, a.begins[from-lo])
			if !a.Target.Copies() {
				*free = max(*free, a.begins[from-lo].Add(c.bytes))
			}
		case c.memory > 0:
			_, alone := a.Target.Data(src, dst, e.bytes, a.answered[from-lo])
			if a.Target.Copies() {
				*free = 0
			}
			*free = max(*free, alone)
		default:
			_, *free = e.target.Data(src, dst, e.bytes, a.answered[from-lo])
		}
		if *free == vtime.Forever {
			a.Participants.PastSend(src, dst, e.bytes, a.answered[from-lo])
		}
	}
}

// freeSenders has the senders of DATA go on once these have left.
func (a *Array) freeSenders(lo, hi int) {
	p, e := a.pattern, &a.current
	for from := lo; from < hi; from++ {
		if _, sends := destination(&p, a.total(), from); sends {
			clock := &a.work[from-lo]
			if !e.sends {
				*clock = clock.Add(e.target.SendTime(0))
			}
			*clock = max(*clock, a.asked[from-lo])
		}
	}
}
