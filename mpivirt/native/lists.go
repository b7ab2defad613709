//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"unsafe"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// waits sets the requests of a call that waits for a list of them, or tests them. It reports false
// if the call must be made again with all requests, since an active request may have come to a
// place anywhere in the list.
func (b *body) waits(lp int32, q *kernel.Call, c *cCall) bool {
	k, list := b.k, requestsOf(c)
	b.findPosted(list)
	switch {
	case list == nil:
		s, _ := k.WaitSetSlice(lp).(*handles)
		if s == nil {
			s = &handles{b, lp}
		}
		if !k.KeepSliceUnread(lp, s, int32(b.ranks[lp].actives)) {
			return false
		}
		q.WaitsForSet(nil)
	case kernel.Keeps(world.Procedure(c.procedure), len(list)):
		if c.handles != nil {
			b.own(lp, list, c)
		}
		q.WaitsForSet(k.KeepList(lp, list))
	default:
		q.Waits(list, nil) // which the wait copies
	}
	return true
}

// findPosted puts the requests that posted calls have begun in their places in a list.
func (b *body) findPosted(list []int32) {
	for place, index := range list {
		if index <= C.GIGARANK_POSTED {
			list[place] = int32(slot(b.engine.requests, C.GIGARANK_POSTED-index).index)
		}
	}
}

// requestsOf returns the requests of the virtual MPI that a call waits for, nil for a list of which
// there are handles only.
func requestsOf(c *cCall) []int32 {
	if c.requests == nil {
		return nil
	}
	return unsafe.Slice((*int32)(c.requests), c.n)
}

// own gives each operation of a list a request of its own in the place of a shared request. So
// the virtual MPI knows when the operation has been waited for.
func (b *body) own(lp int32, list []int32, c *cCall) {
	h := &handles{b, lp}
	for place, index := range list {
		if !b.k.IsStandIn(index) {
			continue
		}
		list[place], _ = b.k.OwnRequest(lp, index, world.Procedure(c.procedure))
		h.request(place).index = C.int32_t(list[place])
	}
}

const nullRequest = 0x180 // MPI_REQUEST_NULL

var errHandle = world.Errorf(world.ErrRequest, "a handle is no request of this rank")

// handles is the list of MPI_Request that a rank has handed in to its call. It implements
// [p2p.Slice].
type handles struct {
	b  *body
	lp int32
}

// Len implements [p2p.Slice].
func (h *handles) Len() int { return int(h.b.ranks[h.lp].call.n) }

// At implements [p2p.Slice].
func (h *handles) At(place int) (index int32, err error) {
	if handle := *slot(h.b.ranks[h.lp].call.handles, int32(place)); handle == nullRequest {
		return 0, nil
	}
	q := h.request(place)
	if q == nil {
		return 0, errHandle
	}
	return int32(q.index), nil
}

// request returns the request of a handle, nil if it is no request of the rank.
func (h *handles) request(place int) *C.struct_gigarank_request {
	e, handle := h.b.engine, *slot(h.b.ranks[h.lp].call.handles, int32(place))
	number := uint32(handle) - C.GIGARANK_PREDEFINED
	if number >= uint32(e.request_count) {
		return nil
	}
	q := slot(e.requests, int32(number))
	if int32(q.rank) != h.lp || uint32(q.generation) != uint32(handle>>32) {
		return nil
	}
	return q
}
