package coll

import (
	"slices"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// failure is the state of a collective that fails for all members: they have called different
// procedures, in each of which no member can leave before all have entered. So no member has left,
// and each call ends with the error. It ends at the instant of the last entry plus twice the
// greatest latency from the first member, as if all members had sent their calls to the first
// member and had its answer. The error of a member names the first entrant, in the order of
// (virtual time, rank), with another call.
//
// The news of the failure travels over the tree of the engines that have members, from the engine
// that finds it. Once all members of an engine have entered, and all its children have sent their
// entrants, the engine sends its parent the first entrants and the last entry of all of them. The
// root sends those of all engines down the tree. Meanwhile a hold bounds EIT. Where null messages
// alone raise EIT there are no holds, and an engine must hear of each entry before it gets a later
// promise of that engine: each engine sends its entrants to all other engines, to which it sends
// null messages anyway.
type failure struct {
	first   []entrant      // by signature, of the known members: enough to find the first that differs from any signature
	latest  vtime.Time     // last entry of the known members
	span    vtime.Duration // the greatest thereAndBack of the known engines
	tree    branches       // see failureTree
	missing int            // engines whose entrants have not arrived
	entered bool           // the known members include all members here
	settled bool           // the known members are all members
	ended   bool
	hold    hold // bounds EIT by the exits of the failed members
}

// add adds an entrant to the known members.
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

// failureTree returns the engines that send their entrants to this engine, as its children, and the
// engine to which it sends its own, as its parent. Under null messages alone there is no parent,
// and all other engines are children.
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

// failTogether fails a collective for all members, because of a mismatch. The news came from engine
// from, this engine if it has found the mismatch.
func (c *Collectives) failTogether(inst *instance, from int) {
	comm := inst.comm
	if inst.exited > 0 {
		invariant.Broken("%v number %d of %s fails as a whole, though %d members have left", inst.Call.Procedure, inst.Number, comm, inst.exited)
	}
	tree := c.failureTree(comm)
	f := &failure{tree: tree, missing: len(tree.children), span: c.thereAndBack(comm)}
	inst.failed, inst.mode = f, mismatched
	comm.noteFailed(inst.Number)
	c.hearAll(inst)
	if comm.open == inst {
		comm.open = nil
	}
	if inst.arrays != nil {
		c.endHold(&inst.arrays.hold)
	}
	c.dropRounds(inst)
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
	if c.callers != nil {
		c.hearAll(inst)
		c.reopens(inst, lp, inst.comm.Group.Member(int(c.partition.Global(lp))))
	}
	c.forsake(inst, lp)
	c.enteredFailed(inst)
}

// enteredFailed ends the parts of the members of a failed instance, if all have entered.
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

// settleFailed ends the parts of the members, since all members have entered, and tells the engines
// below.
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

// endFailed ends the parts of the members of a failed instance, once the instant has come. Its task
// may have been queued before the instance failed.
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

// contradictionOf returns the error of a member in a failed instance.
func (c *Collectives) contradictionOf(inst *instance, member int) error {
	own := inst.signatureOf(member)
	other := slices.IndexFunc(inst.failed.first, func(e entrant) bool { return e.signature != own })
	theirs := inst.failed.first[other]
	return inst.comm.mismatch(inst.Number, own, theirs.signature, theirs.rank, c.partition.NameOf)
}

// thereAndBack returns twice the greatest latency between the first member and a member of this
// engine. The greatest value of all engines counts.
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

// forsake releases an LP's agent in a failed instance, and the messages for the agent. Messages of
// another family stay: their receivers go on.
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

// dropEarly releases an instance's messages in the hash table of early messages.
func (c *Collectives) dropEarly(inst *instance) {
	for _, index := range c.earlyMessages.takeInstance(&c.rounds, inst.comm.Index, inst.Number) {
		m := c.rounds.At(index)
		c.countEarly(c.roundQueue(m.lp), m, -1)
		c.disposeRound(index)
	}
}

// sendFailed sends another engine the news that an instance fails.
func (c *Collectives) sendFailed(inst *instance, engine int) {
	c.collectiveRecord(inst, engine, world.RecordFailed, 0)
}

// sendEntrants sends another engine the known entrants of a failing instance.
func (c *Collectives) sendEntrants(inst *instance, engine int) {
	f := inst.failed
	w := c.collectiveRecord(inst, engine, world.RecordFailed, 2*8+len(f.first)*entrantBytes)
	w.U64(uint64(f.latest))
	w.U64(uint64(f.span))
	for _, e := range f.first {
		writeEntrant(&w, e)
	}
}

// receiveFailed reads a record of sendFailed or sendEntrants.
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
