package mpivirt

// Completion is what a call has come to. Only the LP that made the call may look at it, before
// its next call, so there is one for all LPs of the engine: an LP that is held up between
// the two keeps its own in [kernel].parked.
type Completion struct {
	lp      int32
	op      call    // the call, if it ends with an error
	err     error   // MPI's error of the call
	fatal   bool    // the LP's error handler ends the program
	found   bool    // the wait is over; the test or probe has succeeded
	request int32   // that the call has begun
	message int32   // that a matched probe has found
	over    []int32 // requests that are over, released when something else is brought
	which   []int   // their positions in the list that was given
	status  Status  // what a probe found
	common  []byte  // result of a collective that all members share
	made    *comm   // communicator made of one with a single member
}

// nothing is the completion of a call that has brought nothing.
var nothing = Completion{lp: none32, status: emptyStatus}

// What stands for a message that a matched probe has found.
const (
	fromNobody = -1 // the one of ProcNull
	noMessage  = -2 // none, or one that has been received
)

// renew releases what was brought last and returns room for what is brought to an LP.
func (k *kernel) renew(lp int32) *Completion {
	b := &k.completion
	for _, index := range b.over {
		q := k.requests.at(index)
		if q.kind == receiveRequest && !q.sized {
			k.buffers.release(q.buffer)
		}
		if index != k.nobody {
			k.requests.release(index)
		}
	}
	b.lp, b.err, b.found, b.message, b.status = lp, nil, false, 0, emptyStatus
	b.over, b.which = b.over[:0], b.which[:0]
	if b.common != nil || b.made != nil {
		b.common, b.made = nil, nil
	}
	return b
}

// bring keeps what a wait of the given kind, which is over, brings an LP.
func (k *kernel) bring(lp int32, box *mailbox, kind waitKind) {
	b, w := k.renew(lp), &box.wait
	b.found = kind < testAll || w.found
	switch kind {
	case waitOne:
		k.bringOne(b, w.request, w.call)
		return
	case waitProbe, testProbe:
		if b.found {
			k.bringMessage(b, w)
		}
		return
	}
	k.unwaited(w.requests)
	switch {
	case !b.found:
	case kind == waitAny || kind == testAny:
		b.which = append(b.which, k.chargeFirst(lp, w.requests, w.at))
	case kind == waitSome || kind == testSome:
		b.which = k.chargeSome(lp, w.requests, w.at, b.which)
	default:
		for i := range w.requests {
			b.which = append(b.which, i)
		}
	}
	for _, i := range b.which {
		k.bringOne(b, w.requests[i], w.call)
	}
}

// bringOne brings a request that is over to the result of a call.
func (k *kernel) bringOne(b *Completion, index int32, op call) {
	if index == 0 || index == k.done {
		return
	}
	if index == k.nobody {
		b.over = append(b.over, index)
		return
	}
	q := k.requests.at(index)
	if q.failed {
		if err := k.failure(index); b.err == nil {
			b.err, b.op, b.fatal = err, op, k.fatal(b.lp)
		}
	}
	q.lp = none32 // no LP's any more: see checkRequest
	b.over = append(b.over, index)
}

// bringMessage brings what a probe has found.
func (k *kernel) bringMessage(b *Completion, w *wait) {
	m := k.messages.at(w.message)
	b.status = Status{Source: int(m.source), Tag: int(m.tag), Bytes: m.bytes}
	if w.call == callMprobe || w.call == callImprobe {
		b.message = w.message
		k.extract(b.lp, w.message)
	}
}

// park keeps what was brought to an LP that is held up until it goes on; unpark gives
// it back.
func (k *kernel) park(lp int32) {
	if k.completion.lp != lp {
		return
	}
	if k.parked == nil {
		k.parked = map[int32]Completion{}
	}
	k.parked[lp] = k.completion
	k.completion = Completion{lp: none32}
}

func (k *kernel) unpark(lp int32) {
	b, held := k.parked[lp]
	if held {
		k.renew(lp)
		k.completion = b
		delete(k.parked, lp)
	}
}

// completionOf returns what the last call of an LP has brought: nothing if another LP of the
// engine has waited since.
func (k *kernel) completionOf(lp int32) *Completion {
	if k.completion.lp != lp {
		k.renew(lp)
	}
	return &k.completion
}

// last returns the receive among the operations that are over, the last one if there
// are several, else nil.
func (k *kernel) last(b *Completion) *request {
	for i := len(b.over) - 1; i >= 0; i-- {
		if q := k.requests.at(b.over[i]); q.kind == receiveRequest || q.kind == nobodyRequest {
			return q
		}
	}
	return nil
}

// statusOf tells what a receive or probe has brought; of several receives, the last one
// in the order given.
func (k *kernel) statusOf(b *Completion) Status {
	if q := k.last(b); q != nil {
		return q.status()
	}
	return b.status
}

// common returns the result that all members share of the allreduce that an LP has been
// through.
func (k *kernel) common(lp int32, c *comm) []byte {
	if c.size == 1 {
		return k.completionOf(lp).common
	}
	if len(k.apart) > 0 {
		if result, has := k.apart[lp]; has {
			return result
		}
	}
	return c.result
}

// made returns the communicator of a color that the members of another have made last, the
// first rank of the group or 0 where they give no colors; nil if there is none.
func (k *kernel) made(lp int32, c *comm, color int) *comm {
	if c.size == 1 {
		return k.completionOf(lp).made
	}
	return c.made[color]
}

// fault is an error of a collective that an LP leaves.
type fault struct {
	op  call
	err error
}

// takeFault makes the error of the collective that an LP has left, if there is one, the
// completion of its call.
func (k *kernel) takeFault(lp int32) {
	if f, has := k.faults[lp]; has {
		delete(k.faults, lp)
		k.raise(lp, f.op, f.err)
	}
}
