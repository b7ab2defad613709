package mpivirt

import (
	"slices"

	"gigarank/mpivirt/internal/stats"
)

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

// must ends the program with an MPI error of the call.
func (r *EventRank) must(c call, err error) {
	r.once(c)
	r.k.called = c
	if err != nil {
		r.k.die(r.lp, c, err)
	}
}

// collective carries out a collective in its blocking form, unless there is an error.
func (r *EventRank) collective(v *collective, err error) Outcome {
	if r.enter(v, err, 0) {
		return r.conclude(waiting)
	}
	b := r.k.renew(r.lp)
	b.result = slices.Clone(v.input)
	if v.exchange != nil {
		c, _ := r.communicator()
		b.made = r.k.makeAlone(r.lp, c, v.exchange.color)
	}
	return r.conclude(goOn)
}

// enter begins the rank's part in a collective. It reports false if the rank is
// alone in it: it is over then.
func (r *EventRank) enter(v *collective, err error, request int32) bool {
	c, member := r.communicator()
	if err == nil {
		err = c.check(v)
	}
	r.must(v.name, err)
	v.transient = true
	if c.size == 1 {
		if r.k.timing != stats.Untimed {
			r.k.summary.tally.Note(r.k.timing, 0)
			r.k.timing = stats.Untimed
		}
		v.copyAlone()
		return false
	}
	v.algorithm = r.k.algorithm(v.op, c, &v.operator)
	if r.k.processors != nil {
		r.k.enterLater(r.lp, c, int(member), v, request)
	} else {
		r.k.enter(r.lp, c, int(member), v, request)
	}
	return true
}

// nonblocking begins a collective in its nonblocking form, unless there is an error.
func (r *EventRank) nonblocking(v *collective, err error) EventRequest {
	index := r.k.newRequest(r.lp, collectiveRequest, v.name)
	q := r.k.requests.at(index)
	c, _ := r.communicator()
	q.comm, q.buffer = c.index, v.output
	if !r.enter(v, err, index) {
		q.complete, q.time = true, *r.clock
		if q.buffer == nil {
			q.buffer = slices.Clone(v.input)
		}
	}
	return EventRequest(index)
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
	r.must(callBarrier, nil)
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
	r.must(callCommSplit, checkColor(color))
	return r.create(&exchange{color: color, key: int64(key)}, callCommSplit)
}

// Dup makes a communicator with the same members; see [Comm.Dup]. It is Made(0) in
// the next step.
func (r *EventRank) Dup() Outcome {
	return r.create(&exchange{group: r.Group()}, callCommDup)
}

// Create makes a communicator of a subgroup; see [Comm.Create]. For the ranks of the
// group, it is Made of the first of them in the next step.
func (r *EventRank) Create(g *Group) Outcome {
	if g == nil {
		g = strided(0, 1, 0)
	}
	r.must(callCommCreate, r.Group().contains(g))
	x := &exchange{color: Undefined}
	if g.Member(r.Rank()) >= 0 {
		x.color, x.group = g.WorldRank(0), g
	}
	return r.create(x, callCommCreate)
}

func (r *EventRank) create(x *exchange, name call) Outcome {
	return r.collective(r.k.creation(x, name), nil)
}

// Made returns the communicator that the last Split has made of a color, the last
// Dup for 0, or the last Create for the first rank of the group, in the step that
// follows.
func (r *EventRank) Made(color int) EventComm {
	c, _ := r.communicator()
	made := c.made[color]
	if b := r.brought(); c.size == 1 {
		made = b.made
	}
	if made == nil {
		r.must(callCommSplit, mpiError(ErrComm, "no communicator of color %d has been made of %s", color, c))
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
		r.must(callCommFree, mpiError(ErrComm, "WORLD and SELF cannot be freed"))
	}
	given := r.k.comms[c.index]
	if given == nil {
		r.must(callCommFree, mpiError(ErrComm, "the communicator has been freed"))
	}
	if r.k.processors != nil {
		r.k.operate(r.lp, operation{kind: opFree, comm: given})
		return
	}
	r.k.free(given)
}
