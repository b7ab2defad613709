package p2p

import (
	"gigarank/internal/invariant"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Matching follows MPI. A message goes to the first posted receive that matches it. A receive takes
// the first message that matches it, by (arrival, source rank, order of sending). Both rules are
// the same rule: receives, in posting order, each take their least matching message. So the result
// does not depend on the order in which messages and receives reach the host. The open question is
// whether a lesser message may still come.
//
//   - For a receive that names its source the answer is no. Messages of one source come in
//     order, so the first that matches is the least, whatever other ranks do. Only an earlier
//     receive that matches the same message can take it before: a receive from any source, or
//     a receive that waits itself for the choice of such a receive.
//   - A receive from any source takes its least message once all arrivals up to the arrival of
//     this message are known.

// unknown is an instant before all arrivals: no arrival is known.
const unknown vtime.Time = -1

// arrive matches a point-to-point message at its LP, or stores it as unexpected.
func (m *Messages) arrive(lp int32, index int32) {
	box := m.Box(lp)
	msg := m.messages.At(index)
	if m.anew {
		m.checkArrival(lp, msg)
	}
	ri := int32(0)
	if box.posted.head != 0 || box.binned() {
		ri = m.firstReceive(box, msg)
	}
	if ri != 0 {
		r := m.Requests.At(ri)
		if !r.undecided && (box.wildcards == 0 || m.leastMessage(box, r.pattern()) == 0) {
			m.removePosted(box, ri)
			m.take(lp, box, ri, index)
			m.reconsider(lp, box)
			return
		}
	}
	m.keep(msg)
	m.addUnexpected(box, index)
	if ri != 0 {
		m.settleAt(lp, box, msg.arrival)
	}
	if box.Wait.Kind != NoWait {
		m.reconsider(lp, box)
	}
	if invariant.Enabled {
		m.CheckMailbox(lp)
	}
}

// post posts a receive, or completes the receive if its message is already certain.
func (m *Messages) post(lp int32, box *Mailbox, ri int32) {
	r := m.Requests.At(ri)
	index := int32(0)
	if box.unexpected.head != 0 {
		index = m.leastMessage(box, r.pattern())
	}
	switch {
	case index == 0:
	case r.undecided:
		m.settleAt(lp, box, m.messages.At(index).arrival)
	case !m.claimed(box, m.messages.At(index)):
		m.removeUnexpected(box, index)
		m.take(lp, box, ri, index)
		return
	}
	m.addPosted(box, ri)
}

// settle completes the posted receives whose messages are certain, given that all arrivals at or
// before known have been delivered. It reports whether it has completed a receive, and returns the
// instant up to which arrivals must be known for the next receive, Forever for none.
//
// The least of all messages that match a posted receive is the first choice of each receive that it
// matches. So the first of these receives takes the message once no lesser message may come.
// Without receives from any source no lesser message may come.
func (m *Messages) settle(lp int32, box *Mailbox, known vtime.Time) (settled bool, next vtime.Time) {
	for {
		index := m.leastContested(box)
		if index == 0 {
			return settled, vtime.Forever
		}
		msg := m.messages.At(index)
		if msg.arrival > known && box.wildcards > 0 {
			return settled, msg.arrival
		}
		ri := m.firstReceive(box, msg)
		p := m.Requests.At(ri).pattern()
		if p.source == world.AnySource {
			m.decides(lp, p, msg.arrival, msg.rank)
		}
		m.removePosted(box, ri)
		m.removeUnexpected(box, index)
		m.prefetch(lp, box, p)
		m.take(lp, box, ri, index)
		settled = true
	}
}

// take completes a receive with its message, and acknowledges the message if the sender waits.
func (m *Messages) take(lp int32, box *Mailbox, ri, index int32) {
	r, msg := m.Requests.At(ri), m.messages.At(index)
	r.undecided = false
	if m.why != nil {
		m.takes(lp, ri, index, r.posted)
	}
	queued := m.inWaits && msg.arrival <= r.arrival
	kept := false
	switch {
	case r.Sized && msg.bytes > r.Bytes:
		m.FailRequest(ri, world.Errorf(world.ErrTruncate, "the message from rank %d with tag %d has %s, the receive has room for %d",
			msg.source, msg.tag, spelling.Count(msg.bytes, "byte"), r.Bytes))
	case msg.tooEarly(r.posted):
		m.FailRequest(ri, world.Errorf(world.ErrOther, "a message that rank %d sent in ready mode with tag %d arrived before its receive was posted at %v",
			msg.source, msg.tag, r.posted))
	case msg.payload != nil && r.Sized:
		world.CopyContent(r.Buffer, msg.payload)
		m.Partition.Engine.Copied(len(msg.payload))
	case msg.pooled():
		r.Buffer, kept = msg.payload, true
	case msg.payload != nil:
		r.Buffer = m.KeepPayload(msg.payload)
	}
	r.Peer, r.Tag, r.Bytes = msg.source, msg.tag, msg.bytes
	r.rank = msg.rank
	shakes := (msg.large || msg.request != 0) && (m.InCalls || m.Shares(int(msg.rank), int(m.Partition.Global(lp))))
	later := shakes && msg.large // the receive is complete only when DATA arrives
	switch {
	case later:
	case m.InCalls || shakes:
		r.arrival = msg.arrival
	default:
		r.arrival = m.match(ri, msg, lp, r.posted, r.Procedure)
	}
	complete := max(r.posted, r.arrival)
	if m.Partition.Activities != nil {
		m.Received(msg.bytes)
	}
	m.consumed(msg)
	if kept {
		msg.payload = nil
	}
	if shakes {
		m.shake(lp, ri, index, queued)
	} else {
		m.discard(index)
	}
	if !later {
		m.CompleteRequest(ri, complete)
	}
}

// FailRequest stores the error of a failed request.
func (m *Messages) FailRequest(ri int32, err error) {
	m.Requests.At(ri).failed = true
	if m.errors == nil {
		m.errors = map[int32]error{}
	}
	m.errors[ri] = err
}

// failure removes and returns the error of a request, nil for a request without error.
func (m *Messages) failure(ri int32) error {
	if !m.Requests.At(ri).failed {
		return nil
	}
	err := m.errors[ri]
	delete(m.errors, ri)
	return err
}

// dispose releases a message that no receive takes, here and at the engine of its sender.
func (m *Messages) dispose(index int32) {
	m.consumed(m.messages.At(index))
	m.discard(index)
}

// consumed releases the flow control window of the engine that sent a message.
func (m *Messages) consumed(msg *message) {
	if engine := m.ownerOf(msg); int(engine) != m.Partition.Engine.Index() {
		m.Partition.Engine.Consumed(int(engine), m.recordSize()+len(msg.payload))
	}
}

// ownerOf returns the engine of the sender of a message.
func (m *Messages) ownerOf(msg *message) int32 {
	if _, local := m.Partition.Local(int(msg.rank)); local {
		return int32(m.Partition.Engine.Index())
	}
	return int32(m.Partition.Engine.Partition().Owner(int(msg.rank)))
}

// discard releases the memory of a message.
func (m *Messages) discard(index int32) {
	msg := m.messages.At(index)
	msg.free(m)
	m.messages.Release(index)
}

// CompleteRequest marks a request as complete at t. The caller then evaluates the LP's wait again.
func (m *Messages) CompleteRequest(ri int32, t vtime.Time) {
	r := m.Requests.At(ri)
	if m.anew && m.Processors == nil {
		m.checkCompletion(r, t)
	}
	r.Complete, r.Time = true, t
	if m.why != nil && m.why.hears != nil {
		m.heard(ri, t)
	}
	if r.Kind == ReceiveRequest || r.Kind == CollectiveRequest {
		m.closed(r.LP)
	}
	if r.waited {
		w := &m.Box(r.LP).Wait
		if w.pending--; !w.queued {
			w.at = min(w.at, t)
		}
	}
	switch {
	case r.whole > 0:
		m.partComplete(r.whole)
	case r.whole < 0:
		m.completesInSet(ri, r)
	}
}
