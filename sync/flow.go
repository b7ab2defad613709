package sync

import "fmt"

// Flow control by credit. A sender counts the bytes of its records that the receiver
// has not credited. The receiver owes credit for what its engine has consumed. It pays
// with any packet, or with one of its own once it owes half a window.
//
// A program may need more buffering than a window: a receiver that waits for something
// else consumes nothing. So an engine that enters Wait credits all that it holds, in
// advance of its consumption. It then withholds less than half a window from anyone, so
// every sender gets room once its records have arrived. Flow control slows a sender
// down to the pace of a busy receiver but never stops the two.

// take counts a record of n bytes to p.
func (e *Endpoint) take(p *peer, n int) {
	had := p.outstanding <= e.config.Window
	p.outstanding += int64(framed(n))
	if had && p.outstanding > e.config.Window {
		e.full++
	}
}

// refund takes in a credit from p.
func (e *Endpoint) refund(p *peer, credit int64) {
	if credit == 0 {
		return
	}
	had := p.outstanding <= e.config.Window
	p.outstanding -= credit
	if p.outstanding < 0 {
		e.fail(fmt.Errorf("engine %d credits %d bytes more than it was sent: it credited a record twice", p.engine, -p.outstanding))
	}
	if !had && p.outstanding <= e.config.Window {
		e.full--
		e.roomOpened = true
		if !p.opened {
			p.opened = true
			e.opened = append(e.opened, p)
		}
	}
}

// Room reports whether the window to engine dst has room. Reserve works without room;
// an engine should then prefer ranks that do not send there. It must count the virtual
// times of the ranks that it holds back in what it gives to Advance and Wait.
func (e *Endpoint) Room(dst int) bool {
	p := e.peers.known(dst)
	return p == nil || p.outstanding <= e.config.Window
}

// AnyFull reports whether the window to some engine has no room.
func (e *Endpoint) AnyFull() bool { return e.full > 0 }

// Opened returns an engine whose window had no room and has got some since. It returns
// each such engine once; ok is false when there is none left.
func (e *Endpoint) Opened() (dst int, ok bool) {
	last := len(e.opened) - 1
	if last < 0 {
		return 0, false
	}
	p := e.opened[last]
	e.opened, p.opened = e.opened[:last], false
	return int(p.engine), true
}

// Credit tells the endpoint that the engine has consumed a record of n bytes from
// engine src.
func (e *Endpoint) Credit(src, n int) {
	p := e.peers.known(src)
	bytes := int64(framed(n))
	if p != nil {
		p.held -= bytes
	}
	if p == nil || p.held < 0 {
		panic(fmt.Sprintf("sync: engine %d credits more than it got from engine %d: once for each record, with its length", e.rank, src))
	}
	paid := min(p.advanced, bytes)
	p.advanced -= paid
	p.owed += bytes - paid
	e.pay(p)
}

// hold counts a record of n bytes from p.
func (e *Endpoint) hold(p *peer, n int) {
	p.held += int64(framed(n))
	if !p.holding {
		p.holding = true
		e.holding = append(e.holding, p)
	}
}

// overdraw credits all that the engine holds.
func (e *Endpoint) overdraw() {
	for _, p := range e.holding {
		p.owed += p.held - p.advanced
		p.advanced, p.holding = p.held, false
		e.pay(p)
	}
	e.holding = e.holding[:0]
}

// pay sends a packet to p once half a window of credit is owed to it.
func (e *Endpoint) pay(p *peer) {
	if 2*p.owed >= e.config.Window {
		e.begin(p)
		e.sendPacket(p)
	}
}
