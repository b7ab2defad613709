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

// FailingPolls returns the number of further polls of an LP that are known to fail before a message has come, which is known,
// if each is the same as the LP's latest poll.
func (m *Messages) FailingPolls(lp int32) int {
	box := m.Box(lp)
	if m.Processors != nil || m.InCalls || m.anew || m.Partition.Strict || m.Partition.Activities != nil || box.wildcards > 0 || box.polls >= m.longLoop {
		return 0
	}
	success, w := vtime.Time(0), &box.Wait
	switch {
	case w.Procedure == world.Iprobe && w.Peer != world.AnySource:
		if index := m.probed(box, vtime.Forever); index != 0 {
			success = m.messages.At(index).arrival
		}
	case w.Procedure == world.Test && len(w.Requests) == 1 && w.Requests[0] != 0:
		if r := m.Requests.At(w.Requests[0]); r.Complete {
			success = r.Time
		}
	}
	clock := m.Partition.Clock[lp]
	if success <= clock {
		return 0
	}
	return int(min((success-clock-1)/vtime.Time(m.pollTime)+1, vtime.Time(m.longLoop-box.polls)))
}

// PolledInVain has an LP make a number of polls that FailingPolls has foreseen.
func (m *Messages) PolledInVain(lp int32, polls int) {
	box := m.Box(lp)
	last := m.Partition.Clock[lp].Add(m.pollTime.Times(polls - 1))
	if box.Wait.Procedure == world.Iprobe {
		m.decides(lp, box.Wait.pattern(), last, inVain)
	}
	box.polls += int32(polls)
	m.Partition.Clock[lp] = last.Add(m.pollTime)
}
