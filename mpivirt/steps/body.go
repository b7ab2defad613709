package steps

import (
	"math"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Outcome is the result of a step: whether the rank goes on to its next step, waits, or has
// finished. The operation that the step ends with returns it.
type Outcome uint8

// The outcomes of a step. No operation returns zero.
const (
	continued Outcome = iota + 1
	suspended
	finished
	failed
)

// Kind is the kind of ranks that are values with a step function.
var Kind = kernel.RegisterKind(kernel.Kind{
	Name: "event", Summary: "a rank is a small value and a step function; for hundreds of millions of ranks",
	Time:      15, // a step; measured by scripts/forecast
	Transient: true, Movable: true,
})

// Main returns the form of a program for event ranks. It calls the function once for each
// engine.
func Main(program func() Program) kernel.Form { return form(program) }

type form func() Program

// Kind implements [Form].
func (f form) Kind() *kernel.Kind { return Kind }

// Body implements [Form].
func (f form) Body(k *kernel.Kernel, n int) kernel.Body { return f().bind(k, n) }

// Program is a program in the form for event LPs; see [New].
type Program struct {
	bind func(k *kernel.Kernel, n int) kernel.Body
}

// New returns a program for event LPs. Each rank is a value of type S, zero at first, and the
// function step. The engine calls step each time the rank can go on. A step does one piece of
// work and returns the Outcome of an operation of r. It carries out one such operation only: a
// step that drops an Outcome, or returns that of another, ends the program. When the operation
// is over, the engine calls step again. S holds what a rank needs in later steps, above all
// its place in the program. r is valid during the call only.
//
// S should be small, since there is one for each rank.
func New[S any](step func(r *Rank, state *S) Outcome) Program {
	return Program{bind: func(k *kernel.Kernel, n int) kernel.Body {
		b := &stepper[S]{stepping: stepping{k: k, world: k.Communicator(world.World), first: k.Global(0), ranks: k.Target().Ranks(), timed: timed{index: math.MinInt}}, step: step, states: kernel.Reserve[S](k, n)}
		b.rank = Rank{stepping: &b.stepping, on: &Rank{stepping: &b.stepping}}
		return b
	}}
}

// stepper is the body of event LPs.
type stepper[S any] struct {
	stepping
	rank   Rank
	step   func(r *Rank, state *S) Outcome
	states []S
}

// stepping is the state of a body of event LPs that does not depend on S.
type stepping struct {
	k         *kernel.Kernel
	world     *kernel.Communicator
	first     int32           // rank of LP 0
	ranks     int             // of WORLD
	until     int32           // LPs from the one whose step runs up to it, exclusively, take a step one after the other
	lastCall  world.Procedure // the MPI call that the step has made last
	concluded Outcome         // of the operation that the step ends with, 0 before it
	timed     timed
}

// timed is the operation that a step has timed last. Most ranks time the operation of the rank before.
type timed struct {
	index     int
	operation string
	label     int32
}

// Resume implements [lp.Body].
func (b *stepper[S]) Resume(i int) bool {
	k := b.k
	if completion := k.Completion(); completion.Err != nil && completion.Fatal && completion.LP == int32(i) {
		k.Fail(completion.LP, completion.Procedure, completion.Err)
		return true
	}
	b.rank.lp, b.rank.clock = int32(i), &k.Clocks()[i]
	k.SetRunning(int32(i))
	k.SetTiming(world.Untimed)
	b.until, b.lastCall = int32(i)+1, world.NoProcedure
	more := b.goOn(i, b.step(&b.rank, &b.states[i]))
	k.SetRunning(world.None)
	return more
}

// goOn runs LP i to its next wait, after a step with the outcome given. It returns false once
// the LP has ended.
func (b *stepper[S]) goOn(i int, o Outcome) bool {
	for k := b.k; ; o = b.step(&b.rank, &b.states[i]) {
		k.SetTiming(world.Untimed)
		if (o != b.concluded || o == 0 || k.Limited()) && b.fails(int32(i), o) {
			b.concluded = 0
			return true
		}
		b.concluded = 0
		switch o {
		case suspended:
			return true
		case finished:
			return k.PostponeEnd(int32(i))
		}
		if k.MayPause() && k.Pause(int32(i)) {
			return true
		}
	}
}

// ResumeRange implements [kernel.RangeResumer]. Most LPs take one step.
func (b *stepper[S]) ResumeRange(lo, hi int32) {
	k := b.k
	k.CollectJoiners(lo)
	b.until = hi
	states, clocks := b.states[lo:hi], k.Clocks()[lo:hi]
	for i := range states {
		lp := lo + int32(i)
		b.rank.lp, b.rank.clock = lp, &clocks[i]
		k.SetRunning(lp)
		k.SetTiming(world.Untimed)
		b.lastCall = world.NoProcedure
		o := b.step(&b.rank, &states[i])
		if o == suspended && k.Joiners().Hi == lp+1 {
			continue // it is one of the joiners
		}
		if !b.goOn(int(lp), o) {
			k.End(lp)
		}
		if k.Limited() {
			break
		}
		if i == 0 && k.Joiners().Hi < 0 { // it may have opened a barrier
			k.CollectJoiners(lp + 1)
		}
	}
	b.endRange()
}

// endRange ends a stretch of LPs that are resumed one after the other; those that have
// not had their turn are ready.
func (s *stepping) endRange() {
	k := s.k
	k.Yield(k.Running()+1, s.until)
	k.SetRunning(world.None)
	s.concluded = 0
	k.EnterJoiners()
}

// Interrupted implements [kernel.Body]. A step that panics, or ends the goroutine by Goexit,
// ends its LP only.
func (s *stepping) Interrupted(v any) bool {
	k := s.k
	if k.Running() == world.None {
		return false
	}
	k.Unwound(k.Running(), s.lastCall, v)
	s.endRange()
	return true
}

// once ends the program if the step has already carried out an operation with an Outcome. An
// operation calls it, with its procedure, before it does anything.
func (r *Rank) once(c world.Procedure) {
	k := r.k
	if r.concluded == 0 && k.Joiners().Hi != r.lp+1 {
		return
	}
	next := "ends with another"
	if c != world.NoProcedure {
		next = "calls " + c.String()
	}
	k.Die(r.lp, r.lastCall, world.Errorf(world.ErrOther, "the step has dropped the Outcome of an operation and %s: "+
		"a step carries out one operation that returns an Outcome, and returns that (docs/programs.md)", next))
}

// conclude stores and returns the outcome of the operation that ends the step.
func (r *Rank) conclude(o Outcome) Outcome {
	r.concluded = o
	return o
}

// fails reports whether an LP has failed in its step. A step that returns another outcome
// than that of its operation fails here.
func (s *stepping) fails(lp int32, o Outcome) bool {
	k := s.k
	if k.Joiners().Hi == lp+1 {
		s.concluded = suspended
	}
	switch {
	case k.HasFailed(lp):
		if o != failed {
			k.Swallowed(lp)
		}
		return true
	case s.concluded == 0:
		k.Fail(lp, s.lastCall, world.Errorf(world.ErrOther, "the step has returned the Outcome of no operation of this step: "+
			"a step ends with an operation, Continue or Finish, and returns what that returns (docs/programs.md)"))
	case o != s.concluded:
		k.Fail(lp, s.lastCall, world.Errorf(world.ErrOther, "the step has returned another Outcome than that of its operation: "+
			"a step carries out one operation that returns an Outcome, and returns that (docs/programs.md)"))
	default:
		return false
	}
	return true
}

// Stop implements [lp.Body].
func (b *stepper[S]) Stop() {}

// Ended implements [kernel.Body]. An LP that has not ended waits.
func (b *stepper[S]) Ended(i int32) bool {
	return !b.k.IsBlocked(i)
}

// LastCall implements [kernel.Body].
//
//go:norace
func (b *stepper[S]) LastCall(int32) world.Procedure { return b.lastCall }

// Rank is the rank whose step runs. Its methods that return an [Outcome] are
// the operations that a step ends with; the others do their work at once.
//
// Operations act on WORLD unless they are called on the result of [Rank.On].
type Rank struct {
	*stepping
	clock *vtime.Time // of the rank
	lp    int32
	comm  *kernel.Communicator // nil for WORLD
	on    *Rank                // the view that On gives
}

// Rank returns the rank's number in WORLD.
func (r *Rank) Rank() int { return int(r.first + r.lp) }

// Size returns the number of ranks in WORLD.
func (r *Rank) Size() int { return r.ranks }

// Node returns the number of the node that a rank of WORLD is on; see [mpivirt.Rank.Node].
func (r *Rank) Node(rank int) int { return r.k.Target().Node(rank) }

// Now returns the rank's virtual time. Under a model with state at the receiver, the
// operations that a step begins take their time after the step. A step that has computed, or
// begun a message, must end with Continue; the next one may call Now.
func (r *Rank) Now() vtime.Time {
	if r.k.HasProcessors() {
		r.mustNotBeBehind()
	}
	return *r.clock
}

// mustNotBeBehind ends the program if what the step has begun takes its time later.
func (r *Rank) mustNotBeBehind() {
	if r.k.Behind(r.lp) {
		r.k.Die(r.lp, r.lastCall, world.Errorf(world.ErrOther, "the step asks for the time after it has begun something, "+
			"and the machine's model has state at the receiver: end the step with Continue, and call Now in the next one (docs/event-ranks.md)"))
	}
}

// Seed returns the seed of the simulation.
func (r *Rank) Seed() uint64 { return r.k.Seed() }

// HasContents reports whether messages and collectives carry the bytes of the program; see [mpivirt.Config].NoContents.
func (r *Rank) HasContents() bool { return r.k.HasContents() }

// Compute advances the rank's clock by d; see [mpivirt.Rank.Compute].
func (r *Rank) Compute(d vtime.Duration) {
	if r.k.ComputeSummed(r.lp, d) {
		return
	}
	end := r.clock.Add(d)
	if d < 0 || !r.k.ClocksOnly() || end == vtime.Forever {
		if err := r.k.Compute(r.lp, d); err != nil {
			r.refuse(world.Compute, err)
		}
		return
	}
	*r.clock = end
}

// Record enters the length of a timed operation into the statistics of the run;
// see [mpivirt.Rank.Record].
func (r *Rank) Record(index int, operation string, d vtime.Duration) {
	r.k.Record(index, operation, d)
}

// Timed returns r. It enters the length of the step's next collective, from entry to exit,
// into the statistics of the run, as Record does.
func (r *Rank) Timed(index int, operation string) *Rank {
	t := &r.timed
	if t.index != index || t.operation != operation {
		*t = timed{index, operation, r.k.Label(index, operation)}
	}
	r.k.SetTiming(t.label)
	return r
}

// Printf prints text to the output of the simulation; see [mpivirt.Rank.Printf].
func (r *Rank) Printf(format string, arguments ...any) { r.k.Print(format, arguments) }

// Continue ends a step after which the rank goes on.
func (r *Rank) Continue() Outcome {
	r.once(world.NoProcedure)
	return r.conclude(continued)
}

// Finish ends the rank.
func (r *Rank) Finish() Outcome {
	r.once(world.NoProcedure)
	return r.conclude(finished)
}

// Fail ends the whole program with an error of this rank.
func (r *Rank) Fail(err error) Outcome {
	r.k.Fail(r.lp, r.lastCall, err)
	return failed
}

// outcome concludes the step with an operation that is complete at once, or is waited for.
func (r *Rank) outcome(complete bool) Outcome {
	if complete {
		return r.conclude(continued)
	}
	return r.conclude(suspended)
}
