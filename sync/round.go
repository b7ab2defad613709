package sync

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"gigarank/vtime"
)

// A round finds the least next event over a consistent cut through all engines.
// It runs over a tree with engine 0 at the root:
//
//	want          up    an engine needs a round
//	start         down  the root starts it
//	contribution  up    of a subtree, once all its engines are drained
//	amendment     up    to a contribution, for records that came after it
//	result        down
//
// The cut is coloured as by Mattern (1993): each packet carries the number of rounds
// that its sender has contributed to. A round counts the records sent and those
// received before the cut. A record sent behind its sender's cut that comes before its
// receiver's cut is counted by the next round only. When the two sums agree, no record
// crosses the cut forwards. Whatever an engine does behind its cut then has one of two
// causes. One is its state there: it acts at the next event that it contributed, or
// later. The other is a record sent behind the cut, for which the same holds. By
// induction nothing happens before the minimum, and no later record concerns a time
// before the minimum plus a lookahead.
//
// When the sums do not agree, records cross the cut. An engine that gets one amends its
// contribution once it is drained again: it adds the records and its next event now. As
// long as it has sent no record since its cut, that moves its cut behind their receipt
// and no sending, so the argument holds for the later cut. An engine that has sent one
// spoils the round instead, and the root starts another. Until one or the other has
// come for each such record the root waits.
//
// When a result leaves a good part of the engines in need of another round, that round
// begins with the result, without want and start. So while all engines starve in each
// window, a window costs each engine a contribution and a result, and amendments where
// records overtook its contribution. With fewer messages no engine could hear of all others.
// A round in which the minimum has not grown is followed by none: it would help nobody.
//
// An engine that is blocked, with all its LPs finished and no next event, contributes to the next
// round before that is started, once its children have. So the end of a run costs each engine a contribution
// and a result. Such a round is like any other: the cut may lie anywhere. If somebody needs
// the round earlier, the root starts it, and those engines have contributed already.
//
// For the same reason one round decides the end. When every engine is blocked, none has a
// next event and no record crosses the cut, nothing can happen behind it. The run is then
// finished, or deadlocked if LPs are unfinished. Finished LPs alone do not show the end: an
// engine without unfinished LPs may have a next event. Behind its cut it handles that event
// and sends records, and one of them may finish the last LP of an engine that contributes
// later.
//
// A round for virtual time names a threshold: the EIT that the engine that wanted it
// needs. An engine that is not blocked contributes only when its next event lets EIT
// reach the threshold. So each round takes one of two engines past its next event: the
// one that wanted it, or the one with the minimum, which was blocked.

// purpose is the question that a round answers; a later purpose includes the earlier ones.
type purpose uint8

const (
	purposeEnd  purpose = iota // to detect the end or a deadlock
	purposeTime                // to raise EIT
)

const (
	arity = 4 // children of a node of the tree

	// Waits after rounds in vain. They double up to the last.
	retryWait   = 10 * time.Microsecond
	wantWait    = 20 * time.Microsecond
	longestWait = time.Millisecond

	// A round begins with the result of the last if one engine in keenShare needs it. It
	// disturbs all the others: a few engines that need rounds ask for each.
	keenShare = 4
)

// roundMessage is the body of every message of a round.
type roundMessage struct {
	round   uint32
	purpose purpose
	outcome Outcome // of a result
	unknown bool    // in a contribution: some engine may still be running
	again   bool    // in a result: the next round, for virtual time, begins with it
	spoilt  bool    // in a contribution or an amendment: no amendment can help
	vague   bool    // some engine has put work off that deferred does not count, or counts as it was
	// time is the threshold of a want and a start, the minimum of a
	// contribution and a result.
	time           vtime.Time
	sent, received uint64
	unfinished     uint64
	keen           uint32         // in a contribution: engines that need another round
	lookahead      vtime.Duration // the least from any engine contributing
	deferred       Deferred
}

const roundMessageSize = 88

func (m *roundMessage) put(body []byte) {
	le := binary.LittleEndian
	le.PutUint32(body, m.round)
	body[4], body[5], body[6], body[7] = byte(m.purpose), byte(m.outcome), 0, 0
	for bit, flag := range [...]bool{m.unknown, m.again, m.spoilt, m.vague} {
		if flag {
			body[6] |= 1 << bit
		}
	}
	le.PutUint64(body[8:], uint64(m.time))
	le.PutUint64(body[16:], m.sent)
	le.PutUint64(body[24:], m.received)
	le.PutUint64(body[32:], m.unfinished)
	le.PutUint64(body[40:], uint64(m.lookahead))
	le.PutUint64(body[48:], uint64(m.keen))
	le.PutUint64(body[56:], uint64(m.deferred.From))
	le.PutUint64(body[64:], m.deferred.Items)
	le.PutUint64(body[72:], m.deferred.Most)
	le.PutUint64(body[80:], uint64(m.deferred.Last))
}

func readRoundMessage(body []byte) (m roundMessage, err error) {
	if len(body) != roundMessageSize {
		return m, fmt.Errorf("a round's message of %d bytes", len(body))
	}
	le := binary.LittleEndian
	return roundMessage{
		round: le.Uint32(body), purpose: purpose(body[4]), outcome: Outcome(body[5]), unknown: body[6]&1 != 0, again: body[6]&2 != 0, spoilt: body[6]&4 != 0, vague: body[6]&8 != 0,
		time: vtime.Time(le.Uint64(body[8:])), sent: le.Uint64(body[16:]), received: le.Uint64(body[24:]),
		unfinished: le.Uint64(body[32:]), lookahead: vtime.Duration(le.Uint64(body[40:])),
		keen:     uint32(le.Uint64(body[48:])),
		deferred: Deferred{From: vtime.Time(le.Uint64(body[56:])), Items: le.Uint64(body[64:]), Most: le.Uint64(body[72:]), Last: vtime.Time(le.Uint64(body[80:]))},
	}, nil
}

// add adds a contribution to the sum m.
func (m *roundMessage) add(c *roundMessage) {
	m.time = min(m.time, c.time)
	m.lookahead = min(m.lookahead, c.lookahead)
	m.sent += c.sent
	m.received += c.received
	m.unfinished += c.unfinished
	m.keen += c.keen
	m.unknown = m.unknown || c.unknown
	m.spoilt = m.spoilt || c.spoilt
	m.vague = m.vague || c.vague
	m.deferred.add(&c.deferred)
}

// roundState is an engine's part in the rounds. Rounds are numbered from 1.
type roundState struct {
	parent   int // -1 at the root
	children []int

	cut     uint32 // rounds contributed to
	started uint32 // rounds started
	done    uint32 // rounds over

	purpose   purpose    // of the round started last
	threshold vtime.Time // of it
	wanted    roundMessage
	open      uint32       // round of sum: started, or the next one
	sum       roundMessage // of the contributions so far
	summed    int          // how many, of this engine and its children

	sent, received uint64 // records, the latter of packets sent before this engine's cut
	early          uint64 // records received that were sent behind the next cut
	late           uint64 // records received that cross this engine's last cut, not in an amendment yet

	own       roundMessage // this engine's latest contribution, as amended
	amendment roundMessage // the parent has not got it yet, if there is one
	amended   bool         // there is one

	retryAt   time.Duration // the root starts no round before
	retries   int           // rounds with records in flight, in a row
	fruitless int           // rounds wanted that did not help, in a row
	wantAt    time.Duration // no round is wanted for virtual time before
}

// init sets the place in the tree of engine rank, one of size.
func (r *roundState) init(rank, size int, room *usualRoom) {
	r.parent, r.children = -1, room.children[:0]
	if rank > 0 {
		r.parent = (rank - 1) / arity
	}
	for child := arity*rank + 1; child <= arity*rank+arity && child < size; child++ {
		r.children = append(r.children, child)
	}
}

// receive counts the records of a packet whose sender had contributed to cut rounds.
// That is at most one more than this engine, since a round starts only when all have
// contributed to the one before.
func (r *roundState) receive(cut uint32, records int) {
	if cut > r.cut {
		r.early += uint64(records)
		return
	}
	r.received += uint64(records)
	if cut < r.cut {
		r.late += uint64(records)
	}
}

// due reports whether this engine has yet to contribute to the round that is on.
func (r *roundState) due() bool { return r.cut < r.started }

// mayBeEarly reports whether this engine may contribute to a round that is not started: none is on,
// and its children have contributed.
func (r *roundState) mayBeEarly() bool {
	return r.started == r.done && r.cut == r.done && (len(r.children) == 0 || r.open > r.done && r.summed == len(r.children))
}

// startable reports whether the root has a round to start, or a purpose to add to the
// current one.
func (r *roundState) startable() bool {
	return r.parent < 0 && r.wanted.round == r.done+1 &&
		(r.started < r.wanted.round || r.purpose < r.wanted.purpose)
}

// busy reports whether advanceRound may have something to do.
func (r *roundState) busy() bool { return r.due() || r.startable() || r.late > 0 || r.amended }

// backoff returns the wait after a number of rounds in vain.
func backoff(first time.Duration, times int) time.Duration {
	return min(longestWait, first<<min(times, 10))
}

// seekRound asks for a round that raises EIT to level.
func (e *Endpoint) seekRound(level vtime.Time) {
	if e.round.fruitless > 1 && e.config.Clock() < e.round.wantAt {
		return
	}
	e.want(purposeTime, level)
}

// want asks for a purpose of the current round, or of the next if none is on.
func (e *Endpoint) want(p purpose, threshold vtime.Time) {
	r := &e.round
	round := r.done + 1
	if r.started == round && r.purpose >= p || r.wanted.round == round && r.wanted.purpose >= p {
		return
	}
	r.wanted = roundMessage{round: round, purpose: p, time: threshold}
	if r.parent >= 0 {
		e.sendRound(r.parent, kindWant, &r.wanted)
	}
}

// sendRound sends a message of a round.
func (e *Endpoint) sendRound(dst int, kind uint64, m *roundMessage) {
	p := e.peers.of(dst)
	m.put(e.item(p, kind, roundMessageSize))
	if m.purpose == purposeTime {
		e.count.SyncMessages++
	}
	e.sendPacket(p)
}

// onRound handles a message of a round.
func (e *Endpoint) onRound(kind uint64, body []byte) error {
	m, err := readRoundMessage(body)
	if err != nil {
		return err
	}
	switch kind {
	case kindWant:
		if m.round == e.round.done+1 {
			e.want(m.purpose, m.time)
		}
	case kindStart:
		e.start(&m)
	case kindContribution:
		e.contribute(&m)
	case kindAmendment:
		e.amend(&m)
	case kindResult:
		e.conclude(&m)
	}
	return nil
}

// start starts a round here and in the subtree, or adds a purpose to it.
func (e *Endpoint) start(m *roundMessage) {
	r := &e.round
	if m.round > r.started {
		r.begin(m.round)
	}
	r.purpose, r.threshold = m.purpose, m.time
	for _, child := range r.children {
		e.sendRound(child, kindStart, m)
	}
}

// begin begins a round here.
func (r *roundState) begin(round uint32) {
	r.started, r.done = round, round-1
	r.takeContributions(round)
}

// takeContributions makes the sum that of a round, unless it is already.
func (r *roundState) takeContributions(round uint32) {
	if r.open < round {
		r.open, r.summed, r.amended = round, 0, false
		r.sum = roundMessage{time: vtime.Forever, lookahead: math.MaxInt64, deferred: Deferred{From: vtime.Forever}}
	}
}

// advanceRound does this engine's part of the rounds. The engine is drained. A blocked
// one does nothing more before something comes.
func (e *Endpoint) advanceRound(blocked bool) {
	r := &e.round
	if r.startable() && (r.retryAt == 0 || e.config.Clock() >= r.retryAt) {
		r.retryAt = 0
		e.start(&r.wanted)
	}
	early := blocked && e.end.unfinished == 0 && e.next == vtime.Forever && e.full == 0 && r.mayBeEarly() && !e.defers()
	if !r.due() && !early {
		e.sendAmendment(blocked)
		return
	}
	if !blocked && !e.mayContribute() {
		return
	}
	// What was sent so far lies before the cut.
	if e.Flush() != nil {
		return
	}
	own := roundMessage{
		unknown: !blocked || e.full > 0, time: e.next, lookahead: e.lookahead,
		sent: r.sent, received: r.received, unfinished: uint64(e.end.unfinished),
	}
	if e.keen() {
		own.keen = 1
	}
	own.deferred, own.vague = e.deferral(blocked)
	r.cut++
	own.round = r.cut
	r.own, r.late = own, 0
	r.received, r.early = r.received+r.early, 0
	e.count.Rounds++
	e.contribute(&own)
}

// contribute adds a contribution to the sum. After the last one it passes the sum on.
func (e *Endpoint) contribute(m *roundMessage) {
	r := &e.round
	r.takeContributions(m.round)
	r.sum.add(m)
	r.summed++
	if r.summed <= len(r.children) {
		return
	}
	if r.parent < 0 {
		if r.started < r.open {
			r.started, r.purpose, r.threshold = r.open, purposeEnd, vtime.Forever
		}
		e.settle()
		return
	}
	r.sum.round, r.sum.purpose = r.open, r.purposeOfOpen()
	e.sendRound(r.parent, kindContribution, &r.sum)
}

// purposeOfOpen returns the purpose of the round that is summed up, as far as it is known.
func (r *roundState) purposeOfOpen() purpose {
	if r.started < r.open {
		return purposeEnd
	}
	return r.purpose
}

// mayContribute reports whether this engine, which is drained and not blocked, contributes
// to the round that is on or amends its contribution. It does so if its next event lets
// EIT reach the threshold. If it is about to block, that is soon enough: records may come.
func (e *Endpoint) mayContribute() bool {
	r := &e.round
	return r.purpose == purposeTime && e.next.Add(e.lookahead) >= r.threshold && e.next < e.eit
}

// sendAmendment sends the parent what has changed in the subtree since its contribution,
// if anything has. The engine is drained.
func (e *Endpoint) sendAmendment(blocked bool) {
	r := &e.round
	if r.done == r.cut {
		r.late, r.amended = 0, false
		return
	}
	if r.late > 0 && (blocked || e.mayContribute()) {
		own := roundMessage{
			round: r.cut, unknown: !blocked || e.full > 0, spoilt: r.sent != r.own.sent, time: e.next, lookahead: math.MaxInt64,
			vague: r.own.deferred.Items > 0 || e.defers(), deferred: Deferred{From: vtime.Forever}, received: r.late, unfinished: uint64(e.end.unfinished) - r.own.unfinished,
		}
		r.late, r.own.unfinished = 0, uint64(e.end.unfinished)
		e.amend(&own)
	}
	if r.amended {
		r.amended = false
		r.amendment.round, r.amendment.purpose = r.open, r.purposeOfOpen()
		e.sendRound(r.parent, kindAmendment, &r.amendment)
	}
}

// amend takes in an amendment of this engine or a child. If the sum of the subtree has
// been sent, it waits for sendAmendment.
func (e *Endpoint) amend(m *roundMessage) {
	r := &e.round
	switch {
	case m.round != r.open || r.done >= r.open:
		// The round was spoilt. The next contributions contain all that.
	case r.summed <= len(r.children):
		r.sum.add(m)
	case r.parent < 0:
		r.sum.add(m)
		e.settle()
	case r.amended:
		r.amendment.add(m)
	default:
		r.amendment, r.amended = *m, true
	}
}

// settle ends the round that is on, at the root, all engines having contributed, unless
// records cross the cut for which amendments are to come.
func (e *Endpoint) settle() {
	r := &e.round
	switch {
	case !r.sum.spoilt && r.sum.sent != r.sum.received:
		// An amendment is to come.
	case r.sum.spoilt:
		r.done = r.started
		r.wanted = roundMessage{round: r.done + 1, purpose: r.purpose, time: r.threshold}
		r.retryAt = e.config.Clock() + backoff(retryWait, r.retries)
		r.retries++
	default:
		r.retries = 0
		r.sum.outcome = r.sum.decide()
		r.sum.again = r.purpose == purposeTime && r.sum.outcome == Continue && !r.sum.undecided() &&
			int(r.sum.keen) >= e.size/keenShare && r.sum.time >= e.reached
		result := r.sum
		result.round, result.purpose = r.open, r.purpose
		e.conclude(&result)
		if result.undecided() {
			e.want(purposeEnd, vtime.Forever)
		}
	}
}

// undecided reports whether a cut shows that nothing can happen but work that engines have put off, and
// not how much of it there is.
func (m *roundMessage) undecided() bool {
	return !m.unknown && m.time == vtime.Forever && m.unfinished > 0 && m.vague
}

// decide returns the outcome that follows from a cut that no record crosses.
func (m *roundMessage) decide() Outcome {
	switch {
	case m.unknown || m.time < vtime.Forever:
		return Continue
	case m.unfinished == 0:
		return Finished
	case m.undecided():
		return Continue
	case m.deferred.From < vtime.Forever:
		return Resumed
	}
	return Deadlock
}

// conclude takes in the result of a round and passes it down.
func (e *Endpoint) conclude(m *roundMessage) {
	r := &e.round
	for _, child := range r.children {
		e.sendRound(child, kindResult, m)
	}
	r.done, r.started = m.round, max(r.started, m.round)
	if e.config.LookaheadFrom == nil {
		e.inbound = m.lookahead
	}
	if e.end.outcome = m.outcome; m.outcome == Resumed {
		e.resume(m.deferred)
		return
	}
	e.reached = max(e.reached, m.time.Add(vtime.Picosecond))
	if floor := m.time.Add(e.inbound); m.round > e.capped {
		e.fresh = max(e.fresh, floor)
	} else {
		e.floor = max(e.floor, floor)
	}
	e.bound()
	e.exchanges = 0
	if m.again {
		r.begin(m.round + 1)
		r.purpose, r.threshold = purposeTime, m.time.Add(e.inbound).Add(e.lookahead)
	}
	switch {
	case !e.starves():
		r.fruitless = 0
	case m.purpose == purposeTime:
		r.fruitless++
		r.wantAt = e.config.Clock() + backoff(wantWait, r.fruitless)
	}
}
