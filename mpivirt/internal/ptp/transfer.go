package ptp

import (
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// SendMode is when a send is complete and what it asks of the receiver.
type SendMode uint8

const (
	standard    SendMode = iota
	Synchronous          // complete once a receive has matched
	Ready                // a matching receive must have been posted
	Buffered             // complete at once, whatever the size
)

// Operands is what a call between two ranks works on.
type Operands struct {
	Procedure world.Procedure
	Comm      *world.Comm
	Member    int32    // that the rank is in comm
	Matched   int32    // Mrecv: the message that a matched probe has found
	Outgoing  outgoing // sends, and the one of a Sendrecv
	Incoming  incoming // receives and probes, and the receive of a Sendrecv
}

// outgoing is what a call sends.
type outgoing struct {
	Dest    int // member
	Tag     int
	Bytes   int64
	Payload []byte // nil if only the size is simulated
	Mode    SendMode
}

// Send puts a message under way from an LP at its clock, which moves on by what the
// message costs the processor. It returns the request that is complete once the
// receive has matched or the data have left, or 0 if the sender is free at once.
func (k *Messages) Send(lp int32, q *Operands) (request int32) {
	o, c := &q.Outgoing, q.Procedure
	box := k.Box(lp)
	box.polls = 0
	dst := q.Comm.RankOf(o.Dest, k.Global(lp))
	if uint(dst-k.First) >= uint(k.Ranks) {
		k.sentTo = k.Engine.Partition().Owner(dst)
	}
	m := message{
		bytes: o.Bytes, comm: q.Comm.Index, source: q.Member, rank: k.Global(lp), tag: int32(o.Tag),
		engine: int32(k.Engine.Index()), readyMode: o.Mode == Ready, large: o.Bytes > k.EagerLimit,
	}
	if o.Mode == Synchronous || m.large && o.Mode != Buffered {
		m.request = k.NewRequest(lp, SendRequest, c)
		r := k.Requests.At(m.request)
		r.Comm, r.Peer, r.Tag = q.Comm.Index, int32(o.Dest), int32(o.Tag)
	}
	if k.Processors != nil {
		return k.postponeSend(lp, &m, dst, o.Payload, c)
	}
	sent := k.Clock[lp]
	m.arrival = k.depart(lp, box, &m, dst, o.Mode)
	if m.arrival == vtime.Forever || k.Clock[lp] == vtime.Forever || m.large && k.Target.Transfer(int(m.rank), dst, o.Bytes) == vtime.Endless {
		k.Clock[lp] = sent
		k.Raise(lp, c, world.EndError("a message of %d bytes to rank %d", o.Bytes, dst))
		k.Completion.Fatal = true
		return 0
	}
	k.Engine.Statistics.Messages++
	k.dispatch(&m, dst, sent, o.Payload)
	return m.request
}

// depart charges an LP for sending a message and returns its arrival. Of a message
// above the eager limit only the request for it is under way.
func (k *Messages) depart(lp int32, box *Mailbox, m *message, dst int, mode SendMode) vtime.Time {
	src, bytes := int(m.rank), m.bytes
	if m.large {
		bytes = 0
	}
	leaves := k.Clock[lp]
	if k.Charges {
		k.Clock[lp], leaves = k.Target.Send(k.port(lp), bytes, leaves)
	}
	if m.large && mode == Buffered {
		k.Clock[lp] = k.Clock[lp].Add(k.Target.Copy(m.bytes))
	}
	return box.flight.send(int32(dst), leaves, k.Target.Latency(src, dst), k.Target.Transfer(src, dst, bytes))
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

// NewRequest takes a request of an LP. Its generation tells a stale copy of a Request
// from one that is valid; it fails to do so only where exactly a multiple of 2^32
// requests of the engine were made in between and the last took the same place.
func (k *Messages) NewRequest(lp int32, kind requestKind, c world.Procedure) int32 {
	k.generation++
	index := k.Requests.Take()
	*k.Requests.At(index) = request{Kind: kind, LP: lp, Procedure: c, generation: k.generation, posted: k.Clock[lp]}
	return index
}

// dispatch brings a message to its destination: into the mailbox of a local LP,
// or as a record to the engine that owns it. The payload is copied.
func (k *Messages) dispatch(m *message, dst int, sent vtime.Time, payload []byte) {
	lp, local := k.Local(dst)
	if !local {
		k.sendMessage(m, dst, sent, payload)
		if k.Processors != nil && m.request != 0 {
			k.AwaitMatch(m.arrival)
		}
		return
	}
	m.payload = k.KeepPayload(payload)
	index := k.messages.Take()
	*k.messages.At(index) = *m
	k.give(lp, index, sent)
}

// give hands a message, sent at an instant, to a local LP.
func (k *Messages) give(lp, index int32, sent vtime.Time) {
	if k.Processors != nil {
		m := k.messages.At(index)
		k.Reach(lp, Arrival{At: m.arrival, Released: sent, Source: m.rank, Index: index})
		return
	}
	k.arrive(lp, index)
}

// KeepPayload returns a copy of a message's content in a buffer of the kernel, nil if
// there is none. Content of no bytes stays content.
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
)

func (k *Messages) sendMessage(m *message, dst int, sent vtime.Time, payload []byte) {
	w := world.Writer{Rest: k.Engine.Record(k.Engine.Partition().Owner(dst), messageRecord+len(payload))}
	w.U8(world.RecordMessage)
	flags := byte(0)
	if payload != nil {
		flags |= FlagPayload
	}
	if m.readyMode {
		flags |= flagReadyMode
	}
	if m.large {
		flags |= flagLarge
	}
	w.U8(flags)
	w.U64(k.Comms[m.comm].Context)
	w.U32(uint32(dst))
	w.U32(uint32(m.source))
	w.U32(uint32(m.rank))
	w.U32(uint32(m.tag))
	w.U32(uint32(m.request))
	w.U64(uint64(sent))
	w.U64(uint64(m.arrival))
	w.U64(uint64(m.bytes))
	copy(w.Rest, payload)
}

func (k *Messages) DeliverMessage(src int, record []byte, r world.Reader) {
	flags := r.U8()
	comm, known := k.Contexts[r.U64()]
	if !known {
		k.Stray(src, record)
		return
	}
	dst := int(r.U32())
	m := message{
		comm: comm, source: int32(r.U32()), rank: int32(r.U32()), tag: int32(r.U32()), request: int32(r.U32()),
		engine: int32(src), readyMode: flags&flagReadyMode != 0, large: flags&flagLarge != 0,
	}
	sent := vtime.Time(r.U64())
	m.arrival, m.bytes = vtime.Time(r.U64()), int64(r.U64())
	if flags&FlagPayload != 0 {
		m.payload = k.KeepPayload(r.Rest)
	}
	lp := k.Landing(int(m.rank), dst, sent, m.arrival)
	index := k.messages.Take()
	*k.messages.At(index) = m
	k.give(lp, index, sent)
}

// Landing returns the LP that a message from another engine is for, once its times are
// found to be in order.
func (k *Messages) Landing(rank, dst int, sent, arrival vtime.Time) int32 {
	k.Engine.CheckArrival(rank, dst, sent, arrival)
	lp, local := k.Local(dst)
	if !local {
		invariant.Broken("a message for rank %d came to the engine of ranks %d to %d", dst, k.First, k.First+k.Ranks-1)
	}
	return lp
}

// Stray keeps a record for a communicator that this engine's ranks have not made
// yet: a member elsewhere was faster.
func (k *Messages) Stray(src int, record []byte) {
	r := world.Reader{Rest: record[2:]}
	context := r.U64()
	kept := append([]byte{byte(src), byte(src >> 8), byte(src >> 16), byte(src >> 24)}, record...)
	k.Strays[context] = append(k.Strays[context], kept)
}

// DeliverStrays delivers what came for a communicator before it was made.
func (k *Messages) DeliverStrays(context uint64) {
	kept := k.Strays[context]
	delete(k.Strays, context)
	for _, record := range kept {
		src := int(record[0]) | int(record[1])<<8 | int(record[2])<<16 | int(record[3])<<24
		k.above.Deliver(src, record[4:])
	}
}

// match returns when the content of a message is there whose receive an LP posted at
// an instant, in a call, and tells a sender that waits for the match when it is free.
func (k *Messages) match(m *message, lp int32, posted vtime.Time, c world.Procedure) (arrival vtime.Time) {
	if m.request == 0 && !m.large {
		return m.arrival
	}
	src, dst := int(m.rank), int(k.Global(lp))
	arrival, free := m.arrival, max(posted, m.arrival)
	if m.large {
		arrival, free = k.Target.Rendezvous(src, dst, m.bytes, posted, m.arrival)
	} else {
		free = free.Add(k.Target.Match(src, dst))
	}
	if max(arrival, free) == vtime.Forever {
		k.PastEnd(dst, max(posted, m.arrival), c, "a message of %d bytes from rank %d", m.bytes, src)
	}
	if m.request != 0 {
		k.acknowledge(m, dst, free)
	}
	return arrival
}

// acknowledge tells the sender of a message that it is free at instant t, since a rank
// has matched it.
func (k *Messages) acknowledge(m *message, by int, t vtime.Time) {
	if k.Processors != nil {
		k.TellMatch(world.RecordMatch, m.engine, m.request, by, t)
		return
	}
	if int(m.engine) == k.Engine.Index() {
		k.Acknowledged(m.request, t)
		return
	}
	k.SendAcknowledgement(world.RecordAcknowledgement, m.engine, m.request, t)
}

// SendAcknowledgement tells another engine when the sender with an index there is free:
// a request, or an agent, as the kind of the record says.
func (k *Messages) SendAcknowledgement(kind byte, engine, index int32, t vtime.Time) {
	w := world.Writer{Rest: k.Engine.Record(int(engine), 1+4+8)}
	w.U8(kind)
	w.U32(uint32(index))
	w.U64(uint64(t))
}

// Acknowledged completes a send that waits for its match.
func (k *Messages) Acknowledged(request int32, t vtime.Time) {
	k.CompleteRequest(request, t)
	k.Notice(k.Requests.At(request).LP)
}

// incoming is what a call receives.
type incoming struct {
	Source int    // member or AnySource
	Tag    int    // or AnyTag
	Bytes  int64  // room, if sized
	Buffer []byte // nil without a size: the message becomes part of the completion
	Sized  bool   // a longer message is an error
}

// Receive posts a receive at the LP's clock.
func (k *Messages) Receive(lp int32, q *Operands) int32 {
	v := &q.Incoming
	box := k.Box(lp)
	box.polls = 0
	index := k.NewRequest(lp, ReceiveRequest, q.Procedure)
	r := k.Requests.At(index)
	r.Comm, r.Peer, r.Tag = q.Comm.Index, int32(v.Source), int32(v.Tag)
	r.Buffer, r.Sized, r.Bytes = v.Buffer, v.Sized, v.Bytes
	if k.Processors != nil {
		k.Operate(lp, Operation{Kind: opPost, request: index})
	} else {
		k.post(lp, box, index)
	}
	return index
}

// WaitRequest makes the LP wait for one request; see beginWait.
func (k *Messages) WaitRequest(lp int32, request int32, c world.Procedure) bool {
	box := k.Box(lp)
	box.Wait.Request = request
	return k.beginWait(lp, box, WaitOne, c)
}

// WaitRequests makes the LP wait for several; see beginWait. The kernel keeps the
// slice until the wait is over.
func (k *Messages) WaitRequests(lp int32, kind WaitKind, requests []int32, c world.Procedure) bool {
	box := k.Box(lp)
	box.Wait.Requests, box.Wait.pending = requests, 0
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		r := k.Requests.At(ri)
		r.waited = true
		if !r.Complete {
			box.Wait.pending++
		}
	}
	return k.beginWait(lp, box, kind, c)
}

// unwaited ends the bond between requests that stay and a wait that is over.
func (k *Messages) unwaited(requests []int32) {
	for _, ri := range requests {
		if ri != 0 {
			k.Requests.At(ri).waited = false
		}
	}
}

// Probe makes the LP probe; see beginWait. take removes the message found.
func (k *Messages) Probe(lp int32, kind WaitKind, q *Operands) bool {
	box := k.Box(lp)
	w := &box.Wait
	w.Comm, w.Peer, w.Tag, w.message = q.Comm.Index, int32(q.Incoming.Source), int32(q.Incoming.Tag), 0
	return k.beginWait(lp, box, kind, q.Procedure)
}

// ReceiveMatched receives the message of a matched probe.
func (k *Messages) ReceiveMatched(lp, request, message int32) {
	k.messages.At(message).next = 0
	if k.Processors != nil {
		k.Operate(lp, Operation{Kind: opTake, request: request, Index: message})
		return
	}
	k.take(lp, k.Box(lp), request, message)
}

// extract takes the message that a matched probe found out of the mailbox.
func (k *Messages) extract(lp int32, index int32) {
	box := k.Box(lp)
	previous := int32(0)
	for at := box.unexpected.head; at != index; at = k.messages.At(at).next {
		previous = at
	}
	k.unlink(box, previous, index)
	k.messages.At(index).next = ^lp // in no chain: it is the LP's
}

// Found reports whether a matched probe of an LP has found a message, which is not received
// yet.
func (k *Messages) Found(lp, index int32) bool {
	return index > 0 && index <= k.messages.Next && k.messages.Peek(index).next == ^lp
}
