package collectives

import (
	"fmt"
	"strconv"
	"strings"

	"gigarank/internal/quantity"
)

// Algorithm is a way to carry out an operation, with its arguments: a segment, in which the vector
// goes piece by piece, and a fan-out. The value packs all three. Algorithms with equal arguments are
// equal; the constants have none.
type Algorithm uint64

// The algorithms.
const (
	NodeLeader Algorithm = iota
	Linear
	Binomial
	Dissemination
	RecursiveDoubling
	Ring
	Rabenseifner
	Bruck
	Pairwise
	GivenTime
	Offload
	SMP
	SMPRabenseifner
	HAN
	RingSegmented
	RecursiveHalving
	Butterfly
	DoubleRing
	ReduceBcast
	ScatterAllgather
	ScatterAllgatherRing
	Chain
	Pipeline
	Binary
	SplitBinary
	InOrderBinary
	Knomial
	BinomialDoubling
	LinearSync
	RecursiveMultiplying
	AllgatherReduce
	NeighborExchange
	KBruck
	Sparbit
	PairwiseExchange
	LinearNonblocking
	DoubleTree
	NVLSTree
	Ring2D
	TwoLevel
	Spread
	TorusTrees
	TorusRings
	TorusDirect
	TorusSpread
	algorithms // their number
)

var algorithmNames = [algorithms]string{
	"node-leader", "linear", "binomial", "dissemination", "recursive-doubling",
	"ring", "rabenseifner", "bruck", "pairwise", "given", "offload",
	"smp", "smp-rabenseifner", "han",
	"ring-segmented", "recursive-halving", "butterfly", "double-ring", "reduce-bcast",
	"scatter-allgather", "scatter-allgather-ring", "chain", "pipeline", "binary", "split-binary",
	"in-order-binary", "knomial", "binomial-doubling", "linear-sync",
	"recursive-multiplying", "allgather-reduce", "neighbor-exchange", "k-bruck", "sparbit", "pairwise-exchange", "linear-nonblocking",
	"double-tree", "nvls-tree", "ring-2d", "two-level", "spread",
	"torus-trees", "torus-rings", "torus-direct", "torus-spread",
}

// The bits of an Algorithm: its number, the fan-out, the segment in bytes.
const (
	numberBits  = 8
	fanoutBits  = 16
	segmentBits = 40

	// MostFanout and MostSegment are the greatest arguments.
	MostFanout  = 1<<fanoutBits - 1
	MostSegment = 1<<segmentBits - 1
)

// Base returns the algorithm without arguments: one of the constants.
func (a Algorithm) Base() Algorithm { return a & (1<<numberBits - 1) }

// Fanout returns the number of children of a tree's member, of chains, of partners in a round, or of
// requests at a time; 0 stands for the algorithm's own default.
func (a Algorithm) Fanout() int { return int(a >> numberBits & MostFanout) }

// Segment returns the bytes of a segment; 0 stands for a vector that goes whole.
func (a Algorithm) Segment() int64 { return int64(a >> (numberBits + fanoutBits)) }

// FanoutOf returns the fan-out of an algorithm of an operation, its default if none is given.
func FanoutOf(op Operation, a Algorithm) int {
	if e := find(op, a); a.Fanout() == 0 && e != nil {
		return e.takes.fanout
	}
	return a.Fanout()
}

// WithFanout returns the algorithm with a fan-out, from 0 to MostFanout.
func (a Algorithm) WithFanout(n int) Algorithm {
	return a&^(MostFanout<<numberBits) | Algorithm(n&MostFanout)<<numberBits
}

// WithSegment returns the algorithm with a segment of some bytes, from 0 to MostSegment.
func (a Algorithm) WithSegment(bytes int64) Algorithm {
	return a&(1<<(numberBits+fanoutBits)-1) | Algorithm(bytes&MostSegment)<<(numberBits+fanoutBits)
}

// fanoutWord begins the argument that is a fan-out.
const fanoutWord = "fanout="

// String returns the name on the command line, with its arguments: "recursive-doubling",
// "pipeline:64KiB", "chain:32KiB:fanout=4".
func (a Algorithm) String() string {
	if a.Base() >= algorithms {
		return fmt.Sprintf("algorithm(%d)", uint64(a))
	}
	text := algorithmNames[a.Base()]
	if a.Segment() > 0 {
		text += ":" + quantity.FormatSize(a.Segment())
	}
	if a.Fanout() > 0 {
		text += ":" + fanoutWord + strconv.Itoa(a.Fanout())
	}
	return text
}

// ParseAlgorithm returns the algorithm of an operation with a name and arguments, as String writes
// them. If the operation has no such algorithm, the error lists the algorithms of the operation.
func ParseAlgorithm(op Operation, text string) (Algorithm, error) {
	name, rest, _ := strings.Cut(text, ":")
	for _, a := range AllAlgorithms(op) {
		if a.String() == name {
			return a.withArguments(op, text, rest)
		}
	}
	return 0, fmt.Errorf("collectives: %s has no algorithm %q: choose one of %s", op, name, choices(op))
}

// withArguments returns the algorithm with the arguments that a text names after the algorithm's name.
func (a Algorithm) withArguments(op Operation, text, rest string) (Algorithm, error) {
	for rest != "" {
		var argument string
		argument, rest, _ = strings.Cut(rest, ":")
		count, isFanout := strings.CutPrefix(argument, fanoutWord)
		if isFanout {
			n, err := strconv.Atoi(count)
			if err != nil || n < 2 || n > MostFanout {
				return 0, fmt.Errorf("collectives: %s %q: the fan-out %q is not a number from 2 to %d", op, text, count, MostFanout)
			}
			a = a.WithFanout(n)
			continue
		}
		bytes, err := quantity.ParseSize(argument)
		if err == nil && (bytes < 1 || bytes > MostSegment) {
			err = fmt.Errorf("a segment has 1 to %d bytes", int64(MostSegment))
		}
		if err != nil {
			return 0, fmt.Errorf("collectives: %s %q: %w", op, text, err)
		}
		a = a.WithSegment(bytes)
	}
	return a, a.Check(op)
}

// Check returns an error if the operation does not have the algorithm, or the algorithm does not take
// its arguments.
func (a Algorithm) Check(op Operation) error {
	e := find(op, a)
	switch {
	case e == nil:
		return fmt.Errorf("collectives: %s has no algorithm %s: choose one of %s", op, a, choices(op))
	case a.Segment() > 0 && e.takes.segments == uncut:
		return fmt.Errorf("collectives: %s by %s is not cut into segments: leave :%s out", op, a.Base(), quantity.FormatSize(a.Segment()))
	case a.Fanout() > 0 && e.takes.fanout == 0:
		return fmt.Errorf("collectives: %s by %s takes no fan-out: leave :%s%d out", op, a.Base(), fanoutWord, a.Fanout())
	}
	return nil
}

// Size is the size of a call of an operation.
type Size struct {
	Members int
	Root    int   // one of the members, 0 for an operation without a root
	PerNode int   // member m is on node m / PerNode; 0 stands for 1
	Bytes   int64 // of the vector, or of a member's block
}

// Shape is the size of a schedule.
type Shape struct {
	Operation     Operation
	Members, Root int
	Segments      int   // pieces that the vector, or a chunk of it, is cut into, at least 1
	Segment       int64 // bytes of each segment but the last; 0 if there is one
	Bytes         int64 // of the vector, or of a member's block
	Fanout        int   // at least 2 for an algorithm that takes one
	PerNode       int   // member m is on node m / PerNode; at least 1
}

// shape returns the shape of a schedule of an entry.
func (e *entry) shape(op Operation, a Algorithm, s Size) Shape {
	segment := a.Segment()
	if segment == 0 && e.takes.segment != nil {
		segment = e.takes.segment(s)
	}
	shape := Shape{
		Operation: op, Members: s.Members, Segments: e.takes.segments.segments(segment, s.Bytes, s.Members),
		Bytes: s.Bytes, Fanout: e.takes.fanout, PerNode: max(s.PerNode, 1),
	}
	if a.Fanout() > 0 {
		shape.Fanout = a.Fanout()
	}
	if shape.Segments > 1 {
		shape.Segment = segment
	}
	if op.Rooted() {
		shape.Root = s.Root
	}
	return shape
}
