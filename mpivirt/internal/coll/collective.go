package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/ptp"
	"gigarank/mpivirt/internal/resource"
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
	Within    world.Procedure   // of the call on an intercommunicator that this is a part of
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
	spareEntries   world.Stack[*postponed]   // of LPs that entered later
	tokens         map[int32]uint64          // by LP: number of those that it has had
	prepared       Collective                // scratch: the arguments of the running LP's call
	Barrier        Collective                // the arguments of every Barrier
	algorithms     []collectives.Algorithm   // by operation
	interpreter    Interpreter               // that the user asks for
	leadersUniform bool                      // any two leaders of nodes are as far apart as any other two
	Faults         map[int32]fault           // by LP that has left a collective and has not been resumed
	KeptResults    map[int32][]byte          // by LP: common result of an allreduce that other members began

	// The communicators that every engine has, and their places, are allocated with it.
	freedComm, worldComm, selfComm Communicator
	commPlaces                     world.TablePlaces[world.Comm]
	communicatorPlaces             world.TablePlaces[Communicator]

	// So is room for what comes early for the rounds of an array.
	earlyClocks    [usualClocks]vtime.Time
	earlyStretches [usual]stretch
}

// Open prepares collectives and enters WORLD and SELF. The messages must have been
// prepared. algorithms names one for each operation.
func (k *Collectives) Open(algorithms []collectives.Algorithm, wanted Interpreter) {
	k.algorithms, k.interpreter, k.leadersUniform = algorithms, wanted, k.Target.LeadersUniform()
	if k.Activities != nil {
		k.interpreter = Message // each message is seen by itself
	}
	if k.Processors != nil {
		k.Processors.Carries(resource.OfAgents, (*rounds)(k))
	}
	if k.Interfaces != nil {
		k.Interfaces.Carries(resource.OfAgents, (*roundFreight)(k))
	}
	k.memory.Reserve = func(n int) []vtime.Time { return world.Reserve[vtime.Time](&k.Partition, n) }
	k.memory.Begin(k.earlyClocks[:])
	k.idleInbox = k.earlyStretches[:0]
	k.Comms.Begin(&k.commPlaces)
	k.Communicators.Begin(&k.communicatorPlaces)
	k.freedComm.Group = world.Strided(0, 1, 0)
	k.enterComm(&k.freedComm)
	k.worldComm.Context, k.selfComm.Context = world.WorldContext, world.SelfContext
	k.Contexts[world.WorldContext] = k.enterComm(&k.worldComm)
	k.Contexts[world.SelfContext] = k.enterComm(&k.selfComm)
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

	// Of an intercommunicator: those of its group alone, and of both; nil before their first use.
	local, union *Communicator
	first        *world.Group // of one of both groups: the first of them; nil of others
}

// collecting holds the state of collectives that belongs to no communicator.
type collecting struct {
	Timing     int32          // label of the time of the running LP's next collective
	Combining  int32          // LP in whose call an operator is applied
	InRows     string         // name of the operators that combine many vectors at once, "" for none
	Row        int            // vectors that lie in Apply's into, one behind another; 0 if it is to combine left and right
	copied     vtime.Duration // what the running LP has copied for its next collective
	Joiners    joiners
	tasks      []task      // that items of the ready queue stand for; see taskItems
	idle       []int32     // places in tasks
	incomplete []*instance // carried out locally, and some member had not entered; see addIncomplete
	holds      []*hold     // that have begun
	rounding
	localRun  localRun       // scratch of runLocally
	memory    maxplus.Memory // of arrays and of stretches of clocks
	idleInbox []stretch      // of an array that has ended
	told      []int          // scratch of release
	children  []branch       // scratch of branchesOf
}

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
	if k.copied > 0 && k.Timing != stats.Untimed {
		inst.noteCopied(lp, k.copied)
	}
	k.Timing, k.copied = stats.Untimed, 0
	if k.Processors != nil {
		k.Processors.Of(lp).Calls++
	}
	local := member - c.First
	inst.entered[local>>6] |= 1 << (local & 63)
	inst.Count++
	if inst.Count == c.Locals || request != 0 {
		c.open = nil
	}
	if request != 0 && inst.nonblocking == nil {
		inst.keepEntries(k)
		if inst.failed == nil {
			k.announce(inst) // in which call a rank is told, only the rank knows
		}
	}
	if inst.nonblocking != nil {
		inst.nonblocking.entry[local] = k.Clock[lp]
		inst.nonblocking.requests[local] = request
		if k.Processors != nil {
			inst.nonblocking.calls[local] = k.Processors.Of(lp).Calls
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
	case inst.mode == ByMessages:
		k.startAgent(inst, lp, int32(member), v)
	default:
		k.enterBulk(inst, lp, member, v)
	}
	return inst
}

// CarryOutAlone carries out a collective of one member, in no time but that of CopyOwn.
func (k *Collectives) CarryOutAlone(lp int32, c *Communicator, v *Collective, request int32) {
	if k.Timing != stats.Untimed {
		k.Summary.Tally.Note(k.Timing, k.copied)
		k.Timing = stats.Untimed
	}
	k.copied = 0
	v.copyAlone()
	shared := []byte(nil)
	if v.Output == nil {
		shared = slices.Clone(v.Input)
	}
	if request != 0 {
		if r := k.Requests.At(request); r.Buffer == nil {
			r.Buffer = shared
		}
		if k.Behind(lp) { // the clock does not include what the rank has started before
			k.After(lp, func() { k.CompleteRequest(request, k.Clock[lp]) })
		} else {
			k.CompleteRequest(request, k.Clock[lp])
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
