package ptp

import (
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Matching follows MPI: a message goes to the first posted receive that matches
// it, a receive takes the first message that matches it, messages ordered by
// (arrival, source rank, order of sending). Both rules together amount to one:
// receives, in posting order, each take their least matching message. That makes
// the result independent of the order in which the host learns of messages and
// receives, and leaves one thing to decide: whether a lesser message may still
// come.
//
//   - A receive that names its source needs no such decision. Messages of one
//     source come in order, so the first that matches is the least, at whatever
//     virtual time the rest of the world is. Only a receive from any source that
//     was posted before and could take the same message stands in the way.
//   - A receive from any source takes its least message once all arrivals up to
//     that message's are known.

// unknown stands for "nothing is known about arrivals".
const unknown vtime.Time = -1

// arrive hands a point-to-point message to a local LP.
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

// hasEarlier reports whether a message that the receive could take has been
// waiting; a receive from any source must then be holding it up.
func (k *Messages) hasEarlier(box *Mailbox, r *request) bool {
	_, index := k.firstUnexpected(box, r)
	return index != 0
}

// firstUnexpected returns the first message, in order of coming, that matches
// the receive, and the one before it in the list.
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

// leastUnexpected returns the least message that matches the receive.
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

// post enters a receive: it takes its message at once if that is certain.
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

// claimed reports whether a posted receive from any source could take a message.
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

// unlink takes a message out of the unexpected ones.
func (k *Messages) unlink(box *Mailbox, previous, index int32) {
	box.unexpected.removeMessage(&k.messages, previous, index)
	m := k.messages.At(index)
	k.Engine.Buffer(-m.bufferedBytes())
}

// settle lets the posted receives take all messages that are certain to be
// theirs, given that every arrival at or before known has been delivered. It
// reports whether there were any.
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

// certain returns the message that is certain to go to a posted receive.
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

// candidate returns the least arrival among messages that a posted receive from
// any source could take: the instant up to which arrivals must be known to
// settle something.
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

// take completes a receive with its message, and tells the sender if it waits
// for that.
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

// FailRequest notes what went wrong with a request.
func (k *Messages) FailRequest(ri int32, err error) {
	k.Requests.At(ri).failed = true
	if k.errors == nil {
		k.errors = map[int32]error{}
	}
	k.errors[ri] = err
}

// failure returns what went wrong with a request that is about to be released.
func (k *Messages) failure(ri int32) error {
	if !k.Requests.At(ri).failed {
		return nil
	}
	err := k.errors[ri]
	delete(k.errors, ri)
	return err
}

// dispose releases a message that has been consumed.
func (k *Messages) dispose(index int32) {
	k.consumed(k.messages.At(index))
	k.discard(index)
}

// consumed tells the engine that a message came from that it is not held any more.
func (k *Messages) consumed(m *message) {
	if int(m.engine) != k.Engine.Index() {
		k.Engine.Consumed(int(m.engine), messageRecord+len(m.payload))
	}
}

// discard gives the memory of a message back.
func (k *Messages) discard(index int32) {
	m := k.messages.At(index)
	if m.payload != nil {
		k.Buffers.Release(m.payload)
	}
	k.messages.Release(index)
}

// CompleteRequest notes that the outcome of a request is known. The caller lets
// the LP look at what it waits for.
func (k *Messages) CompleteRequest(ri int32, t vtime.Time) {
	r := k.Requests.At(ri)
	r.Complete, r.Time = true, t
	if r.waited {
		k.Box(r.LP).Wait.pending--
	}
}
