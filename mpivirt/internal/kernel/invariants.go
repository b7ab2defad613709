package kernel

import (
	"math/bits"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/vtime"
)

// The checks of a build with the tag invariants; see package invariant.

// checkClocks holds the clocks of LPs lo to hi-1 against what they were: no rank
// goes back in time.
func (k *Kernel) checkClocks(lo, hi int32) {
	if k.seen == nil {
		k.seen = make([]vtime.Time, k.n)
	}
	for lp := lo; lp < hi; lp++ {
		if k.Clock[lp] < k.seen[lp] {
			invariant.Broken("the clock of rank %d goes back from %v to %v", k.Global(lp), k.seen[lp], k.Clock[lp])
		}
		k.seen[lp] = k.Clock[lp]
	}
}

// checkMailbox holds what an LP's mailbox counts against what is in it, and looks
// for receives that have been left waiting though their message is certain.
func (k *Kernel) checkMailbox(lp int32) {
	box := k.mailbox(lp)
	if box == nil {
		return
	}
	wildcards, last := int32(0), int32(0)
	for index := box.posted.head; index != 0; index = k.requests.at(index).next {
		r := k.requests.at(index)
		if r.kind != receiveRequest || r.complete || r.lp != lp {
			invariant.Broken("rank %d has posted request %d, which is %+v", k.Global(lp), index, *r)
		}
		if r.peer == AnySource {
			wildcards++
		} else if _, message := k.certain(box, index, none); message != 0 {
			invariant.Broken("rank %d waits with request %d, which is %+v, for message %+v, which is there",
				k.Global(lp), index, *r, *k.messages.at(message))
		}
		last = index
	}
	if wildcards != box.wildcards || last != box.posted.tail {
		invariant.Broken("rank %d has posted %d receives from any source and counts %d; the last receive is %d, its list ends with %d",
			k.Global(lp), wildcards, box.wildcards, last, box.posted.tail)
	}
	k.checkChain(lp, &box.unexpected)
	k.checkPending(lp, box)
}

// checkChain looks whether a list of messages ends where it says.
func (k *Kernel) checkChain(lp int32, c *chain) {
	last := int32(0)
	for index := c.head; index != 0; index = k.messages.at(index).next {
		last = index
	}
	if last != c.tail {
		invariant.Broken("a list of messages of rank %d says that it ends with %d; the last one is %d", k.Global(lp), c.tail, last)
	}
}

// checkRoundQueue holds what an LP counts of round messages that came early against the
// list of them, and looks whether its agents are its own.
func (k *Kernel) checkRoundQueue(lp int32) {
	q := k.roundQueue(lp)
	if q == nil {
		return
	}
	last, listed := int32(0), int32(0)
	for index := q.early.head; index != 0; index = k.rounds.at(index).next {
		last = index
		listed++
	}
	if last != q.early.tail || listed > q.ahead {
		invariant.Broken("rank %d counts %d early round messages, the last in its list is %d; there are %d, the last is %d",
			k.Global(lp), q.ahead, q.early.tail, listed, last)
	}
	for index := q.agents; index != 0; index = k.agents.at(index).next {
		if a := k.agents.at(index); a.lp != lp || a.ended {
			invariant.Broken("rank %d has agent %d, which is of LP %d and has ended: %t", k.Global(lp), index, a.lp, a.ended)
		}
	}
}

// checkPending holds the number of requests that a Waitall still waits for against
// the requests.
func (k *Kernel) checkPending(lp int32, box *mailbox) {
	w := &box.wait
	if w.kind != waitAll {
		return
	}
	pending := int32(0)
	for _, index := range w.requests {
		if index != 0 && !k.requests.at(index).complete {
			pending++
		}
	}
	if pending != w.pending {
		invariant.Broken("rank %d waits in %s for %d requests; %d are not complete", k.Global(lp), w.call, w.pending, pending)
	}
}

// checkCounts holds the counts of an instance's members against each other.
func (inst *instance) checkCounts() {
	entered := 0
	for _, word := range inst.entered {
		entered += bits.OnesCount64(word)
	}
	if entered != inst.count || inst.gone > inst.count || inst.count > inst.comm.locals {
		invariant.Broken("%v number %d of %s: of %d members here, %d have entered, %d are counted, %d have left",
			inst.call.Procedure, inst.number, inst.comm, inst.comm.locals, entered, inst.count, inst.gone)
	}
}

// checkCover looks whether each participant of an instance that is carried out over
// arrays lies in the array of one engine.
func (k *Kernel) checkCover(inst *instance) {
	next := 0
	for engine := range k.eng.Engines() {
		lo, hi := k.participants(inst, engine)
		if lo != next || hi < lo {
			invariant.Broken("%v of %s: engine %d has participants %d to %d, the one before it ends at %d",
				inst.call.Procedure, inst.comm, engine, lo, hi-1, next-1)
		}
		next = hi
	}
	if next != inst.schedule.Members() {
		invariant.Broken("%v of %s: the engines have %d participants of %d", inst.call.Procedure, inst.comm, next, inst.schedule.Members())
	}
}

// checkRuns looks whether a round visits each of the receivers lo to hi-1 once at
// most and, where all receive, each of them.
func checkRuns(p collectives.Pattern, total, lo, hi int) {
	visits := make([]uint8, hi-lo)
	runs(p, total, lo, hi, func(dst, _, n, stride int) {
		for i := range n {
			visits[dst+i*stride-lo]++
		}
	})
	for i, n := range visits {
		if n > 1 || n == 0 && p.Kind != collectives.Strided && p.Distance != 0 {
			invariant.Broken("round %+v of %d: receiver %d is visited %d times", p, total, lo+i, n)
		}
	}
}

// checkRound holds the clocks after a round against those before it.
func (b *arrayRun) checkRound(before []vtime.Time) {
	for i, t := range before {
		if b.work[i] < t {
			invariant.Broken("round %d: the clock of participant %d of %d goes back from %v to %v",
				b.round, b.lo+i, b.total, t, b.work[i])
		}
	}
}
