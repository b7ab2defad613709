package p2p

import "gigarank/mpivirt/internal/world"

// A mailbox stores its unexpected messages and its posted receives in two lists. A search reads a
// list element by element. After a search that has read longSearch elements, the elements of both
// lists move into bins (bins.go), where a search costs a few lookups. They stay in bins until both
// kinds are gone.

// longSearch is the number of elements read from which on a search is long.
const longSearch = 64

// chain is a singly linked list in a slab.
type chain struct{ head, tail int32 }

// append links an element at the tail of a list. next is its link, last the link of the tail so far, which an empty list does not use.
func (c *chain) append(index int32, next, last *int32) {
	*next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		*last = index
	}
	c.tail = index
}

// unlink removes an element from a list: link refers to it, from the head or from the element previous, 0 for the head; next
// follows it.
func (c *chain) unlink(link *int32, previous, index, next int32) {
	*link = next
	if c.tail == index {
		c.tail = previous
	}
}

// appendMessage links a message at the tail of a list.
func (c *chain) appendMessage(s *world.Slab[message], index int32) {
	c.append(index, &s.At(index).next, &s.Peek(c.tail).next)
}

// removeMessage unlinks a message from a list.
func (c *chain) removeMessage(s *world.Slab[message], index int32) {
	previous, link := int32(0), &c.head
	for ; *link != index; link = &s.At(previous).next {
		previous = *link
	}
	c.unlink(link, previous, index, s.At(index).next)
}

// appendRequest links a request at the tail of a list.
func (c *chain) appendRequest(s *world.Slab[request], index int32) {
	c.append(index, &s.At(index).next, &s.Peek(c.tail).next)
}

// removeRequest unlinks a request from a list.
func (c *chain) removeRequest(s *world.Slab[request], index int32) {
	previous, link := int32(0), &c.head
	for ; *link != index; link = &s.At(previous).next {
		previous = *link
	}
	c.unlink(link, previous, index, s.At(index).next)
}

// pattern describes the messages that a receive or probe matches: messages of a communicator with a
// source and a tag, either of which may be a wildcard.
type pattern struct{ comm, source, tag int32 }

// pattern returns the pattern of the messages that a receive matches.
func (r *request) pattern() pattern { return pattern{r.Comm, r.Peer, r.Tag} }

// pattern returns the pattern of the messages that a probe matches.
func (w *wait) pattern() pattern { return pattern{w.Comm, w.Peer, w.Tag} }

// pattern returns the exact pattern of a message: its communicator, source and tag.
func (m *message) pattern() pattern { return pattern{m.comm, m.source, m.tag} }

// matches reports whether a pattern matches a message.
func (p pattern) matches(m *message) bool {
	return p.comm == m.comm && (p.source == m.source || p.source == world.AnySource) && (p.tag == m.tag || p.tag == world.AnyTag)
}

// matches reports whether a receive can take a message.
func (r *request) matches(m *message) bool {
	return r.Comm == m.comm && (r.Peer == m.source || r.Peer == world.AnySource) && (r.Tag == m.tag || r.Tag == world.AnyTag)
}

// bufferedBytes returns the memory of an unexpected message, as throttling counts it.
func (m *message) bufferedBytes() int64 { return overhead + int64(len(m.payload)) }

// addUnexpected stores an unexpected message.
func (m *Messages) addUnexpected(box *Mailbox, index int32) {
	m.Partition.Engine.Buffer(m.messages.At(index).bufferedBytes())
	if box.binned() {
		m.binMessage(m.binsOf(box), index)
		return
	}
	box.unexpected.appendMessage(&m.messages, index)
}

// removeUnexpected removes a message from the unexpected messages of a mailbox.
func (m *Messages) removeUnexpected(box *Mailbox, index int32) {
	m.Partition.Engine.Buffer(-m.messages.At(index).bufferedBytes())
	if box.binned() {
		m.unbinMessage(m.binsOf(box), index)
		m.dropEmptyBins(box)
		return
	}
	box.unexpected.removeMessage(&m.messages, index)
}

// addPosted stores a posted receive.
func (m *Messages) addPosted(box *Mailbox, ri int32) {
	if m.Requests.At(ri).undecided {
		box.wildcards++
	}
	if box.binned() {
		m.binReceive(m.binsOf(box), ri)
		return
	}
	box.posted.appendRequest(&m.Requests, ri)
}

// removePosted removes a receive from the posted receives of a mailbox.
func (m *Messages) removePosted(box *Mailbox, ri int32) {
	if r := m.Requests.At(ri); r.undecided {
		r.undecided = false
		box.wildcards--
	}
	if box.binned() {
		m.unbinReceive(m.binsOf(box), ri)
		m.dropEmptyBins(box)
		return
	}
	box.posted.removeRequest(&m.Requests, ri)
}

// hasReceives reports whether a mailbox has a posted receive.
func (m *Messages) hasReceives(box *Mailbox) bool {
	return box.posted.head != 0 || box.binned() && m.binsOf(box).receives > 0
}

// firstReceive returns the first posted receive that matches a message, 0 for none.
func (m *Messages) firstReceive(box *Mailbox, msg *message) int32 {
	if box.binned() {
		return m.firstBinned(m.binsOf(box), msg)
	}
	index, looked := m.firstListed(box, msg)
	if looked > longSearch {
		m.makeBins(box)
	}
	return index
}

// firstListed is firstReceive for lists. It also returns the number of receives that it has read.
func (m *Messages) firstListed(box *Mailbox, msg *message) (first int32, looked int) {
	for index := box.posted.head; index != 0; looked++ {
		r := m.Requests.At(index)
		if r.matches(msg) {
			return index, looked
		}
		index = r.next
	}
	return 0, looked
}

// leastMessage returns the least unexpected message that matches a pattern, 0 for none. Where a
// processor takes messages in one after the other, the first message is the least.
func (m *Messages) leastMessage(box *Mailbox, p pattern) int32 {
	if box.binned() {
		return m.leastBinned(m.binsOf(box), p)
	}
	least, looked := m.leastListed(box, p)
	if looked > longSearch {
		m.makeBins(box)
	}
	return least
}

// leastListed is leastMessage for lists. It also returns the number of messages that it has read.
func (m *Messages) leastListed(box *Mailbox, p pattern) (least int32, looked int) {
	for index := box.unexpected.head; index != 0; looked++ {
		msg := m.messages.At(index)
		if p.matches(msg) {
			if p.source != world.AnySource || m.Processors != nil {
				return index, looked
			}
			if least == 0 || msg.before(m.messages.At(least)) {
				least = index
			}
		}
		index = msg.next
	}
	return least, looked
}

// leastContested returns the least unexpected message that matches a posted receive, 0 for
// none.
func (m *Messages) leastContested(box *Mailbox) int32 {
	if box.binned() {
		return m.binsOf(box).leastContested()
	}
	least, looked := m.leastContestedListed(box)
	if looked > longSearch {
		m.makeBins(box)
	}
	return least
}

// leastContestedListed is leastContested for lists. It also returns the number of elements that it
// has read.
func (m *Messages) leastContestedListed(box *Mailbox) (least int32, all int) {
	for index := box.unexpected.head; index != 0; all++ {
		msg := m.messages.At(index)
		if least == 0 || msg.before(m.messages.At(least)) {
			ri, looked := m.firstListed(box, msg)
			if ri != 0 {
				least = index
			}
			all += looked
		}
		index = msg.next
	}
	return least, all
}

// claimed reports whether a posted receive matches an unexpected message.
func (m *Messages) claimed(box *Mailbox, msg *message) bool {
	return box.wildcards > 0 && m.firstReceive(box, msg) != 0
}
