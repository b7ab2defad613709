package network

import (
	"fmt"
	"sort"
)

// uneven is the layout of mapping block where nodes have room for different numbers of ranks.
type uneven struct {
	runs        []roomRun
	ranks       int
	count       int // nodes
	least, most int
}

// roomRun is a run of nodes on which as many ranks fit, up to the next run.
type roomRun struct{ node, rank, size int }

// fillUneven fills the nodes of a machine one after the other. room is their number, or 0 for as many as the ranks need.
func (m *Machine) fillUneven(ranks, room int) (*uneven, error) {
	l := &uneven{ranks: ranks, least: ranks}
	rank := 0
	run := func(from, to, size int) { // nodes from to to, but not to
		if room > 0 {
			to = min(to, room)
		}
		if from >= to || rank == ranks {
			return
		}
		l.runs = append(l.runs, roomRun{from, rank, size})
		nodes := (ranks-rank-1)/size + 1 // that the ranks that are left need
		if nodes <= to-from {
			last := ranks - rank - (nodes-1)*size
			rank, l.count = ranks, from+nodes
			l.least = min(l.least, last)
			if nodes > 1 {
				last = size
				l.least = min(l.least, size)
			}
			l.most = max(l.most, last)
			return
		}
		rank, l.count = rank+(to-from)*size, to
		l.least, l.most = min(l.least, size), max(l.most, size)
	}
	if places := m.allocation.places; places != nil {
		for from := 0; from < len(places); {
			size, to := m.roomOf(int(places[from])), from+1
			for to < len(places) && m.roomOf(int(places[to])) == size {
				to++
			}
			run(from, to, size)
			from = to
		}
	} else {
		next := 0
		for _, t := range m.typed {
			run(next, t.from, m.perNode)
			run(t.from, t.to+1, m.roomOf(t.from))
			next = t.to + 1
		}
		run(next, unlimited, m.perNode)
	}
	if rank < ranks {
		return nil, fmt.Errorf("%d ranks do not fit: the %d nodes have room for %d by ranks_per_node and the processors of their types: raise these, or ask for fewer ranks", ranks, l.count, rank)
	}
	return l, nil
}

// ofRank returns the run of the rank's node.
func (l *uneven) ofRank(rank int) roomRun {
	return l.runs[sort.Search(len(l.runs), func(i int) bool { return l.runs[i].rank > rank })-1]
}

// ofNode returns the run of the node.
func (l *uneven) ofNode(node int) roomRun {
	return l.runs[sort.Search(len(l.runs), func(i int) bool { return l.runs[i].node > node })-1]
}

func (l *uneven) nodes() int { return l.count }

func (l *uneven) node(rank int) int {
	r := l.ofRank(rank)
	return r.node + (rank-r.rank)/r.size
}

func (l *uneven) index(rank int) int {
	r := l.ofRank(rank)
	return (rank - r.rank) % r.size
}

func (l *uneven) member(node, k int) int {
	r := l.ofNode(node)
	return r.rank + (node-r.node)*r.size + k
}

func (l *uneven) size(node int) int        { return min(l.ofNode(node).size, l.ranks-l.member(node, 0)) }
func (l *uneven) sizes() (least, most int) { return l.least, l.most }
func (l *uneven) place(node int) int       { return node }

func (l *uneven) meeting(a, b, c, d int) (same, different bool) {
	return meetingOf(l.node(a), l.node(b-1), l.node(c), l.node(d-1))
}
