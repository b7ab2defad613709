package ptp

import "gigarank/vtime"

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

// binHeap is a binary heap of bins by their first messages. A bin knows its place in it, plus
// one, in one of the elements of place; 0 stands for none.
type binHeap []headed

// headed is a bin and the order of its first message.
type headed struct {
	order
	bin *bin
}

// put enters a bin, or moves it to its place.
func (h *binHeap) put(b *bin, place int, o order) {
	if b.place[place] == 0 {
		*h = append(*h, headed{})
		b.place[place] = int32(len(*h))
	}
	i := int(b.place[place]) - 1
	h.settle(i, place, headed{o, b})
}

// remove takes a bin out, if it is in the heap.
func (h *binHeap) remove(b *bin, place int) {
	if b.place[place] == 0 {
		return
	}
	i, last := int(b.place[place])-1, len(*h)-1
	b.place[place] = 0
	moved := (*h)[last]
	(*h)[last] = headed{}
	*h = (*h)[:last]
	if i < last {
		h.settle(i, place, moved)
	}
}

// settle puts an element into a free place, or up or down from there.
func (h *binHeap) settle(i, place int, e headed) {
	s := *h
	for i > 0 && e.before(&s[(i-1)/2].order) {
		s[i] = s[(i-1)/2]
		s[i].bin.place[place] = int32(i + 1)
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
		s[i].bin.place[place] = int32(i + 1)
		i = child
	}
	s[i] = e
	e.bin.place[place] = int32(i + 1)
}
