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

// LPs take the memory that has been touched for them, and hardly any other.
func TestLPsTakeTouchedMemory(t *testing.T) {
	const n, rest = 2 * fewLPs, 256 + grown // what an LP takes beyond that, with room
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	TouchPages(n, 2, nil)
	free, all := held()
	if free < n*lpBytes*9/10 {
		t.Errorf("%d bytes are free with their pages in place: too few for %d LPs", free, n)
	}
	g := NewGoroutines(n, func(_ int, self Coroutine) { self.Wait() })
	defer g.Stop()
	for i := range n {
		g.Resume(i)
	}
	left, after := held()
	if after > all+n*rest {
		t.Errorf("with %d LPs the process has %d bytes, %d before: they took other memory than was touched", n, after, all)
	}
	if left+n*lpBytes/2 > free {
		t.Errorf("of %d free bytes %d are left with %d LPs", free, left, n)
	}
}

// Few LPs, and those of one maker, need no collection.
func TestNothingIsTouchedForFewLPs(t *testing.T) {
	s := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(s)
	before := s[0].Value.Uint64()
	TouchPages(fewLPs-1, 2, nil)
	TouchPages(2*fewLPs, 1, nil)
	if metrics.Read(s); s[0].Value.Uint64() != before {
		t.Error("memory was touched")
	}
}
