package coll

import (
	"slices"

	"gigarank/vtime"
)

// hold bounds this engine's EIT by an instant. From that instant on ranks of the engine may act
// that wait for other engines outside virtual time; see [engine.Engine.Cap].
type hold struct {
	held  bool
	least vtime.Time
}

// holdFrom starts a hold at an instant, or moves its instant forward to an earlier one.
func (c *Collectives) holdFrom(h *hold, t vtime.Time) {
	if h.held && h.least <= t {
		return
	}
	if !h.held {
		h.held = true
		c.holds = append(c.holds, h)
	}
	h.least = t
	c.partition.Engine.Cap(t)
}

// endHold ends a hold, if it is in effect, and has the engine keep to the remaining holds.
func (c *Collectives) endHold(h *hold) {
	if !h.held {
		return
	}
	h.held = false
	c.holds = slices.DeleteFunc(c.holds, func(other *hold) bool { return other == h })
	least := vtime.Forever
	for _, other := range c.holds {
		least = min(least, other.least)
	}
	c.partition.Engine.Uncap(least)
}
