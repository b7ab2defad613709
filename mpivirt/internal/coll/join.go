package coll

import (
	"math"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/internal/random"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The node-leader algorithms: the members on one target node join by a counter; the last join lets
// the node's leader go on; the leaders run a schedule among themselves; the release of a node is
// one event.
//
// In virtual time a vector of m bytes takes α_intra + β_intra·m between two members of a node, or
// the time that the machine gives a join. The leader goes on at its own entry or at the arrival of
// the last vector of another member, whichever is later. With k members it then combines k−1
// vectors with its own, γm each. The other members leave when the leader's result arrives. That is
// max-plus arithmetic: the order of counting does not matter, and no member acts on another sooner
// than after α_intra. Joins and releases stand for counters and buffers in shared memory: no
// processor pays the overhead of a message for them. Contributions are combined in rank order
// within a node.

// nodeSum combines the contributions of a node's members in their order.
type nodeSum struct {
	value []byte
	next  int // members combined; gathering if value has the vectors of all members, to be combined once complete
	early []contribution
}

const gathering = -1

// longestRow is the greatest number of bytes of a node's vectors that wait to be combined together.
// To store more costs more than it saves.
const longestRow = 256 << 10

type contribution struct {
	index int // number among the node's members
	data  []byte
}

// nodeSums holds the sums of the nodes of which some members, not all, have contributed. They are
// few where consecutive ranks share a node.
type nodeSums struct {
	open   map[int]*nodeSum
	latest *nodeSum // the sum asked for last
	node   int      // node of latest
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

// take removes a node's sum and returns the combined vector and the contributions that still wait
// for earlier members.
func (s *nodeSums) take(node int) (value []byte, early []contribution) {
	sum := s.of(node)
	value, early = sum.value, sum.early
	*sum = nodeSum{}
	if len(early) == 0 {
		sum.early = early
	}
	s.free, s.latest = append(s.free, sum), nil
	delete(s.open, node)
	return value, early
}

// joinArrays holds arrays by node.
type joinArrays struct {
	awaited []int32      // members whose joins this engine still waits for
	rests   []rest       // for statistics: what the members that have joined rest on; else nil
	last    []vtime.Time // the latest arrival from a member other than the leader; once complete, the instant at which the leader goes on
}

// joinState holds the joins and releases of an instance under node-leader. Nodes with members of
// this engine are counted from nodes.here.
type joinState struct {
	joinArrays

	size           int             // of most nodes
	times          network.Joining // of a node of that size, where nodes are alike
	alike          bool            // all nodes of that size have these times
	sums           *nodeSums       // if there are data
	ledFrom, ledTo int             // nodes whose leader belongs to this engine
	led            int             // number of these nodes whose leader is here; all of them where leaders ascend
	complete       int             // number of these nodes whose members have all joined
}

// beginJoins initialises the joins of an instance. This engine waits for all members of the nodes
// that it leads, and for its own members of other nodes.
func (c *Collectives) beginJoins(inst *instance) {
	nodes, j := inst.comm.nodes, &inst.join
	spare := inst.comm.spare
	var reused bool
	if j.joinArrays, reused = spare.joins.Pop(); !reused {
		j.awaited = world.Reserve[int32](c.partition, nodes.there-nodes.here)
		j.last = world.Reserve[vtime.Time](c.partition, nodes.there-nodes.here)
	}
	if c.explains {
		if j.rests == nil {
			j.rests = make([]rest, nodes.there-nodes.here)
		}
		for i := range j.rests {
			j.rests[i] = unjoined
		}
	}
	j.size = nodes.size(0)
	j.times, j.alike = c.joining(inst, 0), nodes.world && c.partition.Target.JoinsAlike()
	j.ledFrom, j.ledTo = c.ledRange(inst)
	for i := range j.awaited {
		p := nodes.here + i
		if c.leads(inst, p) {
			j.led++
			j.awaited[i] = int32(nodes.size(p))
		} else {
			j.awaited[i] = int32(nodes.locals(c, p))
		}
		j.last[i] = 0
	}
	if inst.Call.Moved() {
		if j.sums, reused = spare.sums.Pop(); !reused {
			j.sums = &nodeSums{open: map[int]*nodeSum{}}
		}
	}
}

// join enters a local member.
func (c *Collectives) join(inst *instance, lp int32, member int, v *Collective) {
	p, missing := c.enterNode(inst, lp, c.partition.Clock[lp], member)
	if v.Moved() {
		c.contribute(inst, p, member, inst.contributionOf(member, v))
	}
	if missing == 0 {
		c.joinedHere(inst, p)
	}
}

// enterNode records the entry of a member at t. It returns the member's node and the number of
// members still missing there.
func (c *Collectives) enterNode(inst *instance, lp int32, t vtime.Time, member int) (p int, missing int32) {
	nodes := inst.comm.nodes
	p = nodes.at(member)
	switch leads := nodes.ledBy(p, member); {
	case inst.mode == ByArrays && c.explains:
		if t >= inst.join.rests[p-nodes.here].latest {
			inst.join.rests[p-nodes.here].add(c.restOf(inst, lp, member, t))
		}
		if leads {
			t = 0
		}
	case c.explains || c.partition.Target.HasJitterWithinNodes():
		t = c.joinTime(inst, lp, p, member, t, leads)
	case leads:
		t = 0
	}
	return p, inst.enterOthers(p-nodes.here, t, 1)
}

// joinTime returns the time at which the leader of node p hears of the entry of a member at t, without the latency, 0 for the
// leader itself. It records the chain that explains the entry.
func (c *Collectives) joinTime(inst *instance, lp int32, p, member int, t vtime.Time, leads bool) vtime.Time {
	nodes := inst.comm.nodes
	var own rest
	if c.explains {
		own = c.restOf(inst, lp, member, t)
		inst.join.rests[p-nodes.here].add(own)
	}
	if leads {
		t = 0
	} else if c.partition.Target.HasJitterWithinNodes() {
		rank := inst.comm.RankOf(member, 0)
		t = c.partition.Target.Free(rank, t).Add(c.joinJitter(inst, rank, inst.comm.RankOf(nodes.leader(p), 0)))
	}
	if c.explains && !leads {
		inst.join.joinsLater(p-nodes.here, own.chain, t)
	}
	return t
}

// joinJitter returns the jitter of a join or a release from one rank of a node to another.
func (c *Collectives) joinJitter(inst *instance, src, dst int) vtime.Duration {
	const join = 1 << 63 // no message of a round has it
	return c.partition.Target.Jitter(src, dst, 1<<63|random.Uint64(inst.comm.Context, uint64(inst.Number), join|uint64(dst)))
}

// enterOthers records that count members of a node, counted from nodes.here, have joined; members
// other than the leader entered at t or before. It returns the number of members still missing.
func (inst *instance) enterOthers(node int, t vtime.Time, count int32) (missing int32) {
	j := &inst.join
	j.last[node] = max(j.last[node], t)
	missing = j.awaited[node] - count
	j.awaited[node] = missing
	if invariant.Enabled && (count < 1 || missing < 0) {
		invariant.Broken("%v number %d of %s: %d more members have joined node %d than it has",
			inst.Call.Procedure, inst.Number, inst.comm, -missing, inst.comm.nodes.here+node)
	}
	return missing
}

// contribute adds a member's vector to its node's sum. The vector waits until the vectors of all
// members before it have been added.
func (c *Collectives) contribute(inst *instance, p, member int, data []byte) {
	sum := inst.join.sums.of(p)
	index := inst.comm.nodes.indexOf(p, member)
	if c.inRow(inst, p, len(data)) {
		if sum.next != gathering {
			sum.value, sum.next = c.partition.Buffers.Take(inst.comm.nodes.size(p)*len(data)), gathering
		}
		copy(sum.value[index*len(data):], data)
		return
	}
	if index != sum.next || !c.leads(inst, p) {
		kept := c.partition.Buffers.Take(len(data))
		copy(kept, data)
		sum.early = append(sum.early, contribution{index, kept})
		return
	}
	c.Combining, _ = c.partition.Local(inst.comm.RankOf(inst.comm.nodes.leader(p), 0))
	c.addTo(inst, sum, data)
	for progress := true; progress; {
		progress = false
		for i, e := range sum.early {
			if e.index == sum.next {
				c.addTo(inst, sum, e.data)
				c.partition.Buffers.Release(e.data)
				sum.early = slices.Delete(sum.early, i, i+1)
				progress = true
				break
			}
		}
	}
}

// inRow reports whether the vectors of a node's members, of some bytes each, are combined together.
func (c *Collectives) inRow(inst *instance, p, bytes int) bool {
	if c.InRows == "" || inst.Call.Operator.Name != c.InRows || bytes == 0 {
		return false
	}
	members := inst.comm.nodes.size(p)
	return members > 2 && members*bytes <= longestRow && c.leads(inst, p)
}

// combineRow combines the vectors of a node's members, if they have been waiting for each other.
func (c *Collectives) combineRow(inst *instance, p int, leader int32) {
	sum := inst.join.sums.of(p)
	if sum.next != gathering {
		return
	}
	row, members := sum.value, inst.comm.nodes.size(p)
	bytes := len(row) / members
	c.Combining, c.Row = leader, members
	inst.Call.Operator.Apply(row, nil, nil) // leaves the result in the place of the last vector
	c.Row = 0
	sum.value = c.partition.Buffers.Take(bytes)
	copy(sum.value, row[len(row)-bytes:])
	c.partition.Buffers.Release(row)
	sum.next = members
}

func (c *Collectives) addTo(inst *instance, s *nodeSum, data []byte) {
	if s.next == 0 {
		s.value = c.partition.Buffers.Take(len(data))
		copy(s.value, data)
	} else {
		inst.Call.Operator.Apply(s.value, s.value, data)
	}
	s.next++
}

// leads reports whether the leader of a node belongs to this engine.
func (c *Collectives) leads(inst *instance, p int) bool {
	_, local := c.partition.Local(inst.comm.RankOf(inst.comm.nodes.leader(p), 0))
	return local
}

// joinedHere records the last join of a node that this engine waits for.
func (c *Collectives) joinedHere(inst *instance, p int) {
	nodes := inst.comm.nodes
	if nodes.ascending && inst.join.ledFrom <= p && p < inst.join.ledTo || !nodes.ascending && c.leads(inst, p) {
		c.complete(inst, p)
	} else {
		c.sendJoin(inst, p)
	}
}

// joining returns the times of a node's joins and releases.
func (c *Collectives) joining(inst *instance, p int) network.Joining {
	nodes, target := inst.comm.nodes, c.partition.Target
	size := nodes.size(p)
	if inst.Call.Operation == collectives.Bcast && target.GivesBcasts() {
		return target.BcastJoins(size, inst.Call.Bytes)
	}
	span := size
	if !nodes.world && target.JoinsByLevels() {
		first, last := math.MaxInt, 0
		for i := range size {
			place := target.RankInNode(inst.comm.RankOf(nodes.member(p, i), 0))
			first, last = min(first, place), max(last, place)
		}
		span = last - first + 1
	}
	times := target.JoinsOn(target.Node(inst.comm.RankOf(nodes.leader(p), 0)), size, span, inst.Call.Bytes)
	if inst.Call.Operation == collectives.Bcast {
		times.Combine = 0
	}
	return times
}

// joiningOf returns joining of a node with a number of members. It computes the times only for nodes of unusual size.
func (inst *instance) joiningOf(c *Collectives, p, size int) network.Joining {
	if j := &inst.join; j.alike && size == j.size {
		return j.times
	}
	return c.joining(inst, p)
}

// complete lets the leader of a node go on, since all its members have joined.
func (c *Collectives) complete(inst *instance, p int) {
	nodes, j := inst.comm.nodes, &inst.join
	last := &j.last[p-nodes.here]
	leader := nodes.leader(p)
	lp, _ := c.partition.Local(inst.comm.RankOf(leader, 0))
	entry := inst.entryOf(c, lp, leader)
	come, work := entry, vtime.Duration(0)
	start := come
	if size := nodes.size(p); size > 1 {
		times := inst.joiningOf(c, p, size)
		come, work = max(come, last.Add(times.In)), times.Combine
		start = come.Add(work)
		if start == vtime.Forever {
			c.partition.PastEnd(int(c.partition.Global(lp)), max(entry, *last), inst.Call.Procedure, "the join of its node, which takes %v,", times.In.Plus(times.Combine))
		}
	}
	j.complete++
	c.joinsChain(inst, p, entry, come, work)
	*last = start
	if j.sums != nil {
		c.combineRow(inst, p, lp)
	}
	if inst.mode == ByMessages {
		c.startLeader(inst, p, lp, come, work)
		return
	}
	if j.sums != nil {
		value, _ := j.sums.take(p)
		c.sumOf(inst).addLeaf(c, p, lp, value)
	}
	if j.complete == j.led {
		c.queue(inst)
	}
}

// ledRange returns the positions of the nodes whose leader belongs to this engine; they are
// consecutive where the leaders ascend.
func (c *Collectives) ledRange(inst *instance) (lo, hi int) {
	nodes := inst.comm.nodes
	lo, hi = nodes.here, nodes.there
	for lo < hi && !c.leads(inst, lo) {
		lo++
	}
	for hi > lo && !c.leads(inst, hi-1) {
		hi--
	}
	return lo, hi
}

// release ends the parts of a node's members. Its leader leaves at t.
func (c *Collectives) release(inst *instance, p int, t vtime.Time) {
	nodes := inst.comm.nodes
	leader, size := nodes.leader(p), nodes.size(p)
	if nodes.perNode > 0 && inst.nonblocking == nil && !c.partition.Target.HasJitterWithinNodes() && (inst.split == nil || inst.split.done) && !c.partition.Strict && c.Messages.Processors == nil && leader >= c.partition.First && leader+size <= c.partition.First+c.partition.Ranks {
		c.releaseBlock(inst, p, leader, size, t)
		return
	}
	others := t.Add(inst.joiningOf(c, p, size).Out)
	told := c.told[:0]
	for i := range size {
		member := nodes.member(p, i)
		rank := inst.comm.RankOf(member, 0)
		lp, local := c.partition.Local(rank)
		switch {
		case !local:
			if owner := c.partition.Engine.Partition().Owner(rank); !slices.Contains(told, owner) {
				c.sendRelease(inst, p, t, owner)
				told = append(told, owner)
			}
		case member == leader:
			c.explainMember(inst, lp, member, true, t)
			c.exit(inst, lp, member, t)
		default:
			left := others
			if c.partition.Target.HasJitterWithinNodes() {
				left = c.partition.Target.Free(rank, left.Add(c.joinJitter(inst, inst.comm.RankOf(leader, 0), rank)))
			}
			if left == vtime.Forever {
				c.pastRelease(inst, p, rank, t)
			}
			c.explainMember(inst, lp, member, false, left)
			c.exit(inst, lp, member, left)
		}
	}
	c.told = told[:0]
}

// releaseBlock releases a node whose members are consecutive ranks of this engine, all of which
// wait in the blocking form.
func (c *Collectives) releaseBlock(inst *instance, p, leader, size int, t vtime.Time) {
	lp := leader - c.partition.First
	clocks, others := c.partition.Clock[lp:lp+size], t
	if size > 1 {
		others = t.Add(inst.joiningOf(c, p, size).Out)
	}
	if c.explains {
		c.explainBlock(inst, int32(lp), clocks, t, others)
	}
	c.noteTimes(inst, int32(lp), t, clocks[:1])
	clocks[0] = t
	if size > 1 {
		if others == vtime.Forever {
			c.pastRelease(inst, p, c.partition.First+lp+1, t)
		}
		c.noteTimes(inst, int32(lp+1), others, clocks[1:])
		for i := range clocks[1:] {
			clocks[1+i] = others
		}
	}
	c.leave(inst, int32(lp), int32(size))
}

// pastRelease fails the run: a member would leave its node after the end of virtual time. The
// leader leaves at t.
func (c *Collectives) pastRelease(inst *instance, p, rank int, t vtime.Time) {
	c.partition.PastEnd(rank, t, inst.Call.Procedure, "the release of its node, which takes %v,", inst.joiningOf(c, p, inst.comm.nodes.size(p)).Out)
}

// noteTimes records the times of consecutive LPs that leave together at t and whose clocks stand at
// their entries.
func (c *Collectives) noteTimes(inst *instance, lp int32, t vtime.Time, clocks []vtime.Time) {
	if inst.labels != nil || inst.launched.others != nil {
		for i, entry := range clocks {
			c.noteTime(inst, lp+int32(i), t.Sub(entry))
		}
		return
	}
	if inst.timed == stats.Untimed {
		return
	}
	for len(clocks) > 0 {
		entry, n := clocks[0], 1
		for n < len(clocks) && clocks[n] == entry {
			n++
		}
		c.partition.Summary.Tally.NoteSame(inst.timed, t.Sub(entry).Plus(inst.launched.common), uint64(n))
		clocks = clocks[n:]
	}
}

// releaseHere releases the local members of a node that another engine leads.
func (c *Collectives) releaseHere(inst *instance, p int, t vtime.Time) {
	inst.deliver()
	if c.explains {
		c.meet(inst, &c.leaving.rest)
	}
	nodes := inst.comm.nodes
	size := nodes.size(p)
	others := t.Add(inst.joiningOf(c, p, size).Out)
	for i := range size {
		member := nodes.member(p, i)
		rank := inst.comm.RankOf(member, 0)
		if lp, local := c.partition.Local(rank); local {
			left := others
			if c.partition.Target.HasJitterWithinNodes() {
				left = c.partition.Target.Free(rank, left.Add(c.joinJitter(inst, inst.comm.RankOf(nodes.leader(p), 0), rank)))
			}
			if left == vtime.Forever {
				c.pastRelease(inst, p, rank, t)
			}
			c.explainMember(inst, lp, member, false, left)
			c.exit(inst, lp, member, left)
		}
	}
	c.flushRange(inst)
}
