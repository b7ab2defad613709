package world

import (
	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// The checks of a build with the tag invariants; see package invariant.

// CheckClocks compares the clocks of LPs lo to hi-1 with those at the last check: no clock
// goes back.
func (k *Partition) CheckClocks(lo, hi int32) {
	if k.seen == nil {
		k.seen = make([]vtime.Time, k.Ranks)
	}
	for lp := lo; lp < hi; lp++ {
		if k.Clock[lp] < k.seen[lp] {
			invariant.Broken("the clock of rank %d goes back from %v to %v", k.Global(lp), k.seen[lp], k.Clock[lp])
		}
		k.seen[lp] = k.Clock[lp]
	}
}
