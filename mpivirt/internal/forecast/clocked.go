package forecast

import (
	"container/heap"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/coll"
	"gigarank/network"
	"gigarank/vtime"
)

// clocks is the state of a dry run with clocks.
type clocks struct {
	*dryRun
	players []clockedPlayer
	early   map[[3]int32]*clockedMessage // messages that came early, by receiver, time and round
	due     dueList
	use     gauges
}

// clockedPlayer is a participant and its processor.
type clockedPlayer struct {
	state    network.Occupancy
	time     int32 // number of the collective that the player is in
	round    int
	stage    stage
	sent     sentStage
	until    int  // the round behind the present window
	unacked  int  // messages of the window that are not matched
	queue    bool // the player has a round queue
	serving  bool
	ahead    int // number of early messages
	clock    vtime.Time
	posted   vtime.Time
	matched  vtime.Time
	released vtime.Time
	armed    vtime.Time
	message  *clockedMessage
	coming   dueList // messages that its CPU has not taken in
	matches  dueList // matches of its own messages
	asked    []clockedOperation
	held     queued // greatest numbers of queued values
}

// sentStage is the progress of the message that a player sends in its round.
type sentStage uint8

const (
	gone    sentStage = iota // the message has left, or the round has none
	leaving                  // the processor has yet to send the message
)

// clockedMessage is a message of a dry run with clocks.
type clockedMessage struct {
	arrival     vtime.Time
	from        int32
	time, round int32
	bytes       int64
	waits       bool // the sender waits for the match
	early       bool
	remote      bool // the sender is on another engine
}

// clockedKind is the kind of an operation of a processor.
type clockedKind uint8

const (
	clockedCompute clockedKind = iota // compute, and enter the collective
	clockedSend
	clockedReceive
	clockedCombine
)

// clockedOperation is an operation that a player asks its processor for.
type clockedOperation struct {
	kind               clockedKind
	earliest, released vtime.Time
	length             vtime.Duration
}

// due is an event at an instant: the service of a player, or an arrival at a player.
type due struct {
	at, released vtime.Time
	player       int32 // the player served, or the source of an arrival
	message      *clockedMessage
}

// dueList is a heap of [container/heap].
type dueList []due

func (l dueList) Len() int      { return len(l) }
func (l dueList) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *dueList) Push(x any)   { *l = append(*l, x.(due)) }
func (l *dueList) Pop() any {
	s := *l
	last := s[len(s)-1]
	*l = s[:len(s)-1]
	return last
}

func (l dueList) Less(i, j int) bool {
	if l[i].at != l[j].at {
		return l[i].at < l[j].at
	}
	return l[i].player < l[j].player
}

// inVirtualTime carries out the dry run by messages, in the order of virtual time.
func (r *dryRun) inVirtualTime() usage {
	n := r.schedule.Members()
	c := &clocks{dryRun: r, players: make([]clockedPlayer, n), early: map[[3]int32]*clockedMessage{}, use: newGauges()}
	for p := range c.players {
		c.players[p].armed = vtime.Forever
	}
	for p := range c.players {
		c.begin(int32(p))
	}
	for len(c.due) > 0 {
		d := heap.Pop(&c.due).(due)
		if p := &c.players[d.player]; p.armed == d.at {
			c.serve(d.player, d.at)
		}
	}
	var u usage
	u.take(c.use)
	for p := range c.players {
		u.processors += c.players[p].held.bytes()
	}
	u.perParticipant(n)
	return u
}

// begin has a player compute before it enters its next collective.
func (c *clocks) begin(i int32) {
	p := &c.players[i]
	length := c.own
	if c.compute != nil {
		length = length.Plus(c.compute(int(i), int(p.time)))
	}
	c.ask(i, clockedOperation{kind: clockedCompute, earliest: p.clock, released: p.released, length: length})
}

// enter is Collectives.startAgent.
func (c *clocks) enter(i int32) {
	p := &c.players[i]
	c.use.add(agentsInUse, 1)
	if !p.queue {
		p.queue = true
		c.use.add(queuesInUse, 1)
	}
	c.buffer(c.bufferOf(int(i)), 1)
	p.round, p.until, p.stage, p.sent, p.released = 0, 0, sending, gone, p.clock
	c.goOn(i)
}

func (c *clocks) buffer(bytes int64, n int) {
	if c.data {
		c.use.addBuffers(bytes, n)
	}
}

// content counts n more uses of a message's content. An engine may be ahead of another engine,
// whose records then wait there, instead of buffers that agents leave.
func (c *clocks) content(m *clockedMessage, n int) {
	switch {
	case !c.data || m.bytes == 0:
	case m.remote:
		c.use.add(wireInUse, n*int(m.bytes))
	default:
		c.use.add(contentsInUse, n)
		if m.bytes > coll.SmallContent {
			c.buffer(m.bytes, n)
		}
	}
}

// engineOf returns the engine of a player.
func (c *clocks) engineOf(i int32) int { return ((int(i)+1)*c.engines - 1) / len(c.players) }

// ask is Processors.Ask of room resource.
func (c *clocks) ask(i int32, op clockedOperation) {
	p := &c.players[i]
	p.asked = append(p.asked, op)
	p.held.operations = max(p.held.operations, len(p.asked))
	if !p.serving {
		c.arm(i, c.first(p).at)
	}
}

// arm schedules the service of a player at an instant, unless it is scheduled before.
func (c *clocks) arm(i int32, at vtime.Time) {
	if p := &c.players[i]; at < p.armed {
		p.armed = at
		heap.Push(&c.due, due{at: at, player: i})
	}
}

// next is the next use of a processor: an operation, or a choice of room resource.
type next struct {
	at, released vtime.Time
	choice       int
}

const (
	nextMatch   = -1
	nextMessage = -2
)

func (n *next) before(m *next) bool {
	if n.at != m.at {
		return n.at < m.at
	}
	return n.released < m.released
}

// first is Processors.first of room resource.
func (c *clocks) first(p *clockedPlayer) next {
	best := next{at: vtime.Forever}
	if len(p.matches) > 0 {
		best = next{at: p.matches[0].at, choice: nextMatch}
	}
	for i, op := range p.asked {
		o := next{max(op.earliest, p.state.CPU), op.released, i}
		switch op.kind {
		case clockedSend:
			o.at = p.state.CanSend(op.earliest)
		case clockedReceive:
			o.at = op.earliest
		}
		if o.before(&best) {
			best = o
		}
	}
	if len(p.coming) > 0 {
		m := next{p.state.CanReceive(p.coming[0].at), p.coming[0].released, nextMessage}
		if m.before(&best) {
			best = m
		}
	}
	return best
}

// serve is Turns.serve of room resource.
func (c *clocks) serve(i int32, now vtime.Time) {
	p := &c.players[i]
	p.armed, p.serving = vtime.Forever, true
	b := c.first(p)
	for ; b.at <= now; b = c.first(p) {
		switch b.choice {
		case nextMatch:
			d := heap.Pop(&p.matches).(due)
			p.matched = max(p.matched, d.released)
			if p.unacked--; p.unacked == 0 && p.stage == acknowledging {
				c.goOn(i)
			}
		case nextMessage:
			c.takeIn(i, heap.Pop(&p.coming).(due).message, b.at)
		default:
			op := p.asked[b.choice]
			p.asked = append(p.asked[:b.choice], p.asked[b.choice+1:]...)
			c.begins(i, &op, b.at)
		}
	}
	p.serving = false
	c.arm(i, b.at)
}

// begins is Processors.begins of room resource, with the work of room coll.
func (c *clocks) begins(i int32, op *clockedOperation, at vtime.Time) {
	p := &c.players[i]
	switch op.kind {
	case clockedCompute:
		p.state.CPU = at.Add(op.length)
		p.clock = max(p.clock, p.state.CPU)
		c.enter(i)
		return
	case clockedSend:
		c.send(i, at)
	case clockedReceive:
		c.match(i, at)
	case clockedCombine:
		p.state.CPU = at.Add(op.length)
		p.clock, p.released, p.stage = p.state.CPU, max(p.released, at), acknowledging
	}
	c.goOn(i)
}

// send is Collectives.sendRoundAt.
func (c *clocks) send(i int32, at vtime.Time) {
	p := &c.players[i]
	step := c.schedule.Step(int(i), p.round)
	m := &clockedMessage{from: i, time: p.time, round: int32(p.round + step.Later), bytes: min(c.bytes(step.Send), mostBytes)}
	p.sent = gone
	if m.waits = m.bytes > c.eager; m.waits {
		p.unacked++
	}
	c.target.Depart(&p.state, m.bytes, at)
	p.clock, p.released = p.state.CPU, max(p.released, at)
	m.arrival = at.Add(c.target.Latency(int(i), step.To))
	c.use.add(roundsInUse, 1)
	m.remote = !c.oneRoot && c.engineOf(i) != c.engineOf(int32(step.To))
	c.content(m, 1)
	to := &c.players[step.To]
	heap.Push(&to.coming, due{m.arrival, at, i, m})
	to.held.arrivals = max(to.held.arrivals, len(to.coming))
	if !to.serving {
		c.arm(int32(step.To), c.first(to).at)
	}
}

// takeIn is Processors.takeIn, and Collectives.arriveRound.
func (c *clocks) takeIn(i int32, m *clockedMessage, at vtime.Time) {
	p := &c.players[i]
	c.target.TakeIn(&p.state, m.bytes, at)
	m.arrival = at
	if !p.queue {
		p.queue = true
		c.use.add(queuesInUse, 1)
	}
	if p.stage == receiving && p.message == nil && p.time == m.time && int32(p.round) == m.round {
		p.message = m
		c.goOn(i)
		return
	}
	m.early = true
	if p.ahead++; p.ahead > coll.EarlyLimit {
		c.use.add(earlyInUse, 1)
	}
	c.early[[3]int32{i, m.time, m.round}] = m
}

// takeEarly is Collectives.takeEarly.
func (c *clocks) takeEarly(i int32) *clockedMessage {
	p := &c.players[i]
	key := [3]int32{i, p.time, int32(p.round)}
	m := c.early[key]
	if m != nil {
		delete(c.early, key)
		if p.ahead > coll.EarlyLimit {
			c.use.add(earlyInUse, -1)
		}
		p.ahead--
	}
	return m
}

// match is Collectives.matchRound.
func (c *clocks) match(i int32, at vtime.Time) {
	p := &c.players[i]
	p.stage, p.released = matched, max(p.released, at)
	p.clock = max(p.clock, at, p.state.CPU)
	if m := p.message; m.waits {
		from := &c.players[m.from]
		_, free := c.target.Rendezvous(int(m.from), int(i), m.bytes, at, m.arrival)
		heap.Push(&from.matches, due{free.Add(vtime.Picosecond), free, i, nil})
		from.held.matches = max(from.held.matches, len(from.matches))
		if !from.serving {
			c.arm(m.from, c.first(from).at)
		}
	}
}

// goOn is Collectives.goOnAgent.
func (c *clocks) goOn(i int32) {
	p := &c.players[i]
	for {
		p.round = c.schedule.Next(int(i), p.round)
		if p.round >= c.schedule.Rounds(int(i)) {
			c.leave(i)
			return
		}
		step := c.schedule.Step(int(i), p.round)
		if p.stage == sending {
			c.beginRound(i, &step)
		}
		if p.stage == receiving && p.message != nil {
			if p.message.arrival >= p.posted {
				c.match(i, p.message.arrival)
			} else {
				c.post(i)
			}
		}
		if p.stage == receiving || p.stage == posting || p.sent == leaving {
			return
		}
		if p.stage == matched {
			p.stage = acknowledging
			c.finishReceive(i, &step)
		}
		if p.stage == combining {
			return
		}
		if p.round+1 >= p.until || c.schedule.Next(int(i), p.round+1) >= min(p.until, c.schedule.Rounds(int(i))) {
			if p.unacked > 0 {
				return
			}
			p.released = max(p.released, p.matched)
			p.clock, p.matched = max(p.clock, p.matched, p.state.CPU), 0
		}
		p.stage = sending
		p.round++
	}
}

// beginRound is Collectives.beginRound.
func (c *clocks) beginRound(i int32, step *collectives.Step) {
	p := &c.players[i]
	p.posted, p.stage = p.clock, acknowledging
	if p.round >= p.until {
		p.until = p.round + 1 + step.Left
	}
	if step.To != collectives.None {
		p.sent = leaving
		c.ask(i, clockedOperation{kind: clockedSend, earliest: p.clock, released: p.released})
	}
	if step.From != collectives.None {
		p.stage = receiving
		if p.message = c.takeEarly(i); p.message != nil {
			c.post(i)
		}
	}
}

// post is Collectives.postRound.
func (c *clocks) post(i int32) {
	p := &c.players[i]
	p.stage = posting
	c.ask(i, clockedOperation{kind: clockedReceive, earliest: p.posted, released: p.released})
}

// finishReceive is Collectives.finishReceive.
func (c *clocks) finishReceive(i int32, step *collectives.Step) {
	p := &c.players[i]
	m := p.message
	bytes := m.bytes
	p.message = nil
	c.use.add(roundsInUse, -1)
	c.content(m, -1)
	if work := c.target.ReduceTime(coll.CombinedBytes(step, bytes)).Plus(c.packing(p.round)); work > 0 {
		p.stage = combining
		c.ask(i, clockedOperation{kind: clockedCombine, earliest: p.clock, released: p.released, length: work})
	}
}

// leave ends a player's part, and starts its next collective.
func (c *clocks) leave(i int32) {
	p := &c.players[i]
	c.use.add(agentsInUse, -1)
	c.buffer(c.bufferOf(int(i)), -1)
	p.stage = sending
	if p.time++; int(p.time) < c.times {
		c.begin(i)
		return
	}
	p.stage, p.time = sending, -1 // later arrivals are for no round
}
