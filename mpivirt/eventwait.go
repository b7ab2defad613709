package mpivirt

// EventRequest is an operation that an event rank has begun: four bytes. The zero
// EventRequest is inactive (MPI_REQUEST_NULL). One that has been waited for, or
// tested with success, stands for nothing any more: the rank puts zero in its place.
type EventRequest int32

// brought is what the last wait of an event rank has brought it. Only the step that
// follows may look at it, so there is one for all LPs of the engine: an LP that is
// held up between the two keeps its own in [kernel].parked.
type brought struct {
	lp      int32
	found   bool    // the wait is over; the test or probe has succeeded
	over    []int32 // requests that are over, released when something else is brought
	which   []int   // their positions in the list that was given
	status  Status  // what a probe found
	message EventMessage
	result  []byte // of a collective that the rank is alone in
	made    *comm  // likewise
}

// renew releases what was brought last and returns room for what is brought to an LP.
func (k *kernel) renew(lp int32) *brought {
	b := &k.brought
	for _, index := range b.over {
		q := k.requests.at(index)
		if q.kind == receiveRequest && !q.sized {
			k.buffers.release(q.buffer)
		}
		if index != k.nobody {
			k.requests.release(index)
		}
	}
	*b = brought{lp: lp, status: emptyStatus, over: b.over[:0], which: b.which[:0]}
	return b
}

// bring keeps what a wait of the given kind, which is over, brings an event LP.
func (k *kernel) bring(lp int32, box *mailbox, kind waitKind) {
	b, w := k.renew(lp), &box.wait
	b.found = kind < testAll || w.found
	switch kind {
	case waitOne:
		k.bringOne(b, w.request)
		return
	case waitProbe, testProbe:
		if b.found {
			k.bringMessage(b, w)
		}
		return
	}
	k.unwaited(w.requests)
	switch {
	case !b.found:
	case kind == waitAny || kind == testAny:
		b.which = append(b.which, k.chargeFirst(lp, w.requests, w.at))
	case kind == waitSome || kind == testSome:
		b.which = k.chargeSome(lp, w.requests, w.at, b.which)
	default:
		for i := range w.requests {
			b.which = append(b.which, i)
		}
	}
	for _, i := range b.which {
		k.bringOne(b, w.requests[i])
	}
}

// bringOne brings a request that is over.
func (k *kernel) bringOne(b *brought, index int32) {
	if index == 0 || index == k.done {
		return
	}
	if index == k.nobody {
		b.over = append(b.over, index)
		return
	}
	if err := k.failure(index); err != nil {
		k.fail(b.lp, k.requests.at(index).call, err)
	}
	k.requests.at(index).lp = none32 // no LP's any more: see index
	b.over = append(b.over, index)
}

// bringMessage brings what a probe has found.
func (k *kernel) bringMessage(b *brought, w *wait) {
	m := k.messages.at(w.message)
	b.status = Status{Source: int(m.source), Tag: int(m.tag), Bytes: m.bytes}
	if w.call == callMprobe || w.call == callImprobe {
		b.message = EventMessage(w.message)
		k.extract(b.lp, w.message)
	}
}

// park keeps what was brought to an LP that is held up until it goes on; unpark gives
// it back.
func (k *kernel) park(lp int32) {
	if k.brought.lp != lp {
		return
	}
	if k.parked == nil {
		k.parked = map[int32]brought{}
	}
	k.parked[lp] = k.brought
	k.brought = brought{lp: none32}
}

func (k *kernel) unpark(lp int32) {
	b, held := k.parked[lp]
	if held {
		k.renew(lp)
		k.brought = b
		delete(k.parked, lp)
	}
}

// brought returns what has been brought to the rank: by its last wait, or nothing if
// another LP of the engine has waited since. It can be relied on in the step after the
// wait only.
func (r *EventRank) brought() *brought {
	if r.k.brought.lp != r.lp {
		return &nothing
	}
	return &r.k.brought
}

// nothing is what has been brought to a rank that has not waited.
var nothing = brought{lp: none32, status: emptyStatus}

// none32 is the number of no LP.
const none32 = -1

// waitOne waits for a request.
func (r *EventRank) waitOne(q EventRequest, name call) Outcome {
	index := r.index(q, name)
	if index == 0 || index == r.k.done || index == r.k.nobody {
		b := r.k.renew(r.lp)
		b.found = true
		r.k.bringOne(b, index)
		return r.conclude(goOn)
	}
	return r.outcome(r.k.waitRequest(r.lp, index, name))
}

// index returns the kernel's index of a request of the rank.
func (r *EventRank) index(q EventRequest, name call) int32 {
	index := int32(q)
	if index == 0 || index == r.k.done || index == r.k.nobody {
		return index
	}
	if index < 0 || index > r.k.requests.next {
		r.must(name, mpiError(ErrRequest, "%d is no request", index))
	}
	if p := r.k.requests.peek(index); p.kind == 0 || p.lp != r.lp {
		r.must(name, mpiError(ErrRequest, "the request has been waited for already: put zero in its place"))
	}
	return index
}

// await waits for requests in one of the ways of [waitKind].
func (r *EventRank) await(kind waitKind, name call, requests ...EventRequest) Outcome {
	r.must(name, nil)
	box := r.k.box(r.lp)
	list, active := box.wait.requests[:0], false
	for _, q := range requests {
		index := r.index(q, name)
		list = append(list, index)
		active = active || index != 0
	}
	if !active {
		r.k.renew(r.lp).found = true
		return r.conclude(goOn)
	}
	return r.outcome(r.k.waitRequests(r.lp, kind, list, name))
}

// Wait waits for an operation (MPI_Wait).
func (r *EventRank) Wait(q EventRequest) Outcome {
	r.must(callWait, nil)
	return r.waitOne(q, callWait)
}

// Waitall waits for all operations given (MPI_Waitall).
func (r *EventRank) Waitall(requests ...EventRequest) Outcome {
	return r.await(waitAll, callWaitall, requests...)
}

// Waitany waits for one of the operations given (MPI_Waitany); which one is in Index;
// see [Waitany].
func (r *EventRank) Waitany(requests ...EventRequest) Outcome {
	return r.await(waitAny, callWaitany, requests...)
}

// Waitsome waits for at least one of the operations given (MPI_Waitsome); which are
// over is in Indices.
func (r *EventRank) Waitsome(requests ...EventRequest) Outcome {
	return r.await(waitSome, callWaitsome, requests...)
}

// Test looks whether an operation is over (MPI_Test); the answer is in Found. A test
// that fails takes the time that the machine's poll field says.
func (r *EventRank) Test(q EventRequest) Outcome { return r.await(testAll, callTest, q) }

// Testall is Waitall that does not wait (MPI_Testall); the answer is in Found.
func (r *EventRank) Testall(requests ...EventRequest) Outcome {
	return r.await(testAll, callTestall, requests...)
}

// Testany is Waitany that does not wait (MPI_Testany); the answer is in Found.
func (r *EventRank) Testany(requests ...EventRequest) Outcome {
	return r.await(testAny, callTestany, requests...)
}

// Testsome is Waitsome that does not wait (MPI_Testsome); the answer is in Found.
func (r *EventRank) Testsome(requests ...EventRequest) Outcome {
	return r.await(testSome, callTestsome, requests...)
}

// What an operation has brought is there for the step that follows it, and no longer.

// Found reports whether the test or probe of the last step has succeeded.
func (r *EventRank) Found() bool { return r.brought().found }

// Index returns which of the operations given is over, the first if there are
// several; Undefined if none of them was active.
func (r *EventRank) Index() int {
	if which := r.brought().which; len(which) > 0 {
		return which[0]
	}
	return Undefined
}

// Indices returns which of the operations given are over. It is to be read only.
func (r *EventRank) Indices() []int { return r.brought().which }

// last returns the receive among the operations that are over, the last one if there
// are several, else nil.
func (r *EventRank) last() *request {
	b := r.brought()
	for i := len(b.over) - 1; i >= 0; i-- {
		if q := r.k.requests.at(b.over[i]); q.kind == receiveRequest || q.kind == nobodyRequest {
			return q
		}
	}
	return nil
}

// Status tells what the receive or probe of the last step has brought; of several
// receives, the last one in the order given.
func (r *EventRank) Status() Status {
	if q := r.last(); q != nil {
		return q.status()
	}
	return r.brought().status
}

// Data returns the message that the receive of the last step has brought; of several
// receives, the last one in the order given. It is to be read only.
func (r *EventRank) Data() []byte {
	if q := r.last(); q != nil {
		return q.buffer
	}
	return nil
}

// EventData is Data as elements.
func EventData[T Datatype](r *EventRank) []T { return elements[T](r.Data()) }

// StatusOf is Status of one of the operations that the last step has waited for.
func (r *EventRank) StatusOf(q EventRequest) Status {
	if p := r.overOf(q); p != nil {
		return p.status()
	}
	return emptyStatus
}

// DataOf is Data of one of the operations that the last step has waited for.
func (r *EventRank) DataOf(q EventRequest) []byte {
	if p := r.overOf(q); p != nil {
		return p.buffer
	}
	return nil
}

// overOf returns an operation that the last step has waited for; nil for one that was
// inactive or over from the start.
func (r *EventRank) overOf(q EventRequest) *request {
	if q == 0 || int32(q) == r.k.done {
		return nil
	}
	for _, index := range r.brought().over {
		if index == int32(q) {
			return r.k.requests.at(index)
		}
	}
	r.must(r.k.called, mpiError(ErrRequest, "the last step has not waited for the request, or in vain"))
	return nil
}

// holdUp has an event LP resumed later if the buffers that it has sent to last, or
// those of its own engine, are full. It reports whether it does.
func (k *kernel) holdUp(lp int32) bool {
	if k.processors != nil {
		k.park(lp)
		if k.postpone(lp) {
			return true
		}
		k.unpark(lp)
		return false
	}
	own := k.eng.Index()
	dst := k.towards
	k.towards = own
	if !k.eng.Congested(dst) {
		return false
	}
	k.park(lp)
	k.eng.Throttle(lp, k.clock[lp], dst)
	return true
}
