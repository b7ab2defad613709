package coll

import (
	"fmt"

	"gigarank/engine"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// explains has the run keep why ranks wait. Where the outcome has no chains of messages, collectives need not go by messages.
func (p *scriptPlayer) explains() {
	o := &p.v.script
	if !o.causes && !o.sums {
		return
	}
	p.k.Messages.InFull()
	p.k.Explain(p.v.wanted != Message, true)
	if o.sums {
		of := &p.k.partition
		(*of).Summary.Calls.Open((*of).First, (*of).Ranks, (*of).Target.Ranks(), o.byRank)
	}
	if p.v.summed && p.k.Messages.Processors == nil && !p.k.Messages.InCalls { // as the kernel does
		p.k.SumsUp(p)
	} else {
		p.v.summed = false
	}
}

// Closes and Reopens make a player the kernel's state of calls that are under way.
func (p *scriptPlayer) Closes(lp int32) (open bool) {
	open, p.ranks[lp].open = p.ranks[lp].open, false
	return open
}

func (p *scriptPlayer) Reopens(lp int32, began vtime.Time, c world.Procedure, context uint64) {
	r := &p.ranks[lp]
	if r.open {
		return
	}
	if r.open = true; began != r.entered || c != r.procedure || context != r.comm.Context {
		p.Errorf("%+v: the call of rank %d is taken up as %v on %x, begun at %v; it is %v on %x, begun at %v", p.v, p.k.partition.Global(lp), c, context, began, r.procedure, r.comm.Context, r.entered)
	}
}

// opens notes a collective that a rank begins.
func (p *scriptPlayer) opens(lp int32, r *scripted, member int, v *Collective, nonblocking bool) {
	if !p.v.script.sums {
		return
	}
	r.handed = r.comm.Handed(member, v, v.Lengths())
	p.k.Handed = r.handed
	if r.open = !nonblocking; nonblocking { // the call is over at once
		p.k.partition.Summary.Calls.Note(lp, stats.CallKey{Procedure: uint8(v.Procedure), Context: r.comm.Context}, r.handed, &stats.Causes{})
	}
}

// counted counts a call of a rank that ends, unless its collective has done so.
func (p *scriptPlayer) counted(lp int32, r *scripted) {
	if !p.v.script.sums || r.procedure == world.NoProcedure || r.collective && !r.open {
		return
	}
	if p.v.summed && p.v.script.bulk && r.collective && (p.v.engines == 1 || p.v.protocol != engine.Null) {
		p.Errorf("%+v: the %v of rank %d is counted alone, and not with those of other ranks", p.v, r.procedure, p.k.partition.Global(lp))
	}
	calls, took := &p.k.partition.Summary.Calls, p.k.partition.Clock[lp].Sub(r.entered)
	var all stats.Causes
	var blames stats.Blames
	why, phases := p.endingOf(lp, r)
	if took > 0 {
		why.Split(r.entered, p.k.partition.Clock[lp], &all)
	}
	p.k.Messages.Waiter(lp).Blame(&why, r.entered, p.k.partition.Clock[lp], &blames)
	calls.Blame(&blames)
	if r.collective && took > 0 {
		if !why.Known {
			phases = stats.Phases{stats.SequentialComputation: took}
		}
		phases.Fill(took)
		calls.Phases().Note(&phases)
	}
	if !r.collective {
		r.handed = 0
	}
	calls.Note(lp, stats.CallKey{Procedure: uint8(r.procedure), Context: r.comm.Context}, r.handed, &all)
	r.open = false
}

// sums says what the calls of all ranks come to: by procedure, by rank if that is kept, by activity, and by the rank that others have
// waited for.
func sums(players []*scriptPlayer) (text string) {
	summary := &world.Summary{}
	for _, p := range players {
		summary.Merge(&p.k.partition.Summary)
	}
	calls := &summary.Calls
	calls.Settle(&summary.Activities)
	for _, c := range calls.Times(func(uint64) bool { return true }) {
		text += fmt.Sprintf("%v: %d calls, %d bytes", world.Procedure(c.Procedure), c.Count, c.Bytes)
		for cause, all := range c.Times {
			if d := all.Over(1); d > 0 {
				text += fmt.Sprintf(", %v %v", stats.Cause(cause), d)
			}
		}
		text += "\n"
	}
	for phase, of := range calls.Phases() {
		if of.Count > 0 {
			text += fmt.Sprintf("%v: %d, %v\n", stats.Phase(phase), of.Count, of.Time.Over(1))
		}
	}
	for rank, of := range calls.Tasks() {
		text += fmt.Sprintf("%d: %d calls, %d bytes", rank, of.Count, of.Bytes)
		for cause, d := range of.Times {
			if d > 0 {
				text += fmt.Sprintf(", %v %v", stats.Cause(cause), d)
			}
		}
		text += "\n"
	}
	for _, of := range calls.Blamed() {
		text += fmt.Sprintf("for %d", of.Rank)
		if held := of.Held.Over(1); held > 0 {
			text += fmt.Sprintf(", held %v", held)
		}
		for i := range of.Times {
			if d := of.Times[i].Over(1); d > 0 {
				text += fmt.Sprintf(", %v %v", stats.LateSender+stats.Cause(i), d)
			}
		}
		text += "\n"
	}
	return text
}
