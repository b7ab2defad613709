package ptp

import "gigarank/invariant"

// manyBinned is the number of messages and receives in bins, and of requests in a wait, from
// which on one look in so many sees all of them.
const manyBinned = 256

// CheckMailbox compares the counters of an LP's mailbox with its lists and bins. It also finds
// receives that are posted though their message is certain.
func (k *Messages) CheckMailbox(lp int32) {
	box := k.Mailbox(lp)
	if box == nil {
		return
	}
	least := int32(0)
	if box.binned() {
		x := k.binsOf(box)
		least = x.leastContested()
		if wildcards := x.receivesOf[anySource] + x.receivesOf[anySource|anyTag]; wildcards > box.wildcards {
			invariant.Broken("rank %d has posted %d receives from any source and counts %d", k.Global(lp), wildcards, box.wildcards)
		}
		if x.looks++; x.messages+x.receives < manyBinned || x.looks%manyBinned == 0 {
			k.checkBins(lp, x)
		}
	} else if k.checksLists(box) {
		k.checkLists(lp, box)
		least, _ = k.leastContestedListed(box)
	}
	if least != 0 && (k.Processors != nil || box.wildcards == 0) {
		invariant.Broken("rank %d has posted a receive for message %+v, which is there", k.Global(lp), *k.messages.At(least))
	}
	k.checkPending(lp, box)
	if x := k.kept[lp]; x != nil {
		if k.looks++; k.looks%manyBinned == 0 {
			k.checkKept(lp, x)
		}
	}
}

// checksLists reports whether a look at a mailbox checks its lists: each look at short ones,
// one in so many at long ones.
func (k *Messages) checksLists(box *Mailbox) bool {
	n := 0
	for index := box.unexpected.head; index != 0 && n <= longSearch; index = k.messages.At(index).next {
		n++
	}
	for index := box.posted.head; index != 0 && n <= longSearch; index = k.Requests.At(index).next {
		n++
	}
	if n <= longSearch {
		return true
	}
	k.looks++
	return k.looks%manyBinned == 0
}

// checkLists compares the lists of a mailbox with its counter and their tails.
func (k *Messages) checkLists(lp int32, box *Mailbox) {
	wildcards, _, last := k.checkReceives(lp, &box.posted)
	if wildcards != box.wildcards {
		invariant.Broken("rank %d has posted %d receives from any source and counts %d", k.Global(lp), wildcards, box.wildcards)
	}
	if last != box.posted.tail {
		invariant.Broken("rank %d: the last posted receive is %d, the list ends with %d", k.Global(lp), last, box.posted.tail)
	}
	k.checkMessages(lp, &box.unexpected)
}

// checkReceives looks at a list of posted receives. It returns the number of those that are
// undecided, that of all, and the last.
func (k *Messages) checkReceives(lp int32, c *chain) (wildcards, receives, last int32) {
	for index := c.head; index != 0; index = k.Requests.At(index).next {
		r := k.Requests.At(index)
		if r.Kind != ReceiveRequest || r.Complete || r.LP != lp {
			invariant.Broken("rank %d has posted request %d, which is %+v", k.Global(lp), index, *r)
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
func (k *Messages) checkMessages(lp int32, c *chain) (messages int32) {
	last := int32(0)
	for index := c.head; index != 0; index = k.messages.At(index).next {
		messages, last = messages+1, index
	}
	if last != c.tail {
		invariant.Broken("a list of messages of rank %d says that it ends with %d; the last one is %d", k.Global(lp), c.tail, last)
	}
	return messages
}

// checkBins compares the counters of bins with what they hold, and the heaps with the bins.
func (k *Messages) checkBins(lp int32, x *bins) {
	messages, receives, contested := int32(0), int32(0), 0
	for kind := range patternKinds {
		ofKind := int32(0)
		for p, b := range x.ofKind[kind] {
			_, count, _ := k.checkReceives(lp, &b.receives)
			ofKind += count
			messages += k.checkMessages(lp, &b.messages)
			if b.receives.head != 0 && b.first() != 0 {
				contested++
			}
			if p != b.pattern || p.kind() != kind || b.receives.head == 0 && b.first() == 0 {
				invariant.Broken("rank %d has a bin for %+v, which is %+v", k.Global(lp), p, *b)
			}
			k.checkHeap(lp, b.heads, kind)
		}
		if ofKind != x.receivesOf[kind] {
			invariant.Broken("rank %d has %d receives of kind %d in bins and counts %d", k.Global(lp), ofKind, kind, x.receivesOf[kind])
		}
		receives += ofKind
	}
	k.checkHeap(lp, x.contested, exact)
	if messages != x.messages || receives != x.receives || contested != len(x.contested) || messages+receives == 0 {
		invariant.Broken("rank %d has %d messages, %d receives and %d contested bins and counts %d, %d and %d",
			k.Global(lp), messages, receives, contested, x.messages, x.receives, len(x.contested))
	}
}

// checkHeap compares the elements of a heap with their bins and their parents.
func (k *Messages) checkHeap(lp int32, h binHeap, place int) {
	for i := range h {
		e := &h[i]
		if e.bin.place[place] != int32(i+1) || e.bin.first() == 0 || e.order != k.orderOf(e.bin.first()) || i > 0 && e.before(&h[(i-1)/2].order) {
			invariant.Broken("rank %d has a heap of bins with %+v in place %d", k.Global(lp), *e, i)
		}
	}
}

// checkPending compares the counter of a Waitall with its incomplete requests.
func (k *Messages) checkPending(lp int32, box *Mailbox) {
	w := &box.Wait
	if w.Kind != WaitAll || len(w.Requests) >= manyBinned && w.pending%manyBinned != 0 {
		return
	}
	pending := int32(0)
	for _, index := range w.Requests {
		if index != 0 && !k.Requests.At(index).Complete {
			pending++
		}
	}
	if pending != w.pending {
		invariant.Broken("rank %d waits in %s for %d requests; %d are not complete", k.Global(lp), w.Procedure, w.pending, pending)
	}
}
