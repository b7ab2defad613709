package sync

import (
	"math"
	"math/bits"
	stdsync "sync"
	"time"
)

// enginesPerProcessor is the number of engines per processor from which on they take turns.
const enginesPerProcessor = 16

// turns decides which engines of a process run while there are many more of them than
// processors. An engine that has slept runs again when it gets a turn, and has it until it
// sleeps again. There are as many turns as processors. The next goes to the engine of the
// least number for which a message has come. Engines of near numbers so run one after another
// for as long as they wait for each other only, and find what they keep in the cache. In the
// order in which messages come, all others would run in between.
//
// Turns order the work. Progress does not depend on them: a Wait that has taken its limit, or
// that is ended by Wake, goes on without one. Limits of longestSleep and more, as most are, need
// neither a timer nor a look at the clock for each Wait: a sweep over all ends each longestSleep
// ends a Wait at the second sweep after it has begun.
type turns struct {
	ends  []inProcess
	begun time.Time

	lock     stdsync.Mutex // guards the rest, and the sleeper of each end
	free     int           // turns that no engine has; 0, or else ready and later are empty
	asleep   int           // ends that wait for their bells
	sweeper  *time.Timer   // calls sweep while ends sleep; nil before the first
	sweeping bool          // it is set
	sweeps   int
	ready    numberSet // sleeping engines for which a message has come
	later    numberSet // sleeping engines that go on once no engine is ready
}

// sleeper is what an end keeps of its turns.
type sleeper struct {
	turn     bool          // it has one
	sleeping bool          // it waits for its bell
	woken    bool          // Wake was called since the last Wait
	anyTime  bool          // it needs no turn
	until    int           // sweep that ends its Wait, if no alarm does
	deadline time.Duration // of its Wait, since turns.begun, if an alarm ends it
	alarm    *time.Timer   // calls expire; nil: none has been needed
	alarmAt  time.Duration // 0: it is not set
}

func newTurns(ends []inProcess, processors int) *turns {
	return &turns{ends: ends, begun: time.Now(), free: processors, ready: newNumberSet(len(ends)), later: newNumberSet(len(ends))}
}

// sleep is Wait of an end for which no message has come.
func (t *turns) sleep(e *inProcess, limit time.Duration) {
	t.lock.Lock()
	// Here asleep is set before filled is read, in accept filled before asleep: one of the two
	// sides sees the other.
	e.asleep.Store(true)
	if e.woken || e.filled.Load() || limit <= 0 && t.free > 0 {
		e.woken = false
		e.asleep.Store(false)
		t.lock.Unlock()
		return
	}
	e.sleeping = true
	if limit <= 0 {
		t.later.add(e.rank)
		limit = longestSleep
	}
	t.asleep++
	if limit < longestSleep {
		t.setAlarm(e, limit)
	} else {
		t.setSweep(e)
	}
	next := t.giveBack(e)
	t.lock.Unlock()
	if next == e {
		return
	}
	if next != nil {
		next.bell <- struct{}{}
	}
	<-e.bell
}

// giveBack takes its turn from an end, if it has one, and returns the end that gets it, nil if
// none does.
func (t *turns) giveBack(e *inProcess) *inProcess {
	if e.turn {
		e.turn = false
		t.free++
	}
	return t.next()
}

// next gives a free turn to the end whose turn it is, and returns that end. Its bell is to be
// rung. It returns nil if there is no turn or nobody for it.
func (t *turns) next() *inProcess {
	if t.free == 0 {
		return nil
	}
	number, ok := t.ready.least()
	if !ok {
		if number, ok = t.later.least(); !ok {
			return nil
		}
	}
	e := &t.ends[number]
	t.rouse(e)
	e.turn = true
	t.free--
	return e
}

// rouse ends the sleep of an end, whose bell is to be rung.
func (t *turns) rouse(e *inProcess) {
	t.ready.remove(e.rank)
	t.later.remove(e.rank)
	e.sleeping = false
	e.asleep.Store(false)
	t.asleep--
}

// come tells that a message has come for an end that seems to sleep.
func (t *turns) come(e *inProcess) {
	t.lock.Lock()
	var next *inProcess
	switch {
	case !e.sleeping:
	case e.anyTime:
		t.rouse(e)
		next = e
	case e.asleep.Swap(false):
		t.later.remove(e.rank)
		t.ready.add(e.rank)
		next = t.next()
	}
	t.lock.Unlock()
	if next != nil {
		next.bell <- struct{}{}
	}
}

// wake ends the sleep of an end at once, or else its next one.
func (t *turns) wake(e *inProcess) {
	t.lock.Lock()
	sleeping := e.sleeping
	if sleeping {
		t.rouse(e)
	} else {
		e.woken = true
	}
	t.lock.Unlock()
	if sleeping {
		e.bell <- struct{}{}
	}
}

// leave takes its turn from an end that does not wait any more.
func (t *turns) leave(e *inProcess) {
	t.lock.Lock()
	if e.alarm != nil {
		e.alarm.Stop()
		e.alarmAt = 0
	}
	next := t.giveBack(e)
	t.lock.Unlock()
	if next != nil {
		next.bell <- struct{}{}
	}
}

// setAlarm ends a sleep after limit. An alarm that is set already is not set back, since most
// sleeps end long before it: it looks at the deadline when it goes off.
func (t *turns) setAlarm(e *inProcess, limit time.Duration) {
	e.deadline = time.Since(t.begun) + limit
	switch {
	case e.alarm == nil:
		e.alarm = time.AfterFunc(limit, func() { t.expire(e) })
	case e.alarmAt == 0 || e.deadline < e.alarmAt:
		e.alarm.Reset(limit)
	default:
		return
	}
	e.alarmAt = e.deadline
}

// setSweep has a sweep end a sleep that may last for longestSleep or longer.
func (t *turns) setSweep(e *inProcess) {
	e.deadline, e.until = never, t.sweeps+2
	if !t.sweeping {
		t.sweeping = true
		if t.sweeper == nil {
			t.sweeper = time.AfterFunc(longestSleep, t.sweep)
		} else {
			t.sweeper.Reset(longestSleep)
		}
	}
}

// sweep ends the sleeps that have lasted for longestSleep.
func (t *turns) sweep() {
	t.lock.Lock()
	t.sweeps++
	var over []*inProcess
	for i := range t.ends {
		if e := &t.ends[i]; e.sleeping && e.deadline == never && e.until <= t.sweeps {
			t.rouse(e)
			over = append(over, e)
		}
	}
	t.sweeping = t.asleep > 0
	if t.sweeping {
		t.sweeper.Reset(longestSleep)
	}
	t.lock.Unlock()
	for _, e := range over {
		e.bell <- struct{}{}
	}
}

// never is the deadline of a Wait that no alarm ends.
const never = time.Duration(math.MaxInt64)

// expire ends a sleep whose limit has passed.
func (t *turns) expire(e *inProcess) {
	t.lock.Lock()
	e.alarmAt = 0
	over := false
	if e.sleeping {
		left := e.deadline - time.Since(t.begun)
		over = left <= 0
		switch {
		case over:
			t.rouse(e)
		case e.deadline < never:
			e.alarm.Reset(left)
			e.alarmAt = e.deadline
		}
	}
	t.lock.Unlock()
	if over {
		e.bell <- struct{}{}
	}
}

// numberSet is a set of numbers below a bound. All its operations take O(log bound).
type numberSet struct {
	levels [][]uint64 // bit i of a level: word i of the level before is not 0; bit i of the first: i is in the set
}

func newNumberSet(bound int) numberSet {
	var s numberSet
	for bound > 1 || len(s.levels) == 0 {
		bound = (bound + 63) / 64
		s.levels = append(s.levels, make([]uint64, bound))
	}
	return s
}

func (s *numberSet) add(n int) {
	for _, level := range s.levels {
		word := &level[n/64]
		had := *word != 0
		*word |= 1 << (n % 64)
		if had {
			return
		}
		n /= 64
	}
}

func (s *numberSet) remove(n int) {
	for _, level := range s.levels {
		word := &level[n/64]
		*word &^= 1 << (n % 64)
		if *word != 0 {
			return
		}
		n /= 64
	}
}

// least returns the least number in the set, if there is one.
func (s *numberSet) least() (n int, ok bool) {
	top := len(s.levels) - 1
	if s.levels[top][0] == 0 {
		return 0, false
	}
	for i := top; i >= 0; i-- {
		n = 64*n + bits.TrailingZeros64(s.levels[i][n])
	}
	return n, true
}
