package ptp

import (
	"slices"
	"unsafe"

	"gigarank/engine"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Under a model with state at the receiver, what a message costs depends on what else
// the receiver's CPU and interface do. Each rank then has a processor. It does one
// thing after the other, in the order of virtual time, and begins nothing before all
// arrivals up to that instant are known (EIT).
//
// What asks for the processor are operations and messages. The calls of a rank's
// program become operations in a queue: a computation, a send, the posting of a
// receive, a wait. The rank goes on without waiting for them, until it wants to know
// the outcome of one, or the time. The head of the queue may begin, and with it
// what each collective that the rank takes part in asks for. Messages ask from their
// arrival on, whether or not their receive is posted.
//
// Program order is that of Schedgen, LogGOPSim's generator of schedules. What comes
// after a blocking call requires its end, what comes after a nonblocking call its
// start. A Wait, Test or Probe is a computation of no length that requires what it
// asks for. A send begins when CPU and interface are free; until then the CPU serves
// messages. A receive is posted though the CPU is busy. What blocks in a receive that
// is over goes on at the match, and finds the CPU busy with the message.
//
// Of what can begin at the same instant, that goes first which was released first:
// a message when it was sent, an operation when those that it requires had started or
// ended. This is the order of creation in LogGOPSim's event list. Of what was released
// at the same instant, which LogGOPSim orders by its own course, a rank's own operations
// go first, then the message of the lower source rank, then the one that came first.
//
// A rendezvous frees its sender at the instant of the match, as in LogGOPSim. No effect
// is without delay, or there would be no lookahead: the sender's processor learns of it
// a picosecond later, when it has done all else of that instant, and then goes on at the
// instant of the match. So a processor may begin things at an instant that lies behind by
// as many picoseconds as matches have led to matches without time between them. When that
// comes to the slack, a nanosecond at most, time goes on.

// processing is what a kernel keeps under a model with state at the receiver.
type processing struct {
	Processors     []processor // by LP; nil under other models
	Now            vtime.Time  // of the event that is handled
	awaitedMatches int         // matches on other engines that are awaited
	leastAwaited   vtime.Time  // no such match is before this
}

// processor is what a rank's CPU and interface do and have to do.
type processor struct {
	State    network.Occupancy
	arrivals arrivals // messages that the CPU has not taken in
	matches  arrivals // of rendezvous and synchronous sends, on their way back
	active   []Operation
	queue    []Operation // of the program, behind the one that is active
	head     int         // of queue
	running  bool        // an operation of the program is active
	serving  bool        // the processor is in serve
	number   uint32      // counts operations and arrivals
	Released vtime.Time  // when what comes next in the program was released
	Sent     vtime.Time  // when the last message began to leave
	taken    vtime.Time  // when the last message began to be taken in
	armed    vtime.Time  // instant of the timed event that serves; Forever if none
}

// ProcessorBytes is the memory of a processor.
const ProcessorBytes = float64(unsafe.Sizeof(processor{}))

// operationKind is what an operation does.
type operationKind uint8

const (
	opCompute operationKind = iota
	opSend
	opPost    // post a receive
	opTake    // receive the message of a matched probe
	opWait    // be over with the wait of the mailbox
	OpRound   // of an agent: send the message of its round
	OpReceive // of an agent: receive the message of its round, which was there before
	OpCombine // of an agent: combine what it has received

	// These take no part in the order: each is carried out at once when all before it
	// have begun.
	OpCall   // call a function
	opResume // let the rank go on
	opEnd    // the rank has finished
)

// Operation is something that a rank's program or an agent asks of the processor.
type Operation struct {
	Kind     operationKind
	direct   bool // a wait: what comes after requires what is waited for itself
	number   uint32
	Index    int32 // send, take: the message; agents: the agent
	request  int32
	dst      int32
	Ready    vtime.Time
	Released vtime.Time
	Length   vtime.Duration
	Late     func() // opCall
}

// newProcessors makes the processors of a partition, for a model that needs them.
func (k *Messages) newProcessors() {
	k.ClocksOnly = false
	k.Processors = make([]processor, k.Ranks)
	for i := range k.Processors {
		k.Processors[i].armed = vtime.Forever
	}
}

// Operate enters an operation of the LP's program.
func (k *Messages) Operate(lp int32, op Operation) {
	p := &k.Processors[lp]
	switch {
	case p.running:
		p.queue = append(p.queue, op)
	case op.Kind >= OpCall:
		k.atOnce(lp, &op)
	default:
		k.activate(lp, p, op)
	}
}

// activate makes an operation of the program the next one to begin.
func (k *Messages) activate(lp int32, p *processor, op Operation) {
	p.running = true
	op.Ready, op.Released = k.Clock[lp], p.Released
	k.Ask(lp, p, op)
}

// Ask lets an operation ask for the processor.
func (k *Messages) Ask(lp int32, p *processor, op Operation) {
	p.number++
	op.number = p.number
	p.active = append(p.active, op)
	k.nudge(lp)
}

// Behind reports whether an LP has begun what has not taken its time on its processor.
func (k *Messages) Behind(lp int32) bool { return k.Processors != nil && k.Processors[lp].running }

// Postpone has an LP resumed once all that it began has begun; its clock then shows
// what that took. It reports false if there is nothing to wait for.
func (k *Messages) Postpone(lp int32) bool {
	if !k.Behind(lp) {
		return false
	}
	k.Operate(lp, Operation{Kind: opResume})
	return true
}

// PostponeEnd has an LP end once all that it began has begun. It reports false if that is
// so.
func (k *Messages) PostponeEnd(lp int32) bool {
	if !k.Behind(lp) {
		return false
	}
	k.Operate(lp, Operation{Kind: opEnd})
	return true
}

// crowded reports whether a program has begun so much that it ought to wait.
func (p *processor) crowded() bool { return len(p.queue)-p.head > 1000 }

// nudge lets a processor look again what it can begin.
func (k *Messages) nudge(lp int32) {
	p := &k.Processors[lp]
	if p.serving {
		return
	}
	k.expect(lp, p, k.first(lp, p))
}

// arm has a processor served at an instant.
func (k *Messages) arm(lp int32, p *processor, t vtime.Time) {
	p.armed = max(t, k.Now)
	k.Engine.Schedule(engine.Event{Time: p.armed, Source: k.Global(lp), LP: k.Global(lp), Data: world.DataServe})
}

// Serve lets a processor begin what it can at an instant up to which all arrivals are
// known.
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

// TakeUp goes on with the processor of an LP whose code has unwound the engine's goroutine,
// and with that what the processor was about to do.
func (k *Messages) TakeUp(lp int32) {
	if k.Processors == nil || !k.Processors[lp].serving {
		return
	}
	p := &k.Processors[lp]
	p.serving = false
	k.drain(lp, p)
	k.nudge(lp)
}

// drain goes on with what the program has asked for, as long as nothing of it takes time.
func (k *Messages) drain(lp int32, p *processor) {
	for !p.running && p.head < len(p.queue) {
		k.Operate(lp, p.dequeue())
	}
}

// expect has a processor served when it can begin something.
func (k *Messages) expect(lp int32, p *processor, b beginning) {
	switch {
	case b.at < p.armed:
		k.arm(lp, p, b.at)
	case b.at == vtime.Forever:
		k.checkInterface(lp, p)
	}
}

// checkInterface notes it if a message waits for an interface that is not free again
// before the end of virtual time.
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
			k.PastEnd(int(k.Global(lp)), max(op.Ready, p.Sent), k.Requests.At(op.request).Procedure, "a message to rank %d", op.dst)
		case op.Kind == OpRound:
			if _, c, round, live := k.above.AgentCall(op.Index); live {
				k.PastEnd(int(k.Global(lp)), max(op.Ready, p.Sent), c, "a message of round %d", round)
			}
		}
	}
}

// begins carries an operation out.
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
		k.above.Combined(op.Index, at)
		k.resumePolling(lp, p, at)
		return
	case opCompute:
		p.State.CPU = at.Add(k.lengthened(lp, at, op.Length))
		if p.State.CPU == vtime.Forever {
			k.PastEnd(int(k.Global(lp)), at, world.Compute, "%v of computing", op.Length)
		}
	case opSend:
		k.sendAt(lp, p, op, at)
	case opPost:
		k.postAt(lp, op.request, at)
	case opTake:
		k.Requests.At(op.request).posted = at
		k.take(lp, k.Box(lp), op.request, op.Index)
	}
	p.running = false
	p.Released = at
	k.Clock[lp] = max(k.Clock[lp], p.State.CPU, at)
	if op.Kind == opWait {
		k.endWait(lp)
	}
	k.drain(lp, p)
}

// dequeue takes the next operation of the program out of the queue.
func (p *processor) dequeue() Operation {
	op := p.queue[p.head]
	p.queue[p.head] = Operation{}
	if p.head++; p.head == len(p.queue) {
		p.queue, p.head = p.queue[:0], 0
	}
	return op
}

// atOnce carries out an operation that takes no part in the order.
func (k *Messages) atOnce(lp int32, op *Operation) {
	switch op.Kind {
	case OpCall:
		op.Late()
	case opResume:
		k.above.Resume(lp)
	case opEnd:
		k.above.End(lp)
	}
}

// endWait ends the wait of an LP at its clock.
func (k *Messages) endWait(lp int32) {
	box := k.Box(lp)
	w := &box.Wait
	w.at, w.queued = k.Clock[lp], true
	if w.Kind == WaitProbe {
		w.message = k.probed(box, w.at)
	}
	k.above.Resume(lp)
}

// postponeSend enters a send that an LP has called, and returns its request.
func (k *Messages) postponeSend(lp int32, m *message, dst int, payload []byte, c world.Procedure) int32 {
	request := m.request
	if request == 0 {
		request = k.NewRequest(lp, SendRequest, c)
	}
	m.payload = k.KeepPayload(payload)
	index := k.messages.Take()
	*k.messages.At(index) = *m
	k.Operate(lp, Operation{Kind: opSend, Index: index, request: request, dst: int32(dst)})
	return request
}

// sendAt sends a message. An eager send is over when it has begun.
func (k *Messages) sendAt(lp int32, p *processor, op *Operation, at vtime.Time) {
	m := *k.messages.At(op.Index)
	payload := m.payload
	m.payload = nil
	k.messages.Release(op.Index)
	k.Target.Depart(&p.State, m.bytes, at)
	p.Sent = at
	m.arrival = at.Add(k.Target.Latency(int(m.rank), int(op.dst)))
	if max(p.State.CPU, m.arrival) == vtime.Forever {
		k.PastEnd(int(m.rank), at, k.Requests.At(op.request).Procedure, "a message of %d bytes to rank %d", m.bytes, op.dst)
	}
	if m.request == 0 {
		k.CompleteRequest(op.request, at)
	}
	k.Engine.Statistics.Messages++
	k.dispatch(&m, int(op.dst), at, payload)
	if payload != nil {
		k.Buffers.Release(payload)
	}
}

// postAt posts a receive. All messages that have been taken in are known, in their
// order: the first one that matches is its, from whatever source.
func (k *Messages) postAt(lp int32, ri int32, at vtime.Time) {
	box, r := k.Box(lp), k.Requests.At(ri)
	r.posted = at
	previous, index := k.firstUnexpected(box, r)
	if index != 0 {
		k.unlink(box, previous, index)
		k.take(lp, box, ri, index)
		return
	}
	if r.Peer == world.AnySource {
		box.wildcards++
	}
	box.posted.appendRequest(&k.Requests, ri)
}
