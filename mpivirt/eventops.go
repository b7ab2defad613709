package mpivirt

import (
	"slices"

	"gigarank/collectives"
)

// EventComm is a communicator as event ranks hold it: four bytes. The zero
// EventComm is WORLD.
type EventComm struct{ index int32 }

// EventRequest is an operation that an event rank has begun: four bytes. The zero
// EventRequest is inactive.
type EventRequest int32

// On returns the rank with c in the place of WORLD for the next operation.
func (r *EventRank) On(c EventComm) *EventRank {
	view := r.on
	if view == nil { // r is a view itself
		view = r
	}
	view.lp, view.clock = r.lp, r.clock
	view.comm = r.k.comms[max(c.index, worldComm)]
	return view
}

// communicator returns the one that the operation is on, and the rank's number in
// it.
func (r *EventRank) communicator() (*comm, int32) {
	if r.comm == nil || r.comm.index == worldComm {
		return r.k.comms[worldComm], r.k.global(r.lp)
	}
	return r.comm, int32(r.comm.group.Member(int(r.k.global(r.lp))))
}

// Member is the rank's number in the communicator (MPI_Comm_rank).
func (r *EventRank) Member() int {
	_, member := r.communicator()
	return int(member)
}

// Members is the size of the communicator (MPI_Comm_size).
func (r *EventRank) Members() int {
	c, _ := r.communicator()
	return c.size
}

// must ends the program with an MPI error of the call.
func (r *EventRank) must(c call, err error) {
	r.call = c
	if err != nil {
		panic(fatal{err})
	}
}

// isend begins a send; 0 if the rank is free already.
func (r *EventRank) isend(dest, tag int, payload []byte, bytes int64, mode sendMode, name call) int32 {
	c, member := r.communicator()
	r.must(name, c.checkSend(dest, tag, bytes))
	if dest == ProcNull {
		return 0
	}
	return r.k.send(r.lp, member, &outgoing{comm: c, dest: dest, tag: tag, bytes: bytes, payload: payload, mode: mode}, name)
}

// finishRequest waits for a request that the operation itself has begun, and
// releases it.
func (r *EventRank) finishRequest(index int32, name call) Outcome {
	if index == 0 {
		return goOn
	}
	r.k.requests.at(index).transient = true
	return outcome(r.k.waitRequest(r.lp, index, name))
}

// Send sends data to a member (MPI_Send); nil data sends a message of no bytes.
func (r *EventRank) Send(dest, tag int, data []byte) Outcome {
	return r.finishRequest(r.isend(dest, tag, data, int64(len(data)), standard, callSend), callSend)
}

// SendSize sends a message of which only the size is simulated (MPI_Send).
func (r *EventRank) SendSize(dest, tag int, bytes int64) Outcome {
	return r.finishRequest(r.isend(dest, tag, nil, bytes, standard, callSend), callSend)
}

// SsendSize is SendSize that is over when the receive has matched (MPI_Ssend).
func (r *EventRank) SsendSize(dest, tag int, bytes int64) Outcome {
	return r.finishRequest(r.isend(dest, tag, nil, bytes, synchronous, callSsend), callSsend)
}

// Isend begins a Send (MPI_Isend).
func (r *EventRank) Isend(dest, tag int, data []byte) EventRequest {
	return r.begun(r.isend(dest, tag, data, int64(len(data)), standard, callIsend))
}

// IsendSize begins a SendSize (MPI_Isend).
func (r *EventRank) IsendSize(dest, tag int, bytes int64) EventRequest {
	return r.begun(r.isend(dest, tag, nil, bytes, standard, callIsend))
}

func (r *EventRank) begun(index int32) EventRequest { return EventRequest(index) }

func (r *EventRank) irecv(source, tag int, name call) int32 {
	c, _ := r.communicator()
	r.must(name, c.checkReceive(source, tag, 0))
	if source == ProcNull {
		return 0
	}
	return r.k.receive(r.lp, &receiver{comm: c, source: source, tag: tag}, name)
}

// Recv receives a message of any size from a member, or AnySource, with a tag, or
// AnyTag (MPI_Recv). Its data are in Data afterwards, what it was in Status.
func (r *EventRank) Recv(source, tag int) Outcome {
	index := r.irecv(source, tag, callRecv)
	if index == 0 {
		r.k.box(r.lp).status = nullStatus
	}
	return r.finishRequest(index, callRecv)
}

// Irecv begins a Recv (MPI_Irecv). Its data are in Data after its Wait.
func (r *EventRank) Irecv(source, tag int) EventRequest {
	return r.begun(r.irecv(source, tag, callIrecv))
}

// Wait waits for an operation (MPI_Wait).
func (r *EventRank) Wait(q EventRequest) Outcome {
	r.call = callWait
	return r.finishRequest(int32(q), callWait)
}

// Waitall waits for all operations given (MPI_Waitall). Data and Status are those
// of the last receive among them.
func (r *EventRank) Waitall(requests ...EventRequest) Outcome {
	r.call = callWaitall
	active := r.list[:0]
	for _, q := range requests {
		if q != 0 {
			r.k.requests.at(int32(q)).transient = true
			active = append(active, int32(q))
		}
	}
	r.list = active
	if len(active) == 0 {
		return goOn
	}
	return outcome(r.k.waitRequests(r.lp, waitAll, slices.Clone(active), callWaitall))
}

// Status tells what the receive that the last step waited for has brought.
func (r *EventRank) Status() Status { return r.k.box(r.lp).status }

// Data returns what the receive that the last step waited for has brought. It is
// valid until the rank receives again.
func (r *EventRank) Data() []byte { return r.k.box(r.lp).data }

// retireTransient releases the requests of a wait that is over for an event rank;
// nobody else refers to them.
func (k *kernel) retireTransient(lp int32, box *mailbox, kind waitKind) {
	switch kind {
	case waitOne:
		k.retireOne(lp, box, box.wait.request)
	case waitAll:
		for _, index := range box.wait.requests {
			if index != 0 {
				k.retireOne(lp, box, index)
			}
		}
	}
}

func (k *kernel) retireOne(lp int32, box *mailbox, index int32) {
	q := k.requests.at(index)
	if !q.transient {
		return
	}
	if q.err != nil {
		k.fail(lp, q.call, q.err)
	}
	if q.kind == receiveRequest {
		k.buffers.release(box.data)
		box.status, box.data = q.status, q.data
	}
	k.requests.release(index)
}

// collective carries out a collective in its blocking form.
func (r *EventRank) collective(v *collective) Outcome {
	if inst := r.enter(v, 0); inst == nil {
		return goOn
	}
	return waiting
}

// enter begins the rank's part in a collective; nil if it is alone in it.
func (r *EventRank) enter(v *collective, request int32) *instance {
	c, member := r.communicator()
	r.must(v.name, c.check(v))
	v.transient = true
	if c.size == 1 {
		if r.k.timing != untimed {
			r.k.tally.note(r.k.timing, 0)
			r.k.timing = untimed
		}
		c.result = slices.Clone(v.input)
		if v.exchange != nil {
			r.k.makeAlone(r.lp, c, v.exchange.color)
		}
		return nil
	}
	v.algorithm = r.k.algorithm(v.op, c, &v.operator)
	inst, err := r.k.enter(r.lp, c, int(member), v, request)
	r.must(v.name, err)
	return inst
}

// nonblocking begins a collective in its nonblocking form.
func (r *EventRank) nonblocking(v *collective) EventRequest {
	index := r.k.newRequest(r.lp, collectiveRequest, v.name)
	q := r.k.requests.at(index)
	c, _ := r.communicator()
	q.comm = c.index
	if r.enter(v, index) == nil {
		q.complete, q.time = true, r.Now()
	}
	return EventRequest(index)
}

// Barrier waits until all members have called it (MPI_Barrier).
func (r *EventRank) Barrier() Outcome {
	k := r.k
	r.call = callBarrier
	if r.comm == nil && r.lp == k.joiners.hi && k.timing == k.joiners.timed {
		k.joiners.hi++
		k.timing = untimed
		return waiting
	}
	c, member := r.communicator()
	if k.enterBarrier(r.lp, c, int(member)) {
		k.activity(r.lp)
		return waiting
	}
	return r.collective(&r.k.barrier)
}

// Ibarrier begins a Barrier (MPI_Ibarrier).
func (r *EventRank) Ibarrier() EventRequest {
	return r.nonblocking(&r.k.barrier)
}

// EventAllreduce combines the vectors send of all members, element by element
// (MPI_Allreduce). The vector is taken over at once. The result is in
// [EventResult] afterwards.
func EventAllreduce[T Datatype](r *EventRank, send []T, o Op[T]) Outcome {
	v := vector(r.k, callAllreduce, collectives.Allreduce, send, []T(nil))
	v.operator = o.operator()
	return r.collective(v)
}

// EventIallreduce begins an EventAllreduce (MPI_Iallreduce).
func EventIallreduce[T Datatype](r *EventRank, send []T, o Op[T]) EventRequest {
	v := vector(r.k, callAllreduce, collectives.Allreduce, send, []T(nil))
	v.operator = o.operator()
	return r.nonblocking(v)
}

// EventResult returns the result of the allreduce on the communicator that the
// rank has been through last. All ranks of the engine share it: it is to be read
// only, before the next collective on the communicator.
func EventResult[T Datatype](r *EventRank) []T {
	c, _ := r.communicator()
	return elements[T](c.result)
}

// Split divides the communicator by color and key; see [Comm.Split]. The rank's
// new communicator is Made(color) afterwards.
func (r *EventRank) Split(color, key int) Outcome {
	return r.collective(r.k.hand(collective{
		name: callCommSplit, op: collectives.Allgather, bytes: 8, element: 8,
		exchange: &exchange{color: int32(color), key: int64(key)},
	}))
}

// Made returns the communicator of a color that the last Split has made.
func (r *EventRank) Made(color int) EventComm {
	c, _ := r.communicator()
	made := c.made[int32(color)]
	if made == nil {
		r.must(callCommSplit, mpiError(ErrComm, "the last Split of %s has made no communicator of color %d", c, color))
	}
	return EventComm{made.index}
}
