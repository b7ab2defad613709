package ptp

import "gigarank/mpivirt/internal/world"

// A rank that serves a million others has long lost each of them from the cache: its mailbox, its request, its
// stack, some thirty lines. Which of them comes next is known, since their messages wait in a heap. So what it
// takes to receive such a message, to answer it and to run its sender is fetched ahead. Results do not depend on that.

// foresee fetches what the next receives of a pattern touch. A receive of that pattern has just found its message.
// What it reads in order to do so is in the cache if the call before has fetched it.
func (m *Messages) foresee(lp int32, box *Mailbox, p pattern) {
	if p.kind() == exact || !box.binned() {
		return
	}
	x := m.binsOf(box)
	heads := x.heads[x.all[x.find(p)].heads]
	if len(heads) <= headChildren {
		return
	}
	m.foreseeNext(lp, box, x, &heads[0])
	second := &heads[1] // the least below the root, unless its message has been taken
	for i := 2; i <= headChildren; i++ {
		if heads[i].before(&second.order) {
			second = &heads[i]
		}
	}
	m.foreseeSecond(second.rank)
}

// foreseeNext fetches the next message that a receive of an LP takes, and what its sender waits with.
func (m *Messages) foreseeNext(lp int32, box *Mailbox, x *bins, h *head) {
	b := &x.all[h.bin]
	m.messages.Fetch(b.messages.head)
	world.Fetch(&x.table[x.home(b.pattern)])
	if box.flight.isLong() {
		m.longFlights[lp].fetch(h.rank)
	}
	sender, local := m.Partition.Local(int(h.rank))
	if !local || m.MailboxOf[sender] == 0 {
		return
	}
	if ri := m.Box(sender).posted.head; ri != 0 {
		m.Requests.Fetch(ri)
	}
	m.Partition.Engine.Prefetch(sender)
}

// foreseeSecond fetches where a rank and what it waits with lie.
func (m *Messages) foreseeSecond(rank int32) {
	lp, local := m.Partition.Local(int(rank))
	if !local || m.MailboxOf[lp] == 0 {
		return
	}
	world.Fetch(&m.Partition.Clock[lp])
	m.boxes.Fetch(m.MailboxOf[lp])
	m.Partition.Engine.PrefetchAhead(lp)
}
