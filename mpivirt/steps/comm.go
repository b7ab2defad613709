package steps

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Comm is an event rank's handle of a communicator: four bytes. The zero Comm is WORLD.
type Comm struct{ index int32 }

// Self is the communicator of the rank alone (MPI_COMM_SELF).
var Self = Comm{world.Self}

// On returns the rank with c in the place of WORLD for the next operation.
func (r *Rank) On(c Comm) *Rank {
	view := r.on
	if view == nil { // r is a view itself
		view = r
	}
	view.lp, view.clock = r.lp, r.clock
	view.comm = r.k.Communicator(max(c.index, world.World))
	return view
}

// communicator returns the communicator of the operation, and the rank's number in it.
func (r *Rank) communicator() (*kernel.Communicator, int32) {
	if r.comm == nil || r.comm == r.world {
		return r.world, r.k.Global(r.lp)
	}
	if r.comm.Group == nil || r.comm.Size == 0 {
		return r.comm, 0
	}
	member := r.comm.Group.Member(r.Rank())
	if member < 0 {
		r.k.Die(r.lp, r.lastCall, world.Errorf(world.ErrComm, "rank %d is no member of %s: a rank uses its own communicators only", r.Rank(), r.comm))
	}
	if r.comm.FreedBy(member) {
		return r.k.Communicator(world.Freed), 0
	}
	return r.comm, int32(member)
}

// caller returns the rank as it calls a collective.
func (r *Rank) caller() typed.Caller {
	c, member := r.communicator()
	return typed.Caller{Kernel: r.k, Comm: c, Member: int(member)}
}

// Member returns the rank's number in the communicator (MPI_Comm_rank).
func (r *Rank) Member() int {
	_, member := r.communicator()
	return int(member)
}

// Members returns the size of the communicator (MPI_Comm_size).
func (r *Rank) Members() int {
	c, _ := r.communicator()
	return c.Size
}

// refuse ends the program with an MPI error of a call.
func (r *Rank) refuse(op world.Procedure, err error) {
	r.k.Die(r.lp, op, err)
}

// compose returns a call of the rank, without other arguments.
func (r *Rank) compose(op world.Procedure) *kernel.Call {
	r.once(op)
	r.lastCall = op
	c, member := r.communicator()
	return r.k.Compose(op, c, member)
}

// do makes a call and concludes the step with it.
func (r *Rank) do(q *kernel.Call) Outcome {
	over := r.k.Submit(r.lp, q)
	if b := r.k.Completion(); over && b.Err != nil && b.Fatal {
		r.refuse(b.Procedure, b.Err)
	}
	return r.outcome(over)
}

// begin makes a call that begins an operation, and returns its request.
func (r *Rank) begin(q *kernel.Call) Request {
	r.k.Submit(r.lp, q)
	b := r.k.Completion()
	if b.Err != nil && b.Fatal {
		r.refuse(b.Procedure, b.Err)
	}
	return Request(b.Request)
}

// SetErrorsReturn sets the error handler of the rank. With true, Err returns the error of an
// operation; see [mpivirt.Rank.SetErrorsReturn].
func (r *Rank) SetErrorsReturn(on bool) { r.k.SetErrorsReturn(r.lp, on) }

// MayCancel says whether the rank may cancel receives; see [mpivirt.Rank.MayCancel].
func (r *Rank) MayCancel(on bool) { r.k.SetMayCancel(r.lp, on) }

// collective carries out a collective in its blocking form, unless there is an error.
func (r *Rank) collective(v *kernel.Collective, err error) Outcome {
	return r.do(r.collectiveCall(v, err))
}

// nonblocking begins a collective in its nonblocking form, unless there is an error.
func (r *Rank) nonblocking(v *kernel.Collective, err error) Request {
	return r.begin(r.collectiveCall(v, err).Nonblocking())
}

// collectiveCall returns a call of a collective.
func (r *Rank) collectiveCall(v *kernel.Collective, err error) *kernel.Call {
	v.Transient = true
	return r.compose(v.Procedure).Enters(v, err)
}

// Barrier waits until all members have called it (MPI_Barrier).
func (r *Rank) Barrier() Outcome {
	k := r.k
	if r.comm == nil && r.lp == k.Joiners().Hi && k.Timing() == k.Joiners().Timed && r.concluded == 0 {
		r.lastCall = world.Barrier
		k.Joiners().Hi++
		k.SetTiming(world.Untimed)
		return suspended
	}
	r.once(world.Barrier)
	r.lastCall = world.Barrier
	c, member := r.communicator()
	if k.EnterBarrier(r.lp, c, int(member)) {
		k.Activity(r.lp)
		return r.conclude(suspended)
	}
	return r.collective(r.k.Barrier(), nil)
}

// Ibarrier begins a Barrier (MPI_Ibarrier).
func (r *Rank) Ibarrier() Request {
	return r.nonblocking(r.k.Barrier(), nil)
}

// Split divides the communicator by color and key; see [mpivirt.Comm.Split]. The rank's
// new communicator is NewComm(color) in the next step.
func (r *Rank) Split(color, key int) Outcome {
	return r.collective(r.k.Split(color, key))
}

// Dup makes a communicator with the same members; see [mpivirt.Comm.Dup]. It is NewComm(0) in
// the next step.
func (r *Rank) Dup() Outcome {
	return r.collective(r.k.Dup(r.Group()), nil)
}

// Create makes a communicator of a subgroup; see [mpivirt.Comm.Create]. For the ranks of the
// group, it is NewComm of the first of them in the next step.
func (r *Rank) Create(g *world.Group) Outcome {
	return r.collective(r.k.Create(r.Group(), g, r.Rank()))
}

// SplitNodes divides the communicator by the target machine's nodes; see
// [mpivirt.Comm.SplitNodes]. The rank's new communicator is NewComm of its node's number in the
// next step.
func (r *Rank) SplitNodes(key int) Outcome {
	v, err := r.k.Split(r.Node(r.Rank()), key)
	v.Procedure = world.CommSplitType
	return r.collective(v, err)
}

// CreateGroup makes a communicator of a subgroup, whose members alone call it; see
// [mpivirt.Comm.CreateGroup]. It is NewGroupComm of the same group and tag in the next step.
func (r *Rank) CreateGroup(g *world.Group, tag int) Outcome {
	c, _ := r.communicator()
	if g == nil || g.Member(r.Rank()) < 0 {
		return r.Continue()
	}
	on, v, err := r.k.CreateGroup(c, g, tag, r.lp)
	r.once(v.Procedure)
	r.lastCall, v.Transient = v.Procedure, true
	return r.do(r.k.Compose(v.Procedure, on, int32(on.Group.Member(r.Rank()))).Enters(v, err))
}

// NewGroupComm returns the communicator that the last step has made by CreateGroup. The rank is
// in the group.
func (r *Rank) NewGroupComm(g *world.Group, tag int) Comm {
	c, _ := r.communicator()
	on, _, err := r.k.CreateGroup(c, g, tag, r.lp)
	if err != nil {
		r.refuse(world.CommCreateGroup, err)
	}
	made := r.k.NewComm(r.lp, on, 0)
	if made == nil {
		r.refuse(world.CommCreateGroup, world.Errorf(world.ErrComm, "no communicator of the group has been made of %s", c))
	}
	return Comm{made.Index}
}

// NewComm returns a communicator that the last step has made. color is that of a Split, 0 for a
// Dup, or the first rank of the group of a Create.
func (r *Rank) NewComm(color int) Comm {
	c, _ := r.communicator()
	made := r.k.NewComm(r.lp, c, color)
	if made == nil {
		r.refuse(world.CommSplit, world.Errorf(world.ErrComm, "no communicator of color %d has been made of %s", color, c))
	}
	return Comm{made.Index}
}

// Group returns the members of the communicator (MPI_Comm_group).
func (r *Rank) Group() *world.Group {
	c, _ := r.communicator()
	return r.k.GroupOf(c, r.lp)
}

// Free frees a communicator for the rank; see [mpivirt.Comm.Free].
func (r *Rank) Free(c Comm) {
	k := r.k
	k.Submit(r.lp, k.Compose(world.CommFree, k.Communicator(max(c.index, world.World)), 0))
	if b := k.Completion(); b.Err != nil && b.Fatal {
		r.refuse(b.Procedure, b.Err)
	}
}
