package ptp

import (
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Where the ranks of a node share its network interfaces, messages between nodes go through them (room resource). The
// sender goes on as ever. Its message is on the way, and reaches the mailbox of the receiver once its arrival is
// decided. Of a rendezvous REQ, ACK and DATA each take their place; ACK and DATA are handshakes, as on a machine with
// progress in calls, but are answered at once where progress is asynchronous. The sender is free when its node's
// interface and the path have taken DATA.

// The kinds of messages between nodes, in the order in which those of one instant leave.
const (
	PassMessage uint8 = iota // a message or REQ
	PassReply                // ACK
	PassData
)

// openPassages sets the state up on a machine where messages between nodes hold each other up.
func (k *Messages) openPassages() {
	if k.Target.Contended() {
		k.ClocksOnly = false
		k.Interfaces = resource.NewInterfaces(&k.Partition)
		k.Interfaces.Carries(resource.OfProgram, (*freight)(k))
	}
}

// Crosses reports whether messages between two ranks go through the interfaces of their nodes.
func (k *Messages) Crosses(src, dst int) bool {
	return k.Interfaces != nil && k.Target.Crosses(src, dst)
}

// PassageOf returns the way of a message between two nodes that leaves at an instant and takes a jitter. An arrival that
// keeps the messages of a pair in order has it leave the later.
func (k *Messages) PassageOf(src, dst int, bytes int64, leaves vtime.Time, jitter vtime.Duration) resource.Passage {
	latency, transfer := k.Target.LatencyAndTransfer(src, dst, bytes)
	return resource.Passage{At: leaves, Sent: leaves, Source: int32(src), Dest: int32(dst), Bytes: bytes, Latency: latency, Transfer: transfer.Plus(jitter)}
}

// sendAcross has a message of an LP, whose arrival without others is known, ask for its way to another node.
func (k *Messages) sendAcross(index int32, dst int, jitter vtime.Duration) {
	m := k.messages.At(index)
	k.keep(m)
	k.Engine.Buffer(m.bufferedBytes())
	p := k.PassageOf(int(m.rank), dst, m.bytesNow(), 0, jitter)
	p.At = m.arrival.Add(-p.Latency).Add(-p.Transfer)
	p.Sent, p.Ordered, p.Owner, p.Kind, p.Index = p.At, true, resource.OfProgram, PassMessage, index
	k.Interfaces.Leave(p)
}

// bytesNow returns the bytes that go with a message: none with REQ.
func (m *message) bytesNow() int64 {
	if m.large {
		return 0
	}
	return m.bytes
}

// freight hands messages on that go between nodes. It implements [resource.Freight].
type freight Messages

var _ resource.Freight = (*freight)(nil)

// Left handles that a message begins to leave its node at an instant, and that it asks its receiver's node at another.
func (f *freight) Left(p *resource.Passage, begins, asks vtime.Time) {
	k := (*Messages)(f)
	if asks == vtime.Forever {
		k.PastEnd(int(p.Source), p.At, world.Send, "a message of %d bytes to rank %d", p.Bytes, p.Dest)
		return
	}
	_, local := k.Local(int(p.Dest))
	if p.Kind != PassMessage {
		k.answerLeft(p, begins, asks, local)
		return
	}
	if local {
		k.Interfaces.Reach(*p, asks)
		return
	}
	m := k.messages.At(p.Index)
	m.arrival = asks
	k.Engine.Buffer(-m.bufferedBytes())
	k.sendMessage(m, int(p.Dest), p.Sent)
	m.free(k)
	k.messages.Release(p.Index)
}

// Arrived handles the arrival of a message from another node.
func (f *freight) Arrived(p *resource.Passage, at vtime.Time) {
	k := (*Messages)(f)
	if at == vtime.Forever {
		k.PastEnd(int(p.Dest), p.At, world.Recv, "a message of %d bytes from rank %d", p.Bytes, p.Source)
		return
	}
	lp, local := k.Local(int(p.Dest))
	if invariant.Enabled && !local {
		invariant.Broken("a message for rank %d has come to the engine of ranks %d to %d", p.Dest, k.First, k.First+k.Ranks-1)
	}
	if k.Activities != nil {
		k.Passed(p, at, p.Kind == PassMessage && k.messages.At(p.Index).large)
	}
	if p.Kind != PassMessage {
		h := *k.handshakes.At(p.Index)
		k.handshakes.Release(p.Index)
		k.answered(recordOf(p.Kind), h, at)
		return
	}
	m := k.messages.At(p.Index)
	m.arrival = at
	k.Engine.Buffer(-m.bufferedBytes())
	k.arrive(lp, p.Index)
}

// reachAcross has a message from another engine, whose arrival is the instant at which it asks, ask the interfaces of its
// receiver's node.
func (k *Messages) reachAcross(index int32, dst int, sent vtime.Time) {
	m := k.messages.At(index)
	k.keep(m)
	k.Engine.Buffer(m.bufferedBytes())
	k.Interfaces.Reach(resource.Passage{Sent: sent, Source: m.rank, Dest: int32(dst), Ordered: true, Owner: resource.OfProgram, Kind: PassMessage, Index: index, Bytes: m.bytesNow()}, m.arrival)
}

// answerAcross has the answer to a handshake leave for another node at an instant.
func (k *Messages) answerAcross(h *handshake, at vtime.Time) {
	kind, bytes := PassReply, int64(0)
	if h.ack {
		kind, bytes = PassData, h.bytes
	}
	index := k.handshakes.Take()
	*k.handshakes.At(index) = *h
	p := k.PassageOf(int(k.Global(h.lp)), int(h.peer), bytes, at, 0)
	p.Owner, p.Kind, p.Index, p.Order = resource.OfProgram, kind, index, h.order
	k.Interfaces.Leave(p)
}

// orderOfShake returns what tells a handshake of a request from others with the same rank.
func (k *Messages) orderOfShake(comm, tag int32) [2]uint64 {
	return [2]uint64{k.Comms.At(comm).Context, uint64(uint32(tag))}
}

// answerLeft handles that the answer to a handshake leaves its node. The sender of DATA is free once that has left.
func (k *Messages) answerLeft(p *resource.Passage, begins, asks vtime.Time, local bool) {
	h := *k.handshakes.At(p.Index)
	answer := handshake{bytes: h.bytes, peer: k.Global(h.lp), request: h.opposite, opposite: h.request, ack: true, large: h.large, order: h.order, at: p.Sent}
	if local {
		answer.lp, _ = k.Local(int(h.peer))
		*k.handshakes.At(p.Index) = answer
		k.Interfaces.Reach(*p, asks)
	} else {
		k.handshakes.Release(p.Index)
		k.sendAnswer(recordOf(p.Kind), int(h.peer), &answer, asks)
	}
	if p.Kind == PassData {
		k.closed(h.lp)
		if k.Activities != nil {
			k.CopiedData(p.Bytes)
		}
		if h.request != 0 {
			k.Acknowledged(h.request, k.DataLeft(p, begins))
		}
	}
}

// DataLeft returns when the sender of DATA is free, which has begun to leave at an instant.
func (k *Messages) DataLeft(p *resource.Passage, begins vtime.Time) vtime.Time {
	_, free := k.Target.Data(int(p.Source), int(p.Dest), p.Bytes, begins)
	if k.Target.Copies() {
		return free
	}
	return max(free, begins.Add(k.Target.InterfaceTime(p.Bytes)))
}

// reachAnswer has an answer from another engine ask the interfaces of its receiver's node at an instant.
func (k *Messages) reachAnswer(record byte, answer *handshake, asks vtime.Time) {
	index := k.handshakes.Take()
	*k.handshakes.At(index) = *answer
	p := resource.Passage{Sent: answer.at, Source: answer.peer, Dest: k.Global(answer.lp), Owner: resource.OfProgram, Kind: PassReply, Index: index}
	if record == world.RecordData {
		p.Kind, p.Bytes = PassData, answer.bytes
	}
	k.Interfaces.Reach(p, asks)
}

// recordOf returns the kind of the record for an answer.
func recordOf(kind uint8) byte {
	if kind == PassData {
		return world.RecordData
	}
	return world.RecordReply
}
