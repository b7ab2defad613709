package ptp

import (
	"bytes"
	"unsafe"

	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// A rank that waits for any of many requests waits again for those that are left. To look at
// all of them in each call would take a time that grows with the square of their number. So a
// long list is kept from one call to the next, with the places of the requests in it. A call
// looks at places that may have changed; heaps find the requests that are complete.
//
// All active requests of the rank that are not in the list at their places may have come into
// it anywhere. If there are any, the next call looks at all places.

// LongList is the length from which on a list of requests is kept.
const LongList = 256

// Anywhere is the address of a list all of whose places each call looks at.
const Anywhere uintptr = 1

// kept is the list of an LP's latest wait for any of many requests.
type kept struct {
	address  uintptr // of the rank's slice
	confirms bool    // the rank confirms that a complete request is in its slice, and takes it
	requests []int32 // by place, 0 for an inactive one
	members  int32   // requests that are in the list at their places; whole has the place
	vacant   []int32 // places whose requests have been waited for since the last look
	coming   dues    // complete requests, by the time of completion
	ready    dues    // complete requests whose time a wait has reached, by place
}

// due is a complete request at a place of a list. It is void if another request is there.
type due struct {
	time    vtime.Time
	place   int32
	request int32
}

func (d *due) before(e *due) bool { return d.time < e.time || d.time == e.time && d.place < e.place }

// dues is a binary heap, with the least first.
type dues []due

func (h *dues) push(d due) {
	*h = append(*h, d)
	s := *h
	i := len(s) - 1
	for i > 0 && d.before(&s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = d
}

func (h *dues) pop() due {
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

// Keep begins a look at an LP's list of so many requests at an address. It returns the places
// at which a request may be that the kept list does not have, and false if that may be any.
// The places are valid until the next call for the LP.
func (k *Messages) Keep(lp int32, address uintptr, n int) (places []int32, known bool) {
	x := k.kept[lp]
	if x == nil {
		if x = (&kept{}); k.kept == nil {
			k.kept = map[int32]*kept{}
		}
		k.kept[lp] = x
	}
	if x.address != address {
		for place := range x.requests {
			k.Put(lp, place, 0)
		}
		*x = kept{address: address, requests: make([]int32, n), vacant: x.vacant[:0], coming: x.coming[:0], ready: x.ready[:0]}
		return nil, false
	}
	places, x.vacant = x.vacant, x.vacant[:0]
	for place := n; place < len(x.requests); place++ {
		k.Put(lp, place, 0)
	}
	kept := places[:0]
	for _, place := range places {
		if int(place) < n {
			kept = append(kept, place)
		}
	}
	for place := len(x.requests); place < n; place++ {
		kept = append(kept, int32(place))
		x.requests = append(x.requests, 0)
	}
	x.requests = x.requests[:n]
	return kept, address != Anywhere
}

// Put enters an active request of an LP, or 0, into its kept list at a place. A look at many
// places goes through them in ascending order.
func (k *Messages) Put(lp int32, place int, index int32) {
	x := k.kept[lp]
	if old := x.requests[place]; old != index && old != 0 && !k.shared(old) {
		if r := k.Requests.Peek(old); r.whole == ^int32(place) && r.LP == lp {
			r.whole = 0
			x.members--
		}
	}
	x.requests[place] = index
	switch {
	case index == 0:
		return
	case k.shared(index):
		x.ready.push(due{0, int32(place), index})
		return
	}
	r := k.Requests.At(index)
	if r.whole < 0 && int(^r.whole) <= place && x.requests[^r.whole] == index {
		return // it is in the list twice, or has been there before
	}
	if r.whole == 0 {
		x.members++
	}
	if r.whole = ^int32(place); r.Complete {
		x.coming.push(due{r.Time, int32(place), index})
	}
}

// KeptList returns the requests in an LP's kept list by place, 0 for inactive ones.
func (k *Messages) KeptList(lp int32) []int32 { return k.kept[lp].requests }

// KeepsAll reports whether an LP has active requests, and its kept list has all of them.
func (k *Messages) KeepsAll(lp int32) bool {
	members := k.kept[lp].members
	return members > 0 && members == k.Box(lp).Wait.active
}

// Different returns the first place from one on at which a list differs from the kept list of
// an LP, the length of the list if there is none.
func (k *Messages) Different(lp int32, list []int32, from int) int {
	const block = 1024
	mine := k.kept[lp].requests
	for from < len(list) {
		end := min(from+block, len(list))
		if !bytes.Equal(bytesOf(list[from:end]), bytesOf(mine[from:end])) {
			for list[from] == mine[from] {
				from++
			}
			return from
		}
		from = end
	}
	return from
}

// bytesOf returns the memory of a list.
func bytesOf(list []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 4*len(list))
}

// Discard forgets the kept list of an LP, if it has one.
func (k *Messages) Discard(lp int32) {
	if x := k.kept[lp]; x != nil {
		for place := range x.requests {
			k.Put(lp, place, 0)
		}
		delete(k.kept, lp)
	}
}

// shared reports whether an index is that of a request that all LPs share.
func (k *Messages) shared(index int32) bool {
	return index == k.CompletedSend || index == k.CompletedReceive
}

// WaitKept starts a wait of the LP for the requests in its kept list; see beginWait. If the
// rank confirms, it takes what is complete with TakeKept.
func (k *Messages) WaitKept(lp int32, kind WaitKind, confirms bool, c world.Procedure) bool {
	box, x := k.Box(lp), k.kept[lp]
	x.confirms = confirms
	w := &box.Wait
	w.Requests, w.pending, w.at = w.Requests[:0], 0, k.earliestKept(x)
	return k.beginWait(lp, box, kind, c)
}

// NoneKept reports whether the kept list of an LP has no active request.
func (k *Messages) NoneKept(lp int32) bool {
	x := k.kept[lp]
	return x.members == 0 && k.firstKept(x) == 0
}

// ofKept reports whether a wait is for the requests of the kept list.
func (w *wait) ofKept() bool {
	switch w.Kind {
	case WaitAny, WaitSome, TestAny, TestSome:
		return len(w.Requests) == 0
	}
	return false
}

// WaitedFor returns the requests that an LP waits for in a call with a list.
func (k *Messages) WaitedFor(lp int32) []int32 {
	if w := &k.Box(lp).Wait; !w.ofKept() {
		return w.Requests
	}
	return k.kept[lp].requests
}

// keptCompletes enters a request of a kept list, which has just completed.
func (k *Messages) keptCompletes(ri int32, r *request) {
	x := k.kept[r.LP]
	x.coming.push(due{r.Time, ^r.whole, ri})
	if w := &k.Box(r.LP).Wait; w.ofKept() && !w.queued {
		w.at = min(w.at, r.Time)
	}
}

// isAt reports whether a complete request is at its place in a kept list.
func (x *kept) isAt(d *due, k *Messages) bool {
	if x.requests[d.place] != d.request {
		return false
	}
	r := k.Requests.Peek(d.request)
	return k.shared(d.request) || r.whole == ^d.place && r.Complete
}

// earliestKept returns the time of the first complete request in a kept list, or 0 if a wait
// has reached that already. It is Forever if none is complete.
func (k *Messages) earliestKept(x *kept) vtime.Time {
	if k.firstKept(x) != 0 {
		return 0
	}
	for len(x.coming) > 0 {
		d := &x.coming[0]
		if int(d.place) < len(x.requests) && x.isAt(d, k) {
			return d.time
		}
		x.coming.pop()
	}
	return vtime.Forever
}

// firstKept returns the complete request with the first place among those that a wait has
// reached, 0 for none.
func (k *Messages) firstKept(x *kept) int32 {
	for len(x.ready) > 0 {
		d := &x.ready[0]
		if int(d.place) < len(x.requests) && x.isAt(d, k) {
			return d.request
		}
		x.ready.pop()
	}
	return 0
}

// reach has a wait that ends at an instant reach the requests that are complete then.
func (k *Messages) reach(x *kept, at vtime.Time) {
	for len(x.coming) > 0 && x.coming[0].time <= at {
		d := x.coming.pop()
		d.time = 0
		x.ready.push(d)
	}
}

// FoundKept returns the places of the complete requests in the kept list that an LP's wait has
// found, of one or of some: those that TakeKept takes. They are valid until the next call.
func (k *Messages) FoundKept(lp int32) []int32 {
	x, w := k.kept[lp], &k.Box(lp).Wait
	k.reach(x, w.at)
	found, sorted := k.completed[:0], x.ready[:0:0]
	for k.firstKept(x) != 0 {
		d := x.ready[0]
		if found = append(found, d.place); !w.ofSome() {
			break
		}
		x.ready.pop()
		sorted = append(sorted, d)
	}
	if w.ofSome() {
		x.ready = sorted // which is a heap
	}
	k.completed = found[:0]
	return found
}

// ofSome reports whether a wait is for all requests that are complete.
func (w *wait) ofSome() bool {
	return w.Procedure == world.Waitsome || w.Procedure == world.Testsome
}

// TakeKept charges an LP for the requests of its kept list that its wait has found, and stores
// them in its completion. It returns the completion.
func (k *Messages) TakeKept(lp int32) *Completion {
	x, b, w := k.kept[lp], &k.Completion, &k.Box(lp).Wait
	k.reach(x, w.at)
	completed := k.completed[:0]
	for k.firstKept(x) != 0 {
		d := x.ready.pop()
		if k.shared(d.request) {
			x.requests[d.place] = 0
			x.vacant = append(x.vacant, d.place)
		} else if n := len(b.Indices); n > 0 && b.Indices[n-1] == int(d.place) {
			continue // it has left the list and come back
		}
		b.Indices, completed = append(b.Indices, int(d.place)), append(completed, d.request)
		if !w.ofSome() {
			break
		}
	}
	switch {
	case len(completed) == 0:
		invariant.Broken("a wait of rank %d ended without a complete request", k.Global(lp))
	case w.ofSome():
		k.chargeAll(lp, completed, w.at)
	default:
		k.Charge(lp, k.Requests.At(completed[0]), w.at)
	}
	for _, index := range completed {
		k.AddRequest(b, index, w.Procedure)
	}
	k.completed = completed[:0]
	return b
}

// leave takes a request that has been waited for out of the kept list.
func (k *Messages) leave(lp int32, r *request) {
	x, place := k.kept[lp], ^r.whole
	r.whole, x.requests[place] = 0, 0
	x.members--
	x.vacant = append(x.vacant, place)
}

// checkKept compares the counters of a kept list with the list.
func (k *Messages) checkKept(lp int32, x *kept) {
	members := int32(0)
	for place, index := range x.requests {
		if index != 0 && k.Requests.Peek(index).whole == ^int32(place) {
			members++
		}
	}
	if active := k.Box(lp).Wait.active; members != x.members || members > active {
		invariant.Broken("rank %d keeps a list with %d of its %d active requests and counts %d", k.Global(lp), members, active, x.members)
	}
}
