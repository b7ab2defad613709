package mpivirt

import (
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// Outcome is what the step function of an event rank returns: whether the rank goes on
// to its next step, waits, or has finished. It comes from the method of
// [EventRank] that the step ends with.
type Outcome uint8

// The outcomes of a step. Zero is none: no operation returns it.
const (
	goOn Outcome = iota + 1
	waiting
	finished
	failed
)

// EventProgram is a program in the form for event LPs; see [Steps].
type EventProgram struct {
	bind func(k *kernel) body
}

// Steps makes a program for event LPs. Each rank is a value of type S, zero at
// first, and the function step, which is called each time the rank can go on: it
// does one piece of work and ends by returning the Outcome of an operation of r. It
// carries out one such operation and no other: a step that drops an Outcome, or returns
// one that is none of its operation, ends the program. When
// the operation is over, step is called again. What a rank has to remember from
// one step to the next, where it is in the program above all, belongs into S; r is
// valid during the call only.
//
// S should be small, for there is one for each rank.
func Steps[S any](step func(r *EventRank, state *S) Outcome) EventProgram {
	return EventProgram{bind: func(k *kernel) body {
		return &stepper[S]{rank: EventRank{k: k, on: &EventRank{k: k}}, k: k, step: step, states: reserve[S](k, k.n)}
	}}
}

// stepper is the body of event LPs.
type stepper[S any] struct {
	rank   EventRank
	k      *kernel
	step   func(r *EventRank, state *S) Outcome
	states []S
}

// Resume implements [lp.Body].
func (b *stepper[S]) Resume(i int) bool {
	k := b.k
	if done := &k.completion; done.err != nil && done.fatal && done.lp == int32(i) {
		k.fail(done.lp, done.op, done.err)
		return true
	}
	b.rank.lp, b.rank.clock = int32(i), &k.clock[i]
	k.stepping, k.stepped, k.called, k.timing = int32(i), int32(i)+1, noCall, stats.Untimed
	more := b.goOn(i, b.step(&b.rank, &b.states[i]))
	k.stepping = none32
	return more
}

// goOn takes LP i, whose step had the outcome given, to its next wait. It reports
// whether the LP goes on after that.
func (b *stepper[S]) goOn(i int, o Outcome) bool {
	for k := b.k; ; o = b.step(&b.rank, &b.states[i]) {
		k.timing = stats.Untimed
		if (o != k.concluded || o == 0 || k.limited()) && k.fails(int32(i), o) {
			k.concluded = 0
			return true
		}
		k.concluded = 0
		switch o {
		case waiting:
			return true
		case finished:
			return b.k.processors != nil && b.k.postponeEnd(int32(i))
		}
		if k.pause(int32(i)) {
			return true
		}
	}
}

// ResumeRange implements body. Most LPs take one step.
func (b *stepper[S]) ResumeRange(lo, hi int32) {
	k := b.k
	k.collectJoiners(lo)
	k.stepped = hi
	states, clocks := b.states[lo:hi], k.clock[lo:hi]
	for i := range states {
		lp := lo + int32(i)
		b.rank.lp, b.rank.clock = lp, &clocks[i]
		k.stepping, k.called, k.timing = lp, noCall, stats.Untimed
		o := b.step(&b.rank, &states[i])
		if o == waiting && k.joiners.hi == lp+1 {
			continue // it is one of the joiners
		}
		if !b.goOn(int(lp), o) {
			k.end(lp)
		}
		if k.limited() {
			break
		}
	}
	k.endRange()
}

// endRange ends a stretch of LPs that are resumed one after the other; those that have
// not had their turn are ready.
func (k *kernel) endRange() {
	if next := k.stepping + 1; next < k.stepped {
		k.eng.ReadyRange(int(next), int(k.stepped))
	}
	k.stepping, k.concluded = none32, 0
	k.enterJoiners()
}

// once ends the program if the step has carried out an operation that ends it before the
// one named. It is called before the operation does anything.
func (r *EventRank) once(c call) {
	k := r.k
	if k.concluded == 0 && k.joiners.hi != r.lp+1 {
		return
	}
	next := "ends with another"
	if c != noCall {
		next = "calls " + c.String()
	}
	k.die(r.lp, k.called, mpiError(ErrOther, "the step has dropped the Outcome of an operation and %s: "+
		"a step carries out one operation that returns an Outcome, and returns that (docs/programs.md)", next))
}

// conclude ends the step with an operation.
func (r *EventRank) conclude(o Outcome) Outcome {
	r.k.concluded = o
	return o
}

// fails reports whether an LP has failed in its step. A step that returns another outcome
// than that of its operation fails here.
func (k *kernel) fails(lp int32, o Outcome) bool {
	if k.joiners.hi == lp+1 {
		k.concluded = waiting
	}
	switch {
	case k.failing.failed[lp]:
		if o != failed {
			k.swallowed(lp)
		}
		return true
	case k.concluded == 0:
		k.fail(lp, k.called, mpiError(ErrOther, "the step has returned an Outcome that is that of no operation of this step: "+
			"a step ends with an operation, Continue or Finish, and returns what that returns (docs/programs.md)"))
	case o != k.concluded:
		k.fail(lp, k.called, mpiError(ErrOther, "the step has returned another Outcome than that of its operation: "+
			"a step carries out one operation that returns an Outcome, and returns that (docs/programs.md)"))
	default:
		return false
	}
	return true
}

// Stop implements [lp.Body].
func (b *stepper[S]) Stop() {}

// Ended implements body. An LP that has not ended waits.
func (b *stepper[S]) Ended(i int32) bool {
	_, waits := b.k.blocked(i)
	return !waits
}

// LastCall implements body.
//
//go:norace
func (b *stepper[S]) LastCall(int32) call { return b.k.called }

// EventRank is the rank whose step runs. Its methods that return an [Outcome] are
// the operations that a step ends with; the others do their work at once.
//
// Operations act on WORLD unless they are called on the result of [EventRank.On].
type EventRank struct {
	k     *kernel
	clock *vtime.Time // of the rank
	lp    int32
	comm  *comm      // nil for WORLD
	on    *EventRank // the view that On gives
}

// Rank is the rank's number in WORLD.
func (r *EventRank) Rank() int { return r.k.lo + int(r.lp) }

// Size is the number of ranks in WORLD.
func (r *EventRank) Size() int { return r.k.tgt.Ranks() }

// Node returns the number of the node that a rank of WORLD is on; see [Rank.Node].
func (r *EventRank) Node(rank int) int { return r.k.tgt.Node(rank) }

// Now returns the rank's virtual time. Under a model with state at the receiver, what a
// step begins takes its time when the step has ended: a step that has computed, or begun
// a message, ends with Continue, and the next one asks for the time. It is an error to
// ask before.
func (r *EventRank) Now() vtime.Time {
	if r.k.processors != nil && r.k.processors[r.lp].running {
		r.k.die(r.lp, r.k.called, mpiError(ErrOther, "the step asks for the time after it has begun something, "+
			"and the machine's model has state at the receiver: end the step with Continue, and call Now in the next one (docs/event-ranks.md)"))
	}
	return *r.clock
}

// Seed returns the seed of the simulation.
func (r *EventRank) Seed() uint64 { return r.k.config.Seed }

// Compute advances the rank's clock by d; see [Rank.Compute].
func (r *EventRank) Compute(d vtime.Duration) {
	end := r.clock.Add(d)
	if d < 0 || !r.k.plain || end == vtime.Forever {
		r.k.compute(r.lp, d)
		return
	}
	*r.clock = end
}

// Record enters the length of a timed operation into the statistics of the run;
// see [Rank.Record].
func (r *EventRank) Record(index int, operation string, d vtime.Duration) {
	r.k.summary.tally.Record(index, operation, d)
}

// Timed enters the length of the collective that this step begins next, from its entry
// to its exit, into the statistics of the run, as Record does; the rank need not
// remember when it entered. It returns r.
func (r *EventRank) Timed(index int, operation string) *EventRank {
	r.k.timing = r.k.summary.tally.Label(index, operation)
	return r
}

// Printf prints text to the output of the simulation; see [Rank.Printf].
func (r *EventRank) Printf(format string, arguments ...any) { r.k.print(format, arguments) }

// Continue ends a step after which the rank goes on.
func (r *EventRank) Continue() Outcome {
	r.once(noCall)
	return r.conclude(goOn)
}

// Finish ends the rank.
func (r *EventRank) Finish() Outcome {
	r.once(noCall)
	return r.conclude(finished)
}

// Fail ends the whole program with an error of this rank.
func (r *EventRank) Fail(err error) Outcome {
	r.k.fail(r.lp, r.k.called, err)
	return failed
}

// outcome concludes the step with an operation that is over at once or is waited for.
func (r *EventRank) outcome(over bool) Outcome {
	if over {
		return r.conclude(goOn)
	}
	return r.conclude(waiting)
}
