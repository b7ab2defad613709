package collectives

import "math/bits"

// rising is the binomial tree of Open MPI's broadcast (coll_base_topo.c): distances double. The
// parent of v, counted from the root, is v without its highest bit, and a node sends to the
// nearest of its children first.
type rising struct {
	members, root, segments int
	period                  int // rounds in which one segment passes
}

func (r *rising) MaxRounds() int { return r.segments * r.period }

func (r *rising) number(member int) int { return wrap(member-r.root, r.members) }

// children returns the number of children of v. The first is 2^Len(v) further on.
func (r *rising) children(v int) int {
	return max(0, bits.Len(uint((r.members-1-v)>>bits.Len(uint(v)))))
}

// first returns the first round of a segment in which v has a message.
func (r *rising) first(v int) int { return max(bits.Len(uint(v))-1, 0) }

func (r *rising) Rounds(member int) int {
	v := r.number(member)
	if r.members == 1 {
		return 0
	}
	return (r.segments-1)*r.period + bits.Len(uint(v)) + r.children(v)
}

func (r *rising) Next(member, round int) int {
	if round >= r.MaxRounds() {
		return round
	}
	v := r.number(member)
	begin := round / r.period * r.period
	switch first := r.first(v); {
	case round-begin < first:
		return begin + first
	case round-begin >= bits.Len(uint(v))+r.children(v):
		return begin + r.period + first
	}
	return round
}

func (r *rising) Step(member, round int) (step Step) {
	r.StepInto(&step, member, round)
	return step
}

// StepInto implements [Stepper].
func (r *rising) StepInto(step *Step, member, round int) {
	*step = idle
	if round >= r.MaxRounds() {
		return
	}
	s := round / r.period
	level := round - s*r.period
	v := r.number(member)
	segment := Blocks{First: s, Count: 1}
	switch child := v + 1<<level; {
	case v>>level == 1:
		step.From, step.Receive = wrap(member-1<<level, r.members), segment
	case v>>level == 0 && child < r.members:
		step.To, step.Send = wrap(member+1<<level, r.members), segment
	}
}

func (r *rising) Pattern(int) Pattern { return Pattern{Kind: Irregular} }
