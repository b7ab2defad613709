package ptp

import (
	"slices"

	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Under a model with state at the receiver, the cost of a message depends on what else the
// receiver's CPU and interface do. Each rank then has a processor. It does one thing after
// the other, in the order of virtual time. It begins nothing before all arrivals up to that
// instant are known (EIT).
//
// A processor serves operations and messages. The calls of a rank's program become
// operations in a queue: a computation, a send, the posting of a receive, a wait. The rank
// goes on without waiting for them, until it needs the outcome of one, or the time. The head
// of the queue may begin, and one operation of each collective that the rank takes part in.
// Messages may begin from their arrival on, whether or not their receive is posted.
//
// Program order is that of Schedgen, LogGOPSim's generator of schedules. An operation after a
// blocking call requires the end of that call, one after a nonblocking call its start. A Wait,
// Test or Probe is a computation of no length that requires what it names. A send begins when
// CPU and interface are free; until then the CPU serves messages. A receive is posted though
// the CPU is busy. A blocking receive ends at the match, with the CPU busy with the message.
//
// Of all that can begin at the same instant, the one released first goes first. A message is
// released when it is sent, an operation when those that it requires have started or ended.
// This is the order of creation in LogGOPSim's event list. For equal releases LogGOPSim has no
// rule. Here the operation of the rank's program goes first, then those of its collectives in the
// order of their calls, then messages by source rank, those of one source in the order of sending.
//
// A rendezvous frees its sender at the instant of the match, as in LogGOPSim. Without any
// delay there would be no lookahead. So the sender's processor learns of the match a
// picosecond later, after all else of that instant, and goes on at the instant of the match.
// A processor may thus begin things in the past, by a picosecond for each match that leads
// to a match without time between them. The slack, a nanosecond at most, bounds that.

// processing is the state of a partition under a model with state at the receiver.
type processing struct {
	Processors     []processor // by LP; nil under other models
	Now            vtime.Time  // of the event that is handled
	awaitedMatches int         // matches on other engines that are pending
	leastAwaited   vtime.Time  // lower bound of their times
}

// processor is the state and the work of a rank's CPU and network interface.
type processor struct {
	State    network.Occupancy
	arrivals arrivals // messages that the CPU has not taken in
	matches  arrivals // of rendezvous and synchronous sends, on their way back
	active   []Operation
	queue    []Operation // of the program, behind the one that is active
	head     int32       // of queue
	running  bool        // an operation of the program is active
	serving  bool        // the processor is in serve
	number   uint32      // counts arrivals
	Calls    uint32      // counts the rank's calls of collectives
	Released vtime.Time  // release of the program's next operation
	Sent     vtime.Time  // start of the latest send
	taken    vtime.Time  // start of taking in the latest message
	begun    vtime.Time  // latest instant at which something began
	armed    vtime.Time  // instant of the timed event that serves; Forever if none
}

// operationKind is what an operation does.
type operationKind uint8

// The kinds of operations.
const (
	opCompute operationKind = iota
	opSend
	opPost    // post a receive
	opTake    // receive the message of a matched probe
	opWait    // end the wait of the mailbox
	OpRound   // of an agent: send the message of its round
	OpReceive // of an agent: receive the message of its round, which came before
	OpCombine // of an agent: combine what it has received

	// These take no part in the order. Each is carried out once all before it have begun.
	OpFunction // call a function
	opResume   // let the rank go on
	opEnd      // the rank has finished
)

// Operation is work of a rank's program, or of an agent, for the processor.
type Operation struct {
	Kind     operationKind
	direct   bool            // a wait of a blocking call: it ends with the request, busy CPU or not
	call     world.Procedure // of a send
	Call     uint32          // agents: number of the rank's call
	Index    int32           // send, take: the message; agents: the agent
	request  int32           // of a send: 0 if nobody waits for it
	dst      int32
	Earliest vtime.Time     // earliest start
	Released vtime.Time     // order among equal starts
	Length   vtime.Duration // of a computation
	Function func()         // OpFunction: it is called
}

// newProcessors makes the processors of a partition.
func (k *Messages) newProcessors() {
	k.ClocksOnly = false
	k.Processors = make([]processor, k.Ranks)
	for i := range k.Processors {
		k.Processors[i].armed = vtime.Forever
	}
}

// Operate appends an operation to the queue of the LP's program.
func (k *Messages) Operate(lp int32, op Operation) {
	p := &k.Processors[lp]
	switch {
	case p.running:
		p.queue = append(p.queue, op)
	case op.Kind >= OpFunction:
		k.atOnce(lp, &op)
	default:
		k.activate(lp, p, op)
	}
}

// activate makes an operation the head of the program's queue, which may begin.
func (k *Messages) activate(lp int32, p *processor, op Operation) {
	p.running = true
	op.Earliest, op.Released = k.Clock[lp], p.Released
	k.Ask(lp, p, op)
}

// Ask adds an operation to those that may begin.
func (k *Messages) Ask(lp int32, p *processor, op Operation) {
	p.active = append(p.active, op)
	k.nudge(lp)
}

// Behind reports whether an LP has started operations that have not all begun.
func (k *Messages) Behind(lp int32) bool { return k.Processors != nil && k.Processors[lp].running }

// Postpone has an LP resumed once all operations that it has started have begun. Its clock
// then includes them. It reports false if there are none.
func (k *Messages) Postpone(lp int32) bool {
	if !k.Behind(lp) {
		return false
	}
	k.Operate(lp, Operation{Kind: opResume})
	return true
}

// PostponeEnd has an LP end once all operations that it has started have begun. It reports
// false if there are none.
func (k *Messages) PostponeEnd(lp int32) bool {
	if !k.Behind(lp) {
		return false
	}
	k.Operate(lp, Operation{Kind: opEnd})
	return true
}

// crowded reports whether the program's queue is so long that the rank must wait.
func (p *processor) crowded() bool { return len(p.queue)-int(p.head) > 1000 }

// nudge arms a processor for what it can begin next, after a change.
func (k *Messages) nudge(lp int32) {
	p := &k.Processors[lp]
	if p.serving {
		return
	}
	k.expect(lp, p, k.first(lp, p))
}

// arm schedules the timed event that serves a processor at an instant.
func (k *Messages) arm(lp int32, p *processor, t vtime.Time) {
	p.armed = max(t, k.Now)
	k.Engine.Schedule(engine.Event{Time: p.armed, Source: k.Global(lp), LP: k.Global(lp), Data: world.DataServe})
}

// Serve begins what a processor can begin at now. All arrivals up to now are known.
func (k *Messages) Serve(lp int32, now vtime.Time) {
	p := &k.Processors[lp]
	if p.armed != now {
		return
	}
	p.armed, p.serving = vtime.Forever, true
	b := k.first(lp, p)
	for ; b.at <= now; b = k.first(lp, p) {
		if invariant.Enabled && b.at < now.Add(-k.slack()) {
			invariant.Broken("the processor of rank %d begins something at %v, and it is %v", k.Global(lp), b.at, now)
		}
		p.begun = max(p.begun, b.at)
		switch b.choice {
		case matchChoice:
			m := p.matches.pop()
			if m.Round {
				k.above.AgentAcknowledged(m.Index, m.Released)
			} else {
				k.CompleteRequest(m.Index, m.Released)
			}
		case messageChoice:
			k.takeIn(lp, p, b.at)
		default:
			op := p.active[b.choice]
			p.active = slices.Delete(p.active, b.choice, b.choice+1)
			k.begins(lp, p, &op, b.at)
		}
	}
	p.serving = false
	k.expect(lp, p, b)
}

// TakeUp continues the processor of an LP whose code has unwound the engine's goroutine, and
// with it the service of the processor.
func (k *Messages) TakeUp(lp int32) {
	if k.Processors == nil || !k.Processors[lp].serving {
		return
	}
	p := &k.Processors[lp]
	p.serving = false
	k.drain(lp, p)
	k.nudge(lp)
}

// drain starts the operations in the program's queue up to the first that takes time.
func (k *Messages) drain(lp int32, p *processor) {
	for !p.running && int(p.head) < len(p.queue) {
		k.Operate(lp, p.dequeue())
	}
}

// expect arms a processor for its next beginning.
func (k *Messages) expect(lp int32, p *processor, b beginning) {
	switch {
	case b.at < p.armed:
		k.arm(lp, p, b.at)
	case b.at == vtime.Forever:
		k.checkInterface(lp, p)
	}
}

// checkInterface records a failure if a message waits for an interface that stays busy to
// the end of virtual time.
func (k *Messages) checkInterface(lp int32, p *processor) {
	if len(p.arrivals) > 0 && p.State.Receive == vtime.Forever {
		a := &p.arrivals[0]
		k.PastEnd(int(k.Global(lp)), max(a.At, p.taken), k.callFor(lp, a), "a message of %d bytes from rank %d", k.bytesOf(a), a.Source)
	}
	for i := range p.active {
		op := &p.active[i]
		switch {
		case p.State.Send < vtime.Forever:
		case op.Kind == opSend:
			k.PastEnd(int(k.Global(lp)), max(op.Earliest, p.Sent), op.call, "a message to rank %d", op.dst)
		case op.Kind == OpRound:
			if _, c, round, live := k.above.AgentCall(op.Index); live {
				k.PastEnd(int(k.Global(lp)), max(op.Earliest, p.Sent), c, "a message of round %d", round)
			}
		}
	}
}

// begins carries out an operation at an instant.
func (k *Messages) begins(lp int32, p *processor, op *Operation, at vtime.Time) {
	switch op.Kind {
	case OpRound:
		k.above.SendRoundAt(lp, op.Index, at)
		k.resumePolling(lp, p, at)
		return
	case OpReceive:
		k.above.ReceiveRoundAt(op.Index, at)
		return
	case OpCombine:
		p.State.CPU = at.Add(op.Length)
		if p.State.CPU == vtime.Forever {
			_, c, _, _ := k.above.AgentCall(op.Index)
			k.PastEnd(int(k.Global(lp)), at, c, "%v of combining", op.Length)
		}
		if k.Activities != nil {
			k.Computed(op.Length)
		}
		k.above.Combined(op.Index, at)
		k.resumePolling(lp, p, at)
		return
	case opCompute:
		p.State.CPU = at.Add(k.lengthened(lp, at, op.Length))
		if p.State.CPU == vtime.Forever {
			k.PastEnd(int(k.Global(lp)), at, world.Compute, "%v of computing", op.Length)
		}
		if k.Activities != nil {
			k.Computed(vtime.Duration(p.State.CPU - at))
		}
	case opSend:
		k.sendAt(lp, p, op, at)
	case opPost:
		k.postAt(lp, op.request, at)
	case opTake:
		k.Requests.At(op.request).posted = at
		k.take(lp, k.Box(lp), op.request, op.Index)
	case opWait:
		if w := &k.Box(lp).Wait; w.ofKept() && k.looksThrough(lp, w, at) {
			p.active = append(p.active, *op) // it may begin at another instant
			return
		}
		if k.absorbed(lp, op) { // the polls before this one have failed
			k.skipped(op.Earliest, at)
			p.State.CPU = max(p.State.CPU, at)
		}
	}
	p.running = false
	p.Released = at
	k.Clock[lp] = max(k.Clock[lp], p.State.CPU, at)
	if op.Kind == opWait {
		k.endWait(lp)
	}
	k.drain(lp, p)
}

// dequeue removes and returns the next operation of the program's queue.
func (p *processor) dequeue() Operation {
	op := p.queue[p.head]
	p.queue[p.head] = Operation{}
	if p.head++; int(p.head) == len(p.queue) {
		p.queue, p.head = p.queue[:0], 0
	}
	return op
}

// atOnce carries out an operation that takes no part in the order.
func (k *Messages) atOnce(lp int32, op *Operation) {
	switch op.Kind {
	case OpFunction:
		op.Function()
	case opResume:
		k.above.Resume(lp)
	case opEnd:
		k.above.End(lp)
	}
}

// endWait ends the wait of an LP at its clock, and resumes the LP.
func (k *Messages) endWait(lp int32) {
	box := k.Box(lp)
	w := &box.Wait
	w.at, w.queued = k.Clock[lp], true
	if w.Kind == WaitProbe {
		w.Subject = k.probed(box, w.at)
	}
	k.above.Resume(lp)
}

// postponeSend queues a send of an LP and returns its request. An eager send in a call that blocks
// has none, and the LP goes on: what it does next is queued behind the send, and the call ends when that
// begins.
func (k *Messages) postponeSend(lp, index int32, dst int, c world.Procedure) int32 {
	m := k.messages.At(index)
	request := m.request
	switch {
	case request != 0:
	case !c.Sends():
		request = k.NewRequest(lp, SendRequest, c)
	case k.Completion.LP == lp: // of the call before: it holds what that has received
		k.NewCompletion(lp).LP = world.None
	}
	if m.view && !(m.lent && m.request != 0) {
		k.keepOwn(m)
	}
	k.Operate(lp, Operation{Kind: opSend, call: c, Index: index, request: request, dst: int32(dst)})
	return request
}

// sendAt sends a message at an instant. An eager send is complete then.
func (k *Messages) sendAt(lp int32, p *processor, op *Operation, at vtime.Time) {
	m := k.messages.At(op.Index)
	k.Target.Depart(&p.State, m.bytes, at)
	p.Sent = at
	m.arrival = at.Add(k.Target.Latency(int(m.rank), int(op.dst)))
	if max(p.State.CPU, m.arrival) == vtime.Forever {
		k.PastEnd(int(m.rank), at, op.call, "a message of %d bytes to rank %d", m.bytes, op.dst)
	}
	if m.request == 0 && op.request != 0 {
		k.CompleteRequest(op.request, at)
	}
	if k.Activities != nil {
		k.DepartedAt(at, p.State.CPU, m.arrival)
	}
	k.Engine.Statistics.Messages++
	k.dispatch(op.Index, int(op.dst), at)
}

// postAt posts a receive at an instant. It takes the first matching message of those taken
// in so far, from any source, since all of them are known in their order.
func (k *Messages) postAt(lp int32, ri int32, at vtime.Time) {
	box, r := k.Box(lp), k.Requests.At(ri)
	r.posted = at
	if index := k.leastMessage(box, r.pattern()); index != 0 {
		k.removeUnexpected(box, index)
		k.take(lp, box, ri, index)
		return
	}
	k.addPosted(box, ri)
}
