package coll

import (
	"slices"

	"gigarank/vtime"
)

// hold keeps promises from taking this engine's EIT past an instant from which on ranks
// of it act that wait for other engines outside virtual time; see [engine.Engine.Cap].
type hold struct {
	held  bool
	least vtime.Time
}

// holdFrom begins a hold at an instant, or extends one to it.
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

// endHold ends a hold, if it has begun, and tells the engine what others there are.
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
