package sync

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// WallTime is a span of wall time, for packages that know virtual time alone.
type WallTime = time.Duration

// Config says how an [Endpoint] works. All engines of a run use the same
// Protocol.
type Config struct {
	// Protocol raises EIT when an engine starves. Default: Hybrid.
	Protocol Protocol
	// Lookahead is the least virtual delay between an action of this engine and
	// its effect on engine dst. Required with several engines; at least 1 ps for
	// every dst but this engine, for which it is not called.
	Lookahead func(dst int) vtime.Duration
	// LeastLookahead is a lower bound on the virtual delay between an action of this
	// engine and its effect on any other engine. With it Lookahead is called for an engine
	// only when the first packet goes to it or comes from it. Default: the least
	// Lookahead; NewEndpoint then calls Lookahead for every engine.
	LeastLookahead vtime.Duration
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
	Patience WallTime
	// GatherLimit bounds the wall time of a Gather after a stop. Default: 10 s.
	GatherLimit time.Duration
	// Deferrer is the engine, if it may put work off until nothing else can go on. Default: none.
	Deferrer Deferrer
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
	if c.LeastLookahead < 0 {
		faults = append(faults, fmt.Errorf("the least lookahead of engine %d is %v: conservative synchronisation needs at least 1ps, or 0 for the default", rank, c.LeastLookahead))
	}
	short := func(lookahead func(int) vtime.Duration, fault func(engine int) string) {
		for engine := range size {
			if engine != rank && lookahead(engine) < 1 {
				faults = append(faults, fmt.Errorf("%s is %v: conservative synchronisation needs at least 1ps", fault(engine), lookahead(engine)))
			}
		}
	}
	if c.Lookahead != nil && c.LeastLookahead == 0 {
		short(c.Lookahead, func(engine int) string { return fmt.Sprintf("the lookahead from engine %d to %d", rank, engine) })
	}
	if c.LookaheadFrom != nil {
		short(c.LookaheadFrom, func(engine int) string { return fmt.Sprintf("the lookahead from engine %d to %d", engine, rank) })
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
		c.Clock = sinceStart
	}
}

// processStart is the instant from which sinceStart counts.
var processStart = time.Now()

func sinceStart() time.Duration { return time.Since(processStart) }

// Statistics counts the packets and rounds of an endpoint. Records and messages are counted where they
// are sent.
type Statistics struct {
	RemoteRecords     uint64 // data records
	RemoteBytes       uint64 // bytes of data records
	SyncMessages      uint64 // requests, answers to them, and messages of rounds that some engine needed for virtual time
	TransportMessages uint64 // packets of any kind
	Rounds            uint64 // rounds contributed to, for whatever purpose
}

// Endpoint is one engine's end of the synchronisation. It belongs to one
// goroutine; only Stop may be called from any.
type Endpoint struct {
	transport  Transport
	config     Config
	rank, size int
	peers      peerTable
	begun      []*peer    // engines to which a packet is being built
	tails      TailSender // the transport, if it is one
	tail       Tail       // end of the packet to tailed, or the last there was
	tailed     *peer      // nil: no packet has a tail
	count      Statistics

	// virtual time
	next       vtime.Time     // as given last
	base       vtime.Time     // no action from now on is before it
	dueAt      vtime.Time     // the base at which Advance sends packets begun
	eit        vtime.Time     // the greater of floor and the least promise
	floor      vtime.Time     // by the last round
	cap        vtime.Time     // see Cap; Forever: none
	capped     uint32         // rounds contributed to when cap was set
	fresh      vtime.Time     // by the last round contributed to since
	awaited    vtime.Time     // see Await; Forever: none
	reached    vtime.Time     // by the last round, without a lookahead
	promises   promises       // of the other engines
	lookahead  vtime.Duration // least to any engine
	inbound    vtime.Duration // least from any engine; 0: not known
	askers     []*peer        // engines with need
	laggards   []*peer        // engines that hold this one back, as listed last
	numbers    []int32        // scratch
	exchanging vtime.Time     // level that waves of requests seek
	exchanges  int            // waves for it since the last round; under Null, answers

	round roundState
	end   ending

	// flow control
	holding    []*peer // engines with held > advanced
	full       int     // engines without room
	opened     []*peer // engines that have got room and were not yet returned by Opened
	roomOpened bool    // some engine has got room since the last Wait
	heldBack   bool    // Wait waits for room, not for EIT

	worked *inProcess    // the transport, if a worker may run the engine
	paused bool          // Wait has returned Paused
	since  time.Duration // at the root: when Wait was called, or has looked for a deadlock last

	due         Deferred      // see Due
	resumed     uint32        // how often the engines have taken up work that they had put off, modulo resumedModulus
	everResumed bool          // more than never
	waiting     []earlyPacket // of engines that have resumed once more

	heldSource int
	heldPacket []byte // a packet with data that Wait has received

	stopRequest atomic.Pointer[[]byte]
	stopped     *Stopped
	failure     error

	room usualRoom
}

// NewEndpoint returns the end of engine t.Rank(). It panics if [Config.Validate]
// returns an error.
func NewEndpoint(t Transport, c Config) *Endpoint {
	e := &Endpoint{}
	e.Init(t, c)
	return e
}

// Init makes e, which is zero, the end of engine t.Rank(), as NewEndpoint does.
func (e *Endpoint) Init(t Transport, c Config) {
	rank, size := t.Rank(), t.Size()
	if err := c.Validate(rank, size); err != nil {
		panic(fmt.Sprintf("sync: the configuration of engine %d: %v", rank, err))
	}
	c.setDefaults()
	e.transport, e.config, e.rank, e.size = t, c, rank, size
	e.tails, _ = t.(TailSender)
	e.peers.init(c.Lookahead, c.LeastLookahead, &e.room)
	e.lookahead = leastOf(rank, size, c.Lookahead, c.LeastLookahead)
	e.inbound = leastOf(rank, size, c.LookaheadFrom, 0)
	e.promises.init(size-1, 1, &e.room) // nothing acts before time 0
	e.round.init(rank, size, &e.room)
	e.begun, e.holding = e.room.begun[:0], e.room.holding[:0]
	if c.LookaheadFrom != nil {
		for engine := range size {
			if engine != rank {
				e.promises.set(e.peers.of(engine).number, vtime.Time(0).Add(c.LookaheadFrom(engine)))
			}
		}
	}
	e.worked, _ = t.(*inProcess)
	if e.worked != nil && c.Protocol == Null {
		e.worked.runAnyTime() // near engines have no rounds among themselves, and each needs many messages
	}
	e.cap, e.awaited = vtime.Forever, vtime.Forever
	e.eit = e.promises.least()
}

// EIT returns the earliest input time: no record that Poll delivers from now on
// concerns a virtual time below it. Only Cap, Await and a Wait that returns Resumed lower it. It is Forever with one
// engine.
func (e *Endpoint) EIT() vtime.Time { return e.eit }

// Statistics returns the counts so far.
func (e *Endpoint) Statistics() Statistics { return e.count }

// Reserve returns n bytes for a record to engine dst. The caller fills them before its
// next call of the endpoint. The record leaves with its packet: when the packet is
// full, when the engine waits, or at Flush.
func (e *Endpoint) Reserve(dst, n int) []byte {
	return e.data(e.reserve(dst, n), n)
}

// ReserveTail is Reserve for a record that goes on with tail, which is sent from where it lies. A
// tail is memory that Go does not manage, and that its owner holds. It must not change until AwaitTail
// has returned for its number, which is not negative. Only the endpoint of a [TailSender] has it.
func (e *Endpoint) ReserveTail(dst, n int, tail []byte, owner any) (record []byte, number int32) {
	p := e.reserve(dst, n+len(tail))
	e.sendPacket(p) // a packet with a tail is short
	body := e.data(p, n)
	p.packet = p.packet[:len(p.packet)-framed(n)+itemHeaderSize+n] // without padding
	putFrame(p.packet[len(p.packet)-n-itemHeaderSize:], kindData, n+len(tail))
	e.tail, e.tailed = Tail{Bytes: tail, Owner: owner, Number: (e.tail.Number + 1) & math.MaxInt32}, p
	return body, e.tail.Number
}

// SendsTails reports whether there is ReserveTail.
func (e *Endpoint) SendsTails() bool { return e.tails != nil }

// AwaitTail returns when a tail may change whose receiver has the record.
func (e *Endpoint) AwaitTail(number int32) {
	if err := e.tails.AwaitTail(number); err != nil {
		e.fail(err)
	}
}

// HoldsTails reports whether there is a tail that may not change yet.
func (e *Endpoint) HoldsTails() bool {
	return e.tailed != nil || e.tails != nil && e.tails.HoldsTails()
}

// reserve counts a record of n bytes to engine dst.
func (e *Endpoint) reserve(dst, n int) *peer {
	if n < 0 {
		panic(fmt.Sprintf("sync: engine %d reserves a record of %d bytes to engine %d", e.rank, n, dst))
	}
	if dst == e.rank {
		panic(fmt.Sprintf("sync: engine %d reserves a record to itself", e.rank))
	}
	p := e.peers.known(dst)
	if p == nil {
		p = e.peers.add(dst)
	}
	e.round.sent++
	e.count.RemoteRecords++
	e.count.RemoteBytes += uint64(n)
	e.take(p, n)
	return p
}

// data returns the n bytes of a new data record in the packet to p.
func (e *Endpoint) data(p *peer, n int) []byte {
	body := e.item(p, kindData, n)
	p.records++
	return body
}

// item returns the n bytes of a new item in the packet to p.
func (e *Endpoint) item(p *peer, kind uint64, n int) []byte {
	if e.tailed != nil {
		e.sendPacket(e.tailed)
	}
	need := framed(n)
	if len(p.packet)+need > cap(p.packet) {
		e.makeRoom(p, need)
	}
	at := len(p.packet)
	p.packet = p.packet[:at+need]
	frame := p.packet[at:]
	clear(frame[need-8:]) // the padding
	putFrame(frame, kind, n)
	return frame[itemHeaderSize : itemHeaderSize+n : itemHeaderSize+n]
}

// makeRoom gives the packet to p need more bytes of capacity. It enlarges the packet,
// or sends it and begins another.
func (e *Endpoint) makeRoom(p *peer, need int) {
	used, capacity := len(p.packet), max(4*cap(p.packet), firstPacket)
	if used+need > fullPacket && used > headerSize {
		e.sendPacket(p)
		used, capacity = 0, fullPacket
	}
	used = max(used, headerSize)
	bigger := e.transport.Alloc(max(min(capacity, fullPacket), used+need))[:used]
	if p.packet != nil {
		copy(bigger, p.packet)
		e.transport.Free(p.packet)
	}
	p.packet = bigger
	if !p.begun {
		p.begun = true
		e.begun = append(e.begun, p)
	}
}

// begin begins a packet to p unless one is begun.
func (e *Endpoint) begin(p *peer) {
	if p.packet == nil {
		e.makeRoom(p, 0)
	}
}

// sendPacket sends the packet to p, if one is begun. p stays in begun until Flush.
func (e *Endpoint) sendPacket(p *peer) {
	if p.packet == nil {
		return
	}
	promise := e.base.Add(p.lookahead)
	if invariant.Enabled && promise < p.promised {
		invariant.Broken("engine %d promises engine %d %v after %v", e.rank, p.engine, promise, p.promised)
	}
	p.promised = promise
	putHeader(p.packet, header{promise: p.promised, credit: p.owed, cut: e.round.cut, records: p.records, flags: p.flags, resumed: e.resumed})
	packet := p.packet
	p.packet, p.records, p.flags, p.owed = nil, 0, 0, 0
	e.count.TransportMessages++
	if err := e.send(p, packet); err != nil {
		e.fail(err)
	}
}

// send sends a packet to p, with its tail if it has one.
func (e *Endpoint) send(p *peer, packet []byte) error {
	if p != e.tailed {
		return e.transport.Send(int(p.engine), packet)
	}
	tail := e.tail
	e.tail, e.tailed = Tail{Number: tail.Number}, nil
	return e.tails.SendTail(int(p.engine), packet, tail)
}

// Flush sends all packets begun.
func (e *Endpoint) Flush() error {
	e.flush()
	return e.failure
}

// flush is Flush that leaves an error to the next call that can return it.
func (e *Endpoint) flush() {
	for _, p := range e.begun {
		e.sendPacket(p)
		p.begun = false
	}
	e.begun = e.begun[:0]
	e.dueAt = e.base.Add(e.lookahead)
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
// every data record to deliver, which may call Reserve, Flush, Credit and EIT. record is valid
// only during the call, in which EIT is still the time that the record was promised to
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
	if len(e.waiting) > 0 {
		if src, packet = e.takeEarly(); packet != nil {
			return src, packet
		}
	}
	for {
		src, packet, err := e.transport.Receive()
		if err != nil {
			e.fail(err)
			return 0, nil
		}
		if packet == nil || !e.early(packet) {
			return src, packet
		}
		e.waiting = append(e.waiting, earlyPacket{src, packet})
	}
}

// over returns why the run is over for this engine, nil if it is not. The reason is a
// failure or a stop; a stop asked for here is passed on.
func (e *Endpoint) over() error {
	if e.failure != nil {
		e.transport.Leave()
		return e.failure
	}
	if e.stopped == nil {
		if reason := e.stopRequest.Load(); reason != nil {
			e.halt(&Stopped{From: e.rank, Reason: *reason}, e.rank)
		}
	}
	if e.stopped != nil {
		e.transport.Leave()
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
	p := e.peers.of(src)
	e.refund(p, h.credit)
	for items := packet[headerSize:]; len(items) > 0; {
		kind, body, rest, err := nextItem(items)
		if err != nil {
			e.fail(fmt.Errorf("from engine %d: %w", src, err))
			return records
		}
		items = rest
		if kind == kindData {
			records++
			e.hold(p, len(body))
			deliver(src, body)
			continue
		}
		if err := e.control(src, kind, body); err != nil {
			e.fail(fmt.Errorf("from engine %d: %w", src, err))
			return records
		}
	}
	e.round.receive(h.cut, records)
	e.hear(p, h)
	return records
}

// hear takes in the promise of a packet.
func (e *Endpoint) hear(p *peer, h header) {
	before, current := e.eit, h.resumed == e.resumed
	if current && h.promise > e.promises.of(p.number) {
		e.promises.set(p.number, h.promise)
		e.bound()
	}
	if invariant.Enabled && current {
		e.checkHeard(p, h.promise, before)
	}
	if h.flags&flagAnswer != 0 {
		p.heard(e.config.Protocol)
		if e.config.Protocol == Null {
			e.exchanges++
		}
	}
}

// checkHeard checks that neither the promise of p nor EIT falls.
func (e *Endpoint) checkHeard(p *peer, promise, before vtime.Time) {
	if held := e.promises.of(p.number); promise < held {
		invariant.Broken("engine %d hears the promise %v of engine %d after %v", e.rank, promise, p.engine, held)
	}
	if e.eit < before {
		invariant.Broken("the EIT of engine %d falls from %v to %v by a promise of engine %d", e.rank, before, e.eit, p.engine)
	}
}

// control handles an item other than data.
func (e *Endpoint) control(src int, kind uint64, body []byte) error {
	switch kind {
	case kindRequest:
		return e.onRequest(src, body)
	case kindWant, kindStart, kindContribution, kindAmendment, kindResult:
		return e.onRound(kind, body)
	case kindStop:
		return e.onStop(src, body)
	case kindFailure:
		return e.onFailure(src, body)
	case kindShare:
		e.onShare(src, body)
		return nil
	case kindGather:
		e.end.gather(src, e.size, append([]byte{}, body...))
		return nil
	}
	return fmt.Errorf("an item of the unknown kind %d: start the same binary on every host", kind)
}

// Advance tells the endpoint that the engine has taken in what Poll gave and has run
// all that it can run freely. Whatever it does from now on without a further record is
// at next or later (Forever: nothing). Advance answers requests for promises and takes
// part in rounds.
//
// It also sends the packets begun once a lookahead has passed since the last Flush. EIT may
// be almost two lookaheads ahead of what others know of this engine. If it ran up to EIT
// before it sends, another engine would wait meanwhile and then run as far itself: the two
// would take turns.
func (e *Endpoint) Advance(next vtime.Time) {
	e.observe(next)
	if e.base >= e.dueAt && next < e.eit {
		e.flush()
	}
	if len(e.askers) > 0 {
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
