package kernel

import "gigarank/vtime"

// A long loop of polls of a rank: its processor passes over those that fail.

// absorbed reports whether an operation is a poll of a long loop of them, all of which
// fail until something happens to the rank: see pollsAbsorbed.
func (k *Kernel) absorbed(lp int32, op *operation) bool {
	if op.kind != opWait {
		return false
	}
	box := k.box(lp)
	return box.wait.kind >= testAll && box.polls >= pollsAbsorbed
}

// pollFrom returns when the first poll of a loop at or after t begins, and when it was
// released: at the poll before it. op is the next poll.
func (k *Kernel) pollFrom(op *operation, t vtime.Time) (at, released vtime.Time) {
	if t <= op.ready {
		return op.ready, op.released
	}
	period := vtime.Time(k.pollTime)
	at = op.ready + (t-op.ready+period-1)/period*period
	return at, at - period
}

// betweenPolls puts off what is not the program's until the poll of a loop, if op is one,
// is over: it keeps the CPU busy.
func (k *Kernel) betweenPolls(op *operation, b *beginning) {
	if op == nil || b.at == vtime.Forever {
		return
	}
	at, released := k.pollFrom(op, b.at)
	next := beginning{released: released, source: own, number: op.number}
	if b.at = 0; !b.before(&next) {
		at += vtime.Time(k.pollTime)
	}
	b.at = at
}

// poll returns the poll of a loop that is the program's next operation, nil if it is
// none.
func (p *processor) poll(k *Kernel, lp int32) *operation {
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
func (k *Kernel) resumePolling(lp int32, p *processor, at vtime.Time) {
	if op := p.poll(k, lp); op != nil && p.state.CPU > op.ready {
		op.ready, op.released = p.state.CPU, max(op.released, at.Add(-k.pollTime))
	}
}
