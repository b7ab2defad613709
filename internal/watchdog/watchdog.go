package watchdog

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// Subject is something to watch. Its methods are called from any goroutine.
type Subject interface {
	// Progress returns a count of the steps of the subject, and whether it is at work.
	// A subject that waits for others in its own way is not at work.
	Progress() (count uint64, atWork bool)
	// Home returns the number of the goroutine that has started the subject's
	// goroutines; see [Goroutine].
	Home() uint64
	// Outside returns where code of the subject that is not Go's waits in the operating
	// system. It returns "" if no such code runs or if it may go on by itself.
	Outside() string
	// Still tells the subject for how many seconds it has stood still, about: Glances times within the limit,
	// and 0 once it goes on.
	Still(seconds float64)
}

// Glances is the number of times that the watchdog reads the counts in the time after which a subject is
// suspected.
const Glances = 50

const (
	every          = 5 // glances, one looks at what a subject does
	again          = 3 // times in a row that the stacks have to show the same
	manyGoroutines = 50_000
)

// suspect is the state of a subject, as the watchdog knows it.
type suspect struct {
	count uint64
	still int // glances in a row that found it at work and its count the same
	due   int // value of still from which on the stacks are looked at
	seen  string
	times int // looks at the stacks that have found it blocked as in seen
	idle  int // looks in a row, of these, that found no goroutine of the process running
	// reported is set once blocked has returned true.
	reported bool
}

// Watch watches subjects until stop is called. It calls blocked(i, where) when subject
// i has stood still for limit seconds or longer because a goroutine of its is blocked
// at where. It watches the subject on only if blocked returns false.
func Watch(subjects []Subject, limit float64, blocked func(i int, where string) bool) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(max(time.Duration(limit/Glances*float64(time.Second)), time.Millisecond))
		defer tick.Stop()
		suspects := slices.Repeat([]suspect{{due: Glances}}, len(subjects))
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			for i := range subjects {
				if where := suspects[i].look(subjects[i], limit); where != "" {
					suspects[i].reported = blocked(i, where)
					suspects[i].wait()
				}
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

// look returns where the subject is blocked, if it is. limit is that of Watch.
func (s *suspect) look(subject Subject, limit float64) (where string) {
	count, atWork := subject.Progress()
	if s.reported || !atWork || count != s.count {
		if s.still > 0 && !s.reported {
			subject.Still(0)
		}
		*s = suspect{count: count, due: Glances, reported: s.reported}
		return ""
	}
	s.still++
	subject.Still(float64(s.still) * limit / Glances)
	if s.still%every != 0 {
		return ""
	}
	if s.still >= s.due {
		if where := subject.Outside(); where != "" {
			return s.find(where, where)
		}
	}
	if runtime.NumGoroutine() > manyGoroutines {
		if s.idle++; !processIdle() {
			s.idle = 0
		}
		if s.idle >= 2*Glances/every {
			return "an operation that no goroutine of the process can end"
		}
		return ""
	}
	if s.still < s.due {
		return ""
	}
	return s.find(blockedIn(stacks(), subject.Home()))
}

// find returns where the subject is blocked once it has been found in the same state several
// times.
func (s *suspect) find(state, where string) string {
	if state != s.seen {
		s.seen, s.times = state, 0
	}
	if where == "" {
		s.wait()
		return ""
	}
	if s.times++; s.times < again {
		return ""
	}
	return where
}

// wait puts off the next look at the stacks until the subject has stood still twice as
// long.
func (s *suspect) wait() { s.due, s.times, s.idle = 2*s.still, 0, 0 }

// processIdle reports whether no goroutine but the caller runs or could run.
func processIdle() bool {
	samples := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(samples)
	for i, most := range []uint64{1, 0} {
		if samples[i].Value.Kind() != metrics.KindUint64 || samples[i].Value.Uint64() > most {
			return false
		}
	}
	return true
}
