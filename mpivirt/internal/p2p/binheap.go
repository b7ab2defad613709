package p2p

import (
	"slices"

	"gigarank/vtime"
)

// order is the key by which a mailbox orders its messages: arrival, source rank, then the order in
// which the messages came.
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

// contestedHeap is a binary heap of contested bins by their least messages. A bin stores its place
// in the heap.
type contestedHeap []contested

// contested is an element of a contestedHeap: a bin and the order of its least message.
type contested struct {
	order
	bin int32
}

// put adds a bin to the heap, or moves the bin to its new place.
func (h *contestedHeap) put(all []bin, i int32, o order) {
	b := &all[i]
	if b.place == 0 {
		*h = append(*h, contested{})
		b.place = int32(len(*h))
	}
	h.settle(all, int(b.place)-1, contested{o, i})
}

// uncontest removes a bin from the heap of contested bins, if the heap holds the bin.
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

// settle puts an element into a free place of the heap, or moves it up or down from there.
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

// headChildren is the number of children of a node in a heap of heads, which is not binary but
// 4-ary.
const headChildren = 4

// head is the first message of an exact bin, as an element of a heap with headChildren children a
// node. A head stays in the heap after its message has been taken, until the head comes to the top
// or the heap is swept: a heap that tracked the places of its heads would write into a bin for each
// head that it moves.
type head struct {
	order
	bin int32
}

// taken reports whether the message of a head is not the first message of its bin any more. The
// messages of a mailbox have different numbers, unless 2^32 messages lie between them.
func (x *bins) taken(h *head) bool {
	b := &x.all[h.bin]
	return b.messages.head == 0 || b.number != h.number
}

// takeHeads returns the number of an empty heap of heads.
func (x *bins) takeHeads() int32 {
	if last := len(x.spareHeads) - 1; last >= 0 {
		number := x.spareHeads[last]
		x.spareHeads = x.spareHeads[:last]
		return number
	}
	x.heads = append(x.heads, nil)
	return int32(len(x.heads) - 1)
}

// releaseHeads frees the number of a heap of heads.
func (x *bins) releaseHeads(number int32) {
	x.heads[number] = x.heads[number][:0]
	x.spareHeads = append(x.spareHeads, number)
}

// pushHead adds the first message of an exact bin to the heap of a wildcard bin.
func (m *Messages) pushHead(x *bins, wild *bin, i int32) {
	h := &x.heads[wild.heads]
	if len(*h) == cap(*h) { // at least half of the heads have not been taken
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

// leastHead returns the least message in the heap of a wildcard bin, which has messages.
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

// sink puts an element into a free place of a heap, or moves it down from there.
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

// sweep removes the heads whose messages have been taken from a heap.
func (x *bins) sweep(h *[]head) {
	s := slices.DeleteFunc(*h, func(e head) bool { return x.taken(&e) })
	for i := (len(s) - 2) / headChildren; i >= 0 && len(s) > 1; i-- {
		sink(s, i, s[i])
	}
	*h = s
}
