package mpivirt

import (
	"slices"

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
	last  vtime.Time // entry of the last; once complete, when the leader goes on
	rank  int32      // of the last, in WORLD
	count int32
	sum   *nodeSum
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

// join enters a local member.
func (k *kernel) join(inst *instance, lp int32, member int, v *collective) {
	nodes := inst.comm.nodes
	p := nodes.at(member)
	j := &inst.joins[p-nodes.here]
	j.enter(k.clock[lp], k.global(lp))
	j.count++
	if v.data {
		inst.keepOutput(member-inst.comm.first, v)
		k.contribute(inst, p, member, v.input)
	}
	k.joinedHere(inst, p, j)
}

// keepOutput notes where the result of a nonblocking member goes.
func (inst *instance) keepOutput(local int, v *collective) {
	if inst.requests == nil || inst.requests[local] == 0 {
		return
	}
	if inst.outputs == nil {
		inst.outputs = make([][]byte, inst.comm.last-inst.comm.first)
	}
	inst.outputs[local] = v.output
}

func (j *join) enter(t vtime.Time, rank int32) {
	if j.count == 0 || t > j.last || t == j.last && rank > j.rank {
		j.last, j.rank = t, rank
	}
}

// contribute adds a member's vector to its node's sum as soon as those of all
// members before it are in.
func (k *kernel) contribute(inst *instance, p, member int, data []byte) {
	j := &inst.joins[p-inst.comm.nodes.here]
	if j.sum == nil {
		j.sum = &nodeSum{}
	}
	index := inst.comm.nodes.indexOf(p, member)
	if index != j.sum.next || !k.leads(inst, p) {
		kept := k.buffers.take(len(data))
		copy(kept, data)
		j.sum.early = append(j.sum.early, contribution{index, kept})
		return
	}
	k.addTo(inst, j.sum, data)
	for progress := true; progress; {
		progress = false
		for i, e := range j.sum.early {
			if e.index == j.sum.next {
				k.addTo(inst, j.sum, e.data)
				k.buffers.release(e.data)
				j.sum.early = slices.Delete(j.sum.early, i, i+1)
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

// joinedHere looks whether a node is complete after a change of its count.
func (k *kernel) joinedHere(inst *instance, p int, j *join) {
	nodes := inst.comm.nodes
	here := nodes.locals(k, p)
	if int(j.count) < here {
		return
	}
	if !k.leads(inst, p) {
		if int(j.count) == here {
			k.sendJoin(inst, p, j)
		}
		return
	}
	if int(j.count) == nodes.size(p) {
		k.complete(inst, p, j)
	}
}

// complete lets the leader of a node go on, all of whose members have joined.
func (k *kernel) complete(inst *instance, p int, j *join) {
	leader := inst.comm.nodes.leader(p)
	rank := inst.comm.rankOf(leader, 0)
	lp, _ := k.local(rank)
	start := inst.entryOf(k, lp, leader)
	if int(j.rank) != rank {
		start = max(start, j.last.Add(k.tgt.Latency(int(j.rank), rank)))
	}
	inst.joined++
	j.last = start
	if inst.mode == byMessages {
		k.startLeader(inst, p, lp, start)
		return
	}
	if j.sum != nil {
		tree := k.bulkOf(inst).tree
		tree.add(tree.leaf(p), j.sum.value)
		j.sum = nil
	}
	if inst.joined == k.ledNodes(inst) {
		k.queue(task{instance: inst})
	}
}

// ledNodes returns the number of nodes whose leader belongs to this engine.
func (k *kernel) ledNodes(inst *instance) int {
	lo, hi := k.ledRange(inst)
	return hi - lo
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
	leader := nodes.leader(p)
	leaderRank := inst.comm.rankOf(leader, 0)
	told := k.told[:0]
	for i := range nodes.size(p) {
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
			k.exit(inst, lp, member, t.Add(k.tgt.Latency(leaderRank, rank)))
		}
	}
	k.told = told[:0]
}

// releaseHere is release for a node that another engine leads.
func (k *kernel) releaseHere(inst *instance, p int, t vtime.Time) {
	nodes := inst.comm.nodes
	leaderRank := inst.comm.rankOf(nodes.leader(p), 0)
	for i := range nodes.size(p) {
		member := nodes.member(p, i)
		rank := inst.comm.rankOf(member, 0)
		if lp, local := k.local(rank); local {
			k.exit(inst, lp, member, t.Add(k.tgt.Latency(leaderRank, rank)))
		}
	}
	k.flushRange(inst)
}
