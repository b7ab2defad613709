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

// take counts a record of n bytes to dst.
func (e *Endpoint) take(dst, n int) {
	p := &e.peers[dst]
	had := p.outstanding <= e.config.Window
	p.outstanding += int64(framed(n))
	if had && p.outstanding > e.config.Window {
		e.full++
	}
}

// refund takes in a credit from engine src.
func (e *Endpoint) refund(src int, credit int64) {
	if credit == 0 {
		return
	}
	p := &e.peers[src]
	had := p.outstanding <= e.config.Window
	p.outstanding -= credit
	if p.outstanding < 0 {
		e.fail(fmt.Errorf("engine %d credits %d bytes more than it was sent: it credited a record twice", src, -p.outstanding))
	}
	if !had && p.outstanding <= e.config.Window {
		e.full--
		e.roomOpened = true
	}
}

// Room reports whether the window to engine dst has room. Reserve works without room;
// an engine should then prefer ranks that do not send there. It must count the virtual
// times of the ranks that it holds back in what it gives to Advance and Wait.
func (e *Endpoint) Room(dst int) bool { return e.peers[dst].outstanding <= e.config.Window }

// Credit tells the endpoint that the engine has consumed a record of n bytes from
// engine src.
func (e *Endpoint) Credit(src, n int) {
	p := &e.peers[src]
	bytes := int64(framed(n))
	p.held -= bytes
	if p.held < 0 {
		panic(fmt.Sprintf("sync: engine %d credits more than it got from engine %d: once for each record, with its length", e.rank, src))
	}
	paid := min(p.advanced, bytes)
	p.advanced -= paid
	p.owed += bytes - paid
	e.pay(src)
}

// hold counts a record of n bytes from src.
func (e *Endpoint) hold(src, n int) {
	e.peers[src].held += int64(framed(n))
	e.holding.add(src)
}

// overdraw credits all that the engine holds.
func (e *Endpoint) overdraw() {
	for _, src := range e.holding.members {
		p := &e.peers[src]
		p.owed += p.held - p.advanced
		p.advanced = p.held
		e.pay(int(src))
	}
	e.holding.clear()
}

// pay sends a packet to src once half a window of credit is owed to it.
func (e *Endpoint) pay(src int) {
	if 2*e.peers[src].owed >= e.config.Window {
		e.begin(src)
		e.sendPacket(src)
	}
}
