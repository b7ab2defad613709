package kernel

import "slices"

// Completion is what a call has come to. Only the LP that made the call may look at it, before
// its next call, so there is one for all LPs of the engine: an LP that is held up between
// the two keeps its own in [kernel].parked.
type Completion struct {
	LP        int32
	Procedure Procedure     // the call, if it ends with an error
	Err       error         // MPI's error of the call
	Fatal     bool          // the LP's error handler ends the program
	Found     bool          // the wait is over; the test or probe has succeeded
	Request   int32         // that the call has begun; it is not kept for an LP that pauses
	Message   int32         // that a matched probe has found
	over      []int32       // requests that are over, released when something else is brought
	Which     []int         // their positions in the list that was given
	Status    Status        // what a probe found
	common    []byte        // result of a collective that all members share
	made      *Communicator // communicator made of one with a single member
}

// Nothing is the completion of a call that has brought nothing.
var Nothing = Completion{LP: None, Status: EmptyStatus}

// What stands for a message that a matched probe has found.
const (
	FromNobody = -1 // the one of ProcNull
	NoMessage  = -2 // none, or one that has been received
)

// renew releases what was brought last and returns room for what is brought to an LP.
func (k *Kernel) renew(lp int32) *Completion {
	b := &k.Completion
	for _, index := range b.over {
		q := k.requests.at(index)
		if q.kind == receiveRequest && !q.sized {
			k.buffers.release(q.buffer)
		}
		if index != k.nobody {
			k.requests.release(index)
		}
	}
	b.LP, b.Err, b.Found, b.Message, b.Status = lp, nil, false, 0, EmptyStatus
	b.over, b.Which = b.over[:0], b.Which[:0]
	if b.common != nil || b.made != nil {
		b.common, b.made = nil, nil
	}
	return b
}

// bring keeps what a wait of the given kind, which is over, brings an LP.
func (k *Kernel) bring(lp int32, box *mailbox, kind waitKind) {
	b, w := k.renew(lp), &box.wait
	b.Found = kind < testAll || w.found
	switch kind {
	case waitOne:
		k.bringOne(b, w.request, w.call)
		return
	case waitProbe, testProbe:
		if b.Found {
			k.bringMessage(b, w)
		}
		return
	}
	k.unwaited(w.requests)
	switch {
	case !b.Found:
	case kind == waitAny || kind == testAny:
		b.Which = append(b.Which, k.chargeFirst(lp, w.requests, w.at))
	case kind == waitSome || kind == testSome:
		b.Which = k.chargeSome(lp, w.requests, w.at, b.Which)
	default:
		for i := range w.requests {
			b.Which = append(b.Which, i)
		}
	}
	for _, i := range b.Which {
		k.bringOne(b, w.requests[i], w.call)
	}
}

// bringOne brings a request that is over to the result of a call.
func (k *Kernel) bringOne(b *Completion, index int32, op Procedure) {
	if index == 0 || index == k.done {
		return
	}
	if index == k.nobody {
		b.over = append(b.over, index)
		return
	}
	q := k.requests.at(index)
	if q.failed {
		if err := k.failure(index); b.Err == nil {
			b.Err, b.Procedure, b.Fatal = err, op, k.ErrorsAreFatal(b.LP)
		}
	}
	q.lp = None // no LP's any more: see checkRequest
	b.over = append(b.over, index)
}

// bringMessage brings what a probe has found.
func (k *Kernel) bringMessage(b *Completion, w *wait) {
	m := k.messages.at(w.message)
	b.Status = Status{Source: int(m.source), Tag: int(m.tag), Bytes: m.bytes}
	if w.call == Mprobe || w.call == Improbe {
		b.Message = w.message
		k.extract(b.LP, w.message)
	}
}

// park keeps what was brought to an LP that is held up until it goes on; unpark gives
// it back.
func (k *Kernel) park(lp int32) {
	if k.Completion.LP != lp {
		return
	}
	if k.parked == nil {
		k.parked = map[int32]Completion{}
	}
	k.parked[lp] = k.Completion
	k.Completion = Completion{LP: None}
}

func (k *Kernel) unpark(lp int32) {
	b, held := k.parked[lp]
	if held {
		k.renew(lp)
		k.Completion = b
		delete(k.parked, lp)
	}
}

// CompletionOf returns what the last call of an LP has brought: nothing if another LP of the
// engine has waited since.
func (k *Kernel) CompletionOf(lp int32) *Completion {
	if k.Completion.LP != lp {
		k.renew(lp)
	}
	return &k.Completion
}

// last returns the receive among the operations that are over, the last one if there
// are several, else nil.
func (k *Kernel) last(b *Completion) *request {
	for i := len(b.over) - 1; i >= 0; i-- {
		if q := k.requests.at(b.over[i]); q.kind == receiveRequest || q.kind == nobodyRequest {
			return q
		}
	}
	return nil
}

// StatusOf tells what a receive or probe has brought; of several receives, the last one
// in the order given.
func (k *Kernel) StatusOf(b *Completion) Status {
	if q := k.last(b); q != nil {
		return q.status()
	}
	return b.Status
}

// DataOf returns what the receive of a completion has brought; of several receives, the last
// one in the order given.
func (k *Kernel) DataOf(b *Completion) []byte {
	if q := k.last(b); q != nil {
		return q.buffer
	}
	return nil
}

// Brought returns what one of the requests of a completion has brought, and whether it is
// one of them. An inactive request and one that was over from the start bring nothing.
func (k *Kernel) Brought(b *Completion, index int32) (Status, []byte, bool) {
	if index == 0 || index == k.done {
		return EmptyStatus, nil, true
	}
	if !slices.Contains(b.over, index) {
		return EmptyStatus, nil, false
	}
	q := k.requests.at(index)
	return q.status(), q.buffer, true
}

// Common returns the result that all members share of the allreduce that an LP has been
// through.
func (k *Kernel) Common(lp int32, c *Communicator) []byte {
	if c.Size == 1 {
		return k.CompletionOf(lp).common
	}
	if len(k.apart) > 0 {
		if result, has := k.apart[lp]; has {
			return result
		}
	}
	return c.result
}

// Made returns the communicator of a color that the members of another have made last, the
// first rank of the group or 0 where they give no colors; nil if there is none.
func (k *Kernel) Made(lp int32, c *Communicator, color int) *Communicator {
	if c.Size == 1 {
		return k.CompletionOf(lp).made
	}
	return c.made[color]
}

// fault is an error of a collective that an LP leaves.
type fault struct {
	op  Procedure
	err error
}

// takeFault makes the error of the collective that an LP has left, if there is one, the
// completion of its call.
func (k *Kernel) takeFault(lp int32) {
	if f, has := k.faults[lp]; has {
		delete(k.faults, lp)
		k.raise(lp, f.op, f.err)
	}
}
