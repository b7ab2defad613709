package lp

import (
	"math"
	"runtime/metrics"
	"strings"
)

// The collector walks all stacks, and does so each time the heap has doubled. While many LPs begin,
// half of the time would go there. A ballast has the collector reckon with the LPs from the start:
// until all have begun, the heap may grow by as much as they take themselves. Nobody touches the
// ballast, so it takes addresses and no memory.

// HoldCollector holds the collector back until all LPs have begun, unless they are few. The process
// then takes about as much memory at most as it may once they have. It leaves a collector alone that is off, or has a
// limit of memory to keep. Where addresses are limited, as by ulimit -v, the addresses of the ballast count. It is
// called before an LP begins.
func (g *Goroutines) HoldCollector() {
	if g.unbegun < fewLPs || !usualPace() {
		return
	}
	g.ballast = new(strings.Builder)
	g.ballast.Grow(g.unbegun * lpBytes) // without clearing it, as make may do
}

// usualPace reports whether the size of the heap alone sets the pace of the collector.
func usualPace() bool {
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() <= math.MaxInt32 && samples[1].Value.Uint64() == math.MaxInt64
}
