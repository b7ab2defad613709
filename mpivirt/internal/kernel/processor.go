package kernel

import (
	"slices"

	"gigarank/engine"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/stats"
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
	processors []processor // by LP; nil under other models
	now        vtime.Time  // of the event that is handled
	unanswered int         // matches on other engines that are awaited
	answered   vtime.Time  // no such match is before this
}

// processor is what a rank's CPU and interface do and have to do.
type processor struct {
	state    network.Occupancy
	arrivals arrivals // messages that the CPU has not taken in
	matches  arrivals // of rendezvous and synchronous sends, on their way back
	active   []operation
	queue    []operation // of the program, behind the one that is active
	head     int         // of queue
	running  bool        // an operation of the program is active
	serving  bool        // the processor is in serve
	number   uint32      // counts operations and arrivals
	released vtime.Time  // when what comes next in the program was released
	sent     vtime.Time  // when the last message began to leave
	taken    vtime.Time  // when the last message began to be taken in
	armed    vtime.Time  // instant of the timed event that serves; Forever if none
}

// operationKind is what an operation does.
type operationKind uint8

const (
	opCompute operationKind = iota
	opSend
	opPost    // post a receive
	opTake    // receive the message of a matched probe
	opWait    // be over with the wait of the mailbox
	opRound   // of an agent: send the message of its round
	opReceive // of an agent: receive the message of its round, which was there before
	opCombine // of an agent: combine what it has received

	// These take no part in the order: each is carried out at once when all before it
	// have begun.
	opEnter  // enter a collective
	opFree   // give a communicator up
	opResume // let the rank go on
	opEnd    // the rank has finished
	opFail   // the rank has failed
)

// operation is something that a rank's program or an agent asks of the processor.
type operation struct {
	kind     operationKind
	direct   bool // a wait: what comes after requires what is waited for itself
	number   uint32
	index    int32 // send, take: the message; agents: the agent
	request  int32
	dst      int32
	ready    vtime.Time
	released vtime.Time
	length   vtime.Duration
	entry    *entering
	comm     *Communicator
}

// entering is a collective that an event rank enters once what it began before has
// begun.
type entering struct {
	v      Collective
	member int
	timing int32
}

// newProcessors makes the processors of a partition, for a model that needs them.
func (k *Kernel) newProcessors() {
	k.ClocksOnly = false
	k.processors = make([]processor, k.n)
	for i := range k.processors {
		k.processors[i].armed = vtime.Forever
	}
}

// operate enters an operation of the LP's program.
func (k *Kernel) operate(lp int32, op operation) {
	p := &k.processors[lp]
	switch {
	case p.running:
		p.queue = append(p.queue, op)
	case op.kind >= opEnter:
		k.atOnce(lp, &op)
	default:
		k.activate(lp, p, op)
	}
}

// activate makes an operation of the program the next one to begin.
func (k *Kernel) activate(lp int32, p *processor, op operation) {
	p.running = true
	op.ready, op.released = k.Clock[lp], p.released
	k.ask(lp, p, op)
}

// ask lets an operation ask for the processor.
func (k *Kernel) ask(lp int32, p *processor, op operation) {
	p.number++
	op.number = p.number
	p.active = append(p.active, op)
	k.nudge(lp)
}

// Behind reports whether an LP has begun what has not taken its time on its processor.
func (k *Kernel) Behind(lp int32) bool { return k.processors != nil && k.processors[lp].running }

// Postpone has an LP resumed once all that it began has begun; its clock then shows
// what that took. It reports false if there is nothing to wait for.
func (k *Kernel) Postpone(lp int32) bool {
	if !k.Behind(lp) {
		return false
	}
	k.operate(lp, operation{kind: opResume})
	return true
}

// PostponeEnd has an LP end once all that it began has begun. It reports false if that is
// so.
func (k *Kernel) PostponeEnd(lp int32) bool {
	if !k.Behind(lp) {
		return false
	}
	k.operate(lp, operation{kind: opEnd})
	return true
}

// crowded reports whether a program has begun so much that it ought to wait.
func (p *processor) crowded() bool { return len(p.queue)-p.head > 1000 }

// nudge lets a processor look again what it can begin.
func (k *Kernel) nudge(lp int32) {
	p := &k.processors[lp]
	if p.serving {
		return
	}
	k.expect(lp, p, k.first(lp, p))
}

// arm has a processor served at an instant.
func (k *Kernel) arm(lp int32, p *processor, t vtime.Time) {
	p.armed = max(t, k.now)
	k.eng.Schedule(engine.Event{Time: p.armed, Source: k.Global(lp), LP: k.Global(lp), Data: dataServe})
}

// serve lets a processor begin what it can at an instant up to which all arrivals are
// known.
func (k *Kernel) serve(lp int32, now vtime.Time) {
	p := &k.processors[lp]
	if p.armed != now {
		return
	}
	p.armed, p.serving = vtime.Forever, true
	b := k.first(lp, p)
	for ; b.at <= now; b = k.first(lp, p) {
		if invariant.Enabled && b.at < now.Add(-k.slack()) {
			invariant.Broken("the processor of rank %d begins something at %v, and it is %v", k.Global(lp), b.at, now)
		}
		switch b.what {
		case aMatch:
			m := p.matches.pop()
			if m.round {
				k.agentAcknowledged(m.index, m.released)
			} else {
				k.completeRequest(m.index, m.released)
			}
		case aMessage:
			k.takeIn(lp, p, b.at)
		default:
			op := p.active[b.what]
			p.active = slices.Delete(p.active, b.what, b.what+1)
			k.begins(lp, p, &op, b.at)
		}
	}
	p.serving = false
	k.expect(lp, p, b)
}

// expect has a processor served when it can begin something.
func (k *Kernel) expect(lp int32, p *processor, b beginning) {
	switch {
	case b.at < p.armed:
		k.arm(lp, p, b.at)
	case b.at == vtime.Forever:
		k.checkInterface(lp, p)
	}
}

// checkInterface notes it if a message waits for an interface that is not free again
// before the end of virtual time.
func (k *Kernel) checkInterface(lp int32, p *processor) {
	if len(p.arrivals) > 0 && p.state.Receive == vtime.Forever {
		a := &p.arrivals[0]
		k.pastEnd(int(k.Global(lp)), max(a.at, p.taken), k.callFor(lp, a), "a message of %d bytes from rank %d", k.bytesOf(a), a.source)
	}
	for i := range p.active {
		op := &p.active[i]
		switch {
		case p.state.Send < vtime.Forever:
		case op.kind == opSend:
			k.pastEnd(int(k.Global(lp)), max(op.ready, p.sent), k.requests.at(op.request).call, "a message to rank %d", op.dst)
		case op.kind == opRound:
			a := k.agents.at(op.index)
			if !a.ended {
				k.pastEnd(int(k.Global(lp)), max(op.ready, p.sent), a.inst.call.Procedure, "a message of round %d", a.round)
			}
		}
	}
}

// begins carries an operation out.
func (k *Kernel) begins(lp int32, p *processor, op *operation, at vtime.Time) {
	switch op.kind {
	case opRound:
		k.sendRoundAt(lp, p, op.index, at)
		k.resumePolling(lp, p, at)
		return
	case opReceive:
		k.receiveRoundAt(op.index, at)
		return
	case opCombine:
		p.state.CPU = at.Add(op.length)
		if p.state.CPU == vtime.Forever {
			k.pastEnd(int(k.Global(lp)), at, k.agents.at(op.index).inst.call.Procedure, "%v of combining", op.length)
		}
		k.combined(p, op.index, at)
		k.resumePolling(lp, p, at)
		return
	case opCompute:
		p.state.CPU = at.Add(k.lengthened(lp, at, op.length))
		if p.state.CPU == vtime.Forever {
			k.pastEnd(int(k.Global(lp)), at, Compute, "%v of computing", op.length)
		}
	case opSend:
		k.sendAt(lp, p, op, at)
	case opPost:
		k.postAt(lp, op.request, at)
	case opTake:
		k.requests.at(op.request).posted = at
		k.take(lp, k.box(lp), op.request, op.index)
	}
	p.running = false
	p.released = at
	k.Clock[lp] = max(k.Clock[lp], p.state.CPU, at)
	if op.kind == opWait {
		k.endWait(lp)
	}
	for !p.running && p.head < len(p.queue) {
		k.operate(lp, p.dequeue())
	}
}

// dequeue takes the next operation of the program out of the queue.
func (p *processor) dequeue() operation {
	op := p.queue[p.head]
	p.queue[p.head] = operation{}
	if p.head++; p.head == len(p.queue) {
		p.queue, p.head = p.queue[:0], 0
	}
	return op
}

// atOnce carries out an operation that takes no part in the order.
func (k *Kernel) atOnce(lp int32, op *operation) {
	switch op.kind {
	case opEnter:
		k.enterLate(lp, op)
	case opFree:
		k.free(op.comm)
	case opResume:
		k.resume(lp)
	case opEnd:
		k.End(lp)
	case opFail:
		k.failBehind(lp)
	}
}

// endWait ends the wait of an LP at its clock.
func (k *Kernel) endWait(lp int32) {
	box := k.box(lp)
	w := &box.wait
	w.at, w.ready = k.Clock[lp], true
	if w.kind == waitProbe {
		w.message = k.probed(box, w.at)
	}
	k.resume(lp)
}

// postponeSend enters a send that an LP has called, and returns its request.
func (k *Kernel) postponeSend(lp int32, m *message, dst int, payload []byte, c Procedure) int32 {
	request := m.request
	if request == 0 {
		request = k.newRequest(lp, sendRequest, c)
	}
	m.payload = k.keepPayload(payload)
	index := k.messages.take()
	*k.messages.at(index) = *m
	k.operate(lp, operation{kind: opSend, index: index, request: request, dst: int32(dst)})
	return request
}

// sendAt sends a message. An eager send is over when it has begun.
func (k *Kernel) sendAt(lp int32, p *processor, op *operation, at vtime.Time) {
	m := *k.messages.at(op.index)
	payload := m.payload
	m.payload = nil
	k.messages.release(op.index)
	k.tgt.Depart(&p.state, m.bytes, at)
	p.sent = at
	m.arrival = at.Add(k.tgt.Latency(int(m.rank), int(op.dst)))
	if max(p.state.CPU, m.arrival) == vtime.Forever {
		k.pastEnd(int(m.rank), at, k.requests.at(op.request).call, "a message of %d bytes to rank %d", m.bytes, op.dst)
	}
	if m.request == 0 {
		k.completeRequest(op.request, at)
	}
	k.eng.Statistics.Messages++
	k.dispatch(&m, int(op.dst), at, payload)
	if payload != nil {
		k.buffers.release(payload)
	}
}

// postAt posts a receive. All messages that have been taken in are known, in their
// order: the first one that matches is its, from whatever source.
func (k *Kernel) postAt(lp int32, ri int32, at vtime.Time) {
	box, r := k.box(lp), k.requests.at(ri)
	r.posted = at
	previous, index := k.firstUnexpected(box, r)
	if index != 0 {
		k.unlink(box, previous, index)
		k.take(lp, box, ri, index)
		return
	}
	if r.peer == AnySource {
		box.wildcards++
	}
	box.posted.appendRequest(&k.requests, ri)
}

// enterLater has an LP enter a collective once what it began before has begun.
func (k *Kernel) enterLater(lp int32, c *Communicator, member int, v *Collective, request int32) {
	e := &entering{v: *v, member: member, timing: k.Timing}
	if v.Transient {
		e.v.Input = slices.Clone(v.Input)
	}
	k.Timing = stats.Untimed
	k.operate(lp, operation{kind: opEnter, request: request, comm: c, entry: e})
}

// enterLate enters a collective that was put off.
func (k *Kernel) enterLate(lp int32, op *operation) {
	k.Timing = op.entry.timing
	k.enter(lp, op.comm, op.entry.member, &op.entry.v, op.request)
}
