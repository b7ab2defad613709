package collectives

// None stands for no member, no block or no position.
const None = -1

// Combine defines the effect of a received block on the position that it goes to. ⊕ is the
// operation of the reduction, which need not be commutative.
type Combine uint8

// The ways to combine.
const (
	Store       Combine = iota // mine = theirs
	TheirsFirst                // mine = theirs ⊕ mine
	MineFirst                  // mine = mine ⊕ theirs
)

// A Step is the work of one member in one round. At its clock it sends, if To is a
// member; the message has the content at the beginning of the round. Then it receives,
// if From is a member, and its clock becomes the arrival time if that is later. Then it
// combines, which takes time for every byte combined by ⊕ and none for stored bytes. At last it
// combines some of its own positions, see [Sum].
//
// A window is a number of successive rounds of a member, of which the first in which the member is active tells the
// length: Left. The member posts the receives of all these rounds when the window begins, sends without waiting for
// earlier messages, and waits at the end of the window until its messages have left, as by MPI_Irecv, MPI_Isend and
// MPI_Waitall. Without Left a round is a window of its own. Only in a longer window is Later above 0.
type Step struct {
	To, From    int    // members, or None
	Send        Blocks // positions that are sent
	Receive     Blocks // positions that receive, as many as the sender sends
	Also        Blocks // second destination of the received blocks; empty if none
	Combine     Combine
	AlsoCombine Combine
	Switched    bool // a switch of the node combines on the way, and the member takes no time for it
	Sum         Sum
	Later, Left int // rounds from this one to the one in which the message is received; rounds of the window that follow
}

// Sum has a member combine Count of its positions, from First on, in ascending order. The result goes to position Into, and the
// other positions lose their content. The positions have as many bytes as each received one. A Count of 0 combines none.
type Sum struct{ First, Count, Into int32 }

// Combined returns the number of positions that the member combines by ⊕ after a receive of the step.
func (s *Step) Combined() int {
	n := combined(s.Combine, s.Receive.Count)
	if s.Also.Count > 0 {
		n += combined(s.AlsoCombine, s.Also.Count)
	}
	return n + max(int(s.Sum.Count)-1, 0)
}

var idle = Step{To: None, From: None}

// A Schedule is a collective algorithm for a number of members, 0 to Members()-1, in rounds 0 to
// MaxRounds()-1. A message of round k is received in round k + Later of its step. A member receives at most one message in a
// round. A Schedule is immutable, holds O(1) state, and is safe for
// concurrent use. None of its methods allocates.
type Schedule interface {
	// Members returns the number of members.
	Members() int
	// MaxRounds returns the number of rounds.
	MaxRounds() int
	// Rounds returns the number of rounds of the member: the last round in which it is active, plus
	// one.
	Rounds(member int) int
	// Next returns the first round, from round on, in which the member is active, or a value of at
	// least Rounds(member) if there is none.
	Next(member, round int) int
	// Step returns the member's work in the round. The step is idle (To and From are None) in
	// rounds in which the member is not active.
	Step(member, round int) Step
	// Pattern returns the shape of the whole round.
	Pattern(round int) Pattern

	// Positions returns W, the number of positions of the working buffer. It
	// is the same for all members; a barrier has none. Position p is block p
	// of the layout (see Layout).
	Positions() int
	// Extent returns the cyclic range of positions that the member uses. A leaf of a
	// gather need not hold the blocks of all members.
	Extent(member int) Blocks
	// Source returns the block of the member's input that lies at the position
	// at the start, or None if its content is not defined.
	Source(member, position int) int
	// Result returns the position at which the block of the member's output
	// lies at the end, or None if the member has no such output.
	Result(member, block int) int
}

// plan is the part of a Schedule that defines messages.
type plan interface {
	MaxRounds() int
	Rounds(member int) int
	Next(member, round int) int
	Step(member, round int) Step
	Pattern(round int) Pattern
}

// A Stepper stores the step of a member in a round, instead of returning it. Each interface that
// returns a step copies it, which takes longer than computing it.
type Stepper interface {
	StepInto(step *Step, member, round int)
}

// StepperOf returns the Stepper of a schedule.
func StepperOf(s Schedule) Stepper { return stepperOf(s) }

func stepperOf(s returner) Stepper {
	if stepper, ok := s.(Stepper); ok {
		return stepper
	}
	return returned{s}
}

// returner is a plan that returns steps.
type returner interface {
	Step(member, round int) Step
}

// returned is the Stepper of a returner.
type returned struct{ returner }

func (r returned) StepInto(step *Step, member, round int) { *step = r.Step(member, round) }

// The schedules embed plan and placement as structs. An interface would copy each step
// once more, which takes longer than to compute it.
type (
	starSchedule struct {
		star
		placement
	}
	lineSchedule struct {
		line
		placement
	}
	exclusiveLineSchedule struct {
		exclusiveLine
		placement
	}
	everyPairSchedule struct {
		everyPair
		placement
	}
	ringSchedule struct {
		ring
		placement
	}
	pairwiseSchedule struct {
		pairwise
		placement
	}
	doublingSchedule struct {
		doubling
		placement
	}
	binomialSchedule struct {
		binomial
		placement
	}
	orderedSchedule struct {
		ordered
		placement
	}
	butterflySchedule struct {
		butterfly
		placement
	}
	prefixesSchedule struct {
		prefixes
		placement
	}
	segmentedRingSchedule struct {
		segmentedRing
		placement
	}
	scatteringSchedule struct {
		scattering
		placement
	}
	disseminatingSchedule struct {
		disseminating
		placement
	}
	doubleRingSchedule struct {
		doubleRing
		placement
	}
	multiplyingSchedule struct {
		multiplying
		placement
	}
	gatheringAllSchedule struct {
		gatheringAll
		placement
	}
	pipelineSchedule struct {
		pipeline
		placement
	}
	neighborSchedule struct {
		neighborExchange
		placement
	}
	kBruckSchedule struct {
		kBruck
		placement
	}
	backwardSchedule struct {
		backward
		placement
	}
	xorSchedule struct {
		xorPairwise
		placement
	}
	sparbitSchedule struct {
		sparbit
		placement
	}
	twinTreesSchedule struct {
		twinTrees
		placement
	}
	planeRingSchedule struct {
		planeRing
		placement
	}
	partnersSchedule struct {
		partners
		placement
	}
	seatedSchedule struct {
		chain
		seating
	}
	chainSchedule struct {
		chain
		placement
	}
)

// chain is one plan after another among the same members. A member begins the second plan when it
// has finished the first.
type chain struct {
	first, second plan
	cut           int        // rounds of the first plan
	steps         [2]Stepper // steppers of both plans
}

func inTurn(first, second plan) chain {
	return chain{first, second, first.MaxRounds(), [2]Stepper{stepperOf(first), stepperOf(second)}}
}

func (c *chain) MaxRounds() int { return c.cut + c.second.MaxRounds() }

func (c *chain) Rounds(member int) int {
	if n := c.second.Rounds(member); n > 0 {
		return c.cut + n
	}
	return c.first.Rounds(member)
}

func (c *chain) Next(member, round int) int {
	if round < c.cut {
		if next := c.first.Next(member, round); next < c.first.Rounds(member) {
			return next
		}
		round = c.cut
	}
	return c.cut + c.second.Next(member, round-c.cut)
}

func (c *chain) Step(member, round int) Step {
	if round < c.cut {
		return c.first.Step(member, round)
	}
	return c.second.Step(member, round-c.cut)
}

// StepInto implements [Stepper].
func (c *chain) StepInto(step *Step, member, round int) {
	if round < c.cut {
		c.steps[0].StepInto(step, member, round)
		return
	}
	c.steps[1].StepInto(step, member, round-c.cut)
}

func (c *chain) Pattern(round int) Pattern {
	if round < c.cut {
		return c.first.Pattern(round)
	}
	return c.second.Pattern(round - c.cut)
}
