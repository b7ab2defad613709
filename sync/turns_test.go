package sync

import (
	"runtime"
	"slices"
	stdsync "sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// post sends a message to an end, as another engine does.
func post(to Transport) { to.(*inProcess).accept(&letter{message: []byte{1}}) }

// TestTheLeastEngineRunsNext: of the engines for which messages have come while another one has
// the only turn, those of lesser numbers run first.
func TestTheLeastEngineRunsNext(t *testing.T) {
	const last = 70 // more than a word of the set
	ends := NewInTurns(last+1, 1)
	var order []int // guarded by the turn
	ran := make(chan struct{}, len(ends))
	var running stdsync.WaitGroup
	for i := range ends {
		running.Go(func() {
			receive := func() {
				for {
					if _, m, _ := ends[i].Receive(); m != nil {
						return
					}
					_ = ends[i].Wait(time.Minute)
				}
			}
			receive()
			order = append(order, i)
			if i == last {
				for _, to := range []int{3, 69, 1, 64, 2, 0} {
					post(ends[to])
				}
			}
			ran <- struct{}{}
			ends[i].Leave()
		})
	}
	asleep := func(i int) bool { return ends[i].(*inProcess).asleep.Load() }
	for i := range ends {
		for !asleep(i) {
			runtime.Gosched()
		}
	}
	post(ends[last])
	for range 7 {
		<-ran
	}
	for i := range ends {
		if i != last && !slices.Contains([]int{0, 1, 2, 3, 64, 69}, i) {
			post(ends[i])
		}
	}
	running.Wait()
	if want := []int{last, 0, 1, 2, 3, 64, 69}; !slices.Equal(order[:len(want)], want) {
		t.Errorf("engines ran in the order %v, want %v", order[:len(want)], want)
	}
}

// TestAnEngineWithoutATurnGoesOn: a Wait ends at its limit, or by Wake, though an engine that
// does not wait keeps the only turn.
func TestAnEngineWithoutATurnGoesOn(t *testing.T) {
	ends := NewInTurns(3, 1)
	woken := make(chan int, 3)
	for i, limit := range []time.Duration{time.Minute, time.Millisecond, time.Minute} {
		go func() {
			_ = ends[i].Wait(limit)
			woken <- i
		}()
	}
	for !ends[0].(*inProcess).asleep.Load() || !ends[2].(*inProcess).asleep.Load() {
		runtime.Gosched()
	}
	post(ends[0]) // 0 has the turn from now on
	seen := map[int]bool{<-woken: true, <-woken: true}
	if !seen[0] || !seen[1] {
		t.Fatalf("engines %v ran, want 0 and 1", seen)
	}
	post(ends[2])
	select {
	case <-woken:
		t.Error("engine 2 ran, but engine 0 has the turn")
	case <-time.After(10 * time.Millisecond):
	}
	ends[2].Wake()
	<-woken
}

// TestNullNeedsNoTurn: an engine that runs at any time runs when a message comes, though another
// one keeps the only turn.
func TestNullNeedsNoTurn(t *testing.T) {
	ends := NewInTurns(2, 1)
	ends[1].(*inProcess).runAnyTime()
	woken := make(chan int, 2)
	for i := range ends {
		go func() {
			_ = ends[i].Wait(time.Minute)
			woken <- i
		}()
	}
	for i := range ends {
		for !ends[i].(*inProcess).asleep.Load() {
			runtime.Gosched()
		}
		post(ends[i])
		if got := <-woken; got != i {
			t.Errorf("engine %d ran, want %d", got, i)
		}
	}
}

// TestNumberSet compares a set with a map.
func TestNumberSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.SampledFrom([]int{1, 2, 63, 64, 65, 4096, 4097, 300_000}).Draw(t, "bound")
		set, twin := newNumberSet(bound), map[int]bool{}
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			n := rapid.IntRange(0, bound-1).Draw(t, "n")
			if rapid.Bool().Draw(t, "add") {
				set.add(n)
				twin[n] = true
			} else {
				set.remove(n)
				delete(twin, n)
			}
			want, some := bound, false
			for m := range twin {
				want, some = min(want, m), true
			}
			if got, ok := set.least(); ok != some || ok && got != want {
				t.Fatalf("the least of %v is %d, %v", twin, got, ok)
			}
		}
	})
}

// TestASweepEndsALongWait: the second sweep after a Wait has begun ends it, though an engine that
// does not wait keeps the only turn, and sweeps go on as long as an engine sleeps.
func TestASweepEndsALongWait(t *testing.T) {
	ends := NewInTurns(2, 1)
	turns := ends[0].(*inProcess).group.turns
	asleep := func() bool { return ends[1].(*inProcess).asleep.Load() }
	woken := make(chan bool)
	go func() {
		_ = ends[1].Wait(longestSleep)
		woken <- true
	}()
	for !asleep() {
		runtime.Gosched()
	}
	turns.lock.Lock()
	turns.free = 0 // as if engine 0 had the turn
	turns.lock.Unlock()
	post(ends[1])
	turns.sweep()
	if sleeping := ends[1].(*inProcess).sleeping; !sleeping || !turns.sweeping {
		t.Fatalf("after a sweep the engine sleeps: %v, and sweeps go on: %v; want both", sleeping, turns.sweeping)
	}
	turns.sweep()
	<-woken
	if turns.sweeping {
		t.Error("sweeps go on, but nobody sleeps")
	}
}

// TestWorkers: workers run the engines in turns, the one of the least number for which a message has
// come next, until all have ended; an engine that is given up holds up none.
func TestWorkers(t *testing.T) {
	ends := NewInTurns(4, 1)
	turns := TurnsOf(ends)
	if got := turns.Hire(); got != 1 {
		t.Fatalf("%d workers, want 1", got)
	}
	// Pauses engine, which has been run, and expects another one to be next.
	pause := func(engine, want int) {
		t.Helper()
		ends[engine].(*inProcess).limit = time.Minute
		if got := turns.Pause(engine); got != want {
			t.Fatalf("after engine %d has paused engine %d runs, want %d", engine, got, want)
		}
	}
	if got := turns.Next(); got != 0 {
		t.Fatalf("engine %d runs first", got)
	}
	pause(0, 1)
	post(ends[0])
	pause(1, 0) // before 2, which has not begun
	pause(0, 0) // a message has come that it has not received
	if _, m, _ := ends[0].Receive(); m == nil {
		t.Fatal("no message")
	}
	ends[1].Wake()
	pause(0, 1)
	pause(1, 2)
	ends[2].Wake() // awake: its next pause ends at once
	pause(2, 2)
	pause(2, 3)
	pause(3, -1)
	post(ends[2])
	if got := turns.Next(); got != 2 {
		t.Fatalf("engine %d runs, want 2, for which a message has come", got)
	}
	post(ends[3])
	turns.Lose(2)
	if got := turns.Next(); got != 3 {
		t.Fatalf("engine %d runs, want 3, since 2 is given up", got)
	}
	_, _, _ = ends[3].Receive()
	ends[3].(*inProcess).limit = time.Millisecond
	if got := turns.Pause(3); got != -1 {
		t.Fatalf("engine %d runs, want none", got)
	}
	if got := turns.Next(); got != 3 {
		t.Fatalf("engine %d runs, want 3, whose limit has passed", got)
	}
	post(ends[0])
	if got := turns.End(3); got != 0 {
		t.Fatalf("engine %d runs, want 0", got)
	}
	turns.sweep()
	turns.sweep()
	if got := turns.End(0); got != 1 {
		t.Fatalf("engine %d runs, want 1, which has slept for two sweeps", got)
	}
	if got := turns.End(1); got != -1 {
		t.Fatalf("engine %d runs, want none", got)
	}
	for range 2 { // workers
		if got := turns.Next(); got != -1 {
			t.Fatalf("engine %d runs after the end", got)
		}
	}
}
