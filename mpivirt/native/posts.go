//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"unsafe"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Calls that go with the next call of their rank; see rank/posts.h.

// longestPost is the number of bytes up to which a message is copied, so that its rank goes on without a switch.
const longestPost = 256

// posts reports whether ranks may post calls. A call by itself matters where the CPU time between two calls is measured, where a call has to be
// noted by its place, or where the clock is known only once earlier calls have had their turn.
func (b *body) posts() bool {
	return !b.form.options.Unposted && b.form.options.Journal == nil && !b.k.Bursting() && !b.k.Sited() && b.k.EndsSendsAtOnce()
}

// takePosts has the virtual MPI carry out the calls that a rank has posted. It reports whether there were any.
func (b *body) takePosts(lp int32) bool {
	e, k, before := b.engine, b.k, b.posted
	for b.posted < uintptr(e.posted_bytes) {
		p := (*C.struct_gigarank_posted)(unsafe.Add(unsafe.Pointer(e.posted), b.posted))
		if int32(p.lp) != lp {
			break
		}
		b.posted += uintptr(p.size)
		if !k.HasFailed(lp) {
			b.takePost(lp, p)
		}
	}
	return b.posted > before
}

// failsOrSettles reports whether a rank has failed in a posted call, or makes no other call than those it has posted.
func (b *body) failsOrSettles(lp int32, r *cRank) bool {
	return b.k.HasFailed(lp) || r.returned_by == byCall && r.call.procedure == C.GIGARANK_SETTLE
}

// takePost carries out a posted call.
func (b *body) takePost(lp int32, p *C.struct_gigarank_posted) {
	k := b.k
	b.named = namedCall{lp: lp}
	computed := vtime.Duration(p.computed)
	if b.rest > 0 { // as payRest
		computed += k.Target().CPUTime(int(k.Global(lp)), b.rest)
	}
	if computed != 0 {
		if err := k.Compute(lp, computed); err != nil {
			k.Fail(lp, world.Compute, err)
			return
		}
	}
	content := memory(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p)), p.content)
	sendsOnWorld := p.procedure == C.GIGARANK_SEND && p.comm == world.World
	if sendsOnWorld && k.SendAtOnce(lp, content, int64(p.bytes), int(p.partner), int(p.tag)) {
		k.Completion().Err = nil
		return
	}
	comm := k.Communicator(int32(p.comm))
	if sendsOnWorld && k.SendOnWorld(lp, comm, content, int64(p.bytes), int(p.partner), int(p.tag)) {
		if k.Completion().Err != nil {
			b.failsInPost(lp)
		}
		return
	}
	q := k.Compose(world.Procedure(p.procedure), comm, int32(p.member))
	if p.procedure == C.GIGARANK_IRECV {
		q.Receives(memory(p.output, p.bytes), int64(p.bytes), true, int(p.partner), int(p.tag))
	} else {
		q.Sends(content, int64(p.bytes), int(p.partner), int(p.tag))
	}
	k.Submit(lp, q)
	if k.Completion().Err != nil {
		b.failsInPost(lp)
	} else if p.request >= 0 {
		slot(b.engine.requests, int32(p.request)).index = C.int32_t(k.Completion().Request)
	}
}

// failsInPost ends a rank whose posted call ends after the end of virtual time, which no error handler hears of.
func (b *body) failsInPost(lp int32) {
	done := b.k.Completion()
	b.k.Fail(lp, done.Procedure, done.Err)
}
