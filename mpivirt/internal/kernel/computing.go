package kernel

import (
	"fmt"
	"math"
	"sync/atomic"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
)

// A rank may compute for any length of time. If its kind can be interrupted, the watchdog has it
// yield now and then: then the other ranks of the engine go as far as they can, and the engine
// exchanges messages with other engines. That changes no result, as the order in which ranks run
// does not. Once a failure is known that is later in virtual time, such a rank is interrupted at
// each glance of the watchdog, a few times more, and is then left behind: it might compute forever.

// computing is an engine's state of ranks that compute for long.
type computing struct {
	aside   []int32          // interrupted LPs, to be resumed
	times   int              // number of interruptions since a failure is known
	asked   map[int32]bool   // LPs that have been interrupted since then
	paused  float64          // value of since at the latest interruption
	left    *world.RankError // the first rank that was left behind, nil for none
	since   atomic.Uint64    // seconds for which the engine has stood still, as the bits of a float64
	hurries atomic.Bool      // an LP has been interrupted and a failure is known
	others  atomic.Bool      // an LP is aside and CPU times do not count: the other LPs soon have their turn
	unheard int              // glances of the watchdog at which a failure was known and no LP could be interrupted
}

const (
	// turns is the number of times in a watchdog's time limit that a computing rank yields to
	// others.
	turns = 5
	// patience is the number of glances of the watchdog, in one such turn, for which a failure
	// waits for ranks that compute.
	patience = engine.Glances / turns
)

// SetAside stores an LP whose code was interrupted. The engine resumes it when no other LP is
// ready.
func (k *Kernel) SetAside(lp int32) {
	k.computing.aside = append(k.computing.aside, lp)
	k.computing.others.Store(!k.Bursting())
	// The second part of the LP's turn is counted once more.
	k.partition.Engine.Statistics.Events--
	k.partition.Engine.Statistics.Switches--
}

// Drained implements [engine.Kernel].
func (k *Kernel) Drained() {
	k.collectives.Drained()
	if c := &k.computing; len(c.aside) > 0 {
		for _, lp := range c.aside {
			if (k.partition.Limited() || k.partition.Fails() && k.partition.HasLeft(lp)) && c.enough(lp) {
				k.leaveBehind(lp)
			} else {
				k.partition.Engine.Ready(lp)
			}
		}
		c.aside = c.aside[:0]
		c.others.Store(false)
	}
}

// enough counts an interruption of an LP after a failure, and reports whether it is the LP's last:
// the engine has waited long enough, and the LP has computed for one glance at least.
func (c *computing) enough(lp int32) bool {
	if c.asked == nil {
		c.asked = map[int32]bool{}
	}
	c.hurries.Store(true)
	c.times++
	before := c.asked[lp]
	c.asked[lp] = true
	return before && c.times > patience
}

// leaveBehind stops resuming an LP that may still be before the failure.
func (k *Kernel) leaveBehind(lp int32) {
	if left := k.glance(lp, world.NoProcedure, nil); !k.partition.Dropped(lp) && (k.computing.left == nil || left.Before(k.computing.left)) {
		k.computing.left = left
	}
}

// beside returns a failure with a note on the rank that was left behind for it, if any.
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

// longestComputing returns the running rank of the engine of this process that has stood still
// longest, and for how many seconds, approximately. Without such an engine it returns 0 seconds.
func (s *Simulation) longestComputing() (rank int, seconds float64) {
	for i := range s.kernels {
		k := s.kernels[i].Load()
		if k == nil || k.body == nil {
			continue
		}
		if t := math.Float64frombits(k.computing.since.Load()); t > seconds {
			if lp := k.standing(); lp != world.None {
				rank, seconds = k.partition.First+int(lp), t
			}
		}
	}
	return rank, seconds
}
