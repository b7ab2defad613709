package engine

import (
	"errors"
	"sync/atomic"

	"gigarank/internal/invariant"
	"gigarank/sync"
	"gigarank/vtime"
)

// Types of synchronisation, for callers that set engines up.
type (
	Transport = sync.Transport // between the engines
	Protocol  = sync.Protocol  // by which they synchronise
	Stopped   = sync.Stopped   // error of a run that was stopped, here or elsewhere
	Failure   = sync.Failure   // of an LP: nothing that comes after it counts
	Deferred  = sync.Deferred  // work that engines have put off until nothing else can go on
)

// Null is the protocol of null messages alone.
const Null = sync.Null

// Turns are taken by many engines of a process.
type Turns = sync.Turns

// TurnsOf returns the turns that the engines of a process take, nil if they take none.
func TurnsOf(transports []Transport) *Turns { return sync.TurnsOf(transports) }

// NewInProcess returns the transports of k engines of one process.
func NewInProcess(k int) []Transport { return sync.NewInProcess(k) }

// NewInTurns is NewInProcess for engines that take turns on so many processors.
func NewInTurns(k, processors int) []Transport { return sync.NewInTurns(k, processors) }

// Kernel gives meaning to the LPs and events of one engine. All its methods are
// called from the goroutine that called [Engine.Run].
type Kernel interface {
	// Run runs a ready item: an LP (its number within the partition, >= 0) or a
	// task of the kernel's own (< 0).
	Run(item int32)
	// Handle handles a timed event. Everything that arrives at the engine's LPs
	// at or before ev.Time has been delivered.
	Handle(ev Event)
	// Deliver takes in a record that the kernel of another engine sent. The
	// record is valid during the call only.
	Deliver(src int, record []byte)
	// Drained is called when no ready item is left. The kernel may make items
	// ready that it had held back.
	Drained()
}

// RangeRunner is a [Kernel] that runs LPs that became ready together in one call.
type RangeRunner interface {
	// RunRange runs the LPs with local numbers lo <= i < hi.
	RunRange(lo, hi int32)
}

// Prefetcher is a [Kernel] that prefetches into the cache the memory of LPs which come next. That
// has no effect on results.
type Prefetcher interface {
	// Prefetch prefetches the memory that Run touches of an item, some items before Run, or that
	// Handle touches of an LP, some events before Handle.
	Prefetch(item int32)
	// PrefetchAhead prefetches the memory that Prefetch reads of an LP, some events before Prefetch.
	PrefetchAhead(lp int32)
}

// Withdrawer is a [Kernel] that may do without a timed event after all.
type Withdrawer interface {
	// Withdrawn reports whether a timed event has been withdrawn, and forgets it then: it is not handled.
	Withdrawn(ev *Event) bool
}

// Deferrer is a [Kernel] that may put work off until nothing else can go on, on any engine.
type Deferrer interface {
	// Defers reports whether there is such work. It is cheap.
	Defers() bool
	// Deferred returns the work, when nothing else can go on here.
	Deferred() Deferred
	// Proceed takes the work of all engines up: the kernel makes items ready or enters events, none of which acts before
	// all.From. Events that are handled from now on may lie before such that have been.
	Proceed(all Deferred)
}

// Config describes one engine of a simulation.
type Config struct {
	// Partition of all LPs; the engine's own block is that of Transport.Rank().
	Partition Partition
	// Transport to the other engines. Its size is the number of engines.
	Transport Transport
	// Protocol by which the engines synchronise.
	Protocol Protocol
	// Lookahead is the least virtual delay between an action of an LP of this
	// engine and its effect on an LP of engine dst; at least a picosecond.
	Lookahead func(dst int) vtime.Duration
	// LeastLookahead is a lower bound on the same delay to an LP of any other engine. 0
	// means the least Lookahead; New then calls Lookahead for every engine.
	LeastLookahead vtime.Duration
	// Behind is the greatest virtual time by which an LP may lie behind the event that resumes it. Such events belong to the
	// instants before a failure.
	Behind vtime.Duration
	// BufferLimit is the number of bytes in the kernel's buffers past which
	// senders are throttled; 0 means 256 MiB.
	BufferLimit int64
	// Window is the number of bytes under way from one engine to another, sent and not
	// yet consumed. Past it the sender's LPs are throttled; 0 means DefaultWindow.
	Window int64
	// Patience is the wall time for which the engine waits before it looks for a deadlock; 0 means that of
	// package sync.
	Patience sync.WallTime
}

// Statistics count the events and messages of an engine.
type Statistics struct {
	Events            uint64 // ready items run, timed events handled, records delivered
	Messages          uint64 // virtual messages sent, as the kernel counts them
	Switches          uint64 // LPs resumed
	RemoteMessages    uint64 // records sent to other engines
	SyncMessages      uint64 // transport messages that carry nothing but promises, requests or rounds
	TransportMessages uint64
}

// Engine is one event loop. One goroutine uses it; others may call [Engine.Stop] and
// [Engine.Snapshot].
type Engine struct {
	Statistics Statistics

	config     Config
	index      int
	lo, hi     int
	endpoint   sync.Endpoint
	ready      readyQueue
	timed      eventList
	throttled  throttled // items held back, by their clocks, then by when they were
	heldBack   uint64    // items, so far
	unfinished int
	buffered   int64
	limit      int64
	err        error
	kernel     Kernel
	deliver    func(src int, record []byte) // has the kernel take in a record
	run        int                          // ready items from one poll of the transport to the next
	paused     bool                         // Run has returned ErrPaused
	next       vtime.Time                   // of the event for which the engine waits
	ranges     RangeRunner                  // the kernel, if it is one
	prefetcher Prefetcher                   // likewise
	withdrawer Withdrawer                   // likewise
	deferrer   Deferrer                     // likewise
	withdrawn  int                          // timed events that still lie among the others
	failure    *Failure                     // the least that is known, nil if there is none
	horizon    vtime.Time                   // the latest event that may resume an LP before it, Forever if there is none
	reached    vtime.Time                   // for snapshot
	snapshot   snapshot
}

// snapshot is the part of an engine that other goroutines may read while it runs.
type snapshot struct {
	events, time atomic.Int64
	atWork       atomic.Bool          // in Run, and neither waiting for other engines nor at rest
	home         atomic.Pointer[Home] // of the goroutine that runs it or has run it last
}

// defaultBufferLimit holds some four million small messages.
const defaultBufferLimit = 256 << 20

// DefaultWindow is the Window of a Config that leaves it out, in bytes.
const DefaultWindow = 16 << 20

// pollInterval is the number of ready items between two polls of the transport.
const pollInterval = 512

// Batch is the greatest number of LPs that become ready together and that an engine resumes
// one after another, before anything else that is ready.
const Batch = pollInterval

// ahead is the number of ready items by which an item is prefetched before it runs. Their time covers the
// latency of memory.
const ahead = 4

// New makes an engine.
func New(c Config) *Engine {
	e := &Engine{}
	e.Init(c)
	return e
}

// Init makes e, which is zero, an engine.
func (e *Engine) Init(c Config) {
	e.config, e.index, e.limit, e.horizon = c, c.Transport.Rank(), c.BufferLimit, vtime.Forever
	if e.limit <= 0 {
		e.limit = defaultBufferLimit
	}
	if c.Window <= 0 {
		c.Window = DefaultWindow
	}
	e.lo, e.hi = c.Partition.Range(e.index)
	e.unfinished = e.hi - e.lo
	if invariant.Enabled {
		c.Partition.check()
	}
	e.endpoint.Init(c.Transport, sync.Config{
		Protocol: c.Protocol, Lookahead: c.Lookahead, LeastLookahead: c.LeastLookahead, Window: c.Window, Patience: c.Patience, Deferrer: (*deferring)(e),
	})
}

// Index returns the engine's number, 0 to Engines()-1.
func (e *Engine) Index() int { return e.index }

// Engines returns the number of engines of the simulation.
func (e *Engine) Engines() int { return e.config.Partition.Engines }

// Partition returns the division of all LPs among the engines.
func (e *Engine) Partition() Partition { return e.config.Partition }

// Null reports whether the engines synchronise by null messages alone.
func (e *Engine) Null() bool { return e.config.Protocol == Null }

// Range returns the LPs that the engine owns: lo <= LP < hi.
func (e *Engine) Range() (lo, hi int) { return e.lo, e.hi }

// Ready queues an item to run: an LP of the partition (its local number), or a task of
// the kernel (a negative number). An item that is to run soon is prefetched at once.
func (e *Engine) Ready(item int32) {
	e.ready.push(item)
	if e.prefetcher != nil && e.ready.count <= ahead {
		e.prefetcher.Prefetch(item)
	}
}

// ReadyFirst queues an item to run before all that are ready.
func (e *Engine) ReadyFirst(item int32) { e.ready.pushFirst(item) }

// Prefetch has the kernel prefetch an LP that is to become ready.
func (e *Engine) Prefetch(lp int32) {
	if e.prefetcher != nil {
		e.prefetcher.Prefetch(lp)
	}
}

// PrefetchAhead has the kernel prefetch ahead an LP that may become ready after some others.
func (e *Engine) PrefetchAhead(lp int32) {
	if e.prefetcher != nil {
		e.prefetcher.PrefetchAhead(lp)
	}
}

// ReadyRange queues the LPs with local numbers lo <= i < hi to run.
func (e *Engine) ReadyRange(lo, hi int) { e.ready.pushRange(int32(lo), int32(hi)) }

// Schedule enters a timed event for an LP of this engine.
func (e *Engine) Schedule(ev Event) {
	e.timed.push(ev)
	e.prefetchTimed()
}

// NextTimed returns the least instant of a timed event, also of a withdrawn one, Forever if there is none.
func (e *Engine) NextTimed() vtime.Time { return e.timed.minimum() }

// NextAction returns the least instant at which a timed event or a throttled LP is due, Forever if nothing is.
func (e *Engine) NextAction() vtime.Time { return min(e.timed.minimum(), e.throttled.minimum()) }

// Idle reports whether no item is ready.
func (e *Engine) Idle() bool { return e.ready.empty() }

// Withdraw tells that a timed event of the kernel, a [Withdrawer], is not to be handled. The engine asks for
// no time of other engines because of it.
func (e *Engine) Withdraw() { e.withdrawn++ }

// dropWithdrawn removes the least timed events as long as they are withdrawn.
func (e *Engine) dropWithdrawn() {
	for e.withdrawn > 0 && !e.timed.empty() && e.withdrawer.Withdrawn(&e.timed.heap[0]) {
		e.timed.pop()
		e.withdrawn--
		e.prefetchTimed()
	}
}

// prefetchTimed has the kernel prefetch the LP of the timed event that has come near.
func (e *Engine) prefetchTimed() {
	if e.prefetcher == nil {
		return
	}
	if lp := e.timed.newcomer(); lp != none {
		e.prefetcher.Prefetch(lp - int32(e.lo))
	}
}

// Throttle holds back an item that is about to send to engine dst, until there is room
// or all else waits. The kernel's Run resumes it. The item is an LP (its local number)
// whose clock shows t, or a task of the kernel (a negative number) that concerns
// nothing before t.
func (e *Engine) Throttle(item int32, t vtime.Time, dst int) {
	e.heldBack++
	e.throttled.push(Event{Time: t, Sequence: e.heldBack, LP: item}, dst)
}

// Buffer adds to the number of bytes that the kernel holds for messages not yet
// consumed.
func (e *Engine) Buffer(bytes int64) {
	e.buffered += bytes
	if invariant.Enabled && e.buffered < 0 {
		invariant.Broken("engine %d holds %d bytes in its buffers", e.index, e.buffered)
	}
}

// Buffered returns the number of bytes that the kernel holds for messages not yet consumed.
func (e *Engine) Buffered() int64 { return e.buffered }

// Congested reports whether an LP that is about to send to an LP of engine dst ought to
// be throttled.
func (e *Engine) Congested(dst int) bool {
	return e.Full() || dst != e.index && !e.endpoint.Room(dst)
}

// Full reports whether the kernel's buffers hold more than their limit.
func (e *Engine) Full() bool { return e.buffered > e.limit }

// AnyCongested reports whether there is an engine dst for which Congested may be true.
func (e *Engine) AnyCongested() bool { return e.Full() || e.endpoint.AnyFull() }

// Room reports whether records may be sent to engine dst without regard to how fast
// it consumes them.
func (e *Engine) Room(dst int) bool { return e.endpoint.Room(dst) }

// Consumed reports that a record of n bytes from engine src has left the kernel's
// buffers. The kernel calls it once for each record.
func (e *Engine) Consumed(src, n int) { e.endpoint.Credit(src, n) }

// Record returns n bytes for a record to the kernel of engine dst. The caller fills
// them before it calls the engine again.
func (e *Engine) Record(dst, n int) []byte { return e.endpoint.Reserve(dst, n) }

// RecordWithTail is Record for a record of n bytes that goes on with tail; see
// [sync.Endpoint.ReserveTail].
func (e *Engine) RecordWithTail(dst, n int, tail []byte, owner any) (record []byte, number int32) {
	return e.endpoint.ReserveTail(dst, n, tail, owner)
}

// SendsTails reports whether there is RecordWithTail.
func (e *Engine) SendsTails() bool { return e.endpoint.SendsTails() }

// AwaitTail returns when a tail may change whose receiver has the record.
func (e *Engine) AwaitTail(number int32) { e.endpoint.AwaitTail(number) }

// HoldsTails reports whether there is a tail that may not change yet.
func (e *Engine) HoldsTails() bool { return e.endpoint.HoldsTails() }

// Flush sends the records made so far. A kernel calls it before a long piece of work: other
// engines need not wait until that is done.
func (e *Engine) Flush() {
	if err := e.endpoint.Flush(); err != nil {
		e.Fail(err)
	}
}

// EIT returns the earliest instant at which anything that another engine still sends
// can take effect here.
func (e *Engine) EIT() vtime.Time { return e.endpoint.EIT() }

// Cap bounds EIT while kernels exchange records that depend on one another; see
// [sync.Endpoint.Cap].
func (e *Engine) Cap(t vtime.Time) { e.endpoint.Cap(t) }

// Uncap ends a bound that Cap has begun. From here on the bound is t: the least of the
// exchanges that go on, Forever if there is none.
func (e *Engine) Uncap(t vtime.Time) { e.endpoint.Uncap(t) }

// Await bounds EIT while answers are awaited; see [sync.Endpoint.Await].
func (e *Engine) Await(t vtime.Time) { e.endpoint.Await(t) }

// Finished counts n LPs as ended.
func (e *Engine) Finished(n int) {
	e.unfinished -= n
	if invariant.Enabled && e.unfinished < 0 {
		invariant.Broken("on engine %d, %d LPs more have finished than it has", e.index, -e.unfinished)
	}
}

// Stop ends the simulation on all engines from any goroutine. Their Run returns
// a *sync.Stopped with the reason.
func (e *Engine) Stop(reason []byte) { e.endpoint.Stop(reason) }

// Abort is Stop by the engine's own goroutine, after Run has returned. It tells the
// other engines before it returns.
func (e *Engine) Abort(reason []byte) {
	e.endpoint.Stop(reason)
	// The error is the *sync.Stopped just asked for, or one of a transport that
	// cannot tell anybody anyway.
	_, _ = e.endpoint.Poll(func(int, []byte) {})
}

// Gather brings every engine's payload to engine 0, after Run has returned.
func (e *Engine) Gather(payload []byte) ([][]byte, error) { return e.endpoint.Gather(payload) }

// Share gives every engine the payload of engine 0, after Run has returned.
func (e *Engine) Share(payload []byte) ([]byte, error) { return e.endpoint.Share(payload) }

// Snapshot returns the number of events that the engine has processed and the latest
// instant among its timed events and the calls of Reached. Any goroutine may call it.
func (e *Engine) Snapshot() (events uint64, t vtime.Time) {
	return uint64(e.snapshot.events.Load()), vtime.Time(e.snapshot.time.Load())
}

// Reached records, for Snapshot, that an LP has come to an instant.
func (e *Engine) Reached(t vtime.Time) { e.reached = max(e.reached, t) }

// ErrPaused is returned by Run where a worker runs the engine, and it waits for other engines.
var ErrPaused = errors.New("paused: Run is to be called again when the engine has a turn")

// Run runs the partition until all LPs of all engines have finished. It returns the
// error given to Fail, *sync.Stopped if another engine failed or Stop was called,
// ErrDeadlock, or an error of the transport. Run may be called again after a panic of
// the kernel has come out of it, or ErrPaused; see [sync.Turns].
func (e *Engine) Run(k Kernel) error {
	if e.kernel == nil {
		e.kernel = k
		e.ranges, _ = k.(RangeRunner)
		e.prefetcher, _ = k.(Prefetcher)
		e.withdrawer, _ = k.(Withdrawer)
		e.deferrer, _ = k.(Deferrer)
		e.deliver = func(src int, record []byte) {
			e.Statistics.Events++
			e.kernel.Deliver(src, record)
		}
	}
	e.snapshot.atWork.Store(true)
	defer e.snapshot.atWork.Store(false)
	for e.err == nil {
		if !e.paused {
			if err := e.drain(k); err != nil {
				return err
			}
			k.Drained()
			if !e.ready.empty() || e.err != nil {
				continue
			}
		}
		again, err := e.advance(k)
		if err != nil || !again {
			return err
		}
	}
	return e.err
}

// drain runs ready items until there are none.
func (e *Engine) drain(k Kernel) error {
	for !e.ready.empty() && e.err == nil {
		n := 0
		e.run = pollInterval
		for n < e.run && !e.ready.empty() && e.err == nil {
			n += e.runReady(k)
		}
		e.Statistics.Events += uint64(n)
		e.snapshot.events.Store(int64(e.Statistics.Events))
		e.snapshot.time.Store(int64(e.reached))
		// Other engines need not wait until this one runs dry.
		if err := e.endpoint.Flush(); err != nil {
			return err
		}
		if _, err := e.poll(); err != nil {
			return err
		}
	}
	return nil
}

// LookAround has the engine poll the transport before it runs another ready item.
func (e *Engine) LookAround() { e.run = 0 }

// itemBytes is the number of bytes whose copy takes about as long as a ready item.
const itemBytes = 512

// Copied counts bytes that the kernel has copied for a ready item. The engine polls the transport
// the sooner, so that other engines do not wait for the copies of many items.
func (e *Engine) Copied(bytes int) { e.run -= bytes / itemBytes }

// poll takes in the records that have come from other engines.
func (e *Engine) poll() (records int, err error) {
	records, err = e.endpoint.Poll(e.deliver)
	e.notice()
	return records, err
}

// runReady runs the next ready item, or several LPs of a range, and returns their
// number.
func (e *Engine) runReady(k Kernel) int {
	if e.ranges != nil && e.ready.count == 0 {
		lo, hi := e.ready.popRange(pollInterval)
		e.ranges.RunRange(lo, hi)
		return int(hi - lo)
	}
	if e.prefetcher != nil && e.ready.count > ahead {
		e.prefetcher.Prefetch(e.ready.peek(ahead))
	}
	k.Run(e.ready.pop())
	return 1
}

// TakeReady takes the next ready item out of the queue, if it is an LP, for a kernel that runs several LPs at a time. It leaves the item once so many
// have run that the engine is to poll the transport.
func (e *Engine) TakeReady() (lp int32, taken bool) {
	if e.ready.count == 0 || e.run <= 0 || e.err != nil || e.ready.peek(0) < 0 {
		return 0, false
	}
	if e.prefetcher != nil && e.ready.count > ahead {
		e.prefetcher.Prefetch(e.ready.peek(ahead))
	}
	e.run--
	e.Statistics.Events++
	return e.ready.pop(), true
}

// advance takes the next step that depends on time. It handles the least timed event or
// resumes a throttled LP if that is allowed. Otherwise it waits for the other engines.
// It reports false when the simulation has ended.
func (e *Engine) advance(k Kernel) (again bool, err error) {
	if e.paused {
		return e.await()
	}
	if e.withdrawn > 0 {
		e.dropWithdrawn()
	}
	timed, throttled := e.within(e.timed.minimum()), e.within(e.throttled.minimum())
	next := min(timed, throttled)
	e.endpoint.Advance(next)
	switch {
	case throttled <= timed && throttled < vtime.Forever:
		if progress, err := e.release(k); progress || err != nil {
			return true, err
		}
	case timed < e.endpoint.EIT():
		ev := e.timed.pop()
		e.prefetchTimed()
		e.Statistics.Events++
		e.Reached(ev.Time)
		e.snapshot.time.Store(int64(e.reached))
		if e.Statistics.Events%pollInterval == 0 {
			e.snapshot.events.Store(int64(e.Statistics.Events))
			if _, err := e.poll(); err != nil {
				return false, err
			}
		}
		if invariant.Enabled {
			e.checkHandled(ev)
		}
		k.Handle(ev)
		return true, nil
	}
	if n, err := e.poll(); err != nil || n > 0 {
		return true, err
	}
	if invariant.Enabled {
		e.checkIdle(next)
	}
	e.next = next
	return e.await()
}

// await waits for the other engines. It reports false when the simulation has ended.
func (e *Engine) await() (again bool, err error) {
	e.snapshot.atWork.Store(false)
	outcome, err := e.endpoint.Wait(e.next, e.unfinished)
	e.paused = outcome == sync.Paused
	if e.paused {
		return false, ErrPaused
	}
	e.snapshot.atWork.Store(true)
	e.notice()
	switch {
	case err != nil:
		return false, err
	case outcome == sync.Finished:
		return false, nil
	case outcome == sync.Deadlock:
		return false, ErrDeadlock
	case outcome == sync.Resumed:
		e.deferrer.Proceed(e.endpoint.Due())
		return true, nil
	default:
		_, err := e.poll()
		return true, err
	}
}

// deferring is the engine as [sync.Deferrer]. Work that comes after the least failure is none.
type deferring Engine

// Defers implements [sync.Deferrer].
func (e *deferring) Defers() bool { return e.deferrer != nil && e.deferrer.Defers() }

// Deferred implements [sync.Deferrer].
func (e *deferring) Deferred() Deferred {
	d := e.deferrer.Deferred()
	d.From = (*Engine)(e).within(d.From)
	return d
}

// checkIdle checks that nothing is ready when the engine is about to wait, and that nothing
// it has to do lies before the instant that it tells the other engines.
func (e *Engine) checkIdle(next vtime.Time) {
	if least := min(e.within(e.timed.minimum()), e.within(e.throttled.minimum())); !e.ready.empty() || least < next {
		invariant.Broken("engine %d waits with nothing before %v, but %d items are ready and one is due at %v", e.index, next, e.ready.count, least)
	}
}

// checkHandled checks that an event about to be handled lies below EIT, before all that
// wait, and in the partition. The event may lie before one handled already: a kernel
// asks for a past instant where it needs no EIT.
func (e *Engine) checkHandled(ev Event) {
	switch {
	case ev.Time >= e.EIT():
		invariant.Broken("engine %d handles %+v at or above its EIT %v", e.index, ev, e.EIT())
	case !e.timed.empty() && e.timed.heap[0].Before(&ev):
		invariant.Broken("engine %d handles %+v while %+v waits", e.index, ev, e.timed.heap[0])
	case int(ev.LP) < e.lo || int(ev.LP) >= e.hi:
		invariant.Broken("engine %d of LPs %d to %d handles %+v", e.index, e.lo, e.hi-1, ev)
	}
}

// release resumes the throttled LP with the least clock among the LPs whose engine has
// room for their messages. LPs that send within this engine always have room: they are held
// back only to let others run first. It reports whether there was one, or records have
// come, which may have made LPs ready or entered events.
func (e *Engine) release(k Kernel) (bool, error) {
	if err := e.endpoint.Flush(); err != nil {
		return false, err
	}
	come, err := e.poll()
	if err != nil {
		return false, err
	}
	for dst, ok := e.endpoint.Opened(); ok; dst, ok = e.endpoint.Opened() {
		e.throttled.opened(dst)
	}
	chosen, found := e.throttled.pop(func(dst int) bool { return dst == e.index || e.endpoint.Room(dst) })
	if found {
		e.Statistics.Events++
		k.Run(chosen.LP)
	}
	return found || come > 0, nil
}

// Count returns the statistics with the counts of the transport.
func (e *Engine) Count() Statistics {
	s, t := e.Statistics, e.endpoint.Statistics()
	s.RemoteMessages, s.SyncMessages, s.TransportMessages = t.RemoteRecords, t.SyncMessages, t.TransportMessages
	return s
}
