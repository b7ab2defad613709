package engine

import (
	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// throttled holds the items held back, in a queue for each engine that they are about to
// send to. The queues lie in one of two heaps, by their least items. So the least item
// with room, and the least of all, are found without a look at items without room.
type throttled struct {
	queues map[int]*throttledQueue // by destination; none is empty
	open   queueHeap               // to destinations that had room at the last look
	full   queueHeap               // to the others
	spare  []*throttledQueue       // empty queues, for reuse
}

// throttledQueue holds the items that are about to send to one engine.
type throttledQueue struct {
	items eventList
	dst   int
	index int  // in its heap
	full  bool // its heap is full, not open
}

// minimum returns the least instant of an item, Forever if there is none.
func (h *throttled) minimum() vtime.Time { return min(h.open.minimum(), h.full.minimum()) }

// push adds an item that is about to send to engine dst.
func (h *throttled) push(ev Event, dst int) {
	q := h.queues[dst]
	if q == nil {
		q = h.add(dst)
	}
	q.items.push(ev)
	h.heapOf(q).rise(q)
}

// add returns a new queue without items.
func (h *throttled) add(dst int) *throttledQueue {
	if h.queues == nil {
		h.queues = map[int]*throttledQueue{}
	}
	q := &throttledQueue{}
	if last := len(h.spare) - 1; last >= 0 {
		q, h.spare = h.spare[last], h.spare[:last]
	}
	q.dst, q.full, q.index = dst, false, len(h.open)
	h.queues[dst] = q
	h.open = append(h.open, q)
	return q
}

func (h *throttled) heapOf(q *throttledQueue) *queueHeap {
	if q.full {
		return &h.full
	}
	return &h.open
}

// pop takes out the least item whose destination has room. It asks for room
// only at destinations that had room when it asked last.
func (h *throttled) pop(room func(dst int) bool) (ev Event, found bool) {
	for len(h.open) > 0 {
		q := h.open[0]
		if !room(q.dst) {
			h.open.remove(q)
			q.full = true
			h.full.add(q)
			continue
		}
		ev = q.items.pop()
		if q.items.empty() {
			h.open.remove(q)
			delete(h.queues, q.dst)
			h.spare = append(h.spare, q)
		} else {
			h.open.sink(q)
		}
		return ev, true
	}
	return Event{}, false
}

// opened moves the queue of a destination that may have room again.
func (h *throttled) opened(dst int) {
	if q := h.queues[dst]; q != nil && q.full {
		h.full.remove(q)
		q.full = false
		h.open.add(q)
	}
}

// queueHeap is a binary heap of queues that are not empty, by their least items, then by
// their destinations. A B-tree in its place (github.com/google/btree) takes 1.4 to 2.5 times
// as long an item, by BenchmarkReleaseAmongDestinations: the least item of a queue changes with
// each release, which is a deletion and an insertion there.
type queueHeap []*throttledQueue

func (h queueHeap) minimum() vtime.Time {
	if len(h) == 0 {
		return vtime.Forever
	}
	return h[0].items.minimum()
}

func (q *throttledQueue) before(o *throttledQueue) bool {
	a, b := &q.items.heap[0], &o.items.heap[0]
	return a.Before(b) || !b.Before(a) && q.dst < o.dst
}

func (h *queueHeap) add(q *throttledQueue) {
	q.index = len(*h)
	*h = append(*h, q)
	h.rise(q)
}

func (h *queueHeap) remove(q *throttledQueue) {
	last := len(*h) - 1
	moved := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	if moved == q {
		return
	}
	moved.index = q.index
	(*h)[q.index] = moved
	h.sink(moved)
	h.rise(moved)
}

// rise moves a queue up to where it belongs.
func (h *queueHeap) rise(q *throttledQueue) {
	i := q.index
	for i > 0 {
		parent := (i - 1) / 2
		if !q.before((*h)[parent]) {
			break
		}
		h.put(i, (*h)[parent])
		i = parent
	}
	h.put(i, q)
	if invariant.Enabled {
		h.check(i)
	}
}

// sink moves a queue down to where it belongs.
func (h *queueHeap) sink(q *throttledQueue) {
	i := q.index
	for {
		child := 2*i + 1
		if child >= len(*h) {
			break
		}
		if child+1 < len(*h) && (*h)[child+1].before((*h)[child]) {
			child++
		}
		if !(*h)[child].before(q) {
			break
		}
		h.put(i, (*h)[child])
		i = child
	}
	h.put(i, q)
}

func (h *queueHeap) put(i int, q *throttledQueue) {
	(*h)[i] = q
	q.index = i
}

// check holds a queue of the heap against its parent.
func (h *queueHeap) check(i int) {
	switch q := (*h)[i]; {
	case q.index != i || q.items.empty():
		invariant.Broken("throttled items for engine %d: %d in place %d, which it takes for %d", q.dst, len(q.items.heap), i, q.index)
	case i > 0 && q.before((*h)[(i-1)/2]):
		invariant.Broken("throttled items for engine %d lie below those for %d, which come later", q.dst, (*h)[(i-1)/2].dst)
	}
}
