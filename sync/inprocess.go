package sync

import (
	"fmt"
	"runtime"
	stdsync "sync"
	"sync/atomic"
	"time"

	"gigarank/sync/internal/buffers"
)

// spins is how often the Waits of as many engines as processors yield the processor
// before they go to sleep. More engines yield less often: a yield lets all others run
// that are awake, so what they all yield together is a pass over all engines each time.
const spins = 32

// NewInProcess returns the ends of a transport between k engines of one
// process, by rank, none if k < 1. Each end may be used by a goroutine of its own.
func NewInProcess(k int) []Transport {
	group := &inProcessGroup{
		ends:  make([]*inProcess, max(k, 0)),
		spins: min(spins, max(1, spins*runtime.GOMAXPROCS(0)/max(k, 1))),
		pool:  buffers.NewPool(func(size int) []byte { return make([]byte, size) }, func([]byte) {}),
	}
	transports := make([]Transport, len(group.ends))
	for rank := range transports {
		timer := time.NewTimer(time.Hour)
		timer.Stop()
		end := &inProcess{group: group, rank: rank, bell: make(chan struct{}, 1), timer: timer}
		group.ends[rank], transports[rank] = end, end
	}
	return transports
}

// inProcessGroup is what the ends of one in-process transport share.
type inProcessGroup struct {
	ends  []*inProcess
	spins int           // of each Wait
	lock  stdsync.Mutex // guards pool
	pool  *buffers.Pool
}

// letter is a message on its way.
type letter struct {
	src     int
	message []byte
}

// inProcess is one end. Senders append to queue; the owner swaps it for batch once
// batch is read to the end.
type inProcess struct {
	group *inProcessGroup
	rank  int

	lock   stdsync.Mutex // guards queue and closed
	queue  []letter
	closed bool

	filled atomic.Bool   // queue is not empty
	asleep atomic.Bool   // the owner waits for the bell, or is about to
	bell   chan struct{} // holds a ring until it is heard

	batch []letter
	read  int // letters of batch already received
	timer *time.Timer
}

func (e *inProcess) Rank() int { return e.rank }
func (e *inProcess) Size() int { return len(e.group.ends) }

func (e *inProcess) Alloc(n int) []byte {
	e.group.lock.Lock()
	defer e.group.lock.Unlock()
	return e.group.pool.Get(n)
}

func (e *inProcess) Free(message []byte) {
	e.group.lock.Lock()
	defer e.group.lock.Unlock()
	e.group.pool.Put(message)
}

func (e *inProcess) Send(dst int, message []byte) error {
	if dst < 0 || dst >= len(e.group.ends) {
		e.Free(message)
		return fmt.Errorf("engine %d sends to engine %d: there are engines 0 to %d", e.rank, dst, len(e.group.ends)-1)
	}
	if !e.group.ends[dst].accept(letter{e.rank, message}) {
		e.Free(message)
	}
	return nil
}

// accept puts a letter into the queue, unless the end is closed, and rings.
func (e *inProcess) accept(l letter) bool {
	e.lock.Lock()
	if e.closed {
		e.lock.Unlock()
		return false
	}
	e.queue = append(e.queue, l)
	e.lock.Unlock()
	// Here filled is set before asleep is read, in Wait asleep before filled: one of
	// the two sides sees the other.
	e.filled.Store(true)
	if e.asleep.Load() {
		e.Wake()
	}
	return true
}

func (e *inProcess) Receive() (int, []byte, error) {
	if e.read == len(e.batch) {
		if !e.filled.Load() {
			return 0, nil, nil
		}
		e.read = 0
		e.lock.Lock()
		e.filled.Store(false)
		e.batch, e.queue = e.queue, e.batch[:0]
		e.lock.Unlock()
		if len(e.batch) == 0 {
			return 0, nil, nil
		}
	}
	l := e.batch[e.read]
	e.batch[e.read] = letter{}
	e.read++
	return l.src, l.message, nil
}

func (e *inProcess) Wait(limit time.Duration) error {
	for range e.group.spins {
		if e.ready() {
			return nil
		}
		runtime.Gosched()
	}
	if limit <= 0 {
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

func (e *inProcess) ready() bool { return e.read < len(e.batch) || e.filled.Load() }

func (e *inProcess) Wake() {
	select {
	case e.bell <- struct{}{}:
	default: // it rings already
	}
}

func (e *inProcess) Close() error {
	e.lock.Lock()
	e.closed = true
	letters := e.queue
	e.queue = nil
	e.lock.Unlock()
	for _, l := range letters {
		e.Free(l.message)
	}
	for _, l := range e.batch[e.read:] {
		e.Free(l.message)
	}
	e.batch, e.read = nil, 0
	return nil
}
