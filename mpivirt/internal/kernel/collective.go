package kernel

import (
	"slices"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// Collective is what a member hands in when it calls a collective operation.
type Collective struct {
	Procedure Procedure
	Operation collectives.Operation
	algorithm collectives.Algorithm
	Root      int
	Bytes     int64       // of the vector, or of one block
	Element   int64       // size of an element; vectors are cut between elements
	Type      ElementType // of the elements; untyped if only sizes are simulated
	Counts    []int64     // bytes of each member's block, for the operations where they differ
	Operator  Operator    // for reductions with data
	Data      bool        // memory is really moved; else only sizes are simulated
	Transient bool        // the input does not outlive the call
	Input     []byte      // this member's contribution
	Output    []byte      // where this member's result goes
	InCounts  []int64     // alltoallv: bytes to each member
	OutCounts []int64     // alltoallv: bytes from each member
	exchange  *exchange   // for the making of communicators
}

// collecting is what a kernel keeps of collectives, beside what their communicators do.
type collecting struct {
	Timing     int32 // label of the time of the running LP's next collective
	Joiners    joiners
	tasks      []task      // that items of the ready queue stand for; see taskItems
	idle       []int32     // places in tasks
	incomplete []*instance // carried out locally once all members have entered
	holds      []*hold     // that have begun
	rounding
	localRun  localRun       // scratch of runLocally
	stretches [][]vtime.Time // room for stretches of clocks
	told      []int          // scratch of release
}

// instance is one collective operation on one communicator, as the members of
// this engine take part in it. The members of all engines number their instances
// alike: MPI demands that they call collectives in the same order.
type instance struct {
	// What enterBarrier needs lies in the first two cache lines.
	comm    *Communicator
	entered []uint64 // bit set of local members, counted from comm.first
	count   int      // of them
	timed   int32    // label of the members' times in the tally, or stats.Untimed
	mode    mode
	leaders bool            // the schedule is among node leaders, with a join before and a release after
	counted bool            // a barrier by joins or over arrays
	labels  map[int32]int32 // by LP, where they differ from timed
	join    joinState       // under node-leader

	number   uint32
	call     Collective // of the first local member; those of the others agree
	schedule collectives.Schedule
	layout   *collectives.Layout // of the working buffers; nil if each member has its own
	agreement

	nonblocking *nonblockingState // if any member called a nonblocking form
	local       *localState       // carried out locally, with data
	arrays      *arrayRun         // carried out over arrays, once begun
	split       *splitState       // if it makes communicators
	failed      *failure          // of the collective as a whole

	result  []byte        // what every member of an operation with a common result gets
	errors  map[int]error // by member, that its call ends with
	gone    int           // members that have left
	leaving lpRange       // of them, those that are still to be resumed
}

// nonblockingState is what an instance keeps of its members, counted from comm.first,
// when the clocks of some go on.
type nonblockingState struct {
	entry    []vtime.Time
	requests []int32 // 0 for a blocking form
}

// lpRange collects LPs with consecutive numbers that are to be resumed.
type lpRange struct{ lo, hi int32 }

// EnterBarrier is enter for the commonest case: one more member joins a blocking
// barrier that is under way, by a counter or over arrays. It reports false if the case is another.
func (k *Kernel) EnterBarrier(lp int32, c *Communicator, member int) bool {
	inst := c.open
	if inst == nil {
		return false
	}
	local := uint(member - c.first)
	word, bit := &inst.entered[local>>6], uint64(1)<<(local&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	inst.time(lp, k.Timing)
	k.Timing = stats.Untimed
	inst.count++
	if inst.count == c.locals {
		c.open = nil
	}
	if k.roundSlots != nil && k.contradicted(inst, lp) {
		k.enterFailed(inst, lp)
		return true
	}
	if !inst.leaders {
		k.startComplete(inst)
		return true
	}
	if p, missing := inst.enterNode(k.Clock[lp], member); missing == 0 {
		k.joinedHere(inst, p)
	}
	return true
}

// startComplete lets an instance that is carried out in bulk begin once all local
// members have entered.
func (k *Kernel) startComplete(inst *instance) {
	if inst.count == inst.comm.locals {
		k.queue(inst)
	}
}

// joiners are LPs lo to hi-1, resumed one after another, that have called the barrier of
// WORLD which is open, timed under its label, and are entered together. hi is -1 while
// LPs enter one by one.
type joiners struct{ Lo, Hi, Timed int32 }

// CollectJoiners begins to collect joiners from an LP on, if there is a barrier for
// them.
func (k *Kernel) CollectJoiners(lp int32) {
	if inst := k.comms[World].open; inst != nil {
		k.Joiners = joiners{lp, lp, inst.timed}
	}
}

// EnterJoiners enters what was collected. Until then the joiners' clocks stand at
// their entries, and nobody looks at the instance.
func (k *Kernel) EnterJoiners() {
	j := k.Joiners
	k.Joiners.Hi = -1
	if j.Hi <= j.Lo {
		return
	}
	c := k.comms[World]
	inst := c.open
	setBits(inst.entered, int(j.Lo), int(j.Hi))
	inst.count += int(j.Hi - j.Lo)
	if inst.count == c.locals {
		c.open = nil
	}
	if k.slots != nil {
		for lp := j.Lo; lp < j.Hi; lp++ {
			k.Activity(lp)
		}
	}
	if k.roundSlots != nil {
		for lp := j.Lo; lp < j.Hi; lp++ {
			k.contradicted(inst, lp)
		}
	}
	switch {
	case inst.failed != nil:
		k.enterFailed(inst, j.Hi-1)
	case inst.leaders:
		k.joinRun(inst, j)
	default:
		k.startComplete(inst)
	}
}

// joinRun enters joiners node by node.
func (k *Kernel) joinRun(inst *instance, j joiners) {
	nodes := inst.comm.nodes
	for lp := j.Lo; lp < j.Hi; {
		p := nodes.at(k.lo + int(lp))
		end := lp + 1
		if nodes.perNode > 0 {
			end = int32(min((p+1)*nodes.perNode-k.lo, int(j.Hi)))
		}
		others := k.Clock[lp:end]
		if nodes.ledBy(p, k.lo+int(lp)) {
			others = others[1:]
		}
		last := vtime.Time(0)
		for _, t := range others {
			last = max(last, t)
		}
		if inst.enterOthers(p-nodes.here, last, end-lp) == 0 {
			k.joinedHere(inst, p)
		}
		lp = end
	}
}

// setBits sets bits lo to hi-1 of a set.
func setBits(set []uint64, lo, hi int) {
	for lo < hi {
		n := min(64-lo&63, hi-lo)
		set[lo>>6] |= (1<<n - 1) << (lo & 63)
		lo += n
	}
}

// enter begins a member's part in a collective at the LP's clock. request is 0
// for a blocking call: the LP must then be suspended, and is resumed when the
// operation is over for it.
func (k *Kernel) enter(lp int32, c *Communicator, member int, v *Collective, request int32) *instance {
	k.Activity(lp)
	k.EnterJoiners()
	inst := c.instanceFor(k, lp, member, v)
	inst = k.accept(inst, lp, member, v)
	if at := (entrant{k.Clock[lp], k.Global(lp), inst.signature}); at.compare(inst.entrant) < 0 {
		inst.entrant = at
	}
	inst.time(lp, k.Timing)
	k.Timing = stats.Untimed
	local := member - c.first
	inst.entered[local>>6] |= 1 << (local & 63)
	inst.count++
	if inst.count == c.locals || request != 0 {
		c.open = nil
	}
	if request != 0 && inst.nonblocking == nil {
		inst.keepEntries(k)
	}
	if inst.nonblocking != nil {
		inst.nonblocking.entry[local] = k.Clock[lp]
		inst.nonblocking.requests[local] = request
	}
	if inst.failed != nil {
		k.enterFailed(inst, lp)
		return inst
	}
	if inst.split != nil {
		k.enterSplit(inst, member, v.exchange)
	}
	switch {
	case inst.leaders:
		k.join(inst, lp, member, v)
	case inst.mode == byMessages:
		k.startAgent(inst, lp, int32(member), v)
	default:
		k.enterBulk(inst, member, v)
	}
	return inst
}

// keep holds on to a member's memory.
func (inst *instance) keep(local int, v *Collective) {
	if !v.Data {
		return
	}
	if inst.local == nil {
		n := inst.comm.last - inst.comm.first
		inst.local = &localState{make([][]byte, n), make([][]byte, n)}
	}
	if v.Transient {
		inst.local.inputs[local], inst.local.outputs[local] = slices.Clone(v.Input), v.Output
		return
	}
	inst.local.inputs[local], inst.local.outputs[local] = v.Input, v.Output
}

// keepEntries makes room for entry times and requests: with nonblocking members
// the LPs' clocks go on.
func (inst *instance) keepEntries(k *Kernel) {
	n := inst.comm.last - inst.comm.first
	inst.nonblocking = &nonblockingState{make([]vtime.Time, n), make([]int32, n)}
	for local := range n {
		if inst.has(local) {
			lp, _ := k.local(inst.comm.rankOf(inst.comm.first+local, 0))
			inst.nonblocking.entry[local] = k.Clock[lp]
		}
	}
}

// time notes the label under which an LP's time in the instance is kept.
func (inst *instance) time(lp, label int32) {
	if label == inst.timed {
		return
	}
	if inst.labels == nil {
		inst.labels = map[int32]int32{}
	}
	inst.labels[lp] = label
}

// noteTime enters an LP's time in the instance into the tally.
func (k *Kernel) noteTime(inst *instance, lp int32, d vtime.Duration) {
	label := inst.timed
	if inst.labels != nil {
		if other, differs := inst.labels[lp]; differs {
			label = other
		}
	}
	if label != stats.Untimed {
		k.summary.tally.Note(label, d)
	}
}

// has reports whether a local member, counted from comm.first, has entered.
func (inst *instance) has(local int) bool { return inst.entered[local>>6]>>(local&63)&1 != 0 }

// hasAny is has for any of the instances that have one number.
func (inst *instance) hasAny(local int) bool {
	for ; inst != nil; inst = inst.rival {
		if inst.has(local) {
			return true
		}
	}
	return false
}

// entryOf returns when a local member entered.
func (inst *instance) entryOf(k *Kernel, lp int32, member int) vtime.Time {
	if inst.nonblocking != nil {
		return inst.nonblocking.entry[member-inst.comm.first]
	}
	return k.Clock[lp]
}

// instanceFor returns the instance that a member's next collective belongs to:
// the first that it has not entered.
func (c *Communicator) instanceFor(k *Kernel, lp int32, member int, v *Collective) *instance {
	local := member - c.first
	for _, inst := range c.live {
		if !inst.hasAny(local) {
			return inst
		}
	}
	inst := k.newInstance(c, c.next, lp, v)
	c.next++
	inst.remember()
	if k.returning {
		k.announce(inst)
	}
	k.adopt(inst)
	if inst.counted && inst.failed == nil && !slices.ContainsFunc(c.live, func(other *instance) bool { return other.count < c.locals }) {
		c.open = inst
	}
	c.live = append(c.live, inst)
	return inst
}

// numbered returns the live instance with a number, nil if no local member has
// entered it yet or all have left it.
func (c *Communicator) numbered(number uint32) *instance {
	for _, inst := range c.live {
		if inst.number == number {
			return inst
		}
	}
	return nil
}

// newInstance begins an instance, of which an LP is the first member here.
func (k *Kernel) newInstance(c *Communicator, number uint32, lp int32, v *Collective) *instance {
	inst := &instance{comm: c, number: number, call: *v, entered: c.spare.entered}
	c.spare.entered = nil
	if inst.entered == nil {
		inst.entered = Reserve[uint64](k, (c.last-c.first+63)/64)
	}
	clear(inst.entered)
	inst.call.Input, inst.call.Output = nil, nil
	inst.signature = v.signature()
	inst.entrant = entrant{k.Clock[lp], k.Global(lp), inst.signature}
	inst.timed = k.Timing
	inst.leaders = v.algorithm == collectives.NodeLeader
	participants := c.Size
	if inst.leaders {
		if c.nodes == nil {
			c.nodes = k.newNodeTable(c)
		}
		participants = c.nodes.count
	}
	inst.schedule = v.schedule(participants)
	inst.layout = inst.call.commonLayout(inst.schedule)
	choice := k.choiceFor(inst)
	inst.mode = choice.mode()
	if inst.mode == locally {
		k.incomplete = append(k.incomplete, inst)
	}
	if inst.leaders {
		k.beginJoins(inst)
	}
	inst.counted = v.Operation == collectives.Barrier && (inst.leaders || inst.mode == byArrays) && k.processors == nil
	if v.exchange != nil {
		inst.split = &splitState{}
	}
	return inst
}

// exit ends a member's part at instant t.
func (k *Kernel) exit(inst *instance, lp int32, member int, t vtime.Time) {
	k.exitFrom(inst, lp, member, t, t)
}

// exitFrom is exit for a member whose CPU is free at t and whose part was over at an
// instant before: what comes next was released then.
func (k *Kernel) exitFrom(inst *instance, lp int32, member int, t, over vtime.Time) {
	if inst.split != nil && !inst.split.done && inst.errors[member] == nil {
		k.holdExit(inst.split, heldExit{lp, int32(member), t})
		return
	}
	k.noteTime(inst, lp, t.Sub(inst.entryOf(k, lp, member)))
	k.left(inst, 1)
	if inst.nonblocking != nil {
		if ri := inst.nonblocking.requests[member-inst.comm.first]; ri != 0 {
			if err := inst.errors[member]; err != nil {
				k.failRequest(ri, err)
			}
			k.completeCollective(inst, ri, lp, over)
			return
		}
		k.keepApart(inst, lp)
	}
	if err := inst.errors[member]; err != nil {
		if k.faults == nil {
			k.faults = map[int32]fault{}
		}
		k.faults[lp] = fault{inst.callOf(member).Procedure, err}
	}
	if k.processors != nil {
		k.processors[lp].released = over
	}
	if k.strict && k.processors == nil { // a processor keeps the order by itself
		k.wake(lp, t)
		return
	}
	k.Clock[lp] = t
	k.extendRange(inst, lp, 1)
}

// leave ends the parts of n LPs with consecutive numbers, whose clocks are set
// and who wait in the blocking form.
func (k *Kernel) leave(inst *instance, lp, n int32) {
	k.left(inst, int(n))
	k.extendRange(inst, lp, n)
}

// keepApart keeps the common result of an allreduce for an LP that waits in its blocking
// form, where others have begun it: one that they have begun after it may be over before
// the LP goes on.
func (k *Kernel) keepApart(inst *instance, lp int32) {
	if inst.call.Operation != collectives.Allreduce || inst.result == nil {
		return
	}
	if k.apart == nil {
		k.apart = map[int32][]byte{}
	}
	k.apart[lp] = inst.result
}

// left counts members that have left.
func (k *Kernel) left(inst *instance, n int) {
	if inst.call.Operation == collectives.Allreduce && inst.nonblocking == nil { // else completeCollective brings it
		inst.comm.result = inst.result // nil for a vector of no elements
	}
	if inst.split != nil {
		inst.comm.made = inst.split.made
	}
	inst.gone += n
	if invariant.Enabled {
		inst.checkCounts()
	}
	if inst.gone == inst.comm.locals {
		inst.comm.retire(inst)
	}
}

func (k *Kernel) extendRange(inst *instance, lp, n int32) {
	if lp != inst.leaving.hi {
		k.flushRange(inst)
		inst.leaving = lpRange{lp, lp}
	}
	inst.leaving.hi += n
}

// flushRange resumes the LPs that exit has collected.
func (k *Kernel) flushRange(inst *instance) {
	r := inst.leaving
	inst.leaving = lpRange{}
	if r.hi == r.lo+1 {
		k.eng.Ready(r.lo)
	} else {
		k.eng.ReadyRange(int(r.lo), int(r.hi))
	}
}

// completeCollective completes the request of a nonblocking member.
func (k *Kernel) completeCollective(inst *instance, ri, lp int32, t vtime.Time) {
	q := k.requests.at(ri)
	if inst.result != nil {
		if q.buffer == nil {
			q.buffer = inst.result // shared
		}
		copy(q.buffer, inst.result)
	}
	k.completeRequest(ri, t)
	k.notice(lp)
}

// spare is memory of an instance that has ended, for the next one to use.
type spare struct {
	last              []vtime.Time
	awaited           []int32
	entered           []uint64
	work, next, third []vtime.Time
}

// retire forgets an instance that all local members have left.
func (c *Communicator) retire(inst *instance) {
	for i, other := range c.live {
		if other == inst {
			c.live = append(c.live[:i], c.live[i+1:]...)
			c.spare.entered = inst.entered
			c.keepPast(inst)
			return
		}
	}
	invariant.Broken("%v number %d of %s ends twice", inst.call.Procedure, inst.number, c)
}

// blocking returns the instance in whose blocking form an LP waits, nil if in none.
func (c *Communicator) blocking(lp int32, k *Kernel) *instance {
	if c.Group == nil {
		return nil
	}
	member := c.Group.Member(int(k.Global(lp)))
	if member < 0 {
		return nil
	}
	local := member - c.first
	for _, inst := range c.live {
		for ; inst != nil; inst = inst.rival {
			if inst.has(local) && (inst.nonblocking == nil || inst.nonblocking.requests[local] == 0) && k.within(inst, lp) {
				return inst
			}
		}
	}
	return nil
}

// within reports whether a local member that has entered an instance has not left
// it yet, when no engine has anything left to do. Where the end of all depends on
// all, nobody has.
func (k *Kernel) within(inst *instance, lp int32) bool {
	if inst.leaders || inst.mode != byMessages {
		return true
	}
	return k.agentOf(inst, lp) != 0
}

// Drained implements [engine.Kernel]: instances that are carried out locally
// and still lack members are handed over to messages, for a member that goes on
// may be what the others wait for.
func (k *Kernel) Drained() {
	for i, inst := range k.incomplete {
		k.incomplete[i] = nil
		if inst.mode == locally && inst.count < inst.comm.locals {
			k.demote(inst)
		}
	}
	k.incomplete = k.incomplete[:0]
}

// demote turns an instance that is carried out locally into one by messages.
func (k *Kernel) demote(inst *instance) {
	inst.mode = byMessages
	for member := inst.comm.first; member < inst.comm.last; member++ {
		local := member - inst.comm.first
		if !inst.has(local) {
			continue
		}
		lp, _ := k.local(inst.comm.rankOf(member, 0))
		v := *inst.callOf(member)
		if v.Data && inst.local != nil {
			v.Input, v.Output = inst.local.inputs[local], inst.local.outputs[local]
		}
		k.startAgent(inst, lp, int32(member), &v)
	}
}
