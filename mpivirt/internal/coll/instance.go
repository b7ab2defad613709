package coll

import (
	"slices"
	"sort"
	"unsafe"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// instance is one collective operation on one communicator, with the part of this engine's members.
// MPI demands that all members call collectives in the same order, so an instance has the same
// number on all engines.
type instance struct {
	// The fields that EnterBarrier reads are in the first two cache lines.
	comm    *Communicator
	entered []uint64 // bit set of local members, counted from comm.first
	Count   int      // number of local members that have entered
	timed   int32    // label of the members' times in the statistics, or stats.Untimed
	mode    Mode
	leaders bool            // the schedule is among node leaders, with a join before and a release after
	counted bool            // a barrier by joins, over arrays or at a fixed cost
	labels  map[int32]int32 // by LP: its label, where it differs from timed
	join    joinState       // under node-leader

	Number     uint32
	Call       Collective           // of the first local member; equal in all members
	schedule   collectives.Schedule // nil at a fixed cost
	partners   int                  // others with which a member exchanges messages, where they are many
	inTurn     bool                 // the root sends one blocking message after another
	repeats    bool                 // a member has several messages to another under way
	byDistance bool                 // all members send the messages that are under way together in the same order of distances
	steps      collectives.Stepper  // of the schedule
	width      int                  // number of positions of the schedule
	vectors    bool                 // each position has a whole vector
	layout     *collectives.Layout  // of the working buffers; nil if each member has its own layout
	sparse     bool                 // empty blocks are not sent; see Collective.sparse
	target     *network.Target      // as messages and copies of the instance find it
	apart      bool                 // messages take no places at interfaces and memories; see takesNoPlaces
	packs      bool                 // members copy blocks in addition to the messages, which takes time
	agreement

	nonblocking *nonblockingState // if any member called a nonblocking form
	local       *localState       // state of a local instance with data
	arrays      *arrayRun         // state over arrays, once begun
	uneven      *uneven           // of an alltoallv over arrays, once begun
	distant     *distantState     // of rounds whose messages travel between engines, once begun
	fixedCost   *fixedCostState   // state at a fixed cost
	split       *splitState       // state of a call that makes communicators
	failed      *failure          // state of a collective that fails as a whole
	deadline    vtime.Time        // in step: its first message would arrive then

	result []byte        // result that all members share
	errors map[int]error // by member: the error of its call
	summedCalls
	exited   int // number of members that have left
	launched launches
	resuming lpRange // members that have left and are not resumed yet
}

// nonblockingState holds entries and requests of members, counted from comm.First, once a member
// has called a nonblocking form, since that member's clock goes on.
type nonblockingState struct {
	entry    []vtime.Time
	requests []int32      // 0 for a blocking form
	taken    []vtime.Time // up to which ranks have handled what had come when they entered; nil unless progress is in calls
	calls    []uint32     // numbers of the ranks' calls, as their processors count them; nil without processors
}

// instanceBytes is the memory of an instance that members who are ahead leave for slower members.
const instanceBytes = int64(unsafe.Sizeof(instance{}))

// lpRange collects LPs with consecutive numbers that are to be resumed.
type lpRange struct{ lo, hi int32 }

// keepMember stores a member's input and output.
func (c *Collectives) keepMember(inst *instance, local int, v *Collective) {
	if !v.Moved() {
		return
	}
	if inst.local == nil {
		var reused bool
		if inst.local, reused = inst.comm.spare.local.Pop(); !reused {
			n := inst.comm.Last - inst.comm.First
			inst.local = &localState{inputs: make([][]byte, n)}
		}
		inst.local.copied = v.Transient
	}
	input := v.Input
	if inst.local.copied {
		input = c.partition.Buffers.Take(len(input))
		copy(input, v.Input)
	} else if v.Transient {
		input = slices.Clone(input)
	}
	if inst.local.inputs[local] = input; v.Operation != collectives.Gather {
		if inst.local.outputs == nil {
			inst.local.outputs = make([][]byte, len(inst.local.inputs))
		}
		inst.local.outputs[local] = v.Output
	} else if inst.comm.First+local == v.Root {
		inst.local.gathered = v.Output
	}
}

// output returns the memory for the result of a member here, counted from comm.First, nil for none.
func (inst *instance) output(local int) []byte {
	switch {
	case inst.Call.Operation != collectives.Gather:
		return inst.local.outputs[local]
	case inst.comm.First+local == inst.Call.Root:
		return inst.local.gathered
	}
	return nil
}

// dropMembers releases the memory of keepMember, once all members have their results.
func (c *Collectives) dropMembers(inst *instance) {
	l := inst.local
	if l == nil {
		return
	}
	if l.copied {
		for _, input := range l.inputs {
			c.partition.Buffers.Release(input)
		}
	}
	clear(l.inputs)
	clear(l.outputs)
	l.gathered = nil
	inst.local = nil
	inst.comm.spare.local.Push(l)
}

// keepEntries allocates entry times, requests and numbers of calls, and stores them for the members
// that have entered.
func (inst *instance) keepEntries(k *Collectives) {
	n := inst.comm.Last - inst.comm.First
	inst.nonblocking = &nonblockingState{entry: make([]vtime.Time, n), requests: make([]int32, n)}
	if k.Messages.Processors != nil {
		inst.nonblocking.calls = make([]uint32, n)
	}
	if k.Messages.InCalls {
		inst.nonblocking.taken = make([]vtime.Time, n)
	}
	for local := range n {
		if inst.Has(local) {
			lp, _ := k.partition.Local(inst.comm.RankOf(inst.comm.First+local, 0))
			inst.nonblocking.entry[local] = k.partition.Clock[lp]
			if k.Messages.Processors != nil {
				inst.nonblocking.calls[local] = k.Messages.Processors.Of(lp).Calls
			}
		}
	}
}

// time stores the label under which the statistics record an LP's time in the instance.
func (inst *instance) time(lp, label int32) {
	if label == inst.timed {
		return
	}
	if inst.labels == nil {
		inst.labels = map[int32]int32{}
	}
	inst.labels[lp] = label
}

// launches are the times that LPs which are timed have spent on launch and copies before their entries.
type launches struct {
	known  bool
	common vtime.Duration           // of all LPs but others
	others map[int32]vtime.Duration // by LP
}

// note stores the time of an LP.
func (c *launches) note(lp int32, d vtime.Duration) {
	switch {
	case !c.known:
		c.known, c.common = true, d
	case d != c.common:
		if c.others == nil {
			c.others = map[int32]vtime.Duration{}
		}
		c.others[lp] = d
	}
}

// of returns the time of an LP.
func (c *launches) of(lp int32) vtime.Duration {
	if d, differs := c.others[lp]; differs {
		return d
	}
	return c.common
}

// noteTime adds an LP's time in the instance to the statistics.
func (c *Collectives) noteTime(inst *instance, lp int32, d vtime.Duration) {
	label := inst.timed
	if inst.labels != nil {
		if other, differs := inst.labels[lp]; differs {
			label = other
		}
	}
	if label != stats.Untimed {
		c.partition.Summary.Tally.Note(label, d.Plus(inst.launched.of(lp)))
	}
}

// Has reports whether a local member, counted from comm.first, has entered.
func (inst *instance) Has(local int) bool { return inst.entered[local>>6]>>(local&63)&1 != 0 }

// hasAny reports whether a member has entered the instance or one of its rivals.
func (inst *instance) hasAny(local int) bool {
	for ; inst != nil; inst = inst.rival {
		if inst.Has(local) {
			return true
		}
	}
	return false
}

// entryOf returns the instant of a local member's entry.
func (inst *instance) entryOf(k *Collectives, lp int32, member int) vtime.Time {
	if inst.nonblocking != nil {
		return inst.nonblocking.entry[member-inst.comm.First]
	}
	return k.partition.Clock[lp]
}

// instanceFor returns the instance of a member's next collective: the first that the member has not
// entered.
func (c *Communicator) instanceFor(k *Collectives, lp int32, member int, v *Collective) *instance {
	local := member - c.First
	if at := sort.Search(len(c.Live), func(i int) bool { return !c.Live[i].hasAny(local) }); at < len(c.Live) {
		return c.Live[at]
	}
	inst := k.newInstance(c, c.Next, lp, v)
	c.Next++
	inst.remember()
	if k.partition.ErrorsReturn {
		k.announce(inst)
	}
	k.adopt(inst)
	if inst.counted && v.Procedure == world.Barrier && inst.failed == nil && inst.summed == k.explains && !slices.ContainsFunc(c.Live, func(other *instance) bool { return other.Count < c.Locals }) {
		c.open = inst
	}
	c.Live = append(c.Live, inst)
	k.partition.Engine.Buffer(instanceBytes)
	return inst
}

// numbered returns the live instance with a number, nil if no local member has
// entered it yet or all have left it.
func (c *Communicator) numbered(number uint32) *instance {
	if at := c.place(number); at < len(c.Live) && c.Live[at].Number == number {
		return c.Live[at]
	}
	return nil
}

// place returns the index in Live at which the instance with a number is, or would be.
func (c *Communicator) place(number uint32) int {
	return sort.Search(len(c.Live), func(i int) bool { return c.Live[i].Number >= number })
}

// newInstance returns a new instance, which an LP is the first to enter on this engine.
func (c *Collectives) newInstance(comm *Communicator, number uint32, lp int32, v *Collective) *instance {
	inst := &instance{comm: comm, Number: number, Call: *v}
	if comm.spare == nil {
		comm.spare = new(spare)
	}
	var reused bool
	if inst.entered, reused = comm.spare.entered.Pop(); !reused {
		inst.entered = world.Reserve[uint64](c.partition, (comm.Last-comm.First+63)/64)
	}
	clear(inst.entered)
	inst.Call.Input, inst.Call.Output, inst.Call.InCounts, inst.Call.OutCounts = nil, nil, nil, nil
	if v.Operation == collectives.Bcast && v.offloadsRooted() {
		inst.Call.Operator.Apply = takeRoot
	}
	inst.signature = v.signature()
	inst.entrant = entrant{c.partition.Clock[lp], c.partition.Global(lp), inst.signature}
	inst.timed = c.Timing
	inst.target = c.partition.Target
	if inst.apart = takesNoPlaces(inst.target, v, comm.Size); inst.apart {
		inst.target = inst.target.EqualShares()
	}
	inst.leaders = ledByNodes(c.partition.Target, v.Algorithm) && (c.explains || !comm.Group.Ascending() || !leadsAlone(c.partition.Target, v))
	if inst.leaders && comm.nodes == nil {
		comm.nodes = c.newNodeTable(comm)
	}
	if inst.schedule = v.schedule(inst.participants(), c.scheduledPerNode(comm, v)); inst.schedule != nil {
		inst.steps, inst.width = collectives.StepperOf(inst.schedule), inst.schedule.Positions()
		inst.vectors, inst.repeats = collectives.KeepsVectors(inst.schedule), collectives.RepeatsPartners(inst.schedule)
		inst.byDistance = collectives.SendsByDistance(inst.schedule)
		inst.layout, inst.sparse = inst.Call.CommonLayout(inst.schedule), v.sparse()
		inst.packs = inst.layout != nil && inst.target.CopiesBytes() && collectives.Packs(inst.schedule)
	}
	inst.partners, inst.inTurn = collectives.Partners(v.Operation, v.Algorithm, inst.participants()), collectives.SendsInTurn(v.Operation, v.Algorithm)
	if invariant.Enabled {
		inst.checkSum()
	}
	if c.layering != nil {
		c.layering.check(inst)
	}
	choice := c.choiceFor(inst)
	inst.mode = choice.mode()
	if inst.canDemote() {
		inst.deadline = vtime.Forever
		c.addIncomplete(inst)
	}
	if inst.mode == ByArrays && v.Operation == collectives.Alltoallv {
		inst.uneven = newUneven(comm)
	}
	if inst.leaders {
		c.beginJoins(inst)
	}
	if inst.mode == AtFixedCost {
		inst.fixedCost = c.beginFixedCost(inst)
	}
	c.beginSums(inst)
	inst.counted = v.Operation == collectives.Barrier && (inst.leaders || inst.mode == ByArrays || inst.mode == AtFixedCost) && c.Messages.Processors == nil
	if v.Creation != nil {
		inst.split = &splitState{}
	}
	return inst
}

// participants returns the number of participants: the nodes, or all members.
func (inst *instance) participants() int {
	if inst.leaders {
		return inst.comm.nodes.count
	}
	return inst.comm.Size
}

// exit ends a member's part at instant t.
func (c *Collectives) exit(inst *instance, lp int32, member int, t vtime.Time) {
	c.exitFrom(inst, lp, member, t, t)
}

// exitFrom ends a member's part, whose CPU is free at t. The member's next operation is released at
// over, an instant before t.
func (c *Collectives) exitFrom(inst *instance, lp int32, member int, t, over vtime.Time) {
	if inst.split != nil && !inst.split.done && inst.errors[member] == nil {
		c.holdExit(inst.split, heldExit{lp, int32(member), t, over})
		return
	}
	c.noteTime(inst, lp, t.Sub(inst.entryOf(c, lp, member)))
	c.countExits(inst, 1)
	if inst.nonblocking != nil {
		if ri := inst.nonblocking.requests[member-inst.comm.First]; ri != 0 {
			if err := inst.errors[member]; err != nil {
				c.Messages.FailRequest(ri, err)
			}
			c.completeCollective(inst, ri, lp, over)
			return
		}
		c.keepResult(inst, lp)
	}
	if err := inst.errors[member]; err != nil {
		if c.Faults == nil {
			c.Faults = map[int32]fault{}
		}
		c.Faults[lp] = fault{inst.callOf(member).Procedure, err}
	}
	if c.Messages.Processors != nil {
		c.Messages.Processors.Of(lp).Released = over
	}
	if c.partition.Strict && c.Messages.Processors == nil { // a processor keeps the order itself
		c.wake(lp, t)
		return
	}
	c.partition.Clock[lp] = t
	c.extendRange(inst, lp, 1)
}

// leave ends the parts of n consecutive LPs, which wait in the blocking form. Their clocks are
// already set.
func (c *Collectives) leave(inst *instance, lp, n int32) {
	c.countExits(inst, int(n))
	c.extendRange(inst, lp, n)
}

// keepResult stores the result of an allreduce for an LP that waits in the blocking form, where
// other members called the nonblocking form. The next allreduce of these members may end before the
// LP is resumed.
func (c *Collectives) keepResult(inst *instance, lp int32) {
	if inst.Call.Operation != collectives.Allreduce || inst.result == nil {
		return
	}
	if c.KeptResults == nil {
		c.KeptResults = map[int32][]byte{}
	}
	c.KeptResults[lp] = inst.result
}

// countExits counts members that have left.
func (c *Collectives) countExits(inst *instance, n int) {
	if inst.Call.Operation == collectives.Allreduce && inst.nonblocking == nil { // else completeCollective delivers the result
		inst.comm.result = inst.result // nil for a vector of no elements
	}
	if inst.split != nil {
		inst.comm.made = inst.split.made
	}
	inst.exited += n
	if invariant.Enabled {
		inst.checkCounts()
	}
	if inst.exited == inst.comm.Locals {
		inst.comm.retire(inst)
		c.partition.Engine.Buffer(-instanceBytes)
	}
}

func (c *Collectives) extendRange(inst *instance, lp, n int32) {
	if lp != inst.resuming.hi {
		c.flushRange(inst)
		inst.resuming = lpRange{lp, lp}
	}
	inst.resuming.hi += n
}

// flushRange resumes the LPs collected in resuming.
func (c *Collectives) flushRange(inst *instance) {
	r := inst.resuming
	inst.resuming = lpRange{}
	if r.hi == r.lo+1 {
		c.partition.Engine.Ready(r.lo)
	} else {
		c.partition.Engine.ReadyRange(int(r.lo), int(r.hi))
	}
}

// completeCollective completes the request of a nonblocking member.
func (c *Collectives) completeCollective(inst *instance, ri, lp int32, t vtime.Time) {
	q := c.Messages.Requests.At(ri)
	if inst.result != nil && inst.Call.Operation == collectives.Allreduce {
		if q.Buffer == nil {
			q.Buffer = inst.result // shared
		}
		copy(q.Buffer, inst.result)
	}
	c.Messages.CompleteRequest(ri, t)
	c.Messages.Notice(lp)
}

// spare holds the memory of ended instances for new instances.
type spare struct {
	joins   world.Stack[joinArrays]
	sums    world.Stack[*nodeSums]
	entered world.Stack[[]uint64]
	local   world.Stack[*localState]
	arrays  maxplus.Spare
	uneven  world.Stack[*uneven]
}

// shortLive is the length of Live up to which the later instances move up when the first one ends.
// Members far ahead may leave many instances behind.
const shortLive = 16

// retire removes an instance that all local members have left.
func (c *Communicator) retire(inst *instance) {
	at := c.place(inst.Number)
	if at == len(c.Live) || c.Live[at] != inst {
		invariant.Broken("%v number %d of %s ends twice", inst.Call.Procedure, inst.Number, c)
	}
	if at == 0 && len(c.Live) > shortLive {
		c.Live[0] = nil
		c.Live = c.Live[1:]
	} else {
		c.Live = slices.Delete(c.Live, at, at+1)
	}
	c.spare.entered.Push(inst.entered)
	if inst.leaders && inst.failed == nil {
		c.spare.joins.Push(inst.join.joinArrays)
		if inst.join.sums != nil {
			c.spare.sums.Push(inst.join.sums)
		}
		inst.join = joinState{}
	}
	c.keepPast(inst)
}

// Blocking returns the instance in whose blocking form an LP waits, nil for none.
func (c *Communicator) Blocking(lp int32, k *Collectives) *instance {
	if c.Group == nil {
		return nil
	}
	member := c.Group.Member(int(k.partition.Global(lp)))
	if member < 0 {
		return nil
	}
	local := member - c.First
	for _, inst := range c.Live {
		for ; inst != nil; inst = inst.rival {
			if inst.Has(local) && (inst.nonblocking == nil || inst.nonblocking.requests[local] == 0) && k.within(inst, lp) {
				return inst
			}
		}
	}
	return nil
}

// within reports whether a local member that has entered an instance is still in it, when no engine
// has work left. Where each exit depends on all entries, no member has left.
func (c *Collectives) within(inst *instance, lp int32) bool {
	if inst.leaders || inst.mode != ByMessages {
		return true
	}
	return c.agentOf(inst, lp) != 0
}

// canDemote reports whether an instance may yet go by messages.
func (inst *instance) canDemote() bool {
	return inst.mode == Locally && inst.comm.Locals == inst.comm.Size || inst.mode == InStep
}

// lacksMembers reports whether an instance is carried out locally or in step and a member has not entered.
func (inst *instance) lacksMembers() bool {
	return inst.canDemote() && inst.Count < inst.comm.Locals
}

// addIncomplete adds a local instance that lacks members. When the list is full, it removes
// instances that have become complete: ranks may always find work, so that the engine never runs
// dry.
func (c *Collectives) addIncomplete(inst *instance) {
	if len(c.incomplete) == cap(c.incomplete) {
		c.incomplete = slices.DeleteFunc(c.incomplete, func(i *instance) bool { return !i.lacksMembers() })
		c.incomplete = slices.Grow(c.incomplete, len(c.incomplete)+1)
	}
	c.incomplete = append(c.incomplete, inst)
}

// Drained implements [engine.Kernel]. It turns local instances that lack members into instances by
// messages: a missing member may wait for a member that has entered and can leave.
func (c *Collectives) Drained() {
	if c.Messages.Processors != nil {
		return // an instance in step has a deadline
	}
	for i, inst := range c.incomplete {
		c.incomplete[i] = nil
		if inst.lacksMembers() {
			c.demote(inst)
		}
	}
	c.incomplete = c.incomplete[:0]
}

// demote turns a local instance, or one in step, into an instance by messages.
func (c *Collectives) demote(inst *instance) {
	if inst.mode == InStep {
		c.Messages.Processors.Defers(c.leastLatency())
	}
	free := inst.mode == InStep
	inst.mode = ByMessages
	for member := inst.comm.First; member < inst.comm.Last; member++ {
		local := member - inst.comm.First
		if !inst.Has(local) {
			continue
		}
		lp, _ := c.partition.Local(inst.comm.RankOf(member, 0))
		if free {
			c.Messages.Processors.Free(lp)
		}
		v := *inst.callOf(member)
		if v.Moved() && inst.local != nil {
			v.Transient = false // the inputs are copies
			v.Input, v.Output = inst.local.inputs[local], inst.output(local)
		}
		c.startAgent(inst, lp, int32(member), &v)
	}
	if inst.local != nil && !inst.local.copied { // the agents now own its memory
		c.dropMembers(inst)
	}
}
