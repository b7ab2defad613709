package mpivirt

import (
	"slices"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Request is an operation that a rank has begun (MPI_Request). The zero Request is inactive
// (MPI_REQUEST_NULL): a wait for it returns at once. Only the rank that began the operation
// may use it.
type Request struct {
	r          *Rank
	index      int32
	generation uint32
}

// request returns the Request of an index in the kernel. An index that several operations
// share is replaced by a new one. So a copy of a Request is invalid after the wait.
func (r *Rank) request(index int32) Request {
	index, generation := r.k.OwnRequest(r.lp, index, r.lastCall)
	return Request{r, index, generation}
}

// active reports whether the request stands for an operation.
func (q *Request) active() bool { return q.index != 0 }

// valid returns the error of a stale copy of a request, nil for none.
func (q *Request) valid() error {
	if !q.active() {
		return nil
	}
	if !q.r.k.HoldsRequest(q.r.lp, q.index, q.generation) {
		return world.Errorf(ErrRequest, "the request has been waited for already through a copy: use the Request itself, or a pointer to it")
	}
	return nil
}

// doList makes a call with a list of requests and the error in them.
func (r *Rank) doList(op world.Procedure, list []int32, err error) *kernel.Completion {
	r.k.RequestList = list
	return r.do(r.world.compose(op).Waits(list, err))
}

// noneActive is the completion of a wait for requests of which none is active.
var noneActive = kernel.Completion{Found: true}

// await makes a call that waits for requests, or tests them.
func await(op world.Procedure, requests []Request) *kernel.Completion {
	if kernel.Keeps(op, len(requests)) {
		return awaitSet(op, requests)
	}
	first := slices.IndexFunc(requests, func(q Request) bool { return q.active() })
	if first < 0 {
		return &noneActive
	}
	r := requests[first].r
	list, err := r.k.RequestList[:0], error(nil)
	for i := range requests {
		if err == nil {
			err = requests[i].valid()
		}
		list = append(list, requests[i].index)
	}
	if s, _ := r.k.WaitSetSlice(r.lp).(*longSlice); s != nil && err == nil && typed.SameMemory(s.requests, requests) {
		r.k.ReadSlice(r.lp, list)
	}
	return r.doList(op, list, err)
}

// awaitSet is await for a long slice, which the kernel keeps from one call to the next.
func awaitSet(op world.Procedure, requests []Request) *kernel.Completion {
	r := ownerOf(requests)
	if r == nil {
		return &noneActive
	}
	s, _ := r.k.WaitSetSlice(r.lp).(*longSlice)
	if s == nil {
		s = &longSlice{}
	}
	again := typed.SameMemory(s.requests, requests)
	s.requests = requests
	return r.do(r.world.compose(op).WaitsForSet(r.k.KeepSlice(r.lp, s, again)))
}

// ownerOf returns the rank of an active request, nil if there is none. Those that are left are
// often at one of the ends.
func ownerOf(requests []Request) *Rank {
	for i, n := 0, len(requests); i <= n/2 && i < n; i++ {
		if q := &requests[i]; q.active() {
			return q.r
		}
		if q := &requests[n-1-i]; q.active() {
			return q.r
		}
	}
	return nil
}

// longSlice is a slice that a rank waits for again and again. It stays in memory as long as it
// is kept: no other slice begins at the same address. It implements [p2p.Slice].
type longSlice struct{ requests []Request }

func (s *longSlice) Len() int { return len(s.requests) }

func (s *longSlice) At(place int) (index int32, err error) {
	q := &s.requests[place]
	return q.index, q.valid()
}

// retire returns the status of a complete request and makes it inactive.
func (q *Request) retire() Status {
	if !q.active() {
		return world.EmptyStatus
	}
	status := q.r.k.RequestStatus(q.index)
	*q = Request{}
	return status
}

// Wait waits until the operation is complete and makes the request inactive
// (MPI_Wait). Errors: those of the operation; ErrRequest.
func (q *Request) Wait() (Status, error) {
	status, _, err := q.single(world.Wait)
	return status, err
}

// Test reports whether the operation is complete (MPI_Test). If so, it does what Wait does. A
// failing Test takes the time in the machine's poll field.
func (q *Request) Test() (Status, bool, error) { return q.single(world.Test) }

// Cancel cancels a receive that has no message yet (MPI_Cancel). A wait or test for the request
// must follow. Its status says whether the receive was cancelled, or has received its message
// after all. The rank must have called MayCancel before it began the receive. Sends go on: they
// are never cancelled. Errors: ErrRequest.
func (q *Request) Cancel() error {
	if !q.active() {
		return world.Errorf(ErrRequest, "no request to cancel: it is inactive")
	}
	return q.r.doList(world.Cancel, append(q.r.k.RequestList[:0], q.index), q.valid()).Err
}

func (q *Request) single(op world.Procedure) (Status, bool, error) {
	if !q.active() {
		return world.EmptyStatus, true, nil
	}
	b := q.r.doList(op, append(q.r.k.RequestList[:0], q.index), q.valid())
	if !b.Found {
		return world.EmptyStatus, false, b.Err
	}
	return q.retire(), true, b.Err
}

// Waitall waits until all requests are complete (MPI_Waitall). It returns their
// statuses in the order given and the first error.
func Waitall(requests []Request) ([]Status, error) {
	statuses, _, err := allOf(world.Waitall, requests)
	return statuses, err
}

// WaitallInto is Waitall that puts the statuses into a slice as long as the requests. Without
// one, nil, it drops them (MPI_STATUSES_IGNORE): nothing is allocated. Errors: those of Waitall;
// ErrCount for a slice of another length, with which it does not wait.
func WaitallInto(requests []Request, statuses []Status) error {
	if statuses != nil && len(statuses) != len(requests) {
		return world.Errorf(ErrCount, "%d statuses where the requests are %d: give as many, or nil for none", len(statuses), len(requests))
	}
	b := await(world.Waitall, requests)
	if !b.Found {
		return b.Err
	}
	err := b.Err
	retireAll(requests, statuses)
	return err
}

// Testall reports whether all requests are complete (MPI_Testall). If so, it does what
// Waitall does.
func Testall(requests []Request) ([]Status, bool, error) { return allOf(world.Testall, requests) }

func allOf(op world.Procedure, requests []Request) ([]Status, bool, error) {
	b := await(op, requests)
	if !b.Found {
		return nil, false, b.Err
	}
	err := b.Err
	statuses := make([]Status, len(requests))
	retireAll(requests, statuses)
	return statuses, true, err
}

// retireAll retires complete requests. It puts their statuses into a slice, unless that is nil.
func retireAll(requests []Request, statuses []Status) {
	for i := range requests {
		if status := requests[i].retire(); statuses != nil {
			statuses[i] = status
		}
	}
}

// Waitany waits until one of the requests is complete and returns its index (MPI_Waitany).
// It takes the one that completes first; of several that are complete at the call, the first
// in the slice. The index is Undefined if none is active. A slice of 256 requests or more is kept
// from one call to the next, so that a call need not look at all of it. A rank that moves active
// requests about in such a slice may get another one of several that are complete.
func Waitany(requests []Request) (int, Status, error) {
	index, status, _, err := anyOf(world.Waitany, requests)
	return index, status, err
}

// Testany is Waitany that does not wait; it reports whether a request was
// complete (MPI_Testany).
func Testany(requests []Request) (int, Status, bool, error) { return anyOf(world.Testany, requests) }

func anyOf(op world.Procedure, requests []Request) (int, Status, bool, error) {
	b := await(op, requests)
	if len(b.Indices) == 0 {
		return Undefined, world.EmptyStatus, b.Found, b.Err
	}
	i := b.Indices[0]
	return i, requests[i].retire(), true, b.Err
}

// Waitsome waits until at least one request is complete (MPI_Waitsome). It returns the indices
// and statuses of all that are complete; no index if none is active.
func Waitsome(requests []Request) ([]int, []Status, error) { return someOf(world.Waitsome, requests) }

// Testsome is Waitsome that does not wait (MPI_Testsome).
func Testsome(requests []Request) ([]int, []Status, error) { return someOf(world.Testsome, requests) }

func someOf(op world.Procedure, requests []Request) ([]int, []Status, error) {
	b := await(op, requests)
	if len(b.Indices) == 0 {
		return nil, nil, b.Err
	}
	which := slices.Clone(b.Indices)
	statuses := make([]Status, len(which))
	for j, i := range which {
		statuses[j] = requests[i].retire()
	}
	return which, statuses, b.Err
}

// Persistent is a send or receive that a rank can start repeatedly with the same arguments
// (MPI_Send_init, MPI_Recv_init and the like).
type Persistent struct {
	c         *Comm
	operation kernel.Persistent
	Request   // of the latest start
}

func persistent[T Datatype](c *Comm, op world.Procedure, data []T, peer, tag int) *Persistent {
	return &Persistent{c: c, operation: kernel.Persistent{Procedure: op, Buffer: typed.Bytes(data), Peer: peer, Tag: tag}}
}

// SendInit makes a persistent Send (MPI_Send_init).
func SendInit[T Datatype](c *Comm, data []T, dest, tag int) *Persistent {
	return persistent(c, world.Isend, data, dest, tag)
}

// SsendInit makes a persistent Ssend (MPI_Ssend_init).
func SsendInit[T Datatype](c *Comm, data []T, dest, tag int) *Persistent {
	return persistent(c, world.Issend, data, dest, tag)
}

// BsendInit makes a persistent Bsend (MPI_Bsend_init).
func BsendInit[T Datatype](c *Comm, data []T, dest, tag int) *Persistent {
	return persistent(c, world.Ibsend, data, dest, tag)
}

// RsendInit makes a persistent Rsend (MPI_Rsend_init).
func RsendInit[T Datatype](c *Comm, data []T, dest, tag int) *Persistent {
	return persistent(c, world.Irsend, data, dest, tag)
}

// RecvInit makes a persistent Recv (MPI_Recv_init).
func RecvInit[T Datatype](c *Comm, data []T, source, tag int) *Persistent {
	return persistent(c, world.Irecv, data, source, tag)
}

// Start begins the operation (MPI_Start). Errors: those of the operation; ErrRequest if the
// one before is still active.
func (p *Persistent) Start() error {
	c := p.c
	if c == nil {
		return world.NoComm(world.Start)
	}
	b := c.r.do(c.compose(world.Start).Starts(&p.operation))
	if b.Err != nil {
		return b.Err
	}
	p.Request = c.r.request(b.Request)
	c.r.throttle()
	return nil
}

// Startall begins all operations, in the order given (MPI_Startall). It stops at the
// first error.
func Startall(persistent []*Persistent) error {
	for _, p := range persistent {
		if err := p.Start(); err != nil {
			return err
		}
	}
	return nil
}
