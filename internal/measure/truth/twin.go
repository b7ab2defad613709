package main

import (
	"math/bits"

	"gigarank/collectives"
	"gigarank/network"
	"gigarank/vtime"
)

// twin computes the time at which one rank leaves a collective from the entries of all
// ranks, by the definition of the algorithm. A clock after a round is the later of two
// times, plus the times to receive and to combine. They are the clock before the round,
// once the rank has sent, and the arrival of the round's message. The twin recurses
// back to the entries and stores nothing, so one rank of P costs O(P) steps.
type twin struct {
	target *network.Target
	entry  func(rank int) vtime.Time
	bytes  int64
}

// exit returns the time at which a rank leaves, and false if the twin does not know the
// algorithm.
func (w *twin) exit(op collectives.Operation, a collectives.Algorithm, rank int) (t vtime.Time, known bool) {
	everyone := members{w.target.Ranks(), func(m int) int { return m }, w.entry}
	switch {
	case a == collectives.NodeLeader && (op == collectives.Barrier || op == collectives.Allreduce):
		return w.nodeLeader(rank), true
	case a == collectives.RecursiveDoubling && (op == collectives.Barrier || op == collectives.Allreduce):
		return w.butterfly(everyone, rank), true
	case a == collectives.Dissemination && op == collectives.Barrier:
		return w.dissemination(everyone, rank, bits.Len(uint(everyone.count-1))), true
	}
	return 0, false
}

// members are the participants of an algorithm.
type members struct {
	count int
	rank  func(member int) int
	entry func(member int) vtime.Time
}

// arrival returns the time at which a message sent at t reaches another member.
func (w *twin) arrival(p members, from, to int, t vtime.Time) vtime.Time {
	return t.Add(w.target.Overhead().Send).Add(w.target.Delay(p.rank(from), p.rank(to), w.bytes))
}

// sent returns the time at which a member that sends at t is free again.
func (w *twin) sent(t vtime.Time) vtime.Time { return t.Add(w.target.SendTime(w.bytes)) }

// received returns the time at which a member that is free at t is done with a message.
func (w *twin) received(t, arrival vtime.Time) vtime.Time {
	return max(t, arrival).Add(w.target.ReceiveTime(w.bytes))
}

// dissemination (Hensgen, Finkel, Manber, 1988): in round k = 1, 2, ... member i
// signals member i + 2^(k-1) and waits for member i − 2^(k-1), modulo their number.
func (w *twin) dissemination(p members, i, round int) vtime.Time {
	if round == 0 {
		return p.entry(i)
	}
	from := (i - 1<<(round-1) + p.count) % p.count
	return w.received(w.sent(w.dissemination(p, i, round-1)), w.arrival(p, from, i, w.dissemination(p, from, round-1)))
}

// butterfly: of P = 2^L + r members, member 2j first sends to member 2j+1, for j < r,
// and gets the result from it at the end. The 2^L others go through L rounds, and in
// round k exchange with the one whose number differs in bit k.
func (w *twin) butterfly(p members, i int) vtime.Time {
	levels := bits.Len(uint(p.count)) - 1
	extra := p.count - 1<<levels
	switch {
	case i >= 2*extra:
		return w.exchanged(p, extra, i-extra, levels)
	case i%2 == 1:
		return w.sent(w.exchanged(p, extra, i/2, levels))
	}
	return w.received(w.sent(p.entry(i)), w.arrival(p, i+1, i, w.exchanged(p, extra, i/2, levels)))
}

// exchanged returns the clock of survivor s after round rounds.
func (w *twin) exchanged(p members, extra, s, round int) vtime.Time {
	combine := w.target.ReduceTime(w.bytes)
	member := func(s int) int {
		if s < extra {
			return 2*s + 1
		}
		return s + extra
	}
	if round > 0 {
		partner := s ^ 1<<(round-1)
		arrival := w.arrival(p, member(partner), member(s), w.exchanged(p, extra, partner, round-1))
		return w.received(w.sent(w.exchanged(p, extra, s, round-1)), arrival).Add(combine)
	}
	i := member(s)
	if s >= extra {
		return p.entry(i)
	}
	return w.received(p.entry(i), w.arrival(p, i-1, i, p.entry(i-1))).Add(combine)
}

// nodeLeader: the vectors of a node's ranks reach the lowest of them. It combines them
// with its own once all have come. The leaders go through the butterfly, and the others
// leave when their leader's result comes.
func (w *twin) nodeLeader(rank int) vtime.Time {
	t := w.target
	leaders := members{t.Nodes(), func(node int) int { return t.NodeMember(node, 0) }, w.joined}
	node := t.Node(rank)
	leader, exit := leaders.rank(node), w.butterfly(leaders, node)
	if rank != leader {
		exit = exit.Add(t.Delay(leader, rank, w.bytes))
	}
	return exit
}

// joined returns the time at which the leader of a node has its sum.
func (w *twin) joined(node int) vtime.Time {
	leader := w.target.NodeMember(node, 0)
	t := w.entry(leader)
	for k := 1; k < w.target.NodeSize(node); k++ {
		rank := w.target.NodeMember(node, k)
		t = max(t, w.entry(rank).Add(w.target.Delay(rank, leader, w.bytes)))
	}
	for k := 1; k < w.target.NodeSize(node); k++ {
		t = t.Add(w.target.ReduceTime(w.bytes))
	}
	return t
}
