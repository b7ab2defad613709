//go:build mpi

package mpi

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"gigarank/sync"
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

// The tags of messages. A message with a tail goes as two: a head, which is the message and the
// length of the tail, and the tail. Messages from one process come in the order of sending, and so
// do heads and tails: a tail is received once its head is.
const (
	tagWhole = iota
	tagHead
	tagTail
)

// lengthSize is the size of the length of a tail, at the end of a head.
const lengthSize = 8

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
	arriving []arrival  // in the order of matching
	balance  int64      // messages sent less those received
	tails    []sentTail // in the order of sending
	sent     func(slot int)
	arrived  func(slot int)
}

// sentTail is a tail that MPI may read still.
type sentTail struct {
	number int32
	slot   int
	owner  any
}

// begin begins to make a transport.
func (j *job) begin() (*end, error) {
	e := &end{job: j, comm: newCommunicator()}
	e.sent = func(slot int) {
		if buffer := e.sending.done(slot); buffer != nil { // nil: a tail or a collective operation
			e.pool.Put(buffer)
			return
		}
		e.tails = slices.DeleteFunc(e.tails, func(t sentTail) bool { return t.slot == slot })
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
	return e.send(dst, tagWhole, message)
}

// send sends a message with a tag. The lock is held.
func (e *end) send(dst, tag int, message []byte) error {
	err := e.broken()
	switch {
	case err != nil:
	case dst < 0 || dst >= e.size:
		err = fmt.Errorf("engine %d sends to engine %d: there are engines 0 to %d", e.rank, dst, e.size-1)
	default:
		_, err = e.sending.send(e.comm, dst, tag, message, message)
	}
	if err != nil {
		e.pool.Put(message)
		return err
	}
	e.balance++
	return nil
}

// SendTail implements [sync.TailSender].
func (e *end) SendTail(dst int, message []byte, tail sync.Tail) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	n := len(message)
	if cap(message) < n+lengthSize {
		bigger := e.pool.Get(n + lengthSize)
		copy(bigger, message)
		e.pool.Put(message)
		message = bigger
	}
	head := message[:n+lengthSize]
	binary.NativeEndian.PutUint64(head[n:], uint64(len(tail.Bytes)))
	if err := e.send(dst, tagHead, head); err != nil {
		return err
	}
	slot, err := e.sending.send(e.comm, dst, tagTail, tail.Bytes, nil)
	if err == nil {
		e.tails = append(e.tails, sentTail{tail.Number, slot, tail.Owner})
	}
	return err
}

// AwaitTail implements [sync.TailSender]. MPI may learn a little later than this engine that a tail
// has come.
func (e *end) AwaitTail(number int32) error {
	for i := 0; ; i++ {
		e.lock.Lock()
		err := e.progress()
		read := slices.ContainsFunc(e.tails, func(t sentTail) bool { return t.number == number })
		e.lock.Unlock()
		if !read || err != nil {
			return err
		}
		pause(i, nap)
	}
}

// HoldsTails implements [sync.TailSender].
func (e *end) HoldsTails() bool {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.progress() != nil || len(e.tails) > 0
}

func (e *end) Receive() (int, []byte, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.receive()
}

// receive returns the next message that is there. The lock is held.
func (e *end) receive() (int, []byte, error) {
	if come, err := e.fetch(); !come || err != nil {
		return 0, nil, err
	}
	src, message := e.next()
	return src, message, nil
}

// fetch tests what is going on, and begins to receive what is there until a message has come
// whole. It reports whether one has. The lock is held.
func (e *end) fetch() (come bool, err error) {
	if err := e.progress(); err != nil {
		return false, err
	}
	for !e.come() {
		if len(e.arriving) == maxArriving {
			return false, nil
		}
		found, v, err := e.out.probe(e.comm)
		if err != nil || !found {
			return false, err
		}
		slot, there, err := e.take(v)
		if err != nil {
			return false, err
		}
		e.arriving = append(e.arriving, arrival{v.source, slot, there})
	}
	return true, nil
}

// take begins to receive a message that is there, with its tail if it has one. It returns the slot,
// and whether all of it has been received already. The lock is held.
func (e *end) take(v envelope) (slot int, there bool, err error) {
	if v.tag == tagWhole {
		return e.incoming.receive(e.comm, v.source, tagWhole, e.pool.Get(v.length), 0)
	}
	head := e.pool.Get(v.length)
	defer e.pool.Put(head)
	if err := receiveNow(e.comm, v, head); err != nil {
		return 0, false, err
	}
	n := v.length - lengthSize
	message := e.pool.Get(n + int(binary.NativeEndian.Uint64(head[n:])))
	copy(message, head[:n])
	return e.incoming.receive(e.comm, v.source, tagTail, message, n)
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

// next removes and returns the first message that has come and has no earlier one from
// its sender before it.
func (e *end) next() (int, []byte) {
	i := e.first()
	a := e.arriving[i]
	e.arriving = append(e.arriving[:i], e.arriving[i+1:]...)
	e.balance--
	return a.src, e.incoming.done(a.slot)
}

// come reports whether there is a message for next.
func (e *end) come() bool { return e.first() >= 0 }

// first returns the place of the message for next, negative if there is none.
func (e *end) first() int {
	return slices.IndexFunc(e.arriving, func(a arrival) bool { return a.there && !e.awaits(a) })
}

// awaits reports whether an earlier message of its sender is still on its way.
func (e *end) awaits(a arrival) bool {
	earlier := slices.IndexFunc(e.arriving, func(b arrival) bool { return b.src == a.src })
	return e.arriving[earlier].slot != a.slot
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

// ready reports whether Receive has a message.
func (e *end) ready() (bool, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.fetch()
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
