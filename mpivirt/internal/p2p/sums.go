package p2p

import (
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Where the statistics alone observe the ranks, calls in short forms tell them what an observer would hear: no description of the call is
// made. The times are those of the general way, in reasons.go and activities.go.

// SumsUp has sends and receives that are over at once tell the statistics, if messages explain waiting.
func (m *Messages) SumsUp() {
	m.summing, m.sendsAtOnce = true, m.shortSends() && !m.anew
}

// shortSends reports whether no model or option wants more of an eager send than SendAtOnce does, of one that shares no interface or
// memory.
func (m *Messages) shortSends() bool {
	return m.Processors == nil && !m.InCalls && !m.Partition.HasPorts && !m.Partition.Target.HasJitter()
}

// SumCompute carries out a phase of computing and tells the statistics of it. It returns false, with nothing changed, if noise may lengthen the phase, or
// its length is 0 or out of range.
func (m *Messages) SumCompute(lp int32, d vtime.Duration) bool {
	clock := &m.Partition.Clock[lp]
	began := *clock
	if m.noise != nil || d <= 0 || d >= vtime.Forever.Sub(began) {
		return false
	}
	*clock = began + vtime.Time(d)
	if m.MailboxOf != nil {
		m.Activity(lp)
	}
	m.Partition.Summary.Calls.Computes(lp, began, d)
	return true
}

// SumSend tells the statistics of a send of a message on a communicator, which an LP has begun at an instant and which is over. The message has been
// counted where it departed.
func (m *Messages) SumSend(lp int32, c world.Procedure, context uint64, dst int, bytes int64, began vtime.Time) {
	s := &m.Partition.Summary
	s.Sent.Note(bytes)
	if x := s.Calls.Matrix(); x.Counts() {
		x.Note(int(m.Partition.Global(lp)), dst, bytes)
	}
	s.Calls.NoteSend(lp, stats.CallKey{Procedure: uint8(c), Context: context}, bytes, began, m.Partition.Clock[lp].Sub(began))
}

// SumPost tells the statistics of a nonblocking receive that an LP has posted.
func (m *Messages) SumPost(lp int32, c world.Procedure, context uint64) {
	m.Partition.Summary.Calls.NoteSend(lp, stats.CallKey{Procedure: uint8(c), Context: context}, 0, 0, 0)
}

// sumReceive tells the statistics of a blocking receive, which an LP has posted at an instant and which is over: its message was there.
func (m *Messages) sumReceive(lp int32, c world.Procedure, context uint64, index int32, posted vtime.Time) {
	o, msg, calls := m.why.origins.Open(index), m.messages.At(index), &m.Partition.Summary.Calls
	key := stats.CallKey{Procedure: uint8(c), Context: context}
	ready, ended := max(posted, msg.arrival), m.Partition.Clock[lp]
	if ready > posted {
		calls.Phases().NoteOne(stats.WaitingPhase, ended.Sub(posted))
	} else {
		calls.Phases().NoteOne(stats.DataReceiving, ended.Sub(posted))
	}
	if late := min(o.sent, ready, ended); late <= posted && o.shared|o.within == 0 {
		left := max(posted, min(o.left, ready, ended))
		calls.NoteReceive(lp, key, msg.bytes, posted, left, min(ready, ended), ended)
		return
	}
	e, times := m.why.ending, stats.Causes{}
	e.Known, e.Ready, e.Late, e.Other, e.Left, e.Shared, e.Within, e.Whom = true, ready, stats.LateSender, o.sent, o.left, o.shared, o.within, o.late
	e.Split(posted, ended, &times)
	calls.Note(lp, key, msg.bytes, &times)
	if course := calls.Course(); course.Counts() {
		course.Call(posted, &times, 0, ended.Sub(min(ready, ended)))
	}
	if m.Blames() {
		var blames stats.Blames
		m.Waiter(lp).Blame(&e, posted, ended, &blames)
		calls.Blame(&blames)
	}
}
