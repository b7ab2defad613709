package ptp

import (
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Operands holds the arguments of a point-to-point call.
type Operands struct {
	Procedure world.Procedure
	Comm      *world.Comm
	Member    int32    // the rank's, in Comm
	Matched   int32    // Mrecv: the message that a matched probe has found
	Outgoing  outgoing // of sends, Sendrecv among them
	Incoming  incoming // of receives and probes, Sendrecv among them
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

// Send sends a message of an LP at its clock, and advances the clock by the message's cost to
// the CPU. It returns a request that completes with the match or the departure of the data,
// 0 if the send is complete at once.
func (k *Messages) Send(lp int32, q *Operands) (request int32) {
	o, c := &q.Outgoing, q.Procedure
	box := k.Box(lp)
	box.polls = 0
	to := q.Comm.Peers()
	dst := to.RankOf(o.Dest, k.Global(lp))
	if uint(dst-k.First) >= uint(k.Ranks) {
		k.sentTo = k.Engine.Partition().Owner(dst)
	}
	index := k.messages.Take()
	m := k.messages.At(index) // made in its place
	m.bytes, m.comm, m.source, m.rank, m.tag = o.Bytes, to.Index, q.Member, k.Global(lp), int32(o.Tag)
	m.sender, m.large = 0, o.Bytes > k.EagerLimit
	if o.Mode == world.Ready {
		m.sender = sendsReady
	}
	if o.Payload != nil {
		m.payload, m.view, m.lent = o.Payload, true, o.Lent
	}
	if o.Mode == world.Synchronous || m.large && o.Mode != world.Buffered {
		m.request = k.NewRequest(lp, SendRequest, c)
		r := k.Requests.At(m.request)
		r.Comm, r.Peer, r.Tag = to.Index, int32(o.Dest), int32(o.Tag)
	}
	if k.Processors != nil {
		return k.postponeSend(lp, index, dst, c)
	}
	sent := k.Clock[lp]
	var jitter vtime.Duration
	m.arrival, jitter = k.depart(lp, box, m, dst, o.Mode)
	if m.arrival == vtime.Forever || k.Clock[lp] == vtime.Forever || m.large && k.Target.Transfer(int(m.rank), dst, o.Bytes) == vtime.Endless {
		k.Clock[lp] = sent
		k.Raise(lp, c, world.EndError("a message of %d bytes to rank %d", o.Bytes, dst))
		k.Completion.Fatal = true
		k.messages.Release(index)
		return 0
	}
	k.Engine.Statistics.Messages++
	if m.large {
		k.opened(lp)
		if k.InCalls && m.request != 0 {
			back := m.arrival.Add(k.Target.Latency(dst, int(m.rank)))
			_, k.Requests.At(m.request).arrival = k.Target.Data(int(m.rank), dst, m.bytes, back)
		}
	}
	request = m.request
	if k.Crosses(int(m.rank), dst) {
		k.sendAcross(index, dst, jitter)
		return request
	}
	k.dispatch(index, dst, sent)
	return request
}

// depart charges an LP for a send and returns the message's arrival, without others between the nodes, and the jitter in
// it. Above the eager limit that is the arrival of REQ.
func (k *Messages) depart(lp int32, box *Mailbox, m *message, dst int, mode world.SendMode) (arrival vtime.Time, jitter vtime.Duration) {
	src, bytes := int(m.rank), m.bytes
	if m.large {
		bytes = 0
	}
	leaves := k.Clock[lp]
	if k.Charges {
		k.Clock[lp], leaves = k.Target.Send(k.port(lp), bytes, leaves)
	}
	if m.large && mode == world.Buffered {
		k.Clock[lp] = k.Clock[lp].Add(k.Target.Copy(m.bytes))
	}
	c := k.costOf(m.rank, int32(dst), bytes)
	latency, transfer := c.latency, c.transfer
	if k.Target.HasJitter() {
		jitter = k.jitter(lp, src, dst)
		transfer = transfer.Plus(jitter)
	}
	arrival = k.inOrder(lp, &box.flight, int32(dst), leaves, latency, transfer)
	if k.Activities != nil {
		k.Departed(src, dst, bytes, m.large, leaves, arrival)
	}
	return arrival, jitter
}

// cost is what an eager message between two ranks takes: of the sender's processor, the overhead before
// the message leaves and the copying that may go on after it; of the network, the latency and what
// the bytes add; of the receiver's processor, the time to receive it.
type cost struct {
	src, dst          int32
	bytes             int64
	overhead, copying vtime.Duration
	latency, transfer vtime.Duration
	receiving         vtime.Duration
}

// costOf returns the cost of a message, valid until the next call. A rank often sends messages of one
// size to one other in a row.
func (k *Messages) costOf(src, dst int32, bytes int64) *cost {
	c := &k.cost
	if c.src != src || c.dst != dst || c.bytes != bytes || invariant.Enabled {
		k.workOut(src, dst, bytes)
	}
	return c
}

// workOut stores the cost of a message, whose overhead is stored already. What the processors spend
// depends on the size alone.
func (k *Messages) workOut(src, dst int32, bytes int64) {
	c, last := &k.cost, k.cost
	if c.bytes != bytes {
		c.bytes, c.copying, c.receiving = bytes, k.Target.Copy(bytes), k.Target.ReceiveTime(bytes)
	}
	c.src, c.dst = src, dst
	c.latency, c.transfer = k.Target.LatencyAndTransfer(int(src), int(dst), bytes)
	if invariant.Enabled && last.src == src && last.dst == dst && last.bytes == bytes && last != *c {
		invariant.Broken("a message costs %+v now, and %+v before", *c, last)
	}
}

// jitter returns the jitter of a rank's next message, which it names by its number.
func (k *Messages) jitter(lp int32, src, dst int) vtime.Duration {
	if k.jittered == nil {
		k.jittered = make([]uint32, k.Ranks)
	}
	k.jittered[lp]++
	return k.Target.Jitter(src, dst, uint64(k.jittered[lp]))
}

// port returns the state of a rank's network interface, nil under a model without.
func (k *Messages) port(lp int32) *network.Port {
	if !k.HasPorts {
		return nil
	}
	if k.Ports == nil {
		k.Ports = make([]network.Port, k.Ranks)
	}
	return &k.Ports[lp]
}

// NewRequest returns a new request of an LP. Its generation tells a stale copy of a Request
// from a valid one, unless exactly a multiple of 2^32 requests were made in between and the
// last took the same index.
func (k *Messages) NewRequest(lp int32, kind requestKind, c world.Procedure) int32 {
	k.generation++
	index := k.Requests.Take()
	*k.Requests.At(index) = request{Kind: kind, LP: lp, Procedure: c, generation: k.generation, posted: k.Clock[lp]}
	k.Box(lp).Wait.active++
	if kind == ReceiveRequest {
		k.opened(lp)
	}
	return index
}

// dispatch delivers a message to a local LP, or sends it as a record to the engine that owns
// the destination. The message owns its payload, or that is a view; see keep.
func (k *Messages) dispatch(index int32, dst int, sent vtime.Time) {
	lp, local := k.Local(dst)
	if local {
		k.give(lp, index, sent)
		return
	}
	m := k.messages.At(index)
	k.sendMessage(m, dst, sent)
	m.free(k)
	if k.Processors != nil && m.request != 0 {
		k.Processors.AwaitMatch(m.arrival)
	}
	k.messages.Release(index)
}

// give delivers a message, sent at an instant, to the mailbox or processor of a local LP.
func (k *Messages) give(lp, index int32, sent vtime.Time) {
	if k.Processors != nil {
		m := k.messages.At(index)
		k.keep(m)
		k.Processors.Reach(lp, resource.Arrival{At: m.arrival, Released: sent, Source: m.rank, Index: index})
		return
	}
	k.arrive(lp, index)
}

// keep copies the payload of a message that no receive takes at once, if it is a view. A sender
// that waits for the match lends it until then.
func (k *Messages) keep(m *message) {
	if m.view && !(m.lent && m.request != 0) {
		k.keepOwn(m)
	}
}

// keepOwn gives a message, whose payload is a view, a copy of it.
func (k *Messages) keepOwn(m *message) {
	m.view = false
	if n := len(m.payload); m.payload != nil && n <= smallPayload {
		copy(m.small[:], m.payload)
		m.payload = m.small[:n:n]
		return
	}
	m.payload = k.KeepPayload(m.payload)
}

// pooled reports whether a message owns a pooled buffer with its payload.
func (m *message) pooled() bool { return cap(m.payload) > smallPayload && !m.view }

// free gives the buffer of a message's payload back, if the message owns one.
func (m *message) free(k *Messages) {
	if m.pooled() {
		k.Buffers.Release(m.payload)
	}
}

// KeepPayload returns a copy of a message's content in a pooled buffer. It is nil without
// content, and not nil for content of no bytes.
func (k *Messages) KeepPayload(payload []byte) []byte {
	if payload == nil {
		return nil
	}
	kept := k.Buffers.Take(max(len(payload), 1))[:len(payload)]
	copy(kept, payload)
	return kept
}

// messageRecord is the size of the fixed part of a message between engines.
const messageRecord = 2 + 8 + 5*4 + 3*8

// Flags of a message between engines.
const (
	FlagPayload = 1 << iota
	flagReadyMode
	flagLarge
	flagBlocks
)

// sendMessage sends a message as a record to the engine that owns its destination.
func (k *Messages) sendMessage(m *message, dst int, sent vtime.Time) {
	engine, tail := k.Engine.Partition().Owner(dst), k.tailOf(m)
	var w world.Writer
	if tail != nil {
		r := k.Requests.At(m.request)
		k.Lender.Lend(r.LP, tail)
		var number int32
		w.Rest, number = k.Engine.RecordWithTail(engine, messageRecord, tail, k.Lender)
		r.rank = ^number
	} else {
		w.Rest = k.Engine.Record(engine, messageRecord+len(m.payload))
	}
	w.U8(world.RecordMessage)
	flags := byte(0)
	if m.payload != nil {
		flags |= FlagPayload
	}
	if m.readyMode() {
		flags |= flagReadyMode
	}
	if m.large {
		flags |= flagLarge
	}
	if m.large && m.request != 0 && k.Requests.At(m.request).Procedure.Blocks() {
		flags |= flagBlocks
	}
	w.U8(flags)
	w.U64(k.Comms.At(m.comm).Context)
	w.U32(uint32(dst))
	w.U32(uint32(m.source))
	w.U32(uint32(m.rank))
	w.U32(uint32(m.tag))
	w.U32(uint32(m.request))
	w.U64(uint64(sent))
	w.U64(uint64(m.arrival))
	w.U64(uint64(m.bytes))
	if tail == nil {
		copy(w.Rest, m.payload)
	}
}

// leastTail is the size of a content, in bytes, from which on it costs more to copy than to send apart.
const leastTail = 16 << 10

// Lender holds memory of LPs.
type Lender interface {
	// Lend has memory of an LP stay as it is and where it is until the LP goes on.
	Lend(lp int32, memory []byte)
}

// tailOf returns the content of a message that another engine gets from where it lies, nil if it is
// copied. It is that of a rendezvous whose sender is in one call until the receiver has answered.
func (k *Messages) tailOf(m *message) []byte {
	if k.Lender == nil || k.Interfaces != nil || !m.large || m.request == 0 || len(m.payload) < leastTail || k.Processors != nil ||
		!k.Requests.At(m.request).Procedure.Blocks() || !k.Engine.SendsTails() {
		return nil
	}
	return m.payload
}

// DeliverMessage handles the record of a message from an engine.
func (k *Messages) DeliverMessage(src int, r world.Reader) {
	flags := r.U8()
	comm := k.above.Expect(r.U64())
	dst := int(r.U32())
	index := k.messages.Take()
	m := k.messages.At(index)
	m.comm, m.source, m.rank, m.tag, m.request = comm, int32(r.U32()), int32(r.U32()), int32(r.U32()), int32(r.U32())
	m.sender, m.large = 0, flags&flagLarge != 0
	if flags&flagReadyMode != 0 {
		m.sender |= sendsReady
	}
	if flags&flagBlocks != 0 {
		m.sender |= sendsInCall
	}
	sent := vtime.Time(r.U64())
	m.arrival, m.bytes = vtime.Time(r.U64()), int64(r.U64())
	if flags&FlagPayload != 0 {
		m.payload, m.view = r.Rest, true
	}
	lp := k.Landing(int(m.rank), dst, sent, m.arrival)
	if k.Interfaces != nil {
		k.reachAcross(index, dst, sent)
		return
	}
	k.give(lp, index, sent)
}

// Landing returns the LP that receives a message from another engine. It first checks that
// the arrival keeps causality.
func (k *Messages) Landing(rank, dst int, sent, arrival vtime.Time) int32 {
	k.Engine.CheckArrival(rank, dst, sent, arrival)
	lp, local := k.Local(dst)
	if !local {
		invariant.Broken("a message for rank %d came to the engine of ranks %d to %d", dst, k.First, k.First+k.Ranks-1)
	}
	return lp
}

// match returns the arrival of a message's content at an LP that posted its receive at an
// instant, in a call. It tells a waiting sender when its send completes.
func (k *Messages) match(m *message, lp int32, posted vtime.Time, c world.Procedure) (arrival vtime.Time) {
	if m.request == 0 && !m.large {
		return m.arrival
	}
	src, dst := int(m.rank), int(k.Global(lp))
	arrival, free := m.arrival, max(posted, m.arrival)
	if m.large {
		arrival, free = k.Target.Rendezvous(src, dst, m.bytes, posted, m.arrival)
		if k.Activities != nil {
			k.Shaken(src, dst, m.bytes, max(posted, m.arrival), arrival)
		}
	} else {
		free = free.Add(k.Target.Match(src, dst))
		if k.Activities != nil {
			k.acked(dst, src)
		}
	}
	if max(arrival, free) == vtime.Forever {
		k.PastEnd(dst, max(posted, m.arrival), c, "a message of %d bytes from rank %d", m.bytes, src)
	}
	if m.request != 0 {
		k.acknowledge(m, dst, free)
	}
	return arrival
}

// acknowledge completes the send of a message at instant t, after the match by a rank.
func (k *Messages) acknowledge(m *message, by int, t vtime.Time) {
	engine := k.ownerOf(m)
	if k.Processors != nil {
		k.Processors.TellMatch(resource.OfProgram, engine, m.request, by, t)
		return
	}
	if int(engine) == k.Engine.Index() {
		k.Acknowledged(m.request, t)
		return
	}
	k.SendAcknowledgement(world.RecordAcknowledgement, engine, m.request, t)
}

// SendAcknowledgement sends another engine the instant at which a send there completes. The
// kind of the record says whether index is a request or an agent.
func (k *Messages) SendAcknowledgement(kind byte, engine, index int32, t vtime.Time) {
	w := world.Writer{Rest: k.Engine.Record(int(engine), 1+4+8)}
	w.U8(kind)
	w.U32(uint32(index))
	w.U64(uint64(t))
}

// Acknowledged completes a send that waits for its match.
func (k *Messages) Acknowledged(request int32, t vtime.Time) {
	if r := k.Requests.At(request); r.Kind == SendRequest && r.rank < 0 {
		k.Engine.AwaitTail(^r.rank)
	}
	k.CompleteRequest(request, t)
	k.Notice(k.Requests.At(request).LP)
}

// incoming is a message to receive or to probe for.
type incoming struct {
	Source int    // member or AnySource
	Tag    int    // or AnyTag
	Bytes  int64  // size of the buffer, if sized
	Buffer []byte // nil without a size: the message becomes part of the completion
	Sized  bool   // a longer message is an error
}

// Receive posts a receive at the LP's clock and returns its request.
func (k *Messages) Receive(lp int32, q *Operands) int32 {
	v := &q.Incoming
	box := k.Box(lp)
	box.polls = 0
	index := k.NewRequest(lp, ReceiveRequest, q.Procedure)
	r := k.Requests.At(index)
	r.Comm, r.Peer, r.Tag = q.Comm.Index, int32(v.Source), int32(v.Tag)
	r.Buffer, r.Sized, r.Bytes = v.Buffer, v.Sized, v.Bytes
	r.cancellable = k.cancellable(lp, q.Procedure)
	r.undecided = r.cancellable || v.Source == world.AnySource
	if k.Processors != nil {
		k.Processors.Operate(lp, resource.Operation{Kind: opPost, Request: index})
	} else {
		k.post(lp, box, index)
	}
	return index
}

// WaitRequest starts a wait of the LP for one request; see beginWait.
func (k *Messages) WaitRequest(lp int32, request int32, c world.Procedure) bool {
	box := k.Box(lp)
	box.Wait.Subject = request
	return k.beginWait(lp, box, WaitOne, c)
}

// WaitRequests starts a wait of the LP for several requests; see beginWait. The slice belongs
// to the wait until it is over.
func (k *Messages) WaitRequests(lp int32, kind WaitKind, requests []int32, c world.Procedure) bool {
	box := k.Box(lp)
	box.Wait.Requests, box.Wait.pending, box.Wait.at = requests, 0, vtime.Forever
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		r := k.Requests.At(ri)
		r.waited = true
		if r.Complete {
			box.Wait.at = min(box.Wait.at, r.Time)
		} else {
			box.Wait.pending++
		}
	}
	return k.beginWait(lp, box, kind, c)
}

// unwaited clears the mark of requests that belong to the current wait.
func (k *Messages) unwaited(requests []int32) {
	for _, ri := range requests {
		if ri != 0 {
			k.Requests.At(ri).waited = false
		}
	}
}

// Probe starts a probe of the LP; see beginWait.
func (k *Messages) Probe(lp int32, kind WaitKind, q *Operands) bool {
	box := k.Box(lp)
	w := &box.Wait
	w.Comm, w.Peer, w.Tag, w.Subject = q.Comm.Index, int32(q.Incoming.Source), int32(q.Incoming.Tag), 0
	return k.beginWait(lp, box, kind, q.Procedure)
}

// ReceiveMatched receives the message of a matched probe.
func (k *Messages) ReceiveMatched(lp, request, message int32) {
	k.messages.At(message).next = 0
	if k.Processors != nil {
		k.Processors.Operate(lp, resource.Operation{Kind: opTake, Request: request, Index: message})
		return
	}
	k.take(lp, k.Box(lp), request, message)
}

// extract removes the message that a matched probe has found from the mailbox.
func (k *Messages) extract(lp int32, index int32) {
	k.removeUnexpected(k.Box(lp), index)
	k.messages.At(index).next = ^lp // in no chain: it is the LP's
}

// Found reports whether an index is that of a message which a matched probe of an LP has
// found and which is not received yet.
func (k *Messages) Found(lp, index int32) bool {
	return k.messages.Given(index) && k.messages.Peek(index).next == ^lp
}
