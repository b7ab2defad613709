package resource

import (
	"gigarank/network"
	"gigarank/vtime"
)

// Processors that have nothing to do but one collective of all ranks, which room coll may carry out in one go.

// Hold has the processor of an LP tell a listener of the first message or match that reaches it, until Free. It reports whether the
// processor has neither operations nor messages; else it holds nothing.
func (x *Processors) Hold(lp int32) bool {
	p := &x.all[lp]
	if p.running || len(p.active) > 0 || len(p.queue) > int(p.head) || len(p.arrivals) > 0 || len(p.matches) > 0 || x.turns.anew {
		return false
	}
	p.held = true
	x.holds++
	return true
}

// Free ends Hold.
func (x *Processors) Free(lp int32) {
	if p := &x.all[lp]; p.held {
		p.held = false
		x.holds--
	}
}

// Disturbed sets the function that is called when something reaches a held processor.
func (x *Processors) Disturbed(f func()) { x.disturbed = f }

// Defers declares that uses may be asked for later than they begin, by a length of time at most.
func (x *Processors) Defers(by vtime.Duration) { x.turns.deferred = max(x.turns.deferred, by) }

// Done is what a processor has done in one go: its state behind it, and when it began to send and to take in the latest messages.
type Done struct {
	State       network.Occupancy
	Sent, Taken vtime.Time
	Begun       vtime.Time // start of the latest use
}

// Done returns the processor's state and latest starts.
func (p *Processor) Done() Done { return Done{p.State, p.Sent, p.taken, p.begun} }

// Do has a processor do work in one go.
func (p *Processor) Do(d *Done) {
	p.State, p.Sent, p.taken, p.begun = d.State, d.Sent, d.Taken, max(p.begun, d.Begun)
}
