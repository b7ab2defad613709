package p2p

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Polls whose outcome is known ahead. A poll at some instant waits for a timed event of that instant, since a message may still
// come by then. It need not wait where no message that may come changes its outcome: then a rank polls on at once, and a
// run of failing polls takes the host one event.

// foresees reports whether the outcome of an LP's test or nonblocking probe at an instant is known.
func (m *Messages) foresees(lp int32, box *Mailbox, at vtime.Time) bool {
	if m.Processors != nil || m.InCalls || box.wildcards > 0 {
		return false
	}
	w := &box.Wait
	switch w.Kind {
	case TestProbe:
		if w.Peer != world.AnySource && m.probed(box, vtime.Forever) != 0 {
			return true // later messages of that rank arrive later
		}
	case TestCancel:
		return false
	default:
		switch complete, messages := m.completeOf(w.Requests); {
		case complete && len(w.Requests) > 0:
			return true
		case !messages:
			return false
		}
	}
	return m.resumed == lp && m.allKnown(at)
}

// completeOf reports whether all requests of a list are complete, and whether all are requests of messages.
func (m *Messages) completeOf(requests []int32) (complete, messages bool) {
	complete, messages = true, len(requests) > 0
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		r := m.Requests.At(ri)
		complete = complete && r.Complete
		messages = messages && (r.Kind == ReceiveRequest || r.Kind == SendRequest)
	}
	return complete, messages
}

// allKnown reports whether all messages that reach the LPs of this engine at or before an instant have come, though events
// before this instant are pending. LPs act at the instants of pending events or later, and no action has an effect on
// another LP before the lookahead is over.
func (m *Messages) allKnown(at vtime.Time) bool {
	e := m.Partition.Engine
	next := e.NextAction()
	return at < e.EIT() && at < next.Add(m.nearest) && e.Idle()
}

// Resuming notes that a timed event of an LP resumes it. While it runs, no other LP does.
func (m *Messages) Resuming(lp int32) { m.resumed = lp }
