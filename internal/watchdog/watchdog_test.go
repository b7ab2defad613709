package watchdog

import (
	"iter"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// worker is a subject whose goroutine does one thing and then counts for ever.
type worker struct {
	home    uint64
	count   atomic.Uint64
	rests   atomic.Bool
	outside string // where it waits outside Go
}

func (w *worker) Progress() (uint64, bool) { return w.count.Load(), !w.rests.Load() }
func (w *worker) Home() uint64             { return w.home }
func (w *worker) Outside() string          { return w.outside }
func (w *worker) Still(float64)            {}

// watched starts a goroutine that calls do, and returns where the watchdog finds it
// blocked, or "" if it ends before that.
func watched(t *testing.T, limit time.Duration, do func(w *worker)) string {
	t.Helper()
	found, done, home := make(chan string, 1), make(chan string, 1), make(chan *worker)
	go func() { // goroutines that other cases have left behind are not of this home
		w := &worker{home: Goroutine()}
		go func() {
			do(w)
			done <- ""
		}()
		home <- w
	}()
	w := <-home
	stop := Watch([]Subject{w}, limit.Seconds(), func(_ int, where string) bool {
		found <- where
		return true
	})
	defer stop()
	select {
	case where := <-found:
		return where
	case where := <-done:
		return where
	case <-time.After(time.Minute):
		t.Fatal("a minute has gone")
		return ""
	}
}

func TestWhatBlocksIsFound(t *testing.T) {
	var lock sync.Mutex
	var group sync.WaitGroup
	lock.Lock()
	group.Add(1)
	for says, do := range map[string]func(*worker){
		"chan receive":    func(*worker) { <-make(chan int) },
		"chan send":       func(*worker) { make(chan int) <- 1 },
		"select":          func(*worker) { select {} },
		"sync.Mutex.Lock": func(*worker) { lock.Lock() },
		"sync.WaitGroup":  func(*worker) { group.Wait() },
		"watchdog_test":   func(*worker) { <-make(chan int) },
		"chan receive at": func(*worker) {
			started := make(chan int)
			go func() { close(started); select {} }() // it is no help
			<-started
			<-make(chan int)
		},
	} {
		const limit = 50 * time.Millisecond
		began := time.Now()
		if where := watched(t, limit, do); !strings.Contains(where, says) || time.Since(began) < limit {
			t.Errorf("found %q after %v, want %q after %v", where, time.Since(began), says, limit)
		}
	}
}

// A subject that computes, sleeps, waits for the host or for its own helpers, or rests
// in its own way is not reported, for much longer than the limit.
func TestWhatGoesOnIsLeftAlone(t *testing.T) {
	const limit = 20 * time.Millisecond
	compute := func() {
		for began := time.Now(); time.Since(began) < 10*limit; {
		}
	}
	for name, do := range map[string]func(w *worker){
		"computing": func(*worker) { compute() },
		"sleeping":  func(*worker) { time.Sleep(10 * limit) },
		"reading": func(*worker) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Error(err)
				return
			}
			time.AfterFunc(10*limit, func() { _ = w.Close() })
			if _, err := r.Read(make([]byte, 1)); err == nil {
				t.Error("read something")
			}
		},
		"helped": func(*worker) {
			var helpers sync.WaitGroup
			helpers.Go(func() {
				var more sync.WaitGroup
				more.Go(compute)
				more.Wait()
			})
			helpers.Wait()
		},
		"resting": func(w *worker) {
			w.rests.Store(true)
			wake := make(chan int)
			time.AfterFunc(10*limit, func() { close(wake) })
			<-wake
		},
	} {
		if where := watched(t, limit, do); where != "" {
			t.Errorf("%s: found blocked in %s", name, where)
		}
	}
}

// A subject that counts now and then is not reported, whatever its goroutine does at
// the moment.
func TestWhatCountsIsLeftAlone(t *testing.T) {
	w := &worker{home: Goroutine()}
	go func() { select {} }()
	s := suspect{due: Glances}
	for i := range 10 * Glances {
		if i%Glances == 0 {
			w.count.Add(1)
		}
		if where := s.look(w, 0.05); where != "" {
			t.Fatalf("look %d finds it blocked in %s", i, where)
		}
	}
}

// The runtime distinguishes a process in which a goroutine runs from an idle one.
func TestAnIdleProcessIsSeen(t *testing.T) {
	var end atomic.Bool
	for range 2 {
		go func() {
			for !end.Load() {
			}
		}()
	}
	for processIdle() { // until one of them runs
		time.Sleep(time.Millisecond)
	}
	end.Store(true)
	for began := time.Now(); !processIdle(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("the process does not become idle")
		}
	}
}

// A goroutine that runs in turn with the subject's, as a coroutine, is found where it waits.
func TestACoroutineThatBlocksIsFound(t *testing.T) {
	const limit = 50 * time.Millisecond
	where := watched(t, limit, func(*worker) {
		next, _ := iter.Pull(func(yield func(int) bool) {
			yield(1)
			<-make(chan int)
		})
		next()
		next()
	})
	if !strings.Contains(where, "chan receive at watchdog_test.go") {
		t.Errorf("found %q", where)
	}
}
