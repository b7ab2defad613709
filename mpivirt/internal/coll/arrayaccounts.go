package coll

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Statistics of collectives over arrays. In all of them each member needs all members: so the latest entry on which the end of a
// member's part rests is the latest of all. What remains is what processors work, in the accounts of package maxplus.

// beginAccounts sets the accounts of the participants of an array, whose clocks are set.
func (c *Collectives) beginAccounts(inst *instance, b *arrayRun) {
	accounts, latest := b.Accounts(), b.Latest()
	clear(accounts)
	if !inst.leaders {
		copy(latest, b.Clocks()) // the entries
		for i, entry := range latest {
			if entry < b.rest.latest {
				continue
			}
			lp, _ := c.partition.Local(inst.comm.RankOf(b.Low+i, 0))
			if rank := c.partition.Global(lp); entry > b.rest.latest || rank < b.rest.last {
				b.rest.add(c.restOf(inst, lp, b.Low+i, entry))
			}
		}
		return
	}
	for i := range accounts {
		p := b.Low + i
		r := &inst.join.rests[p-inst.comm.nodes.here]
		latest[i] = r.latest
		if size := inst.comm.nodes.size(p); size > 1 {
			work := inst.joiningOf(c, p, size).Combine
			accounts[i].Works, accounts[i].Combined = work, work
		}
		b.rest.add(*r)
	}
}

// workOf stores what an element has worked in all rounds in an account that rests on the entries of all.
func (b *arrayRun) workOf(i int, a *account) {
	of := &b.Accounts()[i]
	a.works, a.shared, a.within, a.phases = of.Works, of.Shared, of.Within, of.Phases()
}

// endAccounts notes why the parts of all members, which leave, have taken their time.
func (c *Collectives) endAccounts(inst *instance, b *arrayRun) {
	if inst.summed && inst.nonblocking == nil && inst.comm.Index == world.World && c.sums.Each() == c.Messages.Blames() {
		for lp := int32(0); inst.heard > 0; lp++ {
			if c.callers.Closes(lp) {
				inst.heard--
			}
		}
		c.sums.LeaveApart(c.Messages.Waiters(0, int32(c.partition.Ranks)), c.partition.Clock, b.Clocks(), b.Accounts())
		return
	}
	a := account{rest: b.rest}
	for i, t := range b.Clocks() {
		lp, _ := c.partition.Local(inst.comm.RankOf(b.Low+i, 0))
		b.workOf(i, &a)
		c.noteLeaving(inst, lp, b.Low+i, &a, t)
	}
}

// restNode has the rest of a node include the entries of consecutive LPs of the node from lp on, of which the latest is given.
func (c *Collectives) restNode(inst *instance, p int, lp int32, latest vtime.Time) {
	for c.partition.Clock[lp] != latest {
		lp++
	}
	inst.join.rests[p-inst.comm.nodes.here].add(c.restOf(inst, lp, c.partition.First+int(lp), latest))
}
