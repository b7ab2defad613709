package collectives

import (
	"cmp"
	"math/bits"
	"slices"

	"gigarank/vtime"
)

// Cost holds the costs of messages and reductions in the closed forms. A message of m bytes keeps
// its sender's processor busy for Send + Copy(m). It leaves after Send and arrives α + βm later. It
// then keeps the receiver's processor busy for Receive + Copy(m). Without overheads this is
// Hockney's model, whose sender is free at once. Reducing m bytes takes γm. A member copies m bytes
// in its own memory in Own(m): its own block in an alltoall, and the blocks that Bruck's algorithms
// rotate, pack and unpack.
//
// Beta, Gamma, Copy and Own return a time for a number of bytes, rounded to picoseconds as the
// machine rounds it; nil is no time. None may decrease with the number of bytes, and Copy is never
// above α + β.
type Cost struct {
	Alpha   vtime.Duration // latency of a message
	Send    vtime.Duration // overhead of a message's sender
	Receive vtime.Duration // overhead of its receiver
	Gap     vtime.Duration // least time between two messages that a member sends, or receives
	Beta    func(bytes int64) vtime.Duration
	Gamma   func(bytes int64) vtime.Duration
	Copy    func(bytes int64) vtime.Duration
	Own     func(bytes int64) vtime.Duration
	Type    func(blocks int) vtime.Duration

	// Node-leader has the costs above between nodes. The join and the release within nodes cost no
	// overhead:
	PerNode   int // ranks of each node
	Intra     vtime.Duration
	IntraBeta func(bytes int64) vtime.Duration
	Join      func(bytes int64) vtime.Duration // the whole time of a node, sums included, in place of both; nil if both hold

	Fixed   vtime.Duration                   // time of a barrier that the machine gives
	Offload func(bytes int64) vtime.Duration // time in which the network sums vectors of the nodes
}

// node returns the time of the join and the release of a node. The last contribution reaches the
// leader, the leader combines the other contributions with its own, and the other members get the
// result.
func (c Cost) node(bytes int64) vtime.Duration {
	if c.PerNode <= 1 {
		return 0
	}
	if c.Join != nil {
		return c.Join(bytes)
	}
	return 2*(c.Intra+timeOf(c.IntraBeta, bytes)) + times(c.PerNode-1, c.work(bytes))
}

// copied returns the time of a copy in a member's own memory.
func (c Cost) copied(bytes int64) vtime.Duration { return timeOf(c.Own, bytes) }

func (c Cost) copies() Copies { return Copies{c.copied, c.Type} }

// packing returns the time of a member's copies after a round of Bruck's algorithms.
func (f form) packing(op Operation, round int) vtime.Duration {
	d := doubling{f.members, op}
	return d.packing(round, f.bytesOf(1), f.bytesOf(f.members), f.cost.copies())
}

// packings returns the time of packing in all rounds.
func (f form) packings(op Operation) (d vtime.Duration) {
	for k := range logCeil(f.members) {
		d += f.packing(op, k)
	}
	return d
}

// timeOf returns the time of a function of a Cost, 0 for nil.
func timeOf(f func(int64) vtime.Duration, bytes int64) vtime.Duration {
	if f == nil {
		return 0
	}
	return f(bytes)
}

// message returns the time of a message, from the instant at which its sender begins to the instant
// at which its receiver is free.
func (c Cost) message(bytes int64) vtime.Duration {
	return c.transit(bytes) + c.receive(bytes)
}

// transit returns the part of message until the message arrives.
func (c Cost) transit(bytes int64) vtime.Duration { return c.Send + c.Alpha + timeOf(c.Beta, bytes) }

// receive returns the part of message that keeps the receiver busy.
func (c Cost) receive(bytes int64) vtime.Duration { return c.Receive + timeOf(c.Copy, bytes) }

// send returns the time for which a message keeps its sender busy.
func (c Cost) send(bytes int64) vtime.Duration { return c.Send + timeOf(c.Copy, bytes) }

// work returns the time to reduce bytes.
func (c Cost) work(bytes int64) vtime.Duration { return timeOf(c.Gamma, bytes) }

// ClosedForm returns the time from the common entry of all members to the last exit,
// exact to the picosecond. The operation is on count elements of size bytes, as for
// LayoutOf, and its root is 0. For node-leader, members is the number of nodes, of
// c.PerNode ranks each.
//
// ok is false where there is no closed form: an algorithm has a closed form only if it has a case
// in the functions below. Alltoall linear, bcast split-binary and gather linear-sync have none, nor
// has any algorithm with more than one segment but pipeline. Bcast by scatter-allgather has one for powers of
// two, and it and scatter-allgather-ring if all chunks are equal. Allgather, scan and exscan by recursive
// doubling have none for numbers of members that are no powers of two. If a gap is longer than the
// sum of both overheads, only the linear algorithms have a closed form: the gap would have an
// effect in some rounds only.
//
// Node-leader takes 2(α_intra + β_intra·m) + (k−1)γm for k > 1 ranks of a node, and the
// butterfly of the nodes.
//
// In a window of n messages members send n times, then receive n times: each message arrives α + βm after it has left, and
// the n-th has been received at the latest of all that it waits for.
//
// Where every member sends and receives in every round, a round takes x = Send + α + βm + Receive +
// Copy(m). A member that handles n messages in a row needs (n − 1)h more than for one message. Here
// h is the time for which one message keeps it busy, or the gap if that is longer.
//
// With L = ⌊log2 P⌋, P' = 2^L, r = P − P' and g = γm, the butterfly takes L(x + g) if r
// = 0. Else survivor s < r is late by x + g because it folds. It holds up survivor P' −
// 1 − s by the full L rounds: (L + 1)(x + g). A survivor that releases a folded member
// at the end, as all below r do, is held up most by one other. That is the survivor
// whose number differs from its own in as many bits as possible: b, the length of r − 1
// in bits. In the other L − b rounds it goes on by itself, in q = Send + Receive + 2
// Copy(m) + g each: x + g + b(x + g) + (L − b)q + x. Without overheads the maximum of
// both is (L + 1)(x + g) if r <= P'/2 and (L + 1)(x + g) + x above. The usual formula
// L(x + g) + 2x + g is that of rounds in step, and an upper bound.
func ClosedForm(op Operation, a Algorithm, members int, count, size int64, c Cost) (d vtime.Duration, ok bool) {
	if a.Check(op) != nil || members < 1 || a != Linear && c.Gap > c.Send+c.Receive {
		return 0, false
	}
	shape := find(op, a).shape(op, a, Size{Members: members, Bytes: count * size})
	switch base := a.Base(); {
	case a == base || formWithArguments(op, base):
	case op.Rooted() && (shape.Segments == 1 || base == Pipeline):
		a = base
	default:
		return 0, false
	}
	f := form{members, fold(members), count, size, c, shape}
	switch op {
	case Barrier:
		f.count = 0
		return f.barrier(a)
	case Bcast:
		return f.bcast(a, count*size)
	case Reduce:
		return f.reduce(a, count*size)
	case Allreduce:
		return f.allreduce(a)
	case Gather, Gatherv:
		return f.gather(a)
	case Scatter, Scatterv:
		return f.scatter(a)
	case Allgather, Allgatherv:
		return f.allgather(a)
	case Alltoall, Alltoallv:
		return f.alltoall(a)
	case ReduceScatter:
		return f.reduceScatter(a)
	}
	return f.scan(a, op == Exscan)
}

// formWithArguments reports whether the closed form of an algorithm holds for its arguments, too.
func formWithArguments(op Operation, base Algorithm) bool {
	switch base {
	case RingSegmented, RecursiveMultiplying, ReduceBcast, KBruck:
		return true
	case LinearSync:
		return op == Alltoall
	case Dissemination:
		return op == Barrier
	}
	return false
}

// form holds the arguments of a closed form.
type form struct {
	members int
	fold    folding
	count   int64
	size    int64
	cost    Cost
	shape   Shape
}

// times returns n·d for a number of members or rounds.
func times(n int, d vtime.Duration) vtime.Duration { return vtime.Duration(n) * d }

// any returns d, or 0 for a single member.
func (f form) any(d vtime.Duration) vtime.Duration {
	if f.members == 1 {
		return 0
	}
	return d
}

func (f form) barrier(a Algorithm) (vtime.Duration, bool) {
	alpha := f.cost.message(0)
	switch a.Base() {
	case NodeLeader:
		return f.cost.node(0) + f.butterfly(0), true
	case Dissemination:
		d := disseminate(f.members, max(a.Fanout(), 2))
		return f.inWindows(d.windows, 0), true
	case DoubleRing:
		return f.any(times(2*f.members, alpha)), true
	case RecursiveDoubling:
		return f.butterfly(0), true
	case GivenTime:
		return f.any(f.cost.Fixed), true
	case Offload:
		return f.cost.node(0) + timeOf(f.cost.Offload, 0), true
	}
	return f.inTurn(a, 0, f.bcast)
}

func (f form) butterfly(bytes int64) vtime.Duration {
	x, g := f.cost.message(bytes), f.cost.work(bytes)
	levels, r := f.fold.levels, f.fold.extra
	if r == 0 {
		return times(levels, x+g)
	}
	alone := f.cost.send(bytes) + f.cost.receive(bytes) + g
	differing := bits.Len(uint(r - 1))
	return max(times(levels+1, x+g), times(1+differing, x+g)+times(levels-differing, alone)+x)
}

func (f form) bcast(a Algorithm, bytes int64) (vtime.Duration, bool) {
	switch a {
	case Binomial:
		return f.treeOut(f.members, func(int) int64 { return bytes }), true
	case Ring:
		return times(f.members-1, f.cost.message(bytes)), true
	case Linear, LinearNonblocking:
		return f.out(bytes), true
	case Offload:
		return f.cost.node(bytes) + timeOf(f.cost.Offload, bytes), true
	}
	return f.downTree(a, bytes)
}

func (f form) reduce(a Algorithm, bytes int64) (vtime.Duration, bool) {
	g := f.cost.work(bytes)
	switch a {
	case Binomial:
		return f.treeIn(f.members, func(int) int64 { return bytes }, g), true
	case Linear:
		return f.in(bytes, g), true
	case Offload:
		return f.cost.node(bytes) + timeOf(f.cost.Offload, bytes), true
	}
	return f.upTree(a, bytes)
}

// inTurn returns the time of a reduction to the root and of the root's sends afterwards.
func (f form) inTurn(a Algorithm, bytes int64, after func(Algorithm, int64) (vtime.Duration, bool)) (vtime.Duration, bool) {
	d, ok := f.reduce(a, bytes)
	e, okAfter := after(a, bytes)
	return d + e, ok && okAfter
}

// out returns the time in which a root sends to all others, one after the other.
func (f form) out(bytes int64) vtime.Duration {
	if f.members == 1 {
		return 0
	}
	return f.cost.message(bytes) + times(f.members-2, max(f.cost.send(bytes), f.cost.Gap))
}

// in returns the time in which a root receives from all others, which send at once, and
// spends g on each message.
func (f form) in(bytes int64, g vtime.Duration) vtime.Duration {
	if f.members == 1 {
		return 0
	}
	return f.cost.message(bytes) + g + times(f.members-2, max(f.cost.receive(bytes)+g, f.cost.Gap))
}

// treeOut returns the time of a binomial tree of members from its root outwards. sent
// returns the bytes that go to a subtree of a number of members. The first message goes
// to the members beyond the largest power of two below their number. Meanwhile the root
// goes on with that power.
func (f form) treeOut(members int, sent func(members int) int64) vtime.Duration {
	if members == 1 {
		return 0
	}
	half := 1 << (logCeil(members) - 1)
	bytes := sent(members - half)
	left := max(f.cost.send(bytes), f.cost.Gap)
	if members == 2*half {
		return f.cost.message(bytes) + f.treeOut(half, sent)
	}
	return max(f.cost.message(bytes)+f.treeOut(members-half, sent), left+f.treeOut(half, sent))
}

// treeIn returns the time of a binomial tree towards its root, which spends g on each
// message. The left part of the tree is a power of two. Once ready, it
// waits for the rest, a smaller tree, or for the gap after its last message.
func (f form) treeIn(members int, sent func(members int) int64, g vtime.Duration) vtime.Duration {
	if members == 1 {
		return 0
	}
	half := 1 << (logCeil(members) - 1)
	bytes := sent(members - half)
	if members == 2*half {
		return f.treeIn(half, sent, g) + f.cost.message(bytes) + g
	}
	ready := f.treeIn(half, sent, g)
	if half > 1 {
		ready += max(0, f.cost.Gap-f.cost.receive(sent(half/2))-g)
	}
	return max(ready, f.treeIn(members-half, sent, g)+f.cost.transit(bytes)) + f.cost.receive(bytes) + g
}

func (f form) allreduce(a Algorithm) (vtime.Duration, bool) {
	bytes := f.count * f.size
	switch a.Base() {
	case NodeLeader:
		return f.cost.node(bytes) + f.butterfly(bytes), true
	case Offload:
		return f.cost.node(bytes) + timeOf(f.cost.Offload, bytes), true
	case RecursiveDoubling:
		return f.butterfly(bytes), true
	case Ring: // the largest chunk goes all the way round, twice
		x, g := f.part(int64(f.members), f.members)
		return times(2*(f.members-1), x) + times(f.members-1, g), true
	case RecursiveMultiplying:
		k := max(a.Fanout(), 2)
		m := multiply(f.members, k)
		exchanges := f.inWindows(m.windows, bytes)
		return exchanges + times(m.phases, f.cost.work(int64(k-1)*bytes)), m.power == f.members
	case AllgatherReduce:
		d := f.gathering() + f.cost.work(f.bytesOf(f.members-1))
		if f.fold.extra > 0 {
			d += f.packings(Allgather)
		}
		return d, true
	case ReduceBcast:
		return f.inTurn(Binomial, bytes, func(_ Algorithm, bytes int64) (vtime.Duration, bool) { return f.bcast(Knomial, bytes) })
	case RingSegmented:
		return f.ringSegmented(ofChunk.segments(a.Segment(), bytes, f.members))
	case Rabenseifner:
		return f.rabenseifner(), true
	}
	return f.inTurn(a, bytes, f.bcast)
}

// ringSegmented is the ring for chunks that go whole. Chunks of segments must all be equal.
func (f form) ringSegmented(segments int) (vtime.Duration, bool) {
	if segments == 1 {
		return f.allreduce(Ring)
	}
	if l := cut(f.count, f.size, f.members*segments); l.count%int64(f.members*segments) != 0 {
		return 0, false
	}
	chunk, _ := f.part(int64(f.members), f.members)
	x, g := f.part(int64(f.members*segments), f.members*segments)
	return times(f.members-1, times(segments, x+g)+chunk), true
}

// part returns the times of a message and of the reduction of the largest of n parts of a vector
// that is cut into chunks.
func (f form) part(n int64, chunks int) (x, g vtime.Duration) {
	l := cut(f.count, f.size, chunks)
	grains := l.count / n
	if l.count%n != 0 {
		grains++
	}
	return f.cost.message(grains * l.size), f.cost.work(grains * l.size)
}

// rabenseifner follows the path of messages from survivor 0 to the last one and back.
// It takes the largest parts: the upper half of an uneven range is the larger one, and
// the upper half of that again. Survivor 0 is also the first to fold.
func (f form) rabenseifner() vtime.Duration {
	var d vtime.Duration
	if f.fold.extra > 0 {
		x, g := f.part(1, 1<<f.fold.levels)
		d = 2*x + g
	}
	for k := 1; k <= f.fold.levels; k++ {
		x, g := f.part(1<<k, 1<<f.fold.levels)
		d += 2*x + g
	}
	return d
}

func (f form) gather(a Algorithm) (vtime.Duration, bool) {
	switch a {
	case Linear:
		return f.in(f.bytesOf(1), 0), true
	case Binomial:
		return f.treeIn(f.members, f.bytesOf, 0), true
	case Knomial:
		return f.knomialIn(f.members, f.bytesOf, 0), true
	}
	return 0, false
}

func (f form) scatter(a Algorithm) (vtime.Duration, bool) {
	switch a {
	case Linear, LinearNonblocking:
		return f.out(f.bytesOf(1)), true
	case Binomial:
		return f.treeOut(f.members, f.bytesOf), true
	case Knomial:
		return f.knomialOut(f.members, f.bytesOf), true
	}
	return 0, false
}

// bytesOf returns the size of the blocks of n members.
func (f form) bytesOf(n int) int64 { return int64(n) * f.count * f.size }

// blocks returns the time of a message of the blocks of n members.
func (f form) blocks(n int) vtime.Duration { return f.cost.message(f.bytesOf(n)) }

func (f form) allgather(a Algorithm) (vtime.Duration, bool) {
	switch a.Base() {
	case Ring:
		return times(f.members-1, f.blocks(1)), true
	case Linear:
		return f.in(f.bytesOf(1), 0) + f.out(f.bytesOf(f.members)), true
	case Binomial:
		all := func(int) int64 { return f.bytesOf(f.members) }
		return f.treeIn(f.members, f.bytesOf, 0) + f.treeOut(f.members, all), true
	case Bruck:
		return f.gathering() + f.packings(Allgather), true
	case RecursiveDoubling:
		return f.gathering(), f.fold.extra == 0
	case NeighborExchange:
		if f.members%2 == 1 {
			return times(f.members-1, f.blocks(1)), true
		}
		return f.blocks(1) + times(f.members/2-1, f.blocks(2)), true
	case Sparbit:
		var d vtime.Duration
		s, have := sparbitAmong(f.members), 1
		for i := range logCeil(f.members) {
			_, n := s.phase(i, have)
			d, have = d+f.window(n, f.bytesOf(1)), have+n
		}
		return d, true
	case KBruck:
		return f.gatheringBy(max(a.Fanout(), 2)), true
	}
	return 0, false
}

// inWindows returns the time of messages of equal length in windows.
func (f form) inWindows(w windows, bytes int64) vtime.Duration {
	head := min(w.first, w.messages)
	rest := w.messages - head
	return f.window(head, bytes) + times(rest/w.size, f.window(w.size, bytes)) + f.window(rest%w.size, bytes)
}

// window returns the time of a window of n messages of equal length. Each leaves and is received as long after the one before
// as it keeps a member busy, or the gap; the last waits for itself, or for the first and all that follow it.
func (f form) window(n int, bytes int64) vtime.Duration {
	if n == 0 {
		return 0
	}
	sent, received, arrival := f.cost.send(bytes), f.cost.receive(bytes), f.cost.transit(bytes)
	others := times(n-1, max(received, f.cost.Gap))
	return max(times(n, sent)+others, arrival+others, arrival+times(n-1, max(sent, f.cost.Gap))) + received
}

// gatheringBy returns the time of Bruck's allgather with a radix, and of the rotation of the result. Only in the last phase
// may messages differ, of which the last may be shorter.
func (f form) gatheringBy(radix int) vtime.Duration {
	k := kBrucks(f.members, radix)
	d := f.any(f.cost.copied(f.bytesOf(f.members)))
	for first := 0; first < k.messages; first += k.size {
		n := min(k.size, k.messages-first)
		_, blocks := k.message(first)
		_, last := k.message(first + n - 1)
		if last == blocks {
			d += f.window(n, f.bytesOf(blocks))
			continue
		}
		d += f.unequal(n, f.bytesOf(blocks), f.bytesOf(last))
	}
	return d
}

// unequal returns the time of a window of n messages, of which the last has another length.
func (f form) unequal(n int, bytes, last int64) vtime.Duration {
	length := func(i int) int64 {
		if i == n-1 {
			return last
		}
		return bytes
	}
	type landing struct{ at, busy vtime.Duration }
	landings := make([]landing, n)
	for i := range landings {
		left := times(i, max(f.cost.send(bytes), f.cost.Gap))
		landings[i] = landing{left + f.cost.transit(length(i)), f.cost.receive(length(i))}
	}
	slices.SortStableFunc(landings, func(a, b landing) int { return cmp.Compare(a.at, b.at) })
	clock, next := times(n-1, f.cost.send(bytes))+f.cost.send(last), vtime.Duration(0)
	for _, l := range landings {
		taken := max(clock, next, l.at)
		clock, next = taken+l.busy, taken+f.cost.Gap
	}
	return clock
}

// gathering returns the time of rounds in which all members have 1, 2, 4, … blocks and
// send them on.
func (f form) gathering() vtime.Duration {
	var d vtime.Duration
	for n := 1; n < f.members; n *= 2 {
		d += f.blocks(min(n, f.members-n))
	}
	return d
}

func (f form) alltoall(a Algorithm) (vtime.Duration, bool) {
	own := CopiedFirst(Alltoall, a, f.members, f.bytesOf(1), f.cost.copies())
	switch a.Base() {
	case Pairwise, PairwiseExchange:
		return own + times(f.members-1, f.blocks(1)), true
	case LinearSync:
		b := backwardAmong(f.members, f.shape.Fanout)
		return own + f.inWindows(b.windows, f.bytesOf(1)), true
	case Bruck:
		d := own
		for k := range logCeil(f.members) {
			d += f.blocks(withBit(k, f.members).Count) + f.packing(Alltoall, k)
		}
		return d, true
	case TwoLevel:
		return 0, false // it depends on nodes
	}
	return own, f.members == 1
}

func (f form) reduceScatter(a Algorithm) (vtime.Duration, bool) {
	switch a {
	case Ring, Pairwise:
		return times(f.members-1, f.blocks(1)+f.cost.work(f.count*f.size)), true
	case RecursiveHalving, Butterfly, RecursiveDoubling:
		return f.scattering(a), f.fold.extra == 0
	}
	return f.inTurn(a, f.bytesOf(f.members), func(a Algorithm, _ int64) (vtime.Duration, bool) { return f.scatter(a) })
}

// scattering returns the time of exchanges of 1, 2, 4, … blocks, or of all but these. After the butterfly, members exchange their
// own blocks.
func (f form) scattering(a Algorithm) (d vtime.Duration) {
	for n := 1; n < f.members; n *= 2 {
		blocks := n
		if a == RecursiveDoubling {
			blocks = f.members - n
		}
		d += f.blocks(blocks) + f.cost.work(f.bytesOf(blocks))
	}
	if a == Butterfly && f.fold.levels > 1 {
		d += f.blocks(1)
	}
	return d
}

// scan by recursive doubling takes longest at the last member. It combines two vectors
// in every round; in an exscan only one in the first.
func (f form) scan(a Algorithm, exclusive bool) (vtime.Duration, bool) {
	x, g, two := f.blocks(1), f.cost.work(f.count*f.size), f.cost.work(2*f.count*f.size)
	switch a {
	case Linear: // the last member of an exscan adds nothing
		d := times(f.members-1, x+g)
		if exclusive {
			d = f.any(d - g)
		}
		return d, true
	case RecursiveDoubling:
		d := times(f.fold.levels, x+two)
		if exclusive {
			d = f.any(d - two + g)
		}
		return d, f.fold.extra == 0
	}
	return 0, false
}
