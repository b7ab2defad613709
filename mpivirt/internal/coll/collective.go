package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/ptp"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Collective is what a member hands in when it calls a collective operation.
type Collective struct {
	Procedure world.Procedure
	Operation collectives.Operation
	Algorithm collectives.Algorithm
	Root      int
	Bytes     int64             // of the vector, or of one block
	Element   int64             // size of an element; vectors are cut between elements
	Type      world.ElementType // of the elements; untyped if only sizes are simulated
	Counts    []int64           // bytes of each member's block, for the operations where they differ
	Operator  world.Operator    // for reductions with data
	Data      bool              // memory is really moved; else only sizes are simulated
	Transient bool              // the input does not outlive the call
	Input     []byte            // this member's contribution
	Output    []byte            // where this member's result goes
	InCounts  []int64           // alltoallv: bytes to each member
	OutCounts []int64           // alltoallv: bytes from each member
	Making    *exchange         // for the making of communicators
}

// Collectives is what a partition keeps of collectives.
type Collectives struct {
	ptp.Messages
	collecting
	Members    []*Communicator         // by index
	freed      []*Communicator         // that all local members have given up
	handed     Collective              // scratch: what the running LP hands to a collective
	Barrier    Collective              // what every Barrier hands in
	algorithms []collectives.Algorithm // by operation
	wanted     Interpreter             // that the simulation is told to use
	alike      bool                    // any two leaders of nodes are as far apart as any other two
	Faults     map[int32]fault         // by LP that leaves a collective and has not gone on
	Apart      map[int32][]byte        // by LP: common result of an allreduce that other members began
}

// Open prepares collectives, over messages that are, and enters WORLD and SELF. It is told
// the algorithm of each operation, and the interpreter to use.
func (k *Collectives) Open(algorithms []collectives.Algorithm, wanted Interpreter) {
	k.algorithms, k.wanted, k.alike = algorithms, wanted, k.Target.LeadersUniform()
	k.memory.Reserve = func(n int) []vtime.Time { return world.Reserve[vtime.Time](&k.Partition, n) }
	k.enterComm(&Communicator{Comm: world.Comm{Group: world.Strided(0, 1, 0)}})
	k.addComm(world.WorldContext, world.Strided(0, 1, k.Target.Ranks()))
	k.addComm(world.SelfContext, nil)
	k.Joiners.Hi, k.Timing = -1, stats.Untimed
	k.Barrier = Collective{Procedure: world.Barrier, Operation: collectives.Barrier}
}

// Communicator is a communicator with what its members do together.
type Communicator struct {
	world.Comm
	Next    uint32      // number of the next instance of a collective
	Live    []*instance // that not all local members have left, by number
	nodes   *nodeTable  // made when it is first needed
	others  []int       // other engines that have members, once asked for
	result  []byte      // common result of the collective that a member left last
	spare   spare
	open    *instance             // a barrier that members are joining, all in blocking form, while no other instance lacks members
	made    map[int]*Communicator // communicators that the members made last
	pending map[uint32][]pendingRecord
	spells  []spell         // what members of this engine have called, if there are others
	past    []entrance      // likewise: the first entrants of instances that all members of this engine have left
	freers  []uint64        // set of the members of this engine that have given it up, counted from First; nil if there is none
	broken  map[uint32]bool // instances that have failed because members called different things
}

// collecting is what collectives keep, beside what their communicators do.
type collecting struct {
	Timing     int32 // label of the time of the running LP's next collective
	Joiners    joiners
	tasks      []task      // that items of the ready queue stand for; see taskItems
	idle       []int32     // places in tasks
	incomplete []*instance // carried out locally once all members have entered
	holds      []*hold     // that have begun
	rounding
	localRun localRun       // scratch of runLocally
	memory   maxplus.Memory // of arrays and of stretches of clocks
	told     []int          // scratch of release
}

// instance is one collective operation on one communicator, as the members of
// this engine take part in it. The members of all engines number their instances
// alike: MPI demands that they call collectives in the same order.
type instance struct {
	// What enterBarrier needs lies in the first two cache lines.
	comm    *Communicator
	entered []uint64 // bit set of local members, counted from comm.first
	Count   int      // of them
	timed   int32    // label of the members' times in the tally, or stats.Untimed
	mode    mode
	leaders bool            // the schedule is among node leaders, with a join before and a release after
	counted bool            // a barrier by joins or over arrays
	labels  map[int32]int32 // by LP, where they differ from timed
	join    joinState       // under node-leader

	Number   uint32
	Call     Collective // of the first local member; those of the others agree
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
func (k *Collectives) EnterBarrier(lp int32, c *Communicator, member int) bool {
	inst := c.open
	if inst == nil {
		return false
	}
	local := uint(member - c.First)
	word, bit := &inst.entered[local>>6], uint64(1)<<(local&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	inst.time(lp, k.Timing)
	k.Timing = stats.Untimed
	inst.Count++
	if inst.Count == c.Locals {
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
func (k *Collectives) startComplete(inst *instance) {
	if inst.Count == inst.comm.Locals {
		k.queue(inst)
	}
}

// joiners are LPs lo to hi-1, resumed one after another, that have called the barrier of
// WORLD which is open, timed under its label, and are entered together. hi is -1 while
// LPs enter one by one.
type joiners struct{ Lo, Hi, Timed int32 }

// CollectJoiners begins to collect joiners from an LP on, if there is a barrier for
// them.
func (k *Collectives) CollectJoiners(lp int32) {
	if inst := k.Members[world.World].open; inst != nil {
		k.Joiners = joiners{lp, lp, inst.timed}
	}
}

// EnterJoiners enters what was collected. Until then the joiners' clocks stand at
// their entries, and nobody looks at the instance.
func (k *Collectives) EnterJoiners() {
	j := k.Joiners
	k.Joiners.Hi = -1
	if j.Hi <= j.Lo {
		return
	}
	c := k.Members[world.World]
	inst := c.open
	setBits(inst.entered, int(j.Lo), int(j.Hi))
	inst.Count += int(j.Hi - j.Lo)
	if inst.Count == c.Locals {
		c.open = nil
	}
	if k.Slots != nil {
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
func (k *Collectives) joinRun(inst *instance, j joiners) {
	nodes := inst.comm.nodes
	for lp := j.Lo; lp < j.Hi; {
		p := nodes.at(k.First + int(lp))
		end := lp + 1
		if nodes.perNode > 0 {
			end = int32(min((p+1)*nodes.perNode-k.First, int(j.Hi)))
		}
		others := k.Clock[lp:end]
		if nodes.ledBy(p, k.First+int(lp)) {
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

// Enter begins a member's part in a collective at the LP's clock. request is 0
// for a blocking call: the LP must then be suspended, and is resumed when the
// operation is over for it.
func (k *Collectives) Enter(lp int32, c *Communicator, member int, v *Collective, request int32) *instance {
	k.Activity(lp)
	k.EnterJoiners()
	inst := c.instanceFor(k, lp, member, v)
	inst = k.accept(inst, lp, member, v)
	if at := (entrant{k.Clock[lp], k.Global(lp), inst.signature}); at.compare(inst.entrant) < 0 {
		inst.entrant = at
	}
	inst.time(lp, k.Timing)
	k.Timing = stats.Untimed
	local := member - c.First
	inst.entered[local>>6] |= 1 << (local & 63)
	inst.Count++
	if inst.Count == c.Locals || request != 0 {
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
		k.enterSplit(inst, member, v.Making)
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
		n := inst.comm.Last - inst.comm.First
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
func (inst *instance) keepEntries(k *Collectives) {
	n := inst.comm.Last - inst.comm.First
	inst.nonblocking = &nonblockingState{make([]vtime.Time, n), make([]int32, n)}
	for local := range n {
		if inst.Has(local) {
			lp, _ := k.Local(inst.comm.RankOf(inst.comm.First+local, 0))
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
func (k *Collectives) noteTime(inst *instance, lp int32, d vtime.Duration) {
	label := inst.timed
	if inst.labels != nil {
		if other, differs := inst.labels[lp]; differs {
			label = other
		}
	}
	if label != stats.Untimed {
		k.Summary.Tally.Note(label, d)
	}
}

// Has reports whether a local member, counted from comm.first, has entered.
func (inst *instance) Has(local int) bool { return inst.entered[local>>6]>>(local&63)&1 != 0 }

// hasAny is has for any of the instances that have one number.
func (inst *instance) hasAny(local int) bool {
	for ; inst != nil; inst = inst.rival {
		if inst.Has(local) {
			return true
		}
	}
	return false
}

// entryOf returns when a local member entered.
func (inst *instance) entryOf(k *Collectives, lp int32, member int) vtime.Time {
	if inst.nonblocking != nil {
		return inst.nonblocking.entry[member-inst.comm.First]
	}
	return k.Clock[lp]
}

// instanceFor returns the instance that a member's next collective belongs to:
// the first that it has not entered.
func (c *Communicator) instanceFor(k *Collectives, lp int32, member int, v *Collective) *instance {
	local := member - c.First
	for _, inst := range c.Live {
		if !inst.hasAny(local) {
			return inst
		}
	}
	inst := k.newInstance(c, c.Next, lp, v)
	c.Next++
	inst.remember()
	if k.Returning {
		k.announce(inst)
	}
	k.adopt(inst)
	if inst.counted && inst.failed == nil && !slices.ContainsFunc(c.Live, func(other *instance) bool { return other.Count < c.Locals }) {
		c.open = inst
	}
	c.Live = append(c.Live, inst)
	return inst
}

// numbered returns the live instance with a number, nil if no local member has
// entered it yet or all have left it.
func (c *Communicator) numbered(number uint32) *instance {
	for _, inst := range c.Live {
		if inst.Number == number {
			return inst
		}
	}
	return nil
}

// newInstance begins an instance, of which an LP is the first member here.
func (k *Collectives) newInstance(c *Communicator, number uint32, lp int32, v *Collective) *instance {
	inst := &instance{comm: c, Number: number, Call: *v, entered: c.spare.entered}
	c.spare.entered = nil
	if inst.entered == nil {
		inst.entered = world.Reserve[uint64](&k.Partition, (c.Last-c.First+63)/64)
	}
	clear(inst.entered)
	inst.Call.Input, inst.Call.Output = nil, nil
	inst.signature = v.signature()
	inst.entrant = entrant{k.Clock[lp], k.Global(lp), inst.signature}
	inst.timed = k.Timing
	inst.leaders = v.Algorithm == collectives.NodeLeader
	participants := c.Size
	if inst.leaders {
		if c.nodes == nil {
			c.nodes = k.newNodeTable(c)
		}
		participants = c.nodes.count
	}
	inst.schedule = v.schedule(participants)
	inst.layout = inst.Call.commonLayout(inst.schedule)
	choice := k.choiceFor(inst)
	inst.mode = choice.mode()
	if inst.mode == locally {
		k.incomplete = append(k.incomplete, inst)
	}
	if inst.leaders {
		k.beginJoins(inst)
	}
	inst.counted = v.Operation == collectives.Barrier && (inst.leaders || inst.mode == byArrays) && k.Processors == nil
	if v.Making != nil {
		inst.split = &splitState{}
	}
	return inst
}

// exit ends a member's part at instant t.
func (k *Collectives) exit(inst *instance, lp int32, member int, t vtime.Time) {
	k.exitFrom(inst, lp, member, t, t)
}

// exitFrom is exit for a member whose CPU is free at t and whose part was over at an
// instant before: what comes next was released then.
func (k *Collectives) exitFrom(inst *instance, lp int32, member int, t, over vtime.Time) {
	if inst.split != nil && !inst.split.done && inst.errors[member] == nil {
		k.holdExit(inst.split, heldExit{lp, int32(member), t})
		return
	}
	k.noteTime(inst, lp, t.Sub(inst.entryOf(k, lp, member)))
	k.left(inst, 1)
	if inst.nonblocking != nil {
		if ri := inst.nonblocking.requests[member-inst.comm.First]; ri != 0 {
			if err := inst.errors[member]; err != nil {
				k.FailRequest(ri, err)
			}
			k.completeCollective(inst, ri, lp, over)
			return
		}
		k.keepApart(inst, lp)
	}
	if err := inst.errors[member]; err != nil {
		if k.Faults == nil {
			k.Faults = map[int32]fault{}
		}
		k.Faults[lp] = fault{inst.callOf(member).Procedure, err}
	}
	if k.Processors != nil {
		k.Processors[lp].Released = over
	}
	if k.Strict && k.Processors == nil { // a processor keeps the order by itself
		k.wake(lp, t)
		return
	}
	k.Clock[lp] = t
	k.extendRange(inst, lp, 1)
}

// leave ends the parts of n LPs with consecutive numbers, whose clocks are set
// and who wait in the blocking form.
func (k *Collectives) leave(inst *instance, lp, n int32) {
	k.left(inst, int(n))
	k.extendRange(inst, lp, n)
}

// keepApart keeps the common result of an allreduce for an LP that waits in its blocking
// form, where others have begun it: one that they have begun after it may be over before
// the LP goes on.
func (k *Collectives) keepApart(inst *instance, lp int32) {
	if inst.Call.Operation != collectives.Allreduce || inst.result == nil {
		return
	}
	if k.Apart == nil {
		k.Apart = map[int32][]byte{}
	}
	k.Apart[lp] = inst.result
}

// left counts members that have left.
func (k *Collectives) left(inst *instance, n int) {
	if inst.Call.Operation == collectives.Allreduce && inst.nonblocking == nil { // else completeCollective brings it
		inst.comm.result = inst.result // nil for a vector of no elements
	}
	if inst.split != nil {
		inst.comm.made = inst.split.made
	}
	inst.gone += n
	if invariant.Enabled {
		inst.checkCounts()
	}
	if inst.gone == inst.comm.Locals {
		inst.comm.retire(inst)
	}
}

func (k *Collectives) extendRange(inst *instance, lp, n int32) {
	if lp != inst.leaving.hi {
		k.flushRange(inst)
		inst.leaving = lpRange{lp, lp}
	}
	inst.leaving.hi += n
}

// flushRange resumes the LPs that exit has collected.
func (k *Collectives) flushRange(inst *instance) {
	r := inst.leaving
	inst.leaving = lpRange{}
	if r.hi == r.lo+1 {
		k.Engine.Ready(r.lo)
	} else {
		k.Engine.ReadyRange(int(r.lo), int(r.hi))
	}
}

// completeCollective completes the request of a nonblocking member.
func (k *Collectives) completeCollective(inst *instance, ri, lp int32, t vtime.Time) {
	q := k.Requests.At(ri)
	if inst.result != nil {
		if q.Buffer == nil {
			q.Buffer = inst.result // shared
		}
		copy(q.Buffer, inst.result)
	}
	k.CompleteRequest(ri, t)
	k.Notice(lp)
}

// spare is memory of an instance that has ended, for the next one to use.
type spare struct {
	last    []vtime.Time
	awaited []int32
	entered []uint64
	arrays  maxplus.Spare
}

// retire forgets an instance that all local members have left.
func (c *Communicator) retire(inst *instance) {
	for i, other := range c.Live {
		if other == inst {
			c.Live = append(c.Live[:i], c.Live[i+1:]...)
			c.spare.entered = inst.entered
			c.keepPast(inst)
			return
		}
	}
	invariant.Broken("%v number %d of %s ends twice", inst.Call.Procedure, inst.Number, c)
}

// Blocking returns the instance in whose blocking form an LP waits, nil if in none.
func (c *Communicator) Blocking(lp int32, k *Collectives) *instance {
	if c.Group == nil {
		return nil
	}
	member := c.Group.Member(int(k.Global(lp)))
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

// within reports whether a local member that has entered an instance has not left
// it yet, when no engine has anything left to do. Where the end of all depends on
// all, nobody has.
func (k *Collectives) within(inst *instance, lp int32) bool {
	if inst.leaders || inst.mode != byMessages {
		return true
	}
	return k.agentOf(inst, lp) != 0
}

// Drained implements [engine.Kernel]: instances that are carried out locally
// and still lack members are handed over to messages, for a member that goes on
// may be what the others wait for.
func (k *Collectives) Drained() {
	for i, inst := range k.incomplete {
		k.incomplete[i] = nil
		if inst.mode == locally && inst.Count < inst.comm.Locals {
			k.demote(inst)
		}
	}
	k.incomplete = k.incomplete[:0]
}

// demote turns an instance that is carried out locally into one by messages.
func (k *Collectives) demote(inst *instance) {
	inst.mode = byMessages
	for member := inst.comm.First; member < inst.comm.Last; member++ {
		local := member - inst.comm.First
		if !inst.Has(local) {
			continue
		}
		lp, _ := k.Local(inst.comm.RankOf(member, 0))
		v := *inst.callOf(member)
		if v.Data && inst.local != nil {
			v.Input, v.Output = inst.local.inputs[local], inst.local.outputs[local]
		}
		k.startAgent(inst, lp, int32(member), &v)
	}
}

// CarryOutAlone carries out a collective of one member, in no time.
func (k *Collectives) CarryOutAlone(lp int32, c *Communicator, v *Collective, request int32) {
	if k.Timing != stats.Untimed {
		k.Summary.Tally.Note(k.Timing, 0)
		k.Timing = stats.Untimed
	}
	v.copyAlone()
	shared := []byte(nil)
	if v.Output == nil {
		shared = slices.Clone(v.Input)
	}
	if request != 0 {
		r := k.Requests.At(request)
		r.Complete, r.Time = true, k.Clock[lp]
		if r.Buffer == nil {
			r.Buffer = shared
		}
		return
	}
	b := k.Renew(lp)
	b.Common = shared
	if v.Making != nil {
		if made := k.makeAlone(lp, c, v.Making.color); made != nil {
			b.Made = made.Index
		}
	}
}
