package ptp

import "gigarank/vtime"

// A long loop of polls of a rank: its processor passes over those that fail.

// absorbed reports whether an operation is a poll of a long loop of them, all of which
// fail until something happens to the rank: see pollsAbsorbed.
func (k *Messages) absorbed(lp int32, op *Operation) bool {
	if op.Kind != opWait {
		return false
	}
	box := k.Box(lp)
	return box.Wait.Kind >= TestAll && box.polls >= pollsAbsorbed
}

// PollFrom returns when the first poll of a loop at or after t begins, and when it was
// released: at the poll before it. op is the next poll.
func (k *Messages) PollFrom(op *Operation, t vtime.Time) (at, released vtime.Time) {
	if t <= op.Ready {
		return op.Ready, op.Released
	}
	period := vtime.Time(k.pollTime)
	at = op.Ready + (t-op.Ready+period-1)/period*period
	return at, at - period
}

// betweenPolls puts off what is not the program's until the poll of a loop, if op is one,
// is over: it keeps the CPU busy.
func (k *Messages) betweenPolls(op *Operation, b *beginning) {
	if op == nil || b.at == vtime.Forever {
		return
	}
	at, released := k.PollFrom(op, b.at)
	next := beginning{released: released, source: own, number: op.number}
	if b.at = 0; !b.before(&next) {
		at += vtime.Time(k.pollTime)
	}
	b.at = at
}

// Poll returns the poll of a loop that is the program's next operation, nil if it is
// none.
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

// resumePolling has a loop of polls go on after something else that began at an instant
// between two of them.
func (k *Messages) resumePolling(lp int32, p *processor, at vtime.Time) {
	if op := p.Poll(k, lp); op != nil && p.State.CPU > op.Ready {
		op.Ready, op.Released = p.State.CPU, max(op.Released, at.Add(-k.pollTime))
	}
}
