package mpivirt

// isend begins a send of an event rank.
func (r *EventRank) isend(payload []byte, bytes int64, dest, tag int, mode sendMode, name call) EventRequest {
	c, member := r.communicator()
	r.must(name, c.checkSend(dest, tag, bytes))
	k := r.k
	if dest == ProcNull {
		return EventRequest(k.done)
	}
	if to := c.rankOf(dest, k.global(r.lp)); uint(to-k.lo) >= uint(k.n) {
		k.towards = k.eng.Partition().Owner(to)
	}
	index := k.send(r.lp, member, &outgoing{comm: c, dest: dest, tag: tag, bytes: bytes, payload: payload, mode: mode}, name)
	if index == 0 {
		index = k.done
	}
	return EventRequest(index)
}

func (r *EventRank) send(payload []byte, bytes int64, dest, tag int, mode sendMode, name call) Outcome {
	q := r.isend(payload, bytes, dest, tag, mode, name)
	if int32(q) == r.k.done {
		return r.conclude(goOn)
	}
	return r.outcome(r.k.waitRequest(r.lp, int32(q), name))
}

// EventSend sends data to a member; see [Send].
func EventSend[T Datatype](r *EventRank, data []T, dest, tag int) Outcome {
	b := bytesOf(data)
	return r.send(b, int64(len(b)), dest, tag, standard, callSend)
}

// EventSsend sends data to a member, synchronously; see [Ssend].
func EventSsend[T Datatype](r *EventRank, data []T, dest, tag int) Outcome {
	b := bytesOf(data)
	return r.send(b, int64(len(b)), dest, tag, synchronous, callSsend)
}

// EventRsend sends data to a member whose receive is posted; see [Rsend].
func EventRsend[T Datatype](r *EventRank, data []T, dest, tag int) Outcome {
	b := bytesOf(data)
	return r.send(b, int64(len(b)), dest, tag, ready, callRsend)
}

// EventBsend sends data to a member through a buffer; see [Bsend]. Event ranks have
// room for any message, and attach no buffer.
func EventBsend[T Datatype](r *EventRank, data []T, dest, tag int) Outcome {
	b := bytesOf(data)
	return r.send(b, int64(len(b)), dest, tag, buffered, callBsend)
}

// SendSize sends a message of which only the size is simulated; see [Comm.SendSize].
func (r *EventRank) SendSize(bytes int64, dest, tag int) Outcome {
	return r.send(nil, bytes, dest, tag, standard, callSend)
}

// SsendSize is SendSize that is over when the receive has matched (MPI_Ssend).
func (r *EventRank) SsendSize(bytes int64, dest, tag int) Outcome {
	return r.send(nil, bytes, dest, tag, synchronous, callSsend)
}

// EventIsend begins an EventSend (MPI_Isend). The message is copied at once.
func EventIsend[T Datatype](r *EventRank, data []T, dest, tag int) EventRequest {
	b := bytesOf(data)
	return r.isend(b, int64(len(b)), dest, tag, standard, callIsend)
}

// EventIssend begins an EventSsend (MPI_Issend).
func EventIssend[T Datatype](r *EventRank, data []T, dest, tag int) EventRequest {
	b := bytesOf(data)
	return r.isend(b, int64(len(b)), dest, tag, synchronous, callIssend)
}

// EventIrsend begins an EventRsend (MPI_Irsend).
func EventIrsend[T Datatype](r *EventRank, data []T, dest, tag int) EventRequest {
	b := bytesOf(data)
	return r.isend(b, int64(len(b)), dest, tag, ready, callIrsend)
}

// EventIbsend begins an EventBsend (MPI_Ibsend).
func EventIbsend[T Datatype](r *EventRank, data []T, dest, tag int) EventRequest {
	b := bytesOf(data)
	return r.isend(b, int64(len(b)), dest, tag, buffered, callIbsend)
}

// IsendSize begins a SendSize (MPI_Isend).
func (r *EventRank) IsendSize(bytes int64, dest, tag int) EventRequest {
	return r.isend(nil, bytes, dest, tag, standard, callIsend)
}

// irecv begins a receive of an event rank.
func (r *EventRank) irecv(buffer []byte, sized bool, source, tag int, name call) EventRequest {
	c, _ := r.communicator()
	r.must(name, c.checkReceive(source, tag, 0))
	if source == ProcNull {
		return EventRequest(r.k.nobody)
	}
	v := receiver{comm: c, source: source, tag: tag, buffer: buffer, sized: sized, bytes: int64(len(buffer))}
	return EventRequest(r.k.receive(r.lp, &v, name))
}

func (r *EventRank) recv(buffer []byte, sized bool, source, tag int) Outcome {
	return r.waitOne(r.irecv(buffer, sized, source, tag, callRecv), callRecv)
}

// Recv receives a message of any size from a member, or AnySource, with a tag, or
// AnyTag (MPI_Recv). The next step finds it in Data and Status.
func (r *EventRank) Recv(source, tag int) Outcome { return r.recv(nil, false, source, tag) }

// Irecv begins a Recv (MPI_Irecv). The step after its wait finds the message in Data
// and Status.
func (r *EventRank) Irecv(source, tag int) EventRequest {
	return r.irecv(nil, false, source, tag, callIrecv)
}

// EventRecv receives into data a message of at most len(data) elements; see [Recv].
// The memory is the operation's until it is over.
func EventRecv[T Datatype](r *EventRank, data []T, source, tag int) Outcome {
	return r.recv(bytesOf(data), true, source, tag)
}

// EventIrecv begins an EventRecv (MPI_Irecv).
func EventIrecv[T Datatype](r *EventRank, data []T, source, tag int) EventRequest {
	return r.irecv(bytesOf(data), true, source, tag, callIrecv)
}

// EventSendrecv sends to one member and receives from another, both at once; see
// [Sendrecv].
func EventSendrecv[S, R Datatype](r *EventRank, send []S, dest, sendTag int, receive []R, source, receiveTag int) Outcome {
	b := bytesOf(send)
	if overlap(b, bytesOf(receive)) {
		r.must(callSendrecv, errShared)
	}
	received := r.irecv(bytesOf(receive), true, source, receiveTag, callSendrecv)
	sent := r.isend(b, int64(len(b)), dest, sendTag, standard, callSendrecv)
	return r.await(waitAll, callSendrecv, received, sent)
}

// SendrecvSize is EventSendrecv of a message of which only the size is simulated; it
// receives one of any size, as Recv does.
func (r *EventRank) SendrecvSize(bytes int64, dest, sendTag, source, receiveTag int) Outcome {
	received := r.irecv(nil, false, source, receiveTag, callSendrecv)
	sent := r.isend(nil, bytes, dest, sendTag, standard, callSendrecv)
	return r.await(waitAll, callSendrecv, received, sent)
}

// Probe waits for a message that a Recv with the same arguments would take, and
// leaves it (MPI_Probe). The next step finds what it is in Status.
func (r *EventRank) Probe(source, tag int) Outcome { return r.probe(waitProbe, source, tag, callProbe) }

// Iprobe looks for a message that a Recv with the same arguments would take
// (MPI_Iprobe). The next step finds in Found whether there is one, and in Status what
// it is.
func (r *EventRank) Iprobe(source, tag int) Outcome {
	return r.probe(testProbe, source, tag, callIprobe)
}

// Mprobe is Probe that takes the message out of the reach of other receives
// (MPI_Mprobe). The next step finds it in Matched.
func (r *EventRank) Mprobe(source, tag int) Outcome {
	return r.probe(waitProbe, source, tag, callMprobe)
}

// Improbe is Iprobe that takes the message out, if there is one (MPI_Improbe).
func (r *EventRank) Improbe(source, tag int) Outcome {
	return r.probe(testProbe, source, tag, callImprobe)
}

func (r *EventRank) probe(kind waitKind, source, tag int, name call) Outcome {
	c, _ := r.communicator()
	r.must(name, c.checkReceive(source, tag, 0))
	if source == ProcNull {
		b := r.k.renew(r.lp)
		b.found, b.message, b.status = true, fromNobody, nobodyStatus
		return r.conclude(goOn)
	}
	return r.outcome(r.k.probe(r.lp, kind, c, source, tag, name))
}

// EventMessage is a message that an event rank has found by a matched probe
// (MPI_Message). The zero EventMessage is none.
type EventMessage int32

// fromNobody is what a matched probe of ProcNull finds.
const fromNobody EventMessage = -1

// Matched returns the message that the matched probe of the last step has found.
func (r *EventRank) Matched() EventMessage { return r.brought().message }

// EventMrecv receives the message of a matched probe into data; see [Mrecv].
func EventMrecv[T Datatype](r *EventRank, m EventMessage, data []T) Outcome {
	k, b := r.k, bytesOf(data)
	r.must(callRecv, nil)
	switch m {
	case fromNobody:
		b := k.renew(r.lp)
		b.found, b.status = true, nobodyStatus
		return r.conclude(goOn)
	case 0:
		r.must(callRecv, mpiError(ErrRequest, "no probe has found a message to receive"))
	}
	index := k.newRequest(r.lp, receiveRequest, callRecv)
	q := k.requests.at(index)
	q.buffer, q.sized, q.bytes = b, true, int64(len(b))
	k.receiveMatched(r.lp, index, int32(m))
	return r.waitOne(EventRequest(index), callRecv)
}

// EventPersistent is a send or receive that an event rank begins again and again
// with the same arguments, on the communicator that it is started on.
type EventPersistent struct {
	buffer    []byte
	bytes     int64
	peer, tag int
	receive   bool
	mode      sendMode
}

// EventSendInit makes a persistent EventSend (MPI_Send_init).
func EventSendInit[T Datatype](data []T, dest, tag int) EventPersistent {
	return persistentSend(bytesOf(data), dest, tag, standard)
}

// EventSsendInit makes a persistent EventSsend (MPI_Ssend_init).
func EventSsendInit[T Datatype](data []T, dest, tag int) EventPersistent {
	return persistentSend(bytesOf(data), dest, tag, synchronous)
}

// EventBsendInit makes a persistent EventBsend (MPI_Bsend_init).
func EventBsendInit[T Datatype](data []T, dest, tag int) EventPersistent {
	return persistentSend(bytesOf(data), dest, tag, buffered)
}

// EventRsendInit makes a persistent EventRsend (MPI_Rsend_init).
func EventRsendInit[T Datatype](data []T, dest, tag int) EventPersistent {
	return persistentSend(bytesOf(data), dest, tag, ready)
}

func persistentSend(b []byte, dest, tag int, mode sendMode) EventPersistent {
	return EventPersistent{buffer: b, bytes: int64(len(b)), peer: dest, tag: tag, mode: mode}
}

// EventRecvInit makes a persistent EventRecv (MPI_Recv_init).
func EventRecvInit[T Datatype](data []T, source, tag int) EventPersistent {
	return EventPersistent{buffer: bytesOf(data), peer: source, tag: tag, receive: true}
}

// Start begins a persistent operation (MPI_Start).
func (r *EventRank) Start(p *EventPersistent) EventRequest {
	if p.receive {
		return r.irecv(p.buffer, true, p.peer, p.tag, callIrecv)
	}
	name := [...]call{standard: callIsend, synchronous: callIssend, ready: callIrsend, buffered: callIbsend}[p.mode]
	return r.isend(p.buffer, p.bytes, p.peer, p.tag, p.mode, name)
}
