package sync

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// Stopped is the error of every engine once one of them has called Stop.
type Stopped struct {
	From   int    // the engine that stopped the run
	Reason []byte // what it gave to Stop
}

// Error names the engine and tells its reason.
func (s *Stopped) Error() string {
	return fmt.Sprintf("the run was stopped by engine %d: %s", s.From, s.Reason)
}

// ending is what an endpoint knows of the end of the run.
type ending struct {
	unfinished int
	outcome    Outcome
	gathered   [][][]byte // payloads come from each engine and not yet returned
}

// Stop ends the run everywhere: Poll and Wait of every engine, this one
// included, return a *[Stopped] from then on. The endpoint keeps a copy of
// reason. Of several stops at the same time each engine sees one, not all the
// same. Stop may be called from any goroutine.
func (e *Endpoint) Stop(reason []byte) {
	reason = slices.Clone(reason)
	if e.stopRequest.CompareAndSwap(nil, &reason) {
		e.transport.Wake()
	}
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

// halt stops this engine and passes the stop on over the tree, but not to the
// engine that it came from: each engine sends it once to each neighbour.
func (e *Endpoint) halt(s *Stopped, via int) {
	e.stopped = s
	neighbours := e.round.children
	if e.round.parent >= 0 {
		neighbours = append(slices.Clone(neighbours), e.round.parent)
	}
	for _, dst := range neighbours {
		if dst == via {
			continue
		}
		body := e.item(dst, kindStop, 4+len(s.Reason))
		binary.LittleEndian.PutUint32(body, uint32(s.From))
		copy(body[4:], s.Reason)
		e.sendPacket(dst)
	}
}

// Gather collects a payload of every engine. All
// engines call it equally often, after the run's end or a stop; engine 0 gets
// the payloads by rank, the others get nil. After a stop engine 0 waits for
// GatherLimit at most and returns what came, nil for the rest, with an error
// that names them. What records come are dropped.
func (e *Endpoint) Gather(payload []byte) ([][]byte, error) {
	if e.rank > 0 {
		copy(e.item(0, kindGather, len(payload)), payload)
		return nil, e.Flush()
	}
	if err := e.Flush(); err != nil {
		return nil, err
	}
	e.end.gathered[0] = append(e.end.gathered[0], slices.Clone(payload))
	err := e.awaitPayloads()
	payloads := make([][]byte, e.size)
	for engine, queue := range e.end.gathered {
		if len(queue) > 0 {
			payloads[engine], e.end.gathered[engine] = queue[0], queue[1:]
		}
	}
	return payloads, err
}

// awaitPayloads returns when there is a payload of every engine.
func (e *Endpoint) awaitPayloads() error {
	var deadline time.Duration // 0: none
	for missing := 0; ; {
		for missing < e.size && len(e.end.gathered[missing]) > 0 {
			missing++
		}
		if missing == e.size {
			return nil
		}
		if e.failure != nil {
			return e.failure
		}
		now := e.config.Clock()
		if e.stopped != nil && deadline == 0 {
			deadline = now + e.config.GatherLimit
		}
		if deadline > 0 && now >= deadline {
			return e.missing()
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
}

// missing reports whose payload has not come.
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
