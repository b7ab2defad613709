package p2p

import "gigarank/mpivirt/internal/world"

// A rank that serves a million others has long lost each of them from the cache: its mailbox, its request, its
// stack, some thirty lines. Which of them comes next is known, since their messages wait in a heap. So what it
// takes to receive such a message, to answer it and to run its sender is prefetched. Results do not depend on that.

// prefetch prefetches the memory that the next two receives of a pattern touch. A receive of that pattern has just found its message.
// What it reads in order to do so is in the cache if the call before has prefetched it.
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
	second := &heads[1] // the least below the root, unless its message has been taken
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
