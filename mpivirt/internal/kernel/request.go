package kernel

import "gigarank/vtime"

// Status tells what a receive or probe found (MPI_Status).
type Status struct {
	Source int   // member of the communicator that sent
	Tag    int   // tag of the message
	Bytes  int64 // size of the message
}

// requestKind is what a request stands for.
type requestKind uint8

const (
	sendRequest requestKind = iota + 1
	receiveRequest
	collectiveRequest
	nobodyRequest // a receive from ProcNull
)

// request is an operation that has begun and not been waited for. A run may hold
// some for each rank: 96 bytes.
type request struct {
	buffer     []byte     // receive: where the payload goes; without a size given, the payload
	time       vtime.Time // when it is complete
	posted     vtime.Time
	arrival    vtime.Time // receive: of its message
	bytes      int64      // receive: the room for it, if sized; once complete, the size of the message
	generation uint32
	lp         int32 // local number of the LP
	comm       int32
	peer       int32 // receive: member or AnySource, once complete the source; send: member
	tag        int32 // receive: tag or AnyTag, once complete that of the message
	next       int32
	rank       int32 // receive: WORLD number of the sender, the tie-break of arrivals
	kind       requestKind
	call       Procedure
	complete   bool // outcome and time are known
	waited     bool // part of the wait that its LP is in
	sized      bool // the receive has bounds, even where buffer is nil
	failed     bool // the kernel keeps an error under its index, for the LP to learn when it waits
}

// status tells what a request has brought, once it is complete.
func (r *request) status() Status {
	switch r.kind {
	case receiveRequest:
		return Status{Source: int(r.peer), Tag: int(r.tag), Bytes: r.bytes}
	case nobodyRequest:
		return NobodyStatus
	default:
		return EmptyStatus
	}
}

// matches reports whether a receive can take a message.
func (r *request) matches(m *message) bool {
	return r.comm == m.comm && (r.peer == m.source || r.peer == AnySource) && (r.tag == m.tag || r.tag == AnyTag)
}

// waitKind is what an LP waits for.
type waitKind uint8

const (
	notWaiting waitKind = iota
	waitOne
	waitAll
	waitAny
	waitSome
	waitProbe
	// The kinds from here on do not wait: they answer at the LP's clock.
	testAll
	testAny
	testSome
	testProbe
)

// wait describes what an LP waits for, in which call, since when.
type wait struct {
	kind  waitKind
	call  Procedure
	ready bool // over; the LP is in the ready queue
	found bool // a test or probe succeeded

	// generation counts the waits of the LP, so that a timed event which was armed for
	// another wait is passed over. After 2^32 waits it comes round again. That does no
	// harm: handleWait looks only if the wait is armed for the event's very instant,
	// and then all arrivals up to it are known, whoever armed the event.
	generation uint32
	requests   []int32 // waitAll, waitAny, waitSome, tests; 0 is an inactive one
	request    int32   // waitOne
	pending    int32   // waitAll: requests that are not complete
	comm       int32   // probes
	peer       int32
	tag        int32
	message    int32      // probes: what was found
	armed      vtime.Time // instant of the timed event that will look again; Forever if none
	at         vtime.Time // instant at which the wait is over
}

// newDone makes a request that is complete from the start and is never released.
func (k *Kernel) newDone(kind requestKind) int32 {
	index := k.requests.take()
	*k.requests.at(index) = request{kind: kind, lp: None, complete: true}
	return index
}

// OwnRequest returns a request of an LP's own in the place of one, and its generation: one
// that stands for all that are over at once is replaced by another.
func (k *Kernel) OwnRequest(lp, index int32, op Procedure) (own int32, generation uint32) {
	if index == k.done || index == k.nobody {
		kind := k.requests.at(index).kind
		index = k.newRequest(lp, kind, op)
		q := k.requests.at(index)
		q.complete, q.time = true, k.Clock[lp]
	}
	return index, k.requests.at(index).generation
}

// HoldsRequest reports whether an index still stands for an LP's request of a generation.
func (k *Kernel) HoldsRequest(lp, index int32, generation uint32) bool {
	p := k.requests.peek(index)
	return p.generation == generation && p.lp == lp
}

// RequestStatus returns what a request that is complete has brought.
func (k *Kernel) RequestStatus(index int32) Status { return k.requests.at(index).status() }
