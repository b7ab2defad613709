package maxplus

import (
	"gigarank/collectives"
	"gigarank/vtime"
)

// through returns the clock of element to after a round in which it receives the message of element
// from, by the arithmetic of messages; x and y are their clocks before the round.
func (e *Evaluation) through(to, from int, x, y vtime.Time) vtime.Time {
	a, t := e.a, e.target
	if a.step > 0 {
		return max(x, y.Add(e.fixed)).Add(e.work)
	}
	src, dst, bytes := e.rank(from), e.rank(to), e.bytes
	large := bytes > t.EagerLimit()
	if large {
		bytes = 0
	}
	free, leaves := t.Send(nil, bytes, y)
	arrival := leaves.Add(t.Delay(src, dst, bytes))
	if max(free, arrival) == vtime.Forever {
		a.Participants.PastSend(src, dst, e.bytes, y)
	}
	end, request := x, vtime.Time(0)
	if e.sends {
		end, leaves = t.Send(nil, bytes, x)
		request = leaves.Add(t.Delay(dst, src, bytes))
	}
	if large {
		matched := max(x, arrival)
		if arrival, free = t.Rendezvous(src, dst, e.bytes, x, arrival); max(arrival, free) == vtime.Forever {
			a.Participants.PastReceive(src, dst, e.bytes, matched)
		}
	}
	end = t.Receive(nil, e.bytes, x, end, arrival).Add(e.combine)
	if end == vtime.Forever {
		a.Participants.PastReceive(src, dst, e.bytes, max(x, arrival))
	}
	switch {
	case large && a.Pattern().Kind == collectives.Shift:
		return max(x, y.Add(e.fixed)) // the first step
	case large && e.sends:
		_, free = t.Rendezvous(dst, src, e.bytes, y, request)
		end = max(end, free)
	}
	return end
}
