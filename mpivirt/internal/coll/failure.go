package coll

import (
	"slices"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// failure ends a collective for all members, because they have called different things
// and each call waits for all members. No member has left then, and each call ends
// with the error: at the instant of the last entry and twice the greatest latency from
// the first member, as if all had told it what they call and it had told all. The error of a
// member is about the first of all, in the order of (virtual time, rank), that calls something else.
//
// The news that it fails goes over the tree of the engines that have members, from wherever it is
// found. An engine whose members have all entered, and from all of whose children the same has come, tells
// its parent the first entrants and the last entry of them all. The root hands down those of all
// engines. Meanwhile a hold bounds EIT. Where null messages alone raise EIT there are no holds, and an
// engine must hear of each entry before it gets a later promise of that engine: each tells all others,
// to which it sends null messages anyway.
type failure struct {
	first   []entrant      // by signature, of the members that are known: enough to find the first that differs from any
	latest  vtime.Time     // entry, of those that are known
	span    vtime.Duration // the greatest thereAndBack of the engines that are known
	tree    branches       // see failureTree
	missing int            // engines that are to tell this one and have not
	entered bool           // what is known includes all members here
	settled bool           // it includes all members
	ended   bool
	hold    hold // keeps EIT from going past members that are to leave
}

// add takes in an entrant.
func (f *failure) add(e entrant) {
	for i := range f.first {
		if known := &f.first[i]; known.signature == e.signature {
			if e.compare(*known) < 0 {
				*known = e
			}
			return
		}
	}
	f.first = append(f.first, e)
}

// failureTree returns the engines that tell this one, as its children, and the one that it
// tells. Under Null none is above, and it takes as long as there are engines.
func (c *Collectives) failureTree(comm *Communicator) branches {
	if !c.partition.Engine.Null() {
		b := c.memberTree(comm)
		b.children = slices.Clone(b.children)
		return b
	}
	b := branches{parent: -1}
	for _, engine := range c.others(comm) {
		b.children = append(b.children, branch{engine: engine})
	}
	return b
}

// failTogether ends a collective for all members, who have called different things. The news has
// come from an engine, this one if it has been found here.
func (c *Collectives) failTogether(inst *instance, from int) {
	comm := inst.comm
	if inst.exited > 0 {
		invariant.Broken("%v number %d of %s fails as a whole, though %d members have left", inst.Call.Procedure, inst.Number, comm, inst.exited)
	}
	tree := c.failureTree(comm)
	f := &failure{tree: tree, missing: len(tree.children), span: c.thereAndBack(comm)}
	inst.failed, inst.mode = f, mismatched
	comm.noteFailed(inst.Number)
	if comm.open == inst {
		comm.open = nil
	}
	if inst.arrays != nil {
		c.endHold(&inst.arrays.hold)
	}
	if inst.split != nil {
		c.takeExits(inst.split)
	}
	for member := comm.First; member < comm.Last; member++ {
		if lp, here := c.partition.Local(comm.RankOf(member, 0)); here {
			if inst.Has(member - comm.First) {
				f.latest = max(f.latest, inst.entryOf(c, lp, member))
			}
			c.forsake(inst, lp)
		}
	}
	c.dropEarly(inst)
	if tree.parent >= 0 && tree.parent != from {
		c.sendFailed(inst, tree.parent)
	}
	for _, child := range tree.children {
		if child.engine != from {
			c.sendFailed(inst, child.engine)
		}
	}
	c.enteredFailed(inst)
}

// enterFailed enters an LP into an instance that has failed.
func (c *Collectives) enterFailed(inst *instance, lp int32) {
	inst.failed.latest = max(inst.failed.latest, c.partition.Clock[lp])
	c.forsake(inst, lp)
	c.enteredFailed(inst)
}

// enteredFailed lets the members leave if all have entered.
func (c *Collectives) enteredFailed(inst *instance) {
	f := inst.failed
	if inst.Count > 0 && !f.hold.held && !c.partition.Engine.Null() && c.partition.Engine.Engines() > 1 {
		c.holdFrom(&f.hold, f.latest)
	}
	if inst.Count < inst.comm.Locals || f.settled {
		return
	}
	tree, complete := &f.tree, !f.entered
	if complete {
		f.entered = true
		for _, e := range c.entrances(inst, 0) {
			f.add(e.entrant)
		}
	}
	switch null := c.partition.Engine.Null(); {
	case null && complete:
		for _, other := range tree.children {
			c.sendEntrants(inst, other.engine)
		}
	case !null && f.missing == 0 && tree.parent >= 0:
		c.sendEntrants(inst, tree.parent)
	}
	if f.missing == 0 && tree.parent < 0 {
		c.settleFailed(inst)
	}
}

// settleFailed lets the members leave, since all have entered, and tells the engines below.
func (c *Collectives) settleFailed(inst *instance) {
	f := inst.failed
	f.settled = true
	if !c.partition.Engine.Null() {
		for _, child := range slices.Backward(f.tree.children) {
			c.sendEntrants(inst, child.engine)
		}
	}
	c.queue(inst)
}

// endFailed lets the members of an instance that has failed leave, if it is time. The
// task that calls it may have been queued before the instance failed.
func (c *Collectives) endFailed(inst *instance) {
	f, comm := inst.failed, inst.comm
	if f.ended || !f.settled {
		return
	}
	f.ended = true
	slices.SortFunc(f.first, entrant.compare)
	c.endHold(&f.hold)
	t := f.latest.Add(f.span)
	for member := comm.First; member < comm.Last; member++ {
		if lp, here := c.partition.Local(comm.RankOf(member, 0)); here {
			inst.blame(member, c.contradictionOf(inst, member))
			c.exit(inst, lp, member, t)
		}
	}
	c.flushRange(inst)
}

// contradictionOf returns the error of a member in an instance that has failed.
func (c *Collectives) contradictionOf(inst *instance, member int) error {
	own := inst.signatureOf(member)
	other := slices.IndexFunc(inst.failed.first, func(e entrant) bool { return e.signature != own })
	theirs := inst.failed.first[other]
	return inst.comm.mismatch(inst.Number, own, theirs.signature, theirs.rank, c.partition.NameOf)
}

// thereAndBack returns twice the greatest latency between the first member and one of this
// engine. The greatest of all engines counts.
func (c *Collectives) thereAndBack(comm *Communicator) vtime.Duration {
	first, greatest := comm.RankOf(0, 0), vtime.Duration(0)
	for member := max(comm.First, 1); member < comm.Last; member++ {
		rank := comm.RankOf(member, 0)
		if _, here := c.partition.Local(rank); here {
			greatest = max(greatest, c.partition.Target.Latency(first, rank))
		}
	}
	return 2 * greatest
}

// forsake drops an LP's agent in an instance that has failed, and the messages for it. Those of
// another family have receivers that go on.
func (c *Collectives) forsake(inst *instance, lp int32) {
	q := c.roundQueue(lp)
	if q == nil {
		return
	}
	for index := c.agentOf(inst, lp); index != 0; index = c.agentOf(inst, lp) {
		c.stopAgent(index)
	}
	previous := int32(0)
	for index := q.early.head; index != 0; {
		m := c.rounds.At(index)
		next := m.next
		if m.comm == inst.comm.Index && m.number == inst.Number && m.signature.synchronizing() {
			q.early.remove(&c.rounds, previous, index)
			c.countEarly(q, m, -1)
			c.disposeRound(index)
		} else {
			previous = index
		}
		index = next
	}
}

// dropEarly drops the messages for an instance in the hash table of early messages.
func (c *Collectives) dropEarly(inst *instance) {
	for _, index := range c.earlyMessages.takeInstance(&c.rounds, inst.comm.Index, inst.Number) {
		m := c.rounds.At(index)
		c.countEarly(c.roundQueue(m.lp), m, -1)
		c.disposeRound(index)
	}
}

// sendFailed tells another engine that an instance fails.
func (c *Collectives) sendFailed(inst *instance, engine int) {
	c.collectiveRecord(inst, engine, world.RecordFailed, 0)
}

// sendEntrants tells another engine what is known of the members of an instance that fails.
func (c *Collectives) sendEntrants(inst *instance, engine int) {
	f := inst.failed
	w := c.collectiveRecord(inst, engine, world.RecordFailed, 2*8+len(f.first)*entrantBytes)
	w.U64(uint64(f.latest))
	w.U64(uint64(f.span))
	for _, e := range f.first {
		writeEntrant(&w, e)
	}
}

// receiveFailed takes in a record of sendFailed or sendEntrants.
func (c *Collectives) receiveFailed(inst *instance, from int, r world.Reader) {
	if inst.failed == nil {
		c.failTogether(inst, from)
	}
	if len(r.Rest) == 0 {
		return
	}
	f := inst.failed
	f.latest, f.span = max(f.latest, vtime.Time(r.U64())), max(f.span, vtime.Duration(r.U64()))
	for len(r.Rest) > 0 {
		f.add(readEntrant(&r))
	}
	if from == f.tree.parent {
		c.settleFailed(inst)
		return
	}
	f.missing--
	c.enteredFailed(inst)
}
