package forecast

import (
	"cmp"
	"container/heap"

	"gigarank/mpivirt/internal/resource"
	"gigarank/network"
	"gigarank/vtime"
)

// Where messages between nodes, or within nodes, delay each other, each such message is a passage until
// its arrival is decided (room resource): it waits for virtual time, while its engine has other work. A dry run then
// keeps the messages in a list by instant, and an engine takes the next one once it has nothing else
// to do. A message waits at its sender's node until the interface has sent those that have asked before.

// crossings describes the messages of a dry run that delay each other.
type crossings struct {
	target  *network.Target
	nodeOf  func(member int32) int
	compute func(rank, time int) vtime.Duration // before each call; nil for none
	free    map[int]vtime.Time                  // when an interface has sent the bytes of all messages that have asked
}

// cross reports whether a message delays others.
func (c *crossings) cross(m *dryMessage) bool {
	return c != nil && (c.target.ContendedWithin() || !c.inside(m))
}

// inside reports whether a message passes within a node.
func (c *crossings) inside(m *dryMessage) bool { return c.nodeOf(m.from) == c.nodeOf(m.to) }

// begins returns when a message of a number of bytes that asks at an instant begins to leave its node: one goes after the other.
func (c *crossings) begins(m *dryMessage, bytes int64, asks vtime.Time) vtime.Time {
	each, shared, gap := c.target.Interfaces()
	if each == 0 || shared || c.target.Contention().Model != "" {
		return asks
	}
	key := c.nodeOf(m.from)*each + int(m.from)%each
	at := max(asks, c.free[key])
	c.free[key] = at.Add(c.target.RailTime(bytes).Plus(gap))
	return at
}

// delay returns the time of a message between two nodes, or within one.
func (c *crossings) delay(bytes int64, inside bool) vtime.Duration {
	if inside {
		return c.target.Delay(0, c.target.NodeMember(0, c.target.NodeSize(0)-1), bytes)
	}
	return c.target.Delay(0, c.target.Ranks()-1, bytes)
}

// passing is a message that delays others.
type passing struct {
	at     vtime.Time // instant of asking
	coming bool       // at the receiver's node, else at the sender's
	number int        // counts the messages
	m      dryMessage
}

// passingList is a heap of [container/heap], in the order of asking.
type passingList []passing

func (l passingList) Len() int      { return len(l) }
func (l passingList) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *passingList) Push(x any)   { *l = append(*l, x.(passing)) }
func (l *passingList) Pop() any {
	s := *l
	last := s[len(s)-1]
	*l = s[:len(s)-1]
	return last
}

func (l passingList) Less(i, j int) bool {
	a, b := &l[i], &l[j]
	if a.at != b.at || a.coming == b.coming {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.number, b.number)) < 0
	}
	return a.coming
}

// ask has a message ask at its sender's or its receiver's node, on an engine.
func (s *scene) ask(e *dryEngine, m dryMessage, at vtime.Time, coming bool) {
	e.use.add(classOf(coming), 1)
	s.passed++
	heap.Push(&e.passing, passing{at, coming, s.passed, m})
}

func classOf(coming bool) int {
	if coming {
		return comingInUse
	}
	return leavingInUse
}

// leaveAcross has a player's message that delays others leave.
func (s *scene) leaveAcross(e *dryEngine, m dryMessage) {
	a := &s.players[m.from]
	m.held = m.kind == content
	if m.held {
		e.use.add(roundsInUse, 1)
		s.keep(e, &m)
		a.clock = a.clock.Add(s.crossings.target.SendTime(0))
	}
	s.ask(e, m, a.clock, false)
}

// pass handles all messages that ask at the next instant of any engine. It reports whether there
// are any.
func (s *scene) pass() bool {
	next := -1
	for i := range s.engines {
		if l := s.engines[i].passing; len(l) > 0 && (next < 0 || l[0].at < s.engines[next].passing[0].at) {
			next = i
		}
	}
	if next < 0 {
		return false
	}
	e := &s.engines[next]
	for at, coming := e.passing[0].at, e.passing[0].coming; len(e.passing) > 0 && e.passing[0].at == at && e.passing[0].coming == coming; {
		p := heap.Pop(&e.passing).(passing)
		e.use.add(classOf(coming), -1)
		if coming {
			s.come(e, p.m, at)
		} else {
			s.left(e, p.m, at)
		}
	}
	return true
}

// left has a message that has left its node ask at its receiver's node. Within a node it arrives.
func (s *scene) left(e *dryEngine, m dryMessage, at vtime.Time) {
	bytes := m.bytes
	if m.kind == reply || m.kind == content && m.waits {
		bytes = 0
	}
	inside := s.crossings.inside(&m)
	if !inside {
		at = s.crossings.begins(&m, bytes, at)
	}
	m.at = at.Add(s.crossings.delay(bytes, inside))
	if m.kind == data { // its sender is free
		s.acknowledged(e, m.from, at)
	}
	to := s.engineOf(m.to)
	switch {
	case to == e && inside:
		s.come(e, m, m.at)
		return
	case to == e:
		s.ask(e, m, m.at, true)
		return
	}
	if m.held {
		e.use.add(roundsInUse, -1)
		if m.copied != nil {
			s.drop(e, m.copied)
			m.copied = nil
		}
	}
	s.transmit(to, m)
}

// come has a message arrive at its receiver.
func (s *scene) come(e *dryEngine, m dryMessage, at vtime.Time) {
	switch m.kind {
	case reply:
		e.use.add(shakesInUse, -1)
		s.players[m.to].clock = max(s.players[m.to].clock, at)
		e.use.add(shakesInUse, 1)
		s.leaveAcross(e, dryMessage{from: m.to, to: m.from, round: m.round, time: m.time, bytes: m.bytes, kind: data})
	case data:
		e.use.add(shakesInUse, -1)
		key := [3]int32{m.to, m.time, m.round}
		if sent, there := s.messages[key]; there {
			sent.waits, sent.at = false, at
			s.messages[key] = sent
			s.enqueue(e, m.to)
		}
	default:
		s.deliver(m)
	}
}

// ackOf has a player that receives a message of a rendezvous from another node answer it, once.
func (s *scene) ackOf(e *dryEngine, m *dryMessage) {
	if m.asked {
		return
	}
	m.asked = true
	a := &s.players[m.to]
	a.clock = max(a.clock, m.at)
	e.use.add(shakesInUse, 1)
	s.leaveAcross(e, dryMessage{from: m.to, to: m.from, round: m.round, time: m.time, bytes: m.bytes, kind: reply})
}

// crossingsOf returns the crossings of a dry run among the first members of a schedule, nil if
// messages do not delay each other.
func (o *costModel) crossingsOf() *crossings {
	if !o.target.Contended() || o.Hidden && !o.Layered { // messages that take no places at interfaces
		return nil
	}
	c := &crossings{target: o.target, free: map[int]vtime.Time{}, compute: o.use.Compute, nodeOf: func(member int32) int { return o.target.Node(int(member)) }}
	if o.Leaders {
		c.nodeOf = func(member int32) int { return int(member) }
	}
	return c
}

// passingBytes returns the memory of messages between nodes: passages at either end, and their places in
// the order of asking.
func (u *usage) passingBytes(participants int) float64 {
	const link = 4
	n := float64(participants)
	return (u.leaving+u.coming)*float64(resource.PassageBytes+link) + (doubled(resource.PlaceBytes, u.leaving*n)+doubled(resource.PlaceBytes, u.coming*n))/n
}
