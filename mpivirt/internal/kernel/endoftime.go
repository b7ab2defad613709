package kernel

import (
	"fmt"

	"gigarank/vtime"
)

// The end of virtual time. Sums saturate at [vtime.Forever], which no clock may show:
// what would take one there ends the run. Clocks that pass through rounds over arrays
// are added to without a look, as long as a bound on all of them says that they may be;
// see [arrayRun].

// endError is the error of what would end after the end of virtual time.
func endError(format string, arguments ...any) error {
	return fmt.Errorf("%s would end after the end of virtual time, %v (106 days) from the start: "+
		"let the program compute or send less", fmt.Sprintf(format, arguments...), vtime.Duration(vtime.Forever))
}

// pastEnd notes that what a rank does in a call would end after the end of virtual time.
// The rank fails at t, the instant at which all is known that makes it so: no earlier,
// or failures before it could keep it from being found. From there on clocks show
// Forever, beyond any failure, and are not looked at again.
func (k *Kernel) pastEnd(rank int, t vtime.Time, c Procedure, format string, arguments ...any) {
	if t < vtime.Forever {
		k.failedAt(rank, t, c, endError(format, arguments...))
	}
}

// pastSend is pastEnd for a message of a collective that would not leave its sender, or
// not arrive, before the end.
func (k *Kernel) pastSend(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	k.pastEnd(src, t, inst.call.Procedure, "a message of %d bytes to rank %d", bytes, dst)
}

// pastReceive is pastEnd for a message of a collective that would not be taken in
// before the end.
func (k *Kernel) pastReceive(inst *instance, src, dst int, bytes int64, t vtime.Time) {
	k.pastEnd(dst, t, inst.call.Procedure, "a message of %d bytes from rank %d", bytes, src)
}

// through returns when element to is through a round in which it takes in the message
// of element from, by the arithmetic of messages; their clocks show x and y before it.
func (e *evaluation) through(to, from int, x, y vtime.Time) vtime.Time {
	k, t := e.k, e.k.tgt
	src, dst, bytes := e.rank(from), e.rank(to), e.bytes
	large := bytes > k.eagerLimit
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
