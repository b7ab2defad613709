package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Collective holds a member's arguments of a call of a collective operation.
type Collective struct {
	Procedure world.Procedure
	Operation collectives.Operation
	Type      world.ElementType // of the elements; untyped if only sizes are simulated
	Data      bool              // the call has vectors of elements; else only sizes
	Phantom   bool              // the vectors have lengths, but no memory; see DropContents
	Transient bool              // the memory of the input may change after the call
	Later     bool              // in its nonblocking form, on a machine with progress in calls
	Within    world.Procedure   // the call on an intercommunicator of which this collective is a part
	Algorithm collectives.Algorithm
	Root      int
	Bytes     int64          // size of the vector, or of one block; of Allgatherv and ReduceScatter with Counts their sum
	Element   int64          // size of an element; vectors are cut between elements
	Counts    []int64        // bytes of each member's block, for operations with different blocks
	Operator  world.Operator // for reductions with data
	Input     []byte         // this member's contribution
	Output    []byte         // memory for this member's result
	InCounts  []int64        // alltoallv: bytes to each member; valid during the call of Enter
	OutCounts []int64        // alltoallv: bytes from each member; likewise
	Creation  *creation      // for the making of communicators
}

// Lengths are the lengths in bytes of a member's input and output.
type Lengths struct{ Input, Output int64 }

// Moved reports whether the bytes of vectors are moved; else only sizes are simulated.
func (v *Collective) Moved() bool { return v.Data && !v.Phantom }

// Lengths returns the lengths of a member's input and output. Without memory they are the bytes of the call.
func (v *Collective) Lengths() Lengths {
	if !v.Moved() {
		return Lengths{v.Bytes, v.Bytes}
	}
	return Lengths{int64(len(v.Input)), int64(len(v.Output))}
}

// OfSize gives a call vectors of a number of bytes without memory, as its input and its output.
func (v *Collective) OfSize(bytes int64) { v.Bytes, v.Phantom = bytes, true }

// DropContents has only the sizes of a call simulated. The communicators that a call makes, and the order of the
// groups in a merge, rest on bytes of the library's own, which are kept.
func (v *Collective) DropContents() {
	if v.Moved() && v.Creation == nil && v.Procedure != world.IntercommMerge {
		v.Phantom, v.Input, v.Output = true, nil, nil
	}
}

// Collectives holds the communicators and collectives of a partition.
type Collectives struct {
	Messages  p2p.Messages
	partition *world.Partition // of messages
	collecting
	calling
	Communicators  world.Table[Communicator] // by index, as Comms
	freed          []*Communicator           // communicators that all local members have freed
	spareEntries   world.Stack[*postponed]   // of LPs that enter once their earlier operations have begun
	tokens         map[int32]uint64          // by LP: number of tokens taken
	prepared       Collective                // scratch: the arguments of the running LP's call
	Barrier        Collective                // the arguments of every Barrier
	algorithms     Algorithms
	interpreter    Interpreter        // the user's choice
	copies         collectives.Copies // in a rank's own memory
	copiesApart    collectives.Copies // likewise, of messages that take no places at interfaces and memories
	copiesAmong    collectives.Copies // likewise, where as many ranks of a node copy as copiers says
	copiers        int
	memoryCopies   collectives.Copies // times of the memory of a node for copies
	layering       *layering          // of the messages between nodes, nil for none
	leadersUniform bool               // any two leaders of nodes are at the same distance
	Faults         map[int32]fault    // by LP that has left a collective and has not been resumed
	KeptResults    map[int32][]byte   // by LP: result of its blocking allreduce, which other members called in the nonblocking form

	// The communicators that every engine has, and their table entries, are allocated together with
	// the engine.
	freedComm, worldComm, selfComm Communicator
	commPlaces                     world.TablePlaces[world.Comm]
	communicatorPlaces             world.TablePlaces[Communicator]

	// So is room for early stretches of the rounds of an array.
	earlyClocks    [usualClocks]vtime.Time
	earlyStretches [usual]stretch
}

// Open initialises collectives and makes WORLD and SELF. The messages must already be initialised.
// repeated is the only collective of the program, nil if it may call any.
func (c *Collectives) Open(algorithms Algorithms, wanted Interpreter, repeated *Repeated) {
	c.partition = &c.Messages.Partition
	c.algorithms, c.interpreter, c.leadersUniform = algorithms, wanted, c.partition.Target.LeadersUniform()
	if c.Messages.Processors != nil {
		c.Messages.Processors.Carries(resource.OfAgents, (*rounds)(c))
		c.Messages.Processors.Disturbed(c.outOfStep)
	}
	if c.Messages.Interfaces != nil {
		c.Messages.Interfaces.Carries(resource.OfAgents, (*roundFreight)(c))
	}
	c.copies, c.memoryCopies = maxplus.CopiesOf(c.partition.Target), collectives.Copies{Copy: c.partition.Target.MemoryTime}
	c.copiesApart = maxplus.CopiesOf(c.partition.Target.EqualShares())
	c.copiesAmong = c.copies
	c.copiesAmong.Copy = func(bytes int64) vtime.Duration { return c.partition.Target.LocalCopyTimeAmong(c.copiers, bytes) }
	c.launch, c.buffers = c.partition.Target.LaunchTime(), c.partition.Target.HasBuffers()
	if repeated != nil {
		c.layering = layeringOf(c.partition.Target, c.algorithms.OfWorld(c.partition.Target, repeated.Operation, repeated.asked(c.partition.Target.Ranks()), repeated.Element), repeated)
	}
	if c.layering != nil {
		c.Messages.Interfaces.(*resource.Interfaces).InLayers(c.layering)
	}
	c.memory.Reserve = func(n int) []vtime.Time { return world.Reserve[vtime.Time](c.partition, n) }
	c.memory.Begin(c.earlyClocks[:])
	c.idleInbox = c.earlyStretches[:0]
	c.partition.Comms.Begin(&c.commPlaces)
	c.Communicators.Begin(&c.communicatorPlaces)
	c.freedComm.Group = world.Strided(0, 1, 0)
	c.enterComm(&c.freedComm)
	c.worldComm.Context, c.selfComm.Context = world.WorldContext, world.SelfContext
	c.partition.Contexts[world.WorldContext] = c.enterComm(&c.worldComm)
	c.partition.Contexts[world.SelfContext] = c.enterComm(&c.selfComm)
	c.addComm(world.WorldContext, world.Strided(0, 1, c.partition.Target.Ranks()))
	c.addComm(world.SelfContext, nil)
	c.Submits = world.None
	c.Joiners.Hi, c.Timing, c.fullest = -1, stats.Untimed, c.partition.Engine.Index()
	c.Barrier = Collective{Procedure: world.Barrier, Operation: collectives.Barrier}
}

// Communicator is a communicator with the collectives of its members.
type Communicator struct {
	world.Comm
	Next     uint32                // number of the next instance of a collective
	Live     []*instance           // instances that a local member has not left, by number
	nodes    *nodeTable            // nil until the first use
	perNode  int32                 // see perNode; 0 until the first use
	result   []byte                // result of the latest allreduce that a member has left
	spare    *spare                // nil before the first instance
	open     *instance             // a barrier that members are entering, all in the blocking form, while no other instance lacks members
	made     map[int]*Communicator // by color: communicators made by the latest collective
	pending  map[uint32][]pendingRecord
	callRuns []callRun       // the runs of calls of this engine's members, if other engines have members
	past     []entrance      // with members on other engines: first entrants of the instances that all local members have left
	freers   []uint64        // set of the local members that have freed it, counted from First; nil for none
	failed   map[uint32]bool // instances that have failed because of a mismatch

	exchanging *Communicator // communicator of the messages of exchanges; nil before the first exchange

	// Of an intercommunicator: the communicators of the local group and of both groups; nil before
	// their first use.
	local, union *Communicator
	Tokens       [2]uint64    // of the local and the remote group, if their leaders have met; else 0
	first        *world.Group // of a communicator of both groups: the first group; else nil
}

// collecting holds the state of collectives that belongs to no communicator.
type collecting struct {
	SiteOf     func(lp int32) stats.Site // returns where the program has made the call that an LP submits; nil if no kind of rank here knows that
	Submits    int32                     // LP that submits the collective that it enters; None if an LP enters later, or in a part of its call
	Timing     int32                     // label for the time of the running LP's next collective
	Combining  int32                     // LP in whose call an operator is applied
	InRows     string                    // name of the operators that combine many vectors in one call, "" for none
	Row        int                       // number of vectors that lie one behind another in Apply's into; 0 if Apply combines left and right
	beforehand vtime.Duration            // time that the running LP has spent on launch and copies for its next collective
	launch     vtime.Duration            // of a collective, given by the machine
	buffers    bool                      // buffers of algorithms take time
	Joiners    Joiners
	tasks      []task      // tasks of items in the ready queue; see taskItems
	idle       []int32     // free places in tasks
	incomplete []*instance // local instances that lacked a member when they were added; see addIncomplete
	holds      []*hold     // holds in effect
	rounding
	localRun     localRun       // scratch of runLocally
	processorRun processorRun   // scratch of runInStep
	memory       maxplus.Memory // of arrays and of stretches of clocks
	idleInbox    []stretch      // the inbox of an ended array
	told         []int          // scratch of release
	children     []branch       // scratch of branchesOf
}

// Launches reports whether a collective takes time before the entry of its rank.
func (c *Collectives) Launches() bool { return c.launch > 0 }

// EnterBarrier enters a member into a blocking barrier that is under way, by a counter or over
// arrays. It is the short form of Enter for the commonest case, and returns false in all other
// cases.
func (c *Collectives) EnterBarrier(lp int32, comm *Communicator, member int) bool {
	inst := comm.open
	if inst == nil {
		return false
	}
	local := uint(member - comm.First)
	word, bit := &inst.entered[local>>6], uint64(1)<<(local&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	inst.time(lp, c.Timing)
	c.Timing = stats.Untimed
	inst.Count++
	if c.explains {
		c.partition.Summary.Handed.Note(0)
	}
	if inst.Count == comm.Locals {
		comm.open = nil
	}
	if c.roundSlots != nil && c.contradicted(inst, lp) {
		c.enterFailed(inst, lp)
		return true
	}
	if !inst.leaders {
		c.startComplete(inst)
		return true
	}
	if p, missing := c.enterNode(inst, lp, c.partition.Clock[lp], member); missing == 0 {
		c.joinedHere(inst, p)
	}
	return true
}

// startComplete starts an instance that is carried out in bulk, once all local members have
// entered.
func (c *Collectives) startComplete(inst *instance) {
	if inst.Count == inst.comm.Locals {
		c.queue(inst)
	}
}

// Joiners are LPs lo to hi-1, resumed one after another, that have called the open barrier of
// WORLD, timed under the barrier's label, and enter it together. hi is -1 while LPs enter one by
// one.
type Joiners struct{ Lo, Hi, Timed int32 }

// CollectJoiners begins to collect joiners from an LP on, if a barrier can take them.
func (c *Collectives) CollectJoiners(lp int32) {
	if inst := c.Communicators.At(world.World).open; inst != nil {
		c.Joiners = Joiners{lp, lp, inst.timed}
	}
}

// EnterJoiners enters the collected joiners. Until then their clocks stand at their
// entries, and nothing reads the instance.
func (c *Collectives) EnterJoiners() {
	j := c.Joiners
	c.Joiners.Hi = -1
	if j.Hi <= j.Lo {
		return
	}
	comm := c.Communicators.At(world.World)
	inst := comm.open
	setBits(inst.entered, int(j.Lo), int(j.Hi))
	inst.Count += int(j.Hi - j.Lo)
	if c.explains {
		c.partition.Summary.Handed.NoteSame(0, uint64(j.Hi-j.Lo))
	}
	if inst.Count == comm.Locals {
		comm.open = nil
	}
	if c.Messages.MailboxOf != nil {
		for lp := j.Lo; lp < j.Hi; lp++ {
			c.Messages.Activity(lp)
		}
	}
	if c.roundSlots != nil {
		for lp := j.Lo; lp < j.Hi; lp++ {
			c.contradicted(inst, lp)
		}
	}
	switch {
	case inst.failed != nil:
		c.enterFailed(inst, j.Hi-1)
	case inst.leaders && c.partition.Target.HasJitterWithinNodes():
		for lp := j.Lo; lp < j.Hi; lp++ {
			if p, missing := c.enterNode(inst, lp, c.partition.Clock[lp], c.partition.First+int(lp)); missing == 0 {
				c.joinedHere(inst, p)
			}
		}
	case inst.leaders:
		c.joinRun(inst, j)
	default:
		c.startComplete(inst)
	}
}

// joinRun enters joiners node by node.
func (c *Collectives) joinRun(inst *instance, j Joiners) {
	nodes := inst.comm.nodes
	for lp := j.Lo; lp < j.Hi; {
		p := nodes.at(c.partition.First + int(lp))
		end := lp + 1
		if nodes.perNode > 0 {
			end = int32(min((p+1)*nodes.perNode-c.partition.First, int(j.Hi)))
		}
		others := c.partition.Clock[lp:end]
		if nodes.ledBy(p, c.partition.First+int(lp)) {
			others = others[1:]
		}
		last := vtime.Time(0)
		for _, t := range others {
			last = max(last, t)
		}
		if c.explains {
			c.restNode(inst, p, lp, max(last, c.partition.Clock[lp]))
		}
		if inst.enterOthers(p-nodes.here, last, end-lp) == 0 {
			c.joinedHere(inst, p)
		}
		lp = end
	}
}

// setBits sets bits lo to hi-1 of a bit set.
func setBits(set []uint64, lo, hi int) {
	for lo < hi {
		n := min(64-lo&63, hi-lo)
		set[lo>>6] |= (1<<n - 1) << (lo & 63)
		lo += n
	}
}

// Enter starts a member's part in a collective at the LP's clock. request is 0 for a blocking call:
// the LP must then be suspended, and is resumed when its part is over.
func (c *Collectives) Enter(lp int32, comm *Communicator, member int, v *Collective, request int32) *instance {
	c.Messages.Activity(lp)
	c.EnterJoiners()
	inst := comm.instanceFor(c, lp, member, v)
	inst = c.accept(inst, lp, member, v)
	if at := (entrant{c.partition.Clock[lp], c.partition.Global(lp), inst.signature}); at.compare(inst.entrant) < 0 {
		inst.entrant = at
	}
	c.noteSites(inst, lp, member)
	c.hears(inst, v, request)
	inst.time(lp, c.Timing)
	if c.Timing != stats.Untimed {
		inst.launched.note(lp, c.beforehand)
	}
	c.Timing, c.beforehand = stats.Untimed, 0
	if c.Messages.Processors != nil {
		c.Messages.Processors.Of(lp).Calls++
	}
	local := member - comm.First
	inst.entered[local>>6] |= 1 << (local & 63)
	inst.Count++
	if inst.Count == comm.Locals || request != 0 {
		comm.open = nil
	}
	if request != 0 && inst.nonblocking == nil {
		inst.keepEntries(c)
		if inst.failed == nil {
			c.announce(inst) // only the rank knows in which call it gets the error
		}
	}
	if inst.nonblocking != nil {
		inst.nonblocking.entry[local] = c.partition.Clock[lp]
		inst.nonblocking.requests[local] = request
		if c.Messages.InCalls {
			inst.nonblocking.taken[local] = c.Messages.Taken(lp)
		}
		if c.Messages.Processors != nil {
			inst.nonblocking.calls[local] = c.Messages.Processors.Of(lp).Calls
		}
	}
	if inst.failed != nil {
		c.enterFailed(inst, lp)
		return inst
	}
	if inst.split != nil {
		c.enterSplit(inst, member, v.Creation)
	}
	switch {
	case inst.leaders:
		c.join(inst, lp, member, v)
	case inst.mode == ByMessages:
		c.startAgent(inst, lp, int32(member), v)
	default:
		c.enterBulk(inst, lp, member, v)
	}
	return inst
}

// CarryOutAlone carries out a collective of a single member, which takes only the time of Launch.
func (c *Collectives) CarryOutAlone(lp int32, comm *Communicator, v *Collective, request int32) {
	if c.Timing != stats.Untimed {
		c.partition.Summary.Tally.Note(c.Timing, c.beforehand)
		c.Timing = stats.Untimed
	}
	c.beforehand = 0
	shared := []byte(nil)
	if v.Moved() {
		v.copyAlone()
	}
	if v.Output == nil {
		shared = slices.Clone(v.Input)
	}
	if request != 0 {
		if r := c.Messages.Requests.At(request); r.Buffer == nil {
			r.Buffer = shared
		}
		if c.Messages.Behind(lp) { // the clock does not include operations that the rank has started before
			c.Messages.After(lp, func() { c.Messages.CompleteRequest(request, c.partition.Clock[lp]) })
		} else {
			c.Messages.CompleteRequest(request, c.partition.Clock[lp])
		}
		return
	}
	b := c.Messages.NewCompletion(lp)
	b.SharedResult = shared
	if v.Creation != nil {
		if made := c.makeAlone(lp, comm, v.Creation.color); made != nil {
			b.NewComm = made.Index
		}
	}
}
