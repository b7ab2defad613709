package mpivirt

import (
	"encoding/binary"
	"sync/atomic"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/stats"
	"gigarank/network"
	"gigarank/vtime"
)

// kernel is the virtual MPI of one partition: it gives the engine's events their
// meaning. All of it belongs to the goroutine that runs the engine; ranks touch
// it only while the engine has resumed them.
type kernel struct {
	eng    *engine.Engine
	config *Config
	tgt    *network.Target
	body   body
	lo, n  int // the partition: ranks lo to lo+n-1
	strict bool
	noise  Noise
	plain  bool // no noise and no mailboxes: a compute phase does nothing but advance the clock

	clock []vtime.Time   // by LP: its virtual time
	ports []network.Port // by LP; nil until the first is needed
	processing
	pointToPoint
	collecting
	failing  failing
	lose     func(err *RankError) // ends the run from any goroutine
	printing atomic.Bool          // a rank hands text to the output
	calling
	buffers  bufferPool
	comms    []*comm           // by index
	selfMade map[int32]*uint32 // by LP: how many communicators it has made of SELF
	freed    []*comm           // that all local members have given up
	contexts map[uint64]int32  // context -> index
	strays   map[uint64][][]byte
	groups   groupTable

	pollTime   vtime.Duration
	eagerLimit int64
	charges    bool                    // messages cost processors or ports something
	hasPorts   bool                    // what a message costs depends on those before it
	alike      bool                    // any two leaders of nodes are as far apart as any other two
	handed     collective              // scratch: what the running LP hands to a collective
	barrier    collective              // what every Barrier hands in
	algorithms []collectives.Algorithm // by operation
	running    int32                   // LP whose code runs, or ran last
	stepping   int32                   // event LP whose step runs, none32 if none
	stepped    int32                   // LPs up to it, exclusively, are to run a step one after the other
	called     call                    // the MPI call that the step made last
	concluded  Outcome                 // of the operation that the step ends with, 0 before it
	returning  bool                    // a rank has asked for its errors

	summary summary
	seen    []vtime.Time // with invariants: by LP, its clock when it was looked at last
}

// Data of timed events: what the kernel does at their time.
const (
	dataWait   = iota // look at the wait of the LP
	dataSettle        // let its receives from any source settle
	dataResume        // resume the LP, whose collective is over
	dataServe         // let the LP's processor begin what it can
)

// worldComm is the index of WORLD in every kernel, selfContext the context of
// every SELF: no message of it leaves its rank. freedComm stands in the place of
// those that a rank has freed: it has no members.
const (
	freedComm    = 0
	worldComm    = 1
	selfComm     = 2
	noContext    = 0
	worldContext = 1
	selfContext  = 2
)

func newKernel(c *Config, eng *engine.Engine) *kernel {
	lo, hi := eng.Range()
	k := &kernel{
		eng: eng, config: c, tgt: c.Target, lo: lo, n: hi - lo, strict: c.Strict, noise: c.Noise, plain: c.Noise == nil,
		contexts: map[uint64]int32{}, strays: map[uint64][][]byte{},
		pollTime: c.Target.PollTime(), eagerLimit: c.Target.EagerLimit(), charges: c.Target.Charges(), hasPorts: c.Target.HasPorts(),
	}
	k.alike = c.Target.LeadersUniform()
	k.clock = reserve[vtime.Time](k, k.n)
	if c.Target.ReceiverState() {
		k.newProcessors()
	}
	k.comms = append(k.comms, &comm{group: strided(0, 1, 0)})
	k.addComm(worldContext, strided(0, 1, c.Target.Ranks()))
	k.addComm(selfContext, nil)
	k.algorithms = c.algorithms()
	k.joiners.hi = -1
	k.done, k.nobody = k.newDone(sendRequest), k.newDone(nobodyRequest)
	k.completion.lp, k.towards = none32, eng.Index()
	k.timing, k.stepping, k.running = stats.Untimed, none32, none32
	k.barrier = collective{name: callBarrier, op: collectives.Barrier}
	k.summary.tally.Start(k.n, c.Now)
	return k
}

func (k *kernel) global(lp int32) int32 { return int32(k.lo) + lp }

// local returns the local number of a rank, or false if another engine owns it.
func (k *kernel) local(rank int) (int32, bool) {
	i := rank - k.lo
	return int32(i), uint(i) < uint(k.n)
}

// activity notes that an LP did something other than polling.
func (k *kernel) activity(lp int32) {
	if box := k.mailbox(lp); box != nil {
		box.polls = 0
	}
}

// Items of the ready queue are LPs from 0 on. Below come agents that can go on, ^index,
// and below ^taskItems instances that can, by their place in tasks.
const taskItems = 1 << 30

// task is an instance that is to be carried on as far as it gets.
type task struct {
	instance *instance
	stalled  bool // it had no room to send
}

// queueAgent makes an agent go on.
func (k *kernel) queueAgent(index int32) { k.eng.Ready(^index) }

// queue makes an instance go on.
func (k *kernel) queue(inst *instance) { k.eng.Ready(k.item(task{instance: inst})) }

// item returns the item of the ready queue that stands for a task, once.
func (k *kernel) item(t task) int32 {
	var index int32
	if n := len(k.idle); n > 0 {
		index = k.idle[n-1]
		k.idle = k.idle[:n-1]
		k.tasks[index] = t
	} else {
		index = int32(len(k.tasks))
		k.tasks = append(k.tasks, t)
	}
	return ^(taskItems + index)
}

// Run implements [engine.Kernel].
func (k *kernel) Run(item int32) {
	switch {
	case item >= 0:
		k.resume(item)
	case ^item < taskItems:
		k.runAgent(^item)
	default:
		k.runTask(^item - taskItems)
	}
}

// runTask carries out a task and forgets it.
func (k *kernel) runTask(index int32) {
	t := k.tasks[index]
	k.tasks[index] = task{}
	k.idle = append(k.idle, index)
	if t.stalled {
		t.instance.arrays.outbound.stalled = false
	}
	k.runBulk(t.instance)
}

// RunRange implements [engine.RangeRunner]. LPs that become ready together leave a
// collective or begin: none of them is in a wait that has to be finished.
func (k *kernel) RunRange(lo, hi int32) {
	if invariant.Enabled {
		k.checkClocks(lo, hi)
	}
	if k.limited() || len(k.faults) > 0 {
		for i := lo; i < hi; i++ {
			k.resume(i)
		}
		return
	}
	k.eng.Statistics.Switches += uint64(hi - lo)
	k.completion.err = nil // that of an LP which has left a collective since
	k.body.ResumeRange(lo, hi)
	k.eng.Reached(k.clock[lo])
}

// resume runs an LP whose wait, if it was in one, is over.
func (k *kernel) resume(lp int32) {
	k.completion.err = nil
	if box := k.mailbox(lp); box != nil && box.wait.kind != notWaiting {
		k.finish(lp, box)
	}
	if invariant.Enabled {
		k.checkClocks(lp, lp+1)
		k.checkMailbox(lp)
		k.checkRoundQueue(lp)
	}
	if k.limited() && k.dropped(lp) {
		return
	}
	if len(k.parked) > 0 {
		k.unpark(lp)
	}
	if len(k.faults) > 0 {
		k.takeFault(lp)
	}
	k.eng.Statistics.Switches++
	k.running = lp
	if !k.body.Resume(int(lp)) {
		k.end(lp)
	}
	k.eng.Reached(k.clock[lp])
}

// end notes that an LP has finished, unless it has failed.
func (k *kernel) end(lp int32) {
	if k.limited() && k.failing.failed[lp] {
		return
	}
	if invariant.Enabled {
		k.checkClocks(lp, lp+1)
	}
	k.summary.finish(int(k.global(lp)), k.clock[lp])
	k.eng.Finished(1)
	k.closeBox(lp)
	k.closeRoundQueue(lp)
}

// Handle implements [engine.Kernel].
func (k *kernel) Handle(ev engine.Event) {
	lp := ev.LP - int32(k.lo)
	switch ev.Data {
	case dataWait:
		if k.handleWait(lp, uint32(ev.Sequence), ev.Time) {
			k.resume(lp)
		}
	case dataSettle:
		if k.handleSettle(lp, ev.Time) {
			k.resume(lp)
		}
	case dataResume:
		k.resume(lp)
	case dataServe:
		k.now = ev.Time
		k.serve(lp, ev.Time)
	}
}

// wake resumes an LP whose collective is over at instant t.
func (k *kernel) wake(lp int32, t vtime.Time) {
	k.clock[lp] = t
	if k.strict {
		k.eng.Schedule(engine.Event{Time: t, Source: k.global(lp), LP: k.global(lp), Data: dataResume})
		return
	}
	k.eng.Ready(lp)
}

// Records between kernels: a byte that tells the kind, then fields of fixed size,
// little-endian.
const (
	recordMessage byte = iota
	recordAcknowledgement
	recordRound
	recordJoin
	recordRelease
	recordArray
	recordTree
	recordSplit
	recordFailed
	recordSignature
	recordMatch
	recordRoundAcknowledgement
	recordRoundMatch
)

// Deliver implements [engine.Kernel].
func (k *kernel) Deliver(src int, record []byte) {
	r := reader{record[1:]}
	switch record[0] {
	case recordMessage:
		k.deliverMessage(src, record, r)
	case recordRound:
		k.deliverRound(src, record, r)
	case recordAcknowledgement:
		k.acknowledged(int32(r.u32()), vtime.Time(r.u64()))
		k.eng.Consumed(src, len(record))
	case recordRoundAcknowledgement:
		k.agentAcknowledged(int32(r.u32()), vtime.Time(r.u64()))
		k.eng.Consumed(src, len(record))
	case recordMatch, recordRoundMatch:
		k.matchFrom(record[0], r)
		k.eng.Consumed(src, len(record))
	default:
		if k.deliverCollective(src, record, r) {
			k.eng.Consumed(src, len(record))
		}
	}
}

// writer and reader pack the fields of a record. The room is exact: a field too
// many panics.
type writer struct{ b []byte }

func (w *writer) u8(v byte)    { w.b[0] = v; w.b = w.b[1:] }
func (w *writer) u32(v uint32) { binary.LittleEndian.PutUint32(w.b, v); w.b = w.b[4:] }
func (w *writer) u64(v uint64) { binary.LittleEndian.PutUint64(w.b, v); w.b = w.b[8:] }

type reader struct{ b []byte }

func (r *reader) u8() byte    { v := r.b[0]; r.b = r.b[1:]; return v }
func (r *reader) u32() uint32 { v := binary.LittleEndian.Uint32(r.b); r.b = r.b[4:]; return v }
func (r *reader) u64() uint64 { v := binary.LittleEndian.Uint64(r.b); r.b = r.b[8:]; return v }
