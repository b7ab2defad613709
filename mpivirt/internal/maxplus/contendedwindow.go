package maxplus

import (
	"gigarank/collectives"
	"gigarank/network"
	"gigarank/network/contention"
	"gigarank/vtime"
)

// The messages of a window that share the interfaces of nodes: they are one layer (room resource), in the order of asking.

// turn is a message of a window that asks at a node.
type turn struct {
	at  vtime.Time
	key uint64 // order at an instant: by sender, then by receiver, then by message; see outwardKey and inwardKey
}

// Bits of a key: for the number of a message, of an element within its node, and of any element.
const (
	messageBits = 6
	nodeBits    = 26
	elementBits = 32
)

// outwardKey returns the key of a message at the node of its sender, which is counted from the first of the node.
func outwardKey(from, to, message int) uint64 {
	return uint64(from)<<(elementBits+messageBits) | uint64(to)<<messageBits | uint64(message)
}

// inwardKey returns the key of a message at the node of its receiver, which is counted from the first of the node.
func inwardKey(from, to, message int) uint64 {
	return uint64(from)<<(nodeBits+messageBits) | uint64(to)<<messageBits | uint64(message)
}

// share works out the times of a message at interfaces.
func (m *posted) share(a *Array) {
	m.occupies, m.memory = m.target.InterfaceTime(m.bytes), m.target.MemoryTime(m.bytes)
	p := m.pattern
	distance := p.Distance
	if p.Kind == collectives.Shift {
		distance = min(distance, a.total()-distance)
	}
	switch m.asksSame = true; {
	case p.Kind == collectives.Shift && m.same && distance >= a.Interfaces.PerNode:
		to, _ := destination(&p, a.total(), 0)
		m.delay = m.untilAsked(a, 0, to)
	case a.NodesAlike:
		m.delay = m.untilAsked(a, 0, a.total()-1)
	default:
		m.asksSame = false
	}
}

// untilAsked returns the time from the beginning of a message between two nodes to its request at the other node.
func (m *posted) untilAsked(a *Array, from, to int) vtime.Duration {
	latency, transfer := m.target.LatencyAndTransfer(a.rankOf(from), a.rankOf(to), m.bytes)
	return latency.Plus(transfer - min(transfer, m.occupies))
}

// departWindow has the messages of a window leave. It stores the instants in began.
func (a *Array) departWindow() {
	w, size, total := &a.windowing, a.High-a.Low, a.total()
	a.byNode(a.Low, a.High, func(node, first, last int) {
		asks := w.turns[0][:0]
		w.inside = w.inside[:0]
		for j := range w.posts {
			m := &w.posts[j]
			begins := w.began[j*size:][:size]
			for from := first; from < last; from++ {
				to, sends := destination(&m.pattern, total, from)
				if !sends {
					continue
				}
				leaves := a.work[from-a.Low].Add(m.leaves)
				if leaves == vtime.Forever {
					a.Participants.PastSend(a.rankOf(from), a.rankOf(to), m.bytes, a.work[from-a.Low].Add(m.begun))
				}
				switch inside := first <= to && to < last; {
				case !inside:
					asks = append(asks, turn{leaves, outwardKey(from-first, to, j)})
					continue
				case m.memory > 0:
					w.inside = append(w.inside, turn{leaves, outwardKey(from-first, to, j)})
				}
				begins[from-a.Low] = leaves
			}
		}
		w.turns[0] = asks
		asks = w.inTurn()
		for k := range asks {
			t := &asks[k]
			j, from := int(t.key&(1<<messageBits-1)), first+int(t.key>>(elementBits+messageBits))
			w.began[j*size+from-a.Low] = a.Interfaces.Out.Take(node, a.Participant(from)%a.Interfaces.PerNode, t.at, w.posts[j].occupies)
		}
		if len(asks) > 0 {
			a.Interfaces.Out.Close(node)
		}
		a.moveInWindow(node, first)
	})
}

// moveInWindow has the messages of a window within a node pass its memory. A message that the memory holds back begins later.
func (a *Array) moveInWindow(node, first int) {
	w, size := &a.windowing, a.High-a.Low
	if len(w.inside) == 0 {
		return
	}
	w.turns[0] = append(w.turns[0][:0], w.inside...)
	for _, t := range w.inTurn() {
		j, from := int(t.key&(1<<messageBits-1)), first+int(t.key>>(elementBits+messageBits))
		m, to := &w.posts[j], int(t.key>>messageBits)&(1<<elementBits-1)
		at := a.Interfaces.Memory.Take(node, 0, t.at, m.memory)
		_, alone := m.target.LatencyAndTransfer(a.rankOf(from), a.rankOf(to), m.bytes)
		leaves := &w.began[j*size+from-a.Low]
		*leaves = network.HeldUntil(*leaves, at, m.memory, alone)
	}
	a.Interfaces.Memory.Close(node)
}

// arriveWindow has the messages of a window, which have all begun, arrive, and has their receivers take them in.
func (a *Array) arriveWindow() {
	w, n, total := &a.windowing, a.window.Messages, a.total()
	c := a.windowCrossing()
	plain := true
	for j := range w.posts {
		plain = a.Interfaces.In.Plain(w.posts[j].occupies) && plain
	}
	a.byNode(a.Low, a.High, func(node, first, last int) {
		asks := w.turns[0][:0]
		w.arrivals = clocksOf(w.arrivals, (last-first)*n)
		for j := range w.posts {
			m := &w.posts[j]
			runs(m.pattern, total, first, last, func(dst, src, count, _ int) {
				for count > 0 {
					begun := a.senders(j, dst, src, count)
					for i, t := range begun {
						from, to := src+i, dst+i
						switch {
						case first <= from && from < last:
							w.arrivals[(to-first)*n+j] = t.Add(m.target.Delay(a.rankOf(from), a.rankOf(to), m.bytes))
							continue
						case m.asksSame:
							t = t.Add(m.delay)
						default:
							t = t.Add(m.untilAsked(a, from, to))
						}
						asks = append(asks, turn{t, inwardKey(from, to-first, j)})
					}
					part := len(begun)
					dst, src, count = dst+part, src+part, count-part
				}
			})
		}
		w.turns[0] = asks
		asks = w.inTurn()
		a.enterNode(a.Interfaces.In, node, first, asks, plain)
		for to := first; to < last; to++ {
			if a.receivesAll(to) {
				arrivals := w.arrivals[(to-first)*n:][:n]
				t := a.takeIn(to, a.work[to-a.Low], arrivals)
				if c.occupies == 0 {
					t = t.Add(w.work)
				}
				if t == vtime.Forever {
					a.windowPasses(to, arrivals)
				}
				a.work[to-a.Low] = t
			}
		}
		a.combine(&c, node, first, last, a.Low)
	})
}

// enterNode has messages of a window, in the order of asking, pass an interface of their receivers' node, and stores their arrivals.
func (a *Array) enterNode(in *contention.Interfaces, node, first int, asks []turn, plain bool) {
	w, n := &a.windowing, a.window.Messages
	if len(asks) == 0 {
		return
	}
	free := vtime.Time(0)
	if plain {
		free = in.Free(node)
	}
	for k := range asks {
		t := &asks[k]
		j, to := int(t.key&(1<<messageBits-1)), int(t.key>>messageBits)&(1<<nodeBits-1)
		occupies, at := w.posts[j].occupies, t.at
		if plain {
			at = max(at, free)
			free = at.Add(in.Busy(occupies))
		} else {
			at = in.Take(node, a.Participant(first+to)%a.Interfaces.PerNode, at, occupies)
		}
		w.arrivals[to*n+j] = at.Add(occupies)
	}
	if plain {
		in.Occupy(node, free)
	}
	in.Close(node)
}

// windowCrossing returns what receivers combine and pack at the end of a window: in the memory of their node if they share it.
func (a *Array) windowCrossing() (c crossing) {
	w, t := &a.windowing, a.Target
	if a.Interfaces.PerNode == 1 {
		return c
	}
	for j := range w.posts {
		c.occupies = c.occupies.Plus(t.CombiningTime(a.Bytes * int64(w.posts[j].pattern.Combined)))
		if a.packs {
			c.occupies = c.occupies.Plus(a.packing(a.window.First+a.window.Messages-1+j, collectives.Copies{Copy: t.MemoryTime}))
		}
	}
	if c.occupies > 0 {
		c.work = w.work
	}
	return c
}

// inTurn returns the messages of turns[0] in the order of asking, in the memory of either turns. It merges runs of messages that are in
// order, which are usually few.
func (w *windowing) inTurn() []turn {
	asks, room := w.turns[0], w.turns[1]
	if len(asks) == 0 {
		return asks
	}
	if cap(room) < len(asks) {
		room = make([]turn, cap(asks))
	}
	room = room[:len(asks)]
	for {
		out := 0
		for lo := 0; lo < len(asks); {
			mid := turnsEnd(asks, lo)
			if lo == 0 && mid == len(asks) {
				w.turns[0], w.turns[1] = asks, room
				return asks
			}
			hi := turnsEnd(asks, mid)
			out += mergeTurns(room[out:], asks[lo:mid], asks[mid:hi])
			lo = hi
		}
		asks, room = room, asks
	}
}

// before is the order of asking.
func (t turn) before(u turn) bool { return t.at < u.at || t.at == u.at && t.key < u.key }

// turnsEnd returns the end of the run of messages, from message from on, that is in the order of asking.
func turnsEnd(asks []turn, from int) int {
	if from >= len(asks) {
		return len(asks)
	}
	i := from + 1
	for ; i < len(asks) && !asks[i].before(asks[i-1]); i++ {
	}
	return i
}

// mergeTurns merges two runs of messages into one, and returns the number of messages.
func mergeTurns(into, left, right []turn) int {
	n := 0
	for len(left) > 0 && len(right) > 0 {
		if right[0].before(left[0]) {
			into[n], right = right[0], right[1:]
		} else {
			into[n], left = left[0], left[1:]
		}
		n++
	}
	n += copy(into[n:], left)
	return n + copy(into[n:], right)
}
