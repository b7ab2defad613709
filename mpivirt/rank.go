package mpivirt

import (
	"gigarank/lp"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Rank is one rank of a simulated program that runs as a goroutine LP. Only that rank's own
// code may use it.
type Rank struct {
	world    Comm
	k        *kernel.Kernel
	self     lp.Coroutine // suspends the LP
	lp       int32
	lastCall world.Procedure // latest MPI call
	returned bool            // from Main
	submits  bool            // waits to have its call submitted; see hand
	waits    bool            // the call that the engine has submitted was not complete at once
	deep     bool            // its stack has room to submit calls; see deepen
	polled   bool            // has made no call since its last clock poll
	handed   uint8           // calls submitted by the engine because the stack is small; up to fewCalls
	burst    burstState
}

// World returns the communicator of all ranks (MPI_COMM_WORLD).
func (r *Rank) World() *Comm { return &r.world }

// Self returns the communicator of this rank alone (MPI_COMM_SELF).
func (r *Rank) Self() *Comm { return &Comm{r: r, c: r.k.Communicator(world.Self)} }

// Rank returns the rank's number in WORLD.
func (r *Rank) Rank() int { return int(r.world.member) }

// Size returns the number of ranks in WORLD.
func (r *Rank) Size() int { return r.world.c.Size }

// Node returns the number of the target machine's node that a rank of WORLD is on. It stands
// for MPI_Get_processor_name.
func (r *Rank) Node(rank int) int { return r.k.Target().Node(rank) }

// Now returns the rank's virtual time, exactly. In a row of clock polls while the time stands still, each
// after the first 1,000 takes the poll time of the machine, so that a rank that waits for a time by
// polling the clock comes to an end.
func (r *Rank) Now() vtime.Time {
	if r.k.Bursting() {
		r.endBurst(r.lastCall)
	}
	r.settle()
	if r.polled {
		r.pollClock()
	} else {
		r.polled = true
		r.k.StartClockPolls(r.lp)
	}
	r.k.StartBurst()
	return r.k.Clocks()[r.lp]
}

// pollClock counts a clock poll of a rank that has made no call since its last clock poll.
func (r *Rank) pollClock() {
	if d := r.k.PollClock(r.lp); d > 0 {
		if err := r.k.Compute(r.lp, d); err != nil {
			r.die(world.Compute, err)
		}
		r.settle()
	}
	r.k.ClockPolled(r.lp)
}

// settle waits until all operations that the rank has started have begun. That takes effect
// only under a model with state at the receiver.
func (r *Rank) settle() {
	if r.k.Postpone(r.lp) {
		r.suspend()
	}
}

// Wtime returns the rank's virtual time in seconds (MPI_Wtime).
func (r *Rank) Wtime() float64 {
	r.k.Activity(r.lp)
	return r.Now().Seconds()
}

// Wtick returns the resolution of Wtime in seconds: a picosecond (MPI_Wtick).
func (r *Rank) Wtick() float64 { return 1e-12 }

// Compute advances the rank's clock by d, lengthened by the noise of the operating system if
// the simulation has any. A negative d is an error of class ErrArgument. A d that leads past
// the end of virtual time, 106 days from the start, ends the run.
func (r *Rank) Compute(d vtime.Duration) {
	r.own()
	if r.k.Bursting() {
		r.endBurst(world.Compute)
	}
	if err := r.k.Compute(r.lp, d); err != nil {
		r.die(world.Compute, err)
	}
	r.k.StartBurst()
}

// Seed returns the seed of the simulation, for the keys of counter-based random
// numbers.
func (r *Rank) Seed() uint64 { return r.k.Seed() }

// HasContents reports whether messages and collectives carry the bytes of the program; see [Config].NoContents.
func (r *Rank) HasContents() bool { return r.k.HasContents() }

// Record enters the length of a timed operation into the statistics of the run. index counts
// the iterations from 0, operation is the name of the operation.
func (r *Rank) Record(index int, operation string, d vtime.Duration) {
	r.k.Record(index, operation, d)
}

// Phase ends the phase that the rank is in, and begins one with a name, or none if the name is empty. The length of a phase that ends is
// recorded under its name, with the number of the rank's phases of that name before; see [Rank.Record].
func (r *Rank) Phase(name string) {
	if r.k.Bursting() {
		r.endBurst(r.lastCall)
	}
	r.k.BeginPhase(r.lp, name)
	r.k.StartBurst()
}

// Printf prints text to the output of the simulation. It takes no virtual time. Lines of
// different ranks come in no particular order.
func (r *Rank) Printf(format string, arguments ...any) {
	if r.k.Bursting() {
		r.endBurst(r.lastCall)
	}
	r.k.Print(format, arguments)
	r.k.StartBurst()
}

// Abort ends the whole program with an error code (MPI_Abort). It does not
// return.
func (r *Rank) Abort(code int) { r.die(r.lastCall, world.Aborted(code)) }

// SetErrorsReturn sets the error handler of the rank. With false, the default, an MPI error
// ends the program (MPI_ERRORS_ARE_FATAL). With true the call returns it (MPI_ERRORS_RETURN).
//
// Members of a communicator may call collectives that do not fit each other. If they are
// collectives that nobody can leave before all have entered, the calls of all members return
// the error. Under a model with state at the receiver they end the program. Among other
// collectives, a different length, type or operation is the error of the calls that receive
// from that member. Different collectives or roots end the program, since members may have
// left already.
func (r *Rank) SetErrorsReturn(on bool) { r.k.SetErrorsReturn(r.lp, on) }

// MayCancel says whether the rank may cancel the receives that it begins from now on by Irecv or
// Start. Such receives cost the host more: their messages are settled at their arrival only.
func (r *Rank) MayCancel(on bool) { r.k.SetMayCancel(r.lp, on) }

// die ends the program with an error of the rank, and unwinds the rank's code. It does not
// return.
func (r *Rank) die(c world.Procedure, err error) {
	r.own()
	if r.self.Foreign() {
		r.endForeignCall(c) // the unwinding would end the process
	}
	r.settle()
	r.k.Die(r.lp, c, err)
}

// errs ends the program with an error of a call of the rank, whose line it keeps. It does not return.
func (r *Rank) errs(c world.Procedure, err error) {
	if r.k.Running() == r.lp && !r.self.Foreign() {
		r.k.ErredAt(r.lp, c, callingLine)
	}
	r.die(c, err)
}

// suspend gives control back to the engine until the LP is resumed.
func (r *Rank) suspend() {
	r.keepOut()
	r.self.Wait()
}

// hand suspends the rank until the engine has submitted the call that it has composed,
// and the call is complete. Submit needs more room than the rank's first stack has.
func (r *Rank) hand() {
	r.keepOut()
	if r.k.Sited() {
		r.k.HandSite(callingSite())
	}
	r.submits = true
	r.self.Wait()
}

// fewCalls is the number of calls of a rank for which it is not worth while to make its stack twice as
// large: two switches cost less.
const fewCalls = 4

// shallow reports whether the engine is to submit a call, because the rank's stack has no room for that.
// It gives the stack room if the rank makes many calls that are complete at once.
//
//go:noinline
func (r *Rank) shallow(q *kernel.Call) bool {
	if r.k.Awaits(r.lp, q) {
		return true
	}
	if r.handed < fewCalls {
		r.handed++
		return true
	}
	r.deepen()
	return false
}

// deepen makes the runtime give the rank's first stack room for what submits its calls. The
// runtime would do that by itself further down, where it has twice the frames to move.
//
//go:noinline
func (r *Rank) deepen() {
	var frame [640]byte
	frame[r.lp&511] = 1
	r.deep = frame[r.lp&511] != 0
}

// keepOut ends the code of a goroutine that is not the rank's.
func (r *Rank) keepOut() {
	if r.self.Astray() {
		r.endForeignCall(r.lastCall)
	}
}

// own checks that the rank's own code runs. It ends the code of another rank, or of a
// goroutine that calls while another rank runs.
func (r *Rank) own() {
	if r.k.Running() != r.lp {
		r.endForeignCall(world.NoProcedure)
	}
}

// noteCall stores the MPI call that the rank's own code makes; see own.
func (r *Rank) noteCall(c world.Procedure) {
	if r.k.Running() != r.lp {
		r.endForeignCall(c)
	}
	r.lastCall = c
	r.polled = false
}

// open fills in a rank that begins.
//
//go:noinline
func (g *goroutines) open(i int, self lp.Coroutine) *Rank {
	k, r := g.k, &g.ranks[i]
	r.k, r.lp, r.self = k, int32(i), self
	r.world = Comm{r: r, c: k.Communicator(world.World), member: k.Global(int32(i))}
	r.deep = self.Taken()
	k.StartBurst()
	return r
}

// end records that the rank's main has returned.
//
//go:noinline
func (r *Rank) end(err error) {
	k := r.k
	if err == nil && len(k.Caches) > 0 {
		err = r.Self().deleteAttributes()
	}
	if !k.HasFailed(r.lp) && k.Bursting() {
		r.endBurst(r.lastCall)
	}
	switch {
	case k.HasFailed(r.lp):
		k.Swallowed(r.lp)
	case err != nil:
		k.Fail(r.lp, r.lastCall, err)
	}
	r.returned = true
}

// left records how the rank's code has ended: by a panic, by Goexit, or by a return.
func (r *Rank) left() {
	switch v := recover(); {
	case v != nil:
		r.k.Unwound(r.lp, r.lastCall, v)
	case !r.returned && !r.k.Closed():
		r.k.Unwound(r.lp, r.lastCall, nil)
		r.suspend() // for good: the Goexit would go on in the engine's goroutine
	}
}
