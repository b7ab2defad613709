package engine

import (
	"math/bits"

	"gigarank/internal/invariant"
)

// Partition divides LPs 0 to LPs-1 into contiguous blocks, one for each engine.
// Blocks consist of whole units, and their numbers of units differ by one at most.
type Partition struct {
	LPs     int
	Engines int
	Unit    int // LPs that stay together; 0 means 1
}

// units returns the size of a unit and the number of units.
func (p Partition) units() (size, count int) {
	size = max(p.Unit, 1)
	return size, (p.LPs + size - 1) / size
}

// Range returns the LPs of an engine: lo <= LP < hi. It is empty where there are
// more engines than LPs.
func (p Partition) Range(engine int) (lo, hi int) {
	return p.bound(engine), p.bound(engine + 1)
}

func (p Partition) bound(engine int) int {
	size, count := p.units()
	high, low := bits.Mul64(uint64(engine), uint64(count))
	quotient, _ := bits.Div64(high, low, uint64(p.Engines))
	return min(int(quotient)*size, p.LPs)
}

// Owner returns the engine that owns an LP.
func (p Partition) Owner(lp int) int {
	// The least e with bound(e+1) > lp: for the unit u of lp, that is
	// (e+1)·count >= (u+1)·Engines.
	size, count := p.units()
	high, low := bits.Mul64(uint64(lp/size+1), uint64(p.Engines))
	low, borrow := bits.Sub64(low, 1, 0)
	quotient, _ := bits.Div64(high-borrow, low, uint64(count))
	return int(quotient)
}

// check verifies that the blocks of all engines follow one another and together are all
// LPs.
func (p Partition) check() {
	next := 0
	for engine := range p.Engines {
		lo, hi := p.Range(engine)
		switch {
		case lo != next || hi < lo:
			invariant.Broken("%+v: engine %d has LPs %d to %d, the one before it ends at %d", p, engine, lo, hi-1, next-1)
		case lo < hi && (p.Owner(lo) != engine || p.Owner(hi-1) != engine):
			invariant.Broken("%+v: LPs %d and %d belong to engine %d, not to %d and %d", p, lo, hi-1, engine, p.Owner(lo), p.Owner(hi-1))
		}
		next = hi
	}
	if next != p.LPs {
		invariant.Broken("%+v: the blocks end at LP %d", p, next)
	}
}
