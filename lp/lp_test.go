package lp

import (
	"errors"
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
