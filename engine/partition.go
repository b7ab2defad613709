package engine

import "math/bits"

// Partition divides LPs 0 to LPs-1 into contiguous blocks whose sizes differ by
// one at most, one for each engine.
type Partition struct {
	LPs     int
	Engines int
}

// Range returns the LPs of an engine: lo <= LP < hi. It is empty where there are
// more engines than LPs.
func (p Partition) Range(engine int) (lo, hi int) {
	return p.bound(engine), p.bound(engine + 1)
}

func (p Partition) bound(engine int) int {
	high, low := bits.Mul64(uint64(engine), uint64(p.LPs))
	quotient, _ := bits.Div64(high, low, uint64(p.Engines))
	return int(quotient)
}

// Owner returns the engine that owns an LP.
func (p Partition) Owner(lp int) int {
	// The least e with bound(e+1) > lp, that is (e+1)·LPs >= (lp+1)·Engines.
	high, low := bits.Mul64(uint64(lp+1), uint64(p.Engines))
	low, borrow := bits.Sub64(low, 1, 0)
	quotient, _ := bits.Div64(high-borrow, low, uint64(p.LPs))
	return int(quotient)
}
