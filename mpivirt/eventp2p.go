package mpivirt

// sending fills in a call that sends.
func (r *EventRank) sending(op call, payload []byte, bytes int64, dest, tag int) *Call {
	return r.compose(op).sends(payload, bytes, dest, tag)
}

func (r *EventRank) send(op call, payload []byte, bytes int64, dest, tag int) Outcome {
	return r.do(r.sending(op, payload, bytes, dest, tag))
}

func (r *EventRank) isend(op call, payload []byte, bytes int64, dest, tag int) EventRequest {
	return r.begin(r.sending(op, payload, bytes, dest, tag))
}

// EventSend sends data to a member; see [Send].
func EventSend[T Datatype](r *EventRank, data []T, dest, tag int) Outcome {
	b := bytesOf(data)
	return r.send(callSend, b, int64(len(b)), dest, tag)
}

// EventSsend sends data to a member, synchronously; see [Ssend].
func EventSsend[T Datatype](r *EventRank, data []T, dest, tag int) Outcome {
	b := bytesOf(data)
	return r.send(callSsend, b, int64(len(b)), dest, tag)
}

// EventRsend sends data to a member whose receive is posted; see [Rsend].
func EventRsend[T Datatype](r *EventRank, data []T, dest, tag int) Outcome {
	b := bytesOf(data)
	return r.send(callRsend, b, int64(len(b)), dest, tag)
}

// EventBsend sends data to a member through the buffer that the rank has attached; see
// [Bsend].
func EventBsend[T Datatype](r *EventRank, data []T, dest, tag int) Outcome {
	b := bytesOf(data)
	return r.send(callBsend, b, int64(len(b)), dest, tag)
}

// SendSize sends a message of which only the size is simulated; see [Comm.SendSize].
func (r *EventRank) SendSize(bytes int64, dest, tag int) Outcome {
	return r.send(callSend, nil, bytes, dest, tag)
}

// SsendSize is SendSize that is over when the receive has matched (MPI_Ssend).
func (r *EventRank) SsendSize(bytes int64, dest, tag int) Outcome {
	return r.send(callSsend, nil, bytes, dest, tag)
}

// EventIsend begins an EventSend (MPI_Isend). The message is copied at once.
func EventIsend[T Datatype](r *EventRank, data []T, dest, tag int) EventRequest {
	b := bytesOf(data)
	return r.isend(callIsend, b, int64(len(b)), dest, tag)
}

// EventIssend begins an EventSsend (MPI_Issend).
func EventIssend[T Datatype](r *EventRank, data []T, dest, tag int) EventRequest {
	b := bytesOf(data)
	return r.isend(callIssend, b, int64(len(b)), dest, tag)
}

// EventIrsend begins an EventRsend (MPI_Irsend).
func EventIrsend[T Datatype](r *EventRank, data []T, dest, tag int) EventRequest {
	b := bytesOf(data)
	return r.isend(callIrsend, b, int64(len(b)), dest, tag)
}

// EventIbsend begins an EventBsend (MPI_Ibsend).
func EventIbsend[T Datatype](r *EventRank, data []T, dest, tag int) EventRequest {
	b := bytesOf(data)
	return r.isend(callIbsend, b, int64(len(b)), dest, tag)
}

// IsendSize begins a SendSize (MPI_Isend).
func (r *EventRank) IsendSize(bytes int64, dest, tag int) EventRequest {
	return r.isend(callIsend, nil, bytes, dest, tag)
}

// receiving fills in a call that receives.
func (r *EventRank) receiving(op call, buffer []byte, sized bool, source, tag int) *Call {
	return r.compose(op).receives(buffer, int64(len(buffer)), sized, source, tag)
}

// Recv receives a message of any size from a member, or AnySource, with a tag, or
// AnyTag (MPI_Recv). The next step finds it in Data and Status.
func (r *EventRank) Recv(source, tag int) Outcome {
	return r.do(r.receiving(callRecv, nil, false, source, tag))
}

// Irecv begins a Recv (MPI_Irecv). The step after its wait finds the message in Data
// and Status.
func (r *EventRank) Irecv(source, tag int) EventRequest {
	return r.begin(r.receiving(callIrecv, nil, false, source, tag))
}

// EventRecv receives into data a message of at most len(data) elements; see [Recv].
// The memory is the operation's until it is over.
func EventRecv[T Datatype](r *EventRank, data []T, source, tag int) Outcome {
	return r.do(r.receiving(callRecv, bytesOf(data), true, source, tag))
}

// EventIrecv begins an EventRecv (MPI_Irecv).
func EventIrecv[T Datatype](r *EventRank, data []T, source, tag int) EventRequest {
	return r.begin(r.receiving(callIrecv, bytesOf(data), true, source, tag))
}

// EventSendrecv sends to one member and receives from another, both at once; see
// [Sendrecv].
func EventSendrecv[S, R Datatype](r *EventRank, send []S, dest, sendTag int, receive []R, source, receiveTag int) Outcome {
	b := bytesOf(send)
	return r.do(r.receiving(callSendrecv, bytesOf(receive), true, source, receiveTag).sends(b, int64(len(b)), dest, sendTag))
}

// SendrecvSize is EventSendrecv of a message of which only the size is simulated; it
// receives one of any size, as Recv does.
func (r *EventRank) SendrecvSize(bytes int64, dest, sendTag, source, receiveTag int) Outcome {
	return r.do(r.receiving(callSendrecv, nil, false, source, receiveTag).sends(nil, bytes, dest, sendTag))
}

// Probe waits for a message that a Recv with the same arguments would take, and
// leaves it (MPI_Probe). The next step finds what it is in Status.
func (r *EventRank) Probe(source, tag int) Outcome {
	return r.do(r.receiving(callProbe, nil, false, source, tag))
}

// Iprobe looks for a message that a Recv with the same arguments would take
// (MPI_Iprobe). The next step finds in Found whether there is one, and in Status what
// it is.
func (r *EventRank) Iprobe(source, tag int) Outcome {
	return r.do(r.receiving(callIprobe, nil, false, source, tag))
}

// Mprobe is Probe that takes the message out of the reach of other receives
// (MPI_Mprobe). The next step finds it in Matched.
func (r *EventRank) Mprobe(source, tag int) Outcome {
	return r.do(r.receiving(callMprobe, nil, false, source, tag))
}

// Improbe is Iprobe that takes the message out, if there is one (MPI_Improbe).
func (r *EventRank) Improbe(source, tag int) Outcome {
	return r.do(r.receiving(callImprobe, nil, false, source, tag))
}

// AttachBuffer gives the rank room for buffered sends; see [Rank.AttachBuffer].
func (r *EventRank) AttachBuffer(bytes int64) { r.k.attach(r.lp, bytes) }

// DetachBuffer takes the room back and returns its size (MPI_Buffer_detach).
func (r *EventRank) DetachBuffer() int64 { return r.k.attach(r.lp, 0) }

// EventMessage is a message that an event rank has found by a matched probe
// (MPI_Message). The zero EventMessage is none.
type EventMessage int32

// Matched returns the message that the matched probe of the last step has found.
func (r *EventRank) Matched() EventMessage { return EventMessage(r.completion().message) }

// EventMrecv receives the message of a matched probe into data; see [Mrecv].
func EventMrecv[T Datatype](r *EventRank, m EventMessage, data []T) Outcome {
	q := r.receiving(callRecv, bytesOf(data), true, 0, 0)
	if q.matched = int32(m); m == 0 {
		q.matched = noMessage
	}
	return r.do(q)
}

// EventPersistent is a send or receive that an event rank begins again and again
// with the same arguments, on the communicator that it is started on.
type EventPersistent struct {
	op        call
	buffer    []byte
	peer, tag int
}

// EventSendInit makes a persistent EventSend (MPI_Send_init).
func EventSendInit[T Datatype](data []T, dest, tag int) EventPersistent {
	return EventPersistent{callIsend, bytesOf(data), dest, tag}
}

// EventSsendInit makes a persistent EventSsend (MPI_Ssend_init).
func EventSsendInit[T Datatype](data []T, dest, tag int) EventPersistent {
	return EventPersistent{callIssend, bytesOf(data), dest, tag}
}

// EventBsendInit makes a persistent EventBsend (MPI_Bsend_init).
func EventBsendInit[T Datatype](data []T, dest, tag int) EventPersistent {
	return EventPersistent{callIbsend, bytesOf(data), dest, tag}
}

// EventRsendInit makes a persistent EventRsend (MPI_Rsend_init).
func EventRsendInit[T Datatype](data []T, dest, tag int) EventPersistent {
	return EventPersistent{callIrsend, bytesOf(data), dest, tag}
}

// EventRecvInit makes a persistent EventRecv (MPI_Recv_init).
func EventRecvInit[T Datatype](data []T, source, tag int) EventPersistent {
	return EventPersistent{callIrecv, bytesOf(data), source, tag}
}

// Start begins a persistent operation (MPI_Start).
func (r *EventRank) Start(p *EventPersistent) EventRequest {
	if p.op == callIrecv {
		return r.begin(r.receiving(p.op, p.buffer, true, p.peer, p.tag))
	}
	return r.isend(p.op, p.buffer, int64(len(p.buffer)), p.peer, p.tag)
}
