//go:build mpi

package mpi

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	stdsync "sync"
	"sync/atomic"
	"time"

	"gigarank/sync"
	"gigarank/sync/internal/buffers"
)

// job implements Job.
type job struct {
	rank, size int
	roomy      bool // a processor for each process of the host
	lost       atomic.Pointer[sync.Lost]
	closing    chan struct{} // closed by Close
	ended      chan error    // what MPI_Finalize returned
	watch      *watch

	lock    stdsync.Mutex // serialises all use of MPI and of what is below
	pool    *buffers.Pool
	out     outcome
	failure error // of the watch
	ends    []*end
}

var opened atomic.Bool

// Open initialises MPI and returns the job that this process belongs to. A process that is
// silent for the limit counts as lost.
func Open(limit time.Duration) (Job, error) {
	j, err := open(min(beatPeriod, limit/beatsInLimit), limit)
	if err != nil {
		return nil, err
	}
	return j, nil
}

func open(period, limit time.Duration) (*job, error) {
	if !opened.CompareAndSwap(false, true) {
		return nil, errors.New("MPI is open already: a process can initialise it once only")
	}
	j := &job{
		pool:    buffers.NewPool(allocate, release),
		closing: make(chan struct{}),
		ended:   make(chan error, 1),
		out:     newOutcome(),
	}
	started := make(chan error)
	go j.host(period, limit, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return j, nil
}

// host is the goroutine that initialises MPI, keeps the watch, and finalises MPI. It
// does so from one thread, as the standard requires.
func (j *job) host(period, limit time.Duration, started chan<- error) {
	runtime.LockOSThread()
	var err error
	j.rank, j.size, err = initialise()
	if err == nil {
		var processes, processors int
		processes, processors, err = hostShare()
		j.roomy = processes <= processors
	}
	if err != nil {
		started <- err
		return
	}
	j.watch, err = newWatch(j, period, limit)
	started <- err
	if err == nil {
		j.ended <- j.watch.run()
	}
}

func (j *job) Rank() int { return j.rank }
func (j *job) Size() int { return j.size }

func (j *job) Transport() (sync.Transport, error) {
	e, err := j.begin()
	if err == nil {
		err = e.connect()
	}
	if err != nil {
		return nil, fmt.Errorf("making a transport: %w", err)
	}
	return e, nil
}

// RollCall implements [Job]. The watch takes the answers in.
func (j *job) RollCall(to []int, wait time.Duration) map[int]bool {
	j.lock.Lock()
	for _, dst := range to {
		if dst != j.rank {
			_ = j.watch.answer(dst) // who does not hear of this process does without it
		}
	}
	j.lock.Unlock()
	time.Sleep(wait)
	j.lock.Lock()
	defer j.lock.Unlock()
	return maps.Clone(j.watch.present)
}

// broken returns the error after which nothing can go on, nil if there is none. The
// lock is held.
func (j *job) broken() error {
	if lost := j.lost.Load(); lost != nil {
		return lost
	}
	return j.failure
}

// wake ends the waits of all transports. The lock is held.
func (j *job) wake() {
	for _, e := range j.ends {
		e.Wake()
	}
}

// remove removes a closed transport from the list. The lock is held.
func (j *job) remove(e *end) {
	j.ends = slices.DeleteFunc(j.ends, func(open *end) bool { return open == e })
}

// Close finalises MPI. After an error it leaves MPI as it is, and the process
// should call Abort.
func (j *job) Close() error {
	j.lock.Lock()
	err, open := j.broken(), len(j.ends)
	j.lock.Unlock()
	if err != nil {
		return err
	}
	if open > 0 {
		return fmt.Errorf("MPI cannot be finalised with %d transports in use: close them first", open)
	}
	close(j.closing)
	err = <-j.ended
	j.pool.Drain()
	return err
}
