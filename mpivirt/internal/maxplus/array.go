package maxplus

import (
	"gigarank/collectives"
	"gigarank/network"
	"gigarank/vtime"
)

// Rounds describes the rounds of a collective, and the range of participants whose clocks an array
// holds. The arrays of a collective differ only in the range and the memory.
type Rounds struct {
	Target       *network.Target
	Partners     int  // others with which a participant exchanges messages, where they are many
	InTurn       bool // the root sends one blocking message after another
	Schedule     collectives.Schedule
	Bytes        int64 // of a position of the schedule
	UniformFrom  int   // see [UniformDelay]
	Consecutive  bool  // participant p is rank p of WORLD
	Low, High    int   // the array holds participants Low to High-1
	Participants Participants
	Memory       *Memory
	Interfaces   *Interfaces // that messages between nodes share; nil if messages do not delay each other
	NodesAlike   bool        // any two participants on different nodes are at the same distance
	Meter        Meter       // hears of the messages of an array with accounts; nil without statistics
}

// Participants maps participants to ranks, and hears of ranks that pass the end of virtual time.
type Participants interface {
	// RankOf returns the rank in WORLD of a participant. It is called where the delay of a message
	// depends on the places of its ends.
	RankOf(participant int) int
	// PastSend hears that rank src, whose clock shows t, sends a message that does not leave, or
	// does not arrive at rank dst, before the end of virtual time.
	PastSend(src, dst int, bytes int64, t vtime.Time)
	// PastReceive hears that rank dst, which is free from t on, does not receive a message of rank
	// src before the end of virtual time.
	PastReceive(src, dst int, bytes int64, t vtime.Time)
}

// An Array holds the clocks of consecutive participants while they go through rounds.
//
// Elements of the array have the numbers of participants, except in an exchange after folding,
// where they have the numbers of the surviving participants. A clock of another array has the
// number that it would have here.
type Array struct {
	Rounds
	// Top is the latest entry on which these clocks may depend. It travels with clocks that another
	// array receives, whose Top must then be at least as great.
	Top vtime.Time

	work      []vtime.Time        // clocks of participants Low to High-1, or of survivors while folded
	next      []vtime.Time        // the clocks after a shift across arrays
	third     []vtime.Time        // unused memory for the survivors' clocks
	all       []vtime.Time        // while folded: clocks of all participants Low to High-1
	folded    int                 // pairs folded together in the numbering of work; 0 for the numbering of participants
	round     int                 // number of the current round
	step      int                 // of the round, see [Array.Evaluate]
	staged    bool                // the round has the steps of a rendezvous at interfaces
	pattern   collectives.Pattern // shape of the current step
	received  int                 // clocks of other arrays received in this step
	needed    int                 // clocks of other arrays that this step needs, once counted
	counted   bool
	current   Evaluation // of this step, once evaluated
	evaluated bool
	fusion    fusion             // rounds that part of the array has already passed
	shares    bool               // messages of this step delay each other
	prepared  bool               // this round's arrays are ready to receive clocks
	given     bool               // work is the caller's memory
	uneven    *Uneven            // nil if all messages of a round have one size
	windowed  bool               // the schedule has windows of several rounds
	window    collectives.Window // to which the current round belongs; without messages for a window of its own
	contended
	accounting
	windowing

	// No clock can pass the end of virtual time as long as Top + span does not: span exceeds the
	// time that the rounds of the schedule add to a clock.
	span  vtime.Duration
	packs bool // participants copy blocks in addition to the messages, which takes time
}

// packs reports whether participants copy blocks in addition to the messages, which takes time.
func (r *Rounds) packs() bool { return r.Target.CopiesBytes() && collectives.Packs(r.Schedule) }

// packing returns the time for which participants copy blocks after a round.
func (r *Rounds) packing(round int, copies collectives.Copies) vtime.Duration {
	return collectives.Packing(r.Schedule, round, r.Bytes, r.Bytes*int64(r.Schedule.Positions()), copies)
}

// CopiesOf returns the times of copies in the memory of a rank of a target.
func CopiesOf(t *network.Target) collectives.Copies {
	return collectives.Copies{Copy: t.LocalCopyTime, Type: t.TypeTime}
}

// NewArray returns an array without clocks, which can tell the needs of rounds.
func NewArray(r Rounds) Array {
	a := Array{Rounds: r, span: r.span(r.Bytes * int64(r.Schedule.Positions())), packs: r.packs(),
		windowed: collectives.HasWindows(r.Schedule)}
	a.enter(0, 0)
	return a
}

// enter makes a step of a round the current one.
func (a *Array) enter(round, step int) {
	a.round, a.step = round, step
	a.prepared, a.evaluated, a.counted, a.received = false, false, false, 0
	if a.Over() {
		return
	}
	if a.windowed {
		if a.window, _ = collectives.WindowOf(a.Schedule, round); a.inWindow() {
			a.pattern, a.staged = a.window.Pattern(a.message()), false
			if a.message() == 0 {
				a.shares = a.Interfaces != nil && a.sharesInWindow()
			}
			return
		}
	}
	a.pattern = a.Schedule.Pattern(round)
	a.shares = a.contends(&a.pattern)
	a.staged = a.shares && a.isLarge(&a.pattern)
	if step == 1 {
		a.pattern = reversed(a.pattern, a.total())
	}
}

// span returns an upper bound on the time that the rounds add to a clock, if no message has more than a number of bytes. A
// rendezvous counts as three messages.
func (r *Rounds) span(bytes int64) vtime.Duration {
	t := r.Target.Among(r.Partners, r.InTurn, bytes)
	round := t.LongestDelay(bytes).Times(3).Plus(t.SendTime(bytes)).Plus(t.ReceiveTime(bytes)).Plus(t.ReduceTime(bytes).Times(2))
	total := round.Times(r.Schedule.MaxRounds())
	if r.packs() {
		for i := range r.Schedule.MaxRounds() {
			total = total.Plus(r.packing(i, CopiesOf(t)))
		}
	}
	return total
}

// total returns the number of participants of all arrays.
func (r *Rounds) total() int { return r.Schedule.Members() }

// whole reports whether the array holds the clocks of all participants.
func (r *Rounds) whole() bool { return r.Low == 0 && r.High == r.total() }

// apart reports whether the clocks after a shift lie apart from those before.
func (a *Array) apart() bool { return !a.whole() || a.Meter != nil }

// careful reports whether clocks must be checked after each addition, since a clock may pass the
// end of virtual time.
func (a *Array) careful() bool { return a.Top.Add(a.span) == vtime.Forever }

// Begin gives the array clocks that the caller sets, together with Top, in memory from spare, which
// keeps the rest.
func (a *Array) Begin(spare *Spare) {
	a.work, a.next, a.third = spare.work, spare.next, spare.third
	a.contended, a.accounting, a.windowing = spare.contended, spare.accounting, spare.windowing
	*spare = Spare{}
	if len(a.work) != a.High-a.Low {
		a.work = a.Memory.Reserve(a.High - a.Low)
	}
	if a.Meter != nil {
		a.beginAccounts()
	}
}

// BeginWith is Begin with clocks in the caller's memory, which the array changes.
func (a *Array) BeginWith(clocks []vtime.Time, spare *Spare) {
	a.work, a.next, a.third = clocks, spare.next, spare.third
	a.contended, a.accounting, a.windowing = spare.contended, spare.accounting, spare.windowing
	*spare = Spare{work: spare.work}
	a.given = true
	for _, t := range clocks {
		a.Top = max(a.Top, t)
	}
	if a.Meter != nil {
		a.beginAccounts()
	}
}

// End passes the array's memory on to spare.
func (a *Array) End(spare *Spare) {
	spare.next, spare.third, spare.contended, spare.accounting, spare.windowing = a.next, a.third, a.contended, a.accounting, a.windowing
	if !a.given {
		spare.work = a.work
	}
}

// Clocks returns the clocks of the elements, in order. Before the first round and after Finish the
// elements are the participants.
func (a *Array) Clocks() []vtime.Time { return a.work }

// Step returns the number of the current step, by which arrays name the clocks that they exchange:
// each round has four numbers.
func (a *Array) Step() int { return 4*a.round + a.step }

// Over reports whether the array has passed all rounds.
func (a *Array) Over() bool { return a.round == a.Schedule.MaxRounds() }

// Pattern returns the shape of the current step.
func (a *Array) Pattern() collectives.Pattern { return a.pattern }

// Prepared reports whether the array can receive clocks for a step.
func (a *Array) Prepared(step int) bool { return a.prepared && a.Step() == step }

// Prepare prepares the array for the current step. Its clocks stay as before the step until it
// receives other clocks.
func (a *Array) Prepare() {
	if a.prepared {
		return
	}
	a.prepared = true
	if a.inWindow() {
		a.prepareWindow()
		return
	}
	p := a.Pattern()
	a.renumber(p)
	if a.uneven != nil {
		a.uneven.load(a)
	}
	switch {
	case a.shares:
		a.depart()
	case p.Kind == collectives.Shift && a.apart():
		a.makeNext()
	}
	if a.Meter != nil && (p.Kind == collectives.Strided || a.shares) {
		a.addCommon()
	}
	if a.Meter != nil && (p.Kind != collectives.Exchange || a.shares) {
		a.keepKnowledge()
	}
	if a.Meter != nil && a.shares {
		a.keepLeaving()
	}
}

// Finish restores the numbering of participants, once all rounds are over.
func (a *Array) Finish() {
	a.renumber(collectives.Pattern{})
	a.addCommon()
}

// Participant returns the participant of an element of any array in this round.
func (a *Array) Participant(element int) int { return collectives.Survivor(a.folded, element) }

// renumber arranges the clocks in the numbering of a round: of the survivors for an exchange, else
// of the participants.
func (a *Array) renumber(p collectives.Pattern) {
	folded := 0
	if p.Kind == collectives.Exchange {
		folded = p.Folded
	}
	if folded == a.folded {
		return
	}
	if a.Meter != nil {
		a.foldAccounts(folded)
	}
	if folded == 0 {
		lo := collectives.Survivors(a.folded, a.Low)
		for i, t := range a.work {
			a.all[collectives.Survivor(a.folded, lo+i)-a.Low] = t
		}
		a.third, a.work, a.all, a.folded = a.work, a.all, nil, 0
		return
	}
	lo, hi := collectives.Survivors(folded, a.Low), collectives.Survivors(folded, a.High)
	if cap(a.third) < hi-lo {
		a.third = a.Memory.Reserve(hi - lo)
	}
	a.all, a.folded, a.work = a.work, folded, a.third[:hi-lo]
	for i := range a.work {
		a.work[i] = a.all[collectives.Survivor(folded, lo+i)-a.Low]
	}
}

// makeNext allocates memory for the clocks after a shift. Each participant receives once, so every
// element will be set.
func (a *Array) makeNext() {
	if cap(a.next) < len(a.work) {
		a.next = a.Memory.Reserve(len(a.work))
	}
	a.next = a.next[:len(a.work)]
}
