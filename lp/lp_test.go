package lp

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestGoroutinesInterleave(t *testing.T) {
	var log []int
	g := NewGoroutines(2, func(i int, self Coroutine) {
		for step := range 3 {
			log = append(log, 10*i+step)
			self.Wait()
		}
	})
	for range 3 {
		for i := range 2 {
			if !g.Resume(i) {
				t.Fatalf("LP %d finished early", i)
			}
		}
	}
	for i := range 2 {
		if g.Resume(i) {
			t.Errorf("LP %d goes on after its last step", i)
		}
	}
	if want := []int{0, 10, 1, 11, 2, 12}; !slices.Equal(log, want) {
		t.Errorf("steps ran as %v; want %v", log, want)
	}
}

func TestStopRunsDeferredCalls(t *testing.T) {
	unwound, finished := 0, false
	g := NewGoroutines(3, func(i int, self Coroutine) {
		defer func() { unwound++ }()
		if i == 2 {
			finished = true
			return
		}
		self.Wait()
		t.Errorf("LP %d ran on after Stop", i)
	})
	g.Resume(0)
	g.Resume(2)
	// LP 1 was never started: there is nothing to unwind in it.
	g.Stop()
	if unwound != 2 || !finished {
		t.Errorf("%d LPs unwound, finished %v; want 2, true", unwound, finished)
	}
}

// Code of an LP that recovers from everything cannot go on when it is unwound, not even
// in a loop.
func TestStopCannotBeRecovered(t *testing.T) {
	laps := 0
	g := NewGoroutines(1, func(_ int, self Coroutine) {
		for {
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("the LP recovers %v", v)
					}
				}()
				laps++
				self.Wait()
			}()
		}
	})
	g.Resume(0)
	g.Resume(0)
	g.Stop()
	if laps != 2 {
		t.Errorf("the LP made %d laps; want 2", laps)
	}
}

// An LP that waits while it is unwound continues to be unwound.
func TestWaitInADeferredCallOfAnLPThatIsStopped(t *testing.T) {
	var log []string
	g := NewGoroutines(1, func(_ int, self Coroutine) {
		defer func() { log = append(log, "outer") }()
		defer func() {
			log = append(log, "inner")
			self.Wait()
			log = append(log, "went on")
		}()
		self.Wait()
	})
	g.Resume(0)
	g.Stop()
	if want := []string{"inner", "outer"}; !slices.Equal(log, want) {
		t.Errorf("the deferred calls were %v; want %v", log, want)
	}
}

// A deferred call keeps an LP that ends by Goexit from ending its engine: it waits and
// is never resumed.
func TestGoexitIsKeptFromTheEngine(t *testing.T) {
	ended, alive := false, false
	engine := make(chan bool)
	g := NewGoroutines(1, func(_ int, self Coroutine) {
		defer func() { ended = true }()
		defer self.Wait()
		runtime.Goexit()
	})
	go func() {
		defer close(engine)
		alive = g.Resume(0)
	}()
	<-engine
	if !alive || ended || g.Ended(0) {
		t.Errorf("after Goexit: alive %t, ended %t, %t", alive, ended, g.Ended(0))
	}
	g.Stop()
	if !ended {
		t.Error("Stop did not run the deferred calls")
	}
}

// A goroutine that an LP has started is distinguished from the LP, wherever the LP's
// stack has moved.
func TestAGoroutineOfAnLPIsAstray(t *testing.T) {
	g := NewGoroutines(1, func(_ int, self Coroutine) {
		self.Wait()
		astray := make(chan bool)
		for range 100 {
			go func() { astray <- self.Astray() }()
			if !<-astray {
				t.Error("a goroutine passes for the LP")
			}
		}
		var deep func(n int)
		deep = func(n int) {
			var frame [100]byte
			if self.Astray() {
				t.Errorf("the LP is astray %d frames from the end", n)
			}
			if n > 0 {
				deep(n - 1)
			}
			_ = frame
		}
		deep(50)
	})
	g.Resume(0)
	g.Resume(0)
}

// coroutines returns the number of goroutines that wait as coroutines.
func coroutines() int {
	buffer := make([]byte, 1<<20)
	return strings.Count(string(buffer[:runtime.Stack(buffer, true)]), "[coroutine")
}

// An LP that begins takes the coroutine of one that has ended. None is kept for LPs that there are
// not: at each instant there are as many as LPs that wait, or that one of those begun may leave its own to.
func TestLPsTakeOverCoroutines(t *testing.T) {
	const n = 40
	var log []int
	g := NewGoroutines(n, func(i int, self Coroutine) {
		log = append(log, i)
		if self.Taken() != (i > 1 && i%10 != 1) {
			t.Errorf("LP %d has taken over a coroutine: %t", i, self.Taken())
		}
		if i%10 == 0 {
			self.Wait()
			log = append(log, -i)
		}
	})
	before, waiting := coroutines(), 0
	resume := func(i int, goesOn bool) {
		t.Helper()
		if g.Resume(i) != goesOn || g.Ended(i) == goesOn {
			t.Fatalf("LP %d goes on: %t; has ended: %t", i, !goesOn, g.Ended(i))
		}
		if goesOn {
			waiting++
		}
		if is := coroutines() - before; is < waiting || is > waiting+1 || i == n-1 && is > waiting {
			t.Errorf("after LP %d there are %d coroutines for %d LPs that wait", i, is, waiting)
		}
	}
	var want []int
	for i := range n {
		resume(i, i%10 == 0)
		want = append(want, i)
	}
	for i := 0; i < n; i += 10 {
		waiting--
		resume(i, false)
		want = append(want, -i)
	}
	if !slices.Equal(log, want) {
		t.Errorf("the LPs ran as %v; want %v", log, want)
	}
}

// Stop leaves no coroutine: neither of LPs that wait, nor one without an LP.
func TestStopEndsSpareCoroutines(t *testing.T) {
	before := coroutines()
	unwound := 0
	g := NewGoroutines(9, func(i int, self Coroutine) {
		defer func() { unwound++ }()
		if i < 3 {
			self.Wait()
		}
		if i == 2 {
			self.Wait()
		}
	})
	for i := range 5 {
		g.Resume(i)
	}
	g.Resume(0)
	g.Resume(1)
	g.Stop()
	if is := coroutines(); is != before || unwound != 5 {
		t.Errorf("%d coroutines stay, %d LPs were unwound; want 0, 5", is-before, unwound)
	}
}

func TestPanicComesOutOfResume(t *testing.T) {
	bad := errors.New("bad rank")
	g := NewGoroutines(1, func(int, Coroutine) { panic(bad) })
	defer func() {
		if r := recover(); r != any(bad) {
			t.Errorf("recovered %v; want %v", r, bad)
		}
	}()
	g.Resume(0)
}

// The floor that goroutine LPs are measured against.
func BenchmarkGoroutineRoundTrip(b *testing.B) {
	g := NewGoroutines(1, func(_ int, self Coroutine) {
		for {
			self.Wait()
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		g.Resume(0)
	}
	g.Stop()
}
