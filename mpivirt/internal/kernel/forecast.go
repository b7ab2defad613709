package kernel

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/ptp"
)

// Memory of an engine before it has ranks, in bytes, measured with 64 to 2,048 engines.
const (
	engineBytes = 34 << 10
	chunkBytes  = 16 << 10 // processors' chunks that are used in part
)

// CostOf returns an estimate of the host's time and memory for the ranks of WORLD, on a
// number of engines, that call collectives one after another. Without collectives it is the
// memory of the ranks alone. The program's own memory is not included.
//
// Room coll chooses the interpreters, and a rehearsal with few participants counts memory.
// Memory is right within 10 %, but for chunks of slabs that are used in part, some hundreds of
// kilobytes. On several engines it depends on which of them is ahead, and some runs of the same
// command take 15 % more or less than others. If an engine stands still for long, as where cores are
// fewer than engines, the others go on until their windows to it are full: what those hold comes on top,
// two to three times their bytes where messages are small. With state at the receiver it is counted for
// messages of over 32 KiB. Times are right within a factor of three.
//
// It reads Target, Kind, Protocol, Collectives, Algorithms and Window of the Config.
// Without a Target it counts no collectives.
func CostOf(c *Config, engines int, uses ...coll.Use) coll.Cost {
	const clock = 8
	cost := coll.Cost{BytesPerRank: clock, BytesPerEngine: engineBytes}
	if kind := c.kind(); kind != nil {
		cost.BytesPerRank = max(clock, kind.Bytes)
		cost.BytesPerEngine += kind.Engine
	}
	if c.Target == nil {
		return cost
	}
	if c.Target.ReceiverState() {
		cost.BytesPerRank += ptp.ProcessorBytes()
		cost.BytesPerEngine += chunkBytes
	}
	h := coll.Hosting{
		Target: c.Target, Engines: engines, Wanted: c.Collectives, Null: c.Protocol == engine.Null, Window: c.Window,
	}
	if kind := c.kind(); kind != nil {
		h.Time, h.Transient = kind.Time, kind.Transient
	}
	var most coll.Cost
	for _, use := range uses {
		one := h.CostOf(c.Algorithm(use.Operation), use)
		most.Time += one.Time
		most.BytesPerRank = max(most.BytesPerRank, one.BytesPerRank)
		most.BytesPerEngine = max(most.BytesPerEngine, one.BytesPerEngine)
		cost.ByMessages = cost.ByMessages || one.ByMessages
	}
	cost.BytesPerRank += most.BytesPerRank
	cost.BytesPerEngine += most.BytesPerEngine
	cost.Time = most.Time
	return cost
}

// HeldBytes returns the memory that a program's ranks hold for point-to-point messages, over
// what [CostOf] counts.
func HeldBytes(c *Config, h ptp.Held) float64 {
	return h.Bytes(c.Target != nil && c.Target.ReceiverState())
}
