package mpivirt

import (
	"slices"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// run carries out a collective in its blocking form, unless there is an error.
func (c *Comm) run(v *kernel.Collective, err error) error {
	if c == nil {
		return world.NoComm(v.Procedure)
	}
	shared, output := v.SharesResult() && c.c.Remote == nil, v.Output
	procedure := v.Procedure
	b := c.whole(c.r.doCollective(c.collectiveCall(v, err), c.c.Size), procedure)
	if b.Err != nil {
		return b.Err
	}
	if shared {
		copy(output, c.r.k.SharedResult(c.r.lp, c.c))
		c.r.k.StartBurst()
	}
	return nil
}

// whole carries out the rest of a call that goes in parts, after its first.
func (c *Comm) whole(b *kernel.Completion, p world.Procedure) *kernel.Completion {
	for c.r.k.InParts(c.r.lp) {
		b = c.r.make(c.compose(p), true)
	}
	return b
}

// begin begins a collective in its nonblocking form, unless there is an error.
func (c *Comm) begin(v *kernel.Collective, err error) (Request, error) {
	if c == nil {
		return Request{}, world.NoComm(v.Procedure)
	}
	b := c.r.do(c.collectiveCall(v, err).Nonblocking())
	if b.Err != nil {
		return Request{}, b.Err
	}
	return c.r.request(b.Request), nil
}

// collectiveCall returns a call of a collective.
func (c *Comm) collectiveCall(v *kernel.Collective, err error) *kernel.Call {
	return c.compose(v.Procedure).Enters(v, err)
}

// create carries out a collective that makes communicators. It returns the rank's, nil if
// the rank is in none.
func (c *Comm) create(v *kernel.Collective, err error) (*Comm, error) {
	color := v.Color()
	if err := c.run(v, err); err != nil || color < 0 {
		return nil, err
	}
	made := c.r.k.NewComm(c.r.lp, c.c, color)
	if made == nil { // of an intercommunicator whose remote group does not have the color
		return nil, nil
	}
	return c.handle(made), nil
}

// caller returns the rank as it calls a collective.
func (c *Comm) caller() typed.Caller {
	if c == nil { // run and begin return the error
		return typed.Caller{Kernel: &kernel.Kernel{}, Comm: &kernel.Communicator{}}
	}
	return typed.Caller{Kernel: c.r.k, Comm: c.c, Member: int(c.member)}
}

// Barrier waits until all members have called it (MPI_Barrier).
func (c *Comm) Barrier() error {
	if c == nil {
		return world.NoComm(world.Barrier)
	}
	r := c.r
	r.noteCall(world.Barrier)
	if r.k.Bursting() {
		r.endBurst(world.Barrier)
	}
	if !r.k.EnterBarrier(r.lp, c.c, int(c.member)) {
		if r.k.Bursting() {
			r.burst |= ended
		}
		return c.run(r.k.Barrier(), nil)
	}
	r.k.Activity(r.lp)
	r.suspend()
	r.k.StartBurst()
	return r.fault()
}

// fault returns the rank's error of the collective that it has left. It is not inlined into
// the frames of ranks that wait, since their stacks are small.
//
//go:noinline
func (r *Rank) fault() error {
	b := r.k.Completion()
	if b.Err == nil || b.LP != r.lp {
		return nil
	}
	if b.Fatal {
		r.errs(b.Procedure, b.Err)
	}
	return b.Err
}

// Ibarrier is the nonblocking Barrier (MPI_Ibarrier).
func (c *Comm) Ibarrier() (Request, error) {
	if c == nil {
		return Request{}, world.NoComm(world.Barrier)
	}
	return c.begin(c.r.k.Barrier(), nil)
}

// Bcast copies data of the root to data of all members (MPI_Bcast). The length is the same
// everywhere. Errors: ErrRoot, ErrCount if lengths differ.
func Bcast[T Datatype](c *Comm, data []T, root int) error {
	return c.run(typed.Bcast(c.caller(), data, root))
}

// Ibcast is the nonblocking Bcast (MPI_Ibcast).
func Ibcast[T Datatype](c *Comm, data []T, root int) (Request, error) {
	return c.begin(typed.Bcast(c.caller(), data, root))
}

// Reduce combines the vectors send of all members, element by element, into
// receive of the root (MPI_Reduce); receive may be nil elsewhere. Errors: ErrRoot,
// ErrCount if lengths differ, ErrBuffer if receive of the root is shorter than
// send.
func Reduce[T Datatype](c *Comm, send, receive []T, o Op[T], root int) error {
	return c.run(typed.Reduce(c.caller(), send, receive, o, root))
}

// Ireduce is the nonblocking Reduce (MPI_Ireduce).
func Ireduce[T Datatype](c *Comm, send, receive []T, o Op[T], root int) (Request, error) {
	return c.begin(typed.Reduce(c.caller(), send, receive, o, root))
}

// Allreduce combines the vectors send of all members, element by element, into receive of
// every member (MPI_Allreduce). The length is the same everywhere. Errors: ErrCount if
// lengths differ, ErrBuffer if receive is shorter than send.
func Allreduce[T Datatype](c *Comm, send, receive []T, o Op[T]) error {
	return c.run(typed.ReductionToAll(c.caller(), world.Allreduce, collectives.Allreduce, send, receive, o))
}

// Iallreduce is the nonblocking Allreduce (MPI_Iallreduce).
func Iallreduce[T Datatype](c *Comm, send, receive []T, o Op[T]) (Request, error) {
	return c.begin(typed.ReductionToAll(c.caller(), world.Allreduce, collectives.Allreduce, send, receive, o))
}

// Scan combines, for each member, its vector and those of the members below it (MPI_Scan).
// Errors: as Allreduce.
func Scan[T Datatype](c *Comm, send, receive []T, o Op[T]) error {
	return c.run(typed.ReductionToAll(c.caller(), world.Scan, collectives.Scan, send, receive, o))
}

// Iscan is the nonblocking Scan (MPI_Iscan).
func Iscan[T Datatype](c *Comm, send, receive []T, o Op[T]) (Request, error) {
	return c.begin(typed.ReductionToAll(c.caller(), world.Scan, collectives.Scan, send, receive, o))
}

// Exscan combines, for each member, the vectors of the members below it
// (MPI_Exscan). receive of member 0 is unchanged. Errors: as Allreduce.
func Exscan[T Datatype](c *Comm, send, receive []T, o Op[T]) error {
	return c.run(typed.ReductionToAll(c.caller(), world.Exscan, collectives.Exscan, send, receive, o))
}

// Iexscan is the nonblocking Exscan (MPI_Iexscan).
func Iexscan[T Datatype](c *Comm, send, receive []T, o Op[T]) (Request, error) {
	return c.begin(typed.ReductionToAll(c.caller(), world.Exscan, collectives.Exscan, send, receive, o))
}

// ReduceScatter combines the vectors send of all members and gives member i the
// next counts[i] elements of the result (MPI_Reduce_scatter). The counts are the
// same everywhere. Errors: ErrCount, ErrBuffer.
func ReduceScatter[T Datatype](c *Comm, send, receive []T, counts []int, o Op[T]) error {
	return c.run(typed.ReduceScatter(c.caller(), send, receive, counts, o))
}

// ReduceScatterBlock is ReduceScatter with len(receive) elements for each member, the same
// everywhere (MPI_Reduce_scatter_block).
func ReduceScatterBlock[T Datatype](c *Comm, send, receive []T, o Op[T]) error {
	return c.run(as(world.ReduceScatterBlock)(typed.ReduceScatter(c.caller(), send, receive, evenCounts(c, len(receive)), o)))
}

// IreduceScatterBlock is the nonblocking ReduceScatterBlock (MPI_Ireduce_scatter_block).
func IreduceScatterBlock[T Datatype](c *Comm, send, receive []T, o Op[T]) (Request, error) {
	return c.begin(as(world.ReduceScatterBlock)(typed.ReduceScatter(c.caller(), send, receive, evenCounts(c, len(receive)), o)))
}

// as gives a collective the name of another procedure that goes like it.
func as(op world.Procedure) func(v *kernel.Collective, err error) (*kernel.Collective, error) {
	return func(v *kernel.Collective, err error) (*kernel.Collective, error) {
		v.Procedure = op
		return v, err
	}
}

// evenCounts returns the counts of members that all have n elements.
func evenCounts(c *Comm, n int) []int {
	if c == nil {
		return nil
	}
	return slices.Repeat([]int{n}, c.c.Size)
}

// ReduceLocal combines two vectors of the rank: inout[i] becomes in[i] ⊕ inout[i]
// (MPI_Reduce_local). It takes no virtual time. Errors: ErrCount if lengths differ.
func ReduceLocal[T Datatype](in, inout []T, o Op[T]) error {
	if len(in) != len(inout) {
		return world.Errorf(ErrCount, "%d and %d elements to combine: give two slices of one length", len(in), len(inout))
	}
	if len(in) > 0 {
		o.Combine(inout, in, inout)
	}
	return nil
}

// IreduceScatter is the nonblocking ReduceScatter (MPI_Ireduce_scatter).
func IreduceScatter[T Datatype](c *Comm, send, receive []T, counts []int, o Op[T]) (Request, error) {
	return c.begin(typed.ReduceScatter(c.caller(), send, receive, counts, o))
}
