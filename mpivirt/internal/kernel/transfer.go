package kernel

import (
	"gigarank/invariant"
	"gigarank/network"
	"gigarank/vtime"
)

// sendMode is when a send is complete and what it asks of the receiver.
type sendMode uint8

const (
	standard    sendMode = iota
	synchronous          // complete once a receive has matched
	ready                // a matching receive must have been posted
	buffered             // complete at once, whatever the size
)

// outgoing is what a call sends.
type outgoing struct {
	dest    int // member
	tag     int
	bytes   int64
	payload []byte // nil if only the size is simulated
	mode    sendMode
}

// send puts a message under way from an LP at its clock, which moves on by what the
// message costs the processor. It returns the request that is complete once the
// receive has matched or the data have left, or 0 if the sender is free at once.
func (k *Kernel) send(lp int32, q *Call) (request int32) {
	o, c := &q.outgoing, q.Procedure
	box := k.box(lp)
	box.polls = 0
	dst := q.comm.rankOf(o.dest, k.Global(lp))
	if uint(dst-k.lo) >= uint(k.n) {
		k.towards = k.eng.Partition().Owner(dst)
	}
	m := message{
		bytes: o.bytes, comm: q.comm.Index, source: q.member, rank: k.Global(lp), tag: int32(o.tag),
		engine: int32(k.eng.Index()), ready: o.mode == ready, large: o.bytes > k.eagerLimit,
	}
	if o.mode == synchronous || m.large && o.mode != buffered {
		m.request = k.newRequest(lp, sendRequest, c)
		r := k.requests.at(m.request)
		r.comm, r.peer, r.tag = q.comm.Index, int32(o.dest), int32(o.tag)
	}
	if k.processors != nil {
		return k.postponeSend(lp, &m, dst, o.payload, c)
	}
	sent := k.Clock[lp]
	m.arrival = k.depart(lp, box, &m, dst, o.mode)
	if m.arrival == vtime.Forever || k.Clock[lp] == vtime.Forever || m.large && k.tgt.Transfer(int(m.rank), dst, o.bytes) == vtime.Endless {
		k.Clock[lp] = sent
		k.raise(lp, c, endError("a message of %d bytes to rank %d", o.bytes, dst))
		k.Completion.Fatal = true
		return 0
	}
	k.eng.Statistics.Messages++
	k.dispatch(&m, dst, sent, o.payload)
	return m.request
}

// depart charges an LP for sending a message and returns its arrival. Of a message
// above the eager limit only the request for it is under way.
func (k *Kernel) depart(lp int32, box *mailbox, m *message, dst int, mode sendMode) vtime.Time {
	src, bytes := int(m.rank), m.bytes
	if m.large {
		bytes = 0
	}
	leaves := k.Clock[lp]
	if k.charges {
		k.Clock[lp], leaves = k.tgt.Send(k.port(lp), bytes, leaves)
	}
	if m.large && mode == buffered {
		k.Clock[lp] = k.Clock[lp].Add(k.tgt.Copy(m.bytes))
	}
	return box.flight.send(int32(dst), leaves, k.tgt.Latency(src, dst), k.tgt.Transfer(src, dst, bytes))
}

// port returns the state of a rank's network interface, nil under a model without.
func (k *Kernel) port(lp int32) *network.Port {
	if !k.hasPorts {
		return nil
	}
	if k.ports == nil {
		k.ports = make([]network.Port, k.n)
	}
	return &k.ports[lp]
}

// newRequest takes a request of an LP. Its generation tells a stale copy of a Request
// from one that is valid; it fails to do so only where exactly a multiple of 2^32
// requests of the engine were made in between and the last took the same place.
func (k *Kernel) newRequest(lp int32, kind requestKind, c Procedure) int32 {
	k.generation++
	index := k.requests.take()
	*k.requests.at(index) = request{kind: kind, lp: lp, call: c, generation: k.generation, posted: k.Clock[lp]}
	return index
}

// dispatch brings a message to its destination: into the mailbox of a local LP,
// or as a record to the engine that owns it. The payload is copied.
func (k *Kernel) dispatch(m *message, dst int, sent vtime.Time, payload []byte) {
	lp, local := k.local(dst)
	if !local {
		k.sendMessage(m, dst, sent, payload)
		if k.processors != nil && m.request != 0 {
			k.awaitMatch(m.arrival)
		}
		return
	}
	m.payload = k.keepPayload(payload)
	index := k.messages.take()
	*k.messages.at(index) = *m
	k.give(lp, index, sent)
}

// give hands a message, sent at an instant, to a local LP.
func (k *Kernel) give(lp, index int32, sent vtime.Time) {
	if k.processors != nil {
		m := k.messages.at(index)
		k.reach(lp, arrival{at: m.arrival, released: sent, source: m.rank, index: index})
		return
	}
	k.arrive(lp, index)
}

// keepPayload returns a copy of a message's content in a buffer of the kernel, nil if
// there is none. Content of no bytes stays content.
func (k *Kernel) keepPayload(payload []byte) []byte {
	if payload == nil {
		return nil
	}
	kept := k.buffers.take(max(len(payload), 1))[:len(payload)]
	copy(kept, payload)
	return kept
}

// messageRecord is the size of the fixed part of a message between engines.
const messageRecord = 2 + 8 + 5*4 + 3*8

// Flags of a message between engines.
const (
	flagPayload = 1 << iota
	flagReady
	flagLarge
)

func (k *Kernel) sendMessage(m *message, dst int, sent vtime.Time, payload []byte) {
	w := writer{k.eng.Record(k.eng.Partition().Owner(dst), messageRecord+len(payload))}
	w.u8(recordMessage)
	flags := byte(0)
	if payload != nil {
		flags |= flagPayload
	}
	if m.ready {
		flags |= flagReady
	}
	if m.large {
		flags |= flagLarge
	}
	w.u8(flags)
	w.u64(k.comms[m.comm].context)
	w.u32(uint32(dst))
	w.u32(uint32(m.source))
	w.u32(uint32(m.rank))
	w.u32(uint32(m.tag))
	w.u32(uint32(m.request))
	w.u64(uint64(sent))
	w.u64(uint64(m.arrival))
	w.u64(uint64(m.bytes))
	copy(w.b, payload)
}

func (k *Kernel) deliverMessage(src int, record []byte, r reader) {
	flags := r.u8()
	comm, known := k.contexts[r.u64()]
	if !known {
		k.stray(src, record)
		return
	}
	dst := int(r.u32())
	m := message{
		comm: comm, source: int32(r.u32()), rank: int32(r.u32()), tag: int32(r.u32()), request: int32(r.u32()),
		engine: int32(src), ready: flags&flagReady != 0, large: flags&flagLarge != 0,
	}
	sent := vtime.Time(r.u64())
	m.arrival, m.bytes = vtime.Time(r.u64()), int64(r.u64())
	if flags&flagPayload != 0 {
		m.payload = k.keepPayload(r.b)
	}
	lp := k.landing(int(m.rank), dst, sent, m.arrival)
	index := k.messages.take()
	*k.messages.at(index) = m
	k.give(lp, index, sent)
}

// landing returns the LP that a message from another engine is for, once its times are
// found to be in order.
func (k *Kernel) landing(rank, dst int, sent, arrival vtime.Time) int32 {
	k.eng.CheckArrival(rank, dst, sent, arrival)
	lp, local := k.local(dst)
	if !local {
		invariant.Broken("a message for rank %d came to the engine of ranks %d to %d", dst, k.lo, k.lo+k.n-1)
	}
	return lp
}

// stray keeps a record for a communicator that this engine's ranks have not made
// yet: a member elsewhere was faster.
func (k *Kernel) stray(src int, record []byte) {
	r := reader{record[2:]}
	context := r.u64()
	kept := append([]byte{byte(src), byte(src >> 8), byte(src >> 16), byte(src >> 24)}, record...)
	k.strays[context] = append(k.strays[context], kept)
}

// deliverStrays delivers what came for a communicator before it was made.
func (k *Kernel) deliverStrays(context uint64) {
	kept := k.strays[context]
	delete(k.strays, context)
	for _, record := range kept {
		src := int(record[0]) | int(record[1])<<8 | int(record[2])<<16 | int(record[3])<<24
		k.Deliver(src, record[4:])
	}
}

// match returns when the content of a message is there whose receive an LP posted at
// an instant, in a call, and tells a sender that waits for the match when it is free.
func (k *Kernel) match(m *message, lp int32, posted vtime.Time, c Procedure) (arrival vtime.Time) {
	if m.request == 0 && !m.large {
		return m.arrival
	}
	src, dst := int(m.rank), int(k.Global(lp))
	arrival, free := m.arrival, max(posted, m.arrival)
	if m.large {
		arrival, free = k.tgt.Rendezvous(src, dst, m.bytes, posted, m.arrival)
	} else {
		free = free.Add(k.tgt.Match(src, dst))
	}
	if max(arrival, free) == vtime.Forever {
		k.pastEnd(dst, max(posted, m.arrival), c, "a message of %d bytes from rank %d", m.bytes, src)
	}
	if m.request != 0 {
		k.acknowledge(m, dst, free)
	}
	return arrival
}

// acknowledge tells the sender of a message that it is free at instant t, since a rank
// has matched it.
func (k *Kernel) acknowledge(m *message, by int, t vtime.Time) {
	if k.processors != nil {
		k.tellMatch(recordMatch, m.engine, m.request, by, t)
		return
	}
	if int(m.engine) == k.eng.Index() {
		k.acknowledged(m.request, t)
		return
	}
	k.sendAcknowledgement(recordAcknowledgement, m.engine, m.request, t)
}

// sendAcknowledgement tells another engine when the sender with an index there is free:
// a request, or an agent, as the kind of the record says.
func (k *Kernel) sendAcknowledgement(kind byte, engine, index int32, t vtime.Time) {
	w := writer{k.eng.Record(int(engine), 1+4+8)}
	w.u8(kind)
	w.u32(uint32(index))
	w.u64(uint64(t))
}

// acknowledged completes a send that waits for its match.
func (k *Kernel) acknowledged(request int32, t vtime.Time) {
	k.completeRequest(request, t)
	k.notice(k.requests.at(request).lp)
}

// incoming is what a call receives.
type incoming struct {
	source int    // member or AnySource
	tag    int    // or AnyTag
	bytes  int64  // room, if sized
	buffer []byte // nil without a size: the message becomes part of the completion
	sized  bool   // a longer message is an error
}

// receive posts a receive at the LP's clock.
func (k *Kernel) receive(lp int32, q *Call) int32 {
	v := &q.incoming
	box := k.box(lp)
	box.polls = 0
	index := k.newRequest(lp, receiveRequest, q.Procedure)
	r := k.requests.at(index)
	r.comm, r.peer, r.tag = q.comm.Index, int32(v.source), int32(v.tag)
	r.buffer, r.sized, r.bytes = v.buffer, v.sized, v.bytes
	if k.processors != nil {
		k.operate(lp, operation{kind: opPost, request: index})
	} else {
		k.post(lp, box, index)
	}
	return index
}

// waitRequest makes the LP wait for one request; see begin.
func (k *Kernel) waitRequest(lp int32, request int32, c Procedure) bool {
	box := k.box(lp)
	box.wait.request = request
	return k.begin(lp, box, waitOne, c)
}

// waitRequests makes the LP wait for several; see begin. The kernel keeps the
// slice until the wait is over.
func (k *Kernel) waitRequests(lp int32, kind waitKind, requests []int32, c Procedure) bool {
	box := k.box(lp)
	box.wait.requests, box.wait.pending = requests, 0
	for _, ri := range requests {
		if ri == 0 {
			continue
		}
		r := k.requests.at(ri)
		r.waited = true
		if !r.complete {
			box.wait.pending++
		}
	}
	return k.begin(lp, box, kind, c)
}

// unwaited ends the bond between requests that stay and a wait that is over.
func (k *Kernel) unwaited(requests []int32) {
	for _, ri := range requests {
		if ri != 0 {
			k.requests.at(ri).waited = false
		}
	}
}

// probe makes the LP probe; see begin. take removes the message found.
func (k *Kernel) probe(lp int32, kind waitKind, q *Call) bool {
	box := k.box(lp)
	w := &box.wait
	w.comm, w.peer, w.tag, w.message = q.comm.Index, int32(q.incoming.source), int32(q.incoming.tag), 0
	return k.begin(lp, box, kind, q.Procedure)
}

// receiveMatched receives the message of a matched probe.
func (k *Kernel) receiveMatched(lp, request, message int32) {
	if k.processors != nil {
		k.operate(lp, operation{kind: opTake, request: request, index: message})
		return
	}
	k.take(lp, k.box(lp), request, message)
}

// extract takes the message that a matched probe found out of the mailbox.
func (k *Kernel) extract(lp int32, index int32) {
	box := k.box(lp)
	previous := int32(0)
	for at := box.unexpected.head; at != index; at = k.messages.at(at).next {
		previous = at
	}
	k.unlink(box, previous, index)
	k.messages.at(index).next = ^lp // in no chain: it is the LP's
}
