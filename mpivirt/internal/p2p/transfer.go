package p2p

import (
	"gigarank/internal/invariant"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Operands are the arguments of a point-to-point call.
type Operands struct {
	Procedure world.Procedure
	Comm      *world.Comm
	Member    int32    // the caller's rank in Comm
	Matched   int32    // Mrecv: the message of a matched probe
	Outgoing  outgoing // of sends and Sendrecv
	Incoming  incoming // of receives, probes and Sendrecv
}

// outgoing is a message to send.
type outgoing struct {
	Dest    int // member
	Tag     int
	Bytes   int64
	Payload []byte // nil if only the size is simulated
	Lent    bool   // the payload does not change before the call is complete
	Mode    world.SendMode
}

// Send sends a message of an LP at the LP's clock, and advances the clock by the cost of the
// message to the CPU. It returns a request that completes with the match or the departure of the
// data, 0 if the send is complete at once.
func (m *Messages) Send(lp int32, q *Operands) (request int32) {
	o, c := &q.Outgoing, q.Procedure
	box := m.Box(lp)
	box.polls = 0
	to := q.Comm.Peers()
	dst := to.RankOf(o.Dest, m.Partition.Global(lp))
	if uint(dst-m.Partition.First) >= uint(m.Partition.Ranks) {
		m.sentTo = m.Partition.Engine.Partition().Owner(dst)
	}
	index := m.messages.Take()
	msg := m.messages.At(index) // in its final place
	msg.bytes, msg.comm, msg.source, msg.rank, msg.tag = o.Bytes, to.Index, q.Member, m.Partition.Global(lp), int32(o.Tag)
	msg.sender, msg.large = 0, o.Bytes > m.Partition.EagerLimit
	if o.Mode == world.Ready {
		msg.sender = sendsReady
	}
	if o.Payload != nil {
		msg.payload, msg.view, msg.lent = o.Payload, true, o.Lent
	}
	if o.Mode == world.Synchronous || msg.large && o.Mode != world.Buffered {
		msg.request = m.NewRequest(lp, SendRequest, c)
		r := m.Requests.At(msg.request)
		r.Comm, r.Peer, r.Tag = to.Index, int32(o.Dest), int32(o.Tag)
	}
	m.sentFrom(lp, index)
	if m.Processors != nil {
		return m.postponeSend(lp, index, dst, c)
	}
	sent := m.Partition.Clock[lp]
	var jitter vtime.Duration
	msg.arrival, jitter = m.depart(lp, box, msg, dst, o.Mode)
	if msg.arrival == vtime.Forever || m.Partition.Clock[lp] == vtime.Forever || msg.large && m.Partition.Target.Transfer(int(msg.rank), dst, o.Bytes) == vtime.Endless {
		m.Partition.Clock[lp] = sent
		m.Raise(lp, c, world.EndError("a message of %s to rank %d", spelling.Count(o.Bytes, "byte"), dst))
		m.Completion.Fatal = true
		m.messages.Release(index)
		return 0
	}
	m.Partition.Engine.Statistics.Messages++
	if m.why != nil {
		from := min(m.left, m.Partition.Clock[lp])
		m.explains(lp, index, sent, m.left, from)
		m.leaves(msg.request, msg.rank, sent, from)
	}
	if msg.large {
		m.opened(lp)
		if m.InCalls && msg.request != 0 {
			back := msg.arrival
			if m.Interfaces != nil && !m.Interfaces.InFlight() {
				back = m.left.Add(m.Partition.Target.Latency(int(msg.rank), dst)) // the earliest arrival of REQ
			}
			back = back.Add(m.Partition.Target.Latency(dst, int(msg.rank)))
			_, m.Requests.At(msg.request).arrival = m.Partition.Target.Data(int(msg.rank), dst, msg.bytes, back)
		}
	}
	request = msg.request
	if m.Shares(int(msg.rank), dst) {
		m.sendAcross(index, dst, jitter)
		return request
	}
	m.dispatch(index, dst, sent)
	return request
}

// depart charges an LP for a send and returns the arrival of the message, without the influence of
// other messages between the nodes, and the jitter in this arrival. Above the eager limit the
// arrival is that of REQ.
func (m *Messages) depart(lp int32, box *Mailbox, msg *message, dst int, mode world.SendMode) (arrival vtime.Time, jitter vtime.Duration) {
	src, bytes := int(msg.rank), msg.bytes
	if msg.large {
		bytes = 0
	}
	leaves := m.Partition.Target.Free(src, m.Partition.Clock[lp])
	m.Partition.Clock[lp] = leaves
	if m.Partition.Charges {
		m.Partition.Clock[lp], leaves = m.Partition.Target.Send(m.port(lp), bytes, leaves)
	}
	if msg.large && mode == world.Buffered {
		m.Partition.Clock[lp] = m.Partition.Clock[lp].Add(m.Partition.Target.Copy(msg.bytes))
	}
	c := m.costOf(msg.rank, int32(dst), bytes)
	latency, transfer, occupancy := c.latency, c.transfer, c.occupancy
	if m.Partition.Target.HasJitter() {
		jitter = m.jitter(lp, src, dst)
		transfer, occupancy = transfer.Plus(jitter), occupancy.Plus(jitter)
	}
	m.left = leaves
	arrival = m.inOrder(lp, &box.sendOrder, int32(dst), leaves, latency, transfer, occupancy, c.least)
	if m.Partition.Activities != nil {
		m.Departed(src, dst, bytes, msg.large, m.Shares(src, dst), leaves, arrival)
	}
	return arrival, jitter
}

// cost is the cost of an eager message between two ranks: the time of the sender's processor for
// the overhead before the message leaves and for the copying that may go on after it; the latency
// of the network, the transfer time of the bytes and its part that occupies the path, and a lower bound
// on the latency of any size; the time of the receiver's processor for the receive.
type cost struct {
	src, dst          int32
	bytes             int64
	overhead, copying vtime.Duration
	latency, transfer vtime.Duration
	least             vtime.Duration // the latency, unless it depends on the size
	occupancy         vtime.Duration
	receiving         vtime.Duration
}

// costOf returns the cost of a message, valid until the next call. The cost is cached, since a rank
// often sends messages of one size to one destination in a row.
func (m *Messages) costOf(src, dst int32, bytes int64) *cost {
	c := &m.cost
	if c.src != src || c.dst != dst || c.bytes != bytes || invariant.Enabled {
		m.workOut(src, dst, bytes)
	}
	return c
}

// workOut stores the cost of a message, whose overhead is already stored. The time of the
// processors depends on the size alone.
func (m *Messages) workOut(src, dst int32, bytes int64) {
	c, last := &m.cost, m.cost
	if c.bytes != bytes {
		c.bytes, c.copying, c.receiving = bytes, m.Partition.Target.Copy(bytes), m.Partition.Target.ReceiveTime(bytes)
	}
	c.src, c.dst = src, dst
	c.latency, c.transfer = m.Partition.Target.LatencyAndTransfer(int(src), int(dst), bytes)
	if c.least = c.latency; m.latencyBySize {
		c.least = vtime.Picosecond
	}
	c.occupancy = m.Partition.Target.Occupancy(int(src), int(dst), bytes, c.transfer)
	if invariant.Enabled && last.src == src && last.dst == dst && last.bytes == bytes && last != *c {
		invariant.Broken("a message costs %+v now, and %+v before", *c, last)
	}
}

// jitter returns the jitter of a rank's next message, a function of the number of the message.
func (m *Messages) jitter(lp int32, src, dst int) vtime.Duration {
	if m.jittered == nil {
		m.jittered = make([]uint32, m.Partition.Ranks)
	}
	m.jittered[lp]++
	return m.Partition.Target.Jitter(src, dst, uint64(m.jittered[lp]))
}

// port returns the state of a rank's network interface, nil under a model without interfaces.
func (m *Messages) port(lp int32) *network.Port {
	if !m.Partition.HasPorts {
		return nil
	}
	if m.Partition.Ports == nil {
		m.Partition.Ports = make([]network.Port, m.Partition.Ranks)
	}
	return &m.Partition.Ports[lp]
}

// NewRequest returns a new request of an LP. The generation of the request distinguishes it from
// stale copies of a Request, unless exactly a multiple of 2^32 requests were made in between and
// the last took the same index.
func (m *Messages) NewRequest(lp int32, kind requestKind, c world.Procedure) int32 {
	m.generation++
	index := m.Requests.Take()
	*m.Requests.At(index) = request{Kind: kind, LP: lp, Procedure: c, generation: m.generation, posted: m.Partition.Clock[lp]}
	m.Box(lp).Wait.active++
	if m.why != nil {
		*m.why.of.Open(index) = reason{Ending: m.why.ending, own: m.Waiter(lp).Late}
		if m.why.siteOf != nil {
			*m.why.sent.Open(index) = 0
		}
	}
	if m.InCalls && (kind == ReceiveRequest || kind == CollectiveRequest) {
		m.opened(lp)
		m.Requests.At(index).arrival = m.computing[lp].left
	}
	return index
}

// dispatch delivers a message to a local LP, or sends it as a record to the engine of its
// destination. The message owns its payload, or the payload is a view; see keep.
func (m *Messages) dispatch(index int32, dst int, sent vtime.Time) {
	lp, local := m.Partition.Local(dst)
	msg := m.messages.At(index)
	if m.Processors != nil && msg.request != 0 {
		m.Processors.AwaitMatch(msg.arrival, local)
	}
	if local {
		m.give(lp, index, sent)
		return
	}
	m.sendMessage(index, m.Partition.Comms.At(msg.comm).Context, dst, sent)
	msg.free(m)
	m.messages.Release(index)
}

// give delivers a message that was sent at an instant to the mailbox or processor of a local LP.
func (m *Messages) give(lp, index int32, sent vtime.Time) {
	if m.Processors != nil {
		msg := m.messages.At(index)
		m.keep(msg)
		m.Processors.Reach(lp, resource.Arrival{At: msg.arrival, Released: sent, Source: msg.rank, Index: index})
		return
	}
	m.arrive(lp, index)
}

// keep copies the payload of a message that no receive takes at once, if the payload is a view. A
// sender that waits for the match lends its memory until then, without a copy.
func (m *Messages) keep(msg *message) {
	if msg.view && !(msg.lent && msg.request != 0) {
		m.keepOwn(msg)
	}
}

// keepOwn gives a message whose payload is a view a copy of the payload.
func (m *Messages) keepOwn(msg *message) {
	msg.view = false
	if n := len(msg.payload); msg.payload != nil && n <= smallPayload {
		copy(msg.small[:], msg.payload)
		msg.payload = msg.small[:n:n]
		return
	}
	msg.payload = m.KeepPayload(msg.payload)
}

// pooled reports whether a message owns a pooled buffer, which holds its payload.
func (m *message) pooled() bool { return cap(m.payload) > smallPayload && !m.view }

// free releases the buffer of a message's payload, if the message owns a buffer.
func (m *message) free(k *Messages) {
	if m.pooled() {
		k.Partition.Buffers.Release(m.payload)
	}
}

// KeepPayload returns a copy of a message's content in a pooled buffer. The copy is nil for a
// message without content, and not nil for content of no bytes.
func (m *Messages) KeepPayload(payload []byte) []byte {
	if payload == nil {
		return nil
	}
	kept := m.Partition.Buffers.Take(max(len(payload), 1))[:len(payload)]
	copy(kept, payload)
	return kept
}

// messageRecord is the size in bytes of the fixed part of a message between engines.
const messageRecord = 2 + 8 + 5*4 + 3*8

// Flags of a message between engines.
const (
	FlagPayload = 1 << iota
	flagReadyMode
	flagLarge
	flagBlocks
)

// sendMessage sends a message as a record to the engine of its destination.
func (m *Messages) sendMessage(index int32, context uint64, dst int, sent vtime.Time) {
	msg := m.messages.At(index)
	engine, tail := m.Partition.Engine.Partition().Owner(dst), m.tailOf(msg)
	var w world.Writer
	if tail != nil {
		r := m.Requests.At(msg.request)
		m.Lender.Lend(r.LP, tail)
		var number int32
		w.Rest, number = m.Partition.Engine.RecordWithTail(engine, m.recordSize(), tail, m.Lender)
		r.rank = ^number
	} else {
		w.Rest = m.Partition.Engine.Record(engine, m.recordSize()+len(msg.payload))
	}
	w.U8(world.RecordMessage)
	flags := byte(0)
	if msg.payload != nil {
		flags |= FlagPayload
	}
	if msg.readyMode() {
		flags |= flagReadyMode
	}
	if msg.large {
		flags |= flagLarge
	}
	if msg.large && msg.request != 0 && m.Requests.At(msg.request).Procedure.Blocks() {
		flags |= flagBlocks
	}
	w.U8(flags)
	w.U64(context)
	w.U32(uint32(dst))
	w.U32(uint32(msg.source))
	w.U32(uint32(msg.rank))
	w.U32(uint32(msg.tag))
	w.U32(uint32(msg.request))
	w.U64(uint64(sent))
	w.U64(uint64(msg.arrival))
	w.U64(uint64(msg.bytes))
	if m.why != nil {
		m.why.origins.Open(index).write(&w)
		if m.why.siteOf != nil {
			w.U64(uint64(*m.why.sends.Open(index)))
		}
	}
	if tail == nil {
		copy(w.Rest, msg.payload)
	}
}

// leastTail is the size of a content, in bytes, from which on copying costs more than sending the
// content as a tail.
const leastTail = 16 << 10

// Lender protects memory of LPs that sends refer to.
type Lender interface {
	// Lend has memory of an LP stay unchanged at its address until the LP goes on.
	Lend(lp int32, memory []byte)
}

// tailOf returns the content of a message to another engine that is sent from where it lies, nil
// for a content that is copied. Such a content is that of a rendezvous whose sender is in one call
// until the receiver has answered.
func (m *Messages) tailOf(msg *message) []byte {
	if m.Lender == nil || m.Interfaces != nil || !msg.large || msg.request == 0 || len(msg.payload) < leastTail || m.Processors != nil ||
		!m.Requests.At(msg.request).Procedure.Blocks() || !m.Partition.Engine.SendsTails() {
		return nil
	}
	return msg.payload
}

// DeliverMessage handles a record that holds a message from an engine.
func (m *Messages) DeliverMessage(src int, r world.Reader) {
	flags := r.U8()
	comm := m.above.IndexOfContext(r.U64())
	dst := int(r.U32())
	index := m.messages.Take()
	msg := m.messages.At(index)
	msg.comm, msg.source, msg.rank, msg.tag, msg.request = comm, int32(r.U32()), int32(r.U32()), int32(r.U32()), int32(r.U32())
	msg.sender, msg.large = 0, flags&flagLarge != 0
	if flags&flagReadyMode != 0 {
		msg.sender |= sendsReady
	}
	if flags&flagBlocks != 0 {
		msg.sender |= sendsInCall
	}
	sent := vtime.Time(r.U64())
	msg.arrival, msg.bytes = vtime.Time(r.U64()), int64(r.U64())
	if m.why != nil {
		*m.why.origins.Open(index) = readOrigin(&r)
		if m.why.siteOf != nil {
			*m.why.sends.Open(index) = stats.Site(r.U64())
		}
	}
	if flags&FlagPayload != 0 {
		msg.payload, msg.view = r.Rest, true
	}
	lp := m.Landing(int(msg.rank), dst, sent, msg.arrival)
	if m.Interfaces != nil {
		m.reachAcross(index, dst, sent)
		return
	}
	m.give(lp, index, sent)
}

// Landing returns the LP that receives a message from another engine. It first checks that the
// arrival does not violate causality.
func (m *Messages) Landing(rank, dst int, sent, arrival vtime.Time) int32 {
	m.Partition.Engine.CheckArrival(rank, dst, sent, arrival)
	lp, local := m.Partition.Local(dst)
	if !local {
		invariant.Broken("a message for rank %d came to the engine of ranks %d to %d", dst, m.Partition.First, m.Partition.First+m.Partition.Ranks-1)
	}
	return lp
}

// match returns the arrival of a message's content at an LP that posted its receive, a request, at an instant,
// in a call. It sends a waiting sender the instant at which its send completes.
func (m *Messages) match(request int32, msg *message, lp int32, posted vtime.Time, c world.Procedure) (arrival vtime.Time) {
	if msg.request == 0 && !msg.large {
		return msg.arrival
	}
	src, dst := int(msg.rank), int(m.Partition.Global(lp))
	arrival, free := msg.arrival, max(posted, msg.arrival)
	if msg.large {
		arrival, free = m.Partition.Target.Rendezvous(src, dst, msg.bytes, posted, msg.arrival)
		if m.Partition.Activities != nil {
			m.Shaken(src, dst, msg.bytes, max(posted, msg.arrival), arrival)
		}
	} else {
		free = free.Add(m.Partition.Target.Match(src, dst))
		if m.Partition.Activities != nil {
			m.acked(dst, src)
		}
	}
	if max(arrival, free) == vtime.Forever {
		m.Partition.PastEnd(dst, max(posted, msg.arrival), c, "a message of %s from rank %d", spelling.Count(msg.bytes, "byte"), src)
	}
	if msg.request != 0 {
		m.acknowledge(msg, dst, m.postedBy(lp, request, msg, posted), free)
	}
	return arrival
}

// acknowledge completes the send of a message at instant t, after the match by a rank. ready is the result of postedBy.
func (m *Messages) acknowledge(msg *message, by int, ready readiness, t vtime.Time) {
	engine := m.ownerOf(msg)
	if m.Processors != nil {
		m.Processors.TellMatch(resource.OfProgram, engine, msg.request, by, t)
		return
	}
	if int(engine) == m.Partition.Engine.Index() {
		m.readied(msg.request, stats.LateReceiver, ready)
		m.Acknowledged(msg.request, t)
		return
	}
	w := m.Acknowledgement(world.RecordAcknowledgement, engine, msg.request, t, readyRecord)
	if m.why != nil {
		ready.write(&w)
	}
}

// postedBy returns the readiness of an LP that has posted the receive of a message, a request, at an instant.
func (m *Messages) postedBy(lp, request int32, msg *message, posted vtime.Time) readiness {
	if m.why == nil {
		return unasked
	}
	ready := readiness{posted, world.None, *m.LateAt(request)}
	if posted > msg.arrival {
		ready.by = m.Partition.Global(lp)
	}
	return ready
}

// Acknowledgement sends another engine the instant at which a send of that engine completes, and returns room for a number of bytes that
// statistics add. The kind of the record says whether index is a request or an agent.
func (m *Messages) Acknowledgement(kind byte, engine, index int32, t vtime.Time, added int) world.Writer {
	size := 1 + 4 + 8
	if m.why != nil {
		size += added
	}
	w := world.Writer{Rest: m.Partition.Engine.Record(int(engine), size)}
	w.U8(kind)
	w.U32(uint32(index))
	w.U64(uint64(t))
	return w
}

// DeliverAcknowledgement handles a record of Acknowledgement for a request.
func (m *Messages) DeliverAcknowledgement(r world.Reader) {
	request, t := int32(r.U32()), vtime.Time(r.U64())
	if m.why != nil {
		m.readied(request, stats.LateReceiver, readReadiness(&r))
	}
	m.Acknowledged(request, t)
}

// Acknowledged completes a send that waits for its match.
func (m *Messages) Acknowledged(request int32, t vtime.Time) {
	if r := m.Requests.At(request); r.Kind == SendRequest && r.rank < 0 {
		m.Partition.Engine.AwaitTail(^r.rank)
	}
	m.CompleteRequest(request, t)
	m.Notice(m.Requests.At(request).LP)
}

// incoming describes a message to receive or to probe for.
type incoming struct {
	Source int    // member or AnySource
	Tag    int    // or AnyTag
	Bytes  int64  // size of the buffer, if sized
	Buffer []byte // nil without a size: the completion owns the content
	Sized  bool   // a longer message is an error
}

// Receive posts a receive at the LP's clock and returns its request.
func (m *Messages) Receive(lp int32, q *Operands) int32 {
	v := &q.Incoming
	box := m.Box(lp)
	box.polls = 0
	index := m.NewRequest(lp, ReceiveRequest, q.Procedure)
	r := m.Requests.At(index)
	r.Comm, r.Peer, r.Tag = q.Comm.Index, int32(v.Source), int32(v.Tag)
	r.Buffer, r.Sized, r.Bytes = v.Buffer, v.Sized, v.Bytes
	r.cancellable = m.cancellable(lp, q.Procedure)
	r.undecided = r.cancellable || v.Source == world.AnySource
	if m.Processors != nil {
		m.Processors.Operate(lp, resource.Operation{Kind: opPost, Request: index})
	} else {
		m.post(lp, box, index)
	}
	return index
}

// WaitRequest starts a wait of the LP for one request; see beginWait.
func (m *Messages) WaitRequest(lp int32, request int32, c world.Procedure) bool {
	box := m.Box(lp)
	box.Wait.Subject = request
	return m.beginWait(lp, box, WaitOne, c)
}

// WaitRequests starts a wait of the LP for several requests; see beginWait. The slice belongs to
// the wait until the wait is over.
func (m *Messages) WaitRequests(lp int32, kind WaitKind, requests []int32, c world.Procedure) bool {
	box := m.Box(lp)
	box.Wait.Requests, box.Wait.pending, box.Wait.at = requests, 0, vtime.Forever
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		r := m.Requests.At(ri)
		r.waited = true
		if r.Complete {
			box.Wait.at = min(box.Wait.at, r.Time)
		} else {
			box.Wait.pending++
		}
	}
	return m.beginWait(lp, box, kind, c)
}

// unwaited clears the mark of requests that belong to the current wait.
func (m *Messages) unwaited(requests []int32) {
	for _, ri := range requests {
		if ri != 0 {
			m.Requests.At(ri).waited = false
		}
	}
}

// Probe starts a probe of the LP; see beginWait.
func (m *Messages) Probe(lp int32, kind WaitKind, q *Operands) bool {
	box := m.Box(lp)
	w := &box.Wait
	w.Comm, w.Peer, w.Tag, w.Subject = q.Comm.Index, int32(q.Incoming.Source), int32(q.Incoming.Tag), 0
	return m.beginWait(lp, box, kind, q.Procedure)
}

// ReceiveMatched completes a receive with the message of a matched probe.
func (m *Messages) ReceiveMatched(lp, request, message int32) {
	m.messages.At(message).next = 0
	if m.Processors != nil {
		m.Processors.Operate(lp, resource.Operation{Kind: opTake, Request: request, Index: message})
		return
	}
	m.take(lp, m.Box(lp), request, message)
}

// extract removes the message that a matched probe has found from the mailbox.
func (m *Messages) extract(lp int32, index int32) {
	m.removeUnexpected(m.Box(lp), index)
	m.messages.At(index).next = ^lp // in no chain: it belongs to the LP
}

// Found reports whether an index stands for a message that a matched probe of an LP has found and
// that no receive has taken yet.
func (m *Messages) Found(lp, index int32) bool {
	return m.messages.Taken(index) && m.messages.Peek(index).next == ^lp
}
