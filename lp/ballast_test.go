package lp

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// read returns a figure of the runtime.
func read(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// While LPs begin, the collector does not walk their stacks: from the start it lets the heap grow as
// it would with all of them. The ballast goes when the last LP begins.
func TestCollectorWaitsUntilLPsHaveBegun(t *testing.T) {
	const n = 2 * fewLPs
	g := NewGoroutines(n, func(_ int, self Coroutine) { self.Wait() })
	defer g.Stop()
	runtime.GC()
	g.HoldCollector()
	runtime.GC()
	if goal := read("/gc/heap/goal:bytes"); goal < 2*n*lpBytes {
		t.Errorf("the collector lets the heap grow to %d bytes, and %d LPs have %d", goal, n, n*lpBytes)
	}
	collections := read("/gc/cycles/automatic:gc-cycles")
	for i := range n {
		g.Resume(i)
	}
	if more := read("/gc/cycles/automatic:gc-cycles") - collections; more > 0 {
		t.Errorf("%d collections while %d LPs began", more, n)
	}
	if g.ballast != nil {
		t.Error("the ballast is left when all LPs have begun")
	}
}

// A collector that is off, or has a limit of memory to keep, gets no ballast.
func TestNoBallastWithoutTheUsualPace(t *testing.T) {
	g := NewGoroutines(2*fewLPs, nil)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if g.HoldCollector(); g.ballast != nil {
		t.Error("the collector is off, and there is a ballast")
	}
	debug.SetGCPercent(100)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	if g.HoldCollector(); g.ballast != nil {
		t.Error("the memory has a limit, and there is a ballast")
	}
}
