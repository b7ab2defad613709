package p2p

import (
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Activities are counted where their times are known. Partition.Activities is nil if activities are
// not counted; callers check that first.

// Computed counts a computation, if it takes time.
func (m *Messages) Computed(d vtime.Duration) {
	switch {
	case d <= 0:
	case m.summing:
		m.Partition.Summary.Activities.Note(stats.Computation, d)
	default:
		m.Partition.Activities.Note(stats.Computation, d)
	}
}

// Departed counts the parts of a message, or of the REQ of a rendezvous if the message is large, that leaves one rank for another at an instant. If the message shares
// interfaces, links or memory with others, its arrival is not known yet, and Passed counts its way once it has passed.
func (m *Messages) Departed(src, dst int, bytes int64, large, shares bool, leaves, arrival vtime.Time) {
	if m.summing && !large && !shares {
		m.counts(&stats.Like{Bytes: bytes, Way: arrival.Sub(leaves), Event: stats.LikeSent, Between: m.betweenNodes(src, dst)}, 1)
		return
	}
	if shares {
		if !large {
			m.CopiedData(bytes)
		}
		return
	}
	if large {
		m.Partition.Activities.Note(stats.Request, vtime.Duration(arrival-leaves))
	} else {
		m.sentData(src, dst, bytes, leaves, arrival)
	}
}

// Passed counts the way of a message between nodes, which arrives at an instant: of a
// REQ if request says so.
func (m *Messages) Passed(p *resource.Passage, at vtime.Time, request bool) {
	took := at.Sub(p.Sent)
	switch {
	case request:
		m.Partition.Activities.Note(stats.Request, took)
	case p.Kind == PassReply:
		m.Partition.Activities.Note(stats.Acknowledgement, took)
	default:
		m.carried(int(p.Source), int(p.Dest), p.Bytes, took)
	}
}

// carried counts the content of a message on its way from one rank to another.
func (m *Messages) carried(src, dst int, bytes int64, took vtime.Duration) {
	m.Partition.Activities.Note(stats.Data, took)
	m.traffic(src, dst, bytes, took)
}

// traffic counts the bytes of a message, and the bandwidth that it saw.
func (m *Messages) traffic(src, dst int, bytes int64, took vtime.Duration) {
	m.Partition.Summary.Calls.Traffic().Note(bytes, took, m.betweenNodes(src, dst))
}

// betweenNodes reports whether a message is between nodes, where energy is counted.
func (m *Messages) betweenNodes(src, dst int) bool {
	target := m.Partition.Target
	return target.Energy() != nil && target.Node(src) != target.Node(dst)
}

// counts counts n messages of a kind.
func (m *Messages) counts(of *stats.Like, n uint64) {
	if full, number := m.likes.Count(of, n); number > 0 {
		m.addLike(&full, number)
	}
}

// addLike adds up the activities of n messages of a kind.
func (m *Messages) addLike(of *stats.Like, n uint64) {
	s, target := &m.Partition.Summary, m.Partition.Target
	if of.Event != stats.LikeReceived {
		s.Activities.NoteSame(stats.SendCopy, target.SendTime(of.Bytes), n)
		s.Activities.NoteSame(stats.Data, of.Way, n)
		s.Calls.Traffic().NoteSame(of.Bytes, of.Way, n, of.Between)
	}
	if of.Event != stats.LikeSent {
		s.Activities.NoteSame(stats.ReceiveCopy, target.ReceiveTime(of.Bytes), n)
	}
	if of.Combine > 0 {
		s.Activities.NoteSame(stats.Computation, of.Combine, n)
	}
}

// SettleSums adds up the messages that are counted by kind.
func (m *Messages) SettleSums() { m.likes.Settle(m.addLike) }

// CopiedData counts the copy of bytes at their sender.
func (m *Messages) CopiedData(bytes int64) {
	m.Partition.Activities.Note(stats.SendCopy, m.Partition.Target.SendTime(bytes))
}

// sentData counts the content of a message from src to dst, and the copy of its bytes at the sender.
func (m *Messages) sentData(src, dst int, bytes int64, leaves, arrival vtime.Time) {
	m.CopiedData(bytes)
	m.carried(src, dst, bytes, vtime.Duration(arrival-leaves))
}

// DepartedAt counts the parts of a message from src to dst under a model with state at the receiver, where REQ and
// ACK take no time. The sender's processor is busy from an instant until free.
func (m *Messages) DepartedAt(src, dst int, bytes int64, at, free, arrival vtime.Time) {
	m.Partition.Activities.Note(stats.SendCopy, vtime.Duration(free-at))
	m.Partition.Activities.Note(stats.Data, vtime.Duration(arrival-at)-m.Partition.Target.Overhead().Send)
	m.traffic(src, dst, bytes, m.Partition.Target.Delay(src, dst, bytes)) // the receiver charges the bytes
}

// Shaken counts the ACK from dst to src of a message matched at an instant, and its DATA, which
// arrive at another instant.
func (m *Messages) Shaken(src, dst int, bytes int64, matched, arrival vtime.Time) {
	if m.Processors == nil {
		m.acked(dst, src)
		m.sentData(src, dst, bytes, matched.Add(m.Partition.Target.Latency(dst, src)), arrival)
	}
}

// Rounded counts the parts of n messages up to the eager limit in a round of a collective: some bytes, under way for a time, whose
// receivers each combine for another time.
func (m *Messages) Rounded(n uint64, bytes int64, way, combine vtime.Duration) {
	m.counts(&stats.Like{Bytes: bytes, Way: way, Combine: combine, Event: stats.LikeRounded}, n)
}

// acked counts an ACK from one rank to another.
func (m *Messages) acked(from, to int) {
	if m.Processors == nil {
		m.Partition.Activities.Note(stats.Acknowledgement, m.Partition.Target.Latency(from, to))
	}
}

// Received counts the copy of a message at its receiver. Under a model with state at the receiver
// takeIn counts that copy instead.
func (m *Messages) Received(bytes int64) {
	switch {
	case m.summing:
		m.counts(&stats.Like{Bytes: bytes, Event: stats.LikeReceived}, 1)
	case m.Processors == nil:
		m.Partition.Activities.Note(stats.ReceiveCopy, m.Partition.Target.ReceiveTime(bytes))
	}
}

// InFull turns the short cuts for computations and sends off, so that an observer hears each of
// them.
func (m *Messages) InFull() { m.sendsAtOnce, m.Partition.ClocksOnly = false, false }

// EndedBy returns the end of a call of an LP, whose completion must be that of the call.
func (m *Messages) EndedBy(lp int32, c world.Procedure) Ended {
	b, e := &m.Completion, Ended{Rank: world.None}
	if c.Class() == world.ClassProbe {
		if b.Found && b.Status.Source != world.ProcNull {
			e.Message = m.Box(lp).Wait.Subject
			found := m.messages.At(e.Message)
			e.At, e.Rank = found.arrival, int(found.rank)
		}
		return e
	}
	for _, index := range b.Completed {
		r := m.Requests.At(index)
		completeAtOnce := r.Kind == SendRequest && r.Comm == 0 // with a request of its own; see OwnRequest
		if m.shared(index) || completeAtOnce || r.Time < e.At {
			continue
		}
		e.At, e.Request = r.Time, index
		switch r.Kind {
		case ReceiveRequest:
			e.Rank = int(r.rank)
		case SendRequest:
			e.Rank = m.Partition.Comms.At(r.Comm).Peers().RankOf(int(r.Peer), m.Partition.Global(lp))
		default:
			e.Rank = world.None
		}
	}
	return e
}
