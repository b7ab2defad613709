package mpivirt_test

import (
	"errors"
	"fmt"
	"strings"
	stdsync "sync"
	"sync/atomic"
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

// watched runs a program on some engines with an impatient watchdog.
func watched(t *testing.T, p mpivirt.Program, ranks, engines int, seconds float64) (*mpivirt.Result, error) {
	t.Helper()
	s, err := mpivirt.New(mpivirt.Config{
		Target: target(t, flat4, ranks), Program: p, Transports: sync.NewInProcess(engines), Watchdog: seconds,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Run()
}

// A rank that waits for another one by something else than MPI ends the run: it is
// named with its clock and the call before, and the rule is told.
func TestARankBlockedOutsideMPIIsNamed(t *testing.T) {
	for engines := 1; engines <= 3; engines++ {
		t.Run(fmt.Sprintf("%d engines", engines), func(t *testing.T) {
			t.Parallel() // the watchdog waits
			rankBlockedOutsideMPI(t, engines)
		})
	}
}

// rankBlockedOutsideMPI runs goroutine ranks and event ranks that block.
func rankBlockedOutsideMPI(t *testing.T, engines int) {
	t.Helper()
	for name, main := range map[string]func(r *mpivirt.Rank, lock *stdsync.Mutex, line chan int) error{
		"chan receive": func(r *mpivirt.Rank, _ *stdsync.Mutex, line chan int) error {
			if r.Rank() == 1 {
				<-line
			}
			err := r.World().Barrier()
			line <- 1
			return err
		},
		"sync.Mutex.Lock": func(r *mpivirt.Rank, lock *stdsync.Mutex, _ chan int) error {
			if r.Rank() != 1 {
				return r.World().Barrier()
			}
			lock.Lock()
			lock.Lock() // as another rank that waits in a barrier would
			return nil
		},
		"chan send": func(r *mpivirt.Rank, _ *stdsync.Mutex, line chan int) error {
			if r.Rank() == 1 {
				line <- 1
			}
			return r.World().Barrier()
		},
	} {
		var lock stdsync.Mutex
		line := make(chan int)
		r, err := watched(t, mpivirt.Program{Name: name, Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.Compute(us(1 + r.Rank()))
			if err := r.World().SendSize(8, (r.Rank()+1)%r.Size(), 0); err != nil {
				return err
			}
			return main(r, &lock, line)
		})}}, 6, engines, 0.1)
		var f *mpivirt.RankError
		if !errors.As(err, &f) || f.Rank != 1 || f.Time != at(2) || f.Call != "Send" || r.Complete {
			t.Fatalf("%s, %d engines: %v", name, engines, err)
		}
		for _, text := range []string{name + " at foreigncall_test.go", "blocked outside MPI", "docs/programs.md"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s, %d engines: %v does not say %q", name, engines, err, text)
			}
		}
	}
	line := make(chan int)
	_, err := watched(t, mpivirt.Program{Name: "event", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, _ *struct{}) steps.Outcome {
			if r.Rank() == 3 {
				r.Compute(us(7))
				<-line
			}
			return r.Barrier()
		})
	})}}, 6, engines, 0.1)
	var f *mpivirt.RankError
	if !errors.As(err, &f) || f.Rank != 3 || f.Time != at(7) || !strings.Contains(err.Error(), "chan receive") {
		t.Errorf("event ranks, %d engines: %v", engines, err)
	}
}

// A rank that fails while it holds what another one waits for is the cause.
func TestAFailureIsTheCauseOfABlock(t *testing.T) {
	for engines := 1; engines <= 2; engines++ {
		var lock stdsync.Mutex
		locked := make(chan int)
		_, err := watched(t, mpivirt.Program{Name: "lock", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			if r.Rank() == 0 {
				lock.Lock()
				close(locked)
				r.Compute(us(9))
				return mpivirt.Send(r.World(), []byte{1}, 77, 0)
			}
			if r.Rank() == 3 {
				<-locked
				lock.Lock()
			}
			return r.World().Barrier()
		})}}, 4, engines, 0.1)
		if !errors.Is(err, mpivirt.ErrRank) {
			t.Errorf("%d engines: %v", engines, err)
		}
	}
}

// What takes long and is no wait for a rank is left alone: a computation, a sleep,
// helpers, and an output whose reader is slow.
func TestTheWatchdogLeavesAlone(t *testing.T) {
	const long = 300 * time.Millisecond
	compute := func() {
		for began := time.Now(); time.Since(began) < long; {
		}
	}
	for name, do := range map[string]func(r *mpivirt.Rank){
		"a computation": func(*mpivirt.Rank) { compute() },
		"a sleep":       func(*mpivirt.Rank) { time.Sleep(long) },
		"helpers": func(*mpivirt.Rank) {
			var helpers stdsync.WaitGroup
			for range 2 {
				helpers.Go(compute)
			}
			helpers.Wait()
		},
		"output": func(r *mpivirt.Rank) { r.Printf("slow") },
	} {
		s, err := mpivirt.New(mpivirt.Config{
			Target: target(t, flat4, 4), Transports: sync.NewInProcess(2), Watchdog: 0.03,
			Program: mpivirt.Program{Name: name, Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				if r.Rank() == 2 {
					do(r)
				}
				return r.World().Barrier()
			})}},
			Output: func(string) {
				ready := make(chan int)
				time.AfterFunc(long, func() { close(ready) })
				<-ready
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.Run(); err != nil || r.Finished != 4 {
			t.Errorf("%s: %d ranks finished, %v", name, r.Finished, err)
		}
	}
}

// A negative time switches the watchdog off.
func TestTheWatchdogIsOff(t *testing.T) {
	opened := make(chan int)
	time.AfterFunc(500*time.Millisecond, func() { close(opened) })
	if _, err := watched(t, mpivirt.Program{Name: "wait", Forms: []mpivirt.Form{mpivirt.Main(func(*mpivirt.Rank) error {
		<-opened
		return nil
	})}}, 2, 1, -1); err != nil {
		t.Error(err)
	}
}

// A rank that uses what belongs to another one is named.
func TestAnotherRanksThingsAreRefused(t *testing.T) {
	for name, use := range map[string]func(other *mpivirt.Rank, q *mpivirt.Request) error{
		"Barrier": func(other *mpivirt.Rank, _ *mpivirt.Request) error { return other.World().Barrier() },
		"Send": func(other *mpivirt.Rank, _ *mpivirt.Request) error {
			return mpivirt.Send(other.World(), []byte{1}, 0, 0)
		},
		"Irecv": func(other *mpivirt.Rank, _ *mpivirt.Request) error {
			_, err := mpivirt.Irecv(other.World(), []byte{1}, 0, 0)
			return err
		},
		"Wait":    func(_ *mpivirt.Rank, q *mpivirt.Request) error { _, err := q.Wait(); return err },
		"Compute": func(other *mpivirt.Rank, _ *mpivirt.Request) error { other.Compute(1); return nil },
		"Ibarrier": func(other *mpivirt.Rank, _ *mpivirt.Request) error {
			_, err := other.World().Ibarrier()
			return err
		},
	} {
		for engines := 1; engines <= 2; engines++ {
			var shared *mpivirt.Rank
			var request mpivirt.Request
			_, err := watched(t, mpivirt.Program{Name: name, Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				if r.Rank() == 0 {
					q, err := mpivirt.Irecv(r.World(), []byte{0}, mpivirt.AnySource, 9)
					if err != nil {
						return err
					}
					shared, request = r, q
				}
				if err := r.World().Barrier(); err != nil {
					return err
				}
				if r.Rank() == 1 {
					r.Compute(us(1))
					return use(shared, &request)
				}
				_, err := mpivirt.Recv(r.World(), []byte{0}, 1, 0)
				return err
			})}}, 4, engines, 0.5)
			var f *mpivirt.RankError
			if !errors.As(err, &f) || f.Rank != 1 || !strings.Contains(err.Error(), "of rank 0") {
				t.Errorf("%s, %d engines: %v", name, engines, err)
			}
		}
	}
}

// A goroutine that calls MPI in the place of its rank is found, whether the rank waits
// for it or in MPI. One that has got the stack which its rank has just outgrown may pass for
// the rank, which is rare: see lp.Coroutine.Astray.
func TestAGoroutineThatCallsMPIIsFound(t *testing.T) {
	for name, main := range map[string]func(r *mpivirt.Rank) error{
		"the rank waits for it": func(r *mpivirt.Rank) error {
			var helper stdsync.WaitGroup
			helper.Go(func() { _ = r.World().Barrier() })
			helper.Wait()
			return nil
		},
		"it aborts": func(r *mpivirt.Rank) error {
			var helper stdsync.WaitGroup
			helper.Go(func() { r.Abort(4) })
			helper.Wait()
			return r.World().Barrier()
		},
		"it makes an error": func(r *mpivirt.Rank) error {
			var helper stdsync.WaitGroup
			helper.Go(func() { _ = mpivirt.Bcast(r.World(), []byte{1}, 99) })
			helper.Wait()
			return r.World().Barrier()
		},
		"the rank waits for it in vain": func(r *mpivirt.Rank) error {
			over := make(chan int)
			go func() {
				_ = r.World().Barrier()
				over <- 1
			}()
			<-over
			return nil
		},
	} {
		for engines := 1; engines <= 2; engines++ {
			find := func() error {
				_, err := watched(t, mpivirt.Program{Name: name, Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					r.Compute(us(3))
					if err := r.World().Barrier(); err != nil {
						return err
					}
					if r.Rank() == 3 {
						return main(r)
					}
					return r.World().Barrier()
				})}}, 4, engines, 0.2)
				return err
			}
			err := find()
			for attempt := 0; err == nil && attempt < 2; attempt++ {
				err = find()
			}
			var f *mpivirt.RankError
			if !errors.As(err, &f) || f.Rank != 3 || f.Time < at(3) || f.Call == "" || !strings.Contains(err.Error(), "goroutine") {
				t.Errorf("%s, %d engines: %v", name, engines, err)
			}
		}
	}
}

// A rank that is unwound can call MPI in its deferred calls as often as it likes.
func TestMPIInDeferredCallsOfAnUnwoundRank(t *testing.T) {
	unwound := 0
	s, err := mpivirt.New(mpivirt.Config{
		Target: target(t, flat4, 4), Transports: sync.NewInProcess(1),
		Program: mpivirt.Program{Name: "unwound", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			defer func() {
				defer func() { unwound++ }()
				for {
					_ = r.World().Barrier()
				}
			}()
			_, err := mpivirt.Recv(r.World(), []byte{0}, mpivirt.AnySource, 3)
			return err
		})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(); err == nil {
		t.Error("no deadlock")
	}
	s.Close()
	if unwound != 4 {
		t.Errorf("%d ranks unwound, want 4", unwound)
	}
}

// Without a watchdog's look, long runs are what they were: it does not count as time.
func TestTheWatchdogChangesNothing(t *testing.T) {
	first := ""
	for _, seconds := range []float64{-1, 0, 0.01} {
		r, err := watched(t, ofEveryKind(func(rank int) vtime.Duration { return us(rank) }, func(int) error { return nil }), 64, 2, seconds)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Fingerprint, r.Finished); first == "" {
			first = got
		} else if got != first {
			t.Errorf("watchdog of %g s: %s, else %s", seconds, got, first)
		}
	}
}

// A rank that computes for ever does not hold up the failure of another one in the same process, and the
// progress names it meanwhile. A goroutine cannot be interrupted, so that its engine is left behind.
func TestFailureBesideComputing(t *testing.T) {
	var ended atomic.Bool
	s, err := mpivirt.New(mpivirt.Config{
		Target: target(t, flat4, 2), Transports: sync.NewInProcess(2), Watchdog: 0.3,
		Program: mpivirt.Program{Name: "beside", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.Compute(us(10 - r.Rank()))
			if r.Rank() == 0 {
				return errors.New("enough")
			}
			for !ended.Load() { // it comes before the failure
			}
			return nil
		})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	named := make(chan bool)
	go func() {
		seen := false
		for !ended.Load() {
			p := s.Progress()
			seen = seen || p.ComputingFor > 0 && p.Computing == 1
			time.Sleep(time.Millisecond)
		}
		named <- seen
	}()
	_, err = s.Run()
	ended.Store(true)
	var f *mpivirt.RankError
	if !errors.As(err, &f) || f.Rank != 0 || !strings.Contains(err.Error(), "enough") {
		t.Errorf("ended with %v, want the failure of rank 0", err)
	}
	if !<-named {
		t.Error("the progress does not name the rank that computes")
	}
}
