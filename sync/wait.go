package sync

import (
	"fmt"
	"time"

	"gigarank/vtime"
)

// Outcome is the result of a Wait.
type Outcome uint8

// The outcomes of a Wait.
const (
	Continue Outcome = iota // there is something to do
	Finished                // every LP of every engine is finished, and nothing more happens
	Deadlock                // LPs are unfinished and nothing can happen any more
	Paused                  // a worker is to call Wait again, with the same arguments, when the engine has a turn
	Resumed                 // nothing can happen but work that engines have put off; it is taken up, from Due on
)

// String returns the name of the outcome in lower case.
func (o Outcome) String() string {
	switch o {
	case Continue:
		return "continue"
	case Finished:
		return "finished"
	case Deadlock:
		return "deadlock"
	case Paused:
		return "paused"
	case Resumed:
		return "resumed"
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// longestSleep bounds a wait that has no other bound.
const longestSleep = time.Second

// Wait tells the endpoint that the engine is blocked: it is drained, as for Advance,
// and its next event (Forever: none) is not below EIT. unfinished is the number of its
// LPs that are not finished; it never grows. Wait sends all packets begun and follows
// the protocol to raise EIT.
//
// It returns Continue when a data record may be polled or EIT has passed next. It also
// does when a destination without room has got some, or a lesser failure has become
// known. It may return Continue without any of these. All engines get Finished or
// Deadlock in the same round, and again from every later call. Likewise all get Resumed, each
// once. It returns the errors of Poll.
//
// An engine that holds ranks back because a destination lacks room waits with a next
// below EIT. Room, not EIT, then lets it go on.
//
// An engine whose next is Forever asks for nothing: a program that does not depend on
// timing causes no synchronisation messages. Nor does an engine ask while a destination
// lacks room, since credit is sure to come.
//
// Where a worker runs the engine, Wait returns Paused instead of sleeping; see [Turns].
func (e *Endpoint) Wait(next vtime.Time, unfinished int) (Outcome, error) {
	waited := e.paused
	if !waited {
		e.observe(next)
		e.end.unfinished = unfinished
		if e.size == 1 {
			return e.alone()
		}
		e.overdraw()
		e.heldBack = e.full > 0 && next < e.eit
		if e.round.parent < 0 {
			e.since, e.end.looks = e.config.Clock(), 0
		}
	}
	e.paused = false
	var now time.Duration // read where it counts: at the root, and after rounds in vain
	for {
		e.receiveControl()
		if err := e.over(); err != nil {
			return Continue, err
		}
		if e.end.outcome != Continue || e.mayGoOn() {
			e.roomOpened, e.end.news = false, false
			outcome := e.end.outcome
			switch outcome {
			case Finished, Deadlock:
				e.transport.Leave()
			case Resumed:
				e.end.outcome = Continue
			}
			return outcome, nil
		}
		e.observe(next)
		if e.round.parent < 0 || e.round.fruitless > 1 {
			now = e.config.Clock()
		}
		rounds := e.round.done
		if e.probes() && now-e.since >= e.patience() {
			e.want(purposeEnd, vtime.Forever)
			e.since = now
			e.end.looks++
		}
		e.block(waited)
		if err := e.Flush(); err != nil {
			return Continue, err
		}
		if e.round.done != rounds || e.end.outcome != Continue {
			continue
		}
		limit := e.sleep(now)
		if !waited && e.round.due() {
			limit = 0 // lets engines send that are about to
		}
		if e.worked != nil && e.worked.hired && !e.worked.ready() {
			e.worked.limit, e.paused = limit, true
			return Paused, nil
		}
		if err := e.transport.Wait(limit); err != nil {
			e.fail(err)
		}
		waited = true
	}
}

// alone is Wait of the only engine.
func (e *Endpoint) alone() (Outcome, error) {
	e.eit = vtime.Forever
	if err := e.over(); err != nil {
		return Continue, err
	}
	switch {
	case e.next < vtime.Forever:
		return Continue, nil
	case e.end.unfinished == 0:
		return Finished, nil
	}
	if e.defers() {
		if e.due = e.config.Deferrer.Deferred(); e.due.From < vtime.Forever {
			return Resumed, nil
		}
	}
	return Deadlock, nil
}

// receiveControl takes in packets up to the first that carries data, and leaves that
// one to Poll.
func (e *Endpoint) receiveControl() {
	for e.heldPacket == nil {
		src, packet := e.receive()
		if packet == nil {
			return
		}
		if h, err := readHeader(packet); err == nil && h.records > 0 {
			e.heldSource, e.heldPacket = src, packet
			return
		}
		e.takeIn(src, packet, nil)
		e.transport.Free(packet)
	}
}

// mayGoOn reports whether the engine has something to do.
func (e *Endpoint) mayGoOn() bool {
	return e.heldPacket != nil || e.roomOpened || e.end.news || e.next < e.eit && e.next < vtime.Forever && !e.heldBack
}

// block gives the others what a blocked engine owes them, and asks for the promises that it needs.
func (e *Endpoint) block(waited bool) {
	e.answer(true)
	if level := e.level(); level > 0 && e.full == 0 {
		e.seek(level)
	}
	if waited || !e.round.due() {
		e.advanceRound(true)
	}
}

// probes reports whether this engine looks for a deadlock if its wait lasts. The root does,
// for all: no engine is in a deadlock alone.
func (e *Endpoint) probes() bool {
	return e.round.parent < 0 && e.next == vtime.Forever && e.full == 0
}

// afterFailure is the patience of an engine that knows of a failure: the run is about
// to end.
const afterFailure = time.Millisecond

// patience returns how long this engine waits before it looks for a deadlock.
func (e *Endpoint) patience() time.Duration {
	if e.end.failure != nil {
		return min(afterFailure, e.config.Patience)
	}
	if e.everResumed || e.defers() {
		return min(resumePatience<<min(e.end.looks, 10), e.config.Patience)
	}
	return e.config.Patience
}

// sleep returns how long this engine has nothing to do unless a message comes.
func (e *Endpoint) sleep(now time.Duration) time.Duration {
	limit := longestSleep
	if e.probes() {
		limit = min(limit, e.since+e.patience()-now)
	}
	if e.round.startable() {
		limit = min(limit, e.round.retryAt-now)
	}
	if e.round.fruitless > 1 && e.starves() && e.round.wantAt > now {
		limit = min(limit, e.round.wantAt-now)
	}
	return max(limit, 0)
}
