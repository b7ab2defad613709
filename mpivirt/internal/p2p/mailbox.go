package p2p

import (
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Activity ends an LP's loop of polls, since the LP has made another call.
func (m *Messages) Activity(lp int32) {
	if m.MailboxOf != nil && m.MailboxOf[lp] != 0 {
		m.boxes.At(m.MailboxOf[lp]).polls = 0
	}
}

// Messages is the state of a partition's point-to-point messages, requests and waits.
type Messages struct {
	Partition  world.Partition
	Processors *resource.Processors // nil under models without state at the receiver
	Interfaces resource.Network     // nil unless messages between nodes delay each other
	progress
	pointToPoint
	loops
	lateness
	Completion Completion            // of the latest call
	Parked     map[int32]*Completion // by LP that pauses or is throttled: its completion

	spareCompletions world.Stack[*Completion] // empty completions, with the memory of their lists

	sentTo    int             // engine of the running LP's latest send
	Attached  map[int32]int64 // by LP: size in bytes of its buffer for buffered sends
	cost      cost            // of the message sent last
	left      vtime.Time      // departure of that message, without regard to other messages
	noise     Noise
	above     Upcalls
	jittered  []uint32 // by LP: messages sent, on a target with jitter
	mayCancel []bool   // by LP; nil until a program sets it

	why     *reasons // for statistics; nil without them
	summing bool     // sends and receives that are over at once tell the statistics
	likes   stats.Likes

	Lender Lender // holds the memory of sends; nil if Go manages that memory

	latencyBySize bool // the latency of a message depends on its size

	sendsAtOnce bool // no model or option wants more of an eager send than SendAtOnce does, of one that shares no interface or memory
}

// Open initialises messages on the partition, which exists already. polls is the number of failing
// polls in a row that make a long loop, 0 for UsualPolls.
func (m *Messages) Open(noise Noise, polls int32, up Upcalls) {
	m.above, m.noise, m.Partition.ClocksOnly = up, noise, noise == nil && m.Partition.Activities == nil
	m.loops.open(m.Partition.Target.PollTime(), polls)
	if t, first, end := m.Partition.Target, m.Partition.First, m.Partition.First+m.Partition.Ranks; !t.Contended() && !t.SharedState() {
		m.nearest = t.Lookahead(first, end, first, end)
	}
	m.firstLong = vtime.Time(0).Add(m.pollTime.Times(int(m.longLoop)))
	if m.Partition.Target.ReceiverState() {
		m.newProcessors()
	}
	m.openProgress()
	m.openPassages()
	m.latencyBySize = m.Partition.Target.LatencyBySize()
	m.sendsAtOnce = m.Partition.Activities == nil && m.shortSends()
	m.cost = cost{src: world.None, bytes: -1, overhead: m.Partition.Target.Overhead().Send} // matches no message
	m.Requests.Begin(&m.firstRequests)
	m.CompletedSend, m.CompletedReceive = m.newCompleted(SendRequest), m.newCompleted(procNullRequest)
	m.Completion.LP, m.sentTo = world.None, m.Partition.Engine.Index()
}

// InUse returns the number of mailboxes made so far, and the number of mailboxes and messages in
// use.
func (m *Messages) InUse() (made, inUse int) {
	return int(m.boxes.Next), m.boxes.InUse() + m.messages.InUse()
}

// Upcalls is the interface of messages to the rooms above.
type Upcalls interface {
	// Resume runs an LP whose wait is over.
	Resume(lp int32)
	// IndexOfContext returns the index of the communicator with a context. The ranks of this engine
	// may make the communicator later.
	IndexOfContext(context uint64) int32
	// InCall tells an agent the instant at which its LP handles an event. The agent has named the event in AwaitCall.
	InCall(agent, what int32, at vtime.Time)
	// EarliestAgent returns an instant before which no agent acts any more, Forever if there is none.
	EarliestAgent() vtime.Time
	// End records the finish of an LP.
	End(lp int32)
}

// pointToPoint holds the mailboxes, messages and requests of a partition.
type pointToPoint struct {
	MailboxOf        []int32 // by LP: its mailbox, 0 for none; nil before the first mailbox
	boxes            world.Slab[Mailbox]
	messages         world.Slab[message]
	Requests         world.Slab[request]
	firstRequests    [world.SlabFirst]request
	bins             world.Slab[bins]
	longSendOrders   map[int32]*longSendOrder // by LP that has many messages under way
	generation       uint32                   // of the latest request
	CompletedSend    int32                    // stands in for sends that complete at once
	CompletedReceive int32                    // likewise for receives from ProcNull
	errors           map[int32]error          // of requests, by index
	exchanges        map[int32]*exchange      // by request
	spareExchanges   []*exchange
	standIns         []int32            // by LP: operations begun with one of these two requests, and not waited for; nil if nobody has begun any
	waitSets         map[int32]*waitSet // by LP that has waited for any of many requests
	chargeOrder      []int32            // scratch of chargeAll
	completed        []int32            // scratch of chargeSome
	checks           uint32             // with invariants: counts the checks of mailboxes with long lists
}

// message is a point-to-point message that no receive has taken yet.
type message struct {
	arrival vtime.Time
	bytes   int64
	payload []byte // nil if only the size is simulated
	comm    int32  // index of the communicator
	source  int32  // member of the communicator
	rank    int32  // WORLD number of the sender
	tag     int32
	request int32  // of the sender, pending until the match; 0 for none
	number  uint32 // in bins: counts the messages of the mailbox
	next    int32
	sender  senderState
	large   bool               // above the eager limit: REQ, with the payload of DATA
	view    bool               // the payload is memory of the sender, or of a record
	lent    bool               // the sender does not change its memory before the send is complete
	small   [smallPayload]byte // the payload if it is short, once it is no view
}

// senderState is the part of the sender's state that a message carries.
type senderState uint8

const (
	sendsReady   senderState = 1 << iota // the sender sends in ready mode
	sendsInCall                          // the sender is on another engine, and in one call until the rendezvous is complete
	sentTooEarly                         // the sender sends in ready mode, and a processor had the message before the receive was posted
)

// readyMode reports whether a message was sent in ready mode.
func (m *message) readyMode() bool { return m.sender&sendsReady != 0 }

// tooEarly reports whether a message was sent in ready mode and arrived before its receive, which
// was posted at an instant. A processor stores that in the message when it takes the message in;
// then arrival becomes that instant.
func (m *message) tooEarly(posted vtime.Time) bool {
	return m.readyMode() && posted > m.arrival || m.sender&sentTooEarly != 0
}

// smallPayload is the greatest length of a payload stored inside its message.
const smallPayload = 16

// overhead is the memory of a buffered message without its payload, in bytes.
const overhead = 96

// before orders messages by (arrival, source rank). Messages of one source arrive, and stand in
// lists, in the order of sending.
func (m *message) before(o *message) bool {
	if m.arrival != o.arrival {
		return m.arrival < o.arrival
	}
	return m.rank < o.rank
}

// Mailbox stores an LP's messages, receives and wait. The LP's first message or wait makes the
// mailbox, and the end of the LP releases it.
type Mailbox struct {
	unexpected chain      // messages that no receive has taken, FIFO per source; a negative head is the negative index of bins
	posted     chain      // receives that have no message yet, in posting order
	wildcards  int32      // posted receives that are undecided, such as receives from any source; if 0, no unexpected message matches a receive
	polls      int32      // failing tests and probes in a row, up to endless
	settles    vtime.Time // instant of the pending event of settleAt, Forever for none; events of later instants may be pending, too
	sendOrder  sendOrder
	Wait       wait
}

// Box returns the LP's mailbox. It makes a missing mailbox.
func (m *Messages) Box(lp int32) *Mailbox {
	if m.MailboxOf == nil {
		m.MailboxOf, m.Partition.ClocksOnly = make([]int32, m.Partition.Ranks), false
	}
	slot := m.MailboxOf[lp]
	if slot == 0 {
		slot = m.boxes.Take()
		m.MailboxOf[lp] = slot
		m.boxes.At(slot).settles = vtime.Forever
	}
	return m.boxes.At(slot)
}

// Mailbox returns the LP's mailbox, nil for an LP without mailbox.
func (m *Messages) Mailbox(lp int32) *Mailbox {
	if m.MailboxOf == nil || m.MailboxOf[lp] == 0 {
		return nil
	}
	return m.boxes.At(m.MailboxOf[lp])
}

// HasUnexpected reports whether an LP has messages that no receive has taken.
func (m *Messages) HasUnexpected(lp int32) bool {
	box := m.Mailbox(lp)
	return box != nil && box.unexpected.head != 0
}

// CloseBox releases the mailbox of an LP that has finished, and the messages that the LP has not
// received. A message whose sender waits for the match stays, since the deadlock report names it.
func (m *Messages) CloseBox(lp int32) {
	if m.InCalls {
		m.EnterWait(lp) // answers at the clock of the LP, which counts in earliestHandshake until then
		m.computing[lp].ended = true
	}
	box := m.Mailbox(lp)
	if box == nil || m.hasReceives(box) { // receives without a wait go on
		return
	}
	if box.binned() {
		for _, index := range m.unexpectedIn(m.binsOf(box)) {
			m.abandon(lp, box, index)
		}
	}
	for index := box.unexpected.head; index > 0; {
		next := m.messages.At(index).next
		m.abandon(lp, box, index)
		index = next
	}
	if box.unexpected.head != 0 {
		return
	}
	if box.sendOrder.isLong() {
		delete(m.longSendOrders, lp)
	}
	m.Discard(lp)
	m.boxes.Release(m.MailboxOf[lp])
	m.MailboxOf[lp] = 0
}

// abandon releases an unexpected message, unless its sender waits for the match.
func (m *Messages) abandon(lp int32, box *Mailbox, index int32) {
	if m.messages.At(index).request == 0 {
		m.unreceived(lp, index)
		m.removeUnexpected(box, index)
		m.dispose(index)
	}
}

// unreceived counts a message that its LP has not received.
func (m *Messages) unreceived(lp, index int32) {
	msg := m.messages.At(index)
	m.Partition.Summary.Unreceived.Add(m.Partition.Global(lp), m.Partition.Clock[lp], msg.rank, msg.tag, msg.arrival, msg.bytes)
}

// CountUnreceived counts, when all LPs have ended, the messages that reached LPs after their end
// and the messages that a matched probe has found and no receive has taken.
func (m *Messages) CountUnreceived() {
	if m.messages.InUse() == 0 {
		return
	}
	for index := int32(1); index <= m.messages.Next; index++ {
		if !m.messages.Taken(index) {
			continue
		}
		if next := m.messages.Peek(index).next; next < 0 {
			m.unreceived(^next, index)
		}
	}
	for lp := range int32(len(m.MailboxOf)) {
		if m.MailboxOf[lp] == 0 {
			continue
		}
		box := m.Box(lp)
		if box.binned() {
			for _, index := range m.unexpectedIn(m.binsOf(box)) {
				m.unreceived(lp, index)
			}
			continue
		}
		for index := box.unexpected.head; index != 0; index = m.messages.At(index).next {
			m.unreceived(lp, index)
		}
	}
	if m.Processors != nil {
		m.Processors.Untaken(resource.OfProgram, m.unreceived)
	}
}

// Notice evaluates the wait of an LP, if it waits, again after an event at the LP.
func (m *Messages) Notice(lp int32) {
	if box := m.Mailbox(lp); box != nil || m.Processors != nil {
		m.reconsider(lp, box)
	}
}
