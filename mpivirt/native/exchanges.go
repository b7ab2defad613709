//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"unsafe"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// exchange makes a neighbourhood collective. Blocks lie one behind another. It marks the sources
// from which no block comes by a count below 0. It reports whether the call is over.
func (b *body) exchange(lp int32, c *cCall) bool {
	comm := b.k.Communicator(int32(c.comm))
	n := b.topologies.of[place{lp, int32(c.comm)}].around(int(c.member))
	x := kernel.Exchange{Receives: make([]kernel.Part, len(n.Sources)), Sends: make([]kernel.Part, len(n.Destinations))}
	counts, incounts := unsafe.Slice(c.counts, c.n), unsafe.Slice(c.incounts, c.outcount)
	rest := memory(c.output, c.room)
	for i, peer := range n.Sources {
		bytes := counts[i]
		x.Receives[i] = kernel.Part{Peer: peer, Tag: n.SourceTag(i), Bytes: int64(bytes), Buffer: rest[:bytes]}
		if rest = rest[bytes:]; peer == world.ProcNull {
			counts[i] = -bytes - 1
		}
	}
	rest = memory(c.input, c.given)
	for i, peer := range n.Destinations {
		bytes := incounts[i]
		x.Sends[i] = kernel.Part{Peer: peer, Tag: n.DestinationTag(i), Bytes: int64(bytes), Buffer: rest[:bytes]}
		if c.key == 0 {
			rest = rest[bytes:]
		}
	}
	return b.submitExchange(lp, c, comm, x)
}

// submitExchange makes a call that is an exchange, and reports whether it is over.
func (b *body) submitExchange(lp int32, c *cCall, comm *kernel.Communicator, x kernel.Exchange) bool {
	q := b.k.Compose(procedureOf(int32(c.procedure)), comm, int32(c.member)).Exchanges(x, nil)
	if c.nonblocking&C.GIGARANK_FORM != 0 {
		q.Nonblocking()
	}
	over := b.k.Submit(lp, q)
	c.request = C.int32_t(b.k.Completion().Request)
	return over
}

// introduce stores the numbers that the leader of a group sends to the other leader: a token, and the ranks.
func (b *body) introduce(lp int32, c *cCall) {
	g := b.k.GroupOf(b.k.Communicator(int32(c.comm)), lp)
	out := unsafe.Slice((*C.uint64_t)(c.output), c.room)
	out[0] = C.uint64_t(b.k.Token(lp))
	for m := range g.Size() {
		out[1+m] = C.uint64_t(g.WorldRank(m))
	}
}

// meet makes the intercommunicator of a group and a remote group, from the numbers that the leaders have sent each
// other: their tokens, and the ranks of the remote group. Only the leader hands these in. It reports
// whether the call is over.
func (b *body) meet(lp int32, c *cCall) bool {
	var told []byte
	if c.member == c.root {
		all := unsafe.Slice((*uint64)(c.input), c.given)
		told = kernel.Told(all[0], all[1:])
	}
	return b.k.Submit(lp, b.k.Compose(world.IntercommCreate, b.k.Communicator(int32(c.comm)), int32(c.member)).Enters(b.k.Meeting(int(c.root), told), nil))
}

// merge tells the remote group which of both comes first. It reports whether the call is over.
func (b *body) merge(lp int32, c *cCall) bool {
	comm := b.k.Communicator(int32(c.comm))
	v := b.k.Prepare(kernel.Collective{
		Procedure: world.IntercommMerge, Operation: collectives.Allreduce, Bytes: 1, Element: 1, Data: true,
		Input: memory(c.input, 1), Output: memory(c.output, 1),
	})
	return b.k.Submit(lp, b.k.Compose(world.IntercommMerge, comm, int32(c.member)).Enters(v, nil))
}

// merged stores the communicator of both groups.
func (b *body) merged(lp int32, c *cCall) {
	comm := b.k.Communicator(int32(c.comm))
	own, theirs := memory(c.input, 1)[0], memory(c.output, 1)[0]
	first := own < theirs || own == theirs && comm.Context < comm.Remote.Context
	b.madeComm(lp, c, b.k.Merge(lp, comm, int32(c.key), first))
	c.topology = C.struct_gigarank_topology{}
}
