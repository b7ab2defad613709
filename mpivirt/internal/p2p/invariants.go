package p2p

import "gigarank/internal/invariant"

// manyBinned is the number of messages and receives in bins, and of requests in a wait, from which
// on only one check in manyBinned reads all of them.
const manyBinned = 256

// CheckMailbox compares the counters of an LP's mailbox with its lists and bins. It also finds
// receives that are posted although their message is certain.
func (m *Messages) CheckMailbox(lp int32) {
	box := m.Mailbox(lp)
	if box == nil {
		return
	}
	least := int32(0)
	if box.binned() {
		x := m.binsOf(box)
		least = x.leastContested()
		if wildcards := x.receivesOf[anySource] + x.receivesOf[anySource|anyTag]; wildcards > box.wildcards {
			invariant.Broken("rank %d has posted %d receives from any source and counts %d", m.Partition.Global(lp), wildcards, box.wildcards)
		}
		if x.checks++; x.messages+x.receives < manyBinned || x.checks%manyBinned == 0 {
			m.checkBins(lp, x)
		}
	} else if m.checksLists(box) {
		m.checkLists(lp, box)
		least, _ = m.leastContestedListed(box)
	}
	if least != 0 && (m.Processors != nil || box.wildcards == 0) {
		invariant.Broken("rank %d has posted a receive for message %+v, which is there", m.Partition.Global(lp), *m.messages.At(least))
	}
	m.checkPending(lp, box)
	if x := m.waitSets[lp]; x != nil {
		if m.checks++; m.checks%manyBinned == 0 {
			m.checkWaitSet(lp, x)
		}
	}
}

// checksLists reports whether this check of a mailbox reads its lists: every check reads short
// lists, one in manyBinned reads long lists.
func (m *Messages) checksLists(box *Mailbox) bool {
	n := 0
	for index := box.unexpected.head; index != 0 && n <= longSearch; index = m.messages.At(index).next {
		n++
	}
	for index := box.posted.head; index != 0 && n <= longSearch; index = m.Requests.At(index).next {
		n++
	}
	if n <= longSearch {
		return true
	}
	m.checks++
	return m.checks%manyBinned == 0
}

// checkLists compares the lists of a mailbox with its counters and with the tails of the lists.
func (m *Messages) checkLists(lp int32, box *Mailbox) {
	wildcards, _, last := m.checkReceives(lp, &box.posted)
	if wildcards != box.wildcards {
		invariant.Broken("rank %d has posted %d receives from any source and counts %d", m.Partition.Global(lp), wildcards, box.wildcards)
	}
	if last != box.posted.tail {
		invariant.Broken("rank %d: the last posted receive is %d, the list ends with %d", m.Partition.Global(lp), last, box.posted.tail)
	}
	m.checkMessages(lp, &box.unexpected)
}

// checkReceives reads a list of posted receives. It returns the number of undecided receives, the
// number of all receives, and the last receive.
func (m *Messages) checkReceives(lp int32, c *chain) (wildcards, receives, last int32) {
	for index := c.head; index != 0; index = m.Requests.At(index).next {
		r := m.Requests.At(index)
		if r.Kind != ReceiveRequest || r.Complete || r.LP != lp {
			invariant.Broken("rank %d has posted request %d, which is %+v", m.Partition.Global(lp), index, *r)
		}
		if r.undecided {
			wildcards++
		}
		receives, last = receives+1, index
	}
	return wildcards, receives, last
}

// checkMessages compares the tail of a list of messages with its last element, and returns
// its length.
func (m *Messages) checkMessages(lp int32, c *chain) (messages int32) {
	last := int32(0)
	for index := c.head; index != 0; index = m.messages.At(index).next {
		messages, last = messages+1, index
	}
	if last != c.tail {
		invariant.Broken("a list of messages of rank %d says that it ends with %d; the last one is %d", m.Partition.Global(lp), c.tail, last)
	}
	return messages
}

// checkBins compares the counters of bins with the content of the bins, and the heaps with the
// bins.
func (m *Messages) checkBins(lp int32, x *bins) {
	var messages, used int32
	var receivesOf, exacts [patternKinds]int32
	contested := 0
	for i := range x.all {
		b := &x.all[i]
		if b.receives.head == 0 && b.messages.head == 0 {
			continue
		}
		kind := b.pattern.kind()
		_, count, _ := m.checkReceives(lp, &b.receives)
		receivesOf[kind] += count
		used++
		if b.receives.head != 0 && b.messages.head != 0 {
			contested++
		}
		if kind == exact {
			messages += m.checkMessages(lp, &b.messages)
			if b.messages.head != 0 {
				for wild := exact + 1; wild < patternKinds; wild++ {
					if x.made[wild] {
						exacts[wild]++
						m.checkWild(lp, b, &x.all[x.find(b.pattern.with(wild))])
					}
				}
			}
		} else {
			exacts[kind] -= b.exacts
			m.checkHeads(lp, x, b)
		}
		if x.find(b.pattern) != int32(i) {
			invariant.Broken("rank %d has a bin %+v, and finds %d instead", m.Partition.Global(lp), *b, x.find(b.pattern))
		}
	}
	receives := int32(0)
	for _, n := range receivesOf {
		receives += n
	}
	if receivesOf != x.receivesOf || exacts != [patternKinds]int32{} {
		invariant.Broken("rank %d has receives %v by kind in bins and counts %v; bins with wildcards count too few exact ones by %v",
			m.Partition.Global(lp), receivesOf, x.receivesOf, exacts)
	}
	m.checkContested(lp, x)
	if messages != x.messages || receives != x.receives || contested != len(x.contested) || int(used) != x.used || messages+receives == 0 {
		invariant.Broken("rank %d has %d messages, %d receives, %d contested bins of %d and counts %d, %d and %d of %d",
			m.Partition.Global(lp), messages, receives, contested, used, x.messages, x.receives, len(x.contested), x.used)
	}
}

// checkWild checks that the first message of an exact bin is not less than that of a wildcard bin
// that matches it.
func (m *Messages) checkWild(lp int32, b, wild *bin) {
	own, least := m.orderOf(b.messages.head), m.orderOf(wild.messages.head)
	if b.number != own.number || own.before(&least) || wild.heads == 0 && own != least {
		invariant.Broken("rank %d has a bin %+v whose first message is not in %+v", m.Partition.Global(lp), *b, *wild)
	}
}

// checkHeads compares the elements of the heap of a wildcard bin with their parents, and their
// number with the counter.
func (m *Messages) checkHeads(lp int32, x *bins, wild *bin) {
	h, exacts := x.heads[wild.heads], int32(0)
	for i := range h {
		if i > 0 && h[i].before(&h[(i-1)/headChildren].order) {
			invariant.Broken("rank %d has a heap of messages with %+v in place %d", m.Partition.Global(lp), h[i], i)
		}
		if !x.taken(&h[i]) {
			exacts++
		}
	}
	if exacts != wild.exacts && (wild.heads != 0 || wild.exacts > 1) {
		invariant.Broken("rank %d has a bin %+v with %d first messages in its heap", m.Partition.Global(lp), *wild, exacts)
	}
}

// checkContested compares the elements of the heap of contested bins with the bins and with their
// parents.
func (m *Messages) checkContested(lp int32, x *bins) {
	for i := range x.contested {
		e := &x.contested[i]
		b := &x.all[e.bin]
		if b.place != int32(i+1) || b.messages.head == 0 || e.order != m.orderOf(b.messages.head) || i > 0 && e.before(&x.contested[(i-1)/2].order) {
			invariant.Broken("rank %d has a heap of contested bins with %+v in place %d", m.Partition.Global(lp), *e, i)
		}
	}
}

// checkPending compares the counter of a Waitall with the number of its incomplete requests.
func (m *Messages) checkPending(lp int32, box *Mailbox) {
	w := &box.Wait
	if w.Kind != WaitAll || len(w.Requests) >= manyBinned && w.pending%manyBinned != 0 {
		return
	}
	pending := int32(0)
	for _, index := range w.Requests {
		if index != 0 && !m.Requests.At(index).Complete {
			pending++
		}
	}
	if pending != w.pending {
		invariant.Broken("rank %d waits in %s for %d requests; %d are not complete", m.Partition.Global(lp), w.Procedure, w.pending, pending)
	}
}
