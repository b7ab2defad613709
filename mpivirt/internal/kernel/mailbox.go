package kernel

import "gigarank/vtime"

// Numbers that stand for no rank, tag or index of their own. They differ from one
// another, so that one in the place of another is found.
const (
	NoMember  = -1     // what [Group.Member] gives for a rank outside the group
	AnySource = -2     // MPI_ANY_SOURCE
	ProcNull  = -3     // MPI_PROC_NULL
	AnyTag    = -4     // MPI_ANY_TAG
	Undefined = -32766 // MPI_UNDEFINED: the color of no communicator, the index of no request
)

// pointToPoint is what a kernel keeps of messages between ranks, and of requests.
type pointToPoint struct {
	slots      []int32 // by LP: its mailbox, 0 if none; nil until the first is needed
	boxes      slab[mailbox]
	messages   slab[message]
	requests   slab[request]
	generation uint32          // of requests
	done       int32           // stands in for requests that are over at once
	nobody     int32           // likewise for receives from ProcNull
	failures   map[int32]error // what went wrong with requests, by index
	order      []int32         // scratch of chargeAll
	over       []int32         // scratch of chargeSome
}

// message is a point-to-point message that no receive has taken yet, or that is being
// handed over.
type message struct {
	arrival vtime.Time
	bytes   int64
	payload []byte // nil if only the size is simulated
	comm    int32  // index of its communicator
	source  int32  // member of the communicator
	rank    int32  // the sender's number in WORLD
	tag     int32
	request int32 // the sender's request that waits for the match, 0 if none
	engine  int32 // engine that the message came from
	next    int32
	ready   bool // sent in ready mode
	large   bool // above the eager limit: the request of a rendezvous, with the payload for its data
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

// mailbox is what an LP needs beyond its clock once it takes part in
// point-to-point communication or waits for requests. It is made on demand and lives
// until the LP ends.
type mailbox struct {
	unexpected chain // messages that no receive has taken, FIFO per source
	posted     chain // receives that have no message yet, in posting order
	wildcards  int32 // posted receives from any source
	polls      int32 // failing tests and probes in a row
	flight     flight
	wait       wait
}

// box returns the LP's mailbox and makes it if need be.
func (k *Kernel) box(lp int32) *mailbox {
	if k.slots == nil {
		k.slots, k.ClocksOnly = make([]int32, k.n), false
	}
	slot := k.slots[lp]
	if slot == 0 {
		slot = k.boxes.take()
		k.slots[lp] = slot
	}
	return k.boxes.at(slot)
}

// mailbox returns the LP's mailbox, nil if it has none.
func (k *Kernel) mailbox(lp int32) *mailbox {
	if k.slots == nil || k.slots[lp] == 0 {
		return nil
	}
	return k.boxes.at(k.slots[lp])
}

// closeBox gives back the mailbox of an LP that has finished: messages that it never
// received stay unread.
func (k *Kernel) closeBox(lp int32) {
	box := k.mailbox(lp)
	if box == nil || box.posted.head != 0 { // receives that it never waited for still go on
		return
	}
	for index := box.unexpected.head; index != 0; {
		m := k.messages.at(index)
		next := m.next
		if m.request != 0 {
			return // its sender waits for a receive that never comes: a deadlock to report
		}
		k.eng.Buffer(-m.bytesHeld())
		k.dispose(index)
		box.unexpected.head, index = next, next
	}
	k.boxes.release(k.slots[lp])
	k.slots[lp] = 0
}

// notice lets an LP that may wait look again after something has happened to it.
func (k *Kernel) notice(lp int32) {
	if box := k.mailbox(lp); box != nil || k.processors != nil {
		k.look(lp, box)
	}
}

// chain is a singly linked list in a slab.
type chain struct{ head, tail int32 }

func (c *chain) appendMessage(s *slab[message], index int32) {
	s.at(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.at(c.tail).next = index
	}
	c.tail = index
}

// removeMessage unlinks index, whose predecessor is given (0 for the first).
func (c *chain) removeMessage(s *slab[message], previous, index int32) {
	next := s.at(index).next
	if previous == 0 {
		c.head = next
	} else {
		s.at(previous).next = next
	}
	if c.tail == index {
		c.tail = previous
	}
}

func (c *chain) appendRequest(s *slab[request], index int32) {
	s.at(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.at(c.tail).next = index
	}
	c.tail = index
}

func (c *chain) removeRequest(s *slab[request], previous, index int32) {
	next := s.at(index).next
	if previous == 0 {
		c.head = next
	} else {
		s.at(previous).next = next
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
		slot = f.room()
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

func (f *flight) room() *triple {
	if f.last.used {
		f.more = append(f.more, f.last)
	}
	return &f.last
}
