package ptp

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// TakeAtOnce completes a blocking receive whose message is there and certain, without a request.
// It reports whether there was such a message; if not, nothing has changed. Receives that take
// the general way are those from any source, and messages whose match is an error or an event
// at the sender.
func (k *Messages) TakeAtOnce(lp int32, q *Operands) bool {
	v := &q.Incoming
	if v.Source < 0 || k.Strict || k.Processors != nil {
		return false
	}
	box := k.Box(lp)
	index := box.unexpected.head
	if index <= 0 || box.wildcards > 0 {
		return false
	}
	if p := (pattern{q.Comm.Index, int32(v.Source), int32(v.Tag)}); !p.matches(k.messages.At(index)) {
		if index = k.leastMessage(box, p); index == 0 {
			return false
		}
	}
	m := k.messages.At(index)
	if m.request != 0 || m.large || m.readyMode || v.Sized && m.bytes > v.Bytes {
		return false
	}
	box.polls = 0
	k.removeUnexpected(box, index)
	b := k.NewCompletion(lp)
	b.Found, b.Status = true, world.Status{Source: int(m.source), Tag: int(m.tag), Bytes: m.bytes}
	switch {
	case v.Sized:
		b.Data = v.Buffer
		copy(v.Buffer, m.payload)
	case m.pooled():
		b.Data, b.owned = m.payload, true
	case m.payload != nil:
		if b.small == nil {
			b.small = make([]byte, 0, smallPayload)
		}
		b.Data = append(b.small, m.payload...)
	}
	k.receive(lp, q.Procedure, m.rank, m.bytes, k.Clock[lp], m.arrival)
	if k.Activities != nil {
		k.Received(m.bytes)
	}
	k.consumed(m)
	if b.owned {
		m.payload = nil
	}
	k.discard(index)
	return true
}

// receive advances the clock of an LP to the end of a receive that was posted at an instant.
func (k *Messages) receive(lp int32, op world.Procedure, rank int32, bytes int64, posted, arrival vtime.Time) {
	if !k.Charges {
		k.Clock[lp] = max(k.Clock[lp], posted, arrival)
		return
	}
	end := k.Target.Receive(k.port(lp), bytes, posted, k.Clock[lp], arrival)
	if end == vtime.Forever {
		k.PastEnd(int(k.Global(lp)), max(k.Clock[lp], arrival), op, "a message of %d bytes from rank %d", bytes, rank)
	}
	k.Clock[lp] = end
}
