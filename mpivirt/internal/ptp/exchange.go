package ptp

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// An exchange is messages with named members that begin together and have one request: the
// sends and receives of a neighbourhood collective, or of one on an intercommunicator. It takes
// the time of nonblocking receives, nonblocking sends and a wait for all of them.

// Part is a message of an exchange.
type Part struct {
	Peer   int // member, or ProcNull for none
	Tag    int
	Bytes  int64  // of the message, or room for it
	Buffer []byte // to send from or to receive into; nil if only the size is simulated
}

// exchange is the messages of an exchange that is under way, or complete and not waited for.
type exchange struct {
	parts   []int32 // requests
	pending int     // of them that are not complete; one more while they begin
	end     func() vtime.Duration
}

// Exchange posts receives, then sends messages, and returns the request of all of them. If end
// is not nil it is called when the last is complete; the computation that it does takes the
// time that it returns. The messages are on a communicator of their own; named is the index of
// the one that the program knows.
func (k *Messages) Exchange(lp int32, q *Operands, named int32, receives, sends []Part, end func() vtime.Duration) int32 {
	k.Activity(lp)
	whole := k.NewRequest(lp, exchangeRequest, q.Procedure)
	x := k.newExchange()
	r := k.Requests.At(whole)
	r.Comm, r.next, x.end = named, whole, end
	r.Peer, r.Tag, r.Bytes = int32(world.EmptyStatus.Source), int32(world.EmptyStatus.Tag), 0
	x.pending = 1 // the beginning: a message of the LP to itself may complete a part meanwhile
	if k.exchanges == nil {
		k.exchanges = map[int32]*exchange{}
	}
	k.exchanges[whole] = x
	for i := range receives {
		if p := &receives[i]; p.Peer != world.ProcNull {
			q.Incoming = incoming{Source: p.Peer, Tag: p.Tag, Bytes: p.Bytes, Buffer: p.Buffer, Sized: true}
			k.addPart(x, whole, k.Receive(lp, q))
		}
	}
	for i := range sends {
		if p := &sends[i]; p.Peer != world.ProcNull {
			q.Outgoing = outgoing{Dest: p.Peer, Tag: p.Tag, Bytes: p.Bytes, Payload: p.Buffer}
			if request := k.Send(lp, q); request != 0 {
				k.addPart(x, whole, request)
			}
		}
	}
	k.partComplete(whole)
	return whole
}

// SendReceive begins a message to a member and a receive from one, which need not be the same, as an
// exchange on the program's own communicator. Its status is that of the receive.
func (k *Messages) SendReceive(lp int32, q *Operands) int32 {
	in, out := q.Incoming, q.Outgoing
	receives := [1]Part{{Peer: in.Source, Tag: in.Tag, Bytes: in.Bytes, Buffer: in.Buffer}}
	sends := [1]Part{{Peer: out.Dest, Tag: out.Tag, Bytes: out.Bytes, Buffer: out.Payload}}
	whole := k.Exchange(lp, q, q.Comm.Index, receives[:], sends[:], nil)
	if in.Source == world.ProcNull {
		r := k.Requests.At(whole)
		r.Peer, r.Tag = int32(world.ProcNullStatus.Source), int32(world.ProcNullStatus.Tag)
	}
	return whole
}

// newExchange returns an exchange without parts.
func (k *Messages) newExchange() *exchange {
	if n := len(k.spareExchanges); n > 0 {
		x := k.spareExchanges[n-1]
		k.spareExchanges = k.spareExchanges[:n-1]
		return x
	}
	return &exchange{}
}

// addPart makes a request a part of an exchange.
func (k *Messages) addPart(x *exchange, whole, part int32) {
	x.parts = append(x.parts, part)
	if r := k.Requests.At(part); !r.Complete {
		r.whole = whole
		x.pending++
	}
}

// partComplete counts a part of an exchange that is complete, or its beginning.
func (k *Messages) partComplete(whole int32) {
	x := k.exchanges[whole]
	if x.pending--; x.pending == 0 {
		k.completeExchange(whole, x)
	}
}

// completeExchange completes an exchange all of whose parts are complete, with the error of the
// first part that has one.
func (k *Messages) completeExchange(whole int32, x *exchange) {
	t := k.Requests.At(whole).posted
	for _, part := range x.parts {
		t = max(t, k.Requests.At(part).Time)
		if err := k.failure(part); err != nil && !k.Requests.At(whole).failed {
			k.FailRequest(whole, err)
		}
	}
	if x.end != nil && !k.Requests.At(whole).failed {
		r := k.Requests.At(whole)
		computing := x.end()
		r.arrival = vtime.Time(0).Add(computing)
		if k.Activities != nil {
			k.Computed(computing)
		}
		t = t.Add(computing)
	}
	if r := k.Requests.At(whole); r.Procedure == world.Isendrecv {
		for _, part := range x.parts {
			if p := k.Requests.At(part); p.Kind == ReceiveRequest {
				r.Peer, r.Tag, r.Bytes = p.Peer, p.Tag, p.Bytes
			}
		}
	}
	k.CompleteRequest(whole, t)
}

// chargeExchange charges the receives of an exchange and the computation at its end.
func (k *Messages) chargeExchange(lp int32, r *request, at vtime.Time) {
	k.chargeAll(lp, k.exchanges[r.next].parts, at)
	k.Clock[lp] = max(k.Clock[lp].Add(r.computing()), r.Time)
}

// releaseParts releases the parts of an exchange that has been waited for, and returns their
// number.
func (k *Messages) releaseParts(whole int32) (parts int32) {
	x := k.exchanges[whole]
	parts = int32(len(x.parts))
	delete(k.exchanges, whole)
	for _, part := range x.parts {
		k.Requests.Release(part)
	}
	x.parts, x.end = x.parts[:0], nil
	k.spareExchanges = append(k.spareExchanges, x)
	return parts
}
