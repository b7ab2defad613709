package mpivirt

import "gigarank/mpivirt/internal/stats"

// EventComm is a communicator as event ranks hold it: four bytes. The zero
// EventComm is WORLD.
type EventComm struct{ index int32 }

// EventSelf is the communicator of the rank alone (MPI_COMM_SELF).
var EventSelf = EventComm{selfComm}

// On returns the rank with c in the place of WORLD for the next operation.
func (r *EventRank) On(c EventComm) *EventRank {
	view := r.on
	if view == nil { // r is a view itself
		view = r
	}
	view.lp, view.clock = r.lp, r.clock
	if view.comm = r.k.comms[max(c.index, worldComm)]; view.comm == nil {
		view.comm = r.k.comms[freedComm]
	}
	return view
}

// communicator returns the one that the operation is on, and the rank's number in
// it.
func (r *EventRank) communicator() (*comm, int32) {
	if r.comm == nil || r.comm.index == worldComm {
		return r.k.comms[worldComm], r.k.global(r.lp)
	}
	if r.comm.group == nil || r.comm.size == 0 {
		return r.comm, 0
	}
	member := r.comm.group.Member(r.Rank())
	if member < 0 {
		r.k.die(r.lp, r.k.called, mpiError(ErrComm, "rank %d is no member of %s", r.Rank(), r.comm))
	}
	return r.comm, int32(member)
}

// caller is the rank as it calls a collective.
func (r *EventRank) caller() caller {
	c, member := r.communicator()
	return caller{r.k, c, int(member)}
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

// refuse ends the program with an MPI error of a call.
func (r *EventRank) refuse(op call, err error) {
	r.k.die(r.lp, op, err)
}

// compose returns a call of the rank to fill in.
func (r *EventRank) compose(op call) *Call {
	r.once(op)
	r.k.called = op
	c, member := r.communicator()
	return r.k.compose(op, c, member)
}

// do makes a call and ends the step with it.
func (r *EventRank) do(q *Call) Outcome {
	over := r.k.submit(r.lp, q)
	if b := &r.k.completion; over && b.err != nil && b.fatal {
		r.refuse(b.op, b.err)
	}
	return r.outcome(over)
}

// begin makes a call that begins an operation.
func (r *EventRank) begin(q *Call) EventRequest {
	r.k.submit(r.lp, q)
	b := &r.k.completion
	if b.err != nil && b.fatal {
		r.refuse(b.op, b.err)
	}
	return EventRequest(b.request)
}

// SetErrorsReturn chooses what an MPI error does: end the program, or be the result of the
// operation, for Err to return; see [Rank.SetErrorsReturn].
func (r *EventRank) SetErrorsReturn(on bool) { r.k.setErrorsReturn(r.lp, on) }

// collective carries out a collective in its blocking form, unless there is an error.
func (r *EventRank) collective(v *collective, err error) Outcome {
	return r.do(r.entering(v, err))
}

// nonblocking begins a collective in its nonblocking form, unless there is an error.
func (r *EventRank) nonblocking(v *collective, err error) EventRequest {
	q := r.entering(v, err)
	q.begins = true
	return r.begin(q)
}

// entering fills in a call of a collective.
func (r *EventRank) entering(v *collective, err error) *Call {
	v.transient = true
	return r.compose(v.name).enters(v, err)
}

// Barrier waits until all members have called it (MPI_Barrier).
func (r *EventRank) Barrier() Outcome {
	k := r.k
	if r.comm == nil && r.lp == k.joiners.hi && k.timing == k.joiners.timed && k.concluded == 0 {
		k.called = callBarrier
		k.joiners.hi++
		k.timing = stats.Untimed
		return waiting
	}
	r.once(callBarrier)
	k.called = callBarrier
	c, member := r.communicator()
	if k.processors == nil && k.enterBarrier(r.lp, c, int(member)) {
		k.activity(r.lp)
		return r.conclude(waiting)
	}
	return r.collective(&r.k.barrier, nil)
}

// Ibarrier begins a Barrier (MPI_Ibarrier).
func (r *EventRank) Ibarrier() EventRequest {
	return r.nonblocking(&r.k.barrier, nil)
}

// Split divides the communicator by color and key; see [Comm.Split]. The rank's
// new communicator is Made(color) in the next step.
func (r *EventRank) Split(color, key int) Outcome {
	return r.create(&exchange{color: color, key: int64(key)}, callCommSplit, checkColor(color))
}

// Dup makes a communicator with the same members; see [Comm.Dup]. It is Made(0) in
// the next step.
func (r *EventRank) Dup() Outcome {
	return r.create(&exchange{group: r.Group()}, callCommDup, nil)
}

// Create makes a communicator of a subgroup; see [Comm.Create]. For the ranks of the
// group, it is Made of the first of them in the next step.
func (r *EventRank) Create(g *Group) Outcome {
	x, err := creationOf(r.Group(), g, r.Rank())
	return r.create(x, callCommCreate, err)
}

func (r *EventRank) create(x *exchange, name call, err error) Outcome {
	return r.collective(r.k.creation(x, name), err)
}

// Made returns the communicator that the last Split has made of a color, the last
// Dup for 0, or the last Create for the first rank of the group, in the step that
// follows.
func (r *EventRank) Made(color int) EventComm {
	c, _ := r.communicator()
	made := r.k.made(r.lp, c, color)
	if made == nil {
		r.refuse(callCommSplit, mpiError(ErrComm, "no communicator of color %d has been made of %s", color, c))
	}
	return EventComm{made.index}
}

// Group returns the members of the communicator (MPI_Comm_group).
func (r *EventRank) Group() *Group {
	c, member := r.communicator()
	if c.group == nil {
		return strided(r.Rank()-int(member), 1, 1)
	}
	return c.group
}

// Free gives a communicator up; see [Comm.Free].
func (r *EventRank) Free(c EventComm) {
	if c.index <= selfComm {
		r.refuse(callCommFree, mpiError(ErrComm, "WORLD and SELF cannot be freed"))
	}
	given := r.k.comms[c.index]
	if given == nil {
		r.refuse(callCommFree, mpiError(ErrComm, "the communicator has been freed"))
	}
	r.k.giveUp(r.lp, given)
}
