package sync

import (
	"math"
	"math/bits"
	stdsync "sync"
	"time"
)

// enginesPerProcessor is the number of engines per processor from which on they take turns.
const enginesPerProcessor = 16

// Turns decides which engines of a process run while there are many more of them than
// processors. An engine that has slept runs again when it gets a turn, and has it until it
// sleeps again. There are as many turns as processors. The next goes to the engine of the
// least number for which a message has come. Engines of near numbers so run one after another
// for as long as they wait for each other only, and find what they keep in the cache. In the
// order in which messages come, all others would run in between.
//
// An engine has a goroutine of its own, in which its Wait sleeps, or else is run by a worker: a
// goroutine that runs one engine after another, as many at a time as there are turns. Wait of
// such an engine returns Paused where it would sleep, and [Turns.Pause] gives the worker the
// engine that is next. So an engine that waits needs no stack, and a change to another engine
// is a return and a call. A process has workers for all of its engines or for none.
//
// Turns order the work. Progress of an engine with a goroutine of its own does not depend on
// them: a Wait that has taken its limit, or that is ended by Wake, goes on without one. Limits of
// longestSleep and more, as most are, need neither a timer nor a look at the clock for each Wait:
// a sweep over all ends each longestSleep ends a Wait at the second sweep after it has begun.
type Turns struct {
	ends  []inProcess
	begun time.Time
	calls chan *inProcess // to workers: engines that have a turn; nil without workers; a nil in it ends Next

	lock     stdsync.Mutex // guards the rest, and the sleeper of each end
	running  int           // engines that workers run, or will run
	free     int           // turns that no engine has; 0, or else ready and later are empty
	asleep   int           // ends that sleep
	sweeper  *time.Timer   // calls sweep while ends sleep; nil before the first
	sweeping bool          // it is set
	sweeps   int
	ready    numberSet // sleeping engines for which a message has come
	later    numberSet // sleeping engines that go on once no engine is ready
}

// sleeper is the state of an end about its turns.
type sleeper struct {
	turn     bool          // it has one
	sleeping bool          // it waits for its bell, or for a worker to be sent to it
	woken    bool          // Wake was called since the last Wait
	anyTime  bool          // it needs no turn
	hired    bool          // a worker runs it
	lost     bool          // its worker is not counted on any more
	limit    time.Duration // of the Wait that has paused
	until    int           // sweep that ends its Wait, if no alarm does
	deadline time.Duration // of its Wait, since turns.begun, if an alarm ends it
	alarm    *time.Timer   // calls expire; nil: none has been needed
	alarmAt  time.Duration // 0: it is not set
}

func newTurns(ends []inProcess, processors int) *Turns {
	return &Turns{ends: ends, begun: time.Now(), free: processors, ready: newNumberSet(len(ends)), later: newNumberSet(len(ends))}
}

// sleep is Wait of an end for which no message has come, in a goroutine of its own.
func (t *Turns) sleep(e *inProcess, limit time.Duration) {
	t.lock.Lock()
	if !t.fallAsleep(e, limit) {
		t.lock.Unlock()
		return
	}
	next := t.giveBack(e)
	t.lock.Unlock()
	if next == e {
		return
	}
	t.start(next)
	<-e.bell
}

// fallAsleep has an end sleep, unless it has a reason to go on at once.
func (t *Turns) fallAsleep(e *inProcess, limit time.Duration) bool {
	// Here asleep is set before the inbox is read, in accept the letter is there before asleep is read: one of
	// the two sides sees the other.
	e.asleep.Store(true)
	if e.woken || e.ready() || limit <= 0 && t.free > 0 {
		e.woken = false
		e.asleep.Store(false)
		return false
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
	return true
}

// start has an end go on that has got a turn, or that needs none. There is none to start if
// it is nil.
func (t *Turns) start(e *inProcess) {
	switch {
	case e == nil:
	case e.hired:
		t.calls <- e
	default:
		e.bell <- struct{}{}
	}
}

// TurnsOf returns the turns that the engines of a process take, nil if they take none. transports
// are the ends of all of them.
func TurnsOf(transports []Transport) *Turns {
	var turns *Turns
	for i, transport := range transports {
		end, is := transport.(*inProcess)
		if !is || end.rank != i || i == 0 && len(end.group.ends) != len(transports) || i > 0 && end.group.turns != turns {
			return nil
		}
		turns = end.group.turns
	}
	return turns
}

// Hire has workers run all engines, which have not begun, and returns how many workers there
// are to be. Each asks [Turns.Next] for its first engine.
func (t *Turns) Hire() (workers int) {
	t.lock.Lock()
	defer t.lock.Unlock()
	workers, t.running = t.free, len(t.ends)
	t.calls = make(chan *inProcess, workers+1)
	for i := range t.ends {
		e := &t.ends[i]
		e.hired, e.sleeping = true, true
		t.setSweep(e)
		t.asleep++
		t.ready.add(i)
	}
	for e := t.next(); e != nil; e = t.next() {
		t.calls <- e
	}
	return workers
}

// Next waits for an engine that is to be run by the calling worker. It returns -1 once all have
// ended.
func (t *Turns) Next() (engine int) {
	e := <-t.calls
	if e == nil {
		t.calls <- nil // for the next worker
		return -1
	}
	return e.rank
}

// Pause gives the turn of an engine whose Wait has returned [Paused] to the engine that is next,
// and returns that. If it is -1, the worker asks Next.
func (t *Turns) Pause(engine int) (next int) {
	t.lock.Lock()
	defer t.lock.Unlock()
	e := &t.ends[engine]
	if !t.fallAsleep(e, e.limit) {
		return engine
	}
	return numberOf(t.giveBack(e))
}

// End is Pause for an engine that does not run any more. From now on its transport waits in the
// goroutine that calls it.
func (t *Turns) End(engine int) (next int) {
	t.leave(&t.ends[engine])
	t.lock.Lock()
	defer t.lock.Unlock()
	e := &t.ends[engine]
	t.discount(e)
	return numberOf(t.giveBack(e))
}

// Lose gives up an engine whose worker may never go on. Its turn goes to another engine, for which
// there is to be another worker.
func (t *Turns) Lose(engine int) {
	t.lock.Lock()
	e := &t.ends[engine]
	t.discount(e)
	next := t.giveBack(e)
	t.lock.Unlock()
	t.start(next)
}

// discount notes that an engine is not to be run by a worker. Next ends after the last one.
func (t *Turns) discount(e *inProcess) {
	if e.lost {
		return
	}
	e.lost = true
	if t.running--; t.running == 0 {
		t.calls <- nil
	}
}

// numberOf returns the number of an end, -1 for none.
func numberOf(e *inProcess) int {
	if e == nil {
		return -1
	}
	return e.rank
}

// giveBack takes its turn from an end, if it has one, and returns the end that gets it, nil if
// none does.
func (t *Turns) giveBack(e *inProcess) *inProcess {
	if e.turn {
		e.turn = false
		t.free++
	}
	return t.next()
}

// next gives a free turn to the end whose turn it is, and returns that end, which is to be
// started. It returns nil if there is no turn or nobody for it.
func (t *Turns) next() *inProcess {
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

// rouse ends the sleep of an end, which is to be started.
func (t *Turns) rouse(e *inProcess) {
	t.ready.remove(e.rank)
	t.later.remove(e.rank)
	e.sleeping = false
	e.asleep.Store(false)
	t.asleep--
}

// call ends the sleep of an end: at once if it has a goroutine of its own, else when it gets a
// turn. It returns the end to be started.
func (t *Turns) call(e *inProcess) *inProcess {
	if e.hired {
		t.later.remove(e.rank)
		t.ready.add(e.rank)
		return t.next()
	}
	t.rouse(e)
	return e
}

// come tells that a message has come for an end that seems to sleep.
func (t *Turns) come(e *inProcess) {
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
	t.start(next)
}

// wake ends the sleep of an end at once, or else its next one.
func (t *Turns) wake(e *inProcess) {
	t.lock.Lock()
	var next *inProcess
	if e.sleeping {
		next = t.call(e)
	} else {
		e.woken = true
	}
	t.lock.Unlock()
	t.start(next)
}

// leave takes its turn from an end that does not wait any more. If a worker runs its engine, that
// has the turn until End, and further Waits sleep.
func (t *Turns) leave(e *inProcess) {
	t.lock.Lock()
	if e.alarm != nil {
		e.alarm.Stop()
		e.alarmAt = 0
	}
	var next *inProcess
	if e.hired {
		e.hired, e.anyTime = false, true
	} else {
		next = t.giveBack(e)
	}
	t.lock.Unlock()
	t.start(next)
}

// setAlarm ends a sleep after limit. An alarm that is set already is not set back, since most
// sleeps end long before it: it looks at the deadline when it goes off.
func (t *Turns) setAlarm(e *inProcess, limit time.Duration) {
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
func (t *Turns) setSweep(e *inProcess) {
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
func (t *Turns) sweep() {
	t.lock.Lock()
	t.sweeps++
	var over []*inProcess
	for i := range t.ends {
		if e := &t.ends[i]; e.sleeping && e.deadline == never && e.until <= t.sweeps {
			if next := t.call(e); next != nil {
				over = append(over, next)
			}
		}
	}
	t.sweeping = t.asleep > 0
	if t.sweeping {
		t.sweeper.Reset(longestSleep)
	}
	t.lock.Unlock()
	for _, e := range over {
		t.start(e)
	}
}

// never is the deadline of a Wait that no alarm ends.
const never = time.Duration(math.MaxInt64)

// expire ends a sleep whose limit has passed.
func (t *Turns) expire(e *inProcess) {
	t.lock.Lock()
	e.alarmAt = 0
	var next *inProcess
	if e.sleeping {
		left := e.deadline - time.Since(t.begun)
		switch {
		case left <= 0:
			next = t.call(e)
		case e.deadline < never:
			e.alarm.Reset(left)
			e.alarmAt = e.deadline
		}
	}
	t.lock.Unlock()
	t.start(next)
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
