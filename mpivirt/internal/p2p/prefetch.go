package p2p

import "gigarank/mpivirt/internal/world"

// A rank that serves a million other ranks finds none of them in the cache: mailbox, request and
// stack of a rank take some thirty lines. The heap of waiting messages tells which sender comes
// next. So a receive prefetches the memory that the next receives need to take their messages, to
// answer them and to run their senders. Results do not depend on prefetching.

// prefetch prefetches the memory that the next two receives of a pattern touch, after a receive of
// this pattern has found its message. prefetch itself only reads memory that the call before has
// prefetched.
func (m *Messages) prefetch(lp int32, box *Mailbox, p pattern) {
	if p.kind() == exact || !box.binned() {
		return
	}
	x := m.binsOf(box)
	heads := x.heads[x.all[x.find(p)].heads]
	if len(heads) <= headChildren {
		return
	}
	m.prefetchNext(lp, box, x, &heads[0])
	second := &heads[1] // the least head below the root, unless its message has been taken
	for i := 2; i <= headChildren; i++ {
		if heads[i].before(&second.order) {
			second = &heads[i]
		}
	}
	m.prefetchSecond(second.rank)
}

// prefetchNext prefetches the next message that a receive of an LP takes, and the request of its sender.
func (m *Messages) prefetchNext(lp int32, box *Mailbox, x *bins, h *head) {
	b := &x.all[h.bin]
	m.messages.Prefetch(b.messages.head)
	world.Prefetch(&x.table[x.home(b.pattern)])
	if box.sendOrder.isLong() {
		m.longSendOrders[lp].prefetch(h.rank)
	}
	sender, local := m.Partition.Local(int(h.rank))
	if !local || m.MailboxOf[sender] == 0 {
		return
	}
	if ri := m.Box(sender).posted.head; ri != 0 {
		m.Requests.Prefetch(ri)
	}
	m.Partition.Engine.Prefetch(sender)
}

// prefetchSecond prefetches the clock, the mailbox and the descriptor of a rank.
func (m *Messages) prefetchSecond(rank int32) {
	lp, local := m.Partition.Local(int(rank))
	if !local || m.MailboxOf[lp] == 0 {
		return
	}
	world.Prefetch(&m.Partition.Clock[lp])
	m.boxes.Prefetch(m.MailboxOf[lp])
	m.Partition.Engine.PrefetchAhead(lp)
}
