package coll

import (
	"slices"

	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// failure ends a collective for all members, because they have called different things
// and each call waits for all members. No member has left then, and each call ends
// with the error: at the instant of the last entry and twice the greatest latency from
// the first member, as if all had told it what they call and it had told all. The
// engines tell one another that it fails, and when all their members have entered they tell
// the first of those and the last entry. The error of a member is about the first of all,
// in the order of (virtual time, rank), that calls something else.
type failure struct {
	first   []entrant      // by signature, of the engines whose members have entered: enough to find the first that differs from any
	latest  vtime.Time     // entry, of those that are known
	span    vtime.Duration // the greatest thereAndBack of the engines that are known
	missing int            // engines of which some members have not entered, as far as is known
	told    bool           // the other engines know that all members here have entered
	ended   bool
	hold    hold // keeps EIT from going past members that are to leave
}

// failTogether ends a collective for all members, who have called different things.
func (k *Collectives) failTogether(inst *instance) {
	c := inst.comm
	if inst.exited > 0 {
		invariant.Broken("%v number %d of %s fails as a whole, though %d members have left", inst.Call.Procedure, inst.Number, c, inst.exited)
	}
	f := &failure{missing: len(k.others(c)), span: k.thereAndBack(c)}
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
	if inst.Count < c.Locals {
		k.sendFailed(inst, nil)
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
	if inst.Count < inst.comm.Locals {
		return
	}
	if !f.told {
		f.told = true
		first := k.entrances(inst, 0)
		for i := range first {
			f.first = append(f.first, first[i].entrant)
		}
		k.sendFailed(inst, first)
	}
	if f.missing == 0 {
		k.queue(inst)
	}
}

// endFailed lets the members of an instance that has failed leave, if it is time. The
// task that calls it may have been queued before the instance failed.
func (k *Collectives) endFailed(inst *instance) {
	f, c := inst.failed, inst.comm
	if f.ended || f.missing > 0 || inst.Count < c.Locals {
		return
	}
	f.ended = true
	slices.SortFunc(f.first, entrant.compare)
	k.endHold(&f.hold)
	t := f.latest.Add(f.span)
	for member := c.First; member < c.Last; member++ {
		if lp, here := k.Local(c.RankOf(member, 0)); here {
			inst.blame(member, inst.contradictionOf(member))
			k.exit(inst, lp, member, t)
		}
	}
	k.flushRange(inst)
}

// contradictionOf returns the error of a member in an instance that has failed.
func (inst *instance) contradictionOf(member int) error {
	own := inst.signatureOf(member)
	other := slices.IndexFunc(inst.failed.first, func(e entrant) bool { return e.signature != own })
	theirs := inst.failed.first[other]
	return inst.comm.mismatch(inst.Number, own, theirs.signature, theirs.rank)
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

// forsake drops an LP's agent in an instance that has failed, and the messages for it.
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
		if m.comm == inst.comm.Index && m.number == inst.Number {
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

// sendFailed tells the other engines that an instance fails; if all members of this engine
// have entered, also who of them did first, and when the last one did.
func (k *Collectives) sendFailed(inst *instance, first []entrance) {
	f := inst.failed
	for _, engine := range k.others(inst.comm) {
		w := k.collectiveRecord(inst, engine, world.RecordFailed, 2*8+len(first)*entrantBytes)
		w.U64(uint64(f.latest))
		w.U64(uint64(f.span))
		for _, e := range first {
			writeEntrant(&w, e.entrant)
		}
	}
}

// receiveFailed takes in a record of sendFailed.
func (k *Collectives) receiveFailed(inst *instance, r world.Reader) {
	if inst.failed == nil {
		k.failTogether(inst)
	}
	latest, span := vtime.Time(r.U64()), vtime.Duration(r.U64())
	if len(r.Rest) == 0 {
		return
	}
	f := inst.failed
	for len(r.Rest) > 0 {
		f.first = append(f.first, readEntrant(&r))
	}
	f.missing--
	f.latest, f.span = max(f.latest, latest), max(f.span, span)
	k.enteredFailed(inst)
}
