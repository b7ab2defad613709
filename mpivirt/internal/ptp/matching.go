package ptp

import (
	"gigarank/internal/invariant"
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
//     receive that matches the same message stands in the way: one from any source, or one
//     that waits itself for such a receive to make its choice.
//   - A receive from any source takes its least message once all arrivals up to that one's
//     are known.

// unknown is an instant before all arrivals: none of them are known.
const unknown vtime.Time = -1

// arrive matches a point-to-point message at its LP, or stores it as unexpected.
func (k *Messages) arrive(lp int32, index int32) {
	box := k.Box(lp)
	m := k.messages.At(index)
	if k.anew {
		k.checkArrival(lp, m)
	}
	ri := int32(0)
	if box.posted.head != 0 || box.binned() {
		ri = k.firstReceive(box, m)
	}
	if ri != 0 {
		r := k.Requests.At(ri)
		if !r.undecided && (box.wildcards == 0 || k.leastMessage(box, r.pattern()) == 0) {
			k.removePosted(box, ri)
			k.take(lp, box, ri, index)
			k.reconsider(lp, box)
			return
		}
	}
	k.keep(m)
	k.addUnexpected(box, index)
	if ri != 0 {
		k.settleAt(lp, box, m.arrival)
	}
	if box.Wait.Kind != NoWait {
		k.reconsider(lp, box)
	}
	if invariant.Enabled {
		k.CheckMailbox(lp)
	}
}

// post posts a receive, or completes it with its message if that is certain already.
func (k *Messages) post(lp int32, box *Mailbox, ri int32) {
	r := k.Requests.At(ri)
	index := int32(0)
	if box.unexpected.head != 0 {
		index = k.leastMessage(box, r.pattern())
	}
	switch {
	case index == 0:
	case r.undecided:
		k.settleAt(lp, box, k.messages.At(index).arrival)
	case !k.claimed(box, k.messages.At(index)):
		k.removeUnexpected(box, index)
		k.take(lp, box, ri, index)
		return
	}
	k.addPosted(box, ri)
}

// settle completes the posted receives whose messages are certain, given that all arrivals
// at or before known have been delivered. It reports whether there were any, and returns the
// instant up to which arrivals must be known for the next, Forever if there is none.
//
// The least of all messages that match a posted receive is the first choice of each receive
// that it matches. So it goes to the first of them once no lesser one may come. Without
// receives from any source none may.
func (k *Messages) settle(lp int32, box *Mailbox, known vtime.Time) (settled bool, next vtime.Time) {
	for {
		index := k.leastContested(box)
		if index == 0 {
			return settled, vtime.Forever
		}
		m := k.messages.At(index)
		if m.arrival > known && box.wildcards > 0 {
			return settled, m.arrival
		}
		ri := k.firstReceive(box, m)
		p := k.Requests.At(ri).pattern()
		if p.source == world.AnySource {
			k.decides(lp, p, m.arrival, m.rank)
		}
		k.removePosted(box, ri)
		k.removeUnexpected(box, index)
		k.foresee(lp, box, p)
		k.take(lp, box, ri, index)
		settled = true
	}
}

// take completes a receive with its message, and acknowledges the message if its sender waits.
func (k *Messages) take(lp int32, box *Mailbox, ri, index int32) {
	r, m := k.Requests.At(ri), k.messages.At(index)
	r.undecided = false
	kept := false
	switch {
	case r.Sized && m.bytes > r.Bytes:
		k.FailRequest(ri, world.Errorf(world.ErrTruncate, "the message from rank %d with tag %d has %d bytes, the receive has room for %d",
			m.source, m.tag, m.bytes, r.Bytes))
	case m.tooEarly(r.posted):
		k.FailRequest(ri, world.Errorf(world.ErrOther, "a message that rank %d sent in ready mode with tag %d arrived before its receive was posted at %v",
			m.source, m.tag, r.posted))
	case m.payload != nil && r.Sized:
		world.CopyContent(r.Buffer, m.payload)
		k.Engine.Copied(len(m.payload))
	case m.pooled():
		r.Buffer, kept = m.payload, true
	case m.payload != nil:
		r.Buffer = k.KeepPayload(m.payload)
	}
	r.Peer, r.Tag, r.Bytes = m.source, m.tag, m.bytes
	r.rank = m.rank
	shakes := (m.large || m.request != 0) && (k.InCalls || k.Crosses(int(m.rank), int(k.Global(lp))))
	later := shakes && m.large // the receive is complete only when DATA has come
	switch {
	case later:
	case k.InCalls || shakes:
		r.arrival = m.arrival
	default:
		r.arrival = k.match(m, lp, r.posted, r.Procedure)
	}
	complete := max(r.posted, r.arrival)
	if k.Activities != nil {
		k.Received(m.bytes)
	}
	k.consumed(m)
	if kept {
		m.payload = nil
	}
	if shakes {
		k.shake(lp, ri, index)
	} else {
		k.discard(index)
	}
	if !later {
		k.CompleteRequest(ri, complete)
	}
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
	if engine := k.ownerOf(m); int(engine) != k.Engine.Index() {
		k.Engine.Consumed(int(engine), messageRecord+len(m.payload))
	}
}

// ownerOf returns the engine that has sent a message.
func (k *Messages) ownerOf(m *message) int32 {
	if _, local := k.Local(int(m.rank)); local {
		return int32(k.Engine.Index())
	}
	return int32(k.Engine.Partition().Owner(int(m.rank)))
}

// discard releases the memory of a message.
func (k *Messages) discard(index int32) {
	m := k.messages.At(index)
	m.free(k)
	k.messages.Release(index)
}

// CompleteRequest marks a request complete at t. The caller then reconsiders the LP's wait.
func (k *Messages) CompleteRequest(ri int32, t vtime.Time) {
	r := k.Requests.At(ri)
	if k.anew && k.Processors == nil {
		k.checkCompletion(r, t)
	}
	r.Complete, r.Time = true, t
	if r.Kind == ReceiveRequest {
		k.closed(r.LP)
	}
	if r.waited {
		w := &k.Box(r.LP).Wait
		if w.pending--; !w.queued {
			w.at = min(w.at, t)
		}
	}
	switch {
	case r.whole > 0:
		k.partComplete(r.whole)
	case r.whole < 0:
		k.keptCompletes(ri, r)
	}
}
