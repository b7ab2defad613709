package p2p

import (
	"bytes"
	"unsafe"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// A rank that waits for any of many requests waits again for the remaining requests. To read all of
// them in each call would take a time that grows with the square of their number. So the engine
// keeps a long list from one call to the next, the wait set, with the places of the requests in it.
// A call reads only the places that may have changed; heaps find the complete requests.
//
// A call does not read its whole list. The list stays unchanged until the wait is over, so it can
// still be read then:
//   - Active requests of the rank that are not in the wait set may stand anywhere in the slice.
//     If there are such requests, the call reads all places.
//   - Operations that were complete in their calls share a request, which does not count as active. While ranks of the engine
//     have not waited for some of them, the call of an event rank compares all places of its list. Other ranks get requests of
//     their own for such operations ([Messages.OwnRequest]).
//   - A request in the wait set may have left its place. So a request that would end the wait
//     is looked up there; if it has gone, the wait reads all places and goes on. It does so at
//     the instant of its end, when all earlier events are known, so alike on each host.
//   - Of several requests that are complete, Waitany and Testany take the first in the wait set. It need not be the first in the
//     slice if a rank has moved requests past each other: MPI leaves the choice open.
//
// While an event rank waits, another rank's code may run and change the list, against the rule. The
// wait ends with an error if the request that would end it has gone and the list holds no request,
// or an index that belongs to no request of the rank. A call that has read all places at its
// beginning has the outcome of the list at that time.

// LongList is the length from which on a list of requests becomes a wait set.
const LongList = 256

// Slice is the slice of requests that a rank passes to a call. It does not change during the call.
type Slice interface {
	Len() int
	// At returns the request at a place, 0 for an inactive request, and the error of that request.
	At(place int) (index int32, err error)
}

// waitSet is the list of requests of an LP's latest wait for any of many requests.
type waitSet struct {
	slice    Slice   // nil for a slice that is not read again
	exact    bool    // the call has read all places
	changed  bool    // the list of an event rank has changed since the call
	requests []int32 // by place, 0 for an inactive request; a request that is in the list twice is at its first place
	members  int32   // number of requests in the set; their whole is the place
	shown    int     // a place from which KeepSliceUnread looks for an active request
	vacant   []int32 // places whose requests have been waited for since the slice was last read
	coming   setHeap // complete requests, by completion time
	ready    setHeap // complete requests whose time a wait has reached, by place; their time is 0
	past     setHeap // the same requests, by completion time
}

// setEntry is a complete request at a place of a wait set. It is void if another request is at the
// place.
type setEntry struct {
	time       vtime.Time
	place      int32
	request    int32
	generation uint32 // of the request, whose index may be used again
}

func (d *setEntry) before(e *setEntry) bool {
	return d.time < e.time || d.time == e.time && d.place < e.place
}

// setHeap is a binary heap of entries with the least entry first.
type setHeap []setEntry

func (h *setHeap) push(d setEntry) {
	*h = append(*h, d)
	s := *h
	i := len(s) - 1
	for i > 0 && d.before(&s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = d
}

func (h *setHeap) pop() setEntry {
	s := *h
	least, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	for i := 0; len(s) > 0; {
		child := 2*i + 1
		if child+1 < len(s) && s[child+1].before(&s[child]) {
			child++
		}
		if child >= len(s) || !s[child].before(&last) {
			s[i] = last
			break
		}
		s[i] = s[child]
		i = child
	}
	return least
}

// sized returns the wait set of an LP, with room for n requests. It makes a missing wait set.
func (m *Messages) sized(lp int32, n int) *waitSet {
	x := m.waitSets[lp]
	if x == nil {
		if x = (&waitSet{}); m.waitSets == nil {
			m.waitSets = map[int32]*waitSet{}
		}
		m.waitSets[lp] = x
	}
	for place := n; place < len(x.requests); place++ {
		m.put(lp, x, place, 0)
	}
	for place := len(x.requests); place < n; place++ {
		x.requests, x.vacant = append(x.requests, 0), append(x.vacant, int32(place))
	}
	x.requests = x.requests[:n]
	return x
}

// KeepList makes a list the wait set of an LP.
func (m *Messages) KeepList(lp int32, list []int32) error {
	x := m.sized(lp, len(list))
	x.slice, x.exact, x.vacant = nil, true, x.vacant[:0]
	if err := m.compare(lp, x, list); err != nil {
		m.Discard(lp)
		return err
	}
	return nil
}

// compare copies a list into a wait set. It returns the first error in the list; an index with an
// error counts as inactive.
func (m *Messages) compare(lp int32, x *waitSet, list []int32) (first error) {
	for place := x.different(list, 0); place < len(list); place = x.different(list, place+1) {
		index := list[place]
		if err := m.CheckRequest(lp, index); err != nil {
			index = 0
			if first == nil {
				first = err
			}
		}
		m.put(lp, x, place, index)
	}
	return first
}

// list is the list of an event rank. It implements [Slice].
type list struct {
	k        *Messages
	lp       int32
	requests []int32
}

func (s *list) Len() int { return len(s.requests) }

func (s *list) At(place int) (index int32, err error) {
	index = s.requests[place]
	return index, s.k.CheckRequest(s.lp, index)
}

// inMemory reports whether the list of a wait set lies in an event rank's memory.
func (x *waitSet) inMemory() bool {
	_, memory := x.slice.(*list)
	return memory
}

// changed reports whether a wait is for a list that has changed since the call.
func (m *Messages) changed(lp int32, w *wait) bool { return w.ofWaitSet() && m.waitSets[lp].changed }

// KeepMemory makes a list in an event rank's memory its wait set.
func (m *Messages) KeepMemory(lp int32, requests []int32) error {
	s, _ := m.WaitSetSlice(lp).(*list)
	if s == nil {
		s = &list{k: m, lp: lp}
	}
	again := unsafe.SliceData(s.requests) == unsafe.SliceData(requests) && (m.standIns == nil || m.standIns[lp] <= 0)
	s.requests = requests
	return m.KeepSlice(lp, s, again)
}

// ReadMemory copies a list in an event rank's memory, which a call reads, into the wait set if both
// begin at the same address.
func (m *Messages) ReadMemory(lp int32, requests []int32) {
	if s, _ := m.WaitSetSlice(lp).(*list); s != nil && unsafe.SliceData(s.requests) == unsafe.SliceData(requests) {
		m.ReadSlice(lp, requests)
	}
}

// ReadSlice copies the requests of an LP's slice, which a call reads, into the wait set of the same
// memory. So the next call with a long slice finds requests that the rank has moved to other
// places.
func (m *Messages) ReadSlice(lp int32, requests []int32) {
	x := m.waitSets[lp]
	_ = m.compare(lp, x, requests[:min(len(requests), len(x.requests))]) // an error is for the call to return
}

// different returns the first place, not before from, at which a list differs from the wait set,
// the length of the list if they are equal from there on.
func (x *waitSet) different(list []int32, from int) int {
	const block = 1024
	for from < len(list) {
		end := min(from+block, len(list))
		if !bytes.Equal(bytesOf(list[from:end]), bytesOf(x.requests[from:end])) {
			for list[from] == x.requests[from] {
				from++
			}
			return from
		}
		from = end
	}
	return from
}

// bytesOf returns a list as bytes, in the same memory.
func bytesOf(list []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 4*len(list))
}

// WaitSetSlice returns the slice of an LP's wait set, nil for none.
func (m *Messages) WaitSetSlice(lp int32) Slice {
	if x := m.waitSets[lp]; x != nil {
		return x.slice
	}
	return nil
}

// KeepSlice makes the slice of an LP its wait set. again says that the slice has the same memory as
// the slice of the previous call. It returns the first error in the slice.
func (m *Messages) KeepSlice(lp int32, s Slice, again bool) error {
	if again && m.KeepSliceUnread(lp, s, m.Box(lp).Wait.active) {
		return nil
	}
	x := m.sized(lp, s.Len())
	x.slice, x.exact, x.vacant = s, false, x.vacant[:0]
	if err := m.lookThrough(lp, x); err != nil {
		m.Discard(lp)
		return err
	}
	return nil
}

// KeepSliceUnread is KeepSlice without reading the whole slice. It returns false if the slice must
// be read: an active request of the LP, which has active requests, is not in the wait set, or the
// slice holds another request at the place of a request in the wait set.
func (m *Messages) KeepSliceUnread(lp int32, s Slice, active int32) bool {
	x := m.waitSets[lp]
	if x == nil || s.Len() == 0 {
		return false
	}
	x = m.sized(lp, s.Len())
	x.slice, x.exact = s, false
	if m.fillVacant(lp, x) != nil || x.members == 0 || x.members != active {
		return false
	}
	x.shown = min(x.shown, len(x.requests)-1)
	for x.requests[x.shown] == 0 {
		x.shown = (x.shown + 1) % len(x.requests)
	}
	index, err := s.At(x.shown)
	return err == nil && index == x.requests[x.shown]
}

// fillVacant reads the places whose requests have been waited for. It returns an error in the
// slice.
func (m *Messages) fillVacant(lp int32, x *waitSet) error {
	for _, place := range x.vacant {
		if int(place) >= len(x.requests) {
			continue
		}
		index, err := x.slice.At(int(place))
		if err != nil {
			return err
		}
		m.put(lp, x, int(place), index)
	}
	x.vacant = x.vacant[:0]
	return nil
}

// lookThrough reads all places of the slice into the wait set. It returns the first error in the
// slice; a request with an error counts as inactive.
func (m *Messages) lookThrough(lp int32, x *waitSet) (first error) {
	if x.exact {
		return nil
	}
	x.exact = true
	if s, ok := x.slice.(*list); ok {
		return m.compare(lp, x, s.requests)
	}
	for place := range x.requests {
		index, err := x.slice.At(place)
		if err != nil {
			index = 0
			if first == nil {
				first = err
			}
		}
		if index != x.requests[place] {
			m.put(lp, x, place, index)
		}
	}
	return first
}

// looksThrough reads all places of an LP's slice if a request that is complete at an instant, and
// ends the LP's wait, is not at its place any more. It reports whether the wait must be evaluated
// again. If the list has changed since the call, the wait ends with an error.
func (m *Messages) looksThrough(lp int32, w *wait, at vtime.Time) bool {
	x := m.waitSets[lp]
	if x.exact {
		return false
	}
	m.reach(x, at)
	if m.least(x, &x.ready) == nil {
		return false
	}
	found := x.ready[:1]
	if w.ofSome() {
		found = x.ready
	}
	for i := range found {
		d := &found[i]
		if !m.isAt(x, d) {
			continue
		}
		if index, err := x.slice.At(int(d.place)); err != nil || index != d.request {
			err = m.lookThrough(lp, x) // the next call that reads the place returns the error
			x.changed = x.inMemory() && (err != nil || m.WaitSetIsEmpty(lp))
			return !x.changed
		}
	}
	return false
}

// put stores an active request of an LP, or 0, at a place of its wait set. A call that reads all
// places does so in ascending order.
func (m *Messages) put(lp int32, x *waitSet, place int, index int32) {
	if old := x.requests[place]; old != 0 && old != index && !m.shared(old) {
		if r := m.Requests.Peek(old); r.whole == ^int32(place) && r.LP == lp {
			r.whole = 0
			x.members--
		}
	}
	x.requests[place] = 0
	switch {
	case index == 0:
		return
	case m.shared(index):
		x.requests[place] = index
		x.coming.push(setEntry{place: int32(place), request: index})
		return
	}
	r := m.Requests.At(index)
	switch first := int(^r.whole); {
	case r.whole >= 0:
		x.members++
	case first < place:
		return // the list holds it twice
	default: // it has moved to this place
		x.requests[first] = 0
	}
	x.requests[place] = index
	if r.whole = ^int32(place); r.Complete {
		x.coming.push(setEntry{r.Time, int32(place), index, r.generation})
	}
}

// Discard releases the wait set of an LP.
func (m *Messages) Discard(lp int32) {
	if x := m.waitSets[lp]; x != nil {
		for place := range x.requests {
			m.put(lp, x, place, 0)
		}
		delete(m.waitSets, lp)
	}
}

// shared reports whether an index stands for a request that all LPs share.
func (m *Messages) shared(index int32) bool {
	return index == m.CompletedSend || index == m.CompletedReceive
}

// Begun returns the request of a nonblocking operation that an LP has begun. It counts the requests that all LPs share.
func (m *Messages) Begun(lp, request int32) int32 {
	if m.shared(request) {
		if m.standIns == nil {
			m.standIns = make([]int32, m.Partition.Ranks)
		}
		m.standIns[lp]++
	}
	return request
}

// waitedFor counts a wait of an LP for a request that all LPs share.
func (m *Messages) waitedFor(lp int32) {
	if m.standIns != nil {
		m.standIns[lp]--
	}
}

// WaitForSet starts a wait of an LP for the requests in its wait set; see beginWait.
func (m *Messages) WaitForSet(lp int32, kind WaitKind, c world.Procedure) bool {
	box := m.Box(lp)
	box.Wait.Requests, box.Wait.pending = box.Wait.Requests[:0], 0
	return m.beginWait(lp, box, kind, c)
}

// WaitSetIsEmpty reports whether the wait set of an LP has no active request.
func (m *Messages) WaitSetIsEmpty(lp int32) bool {
	x := m.waitSets[lp]
	return x.members == 0 && m.earliestInSet(x) == vtime.Forever
}

// ofWaitSet reports whether a wait is for the requests of a wait set.
func (w *wait) ofWaitSet() bool {
	switch w.Kind {
	case WaitAny, WaitSome, TestAny, TestSome:
		return len(w.Requests) == 0
	}
	return false
}

// WaitedFor returns the requests that an LP waits for in a call with a list of requests.
func (m *Messages) WaitedFor(lp int32) []int32 {
	w := &m.Box(lp).Wait
	if !w.ofWaitSet() {
		return w.Requests
	}
	x := m.waitSets[lp]
	_ = m.lookThrough(lp, x) // a call returns the errors in the slice
	return x.requests
}

// WaitSet returns the requests in the wait set of an LP, 0 for inactive requests.
func (m *Messages) WaitSet(lp int32) []int32 {
	if x := m.waitSets[lp]; x != nil {
		return x.requests
	}
	return nil
}

// completesInSet records that a request of a wait set is now complete.
func (m *Messages) completesInSet(ri int32, r *request) {
	m.waitSets[r.LP].coming.push(setEntry{r.Time, ^r.whole, ri, r.generation})
}

// isAt reports whether the complete request of an entry is still at its place in a wait set.
func (m *Messages) isAt(x *waitSet, d *setEntry) bool {
	if int(d.place) >= len(x.requests) || x.requests[d.place] != d.request {
		return false
	}
	return m.shared(d.request) || m.Requests.Peek(d.request).generation == d.generation
}

// least returns the least valid entry of a heap, nil for none. It removes void entries.
func (m *Messages) least(x *waitSet, h *setHeap) *setEntry {
	for len(*h) > 0 {
		if d := &(*h)[0]; m.isAt(x, d) {
			return d
		}
		h.pop()
	}
	return nil
}

// earliestInSet returns the least completion time of the requests in a wait set, Forever if no
// request is complete.
func (m *Messages) earliestInSet(x *waitSet) vtime.Time {
	at := vtime.Forever
	if d := m.least(x, &x.past); d != nil {
		at = d.time
	}
	if d := m.least(x, &x.coming); d != nil {
		at = min(at, d.time)
	}
	return at
}

// reach moves the requests of a wait set that are complete at an instant, the end of the wait, to
// the ready requests.
func (m *Messages) reach(x *waitSet, at vtime.Time) {
	for len(x.coming) > 0 && x.coming[0].time <= at {
		d := x.coming.pop()
		x.past.push(d)
		d.time = 0
		x.ready.push(d)
	}
}

// ofSome reports whether a wait is for all requests that are complete.
func (w *wait) ofSome() bool {
	return w.Procedure == world.Waitsome || w.Procedure == world.Testsome
}

// errChanged is the error of a wait whose list has changed before the wait was over.
var errChanged = world.Errorf(world.ErrRequest, "the list of requests has changed since the call: "+
	"one of %d requests and more is memory of the rank's own, which nobody changes before the rank's next step (docs/event-ranks.md)", LongList)

// takeFromSet charges an LP for the requests of its wait set that its wait has found, and stores
// them in the LP's completion.
func (m *Messages) takeFromSet(b *Completion, w *wait) {
	lp, x := b.LP, m.waitSets[b.LP]
	m.looksThrough(lp, w, w.at)
	m.reach(x, w.at)
	if x.changed || x.inMemory() && m.least(x, &x.ready) == nil {
		m.Partition.Clock[lp] = w.at
		b.Err, b.Procedure, b.Fatal = errChanged, w.Procedure, m.Partition.ErrorsAreFatal(lp)
		m.Discard(lp)
		return
	}
	completed := m.completed[:0]
	for m.least(x, &x.ready) != nil {
		d := x.ready.pop()
		if m.shared(d.request) {
			x.requests[d.place] = 0
		} else if n := len(b.Indices); n > 0 && b.Indices[n-1] == int(d.place) {
			continue // the request has left the list and come back
		}
		b.Indices, completed = append(b.Indices, int(d.place)), append(completed, d.request)
		if !w.ofSome() {
			break
		}
	}
	switch {
	case len(completed) == 0:
		invariant.Broken("a wait of rank %d ended without a complete request", m.Partition.Global(lp))
	case w.ofSome():
		m.chargeAll(lp, completed, w.at)
	default:
		m.Charge(lp, m.Requests.At(completed[0]), w.at)
	}
	for _, index := range completed {
		m.AddRequest(b, index, w.Procedure)
	}
	m.completed = completed[:0]
}

// leave removes a request that has been waited for from the wait set.
func (m *Messages) leave(lp int32, r *request) {
	x, place := m.waitSets[lp], ^r.whole
	r.whole, x.requests[place] = 0, 0
	x.members--
	x.vacant = append(x.vacant, place)
}

// checkWaitSet compares the counters of a wait set with its list.
func (m *Messages) checkWaitSet(lp int32, x *waitSet) {
	members := int32(0)
	for place, index := range x.requests {
		switch {
		case index == 0 || m.shared(index):
		case m.Requests.Peek(index).whole != ^int32(place):
			invariant.Broken("rank %d keeps request %d at place %d, and the request has not that place", m.Partition.Global(lp), index, place)
		default:
			members++
		}
	}
	if active := m.Box(lp).Wait.active; members != x.members || members > active {
		invariant.Broken("rank %d keeps a list with %d of its %d active requests and counts %d", m.Partition.Global(lp), members, active, x.members)
	}
}
