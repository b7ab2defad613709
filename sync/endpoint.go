package sync

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"gigarank/invariant"
	"gigarank/vtime"
)

// Config says how an [Endpoint] works. All engines of a run use the same
// Protocol.
type Config struct {
	// Protocol raises EIT when an engine starves. Default: Hybrid.
	Protocol Protocol
	// Lookahead is the least virtual delay between an action of this engine and
	// its effect on engine dst. Required with several engines; at least 1 ps for
	// every dst but this engine, for which it is not called.
	Lookahead func(dst int) vtime.Duration
	// LookaheadFrom is the least virtual delay between an action of engine src and its
	// effect on this engine: src's Lookahead. It makes the result of a round tighter.
	// Default: the least lookahead of any pair.
	LookaheadFrom func(src int) vtime.Duration
	// Window is how many bytes of records may be under way or waiting to be consumed,
	// for each pair of engines, before Room returns false. A record counts with 8 bytes
	// more, rounded up to 8. Default: 4 MiB.
	Window int64
	// Patience is the wall time for which an engine with unfinished LPs and no
	// next event waits before it looks for a deadlock. Default: 100 ms.
	Patience time.Duration
	// GatherLimit bounds the wall time of a Gather after a stop. Default: 10 s.
	GatherLimit time.Duration
	// Clock is the wall time since any fixed instant. Default: the real one.
	Clock func() time.Duration
}

// Validate returns all faults of the configuration of engine rank among size engines.
func (c *Config) Validate(rank, size int) error {
	var faults []error
	if int(c.Protocol) >= len(protocolNames) {
		faults = append(faults, fmt.Errorf("the protocol is %v: use Null, Conditional or Hybrid", c.Protocol))
	}
	if c.Window < 0 {
		faults = append(faults, fmt.Errorf("the window is %d bytes: use a positive number, or 0 for the default", c.Window))
	}
	if c.Patience < 0 {
		faults = append(faults, fmt.Errorf("the patience is %v: use a positive time, or 0 for the default", c.Patience))
	}
	if c.GatherLimit < 0 {
		faults = append(faults, fmt.Errorf("the gather limit is %v: use a positive time, or 0 for the default", c.GatherLimit))
	}
	if c.Lookahead == nil && size > 1 {
		faults = append(faults, fmt.Errorf("no Lookahead is given: %d engines need it", size))
	}
	for engine := range size {
		if engine == rank {
			continue
		}
		if c.Lookahead != nil && c.Lookahead(engine) < 1 {
			faults = append(faults, fmt.Errorf("the lookahead from engine %d to %d is %v: conservative synchronisation needs at least 1ps", rank, engine, c.Lookahead(engine)))
		}
		if c.LookaheadFrom != nil && c.LookaheadFrom(engine) < 1 {
			faults = append(faults, fmt.Errorf("the lookahead from engine %d to %d is %v: conservative synchronisation needs at least 1ps", engine, rank, c.LookaheadFrom(engine)))
		}
	}
	return errors.Join(faults...)
}

func (c *Config) setDefaults() {
	if c.Window == 0 {
		c.Window = 4 << 20
	}
	if c.Patience == 0 {
		c.Patience = 100 * time.Millisecond
	}
	if c.GatherLimit == 0 {
		c.GatherLimit = 10 * time.Second
	}
	if c.Clock == nil {
		start := time.Now()
		c.Clock = func() time.Duration { return time.Since(start) }
	}
}

// Statistics counts what an endpoint did. Records and messages are counted where they
// are sent.
type Statistics struct {
	RemoteRecords     uint64 // data records
	RemoteBytes       uint64 // bytes of data records
	SyncMessages      uint64 // requests, answers to them, and messages of rounds that some engine needed for virtual time
	TransportMessages uint64 // packets of any kind
	Rounds            uint64 // rounds contributed to, for whatever purpose
}

// peer is what an endpoint knows of another engine. "It" below is that engine.
type peer struct {
	packet    []byte         // being built for it; nil: none begun
	records   uint32         // data records in packet
	flags     uint32         // of packet
	lookahead vtime.Duration // to it
	promised  vtime.Time     // in the last packet to it
	need      vtime.Time     // the promise that it has asked for; 0: none
	asked     vtime.Time     // the promise that it was asked for; 0: none

	outstanding int64 // bytes sent to it and not credited
	held        int64 // bytes from it that the engine has not consumed
	advanced    int64 // bytes among held that are credited already
	owed        int64 // bytes to credit with the next packet
}

// Endpoint is one engine's end of the synchronisation. It belongs to one
// goroutine; only Stop may be called from any.
type Endpoint struct {
	transport  Transport
	config     Config
	rank, size int
	peers      []peer
	begun      engineSet // engines to which a packet is being built
	count      Statistics

	// virtual time
	next       vtime.Time     // as given last
	base       vtime.Time     // no action from now on is before it
	eit        vtime.Time     // the greater of floor and the least promise
	floor      vtime.Time     // by the last round
	cap        vtime.Time     // see Cap; Forever: none
	capped     uint32         // rounds contributed to when cap was set
	fresh      vtime.Time     // by the last round contributed to since
	awaited    vtime.Time     // see Await; Forever: none
	reached    vtime.Time     // by the last round, without a lookahead
	promises   promises       // by engine; Forever for this one
	lookahead  vtime.Duration // least to any engine
	inbound    vtime.Duration // least from any engine; 0: not known
	askers     engineSet      // engines with need
	laggards   []int32        // scratch
	exchanging vtime.Time     // level that waves of requests seek
	exchanges  int            // waves for it since the last round; under Null, answers

	round roundState
	end   ending

	// flow control
	holding    engineSet // engines with held > advanced
	full       int       // engines without room
	roomOpened bool      // one of them has got room
	heldBack   bool      // Wait waits for room, not for EIT

	heldSource int
	heldPacket []byte // a packet with data that Wait has received

	stopRequest atomic.Pointer[[]byte]
	stopped     *Stopped
	failure     error
}

// NewEndpoint returns the end of engine t.Rank(). It panics if [Config.Validate]
// returns an error.
func NewEndpoint(t Transport, c Config) *Endpoint {
	rank, size := t.Rank(), t.Size()
	if err := c.Validate(rank, size); err != nil {
		panic(fmt.Sprintf("sync: the configuration of engine %d: %v", rank, err))
	}
	c.setDefaults()
	e := &Endpoint{
		transport: t, config: c, rank: rank, size: size,
		peers:     make([]peer, size),
		begun:     newEngineSet(size),
		askers:    newEngineSet(size),
		holding:   newEngineSet(size),
		promises:  newPromises(size),
		lookahead: math.MaxInt64,
		round:     newRoundState(rank, size),
		end:       ending{gathered: make([][][]byte, size)},
	}
	for engine := range e.peers {
		if engine == rank {
			continue
		}
		p := &e.peers[engine]
		p.lookahead = c.Lookahead(engine)
		e.lookahead = min(e.lookahead, p.lookahead)
		first := vtime.Time(1)
		if c.LookaheadFrom != nil {
			from := c.LookaheadFrom(engine)
			first = first.Add(from - 1)
			if e.inbound == 0 || from < e.inbound {
				e.inbound = from
			}
		}
		// Nothing acts before time 0.
		e.promises.set(engine, first)
	}
	e.cap, e.awaited = vtime.Forever, vtime.Forever
	e.eit = e.promises.least()
	return e
}

// EIT returns the earliest input time: no record that Poll delivers from now on
// concerns a virtual time below it. Only Cap and Await lower it. It is Forever with one
// engine.
func (e *Endpoint) EIT() vtime.Time { return e.eit }

// Statistics returns the counts so far.
func (e *Endpoint) Statistics() Statistics { return e.count }

// Reserve returns n bytes for a record to engine dst. The caller fills them before its
// next call of the endpoint. The record leaves with its packet: when the packet is
// full, when the engine waits, or at Flush.
func (e *Endpoint) Reserve(dst, n int) []byte {
	if n < 0 {
		panic(fmt.Sprintf("sync: engine %d reserves a record of %d bytes to engine %d", e.rank, n, dst))
	}
	if dst == e.rank {
		panic(fmt.Sprintf("sync: engine %d reserves a record to itself", e.rank))
	}
	body := e.item(dst, kindData, n)
	e.peers[dst].records++
	e.round.sent++
	e.count.RemoteRecords++
	e.count.RemoteBytes += uint64(n)
	e.take(dst, n)
	return body
}

// item returns the n bytes of a new item in the packet to dst.
func (e *Endpoint) item(dst int, kind uint64, n int) []byte {
	p := &e.peers[dst]
	need := framed(n)
	if len(p.packet)+need > cap(p.packet) {
		e.makeRoom(dst, need)
	}
	at := len(p.packet)
	p.packet = p.packet[:at+need]
	frame := p.packet[at:]
	clear(frame[need-8:]) // the padding
	binary.LittleEndian.PutUint64(frame, uint64(n)|kind<<kindShift)
	return frame[itemHeaderSize : itemHeaderSize+n : itemHeaderSize+n]
}

// makeRoom gives the packet to dst need more bytes of capacity. It enlarges the packet,
// or sends it and begins another.
func (e *Endpoint) makeRoom(dst, need int) {
	p := &e.peers[dst]
	used, capacity := len(p.packet), max(4*cap(p.packet), firstPacket)
	if used+need > fullPacket && used > headerSize {
		e.sendPacket(dst)
		used, capacity = 0, fullPacket
	}
	used = max(used, headerSize)
	bigger := e.transport.Alloc(max(min(capacity, fullPacket), used+need))[:used]
	if p.packet != nil {
		copy(bigger, p.packet)
		e.transport.Free(p.packet)
	}
	p.packet = bigger
	e.begun.add(dst)
}

// begin begins a packet to dst unless one is begun.
func (e *Endpoint) begin(dst int) {
	if e.peers[dst].packet == nil {
		e.makeRoom(dst, 0)
	}
}

// sendPacket sends the packet to dst, if one is begun. dst stays in begun until Flush.
func (e *Endpoint) sendPacket(dst int) {
	p := &e.peers[dst]
	if p.packet == nil {
		return
	}
	promise := e.base.Add(p.lookahead)
	if invariant.Enabled && promise < p.promised {
		invariant.Broken("engine %d promises engine %d %v after %v", e.rank, dst, promise, p.promised)
	}
	p.promised = promise
	putHeader(p.packet, header{promise: p.promised, credit: p.owed, cut: e.round.cut, records: p.records, flags: p.flags})
	packet := p.packet
	p.packet, p.records, p.flags, p.owed = nil, 0, 0, 0
	e.count.TransportMessages++
	if err := e.transport.Send(dst, packet); err != nil {
		e.fail(err)
	}
}

// Flush sends all packets begun.
func (e *Endpoint) Flush() error {
	for _, dst := range e.begun.members {
		e.sendPacket(int(dst))
	}
	e.begun.clear()
	return e.failure
}

// fail keeps the first error of the transport for the next call that can return it.
func (e *Endpoint) fail(err error) {
	if e.failure == nil {
		e.failure = fmt.Errorf("engine %d: %w", e.rank, err)
	}
}

// packetsPerPoll bounds a Poll, so that a fast sender cannot keep an engine in it.
const packetsPerPoll = 256

// Poll takes in the packets that have come and returns the number of records. It passes
// every data record to deliver, which may call Reserve, Credit and EIT. record is valid
// only during the call, in which EIT is still the one that the record was promised to
// respect.
//
// The error is a *[Stopped] when the run was stopped, or that of the transport, such as
// a *[Lost]. Every later call returns it again.
func (e *Endpoint) Poll(deliver func(src int, record []byte)) (records int, err error) {
	for range packetsPerPoll {
		src, packet := e.receive()
		if packet == nil {
			break
		}
		records += e.takeIn(src, packet, deliver)
		e.transport.Free(packet)
	}
	return records, e.over()
}

// receive returns the packet held back by Wait, or else the next that has come.
func (e *Endpoint) receive() (src int, packet []byte) {
	if e.heldPacket != nil {
		src, packet = e.heldSource, e.heldPacket
		e.heldPacket = nil
		return src, packet
	}
	src, packet, err := e.transport.Receive()
	if err != nil {
		e.fail(err)
		return 0, nil
	}
	return src, packet
}

// over returns why the run is over for this engine, nil if it is not. The reason is a
// failure or a stop; a stop asked for here is passed on.
func (e *Endpoint) over() error {
	if e.failure != nil {
		return e.failure
	}
	if e.stopped == nil {
		if reason := e.stopRequest.Load(); reason != nil {
			e.halt(&Stopped{From: e.rank, Reason: *reason}, e.rank)
		}
	}
	if e.stopped != nil {
		return e.stopped
	}
	return nil
}

// takeIn handles a packet and returns the number of its data records. Promises
// and counts take effect after the records.
func (e *Endpoint) takeIn(src int, packet []byte, deliver func(int, []byte)) (records int) {
	h, err := readHeader(packet)
	if err != nil {
		e.fail(fmt.Errorf("from engine %d: %w", src, err))
		return 0
	}
	e.refund(src, h.credit)
	for items := packet[headerSize:]; len(items) > 0; {
		kind, body, rest, err := nextItem(items)
		if err != nil {
			e.fail(fmt.Errorf("from engine %d: %w", src, err))
			return records
		}
		items = rest
		if kind == kindData {
			records++
			e.hold(src, len(body))
			deliver(src, body)
			continue
		}
		if err := e.control(src, kind, body); err != nil {
			e.fail(fmt.Errorf("from engine %d: %w", src, err))
			return records
		}
	}
	e.round.receive(h.cut, records)
	e.hear(src, h)
	return records
}

// hear takes in the promise of a packet.
func (e *Endpoint) hear(src int, h header) {
	before := e.eit
	if h.promise > e.promises.of(src) {
		e.promises.set(src, h.promise)
		e.bound()
	}
	if invariant.Enabled {
		e.checkHeard(src, h.promise, before)
	}
	if h.flags&flagAnswer != 0 {
		e.peers[src].heard(e.config.Protocol)
		if e.config.Protocol == Null {
			e.exchanges++
		}
	}
}

// checkHeard checks that neither the promise of src nor EIT falls.
func (e *Endpoint) checkHeard(src int, promise, before vtime.Time) {
	if held := e.promises.of(src); promise < held {
		invariant.Broken("engine %d hears the promise %v of engine %d after %v", e.rank, promise, src, held)
	}
	if e.eit < before {
		invariant.Broken("the EIT of engine %d falls from %v to %v by a promise of engine %d", e.rank, before, e.eit, src)
	}
}

// control handles an item other than data.
func (e *Endpoint) control(src int, kind uint64, body []byte) error {
	switch kind {
	case kindRequest:
		return e.onRequest(src, body)
	case kindWant, kindStart, kindContribution, kindResult:
		return e.onRound(kind, body)
	case kindDone:
		e.round.childrenDone++
		return nil
	case kindStop:
		return e.onStop(src, body)
	case kindFailure:
		return e.onFailure(src, body)
	case kindShare:
		e.onShare(src, body)
		return nil
	case kindGather:
		e.end.gathered[src] = append(e.end.gathered[src], append([]byte{}, body...))
		return nil
	}
	return fmt.Errorf("an item of the unknown kind %d: start the same binary on every host", kind)
}

// Advance tells the endpoint that the engine has taken in what Poll gave and has run
// all that it can run freely. Whatever it does from now on without a further record is
// at next or later (Forever: nothing). Advance answers requests for promises and takes
// part in rounds.
func (e *Endpoint) Advance(next vtime.Time) {
	e.observe(next)
	if len(e.askers.members) > 0 {
		e.answer(false)
	}
	if e.round.busy() {
		e.advanceRound(false)
	}
}

// Cap tells the endpoint that the engine has begun an exchange of records with other
// engines that may let it act at t or later. Such an exchange goes in rounds over all
// that the engines have. A record of it may rest on what another engine knew long
// before, and held back until its part of a round. Promises therefore bound EIT only up
// to t. Beyond t counts a round of the global minimum, contributed to since: nothing
// crosses its cut, and engines still missing act at the minimum or later. Uncap ends
// the exchange.
func (e *Endpoint) Cap(t vtime.Time) {
	e.cap = min(e.cap, t)
	e.capped = e.round.cut
	e.floor, e.fresh = max(e.floor, e.fresh), 0
	e.bound()
}

// Uncap tells the endpoint that an exchange has ended. t is the least of those that go
// on, Forever if none does.
func (e *Endpoint) Uncap(t vtime.Time) {
	e.cap = t
	e.bound()
}

// Await tells the endpoint that the engine awaits answers of other engines to its
// records. They may take effect at t or any later instant; t is Forever if it awaits
// none. Answers keep no lookahead: each takes effect a picosecond after the answering
// engine acts. Promises therefore bound EIT only up to t. Beyond t counts the least
// next event that a round has found.
func (e *Endpoint) Await(t vtime.Time) {
	e.awaited = t
	e.bound()
}

// bound recomputes EIT.
func (e *Endpoint) bound() {
	e.eit = max(e.fresh, min(e.cap, max(e.floor, e.promises.least())))
	if e.awaited < vtime.Forever {
		e.eit = min(e.eit, max(e.awaited, e.reached))
	}
}

// observe stores the engine's next event. From here on the engine acts at next or
// later, or because of a record, which is at EIT or later. That bound holds for ever,
// even when records come and next falls.
func (e *Endpoint) observe(next vtime.Time) {
	e.next = next
	e.base = max(e.base, min(next, e.eit))
}
