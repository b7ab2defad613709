package p2p

import (
	"gigarank/internal/invariant"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// TakeAtOnce completes a blocking receive whose message has arrived and is certain to match,
// without a request. It returns false, with nothing changed, if no message is certain. Receives
// from any source, and messages whose match is an error or an event at the sender, take the general
// way.
func (m *Messages) TakeAtOnce(lp int32, op world.Procedure, c *world.Comm, v *incoming) bool {
	if v.Source < 0 || m.Partition.Strict || m.Processors != nil {
		return false
	}
	box := m.Mailbox(lp)
	if box == nil || box.unexpected.head <= 0 || box.wildcards > 0 {
		return false
	}
	index := box.unexpected.head
	msg := m.messages.At(index)
	if p := (pattern{c.Index, int32(v.Source), int32(v.Tag)}); !p.matches(msg) {
		if index = m.leastMessage(box, p); index == 0 {
			return false
		}
		msg = m.messages.At(index)
	}
	if msg.request != 0 || msg.large || msg.readyMode() || v.Sized && msg.bytes > v.Bytes {
		return false
	}
	box.polls = 0
	if list := &box.unexpected; list.head == index {
		m.Partition.Engine.Buffer(-msg.bufferedBytes())
		if list.head = msg.next; list.head == 0 {
			list.tail = 0
		}
	} else {
		m.removeUnexpected(box, index)
	}
	posted := m.Partition.Clock[lp]
	b := m.NewCompletion(lp)
	b.Found, b.Status = true, world.Status{Source: int(msg.source), Tag: int(msg.tag), Bytes: msg.bytes}
	switch {
	case v.Sized:
		b.Data = v.Buffer
		world.CopyContent(v.Buffer, msg.payload)
		m.Partition.Engine.Copied(len(msg.payload))
		msg.free(m)
	case msg.pooled():
		b.Data, b.owned = msg.payload, true
	case msg.payload != nil: // in its small: only a send that waits leaves a view as unexpected message
		if b.small == nil {
			b.small = new([smallPayload]byte)
		}
		*b.small, b.Data = msg.small, b.small[:len(msg.payload)]
	}
	if end := max(posted, msg.arrival).Add(m.cost.receiving); msg.bytes == m.cost.bytes && end < vtime.Forever && !m.Partition.HasPorts && !m.Partition.Target.Interrupts() {
		m.Partition.Clock[lp] = end
	} else {
		m.receive(lp, op, msg.rank, msg.bytes, posted, msg.arrival)
	}
	if m.summing {
		m.sumReceive(lp, op, c.Context, index, posted)
	}
	if m.Partition.Activities != nil {
		m.Received(msg.bytes)
	}
	if _, local := m.Partition.Local(int(msg.rank)); !local {
		m.consumed(msg)
	}
	m.messages.Release(index)
	return true
}

// SendAtOnce sends a short eager message of an LP on WORLD, as Send does, if another LP of the
// partition that does not wait stores it. It returns false, with nothing changed, if the message
// must take the general way or an argument is out of its range.
func (m *Messages) SendAtOnce(lp int32, payload []byte, bytes int64, dst, tag int) bool {
	to, boxOf := dst-m.Partition.First, m.MailboxOf
	if uint(to) >= uint(len(boxOf)) || uint(tag) > world.TagUB || len(payload) > smallPayload || uint64(bytes) > uint64(m.Partition.EagerLimit) || !m.sendsAtOnce {
		return false
	}
	own, others := boxOf[lp], boxOf[to]
	if own == 0 || others == 0 {
		return false
	}
	box, other := m.boxes.At(own), m.boxes.At(others)
	if other.posted.head != 0 || other.unexpected.head < 0 || other.Wait.Kind != NoWait {
		return false
	}
	src := m.Partition.Global(lp)
	if m.Shares(int(src), dst) {
		return false
	}
	c := m.costOf(src, int32(dst), bytes)
	leaves := m.Partition.Clock[lp].Add(c.overhead)
	free := leaves.Add(c.copying)
	if free == vtime.Forever {
		return false
	}
	arrival := m.inOrder(lp, &box.sendOrder, int32(dst), leaves, c.latency, c.transfer, c.occupancy, c.least)
	if arrival == vtime.Forever {
		return false
	}
	box.polls = 0
	began := m.Partition.Clock[lp]
	m.Partition.Clock[lp] = free
	index := m.messages.Take()
	msg := m.messages.At(index)
	msg.arrival, msg.bytes, msg.comm, msg.source, msg.rank, msg.tag = arrival, bytes, world.World, src, src, int32(tag)
	if payload != nil {
		msg.payload = msg.small[:len(payload):smallPayload]
		if len(payload) == 8 { // most payloads
			*(*[8]byte)(msg.small[:]) = [8]byte(payload)
		} else {
			copy(msg.small[:], payload)
		}
	}
	if m.summing {
		m.explains(lp, index, began, leaves, min(leaves, free))
		m.Departed(int(src), dst, bytes, false, m.Shares(int(src), dst), leaves, arrival)
		m.SumSend(lp, world.Send, world.WorldContext, dst, bytes, began)
	}
	m.Partition.Engine.Statistics.Messages++
	m.Partition.Engine.Buffer(msg.bufferedBytes())
	if list := &other.unexpected; list.tail == 0 {
		list.head, list.tail = index, index
	} else {
		m.messages.At(list.tail).next = index
		list.tail = index
	}
	if invariant.Enabled {
		m.CheckMailbox(int32(to))
	}
	return true
}

// receive advances the clock of an LP to the end of a receive that was posted at an instant.
func (m *Messages) receive(lp int32, op world.Procedure, rank int32, bytes int64, posted, arrival vtime.Time) {
	if !m.Partition.Charges {
		m.Partition.Clock[lp] = max(m.Partition.Clock[lp], posted, arrival)
		return
	}
	target := m.Partition.Target
	end := target.Free(int(m.Partition.Global(lp)), target.Receive(m.port(lp), bytes, posted, m.Partition.Clock[lp], arrival))
	if end == vtime.Forever {
		m.Partition.PastEnd(int(m.Partition.Global(lp)), max(m.Partition.Clock[lp], arrival), op, "a message of %s from rank %d", spelling.Count(bytes, "byte"), rank)
	}
	m.Partition.Clock[lp] = end
}
