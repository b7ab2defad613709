package coll

import (
	"fmt"
	"slices"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// RunRange makes a player an [engine.RangeRunner]. As event ranks do, ranks that find a barrier open join it together.
func (p *scriptPlayer) RunRange(lo, hi int32) {
	k := p.k
	if p.v.ranges {
		k.CollectJoiners(lo)
	}
	for lp := lo; lp < hi; lp++ {
		p.Resume(lp)
		if p.v.ranges && lp == lo && k.Joiners.Hi < 0 { // it may have opened a barrier
			k.CollectJoiners(lp + 1)
		}
	}
	k.EnterJoiners()
}

// joins has a rank join the barrier that is open, if it is the next of its range.
func (p *scriptPlayer) joins(lp int32, c *Communicator) bool {
	k := p.k
	if c.Index != world.World || lp != k.Joiners.Hi || k.Timing != k.Joiners.Timed {
		return false
	}
	k.Joiners.Hi++
	k.Timing = world.Untimed
	return true
}

// inRows returns an operator that combines many vectors at once where it is asked to.
func (p *scriptPlayer) inRows(o world.Operator) world.Operator {
	apply := o.Apply
	o.Apply = func(into, left, right []byte) {
		n := p.k.Row
		if n == 0 || left != nil {
			apply(into, left, right)
			return
		}
		size := len(into) / n
		for at := size; at < len(into); at += size {
			apply(into[at:at+size], into[at-size:at], into[at:at+size])
		}
	}
	return o
}

// causes says why the time of a rank's call has passed, as statistics do.
func (p *scriptPlayer) causes(lp int32, r *scripted) (text string) {
	end := p.k.partition.Clock[lp]
	if !p.v.script.causes || r.procedure == world.NoProcedure || end == r.entered {
		return ""
	}
	var why stats.Ending
	var all stats.Causes
	var phases stats.Phases
	if r.collective {
		ending, of := p.k.EndingOf(lp)
		phases = *of
		why = *ending
		why.Ready = end
	} else {
		p.k.Messages.EndingOf(lp, p.k.Messages.EndedBy(lp, r.procedure), &why)
	}
	why.Split(r.entered, end, &all)
	for cause, d := range all {
		if d > 0 {
			text += fmt.Sprintf(", %v %v", stats.Cause(cause), d)
		}
	}
	for phase, d := range phases {
		if p.v.script.phases && d > 0 {
			text += fmt.Sprintf(", %v %v", stats.Phase(phase), d)
		}
	}
	return text
}

// checkFreed reports communicators that all members of this engine have freed, and that are still there after a run.
func (p *scriptPlayer) checkFreed() {
	freed := map[*Communicator]int{}
	for i := range p.ranks {
		for _, c := range p.ranks[i].freed {
			freed[c]++
		}
	}
	for c, n := range freed {
		if n == c.Locals && p.k.Messages.Requests.InUse() <= 2 && slices.Contains(p.k.Communicators.All()[1:], c) {
			p.Errorf("%+v keeps communicator %x, which all members have freed", p.v, c.Context)
		}
	}
}

// activities says what the parts of all messages have taken.
func activities(players []*scriptPlayer, ranks int) (text string) {
	summary := &world.Summary{}
	for _, p := range players {
		summary.Merge(&p.k.partition.Summary)
	}
	for _, a := range summary.Activities.Times(ranks) {
		if a.Count > 0 {
			text += fmt.Sprintf("%v: %d, %v to %v, %v a rank\n", a.Activity, a.Count, a.Min, a.Max, a.PerRank)
		}
	}
	return text
}

// repeatedFor returns the collective that is all that ranks call, nil for none.
func (o *scriptOptions) repeatedFor(data bool) *Repeated {
	if !o.repeats {
		return nil
	}
	return &Repeated{Operation: o.repeated, Bytes: o.bytes, Element: 8, Data: data && o.repeated != collectives.Barrier}
}

// timed notes how long a rank has been in a call that the tally counts, too.
func (p *scriptPlayer) timed(lp int32, r *scripted) {
	if r.label == world.Untimed {
		return
	}
	p.times[r.label] = append(p.times[r.label], p.k.partition.Clock[lp].Sub(r.entered))
	r.label = world.Untimed
}

// checkTimes compares what the tally has counted with the times of the ranks' calls.
func (p *scriptPlayer) checkTimes() {
	tally := &p.k.partition.Summary.Tally
	tally.Settle()
	for i, got := range tally.Iterations() {
		times := p.times[p.k.partition.Label(got.Index, got.Operation)]
		sum := vtime.Duration(0)
		for _, d := range times {
			sum += d
		}
		if n := len(times); int(got.Count) != n || n > 0 && (got.Min != slices.Min(times) || got.Max != slices.Max(times) || got.Mean != sum/vtime.Duration(n)) {
			p.Errorf("%+v: iteration %d is counted as %+v, its calls take %v", p.v, i, got, times)
		}
	}
}
