package kernel

import (
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Part is a message of an exchange.
type Part = p2p.Part

// Exchange lists the messages of a neighbourhood collective, or of a collective on an
// intercommunicator, in which both ends know each message. A sender and a receiver give the
// messages between them equal tags, and list messages of one tag in the same order. The buffers of
// receives belong to the exchange until it is over, and share no memory with other buffers.
type Exchange struct {
	Receives, Sends []Part                // in the order in which they begin; owned by the kernel after Submit
	End             func() vtime.Duration // called when all messages have arrived; returns the time that it takes. May be nil
}

// Exchanges sets the messages of an exchange, in its blocking form, and the error in its arguments.
// It returns the call.
func (q *Call) Exchanges(x Exchange, err error) *Call {
	q.exchange, q.err = x, err
	return q
}

// submitExchange begins the messages of an exchange, and waits for them in the blocking form.
func (k *Kernel) submitExchange(lp int32, q *Call) bool {
	x, err := q.exchange, q.checkExchange()
	q.exchange = Exchange{}
	if err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	return k.exchange(lp, q, x)
}

// checkExchange returns the error in the arguments of an exchange.
func (q *Call) checkExchange() error {
	err := q.err
	for _, parts := range [][]Part{q.exchange.Receives, q.exchange.Sends} {
		for i := range parts {
			if err == nil {
				err = q.Comm.CheckSend(parts[i].Peer, parts[i].Tag, parts[i].Bytes)
			}
		}
	}
	if err == nil && q.communicator.Size == 0 {
		err = world.Errorf(world.ErrComm, "%s", q.communicator)
	}
	return err
}

// handed returns the number of bytes that a member hands to a neighbourhood collective. An allgather sends one block to
// all neighbours.
func (q *Call) handed() int64 {
	bytes := int64(0)
	for i := range q.exchange.Sends {
		if bytes += q.exchange.Sends[i].Bytes; q.Procedure == world.NeighborAllgather || q.Procedure == world.NeighborAllgatherv {
			break
		}
	}
	return bytes
}

// exchange carries out an exchange whose arguments have been checked.
func (k *Kernel) exchange(lp int32, q *Call, x Exchange) bool {
	named := q.communicator
	q.Comm = &k.collectives.Exchanging(named).Comm
	index := k.messages.Exchange(lp, &q.Operands, named.Index, x.Receives, x.Sends, x.End)
	if k.messages.Completion.Err != nil {
		return true
	}
	if q.nonblocking {
		k.messages.Completion.Request = index
		return true
	}
	return k.messages.WaitRequest(lp, index, q.Procedure)
}
