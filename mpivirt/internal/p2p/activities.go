package p2p

import (
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Activities are counted where their times are known. Callers ask first whether they are counted
// at all: Partition.Activities is nil if not.

// Computed counts a computation, if it takes time.
func (m *Messages) Computed(d vtime.Duration) {
	if d > 0 {
		m.Partition.Activities.Note(stats.Computation, d)
	}
}

// Departed counts the parts of a message from one rank to another, or of REQ for it, that leaves at an instant. Of one between
// nodes whose arrival is decided later, Passed counts the way.
func (m *Messages) Departed(src, dst int, bytes int64, large bool, leaves, arrival vtime.Time) {
	if m.Crosses(src, dst) {
		if !large {
			m.CopiedData(bytes)
		}
		return
	}
	if large {
		m.Partition.Activities.Note(stats.Request, vtime.Duration(arrival-leaves))
	} else {
		m.sentData(bytes, leaves, arrival)
	}
}

// Passed counts the way of a message between nodes, which arrives at an instant; request says that it is REQ.
func (m *Messages) Passed(p *resource.Passage, at vtime.Time, request bool) {
	took := at.Sub(p.Sent)
	switch {
	case request:
		m.Partition.Activities.Note(stats.Request, took)
	case p.Kind == PassReply:
		m.Partition.Activities.Note(stats.Acknowledgement, took)
	default:
		m.Partition.Activities.Note(stats.Data, took)
	}
}

// CopiedData counts the copy of bytes at their sender.
func (m *Messages) CopiedData(bytes int64) {
	m.Partition.Activities.Note(stats.SendCopy, m.Partition.Target.SendTime(bytes))
}

// sentData counts DATA, and the copy of its bytes at the sender.
func (m *Messages) sentData(bytes int64, leaves, arrival vtime.Time) {
	m.Partition.Activities.Note(stats.SendCopy, m.Partition.Target.SendTime(bytes))
	m.Partition.Activities.Note(stats.Data, vtime.Duration(arrival-leaves))
}

// DepartedAt counts the parts of a message under a model with state at the receiver, where no REQ
// and no ACK take time. The sender's processor is busy from an instant until free.
func (m *Messages) DepartedAt(at, free, arrival vtime.Time) {
	m.Partition.Activities.Note(stats.SendCopy, vtime.Duration(free-at))
	m.Partition.Activities.Note(stats.Data, vtime.Duration(arrival-at)-m.Partition.Target.Overhead().Send)
}

// Shaken counts ACK from dst to src, of a match at an instant, and DATA, which arrives at another.
func (m *Messages) Shaken(src, dst int, bytes int64, matched, arrival vtime.Time) {
	if m.Processors == nil {
		m.acked(dst, src)
		m.sentData(bytes, matched.Add(m.Partition.Target.Latency(dst, src)), arrival)
	}
}

// acked counts ACK from one rank to another.
func (m *Messages) acked(from, to int) {
	if m.Processors == nil {
		m.Partition.Activities.Note(stats.Acknowledgement, m.Partition.Target.Latency(from, to))
	}
}

// Received counts the copy of a message at its receiver. Under a model with state at the receiver
// takeIn does.
func (m *Messages) Received(bytes int64) {
	if m.Processors == nil {
		m.Partition.Activities.Note(stats.ReceiveCopy, m.Partition.Target.ReceiveTime(bytes))
	}
}

// InFull has each computation and send be carried out in full, so that it can be heard.
func (m *Messages) InFull() { m.sendsAtOnce, m.Partition.ClocksOnly = false, false }

// EndedBy returns when all was there that a call of an LP has completed, and the rank whose message was there last, None
// for no message. The completion is that of the call.
func (m *Messages) EndedBy(lp int32, c world.Procedure) (at vtime.Time, rank int) {
	b := &m.Completion
	rank = world.None
	if c.Class() == world.ClassProbe {
		if b.Found && b.Status.Source != world.ProcNull {
			found := m.messages.At(m.Box(lp).Wait.Subject)
			at, rank = found.arrival, int(found.rank)
		}
		return at, rank
	}
	for _, index := range b.Completed {
		r := m.Requests.At(index)
		if m.shared(index) || r.Time < at {
			continue
		}
		switch at = r.Time; r.Kind {
		case ReceiveRequest:
			rank = int(r.rank)
		case SendRequest:
			rank = m.Partition.Comms.At(r.Comm).Peers().RankOf(int(r.Peer), m.Partition.Global(lp))
		default:
			rank = world.None
		}
	}
	return at, rank
}
