package p2p

import (
	"fmt"

	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// opensSums has a run add the calls of its ranks up. In a run that is summed the short forms of calls count themselves where they can, as in
// the kernel where the statistics alone observe the ranks.
func (p *player) opensSums(summed bool) {
	m := p.m
	of := &m.Partition
	m.InFull()
	m.Explain(true)
	of.Summary.Calls.Open(of.First, of.Ranks, of.Target.Ranks(), true)
	of.Summary.Calls.Matrix().Open(of.Target.Ranks())
	of.Summary.Calls.Course().Open()
	p.sums = true
	if p.summed = summed && m.Processors == nil && !m.InCalls; p.summed {
		m.SumsUp()
	}
}

// countsSend counts the message of a send that a rank begins. Of a send that is over at once the short form counts the call as well.
func (p *player) countsSend(lp int32, r *scripted, q *Operands) (short bool) {
	o := &q.Outgoing
	if !p.sums || o.Dest == world.ProcNull {
		return false
	}
	r.bytes, r.large = o.Bytes, o.Bytes > p.m.Partition.EagerLimit
	if short = p.summed && o.Mode == world.Standard && !r.large && (q.Procedure == world.Send || q.Procedure == world.Isend); !short {
		p.m.Partition.Summary.Sent.Note(o.Bytes)
		p.m.Partition.Summary.Calls.Matrix().Note(int(p.m.Partition.Global(lp)), o.Dest, o.Bytes)
	}
	return short
}

// counts counts a call of a rank that is over.
func (p *player) counts(lp int32, r *scripted, c world.Procedure) {
	if !p.sums || r.counted {
		return
	}
	m, calls := p.m, &p.m.Partition.Summary.Calls
	end := m.Partition.Clock[lp]
	took := end.Sub(r.entered)
	if c == world.NoProcedure {
		calls.Phases().NoteOne(stats.SequentialComputation, took)
		calls.Compute(lp, r.entered, took)
		return
	}
	var why stats.Ending
	var all stats.Causes
	var blames stats.Blames
	var phases stats.Phases
	ended := m.EndedBy(lp, c)
	m.EndingOf(lp, ended, &why)
	if took > 0 {
		why.Split(r.entered, end, &all)
	}
	m.Waiter(lp).Blame(&why, r.entered, end, &blames)
	calls.Blame(&blames)
	start := min(max(why.From.Sub(r.entered), 0), took)
	switch class := c.Class(); {
	case class == world.ClassReceive && min(ended.At, end) <= r.entered:
		phases[stats.DataReceiving] = took
	case class == world.ClassSend || class == world.ClassSendReceive:
		if !why.Known {
			start = took
		}
		phases[map[bool]stats.Phase{true: stats.RequestSending, false: stats.DataSending}[r.large]] = start
	}
	phases.Fill(took)
	calls.Phases().Note(&phases)
	bytes := r.bytes
	if class := c.Class(); c.Blocks() && (class == world.ClassReceive || class == world.ClassSendReceive) {
		bytes += m.StatusOf(m.CompletionOf(lp)).Bytes
	}
	calls.Note(lp, stats.CallKey{Procedure: uint8(c), Context: world.WorldContext}, bytes, &all)
	from, tail := end, vtime.Duration(0)
	if why.Known {
		from = min(max(why.From, r.entered), end)
	}
	lead := min(from.Sub(r.entered), all[stats.Processor])
	if why.Known {
		tail = min(max(end.Sub(max(why.Ready, from)), 0), all[stats.Processor]-lead)
	}
	calls.Course().Call(r.entered, &all, lead, tail)
}

// checkCourse reports causes whose times in the course of a run are not those of all calls, and returns the course.
func (x *outcome) checkCourse(t reporter, v variant, summary *world.Summary) (text string) {
	calls := &summary.Calls
	var of, all [stats.NumberOfCauses]vtime.Duration
	for _, c := range calls.Tasks() {
		for i, d := range c.Times {
			all[i] += d
		}
	}
	course := calls.Course().Times()
	for at, bin := range course.Bins {
		for i := range bin {
			if d := bin[i].Over(1); d > 0 {
				of[i] += d
				text += fmt.Sprintf("%v after %v: %v\n", stats.Cause(i), vtime.Duration(at)*course.Width, d)
			}
		}
	}
	if x.failure == "" && of != all {
		t.Errorf("%+v: the causes of the course are %v, those of all calls %v", v, of, all)
	}
	return text
}

// sums says what the calls of all ranks come to: by procedure, by rank, by activity, by the rank that others have waited for, and the
// messages between ranks.
func sums(summary *world.Summary) (text string) {
	calls := &summary.Calls
	calls.Settle(&summary.Activities)
	causes := func(all func(c stats.Cause) vtime.Duration) (text string) {
		for cause := range stats.Cause(stats.NumberOfCauses) {
			if d := all(cause); d > 0 {
				text += fmt.Sprintf(", %v %v", cause, d)
			}
		}
		return text + "\n"
	}
	for _, c := range calls.Times(func(uint64) bool { return true }) {
		text += fmt.Sprintf("%v: %d calls, %d bytes", world.Procedure(c.Procedure), c.Count, c.Bytes) + causes(func(i stats.Cause) vtime.Duration { return c.Times[i].Over(1) })
	}
	for phase, of := range calls.Phases() {
		if of.Count > 0 {
			text += fmt.Sprintf("%v: %d, %v\n", stats.Phase(phase), of.Count, of.Time.Over(1))
		}
	}
	for rank, of := range calls.Tasks() {
		text += fmt.Sprintf("%d: %d calls, %d bytes", rank, of.Count, of.Bytes) + causes(func(i stats.Cause) vtime.Duration { return of.Times[i] })
	}
	for _, of := range calls.Blamed() {
		text += fmt.Sprintf("for %d, %v", of.Rank, of.All().Over(1))
		if held := of.Held.Over(1); held > 0 {
			text += fmt.Sprintf(", held %v", held)
		}
		text += "\n"
	}
	return text + fmt.Sprintf("sizes %v, bytes between ranks %v\n", summary.Sent.Classes(), calls.Matrix().Rows())
}
