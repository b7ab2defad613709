package main

import (
	"cmp"
	"math/bits"
	"slices"

	"gigarank/collectives"
	"gigarank/vtime"
)

// shared computes the times at which all ranks leave a collective on a machine whose nodes have interfaces, by the definitions of the
// algorithm and of interfaces, one round after the other: a message takes an interface of its rank at the node of the
// sender when it leaves, and at the node of the receiver as late as its bytes allow, in the order (instant, sender). Messages are of at most a
// packet, and a rank has an interface of its own.
type shared struct {
	*twin
	clocks  []vtime.Time // by rank
	begins  []vtime.Time // by rank: instant at which its message of the round begins to leave
	out, in []vtime.Time // by node and interface: instant from which on it is free
	each    int
	gap     vtime.Duration
	asking  []asking
}

// asking is a message that asks for an interface.
type asking struct {
	at               vtime.Time
	sender, receiver int
}

// sharedBy returns the computation for a machine on which ranks have interfaces of their own, nil for another machine.
func sharedBy(w *twin) *shared {
	t := w.target
	each, any, gap := t.Interfaces()
	if !t.Contended() || t.ContendedWithin() || t.Contention().Model != "" || any || t.Striped() {
		return nil
	}
	s := &shared{twin: w, each: each, gap: gap, clocks: make([]vtime.Time, t.Ranks()), begins: make([]vtime.Time, t.Ranks()),
		out: make([]vtime.Time, t.Nodes()*each), in: make([]vtime.Time, t.Nodes()*each)}
	for rank := range s.clocks {
		s.clocks[rank] = w.entry(rank)
	}
	return s
}

// exits returns the times at which ranks leave, nil if the algorithm is not known.
func (s *shared) exits(op collectives.Operation, a collectives.Algorithm) []vtime.Time {
	all := make([]int, s.target.Ranks())
	for rank := range all {
		all[rank] = rank
	}
	switch {
	case a == collectives.RecursiveDoubling && (op == collectives.Barrier || op == collectives.Allreduce):
		s.butterflyOf(all)
	case a == collectives.Dissemination && op == collectives.Barrier:
		for distance := 1; distance < len(all); distance *= 2 {
			s.round(all, func(i int) int { return (i + distance) % len(all) }, func(i int) int { return (i - distance + len(all)) % len(all) }, 0)
		}
	case a == collectives.NodeLeader && (op == collectives.Barrier || op == collectives.Allreduce):
		s.leaders()
	default:
		return nil
	}
	return s.clocks
}

// leaders has the leaders of nodes go through the butterfly, and the others leave with their leader.
func (s *shared) leaders() {
	t := s.target
	var leaders []int
	for node := range t.Nodes() {
		leader := t.NodeMember(node, 0)
		s.clocks[leader] = s.joined(node)
		leaders = append(leaders, leader)
	}
	s.butterflyOf(leaders)
	for node, leader := range leaders {
		for k := 1; k < t.NodeSize(node); k++ {
			rank := t.NodeMember(node, k)
			s.clocks[rank] = s.clocks[leader].Add(t.Delay(leader, rank, s.bytes))
		}
	}
}

// butterflyOf has members go through the butterfly; see [twin.butterfly].
func (s *shared) butterflyOf(members []int) {
	const none = -1
	levels := bits.Len(uint(len(members))) - 1
	extra := len(members) - 1<<levels
	combine := s.target.ReduceTime(s.bytes)
	fold := func(back int, combine vtime.Duration) {
		s.round(members, func(i int) int {
			if i < 2*extra && i%2 == back {
				return i ^ 1
			}
			return none
		}, func(i int) int {
			if i < 2*extra && i%2 != back {
				return i ^ 1
			}
			return none
		}, combine)
	}
	survivor := func(i int) int {
		if i >= 2*extra {
			return i - extra
		}
		return i / 2
	}
	fold(0, combine)
	for level := range levels {
		partner := func(i int) int {
			if i < 2*extra && i%2 == 0 {
				return none
			}
			other := survivor(i) ^ 1<<level
			if other < extra {
				return 2*other + 1
			}
			return other + extra
		}
		s.round(members, partner, partner, combine)
	}
	fold(1, 0)
}

// round has members send and receive. to and from return the member to which, and from which, a member's message goes, negative for none.
// Receivers then combine for a time. The members of a node are consecutive.
func (s *shared) round(members []int, to, from func(i int) int, combine vtime.Duration) {
	t := s.target
	s.byNode(members, func(ranks, first int) {
		for i := first; i < first+ranks; i++ {
			other := to(i)
			if other < 0 {
				continue
			}
			src, dst := members[i], members[other]
			s.begins[src] = s.clocks[src].Add(t.Overhead().Send)
			if t.Node(src) != t.Node(dst) {
				s.asking = append(s.asking, asking{s.begins[src], src, dst})
			}
		}
		for _, m := range s.ask() {
			s.begins[m.sender] = s.take(s.out, m.sender, m.at)
		}
	})
	s.byNode(members, func(ranks, first int) {
		for i := first; i < first+ranks; i++ {
			other := from(i)
			if other < 0 {
				if to(i) >= 0 {
					s.clocks[members[i]] = s.sent(s.clocks[members[i]])
				}
				continue
			}
			src, dst := members[other], members[i]
			if to(i) >= 0 {
				s.clocks[dst] = s.sent(s.clocks[dst])
			}
			if t.Node(src) == t.Node(dst) {
				s.clocks[dst] = s.received(s.clocks[dst], s.begins[src].Add(t.Delay(src, dst, s.bytes))).Add(combine)
				continue
			}
			latency, transfer := t.LatencyAndTransfer(src, dst, s.bytes)
			s.asking = append(s.asking, asking{s.begins[src].Add(latency + transfer - min(transfer, t.InterfaceTime(s.bytes))), src, dst})
		}
		for _, m := range s.ask() {
			arrival := s.take(s.in, m.receiver, m.at).Add(t.InterfaceTime(s.bytes))
			s.clocks[m.receiver] = s.received(s.clocks[m.receiver], arrival).Add(combine)
		}
	})
}

// byNode calls visit with the number of members of each node, and the first of them.
func (s *shared) byNode(members []int, visit func(ranks, first int)) {
	for first := 0; first < len(members); {
		last := first + 1
		for last < len(members) && s.target.Node(members[last]) == s.target.Node(members[first]) {
			last++
		}
		visit(last-first, first)
		first = last
	}
}

// ask returns the messages that ask at a node, in their order.
func (s *shared) ask() []asking {
	all := s.asking
	slices.SortFunc(all, func(a, b asking) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.sender, b.sender)) })
	s.asking = all[:0]
	return all
}

// take takes the interface of a rank for a message that asks at an instant, and returns when the message begins.
func (s *shared) take(side []vtime.Time, rank int, asks vtime.Time) vtime.Time {
	free := &side[s.target.Node(rank)*s.each+s.target.RankInNode(rank)%s.each]
	begins := max(asks, *free)
	*free = begins.Add(s.target.InterfaceTime(s.bytes)).Add(s.gap)
	return begins
}

// exitsOf returns a function with the time at which a rank leaves, by the computation that serves the machine, and false if it does not know
// the algorithm.
func exitsOf(w *twin, op collectives.Operation, a collectives.Algorithm) func(rank int) (vtime.Time, bool) {
	if _, _, gap := w.target.Interfaces(); !w.target.Contended() || w.bytes == 0 && gap == 0 { // messages without bytes occupy no interface
		return func(rank int) (vtime.Time, bool) { return w.exit(op, a, rank) }
	}
	var all []vtime.Time
	if s := sharedBy(w); s != nil {
		all = s.exits(op, a)
	}
	return func(rank int) (vtime.Time, bool) {
		if all == nil {
			return 0, false
		}
		return all[rank], true
	}
}
