package mpivirt

// maxTag is the largest tag (MPI_TAG_UB).
const maxTag = 1<<31 - 1

// checkSend returns what is wrong with the arguments of a send.
func (c *comm) checkSend(dest, tag int, bytes int64) error {
	switch {
	case c.size == 0:
		return mpiError(ErrComm, "%s", c)
	case dest != ProcNull && (dest < 0 || dest >= c.size):
		return mpiError(ErrRank, "destination %d in a communicator of %d ranks", dest, c.size)
	case tag < 0 || tag > maxTag:
		return mpiError(ErrTag, "tag %d: tags of messages are 0 to %d", tag, maxTag)
	case bytes < 0:
		return mpiError(ErrCount, "a message of %d bytes", bytes)
	}
	return nil
}

func (c *comm) checkReceive(v *incoming) error {
	source, tag, bytes := v.source, v.tag, v.bytes
	switch {
	case c.size == 0:
		return mpiError(ErrComm, "%s", c)
	case source != ProcNull && source != AnySource && (source < 0 || source >= c.size):
		return mpiError(ErrRank, "source %d in a communicator of %d ranks", source, c.size)
	case tag != AnyTag && (tag < 0 || tag > maxTag):
		return mpiError(ErrTag, "tag %d: tags are 0 to %d, or AnyTag", tag, maxTag)
	case bytes < 0:
		return mpiError(ErrCount, "room for %d bytes", bytes)
	}
	return nil
}

// compose returns a call of the rank on the communicator to fill in.
func (c *Comm) compose(op call) *Call { return c.r.k.compose(op, c.c, c.member) }

// do makes a call and waits until it is over. Its completion is there until the next one.
func (r *Rank) do(q *Call) *Completion {
	r.calls(q.op)
	b := &r.k.completion
	if !r.k.submit(r.lp, q) {
		r.suspend()
		if b.lp != r.lp {
			return &nothing
		}
	}
	if b.err != nil && b.fatal {
		r.die(b.op, b.err)
	}
	return b
}

// sending fills in a call that sends.
func (c *Comm) sending(op call, payload []byte, bytes int64, dest, tag int) *Call {
	return c.compose(op).sends(payload, bytes, dest, tag)
}

func (c *Comm) send(op call, payload []byte, bytes int64, dest, tag int) error {
	if c == nil {
		return noComm(op)
	}
	err := c.r.do(c.sending(op, payload, bytes, dest, tag)).err
	c.r.makeRoom()
	return err
}

func (c *Comm) isend(op call, payload []byte, bytes int64, dest, tag int) (Request, error) {
	if c == nil {
		return Request{}, noComm(op)
	}
	b := c.r.do(c.sending(op, payload, bytes, dest, tag))
	if b.err != nil {
		return Request{}, b.err
	}
	q := c.r.request(b.request)
	c.r.makeRoom()
	return q, nil
}

// makeRoom holds the rank back while the buffers are full into which it has sent last.
func (r *Rank) makeRoom() {
	if r.k.processors != nil {
		if r.k.processors[r.lp].crowded() {
			r.settle()
		}
	} else if r.k.holdUp(r.lp) {
		r.suspend()
	}
}

// receiving fills in a call that receives at most so many bytes.
func (c *Comm) receiving(op call, buffer []byte, bytes int64, source, tag int) *Call {
	return c.compose(op).receives(buffer, bytes, true, source, tag)
}

func (c *Comm) recv(buffer []byte, bytes int64, source, tag int) (Status, error) {
	if c == nil {
		return nobodyStatus, noComm(callRecv)
	}
	b := c.r.do(c.receiving(callRecv, buffer, bytes, source, tag))
	return c.r.k.statusOf(b), b.err
}

func (c *Comm) irecv(buffer []byte, bytes int64, source, tag int) (Request, error) {
	if c == nil {
		return Request{}, noComm(callIrecv)
	}
	b := c.r.do(c.receiving(callIrecv, buffer, bytes, source, tag))
	if b.err != nil {
		return Request{}, b.err
	}
	return c.r.request(b.request), nil
}

// emptyStatus is the status of an inactive request, and of one that is no receive (MPI
// 4.1, 3.7.3); nobodyStatus that of a receive from ProcNull (3.10).
var (
	emptyStatus  = Status{Source: AnySource, Tag: AnyTag}
	nobodyStatus = Status{Source: ProcNull, Tag: AnyTag}
)

// Send sends data to a member and returns when data may be changed (MPI_Send):
// once the processor has spent its overhead if the message is eager, else when a
// receive has matched and the data have left. Errors:
// ErrRank, ErrTag.
func Send[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := bytesOf(data)
	return c.send(callSend, b, int64(len(b)), dest, tag)
}

// Ssend is Send that returns when the receive has matched (MPI_Ssend).
func Ssend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := bytesOf(data)
	return c.send(callSsend, b, int64(len(b)), dest, tag)
}

// Rsend is Send to a receive that has been posted already (MPI_Rsend). If it
// turns out that it had not when the message arrived, the receiver gets ErrOther.
func Rsend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := bytesOf(data)
	return c.send(callRsend, b, int64(len(b)), dest, tag)
}

// Bsend is Send that returns at once, through the buffer that the rank has
// attached with [Rank.AttachBuffer] (MPI_Bsend). Errors: as Send, and ErrBuffer if
// the message is larger than the buffer.
func Bsend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := bytesOf(data)
	return c.send(callBsend, b, int64(len(b)), dest, tag)
}

// AttachBuffer gives the rank room for buffered sends of up to the given number of
// bytes each (MPI_Buffer_attach). The room is that of the network: a message
// leaves the buffer in the instant in which it is sent.
func (r *Rank) AttachBuffer(bytes int64) { r.k.attach(r.lp, bytes) }

// DetachBuffer takes the room back and returns its size (MPI_Buffer_detach).
func (r *Rank) DetachBuffer() int64 { return r.k.attach(r.lp, 0) }

// SendSize sends a message of which only the size is simulated: MPI_Send without
// memory for the data.
func (c *Comm) SendSize(bytes int64, dest, tag int) error {
	return c.send(callSend, nil, bytes, dest, tag)
}

// SsendSize is SendSize that returns when the receive has matched (MPI_Ssend).
func (c *Comm) SsendSize(bytes int64, dest, tag int) error {
	return c.send(callSsend, nil, bytes, dest, tag)
}

// IsendSize is the nonblocking SendSize (MPI_Isend).
func (c *Comm) IsendSize(bytes int64, dest, tag int) (Request, error) {
	return c.isend(callIsend, nil, bytes, dest, tag)
}

// Recv receives into data a message of at most len(data) elements from a member,
// or AnySource, with a tag, or AnyTag (MPI_Recv). Errors: ErrRank, ErrTag,
// ErrTruncate if the message is longer.
func Recv[T Datatype](c *Comm, data []T, source, tag int) (Status, error) {
	b := bytesOf(data)
	return c.recv(b, int64(len(b)), source, tag)
}

// RecvSize receives a message of at most the given size and drops its data
// (MPI_Recv).
func (c *Comm) RecvSize(bytes int64, source, tag int) (Status, error) {
	return c.recv(nil, bytes, source, tag)
}

// Isend begins a Send (MPI_Isend). The message is copied at once, so data may be
// changed; the request is complete when a Send would return.
func Isend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := bytesOf(data)
	return c.isend(callIsend, b, int64(len(b)), dest, tag)
}

// Issend begins an Ssend (MPI_Issend).
func Issend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := bytesOf(data)
	return c.isend(callIssend, b, int64(len(b)), dest, tag)
}

// Irsend begins an Rsend (MPI_Irsend).
func Irsend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := bytesOf(data)
	return c.isend(callIrsend, b, int64(len(b)), dest, tag)
}

// Ibsend begins a Bsend (MPI_Ibsend).
func Ibsend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := bytesOf(data)
	return c.isend(callIbsend, b, int64(len(b)), dest, tag)
}

// Irecv begins a Recv (MPI_Irecv). Data is defined once the request is complete.
func Irecv[T Datatype](c *Comm, data []T, source, tag int) (Request, error) {
	b := bytesOf(data)
	return c.irecv(b, int64(len(b)), source, tag)
}

// IrecvSize is the nonblocking RecvSize (MPI_Irecv).
func (c *Comm) IrecvSize(bytes int64, source, tag int) (Request, error) {
	return c.irecv(nil, bytes, source, tag)
}

// Sendrecv sends to one member and receives from another, both at once
// (MPI_Sendrecv). Errors: as Send and Recv; ErrBuffer if the two slices have memory in
// common.
func Sendrecv[S, R Datatype](c *Comm, send []S, dest, sendTag int, receive []R, source, receiveTag int) (Status, error) {
	if c == nil {
		return emptyStatus, noComm(callSendrecv)
	}
	out, in := bytesOf(send), bytesOf(receive)
	b := c.r.do(c.receiving(callSendrecv, in, int64(len(in)), source, receiveTag).sends(out, int64(len(out)), dest, sendTag))
	status, err := c.r.k.statusOf(b), b.err
	c.r.makeRoom()
	return status, err
}

// Probe waits for a message that a Recv with the same arguments would take, and
// leaves it (MPI_Probe).
func (c *Comm) Probe(source, tag int) (Status, error) {
	b := c.probe(callProbe, source, tag)
	return b.status, b.err
}

// Iprobe reports whether a message that a Recv with the same arguments would take
// is there (MPI_Iprobe). A failing Iprobe takes the time that the machine's poll
// field says.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	b := c.probe(callIprobe, source, tag)
	return b.status, b.found, b.err
}

func (c *Comm) probe(op call, source, tag int) *Completion {
	if c == nil {
		return &Completion{status: nobodyStatus, err: noComm(op)}
	}
	return c.r.do(c.receiving(op, nil, 0, source, tag))
}

// MatchedMessage is one that a matched probe has taken out of the reach of other
// receives (MPI_Message).
type MatchedMessage struct {
	Status Status
	c      *Comm
	index  int32
}

// Mprobe is Probe that takes the message out, for [Mrecv] (MPI_Mprobe).
func (c *Comm) Mprobe(source, tag int) (*MatchedMessage, error) {
	b := c.probe(callMprobe, source, tag)
	return &MatchedMessage{b.status, c, b.message}, b.err
}

// Improbe is Iprobe that takes the message out, for [Mrecv]; nil if there is none
// (MPI_Improbe).
func (c *Comm) Improbe(source, tag int) (*MatchedMessage, error) {
	b := c.probe(callImprobe, source, tag)
	if b.err != nil || !b.found {
		return nil, b.err
	}
	return &MatchedMessage{b.status, c, b.message}, nil
}

// Mrecv receives the message of a matched probe (MPI_Mrecv). Errors: ErrTruncate;
// ErrRequest if it has been received already.
func Mrecv[T Datatype](m *MatchedMessage, data []T) (Status, error) {
	if m.c == nil {
		return emptyStatus, mpiError(ErrRequest, "no probe has found the message")
	}
	buffer := bytesOf(data)
	q := m.c.receiving(callRecv, buffer, int64(len(buffer)), 0, 0)
	if q.matched = m.index; m.index != fromNobody {
		m.index = noMessage
	}
	b := m.c.r.do(q)
	return m.c.r.k.statusOf(b), b.err
}
