package collectives

// disseminating is the dissemination barrier with a fan-out k: in each of ⌈log_k P⌉ phases a member sends to the k − 1 members
// at the distances d, 2d, 3d, …, and d grows from phase to phase by the factor k. It is k-dissemination of MPICH 4
// (barrier_intra_k_dissemination.c), which sends the messages of a phase at once: a window for each. Among fewer members than
// the fan-out, their number is the fan-out. A member sends itself nothing.
type disseminating struct {
	members, fanout int
	last            int // the distance d in the last phase
	every           int // in the last phase, each multiple of d by this number comes back to the member itself
	windows
}

func disseminate(members, fanout int) disseminating {
	d := disseminating{members: members, fanout: min(fanout, max(members, 2)), last: 1, every: members}
	d.windows = windows{0, d.fanout - 1, d.fanout - 1}
	if members == 1 {
		return d
	}
	phases := 1
	for ; d.last*d.fanout < members; phases++ {
		d.last *= d.fanout
	}
	d.every = members / gcd(members, d.last)
	d.messages = phases*(d.fanout-1) - (d.fanout-1)/d.every
	return d
}

// gcd returns the greatest common divisor of two positive numbers.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (d *disseminating) MaxRounds() int        { return d.rounds() }
func (d *disseminating) Rounds(int) int        { return d.rounds() }
func (d *disseminating) Next(_, round int) int { return round }

// distance returns the distance over which messages of a number go.
func (d *disseminating) distance(message int) int {
	distance, j := 1, message
	for ; j >= d.fanout-1 && distance < d.last; j -= d.fanout - 1 {
		distance *= d.fanout
	}
	if distance == d.last {
		j += j / (d.every - 1)
	}
	return (j + 1) * distance % d.members
}

func (d *disseminating) exchange(member, message int) Step {
	distance := d.distance(message)
	return Step{To: wrap(member+distance, d.members), From: wrap(member-distance, d.members)}
}

func (d *disseminating) Step(member, round int) Step {
	if round >= d.rounds() {
		return idle
	}
	first, n, at := d.at(round)
	return inWindow(d, member, first, n, at)
}

func (d *disseminating) Pattern(round int) Pattern {
	if first, n, _ := d.at(round); n == 1 {
		return d.shape(first)
	}
	return Pattern{Kind: Irregular}
}

func (d *disseminating) shape(message int) Pattern {
	return Pattern{Kind: Shift, Distance: d.distance(message)}
}

// doubleRing is the double ring barrier of Open MPI (coll_base_barrier.c): a message goes round the members twice. Each
// member passes it on, and may leave when it has come for the second time. Open MPI sends it synchronously the second time;
// the acknowledgements are left out here.
type doubleRing struct{ members int }

func (r *doubleRing) MaxRounds() int {
	if r.members == 1 {
		return 0
	}
	return 2 * r.members
}

// Rounds counts the round in which the member passes the message on for the second time; member 0 then receives it.
func (r *doubleRing) Rounds(member int) int {
	if member == 0 {
		return r.MaxRounds()
	}
	return min(r.members+member+1, r.MaxRounds())
}

// Next finds the round in which the member receives or sends: rounds member − 1 and member, modulo the members.
func (r *doubleRing) Next(member, round int) int {
	lap := round / r.members * r.members
	switch at := round - lap; {
	case member == 0 && at > 0:
		return lap + r.members - 1
	case member == 0 || at == member:
		return round
	case at > member:
		return lap + r.members + member - 1
	}
	return max(round, lap+member-1)
}

func (r *doubleRing) Step(member, round int) Step {
	if round >= r.MaxRounds() {
		return idle
	}
	switch at := round % r.members; member {
	case at:
		return Step{To: wrap(member+1, r.members), From: None}
	case wrap(at+1, r.members):
		return Step{To: None, From: at}
	}
	return idle
}

func (r *doubleRing) Pattern(round int) Pattern {
	from := round % r.members
	return message(from, wrap(from+1, r.members), 0, 0)
}
