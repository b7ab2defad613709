package ptp

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// requestKind is what a request stands for.
type requestKind uint8

const (
	SendRequest requestKind = iota + 1
	ReceiveRequest
	CollectiveRequest
	procNullRequest // a receive from ProcNull
)

// request is an operation that has begun and not been waited for. A run may hold
// some for each rank: 96 bytes.
type request struct {
	Buffer     []byte     // receive: where the payload goes; without a size given, the payload
	Time       vtime.Time // when it is complete
	posted     vtime.Time
	arrival    vtime.Time // receive: of its message
	Bytes      int64      // receive: the room for it, if sized; once complete, the size of the message
	generation uint32
	LP         int32 // local number of the LP
	Comm       int32
	Peer       int32 // receive: member or AnySource, once complete the source; send: member
	Tag        int32 // receive: tag or AnyTag, once complete that of the message
	next       int32
	rank       int32 // receive: WORLD number of the sender, the tie-break of arrivals
	Kind       requestKind
	Procedure  world.Procedure
	Complete   bool // outcome and time are known
	waited     bool // part of the wait that its LP is in
	Sized      bool // the receive has bounds, even where buffer is nil
	failed     bool // the kernel keeps an error under its index, for the LP to learn when it waits
}

// status tells what a request has brought, once it is complete.
func (r *request) status() world.Status {
	switch r.Kind {
	case ReceiveRequest:
		return world.Status{Source: int(r.Peer), Tag: int(r.Tag), Bytes: r.Bytes}
	case procNullRequest:
		return world.ProcNullStatus
	default:
		return world.EmptyStatus
	}
}

// matches reports whether a receive can take a message.
func (r *request) matches(m *message) bool {
	return r.Comm == m.comm && (r.Peer == m.source || r.Peer == world.AnySource) && (r.Tag == m.tag || r.Tag == world.AnyTag)
}

// WaitKind is what an LP waits for.
type WaitKind uint8

const (
	NoWait WaitKind = iota
	WaitOne
	WaitAll
	WaitAny
	WaitSome
	WaitProbe
	// The kinds from here on do not wait: they answer at the LP's clock.
	TestAll
	TestAny
	TestSome
	TestProbe
)

// wait describes what an LP waits for, in which call, since when.
type wait struct {
	Kind      WaitKind
	Procedure world.Procedure
	queued    bool // over; the LP is in the ready queue
	found     bool // a test or probe succeeded

	// generation counts the waits of the LP, so that a timed event which was armed for
	// another wait is passed over. After 2^32 waits it comes round again. That does no
	// harm: HandleWait looks only if the wait is armed for the event's very instant,
	// and then all arrivals up to it are known, whoever armed the event.
	generation uint32
	Requests   []int32 // waitAll, waitAny, waitSome, tests; 0 is an inactive one
	Request    int32   // waitOne
	pending    int32   // waitAll: requests that are not complete
	Comm       int32   // probes
	Peer       int32
	Tag        int32
	message    int32      // probes: what was found
	armed      vtime.Time // instant of the timed event that will look again; Forever if none
	at         vtime.Time // instant at which the wait is over
}

// newCompleted makes a request that is complete from the start and is never released.
func (k *Messages) newCompleted(kind requestKind) int32 {
	index := k.Requests.Take()
	*k.Requests.At(index) = request{Kind: kind, LP: world.None, Complete: true}
	return index
}

// OwnRequest returns a request of an LP's own in the place of one, and its generation: one
// that stands for all that are over at once is replaced by another.
func (k *Messages) OwnRequest(lp, index int32, op world.Procedure) (own int32, generation uint32) {
	if index == k.CompletedSend || index == k.Nobody {
		kind := k.Requests.At(index).Kind
		index = k.NewRequest(lp, kind, op)
		q := k.Requests.At(index)
		q.Complete, q.Time = true, k.Clock[lp]
	}
	return index, k.Requests.At(index).generation
}

// HoldsRequest reports whether an index still stands for an LP's request of a generation.
func (k *Messages) HoldsRequest(lp, index int32, generation uint32) bool {
	p := k.Requests.Peek(index)
	return p.generation == generation && p.LP == lp
}

// RequestStatus returns what a request that is complete has brought.
func (k *Messages) RequestStatus(index int32) world.Status { return k.Requests.At(index).status() }
