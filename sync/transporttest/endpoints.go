package transporttest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"gigarank/sync"
	"gigarank/vtime"
)

// The program of the endpoint tests is a small PHOLD. Balls hop between engines at
// virtual times that a hash fixes. Each engine notes its hits in the order of virtual
// time.
const (
	ballsPerEngine = 5
	hops           = 40
	lookahead      = 10 * vtime.Nanosecond
)

type hit struct {
	time      vtime.Time
	ball, hop int
}

func (h hit) before(o hit) bool {
	if h.time != o.time {
		return h.time < o.time
	}
	return h.ball < o.ball
}

// next returns where and when the ball of a hit hits next.
func (h hit) next(size int) (engine int, n hit) {
	x := uint64(h.ball*hops+h.hop+1) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 32
	// Some hops are long, so that the run has gaps of many lookaheads.
	delay := lookahead + vtime.Duration(x%1000)
	if x>>20%16 == 0 {
		delay += 100 * lookahead
	}
	return int(x>>40) % size, hit{h.time.Add(delay), h.ball, h.hop + 1}
}

// itinerary returns the hits of every engine, unordered.
func itinerary(size int) [][]hit {
	hits := make([][]hit, size)
	for ball := range ballsPerEngine * size {
		engine, h := ball%size, hit{vtime.Time(ball), ball, 0}
		for hits[engine] = append(hits[engine], h); h.hop < hops; {
			engine, h = h.next(size)
			hits[engine] = append(hits[engine], h)
		}
	}
	return hits
}

// player is an engine of the program.
type player struct {
	*sync.Endpoint
	rank, size int
	queue      []hit
	unfinished int // hits to come, each an LP
	last       hit
	fault      error
	fails      int // the hop at which the engine fails; 0: it does not
	alloc      func(n int) []byte
}

func newPlayer(e *end, protocol sync.Protocol) *player {
	p := &player{rank: e.Rank(), size: e.Size(), unfinished: len(itinerary(e.Size())[e.Rank()]), alloc: e.Alloc}
	for ball := p.rank; ball < ballsPerEngine*p.size; ball += p.size {
		p.queue = append(p.queue, hit{vtime.Time(ball), ball, 0})
	}
	p.Endpoint = sync.NewEndpoint(e.Transport, sync.Config{
		Protocol:  protocol,
		Lookahead: func(int) vtime.Duration { return lookahead },
		Patience:  10 * time.Millisecond,
	})
	return p
}

func (p *player) deliver(src int, record []byte) {
	word := func(i int) int { return int(binary.LittleEndian.Uint64(record[8*i:])) }
	h := hit{vtime.Time(word(0)), word(1), word(2)}
	if h.time < p.EIT() {
		p.fault = fmt.Errorf("a record of engine %d for %v comes at EIT %v", src, h.time, p.EIT())
	}
	p.queue = append(p.queue, h)
	p.Credit(src, len(record))
}

// first returns the index of the first hit in the queue and its time.
func (p *player) first() (int, vtime.Time) {
	if len(p.queue) == 0 {
		return 0, vtime.Forever
	}
	first := 0
	for i, h := range p.queue {
		if h.before(p.queue[first]) {
			first = i
		}
	}
	if f := p.Failure(); f != nil && f.Before(&sync.Failure{Time: p.queue[first].time, LP: int32(p.rank)}) {
		return 0, vtime.Forever
	}
	return first, p.queue[first].time
}

func (p *player) play(i int) {
	h := p.queue[i]
	p.queue = append(p.queue[:i], p.queue[i+1:]...)
	if h.before(p.last) {
		p.fault = fmt.Errorf("hit %+v comes after %+v", h, p.last)
	}
	if p.fails > 0 && h.hop >= p.fails {
		p.Fail(sync.Failure{Time: h.time, LP: int32(p.rank), Reason: []byte{byte(p.rank)}})
		p.queue = nil
		return
	}
	p.last = h
	p.unfinished--
	if h.hop == hops {
		return
	}
	engine, next := h.next(p.size)
	if engine == p.rank {
		p.queue = append(p.queue, next)
		return
	}
	words := [3]int{int(next.time), next.ball, next.hop}
	put := func(record []byte, words []int) {
		for i, word := range words {
			binary.LittleEndian.PutUint64(record[8*i:], uint64(word))
		}
	}
	if p.SendsTails() && next.hop%2 == 1 {
		tail := p.alloc(8) // never given back: who gets it does not answer
		put(tail, words[2:])
		record, _ := p.ReserveTail(engine, 16, tail, nil)
		put(record, words[:2])
		return
	}
	put(p.Reserve(engine, 24), words[:])
}

// run plays to the end.
func (p *player) run() (sync.Outcome, error) {
	for p.fault == nil {
		if _, err := p.Poll(p.deliver); err != nil {
			return sync.Continue, err
		}
		i, next := p.first()
		p.Advance(next)
		if next < p.EIT() {
			p.play(i)
			continue
		}
		if outcome, err := p.Wait(next, p.unfinished); err != nil || outcome != sync.Continue {
			return outcome, err
		}
	}
	return sync.Continue, p.fault
}

// gather checks that engine 0 gets the rank of everyone.
func (p *player) gather() error {
	payloads, err := p.Gather([]byte{byte(p.rank)})
	if err != nil || p.rank > 0 && payloads == nil {
		return err
	}
	for rank := range p.size {
		if len(payloads) != p.size || len(payloads[rank]) != 1 || int(payloads[rank][0]) != rank {
			return fmt.Errorf("engine 0 gathers %v", payloads)
		}
	}
	return nil
}

// Every engine has its hits in order and all see the end.
func testEndpoints(e *end, protocol sync.Protocol) error {
	p := newPlayer(e, protocol)
	outcome, err := p.run()
	if err != nil || outcome != sync.Finished || p.unfinished != 0 {
		return fmt.Errorf("the run ends with %v, %d hits to come: %w", outcome, p.unfinished, err)
	}
	return p.gather()
}

// An LP that nothing finishes is a deadlock, seen by all.
func testDeadlock(e *end) error {
	p := newPlayer(e, sync.Hybrid)
	if e.Rank() == e.Size()-1 {
		p.unfinished++
	}
	outcome, err := p.run()
	if err != nil || outcome != sync.Deadlock {
		return fmt.Errorf("the run ends with %v: %w", outcome, err)
	}
	return p.gather()
}

// Every engine fails; all end with the least failure, and what comes before it has
// been played.
func testFailure(e *end, protocol sync.Protocol) error {
	const fails = hops / 2
	var least *sync.Failure
	hits := itinerary(e.Size())
	for rank := range hits {
		for _, h := range hits[rank] {
			f := &sync.Failure{Time: h.time, LP: int32(rank)}
			if h.hop >= fails && (least == nil || f.Before(least)) {
				least = f
			}
		}
	}
	p := newPlayer(e, protocol)
	p.fails = fails
	outcome, err := p.run()
	f := p.Failure()
	switch {
	case err != nil || outcome != sync.Deadlock:
		return fmt.Errorf("the run ends with %v: %w", outcome, err)
	case f == nil || f.Time != least.Time || f.LP != least.LP || len(f.Reason) != 1 || f.Reason[0] != byte(f.LP):
		return fmt.Errorf("the least failure is %+v, want %+v", f, least)
	}
	played := len(hits[p.rank]) - p.unfinished
	for _, h := range hits[p.rank] {
		if h.time < least.Time {
			played--
		}
	}
	if played < 0 {
		return fmt.Errorf("%d hits before the failure were not played", -played)
	}
	return p.gather()
}

// A stop, called from another goroutine, reaches everyone, wherever it is.
func testStop(e *end) error {
	p := newPlayer(e, sync.Hybrid)
	if e.Rank() == e.Size()-1 {
		go p.Stop([]byte("enough"))
	}
	for {
		// An engine that would play for ever: it never has a next hit.
		_, err := p.Wait(vtime.Forever, 0)
		if err == nil {
			_, err = p.Poll(p.deliver)
		}
		var stopped *sync.Stopped
		if errors.As(err, &stopped) && stopped.From == e.Size()-1 && string(stopped.Reason) == "enough" {
			return p.gather()
		}
		if err != nil {
			return err
		}
	}
}
