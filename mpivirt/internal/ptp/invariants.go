package ptp

import (
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
)

// CheckMailbox compares the counters of an LP's mailbox with its lists. It also finds
// receives that are posted though their message is certain.
func (k *Messages) CheckMailbox(lp int32) {
	box := k.Mailbox(lp)
	if box == nil {
		return
	}
	wildcards, last := int32(0), int32(0)
	for index := box.posted.head; index != 0; index = k.Requests.At(index).next {
		r := k.Requests.At(index)
		if r.Kind != ReceiveRequest || r.Complete || r.LP != lp {
			invariant.Broken("rank %d has posted request %d, which is %+v", k.Global(lp), index, *r)
		}
		if r.Peer == world.AnySource {
			wildcards++
		} else if _, message := k.certain(box, index, unknown); message != 0 {
			invariant.Broken("rank %d waits with request %d, which is %+v, for message %+v, which is there",
				k.Global(lp), index, *r, *k.messages.At(message))
		}
		last = index
	}
	if wildcards != box.wildcards || last != box.posted.tail {
		invariant.Broken("rank %d has posted %d receives from any source and counts %d; the last receive is %d, its list ends with %d",
			k.Global(lp), wildcards, box.wildcards, last, box.posted.tail)
	}
	k.checkChain(lp, &box.unexpected)
	k.checkPending(lp, box)
}

// checkChain compares the tail of a list of messages with its last element.
func (k *Messages) checkChain(lp int32, c *chain) {
	last := int32(0)
	for index := c.head; index != 0; index = k.messages.At(index).next {
		last = index
	}
	if last != c.tail {
		invariant.Broken("a list of messages of rank %d says that it ends with %d; the last one is %d", k.Global(lp), c.tail, last)
	}
}

// checkPending compares the counter of a Waitall with its incomplete requests.
func (k *Messages) checkPending(lp int32, box *Mailbox) {
	w := &box.Wait
	if w.Kind != WaitAll {
		return
	}
	pending := int32(0)
	for _, index := range w.Requests {
		if index != 0 && !k.Requests.At(index).Complete {
			pending++
		}
	}
	if pending != w.pending {
		invariant.Broken("rank %d waits in %s for %d requests; %d are not complete", k.Global(lp), w.Procedure, w.pending, pending)
	}
}
