package kernel

import (
	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Kernel is the virtual MPI of one partition: it handles the events of the engine. It belongs to
// the goroutine that runs the engine. Ranks use it only while the engine has resumed them.
type Kernel struct {
	collectives coll.Collectives
	messages    *p2p.Messages    // of collectives
	partition   *world.Partition // of messages
	config      *Config
	body        Body
	locator     Locator             // the body; nil if it is none
	caller      Caller              // the body; nil if it is none
	erred       map[int32]erredCall // by LP: calls that have failed ranks in Go, which are unwound
	ranges      RangeResumer        // the body; nil if it is none
	bursts      Bursts              // nil if CPU times do not count
	samples     map[sampleKey]*Sample
	call        Call                      // scratch: the running LP's call
	RequestList []int32                   // scratch: the requests of that call
	inParts     map[int32]*coll.InterCall // by LP: its call that consists of parts

	// Caches holds the attributes that ranks of the kind have cached on communicators (MPI 4.1,
	// 7.7).
	Caches map[CacheKey]any

	clockPolls clockPolls
	hearing    hearing
	phases     phases
	takes      bool // a Body may take further ready LPs; see NextReady

	computing computing
}

// CacheKey identifies a communicator by its index, and the LP that caches an attribute.
type CacheKey struct{ LP, Comm int32 }

// The interfaces by which the engine and the rooms below call a kernel.
var (
	_ engine.Kernel      = (*Kernel)(nil)
	_ engine.RangeRunner = (*Kernel)(nil)
	_ engine.Withdrawer  = (*Kernel)(nil)
	_ engine.Limited     = (*Kernel)(nil)
	_ engine.Deferrer    = (*Kernel)(nil)
	_ p2p.Upcalls        = (*Kernel)(nil)
)

// init makes k, which is zero, the kernel of an engine. The body is set later.
func (k *Kernel) init(c *Config, algorithms coll.Algorithms, eng *engine.Engine, blocks *world.Blocks) {
	k.config = c
	k.messages = &k.collectives.Messages
	k.partition = &k.messages.Partition
	k.partition.Init(world.Settings{Engine: eng, Target: c.Target, Blocks: blocks, Strict: c.Strict, Reserve: c.Reserve, Now: c.Now})
	observer := Observer(nil)
	if c.Observer != nil {
		observer = c.Observer(k.partition.First, k.partition.Ranks)
	}
	receiver, _ := observer.(Receiver)
	gatherer, _ := observer.(Gatherer)
	if c.Activities {
		counted := Observer(k.newSums())
		if observer != nil {
			counted = both{observer, counted}
		}
		if c.Path {
			counted = both{k.newFollower(), counted}
		}
		observer, k.partition.Activities = counted, counted
	}
	k.messages.Open(c.Noise, c.Polls, k)
	k.collectives.Open(algorithms, c.Collectives, c.Program.Repeats)
	if observer != nil {
		k.hearing.gatherer = gatherer
		k.observe(observer)
	}
	if c.Activities {
		k.collectives.Explain(c.Observer == nil && !c.Path, c.Observer != nil || c.Target.Ranks() <= TasksKept)
		k.observeSums()
		if receiver != nil {
			k.messages.Hear(receiver.Receives, receiver.Departs)
			receiver.Records(k)
		}
	}
	if c.Recorder != nil {
		k.record(c.Recorder(k.partition.First, k.partition.Ranks))
	}
	if c.Bursts != nil {
		k.bursts = c.Bursts(k.partition.First, k.partition.Ranks)
	}
}

// HasContents reports whether messages and collectives carry the bytes of the program, and not only their sizes.
func (k *Kernel) HasContents() bool { return !k.config.NoContents }

// Seed returns the seed of the simulation.
func (k *Kernel) Seed() uint64 { return k.config.Seed }

// Run implements [engine.Kernel].
func (k *Kernel) Run(item int32) {
	switch {
	case item >= 0:
		k.takes = true
		k.Resume(item)
		k.takes = false
	case ^item < coll.TaskItems:
		k.collectives.RunAgent(^item)
	default:
		k.collectives.RunTask(^item - coll.TaskItems)
	}
}

// RunRange implements [engine.RangeRunner]. LPs that become ready together leave a collective or
// start: none of them has a wait to finish.
func (k *Kernel) RunRange(lo, hi int32) {
	if invariant.Enabled {
		k.partition.CheckClocks(lo, hi)
	}
	if k.partition.Limited() || len(k.collectives.Faults) > 0 || k.hearing.hearsEach() || k.hearing.hasOpen(lo, hi) {
		for i := lo; i < hi; i++ {
			k.Resume(i)
		}
		return
	}
	k.partition.Engine.Statistics.Switches += uint64(hi - lo)
	k.messages.Completion.Err = nil // of an LP that left a collective earlier
	if k.hearing.recorder != nil {
		k.leaveTogether(lo, hi)
	}
	if k.ranges != nil {
		k.takes = true
		k.ranges.ResumeRange(lo, hi)
		k.takes = false
	} else {
		k.resumeEach(lo, hi)
	}
	k.partition.Engine.Reached(k.partition.Clock[lo])
}

// resumeEach resumes LPs lo to hi-1 one by one, until one of them fails: the remaining LPs are ready then.
func (k *Kernel) resumeEach(lo, hi int32) {
	for ; lo < hi && !k.partition.Limited(); lo++ {
		k.partition.Running = lo
		if !k.body.Resume(int(lo)) {
			k.End(lo)
		}
	}
	k.partition.Running = world.None
	k.Yield(lo, hi)
}

// Resume finishes the wait of an LP, if it has one, and runs the LP.
func (k *Kernel) Resume(lp int32) {
	if !k.awakes(lp) {
		return
	}
	k.partition.Running = lp
	if !k.body.Resume(int(lp)) {
		k.End(lp)
	}
	k.partition.Engine.Reached(k.partition.Clock[lp])
}

// NextReady returns a further LP that is ready, and finishes its wait, for a [Body] that runs several LPs at a time: it stores what the LP has
// waited for before it asks for another. It returns [world.None] if no LP is next, or if the engine has resumed an LP at an instant, while others wait.
func (k *Kernel) NextReady() int32 {
	for k.takes && !k.partition.Limited() {
		lp, taken := k.partition.Engine.TakeReady()
		if !taken {
			break
		}
		if k.awakes(lp) {
			k.partition.Engine.Reached(k.partition.Clock[lp])
			return lp
		}
	}
	return world.None
}

// awakes finishes the wait of an LP, if it has one. It returns false if the LP must not run.
func (k *Kernel) awakes(lp int32) bool {
	k.messages.Completion.Err = nil
	if box := k.messages.Mailbox(lp); box != nil && box.Wait.Kind != p2p.NoWait {
		k.messages.Finish(lp, box)
	}
	if invariant.Enabled {
		k.partition.CheckClocks(lp, lp+1)
		k.messages.CheckMailbox(lp)
		k.collectives.CheckRoundQueue(lp)
	}
	if k.partition.Limited() && k.partition.Dropped(lp) {
		return false
	}
	if len(k.messages.Parked) > 0 {
		k.messages.Unpark(lp)
	}
	if len(k.collectives.Faults) > 0 {
		k.collectives.TakeFault(lp)
	}
	if k.hearing.hears {
		k.resumes(lp)
	}
	k.partition.Engine.Statistics.Switches++
	return true
}

// End records the finish of an LP that has not failed, and releases its mailbox and round queue.
func (k *Kernel) End(lp int32) {
	if k.partition.HasFailed(lp) {
		return
	}
	if invariant.Enabled {
		k.partition.CheckClocks(lp, lp+1)
		if k.messages.Behind(lp) {
			invariant.Broken("rank %d ends before what it has begun has taken its time: its body asks Pause after each call, or PostponeEnd",
				k.partition.Global(lp))
		}
	}
	if k.hearing.recorder != nil {
		k.hearing.recorder.Finishes(lp)
	}
	k.partition.Summary.Finish(int(k.partition.Global(lp)), k.partition.Clock[lp])
	k.partition.Engine.Finished(1)
	k.messages.CloseBox(lp)
	k.collectives.CloseRoundQueue(lp)
}

// Handle implements [engine.Kernel].
func (k *Kernel) Handle(ev engine.Event) {
	lp := ev.LP - int32(k.partition.First)
	switch ev.Data {
	case world.DataWait:
		if k.messages.HandleWait(lp, uint32(ev.Sequence), ev.Time) {
			k.messages.Resuming(lp)
			k.Resume(lp)
			k.messages.Resuming(world.None)
		}
	case world.DataSettle:
		if k.messages.HandleSettle(lp, ev.Time) {
			k.Resume(lp)
		}
	case world.DataResume:
		k.Resume(lp)
	case world.DataPassage:
		k.messages.Interfaces.Serve(ev.Source, ev.Time)
	case world.DataHandshake:
		k.messages.HandleHandshake(int32(ev.Sequence), ev.Time)
	case world.DataDeadline:
		k.collectives.PastDeadline(ev.Time)
	case world.DataServe:
		k.messages.Processors.Serve(lp, ev.Time)
	}
}

// Limit implements [engine.Limited].
func (k *Kernel) Limit(f *engine.Failure) { k.partition.Limit(f) }

// Defers implements [engine.Deferrer].
func (k *Kernel) Defers() bool { return k.messages.Defers() }

// Deferred implements [engine.Deferrer].
func (k *Kernel) Deferred() engine.Deferred { return k.messages.Deferred() }

// Proceed implements [engine.Deferrer].
func (k *Kernel) Proceed(all engine.Deferred) { k.messages.Proceed(all) }

// IndexOfContext implements [p2p.Upcalls].
func (k *Kernel) IndexOfContext(context uint64) int32 { return k.collectives.IndexOfContext(context) }

// InCall implements [p2p.Upcalls].
func (k *Kernel) InCall(agent, what int32, at vtime.Time) { k.collectives.InCall(agent, what, at) }

// EarliestAgent implements [p2p.Upcalls].
func (k *Kernel) EarliestAgent() vtime.Time { return k.collectives.EarliestAgent() }

// Withdrawn implements [engine.Withdrawer].
func (k *Kernel) Withdrawn(ev *engine.Event) bool {
	return ev.Data == world.DataHandshake && k.messages.HandshakeWithdrawn(int32(ev.Sequence))
}

// Deliver implements [engine.Kernel].
func (k *Kernel) Deliver(src int, record []byte) {
	r := world.Reader{Rest: record[1:]}
	switch record[0] {
	case world.RecordMessage:
		k.messages.DeliverMessage(src, r)
	case world.RecordRound:
		k.collectives.DeliverRound(src, r)
	case world.RecordAcknowledgement:
		k.messages.DeliverAcknowledgement(r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordRoundAcknowledgement:
		k.collectives.DeliverAcknowledgement(r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordReply, world.RecordData, world.RecordFree:
		k.messages.DeliverAnswer(record[0], r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordRoundReply, world.RecordRoundData:
		k.collectives.DeliverRoundAnswer(record[0], r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordMatch:
		k.messages.Processors.MatchFrom(resource.OfProgram, r)
		k.partition.Engine.Consumed(src, len(record))
	case world.RecordRoundMatch:
		k.messages.Processors.MatchFrom(resource.OfAgents, r)
		k.partition.Engine.Consumed(src, len(record))
	default:
		if k.collectives.DeliverCollective(src, record, r) {
			k.partition.Engine.Consumed(src, len(record))
		}
	}
}
