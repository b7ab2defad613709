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

func (c *comm) checkReceive(source, tag int, bytes int64) error {
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

// throttle holds the rank back while the buffers towards dest are full.
func (c *Comm) throttle(dest int) {
	k, r := c.r.k, c.r
	if k.processors != nil {
		if k.processors[r.lp].crowded() {
			r.settle()
		}
		return
	}
	owner := k.eng.Index()
	if to := c.c.rankOf(dest, int32(k.global(r.lp))); uint(to-k.lo) >= uint(k.n) {
		owner = k.eng.Partition().Owner(to)
	}
	if k.eng.Congested(owner) {
		k.eng.Throttle(r.lp, k.clock[r.lp], owner)
		r.suspend()
	}
}

// start begins a send and returns its request, 0 if the sender is free already.
func (c *Comm) start(payload []byte, bytes int64, dest, tag int, mode sendMode, name call) (int32, error) {
	if c == nil {
		return 0, noComm(name)
	}
	c.r.calls(name)
	if err := c.c.checkSend(dest, tag, bytes); err != nil {
		return 0, c.r.raise(name, err)
	}
	if dest == ProcNull {
		return 0, nil
	}
	c.throttle(dest)
	o := outgoing{comm: c.c, dest: dest, tag: tag, bytes: bytes, payload: payload, mode: mode}
	return c.r.k.send(c.r.lp, c.member, &o, name), nil
}

func (c *Comm) sendBlocking(payload []byte, bytes int64, dest, tag int, mode sendMode, name call) error {
	request, err := c.start(payload, bytes, dest, tag, mode, name)
	if request == 0 {
		return err
	}
	r := c.r
	if !r.k.waitRequest(r.lp, request, name) {
		r.suspend()
	}
	r.k.requests.release(request)
	return nil
}

func (c *Comm) sendNonblocking(payload []byte, bytes int64, dest, tag int, mode sendMode, name call) (Request, error) {
	index, err := c.start(payload, bytes, dest, tag, mode, name)
	if err != nil {
		return Request{}, err
	}
	if index == 0 {
		index = c.r.completed(sendRequest, name)
	}
	return c.r.request(index), nil
}

// completed returns a request that is complete from the start. It is active all
// the same: a Waitany finds it. It costs a CPU nothing.
func (r *Rank) completed(kind requestKind, name call) int32 {
	index := r.k.newRequest(r.lp, kind, name)
	q := r.k.requests.at(index)
	q.complete, q.time = true, r.k.clock[r.lp]
	return index
}

// post begins a receive; source ProcNull gives no request.
func (c *Comm) post(buffer []byte, bytes int64, source, tag int, name call) (int32, error) {
	if c == nil {
		return 0, noComm(name)
	}
	c.r.calls(name)
	if err := c.c.checkReceive(source, tag, bytes); err != nil {
		return 0, c.r.raise(name, err)
	}
	if source == ProcNull {
		return 0, nil
	}
	v := receiver{comm: c.c, source: source, tag: tag, buffer: buffer, sized: true, bytes: bytes}
	return c.r.k.receive(c.r.lp, &v, name), nil
}

func (c *Comm) receiveBlocking(buffer []byte, bytes int64, source, tag int, name call) (Status, error) {
	index, err := c.post(buffer, bytes, source, tag, name)
	if err != nil || index == 0 {
		return nobodyStatus, err
	}
	r := c.r
	if !r.k.waitRequest(r.lp, index, name) {
		r.suspend()
	}
	return r.retire(index, name)
}

// retire releases a request that is over and returns what it brought.
func (r *Rank) retire(index int32, name call) (Status, error) {
	status, err := r.k.requests.at(index).status(), r.k.failure(index)
	r.k.requests.release(index)
	if err != nil {
		return status, r.raise(name, err)
	}
	return status, nil
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
	return c.sendBlocking(b, int64(len(b)), dest, tag, standard, callSend)
}

// Ssend is Send that returns when the receive has matched (MPI_Ssend).
func Ssend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := bytesOf(data)
	return c.sendBlocking(b, int64(len(b)), dest, tag, synchronous, callSsend)
}

// Rsend is Send to a receive that has been posted already (MPI_Rsend). If it
// turns out that it had not when the message arrived, the receiver gets ErrOther.
func Rsend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := bytesOf(data)
	return c.sendBlocking(b, int64(len(b)), dest, tag, ready, callRsend)
}

// Bsend is Send that returns at once, through the buffer that the rank has
// attached with [Rank.AttachBuffer] (MPI_Bsend). Errors: as Send, and ErrBuffer if
// the message is larger than the buffer.
func Bsend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := bytesOf(data)
	if err := c.checkBuffer(int64(len(b)), callBsend); err != nil {
		return err
	}
	return c.sendBlocking(b, int64(len(b)), dest, tag, buffered, callBsend)
}

func (c *Comm) checkBuffer(bytes int64, name call) error {
	if c == nil {
		return noComm(name)
	}
	if bytes > c.r.buffer {
		return c.r.raise(name, mpiError(ErrBuffer, "a buffered send of %d bytes with a buffer of %d", bytes, c.r.buffer))
	}
	return nil
}

// AttachBuffer gives the rank room for buffered sends of up to the given number of
// bytes each (MPI_Buffer_attach). The room is that of the network: a message
// leaves the buffer in the instant in which it is sent.
func (r *Rank) AttachBuffer(bytes int64) { r.buffer = bytes }

// DetachBuffer takes the room back and returns its size (MPI_Buffer_detach).
func (r *Rank) DetachBuffer() int64 {
	bytes := r.buffer
	r.buffer = 0
	return bytes
}

// SendSize sends a message of which only the size is simulated: MPI_Send without
// memory for the data.
func (c *Comm) SendSize(bytes int64, dest, tag int) error {
	return c.sendBlocking(nil, bytes, dest, tag, standard, callSend)
}

// SsendSize is SendSize that returns when the receive has matched (MPI_Ssend).
func (c *Comm) SsendSize(bytes int64, dest, tag int) error {
	return c.sendBlocking(nil, bytes, dest, tag, synchronous, callSsend)
}

// IsendSize is the nonblocking SendSize (MPI_Isend).
func (c *Comm) IsendSize(bytes int64, dest, tag int) (Request, error) {
	return c.sendNonblocking(nil, bytes, dest, tag, standard, callIsend)
}

// Recv receives into data a message of at most len(data) elements from a member,
// or AnySource, with a tag, or AnyTag (MPI_Recv). Errors: ErrRank, ErrTag,
// ErrTruncate if the message is longer.
func Recv[T Datatype](c *Comm, data []T, source, tag int) (Status, error) {
	b := bytesOf(data)
	return c.receiveBlocking(b, int64(len(b)), source, tag, callRecv)
}

// RecvSize receives a message of at most the given size and drops its data
// (MPI_Recv).
func (c *Comm) RecvSize(bytes int64, source, tag int) (Status, error) {
	return c.receiveBlocking(nil, bytes, source, tag, callRecv)
}

// Isend begins a Send (MPI_Isend). The message is copied at once, so data may be
// changed; the request is complete when a Send would return.
func Isend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := bytesOf(data)
	return c.sendNonblocking(b, int64(len(b)), dest, tag, standard, callIsend)
}

// Issend begins an Ssend (MPI_Issend).
func Issend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := bytesOf(data)
	return c.sendNonblocking(b, int64(len(b)), dest, tag, synchronous, callIssend)
}

// Irsend begins an Rsend (MPI_Irsend).
func Irsend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := bytesOf(data)
	return c.sendNonblocking(b, int64(len(b)), dest, tag, ready, callIrsend)
}

// Ibsend begins a Bsend (MPI_Ibsend).
func Ibsend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := bytesOf(data)
	if err := c.checkBuffer(int64(len(b)), callIbsend); err != nil {
		return Request{}, err
	}
	return c.sendNonblocking(b, int64(len(b)), dest, tag, buffered, callIbsend)
}

// Irecv begins a Recv (MPI_Irecv). Data is defined once the request is complete.
func Irecv[T Datatype](c *Comm, data []T, source, tag int) (Request, error) {
	b := bytesOf(data)
	return c.receiveNonblocking(b, int64(len(b)), source, tag)
}

func (c *Comm) receiveNonblocking(buffer []byte, bytes int64, source, tag int) (Request, error) {
	index, err := c.post(buffer, bytes, source, tag, callIrecv)
	if err != nil {
		return Request{}, err
	}
	if index == 0 {
		index = c.r.completed(nobodyRequest, callIrecv)
	}
	return c.r.request(index), nil
}

// IrecvSize is the nonblocking RecvSize (MPI_Irecv).
func (c *Comm) IrecvSize(bytes int64, source, tag int) (Request, error) {
	return c.receiveNonblocking(nil, bytes, source, tag)
}

// Sendrecv sends to one member and receives from another, both at once
// (MPI_Sendrecv). Errors: as Send and Recv; ErrBuffer if the two slices have memory in
// common.
func Sendrecv[S, R Datatype](c *Comm, send []S, dest, sendTag int, receive []R, source, receiveTag int) (Status, error) {
	out, in := bytesOf(send), bytesOf(receive)
	if c == nil {
		return emptyStatus, noComm(callSendrecv)
	}
	if err := c.c.checkSend(dest, sendTag, int64(len(out))); err != nil {
		return emptyStatus, c.r.raise(callSendrecv, err)
	}
	if err := c.checkDisjoint(out, in); err != nil {
		return emptyStatus, err
	}
	received, err := c.post(in, int64(len(in)), source, receiveTag, callSendrecv)
	if err != nil {
		return emptyStatus, err
	}
	sent, err := c.start(out, int64(len(out)), dest, sendTag, standard, callSendrecv)
	if err != nil {
		return emptyStatus, err
	}
	r := c.r
	r.requests = append(r.requests[:0], received, sent)
	if !r.k.waitRequests(r.lp, waitAll, r.requests, callSendrecv) {
		r.suspend()
	}
	if sent != 0 {
		r.k.requests.release(sent)
	}
	if received == 0 {
		return nobodyStatus, nil
	}
	return r.retire(received, callSendrecv)
}

// checkDisjoint returns an error if the two buffers of a Sendrecv share memory.
func (c *Comm) checkDisjoint(out, in []byte) error {
	if overlap(out, in) {
		return c.r.raise(callSendrecv, errShared)
	}
	return nil
}

// errShared is the error of a Sendrecv whose buffers share memory (MPI 4.1, 3.10: they
// must be disjoint).
var errShared = mpiError(ErrBuffer, "the slices to send and to receive share memory: give two that do not, or copy one")

// Probe waits for a message that a Recv with the same arguments would take, and
// leaves it (MPI_Probe).
func (c *Comm) Probe(source, tag int) (Status, error) {
	if _, err := c.probe(waitProbe, source, tag, callProbe); err != nil || source == ProcNull {
		return nobodyStatus, err
	}
	return c.probeStatus(), nil
}

// Iprobe reports whether a message that a Recv with the same arguments would take
// is there (MPI_Iprobe). A failing Iprobe takes the time that the machine's poll
// field says.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	found, err := c.probe(testProbe, source, tag, callIprobe)
	switch {
	case err != nil || !found:
		return emptyStatus, false, err
	case source == ProcNull:
		return nobodyStatus, true, nil
	}
	return c.probeStatus(), true, nil
}

func (c *Comm) probe(kind waitKind, source, tag int, name call) (found bool, err error) {
	if c == nil {
		return false, noComm(name)
	}
	r := c.r
	r.calls(name)
	if err := c.c.checkReceive(source, tag, 0); err != nil {
		return false, r.raise(name, err)
	}
	if source == ProcNull {
		return true, nil
	}
	if !r.k.probe(r.lp, kind, c.c, source, tag, name) {
		r.suspend()
	}
	return r.k.box(r.lp).wait.found, nil
}

func (c *Comm) probeStatus() Status {
	k := c.r.k
	m := k.messages.at(k.box(c.r.lp).wait.message)
	return Status{Source: int(m.source), Tag: int(m.tag), Bytes: m.bytes}
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
	if _, err := c.probe(waitProbe, source, tag, callMprobe); err != nil || source == ProcNull {
		return &MatchedMessage{Status: nobodyStatus}, err
	}
	return c.takeProbed(), nil
}

// Improbe is Iprobe that takes the message out, for [Mrecv]; nil if there is none
// (MPI_Improbe).
func (c *Comm) Improbe(source, tag int) (*MatchedMessage, error) {
	found, err := c.probe(testProbe, source, tag, callImprobe)
	switch {
	case err != nil || !found:
		return nil, err
	case source == ProcNull:
		return &MatchedMessage{Status: nobodyStatus}, nil
	}
	return c.takeProbed(), nil
}

func (c *Comm) takeProbed() *MatchedMessage {
	m := &MatchedMessage{Status: c.probeStatus(), c: c, index: c.r.k.box(c.r.lp).wait.message}
	c.r.k.extract(c.r.lp, m.index)
	return m
}

// Mrecv receives the message of a matched probe (MPI_Mrecv). Errors: ErrTruncate;
// ErrRequest if it has been received already.
func Mrecv[T Datatype](m *MatchedMessage, data []T) (Status, error) {
	if m.c == nil {
		if m.Status == nobodyStatus {
			return nobodyStatus, nil
		}
		return emptyStatus, mpiError(ErrRequest, "the message has been received")
	}
	c := m.c
	m.c = nil
	r, b := c.r, bytesOf(data)
	index := r.k.newRequest(r.lp, receiveRequest, callRecv)
	q := r.k.requests.at(index)
	q.buffer, q.sized, q.bytes = b, true, int64(len(b))
	r.k.receiveMatched(r.lp, index, m.index)
	if !r.k.waitRequest(r.lp, index, callRecv) {
		r.suspend()
	}
	return r.retire(index, callRecv)
}
