package mpivirt

import (
	"gigarank/invariant"
	"gigarank/vtime"
)

// Request is an operation that has begun (MPI_Request). The zero Request is
// inactive (MPI_REQUEST_NULL): waiting for it ends at once. A Request belongs to
// the rank that began it.
type Request struct {
	r          *Rank
	index      int32
	generation uint32
}

// request wraps the index of a request of the kernel.
func (r *Rank) request(index int32) Request {
	return Request{r, index, r.k.requests.at(index).generation}
}

// active reports whether the request stands for an operation.
func (q *Request) active() bool { return q.index != 0 }

// valid returns what is wrong with a request, if anything.
func (q *Request) valid() error {
	if q.active() && q.r.k.requests.peek(q.index).generation != q.generation {
		return mpiError(ErrRequest, "the request has been waited for already through a copy")
	}
	return nil
}

// indices fills the rank's scratch with the kernel's indices of the requests.
func indices(requests []Request, name call) (*Rank, []int32, error) {
	var r *Rank
	for i := range requests {
		if q := &requests[i]; q.active() {
			r = q.r
			if err := q.valid(); err != nil {
				return nil, nil, r.raise(name, err)
			}
		}
	}
	if r == nil {
		return nil, nil, nil
	}
	r.calls(name)
	list := r.requests[:0]
	for i := range requests {
		list = append(list, requests[i].index)
	}
	r.requests = list
	return r, list, nil
}

// await waits for requests in one of the ways of [waitKind].
func (r *Rank) await(kind waitKind, list []int32, name call) (found bool) {
	if !r.k.waitRequests(r.lp, kind, list, name) {
		r.suspend()
	}
	r.k.unwaited(list)
	return r.k.box(r.lp).wait.found
}

// retire ends a request that is over.
func (q *Request) retire(name call) (Status, error) {
	if !q.active() {
		return emptyStatus, nil
	}
	r, index := q.r, q.index
	*q = Request{}
	return r.retire(index, name)
}

// Wait waits until the operation is complete and makes the request inactive
// (MPI_Wait). Errors: those of the operation; ErrRequest.
func (q *Request) Wait() (Status, error) {
	if !q.active() {
		return emptyStatus, nil
	}
	r := q.r
	r.calls(callWait)
	if err := q.valid(); err != nil {
		return emptyStatus, r.raise(callWait, err)
	}
	if !r.k.waitRequest(r.lp, q.index, callWait) {
		r.suspend()
	}
	return q.retire(callWait)
}

// Test reports whether the operation is complete; if so it does what Wait does
// (MPI_Test). A failing Test takes the time that the machine's poll field says.
func (q *Request) Test() (Status, bool, error) {
	if !q.active() {
		return emptyStatus, true, nil
	}
	r := q.r
	r.calls(callTest)
	if err := q.valid(); err != nil {
		return emptyStatus, false, r.raise(callTest, err)
	}
	r.requests = append(r.requests[:0], q.index)
	if !r.await(testAll, r.requests, callTest) {
		return emptyStatus, false, nil
	}
	status, err := q.retire(callTest)
	return status, true, err
}

// Waitall waits until all requests are complete (MPI_Waitall). It returns their
// statuses in the order given and the first error.
func Waitall(requests []Request) ([]Status, error) {
	r, list, err := indices(requests, callWaitall)
	if err != nil {
		return nil, err
	}
	if r != nil {
		r.await(waitAll, list, callWaitall)
	}
	return retireAll(requests, callWaitall)
}

func retireAll(requests []Request, name call) ([]Status, error) {
	var first error
	statuses := make([]Status, len(requests))
	for i := range requests {
		var err error
		if statuses[i], err = requests[i].retire(name); err != nil && first == nil {
			first = err
		}
	}
	return statuses, first
}

// Testall reports whether all requests are complete; if so it does what Waitall
// does (MPI_Testall).
func Testall(requests []Request) ([]Status, bool, error) {
	r, list, err := indices(requests, callTestall)
	if err != nil {
		return nil, false, err
	}
	if r != nil && !r.await(testAll, list, callTestall) {
		return nil, false, nil
	}
	statuses, err := retireAll(requests, callTestall)
	return statuses, true, err
}

// Waitany waits until one of the requests is complete and returns its index
// (MPI_Waitany): the one that was complete first; of several that are complete
// when the call is made, the first in the slice. It is Undefined if none is
// active.
func Waitany(requests []Request) (int, Status, error) {
	index, status, _, err := anyOf(requests, waitAny, callWaitany)
	return index, status, err
}

// Testany is Waitany that does not wait; it reports whether a request was
// complete (MPI_Testany).
func Testany(requests []Request) (int, Status, bool, error) {
	return anyOf(requests, testAny, callTestany)
}

func anyOf(requests []Request, kind waitKind, name call) (int, Status, bool, error) {
	r, list, err := indices(requests, name)
	if err != nil || r == nil {
		return Undefined, emptyStatus, err == nil, err
	}
	if !r.await(kind, list, name) {
		return Undefined, emptyStatus, false, nil
	}
	i := r.k.chargeFirst(r.lp, list, r.k.box(r.lp).wait.at)
	status, err := requests[i].retire(name)
	return i, status, true, err
}

// chargeFirst charges an LP for the first request that is complete at instant at,
// when a wait for any of them is over, and returns its position.
func (k *kernel) chargeFirst(lp int32, list []int32, at vtime.Time) int {
	for i, index := range list {
		if k.completeAt(index, at) {
			k.charge(lp, k.requests.at(index), at)
			return i
		}
	}
	invariant.Broken("a wait of rank %d ended without a complete request", k.global(lp))
	return Undefined
}

// chargeSome charges an LP for all requests that are complete at instant at, and
// appends their positions to which.
func (k *kernel) chargeSome(lp int32, list []int32, at vtime.Time, which []int) []int {
	over := k.over[:0]
	for i, index := range list {
		if k.completeAt(index, at) {
			which, over = append(which, i), append(over, index)
		}
	}
	k.chargeAll(lp, over, at)
	k.over = over[:0]
	return which
}

// completeAt reports whether a request is complete at instant t.
func (k *kernel) completeAt(index int32, t vtime.Time) bool {
	if index == 0 {
		return false
	}
	q := k.requests.at(index)
	return q.complete && q.time <= t
}

// Waitsome waits until at least one request is complete and returns the indices
// and statuses of all that are (MPI_Waitsome); no index if none is active.
func Waitsome(requests []Request) ([]int, []Status, error) {
	return someOf(requests, waitSome, callWaitsome)
}

// Testsome is Waitsome that does not wait (MPI_Testsome).
func Testsome(requests []Request) ([]int, []Status, error) {
	return someOf(requests, testSome, callTestsome)
}

func someOf(requests []Request, kind waitKind, name call) ([]int, []Status, error) {
	r, list, err := indices(requests, name)
	if err != nil || r == nil || !r.await(kind, list, name) {
		return nil, nil, err
	}
	which := r.k.chargeSome(r.lp, list, r.k.box(r.lp).wait.at, nil)
	statuses := make([]Status, len(which))
	for j, i := range which {
		var e error
		if statuses[j], e = requests[i].retire(name); e != nil && err == nil {
			err = e
		}
	}
	return which, statuses, err
}

// Persistent is a send or receive that can be begun again and again with the same
// arguments (MPI_Send_init, MPI_Recv_init and their kin).
type Persistent struct {
	begin   func() (Request, error)
	Request // the operation begun last
}

// SendInit makes a persistent Send (MPI_Send_init).
func SendInit[T Datatype](c *Comm, data []T, dest, tag int) *Persistent {
	return &Persistent{begin: func() (Request, error) { return Isend(c, data, dest, tag) }}
}

// SsendInit makes a persistent Ssend (MPI_Ssend_init).
func SsendInit[T Datatype](c *Comm, data []T, dest, tag int) *Persistent {
	return &Persistent{begin: func() (Request, error) { return Issend(c, data, dest, tag) }}
}

// BsendInit makes a persistent Bsend (MPI_Bsend_init).
func BsendInit[T Datatype](c *Comm, data []T, dest, tag int) *Persistent {
	return &Persistent{begin: func() (Request, error) { return Ibsend(c, data, dest, tag) }}
}

// RsendInit makes a persistent Rsend (MPI_Rsend_init).
func RsendInit[T Datatype](c *Comm, data []T, dest, tag int) *Persistent {
	return &Persistent{begin: func() (Request, error) { return Irsend(c, data, dest, tag) }}
}

// RecvInit makes a persistent Recv (MPI_Recv_init).
func RecvInit[T Datatype](c *Comm, data []T, source, tag int) *Persistent {
	return &Persistent{begin: func() (Request, error) { return Irecv(c, data, source, tag) }}
}

// Start begins the operation (MPI_Start). Errors: those of the operation;
// ErrRequest if the one begun before has not been waited for, be it through a copy
// of its Request.
func (p *Persistent) Start() error {
	if p.active() && p.valid() == nil {
		return p.r.raise(p.r.call, mpiError(ErrRequest, "Start of a persistent request that is active"))
	}
	request, err := p.begin()
	p.Request = request
	return err
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
