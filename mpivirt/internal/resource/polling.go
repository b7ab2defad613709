package resource

import "gigarank/vtime"

// A processor skips the polls that fail in a rank's long loop of polls.

// PollFrom returns the start of the first poll of a loop at or after t, and the instant of its
// release, which is the previous poll. op is the next poll.
func (x *Processors) PollFrom(op *Operation, t vtime.Time) (at, released vtime.Time) {
	if t <= op.Earliest {
		return op.Earliest, op.Released
	}
	period := vtime.Time(x.pollTime)
	at = op.Earliest + (t-op.Earliest+period-1)/period*period
	return at, at - period
}

// betweenPolls delays a beginning to the end of a poll of a loop, which keeps the CPU busy. op is
// the next poll, nil outside a loop.
func (x *Processors) betweenPolls(op *Operation, b *beginning) {
	if op == nil || b.at == vtime.Forever {
		return
	}
	at, released := x.PollFrom(op, b.at)
	next := beginning{released: released, source: own}
	if b.at = 0; !b.before(&next) {
		at += vtime.Time(x.pollTime)
	}
	b.at = at
}

// poll returns the program's next operation if it is a poll of a long loop, else nil.
func (x *Processors) poll(lp int32, p *Processor) *Operation {
	if !p.running {
		return nil
	}
	for i := range p.active {
		if op := &p.active[i]; op.Need == End && x.program.InLoop(lp, op.Earliest) {
			return op
		}
	}
	return nil
}

// NextPoll returns the instant of the next poll of an LP's long loop, and whether the LP is in one.
func (x *Processors) NextPoll(lp int32) (at vtime.Time, inLoop bool) {
	if op := x.poll(lp, &x.all[lp]); op != nil {
		return op.Earliest, true
	}
	return 0, false
}

// FreeFrom returns the instant from which on the CPU of an LP is free, as far as is known at t.
func (x *Processors) FreeFrom(lp int32, t vtime.Time) vtime.Time {
	p := &x.all[lp]
	free := p.State.CPU
	if op := x.poll(lp, p); op != nil && t > op.Earliest {
		at, _ := x.PollFrom(op, t)
		free = max(free, at)
	}
	return free
}

// resumePolling moves the next poll of a loop behind a use that began at an instant between two
// polls.
func (x *Processors) resumePolling(lp int32, p *Processor, at vtime.Time) {
	if op := x.poll(lp, p); op != nil && p.State.CPU > op.Earliest {
		x.program.Skipped(op.Earliest, p.State.CPU)
		op.Earliest, op.Released = p.State.CPU, max(op.Released, at.Add(-x.pollTime))
	}
}
