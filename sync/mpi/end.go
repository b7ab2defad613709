//go:build mpi

package mpi

import (
	"fmt"
	"sync/atomic"
	"time"
)

const (
	maxArriving = 16 // receives going on at a time

	// spin is how long a wait only looks at MPI where each process has a processor, as MPI
	// itself does. It is more than messages take to come between engines that work together.
	// Who sleeps is woken late, and then finds caches cold.
	spin = time.Millisecond

	polls    = 100 // of a wait before it yields
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

// end is this process's end of a transport. The lock of the job guards all but
// woken.
type end struct {
	*job
	woken atomic.Bool

	comm     communicator
	sending  requests // and the collective operations of this end
	incoming requests
	arriving []arrival // in the order of matching
	balance  int64     // messages sent less those received
	sent     func(slot int)
	arrived  func(slot int)
}

// begin begins to make a transport.
func (j *job) begin() (*end, error) {
	e := &end{job: j, comm: newCommunicator()}
	e.sent = func(slot int) {
		if buffer := e.sending.done(slot); buffer != nil { // nil: a collective operation
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
	j.lock.Lock()
	defer j.lock.Unlock()
	if err := j.broken(); err != nil {
		return nil, err
	}
	j.ends = append(j.ends, e)
	return e, e.sending.duplicate(e.comm)
}

// connect returns when all processes have begun.
func (e *end) connect() error {
	for i := 0; ; i++ {
		e.lock.Lock()
		err := e.progress()
		done := e.sending.active == 0
		if err == nil && done {
			err = e.comm.connected()
		}
		e.lock.Unlock()
		if done || err != nil {
			return err
		}
		pause(i, longNap)
	}
}

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

func (e *end) Send(dst int, message []byte) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	err := e.broken()
	switch {
	case err != nil:
	case dst < 0 || dst >= e.size:
		err = fmt.Errorf("engine %d sends to engine %d: there are engines 0 to %d", e.rank, dst, e.size-1)
	default:
		err = e.sending.send(e.comm, dst, message)
	}
	if err != nil {
		e.pool.Put(message)
		return err
	}
	e.balance++
	return nil
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
		found, src, length, err := e.out.probe(e.comm)
		if err != nil || !found {
			return 0, nil, err
		}
		slot, there, err := e.incoming.receive(e.comm, src, e.pool.Get(length))
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

// next removes and returns the first message that is there and has no earlier one from
// its sender before it.
func (e *end) next() (int, []byte) {
	for i, a := range e.arriving {
		if !a.there || e.precedes(a.src, i) {
			continue
		}
		e.arriving = append(e.arriving[:i], e.arriving[i+1:]...)
		e.balance--
		return a.src, e.incoming.done(a.slot)
	}
	return 0, nil
}

// precedes reports whether a message from src is among the first n arriving.
func (e *end) precedes(src, n int) bool {
	for _, a := range e.arriving[:n] {
		if a.src == src {
			return true
		}
	}
	return false
}

func (e *end) Wait(limit time.Duration) error {
	patience := time.Duration(0)
	if e.roomy {
		patience = spin
	}
	for start, i := time.Now(), 0; ; {
		if e.woken.Load() && e.woken.Swap(false) {
			return nil
		}
		ready, err := e.ready()
		if ready || err != nil {
			return err
		}
		waited := time.Since(start)
		switch {
		case waited >= limit:
			return nil
		case waited >= patience:
			pause(i, limit-waited)
			i++
		}
	}
}

// pause waits after look number i at MPI, at most limit: the longer nothing has come,
// the longer it waits. The thread waits in the system, not the goroutine in Go's scheduler: that
// of an engine whose ranks are C programs may be bound to its thread, and would then be woken by
// way of a second thread, each time.
func pause(i int, limit time.Duration) {
	switch {
	case i < polls:
	case i < polls+yields:
		yieldThread()
	case i < polls+yields+napsTill:
		sleepThread(min(limit, nap))
	default:
		sleepThread(min(limit, longNap))
	}
}

// ready reports whether Receive may have a message.
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
	found, _, _, err := e.out.probe(e.comm)
	return found, err
}

func (e *end) Wake() { e.woken.Store(true) }

func (e *end) Leave() {}

// Close drops all messages until none is on its way between any two ends, so that MPI
// may use the communicator's number again. It is collective. After an error it leaves
// MPI as it is, and the process should call Abort.
func (e *end) Close() error {
	// A sum of zero means that everything has been received: an end that takes part in
	// it sends no more.
	for i, summed := 0, false; ; i++ {
		e.lock.Lock()
		_, message, err := e.receive()
		if message != nil {
			e.pool.Put(message)
		}
		idle := message == nil && err == nil && e.sending.active == 0
		done := idle && summed && e.comm.sum() == 0
		switch {
		case done:
			err = e.free()
		case idle:
			summed = true
			err = e.sending.sum(e.comm, e.balance)
		}
		e.lock.Unlock()
		if done || err != nil {
			return err
		}
		if message != nil {
			i = 0
			continue
		}
		pause(i, longNap)
	}
}

// free releases all resources of the end. The lock is held.
func (e *end) free() error {
	e.remove(e)
	e.sending.release()
	e.incoming.release()
	return e.comm.free()
}
