package tuning

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"math/bits"
	"slices"
	stdsync "sync"
	"sync/atomic"

	"gigarank/collectives"
	"gigarank/internal/measurements"
	"gigarank/mpivirt"
	"gigarank/network"
)

// NoLibrary is the name of the choice by [Simulated].
const NoLibrary = "none"

// Simulated chooses the algorithm of each call by simulations on the machine: the default of machines without a
// library. Its answers are a function of the machine and the question alone. It is safe for concurrent use.
//
// It keeps the first algorithm of an operation, or that of a network that sums vectors, unless another is faster by more than
// [Most]. Of the others it takes the algorithm of the fewest rounds whose time is near that of the fastest. Barriers of a machine that gives their time take that time. A question takes as long as a few simulations the first time; numbers of bytes and ranks are
// rounded, so that there are few questions.
type Simulated struct {
	machine *network.Machine
	free    func() bool // whether messages cost no processor or port anything
	known   atomic.Pointer[map[collectives.Question]collectives.Algorithm]
	asking  stdsync.Mutex // of those who add to known
}

// choicesOn has the choice of each machine that was asked for, by its digest.
var choicesOn stdsync.Map

// On returns the choice on a machine. Equal machines share it, and its answers.
func On(m *network.Machine) *Simulated {
	s := &Simulated{machine: m}
	s.free = stdsync.OnceValue(func() bool {
		t, err := m.Target(1)
		return err == nil && !t.Charges()
	})
	s.known.Store(&map[collectives.Question]collectives.Algorithm{})
	one, _ := choicesOn.LoadOrStore(m.Digest(), s)
	return one.(*Simulated)
}

// Name returns the name of the choice, which is that of no library.
func (s *Simulated) Name() string { return NoLibrary }

// ByNodes reports whether there is a choice: it depends on the ranks of each node.
func (s *Simulated) ByNodes(op collectives.Operation) bool { return Chooses(op) }

// Chooses reports whether an operation has several algorithms, and all members of a call know its size.
func Chooses(op collectives.Operation) bool { return withChoice[op] }

var withChoice = func() []bool {
	all := make([]bool, len(collectives.Operations()))
	for _, op := range collectives.Operations() {
		all[op] = len(collectives.Algorithms(op)) > 1 && op != collectives.Alltoallv
	}
	return all
}()

// Choose returns the algorithm of a call. It allocates nothing once the question is known.
func (s *Simulated) Choose(q collectives.Question) collectives.Algorithm {
	if q.Hardware.Measured && q.Commutative {
		if a, ok := collectives.MeasuredOn(q.Operation); ok {
			return a
		}
	}
	q = rounded(q)
	if q.Ranks < 2 || !Chooses(q.Operation) || q.Operation == collectives.Barrier && q.Hardware.Barrier {
		return usualOn(q)
	}
	if a, known := (*s.known.Load())[q]; known {
		return a
	}
	return s.ask(q)
}

// ask answers a rounded question that may be new.
func (s *Simulated) ask(q collectives.Question) collectives.Algorithm {
	s.asking.Lock()
	defer s.asking.Unlock()
	before := *s.known.Load()
	if a, known := before[q]; known {
		return a
	}
	after := maps.Clone(before)
	after[q] = s.fastest(&q)
	s.known.Store(&after)
	return after[q]
}

// usualOn returns the algorithm that a call takes unless another is faster: that of the hardware, or the first that
// keeps the order where it matters.
func usualOn(q collectives.Question) collectives.Algorithm {
	if a := collectives.DefaultOn(q.Operation, q.Hardware); q.Commutative || collectives.Ordered(q.Operation, a) {
		return a
	}
	return usual(rows{op: q.Operation, ordered: !q.Commutative})
}

// rounded returns the question whose answer serves a question. Bytes are a power of two, and ranks that are none
// keep their first five significant bits and their last: times depend on how often two divides the number of ranks.
func rounded(q collectives.Question) collectives.Question {
	q.Hardware.Measured = false
	const significant = 5
	q.ElementBytes = 0
	q.PerNode = min(max(q.PerNode, 1), max(q.Ranks, 1))
	if q.Bytes > 0 {
		q.Bytes = 1 << (bits.Len64(uint64(q.Bytes)) - 1)
	}
	if more := bits.Len(uint(max(q.Ranks, 0))) - significant; more > 0 {
		q.Ranks = q.Ranks>>more<<more | q.Ranks&-q.Ranks
	}
	return q
}

// Bounds of simulations for a question.
const (
	// mostMessages bounds those of a simulation. Algorithms with more are simulated on fewer ranks.
	mostMessages = 1 << 17
	// firstMessages bounds those of a first look, after which only algorithms within hopeful of the fastest are
	// simulated again.
	firstMessages = 1 << 12
	hopeful       = 3
	// near is the ratio to the time of the fastest up to which the fewest rounds count.
	near = 1.1
	// fewestNodes are those of a simulation on fewer ranks, firstNodes those of a first look.
	fewestNodes = 4
	firstNodes  = 2
	// fewestRanks are the least of a simulation on fewer ranks.
	fewestRanks = 16
	// mostRanks are those up to which every algorithm may be chosen. On more ranks rounds over arrays have to carry
	// it out.
	mostRanks = 1 << 16
	// exactMost stands in for Most where figures are exact: at barriers, and beside a network that sums vectors.
	exactMost = 1.5
)

// estimate is the time of an algorithm for a question.
type estimate struct {
	a       collectives.Algorithm
	seconds float64
	exact   bool // it was simulated on all ranks
}

// fastest answers a rounded question.
func (s *Simulated) fastest(q *collectives.Question) collectives.Algorithm {
	usual, most := usualOn(*q), Most
	if q.Operation == collectives.Barrier || usual == collectives.Offload {
		most = exactMost
	}
	var all []estimate
	for _, a := range s.hopefuls(q, usual) {
		if e, ok := s.estimate(q, a, firstMessages, firstNodes); ok {
			all = append(all, e)
		}
	}
	best := leastOf(all)
	for i, e := range all {
		if (e.a == usual || e.seconds <= hopeful*best.seconds) && !e.exact {
			all[i], _ = s.estimate(q, e.a, mostMessages, fewestNodes)
		} else if e.seconds > hopeful*best.seconds {
			all[i].seconds = math.Inf(1)
		}
	}
	least, fewest := leastOf(all).seconds, math.MaxInt
	chosen := usual
	for _, e := range all {
		if e.a == usual && e.seconds <= most*least {
			return usual
		}
		if e.seconds > near*least {
			continue
		}
		if n := rounds(q, e.a, q.Ranks, q.Bytes); n < fewest {
			chosen, fewest = e.a, n
		}
	}
	return chosen
}

// leastOf returns the estimate of the least time, the first of equal ones.
func leastOf(all []estimate) estimate {
	if len(all) == 0 {
		return estimate{}
	}
	return slices.MinFunc(all, func(a, b estimate) int { return cmp.Compare(a.seconds, b.seconds) })
}

// hopefuls returns the algorithms that are tried for a question, the usual one among them, but those that only look free.
func (s *Simulated) hopefuls(q *collectives.Question, usual collectives.Algorithm) []collectives.Algorithm {
	var all []collectives.Algorithm
	for _, a := range append(candidates(q.Operation, q.Bytes), usual) {
		switch {
		case slices.Contains(all, a), !q.Commutative && !collectives.Ordered(q.Operation, a):
		case s.looksFree(q.Operation, a):
		case a.Segment() > 0 && q.Bytes/a.Segment() > mostSegments:
		case q.Ranks > mostRanks && a != usual && !inBulk(q, a):
		case q.Ranks > mostInWindows && a != usual && inWindows(q, a):
		default:
			all = append(all, a)
		}
	}
	return all
}

// looksFree reports whether an algorithm is a linear barrier, or begins several messages at once, on a machine whose messages cost
// no processor or port anything: there any number of messages takes as long as one.
func (s *Simulated) looksFree(op collectives.Operation, a collectives.Algorithm) bool {
	return (op == collectives.Barrier && a == collectives.Linear || collectives.FanoutOf(op, a) > 2) && s.free()
}

// mostInWindows bounds the ranks of algorithms that begin many messages at a time: where statistics are on, they go by messages, not over arrays of clocks.
const mostInWindows = 1 << 10

// inWindows reports whether an algorithm begins many messages at a time.
func inWindows(q *collectives.Question, a collectives.Algorithm) bool {
	s := schedule(q, a, q.Ranks, q.Bytes)
	return s != nil && collectives.HasWindows(s)
}

// mostSegments bounds the segments of a vector that are tried.
const mostSegments = 512

// inBulk reports whether rounds over arrays can carry out an algorithm on the ranks of a question, or a schedule of few
// rounds where no algorithm of the operation goes over arrays. Arrays sum up data in the order of recursive doubling only.
func inBulk(q *collectives.Question, a collectives.Algorithm) bool {
	const fewRounds = 64
	s := schedule(q, a, q.Ranks, q.Bytes)
	if s == nil {
		return a == collectives.NodeLeader
	}
	if s.MaxRounds() > fewRounds {
		return false
	}
	switch q.Operation {
	case collectives.Allreduce:
		return a == collectives.RecursiveDoubling
	case collectives.Barrier, collectives.Allgather, collectives.Allgatherv, collectives.Alltoall, collectives.ReduceScatter:
		for round := range s.MaxRounds() {
			if p := s.Pattern(round); p.Kind == collectives.Irregular || p.Kind == collectives.Paired || p.Sent == collectives.Varies {
				return false
			}
		}
	}
	return true
}

// schedule returns the schedule of an algorithm, nil for one without rounds of its own.
func schedule(q *collectives.Question, a collectives.Algorithm, ranks int, bytes int64) collectives.Schedule {
	s, err := collectives.For(q.Operation, a, collectives.Size{Members: ranks, PerNode: q.PerNode, Bytes: bytes})
	if err != nil {
		return nil
	}
	return s
}

// rounds returns the number of rounds of an algorithm; of one without a schedule that of a tree.
func rounds(q *collectives.Question, a collectives.Algorithm, ranks int, bytes int64) int {
	if s := schedule(q, a, ranks, bytes); s != nil {
		return max(s.MaxRounds(), 1)
	}
	return bits.Len(uint(ranks - 1))
}

// estimate simulates an algorithm with about as many messages, and half as many nodes, at the least. If that needs fewer ranks, a second
// simulation on about a quarter of them shows how the time grows. ok is false for an algorithm that does not serve the call.
func (s *Simulated) estimate(q *collectives.Question, a collectives.Algorithm, messages, nodes int) (e estimate, ok bool) {
	ranks, floor := q.Ranks, max(nodes*q.PerNode, fewestRanks)
	for half := ranks; half > floor && messagesOf(q, a, ranks) > messages; {
		half, ranks = half/2, fewer(q, half/2)
	}
	seconds, ok := s.simulate(q, a, ranks)
	if e = (estimate{a: a, seconds: seconds, exact: ranks == q.Ranks}); e.exact || !ok {
		return e, ok
	}
	less := max(fewer(q, ranks/4), 2)
	before, ok := s.simulate(q, a, less)
	if !ok {
		return e, false
	}
	steps := math.Log2(float64(q.Ranks)/float64(ranks)) / math.Log2(float64(ranks)/float64(less))
	if growsWithRanks(a) {
		steps = float64(q.Ranks-ranks) / float64(ranks-less)
	}
	e.seconds += max(seconds-before, 0) * steps
	return e, true
}

// fewer returns about as many ranks, which are a power of two if and only if those of the question are.
func fewer(q *collectives.Question, ranks int) int {
	if q.Ranks&(q.Ranks-1) != 0 && ranks&(ranks-1) == 0 {
		return ranks + 1
	}
	return ranks
}

// messagesOf returns about the number of messages of an algorithm.
func messagesOf(q *collectives.Question, a collectives.Algorithm, ranks int) int {
	switch a.Base() {
	case collectives.Linear, collectives.LinearSync, collectives.LinearNonblocking, collectives.Spread:
		if q.Operation != collectives.Alltoall {
			return 2 * ranks
		}
	}
	return ranks * rounds(q, a, ranks, q.Bytes)
}

// growsWithRanks reports whether the time of an algorithm grows with the ranks, not with their logarithm.
func growsWithRanks(a collectives.Algorithm) bool {
	switch a.Base() {
	case collectives.Linear, collectives.LinearSync, collectives.LinearNonblocking, collectives.Spread, collectives.Chain, collectives.Pipeline,
		collectives.Ring, collectives.RingSegmented, collectives.ScatterAllgatherRing, collectives.DoubleRing, collectives.NeighborExchange,
		collectives.Pairwise, collectives.PairwiseExchange, collectives.TwoLevel:
		return true
	}
	return false
}

// simulate returns the time of an algorithm on some of the ranks. Its messages are as long as those among all ranks.
func (s *Simulated) simulate(q *collectives.Question, a collectives.Algorithm, ranks int) (seconds float64, ok bool) {
	bytes := q.Bytes
	switch all := float64(q.Ranks) / float64(ranks); {
	case growsWithRanks(a) && chunked(q.Operation, a):
		bytes = max(int64(float64(bytes)/all), min(bytes, 1))
	case !growsWithRanks(a) && hasBlocks(q.Operation):
		bytes = int64(float64(bytes) * all)
	}
	m, nodes := s.layout(q, ranks)
	p := measurements.Point{Operation: simulatedAs(q.Operation), Algorithm: a, Named: true,
		Nodes: nodes, PerNode: m.RanksPerNode(), Ranks: ranks, Bytes: bytes, Statistic: measurements.LastExit}
	simulated := p.Simulate
	if q.Operation == collectives.Barrier || q.Operation == collectives.Allreduce { // of large studies
		simulated = p.SimulateAlone
	}
	return serves(simulated(m))
}

// serves reports whether a simulation has come to its end, and returns its time. An algorithm that does not serve a call is refused. A fault
// of gigarank itself is no property of the algorithm: serves panics with the fault, so that no other algorithm hides it.
func serves(seconds float64, err error) (float64, bool) {
	if fault, is := errors.AsType[*mpivirt.Fault](err); is {
		panic(fault)
	}
	return seconds, err == nil
}

// layout returns the machine with the ranks of each node of a question, and the nodes that some ranks take. A
// mapping that scatters ranks stays as it is.
func (s *Simulated) layout(q *collectives.Question, ranks int) (m *network.Machine, nodes int) {
	m = s.machine
	if q.PerNode > 1 || m.Mapping() == "block" {
		if other, err := m.WithRanksPerNode(q.PerNode); err == nil {
			if _, err := other.Target(int64(ranks)); err == nil {
				m = other
			}
		}
	}
	t, err := m.Target(int64(ranks))
	if err != nil {
		return m, 0 // the simulation says so
	}
	return m, t.Nodes()
}

// chunked reports whether an algorithm cuts a vector into a chunk for each rank, and sends chunk by chunk.
func chunked(op collectives.Operation, a collectives.Algorithm) bool {
	switch a.Base() {
	case collectives.Ring:
		return op == collectives.Allreduce
	case collectives.RingSegmented, collectives.ScatterAllgatherRing:
		return true
	}
	return false
}

// hasBlocks reports whether the bytes of an operation are those of a rank's block.
func hasBlocks(op collectives.Operation) bool {
	switch op {
	case collectives.Gather, collectives.Scatter, collectives.Allgather, collectives.Allgatherv, collectives.Alltoall, collectives.ReduceScatter:
		return true
	}
	return false
}

// simulatedAs returns the operation on equal blocks that takes as long.
func simulatedAs(op collectives.Operation) collectives.Operation {
	if op == collectives.Allgatherv {
		return collectives.Allgather
	}
	return op
}
