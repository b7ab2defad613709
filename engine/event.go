package engine

import (
	"math"
	"math/bits"

	"gigarank/internal/invariant"
	"gigarank/vtime"
)

// Event is something that happens to an LP at an instant, and whose outcome
// depends on all that happens before.
type Event struct {
	Time     vtime.Time
	Sequence uint64 // counts the events of one source
	Source   int32  // global number of the LP that caused it
	LP       int32  // global number of the LP that it concerns
	Data     uint64 // for the kernel
}

// EventBytes is the memory of an event under way: its place in a list that has doubled its
// length again and again, and a share of the shorter lists before.
const EventBytes = 2.5 * eventSize

// eventSize is the size of an Event in bytes.
const eventSize = 8 + 8 + 4 + 4 + 8

// Before is the total order of events: (virtual time, source LP, per-source
// sequence number). It is the only comparator of events.
func (a *Event) Before(b *Event) bool {
	if a.Time != b.Time {
		return a.Time < b.Time
	}
	if a.Source != b.Source {
		return a.Source < b.Source
	}
	return a.Sequence < b.Sequence
}

// Doubled returns a copy of a full heap with room for twice as many elements, at least for first.
// A heap that doubles each time copies an element once on average, and leaves the collector as much as it
// holds; append lengthens a long slice by a quarter only, which makes both four times as much.
func Doubled[T any](heap []T, first int) []T {
	longer := make([]T, len(heap), max(2*len(heap), first))
	copy(longer, heap)
	return longer
}

// eventList is a heap of events with four children a node: half the depth of a
// binary heap, and the children of a node share two cache lines.
type eventList struct {
	heap []Event
	near int // place of the event that the last pop or push has brought nearest to the root
}

func (l *eventList) empty() bool { return len(l.heap) == 0 }

// minimum returns the time of the least event, Forever if there is none.
func (l *eventList) minimum() vtime.Time {
	if len(l.heap) == 0 {
		return vtime.Forever
	}
	return l.heap[0].Time
}

func (l *eventList) push(ev Event) {
	if len(l.heap) == cap(l.heap) {
		l.heap = Doubled(l.heap, 16)
	}
	l.heap = append(l.heap, ev)
	h := l.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !ev.Before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = ev
	l.near = i
	if invariant.Enabled {
		l.check(i)
	}
}

func (l *eventList) pop() Event {
	h := l.heap
	least := h[0]
	last := h[len(h)-1]
	h = h[:len(h)-1]
	l.heap = h
	l.near = 0
	if len(h) == 0 {
		return least
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		best := leastOf(h[child:min(child+4, len(h))]) + child
		if !h[best].Before(&last) {
			break
		}
		h[i] = h[best]
		if i == 0 {
			l.near = best // what takes its place comes into the top two levels
		}
		i = best
	}
	h[i] = last
	if invariant.Enabled {
		l.check(i)
		for top := range min(len(h), 16) {
			l.check(top)
		}
	}
	return least
}

// leastOf returns the place of the least of one to four events. No processor foretells
// which of four it is, so it is found without a branch.
func leastOf(s []Event) int {
	if len(s) == 4 {
		t0, t1, t2, t3 := s[0].Time, s[1].Time, s[2].Time, s[3].Time
		left, right := 0, 2
		if t1 < t0 {
			left = 1
		}
		if t3 < t2 {
			right = 3
		}
		l, r := min(t0, t1), min(t2, t3)
		best := left
		if r < l {
			best = right
		}
		if t0 != t1 && t2 != t3 && l != r {
			return best
		}
		left, right = precedes(&s[1], &s[0]), 2+precedes(&s[3], &s[2])
		return left + (right-left)*precedes(&s[right&3], &s[left&1])
	}
	best := 0
	for c := 1; c < len(s); c++ {
		if s[c].Before(&s[best]) {
			best = c
		}
	}
	return best
}

// precedes returns 1 if an event is before another one, else 0: the borrow of a subtraction of 192 bits.
// No time is negative.
func precedes(a, b *Event) int {
	_, borrow := bits.Sub64(a.Sequence, b.Sequence, 0)
	_, borrow = bits.Sub64(uint64(int64(a.Source)-math.MinInt32), uint64(int64(b.Source)-math.MinInt32), borrow)
	_, borrow = bits.Sub64(uint64(a.Time), uint64(b.Time), borrow)
	return int(borrow)
}

// newcomer returns the LP of the event that the last pop or push has brought into the top
// two levels of the heap, from which the next event comes; none if there is none.
func (l *eventList) newcomer() int32 {
	if l.near > 4 || l.near >= len(l.heap) {
		return none
	}
	return l.heap[l.near].LP
}

// none is the number of no LP.
const none = -1

// check holds an event of the heap against its parent and its children.
func (l *eventList) check(i int) {
	h := l.heap
	for c := 4*i + 1; c < min(4*i+5, len(h)); c++ {
		if h[c].Before(&h[i]) {
			invariant.Broken("event list: %+v lies above %+v, which comes before it", h[i], h[c])
		}
	}
	if parent := (i - 1) / 4; i > 0 && h[i].Before(&h[parent]) {
		invariant.Broken("event list: %+v lies above %+v, which comes before it", h[parent], h[i])
	}
}
