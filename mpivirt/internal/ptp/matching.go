package ptp

import (
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Matching follows MPI. A message goes to the first posted receive that matches it. A receive
// takes the first message that matches it, by (arrival, source rank, order of sending). Both
// rules amount to one: receives, in posting order, each take their least matching message.
// So the result does not depend on the order in which the host learns of messages and
// receives. What remains to decide is whether a lesser message may still come.
//
//   - A receive that names its source needs no such decision. Messages of one source come in
//     order, so the first that matches is the least, whatever other ranks do. Only an earlier
//     receive from any source that matches the same message stands in the way.
//   - A receive from any source takes its least message once all arrivals up to that one's
//     are known.

// unknown is an instant before all arrivals: none of them are known.
const unknown vtime.Time = -1

// arrive matches a point-to-point message at its LP, or stores it as unexpected.
func (k *Messages) arrive(lp int32, index int32) {
	box := k.Box(lp)
	m := k.messages.At(index)
	if previous, ri := k.firstPosted(box, m); ri != 0 {
		r := k.Requests.At(ri)
		if r.Peer != world.AnySource && (box.wildcards == 0 || !k.hasEarlier(box, r)) {
			box.posted.removeRequest(&k.Requests, previous, ri)
			k.take(lp, box, ri, index)
			k.reconsider(lp, box)
			return
		}
	}
	box.unexpected.appendMessage(&k.messages, index)
	k.Engine.Buffer(m.bufferedBytes())
	if box.wildcards > 0 && k.claimed(box, m) {
		k.settleAt(lp, m.arrival)
	}
	if box.Wait.Kind != NoWait {
		k.reconsider(lp, box)
	}
	if invariant.Enabled {
		k.CheckMailbox(lp)
	}
}

// bufferedBytes returns the memory of an unexpected message, as throttling counts it.
func (m *message) bufferedBytes() int64 { return overhead + int64(len(m.payload)) }

// firstPosted returns the first posted receive that matches a message, and the
// one before it in the list.
func (k *Messages) firstPosted(box *Mailbox, m *message) (previous, index int32) {
	for index = box.posted.head; index != 0; {
		r := k.Requests.At(index)
		if r.matches(m) {
			return previous, index
		}
		previous, index = index, r.next
	}
	return 0, 0
}

// hasEarlier reports whether an unexpected message matches a posted receive. Then an earlier
// receive from any source matches that message, too.
func (k *Messages) hasEarlier(box *Mailbox, r *request) bool {
	_, index := k.firstUnexpected(box, r)
	return index != 0
}

// firstUnexpected returns the first unexpected message that matches the receive, and the one
// before it in the list.
func (k *Messages) firstUnexpected(box *Mailbox, r *request) (previous, index int32) {
	for index = box.unexpected.head; index != 0; {
		m := k.messages.At(index)
		if r.matches(m) {
			return previous, index
		}
		previous, index = index, m.next
	}
	return 0, 0
}

// leastUnexpected returns the least unexpected message that matches the receive, and the one
// before it in the list.
func (k *Messages) leastUnexpected(box *Mailbox, r *request) (previous, index int32) {
	var least *message
	before := int32(0)
	for at := box.unexpected.head; at != 0; {
		m := k.messages.At(at)
		if r.matches(m) && (least == nil || m.before(least)) {
			least, previous, index = m, before, at
		}
		before, at = at, m.next
	}
	return previous, index
}

// post posts a receive, or completes it with its message if that is certain already.
func (k *Messages) post(lp int32, box *Mailbox, ri int32) {
	r := k.Requests.At(ri)
	if r.Peer != world.AnySource {
		previous, index := k.firstUnexpected(box, r)
		if index != 0 && (box.wildcards == 0 || !k.claimed(box, k.messages.At(index))) {
			k.unlink(box, previous, index)
			k.take(lp, box, ri, index)
			return
		}
	} else {
		box.wildcards++
		if _, index := k.leastUnexpected(box, r); index != 0 {
			k.settleAt(lp, k.messages.At(index).arrival)
		}
	}
	box.posted.appendRequest(&k.Requests, ri)
}

// claimed reports whether a posted receive from any source matches a message.
func (k *Messages) claimed(box *Mailbox, m *message) bool {
	for index := box.posted.head; index != 0; {
		r := k.Requests.At(index)
		if r.Peer == world.AnySource && r.matches(m) {
			return true
		}
		index = r.next
	}
	return false
}

// unlink removes a message from the unexpected ones.
func (k *Messages) unlink(box *Mailbox, previous, index int32) {
	box.unexpected.removeMessage(&k.messages, previous, index)
	m := k.messages.At(index)
	k.Engine.Buffer(-m.bufferedBytes())
}

// settle completes the posted receives whose messages are certain, given that all arrivals
// at or before known have been delivered. It reports whether there were any.
func (k *Messages) settle(lp int32, box *Mailbox, known vtime.Time) (settled bool) {
	if box.wildcards == 0 {
		return false
	}
	previous := int32(0)
	for ri := box.posted.head; ri != 0; {
		r := k.Requests.At(ri)
		next := r.next
		if before, index := k.certain(box, ri, known); index != 0 {
			box.posted.removeRequest(&k.Requests, previous, ri)
			if r.Peer == world.AnySource {
				box.wildcards--
			}
			k.unlink(box, before, index)
			k.take(lp, box, ri, index)
			settled = true
		} else {
			previous = ri
		}
		ri = next
	}
	return settled
}

// certain returns the message that is certain to go to a posted receive, 0 for none, and the
// one before it in the list.
func (k *Messages) certain(box *Mailbox, ri int32, known vtime.Time) (previous, index int32) {
	r := k.Requests.At(ri)
	if r.Peer == world.AnySource {
		previous, index = k.leastUnexpected(box, r)
		if index != 0 && k.messages.At(index).arrival > known {
			return 0, 0
		}
		return previous, index
	}
	previous, index = k.firstUnexpected(box, r)
	if index == 0 {
		return 0, 0
	}
	m := k.messages.At(index)
	for earlier := box.posted.head; earlier != ri; {
		e := k.Requests.At(earlier)
		if e.Peer == world.AnySource && e.matches(m) {
			return 0, 0
		}
		earlier = e.next
	}
	return previous, index
}

// candidate returns the least arrival of a message that matches a posted receive from any
// source. Once all arrivals up to that instant are known, settle completes a receive.
func (k *Messages) candidate(box *Mailbox) vtime.Time {
	least := vtime.Forever
	for ri := box.posted.head; ri != 0; {
		r := k.Requests.At(ri)
		if r.Peer == world.AnySource {
			if _, index := k.leastUnexpected(box, r); index != 0 {
				least = min(least, k.messages.At(index).arrival)
			}
		}
		ri = r.next
	}
	return least
}

// take completes a receive with its message, and acknowledges the message if its sender waits.
func (k *Messages) take(lp int32, box *Mailbox, ri, index int32) {
	r, m := k.Requests.At(ri), k.messages.At(index)
	kept := false
	switch {
	case r.Sized && m.bytes > r.Bytes:
		k.FailRequest(ri, world.Errorf(world.ErrTruncate, "the message from rank %d with tag %d has %d bytes, the receive has room for %d",
			m.source, m.tag, m.bytes, r.Bytes))
	case m.readyMode && r.posted > m.arrival:
		k.FailRequest(ri, world.Errorf(world.ErrOther, "a message that rank %d sent in ready mode with tag %d arrived at %v, before its receive was posted at %v",
			m.source, m.tag, m.arrival, r.posted))
	case m.payload != nil && r.Sized:
		copy(r.Buffer, m.payload)
	case m.payload != nil:
		r.Buffer, kept = m.payload, true
	}
	r.Peer, r.Tag, r.Bytes = m.source, m.tag, m.bytes
	r.arrival, r.rank = k.match(m, lp, r.posted, r.Procedure), m.rank
	complete := max(r.posted, r.arrival)
	k.consumed(m)
	if kept {
		m.payload = nil
	}
	k.discard(index)
	k.CompleteRequest(ri, complete)
}

// FailRequest stores the error of a request.
func (k *Messages) FailRequest(ri int32, err error) {
	k.Requests.At(ri).failed = true
	if k.errors == nil {
		k.errors = map[int32]error{}
	}
	k.errors[ri] = err
}

// failure removes and returns the error of a request, nil for none.
func (k *Messages) failure(ri int32) error {
	if !k.Requests.At(ri).failed {
		return nil
	}
	err := k.errors[ri]
	delete(k.errors, ri)
	return err
}

// dispose releases a message that no receive takes, here and at the engine that sent it.
func (k *Messages) dispose(index int32) {
	k.consumed(k.messages.At(index))
	k.discard(index)
}

// consumed frees the window of the engine that sent a message.
func (k *Messages) consumed(m *message) {
	if int(m.engine) != k.Engine.Index() {
		k.Engine.Consumed(int(m.engine), messageRecord+len(m.payload))
	}
}

// discard releases the memory of a message.
func (k *Messages) discard(index int32) {
	m := k.messages.At(index)
	if m.payload != nil {
		k.Buffers.Release(m.payload)
	}
	k.messages.Release(index)
}

// CompleteRequest marks a request complete at t. The caller then reconsiders the LP's wait.
func (k *Messages) CompleteRequest(ri int32, t vtime.Time) {
	r := k.Requests.At(ri)
	r.Complete, r.Time = true, t
	if r.waited {
		k.Box(r.LP).Wait.pending--
	}
}
