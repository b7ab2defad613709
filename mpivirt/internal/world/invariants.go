package world

import (
	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// The checks of a build with the tag invariants; see package invariant.

// CheckClocks compares the clocks of LPs lo to hi-1 with those at the last check: no clock
// goes back.
func (p *Partition) CheckClocks(lo, hi int32) {
	if p.seen == nil {
		p.seen = make([]vtime.Time, p.Ranks)
	}
	for lp := lo; lp < hi; lp++ {
		if p.Clock[lp] < p.seen[lp] {
			invariant.Broken("the clock of rank %d goes back from %v to %v", p.Global(lp), p.seen[lp], p.Clock[lp])
		}
		p.seen[lp] = p.Clock[lp]
	}
}
