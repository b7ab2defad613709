package mpivirt

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// compose returns a call of the rank on the communicator, without other arguments.
func (c *Comm) compose(op world.Procedure) *kernel.Call { return c.r.k.Compose(op, c.c, c.member) }

// do makes a call and waits until it is complete. The completion is valid until the next
// call.
func (r *Rank) do(q *kernel.Call) *kernel.Completion { return r.make(q, !r.deep && r.shallow(q)) }

// doCollective is do for the blocking form of a collective. With several members it
// completes at once only if there is an error in its arguments.
func (r *Rank) doCollective(q *kernel.Call, members int) *kernel.Completion {
	return r.make(q, members > 1 || !r.deep && r.shallow(q))
}

// make makes a call, which the engine submits or the rank itself.
func (r *Rank) make(q *kernel.Call, byEngine bool) *kernel.Completion {
	r.noteCall(q.Procedure)
	if r.k.Bursting() {
		r.endBurst(q.Procedure)
	}
	if byEngine {
		if r.hand(); r.waits {
			return r.awaited()
		}
		return r.completed()
	}
	if r.k.Submit(r.lp, q) {
		return r.completed()
	}
	r.suspend()
	return r.awaited()
}

// awaited returns the completion of a call that the rank has waited for.
func (r *Rank) awaited() *kernel.Completion {
	if r.k.Completion().LP != r.lp {
		r.k.StartBurst()
		return kernel.EmptyCompletion()
	}
	return r.completed()
}

// completed returns the rank's completion. A fatal error ends the program.
func (r *Rank) completed() *kernel.Completion {
	b := r.k.Completion()
	if b.Err != nil && b.Fatal {
		r.errs(b.Procedure, b.Err)
	}
	r.k.StartBurst()
	return b
}

// sendCall returns a call that sends.
func (c *Comm) sendCall(op world.Procedure, payload []byte, bytes int64, dest, tag int) *kernel.Call {
	return c.compose(op).Sends(payload, bytes, dest, tag)
}

func (c *Comm) send(op world.Procedure, payload []byte, bytes int64, dest, tag int) error {
	if c == nil {
		return world.NoComm(op)
	}
	err := c.r.do(c.sendCall(op, payload, bytes, dest, tag).Lends()).Err
	c.r.throttle()
	return err
}

func (c *Comm) isend(op world.Procedure, payload []byte, bytes int64, dest, tag int) (Request, error) {
	if c == nil {
		return Request{}, world.NoComm(op)
	}
	b := c.r.do(c.sendCall(op, payload, bytes, dest, tag))
	if b.Err != nil {
		return Request{}, b.Err
	}
	q := c.r.request(b.Request)
	c.r.throttle()
	return q, nil
}

// throttle suspends the rank while the buffers of its latest destination are full.
func (r *Rank) throttle() {
	if r.k.Throttle(r.lp) {
		r.suspend()
		r.k.StartBurst()
	}
}

// receiveCall returns a call that receives, or probes for, a message of at most so many
// bytes.
func (c *Comm) receiveCall(op world.Procedure, buffer []byte, bytes int64, source, tag int) *kernel.Call {
	return c.compose(op).Receives(buffer, bytes, true, source, tag)
}

func (c *Comm) recv(buffer []byte, bytes int64, source, tag int) (Status, error) {
	if c == nil {
		return world.ProcNullStatus, world.NoComm(world.Recv)
	}
	b := c.r.do(c.receiveCall(world.Recv, buffer, bytes, source, tag))
	return c.r.k.StatusOf(b), b.Err
}

func (c *Comm) irecv(buffer []byte, bytes int64, source, tag int) (Request, error) {
	if c == nil {
		return Request{}, world.NoComm(world.Irecv)
	}
	b := c.r.do(c.receiveCall(world.Irecv, buffer, bytes, source, tag))
	if b.Err != nil {
		return Request{}, b.Err
	}
	return c.r.request(b.Request), nil
}

// Send sends data to a member and returns when data may be changed (MPI_Send). An eager send
// returns after the overhead of the processor. A larger one returns when a receive has
// matched and the data have left. Errors: ErrRank, ErrTag.
func Send[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := typed.Bytes(data)
	return c.send(world.Send, b, int64(len(b)), dest, tag)
}

// Ssend is Send that returns when the receive has matched (MPI_Ssend).
func Ssend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := typed.Bytes(data)
	return c.send(world.Ssend, b, int64(len(b)), dest, tag)
}

// Rsend is Send to a receive that has been posted already (MPI_Rsend). If the receive was not
// posted when the message arrived, the receiver gets ErrOther.
func Rsend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := typed.Bytes(data)
	return c.send(world.Rsend, b, int64(len(b)), dest, tag)
}

// Bsend is Send that returns at once, through the buffer that the rank has
// attached with [Rank.AttachBuffer] (MPI_Bsend). Errors: as Send, and ErrBuffer if
// the message is larger than the buffer.
func Bsend[T Datatype](c *Comm, data []T, dest, tag int) error {
	b := typed.Bytes(data)
	return c.send(world.Bsend, b, int64(len(b)), dest, tag)
}

// AttachBuffer attaches a buffer for buffered sends of up to the given number of bytes each
// (MPI_Buffer_attach), in the place of one that is attached. A message leaves the buffer at the instant of its send.
func (r *Rank) AttachBuffer(bytes int64) { r.k.Attach(r.lp, bytes) }

// DetachBuffer detaches the buffer and returns its size (MPI_Buffer_detach).
func (r *Rank) DetachBuffer() int64 { return r.k.Attach(r.lp, 0) }

// SendSize sends a message of which only the size is simulated (MPI_Send). It takes no memory
// for the data.
func (c *Comm) SendSize(bytes int64, dest, tag int) error {
	return c.send(world.Send, nil, bytes, dest, tag)
}

// SsendSize is SendSize that returns when the receive has matched (MPI_Ssend).
func (c *Comm) SsendSize(bytes int64, dest, tag int) error {
	return c.send(world.Ssend, nil, bytes, dest, tag)
}

// IsendSize is the nonblocking SendSize (MPI_Isend).
func (c *Comm) IsendSize(bytes int64, dest, tag int) (Request, error) {
	return c.isend(world.Isend, nil, bytes, dest, tag)
}

// IssendSize is the nonblocking SsendSize (MPI_Issend).
func (c *Comm) IssendSize(bytes int64, dest, tag int) (Request, error) {
	return c.isend(world.Issend, nil, bytes, dest, tag)
}

// Recv receives into data a message of at most len(data) elements from a member,
// or AnySource, with a tag, or AnyTag (MPI_Recv). Errors: ErrRank, ErrTag,
// ErrTruncate if the message is longer.
func Recv[T Datatype](c *Comm, data []T, source, tag int) (Status, error) {
	b := typed.Bytes(data)
	return c.recv(b, int64(len(b)), source, tag)
}

// RecvSize receives a message of at most the given size and drops its data
// (MPI_Recv).
func (c *Comm) RecvSize(bytes int64, source, tag int) (Status, error) {
	return c.recv(nil, bytes, source, tag)
}

// Isend begins a Send (MPI_Isend). The message is copied at once, so data may be changed. The
// request is complete when a Send would return.
func Isend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := typed.Bytes(data)
	return c.isend(world.Isend, b, int64(len(b)), dest, tag)
}

// Issend begins an Ssend (MPI_Issend).
func Issend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := typed.Bytes(data)
	return c.isend(world.Issend, b, int64(len(b)), dest, tag)
}

// Irsend begins an Rsend (MPI_Irsend).
func Irsend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := typed.Bytes(data)
	return c.isend(world.Irsend, b, int64(len(b)), dest, tag)
}

// Ibsend begins a Bsend (MPI_Ibsend).
func Ibsend[T Datatype](c *Comm, data []T, dest, tag int) (Request, error) {
	b := typed.Bytes(data)
	return c.isend(world.Ibsend, b, int64(len(b)), dest, tag)
}

// Irecv begins a Recv (MPI_Irecv). Data is defined once the request is complete.
func Irecv[T Datatype](c *Comm, data []T, source, tag int) (Request, error) {
	b := typed.Bytes(data)
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
		return world.EmptyStatus, world.NoComm(world.Sendrecv)
	}
	out, in := typed.Bytes(send), typed.Bytes(receive)
	b := c.r.do(c.receiveCall(world.Sendrecv, in, int64(len(in)), source, receiveTag).Sends(out, int64(len(out)), dest, sendTag).Lends())
	status, err := c.r.k.StatusOf(b), b.Err
	c.r.throttle()
	return status, err
}

// SendrecvSize is Sendrecv of a message of which only the size is simulated. It receives a message of at most room bytes and drops
// its data.
func (c *Comm) SendrecvSize(bytes int64, dest, sendTag int, room int64, source, receiveTag int) (Status, error) {
	if c == nil {
		return world.EmptyStatus, world.NoComm(world.Sendrecv)
	}
	b := c.r.do(c.receiveCall(world.Sendrecv, nil, room, source, receiveTag).Sends(nil, bytes, dest, sendTag))
	status, err := c.r.k.StatusOf(b), b.Err
	c.r.throttle()
	return status, err
}

// Isendrecv begins a Sendrecv (MPI_Isendrecv). The request is complete when both messages are, and
// its status is that of the receive. Receive is defined once it is complete.
func Isendrecv[S, R Datatype](c *Comm, send []S, dest, sendTag int, receive []R, source, receiveTag int) (Request, error) {
	if c == nil {
		return Request{}, world.NoComm(world.Isendrecv)
	}
	out, in := typed.Bytes(send), typed.Bytes(receive)
	b := c.r.do(c.receiveCall(world.Isendrecv, in, int64(len(in)), source, receiveTag).Sends(out, int64(len(out)), dest, sendTag))
	if b.Err != nil {
		return Request{}, b.Err
	}
	q := c.r.request(b.Request)
	c.r.throttle()
	return q, nil
}

// exchangeOwn sends elements of the library's own to a member, and returns the elements that a member sends. They travel in a simulation without
// contents, too.
func exchangeOwn[T Datatype](c *Comm, leaving []T, to, from, tag int) (came []T, err error) {
	out := typed.Bytes(leaving)
	b := c.r.do(c.sendCall(world.Isend, out, int64(len(out)), to, tag).Own())
	if b.Err != nil {
		return nil, b.Err
	}
	sent := c.r.request(b.Request)
	c.r.throttle()
	status, err := c.Probe(from, tag)
	if err != nil {
		return nil, err
	}
	came = typed.Room[T](status.Bytes)
	in := typed.Bytes(came)
	if err := c.r.do(c.receiveCall(world.Recv, in, int64(len(in)), from, tag).Own()).Err; err != nil {
		return nil, err
	}
	_, err = sent.Wait()
	return came, err
}

// Probe waits for a message that a Recv with the same arguments would take (MPI_Probe). The
// message remains.
func (c *Comm) Probe(source, tag int) (Status, error) {
	b := c.probe(world.Probe, source, tag)
	return b.Status, b.Err
}

// Iprobe reports whether a message that a Recv with the same arguments would take
// is there (MPI_Iprobe). A failing Iprobe takes the time that the machine's poll
// field says.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	b := c.probe(world.Iprobe, source, tag)
	return b.Status, b.Found, b.Err
}

func (c *Comm) probe(op world.Procedure, source, tag int) *kernel.Completion {
	if c == nil {
		return &kernel.Completion{Status: world.ProcNullStatus, Err: world.NoComm(op)}
	}
	return c.r.do(c.receiveCall(op, nil, 0, source, tag))
}

// MatchedMessage is a message that a matched probe has removed from the reach of other
// receives (MPI_Message).
type MatchedMessage struct {
	Status Status
	c      *Comm
	index  int32
}

// Mprobe is Probe that takes the message out, for [Mrecv] (MPI_Mprobe).
func (c *Comm) Mprobe(source, tag int) (*MatchedMessage, error) {
	b := c.probe(world.Mprobe, source, tag)
	return &MatchedMessage{b.Status, c, b.Message}, b.Err
}

// Improbe is Iprobe that takes the message out, for [Mrecv]; nil if there is none
// (MPI_Improbe).
func (c *Comm) Improbe(source, tag int) (*MatchedMessage, error) {
	b := c.probe(world.Improbe, source, tag)
	if b.Err != nil || !b.Found {
		return nil, b.Err
	}
	return &MatchedMessage{b.Status, c, b.Message}, nil
}

// Mrecv receives the message of a matched probe (MPI_Mrecv). Errors: ErrTruncate;
// ErrRequest if it has been received already.
func Mrecv[T Datatype](m *MatchedMessage, data []T) (Status, error) {
	b, err := m.receive(world.Recv, typed.Bytes(data))
	if b == nil {
		return world.EmptyStatus, err
	}
	return m.c.r.k.StatusOf(b), err
}

// Imrecv begins an Mrecv (MPI_Imrecv). Data is defined once the request is complete.
func Imrecv[T Datatype](m *MatchedMessage, data []T) (Request, error) {
	b, err := m.receive(world.Irecv, typed.Bytes(data))
	if err != nil {
		return Request{}, err
	}
	return m.c.r.request(b.Request), nil
}

// receive makes a call that receives the message. The completion is nil if there is none.
func (m *MatchedMessage) receive(op world.Procedure, buffer []byte) (*kernel.Completion, error) {
	if m.c == nil {
		return nil, world.Errorf(ErrRequest, "no matched probe has found the message: give the receive the result of an Mprobe or Improbe")
	}
	q := m.c.receiveCall(op, buffer, int64(len(buffer)), 0, 0)
	q.Takes(m.index)
	if m.index != kernel.MessageNoProc {
		m.index = kernel.MessageNull
	}
	b := m.c.r.do(q)
	return b, b.Err
}
