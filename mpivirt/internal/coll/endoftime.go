package coll

import "gigarank/vtime"

// pastSend is pastEnd for a message of a collective that would not leave its sender, or
// not arrive, before the end.
func (k *Collectives) pastSend(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	k.PastEnd(src, t, inst.Call.Procedure, "a message of %d bytes to rank %d", bytes, dst)
}

// pastReceive is pastEnd for a message of a collective that would not be taken in
// before the end.
func (k *Collectives) pastReceive(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	k.PastEnd(dst, t, inst.Call.Procedure, "a message of %d bytes from rank %d", bytes, src)
}

// through returns when element to is through a round in which it takes in the message
// of element from, by the arithmetic of messages; their clocks show x and y before it.
func (e *evaluation) through(to, from int, x, y vtime.Time) vtime.Time {
	k, t := e.k, e.k.Target
	src, dst, bytes := e.rank(from), e.rank(to), e.bytes
	large := bytes > k.EagerLimit
	if large {
		bytes = 0
	}
	free, leaves := t.Send(nil, bytes, y)
	arrival := leaves.Add(t.Delay(src, dst, bytes))
	if max(free, arrival) == vtime.Forever {
		k.pastSend(e.inst, src, dst, e.bytes, y)
	}
	end, request := x, vtime.Time(0)
	if e.sends {
		end, leaves = t.Send(nil, bytes, x)
		request = leaves.Add(t.Delay(dst, src, bytes))
	}
	if large {
		matched := max(x, arrival)
		if arrival, free = t.Rendezvous(src, dst, e.bytes, x, arrival); max(arrival, free) == vtime.Forever {
			k.pastReceive(e.inst, src, dst, e.bytes, matched)
		}
	}
	end = t.Receive(nil, e.bytes, x, end, arrival).Add(e.combine)
	if end == vtime.Forever {
		k.pastReceive(e.inst, src, dst, e.bytes, max(x, arrival))
	}
	if large && e.sends {
		_, free = t.Rendezvous(dst, src, e.bytes, y, request)
		end = max(end, free)
	}
	return end
}
