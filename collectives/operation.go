package collectives

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gigarank/internal/quantity"
	"gigarank/internal/spelling"
)

// Operation is a collective operation of MPI.
type Operation uint8

// The operations.
const (
	Barrier Operation = iota
	Bcast
	Reduce
	Allreduce
	Gather
	Gatherv
	Scatter
	Scatterv
	Allgather
	Allgatherv
	Alltoall
	Alltoallv
	ReduceScatter
	Scan
	Exscan
	operations // their number
)

var operationNames = [operations]string{
	"barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv",
	"allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter", "scan", "exscan",
}

// Operations returns all operations.
func Operations() []Operation {
	all := make([]Operation, operations)
	for i := range all {
		all[i] = Operation(i)
	}
	return all
}

// String returns the MPI name in lower case: "barrier", "reduce_scatter".
func (op Operation) String() string {
	if op >= operations {
		return fmt.Sprintf("operation(%d)", uint8(op))
	}
	return operationNames[op]
}

// Rooted reports whether one member is the root of the operation.
func (op Operation) Rooted() bool {
	switch op {
	case Bcast, Reduce, Gather, Gatherv, Scatter, Scatterv:
		return true
	}
	return false
}

func choices(op Operation) string {
	var names []string
	for _, a := range AllAlgorithms(op) {
		names = append(names, a.String())
	}
	return strings.Join(names, ", ")
}

// TakesNodes reports whether the schedule of an algorithm depends on the members of a node.
func TakesNodes(op Operation, a Algorithm) bool {
	e := find(op, a)
	return e != nil && e.takes.nodes
}

// Algorithms returns the algorithms that the operation has on every machine, the default first.
func Algorithms(op Operation) []Algorithm {
	return slices.DeleteFunc(AllAlgorithms(op), Algorithm.HasFixedCost)
}

// AllAlgorithms returns the algorithms that the operation has on any machine: those of Algorithms,
// then those that need a machine's hardware.
func AllAlgorithms(op Operation) []Algorithm {
	if op >= operations {
		return nil
	}
	var all []Algorithm
	for _, e := range registry[op] {
		all = append(all, e.algorithm)
	}
	return all
}

// Default returns the default algorithm of an operation.
func Default(op Operation) Algorithm { return registry[op][0].algorithm }

// Hardware lists the collectives that a machine carries out by itself.
type Hardware struct {
	Barrier bool // barriers, in a given time
	Offload bool // sums of vectors
	Torus   bool // ranks write into each other's memory along the links of a torus, on which they fill a node each
	// Measured is whether the machine gives the times of barriers, broadcasts and allreduces of the ranks of a node, and the call is
	// among such ranks.
	Measured bool
}

// MeasuredOn returns the algorithm of an operation among the ranks of a node whose times the machine gives. ok is false for
// other operations.
func MeasuredOn(op Operation) (a Algorithm, ok bool) {
	switch op {
	case Barrier, Allreduce:
		return NodeLeader, true
	case Bcast:
		return Offload, true
	}
	return 0, false
}

// Has reports whether a machine has the hardware that an algorithm needs.
func (h Hardware) Has(a Algorithm) bool {
	switch a.Base() {
	case GivenTime:
		return h.Barrier
	case Offload:
		return h.Offload
	case TorusTrees, TorusRings, TorusDirect, TorusSpread:
		return h.Torus
	}
	return true
}

// HasFixedCost reports whether an algorithm needs hardware that some machines do not have. Such an algorithm has no messages: the machine
// gives the time from the last entry to the exits.
func (a Algorithm) HasFixedCost() bool { return !Hardware{}.Has(a) }

// AlongTorus reports whether the algorithm is a library's, by writes along the links of a torus.
func (a Algorithm) AlongTorus() bool {
	switch a.Base() {
	case TorusTrees, TorusRings, TorusDirect, TorusSpread:
		return true
	}
	return false
}

// DefaultOn returns the default algorithm of an operation on a machine with some hardware: the
// first algorithm that needs this hardware, if there is one that no library has to choose.
func DefaultOn(op Operation, h Hardware) Algorithm {
	for _, a := range AllAlgorithms(op) {
		if a.HasFixedCost() && h.Has(a) && !a.AlongTorus() {
			return a
		}
	}
	return Default(op)
}

// AlgorithmsOn returns the algorithms of an operation on a machine with some hardware.
func AlgorithmsOn(op Operation, h Hardware) []Algorithm {
	return slices.DeleteFunc(AllAlgorithms(op), func(a Algorithm) bool { return !h.Has(a) })
}

// Describe returns one line on the algorithm for the operation, or "" if the operation does not
// have the algorithm.
func Describe(op Operation, a Algorithm) string {
	if e := find(op, a); e != nil {
		return e.line
	}
	return ""
}

// Ordered reports whether the algorithm combines in the order of the ranks, as an
// operation that does not commute requires. Allreduce gives all members the same bits
// under every algorithm. Algorithms that combine nothing are ordered.
//
// Node-leader allreduce is not ordered. It is in rank order only where the ranks of
// each node are contiguous, which the mapping of ranks to nodes decides.
func Ordered(op Operation, a Algorithm) bool {
	e := find(op, a)
	return e != nil && !e.unordered
}

// New returns the schedule of an algorithm for vectors that go whole, among members that are on a node
// each. See [For].
func New(op Operation, a Algorithm, members, root int) (Schedule, error) {
	return For(op, a, Size{Members: members, Root: root})
}

// For returns the schedule of an algorithm for a call of some size. The error names all faults.
func For(op Operation, a Algorithm, size Size) (Schedule, error) {
	var faults []error
	e := find(op, a)
	switch {
	case op >= operations:
		faults = append(faults, fmt.Errorf("collectives: no %s: use one of the declared operations", op))
	case e == nil:
		faults = append(faults, a.Check(op))
	case a.HasFixedCost():
		faults = append(faults, fmt.Errorf("collectives: %s %s is not a schedule: the machine gives its time", a, op))
	case e.build == nil:
		faults = append(faults, fmt.Errorf("collectives: %s %s is not a schedule of all members; it depends on their nodes: "+
			"use LeaderSchedule among the leaders of the nodes", a, op))
	default:
		if err := a.Check(op); err != nil {
			faults = append(faults, err)
		}
	}
	members, root := size.Members, size.Root
	if members < 1 {
		faults = append(faults, fmt.Errorf("collectives: %s among %s: give at least 1", op, spelling.Count(members, "member")))
	}
	if root < 0 || root > 0 && root >= members {
		faults = append(faults, fmt.Errorf("collectives: %s among %s has root %d: give one from 0 to %d",
			op, spelling.Count(members, "member"), root, max(members-1, 0)))
	}
	if size.PerNode < 0 || size.Bytes < 0 {
		faults = append(faults, fmt.Errorf("collectives: %s of %d bytes, %d members a node: neither may be negative", op, size.Bytes, size.PerNode))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if err := a.CheckSegments(op, size.Bytes, members); err != nil {
		return nil, err
	}
	s := e.build(e.shape(op, a, size))
	if rounds := s.MaxRounds(); rounds > math.MaxInt32 {
		return nil, fmt.Errorf("collectives: %s of %d bytes by %s among %s has %d rounds, more than %d: give a longer segment, or another algorithm",
			op, size.Bytes, a, spelling.Count(members, "member"), rounds, math.MaxInt32)
	}
	return s, nil
}

// MostSegments is the most segments into which a call is cut. Each is at least a message of each member.
const MostSegments = 1 << 24

// CheckSegments returns an error if the algorithm cuts a vector, or a member's block, of some bytes into more than
// [MostSegments] segments.
func (a Algorithm) CheckSegments(op Operation, bytes int64, members int) error {
	e := find(op, a)
	if e == nil || a.Segment() == 0 || members < 1 {
		return nil
	}
	shape := e.shape(op, a, Size{Members: members, Bytes: bytes})
	if shape.Segments <= MostSegments {
		return nil
	}
	cut, rounds := bytes, int64(shape.Segments)
	if e.takes.segments == ofChunk {
		cut, rounds = bytes/int64(members), int64(shape.Segments)*int64(members-1)
	}
	return fmt.Errorf("collectives: %s of %d bytes by %s among %s goes in %d segments, and so in at least %d rounds; at most %d segments are simulated: "+
		"give a segment of at least %s, or another algorithm", op, bytes, a, spelling.Count(members, "member"), shape.Segments, rounds, MostSegments,
		quantity.FormatSize(cut/MostSegments+1))
}

// LeaderSchedule returns the schedule of the leaders of the nodes in a node-leader
// barrier or allreduce: the butterfly. It comes between the join of the ranks of each
// node and their release.
func LeaderSchedule(op Operation, nodes int) (Schedule, error) {
	if find(op, NodeLeader) == nil {
		return nil, fmt.Errorf("collectives: %s has no algorithm %s: choose one of %s", op, NodeLeader, choices(op))
	}
	return New(op, RecursiveDoubling, nodes, 0)
}
