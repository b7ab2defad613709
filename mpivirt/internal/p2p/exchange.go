package p2p

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// An exchange is a set of messages with named partners that begin together and have one request:
// the sends and receives of a neighbourhood collective, or of a collective on an intercommunicator.
// An exchange takes the time of nonblocking receives, nonblocking sends and a wait for all of them.

// Part is one message of an exchange.
type Part struct {
	Peer   int // member, ProcNull for no message
	Tag    int
	Bytes  int64  // of the message sent; room for the message received
	Buffer []byte // to send from or to receive into; nil if only the size is simulated
}

// exchange is the state of an exchange that is under way, or complete and not waited for.
type exchange struct {
	parts   []int32 // requests
	pending int     // parts that are not complete, plus 1 while the parts begin
	end     func() vtime.Duration
}

// Exchange posts receives, then sends messages, and returns the request of the whole exchange. If
// end is not nil, the completion of the last part calls it, and the computation in end takes the
// time that end returns. The messages travel on a communicator of their own; named is the index of
// the communicator that the program passed to its call.
func (m *Messages) Exchange(lp int32, q *Operands, named int32, receives, sends []Part, end func() vtime.Duration) int32 {
	m.Activity(lp)
	whole := m.NewRequest(lp, exchangeRequest, q.Procedure)
	x := m.newExchange()
	r := m.Requests.At(whole)
	r.Comm, r.next, x.end = named, whole, end
	r.Peer, r.Tag, r.Bytes = int32(world.EmptyStatus.Source), int32(world.EmptyStatus.Tag), 0
	x.pending = 1 // for the beginning: a message of the LP to itself may complete a part meanwhile
	if m.exchanges == nil {
		m.exchanges = map[int32]*exchange{}
	}
	m.exchanges[whole] = x
	for i := range receives {
		if p := &receives[i]; p.Peer != world.ProcNull {
			q.Incoming = incoming{Source: p.Peer, Tag: p.Tag, Bytes: p.Bytes, Buffer: p.Buffer, Sized: true}
			m.addPart(x, whole, m.Receive(lp, q))
		}
	}
	for i := range sends {
		if p := &sends[i]; p.Peer != world.ProcNull {
			q.Outgoing = outgoing{Dest: p.Peer, Tag: p.Tag, Bytes: p.Bytes, Payload: p.Buffer}
			if request := m.Send(lp, q); request != 0 {
				m.addPart(x, whole, request)
			}
		}
	}
	m.partComplete(whole)
	return whole
}

// SendReceive starts a send to one member and a receive from the same or another member, as an
// exchange on the program's own communicator. The status of the exchange is that of the receive.
func (m *Messages) SendReceive(lp int32, q *Operands) int32 {
	in, out := q.Incoming, q.Outgoing
	receives := [1]Part{{Peer: in.Source, Tag: in.Tag, Bytes: in.Bytes, Buffer: in.Buffer}}
	sends := [1]Part{{Peer: out.Dest, Tag: out.Tag, Bytes: out.Bytes, Buffer: out.Payload}}
	whole := m.Exchange(lp, q, q.Comm.Index, receives[:], sends[:], nil)
	if in.Source == world.ProcNull {
		r := m.Requests.At(whole)
		r.Peer, r.Tag = int32(world.ProcNullStatus.Source), int32(world.ProcNullStatus.Tag)
	}
	return whole
}

// newExchange returns an exchange without parts.
func (m *Messages) newExchange() *exchange {
	if n := len(m.spareExchanges); n > 0 {
		x := m.spareExchanges[n-1]
		m.spareExchanges = m.spareExchanges[:n-1]
		return x
	}
	return &exchange{}
}

// addPart makes a request a part of an exchange.
func (m *Messages) addPart(x *exchange, whole, part int32) {
	x.parts = append(x.parts, part)
	if r := m.Requests.At(part); !r.Complete {
		r.whole = whole
		x.pending++
	}
}

// partComplete counts a complete part of an exchange, or the end of its beginning.
func (m *Messages) partComplete(whole int32) {
	x := m.exchanges[whole]
	if x.pending--; x.pending == 0 {
		m.completeExchange(whole, x)
	}
}

// completeExchange completes an exchange whose parts are all complete, with the error of the first
// failed part.
func (m *Messages) completeExchange(whole int32, x *exchange) {
	t := m.Requests.At(whole).posted
	for _, part := range x.parts {
		if at := m.Requests.At(part).Time; m.why != nil && at >= t {
			*m.why.of.Open(whole) = *m.why.of.Open(part)
			if m.why.siteOf != nil {
				*m.why.sent.Open(whole) = *m.why.sent.Open(part)
			}
		}
		t = max(t, m.Requests.At(part).Time)
		if err := m.failure(part); err != nil && !m.Requests.At(whole).failed {
			m.FailRequest(whole, err)
		}
	}
	if x.end != nil && !m.Requests.At(whole).failed {
		r := m.Requests.At(whole)
		computing := x.end()
		r.arrival = vtime.Time(0).Add(computing)
		if m.Partition.Activities != nil {
			m.Computed(computing)
		}
		t = t.Add(computing)
	}
	if r := m.Requests.At(whole); r.Procedure == world.Isendrecv {
		for _, part := range x.parts {
			if p := m.Requests.At(part); p.Kind == ReceiveRequest {
				r.Peer, r.Tag, r.Bytes = p.Peer, p.Tag, p.Bytes
			}
		}
	}
	m.CompleteRequest(whole, t)
}

// chargeExchange charges an LP for the receives of an exchange and for the computation at its end.
func (m *Messages) chargeExchange(lp int32, r *request, at vtime.Time) {
	m.chargeAll(lp, m.exchanges[r.next].parts, at)
	m.Partition.Clock[lp] = max(m.Partition.Clock[lp].Add(r.computing()), r.Time)
}

// releaseParts releases the parts of an exchange that has been waited for, and returns the number
// of parts.
func (m *Messages) releaseParts(whole int32) (parts int32) {
	x := m.exchanges[whole]
	parts = int32(len(x.parts))
	delete(m.exchanges, whole)
	for _, part := range x.parts {
		m.Requests.Release(part)
	}
	x.parts, x.end = x.parts[:0], nil
	m.spareExchanges = append(m.spareExchanges, x)
	return parts
}
