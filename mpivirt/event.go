package mpivirt

import (
	"fmt"

	"gigarank/lp"
	"gigarank/vtime"
)

// Outcome is what the step function of an event rank returns: whether the rank goes on
// to its next step, waits, or has finished. It comes from the method of
// [EventRank] that the step ends with.
type Outcome uint8

// The outcomes of a step.
const (
	goOn Outcome = iota
	waiting
	finished
)

// EventProgram is a program in the form for event LPs; see [Steps].
type EventProgram struct {
	bind func(k *kernel) (body lp.Body, steps func(lo, hi int32))
}

// Steps makes a program for event LPs. Each rank is a value of type S, zero at
// first, and the function step, which is called each time the rank can go on: it
// does one piece of work and ends by returning the Outcome of an operation of r. When
// the operation is over, step is called again. What a rank has to remember from
// one step to the next, where it is in the program above all, belongs into S; r is
// valid during the call only.
//
// S should be small, for there is one for each rank.
func Steps[S any](step func(r *EventRank, state *S) Outcome) EventProgram {
	return EventProgram{bind: func(k *kernel) (lp.Body, func(lo, hi int32)) {
		b := &stepper[S]{rank: EventRank{k: k, on: &EventRank{k: k}}, k: k, step: step, states: reserve[S](k, k.n)}
		return b, b.resumeRange
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
	b.rank.lp, b.rank.clock = int32(i), &k.clock[i]
	k.stepping, k.called, k.timing = int32(i), noCall, untimed
	more := b.goOn(i, b.step(&b.rank, &b.states[i]))
	k.stepping = none32
	return more
}

// goOn takes LP i, whose step had the outcome given, to its next wait. It reports
// whether the LP goes on after that.
func (b *stepper[S]) goOn(i int, o Outcome) bool {
	for ; ; o = b.step(&b.rank, &b.states[i]) {
		b.k.timing = untimed
		switch o {
		case waiting:
			return true
		case finished:
			return false
		}
		if b.k.holdUp(int32(i)) {
			return true
		}
	}
}

// resumeRange resumes LPs lo to hi-1. Most of them take one step.
func (b *stepper[S]) resumeRange(lo, hi int32) {
	k := b.k
	k.collectJoiners(lo)
	states, clocks := b.states[lo:hi], k.clock[lo:hi]
	for i := range states {
		lp := lo + int32(i)
		b.rank.lp, b.rank.clock = lp, &clocks[i]
		k.stepping, k.called, k.timing = lp, noCall, untimed
		if o := b.step(&b.rank, &states[i]); o != waiting && !b.goOn(int(lp), o) {
			k.end(lp)
		}
	}
	k.stepping = none32
	k.enterJoiners()
}

// Stop implements [lp.Body].
func (b *stepper[S]) Stop() {}

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

// Now returns the rank's virtual time.
func (r *EventRank) Now() vtime.Time { return *r.clock }

// Seed returns the seed of the simulation.
func (r *EventRank) Seed() uint64 { return r.k.config.Seed }

// Compute advances the rank's clock by d; see [Rank.Compute].
func (r *EventRank) Compute(d vtime.Duration) {
	if d < 0 || !r.k.plain {
		r.k.compute(r.lp, d)
		return
	}
	*r.clock = r.clock.Add(d)
}

// Record enters the length of a timed operation into the statistics of the run;
// see [Rank.Record].
func (r *EventRank) Record(index int, operation string, d vtime.Duration) {
	r.k.tally.record(index, operation, d)
}

// Timed enters the length of the collective that this step begins next, from its entry
// to its exit, into the statistics of the run, as Record does; the rank need not
// remember when it entered. It returns r.
func (r *EventRank) Timed(index int, operation string) *EventRank {
	r.k.timing = r.k.tally.label(index, operation)
	return r
}

// Printf prints text to the output of the simulation; see [Rank.Printf].
func (r *EventRank) Printf(format string, arguments ...any) {
	if r.k.config.Output != nil {
		r.k.config.Output(fmt.Sprintf(format, arguments...))
	}
}

// Continue ends a step after which the rank goes on.
func (r *EventRank) Continue() Outcome { return goOn }

// Finish ends the rank.
func (r *EventRank) Finish() Outcome { return finished }

// Fail ends the whole program with an error of this rank.
func (r *EventRank) Fail(err error) Outcome {
	r.k.fail(r.lp, r.k.called, err)
	return waiting
}

// outcome is that of a step whose operation is over at once or is waited for.
func outcome(over bool) Outcome {
	if over {
		return goOn
	}
	return waiting
}
