package resource

import "gigarank/vtime"

// The order in which a processor begins operations and takes in messages.

// beginning is an operation, match or message that a processor can begin at an instant.
type beginning struct {
	at, released vtime.Time
	source       int32  // rank; own or ofAgents for an operation
	number       uint32 // of an agent's operation: the call; of a message: its place in the order of arrival at the host
	choice       int    // position of the operation in active, matchChoice or messageChoice
}

const (
	matchChoice   = -1 // the match of a send whose sender waits
	messageChoice = -2
)

// Sources of operations: the rank's program has one operation at a time, the agents of its
// collectives have others. The host's order in which agents ask depends on records of other
// engines. So this order decides nothing: agents are ordered by the rank's calls. One agent asks
// for a send and a receive at most, for the send first.
const (
	own      = -2
	ofAgents = -1
)

// before is the order in which a processor begins operations, matches and messages.
func (a *beginning) before(b *beginning) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.released != b.released:
		return a.released < b.released
	case a.source != b.source:
		return a.source < b.source
	}
	return a.number < b.number
}

// unknown is a release before all other releases.
const unknown vtime.Time = -1

// first returns the first beginning of the processor, as far as is known. Matches take no time and
// precede everything else.
func (x *Processors) first(lp int32, p *Processor) beginning {
	best, poll := beginning{at: vtime.Forever}, x.poll(lp, p)
	if len(p.matches) > 0 {
		best = beginning{at: p.matches[0].At, released: unknown, choice: matchChoice}
	}
	if len(p.arrivals) > 0 {
		m := &p.arrivals[0]
		b := beginning{p.State.CanReceive(m.At), m.Released, m.Source, m.number, messageChoice}
		if x.betweenPolls(poll, &b); b.before(&best) {
			best = b
		}
	}
	for i := range p.active {
		op := &p.active[i]
		b := beginning{released: op.Released, source: own, choice: i}
		if op.Owner == OfAgents {
			b.source, b.number = ofAgents, op.Call
		}
		x.canBegin(lp, p, op, poll, &b)
		if b.at < vtime.Forever && b.before(&best) {
			best = b
		}
	}
	return best
}

// canBegin sets the instant from which on an operation can begin, Forever if it is unknown.
func (x *Processors) canBegin(lp int32, p *Processor, op, poll *Operation, b *beginning) {
	switch op.Need {
	case CPU:
		b.at = max(op.Earliest, p.State.CPU)
		x.betweenPolls(poll, b)
	case Interface:
		b.at = p.State.CanSend(op.Earliest)
		x.betweenPolls(poll, b)
	case End:
		b.at, b.released = x.program.Ends(lp, p, op)
	default:
		b.at = op.Earliest
	}
}
