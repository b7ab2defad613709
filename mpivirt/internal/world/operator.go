package world

// Operator is an Op over bytes, as the interpreters of collectives use it. The
// zero operator stands for no reduction.
type Operator struct {
	Name        string
	Commutative bool
	Apply       func(into, left, right []byte)
}
