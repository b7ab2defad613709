package mpivirt

import (
	"fmt"

	"gigarank/lp"
	"gigarank/vtime"
)

// Rank is one rank of a simulated program that runs as a goroutine LP: what the
// program's Main is given. It must be used only by that rank's own code.
type Rank struct {
	world    Comm
	k        *kernel
	self     lp.Coroutine // suspends the LP
	lp       int32
	call     call // the MPI call made last
	returned bool // from Main
}

// World returns the communicator of all ranks (MPI_COMM_WORLD).
func (r *Rank) World() *Comm { return &r.world }

// Self returns the communicator of this rank alone (MPI_COMM_SELF).
func (r *Rank) Self() *Comm { return &Comm{r: r, c: r.k.comms[selfComm]} }

// Rank is the rank's number in WORLD.
func (r *Rank) Rank() int { return int(r.world.member) }

// Size is the number of ranks in WORLD.
func (r *Rank) Size() int { return r.world.c.size }

// Node returns the number of the node of the target machine that a rank of WORLD is
// on. Of one's own rank, MPI_Get_processor_name tells as much.
func (r *Rank) Node(rank int) int { return r.k.tgt.Node(rank) }

// Now returns the rank's virtual time, exactly.
func (r *Rank) Now() vtime.Time {
	r.settle()
	return r.k.clock[r.lp]
}

// settle waits, under a model with state at the receiver, until what the rank has begun
// has taken its time on the CPU.
func (r *Rank) settle() {
	if r.k.processors != nil && r.k.postpone(r.lp) {
		r.suspend()
	}
}

// Wtime returns the rank's virtual time in seconds (MPI_Wtime).
func (r *Rank) Wtime() float64 {
	r.k.activity(r.lp)
	return r.Now().Seconds()
}

// Wtick returns the resolution of Wtime in seconds: a picosecond (MPI_Wtick).
func (r *Rank) Wtick() float64 { return 1e-12 }

// Compute advances the rank's clock by d, lengthened by the noise of the target
// machine's operating system if the simulation has any. A negative d is an error
// of class ErrArgument; one that leads past the end of virtual time, 106 days from the
// start, ends the run.
func (r *Rank) Compute(d vtime.Duration) {
	r.own()
	r.k.compute(r.lp, d)
}

func (k *kernel) compute(lp int32, d vtime.Duration) {
	if d < 0 {
		k.die(lp, callCompute, mpiError(ErrArgument, "a compute phase of %v: no time can be negative", d))
	}
	if k.processors != nil {
		k.activity(lp)
		k.operate(lp, operation{kind: opCompute, length: d})
		return
	}
	end := k.clock[lp].Add(k.lengthened(lp, k.clock[lp], d))
	if end == vtime.Forever {
		k.die(lp, callCompute, endError("%v of computing", d))
	}
	k.clock[lp] = end
	k.activity(lp)
}

// lengthened returns how long a compute phase that an LP begins at t takes.
func (k *kernel) lengthened(lp int32, t vtime.Time, d vtime.Duration) vtime.Duration {
	if k.noise != nil {
		d = k.noise.Extend(int(k.global(lp)), t, d)
	}
	return d
}

// Seed returns the seed of the simulation, for the keys of counter-based random
// numbers.
func (r *Rank) Seed() uint64 { return r.k.config.Seed }

// Record enters the length of a timed operation into the statistics of the run:
// index counts the iterations from 0, operation names what was timed.
func (r *Rank) Record(index int, operation string, d vtime.Duration) {
	r.k.summary.tally.Record(index, operation, d)
}

// Printf prints text to the output of the simulation, which has no influence on
// virtual time. Lines of different ranks come in no particular order.
func (r *Rank) Printf(format string, arguments ...any) { r.k.print(format, arguments) }

// print gives text to the output of the simulation, which may wait for its reader as
// long as it likes.
func (k *kernel) print(format string, arguments []any) {
	if k.config.Output != nil {
		text := fmt.Sprintf(format, arguments...)
		k.printing.Store(true)
		defer k.printing.Store(false)
		k.config.Output(text)
	}
}

// Abort ends the whole program with an error code (MPI_Abort). It does not
// return.
func (r *Rank) Abort(code int) { r.die(r.call, abortError{code}) }

// SetErrorsReturn chooses what an MPI error does: end the program (false, the
// default, MPI_ERRORS_ARE_FATAL) or come back as the call's error (true,
// MPI_ERRORS_RETURN). That members of a communicator have called different collectives
// comes back from the calls of all of them if nobody can leave any of the calls before
// all have entered; lengths, types and operations that differ in others come back from
// the calls that receive of them. Different collectives otherwise, and roots, end the
// program all the same, for some members may have left; so does any difference in the
// former under a model with state at the receiver.
func (r *Rank) SetErrorsReturn(on bool) { r.k.setErrorsReturn(r.lp, on) }

// raise reports an MPI error according to the error handler.
func (r *Rank) raise(c call, err error) error {
	if !r.k.fatal(r.lp) {
		return err
	}
	r.call = c
	r.die(c, err)
	return nil
}

// die ends the program with an error of the rank and unwinds the rank's code. It does
// not return.
func (r *Rank) die(c call, err error) {
	r.own()
	if r.self.Foreign() {
		r.intrude(c) // the unwinding would end the process
	}
	r.settle()
	r.k.die(r.lp, c, err)
}

// suspend gives control back to the engine until the LP is resumed.
func (r *Rank) suspend() {
	if r.self.Astray() {
		r.intrude(r.call)
	}
	r.self.Wait()
}

// own ends what uses the rank and is not the rank's own code: that of another rank, or
// of a goroutine that calls while another rank runs.
func (r *Rank) own() {
	if r.k.running != r.lp {
		r.intrude(noCall)
	}
}

// calls notes that the rank's code makes an MPI call.
func (r *Rank) calls(c call) {
	if r.k.running != r.lp {
		r.intrude(c)
	}
	r.call = c
}

// run is the body of a goroutine LP.
func (g *goroutines) run(i int, self lp.Coroutine) {
	k, r := g.k, &g.ranks[i]
	r.k, r.lp, r.self = k, int32(i), self
	r.world = Comm{r: r, c: k.comms[worldComm], member: int32(k.lo + i)}
	defer r.left()
	err := k.config.Program.Main(r)
	if !k.failing.failed[r.lp] {
		r.settle()
	}
	switch {
	case k.limited() && k.failing.failed[r.lp]:
		k.swallowed(r.lp)
	case err != nil:
		k.fail(r.lp, r.call, err)
	}
	r.returned = true
}

// left looks at how the rank's code has come to its end.
func (r *Rank) left() {
	switch v := recover(); {
	case v != nil:
		r.k.recovered(r.lp, r.call, v)
	case !r.returned && !r.k.failing.closed:
		r.k.fail(r.lp, r.call, errGoexit)
		r.suspend() // for good: the Goexit would go on in the engine's goroutine
	}
}
