package coll

import (
	"gigarank/mpivirt/internal/maxplus"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// Statistics of collectives over arrays. In all of them each member needs all members: so the latest entry on which the end of a
// member's part rests is the latest of all. What remains is what processors work, in the accounts of package maxplus.

// beginAccounts sets the accounts of the participants of an array, whose clocks are set.
func (c *Collectives) beginAccounts(inst *instance, b *arrayRun) {
	accounts := b.Accounts()
	for i := range accounts {
		p := b.Low + i
		if inst.leaders {
			r, work := &inst.join.rests[p-inst.comm.nodes.here], vtime.Duration(0)
			if size := inst.comm.nodes.size(p); size > 1 {
				work = inst.joiningOf(c, p, size).Combine
			}
			accounts[i] = maxplus.Account{Latest: r.latest, Works: work, Combined: work}
			b.rest.add(*r)
			continue
		}
		lp, _ := c.partition.Local(inst.comm.RankOf(p, 0))
		entry := inst.entryOf(c, lp, p)
		accounts[i] = maxplus.Account{Latest: entry}
		if rank := c.partition.Global(lp); entry > b.rest.latest || entry == b.rest.latest && rank < b.rest.last {
			b.rest.add(c.restOf(inst, lp, p, entry))
		}
	}
}

// accountOf returns the account of an element after all rounds.
func (b *arrayRun) accountOf(i int) account {
	of := &b.Accounts()[i]
	a := account{rest: b.rest, works: of.Works, shared: of.Shared, within: of.Within}
	a.phases[stats.DataSending], a.phases[stats.DataReceiving], a.phases[stats.SequentialComputation] = of.Sent, of.Received, of.Combined
	return a
}

// endAccounts notes why the parts of all members, which leave, have taken their time.
func (c *Collectives) endAccounts(inst *instance, b *arrayRun) {
	if inst.summed && inst.nonblocking == nil {
		accounts := b.Accounts()
		for i, t := range b.Clocks() {
			lp, _ := c.partition.Local(inst.comm.RankOf(b.Low+i, 0))
			of := &accounts[i]
			phases := stats.Phases{stats.DataSending: of.Sent, stats.DataReceiving: of.Received, stats.SequentialComputation: of.Combined}
			c.sumCall(inst, lp, c.partition.Clock[lp], t, stats.Parts{Works: of.Works, Shared: of.Shared, Within: of.Within}, &phases)
		}
		return
	}
	for i, t := range b.Clocks() {
		lp, _ := c.partition.Local(inst.comm.RankOf(b.Low+i, 0))
		a := b.accountOf(i)
		c.noteLeaving(inst, lp, b.Low+i, &a, t)
	}
}

// restNode has the rest of a node include the entries of consecutive LPs of the node.
func (c *Collectives) restNode(inst *instance, p int, lp, end int32) {
	at, latest := 0, vtime.Time(0)
	for i, t := range c.partition.Clock[lp:end] {
		if t > latest {
			at, latest = i, t
		}
	}
	last := lp + int32(at)
	inst.join.rests[p-inst.comm.nodes.here].add(c.restOf(inst, last, c.partition.First+int(last), latest))
}
