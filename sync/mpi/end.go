//go:build mpi

package mpi

import (
	"errors"
	"fmt"
	"runtime"
	stdsync "sync"
	"sync/atomic"
	"time"

	"gigarank/sync"
	"gigarank/sync/internal/buffers"
)

const (
	longestMessage = 1 << 30
	maxArriving    = 16 // receives going on at a time

	polls    = 100 // of a Wait before it yields
	yields   = 100 // before it sleeps
	nap      = 20 * time.Microsecond
	longNap  = 100 * time.Microsecond
	napsTill = 50 // naps before they get long
)

// arrival is a receive that is going on.
type arrival struct {
	src, slot int
	there     bool
}

// end is this process's end of the transport.
type end struct {
	rank, size int
	woken      atomic.Bool
	lost       atomic.Pointer[sync.Lost]
	closing    chan struct{} // closed by Close
	ended      chan error    // what MPI_Finalize returned

	lock     stdsync.Mutex // serialises all use of MPI and of what is below
	pool     *buffers.Pool
	sending  requests
	incoming requests
	arriving []arrival // in the order of matching
	out      outcome
	failure  error // of the watch
	sent     func(slot int)
	arrived  func(slot int)
}

var opened atomic.Bool

// Open initialises MPI and returns this process's end of the transport between
// all processes that the launcher started.
func Open() (sync.Transport, error) { return open(beatPeriod, beatLimit) }

func open(period, limit time.Duration) (*end, error) {
	if !opened.CompareAndSwap(false, true) {
		return nil, errors.New("MPI is open already: a process can initialise it once only")
	}
	e := &end{
		pool:    buffers.NewPool(allocate, release),
		closing: make(chan struct{}),
		ended:   make(chan error, 1),
		out:     newOutcome(),
	}
	e.sent = func(slot int) {
		if buffer := e.sending.done(slot); buffer != nil { // nil: the barrier
			e.pool.Put(buffer)
		}
	}
	e.arrived = func(slot int) {
		for i := range e.arriving {
			if e.arriving[i].slot == slot && !e.arriving[i].there {
				e.arriving[i].there = true
				return
			}
		}
	}
	started := make(chan error)
	go e.host(period, limit, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return e, nil
}

// host is the goroutine that initialises and finalises MPI, from one thread as
// the standard wants, and that keeps the watch between.
func (e *end) host(period, limit time.Duration, started chan<- error) {
	runtime.LockOSThread()
	rank, size, err := initialise()
	e.rank, e.size = rank, size
	w := newWatch(e, period, limit)
	started <- err
	if err != nil {
		return
	}
	e.ended <- w.run()
}

func (e *end) Rank() int { return e.rank }
func (e *end) Size() int { return e.size }

func (e *end) Alloc(n int) []byte {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.pool.Get(n)
}

func (e *end) Free(message []byte) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.pool.Put(message)
}

// broken returns why the transport cannot go on, if so. The lock is held.
func (e *end) broken() error {
	if lost := e.lost.Load(); lost != nil {
		return lost
	}
	return e.failure
}

func (e *end) Send(dst int, message []byte) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	err := e.broken()
	switch {
	case err != nil:
	case dst < 0 || dst >= e.size:
		err = fmt.Errorf("engine %d sends to engine %d: there are engines 0 to %d", e.rank, dst, e.size-1)
	case len(message) > longestMessage:
		err = fmt.Errorf("engine %d sends %d bytes to engine %d: a message has at most %d", e.rank, len(message), dst, longestMessage)
	default:
		err = e.sending.send(dataComm, dst, message)
	}
	if err != nil {
		e.pool.Put(message)
	}
	return err
}

func (e *end) Receive() (int, []byte, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.receive()
}

// receive returns the next message that is there. The lock is held.
func (e *end) receive() (int, []byte, error) {
	if err := e.progress(); err != nil {
		return 0, nil, err
	}
	if src, message := e.next(); message != nil {
		return src, message, nil
	}
	for len(e.arriving) < maxArriving {
		found, src, length, err := e.out.probe(dataComm)
		if err != nil || !found {
			return 0, nil, err
		}
		slot, there, err := e.incoming.receive(dataComm, src, e.pool.Get(length))
		if err != nil {
			return 0, nil, err
		}
		e.arriving = append(e.arriving, arrival{src, slot, there})
		if src, message := e.next(); message != nil {
			return src, message, nil
		}
	}
	return 0, nil, nil
}

// progress tests what is going on. The lock is held.
func (e *end) progress() error {
	if err := e.broken(); err != nil {
		return err
	}
	if err := e.sending.test(e.sent); err != nil {
		return err
	}
	for i := range e.arriving {
		if !e.arriving[i].there {
			return e.incoming.test(e.arrived)
		}
	}
	return nil
}

// next takes out the first message that is there and that no earlier one from
// its sender is before.
func (e *end) next() (int, []byte) {
	for i, a := range e.arriving {
		if !a.there || e.precedes(a.src, i) {
			continue
		}
		e.arriving = append(e.arriving[:i], e.arriving[i+1:]...)
		return a.src, e.incoming.done(a.slot)
	}
	return 0, nil
}

// precedes tells whether a message from src is among the first n arriving.
func (e *end) precedes(src, n int) bool {
	for _, a := range e.arriving[:n] {
		if a.src == src {
			return true
		}
	}
	return false
}

func (e *end) Wait(limit time.Duration) error {
	for start, i := time.Now(), 0; ; i++ {
		if e.woken.Load() && e.woken.Swap(false) {
			return nil
		}
		ready, err := e.ready()
		if ready || err != nil {
			return err
		}
		left := limit - time.Since(start)
		switch {
		case left <= 0:
			return nil
		case i < polls:
		case i < polls+yields:
			runtime.Gosched()
			yieldThread()
		case i < polls+yields+napsTill:
			time.Sleep(min(left, nap))
		default:
			time.Sleep(min(left, longNap))
		}
	}
}

// ready tells whether Receive may have a message.
func (e *end) ready() (bool, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if err := e.progress(); err != nil {
		return false, err
	}
	for i, a := range e.arriving {
		if a.there && !e.precedes(a.src, i) {
			return true, nil
		}
	}
	if len(e.arriving) == maxArriving {
		return false, nil
	}
	found, _, _, err := e.out.probe(dataComm)
	return found, err
}

func (e *end) Wake() { e.woken.Store(true) }

// Close waits until all processes close and no send is going on, dropping what
// comes; then it finalises MPI. After an error it leaves MPI as it is, and the
// process should call Abort.
func (e *end) Close() error {
	barrier := false
	for {
		e.lock.Lock()
		_, message, err := e.receive()
		if message != nil {
			e.pool.Put(message)
		}
		done := message == nil && err == nil && e.sending.active == 0
		if done && !barrier {
			done, barrier = false, true
			err = e.sending.barrier()
		}
		e.lock.Unlock()
		if err != nil {
			return err
		}
		if done {
			break
		}
		if message == nil {
			time.Sleep(nap)
		}
	}
	close(e.closing)
	err := <-e.ended
	e.pool.Drain()
	return err
}
