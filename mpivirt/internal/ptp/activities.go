package ptp

import (
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// Activities are counted where their times are known. Callers ask first whether they are counted
// at all: k.Activities is nil if not.

// Computed counts a computation, if it takes time.
func (k *Messages) Computed(d vtime.Duration) {
	if d > 0 {
		k.Activities.Note(stats.Computation, d)
	}
}

// Departed counts the parts of a message from one rank to another, or of REQ for it, that leaves at an instant. Of one between
// nodes whose arrival is decided later, Passed counts the way.
func (k *Messages) Departed(src, dst int, bytes int64, large bool, leaves, arrival vtime.Time) {
	if k.Crosses(src, dst) {
		if !large {
			k.CopiedData(bytes)
		}
		return
	}
	if large {
		k.Activities.Note(stats.Request, vtime.Duration(arrival-leaves))
	} else {
		k.sentData(bytes, leaves, arrival)
	}
}

// Passed counts the way of a message between nodes, which arrives at an instant; request says that it is REQ.
func (k *Messages) Passed(p *resource.Passage, at vtime.Time, request bool) {
	took := at.Sub(p.Sent)
	switch {
	case request:
		k.Activities.Note(stats.Request, took)
	case p.Kind == PassReply:
		k.Activities.Note(stats.Acknowledgement, took)
	default:
		k.Activities.Note(stats.Data, took)
	}
}

// CopiedData counts the copy of bytes at their sender.
func (k *Messages) CopiedData(bytes int64) {
	k.Activities.Note(stats.SendCopy, k.Target.SendTime(bytes))
}

// sentData counts DATA, and the copy of its bytes at the sender.
func (k *Messages) sentData(bytes int64, leaves, arrival vtime.Time) {
	k.Activities.Note(stats.SendCopy, k.Target.SendTime(bytes))
	k.Activities.Note(stats.Data, vtime.Duration(arrival-leaves))
}

// DepartedAt counts the parts of a message under a model with state at the receiver, where no REQ
// and no ACK take time. The sender's processor is busy from an instant until free.
func (k *Messages) DepartedAt(at, free, arrival vtime.Time) {
	k.Activities.Note(stats.SendCopy, vtime.Duration(free-at))
	k.Activities.Note(stats.Data, vtime.Duration(arrival-at)-k.Target.Overhead().Send)
}

// Shaken counts ACK from dst to src, of a match at an instant, and DATA, which arrives at another.
func (k *Messages) Shaken(src, dst int, bytes int64, matched, arrival vtime.Time) {
	if k.Processors == nil {
		k.acked(dst, src)
		k.sentData(bytes, matched.Add(k.Target.Latency(dst, src)), arrival)
	}
}

// acked counts ACK from one rank to another.
func (k *Messages) acked(from, to int) {
	if k.Processors == nil {
		k.Activities.Note(stats.Acknowledgement, k.Target.Latency(from, to))
	}
}

// Received counts the copy of a message at its receiver. Under a model with state at the receiver
// takeIn does.
func (k *Messages) Received(bytes int64) {
	if k.Processors == nil {
		k.Activities.Note(stats.ReceiveCopy, k.Target.ReceiveTime(bytes))
	}
}
