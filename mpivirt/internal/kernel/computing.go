package kernel

import (
	"fmt"
	"math"
	"sync/atomic"

	"gigarank/mpivirt/internal/world"
)

// A rank may compute for as long as it likes. If its kind can be interrupted, the watchdog has it give way now and
// then: the other ranks of the engine go as far as they can, and the engine hears of the others.
// That changes no result, as the order in which ranks run does not. Once a failure is known that comes later in
// virtual time, such a rank is interrupted some times more and then left behind: it might compute
// for ever.

// computing is what an engine knows of ranks that compute for long.
type computing struct {
	aside   []int32          // LPs that were interrupted, to be resumed
	times   map[int32]int    // interruptions of an LP since a failure is known
	left    *world.RankError // nil, or the first that was left behind
	since   atomic.Uint64    // seconds for which the engine has stood still, as the bits of a float64
	hurries atomic.Bool      // an LP has been interrupted and a failure is known
	unheard int              // looks of the watchdog at which no LP could be interrupted though the run is to end
}

// patience is the number of looks of the watchdog, ten in its time, for which a failure waits
// for ranks that compute.
const patience = 10

// SetAside takes an LP whose code was interrupted. It is resumed when nothing else is ready.
func (k *Kernel) SetAside(lp int32) {
	k.computing.aside = append(k.computing.aside, lp)
	// The rest of its turn counts once more.
	k.Engine.Statistics.Events--
	k.Engine.Statistics.Switches--
}

// Drained implements [engine.Kernel].
func (k *Kernel) Drained() {
	k.Collectives.Drained()
	if c := &k.computing; len(c.aside) > 0 {
		for _, lp := range c.aside {
			if k.Limited() && c.enough(lp) {
				k.leaveBehind(lp)
			} else {
				k.Engine.Ready(lp)
			}
		}
		c.aside = c.aside[:0]
	}
}

// enough counts an interruption of an LP after a failure, and reports whether it was the last.
func (c *computing) enough(lp int32) bool {
	if c.times == nil {
		c.times = map[int32]int{}
	}
	c.hurries.Store(true)
	c.times[lp]++
	return c.times[lp] > patience
}

// leaveBehind does not resume an LP any more, which may come before the failure.
func (k *Kernel) leaveBehind(lp int32) {
	if left := k.glance(lp, world.NoProcedure, nil); !k.Dropped(lp) && (k.computing.left == nil || left.Before(k.computing.left)) {
		k.computing.left = left
	}
}

// beside returns a failure with a note on the rank that was left behind for it, if there is one.
func (s *Simulation) beside(err error) error {
	failure, is := err.(*world.RankError)
	if !is {
		return err
	}
	var left *world.RankError
	for i := range s.runs {
		if r := &s.runs[i]; r.ended.Load() && r.kernel.computing.left != nil && (left == nil || r.kernel.computing.left.Before(left)) {
			left = r.kernel.computing.left
		}
	}
	if left == nil {
		return err
	}
	told := *failure
	told.Err = fmt.Errorf("%w; rank %d has computed since its latest call, at %v of virtual time, and was not waited for", failure.Err, left.Rank, left.Time)
	return &told
}

// longestComputing returns the rank that runs on the engine of this process that has stood still longest, and
// for how many seconds, about. It returns 0 seconds if there is none.
func (s *Simulation) longestComputing() (rank int, seconds float64) {
	for i := range s.kernels {
		k := s.kernels[i].Load()
		if k == nil || k.body == nil {
			continue
		}
		if t := math.Float64frombits(k.computing.since.Load()); t > seconds {
			if lp := k.standing(); lp != world.None {
				rank, seconds = k.First+int(lp), t
			}
		}
	}
	return rank, seconds
}
