package coll

import (
	"fmt"
	"math/bits"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// A collective of fixed cost has no messages: all participants leave after the last entry plus the
// machine's time for the collective: one that the network carries out, or that ranks carry out by writes along the links of a torus,
// on which nothing else goes. The participants are the members, or under algorithm offload
// the leaders of nodes unless the nodes have switches. Each engine sends its parent in the tree of
// engines the last entry that it knows, once all its own participants have entered and all its
// children have sent theirs. The root sends the last entry of all participants down the tree.
// Vectors travel the same way.
//
// The last participant's engine is up to 2·levels hops from another engine. A hop counts as a
// message of at least FixedCostHop of virtual time, and the lookahead between engines is at most
// that long. So no exit violates a promise to another engine.

// fixedCostState is the state, on an engine with participants, of a collective of fixed cost.
type fixedCostState struct {
	last    vtime.Time // last entry that the engine knows
	rests   rest       // on that entry, with statistics
	missing int        // children that have not sent their last entry, plus one for the engine itself
	cost    vtime.Duration
	sum     *summing // sum of the vectors, whose missing is not used; nil without data
	outputs []output // of the members here that receive the result of a rooted operation or of joined blocks
}

// output is where a member wants its result.
type output struct {
	member int
	into   []byte
}

// offloadsRooted reports whether a rooted operation has a fixed cost.
func (v *Collective) offloadsRooted() bool {
	return (v.Algorithm == collectives.Offload || v.Algorithm.AlongTorus()) && v.Operation.Rooted()
}

// joinsBlocks reports whether the members' blocks are joined at a fixed cost.
func (v *Collective) joinsBlocks() bool {
	switch v.Algorithm {
	case collectives.TorusRings, collectives.TorusDirect, collectives.TorusSpread:
		return true
	}
	return false
}

// torusTime returns the time of a call by writes along the links of a torus.
func (c *Collectives) torusTime(v *Collective) vtime.Duration {
	t := c.partition.Target
	switch v.Algorithm {
	case collectives.TorusRings:
		return t.RingsTime(v.asked())
	case collectives.TorusDirect:
		return t.DirectTime(v.asked())
	case collectives.TorusSpread:
		return t.SpreadTime(v.asked())
	}
	trees := network.Trees{Up: v.Operation != collectives.Bcast, Down: v.Operation != collectives.Reduce, Count: collectives.FanoutOf(v.Operation, v.Algorithm), Segment: v.Algorithm.Segment()}
	return t.TreesTime(trees, v.Bytes)
}

// contributionOf returns the vector that a member adds to the sum, and stores the member's output.
// The sum of a bcast is the vector of the root; a byte before each vector marks that of the root. That of a gather, an allgather or an alltoall is all blocks.
func (inst *instance) contributionOf(member int, v *Collective) []byte {
	if v.joinsBlocks() {
		if !v.Operation.Rooted() || member == v.Root {
			inst.fixedCost.outputs = append(inst.fixedCost.outputs, output{member, v.Output})
		}
		return v.Input
	}
	if !v.offloadsRooted() {
		return v.Input
	}
	isRoot := member == v.Root
	if v.Operation == collectives.Reduce {
		if isRoot {
			inst.fixedCost.outputs = append(inst.fixedCost.outputs, output{member, v.Output})
		}
		return v.Input
	}
	inst.fixedCost.outputs = append(inst.fixedCost.outputs, output{member, v.Output})
	flagged := make([]byte, 1+v.Bytes)
	if isRoot {
		flagged[0] = 1
		copy(flagged[1:], v.Input)
	}
	return flagged
}

// takeRoot is the operator of a bcast: the marked vector, if there is one.
func takeRoot(into, left, right []byte) {
	if right[0] != 0 {
		copy(into, right)
	} else {
		copy(into, left)
	}
}

// deliver writes the result of a rooted operation, or the blocks for each of them, into the outputs of the members here.
func (inst *instance) deliver() {
	if inst.fixedCost == nil {
		return
	}
	for _, out := range inst.fixedCost.outputs {
		if inst.Call.Operation == collectives.Alltoall {
			inst.column(out)
		} else {
			moveTo(out.into, inst.result)
		}
	}
	inst.fixedCost.outputs = nil
}

// keepResult stores a copy of the result, and delivers it.
func (inst *instance) keepResult() {
	inst.result = append([]byte(nil), inst.result...)
	if inst.Call.Operation == collectives.Bcast {
		inst.result = inst.result[1:]
	}
	inst.deliver()
}

// column writes the blocks of all members for one of them into its output. The result is the blocks of each member for all.
func (inst *instance) column(out output) {
	members := inst.comm.Size
	block := len(inst.result) / (members * members)
	for from := range members {
		copy(out.into[from*block:], inst.result[(from*members+out.member)*block:][:block])
	}
}

// FixedCostHop returns the virtual time of a hop between engines in a collective of fixed cost.
func FixedCostHop(cost vtime.Duration, engines int) vtime.Duration {
	return cost / vtime.Duration(2*max(levels(engines), 1))
}

// levels returns the number of levels of a binary tree over n leaves.
func levels(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// beginFixedCost returns the initial state of a barrier of fixed cost.
func (c *Collectives) beginFixedCost(inst *instance) *fixedCostState {
	g := &fixedCostState{rests: unrested, missing: 1 + len(c.fixedCostTree(inst).children), cost: c.partition.Target.BarrierTime()}
	if inst.Call.Algorithm == collectives.Offload {
		g.cost = c.partition.Target.OffloadTime(c.spanOf(inst.comm), inst.Call.Bytes)
	}
	if inst.Call.Algorithm.AlongTorus() {
		g.cost = c.torusTime(&inst.Call)
	}
	switch {
	case inst.Call.Moved() && inst.Call.joinsBlocks():
		g.sum = &summing{fold: collectives.NewTreeFold(inst.participants(), c.joinBlocks), latest: world.None}
	case inst.Call.Moved():
		g.sum = &summing{fold: c.newTree(inst.Call.Operator, inst.participants()), latest: world.None}
	}
	return g
}

// joinBlocks returns the blocks of successive members, both pooled buffers, in one.
func (c *Collectives) joinBlocks(lower, higher []byte) []byte {
	both := c.partition.Buffers.Take(len(lower) + len(higher))
	copy(both[copy(both, lower):], higher)
	c.partition.Buffers.Release(lower)
	c.partition.Buffers.Release(higher)
	return both
}

// fixedCostTree returns the neighbours of this engine among the engines that have participants.
func (c *Collectives) fixedCostTree(inst *instance) branches {
	if !inst.leaders {
		return c.memberTree(inst.comm)
	}
	return c.branchesOf(func(rank int) int { return c.leaderFrom(inst, rank) })
}

// leaderFrom returns the least rank of a leader that is at least rank, or -1.
func (c *Collectives) leaderFrom(inst *instance, rank int) int {
	nodes := inst.comm.nodes
	if nodes.ascending {
		if p := c.participantFrom(inst, rank); p < nodes.count {
			return inst.rankOf(p)
		}
		return -1
	}
	if nodes.sorted == nil {
		nodes.sorted = make([]int32, nodes.count)
		for p := range nodes.sorted {
			nodes.sorted[p] = int32(inst.rankOf(p))
		}
		slices.Sort(nodes.sorted)
	}
	if i, _ := slices.BinarySearch(nodes.sorted, int32(rank)); i < nodes.count {
		return int(nodes.sorted[i])
	}
	return -1
}

// runFixedCost enters this engine's participants, which have all called the collective.
func (c *Collectives) runFixedCost(inst *instance) {
	last, comm := vtime.Time(0), inst.comm
	rests := unrested
	switch {
	case inst.leaders:
		for p := inst.join.ledFrom; p < inst.join.ledTo; p++ {
			if comm.nodes.ascending || c.leads(inst, p) {
				t := inst.join.last[p-comm.nodes.here]
				if c.explains {
					rests = latestRest(rests, last, inst.join.rests[p-comm.nodes.here], t)
				}
				last = max(last, t)
			}
		}
	case inst.ofAllHere():
		latest := 0
		for lp, t := range c.partition.Clock {
			if t > last {
				last, latest = t, lp
			}
		}
		if c.explains {
			rests = c.restOf(inst, int32(latest), c.partition.First+latest, last)
		}
	default:
		for member := comm.First; member < comm.Last; member++ {
			if lp, here := c.partition.Local(comm.RankOf(member, 0)); here {
				t := inst.entryOf(c, lp, member)
				if c.explains {
					rests = latestRest(rests, last, c.restOf(inst, lp, member, t), t)
				}
				last = max(last, t)
			}
		}
	}
	c.addEntries(inst, last, rests)
}

// unrested is the rest of a collective before an entry.
var unrested = rest{chain: unchained}

// latestRest returns the rest of the later of two instants, at a tie the rest of the lesser rank.
func latestRest(a rest, t vtime.Time, b rest, u vtime.Time) rest {
	if a.chain.Rank == world.None || u > t || u == t && b.chain.Rank != world.None && b.chain.Rank < a.chain.Rank {
		return b
	}
	return a
}

// ofAllHere reports whether all ranks of this engine wait in the blocking form.
func (inst *instance) ofAllHere() bool {
	return inst.comm.Index == world.World && inst.nonblocking == nil
}

// addEntries records the last entry below a child, or of this engine's own participants. After the
// last of them the engine sends its parent the last entry.
func (c *Collectives) addEntries(inst *instance, last vtime.Time, rests rest) {
	g := inst.fixedCost
	g.rests = latestRest(g.rests, g.last, rests, last)
	g.last = max(g.last, last)
	if g.missing--; g.missing > 0 {
		return
	}
	parent := c.fixedCostTree(inst).parent
	switch {
	case parent >= 0 && g.sum == nil:
		w := c.collectiveRecord(inst, parent, world.RecordTree, c.entryRecord())
		c.writeEntry(inst, &w)
	case parent >= 0:
		c.sendValues(inst, g.sum.fold, parent, c.entryRecord(), func(w *world.Writer) { c.writeEntry(inst, w) })
	case g.sum == nil:
		c.leaveFixedCost(inst, g.last, nil)
	default:
		result := c.resultOf(inst, g.sum)
		c.leaveFixedCost(inst, g.last, result)
		c.partition.Buffers.Release(result)
	}
}

// receiveEntries reads the last entry of the engines below this engine, or one of their vectors
// together with the entry.
func (c *Collectives) receiveEntries(inst *instance, r world.Reader) {
	last, rests := vtime.Time(r.U64()), unrested
	if c.explains {
		rests = readRest(&r)
	}
	if inst.fixedCost.sum == nil || c.receiveValue(inst.fixedCost.sum, r) {
		c.addEntries(inst, last, rests)
	}
}

// entryRecord is the size of the last entry in a record between engines.
func (c *Collectives) entryRecord() int {
	if c.explains {
		return 8 + restRecord
	}
	return 8
}

// writeEntry writes the last entry that the engine knows to a record.
func (c *Collectives) writeEntry(inst *instance, w *world.Writer) {
	w.U64(uint64(inst.fixedCost.last))
	if c.explains {
		inst.fixedCost.rests.write(w)
	}
}

// leaveFixedCost ends the parts of this engine's participants and sends the children the last entry
// of all participants.
func (c *Collectives) leaveFixedCost(inst *instance, last vtime.Time, result []byte) {
	comm, g := inst.comm, inst.fixedCost
	t := last.Add(g.cost)
	if c.explains {
		c.leaving = account{rest: rest{latest: last, last: g.rests.last, late: g.rests.late, chain: g.rests.chain}}
	}
	if g.sum != nil {
		if inst.result = result; inst.Call.joinsBlocks() {
			inst.deliver()
			inst.result = nil // the blocks of all are long, and no member's result
		} else {
			inst.keepResult()
		}
	}
	tree := c.fixedCostTree(inst)
	if invariant.Enabled && t < c.partition.Engine.EIT() && (tree.parent >= 0 || len(tree.children) > 0) {
		invariant.Broken("%v number %d of %s ends at %v, before the earliest input time %v", inst.Call.Procedure, inst.Number, inst.comm, t, c.partition.Engine.EIT())
	}
	for _, child := range slices.Backward(tree.children) {
		g.last = last
		w := c.collectiveRecord(inst, child.engine, world.RecordResult, c.entryRecord()+len(result))
		c.writeEntry(inst, &w)
		copy(w.Rest, result)
	}
	if inst.leaders {
		for p := inst.join.ledFrom; p < inst.join.ledTo; p++ {
			if leader := comm.nodes.leader(p); comm.nodes.ascending || c.leads(inst, p) {
				lp, _ := c.partition.Local(comm.RankOf(leader, 0))
				c.checkFixedCost(inst, lp, last, t)
				c.release(inst, p, t)
			}
		}
		c.flushRange(inst)
		return
	}
	if inst.ofAllHere() && inst.split == nil && !c.partition.Strict && c.Messages.Processors == nil {
		c.leaveTogether(inst, last, t)
		return
	}
	for member := comm.First; member < comm.Last; member++ {
		if lp, here := c.partition.Local(comm.RankOf(member, 0)); here {
			c.checkFixedCost(inst, lp, last, t)
			c.explainMember(inst, lp, member, true, t)
			c.exit(inst, lp, member, t)
		}
	}
	c.flushRange(inst)
}

// leaveTogether ends the parts of all ranks of this engine, who wait in the blocking form.
func (c *Collectives) leaveTogether(inst *instance, last, t vtime.Time) {
	c.checkFixedCost(inst, 0, last, t)
	if c.explains {
		for lp := range c.partition.Ranks {
			c.explainMember(inst, int32(lp), c.partition.First+lp, true, t)
		}
	}
	c.noteTimes(inst, 0, t, c.partition.Clock)
	for i := range c.partition.Clock {
		c.partition.Clock[i] = t
	}
	c.leave(inst, 0, int32(c.partition.Ranks))
	c.flushRange(inst)
}

// checkFixedCost fails the run if an LP would leave after the end of virtual time.
func (c *Collectives) checkFixedCost(inst *instance, lp int32, last, t vtime.Time) {
	if t == vtime.Forever {
		what := "a barrier"
		switch {
		case inst.Call.Algorithm == collectives.Offload:
			what = fmt.Sprintf("the network's part of %v", inst.Call.Operation)
		case inst.Call.Algorithm.AlongTorus():
			what = inst.Call.Operation.String()
		}
		c.partition.PastEnd(int(c.partition.Global(lp)), last, inst.Call.Procedure, "%s, which takes %v on this machine,", what, inst.fixedCost.cost)
	}
}
