package engine

// readyQueue holds the items that can run now: single items in first-in-first-out order,
// and ranges of LPs released together. Items go first, so that what a released
// LP sets off is used up while it is in the cache.
type readyQueue struct {
	ring   []int32 // length a power of two
	head   int
	count  int
	ranges []lpRange
}

type lpRange struct{ next, end int32 }

func (q *readyQueue) empty() bool { return q.count == 0 && len(q.ranges) == 0 }

func (q *readyQueue) push(item int32) {
	if q.count == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.count)&(len(q.ring)-1)] = item
	q.count++
}

// pushFirst adds an item before all others.
func (q *readyQueue) pushFirst(item int32) {
	if q.count == len(q.ring) {
		q.grow()
	}
	q.head = (q.head - 1) & (len(q.ring) - 1)
	q.ring[q.head] = item
	q.count++
}

func (q *readyQueue) pushRange(lo, hi int32) {
	if lo < hi {
		q.ranges = append(q.ranges, lpRange{lo, hi})
	}
}

func (q *readyQueue) pop() int32 {
	if q.count > 0 {
		item := q.ring[q.head]
		q.head = (q.head + 1) & (len(q.ring) - 1)
		q.count--
		return item
	}
	r := &q.ranges[len(q.ranges)-1]
	item := r.next
	r.next++
	if r.next == r.end {
		q.ranges = q.ranges[:len(q.ranges)-1]
	}
	return item
}

// peek returns the single item that comes after the next i.
func (q *readyQueue) peek(i int) int32 { return q.ring[(q.head+i)&(len(q.ring)-1)] }

// popRange removes up to limit LPs from the last range. There must be one.
func (q *readyQueue) popRange(limit int32) (lo, hi int32) {
	r := &q.ranges[len(q.ranges)-1]
	lo, hi = r.next, r.next+min(limit, r.end-r.next)
	r.next = hi
	if hi == r.end {
		q.ranges = q.ranges[:len(q.ranges)-1]
	}
	return lo, hi
}

func (q *readyQueue) grow() {
	larger := make([]int32, max(64, 2*len(q.ring)))
	n := copy(larger, q.ring[q.head:])
	copy(larger[n:], q.ring[:q.head])
	q.ring, q.head = larger, 0
}
