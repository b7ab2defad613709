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

// unsaid is the LP in whose call an operator is applied before anything has said so since the engine's latest event.
const unsaid = -7

// inCall returns an operator that reports the LP in whose call it is said to be applied unless that LP has begun a call: of an
// intercommunicator it is the LP itself. Vectors of other engines may be combined before any here, in no call.
func (p *scriptPlayer) inCall(lp int32, inter bool, o world.Operator) world.Operator {
	apply := o.Apply
	o.Apply = func(into, left, right []byte) {
		switch at := p.k.Combining; {
		case at == world.None && !inter:
		case at < 0 || int(at) >= len(p.ranks) || inter && at != lp:
			p.Errorf("%+v: an operator is applied in a call of LP %d, in that of LP %d", p.v, at, lp)
		case !p.ranks[at].waits && p.k.partition.Running != at && len(p.ranks[at].pending) == 0:
			p.Errorf("%+v: an operator is applied in a call of LP %d, which is in none", p.v, at)
		}
		apply(into, left, right)
	}
	return o
}

// causes says why the time of a rank's call has passed, as statistics do.
func (p *scriptPlayer) causes(lp int32, r *scripted) (text string) {
	end := p.k.partition.Clock[lp]
	if !p.v.script.causes || r.procedure == world.NoProcedure || end == r.entered {
		return ""
	}
	var all stats.Causes
	why, phases := p.endingOf(lp, r)
	why.Split(r.entered, end, &all)
	if p.v.wanted == Message && why.Known && why.Ready > r.entered && p.k.Messages.Processors == nil && r.comm.Size > 1 { // it waits for the chain
		p.chains = append(p.chains, chained{r.calls[r.next-1], why.Ready, why.Chain})
		if c := why.Chain; p.v.script.chains {
			text += fmt.Sprintf(", from %d at %v: works %v, shared %v, within %v", c.Rank, c.At, c.Works, c.Shared, c.Within)
		}
	}
	sum := vtime.Duration(0)
	for _, d := range all {
		sum += d
	}
	if sum != end.Sub(r.entered) {
		p.Errorf("%+v: of %v, in which rank %d is in %q, the causes %v explain %v", p.v, end.Sub(r.entered), p.k.partition.Global(lp), r.calls[r.next-1], all, sum)
	}
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

// endingOf returns the ending of a rank's call, and what its processor has done in it.
func (p *scriptPlayer) endingOf(lp int32, r *scripted) (why stats.Ending, phases stats.Phases) {
	if r.collective {
		ending, of := p.k.EndingOf(lp)
		why, phases = *ending, *of
		why.Ready = p.k.partition.Clock[lp]
	} else {
		p.k.Messages.EndingOf(lp, p.k.Messages.EndedBy(lp, r.procedure), &why)
	}
	return why, phases
}

// chained is the end of a call by a chain of messages.
type chained struct {
	call  string
	ready vtime.Time
	chain stats.Chain
}

// interval is the time of a call.
type interval struct{ from, to vtime.Time }

// checkChains reports chains that do not leave the program of a rank in one of its calls, before the end.
func checkChains(t reporter, players []*scriptPlayer, ranks int) {
	inCalls := make([][]interval, ranks)
	for _, p := range players {
		for lp := range p.ranks {
			inCalls[p.k.partition.First+lp] = p.ranks[lp].inCalls
		}
	}
	for _, p := range players {
		for _, e := range p.chains {
			c := e.chain
			in := func(i interval) bool { return i.from <= c.At && c.At <= i.to }
			if int(c.Rank) < 0 || int(c.Rank) >= ranks || !slices.ContainsFunc(inCalls[c.Rank], in) || c.At > e.ready {
				t.Errorf("%+v: %s ends at %v by the chain %+v", p.v, e.call, e.ready, c)
			}
		}
	}
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

// checkReleased reports bytes of messages that are still counted after a run without a failure.
func (p *scriptPlayer) checkReleased() {
	k := p.k
	if p.v.script.differ || k.partition.Fails() || k.partition.ErrorsReturn || k.partition.Failing.Own.Load() != nil {
		return
	}
	if bytes := k.partition.Engine.Buffered(); bytes != 0 {
		p.Errorf("%+v counts %d bytes of messages", p.v, bytes)
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
