package mpivirt

import (
	"slices"

	"gigarank/collectives"
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
	comm     *comm
}

// entering is a collective that an event rank enters once what it began before has
// begun.
type entering struct {
	v      collective
	member int
	timing int32
}

// arrival is something that reaches a rank at an instant.
type arrival struct {
	at, released vtime.Time
	source       int32
	number       uint32
	index        int32 // the message; of a match, what waits for it
	round        bool  // of a collective: a round message; of a match, an agent in the place of a request
}

func (a *arrival) before(b *arrival) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.source != b.source {
		return a.source < b.source
	}
	return a.number < b.number
}

// arrivals is a heap.
type arrivals []arrival

func (h *arrivals) push(a arrival) {
	*h = append(*h, a)
	s := *h
	i := len(s) - 1
	for i > 0 && a.before(&s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = a
}

func (h *arrivals) pop() arrival {
	s := *h
	least, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return least
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1].before(&s[child]) {
			child++
		}
		if !s[child].before(&last) {
			break
		}
		s[i] = s[child]
		i = child
	}
	s[i] = last
	return least
}

// newProcessors makes the processors of a partition, for a model that needs them.
func (k *kernel) newProcessors() {
	k.plain = false
	k.processors = make([]processor, k.n)
	for i := range k.processors {
		k.processors[i].armed = vtime.Forever
	}
}

// operate enters an operation of the LP's program.
func (k *kernel) operate(lp int32, op operation) {
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
func (k *kernel) activate(lp int32, p *processor, op operation) {
	p.running = true
	op.ready, op.released = k.clock[lp], p.released
	k.ask(lp, p, op)
}

// ask lets an operation ask for the processor.
func (k *kernel) ask(lp int32, p *processor, op operation) {
	p.number++
	op.number = p.number
	p.active = append(p.active, op)
	k.nudge(lp)
}

// postpone has an LP resumed once all that it began has begun; its clock then shows
// what that took. It reports false if there is nothing to wait for.
func (k *kernel) postpone(lp int32) bool {
	if !k.processors[lp].running {
		return false
	}
	k.operate(lp, operation{kind: opResume})
	return true
}

// postponeEnd has an LP end once all that it began has begun. It reports false if that is
// so.
func (k *kernel) postponeEnd(lp int32) bool {
	if !k.processors[lp].running {
		return false
	}
	k.operate(lp, operation{kind: opEnd})
	return true
}

// crowded reports whether a program has begun so much that it ought to wait.
func (p *processor) crowded() bool { return len(p.queue)-p.head > 1000 }

// nudge lets a processor look again what it can begin.
func (k *kernel) nudge(lp int32) {
	p := &k.processors[lp]
	if p.serving {
		return
	}
	k.expect(lp, p, k.first(lp, p))
}

// arm has a processor served at an instant.
func (k *kernel) arm(lp int32, p *processor, t vtime.Time) {
	p.armed = max(t, k.now)
	k.eng.Schedule(engine.Event{Time: p.armed, Source: k.global(lp), LP: k.global(lp), Data: dataServe})
}

// serve lets a processor begin what it can at an instant up to which all arrivals are
// known.
func (k *kernel) serve(lp int32, now vtime.Time) {
	p := &k.processors[lp]
	if p.armed != now {
		return
	}
	p.armed, p.serving = vtime.Forever, true
	b := k.first(lp, p)
	for ; b.at <= now; b = k.first(lp, p) {
		if invariant.Enabled && b.at < now.Add(-k.slack()) {
			invariant.Broken("the processor of rank %d begins something at %v, and it is %v", k.global(lp), b.at, now)
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
func (k *kernel) expect(lp int32, p *processor, b beginning) {
	switch {
	case b.at < p.armed:
		k.arm(lp, p, b.at)
	case b.at == vtime.Forever:
		k.checkInterface(lp, p)
	}
}

// checkInterface notes it if a message waits for an interface that is not free again
// before the end of virtual time.
func (k *kernel) checkInterface(lp int32, p *processor) {
	if len(p.arrivals) > 0 && p.state.Receive == vtime.Forever {
		a := &p.arrivals[0]
		k.pastEnd(int(k.global(lp)), max(a.at, p.taken), k.callFor(lp, a), "a message of %d bytes from rank %d", k.bytesOf(a), a.source)
	}
	for i := range p.active {
		op := &p.active[i]
		switch {
		case p.state.Send < vtime.Forever:
		case op.kind == opSend:
			k.pastEnd(int(k.global(lp)), max(op.ready, p.sent), k.requests.at(op.request).call, "a message to rank %d", op.dst)
		case op.kind == opRound:
			a := k.agents.at(op.index)
			if !a.ended {
				k.pastEnd(int(k.global(lp)), max(op.ready, p.sent), a.inst.call.name, "a message of round %d", a.round)
			}
		}
	}
}

// beginning is something that a processor can begin at an instant.
type beginning struct {
	at, released vtime.Time
	source       int32
	number       uint32
	what         int // position of the operation in active, or one of those below
}

const (
	aMatch   = -1 // the match of a send that waits for it
	aMessage = -2
)

// own stands for the source of a rank's own operations.
const own = -1

// before is the order in which a processor begins things.
func (a *beginning) before(b *beginning) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.released != b.released:
		return a.released < b.released
	case a.source != b.source:
		return a.source < b.source
	}
	return a.number < b.number
}

// first returns what the processor can begin first, as far as is known. Matches go
// before all else: they take no time.
func (k *kernel) first(lp int32, p *processor) beginning {
	best, poll := beginning{at: vtime.Forever}, p.poll(k, lp)
	if len(p.matches) > 0 {
		best = beginning{at: p.matches[0].at, released: none, what: aMatch}
	}
	if len(p.arrivals) > 0 {
		m := &p.arrivals[0]
		b := beginning{p.state.CanReceive(m.at), m.released, m.source, m.number, aMessage}
		if k.betweenPolls(poll, &b); b.before(&best) {
			best = b
		}
	}
	for i := range p.active {
		op := &p.active[i]
		b := beginning{released: op.released, source: own, number: op.number, what: i}
		k.canBegin(lp, p, op, poll, &b)
		if b.at < vtime.Forever && b.before(&best) {
			best = b
		}
	}
	return best
}

// canBegin sets when an operation can begin: Forever if something must happen before.
func (k *kernel) canBegin(lp int32, p *processor, op, poll *operation, b *beginning) {
	switch op.kind {
	case opCompute:
		b.at = max(op.ready, p.state.CPU)
	case opSend:
		b.at = p.state.CanSend(op.ready)
	case opCombine:
		b.at = max(op.ready, p.state.CPU)
		k.betweenPolls(poll, b)
	case opRound:
		b.at = p.state.CanSend(op.ready)
		k.betweenPolls(poll, b)
	case opWait:
		k.canEnd(lp, p, op, b)
	default:
		b.at = op.ready
	}
}

// canEnd is canBegin for a wait. A test or nonblocking probe can end whatever it
// finds, but in a long loop of them only the one that succeeds does.
func (k *kernel) canEnd(lp int32, p *processor, op *operation, b *beginning) {
	box := k.box(lp)
	if box.wait.kind >= testAll {
		b.at = max(op.ready, p.state.CPU)
		if k.absorbed(lp, op) {
			success := k.successTime(box)
			if success == vtime.Forever {
				b.at = success
				return
			}
			b.at, b.released = k.pollFrom(op, max(success, p.state.CPU))
		}
		return
	}
	over := k.overAt(box)
	switch {
	case over == vtime.Forever:
		b.at = over
	case op.direct: // before anything else that begins then
		b.at, b.released = max(op.released, over), none
	default:
		b.at, b.released = max(op.ready, over, p.state.CPU), max(op.released, over)
	}
}

// overAt returns from when on a wait is over, Forever if that is not known.
func (k *kernel) overAt(box *mailbox) vtime.Time {
	w := &box.wait
	switch w.kind {
	case waitOne:
		if r := k.requests.at(w.request); r.complete {
			return r.time
		}
	case waitAll:
		if w.pending == 0 {
			return k.latest(0, w.requests)
		}
	case waitProbe:
		if index := k.probed(box, vtime.Forever); index != 0 {
			return k.messages.at(index).arrival
		}
	default:
		return k.earliest(w.requests)
	}
	return vtime.Forever
}

// absorbed reports whether an operation is a poll of a long loop of them, all of which
// fail until something happens to the rank: see pollsAbsorbed.
func (k *kernel) absorbed(lp int32, op *operation) bool {
	if op.kind != opWait {
		return false
	}
	box := k.box(lp)
	return box.wait.kind >= testAll && box.polls >= pollsAbsorbed
}

// pollFrom returns when the first poll of a loop at or after t begins, and when it was
// released: at the poll before it. op is the next poll.
func (k *kernel) pollFrom(op *operation, t vtime.Time) (at, released vtime.Time) {
	if t <= op.ready {
		return op.ready, op.released
	}
	period := vtime.Time(k.pollTime)
	at = op.ready + (t-op.ready+period-1)/period*period
	return at, at - period
}

// betweenPolls puts off what is not the program's until the poll of a loop, if op is one,
// is over: it keeps the CPU busy.
func (k *kernel) betweenPolls(op *operation, b *beginning) {
	if op == nil || b.at == vtime.Forever {
		return
	}
	at, released := k.pollFrom(op, b.at)
	next := beginning{released: released, source: own, number: op.number}
	if b.at = 0; !b.before(&next) {
		at += vtime.Time(k.pollTime)
	}
	b.at = at
}

// poll returns the poll of a loop that is the program's next operation, nil if it is
// none.
func (p *processor) poll(k *kernel, lp int32) *operation {
	if !p.running {
		return nil
	}
	for i := range p.active {
		if k.absorbed(lp, &p.active[i]) {
			return &p.active[i]
		}
	}
	return nil
}

// resumePolling has a loop of polls go on after something else that began at an instant
// between two of them.
func (k *kernel) resumePolling(lp int32, p *processor, at vtime.Time) {
	if op := p.poll(k, lp); op != nil && p.state.CPU > op.ready {
		op.ready, op.released = p.state.CPU, max(op.released, at.Add(-k.pollTime))
	}
}

// begins carries an operation out.
func (k *kernel) begins(lp int32, p *processor, op *operation, at vtime.Time) {
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
			k.pastEnd(int(k.global(lp)), at, k.agents.at(op.index).inst.call.name, "%v of combining", op.length)
		}
		k.combined(p, op.index, at)
		k.resumePolling(lp, p, at)
		return
	case opCompute:
		p.state.CPU = at.Add(k.lengthened(lp, at, op.length))
		if p.state.CPU == vtime.Forever {
			k.pastEnd(int(k.global(lp)), at, callCompute, "%v of computing", op.length)
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
	k.clock[lp] = max(k.clock[lp], p.state.CPU, at)
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
func (k *kernel) atOnce(lp int32, op *operation) {
	switch op.kind {
	case opEnter:
		k.enterLate(lp, op)
	case opFree:
		k.free(op.comm)
	case opResume:
		k.resume(lp)
	case opEnd:
		k.end(lp)
	}
}

// endWait ends the wait of an LP at its clock.
func (k *kernel) endWait(lp int32) {
	box := k.box(lp)
	w := &box.wait
	w.at, w.ready = k.clock[lp], true
	if w.kind == waitProbe {
		w.message = k.probed(box, w.at)
	}
	k.resume(lp)
}

// postponeSend enters a send that an LP has called, and returns its request.
func (k *kernel) postponeSend(lp int32, m *message, dst int, payload []byte, c call) int32 {
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
func (k *kernel) sendAt(lp int32, p *processor, op *operation, at vtime.Time) {
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

// reach lets a message that an LP of this engine has been sent reach its processor.
func (k *kernel) reach(lp int32, a arrival) {
	p := &k.processors[lp]
	p.number++
	a.number = p.number
	p.arrivals.push(a)
	k.nudge(lp)
}

// bytesOf returns the size of a message that has reached a processor.
func (k *kernel) bytesOf(a *arrival) int64 {
	if a.round {
		return k.rounds.at(a.index).bytes
	}
	return k.messages.at(a.index).bytes
}

// takeIn takes in the message that comes first.
func (k *kernel) takeIn(lp int32, p *processor, at vtime.Time) {
	a := p.arrivals.pop()
	bytes := k.bytesOf(&a)
	k.tgt.TakeIn(&p.state, bytes, at)
	p.taken = at
	if p.state.CPU == vtime.Forever {
		k.pastEnd(int(k.global(lp)), at, k.callFor(lp, &a), "a message of %d bytes from rank %d", bytes, a.source)
	}
	k.resumePolling(lp, p, at)
	if a.round {
		k.rounds.at(a.index).arrival = at
		k.arriveRound(lp, a.index)
		return
	}
	box, m := k.box(lp), k.messages.at(a.index)
	m.arrival = at
	previous, ri := k.firstPosted(box, m)
	if ri == 0 {
		box.unexpected.appendMessage(&k.messages, a.index)
		k.eng.Buffer(m.bytesHeld())
		return
	}
	box.posted.removeRequest(&k.requests, previous, ri)
	if k.requests.at(ri).peer == AnySource {
		box.wildcards--
	}
	k.take(lp, box, ri, a.index)
}

// callFor returns the call that a message which reaches an LP is for, as far as it is
// known.
func (k *kernel) callFor(lp int32, a *arrival) call {
	if !a.round {
		return k.box(lp).wait.call
	}
	m := k.rounds.at(a.index)
	if inst := k.comms[m.comm].numbered(m.number); inst != nil {
		return inst.call.name
	}
	return noCall
}

// postAt posts a receive. All messages that have been taken in are known, in their
// order: the first one that matches is its, from whatever source.
func (k *kernel) postAt(lp int32, ri int32, at vtime.Time) {
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

// slack is how far the instant at which a processor begins something may lie behind, given
// the least that a message takes.
func slack(least vtime.Duration) vtime.Duration { return min(least/2, vtime.Nanosecond) }

func (k *kernel) slack() vtime.Duration {
	n := k.tgt.Ranks()
	return slack(k.tgt.Lookahead(0, n, 0, n))
}

// awaitMatch notes that a message for a rank of another engine, which arrives at an
// instant, has a sender that waits for its match.
func (k *kernel) awaitMatch(arrival vtime.Time) {
	if k.unanswered++; k.unanswered == 1 || arrival < k.answered {
		k.answered = arrival
		k.eng.Await(arrival.Add(vtime.Picosecond))
	}
}

// matchCame notes that a match that was awaited has come.
func (k *kernel) matchCame() {
	if k.unanswered--; k.unanswered == 0 {
		k.eng.Await(vtime.Forever)
	}
}

// tellMatch tells the sender with an index on an engine, which waits for the match of
// its message, that a rank matched it at an instant: a request, or an agent, as the kind
// of the record says. Of matches that reach a processor at one instant, that by the lowest
// rank comes first, and those by one rank in its order.
func (k *kernel) tellMatch(kind byte, engine, index int32, by int, matched vtime.Time) {
	at := max(k.now, matched).Add(vtime.Picosecond)
	matched = max(matched, at.Add(-k.slack()))
	if int(engine) == k.eng.Index() {
		k.reachMatch(kind, index, by, at, matched)
		return
	}
	w := writer{k.eng.Record(int(engine), 1+4+4+8+8)}
	w.u8(kind)
	w.u32(uint32(index))
	w.u32(uint32(by))
	w.u64(uint64(at))
	w.u64(uint64(matched))
}

// matchFrom takes in the match that another engine tells of.
func (k *kernel) matchFrom(kind byte, r reader) {
	index, by := int32(r.u32()), int(r.u32())
	at, matched := vtime.Time(r.u64()), vtime.Time(r.u64())
	k.eng.CheckArrival(by, k.lo, matched, at)
	k.matchCame()
	k.reachMatch(kind, index, by, at, matched)
}

// reachMatch lets the match of a send reach its LP.
func (k *kernel) reachMatch(kind byte, index int32, by int, at, matched vtime.Time) {
	lp, c := int32(0), noCall
	if kind == recordMatch {
		q := k.requests.at(index)
		lp, c = q.lp, q.call
	} else {
		a := k.agents.at(index)
		if a.ended {
			return
		}
		lp, c = a.lp, a.inst.call.name
	}
	if at == vtime.Forever {
		k.pastEnd(int(k.global(lp)), matched, c, "the match of a message by rank %d", by)
		return
	}
	p := &k.processors[lp]
	p.number++
	p.matches.push(arrival{at: at, released: matched, source: int32(by), number: p.number, index: index, round: kind == recordRoundMatch})
	k.nudge(lp)
}

// enterLater has an LP enter a collective once what it began before has begun.
func (k *kernel) enterLater(lp int32, c *comm, member int, v *collective, request int32) {
	e := &entering{v: *v, member: member, timing: k.timing}
	if v.transient {
		e.v.input = slices.Clone(v.input)
	}
	k.timing = stats.Untimed
	k.operate(lp, operation{kind: opEnter, request: request, comm: c, entry: e})
}

// enterLate enters a collective that was put off.
func (k *kernel) enterLate(lp int32, op *operation) {
	k.timing = op.entry.timing
	k.enter(lp, op.comm, op.entry.member, &op.entry.v, op.request)
}

// The rounds of an agent. An agent is a thread of its own: what one of its rounds sends
// requires the receive of the round before, as in LogGOPSim's schedules. Send and receive
// of one round do not wait for each other: a message is matched though the own one has not
// begun to leave, but then its content is taken in only when that has.

// goOnAgent takes an agent as far as it gets without the processor.
func (k *kernel) goOnAgent(index int32) {
	a := k.agents.at(index)
	if a.ended {
		return
	}
	for {
		step, more := a.nextStep()
		if !more {
			k.endAgent(index)
			return
		}
		if a.stage == sending {
			k.beginRound(index, a, &step)
		}
		if a.stage == receiving && a.message != 0 {
			k.takeRound(index, a)
		}
		if a.stage == receiving || a.stage == posting || a.sent == leaving {
			return
		}
		if a.stage == matched {
			a.stage = acknowledging
			if !k.finishReceive(index, a, &step) {
				return
			}
		}
		if a.stage == combining || a.sent == unacked {
			return
		}
		a.released = max(a.released, a.matched)
		a.clock = max(a.clock, a.matched, k.freeFrom(a.lp, a.matched))
		a.stage, a.matched = sending, 0
		a.round++
	}
}

// freeFrom returns from when on the CPU of an LP is free, as far as is known at t.
func (k *kernel) freeFrom(lp int32, t vtime.Time) vtime.Time {
	p := &k.processors[lp]
	free := p.state.CPU
	if op := p.poll(k, lp); op != nil && t > op.ready {
		at, _ := k.pollFrom(op, t)
		free = max(free, at)
	}
	return free
}

// beginRound asks for the message of an agent's round to be sent, and for the one that it
// receives if that is there: neither waits for the other.
func (k *kernel) beginRound(index int32, a *agent, step *collectives.Step) {
	a.posted, a.stage = a.clock, acknowledging
	if step.To != collectives.None {
		a.sent = leaving
		k.ask(a.lp, &k.processors[a.lp], operation{kind: opRound, index: index, ready: a.clock, released: a.released})
	}
	if step.From != collectives.None {
		a.stage = receiving
		if a.message = k.takeEarly(a); a.message != 0 {
			k.postRound(index, a)
		}
	}
}

// postRound has an agent receive, when its round begins, a message that was taken in
// before.
func (k *kernel) postRound(index int32, a *agent) {
	a.stage = posting
	k.ask(a.lp, &k.processors[a.lp], operation{kind: opReceive, index: index, ready: a.posted, released: a.released})
}

// sendRoundAt sends the message of an agent's round.
func (k *kernel) sendRoundAt(lp int32, p *processor, index int32, at vtime.Time) {
	a := k.agents.at(index)
	if a.ended {
		return
	}
	step := a.inst.schedule.Step(int(a.member), int(a.round))
	a.sent = gone
	m, dst := k.roundMessage(index, a, &step)
	k.tgt.Depart(&p.state, m.bytes, at)
	p.sent = at
	m.arrival = at.Add(k.tgt.Latency(int(m.rank), dst))
	a.clock, a.released = p.state.CPU, max(a.released, at)
	k.checkSent(a, dst, m.bytes, at, m.arrival)
	k.eng.Statistics.Messages++
	k.dispatchRound(&m, dst, at, k.gather(a, step.Send, a.inst.schedule.Positions()))
	k.goOnAgent(index)
}

// takeRound lets an agent receive the message of its round, which has just been taken in.
func (k *kernel) takeRound(index int32, a *agent) {
	if at := k.rounds.at(a.message).arrival; at >= a.posted {
		k.matchRound(a, at)
		return
	}
	k.postRound(index, a)
}

// receiveRoundAt lets an agent receive a message that was there before.
func (k *kernel) receiveRoundAt(index int32, at vtime.Time) {
	a := k.agents.at(index)
	if a.ended {
		return
	}
	k.matchRound(a, at)
	k.goOnAgent(index)
}

// matchRound matches the message of an agent's round at an instant.
func (k *kernel) matchRound(a *agent, at vtime.Time) {
	a.stage, a.released = matched, max(a.released, at)
	a.clock = max(a.clock, at, k.freeFrom(a.lp, at))
	k.matchRoundMessage(k.rounds.at(a.message), a, at)
}

// finishReceive takes in what an agent has received, when its own message has begun to
// leave. It reports false if that is the end of the agent.
func (k *kernel) finishReceive(index int32, a *agent, step *collectives.Step) bool {
	work := k.tgt.ReduceTime(combinedBytes(step, k.rounds.at(a.message).bytes))
	if !k.acceptRound(a, step) {
		return false
	}
	if work > 0 {
		a.stage = combining
		k.ask(a.lp, &k.processors[a.lp], operation{kind: opCombine, index: index, ready: a.clock, released: a.released, length: work})
	}
	return true
}

// combined lets an agent go on that has begun to combine what it has received.
func (k *kernel) combined(p *processor, index int32, at vtime.Time) {
	a := k.agents.at(index)
	if a.ended {
		return
	}
	a.clock, a.released, a.stage = p.state.CPU, max(a.released, at), acknowledging
	k.goOnAgent(index)
}
