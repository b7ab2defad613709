package network

import "gigarank/vtime"

// leastBarrier is the least time of a barrier that a machine file may give. Engines that
// simulate it hear of the last entry over a tree of at most 2·32 hops, each of which takes
// a picosecond or more.
const leastBarrier = vtime.Nanosecond

// parseBarrier returns the time of a barrier, 0 if the file gives none.
func parseBarrier(o *object) vtime.Duration {
	inner := o.object("barrier", false, "write barrier: {time: 3us}")
	if inner == nil {
		return 0
	}
	d := inner.duration("time", true, leastBarrier)
	if d < leastBarrier {
		inner.fault("time", "is less than "+leastBarrier.String(), "write a time of at least "+leastBarrier.String()+", or leave barrier out")
	}
	inner.close("", nil)
	return d
}

// BarrierTime returns the time from the last entry into a barrier to the exits of all,
// or 0 if the machine gives none. It is at least a nanosecond.
func (m *Machine) BarrierTime() vtime.Duration { return m.barrier }

// BarrierTime returns that of the machine.
func (t *Target) BarrierTime() vtime.Duration { return t.machine.barrier }
