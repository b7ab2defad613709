package lp

import (
	"errors"
	"runtime"
	"slices"
	"testing"
)

func ignore(int) {}

func TestGoroutinesInterleave(t *testing.T) {
	var log []int
	g := NewGoroutines(2, func(i int, self Coroutine) {
		for step := range 3 {
			log = append(log, 10*i+step)
			self.Wait()
		}
	}, ignore)
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
	}, ignore)
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
	}, ignore)
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
	}, ignore)
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
	}, ignore)
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
	}, ignore)
	g.Resume(0)
	g.Resume(0)
}

func TestPanicComesOutOfResume(t *testing.T) {
	bad := errors.New("bad rank")
	g := NewGoroutines(1, func(int, Coroutine) { panic(bad) }, ignore)
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
	}, ignore)
	b.ReportAllocs()
	for b.Loop() {
		g.Resume(0)
	}
	g.Stop()
}
