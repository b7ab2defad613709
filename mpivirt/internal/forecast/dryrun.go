package forecast

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// dryRun is one collective with few participants.
type dryRun struct {
	schedule  collectives.Schedule
	eager     int64                            // the eager limit
	bytes     func(b collectives.Blocks) int64 // of a message
	bufferOf  func(member int) int64           // bytes of a member's memory that are neither input nor output
	data      bool
	engines   int
	batch     int32      // participants that enter one after another
	times     int        // number of successive collectives of the participants
	crossings *crossings // nil if no message passes between nodes
	ahead     int        // instances that a root may have begun before other participants; 0 without such a root

	// With clocks; else nil and zero.
	target  *network.Target
	oneRoot bool // one participant sends or receives all messages, so that engines wait for its engine
	compute func(rank, time int) vtime.Duration
	own     vtime.Duration                 // time of members' copies in their own memory before they enter
	packing func(round int) vtime.Duration // time of members' copies after a round
}

// usage is the greatest usage of memory, for each participant.
type usage struct {
	agents, queues, rounds, early, ready float64
	leaving, coming, shakes              float64 // messages and answers between nodes
	wire                                 float64 // bytes of records between engines
	contents                             float64 // copies of the contents of messages
	buffers                              float64 // bytes
	processors                           float64 // bytes of processors, beyond [p2p.Occupied]
}

// gauges counts the values in use of each class, and the greatest number of each. Buffers are
// counted by the classes of bufferPool, with the longest content of each class.
type gauges struct {
	now, most map[int]int
	longest   map[int]int64
}

func newGauges() gauges { return gauges{map[int]int{}, map[int]int{}, map[int]int64{}} }

// add counts n more values of a class in use.
func (g gauges) add(class, n int) {
	g.now[class] += n
	g.most[class] = max(g.most[class], g.now[class])
}

// addBuffers counts n more buffers in use, for a number of bytes each.
func (g gauges) addBuffers(bytes int64, n int) {
	if bytes <= 0 {
		return
	}
	class := world.BufferClass(int(min(bytes, mostBytes)))
	g.add(class, n)
	g.longest[class] = max(g.longest[class], bytes)
}

// mostBytes bounds the bytes counted for a message, so that sums do not overflow.
const mostBytes = 1 << 46

// Classes of gauges other than buffers.
const (
	agentsInUse = -1 - iota
	queuesInUse
	roundsInUse
	earlyInUse
	readyInUse
	wireInUse
	contentsInUse
	leavingInUse
	comingInUse
	shakesInUse
)

// dryMessage is a message of a dry run.
type dryMessage struct {
	from, to int32
	round    int32
	bytes    int64
	onWire   int64 // bytes of its record between engines
	answer   bool  // the message answers its sender that the sender's message was matched
	time     int32 // number of the collective
	waits    bool  // the sender waits for the match
	blocks   collectives.Blocks
	copied   *copied // holds the content; nil if the receiver has absorbed it, or the sender still holds it
	early    bool    // in the hash table of early messages
	windowed bool    // other messages of the sender's memory are under way, too

	// Between nodes.
	kind  messageKind
	held  bool // it has a value of the engine from its departure on
	asked bool // the receiver has answered it
	at    vtime.Time
}

// messageKind is the kind of a message of a round.
type messageKind uint8

const (
	content messageKind = iota // with its content, or REQ
	reply                      // ACK
	data                       // DATA
)

// copied is a buffer that messages share.
type copied struct {
	bytes int64
	users int
}

// stage is the next action of a participant in its round, as for an agent of room coll.
type stage uint8

const (
	sending stage = iota
	receiving
	acknowledging
	posting   // the processor has yet to receive a message that came early
	matched   // the message is received, but the player's own may not have left
	combining // the processor has yet to combine the received content
)

// player is a participant of a dry run.
type player struct {
	time    int32 // number of the collective that the player is in
	round   int
	stage   stage
	until   int // the round behind the present window
	unacked int // messages of the window that are not matched
	entered bool
	queued  bool
	done    bool
	queue   bool // the player has a round queue
	held    bool // the player yields to slower players, or has done so in this collective
	ahead   int
	clock   vtime.Time // between nodes
	kept    *copied    // holds positions that the player may forward
	at      collectives.Blocks
	sent    [3]int32 // key of the last message that is not matched
}

// dryEngine is one engine of a dry run.
type dryEngine struct {
	next, last int32 // participants that have not entered yet
	ready      []int32
	held       []int32 // roots that yield to slower participants
	inbox      []dryMessage
	passing    passingList
	use        gauges
}

// scene is the state of a dry run by messages.
type scene struct {
	*dryRun
	players  []player
	engines  []dryEngine
	messages map[[3]int32]dryMessage // by receiver, time and round
	passed   int                     // messages that have asked at a node
}

// byMessages carries out the dry run by messages.
func (r *dryRun) byMessages() usage {
	n := r.schedule.Members()
	s := &scene{dryRun: r, players: make([]player, n), messages: map[[3]int32]dryMessage{}}
	for e := range r.engines {
		s.engines = append(s.engines, dryEngine{
			next: int32(e * n / r.engines), last: int32((e + 1) * n / r.engines), use: newGauges(),
		})
	}
	for active := true; active; {
		active = false
		for e := range s.engines {
			s.release(&s.engines[e])
			s.runDry(&s.engines[e])
			active = active || len(s.engines[e].held) > 0
		}
		for e := range s.engines {
			inbox := s.engines[e].inbox
			s.engines[e].inbox = nil
			for _, m := range inbox {
				active = true
				s.engines[e].use.add(wireInUse, -int(m.onWire)-coll.RoundRecordBytes)
				s.take(&s.engines[e], m)
			}
		}
		if !active {
			active = s.pass()
		}
	}
	var u usage
	for _, e := range s.engines {
		u.take(e.use)
	}
	u.perParticipant(n)
	return u
}

// take adds the greatest numbers of gauges.
func (u *usage) take(g gauges) {
	for class, n := range g.most {
		n := float64(n)
		switch class {
		case agentsInUse:
			u.agents += n
		case queuesInUse:
			u.queues += n
		case roundsInUse:
			u.rounds += n
		case earlyInUse:
			u.early += n
		case readyInUse:
			u.ready += n
		case wireInUse:
			u.wire += n
		case contentsInUse:
			u.contents += n
		case leavingInUse:
			u.leaving += n
		case comingInUse:
			u.coming += n
		case shakesInUse:
			u.shakes += n
		default:
			u.buffers += n * world.BufferBytes(float64(g.longest[class]))
		}
	}
}

func (u *usage) perParticipant(n int) {
	for _, f := range []*float64{&u.agents, &u.queues, &u.rounds, &u.early, &u.ready, &u.leaving, &u.coming, &u.shakes, &u.wire, &u.contents, &u.buffers, &u.processors} {
		*f /= float64(n)
	}
}

func (s *scene) engineOf(p int32) *dryEngine {
	return &s.engines[((int(p)+1)*len(s.engines)-1)/len(s.players)]
}

func (s *scene) runDry(e *dryEngine) {
	for {
		switch {
		case len(e.ready) > 0:
			p := e.ready[0]
			e.ready = e.ready[1:]
			e.use.add(readyInUse, -1)
			s.players[p].queued = false
			s.play(e, p)
		case e.next < e.last:
			for until := min(e.next+s.batch, e.last); e.next < until; e.next++ {
				s.enter(e, e.next)
			}
		default:
			return
		}
	}
}

// release carries on the roots that have yielded to slower participants.
func (s *scene) release(e *dryEngine) {
	for _, p := range e.held {
		s.enqueue(e, p)
	}
	e.held = nil
}

// holdBack is Collectives.holdBack for a root that has not sent yet. It counts the members of all
// engines, since the engines run side by side with equal work.
func (s *scene) holdBack(e *dryEngine, p int32) bool {
	a := &s.players[p]
	if s.ahead == 0 || a.held || a.round != s.schedule.Next(int(p), 0) {
		return false
	}
	behind := a.time
	for q := range s.players {
		behind = min(behind, s.players[q].time)
	}
	if a.held = int(a.time-behind) >= s.ahead; a.held {
		e.held = append(e.held, p)
	}
	return a.held
}

// enter is Collectives.startAgent.
func (s *scene) enter(e *dryEngine, p int32) {
	a := &s.players[p]
	a.entered = true
	if s.crossings != nil && s.crossings.compute != nil {
		a.clock = a.clock.Add(s.crossings.compute(int(p), int(a.time)))
	}
	e.use.add(agentsInUse, 1)
	s.openQueue(e, p)
	s.buffer(e, s.bufferOf(int(p)), 1)
	s.enqueue(e, p)
}

func (s *scene) openQueue(e *dryEngine, p int32) {
	if !s.players[p].queue {
		s.players[p].queue = true
		e.use.add(queuesInUse, 1)
	}
}

func (s *scene) enqueue(e *dryEngine, p int32) {
	if !s.players[p].queued {
		s.players[p].queued = true
		e.ready = append(e.ready, p)
		e.use.add(readyInUse, 1)
	}
}

func (s *scene) buffer(e *dryEngine, bytes int64, n int) {
	if s.data {
		e.use.addBuffers(bytes, n)
	}
}

// content counts n more contents of a number of bytes in use.
func (s *scene) content(e *dryEngine, bytes int64, n int) {
	if s.data {
		e.use.add(contentsInUse, n)
	}
	if bytes > coll.SmallContent {
		s.buffer(e, bytes, n)
	}
}

// play is Collectives.RunAgent.
func (s *scene) play(e *dryEngine, p int32) {
	a := &s.players[p]
	if a.done {
		return
	}
	if !a.entered { // the rank goes on to the next collective
		s.enter(e, p)
		return
	}
	for {
		a.round = s.schedule.Next(int(p), a.round)
		if a.round >= s.schedule.Rounds(int(p)) {
			e.use.add(agentsInUse, -1)
			s.buffer(e, s.bufferOf(int(p)), -1)
			s.dropKept(e, p)
			if a.time++; int(a.time) < s.times {
				a.round, a.until, a.entered, a.held = 0, 0, false, false
				s.enqueue(e, p)
				return
			}
			a.done = true
			if a.ahead == 0 {
				e.use.add(queuesInUse, -1)
			}
			return
		}
		step := s.schedule.Step(int(p), a.round)
		if a.stage == sending {
			if a.round >= a.until {
				a.until = a.round + 1 + step.Left
			}
			if step.To != collectives.None {
				if s.holdBack(e, p) {
					s.dropKept(e, p)
					return
				}
				m := dryMessage{from: p, to: int32(step.To), time: a.time, round: int32(a.round + step.Later), bytes: s.bytes(step.Send), blocks: step.Send, windowed: step.Left > 0}
				if m.waits = m.bytes > s.eager; m.waits {
					a.unacked++
					a.sent = [3]int32{m.to, m.time, m.round}
				}
				s.send(e, m)
			}
			a.stage = receiving
		}
		if a.stage == receiving {
			if step.From != collectives.None && !s.receive(e, p, &step) {
				s.dropKept(e, p)
				return
			}
			a.stage = acknowledging
		}
		if a.unacked > 0 && s.endsWindow(p) {
			s.dropKept(e, p)
			return
		}
		a.stage = sending
		a.round++
	}
}

func (s *scene) send(e *dryEngine, m dryMessage) {
	if s.crossings.cross(&m) {
		s.leaveAcross(e, m)
		return
	}
	if to := s.engineOf(m.to); to != e {
		s.transmit(to, m)
		return
	}
	s.deliver(m)
}

// transmit sends a message to another engine.
func (s *scene) transmit(to *dryEngine, m dryMessage) {
	if s.data && m.kind == content {
		m.onWire = min(m.bytes, mostBytes)
	}
	to.inbox = append(to.inbox, m)
	to.use.add(wireInUse, int(m.onWire)+coll.RoundRecordBytes)
}

// take takes a message of another engine in.
func (s *scene) take(e *dryEngine, m dryMessage) {
	if !s.crossings.cross(&m) {
		s.deliver(m)
		return
	}
	if m.held {
		e.use.add(roundsInUse, 1)
		s.keep(e, &m)
	}
	s.ask(e, m, m.at, true)
}

// acknowledged handles that a player's message above the eager limit has been matched.
func (s *scene) acknowledged(e *dryEngine, p int32, at vtime.Time) {
	a := &s.players[p]
	a.unacked, a.clock = a.unacked-1, max(a.clock, at)
	if a.stage == acknowledging && a.unacked == 0 {
		s.enqueue(e, p)
	}
}

// endsWindow is agent.endsWindow.
func (s *scene) endsWindow(p int32) bool {
	a := &s.players[p]
	return s.schedule.Next(int(p), a.round+1) >= min(a.until, s.schedule.Rounds(int(p)))
}

func (s *scene) deliver(m dryMessage) {
	e, a := s.engineOf(m.to), &s.players[m.to]
	if m.answer {
		s.acknowledged(e, m.to, 0)
		return
	}
	s.openQueue(e, m.to)
	key := [3]int32{m.to, m.time, m.round}
	if a.entered && a.stage == receiving && a.time == m.time && int32(a.round) == m.round { // received at once
		s.change(e, m.to)
		s.messages[key] = m
		s.enqueue(e, m.to)
		return
	}
	if a.ahead++; a.ahead > coll.EarlyLimit {
		e.use.add(earlyInUse, 1)
	}
	m.early = true
	if !m.held {
		e.use.add(roundsInUse, 1)
		s.keep(e, &m)
	}
	s.messages[key] = m
}

// keep gives an early message a copy of its content, unless its sender holds the content.
func (s *scene) keep(e *dryEngine, m *dryMessage) {
	_, _, rest := m.blocks.Next(s.schedule.Positions())
	local, whole := s.engineOf(m.from) == e, rest.Count == 0
	a := &s.players[m.from]
	switch {
	case !s.data || local && whole && m.waits && !m.held && !m.windowed:
	case local && a.kept != nil && m.blocks.Run == 0 && a.at.First <= m.blocks.First && m.blocks.First+m.blocks.Count <= a.at.First+a.at.Count:
		m.copied = a.kept
		a.kept.users++
	default:
		m.copied = &copied{m.bytes, 1}
		s.content(e, m.bytes, 1)
		if local && whole {
			s.dropKept(e, m.from)
			a.kept, a.at = m.copied, m.blocks
			a.kept.users++
		}
	}
}

// drop is Collectives.drop.
func (s *scene) drop(e *dryEngine, c *copied) {
	if c.users--; c.users == 0 {
		s.content(e, c.bytes, -1)
	}
}

// dropKept is Collectives.dropKept.
func (s *scene) dropKept(e *dryEngine, p int32) {
	if a := &s.players[p]; a.kept != nil {
		s.drop(e, a.kept)
		a.kept = nil
	}
}

// change gives a message a copy of its content if its sender holds the content and is about to
// change it.
func (s *scene) change(e *dryEngine, p int32) {
	a := &s.players[p]
	if !s.data || a.unacked == 0 {
		return
	}
	m, there := s.messages[a.sent]
	if step := s.schedule.Step(int(p), a.round); there && m.early && m.copied == nil && step.Receive == step.Send && s.engineOf(m.to) == e {
		m.copied = &copied{m.bytes, 1}
		s.content(e, m.bytes, 1)
		s.messages[a.sent] = m
	}
}

func (s *scene) receive(e *dryEngine, p int32, step *collectives.Step) bool {
	a := &s.players[p]
	key := [3]int32{p, a.time, int32(a.round)}
	m, there := s.messages[key]
	if !there {
		return false
	}
	if m.waits && m.held {
		s.ackOf(e, &m)
		s.messages[key] = m
		return false
	}
	delete(s.messages, key)
	if m.early || m.held {
		e.use.add(roundsInUse, -1)
	}
	if m.early {
		if a.ahead > coll.EarlyLimit {
			e.use.add(earlyInUse, -1)
		}
		a.ahead--
	}
	if m.held {
		a.clock = max(a.clock, m.at).Add(s.crossings.target.ReceiveTime(0))
	}
	s.change(e, p)
	s.dropKept(e, p)
	if m.copied != nil {
		if step.Combine == collectives.Store {
			a.kept, a.at = m.copied, step.Receive
			a.kept.users++
		}
		s.drop(e, m.copied)
	}
	if m.waits {
		s.send(e, dryMessage{from: p, to: m.from, answer: true})
	}
	return true
}

// locally carries out the dry run round by round.
func (r *dryRun) locally() usage {
	n := r.schedule.Members()
	lists := make([][]int32, r.schedule.MaxRounds())
	g := newGauges()
	for m := range n {
		r.enlist(lists, int32(m), 0)
		if r.data {
			g.addBuffers(r.bufferOf(m), 1)
		}
	}
	for round, active := range lists {
		if r.data {
			r.payloads(g, active, round, 1)
			r.payloads(g, active, round, -1)
		}
		for _, m := range active {
			r.enlist(lists, m, round+1)
		}
	}
	var u usage
	u.take(g)
	u.perParticipant(n)
	return u
}

// enlist adds a member to the list of the first round from round on in which it is active.
func (r *dryRun) enlist(lists [][]int32, m int32, round int) {
	if next := r.schedule.Next(int(m), round); next < r.schedule.Rounds(int(m)) {
		lists[next] = append(lists[next], m)
	}
}

// payloads counts the messages of members in a round that are not one piece of the member's memory.
func (r *dryRun) payloads(g gauges, members []int32, round, n int) {
	for _, m := range members {
		if step := r.schedule.Step(int(m), round); step.To != collectives.None && step.Send.Count > 0 {
			if _, _, rest := step.Send.Next(r.schedule.Positions()); rest.Count > 0 {
				g.addBuffers(r.bytes(step.Send), n)
			}
		}
	}
}
