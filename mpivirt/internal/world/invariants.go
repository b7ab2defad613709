package world

import (
	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// The checks of a build with the tag invariants; see package invariant.

// CheckClocks checks that no clock of LPs lo to hi-1 has gone back since the last check.
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
