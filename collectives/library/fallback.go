package library

import (
	"fmt"

	"gigarank/collectives"
)

// Fallback is what a library runs in place of an algorithm that does not suit a call.
type Fallback struct {
	Algorithm collectives.Algorithm
	Else      collectives.Algorithm
	need      need
	elements  int64 // at least, for need someElements
	line      int
}

// need is what an algorithm needs of a call.
type need uint8

const (
	evenRanks need = iota
	ranksPowerOfTwo
	elementForEachRank
	elementsPowerOfTwo
	elementsPowerOfTwoNodes
	someElements
	offload
	givenTime
	torusLinks
)

// holds reports whether the call is as the algorithm needs it.
func (f *Fallback) holds(q *collectives.Question) bool {
	switch f.need {
	case evenRanks:
		return q.Ranks%2 == 0
	case ranksPowerOfTwo:
		return isPowerOfTwo(q.Ranks)
	case elementForEachRank:
		return elements(q) >= int64(q.Ranks)
	case elementsPowerOfTwo:
		return elements(q) >= int64(powerOfTwoUpTo(max(q.Ranks, 1)))
	case elementsPowerOfTwoNodes:
		return elements(q) >= int64(powerOfTwoUpTo(max(nodes(q), 1)))
	case offload:
		return q.Hardware.Offload
	case givenTime:
		return q.Hardware.Barrier
	case torusLinks:
		return q.Hardware.Torus
	}
	return elements(q) >= f.elements
}

// Needs returns what the algorithm needs: "an even number of ranks".
func (f *Fallback) Needs() string {
	switch f.need {
	case evenRanks:
		return "an even number of ranks"
	case ranksPowerOfTwo:
		return "ranks that are a power of two"
	case elementForEachRank:
		return "an element for each rank"
	case elementsPowerOfTwo:
		return "as many elements as the greatest power of two up to the ranks"
	case elementsPowerOfTwoNodes:
		return "as many elements as the greatest power of two up to the nodes"
	case offload:
		return "a network that sums vectors"
	case givenTime:
		return "a machine with a barrier of its own"
	case torusLinks:
		return "ranks that fill a torus along whose links they write"
	}
	return fmt.Sprintf("%d elements", f.elements)
}
