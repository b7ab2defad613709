package lp

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// held returns the memory that the runtime has free with its pages in place, and all that it has.
func held() (free, all uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[2].Value.Uint64() - s[1].Value.Uint64()
}

// The stacks of LPs take the memory that has been touched for them, and no other.
func TestStacksTakeTouchedMemory(t *testing.T) {
	const n, rest = 2 * fewStacks, 2048 // what an LP takes beside its stack, with room
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	before, _ := held()
	TouchStacks(n, 2, nil)
	free, all := held()
	if free < before+n*stackBytes*9/10 {
		t.Errorf("%d bytes are free with their pages in place, %d before: too few for %d stacks", free, before, n)
	}
	g := NewGoroutines(n, func(_ int, self Coroutine) { self.Wait() }, func(int) {})
	defer g.Stop()
	left, after := held()
	if after > all+n*rest {
		t.Errorf("with %d LPs the process has %d bytes, %d before: the stacks took other memory than was touched", n, after, all)
	}
	if left+n*stackBytes/2 > free {
		t.Errorf("of %d free bytes %d are left with %d LPs", free, left, n)
	}
}

// Few LPs, and those of one maker, need no collection.
func TestFewStacksAreNotTouched(t *testing.T) {
	s := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(s)
	before := s[0].Value.Uint64()
	TouchStacks(fewStacks-1, 2, nil)
	TouchStacks(2*fewStacks, 1, nil)
	if metrics.Read(s); s[0].Value.Uint64() != before {
		t.Error("memory was touched")
	}
}
