package p2p

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// requestKind is the kind of operation that a request stands for.
type requestKind uint8

// The kinds of requests.
const (
	SendRequest requestKind = iota + 1
	ReceiveRequest
	CollectiveRequest
	procNullRequest // a receive from ProcNull
	exchangeRequest // all parts of an exchange
	cancelledRequest
)

// request is an operation that has started and has not been waited for. A rank may have several at
// a time, so their size matters: 96 bytes.
type request struct {
	Buffer     []byte     // receive: memory for the payload; without a given size, the payload
	Time       vtime.Time // of completion
	posted     vtime.Time
	arrival    vtime.Time // receive: of its message, before that, with progress in waits: when the last call before it ended that waits; rendezvous, with progress in calls: when the sender is free at the earliest; exchange: what its end takes, from 0 on
	Bytes      int64      // receive: size of the buffer, if sized; once complete, that of the message; Isendrecv: of the message received
	generation uint32
	LP         int32 // local number of the owner
	Comm       int32
	Peer       int32 // receive: member or AnySource, complete: the source; send: member
	Tag        int32 // receive: tag or AnyTag, complete: tag of the message
	next       int32 // next request of a chain; exchange: its own index
	rank       int32 // receive: WORLD number of the sender, the tie-break of arrivals; send: ^number of the tail that holds its content; 0 for none
	whole      int32 // request of the exchange that it is a part of; ^place in the LP's wait set; 0 for none
	Kind       requestKind
	Procedure  world.Procedure
	Complete   bool // outcome and time are known
	waited     bool // part of the LP's current wait
	Sized      bool // a longer message is an error, even where Buffer is nil
	failed     bool // errors holds its error, for the LP's wait

	undecided   bool // receive without its message: a lesser message may still come, or the program may cancel it
	cancellable bool // receive
}

// status returns the status of a complete request.
func (r *request) status() world.Status {
	switch r.Kind {
	case ReceiveRequest, exchangeRequest:
		return world.Status{Source: int(r.Peer), Tag: int(r.Tag), Bytes: r.Bytes}
	case procNullRequest:
		return world.ProcNullStatus
	case cancelledRequest:
		return world.CancelledStatus
	default:
		return world.EmptyStatus
	}
}

// computing returns the time of the computation at the end of an exchange.
func (r *request) computing() vtime.Duration { return r.arrival.Sub(0) }

// receives reports whether the status of a request is that of a receive.
func (r *request) receives() bool {
	switch r.Kind {
	case ReceiveRequest, procNullRequest, cancelledRequest:
		return true
	case exchangeRequest:
		return r.Procedure == world.Isendrecv
	}
	return false
}

// WaitKind is the kind of a wait, test or probe of an LP.
type WaitKind uint8

// The kinds of waits, tests and probes.
const (
	NoWait WaitKind = iota
	WaitOne
	WaitAll
	WaitAny
	WaitSome
	WaitProbe
	// The kinds from here on do not wait. They end at the LP's clock.
	TestAll
	TestAny
	TestSome
	TestProbe
	TestCancel
)

// wait is the current wait of an LP in a call.
type wait struct {
	Kind      WaitKind
	Procedure world.Procedure
	queued    bool // the wait is over, and the LP is in the ready queue
	found     bool // a test or probe succeeded

	// generation counts the waits of the LP. It identifies timed events armed for an earlier wait.
	// It repeats after 2^32 waits, without harm: HandleWait evaluates the wait only at the instant
	// for which it is armed, when all arrivals up to this instant are known.
	generation uint32
	Requests   []int32 // waitAll, waitAny, waitSome, tests: the requests, 0 for an inactive request; empty with a wait set
	Subject    int32   // waitOne, testCancel: the request; probes: the message found
	pending    int32   // waitAll: number of incomplete requests
	Comm       int32   // probes
	Peer       int32
	Tag        int32
	active     int32      // requests, on any list, that the LP has begun and not waited for
	armed      vtime.Time // instant of the next evaluation; Forever for none
	at         vtime.Time // end of the wait; until it is over, the least completion time of Requests
}

// newCompleted returns a request that is complete from the start and is never released.
func (m *Messages) newCompleted(kind requestKind) int32 {
	index := m.Requests.Take()
	*m.Requests.At(index) = request{Kind: kind, LP: world.None, Complete: true}
	return index
}

// OwnRequest returns an LP's request and its generation. For a request that all LPs share it
// returns a new request.
func (m *Messages) OwnRequest(lp, index int32, op world.Procedure) (own int32, generation uint32) {
	if m.shared(index) {
		m.waitedFor(lp)
		kind := m.Requests.At(index).Kind
		index = m.NewRequest(lp, kind, op)
		q := m.Requests.At(index)
		q.Complete, q.Time = true, m.Partition.Clock[lp]
	}
	return index, m.Requests.At(index).generation
}

// HoldsRequest reports whether an index still stands for an LP's request of a generation.
func (m *Messages) HoldsRequest(lp, index int32, generation uint32) bool {
	p := m.Requests.Peek(index)
	return p.generation == generation && p.LP == lp
}

// CheckRequest returns the error of an index that stands for no request of an LP.
func (m *Messages) CheckRequest(lp, index int32) error {
	if index == 0 || index == m.CompletedSend || index == m.CompletedReceive {
		return nil
	}
	if !m.Requests.Taken(index) {
		return world.Errorf(world.ErrRequest, "%d is no request: give one that an operation has returned", index)
	}
	if r := m.Requests.Peek(index); r.Kind == 0 || r.LP != lp {
		return world.Errorf(world.ErrRequest, "the request has been waited for already: put zero in its place")
	}
	return nil
}

// RequestStatus returns the status of a complete request.
func (m *Messages) RequestStatus(index int32) world.Status { return m.Requests.At(index).status() }
