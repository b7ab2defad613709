package sync

import (
	"fmt"
	"runtime"
	stdsync "sync"
	"sync/atomic"
	"time"

	"gigarank/internal/prefetch"
	"gigarank/sync/internal/buffers"
)

// spins is how often the Waits of an engine yield the processor before they go to sleep,
// if there are more engines than processors but not so many that they take turns. More
// engines yield less often: a yield lets all others run that are awake, so what they all
// yield together is a pass over all engines each time.
const spins = 32

// If each engine has a processor, a Wait looks for messages for a while before it goes to
// sleep, and yields to nobody. A window of few events takes less than the system takes to
// put a thread to sleep and to wake it, 5 to 100 us. The first look lasts longer than that: an engine
// that has been woken then finds the other one awake. Else each would go to sleep while the other wakes up,
// again and again.
const (
	longestLook = 200 * time.Microsecond
	briefLook   = time.Microsecond // of a Wait that does not sleep
	polls       = 64               // of the inbox, from one clock poll to the next
)

// mostVain bounds the number of Waits that do not look, as a power of two.
const mostVain = 6

// NewInProcess returns the ends of a transport between k engines of one
// process, by rank, none if k < 1. Each end may be used by a goroutine of its own.
func NewInProcess(k int) []Transport {
	processors := runtime.GOMAXPROCS(0)
	return newInProcess(k, processors, k >= enginesPerProcessor*processors)
}

// NewInTurns is NewInProcess for engines that take turns, however few they are, on so many
// processors.
func NewInTurns(k, processors int) []Transport { return newInProcess(k, processors, true) }

// newInProcess is NewInProcess with engines that take turns or do not.
func newInProcess(k, processors int, inTurns bool) []Transport {
	group := &inProcessGroup{
		ends: make([]inProcess, max(k, 0)),
		pool: buffers.NewPool(func(size int) []byte { return make([]byte, size) }, func([]byte) {}),
	}
	switch {
	case inTurns:
		group.turns = newTurns(group.ends, processors)
	case k > processors:
		group.spins = spins * processors / k
	}
	transports := make([]Transport, len(group.ends))
	for rank := range transports {
		end := &group.ends[rank]
		end.group, end.rank, end.bell = group, rank, make(chan struct{}, 1)
		if group.turns == nil {
			end.timer = time.NewTimer(time.Hour)
			end.timer.Stop()
		}
		transports[rank] = end
	}
	return transports
}

// inProcessGroup is the state that the ends of one in-process transport share.
type inProcessGroup struct {
	ends  []inProcess
	spins int           // yields of each Wait, if there are somewhat more engines than processors
	turns *Turns        // nil unless there are many more
	lock  stdsync.Mutex // guards pool
	pool  *buffers.Pool
}

// letter is a message on its way, in a list of letters.
type letter struct {
	next    *letter
	src     int
	message []byte
}

// inProcess is one end. Senders put letters into inbox, each before the letters that are there; the owner takes all
// at once, in the order in which they came. So a letter moves three lines between the caches of processors that
// are far from one another: inbox, the letter and the message. What the owner uses and what senders write lie in
// cache lines of their own.
type inProcess struct {
	group   *inProcessGroup
	rank    int
	batch   *letter              // taken and not yet received
	letters *letter              // that were read, to be used again
	kept    int                  // of letters
	spare   [spareBuffers][]byte // freed buffers, to be used again without the group's lock
	timer   *time.Timer          // nil if the engines take turns
	bell    chan struct{}        // holds a ring until it is heard
	vain    int                  // looks in a row that found no message
	blind   int                  // Waits to come that do not look
	sleeper

	_      [cacheLine]byte
	inbox  atomic.Pointer[letter] // the last that came; noMore once the end is closed
	_      [cacheLine]byte
	asleep atomic.Bool // the owner waits for the bell, or is about to
	_      [cacheLine]byte
}

// noMore stands in the inbox of an end that is closed.
var noMore letter

const (
	cacheLine    = 64
	spareBuffers = 4
	spareBytes   = 4 << 10 // the longest
	keptLetters  = 8
)

func (e *inProcess) Rank() int { return e.rank }
func (e *inProcess) Size() int { return len(e.group.ends) }

// Engines that take turns share all buffers: the buffer freed last is still in the cache.

func (e *inProcess) Alloc(n int) []byte {
	if n <= spareBytes && e.group.turns == nil {
		for i, buffer := range e.spare {
			if cap(buffer) >= n {
				e.spare[i] = nil
				prefetch.BufferToWrite(buffer[:cap(buffer)])
				return buffer[:n]
			}
		}
	}
	e.group.lock.Lock()
	defer e.group.lock.Unlock()
	return e.group.pool.Get(n)
}

func (e *inProcess) Free(message []byte) {
	if cap(message) <= spareBytes && e.group.turns == nil {
		for i, buffer := range e.spare {
			if cap(buffer) < cap(message) { // long buffers serve all
				e.spare[i], message = message, buffer
			}
		}
		if message == nil {
			return
		}
	}
	e.group.lock.Lock()
	defer e.group.lock.Unlock()
	e.group.pool.Put(message)
}

func (e *inProcess) Send(dst int, message []byte) error {
	if dst < 0 || dst >= len(e.group.ends) {
		e.Free(message)
		return fmt.Errorf("engine %d sends to engine %d: there are engines 0 to %d", e.rank, dst, len(e.group.ends)-1)
	}
	if !e.group.ends[dst].accept(e.write(message)) {
		e.Free(message)
	}
	return nil
}

// write makes a letter of a message.
func (e *inProcess) write(message []byte) *letter {
	l := e.letters
	if l == nil {
		return &letter{src: e.rank, message: message}
	}
	e.letters, e.kept = l.next, e.kept-1
	l.src, l.message = e.rank, message
	return l
}

// keep holds a read letter for a message of this end.
func (e *inProcess) keep(l *letter) {
	l.message = nil
	if e.kept < keptLetters {
		l.next, e.letters, e.kept = e.letters, l, e.kept+1
	}
}

// accept puts a letter into the inbox, unless the end is closed, and rings.
func (e *inProcess) accept(l *letter) bool {
	// Most letters find the inbox empty: to try that at once asks for the line of the inbox once.
	for l.next = nil; !e.inbox.CompareAndSwap(l.next, l); {
		if l.next = e.inbox.Load(); l.next == &noMore {
			return false
		}
	}
	// Here the letter is in the inbox before asleep is read, in Wait asleep is set before the inbox is
	// read: one of the two sides sees the other.
	switch {
	case !e.asleep.Load():
	case e.group.turns != nil:
		e.group.turns.come(e)
	default:
		e.Wake()
	}
	return true
}

func (e *inProcess) Receive() (int, []byte, error) {
	if e.batch == nil && !e.take() {
		return 0, nil, nil
	}
	l := e.batch
	e.batch = l.next
	src, message := l.src, l.message
	if e.group.turns == nil {
		prefetch.Buffer(message[:min(len(message), spareBytes)])
	}
	e.keep(l)
	return src, message, nil
}

// take empties the inbox into batch, the first letter first. It reports whether there was one.
func (e *inProcess) take() bool {
	if !e.come() {
		return false
	}
	for l := e.inbox.Swap(nil); l != nil; {
		next := l.next
		l.next, e.batch = e.batch, l
		l = next
	}
	return true
}

// come reports whether there are letters in the inbox.
func (e *inProcess) come() bool {
	l := e.inbox.Load()
	return l != nil && l != &noMore
}

func (e *inProcess) Wait(limit time.Duration) error {
	if turns := e.group.turns; turns != nil {
		if !e.ready() {
			turns.sleep(e, limit)
		}
		return nil
	}
	if e.look(limit) || limit <= 0 {
		return nil
	}
	e.asleep.Store(true)
	defer e.asleep.Store(false)
	if e.ready() {
		return nil
	}
	e.timer.Reset(limit)
	select {
	case <-e.bell:
		e.timer.Stop()
	case <-e.timer.C:
	}
	return nil
}

// look reports whether a message has come, now or within some microseconds. Looks in vain
// take time from others who use the processors, and may hold up the very sender. So after
// each in a row the next is half as long, and ever more Waits do not look.
func (e *inProcess) look(limit time.Duration) bool {
	switch {
	case e.group.spins > 0:
		return e.yield()
	case limit <= 0:
		return e.lookFor(briefLook)
	case e.blind > 0:
		e.blind--
		return e.ready()
	case e.lookFor(longestLook >> e.vain):
		e.vain = 0
		return true
	}
	e.blind = 1<<e.vain - 1
	e.vain = min(e.vain+1, mostVain)
	return false
}

// yield lets other engines run.
func (e *inProcess) yield() bool {
	for range e.group.spins {
		if e.ready() {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// lookFor looks for messages without a pause.
func (e *inProcess) lookFor(limit time.Duration) bool {
	for began := time.Now(); ; {
		for range polls {
			if e.ready() {
				return true
			}
		}
		if time.Since(began) > limit {
			return false
		}
	}
}

func (e *inProcess) ready() bool { return e.batch != nil || e.come() }

func (e *inProcess) Wake() {
	if turns := e.group.turns; turns != nil {
		turns.wake(e)
		return
	}
	select {
	case e.bell <- struct{}{}:
	default: // it rings already
	}
}

func (e *inProcess) Leave() {
	if turns := e.group.turns; turns != nil {
		turns.leave(e)
	}
}

// runAnyTime has the engine run whenever a message comes for it, however many engines there are.
func (e *inProcess) runAnyTime() { e.anyTime = true }

func (e *inProcess) Close() error {
	e.Leave()
	e.drop(e.batch)
	e.batch = nil
	e.drop(e.inbox.Swap(&noMore))
	return nil
}

// drop frees the messages of a list of letters.
func (e *inProcess) drop(l *letter) {
	for ; l != nil && l != &noMore; l = l.next {
		e.Free(l.message)
	}
}
