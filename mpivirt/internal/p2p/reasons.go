package p2p

import (
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Why calls wait. Where statistics are on, a message carries when its send began, and the answer to a message that its sender
// waits for carries when the receive was posted. The state lies beside that of messages and requests, so that a run without
// statistics has no memory for it. docs/statistics.md has the rules.

// reasons is the state of a partition for statistics.
type reasons struct {
	origins world.Beside[origin]     // of messages
	of      world.Beside[reason]     // of requests
	waits   world.Beside[vtime.Time] // by LP: its clock when its call began to wait, 0 if it did not
	late    []stats.Waiter           // by LP; nil if nobody asks for whom ranks wait
	waiter  stats.Waiter             // stands in for those of late
	hears   func(r *Received)        // hears each message that is received; nil for none
	departs func(d *Departed)        // hears each nonblocking send that was not complete at once; likewise
	ending  stats.Ending             // what all endings have in common
	shaking map[shakingKey]shaking
	readies world.Beside[readiness]   // of handshakes that pass interfaces: what readyOf returns
	siteOf  func(lp int32) stats.Site // returns where the program has made the call that an LP submits; nil if nobody asks for the places of sends
	sends   world.Beside[stats.Site]  // of messages: the place of their send, if there is siteOf
	sent    world.Beside[stats.Site]  // of requests: likewise, of the message that has completed it; 0 for none
}

// origin has the instants and delays of its send that a message carries.
type origin struct {
	sent, left     vtime.Time     // the send began, and its processor let the message go
	from           vtime.Time     // the send was over, or the message gone, if that was before: the chain leaves the program
	shared, within vtime.Duration // for which other messages have delayed it, between nodes and within a node
	late           stats.Late     // the sender when it began to send
}

// originRecord is the size of an origin in a record between engines.
const originRecord = 5*8 + world.LateRecord

// siteRecord is the size of the place of a send in a record between engines.
const siteRecord = 8

// reason has the causes of the time until a request is complete. Its Ready is not used.
type reason struct {
	stats.Ending
	came vtime.Time // REQ at its receiver, ACK or the undisturbed match at its sender
	sent vtime.Time // the send began; of a receive: once it has its message
	own  stats.Late // the rank itself when it made the request
	took bool       // a receive has its message
}

// Received is a message that a rank has received.
type Received struct {
	Source, Dest int // in WORLD
	Tag          int
	Bytes        int64
	Context      uint64          // of the communicator of the receiver
	Procedure    world.Procedure // of the receive
	Posted       vtime.Time      // the receive was posted
	Sent         vtime.Time      // the send began
	Arrived      vtime.Time      // the receive is complete
}

// Departed is the end of a nonblocking send that has waited for its receiver.
type Departed struct {
	Source, Dest int // in WORLD
	Tag          int
	Sent         vtime.Time // the send began
	Complete     vtime.Time // the send is complete
}

// Hear has functions hear each message that is received, and the ends of nonblocking sends, if messages explain waiting.
func (m *Messages) Hear(hears func(r *Received), departs func(d *Departed)) {
	m.why.hears, m.why.departs = hears, departs
}

// heard reports a receive, or a nonblocking send, that is complete at an instant.
func (m *Messages) heard(request int32, t vtime.Time) {
	w, r := m.why.of.Open(request), m.Requests.At(request)
	own := int(m.Partition.Global(r.LP))
	switch {
	case r.Kind == ReceiveRequest && w.took:
		w.took = false
		m.why.hears(&Received{int(r.rank), own, int(r.Tag), r.Bytes, m.Partition.Comms.At(r.Comm).Known(), r.Procedure, r.posted, w.sent, t})
	case r.Kind == SendRequest && r.Comm != 0 && !r.Procedure.Blocks():
		m.why.departs(&Departed{own, m.Partition.Comms.At(r.Comm).RankOf(int(r.Peer), int32(own)), int(r.Tag), w.sent, t})
	}
}

// Explain has messages carry the causes for which their receivers and senders wait, and if blames says so, for whom these have waited.
func (m *Messages) Explain(blames bool) {
	c := m.Partition.Target.Contention()
	m.why = &reasons{}
	if blames {
		m.why.late = make([]stats.Waiter, m.Partition.Ranks)
		for lp := range m.why.late {
			m.why.late[lp].Rank = m.Partition.Global(int32(lp))
		}
	}
	m.why.ending.Bus = c.Model == network.ModelLinks && c.Busses > 0 && c.Out == 0 && c.In == 0
	m.why.ending.Link = c.Model != "" && !m.why.ending.Bus
}

// Site has messages carry the places of the program that send them.
func (m *Messages) Site(siteOf func(lp int32) stats.Site) { m.why.siteOf = siteOf }

// sentFrom notes the place of the send of an LP's message.
func (m *Messages) sentFrom(lp, message int32) {
	if m.why != nil && m.why.siteOf != nil {
		*m.why.sends.Open(message) = m.why.siteOf(lp)
	}
}

// SentFrom returns the place of the send of the message that has ended a call; 0 if it is not known.
func (m *Messages) SentFrom(e Ended) stats.Site {
	switch {
	case m.why.siteOf == nil:
	case e.Request != 0:
		return *m.why.sent.Open(e.Request)
	case e.Message != 0:
		return *m.why.sends.Open(e.Message)
	}
	return 0
}

// Explains reports whether messages carry the causes of waits.
func (m *Messages) Explains() bool { return m.why != nil }

// Begins notes that an LP's call begins, which does not wait yet.
func (m *Messages) Begins(lp int32) {
	if m.why != nil {
		if w := m.why.waits.Peek(lp); w != nil {
			*w = 0
		}
	}
}

// Ending returns the ending of an operation that shares nothing yet.
func (m *Messages) Ending() stats.Ending { return m.why.ending }

// ReasonOf returns the reason of a nonblocking collective, to be set.
func (m *Messages) ReasonOf(request int32) *stats.Ending { return &m.why.of.Open(request).Ending }

// Waiter returns the record of an LP's waits for other ranks, to be set.
func (m *Messages) Waiter(lp int32) *stats.Waiter {
	if m.why.late == nil {
		m.why.waiter = stats.Waiter{Late: stats.Late{Rank: m.Partition.Global(lp)}}
		return &m.why.waiter
	}
	return &m.why.late[lp]
}

// Waiters returns the records of consecutive LPs, to be set; nil if nobody asks for whom ranks wait.
func (m *Messages) Waiters(lo, hi int32) []stats.Waiter {
	if m.why.late == nil {
		return nil
	}
	return m.why.late[lo:hi]
}

// Blames reports whether the ranks are known for whom others wait.
func (m *Messages) Blames() bool { return m.why.late != nil }

// LateAt returns an LP with its waits for other ranks when it made a request.
func (m *Messages) LateAt(request int32) *stats.Late { return &m.why.of.Open(request).own }

// explains notes where a message of an LP comes from.
func (m *Messages) explains(lp, message int32, sent, left, from vtime.Time) {
	*m.why.origins.Open(message) = origin{sent: sent, left: left, from: from, late: m.Waiter(lp).Late}
}

// takes notes the message of a receive, which an LP has posted at an instant. If DATA follow, the chain comes from the later of the
// post and the arrival of REQ.
func (m *Messages) takes(lp, request int32, message int32, posted vtime.Time) {
	o, msg, r := m.why.origins.Open(message), m.messages.At(message), m.why.of.Open(request)
	*r = reason{Ending: m.why.ending, came: msg.arrival, sent: o.sent, own: r.own, took: true}
	r.Late, r.Other, r.Left, r.Shared, r.Within, r.Whom = stats.LateSender, o.sent, o.left, o.shared, o.within, o.late
	if m.why.siteOf != nil {
		*m.why.sent.Open(request) = *m.why.sends.Open(message)
	}
	if r.Chain = o.chain(msg.rank); msg.large && posted > msg.arrival {
		r.Chain = stats.Chain{Rank: m.Partition.Global(lp), At: posted}
	}
}

// chain returns the chain of a message of a rank.
func (o *origin) chain(rank int32) stats.Chain {
	return stats.Chain{Rank: rank, At: o.from, Shared: o.shared, Within: o.within}
}

// leaves begins the chain of a send, which began at an instant, and whose message leaves its processor at another.
func (m *Messages) leaves(request, rank int32, sent, at vtime.Time) {
	if request != 0 {
		w := m.why.of.Open(request)
		w.sent, w.Chain = sent, stats.Chain{Rank: rank, At: at}
	}
}

// readiness is the instant from which on a rank could answer, 0 for none. by is the rank if it has delayed the answer, so that the
// chain comes from its program, else None. late is the rank with its latest wait before the instant.
type readiness struct {
	at   vtime.Time
	by   int32
	late stats.Late
}

var unasked = readiness{by: world.None}

// readyRecord is the size of a readiness in a record between engines.
const readyRecord = 8 + 4 + world.LateRecord

func (r readiness) write(w *world.Writer) {
	w.U64(uint64(r.at))
	w.U32(uint32(r.by))
	w.Late(&r.late)
}

func readReadiness(r *world.Reader) readiness {
	return readiness{vtime.Time(r.U64()), int32(r.U32()), r.Late()}
}

// readied notes the readiness of the other end of a request.
func (m *Messages) readied(request int32, c stats.Cause, ready readiness) {
	if m.why == nil || request == 0 || ready.at == 0 {
		return
	}
	r := m.why.of.Open(request)
	r.Late = c
	if ready.at >= r.Other {
		r.Other, r.Whom = ready.at, ready.late
	}
	if ready.by != world.None {
		r.Chain = stats.Chain{Rank: ready.by, At: ready.at}
	}
}

// delays notes the time for which other messages have delayed ACK or DATA of a request.
func (m *Messages) delays(request int32, within bool, d vtime.Duration) {
	if m.why == nil || request == 0 {
		return
	}
	if r := m.why.of.Open(request); within {
		r.Within += d
		r.Chain.Within += d
	} else {
		r.Shared += d
		r.Chain.Shared += d
	}
}

// disturbed adds a delay to the delays of a message.
func (o *origin) disturbed(within bool, d vtime.Duration) {
	if within {
		o.within += d
	} else {
		o.shared += d
	}
}

// WithinNode reports whether a message stays within a node.
func (m *Messages) WithinNode(p *resource.Passage) bool {
	t := m.Partition.Target
	return t.Node(int(p.Source)) == t.Node(int(p.Dest))
}

// write writes an origin to a record.
func (o *origin) write(w *world.Writer) {
	w.U64(uint64(o.sent))
	w.U64(uint64(o.left))
	w.U64(uint64(o.from))
	w.U64(uint64(o.shared))
	w.U64(uint64(o.within))
	w.Late(&o.late)
}

// readOrigin reads an origin from a record.
func readOrigin(r *world.Reader) origin {
	return origin{vtime.Time(r.U64()), vtime.Time(r.U64()), vtime.Time(r.U64()), vtime.Duration(r.U64()), vtime.Duration(r.U64()), r.Late()}
}

// recordSize returns the size of the fixed part of a message between engines.
func (m *Messages) recordSize() int {
	switch {
	case m.why == nil:
		return messageRecord
	case m.why.siteOf != nil:
		return messageRecord + originRecord + siteRecord
	}
	return messageRecord + originRecord
}

// Ended is the end of a call: the instant at which all messages that the call has completed had arrived, the rank whose message
// arrived last, None for no message, and the request or the message that determines the instant, 0 for none.
type Ended struct {
	At      vtime.Time
	Rank    int
	Request int32
	Message int32
}

// EndingOf stores why an LP's call has taken its time.
func (m *Messages) EndingOf(lp int32, e Ended, why *stats.Ending) {
	switch {
	case e.Request != 0:
		*why = m.why.of.Open(e.Request).Ending
	case e.Message != 0:
		o := m.why.origins.Open(e.Message)
		*why = m.why.ending
		why.Late, why.Other, why.Left, why.Shared, why.Within, why.Whom = stats.LateSender, o.sent, o.left, o.shared, o.within, o.late
		why.Chain = o.chain(m.messages.At(e.Message).rank)
	default:
		why.Known = false
		return
	}
	why.Known, why.From, why.Ready = true, *m.why.waits.Open(lp), e.At
}

// told has the data for statistics that the answer to a handshake carries to the other rank.
type told struct {
	ready readiness      // of the rank that answers, if that has delayed the answer
	delay vtime.Duration // at the interfaces of the node of that rank
}

// shaking is when a receive was posted, and when the message for it came that its sender waits for.
type shaking struct {
	posted, came vtime.Time
	late         stats.Late // the rank when it posted the receive
}

// shakingKey identifies a handshake: REQ above the eager limit by the request of its receive, which waits for DATA, else REQ or ACK by
// the other rank and its request.
type shakingKey struct {
	peer, request int32
	ack           bool
}

func (h *handshake) key() shakingKey {
	if h.large && !h.ack {
		return shakingKey{peer: world.None, request: h.request}
	}
	return shakingKey{h.peer, h.opposite, h.ack}
}

// shakes notes a handshake that its rank may answer later: REQ, or ACK of a buffered send. The receive, or the send, may be over by
// then.
func (w *reasons) shakes(h *handshake, posted, came vtime.Time, late stats.Late) {
	if w.shaking == nil {
		w.shaking = map[shakingKey]shaking{}
	}
	w.shaking[h.key()] = shaking{posted, came, late}
}

// readyOf returns the instant from which on the rank of a handshake, which it answers at an instant, could answer: when it had
// posted the receive, or when it was in a call. It is 0 for an ACK that has not waited. Each answer asks once.
func (m *Messages) readyOf(h *handshake, at vtime.Time) readiness {
	if m.why == nil {
		return unasked
	}
	s := shaking{}
	if h.ack && h.request != 0 {
		s.came = m.why.of.Open(h.request).came
	} else {
		key := h.key()
		s = m.why.shaking[key]
		delete(m.why.shaking, key)
	}
	own := m.Partition.Global(h.lp)
	switch {
	case at > max(s.posted, s.came): // the rank was not in a call
		if h.request != 0 {
			m.why.of.Open(h.request).Chain = stats.Chain{Rank: own, At: at}
		}
		return readiness{at, own, stats.Late{Rank: own}}
	case s.posted > s.came:
		return readiness{s.posted, own, s.late}
	}
	return readiness{s.posted, world.None, s.late}
}

// causeOf returns the cause for which the receiver of the answer to a handshake waits before that.
func (h *handshake) causeOf() stats.Cause {
	if h.ack {
		return stats.LateSender
	}
	return stats.LateReceiver
}

// hears stores the causes that an answer of a kind carries to a request.
func (m *Messages) hears(kind byte, request int32, t told) {
	cause := stats.LateReceiver
	if kind == world.RecordData {
		cause = stats.LateSender
	}
	m.readied(request, cause, t.ready)
	m.delays(request, false, t.delay)
}

// toldReady returns the stored result of readyOf for a handshake that passes interfaces.
func (m *Messages) toldReady(index int32) readiness {
	if m.why == nil {
		return unasked
	}
	return *m.why.readies.Open(index)
}
