package ptp

import "gigarank/vtime"

// A processor skips the polls that fail in a rank's long loop of polls.

// absorbed reports whether an operation is a poll in a long loop of polls. All of them fail
// until something happens to the rank; see loops.go.
func (k *Messages) absorbed(lp int32, op *Operation) bool {
	if op.Kind != opWait {
		return false
	}
	box := k.Box(lp)
	return box.Wait.Kind >= TestAll && k.long(box.polls, op.Earliest)
}

// PollFrom returns the start of the first poll of a loop at or after t, and the instant of
// its release, which is the poll before. op is the next poll.
func (k *Messages) PollFrom(op *Operation, t vtime.Time) (at, released vtime.Time) {
	if t <= op.Earliest {
		return op.Earliest, op.Released
	}
	period := vtime.Time(k.pollTime)
	at = op.Earliest + (t-op.Earliest+period-1)/period*period
	return at, at - period
}

// betweenPolls delays a beginning until the poll of a loop is over, which keeps the CPU busy.
// op is the next poll, nil outside a loop.
func (k *Messages) betweenPolls(op *Operation, b *beginning) {
	if op == nil || b.at == vtime.Forever {
		return
	}
	at, released := k.PollFrom(op, b.at)
	next := beginning{released: released, source: own}
	if b.at = 0; !b.before(&next) {
		at += vtime.Time(k.pollTime)
	}
	b.at = at
}

// Poll returns the program's next operation if it is a poll of a long loop, else nil.
func (p *processor) Poll(k *Messages, lp int32) *Operation {
	if !p.running {
		return nil
	}
	for i := range p.active {
		if k.absorbed(lp, &p.active[i]) {
			return &p.active[i]
		}
	}
	return nil
}

// resumePolling moves the next poll of a loop behind something else, which began at an
// instant between two polls.
func (k *Messages) resumePolling(lp int32, p *processor, at vtime.Time) {
	if op := p.Poll(k, lp); op != nil && p.State.CPU > op.Earliest {
		k.skipped(op.Earliest, p.State.CPU)
		op.Earliest, op.Released = p.State.CPU, max(op.Released, at.Add(-k.pollTime))
		k.counted = false
	}
}
