package kernel

import (
	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/ptp"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Kernel is the virtual MPI of one partition: it handles the engine's events. It belongs to
// the goroutine that runs the engine. Ranks use it only while the engine has resumed them.
type Kernel struct {
	coll.Collectives
	config      *Config
	body        Body
	bursts      Bursts // nil if CPU times do not count
	samples     map[sampleKey]*Sample
	call        Call                      // scratch: the call that the running LP makes
	RequestList []int32                   // scratch: the requests in it
	inParts     map[int32]*coll.InterCall // by LP: its call that goes in parts

	// Caches holds what ranks of the kind have cached on communicators (MPI 4.1, 7.7).
	Caches map[CacheKey]any

	looks looks

	computing computing
}

// CacheKey names a communicator, by its index, as an LP knows it.
type CacheKey struct{ LP, Comm int32 }

var _ engine.Deferrer = (*Kernel)(nil)

// init makes k, which is zero, the kernel of an engine, without a body.
func (k *Kernel) init(c *Config, algorithms []collectives.Algorithm, eng *engine.Engine, blocks *world.Blocks) {
	k.config = c
	k.Partition.Init(world.Settings{Engine: eng, Target: c.Target, Blocks: blocks, Strict: c.Strict, Reserve: c.Reserve, Now: c.Now, Activities: c.Activities})
	k.Messages.Open(c.Noise, c.Polls, k)
	k.Collectives.Open(algorithms, c.Collectives)
	if c.Bursts != nil {
		k.bursts = c.Bursts(k.First, k.Ranks)
	}
}

// Seed returns the seed of the simulation.
func (k *Kernel) Seed() uint64 { return k.config.Seed }

// Run implements [engine.Kernel].
func (k *Kernel) Run(item int32) {
	switch {
	case item >= 0:
		k.Resume(item)
	case ^item < coll.TaskItems:
		k.RunAgent(^item)
	default:
		k.RunTask(^item - coll.TaskItems)
	}
}

// RunRange implements [engine.RangeRunner]. LPs that become ready together leave a
// collective or start: none of them has a wait to finish.
func (k *Kernel) RunRange(lo, hi int32) {
	if invariant.Enabled {
		k.CheckClocks(lo, hi)
	}
	if k.Limited() || len(k.Faults) > 0 {
		for i := lo; i < hi; i++ {
			k.Resume(i)
		}
		return
	}
	k.Engine.Statistics.Switches += uint64(hi - lo)
	k.Completion.Err = nil // of an LP that left a collective before
	k.body.ResumeRange(lo, hi)
	k.Engine.Reached(k.Clock[lo])
}

// Resume finishes the wait of an LP, if it has one, and runs the LP.
func (k *Kernel) Resume(lp int32) {
	k.Completion.Err = nil
	if box := k.Mailbox(lp); box != nil && box.Wait.Kind != ptp.NoWait {
		k.Finish(lp, box)
	}
	if invariant.Enabled {
		k.CheckClocks(lp, lp+1)
		k.CheckMailbox(lp)
		k.CheckRoundQueue(lp)
	}
	if k.Limited() && k.Dropped(lp) {
		return
	}
	if len(k.Parked) > 0 {
		k.Unpark(lp)
	}
	if len(k.Faults) > 0 {
		k.TakeFault(lp)
	}
	k.Engine.Statistics.Switches++
	k.Running = lp
	if !k.body.Resume(int(lp)) {
		k.End(lp)
	}
	k.Engine.Reached(k.Clock[lp])
}

// End records the finish of an LP that has not failed, and frees its mailbox and round queue.
func (k *Kernel) End(lp int32) {
	if k.HasFailed(lp) {
		return
	}
	if invariant.Enabled {
		k.CheckClocks(lp, lp+1)
		if k.Behind(lp) {
			invariant.Broken("rank %d ends before what it has begun has taken its time: its body asks Pause after each call, or PostponeEnd",
				k.Global(lp))
		}
	}
	k.Summary.Finish(int(k.Global(lp)), k.Clock[lp])
	k.Engine.Finished(1)
	k.CloseBox(lp)
	k.CloseRoundQueue(lp)
}

// Handle implements [engine.Kernel].
func (k *Kernel) Handle(ev engine.Event) {
	lp := ev.LP - int32(k.First)
	switch ev.Data {
	case world.DataWait:
		if k.HandleWait(lp, uint32(ev.Sequence), ev.Time) {
			k.Resume(lp)
		}
	case world.DataSettle:
		if k.HandleSettle(lp, ev.Time) {
			k.Resume(lp)
		}
	case world.DataResume:
		k.Resume(lp)
	case world.DataPassage:
		k.Interfaces.Serve(ev.Source, ev.Time)
	case world.DataHandshake:
		k.HandleHandshake(int32(ev.Sequence), ev.Time)
	case world.DataServe:
		k.Processors.Serve(lp, ev.Time)
	}
}

// Withdrawn implements [engine.Withdrawer].
func (k *Kernel) Withdrawn(ev *engine.Event) bool {
	return ev.Data == world.DataHandshake && k.HandshakeWithdrawn(int32(ev.Sequence))
}

// Deliver implements [engine.Kernel].
func (k *Kernel) Deliver(src int, record []byte) {
	r := world.Reader{Rest: record[1:]}
	switch record[0] {
	case world.RecordMessage:
		k.DeliverMessage(src, r)
	case world.RecordRound:
		k.DeliverRound(src, r)
	case world.RecordAcknowledgement:
		k.Acknowledged(int32(r.U32()), vtime.Time(r.U64()))
		k.Engine.Consumed(src, len(record))
	case world.RecordRoundAcknowledgement:
		k.AgentAcknowledged(int32(r.U32()), vtime.Time(r.U64()))
		k.Engine.Consumed(src, len(record))
	case world.RecordReply, world.RecordData, world.RecordFree:
		k.DeliverAnswer(record[0], r)
		k.Engine.Consumed(src, len(record))
	case world.RecordRoundReply, world.RecordRoundData:
		k.DeliverRoundAnswer(record[0], r)
		k.Engine.Consumed(src, len(record))
	case world.RecordMatch:
		k.Processors.MatchFrom(resource.OfProgram, r)
		k.Engine.Consumed(src, len(record))
	case world.RecordRoundMatch:
		k.Processors.MatchFrom(resource.OfAgents, r)
		k.Engine.Consumed(src, len(record))
	default:
		if k.DeliverCollective(src, record, r) {
			k.Engine.Consumed(src, len(record))
		}
	}
}
