package ptp

import "gigarank/vtime"

// The order in which a processor begins operations and takes in messages.

// beginning is something that a processor can begin at an instant.
type beginning struct {
	at, released vtime.Time
	source       int32  // rank; own or ofAgents for an operation
	number       uint32 // of an agent's operation: the call; of a message: the order of coming
	choice       int    // position of the operation in active, matchChoice or messageChoice
}

const (
	matchChoice   = -1 // the match of a send that waits for it
	messageChoice = -2
)

// These stand for the source of an operation: the rank's program has one at most, the agents of
// its collectives others. When an agent asks depends on when records of other engines come. So
// the order of asking decides nothing: agents have that of the rank's calls. One agent asks for a
// send and a receive at most, for the send first.
const (
	own      = -2
	ofAgents = -1
)

// before is the order in which a processor begins things.
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

// first returns what the processor can begin first, as far as is known. Matches take no time
// and go before all else.
func (k *Messages) first(lp int32, p *processor) beginning {
	best, poll := beginning{at: vtime.Forever}, p.Poll(k, lp)
	if len(p.matches) > 0 {
		best = beginning{at: p.matches[0].At, released: unknown, choice: matchChoice}
	}
	if len(p.arrivals) > 0 {
		m := &p.arrivals[0]
		b := beginning{p.State.CanReceive(m.At), m.Released, m.Source, m.number, messageChoice}
		if k.betweenPolls(poll, &b); b.before(&best) {
			best = b
		}
	}
	for i := range p.active {
		op := &p.active[i]
		b := beginning{released: op.Released, source: own, choice: i}
		if op.Kind >= OpRound {
			b.source, b.number = ofAgents, op.Call
		}
		k.canBegin(lp, p, op, poll, &b)
		if b.at < vtime.Forever && b.before(&best) {
			best = b
		}
	}
	return best
}

// canBegin sets the instant from which an operation can begin, Forever if that is unknown.
func (k *Messages) canBegin(lp int32, p *processor, op, poll *Operation, b *beginning) {
	switch op.Kind {
	case opCompute:
		b.at = max(op.Earliest, p.State.CPU)
	case opSend:
		b.at = p.State.CanSend(op.Earliest)
	case OpCombine:
		b.at = max(op.Earliest, p.State.CPU)
		k.betweenPolls(poll, b)
	case OpRound:
		b.at = p.State.CanSend(op.Earliest)
		k.betweenPolls(poll, b)
	case opWait:
		k.canEnd(lp, p, op, b)
	default:
		b.at = op.Earliest
	}
}

// canEnd is canBegin for a wait. A test or nonblocking probe can end at any time. In a long
// loop of them only the successful one ends.
func (k *Messages) canEnd(lp int32, p *processor, op *Operation, b *beginning) {
	box := k.Box(lp)
	if box.Wait.Kind >= TestAll {
		b.at = max(op.Earliest, p.State.CPU)
		if k.absorbed(lp, op) {
			success := k.successTime(lp, box)
			if success == vtime.Forever {
				k.waitsInLoop(lp)
				b.at = success
				return
			}
			b.at, b.released = k.PollFrom(op, max(success, p.State.CPU))
		}
		return
	}
	end := k.waitEnd(lp, box)
	switch {
	case end == vtime.Forever:
		b.at = end
	case op.direct: // before anything else that begins then
		b.at, b.released = max(op.Released, end), unknown
	default:
		b.at, b.released = max(op.Earliest, end, p.State.CPU), max(op.Released, end)
	}
}

// waitEnd returns the instant from which a wait is over, Forever if it is unknown.
func (k *Messages) waitEnd(lp int32, box *Mailbox) vtime.Time {
	w := &box.Wait
	switch w.Kind {
	case WaitOne:
		if r := k.Requests.At(w.Subject); r.Complete {
			return r.Time
		}
	case WaitAll:
		if w.pending == 0 {
			return k.latest(0, w.Requests)
		}
	case WaitProbe:
		if index := k.probed(box, vtime.Forever); index != 0 {
			return k.messages.At(index).arrival
		}
	default:
		return k.soonest(lp, w)
	}
	return vtime.Forever
}
