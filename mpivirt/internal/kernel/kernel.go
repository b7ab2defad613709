package kernel

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

// Kernel is the virtual MPI of one partition: it gives the engine's events their
// meaning. All of it belongs to the goroutine that runs the engine; ranks touch
// it only while the engine has resumed them.
type Kernel struct {
	eng        *engine.Engine
	config     *Config
	tgt        *network.Target
	body       Body
	lo, n      int // the partition: ranks lo to lo+n-1
	strict     bool
	noise      Noise
	ClocksOnly bool // no noise and no mailboxes: a compute phase does nothing but advance the clock

	Clock []vtime.Time   // by LP: its virtual time
	ports []network.Port // by LP; nil until the first is needed
	processing
	pointToPoint
	collecting
	failing  failing
	lose     func(err *RankError) // ends the run from any goroutine
	printing atomic.Bool          // a rank hands text to the output
	calling
	buffers  bufferPool
	comms    []*Communicator   // by index
	selfMade map[int32]*uint32 // by LP: how many communicators it has made of SELF
	freed    []*Communicator   // that all local members have given up
	contexts map[uint64]int32  // context -> index
	strays   map[uint64][][]byte
	groups   groupTable

	pollTime   vtime.Duration
	eagerLimit int64
	charges    bool                    // messages cost processors or ports something
	hasPorts   bool                    // what a message costs depends on those before it
	alike      bool                    // any two leaders of nodes are as far apart as any other two
	handed     Collective              // scratch: what the running LP hands to a collective
	Barrier    Collective              // what every Barrier hands in
	algorithms []collectives.Algorithm // by operation
	Running    int32                   // LP whose code runs, or ran last; none32 if that is over for sure
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
	Freed        = 0
	World        = 1
	Self         = 2
	noContext    = 0
	worldContext = 1
	selfContext  = 2
)

func newKernel(c *Config, eng *engine.Engine) *Kernel {
	lo, hi := eng.Range()
	k := &Kernel{
		eng: eng, config: c, tgt: c.Target, lo: lo, n: hi - lo, strict: c.Strict, noise: c.Noise, ClocksOnly: c.Noise == nil,
		contexts: map[uint64]int32{}, strays: map[uint64][][]byte{},
		pollTime: c.Target.PollTime(), eagerLimit: c.Target.EagerLimit(), charges: c.Target.Charges(), hasPorts: c.Target.HasPorts(),
	}
	k.alike = c.Target.LeadersUniform()
	k.Clock = Reserve[vtime.Time](k, k.n)
	if c.Target.ReceiverState() {
		k.newProcessors()
	}
	k.comms = append(k.comms, &Communicator{Group: strided(0, 1, 0)})
	k.addComm(worldContext, strided(0, 1, c.Target.Ranks()))
	k.addComm(selfContext, nil)
	k.algorithms = c.algorithms()
	k.Joiners.Hi = -1
	k.done, k.nobody = k.newDone(sendRequest), k.newDone(nobodyRequest)
	k.Completion.LP, k.towards = None, eng.Index()
	k.Timing, k.Running = stats.Untimed, None
	k.Barrier = Collective{Procedure: Barrier, Operation: collectives.Barrier}
	k.summary.tally.Start(k.n, c.Now)
	return k
}

func (k *Kernel) Global(lp int32) int32 { return int32(k.lo) + lp }

// Target returns the machine that is simulated.
func (k *Kernel) Target() *network.Target { return k.tgt }

// Seed returns the seed of the simulation.
func (k *Kernel) Seed() uint64 { return k.config.Seed }

// Record enters the length of a timed operation into the statistics of the run.
func (k *Kernel) Record(index int, operation string, d vtime.Duration) {
	k.summary.tally.Record(index, operation, d)
}

// Label returns the label for k.timing of an operation that is timed.
func (k *Kernel) Label(index int, operation string) int32 {
	return k.summary.tally.Label(index, operation)
}

// Communicator returns the one with an index; the freed one if it has been given up.
func (k *Kernel) Communicator(index int32) *Communicator {
	if c := k.comms[index]; c != nil {
		return c
	}
	return k.comms[Freed]
}

// local returns the local number of a rank, or false if another engine owns it.
func (k *Kernel) local(rank int) (int32, bool) {
	i := rank - k.lo
	return int32(i), uint(i) < uint(k.n)
}

// Activity notes that an LP did something other than polling.
func (k *Kernel) Activity(lp int32) {
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
func (k *Kernel) queueAgent(index int32) { k.eng.Ready(^index) }

// queue makes an instance go on.
func (k *Kernel) queue(inst *instance) { k.eng.Ready(k.item(task{instance: inst})) }

// item returns the item of the ready queue that stands for a task, once.
func (k *Kernel) item(t task) int32 {
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
func (k *Kernel) Run(item int32) {
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
func (k *Kernel) runTask(index int32) {
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
func (k *Kernel) RunRange(lo, hi int32) {
	if invariant.Enabled {
		k.checkClocks(lo, hi)
	}
	if k.Limited() || len(k.faults) > 0 {
		for i := lo; i < hi; i++ {
			k.resume(i)
		}
		return
	}
	k.eng.Statistics.Switches += uint64(hi - lo)
	k.Completion.Err = nil // that of an LP which has left a collective since
	k.body.ResumeRange(lo, hi)
	k.eng.Reached(k.Clock[lo])
}

// resume runs an LP whose wait, if it was in one, is over.
func (k *Kernel) resume(lp int32) {
	k.Completion.Err = nil
	if box := k.mailbox(lp); box != nil && box.wait.kind != notWaiting {
		k.finish(lp, box)
	}
	if invariant.Enabled {
		k.checkClocks(lp, lp+1)
		k.checkMailbox(lp)
		k.checkRoundQueue(lp)
	}
	if k.Limited() && k.dropped(lp) {
		return
	}
	if len(k.parked) > 0 {
		k.unpark(lp)
	}
	if len(k.faults) > 0 {
		k.takeFault(lp)
	}
	k.eng.Statistics.Switches++
	k.Running = lp
	if !k.body.Resume(int(lp)) {
		k.End(lp)
	}
	k.eng.Reached(k.Clock[lp])
}

// End notes that an LP has finished, unless it has failed.
func (k *Kernel) End(lp int32) {
	if k.HasFailed(lp) {
		return
	}
	if invariant.Enabled {
		k.checkClocks(lp, lp+1)
	}
	k.summary.finish(int(k.Global(lp)), k.Clock[lp])
	k.eng.Finished(1)
	k.closeBox(lp)
	k.closeRoundQueue(lp)
}

// Handle implements [engine.Kernel].
func (k *Kernel) Handle(ev engine.Event) {
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
func (k *Kernel) wake(lp int32, t vtime.Time) {
	k.Clock[lp] = t
	if k.strict {
		k.eng.Schedule(engine.Event{Time: t, Source: k.Global(lp), LP: k.Global(lp), Data: dataResume})
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
func (k *Kernel) Deliver(src int, record []byte) {
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

func (w *writer) u8(v byte) { w.b[0] = v; w.b = w.b[1:] }

func (w *writer) u32(v uint32) { binary.LittleEndian.PutUint32(w.b, v); w.b = w.b[4:] }

func (w *writer) u64(v uint64) { binary.LittleEndian.PutUint64(w.b, v); w.b = w.b[8:] }

type reader struct{ b []byte }

func (r *reader) u8() byte { v := r.b[0]; r.b = r.b[1:]; return v }

func (r *reader) u32() uint32 { v := binary.LittleEndian.Uint32(r.b); r.b = r.b[4:]; return v }

func (r *reader) u64() uint64 { v := binary.LittleEndian.Uint64(r.b); r.b = r.b[8:]; return v }
