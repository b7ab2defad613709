package ptp

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Activity ends an LP's loop of polls: it has made another call.
func (k *Messages) Activity(lp int32) {
	if box := k.Mailbox(lp); box != nil {
		box.polls = 0
	}
}

// Messages is the state of a partition's point-to-point messages, requests and waits.
type Messages struct {
	world.Partition
	processing
	pointToPoint
	Completion Completion           // of the latest call
	Parked     map[int32]Completion // by LP that pauses or is throttled
	sentTo     int                  // engine of the running LP's latest send
	Attached   map[int32]int64      // by LP: size in bytes of its buffer for buffered sends
	pollTime   vtime.Duration
	noise      Noise
	above      Upcalls
}

// Open sets up messages on the partition, which exists already.
func (k *Messages) Open(noise Noise, up Upcalls) {
	k.above, k.noise, k.pollTime, k.ClocksOnly = up, noise, k.Target.PollTime(), noise == nil
	if k.Target.ReceiverState() {
		k.newProcessors()
	}
	k.CompletedSend, k.Nobody = k.newCompleted(SendRequest), k.newCompleted(procNullRequest)
	k.Completion.LP, k.sentTo = world.None, k.Engine.Index()
}

// InUse returns the number of mailboxes made so far, and the number of mailboxes and messages
// in use.
func (k *Messages) InUse() (made, inUse int) {
	return int(k.boxes.Next), k.boxes.InUse() + k.messages.InUse()
}

// Upcalls is the interface to the rooms above: to ranks that run, and to rounds of
// collectives. Processors carry out rounds among the operations of the ranks' programs.
// Ranks are named by LP, agents and round messages by index.
type Upcalls interface {
	// Resume runs an LP whose wait is over.
	Resume(lp int32)
	// Deliver handles a record that came before its communicator was known.
	Deliver(src int, record []byte)
	// End records the finish of an LP.
	End(lp int32)

	// RoundBytes returns the size of a round message.
	RoundBytes(index int32) int64
	// RoundCall returns the call of a round message, as far as it is known.
	RoundCall(index int32) world.Procedure
	// AgentCall returns the LP, the call and the round of an agent, and whether the agent
	// still exists.
	AgentCall(index int32) (lp int32, c world.Procedure, round int, live bool)
	// TakeInRound handles a round message that an LP has taken in.
	TakeInRound(lp, index int32, at vtime.Time)
	// SendRoundAt sends the message of an agent's round.
	SendRoundAt(lp, index int32, at vtime.Time)
	// ReceiveRoundAt receives the message of an agent's round, which is there already.
	ReceiveRoundAt(index int32, at vtime.Time)
	// Combined handles the end of an agent's computation, which began at an instant.
	Combined(index int32, at vtime.Time)
	// AgentAcknowledged handles the match of an agent's message at t.
	AgentAcknowledged(index int32, t vtime.Time)
}

// pointToPoint holds the mailboxes, messages and requests of a partition.
type pointToPoint struct {
	Slots         []int32 // by LP: its mailbox, 0 if none; nil until the first is needed
	boxes         world.Slab[Mailbox]
	messages      world.Slab[message]
	Requests      world.Slab[request]
	generation    uint32          // of requests
	CompletedSend int32           // stands in for requests that are over at once
	Nobody        int32           // likewise for receives from ProcNull
	errors        map[int32]error // of requests, by index
	chargeOrder   []int32         // scratch of chargeAll
	completed     []int32         // scratch of chargeSome
}

// message is a point-to-point message that no receive has taken yet.
type message struct {
	arrival   vtime.Time
	bytes     int64
	payload   []byte // nil if only the size is simulated
	comm      int32  // index of its communicator
	source    int32  // member of the communicator
	rank      int32  // the sender's number in WORLD
	tag       int32
	request   int32 // of the sender, pending until the match; 0 for none
	engine    int32 // of the sender
	next      int32
	readyMode bool // sent in ready mode
	large     bool // above the eager limit: REQ, with the payload of DATA
}

// overhead is the memory of a buffered message without its payload, in bytes.
const overhead = 96

// before orders messages by (arrival, source rank). Messages of one source arrive, and stand
// in lists, in the order of sending.
func (m *message) before(o *message) bool {
	if m.arrival != o.arrival {
		return m.arrival < o.arrival
	}
	return m.rank < o.rank
}

// Mailbox holds an LP's messages, receives and wait. The first message or wait makes it; it
// lives until the LP ends.
type Mailbox struct {
	unexpected chain // messages that no receive has taken, FIFO per source
	posted     chain // receives that have no message yet, in posting order
	wildcards  int32 // posted receives from any source
	polls      int32 // failing tests and probes in a row
	flight     flight
	Wait       wait
}

// Box returns the LP's mailbox. It makes one if there is none.
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

// CloseBox releases the mailbox of an LP that has finished, with the messages that it has not
// received.
func (k *Messages) CloseBox(lp int32) {
	box := k.Mailbox(lp)
	if box == nil || box.posted.head != 0 { // receives without a wait go on
		return
	}
	for index := box.unexpected.head; index != 0; {
		m := k.messages.At(index)
		next := m.next
		if m.request != 0 {
			return // the sender waits for ever, which the deadlock report names
		}
		k.Engine.Buffer(-m.bufferedBytes())
		k.dispose(index)
		box.unexpected.head, index = next, next
	}
	k.boxes.Release(k.Slots[lp])
	k.Slots[lp] = 0
}

// Notice reconsiders the wait of an LP, if it has one, after an event at the LP.
func (k *Messages) Notice(lp int32) {
	if box := k.Mailbox(lp); box != nil || k.Processors != nil {
		k.reconsider(lp, box)
	}
}

// chain is a singly linked list in a slab.
type chain struct{ head, tail int32 }

// appendMessage links a message at the tail.
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

// appendRequest links a request at the tail.
func (c *chain) appendRequest(s *world.Slab[request], index int32) {
	s.At(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.At(c.tail).next = index
	}
	c.tail = index
}

// removeRequest unlinks index, whose predecessor is given (0 for the first).
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

// flight holds a sender's messages that may still be under way. A later message to the same
// destination must not overtake them. The latest one lies inline, since most senders have
// at most one.
type flight struct {
	last triple
	more []triple
}

// triple is a message under way to dst that arrives at receive. It can delay messages sent
// until expiry = receive - latency.
type triple struct {
	dst     int32
	used    bool
	receive vtime.Time
	expiry  vtime.Time
}

// send returns the arrival of a message to dst, sent at t, and stores the message.
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

// drop removes the messages that cannot delay one sent at t or later.
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

// find returns the message under way to dst, nil for none.
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

// newSlot returns the inline place, after it has moved its message to more.
func (f *flight) newSlot() *triple {
	if f.last.used {
		f.more = append(f.more, f.last)
	}
	return &f.last
}
