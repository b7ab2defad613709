package mpivirt

// EventRequest is an operation that an event rank has begun: four bytes. The zero
// EventRequest is inactive (MPI_REQUEST_NULL). One that has been waited for, or
// tested with success, stands for nothing any more: the rank puts zero in its place.
type EventRequest int32

// none32 is the number of no LP.
const none32 = -1

// await makes a call that waits for requests, or tests them.
func (r *EventRank) await(op call, requests ...EventRequest) Outcome {
	q := r.compose(op)
	list := r.k.list[:0]
	for _, request := range requests {
		list = append(list, int32(request))
	}
	r.k.list = list
	return r.do(q.waits(list, nil))
}

// Wait waits for an operation (MPI_Wait).
func (r *EventRank) Wait(q EventRequest) Outcome { return r.await(callWait, q) }

// Waitall waits for all operations given (MPI_Waitall).
func (r *EventRank) Waitall(requests ...EventRequest) Outcome {
	return r.await(callWaitall, requests...)
}

// Waitany waits for one of the operations given (MPI_Waitany); which one is in Index;
// see [Waitany].
func (r *EventRank) Waitany(requests ...EventRequest) Outcome {
	return r.await(callWaitany, requests...)
}

// Waitsome waits for at least one of the operations given (MPI_Waitsome); which are
// over is in Indices.
func (r *EventRank) Waitsome(requests ...EventRequest) Outcome {
	return r.await(callWaitsome, requests...)
}

// Test looks whether an operation is over (MPI_Test); the answer is in Found. A test
// that fails takes the time that the machine's poll field says.
func (r *EventRank) Test(q EventRequest) Outcome { return r.await(callTest, q) }

// Testall is Waitall that does not wait (MPI_Testall); the answer is in Found.
func (r *EventRank) Testall(requests ...EventRequest) Outcome {
	return r.await(callTestall, requests...)
}

// Testany is Waitany that does not wait (MPI_Testany); the answer is in Found.
func (r *EventRank) Testany(requests ...EventRequest) Outcome {
	return r.await(callTestany, requests...)
}

// Testsome is Waitsome that does not wait (MPI_Testsome); the answer is in Found.
func (r *EventRank) Testsome(requests ...EventRequest) Outcome {
	return r.await(callTestsome, requests...)
}

// What an operation has brought is there for the step that follows it, and no longer.

// completion is what the last call of the rank has brought: by its last wait, or nothing if
// another rank of the engine has waited since. It can be relied on in the step after the
// wait only.
func (r *EventRank) completion() *Completion { return r.k.completionOf(r.lp) }

// Err returns the error of the last operation, if the rank asked for its errors; see
// [EventRank.SetErrorsReturn].
func (r *EventRank) Err() error { return r.completion().err }

// Found reports whether the test or probe of the last step has succeeded.
func (r *EventRank) Found() bool { return r.completion().found }

// Index returns which of the operations given is over, the first if there are
// several; Undefined if none of them was active.
func (r *EventRank) Index() int {
	if which := r.completion().which; len(which) > 0 {
		return which[0]
	}
	return Undefined
}

// Indices returns which of the operations given are over. It is to be read only.
func (r *EventRank) Indices() []int { return r.completion().which }

// Status tells what the receive or probe of the last step has brought; of several
// receives, the last one in the order given.
func (r *EventRank) Status() Status { return r.k.statusOf(r.completion()) }

// Data returns the message that the receive of the last step has brought; of several
// receives, the last one in the order given. It is to be read only.
func (r *EventRank) Data() []byte {
	if q := r.k.last(r.completion()); q != nil {
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
	for _, index := range r.completion().over {
		if index == int32(q) {
			return r.k.requests.at(index)
		}
	}
	r.refuse(r.k.called, mpiError(ErrRequest, "the last step has not waited for the request, or in vain"))
	return nil
}
