package sync

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"gigarank/vtime"
)

// Null messages on demand. An engine that starves asks the engines whose promise holds
// it back, and names the promise that it needs. An answer is a packet whose header
// carries the promise.
//
// Under Null a request stands until its need is met. The engine asked answers when it is
// blocked and its promise has grown by a lookahead, or when it has grown half the way.
// When its own EIT holds the promise back, it asks in turn. So needs spread, and the
// promises creep up from the engine with the least next event, a lookahead at a time.
//
// Under Hybrid a request has one answer, when the need is met or the engine asked is
// blocked, and nothing spreads. After two waves of requests that do not help, the
// engine wants a round. It wants one at once when the need is more than two lookaheads
// past EIT, where the promises would creep. It also does when more engines hold it back
// than twice the levels of a round. This bounds its messages between rounds by O(log
// engines).

// wavesBeforeRound is the number of waves of requests under Hybrid.
const wavesBeforeRound = 2

// onRequest stores the promise that engine src needs.
func (e *Endpoint) onRequest(src int, body []byte) error {
	if len(body) != 8 {
		return fmt.Errorf("a request of %d bytes", len(body))
	}
	p := e.peers.of(src)
	p.need = vtime.Time(binary.LittleEndian.Uint64(body))
	if !p.asks {
		p.asks = true
		e.askers = append(e.askers, p)
	}
	return nil
}

// heard notes an answer.
func (p *peer) heard(protocol Protocol) {
	if protocol == Hybrid {
		p.asked = 0
	}
}

// answer sends promises to the engines that asked. A blocked engine does nothing more
// before something comes.
//
// Under Null a blocked engine waits with its answer until its promise has grown by a lookahead.
// Of all promises that engines wait for, let the least be s. An engine that has given it is
// blocked with its EIT at s or later, or has been given what it needs to answer. So its promise
// has grown by a lookahead, and that engine answers. The EIT of an engine with a cap, or that
// awaits answers, may be less, and so may the next event of an engine that waits for room. Such an
// engine answers whenever its promise has grown.
func (e *Endpoint) answer(blocked bool) {
	held := e.cap < vtime.Forever || e.awaited < vtime.Forever || e.next < e.eit
	for i := 0; i < len(e.askers); {
		p := e.askers[i]
		promise := e.base.Add(p.lookahead)
		met := promise >= p.need
		told := p.promised >= p.need // by a packet that was on its way
		last := met || blocked && e.config.Protocol == Hybrid
		grown := e.config.Protocol == Null && promise > p.promised &&
			(blocked && (held || promise.Sub(p.promised) >= p.lookahead) || promise.Sub(p.promised) >= p.need.Sub(promise))
		if !told && (last || grown) {
			e.begin(p)
			p.flags |= flagAnswer
			e.count.SyncMessages++
			e.sendPacket(p)
		}
		if told || last {
			p.need, p.asks = 0, false
			last := len(e.askers) - 1
			e.askers[i] = e.askers[last]
			e.askers = e.askers[:last]
			continue
		}
		i++
	}
}

// level returns the EIT that this blocked engine needs, or 0 when EIT suffices. Under
// Null it counts the promises that others have asked for.
func (e *Endpoint) level() vtime.Time {
	var level vtime.Time
	if e.starves() {
		level = e.next + 1
	}
	if e.config.Protocol != Null {
		return level
	}
	for _, p := range e.askers {
		need := p.need.Add(-p.lookahead)
		if e.next < need {
			need = e.next + 1
		}
		if need > e.eit {
			level = max(level, need)
		}
	}
	return level
}

// starves reports whether only EIT keeps the engine from its next event.
func (e *Endpoint) starves() bool { return e.next < vtime.Forever && e.eit <= e.next }

// seek takes the protocol's next step to raise EIT to level.
func (e *Endpoint) seek(level vtime.Time) {
	if e.awaited < level && e.reached < level {
		e.seekRound(level) // no promise helps
		return
	}
	switch e.config.Protocol {
	case Null:
		e.creep(level)
	case Conditional:
		e.seekRound(level)
	default:
		if !e.exchange(level) {
			e.seekRound(level)
		}
	}
}

// answersOfNull is the number of answers, while one level is needed, after which the
// protocol Null asks for a round as well. Two engines with a tiny lookahead would
// otherwise send a null message for each picosecond. An example is two that share a
// node whose leader learns of a join at once.
const answersOfNull = 64

// creep asks every engine that stands in the way for a promise.
func (e *Endpoint) creep(level vtime.Time) {
	if e.exchanging != level {
		e.exchanging, e.exchanges = level, 0
	}
	e.listLaggards(level, e.size)
	for _, p := range e.laggards {
		if !e.awaits(p) {
			e.ask(p, level)
		}
	}
	if e.exchanges > answersOfNull {
		e.seekRound(level)
	}
}

// listLaggards lists the engines whose promise is below level. It returns false, with a list
// of no meaning, if there are more than limit.
func (e *Endpoint) listLaggards(level vtime.Time, limit int) bool {
	e.laggards = e.laggards[:0]
	unheard := e.promises.silent > 0 && e.promises.first < level
	if unheard && e.promises.silent > limit {
		return false
	}
	e.numbers = e.promises.below(level, limit+1, e.numbers[:0])
	for _, number := range e.numbers {
		e.laggards = append(e.laggards, e.peers.list[number])
	}
	for engine := 0; unheard && engine < e.size && len(e.laggards) <= limit; engine++ {
		if engine == e.rank {
			continue
		}
		if p := e.peers.of(engine); int(p.number) >= e.promises.heard {
			e.laggards = append(e.laggards, p)
		}
	}
	return len(e.laggards) <= limit
}

// fewHoldBack reports whether EIT may reach level by promises of few engines, and lists
// them.
func (e *Endpoint) fewHoldBack(level vtime.Time) bool {
	if level > e.eit.Add(e.lookahead).Add(e.lookahead) {
		return false // far off
	}
	limit := 2 * bits.Len(uint(e.size-1))
	return e.listLaggards(level, limit) && len(e.laggards) > 0
}

// keen reports whether this engine needs a round to go on: it starves, and the protocol
// has no better way.
func (e *Endpoint) keen() bool {
	if !e.starves() {
		return false
	}
	switch e.config.Protocol {
	case Null:
		return false
	case Conditional:
		return true
	}
	return !e.fewHoldBack(e.next + 1)
}

// exchange continues a wave of requests, or begins one. It returns false when a round
// is the better way.
func (e *Endpoint) exchange(level vtime.Time) bool {
	if e.exchanging != level {
		e.exchanging, e.exchanges = level, 0
	}
	if !e.fewHoldBack(level) {
		return false
	}
	waiting := false
	for _, p := range e.laggards {
		if !e.awaits(p) {
			continue
		}
		waiting = true
		if p.asked > level {
			e.ask(p, level)
		}
	}
	if waiting {
		return true
	}
	if e.exchanges == wavesBeforeRound {
		return false
	}
	e.exchanges++
	for _, p := range e.laggards {
		e.ask(p, level)
	}
	return true
}

// awaits reports whether an answer of the engine is to come.
func (e *Endpoint) awaits(p *peer) bool {
	return p.asked > e.promises.of(p.number)
}

// ask requests a promise of level.
func (e *Endpoint) ask(p *peer, level vtime.Time) {
	p.asked = level
	binary.LittleEndian.PutUint64(e.item(p, kindRequest, 8), uint64(level))
	e.count.SyncMessages++
	e.sendPacket(p)
}
