//go:build mpi

package mpi

import (
	"encoding/binary"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"gigarank/sync"
)

const (
	beatPeriod = 500 * time.Millisecond // at most

	beatsInLimit = 16 // at least, so that some may be late

	tick     = 20 * time.Millisecond // between looks at MPI
	busyTick = time.Millisecond      // the same while a send is going on

	arity    = 4   // children of a process in the tree
	longHost = 200 // bytes of a host's name that are sent
)

// The first byte of a heartbeat. The host's name follows; in a report of a loss, the lost
// engine, how long it was silent, the name of its host and, behind a byte of zero, of the host
// that has noticed it; in an answer to the roll call, nothing.
const (
	alive byte = iota
	leaving
	losing
	present
)

const lossHeader = 1 + 4 + 8 // bytes before the name in a report of a loss

// watch exchanges heartbeats with the neighbours in the tree.
type watch struct {
	job           *job
	comm          communicator
	period, limit time.Duration
	host          string
	neighbours    map[int]*neighbour
	sending       requests
	incoming      requests
	sent          func(slot int)
	present       map[int]bool // processes that have answered the roll call
}

// neighbour is the state of another process, as this one knows it.
type neighbour struct {
	heard time.Time
	host  string
	left  bool
}

// muted keeps this process silent, for the test of its loss.
var muted atomic.Bool

// newWatch makes the watch with a communicator of its own.
func newWatch(j *job, period, limit time.Duration) (*watch, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "a host without a name"
	}
	w := &watch{job: j, comm: newCommunicator(), period: period, limit: limit, host: host[:min(len(host), longHost)],
		present: map[int]bool{j.rank: true}}
	w.sent = func(slot int) {
		if buffer := w.sending.done(slot); buffer != nil { // nil: the communicator is there
			j.pool.Put(buffer)
		}
	}
	if err := w.sending.duplicate(w.comm); err != nil {
		return nil, err
	}
	for w.sending.active > 0 {
		if err := w.sending.test(w.sent); err != nil {
			return nil, err
		}
		time.Sleep(nap)
	}
	w.neighbours = neighbours(j.rank, j.size, time.Now())
	return w, w.comm.connected()
}

// neighbours returns the neighbours of a process in the tree, counted as heard now.
func neighbours(rank, size int, now time.Time) map[int]*neighbour {
	all := map[int]*neighbour{}
	for child := arity*rank + 1; child <= arity*rank+arity && child < size; child++ {
		all[child] = &neighbour{heard: now}
	}
	if rank > 0 {
		all[(rank-1)/arity] = &neighbour{heard: now}
	}
	return all
}

// run watches until Close, then takes leave and finalises MPI.
func (w *watch) run() error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var beaten, looked time.Time
	for closing := false; !closing; {
		select {
		case <-w.job.closing:
			closing = true
		case <-timer.C:
		}
		now := time.Now()
		if late := now.Sub(looked); late > w.limit/2 {
			w.forgive(now) // this process itself was stopped
		}
		looked = now
		beat := now.Sub(beaten) >= w.period
		if beat {
			beaten = now
		}
		timer.Reset(w.look(now, beat && !closing))
	}
	if err := w.leave(); err != nil {
		return err
	}
	w.job.lock.Lock()
	defer w.job.lock.Unlock()
	return finalise()
}

// look progresses MPI, sends heartbeats if beat is set, and takes in what has come. It
// returns the time until the next look.
func (w *watch) look(now time.Time, beat bool) time.Duration {
	j := w.job
	j.lock.Lock()
	defer j.lock.Unlock()
	if err := w.exchange(now, beat && !muted.Load()); err != nil && j.failure == nil {
		j.failure = err
		j.wake()
	}
	for rank, n := range w.neighbours {
		if silent := now.Sub(n.heard); silent > w.limit && !n.left && j.lost.Load() == nil {
			w.lose(&sync.Lost{Engine: rank, Host: n.host, Silent: silent, By: w.host}, rank)
		}
	}
	for _, e := range j.ends {
		if e.sending.active > 0 {
			return busyTick
		}
	}
	return min(tick, w.period)
}

// lose ends the use of MPI by a loss, of which it has heard from a process or learnt by its
// silence, and tells the other neighbours. The processes that notice a loss end first: without
// the report, the processes that wait for them would count them as lost in turn. The lock is held.
func (w *watch) lose(lost *sync.Lost, from int) {
	w.job.lost.Store(lost)
	w.job.wake()
	for rank := range w.neighbours {
		if rank == from || rank == lost.Engine {
			continue
		}
		names := lost.Host + "\x00" + lost.By
		message := w.job.pool.Get(lossHeader + len(names))
		message[0] = losing
		binary.LittleEndian.PutUint32(message[1:], uint32(lost.Engine))
		binary.LittleEndian.PutUint64(message[5:], uint64(lost.Silent))
		copy(message[lossHeader:], names)
		if _, err := w.sending.send(w.comm, rank, tagWhole, message, message); err != nil {
			return // broken gives the loss as the cause
		}
	}
}

// answer tells a process that this one is there. The lock is held.
func (w *watch) answer(dst int) error {
	message := w.job.pool.Get(1)
	message[0] = present
	_, err := w.sending.send(w.comm, dst, tagWhole, message, message)
	return err
}

// exchange sends and receives heartbeats and progresses sends of the engines. The
// lock is held.
func (w *watch) exchange(now time.Time, beat bool) error {
	for _, e := range w.job.ends {
		if err := e.sending.test(e.sent); err != nil {
			return err
		}
	}
	if err := w.sending.test(w.sent); err != nil {
		return err
	}
	// A neighbour that takes no heartbeats gets no more of them.
	if beat && w.sending.active < 4*len(w.neighbours) {
		if err := w.beat(alive); err != nil {
			return err
		}
	}
	return w.listen(now)
}

// beat sends a heartbeat to every neighbour.
func (w *watch) beat(kind byte) error {
	for rank := range w.neighbours {
		message := w.job.pool.Get(1 + len(w.host))
		message[0] = kind
		copy(message[1:], w.host)
		if _, err := w.sending.send(w.comm, rank, tagWhole, message, message); err != nil {
			return err
		}
	}
	return nil
}

// listen takes in the heartbeats that have come.
func (w *watch) listen(now time.Time) error {
	for {
		found, v, err := w.job.out.probe(w.comm)
		if err != nil || !found {
			return err
		}
		slot, there, err := w.incoming.receive(w.comm, v.source, v.tag, w.job.pool.Get(v.length), 0)
		for err == nil && !there { // short, hence on its way as a whole
			err = w.incoming.test(func(int) { there = true })
		}
		if err != nil {
			return err
		}
		message := w.incoming.done(slot)
		if v.length >= lossHeader && message[0] == losing {
			if w.job.lost.Load() == nil {
				host, by, _ := strings.Cut(string(message[lossHeader:]), "\x00")
				w.lose(&sync.Lost{
					Engine: int(binary.LittleEndian.Uint32(message[1:])),
					Host:   host,
					Silent: time.Duration(binary.LittleEndian.Uint64(message[5:])),
					By:     by,
				}, v.source)
			}
		} else if v.length > 0 && message[0] == present {
			w.present[v.source] = true
		} else if n := w.neighbours[v.source]; n != nil && v.length > 0 {
			n.heard, n.host, n.left = now, string(message[1:]), message[0] == leaving
		}
		w.job.pool.Put(message)
	}
}

// forgive counts every neighbour as heard.
func (w *watch) forgive(now time.Time) {
	for _, n := range w.neighbours {
		n.heard = now
	}
}

// leave tells the neighbours that no heartbeat follows, and takes in theirs up to the
// last, so that MPI ends with no message on its way. All are closing, so this is quick.
func (w *watch) leave() error {
	j := w.job
	j.lock.Lock()
	err := w.beat(leaving)
	j.lock.Unlock()
	w.forgive(time.Now())
	for err == nil {
		now := time.Now()
		w.look(now, false)
		j.lock.Lock()
		err = j.broken()
		staying := w.sending.active
		j.lock.Unlock()
		for _, n := range w.neighbours {
			if !n.left {
				staying++
			}
		}
		if staying == 0 {
			return nil
		}
		time.Sleep(nap)
	}
	return err
}
