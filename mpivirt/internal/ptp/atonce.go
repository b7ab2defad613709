package ptp

import (
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// TakeAtOnce completes a blocking receive whose message is there and certain, without a request.
// It reports whether there was such a message; if not, nothing has changed. Receives that take
// the general way are those from any source, and messages whose match is an error or an event
// at the sender.
func (k *Messages) TakeAtOnce(lp int32, op world.Procedure, c *world.Comm, v *incoming) bool {
	if v.Source < 0 || k.Strict || k.Processors != nil {
		return false
	}
	box := k.Mailbox(lp)
	if box == nil || box.unexpected.head <= 0 || box.wildcards > 0 {
		return false
	}
	index := box.unexpected.head
	m := k.messages.At(index)
	if p := (pattern{c.Index, int32(v.Source), int32(v.Tag)}); !p.matches(m) {
		if index = k.leastMessage(box, p); index == 0 {
			return false
		}
		m = k.messages.At(index)
	}
	if m.request != 0 || m.large || m.readyMode() || v.Sized && m.bytes > v.Bytes {
		return false
	}
	box.polls = 0
	if list := &box.unexpected; list.head == index {
		k.Engine.Buffer(-m.bufferedBytes())
		if list.head = m.next; list.head == 0 {
			list.tail = 0
		}
	} else {
		k.removeUnexpected(box, index)
	}
	b := k.NewCompletion(lp)
	b.Found, b.Status = true, world.Status{Source: int(m.source), Tag: int(m.tag), Bytes: m.bytes}
	switch {
	case v.Sized:
		b.Data = v.Buffer
		world.CopyContent(v.Buffer, m.payload)
		k.Engine.Copied(len(m.payload))
		m.free(k)
	case m.pooled():
		b.Data, b.owned = m.payload, true
	case m.payload != nil: // in its small: no view is unexpected but for a send that waits
		if b.small == nil {
			b.small = new([smallPayload]byte)
		}
		*b.small, b.Data = m.small, b.small[:len(m.payload)]
	}
	if end := max(k.Clock[lp], m.arrival).Add(k.cost.receiving); m.bytes == k.cost.bytes && end < vtime.Forever && !k.HasPorts {
		k.Clock[lp] = end
	} else {
		k.receive(lp, op, m.rank, m.bytes, k.Clock[lp], m.arrival)
	}
	if k.Activities != nil {
		k.Received(m.bytes)
	}
	if _, local := k.Local(int(m.rank)); !local {
		k.consumed(m)
	}
	k.messages.Release(index)
	return true
}

// SendAtOnce sends a short eager message of an LP on WORLD, as Send does, if it is stored at another LP
// of the partition that waits for nothing. It reports whether that is so; if not, or if an argument is
// out of its range, nothing has changed.
func (k *Messages) SendAtOnce(lp int32, payload []byte, bytes int64, dst, tag int) bool {
	to, boxOf := dst-k.First, k.MailboxOf
	if uint(to) >= uint(len(boxOf)) || uint(tag) > world.TagUB || len(payload) > smallPayload || uint64(bytes) > uint64(k.EagerLimit) || !k.sendsAtOnce {
		return false
	}
	own, others := boxOf[lp], boxOf[to]
	if own == 0 || others == 0 {
		return false
	}
	box, other := k.boxes.At(own), k.boxes.At(others)
	if other.posted.head != 0 || other.unexpected.head < 0 || other.Wait.Kind != NoWait {
		return false
	}
	src := k.Global(lp)
	c := k.costOf(src, int32(dst), bytes)
	leaves := k.Clock[lp].Add(c.overhead)
	free := leaves.Add(c.copying)
	if free == vtime.Forever {
		return false
	}
	arrival := k.inOrder(lp, &box.flight, int32(dst), leaves, c.latency, c.transfer)
	if arrival == vtime.Forever {
		return false
	}
	box.polls = 0
	k.Clock[lp] = free
	index := k.messages.Take()
	m := k.messages.At(index)
	m.arrival, m.bytes, m.comm, m.source, m.rank, m.tag = arrival, bytes, world.World, src, src, int32(tag)
	if payload != nil {
		m.payload = m.small[:len(payload):smallPayload]
		if len(payload) == 8 { // as most have
			*(*[8]byte)(m.small[:]) = [8]byte(payload)
		} else {
			copy(m.small[:], payload)
		}
	}
	k.Engine.Statistics.Messages++
	k.Engine.Buffer(m.bufferedBytes())
	if list := &other.unexpected; list.tail == 0 {
		list.head, list.tail = index, index
	} else {
		k.messages.At(list.tail).next = index
		list.tail = index
	}
	if invariant.Enabled {
		k.CheckMailbox(int32(to))
	}
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
