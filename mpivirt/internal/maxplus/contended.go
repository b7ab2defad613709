package maxplus

import (
	"cmp"
	"slices"

	"gigarank/collectives"
	"gigarank/network"
	"gigarank/network/contention"
	"gigarank/vtime"
)

// Rounds of messages that share the interfaces of nodes, and their memories (room resource). The messages of a round
// take an interface before the messages of the next round, and in the order (instant, sender)
// within the round. So a round is two passes over the nodes of an array: its messages leave, and
// other arrays need the instants at which they begin; then its messages arrive. Messages within a
// node pass its memory when they leave.

// Interfaces are the interfaces of the nodes whose participants an array holds. Either all ranks of
// a node are participants, or one rank is.
type Interfaces struct {
	Out, In *contention.Interfaces
	Memory  *contention.Interfaces // of the messages within nodes
	First   int                    // number of the first of these nodes
	PerNode int                    // number of consecutive participants of a node
}

// contended is the state of an array whose messages share interfaces.
type contended struct {
	rendezvous
	begins []vtime.Time     // by element: instant at which its message of this round begins to leave
	came   []vtime.Time     // by element: instant at which the message for it from another array began to leave; empty if there is no other
	landed []vtime.Time     // scratch: instants at which the interfaces of a node take messages
	asking []asking         // scratch: messages of a node that pass its interfaces
	moving []asking         // scratch: messages of a node that pass its memory
	asks   []contention.Ask // scratch: messages of a node
	merged []contention.Ask // scratch: messages of a node

	// By node: its elements, counted from the first, in the order in which their latest messages
	// asked there. Most often the next messages ask in the same order.
	left, arrived []int32
	ordered       int // number of folded pairs in the numbering of these elements
}

// asking is a message that asks for an interface.
type asking struct {
	at      vtime.Time
	source  int // element of the sender
	element int // element whose node is asked; within a node that of the receiver
}

// inOrder compares messages of a round by the order in which they ask.
func inOrder(a, b asking) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.source, b.source)
}

// destination returns the element to which an element sends in a round of a pattern among a number
// of participants, and whether the element sends.
func destination(p *collectives.Pattern, total, element int) (int, bool) {
	switch p.Kind {
	case collectives.Shift:
		return (element + p.Distance) % total, p.Distance != 0
	case collectives.Exchange:
		return element ^ p.Distance, true
	case collectives.Grouped:
		first := element - element%p.Stride
		if to := element + p.Distance; to < first+p.Stride {
			return to, element < p.Count
		}
		return element + p.Distance - p.Stride, element < p.Count
	}
	i := element - p.First
	return element + p.Distance, i >= 0 && i%p.Stride == 0 && i/p.Stride < p.Count
}

// origin returns the element from which an element receives in a round of a pattern, and whether
// the element receives.
func origin(p *collectives.Pattern, total, element int) (int, bool) {
	switch p.Kind {
	case collectives.Shift:
		return (element - p.Distance + total) % total, p.Distance != 0
	case collectives.Exchange:
		return element ^ p.Distance, true
	case collectives.Grouped:
		first := element - element%p.Stride
		if from := element - p.Distance; from >= first {
			return from, element < p.Count
		}
		return element - p.Distance + p.Stride, element < p.Count
	}
	_, sends := destination(p, total, element-p.Distance)
	return element - p.Distance, sends
}

// nodeOf returns the node of a participant.
func (i *Interfaces) nodeOf(participant int) int { return participant / i.PerNode }

// byNode calls visit for each node, in order, with the elements lo to hi-1 of the array that belong
// to the node.
func (a *Array) byNode(lo, hi int, visit func(node, lo, hi int)) {
	if lo == hi {
		return
	}
	i := a.Interfaces
	for node := i.nodeOf(a.Participant(lo)); lo < hi; node++ {
		if end := min(hi, collectives.Survivors(a.folded, (node+1)*i.PerNode)); end > lo {
			visit(node-i.First, lo, end)
			lo = end
		}
	}
}

// keepsToNodes reports whether no message of a round of a pattern leaves its node.
func (r *Rounds) keepsToNodes(p *collectives.Pattern) bool {
	n := r.Interfaces.PerNode
	switch span := 2 * p.Distance; {
	case r.total() <= n:
		return true
	case p.Kind == collectives.Grouped:
		return n%p.Stride == 0
	case p.Kind == collectives.Exchange && p.Folded > 0:
		return n%2 == 0 && n/2%span == 0 && p.Folded%span == 0
	case p.Kind == collectives.Exchange:
		return n%span == 0
	case p.Kind == collectives.Strided:
		from := p.First % p.Stride
		return n%p.Stride == 0 && from+p.Distance >= 0 && from+p.Distance < p.Stride
	}
	return false
}

// contends reports whether messages of a round of a pattern delay each other, or their receivers' work does.
func (r *Rounds) contends(p *collectives.Pattern) bool {
	return r.Interfaces != nil && (r.Target.ContendedWithin() || r.isLarge(p) || !r.keepsToNodes(p))
}

// crossing holds the times that the messages of a round have in common.
type crossing struct {
	size     int64          // of a message, in bytes
	overhead vtime.Duration // of the sender before a message leaves
	send     vtime.Duration // for which a receiver is first busy with its own message
	receive  vtime.Duration // of the receiver, including work on the content
	bytes    vtime.Duration // of an interface
	memory   vtime.Duration // of the memory of a node; 0 if it delays no message
	work     vtime.Duration // of a receiver that combines and packs in the memory of its node, if that takes time
	occupies vtime.Duration // of the memory of a node for this work; 0 if the work is part of receive
	alike    bool           // all messages go between nodes, and take the same time to ask there
	between  bool           // all messages between nodes take the same time to ask there
	asks     vtime.Duration // that time, from the beginning of a message on
	plain    bool           // messages begin at a single interface of their node, one after the other
	busy     vtime.Duration // of this interface, from the beginning of a message to that of the next
}

// instant reports whether messages take no time at interfaces. They wait for messages of earlier rounds alone, and their order does not matter.
func (c *crossing) instant() bool { return c.plain && c.busy == 0 }

// crossing returns the times that the messages of the current round have in common.
func (a *Array) crossing() crossing {
	p, e := a.pattern, a.Evaluation()
	t := e.target
	c := crossing{size: e.bytes}
	if a.staged && a.step < moving {
		c.size = 0
	}
	c.bytes, c.memory = t.InterfaceTime(c.size), t.MemoryTime(c.size)
	c.charge(a)
	distance := max(p.Distance, -p.Distance)
	if p.Kind == collectives.Shift {
		distance = min(distance, a.total()-distance)
	}
	c.alike = distance >= a.Interfaces.PerNode && UniformDelay(a.UniformFrom, a.total(), p)
	switch c.between = a.NodesAlike; {
	case c.alike:
		if from, ok := a.anySender(&p); ok {
			to, _ := destination(&p, a.total(), from)
			c.asks = c.untilAsked(a, e.rank(from), e.rank(to))
		}
	case c.between:
		c.asks = c.untilAsked(a, a.Participants.RankOf(0), a.Participants.RankOf(a.total()-1))
	}
	c.plain, c.busy = a.Interfaces.Out.Plain(c.bytes) && a.Interfaces.In.Plain(c.bytes), a.Interfaces.Out.Busy(c.bytes)
	return c
}

// charge sets the times of processors in the current step, and what they combine.
func (c *crossing) charge(a *Array) {
	p, e := a.pattern, a.Evaluation()
	t := e.target
	if !a.staged || a.step == requesting {
		c.overhead = t.Overhead().Send
	}
	if a.staged && a.step < moving {
		return
	}
	c.receive = t.ReceiveTime(e.bytes)
	if a.Interfaces.PerNode > 1 {
		c.occupies = t.CombiningTime(a.Bytes * int64(p.Combined))
		if a.packs {
			c.occupies = c.occupies.Plus(a.packing(a.round, collectives.Copies{Copy: t.MemoryTime}))
		}
	}
	if c.occupies > 0 {
		c.work = e.combine
	} else {
		c.receive = c.receive.Plus(e.combine)
	}
	switch {
	case !e.sends:
	case a.staged:
		c.send = t.SendTime(0)
	default:
		c.send = t.SendTime(e.bytes)
	}
}

// anySender returns an element of any array that sends in a round.
func (a *Array) anySender(p *collectives.Pattern) (element int, ok bool) {
	if p.Kind == collectives.Strided {
		return p.First, p.Count > 0
	}
	return 0, true
}

// untilAsked returns the time from the beginning of a message between two nodes to its request at
// the other node.
func (c *crossing) untilAsked(a *Array, src, dst int) vtime.Duration {
	latency, transfer := a.current.target.LatencyAndTransfer(src, dst, c.size)
	return latency.Plus(transfer - min(transfer, c.bytes))
}

// depart has the messages of the current round leave. It stores the instants in begins.
func (a *Array) depart() {
	p, c, total := a.pattern, a.crossing(), a.total()
	lo, hi := bounds(p, a.Low, a.High)
	a.makeContended(hi-lo, c.instant())
	a.beginStep()
	clocks := a.leaving()
	if c.alike && a.Interfaces.PerNode == 1 && p.Kind != collectives.Strided {
		for i, t := range clocks[:hi-lo] {
			a.begins[i] = t.Add(c.overhead)
		}
		a.takeEach(a.Interfaces.Out, lo, a.begins, c.bytes)
		if a.staged && a.step == moving {
			a.byNode(lo, hi, func(_, first, last int) { a.dataLeave(&c, first, last, lo) })
		}
		return
	}
	together := c.alike && p.Kind != collectives.Strided
	instant := c.instant()
	a.byNode(lo, hi, func(node, first, last int) {
		if a.staged && a.step == moving {
			defer a.dataLeave(&c, first, last, lo)
		}
		if together {
			a.departTogether(&c, node, first, last, lo)
			return
		}
		a.asking, a.moving = a.asking[:0], a.moving[:0]
		free := vtime.Time(0)
		if instant {
			free = a.Interfaces.Out.Free(node)
		}
		latest := free
		for from := first; from < last; from++ {
			to, sends := destination(&p, total, from)
			if !sends {
				continue
			}
			leaves := clocks[from-lo].Add(c.overhead)
			switch inside := !c.alike && first <= to && to < last; {
			case inside:
				a.begins[from-lo] = leaves
				if c.memory > 0 {
					a.moving = append(a.moving, asking{leaves, from, to})
				}
			case instant:
				begins := max(leaves, free)
				a.begins[from-lo], latest = begins, max(latest, begins)
			default:
				a.asking = append(a.asking, asking{leaves, from, from})
			}
		}
		if instant {
			a.Interfaces.Out.Occupy(node, latest)
		}
		a.take(a.Interfaces.Out, node, a.asking, c.bytes)
		for _, m := range a.asking {
			a.begins[m.element-lo] = m.at
		}
		a.move(&c, node, lo)
	})
}

// move has the messages within a node pass its memory. A message that the memory holds back begins
// later.
func (a *Array) move(c *crossing, node, lo int) {
	if len(a.moving) == 0 {
		return
	}
	e := a.Evaluation()
	a.take(a.Interfaces.Memory, node, a.moving, c.memory)
	for _, m := range a.moving {
		_, alone := e.target.LatencyAndTransfer(e.rank(m.source), e.rank(m.element), c.size)
		if a.staged { // DATA
			a.asked[m.source-lo] = m.at.Add(c.memory)
		}
		leaves := &a.begins[m.source-lo]
		*leaves = network.HeldUntil(*leaves, m.at, c.memory, alone)
	}
}

// departTogether has the messages of the elements first to last-1 leave. These are the elements of
// a node, and all of them send.
func (a *Array) departTogether(c *crossing, node, first, last, lo int) {
	switch {
	case c.instant():
		a.departAtOnce(c, node, a.leaving()[first-lo:last-lo], a.begins[first-lo:])
		return
	case c.plain && a.departInOrder(c, node, first-lo, last-lo):
		return
	}
	asks, clocks := a.asksOf(last-first), a.leaving()[first-lo:last-lo]
	for k, i := range a.arrived[first-lo : last-lo] {
		asks[k] = contention.Ask{At: clocks[i].Add(c.overhead), Index: i}
	}
	a.takeTogether(a.Interfaces.Out, node, first, asks, c.bytes, a.begins[first-lo:], a.left[first-lo:])
}

// departAtOnce has the messages of the elements of a node leave, which have some clocks and take no time at its interface.
func (a *Array) departAtOnce(c *crossing, node int, clocks, begins []vtime.Time) {
	free := a.Interfaces.Out.Free(node)
	latest, begins := free, begins[:len(clocks)]
	for i, t := range clocks {
		t = max(t.Add(c.overhead), free)
		begins[i], latest = t, max(latest, t)
	}
	a.Interfaces.Out.Occupy(node, latest)
}

// departInOrder has the messages of the elements lo to hi-1, counted from the first of the array, leave. These are the elements of a node. It
// reports false, with nothing changed, if they do not ask in the order in which their latest messages arrived.
func (a *Array) departInOrder(c *crossing, node, lo, hi int) bool {
	clocks, begins, left := a.leaving()[lo:hi], a.begins[lo:hi], a.left[lo:hi]
	order := a.arrived[lo:hi]
	free := a.Interfaces.Out.Free(node)
	before := contention.Ask{At: -1}
	left = left[:len(order)]
	for _, i := range order {
		ask := contention.Ask{At: clocks[i].Add(c.overhead), Index: i}
		if ask.Before(before) {
			return false
		}
		before = ask
		t := max(ask.At, free)
		begins[i], free = t, t.Add(c.busy)
	}
	copy(left, order)
	a.Interfaces.Out.Occupy(node, free)
	return true
}

// asksOf returns memory for the messages of n elements.
func (a *Array) asksOf(n int) []contention.Ask {
	if cap(a.asks) < n {
		a.asks, a.merged = make([]contention.Ask, n), make([]contention.Ask, n)
	}
	return a.asks[:n]
}

// takeTogether takes an interface for each message of a node, and ends the layer of the messages.
// Their indices are those of elements, counted from the first; messages of one instant ask in this
// order. It stores the instants at which the messages begin, by element, and the order of the
// messages.
func (a *Array) takeTogether(i *contention.Interfaces, node, first int, asks []contention.Ask, bytes vtime.Duration, begins []vtime.Time, order []int32) {
	asks = inTurn(asks, a.merged[:len(asks)])
	for k := range asks {
		order[k] = asks[k].Index
	}
	if i.Single() {
		i.TakeAll(node, asks, bytes, begins)
		return
	}
	for _, m := range asks {
		begins[m.Index] = i.Take(node, a.Participant(first+int(m.Index))%a.Interfaces.PerNode, m.At, bytes)
	}
	i.Close(node)
}

// inTurn returns messages in the order of asking, in the memory of asks or room. It merges runs of
// messages that are in order, which are usually few.
func inTurn(asks, room []contention.Ask) []contention.Ask {
	for {
		out := 0
		for lo := 0; lo < len(asks); {
			mid := runEnd(asks, lo)
			if lo == 0 && mid == len(asks) {
				return asks
			}
			hi := runEnd(asks, mid)
			out += merge(room[out:], asks[lo:mid], asks[mid:hi])
			lo = hi
		}
		asks, room = room, asks
	}
}

// runEnd returns the end of the run of messages, from message from on, that is in the order of
// asking.
func runEnd(asks []contention.Ask, from int) int {
	if from >= len(asks) {
		return len(asks)
	}
	before, i := asks[from], from+1
	for ; i < len(asks) && !asks[i].Before(before); i++ {
		before = asks[i]
	}
	return i
}

// merge merges two runs of messages into one, and returns the number of messages.
func merge(into, left, right []contention.Ask) int {
	n := 0
	for len(left) > 0 && len(right) > 0 {
		if right[0].Before(left[0]) {
			into[n], right = right[0], right[1:]
		} else {
			into[n], left = left[0], left[1:]
		}
		n++
	}
	n += copy(into[n:], left)
	return n + copy(into[n:], right)
}

// takeEach takes an interface for one message of each node, from the node of an element on.
func (a *Array) takeEach(i *contention.Interfaces, element int, asks []vtime.Time, bytes vtime.Duration) {
	first := a.Interfaces.First
	if below := min(max(a.folded-element, 0), len(asks)); below > 0 { // every second participant has folded
		i.TakeEach(a.Participant(element)-first, 2, asks[:below], bytes)
		element, asks = element+below, asks[below:]
	}
	if len(asks) > 0 {
		i.TakeEach(a.Participant(element)-first, 1, asks, bytes)
	}
}

// take takes an interface, or the memory, for each message that asks at a node, and ends the layer of
// the messages. It replaces the instants of asking by the instants at which the messages begin.
func (a *Array) take(i *contention.Interfaces, node int, messages []asking, bytes vtime.Duration) {
	if len(messages) == 0 {
		return
	}
	sortAsking(messages)
	for k := range messages {
		m := &messages[k]
		m.at = i.Take(node, a.Participant(m.element)%a.Interfaces.PerNode, m.at, bytes)
	}
	i.Close(node)
}

// sortAsking sorts messages by the order in which they ask.
func sortAsking(messages []asking) {
	const few = 24
	for k := 1; k < len(messages); k++ {
		m := messages[k]
		if inOrder(messages[k-1], m) <= 0 {
			continue
		}
		if len(messages) > few {
			slices.SortFunc(messages, inOrder)
			return
		}
		at := k
		for ; at > 0 && inOrder(m, messages[at-1]) < 0; at-- {
			messages[at] = messages[at-1]
		}
		messages[at] = m
	}
}

// makeContended makes memory for the messages of n elements, and for their order unless they take no time at interfaces.
func (a *Array) makeContended(n int, instant bool) {
	if cap(a.begins) < n {
		a.begins = a.Memory.Reserve(n)
	}
	if a.begins = a.begins[:n]; !a.whole() {
		if cap(a.came) < n {
			a.came = a.Memory.Reserve(n)
		}
		a.came = a.came[:n]
	}
	if a.Interfaces.PerNode > 1 && !instant && (len(a.left) != n || a.ordered != a.folded) {
		a.layOut(n)
	}
}

// layOut sets the order of the messages of each node to the order of n elements, until a better
// order is known.
func (a *Array) layOut(n int) {
	if cap(a.left) < n {
		a.left, a.arrived = make([]int32, n), make([]int32, n)
	}
	a.left, a.arrived, a.ordered = a.left[:n], a.arrived[:n], a.folded
	lo, hi := bounds(a.pattern, a.Low, a.High)
	a.byNode(lo, hi, func(_, first, last int) {
		for k := range int32(last - first) {
			a.left[first-lo+int(k)], a.arrived[first-lo+int(k)] = k, k
		}
	})
}
