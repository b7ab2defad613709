package mpivirt

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
)

// request is an operation that has begun and not been waited for.
type request struct {
	kind       requestKind
	complete   bool // outcome and time are known
	waited     bool // part of the wait that its LP is in
	transient  bool // released as soon as its wait is over
	generation uint32
	lp         int32 // local number of the LP
	comm       int32
	peer       int32 // receive: member or AnySource; send: member
	tag        int32
	next       int32
	call       call
	time       vtime.Time // when it is complete
	posted     vtime.Time
	buffer     []byte // receive: where the payload goes; nil keeps it in data
	sized      bool   // buffer bounds the message, even where it is nil
	capacity   int64  // bytes that the receive has room for, if sized
	data       []byte // receive without a buffer: the payload
	status     Status
	err        error      // what went wrong, for the LP to learn when it waits
	arrival    vtime.Time // receive: of its message
	rank       int32      // receive: WORLD number of the sender, the tie-break of arrivals
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
	call  call
	ready bool // over; the LP is in the ready queue
	found bool // a test or probe succeeded

	generation uint32
	request    int32   // waitOne
	requests   []int32 // waitAll, waitAny, waitSome, tests; 0 is an inactive one
	pending    int32   // waitAll: requests that are not complete
	comm       int32   // probes
	peer       int32
	tag        int32
	message    int32      // probes: what was found
	armed      vtime.Time // instant of the timed event that will look again; Forever if none
	at         vtime.Time // instant at which the wait is over
}
