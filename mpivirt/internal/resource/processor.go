package resource

import (
	"slices"
	"unsafe"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Under a model with state at the receiver, the cost of a message depends on the other work of the
// receiver's CPU and interface. Each rank then has a processor. It does one thing after another, in
// the order of virtual time. It begins nothing before all arrivals up to that instant are known
// (EIT).
//
// A processor serves operations and messages. The calls of a rank's program become operations in a
// queue: a computation, a send, the posting of a receive, a wait. The rank goes on without waiting
// for its operations, until it needs the outcome of an operation, or the time. The head of the
// queue may begin, and one operation of each collective that the rank takes part in. Messages may
// begin from their arrival on, whether or not their receive is posted.
//
// Program order is that of Schedgen, LogGOPSim's generator of schedules. An operation after a
// blocking call requires the end of that call, an operation after a nonblocking call its start. A
// Wait, Test or Probe is a computation of no length that requires the requests it names. A send
// begins when CPU and interface are free; until then the CPU serves messages. A receive is posted
// even if the CPU is busy. A blocking receive ends at the match, with the CPU busy with the
// message.
//
// Of all uses that can begin at one instant, the use released first begins first. A message is
// released when it is sent, an operation when the operations that it requires have started or
// ended. A computation releases the operations that require its end when it begins: the length is known then, and
// LogGOPSim marks an OP_LOCOP as done. This is the order of creation in LogGOPSim's event list. For equal releases LogGOPSim has
// no rule. Here the operation of the rank's program goes first, then the operations of its
// collectives in the order of their calls, then messages by source rank, and messages of one source
// in the order of sending.
//
// A rendezvous frees its sender at the instant of the match, as in LogGOPSim. Without any delay
// there would be no lookahead. So the match reaches the sender's processor a picosecond later,
// after all other events of that instant, and the sender goes on at the instant of the match. A
// processor may thus begin uses in the past, by a picosecond for each match that leads to a match
// without time in between. The slack, a nanosecond at most, bounds that.

// Processors are the processors of an engine's ranks.
type Processors struct {
	all     []Processor // by LP
	turns   Turns
	program Program
	works   [2]Work    // by owner
	at      vtime.Time // instant at which the processor examined last can begin a use
	choice  int        // choice of that use; see beginning
	op      Operation  // scratch: the operation that begins

	awaitedMatches int            // matches on other engines that are pending
	leastAwaited   vtime.Time     // lower bound of the times of these matches
	pollTime       vtime.Duration // of a failing poll
	disturbed      func()         // see Disturbed
	unmatched      int            // messages of local ranks whose senders wait for the match
	holds          int            // processors that are held
	least          vtime.Duration // of a message

	partition *world.Partition
}

// Processor is the state and the work of a rank's CPU and network interface.
type Processor struct {
	Turn
	State    network.Occupancy
	arrivals arrivals // messages that the CPU has not yet taken in
	matches  arrivals // matches of rendezvous and synchronous sends, on their way back
	active   []Operation
	queue    []Operation // operations of the program behind the active one
	head     int32       // of queue
	running  bool        // an operation of the program is active
	held     bool        // what reaches the processor is told; see Hold
	number   uint32      // counts arrivals
	Calls    uint32      // counts the rank's calls of collectives
	Released vtime.Time  // release of the program's next operation
	Sent     vtime.Time  // start of the latest send
	taken    vtime.Time  // start of taking in the latest message
}

// New returns the processors of a partition's ranks, idle. The program's work is that of point-to-point messages.
func New(p *world.Partition, program Program) *Processors {
	x := &Processors{all: make([]Processor, p.Ranks), program: program, partition: p, pollTime: p.Target.PollTime()}
	x.works[OfProgram] = program
	for i := range x.all {
		x.all[i].armed = vtime.Forever
	}
	n := p.Target.Ranks()
	x.least = p.Target.Lookahead(0, n, 0, n)
	x.turns = Turns{partition: p, uses: (*occupations)(x), data: world.DataServe, slack: SlackOn(p.Target)}
	return x
}

// Carries sets the Work that carries out an owner's operations and messages.
func (x *Processors) Carries(owner Owner, work Work) { x.works[owner] = work }

// Of returns the processor of an LP.
func (x *Processors) Of(lp int32) *Processor { return &x.all[lp] }

// Operate appends an operation to the queue of the LP's program.
func (x *Processors) Operate(lp int32, op Operation) {
	p := &x.all[lp]
	switch {
	case p.running:
		p.queue = append(p.queue, op)
	case op.Need == Order:
		if op.Function != nil {
			op.Function()
		} else {
			x.program.Pass(lp, op.Kind)
		}
	default:
		p.running = true
		op.Earliest, op.Released = x.partition.Clock[lp], p.Released
		x.Ask(lp, op)
	}
}

// Ask adds an agent's operation to the operations that may begin.
func (x *Processors) Ask(lp int32, op Operation) {
	p := &x.all[lp]
	p.active = append(p.active, op)
	x.turns.after(lp, &p.Turn)
}

// Look has the processor of an LP recompute, after a change, when its next use can begin.
func (x *Processors) Look(lp int32) { x.turns.after(lp, &x.all[lp].Turn) }

// Behind reports whether an LP has started operations that have not all begun.
func (x *Processors) Behind(lp int32) bool { return x.all[lp].running }

// QueueFull reports whether the queue of the LP's program is so long that the rank must wait.
func (x *Processors) QueueFull(lp int32) bool {
	p := &x.all[lp]
	return len(p.queue)-int(p.head) > 1000
}

// Serve begins what a processor can begin at now. All arrivals up to now are known.
func (x *Processors) Serve(lp int32, now vtime.Time) { x.turns.serve(lp, &x.all[lp].Turn, now) }

// Anew restarts virtual time at an instant.
func (x *Processors) Anew(from vtime.Time) { x.turns.Anew(from) }

// TakeUp continues the processor of an LP whose code has unwound the engine's goroutine, and with
// it the service of the processor.
func (x *Processors) TakeUp(lp int32) {
	p := &x.all[lp]
	if !p.Serving() {
		return
	}
	p.interrupted()
	x.drain(lp, p)
	x.turns.after(lp, &p.Turn)
}

// Untaken calls visit for each message of an owner that no processor has taken in.
func (x *Processors) Untaken(owner Owner, visit func(lp, index int32)) {
	for lp := range x.all {
		for _, a := range x.all[lp].arrivals {
			if a.Owner == owner {
				visit(int32(lp), a.Index)
			}
		}
	}
}

// drain starts the operations in the program's queue up to the first operation that takes time.
func (x *Processors) drain(lp int32, p *Processor) {
	for !p.running && int(p.head) < len(p.queue) {
		x.Operate(lp, p.dequeue())
	}
}

// occupations are the uses of processors: operations, messages and matches.
type occupations Processors

func (o *occupations) next(lp int32) vtime.Time {
	x := (*Processors)(o)
	p := &x.all[lp]
	b := x.first(lp, p)
	if b.at == vtime.Forever {
		x.checkInterface(lp, p)
	}
	x.at, x.choice = b.at, b.choice
	return b.at
}

func (o *occupations) begin(lp int32) {
	x := (*Processors)(o)
	p := &x.all[lp]
	switch x.choice {
	case matchChoice:
		m := p.matches.pop()
		x.works[m.Owner].Matched(m.Index, m.Released)
	case messageChoice:
		x.takeIn(lp, p, x.at)
	default:
		x.op = p.active[x.choice]
		p.active = slices.Delete(p.active, x.choice, x.choice+1)
		x.begins(lp, p, &x.op, x.at)
	}
}

// begins carries out an operation at an instant.
func (x *Processors) begins(lp int32, p *Processor, op *Operation, at vtime.Time) {
	owner, need := op.Owner, op.Need
	begun := x.works[owner].Begin(lp, p, op, at)
	switch {
	case owner != OfProgram:
		if need != Nothing {
			x.resumePolling(lp, p, at)
		}
		return
	case !begun:
		p.active = append(p.active, *op)
		return
	}
	p.running = false
	p.Released = at
	clock := &x.partition.Clock[lp]
	*clock = max(*clock, p.State.CPU, at)
	if need == End {
		x.program.Ended(lp)
	}
	x.drain(lp, p)
}

// dequeue removes and returns the next operation of the program's queue.
func (p *Processor) dequeue() Operation {
	op := p.queue[p.head]
	p.queue[p.head] = Operation{}
	if p.head++; int(p.head) == len(p.queue) {
		p.queue, p.head = p.queue[:0], 0
	}
	return op
}

// checkInterface records a failure if a message waits for an interface that stays busy until the
// end of virtual time.
func (x *Processors) checkInterface(lp int32, p *Processor) {
	k := x.partition
	rank := int(k.Global(lp))
	if len(p.arrivals) > 0 && p.State.Receive == vtime.Forever {
		a := &p.arrivals[0]
		work := x.works[a.Owner]
		k.PastEnd(rank, max(a.At, p.taken), work.CallOf(lp, a.Index), "a message of %s from rank %d", spelling.Count(work.Size(a.Index), "byte"), a.Source)
	}
	if p.State.Send < vtime.Forever {
		return
	}
	for i := range p.active {
		op := &p.active[i]
		if op.Need != Interface {
			continue
		}
		if c, message, live := x.works[op.Owner].Leaving(op); live {
			k.PastEnd(rank, max(op.Earliest, p.Sent), c, "%s", message)
		}
	}
}

// Sizes in bytes of the values that processors hold.
const (
	ProcessorBytes = int(unsafe.Sizeof(Processor{}))
	ArrivalBytes   = int(unsafe.Sizeof(Arrival{}))
	OperationBytes = int(unsafe.Sizeof(Operation{}))
)
