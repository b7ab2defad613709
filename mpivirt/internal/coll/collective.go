package coll

import (
	"slices"
	"sort"
	"unsafe"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/ptp"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Collective holds the arguments of a member's call of a collective operation.
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
	Creation  *creation         // for the making of communicators
}

// Collectives holds the communicators and collectives of a partition.
type Collectives struct {
	ptp.Messages
	collecting
	Communicators  world.Table[Communicator] // by index, as Comms
	freed          []*Communicator           // that all local members have freed
	spareEntries   []*postponed              // of LPs that entered later
	tokens         map[int32]uint64          // by LP: number of those that it has had
	prepared       Collective                // scratch: the arguments of the running LP's call
	Barrier        Collective                // the arguments of every Barrier
	algorithms     []collectives.Algorithm   // by operation
	interpreter    Interpreter               // that the user asks for
	leadersUniform bool                      // any two leaders of nodes are as far apart as any other two
	Faults         map[int32]fault           // by LP that has left a collective and has not been resumed
	KeptResults    map[int32][]byte          // by LP: common result of an allreduce that other members began
}

// Open prepares collectives and enters WORLD and SELF. The messages must have been
// prepared. algorithms names one for each operation.
func (k *Collectives) Open(algorithms []collectives.Algorithm, wanted Interpreter) {
	k.algorithms, k.interpreter, k.leadersUniform = algorithms, wanted, k.Target.LeadersUniform()
	k.memory.Reserve = func(n int) []vtime.Time { return world.Reserve[vtime.Time](&k.Partition, n) }
	k.enterComm(&Communicator{Comm: world.Comm{Group: world.Strided(0, 1, 0)}})
	k.addComm(world.WorldContext, world.Strided(0, 1, k.Target.Ranks()))
	k.addComm(world.SelfContext, nil)
	k.Joiners.Hi, k.Timing, k.fullest = -1, stats.Untimed, k.Engine.Index()
	k.Barrier = Collective{Procedure: world.Barrier, Operation: collectives.Barrier}
}

// Communicator is a communicator with the collectives of its members.
type Communicator struct {
	world.Comm
	Next    uint32      // number of the next instance of a collective
	Live    []*instance // instances that some local member has not left, by number
	nodes   *nodeTable  // nil until it is needed
	result  []byte      // common result of the collective that a member left last
	spare   spare
	open    *instance             // a barrier that members are joining, all in blocking form, while no other instance lacks members
	made    map[int]*Communicator // by color, communicators that the latest collective made
	pending map[uint32][]pendingRecord
	spells  []spell         // the calls of this engine's members, if other engines have members
	past    []entrance      // likewise: the first entrants of instances that all members of this engine have left
	freers  []uint64        // set of the local members that have freed it, counted from First; nil if none has
	failed  map[uint32]bool // instances that have failed because members called different things

	exchanging *Communicator // that the messages of exchanges are on; nil before the first
}

// collecting holds the state of collectives that belongs to no communicator.
type collecting struct {
	Timing     int32 // label of the time of the running LP's next collective
	Joiners    joiners
	tasks      []task      // that items of the ready queue stand for; see taskItems
	idle       []int32     // places in tasks
	incomplete []*instance // carried out locally, and some member had not entered; see addIncomplete
	holds      []*hold     // that have begun
	rounding
	localRun localRun       // scratch of runLocally
	memory   maxplus.Memory // of arrays and of stretches of clocks
	told     []int          // scratch of release
	children []branch       // scratch of branchesOf
}

// instance is one collective operation on one communicator, with the part of this
// engine's members. MPI demands that all members call collectives in the same order, so
// an instance has the same number on all engines.
type instance struct {
	// The fields that EnterBarrier reads lie in the first two cache lines.
	comm    *Communicator
	entered []uint64 // bit set of local members, counted from comm.first
	Count   int      // of them
	timed   int32    // label of the members' times in the tally, or stats.Untimed
	mode    mode
	leaders bool            // the schedule is among node leaders, with a join before and a release after
	counted bool            // a barrier by joins, over arrays or in a given time
	labels  map[int32]int32 // by LP, where they differ from timed
	join    joinState       // under node-leader

	Number   uint32
	Call     Collective           // of the first local member; those of the others agree
	schedule collectives.Schedule // nil for GivenTime
	layout   *collectives.Layout  // of the working buffers; nil if each member has its own
	agreement

	nonblocking *nonblockingState // if any member called a nonblocking form
	local       *localState       // carried out locally, with data
	arrays      *arrayRun         // carried out over arrays, once begun
	given       *givenState       // in a given time
	split       *splitState       // if it makes communicators
	failed      *failure          // of the collective as a whole

	result   []byte        // of an operation with one result for all members
	errors   map[int]error // by member: the error of its call
	exited   int           // members that have left
	resuming lpRange       // members that have left and are not resumed yet
}

// nonblockingState holds entries and requests of members, counted from comm.First, once
// one of them has called a nonblocking form: its clock goes on.
type nonblockingState struct {
	entry    []vtime.Time
	requests []int32  // 0 for a blocking form
	calls    []uint32 // numbers of the ranks' calls, as their processors count them; nil without processors
}

// instanceBytes is the memory of an instance that members who are ahead have left to others.
const instanceBytes = int64(unsafe.Sizeof(instance{}))

// lpRange collects LPs with consecutive numbers that are to be resumed.
type lpRange struct{ lo, hi int32 }

// EnterBarrier enters a member into a blocking barrier that is under way, by a counter or
// over arrays. It is the short form of Enter for the commonest case, and reports false in
// any other case.
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
	if inst := k.Communicators.At(world.World).open; inst != nil {
		k.Joiners = joiners{lp, lp, inst.timed}
	}
}

// EnterJoiners enters the collected joiners. Until then their clocks stand at their
// entries, and nothing reads the instance.
func (k *Collectives) EnterJoiners() {
	j := k.Joiners
	k.Joiners.Hi = -1
	if j.Hi <= j.Lo {
		return
	}
	c := k.Communicators.At(world.World)
	inst := c.open
	setBits(inst.entered, int(j.Lo), int(j.Hi))
	inst.Count += int(j.Hi - j.Lo)
	if inst.Count == c.Locals {
		c.open = nil
	}
	if k.MailboxOf != nil {
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
	if k.Processors != nil {
		k.Processors[lp].Calls++
	}
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
		if k.Processors != nil {
			inst.nonblocking.calls[local] = k.Processors[lp].Calls
		}
	}
	if inst.failed != nil {
		k.enterFailed(inst, lp)
		return inst
	}
	if inst.split != nil {
		k.enterSplit(inst, member, v.Creation)
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

// keep stores a member's input and output.
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

// keepEntries allocates entry times, requests and the numbers of calls, and stores those of the
// members that have entered.
func (inst *instance) keepEntries(k *Collectives) {
	n := inst.comm.Last - inst.comm.First
	inst.nonblocking = &nonblockingState{entry: make([]vtime.Time, n), requests: make([]int32, n)}
	if k.Processors != nil {
		inst.nonblocking.calls = make([]uint32, n)
	}
	for local := range n {
		if inst.Has(local) {
			lp, _ := k.Local(inst.comm.RankOf(inst.comm.First+local, 0))
			inst.nonblocking.entry[local] = k.Clock[lp]
			if k.Processors != nil {
				inst.nonblocking.calls[local] = k.Processors[lp].Calls
			}
		}
	}
}

// time stores the label under which the tally counts an LP's time in the instance.
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

// hasAny reports whether a member has entered the instance or one of its rivals.
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
	if at := sort.Search(len(c.Live), func(i int) bool { return !c.Live[i].hasAny(local) }); at < len(c.Live) {
		return c.Live[at]
	}
	inst := k.newInstance(c, c.Next, lp, v)
	c.Next++
	inst.remember()
	if k.ErrorsReturn {
		k.announce(inst)
	}
	k.adopt(inst)
	if inst.counted && inst.failed == nil && !slices.ContainsFunc(c.Live, func(other *instance) bool { return other.Count < c.Locals }) {
		c.open = inst
	}
	c.Live = append(c.Live, inst)
	k.Engine.Buffer(instanceBytes)
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

// place returns where in Live the instance with a number is, or would be.
func (c *Communicator) place(number uint32) int {
	return sort.Search(len(c.Live), func(i int) bool { return c.Live[i].Number >= number })
}

// newInstance returns a new instance, which an LP enters first on this engine.
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
	if inst.schedule = v.schedule(participants); inst.schedule != nil {
		inst.layout = inst.Call.commonLayout(inst.schedule)
	}
	choice := k.choiceFor(inst)
	inst.mode = choice.mode()
	if inst.mode == inGivenTime {
		inst.given = k.beginGiven(inst)
	}
	if inst.mode == locally {
		k.addIncomplete(inst)
	}
	if inst.leaders {
		k.beginJoins(inst)
	}
	inst.counted = v.Operation == collectives.Barrier && (inst.leaders || inst.mode == byArrays || inst.mode == inGivenTime) && k.Processors == nil
	if v.Creation != nil {
		inst.split = &splitState{}
	}
	return inst
}

// exit ends a member's part at instant t.
func (k *Collectives) exit(inst *instance, lp int32, member int, t vtime.Time) {
	k.exitFrom(inst, lp, member, t, t)
}

// exitFrom ends a member's part whose CPU is free at t. Its next operation is released at
// over, an instant before t.
func (k *Collectives) exitFrom(inst *instance, lp int32, member int, t, over vtime.Time) {
	if inst.split != nil && !inst.split.done && inst.errors[member] == nil {
		k.holdExit(inst.split, heldExit{lp, int32(member), t})
		return
	}
	k.noteTime(inst, lp, t.Sub(inst.entryOf(k, lp, member)))
	k.countExits(inst, 1)
	if inst.nonblocking != nil {
		if ri := inst.nonblocking.requests[member-inst.comm.First]; ri != 0 {
			if err := inst.errors[member]; err != nil {
				k.FailRequest(ri, err)
			}
			k.completeCollective(inst, ri, lp, over)
			return
		}
		k.keepResult(inst, lp)
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
	k.countExits(inst, int(n))
	k.extendRange(inst, lp, n)
}

// keepResult stores the result of an allreduce for an LP that waits in its blocking form,
// where other members called the nonblocking form. Their next allreduce may end before the
// LP is resumed.
func (k *Collectives) keepResult(inst *instance, lp int32) {
	if inst.Call.Operation != collectives.Allreduce || inst.result == nil {
		return
	}
	if k.KeptResults == nil {
		k.KeptResults = map[int32][]byte{}
	}
	k.KeptResults[lp] = inst.result
}

// countExits counts members that have left.
func (k *Collectives) countExits(inst *instance, n int) {
	if inst.Call.Operation == collectives.Allreduce && inst.nonblocking == nil { // else completeCollective brings it
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
		k.Engine.Buffer(-instanceBytes)
	}
}

func (k *Collectives) extendRange(inst *instance, lp, n int32) {
	if lp != inst.resuming.hi {
		k.flushRange(inst)
		inst.resuming = lpRange{lp, lp}
	}
	inst.resuming.hi += n
}

// flushRange resumes the collected LPs.
func (k *Collectives) flushRange(inst *instance) {
	r := inst.resuming
	inst.resuming = lpRange{}
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

// spare holds the memory of an ended instance for the next one.
type spare struct {
	last    []vtime.Time
	awaited []int32
	entered []uint64
	arrays  maxplus.Spare
}

// shortLive is the length up to which the instances after the first one move up when it ends.
// Members far ahead of others may leave many behind.
const shortLive = 16

// retire forgets an instance that all local members have left.
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
	c.spare.entered = inst.entered
	c.keepPast(inst)
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

// within reports whether a local member that has entered an instance has not left it,
// when no engine has anything left to do. Where each exit depends on all entries, no
// member has left.
func (k *Collectives) within(inst *instance, lp int32) bool {
	if inst.leaders || inst.mode != byMessages {
		return true
	}
	return k.agentOf(inst, lp) != 0
}

// lacksMembers reports whether an instance is carried out locally and not all have entered.
func (inst *instance) lacksMembers() bool {
	return inst.mode == locally && inst.Count < inst.comm.Locals
}

// addIncomplete adds a local instance that lacks members. When the list is full, the instances
// go that lack none any more: ranks may always find something to do, and never be drained.
func (k *Collectives) addIncomplete(inst *instance) {
	if len(k.incomplete) == cap(k.incomplete) {
		k.incomplete = slices.DeleteFunc(k.incomplete, func(i *instance) bool { return !i.lacksMembers() })
		k.incomplete = slices.Grow(k.incomplete, len(k.incomplete)+1)
	}
	k.incomplete = append(k.incomplete, inst)
}

// Drained implements [engine.Kernel]. It turns local instances that lack members into
// instances by messages: the missing members may wait for one that has entered and can
// leave.
func (k *Collectives) Drained() {
	for i, inst := range k.incomplete {
		k.incomplete[i] = nil
		if inst.lacksMembers() {
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
			v.Transient = false // the inputs are copies
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
	b := k.NewCompletion(lp)
	b.SharedResult = shared
	if v.Creation != nil {
		if made := k.makeAlone(lp, c, v.Creation.color); made != nil {
			b.NewComm = made.Index
		}
	}
}
