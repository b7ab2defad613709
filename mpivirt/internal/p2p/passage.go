package p2p

import (
	"gigarank/internal/invariant"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Where the ranks of a node share its network interfaces, messages between nodes pass through the
// interfaces (room resource). The sender goes on as usual. Its message reaches the mailbox of the
// receiver once the arrival is decided. REQ, ACK and DATA of a rendezvous each pass as a message of
// their own. ACK and DATA are handshakes, as on a machine with progress in calls, but with
// asynchronous progress a rank answers them at once. The sender is free when the interface of its
// node and the path have taken DATA.

// The kinds of messages between nodes, in the order in which messages of one instant leave.
const (
	PassMessage uint8 = iota // an eager message or REQ
	PassReply                // ACK
	PassData
	PassWork // no message: work of a rank in the memory of its node
)

// openPassages initialises the state for a machine where messages between nodes delay each other.
func (m *Messages) openPassages() {
	if m.Partition.Target.Contended() {
		m.Interfaces = resource.NewNetwork(&m.Partition)
		m.Interfaces.Carries(resource.OfProgram, (*freight)(m))
	}
}

// Shares reports whether messages between two ranks pass a resource that ranks share: interfaces of nodes, links,
// or the memory of a node.
func (m *Messages) Shares(src, dst int) bool {
	return m.Interfaces != nil && m.Partition.Target.Shares(src, dst)
}

// PassageOf returns the passage of a message between two nodes that leaves at an instant and has a
// jitter. A later arrival, to keep the messages of a pair in order, also makes the departure later.
func (m *Messages) PassageOf(src, dst int, bytes int64, leaves vtime.Time, jitter vtime.Duration) resource.Passage {
	latency, transfer := m.Partition.Target.LatencyAndTransfer(src, dst, bytes)
	return resource.Passage{At: leaves, Sent: leaves, Source: int32(src), Dest: int32(dst), Bytes: bytes, Latency: latency, Transfer: transfer, Jitter: jitter}
}

// sendAcross has a message of an LP request its passage. The arrival of the message on an idle network
// is known. Between nodes it asks once the path between its two ranks has taken the message before. It
// asks the memory of a node when it leaves, so that messages of a pair ask in their order, and its
// jitter includes the wait for the path.
func (m *Messages) sendAcross(index int32, dst int, jitter vtime.Duration) {
	msg := m.messages.At(index)
	m.keep(msg)
	m.Partition.Engine.Buffer(msg.bufferedBytes())
	p := m.PassageOf(int(msg.rank), dst, msg.bytesNow(), 0, jitter)
	p.At = m.left
	switch t := m.Partition.Target; {
	case t.Node(int(msg.rank)) == t.Node(dst):
		p.Jitter = msg.arrival.Sub(m.left) - p.Latency - p.Transfer
	case m.Interfaces.InFlight():
		p.At = msg.arrival.Add(-p.Latency).Add(-p.Transfer).Add(-p.Jitter)
	}
	p.Context = m.Partition.Comms.At(msg.comm).Context
	p.Sent, p.Left, p.Ordered, p.Owner, p.Kind, p.Index = p.At, m.left, true, resource.OfProgram, PassMessage, index
	m.Interfaces.Leave(p)
}

// bytesNow returns the bytes that travel with a message: 0 with REQ.
func (m *message) bytesNow() int64 {
	if m.large {
		return 0
	}
	return m.bytes
}

// freight receives the messages that have passed between nodes. It implements [resource.Freight].
type freight Messages

var _ resource.Freight = (*freight)(nil)

// Left records that a message begins to leave its node at an instant, and asks for the interfaces
// of its receiver's node at another instant.
func (f *freight) Left(p *resource.Passage, begins, asks vtime.Time) {
	m := (*Messages)(f)
	if asks == vtime.Forever {
		m.Partition.PastEnd(int(p.Source), p.At, world.Send, "a message of %s to rank %d", spelling.Count(p.Bytes, "byte"), p.Dest)
		return
	}
	_, local := m.Partition.Local(int(p.Dest))
	if p.Kind == PassMessage && m.why != nil {
		m.why.origins.Open(p.Index).disturbed(false, begins.Sub(p.At))
	}
	if p.Kind != PassMessage {
		m.answerLeft(p, begins, asks, local)
		return
	}
	if local {
		m.Interfaces.Reach(*p, asks)
		return
	}
	msg := m.messages.At(p.Index)
	msg.arrival = asks
	m.Partition.Engine.Buffer(-msg.bufferedBytes())
	m.sendMessage(p.Index, p.Context, int(p.Dest), p.Sent)
	msg.free(m)
	m.messages.Release(p.Index)
}

// Freed records that a message to a local rank is on its way.
func (f *freight) Freed(p *resource.Passage, at vtime.Time, delay vtime.Duration) {
	m := (*Messages)(f)
	if p.Kind == PassData {
		m.delays(m.handshakes.At(p.Index).request, m.WithinNode(p), delay)
	}
	if p.Kind != PassMessage {
		m.answerFreed(p, at)
	}
}

// Arrived delivers a message that arrives from another node.
func (f *freight) Arrived(p *resource.Passage, at vtime.Time) {
	m := (*Messages)(f)
	if at == vtime.Forever {
		m.Partition.PastEnd(int(p.Dest), p.At, world.Recv, "a message of %s from rank %d", spelling.Count(p.Bytes, "byte"), p.Source)
		return
	}
	lp, local := m.Partition.Local(int(p.Dest))
	if invariant.Enabled && !local {
		invariant.Broken("a message for rank %d has come to the engine of ranks %d to %d", p.Dest, m.Partition.First, m.Partition.First+m.Partition.Ranks-1)
	}
	if m.Partition.Activities != nil {
		m.Passed(p, at, p.Kind == PassMessage && m.messages.At(p.Index).large)
	}
	if p.Kind != PassMessage {
		h := *m.handshakes.At(p.Index)
		m.handshakes.Release(p.Index)
		if m.why != nil {
			m.delays(h.request, m.WithinNode(p), m.Interfaces.Delay(p, at))
		}
		m.answered(recordOf(p.Kind), h, at)
		return
	}
	msg := m.messages.At(p.Index)
	if p.Context != 0 {
		msg.comm = m.above.IndexOfContext(p.Context) // its members here may have freed the communicator meanwhile
	}
	msg.arrival = at
	if m.why != nil {
		m.why.origins.Open(p.Index).disturbed(m.WithinNode(p), m.Interfaces.Delay(p, at))
	}
	m.Partition.Engine.Buffer(-msg.bufferedBytes())
	m.arrive(lp, p.Index)
}

// reachAcross has a message from another engine ask for the interfaces of its receiver's node. The
// arrival in the message is the instant at which it asks.
func (m *Messages) reachAcross(index int32, dst int, sent vtime.Time) {
	msg := m.messages.At(index)
	m.keep(msg)
	m.Partition.Engine.Buffer(msg.bufferedBytes())
	m.Interfaces.Reach(resource.Passage{Sent: sent, Source: msg.rank, Dest: int32(dst), Ordered: true, Owner: resource.OfProgram, Kind: PassMessage, Index: index, Bytes: msg.bytesNow()}, msg.arrival)
}

// answerAcross sends the answer to a handshake to another node at an instant.
func (m *Messages) answerAcross(h *handshake, at vtime.Time) {
	kind, bytes := PassReply, int64(0)
	if h.ack {
		kind, bytes = PassData, h.bytes
		if h.order[0] = 0; h.request != 0 {
			h.order = m.orderOfShake(h.request)
		}
	}
	index := m.handshakes.Take()
	*m.handshakes.At(index) = *h
	if m.why != nil {
		*m.why.readies.Open(index) = m.readyOf(h, at)
	}
	p := m.PassageOf(int(m.Partition.Global(h.lp)), int(h.peer), bytes, at, 0)
	p.Owner, p.Kind, p.Index, p.Order = resource.OfProgram, kind, index, h.order
	m.Interfaces.Leave(p)
}

// orderOfShake returns the key that orders the handshakes of an LP with the same rank, by their
// requests: an LP makes its requests in the order of its program.
func (m *Messages) orderOfShake(request int32) [2]uint64 {
	return [2]uint64{1, uint64(m.Requests.At(request).generation)}
}

// answerLeft records that the answer to a handshake leaves its node. The sender of DATA is free
// once DATA has left.
func (m *Messages) answerLeft(p *resource.Passage, begins, asks vtime.Time, local bool) {
	free := m.DataLeft(p, begins)
	left := begins.Sub(p.At) // the delay at the interfaces of the node
	if m.why != nil && p.Kind == PassData {
		m.delays(m.handshakes.At(p.Index).request, false, left)
	}
	if local {
		opposite := m.handshakes.At(p.Index).opposite
		m.answerFreed(p, free)
		m.delays(opposite, false, left)
		m.Interfaces.Reach(*p, asks)
		return
	}
	h := *m.handshakes.At(p.Index)
	m.handshakes.Release(p.Index)
	m.sendAnswer(recordOf(p.Kind), int(h.peer), m.answerTo(&h, p), asks, told{ready: m.toldReady(p.Index), delay: left})
	m.dataFreed(&h, p, free)
}

// answerTo returns an answer to a handshake as seen by the receiver of the answer.
func (m *Messages) answerTo(h *handshake, p *resource.Passage) *handshake {
	return &handshake{bytes: h.bytes, peer: m.Partition.Global(h.lp), request: h.opposite, opposite: h.request, ack: true, large: h.large, order: h.order, at: p.Sent}
}

// answerFreed records that an answer to a local rank is on its way. The sender of DATA is free at
// an instant.
func (m *Messages) answerFreed(p *resource.Passage, free vtime.Time) {
	h := *m.handshakes.At(p.Index)
	m.readied(h.opposite, h.causeOf(), m.toldReady(p.Index))
	answer := m.answerTo(&h, p)
	answer.lp, _ = m.Partition.Local(int(h.peer))
	*m.handshakes.At(p.Index) = *answer
	m.dataFreed(&h, p, free)
}

// dataFreed records that the sender of DATA is free at an instant.
func (m *Messages) dataFreed(h *handshake, p *resource.Passage, free vtime.Time) {
	if p.Kind == PassData {
		m.closed(h.lp)
		if m.Partition.Activities != nil {
			m.CopiedData(p.Bytes)
		}
		if h.request != 0 {
			m.Acknowledged(h.request, free)
		}
	}
}

// DataLeft returns the instant at which the sender of DATA that begins to leave at an instant is
// free.
func (m *Messages) DataLeft(p *resource.Passage, begins vtime.Time) vtime.Time {
	_, free := m.Partition.Target.Data(int(p.Source), int(p.Dest), p.Bytes, begins)
	if m.Partition.Target.Copies() {
		return free
	}
	passing := m.Partition.Target.InterfaceTime(p.Bytes)
	if p.Owner == resource.OfProgram {
		passing = m.Partition.Target.RailTime(p.Bytes)
	}
	return max(free, begins.Add(passing.Plus(p.Held)))
}

// reachAnswer has an answer from another engine ask for the interfaces of its receiver's node at an
// instant.
func (m *Messages) reachAnswer(record byte, answer *handshake, asks vtime.Time) {
	index := m.handshakes.Take()
	*m.handshakes.At(index) = *answer
	p := resource.Passage{Sent: answer.at, Source: answer.peer, Dest: m.Partition.Global(answer.lp), Owner: resource.OfProgram, Kind: PassReply, Index: index}
	if record == world.RecordData {
		p.Kind, p.Bytes = PassData, answer.bytes
	}
	m.Interfaces.Reach(p, asks)
}

// recordOf returns the kind of the record that carries an answer.
func recordOf(kind uint8) byte {
	if kind == PassData {
		return world.RecordData
	}
	return world.RecordReply
}
