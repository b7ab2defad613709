package world

// Operator is a reduction operator over bytes, as the interpreters of collectives use it. The zero
// Operator stands for no reduction. Ranks pass it by value on their stacks, so its size matters:
// four words.
type Operator struct {
	Name        string
	Commutative bool
	Apply       func(into, left, right []byte)
}
