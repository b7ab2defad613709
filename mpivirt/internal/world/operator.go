package world

// Operator is a reduction operator over bytes, as the interpreters of collectives use it. The
// zero Operator stands for no reduction.
type Operator struct {
	Name        string
	Commutative bool
	Apply       func(into, left, right []byte)

	// Row combines vectors of so many bytes, one behind another, in their order, and leaves the result
	// in place of the last. It is nil if that costs as much as Apply for each.
	Row func(vectors []byte, bytes int)
}
