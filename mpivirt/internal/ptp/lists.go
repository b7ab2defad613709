package ptp

import "gigarank/mpivirt/internal/world"

// A mailbox keeps its unexpected messages and its posted receives in two lists. A search
// looks at one element after the other. After a search that has looked at many, both lists
// move into bins (bins.go), in which a search costs some lookups. They stay there until both
// are empty.

// longSearch is the number of elements from which on a search has looked at many.
const longSearch = 64

// chain is a singly linked list in a slab.
type chain struct{ head, tail int32 }

// appendMessage links a message at the tail.
func (c *chain) appendMessage(s *world.Slab[message], index int32) {
	s.At(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.At(c.tail).next = index
	}
	c.tail = index
}

// removeMessage unlinks a message.
func (c *chain) removeMessage(s *world.Slab[message], index int32) {
	previous, next := int32(0), s.At(index).next
	if c.head == index {
		c.head = next
	} else {
		for previous = c.head; s.At(previous).next != index; previous = s.At(previous).next {
		}
		s.At(previous).next = next
	}
	if c.tail == index {
		c.tail = previous
	}
}

// appendRequest links a request at the tail.
func (c *chain) appendRequest(s *world.Slab[request], index int32) {
	s.At(index).next = 0
	if c.tail == 0 {
		c.head = index
	} else {
		s.At(c.tail).next = index
	}
	c.tail = index
}

// removeRequest unlinks a request.
func (c *chain) removeRequest(s *world.Slab[request], index int32) {
	previous, next := int32(0), s.At(index).next
	if c.head == index {
		c.head = next
	} else {
		for previous = c.head; s.At(previous).next != index; previous = s.At(previous).next {
		}
		s.At(previous).next = next
	}
	if c.tail == index {
		c.tail = previous
	}
}

// pattern is what a receive or probe matches: messages of a communicator with a source and a
// tag, either of which may be a wildcard.
type pattern struct{ comm, source, tag int32 }

// pattern returns what a receive matches.
func (r *request) pattern() pattern { return pattern{r.Comm, r.Peer, r.Tag} }

// pattern returns what a probe matches.
func (w *wait) pattern() pattern { return pattern{w.Comm, w.Peer, w.Tag} }

// pattern returns the communicator, source and tag of a message.
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
func (k *Messages) addUnexpected(box *Mailbox, index int32) {
	k.Engine.Buffer(k.messages.At(index).bufferedBytes())
	if box.binned() {
		k.binMessage(k.binsOf(box), index)
		return
	}
	box.unexpected.appendMessage(&k.messages, index)
}

// removeUnexpected removes a message from the unexpected ones.
func (k *Messages) removeUnexpected(box *Mailbox, index int32) {
	k.Engine.Buffer(-k.messages.At(index).bufferedBytes())
	if box.binned() {
		k.unbinMessage(k.binsOf(box), index)
		k.dropEmptyBins(box)
		return
	}
	box.unexpected.removeMessage(&k.messages, index)
}

// addPosted posts a receive.
func (k *Messages) addPosted(box *Mailbox, ri int32) {
	if k.Requests.At(ri).undecided {
		box.wildcards++
	}
	if box.binned() {
		k.binReceive(k.binsOf(box), ri)
		return
	}
	box.posted.appendRequest(&k.Requests, ri)
}

// removePosted removes a receive from the posted ones.
func (k *Messages) removePosted(box *Mailbox, ri int32) {
	if r := k.Requests.At(ri); r.undecided {
		r.undecided = false
		box.wildcards--
	}
	if box.binned() {
		k.unbinReceive(k.binsOf(box), ri)
		k.dropEmptyBins(box)
		return
	}
	box.posted.removeRequest(&k.Requests, ri)
}

// hasReceives reports whether a receive is posted.
func (k *Messages) hasReceives(box *Mailbox) bool {
	return box.posted.head != 0 || box.binned() && k.binsOf(box).receives > 0
}

// firstReceive returns the first posted receive that matches a message, 0 for none.
func (k *Messages) firstReceive(box *Mailbox, m *message) int32 {
	if box.binned() {
		return k.firstBinned(k.binsOf(box), m)
	}
	index, looked := k.firstListed(box, m)
	if looked > longSearch {
		k.makeBins(box)
	}
	return index
}

// firstListed is firstReceive for lists. It also returns at how many receives it has looked.
func (k *Messages) firstListed(box *Mailbox, m *message) (first int32, looked int) {
	for index := box.posted.head; index != 0; looked++ {
		r := k.Requests.At(index)
		if r.matches(m) {
			return index, looked
		}
		index = r.next
	}
	return 0, looked
}

// leastMessage returns the least unexpected message that matches a pattern, 0 for none. A
// processor has taken the messages in, one after the other: the first is the least.
func (k *Messages) leastMessage(box *Mailbox, p pattern) int32 {
	if box.binned() {
		return k.leastBinned(k.binsOf(box), p)
	}
	least, looked := k.leastListed(box, p)
	if looked > longSearch {
		k.makeBins(box)
	}
	return least
}

// leastListed is leastMessage for lists. It also returns at how many messages it has looked.
func (k *Messages) leastListed(box *Mailbox, p pattern) (least int32, looked int) {
	for index := box.unexpected.head; index != 0; looked++ {
		m := k.messages.At(index)
		if p.matches(m) {
			if p.source != world.AnySource || k.Processors != nil {
				return index, looked
			}
			if least == 0 || m.before(k.messages.At(least)) {
				least = index
			}
		}
		index = m.next
	}
	return least, looked
}

// leastContested returns the least unexpected message that matches a posted receive, 0 for
// none.
func (k *Messages) leastContested(box *Mailbox) int32 {
	if box.binned() {
		return k.binsOf(box).leastContested()
	}
	least, looked := k.leastContestedListed(box)
	if looked > longSearch {
		k.makeBins(box)
	}
	return least
}

// leastContestedListed is leastContested for lists. It also returns at how many elements it
// has looked.
func (k *Messages) leastContestedListed(box *Mailbox) (least int32, all int) {
	for index := box.unexpected.head; index != 0; all++ {
		m := k.messages.At(index)
		if least == 0 || m.before(k.messages.At(least)) {
			ri, looked := k.firstListed(box, m)
			if ri != 0 {
				least = index
			}
			all += looked
		}
		index = m.next
	}
	return least, all
}

// claimed reports whether a posted receive matches an unexpected message.
func (k *Messages) claimed(box *Mailbox, m *message) bool {
	return box.wildcards > 0 && k.firstReceive(box, m) != 0
}
