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
func (k *Collectives) failureTree(c *Communicator) branches {
	if !k.Engine.Null() {
		b := k.memberTree(c)
		b.children = slices.Clone(b.children)
		return b
	}
	b := branches{parent: -1}
	for _, engine := range k.others(c) {
		b.children = append(b.children, branch{engine: engine})
	}
	return b
}

// failTogether ends a collective for all members, who have called different things. The news has
// come from an engine, this one if it has been found here.
func (k *Collectives) failTogether(inst *instance, from int) {
	c := inst.comm
	if inst.exited > 0 {
		invariant.Broken("%v number %d of %s fails as a whole, though %d members have left", inst.Call.Procedure, inst.Number, c, inst.exited)
	}
	tree := k.failureTree(c)
	f := &failure{tree: tree, missing: len(tree.children), span: k.thereAndBack(c)}
	inst.failed, inst.mode = f, mismatched
	c.noteFailed(inst.Number)
	if c.open == inst {
		c.open = nil
	}
	if inst.arrays != nil {
		k.endHold(&inst.arrays.hold)
	}
	if inst.split != nil {
		k.takeExits(inst.split)
	}
	for member := c.First; member < c.Last; member++ {
		if lp, here := k.Local(c.RankOf(member, 0)); here {
			if inst.Has(member - c.First) {
				f.latest = max(f.latest, inst.entryOf(k, lp, member))
			}
			k.forsake(inst, lp)
		}
	}
	k.dropCrowd(inst)
	if tree.parent >= 0 && tree.parent != from {
		k.sendFailed(inst, tree.parent)
	}
	for _, child := range tree.children {
		if child.engine != from {
			k.sendFailed(inst, child.engine)
		}
	}
	k.enteredFailed(inst)
}

// enterFailed enters an LP into an instance that has failed.
func (k *Collectives) enterFailed(inst *instance, lp int32) {
	inst.failed.latest = max(inst.failed.latest, k.Clock[lp])
	k.forsake(inst, lp)
	k.enteredFailed(inst)
}

// enteredFailed lets the members leave if all have entered.
func (k *Collectives) enteredFailed(inst *instance) {
	f := inst.failed
	if inst.Count > 0 && !f.hold.held && !k.Engine.Null() && k.Engine.Engines() > 1 {
		k.holdFrom(&f.hold, f.latest)
	}
	if inst.Count < inst.comm.Locals || f.settled {
		return
	}
	tree, complete := &f.tree, !f.entered
	if complete {
		f.entered = true
		for _, e := range k.entrances(inst, 0) {
			f.add(e.entrant)
		}
	}
	switch null := k.Engine.Null(); {
	case null && complete:
		for _, other := range tree.children {
			k.sendEntrants(inst, other.engine)
		}
	case !null && f.missing == 0 && tree.parent >= 0:
		k.sendEntrants(inst, tree.parent)
	}
	if f.missing == 0 && tree.parent < 0 {
		k.settleFailed(inst)
	}
}

// settleFailed lets the members leave, since all have entered, and tells the engines below.
func (k *Collectives) settleFailed(inst *instance) {
	f := inst.failed
	f.settled = true
	if !k.Engine.Null() {
		for _, child := range slices.Backward(f.tree.children) {
			k.sendEntrants(inst, child.engine)
		}
	}
	k.queue(inst)
}

// endFailed lets the members of an instance that has failed leave, if it is time. The
// task that calls it may have been queued before the instance failed.
func (k *Collectives) endFailed(inst *instance) {
	f, c := inst.failed, inst.comm
	if f.ended || !f.settled {
		return
	}
	f.ended = true
	slices.SortFunc(f.first, entrant.compare)
	k.endHold(&f.hold)
	t := f.latest.Add(f.span)
	for member := c.First; member < c.Last; member++ {
		if lp, here := k.Local(c.RankOf(member, 0)); here {
			inst.blame(member, k.contradictionOf(inst, member))
			k.exit(inst, lp, member, t)
		}
	}
	k.flushRange(inst)
}

// contradictionOf returns the error of a member in an instance that has failed.
func (k *Collectives) contradictionOf(inst *instance, member int) error {
	own := inst.signatureOf(member)
	other := slices.IndexFunc(inst.failed.first, func(e entrant) bool { return e.signature != own })
	theirs := inst.failed.first[other]
	return inst.comm.mismatch(inst.Number, own, theirs.signature, theirs.rank, k.NameOf)
}

// thereAndBack returns twice the greatest latency between the first member and one of this
// engine. The greatest of all engines counts.
func (k *Collectives) thereAndBack(c *Communicator) vtime.Duration {
	first, greatest := c.RankOf(0, 0), vtime.Duration(0)
	for member := max(c.First, 1); member < c.Last; member++ {
		rank := c.RankOf(member, 0)
		if _, here := k.Local(rank); here {
			greatest = max(greatest, k.Target.Latency(first, rank))
		}
	}
	return 2 * greatest
}

// forsake drops an LP's agent in an instance that has failed, and the messages for it. Those of
// another family have receivers that go on.
func (k *Collectives) forsake(inst *instance, lp int32) {
	q := k.roundQueue(lp)
	if q == nil {
		return
	}
	for index := k.agentOf(inst, lp); index != 0; index = k.agentOf(inst, lp) {
		k.stopAgent(index)
	}
	previous := int32(0)
	for index := q.early.head; index != 0; {
		m := k.rounds.At(index)
		next := m.next
		if m.comm == inst.comm.Index && m.number == inst.Number && m.signature.synchronizing() {
			q.early.remove(&k.rounds, previous, index)
			k.countEarly(q, m, -1)
			k.disposeRound(index)
		} else {
			previous = index
		}
		index = next
	}
}

// dropCrowd drops the messages for an instance in crowd.
func (k *Collectives) dropCrowd(inst *instance) {
	for _, index := range k.crowd.takeInstance(&k.rounds, inst.comm.Index, inst.Number) {
		m := k.rounds.At(index)
		k.countEarly(k.roundQueue(m.lp), m, -1)
		k.disposeRound(index)
	}
}

// sendFailed tells another engine that an instance fails.
func (k *Collectives) sendFailed(inst *instance, engine int) {
	k.collectiveRecord(inst, engine, world.RecordFailed, 0)
}

// sendEntrants tells another engine what is known of the members of an instance that fails.
func (k *Collectives) sendEntrants(inst *instance, engine int) {
	f := inst.failed
	w := k.collectiveRecord(inst, engine, world.RecordFailed, 2*8+len(f.first)*entrantBytes)
	w.U64(uint64(f.latest))
	w.U64(uint64(f.span))
	for _, e := range f.first {
		writeEntrant(&w, e)
	}
}

// receiveFailed takes in a record of sendFailed or sendEntrants.
func (k *Collectives) receiveFailed(inst *instance, from int, r world.Reader) {
	if inst.failed == nil {
		k.failTogether(inst, from)
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
		k.settleFailed(inst)
		return
	}
	f.missing--
	k.enteredFailed(inst)
}
