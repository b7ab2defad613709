package mpivirt

import (
	"slices"

	"gigarank/invariant"
	"gigarank/vtime"
)

// The node-leader algorithms: the members on one target node join by a counter;
// the last to join, by the total order, lets the node's leader go on; the leaders
// run a schedule among themselves; the release of a node is one event.
//
// In virtual time the leader goes on at its own entry or, if another member joins
// last, at that one's entry + α_intra, whichever is later; the others leave at the
// leader's exit + α_intra. Contributions to an allreduce are combined in rank
// order within a node.

// join counts the members of one node that have entered an instance.
type join struct {
	rank    int32 // the last to join, in WORLD; -1 before the first
	missing int32 // members that this engine still has to hear of
}

// nodeSum combines the contributions of a node's members in their order.
type nodeSum struct {
	value []byte
	next  int // members combined
	early []contribution
}

type contribution struct {
	index int // among the node's members
	data  []byte
}

// nodeSums are the sums of the nodes of which some members have contributed and others
// not: few at a time, where ranks that contribute one after another share a node.
type nodeSums struct {
	open   map[int]*nodeSum
	latest *nodeSum // asked for last
	node   int      // of latest
	free   []*nodeSum
}

// of returns the sum of a node.
func (s *nodeSums) of(node int) *nodeSum {
	if s.latest != nil && s.node == node {
		return s.latest
	}
	sum := s.open[node]
	if sum == nil {
		if last := len(s.free) - 1; last >= 0 {
			sum, s.free = s.free[last], s.free[:last]
		} else {
			sum = &nodeSum{}
		}
		s.open[node] = sum
	}
	s.latest, s.node = sum, node
	return sum
}

// take ends the sum of a node and returns its value and what could not be combined.
func (s *nodeSums) take(node int) (value []byte, early []contribution) {
	sum := s.of(node)
	value, early = sum.value, sum.early
	*sum = nodeSum{}
	s.free, s.latest = append(s.free, sum), nil
	delete(s.open, node)
	return value, early
}

// beginJoins sets the joins of an instance up: this engine waits for all members
// of the nodes that it leads, and for its own of the others.
func (k *kernel) beginJoins(inst *instance) {
	nodes := inst.comm.nodes
	spare := &inst.comm.spare
	inst.joins, inst.last = spare.joins, spare.last
	spare.joins, spare.last = nil, nil
	if inst.joins == nil {
		inst.joins = reserve[join](k, nodes.there-nodes.here)
		inst.last = reserve[vtime.Time](k, nodes.there-nodes.here)
	}
	inst.ledFrom, inst.ledTo = k.ledRange(inst)
	for i := range inst.joins {
		p := nodes.here + i
		j := join{rank: -1}
		if k.leads(inst, p) {
			j.missing = int32(nodes.size(p))
		} else {
			j.missing = int32(nodes.locals(k, p))
		}
		inst.joins[i], inst.last[i] = j, 0
	}
	if inst.call.data {
		inst.sums = &nodeSums{open: map[int]*nodeSum{}}
	}
}

// join enters a local member.
func (k *kernel) join(inst *instance, lp int32, member int, v *collective) {
	nodes := inst.comm.nodes
	p := nodes.at(member)
	missing := inst.enterNode(p-nodes.here, k.clock[lp], k.global(lp), 1)
	if v.data {
		k.contribute(inst, p, member, v.input)
	}
	if missing == 0 {
		k.joinedHere(inst, p)
	}
}

// enterNode notes that count members of a node, counted from nodes.here, have
// joined, the last of them at t. It returns how many are missing.
func (inst *instance) enterNode(node int, t vtime.Time, rank, count int32) (missing int32) {
	j, last := &inst.joins[node], &inst.last[node]
	if t > *last || t == *last && rank > j.rank {
		*last, j.rank = t, rank
	}
	j.missing -= count
	if invariant.Enabled && (count < 1 || j.missing < 0) {
		invariant.Broken("%v number %d of %s: %d more members have joined node %d than it has",
			inst.call.name, inst.number, inst.comm, -j.missing, inst.comm.nodes.here+node)
	}
	return j.missing
}

// contribute adds a member's vector to its node's sum as soon as those of all
// members before it are in.
func (k *kernel) contribute(inst *instance, p, member int, data []byte) {
	sum := inst.sums.of(p)
	index := inst.comm.nodes.indexOf(p, member)
	if index != sum.next || !k.leads(inst, p) {
		kept := k.buffers.take(len(data))
		copy(kept, data)
		sum.early = append(sum.early, contribution{index, kept})
		return
	}
	k.addTo(inst, sum, data)
	for progress := true; progress; {
		progress = false
		for i, e := range sum.early {
			if e.index == sum.next {
				k.addTo(inst, sum, e.data)
				k.buffers.release(e.data)
				sum.early = slices.Delete(sum.early, i, i+1)
				progress = true
				break
			}
		}
	}
}

func (k *kernel) addTo(inst *instance, s *nodeSum, data []byte) {
	if s.next == 0 {
		s.value = k.buffers.take(len(data))
		copy(s.value, data)
	} else {
		inst.call.operator.apply(s.value, s.value, data)
	}
	s.next++
}

// leads reports whether the leader of a node belongs to this engine.
func (k *kernel) leads(inst *instance, p int) bool {
	_, local := k.local(inst.comm.rankOf(inst.comm.nodes.leader(p), 0))
	return local
}

// joinedHere is called when all that this engine waits for on a node have joined.
func (k *kernel) joinedHere(inst *instance, p int) {
	nodes := inst.comm.nodes
	if nodes.ascending && inst.ledFrom <= p && p < inst.ledTo || !nodes.ascending && k.leads(inst, p) {
		k.complete(inst, p)
	} else {
		k.sendJoin(inst, p)
	}
}

// complete lets the leader of a node go on, all of whose members have joined.
func (k *kernel) complete(inst *instance, p int) {
	node := p - inst.comm.nodes.here
	j, last := &inst.joins[node], &inst.last[node]
	leader := inst.comm.nodes.leader(p)
	rank := inst.comm.rankOf(leader, 0)
	lp, _ := k.local(rank)
	start := inst.entryOf(k, lp, leader)
	if int(j.rank) != rank {
		start = max(start, last.Add(inst.comm.nodes.latency(int(j.rank), rank)))
	}
	inst.joined++
	*last = start
	if inst.mode == byMessages {
		k.startLeader(inst, p, lp, start)
		return
	}
	if inst.sums != nil {
		tree := k.bulkOf(inst).tree
		value, _ := inst.sums.take(p)
		tree.add(tree.leaf(p), value)
	}
	if inst.joined == inst.ledTo-inst.ledFrom {
		k.queue(task{instance: inst})
	}
}

// ledRange returns the positions of the nodes whose leader belongs to this
// engine; they are consecutive where the leaders ascend.
func (k *kernel) ledRange(inst *instance) (lo, hi int) {
	nodes := inst.comm.nodes
	lo, hi = nodes.here, nodes.there
	for lo < hi && !k.leads(inst, lo) {
		lo++
	}
	for hi > lo && !k.leads(inst, hi-1) {
		hi--
	}
	return lo, hi
}

// release lets the members of a node go whose leader leaves at instant t.
func (k *kernel) release(inst *instance, p int, t vtime.Time) {
	nodes := inst.comm.nodes
	leader, size := nodes.leader(p), nodes.size(p)
	if nodes.perNode > 0 && inst.requests == nil && !k.strict && leader >= k.lo && leader+size <= k.lo+k.n {
		k.releaseBlock(inst, leader, size, t)
		return
	}
	leaderRank := inst.comm.rankOf(leader, 0)
	told := k.told[:0]
	for i := range size {
		member := nodes.member(p, i)
		rank := inst.comm.rankOf(member, 0)
		lp, local := k.local(rank)
		switch {
		case !local:
			if owner := k.eng.Partition().Owner(rank); !slices.Contains(told, owner) {
				k.sendRelease(inst, p, t, owner)
				told = append(told, owner)
			}
		case member == leader:
			k.exit(inst, lp, member, t)
		default:
			k.exit(inst, lp, member, t.Add(nodes.latency(leaderRank, rank)))
		}
	}
	k.told = told[:0]
}

// releaseBlock is release for a node whose members are consecutive ranks of this
// engine that all wait in the blocking form. One latency serves for all: they are
// on one node.
func (k *kernel) releaseBlock(inst *instance, leader, size int, t vtime.Time) {
	lp := leader - k.lo
	clocks := k.clock[lp : lp+size]
	k.noteTimes(inst, int32(lp), t, clocks[:1])
	clocks[0] = t
	if size > 1 {
		others := t.Add(inst.comm.nodes.latency(leader, leader+1))
		k.noteTimes(inst, int32(lp+1), others, clocks[1:])
		for i := range clocks[1:] {
			clocks[1+i] = others
		}
	}
	k.leave(inst, int32(lp), int32(size))
}

// noteTimes enters the times of LPs with consecutive numbers that leave together at t
// and whose clocks stand at their entries.
func (k *kernel) noteTimes(inst *instance, lp int32, t vtime.Time, clocks []vtime.Time) {
	if inst.labels != nil {
		for i, entry := range clocks {
			k.noteTime(inst, lp+int32(i), t.Sub(entry))
		}
		return
	}
	if inst.timed == untimed {
		return
	}
	for len(clocks) > 0 {
		entry, n := clocks[0], 1
		for n < len(clocks) && clocks[n] == entry {
			n++
		}
		k.tally.noteSame(inst.timed, t.Sub(entry), uint64(n))
		clocks = clocks[n:]
	}
}

// releaseHere is release for a node that another engine leads.
func (k *kernel) releaseHere(inst *instance, p int, t vtime.Time) {
	nodes := inst.comm.nodes
	leaderRank := inst.comm.rankOf(nodes.leader(p), 0)
	for i := range nodes.size(p) {
		member := nodes.member(p, i)
		rank := inst.comm.rankOf(member, 0)
		if lp, local := k.local(rank); local {
			k.exit(inst, lp, member, t.Add(nodes.latency(leaderRank, rank)))
		}
	}
	k.flushRange(inst)
}
