package sync

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"gigarank/vtime"
)

// Stopped is the error of every engine once one of them has called Stop.
type Stopped struct {
	From   int    // the engine that stopped the run
	Reason []byte // the reason that it gave to Stop
}

// Error names the engine and its reason.
func (s *Stopped) Error() string {
	return fmt.Sprintf("the run was stopped by engine %d: %s", s.From, s.Reason)
}

// Failure says that an LP has failed at an instant. It bounds the run: nothing after it
// in the order of (time, LP) counts, on any engine. A late one bounds nothing.
type Failure struct {
	Time   vtime.Time
	LP     int32
	Late   bool // it counts once nothing is left to happen, unless another LP has failed that is not late
	Reason []byte
}

// Before reports whether f comes first: it alone is not late, at an earlier instant, or at the
// same instant at an LP with a lower number.
func (f *Failure) Before(g *Failure) bool {
	if f.Late != g.Late {
		return g.Late
	}
	return f.Time < g.Time || f.Time == g.Time && f.LP < g.LP
}

// failureBytes is the size of a failure without its reason.
const failureBytes = 13

// ending is the state of an endpoint about the end of the run.
type ending struct {
	failure    *Failure // the least known
	news       bool     // failure has changed since the last Wait
	unfinished int
	outcome    Outcome
	looks      int        // for the end, in a Wait, by the root
	gathered   [][][]byte // on engine 0: payloads received from each engine and not yet returned
	shared     [][]byte   // payloads received from engine 0 and not yet returned
}

// gather keeps a payload of engine src, one of size engines.
func (end *ending) gather(src, size int, payload []byte) {
	if end.gathered == nil {
		end.gathered = make([][][]byte, size)
	}
	end.gathered[src] = append(end.gathered[src], payload)
}

// Stop ends the run everywhere: from then on Poll and Wait of every engine, this one
// included, return a *[Stopped]. The endpoint keeps a copy of reason. Of several stops
// at the same time each engine sees one, not all the same. Stop may be called from any
// goroutine.
func (e *Endpoint) Stop(reason []byte) {
	reason = slices.Clone(reason)
	if e.stopRequest.CompareAndSwap(nil, &reason) {
		e.transport.Wake()
	}
}

// Fail tells all engines that an LP has failed. The run goes on: each engine reads
// [Endpoint.Failure] and drops what lies beyond. When nothing else is left the outcome
// is Deadlock, since the failed LP is not finished. All engines then know the least
// failure of all: it travels over the tree ahead of the round that finds the deadlock.
func (e *Endpoint) Fail(f Failure) {
	f.Reason = slices.Clone(f.Reason)
	e.adopt(&f, e.rank)
}

// Failure returns the least failure that this engine knows, nil if there is none.
func (e *Endpoint) Failure() *Failure { return e.end.failure }

// adopt keeps a failure that is the least so far, and passes it on.
func (e *Endpoint) adopt(f *Failure, via int) {
	if e.end.failure != nil && !f.Before(e.end.failure) {
		return
	}
	e.end.failure, e.end.news = f, true
	e.toNeighbours(via, kindFailure, failureBytes+len(f.Reason), func(body []byte) {
		binary.LittleEndian.PutUint64(body, uint64(f.Time))
		binary.LittleEndian.PutUint32(body[8:], uint32(f.LP))
		body[12] = 0
		if f.Late {
			body[12] = 1
		}
		copy(body[failureBytes:], f.Reason)
	})
}

// onFailure takes in a failure.
func (e *Endpoint) onFailure(src int, body []byte) error {
	if len(body) < failureBytes {
		return fmt.Errorf("a failure of %d bytes", len(body))
	}
	le := binary.LittleEndian
	e.adopt(&Failure{vtime.Time(le.Uint64(body)), int32(le.Uint32(body[8:])), body[12] != 0, slices.Clone(body[failureBytes:])}, src)
	return nil
}

// onStop takes in a stop.
func (e *Endpoint) onStop(src int, body []byte) error {
	if len(body) < 4 {
		return fmt.Errorf("a stop of %d bytes", len(body))
	}
	if e.stopped == nil {
		from := int(binary.LittleEndian.Uint32(body))
		e.halt(&Stopped{From: from, Reason: slices.Clone(body[4:])}, src)
	}
	return nil
}

// halt stops this engine and passes the stop on over the tree, except to the engine
// that it came from. Each engine sends it once to each neighbour.
func (e *Endpoint) halt(s *Stopped, via int) {
	e.stopped = s
	e.toNeighbours(via, kindStop, 4+len(s.Reason), func(body []byte) {
		binary.LittleEndian.PutUint32(body, uint32(s.From))
		copy(body[4:], s.Reason)
	})
}

// toNeighbours sends an item at once to each neighbour in the tree, except one.
func (e *Endpoint) toNeighbours(but int, kind uint64, size int, fill func(body []byte)) {
	neighbours := e.round.children
	if e.round.parent >= 0 {
		neighbours = append(slices.Clone(neighbours), e.round.parent)
	}
	for _, dst := range neighbours {
		if dst != but {
			p := e.peers.of(dst)
			fill(e.item(p, kind, size))
			e.sendPacket(p)
		}
	}
}

// Gather collects a payload of every engine. All engines call it equally often, after
// the run's end or a stop. Engine 0 gets the payloads by rank, the others get nil.
// After a stop engine 0 waits for GatherLimit at most. It then returns the payloads
// received, nil for the rest, and an error that names them. Records that come are
// dropped.
func (e *Endpoint) Gather(payload []byte) ([][]byte, error) {
	if e.rank > 0 {
		copy(e.item(e.peers.of(0), kindGather, len(payload)), payload)
		return nil, e.Flush()
	}
	if err := e.Flush(); err != nil {
		return nil, err
	}
	e.end.gather(0, e.size, slices.Clone(payload))
	missing := 0
	err := e.await(func() bool {
		for missing < e.size && len(e.end.gathered[missing]) > 0 {
			missing++
		}
		return missing == e.size
	}, e.missing)
	payloads := make([][]byte, e.size)
	for engine, queue := range e.end.gathered {
		if len(queue) > 0 {
			payloads[engine], e.end.gathered[engine] = queue[0], queue[1:]
		}
	}
	return payloads, err
}

// Share returns the payload of engine 0 on every engine; the payloads of the others are not
// used. All engines call it equally often, after the run's end. After a stop they wait
// for GatherLimit at most. Records that come are dropped.
func (e *Endpoint) Share(payload []byte) ([]byte, error) {
	if err := e.Flush(); err != nil {
		return nil, err
	}
	if e.rank == 0 {
		e.onShare(0, payload)
	}
	err := e.await(func() bool { return len(e.end.shared) > 0 }, func() error {
		return fmt.Errorf("engine 0 gave no answer within %v of the stop: it is busy or lost", e.config.GatherLimit)
	})
	if err != nil {
		return nil, err
	}
	first := e.end.shared[0]
	e.end.shared = e.end.shared[1:]
	return first, nil
}

// onShare takes in engine 0's payload and passes it on down the tree.
func (e *Endpoint) onShare(src int, payload []byte) {
	e.end.shared = append(e.end.shared, slices.Clone(payload))
	e.toNeighbours(src, kindShare, len(payload), func(body []byte) { copy(body, payload) })
}

// await takes in packets until enough returns true. It returns the transport's error,
// or late's once GatherLimit has passed since a stop.
func (e *Endpoint) await(enough func() bool, late func() error) error {
	defer e.transport.Leave()
	var deadline time.Duration // 0: none
	for !enough() {
		if e.failure != nil {
			return e.failure
		}
		now := e.config.Clock()
		if e.stopped != nil && deadline == 0 {
			deadline = now + e.config.GatherLimit
		}
		if deadline > 0 && now >= deadline {
			return late()
		}
		src, packet := e.receive()
		if packet != nil {
			e.takeIn(src, packet, func(int, []byte) {})
			e.transport.Free(packet)
			continue
		}
		limit := longestSleep
		if deadline > 0 {
			limit = min(limit, deadline-now)
		}
		if err := e.transport.Wait(limit); err != nil {
			e.fail(err)
		}
	}
	return nil
}

// missing returns an error that names the engines whose payload has not come.
func (e *Endpoint) missing() error {
	var engines []int
	for engine, queue := range e.end.gathered {
		if len(queue) == 0 {
			engines = append(engines, engine)
		}
	}
	count := len(engines)
	return fmt.Errorf("%d of %d engines, the first of them %v, gave no results within %v of the stop: they are busy or lost",
		count, e.size, engines[:min(count, 8)], e.config.GatherLimit)
}
