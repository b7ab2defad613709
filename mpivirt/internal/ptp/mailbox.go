package ptp

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Activity notes that an LP did something other than polling.
func (k *Messages) Activity(lp int32) {
	if box := k.Mailbox(lp); box != nil {
		box.polls = 0
	}
}

// Messages is what a partition keeps of messages between ranks, of requests, and of what
// ranks wait for.
type Messages struct {
	world.Partition
	processing
	pointToPoint
	Completion Completion           // of the call that an LP has made last
	Parked     map[int32]Completion // by LP that is held up
	sentTo     int                  // engine that the running LP has sent to last
	Attached   map[int32]int64      // by LP: room for buffered sends
	pollTime   vtime.Duration
	noise      Noise
	above      Upcalls
}

// Open prepares messages, over a partition that is.
func (k *Messages) Open(noise Noise, up Upcalls) {
	k.above, k.noise, k.pollTime, k.ClocksOnly = up, noise, k.Target.PollTime(), noise == nil
	if k.Target.ReceiverState() {
		k.newProcessors()
	}
	k.CompletedSend, k.Nobody = k.newCompleted(SendRequest), k.newCompleted(procNullRequest)
	k.Completion.LP, k.sentTo = world.None, k.Engine.Index()
}

// InUse returns how many mailboxes have been made, and how many mailboxes and messages are in
// use.
func (k *Messages) InUse() (made, inUse int) {
	return int(k.boxes.Next), k.boxes.InUse() + k.messages.InUse()
}

// Upcalls is what stands above messages: ranks that run, and rounds of collectives, which
// processors carry out among the operations of the ranks' programs. Of a rank it is told
// the LP, of an agent or a round message the index.
type Upcalls interface {
	// Resume runs an LP whose wait is over.
	Resume(lp int32)
	// Deliver takes in a record that came before its communicator was known.
	Deliver(src int, record []byte)
	// End notes that an LP has come to its end.
	End(lp int32)

	// RoundBytes returns the size of a round message.
	RoundBytes(index int32) int64
	// RoundCall returns the call that a round message is for, as far as it is known.
	RoundCall(index int32) world.Procedure
	// AgentCall returns the LP and the call that an agent goes through, and its round. It
	// reports whether the agent has not ended.
	AgentCall(index int32) (lp int32, c world.Procedure, round int, live bool)
	// TakeInRound hands over a round message that an LP has taken in at an instant.
	TakeInRound(lp, index int32, at vtime.Time)
	// SendRoundAt, ReceiveRoundAt and combined carry out an operation of an agent.
	SendRoundAt(lp, index int32, at vtime.Time)
	ReceiveRoundAt(index int32, at vtime.Time)
	Combined(index int32, at vtime.Time)
	// AgentAcknowledged tells an agent that its message has been matched.
	AgentAcknowledged(index int32, t vtime.Time)
}

// pointToPoint is what a kernel keeps of messages between ranks, and of requests.
type pointToPoint struct {
	Slots         []int32 // by LP: its mailbox, 0 if none; nil until the first is needed
	boxes         world.Slab[Mailbox]
	messages      world.Slab[message]
	Requests      world.Slab[request]
	generation    uint32          // of requests
	CompletedSend int32           // stands in for requests that are over at once
	Nobody        int32           // likewise for receives from ProcNull
	errors        map[int32]error // what went wrong with requests, by index
	chargeOrder   []int32         // scratch of chargeAll
	completed     []int32         // scratch of chargeSome
}

// message is a point-to-point message that no receive has taken yet, or that is being
// handed over.
type message struct {
	arrival   vtime.Time
	bytes     int64
	payload   []byte // nil if only the size is simulated
	comm      int32  // index of its communicator
	source    int32  // member of the communicator
	rank      int32  // the sender's number in WORLD
	tag       int32
	request   int32 // the sender's request that waits for the match, 0 if none
	engine    int32 // engine that the message came from
	next      int32
	readyMode bool // sent in ready mode
	large     bool // above the eager limit: the request of a rendezvous, with the payload for its data
}

// overhead is what a buffered message takes beside its payload, in bytes.
const overhead = 96

// before orders messages by (arrival, source rank). Messages of one source
// arrive in the order in which they were sent, and lists keep that order.
func (m *message) before(o *message) bool {
	if m.arrival != o.arrival {
		return m.arrival < o.arrival
	}
	return m.rank < o.rank
}

// Mailbox is what an LP needs beyond its clock once it takes part in
// point-to-point communication or waits for requests. It is made on demand and lives
// until the LP ends.
type Mailbox struct {
	unexpected chain // messages that no receive has taken, FIFO per source
	posted     chain // receives that have no message yet, in posting order
	wildcards  int32 // posted receives from any source
	polls      int32 // failing tests and probes in a row
	flight     flight
	Wait       wait
}

// Box returns the LP's mailbox and makes it if need be.
func (k *Messages) Box(lp int32) *Mailbox {
	if k.Slots == nil {
		k.Slots, k.ClocksOnly = make([]int32, k.Ranks), false
	}
	slot := k.Slots[lp]
	if slot == 0 {
		slot = k.boxes.Take()
		k.Slots[lp] = slot
	}
	return k.boxes.At(slot)
}

// Mailbox returns the LP's mailbox, nil if it has none.
func (k *Messages) Mailbox(lp int32) *Mailbox {
	if k.Slots == nil || k.Slots[lp] == 0 {
		return nil
	}
	return k.boxes.At(k.Slots[lp])
}

// CloseBox gives back the mailbox of an LP that has finished: messages that it never
// received stay unread.
func (k *Messages) CloseBox(lp int32) {
	box := k.Mailbox(lp)
	if box == nil || box.posted.head != 0 { // receives that it never waited for still go on
		return
	}
	for index := box.unexpected.head; index != 0; {
		m := k.messages.At(index)
		next := m.next
		if m.request != 0 {
			return // its sender waits for a receive that never comes: a deadlock to report
		}
		k.Engine.Buffer(-m.bufferedBytes())
		k.dispose(index)
		box.unexpected.head, index = next, next
	}
	k.boxes.Release(k.Slots[lp])
	k.Slots[lp] = 0
}

// Notice lets an LP that may wait look again after something has happened to it.
func (k *Messages) Notice(lp int32) {
	if box := k.Mailbox(lp); box != nil || k.Processors != nil {
		k.reconsider(lp, box)
	}
}

// chain is a singly linked list in a slab.
type chain struct{ head, tail int32 }

func (c *chain) appendMessage(s *world.Slab[message], index int32) {
	s.At(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.At(c.tail).next = index
	}
	c.tail = index
}

// removeMessage unlinks index, whose predecessor is given (0 for the first).
func (c *chain) removeMessage(s *world.Slab[message], previous, index int32) {
	next := s.At(index).next
	if previous == 0 {
		c.head = next
	} else {
		s.At(previous).next = next
	}
	if c.tail == index {
		c.tail = previous
	}
}

func (c *chain) appendRequest(s *world.Slab[request], index int32) {
	s.At(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.At(c.tail).next = index
	}
	c.tail = index
}

func (c *chain) removeRequest(s *world.Slab[request], previous, index int32) {
	next := s.At(index).next
	if previous == 0 {
		c.head = next
	} else {
		s.At(previous).next = next
	}
	if c.tail == index {
		c.tail = previous
	}
}

// flight remembers a sender's messages that may still be under way, so that a
// later message to the same destination cannot overtake them (design of the
// ordered matching: triples of destination, send time and receive time, kept at
// the sender on demand). The latest one lies inline: most senders never have
// two.
type flight struct {
	last triple
	more []triple
}

// triple is a message under way to dst that arrives at receive. It can matter
// to messages sent until expiry = receive - latency.
type triple struct {
	dst     int32
	used    bool
	receive vtime.Time
	expiry  vtime.Time
}

// send returns when a message to dst, sent at t, arrives, and remembers it.
func (f *flight) send(dst int32, t vtime.Time, latency, transfer vtime.Duration) vtime.Time {
	f.drop(t)
	receive := t.Add(latency).Add(transfer)
	slot := f.find(dst)
	if slot == nil {
		slot = f.newSlot()
	} else {
		receive = slot.receive.Add(transfer)
	}
	*slot = triple{dst: dst, used: true, receive: receive, expiry: receive.Add(-latency)}
	return receive
}

// drop forgets what arrives before a message sent at t could.
func (f *flight) drop(t vtime.Time) {
	if f.last.used && f.last.expiry < t {
		f.last.used = false
	}
	kept := f.more[:0]
	for _, tr := range f.more {
		if tr.expiry >= t {
			kept = append(kept, tr)
		}
	}
	f.more = kept
}

func (f *flight) find(dst int32) *triple {
	if f.last.used && f.last.dst == dst {
		return &f.last
	}
	for i := range f.more {
		if f.more[i].dst == dst {
			return &f.more[i]
		}
	}
	return nil
}

func (f *flight) newSlot() *triple {
	if f.last.used {
		f.more = append(f.more, f.last)
	}
	return &f.last
}
