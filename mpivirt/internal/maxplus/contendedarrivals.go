package maxplus

import (
	"gigarank/collectives"
	"gigarank/network"
	"gigarank/network/contention"
	"gigarank/vtime"
)

// The arrival of the messages of a round that share interfaces; see contended.go.

// arrive has the messages of the current round, which have all begun, arrive, and has their
// receivers receive them.
func (a *Array) arrive() {
	p, c, total := a.pattern, a.crossing(), a.total()
	lo, hi := bounds(p, a.Low, a.High)
	if c.alike && a.Interfaces.PerNode == 1 && p.Kind != collectives.Strided {
		a.arriveAlone(&c, lo, hi)
		return
	}
	e := a.Evaluation()
	together, instant := c.alike && p.Kind != collectives.Strided, c.instant()
	if together && instant && c.occupies == 0 {
		a.arriveAtOnce(&c, lo, hi)
		return
	}
	a.byNode(lo, hi, func(node, first, last int) {
		if together && !instant && a.arriveTogether(&c, node, first, last, lo, hi) {
			a.combine(&c, node, first, last, lo)
			return
		}
		a.asking = a.asking[:0]
		free := vtime.Time(0)
		if instant {
			free = a.Interfaces.In.Free(node)
		}
		latest := free
		for to := first; to < last; to++ {
			from, receives := origin(&p, total, to)
			if !receives {
				continue
			}
			if !c.alike && first <= from && from < last {
				a.receiveAt(&c, from, to, lo, a.begins[from-lo].Add(e.target.Delay(e.rank(from), e.rank(to), c.size)))
				continue
			}
			asks := c.asks
			if !c.alike && !c.between {
				asks = c.untilAsked(a, e.rank(from), e.rank(to))
			}
			at := a.begun(from, to, lo, hi).Add(asks)
			if !instant {
				a.asking = append(a.asking, asking{at, from, to})
				continue
			}
			at = max(at, free)
			latest = max(latest, at)
			a.receiveAt(&c, from, to, lo, at.Add(c.bytes))
		}
		if instant {
			a.Interfaces.In.Occupy(node, latest)
		}
		a.take(a.Interfaces.In, node, a.asking, c.bytes)
		for _, m := range a.asking {
			a.receiveAt(&c, m.source, m.element, lo, m.at.Add(c.bytes))
		}
		a.combine(&c, node, first, last, lo)
	})
}

// arriveAtOnce is arrive where all participants receive, all messages go between nodes in the same time, and take none at interfaces.
func (a *Array) arriveAtOnce(c *crossing, lo, hi int) {
	i := a.Interfaces
	node, end, free, latest := -1, lo, vtime.Time(0), vtime.Time(0) // of the node of the present elements
	runs(a.pattern, a.total(), lo, hi, func(dst, src, n, _ int) {
		for n > 0 {
			if dst >= end {
				if node >= 0 {
					i.In.Occupy(node, latest)
				}
				participant := a.Participant(dst)
				node = i.nodeOf(participant) - i.First
				end = collectives.Survivors(a.folded, (node+i.First+1)*i.PerNode)
				free = i.In.Free(node)
				latest = free
			}
			part, begun := min(n, end-dst), a.begins
			if inside := a.within(src, lo, hi); inside > 0 {
				part, begun = min(part, inside), begun[src-lo:]
			} else {
				part, begun = min(part, -inside), a.came[dst-lo:]
			}
			clocks := a.reached()[dst-lo:][:part]
			for k, t := range begun[:part] {
				t = max(t.Add(c.asks), free)
				latest = max(latest, t)
				t = t.Add(c.bytes)
				if a.Meter != nil {
					a.accountAt(c, src+k, dst+k, lo, t)
				}
				after := max(clocks[k].Add(c.send), t).Add(c.receive)
				if after == vtime.Forever {
					a.receiveAt(c, src+k, dst+k, lo, vtime.Forever)
				}
				clocks[k] = after
			}
			dst, src, n = dst+part, src+part, n-part
		}
	})
	if node >= 0 {
		i.In.Occupy(node, latest)
	}
}

// combine has the receivers among the elements first to last-1, which are the elements of a node,
// combine and pack in its memory, in the order in which they have received.
func (a *Array) combine(c *crossing, node, first, last, lo int) {
	if c.occupies == 0 {
		return
	}
	a.moving = a.moving[:0]
	for to := first; to < last; to++ {
		if _, receives := origin(&a.pattern, a.total(), to); receives {
			a.moving = append(a.moving, asking{a.work[to-lo], to, to})
		}
	}
	a.take(a.Interfaces.Memory, node, a.moving, c.occupies)
	for _, m := range a.moving {
		clock := &a.work[m.element-lo]
		t := network.HeldUntil(*clock, m.at, c.occupies, c.work).Add(c.work)
		if t == vtime.Forever {
			from, _ := origin(&a.pattern, a.total(), m.element)
			a.Participants.PastReceive(a.current.rank(from), a.current.rank(m.element), a.current.bytes, *clock)
		}
		if a.Meter != nil {
			a.accountWork(m.element-lo, *clock, t, c.work)
		}
		*clock = t
	}
}

// arriveTogether has the elements first to last-1, which are the elements of a node, receive. It
// returns false, with nothing changed, if their senders are not in the same order.
func (a *Array) arriveTogether(c *crossing, node, first, last, lo, hi int) bool {
	asks, before, ascend := a.asksOf(last - first)[:0], -1, true
	runs(a.pattern, a.total(), first, last, func(dst, src, n, _ int) {
		ascend = ascend && before < src
		before = src + n - 1
		for n > 0 && ascend {
			part := min(n, -a.within(src, lo, hi))
			if part > 0 {
				for i, t := range a.came[dst-lo:][:part] {
					asks = append(asks, contention.Ask{At: t.Add(c.asks), Index: int32(dst - first + i)})
				}
			} else {
				asks, part = a.ofSenders(c, asks, dst-first, src, n, lo, hi)
			}
			dst, src, n = dst+part, src+part, n-part
		}
	})
	if !ascend {
		return false
	}
	if c.plain && a.Meter == nil {
		a.receiveInTurn(c, node, first, lo, asks)
		return true
	}
	if cap(a.landed) < len(asks) {
		a.landed = make([]vtime.Time, len(asks))
	}
	arrived := a.landed[:len(asks)]
	a.takeTogether(a.Interfaces.In, node, first, asks, c.bytes, arrived, a.arrived[first-lo:])
	if a.Meter != nil {
		for i, t := range arrived {
			from, _ := origin(&a.pattern, a.total(), first+i)
			a.receiveAt(c, from, first+i, lo, t.Add(c.bytes))
		}
		return true
	}
	clocks := a.reached()[first-lo:]
	for i, t := range arrived {
		clock := &clocks[i]
		if t = max(clock.Add(c.send), t.Add(c.bytes)).Add(c.receive); t == vtime.Forever {
			from, _ := origin(&a.pattern, a.total(), first+i)
			a.receiveAt(c, from, first+i, lo, vtime.Forever)
		}
		*clock = t
	}
	return true
}

// receiveInTurn has the elements of a node, from element first on, receive messages that take its interface one after the other.
func (a *Array) receiveInTurn(c *crossing, node, first, lo int, asks []contention.Ask) {
	asks = inTurn(asks, a.merged[:len(asks)])
	free, clocks, order := a.Interfaces.In.Free(node), a.reached()[first-lo:], a.arrived[first-lo:][:len(asks)]
	for k, m := range asks {
		t := max(m.At, free)
		free, order[k] = t.Add(c.busy), m.Index
		clock := &clocks[m.Index]
		if t = max(clock.Add(c.send), t.Add(c.bytes)).Add(c.receive); t == vtime.Forever {
			from, _ := origin(&a.pattern, a.total(), first+int(m.Index))
			a.receiveAt(c, from, first+int(m.Index), lo, vtime.Forever)
		}
		*clock = t
	}
	a.Interfaces.In.Occupy(node, free)
}

// ofSenders appends the messages to a number of elements, from consecutive senders of this array
// beginning with src, as long as the senders are on one node. index is the number of the first
// element in its node. The messages are in the order in which they left that node. It also returns
// their number.
func (a *Array) ofSenders(c *crossing, asks []contention.Ask, index, src, n, lo, hi int) ([]contention.Ask, int) {
	i := a.Interfaces
	node := i.nodeOf(a.Participant(src))
	first := max(lo, collectives.Survivors(a.folded, node*i.PerNode))
	last := min(hi, collectives.Survivors(a.folded, (node+1)*i.PerNode))
	n = min(n, last-src)
	for _, k := range a.left[first-lo : last-lo] {
		if from := first + int(k) - src; uint(from) < uint(n) {
			asks = append(asks, contention.Ask{At: a.begins[src-lo+from].Add(c.asks), Index: int32(index + from)})
		}
	}
	return asks, n
}

// begun returns the instant at which the message from one element to another element of this array, whose elements are lo to hi-1,
// began to leave.
func (a *Array) begun(from, to, lo, hi int) vtime.Time {
	if from < lo || from >= hi {
		return a.came[to-lo]
	}
	return a.begins[from-lo]
}

// receiveAt has an element receive a message of another element, which arrives at an instant.
func (a *Array) receiveAt(c *crossing, from, to, lo int, arrival vtime.Time) {
	clock := &a.reached()[to-lo]
	if a.Meter != nil {
		a.accountAt(c, from, to, lo, arrival)
	}
	t := max(clock.Add(c.send), arrival).Add(c.receive)
	if t == vtime.Forever {
		a.Participants.PastReceive(a.current.rank(from), a.current.rank(to), a.current.bytes, *clock)
	}
	*clock = t
}

// arriveAlone is arrive where each node has one participant, all participants receive, and all
// messages take the same time.
func (a *Array) arriveAlone(c *crossing, lo, hi int) {
	asks := a.Memory.Take(delayChunk)
	runs(a.pattern, a.total(), lo, hi, func(dst, src, n, _ int) {
		for n > 0 {
			part, begun := min(n, delayChunk), a.begins
			if inside := a.within(src, lo, hi); inside > 0 {
				part, begun = min(part, inside), begun[src-lo:]
			} else {
				part, begun = min(part, -inside), a.came[dst-lo:]
			}
			chunk := asks[:part]
			for i, t := range begun[:part] {
				chunk[i] = t.Add(c.asks)
			}
			a.takeEach(a.Interfaces.In, dst, chunk, c.bytes)
			if a.Meter != nil {
				for i, t := range chunk {
					a.accountAt(c, src+i, dst+i, lo, t.Add(c.bytes))
				}
			}
			clocks := a.reached()[dst-lo:]
			for i, t := range chunk {
				clock := &clocks[i]
				if t = max(clock.Add(c.send), t.Add(c.bytes)).Add(c.receive); t == vtime.Forever {
					a.receiveAt(c, src+i, dst+i, lo, vtime.Forever)
				}
				*clock = t
			}
			dst, src, n = dst+part, src+part, n-part
		}
	})
	a.Memory.Give(asks)
}

// within returns the number of elements, from an element on, that belong to the array with elements
// lo to hi-1. For an element outside of the array it is negative: minus a number of elements, from
// this element on, that lie outside.
func (a *Array) within(element, lo, hi int) int {
	switch {
	case element < lo:
		return element - lo
	case element < hi:
		return hi - element
	}
	return -delayChunk
}
