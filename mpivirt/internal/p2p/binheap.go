package p2p

import (
	"slices"

	"gigarank/vtime"
)

// order is the place of a message among those of a mailbox: by arrival, source rank, and the
// order in which they came.
type order struct {
	arrival vtime.Time
	rank    int32
	number  uint32
}

func (a *order) before(b *order) bool {
	if a.arrival != b.arrival {
		return a.arrival < b.arrival
	}
	if a.rank != b.rank {
		return a.rank < b.rank
	}
	return int32(a.number-b.number) < 0
}

// contestedHeap is a binary heap of bins by their least messages. A bin knows its place.
type contestedHeap []contested

// contested is a bin and the order of its least message.
type contested struct {
	order
	bin int32
}

// put enters a bin, or moves it to its place.
func (h *contestedHeap) put(all []bin, i int32, o order) {
	b := &all[i]
	if b.place == 0 {
		*h = append(*h, contested{})
		b.place = int32(len(*h))
	}
	h.settle(all, int(b.place)-1, contested{o, i})
}

// uncontest takes a bin out of the contested ones, if it is among them.
func (x *bins) uncontest(i int32) {
	b, h := &x.all[i], &x.contested
	if b.place == 0 {
		return
	}
	at, last := int(b.place)-1, len(*h)-1
	b.place = 0
	moved := (*h)[last]
	*h = (*h)[:last]
	if at < last {
		h.settle(x.all, at, moved)
	}
}

// settle puts an element into a free place, or up or down from there.
func (h *contestedHeap) settle(all []bin, i int, e contested) {
	s := *h
	for i > 0 && e.before(&s[(i-1)/2].order) {
		s[i] = s[(i-1)/2]
		all[s[i].bin].place = int32(i + 1)
		i = (i - 1) / 2
	}
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1].before(&s[child].order) {
			child++
		}
		if !s[child].before(&e.order) {
			break
		}
		s[i] = s[child]
		all[s[i].bin].place = int32(i + 1)
		i = child
	}
	s[i] = e
	all[e.bin].place = int32(i + 1)
}

// headChildren is the number of children of a node in a heap of heads.
const headChildren = 4

// head is the first message of an exact bin, in a heap with headChildren a node. It stays
// there after it has been taken, until it comes to the top or the heap is swept: a heap that
// knew the places of its elements would write into a bin for each that it moves.
type head struct {
	order
	bin int32
}

// taken reports whether a head is not the first message of its bin any more. The numbers of
// the messages of a mailbox differ, unless 2^32 came in between.
func (x *bins) taken(h *head) bool {
	b := &x.all[h.bin]
	return b.messages.head == 0 || b.number != h.number
}

// takeHeads returns the number of an empty heap.
func (x *bins) takeHeads() int32 {
	if last := len(x.spareHeads) - 1; last >= 0 {
		number := x.spareHeads[last]
		x.spareHeads = x.spareHeads[:last]
		return number
	}
	x.heads = append(x.heads, nil)
	return int32(len(x.heads) - 1)
}

// releaseHeads gives the number of a heap back.
func (x *bins) releaseHeads(number int32) {
	x.heads[number] = x.heads[number][:0]
	x.spareHeads = append(x.spareHeads, number)
}

// pushHead enters the first message of an exact bin into the heap of a bin with wildcards.
func (m *Messages) pushHead(x *bins, wild *bin, i int32) {
	h := &x.heads[wild.heads]
	if len(*h) == cap(*h) { // half of the elements, or all, are not taken
		x.sweep(h)
		*h = slices.Grow(*h, max(int(wild.exacts), 4))
	}
	e := head{m.orderOf(x.all[i].messages.head), i}
	*h = append(*h, e)
	s := *h
	at := len(s) - 1
	for at > 0 && e.before(&s[(at-1)/headChildren].order) {
		s[at] = s[(at-1)/headChildren]
		at = (at - 1) / headChildren
	}
	s[at] = e
}

// leastHead returns the least message in the heap of a bin with wildcards, which has messages.
func (x *bins) leastHead(wild *bin) int32 {
	h := &x.heads[wild.heads]
	for x.taken(&(*h)[0]) {
		last := len(*h) - 1
		e := (*h)[last]
		*h = (*h)[:last]
		sink(*h, 0, e)
	}
	return x.all[(*h)[0].bin].messages.head
}

// sink puts an element into a free place of a heap, or down from there.
func sink(s []head, i int, e head) {
	for {
		child := headChildren*i + 1
		if child >= len(s) {
			break
		}
		end := min(child+headChildren, len(s))
		for c := child + 1; c < end; c++ {
			if s[c].before(&s[child].order) {
				child = c
			}
		}
		if !s[child].before(&e.order) {
			break
		}
		s[i] = s[child]
		i = child
	}
	s[i] = e
}

// sweep removes the heads that have been taken from a heap.
func (x *bins) sweep(h *[]head) {
	s := slices.DeleteFunc(*h, func(e head) bool { return x.taken(&e) })
	for i := (len(s) - 2) / headChildren; i >= 0 && len(s) > 1; i-- {
		sink(s, i, s[i])
	}
	*h = s
}
