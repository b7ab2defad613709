package steps

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// sendCall returns a call that sends.
func (r *Rank) sendCall(op world.Procedure, payload []byte, bytes int64, dest, tag int) *kernel.Call {
	return r.compose(op).Sends(payload, bytes, dest, tag)
}

func (r *Rank) send(op world.Procedure, payload []byte, bytes int64, dest, tag int) Outcome {
	return r.do(r.sendCall(op, payload, bytes, dest, tag))
}

// sendOnWorld is a standard send, which mostly is on WORLD and complete at once.
func (r *Rank) sendOnWorld(payload []byte, bytes int64, dest, tag int) Outcome {
	k := r.k
	if (r.comm == nil || r.comm == r.world) && r.concluded == 0 && k.Joiners().Hi != r.lp+1 {
		r.lastCall = world.Send
		if k.SendAtOnce(r.lp, payload, bytes, dest, tag) {
			k.Completion().Err = nil
			return r.conclude(continued)
		}
		if k.SendOnWorld(r.lp, r.world, payload, bytes, dest, tag) {
			if b := k.Completion(); b.Err != nil && b.Fatal {
				r.refuse(b.Procedure, b.Err)
			}
			return r.conclude(continued)
		}
	}
	return r.send(world.Send, payload, bytes, dest, tag)
}

func (r *Rank) isend(op world.Procedure, payload []byte, bytes int64, dest, tag int) Request {
	return r.begin(r.sendCall(op, payload, bytes, dest, tag))
}

// Send sends data to a member; see [mpivirt.Send].
func Send[T typed.Datatype](r *Rank, data []T, dest, tag int) Outcome {
	b := typed.Bytes(data)
	return r.sendOnWorld(b, int64(len(b)), dest, tag)
}

// Ssend sends data to a member, synchronously; see [mpivirt.Ssend].
func Ssend[T typed.Datatype](r *Rank, data []T, dest, tag int) Outcome {
	b := typed.Bytes(data)
	return r.send(world.Ssend, b, int64(len(b)), dest, tag)
}

// Rsend sends data to a member whose receive is posted; see [mpivirt.Rsend].
func Rsend[T typed.Datatype](r *Rank, data []T, dest, tag int) Outcome {
	b := typed.Bytes(data)
	return r.send(world.Rsend, b, int64(len(b)), dest, tag)
}

// Bsend sends data to a member through the buffer that the rank has attached; see
// [mpivirt.Bsend].
func Bsend[T typed.Datatype](r *Rank, data []T, dest, tag int) Outcome {
	b := typed.Bytes(data)
	return r.send(world.Bsend, b, int64(len(b)), dest, tag)
}

// SendSize sends a message of which only the size is simulated; see [mpivirt.Comm.SendSize].
func (r *Rank) SendSize(bytes int64, dest, tag int) Outcome {
	return r.sendOnWorld(nil, bytes, dest, tag)
}

// SsendSize is SendSize that is over when the receive has matched (MPI_Ssend).
func (r *Rank) SsendSize(bytes int64, dest, tag int) Outcome {
	return r.send(world.Ssend, nil, bytes, dest, tag)
}

// Isend begins a Send (MPI_Isend). The message is copied at once.
func Isend[T typed.Datatype](r *Rank, data []T, dest, tag int) Request {
	b := typed.Bytes(data)
	return r.isend(world.Isend, b, int64(len(b)), dest, tag)
}

// Issend begins an Ssend (MPI_Issend).
func Issend[T typed.Datatype](r *Rank, data []T, dest, tag int) Request {
	b := typed.Bytes(data)
	return r.isend(world.Issend, b, int64(len(b)), dest, tag)
}

// Irsend begins an Rsend (MPI_Irsend).
func Irsend[T typed.Datatype](r *Rank, data []T, dest, tag int) Request {
	b := typed.Bytes(data)
	return r.isend(world.Irsend, b, int64(len(b)), dest, tag)
}

// Ibsend begins a Bsend (MPI_Ibsend).
func Ibsend[T typed.Datatype](r *Rank, data []T, dest, tag int) Request {
	b := typed.Bytes(data)
	return r.isend(world.Ibsend, b, int64(len(b)), dest, tag)
}

// IsendSize begins a SendSize (MPI_Isend).
func (r *Rank) IsendSize(bytes int64, dest, tag int) Request {
	return r.isend(world.Isend, nil, bytes, dest, tag)
}

// receiveCall returns a call that receives, or probes for, a message.
func (r *Rank) receiveCall(op world.Procedure, buffer []byte, sized bool, source, tag int) *kernel.Call {
	return r.compose(op).Receives(buffer, int64(len(buffer)), sized, source, tag)
}

// Recv receives a message of any size from a member, or AnySource, with a tag, or
// AnyTag (MPI_Recv). The next step finds it in Data and Status.
func (r *Rank) Recv(source, tag int) Outcome {
	k := r.k
	if (r.comm == nil || r.comm == r.world) && r.concluded == 0 && k.Joiners().Hi != r.lp+1 {
		r.lastCall = world.Recv
		if k.ReceiveOnWorld(r.lp, r.world, nil, kernel.AnyLength, source, tag) {
			return r.outcome(*r.clock < vtime.Forever)
		}
	}
	return r.do(r.receiveCall(world.Recv, nil, false, source, tag))
}

// Irecv begins a Recv (MPI_Irecv). The step after its wait finds the message in Data
// and Status.
func (r *Rank) Irecv(source, tag int) Request {
	return r.begin(r.receiveCall(world.Irecv, nil, false, source, tag))
}

// Recv receives into data a message of at most len(data) elements; see [mpivirt.Recv].
// The memory belongs to the operation until it is over.
func Recv[T typed.Datatype](r *Rank, data []T, source, tag int) Outcome {
	return r.do(r.receiveCall(world.Recv, typed.Bytes(data), true, source, tag))
}

// Irecv begins a Recv (MPI_Irecv).
func Irecv[T typed.Datatype](r *Rank, data []T, source, tag int) Request {
	return r.begin(r.receiveCall(world.Irecv, typed.Bytes(data), true, source, tag))
}

// Sendrecv sends to one member and receives from another, both at once; see
// [mpivirt.Sendrecv].
func Sendrecv[S, R typed.Datatype](r *Rank, send []S, dest, sendTag int, receive []R, source, receiveTag int) Outcome {
	b := typed.Bytes(send)
	return r.do(r.receiveCall(world.Sendrecv, typed.Bytes(receive), true, source, receiveTag).Sends(b, int64(len(b)), dest, sendTag))
}

// Isendrecv begins a Sendrecv (MPI_Isendrecv).
func Isendrecv[S, R typed.Datatype](r *Rank, send []S, dest, sendTag int, receive []R, source, receiveTag int) Request {
	b := typed.Bytes(send)
	return r.begin(r.receiveCall(world.Isendrecv, typed.Bytes(receive), true, source, receiveTag).Sends(b, int64(len(b)), dest, sendTag))
}

// SendrecvSize is Sendrecv of a message of which only the size is simulated; it
// receives one of any size, as Recv does.
func (r *Rank) SendrecvSize(bytes int64, dest, sendTag, source, receiveTag int) Outcome {
	return r.do(r.receiveCall(world.Sendrecv, nil, false, source, receiveTag).Sends(nil, bytes, dest, sendTag))
}

// Probe waits for a message that a Recv with the same arguments would take (MPI_Probe). The
// message remains. The next step finds its envelope in Status.
func (r *Rank) Probe(source, tag int) Outcome {
	return r.do(r.receiveCall(world.Probe, nil, false, source, tag))
}

// Iprobe looks for a message that a Recv with the same arguments would take
// (MPI_Iprobe). The next step finds in Found whether there is one, and in Status its
// envelope.
func (r *Rank) Iprobe(source, tag int) Outcome {
	return r.do(r.receiveCall(world.Iprobe, nil, false, source, tag))
}

// Mprobe is Probe that takes the message out of the reach of other receives
// (MPI_Mprobe). The next step finds it in Matched.
func (r *Rank) Mprobe(source, tag int) Outcome {
	return r.do(r.receiveCall(world.Mprobe, nil, false, source, tag))
}

// Improbe is Iprobe that takes the message out, if there is one (MPI_Improbe).
func (r *Rank) Improbe(source, tag int) Outcome {
	return r.do(r.receiveCall(world.Improbe, nil, false, source, tag))
}

// AttachBuffer attaches a buffer for buffered sends; see [mpivirt.Rank.AttachBuffer].
func (r *Rank) AttachBuffer(bytes int64) { r.k.Attach(r.lp, bytes) }

// DetachBuffer detaches the buffer and returns its size (MPI_Buffer_detach).
func (r *Rank) DetachBuffer() int64 { return r.k.Attach(r.lp, 0) }

// Message is a message that an event rank has found by a matched probe
// (MPI_Message). The zero Message is none.
type Message int32

// Matched returns the message that the matched probe of the last step has found.
func (r *Rank) Matched() Message { return Message(r.completion().Message) }

// Mrecv receives the message of a matched probe into data; see [mpivirt.Mrecv].
func Mrecv[T typed.Datatype](r *Rank, m Message, data []T) Outcome {
	return r.do(r.receiveCall(world.Recv, typed.Bytes(data), true, 0, 0).Takes(int32(m)))
}

// Imrecv begins an Mrecv; see [mpivirt.Imrecv].
func Imrecv[T typed.Datatype](r *Rank, m Message, data []T) Request {
	return r.begin(r.receiveCall(world.Irecv, typed.Bytes(data), true, 0, 0).Takes(int32(m)))
}

// Persistent is a send or receive that an event rank starts repeatedly with the same
// arguments, on the communicator of the start. It must not be copied between a start and the
// wait for it.
type Persistent struct{ operation kernel.Persistent }

func persistent[T typed.Datatype](op world.Procedure, data []T, peer, tag int) Persistent {
	return Persistent{kernel.Persistent{Procedure: op, Buffer: typed.Bytes(data), Peer: peer, Tag: tag}}
}

// SendInit makes a persistent Send (MPI_Send_init).
func SendInit[T typed.Datatype](data []T, dest, tag int) Persistent {
	return persistent(world.Isend, data, dest, tag)
}

// SsendInit makes a persistent Ssend (MPI_Ssend_init).
func SsendInit[T typed.Datatype](data []T, dest, tag int) Persistent {
	return persistent(world.Issend, data, dest, tag)
}

// BsendInit makes a persistent Bsend (MPI_Bsend_init).
func BsendInit[T typed.Datatype](data []T, dest, tag int) Persistent {
	return persistent(world.Ibsend, data, dest, tag)
}

// RsendInit makes a persistent Rsend (MPI_Rsend_init).
func RsendInit[T typed.Datatype](data []T, dest, tag int) Persistent {
	return persistent(world.Irsend, data, dest, tag)
}

// RecvInit makes a persistent Recv (MPI_Recv_init).
func RecvInit[T typed.Datatype](data []T, source, tag int) Persistent {
	return persistent(world.Irecv, data, source, tag)
}

// Start begins a persistent operation; see [mpivirt.Persistent.Start].
func (r *Rank) Start(p *Persistent) Request {
	return r.begin(r.compose(world.Start).Starts(&p.operation))
}
