package ptp

import (
	"slices"

	"gigarank/mpivirt/internal/world"
)

// Completion is what a call has come to. Only the LP that made the call may look at it, before
// its next call, so there is one for all LPs of the engine: an LP that is held up between
// the two keeps its own in [Messages].Parked.
type Completion struct {
	LP        int32
	Procedure world.Procedure // the call, if it ends with an error
	Err       error           // MPI's error of the call
	Fatal     bool            // the LP's error handler ends the program
	Found     bool            // the wait is over; the test or probe has succeeded
	Request   int32           // that the call has begun; it is not kept for an LP that pauses
	Message   int32           // that a matched probe has found
	Over      []int32         // requests that are over, released when something else is brought
	Indices   []int           // their positions in the list that was given
	Status    world.Status    // what a probe found
	Common    []byte          // result of a collective that all members share
	Made      int32           // index of the communicator made of one with a single member, Freed for none
}

// EmptyCompletion is the completion of a call that has brought nothing.
var EmptyCompletion = Completion{LP: world.None, Status: world.EmptyStatus}

// What stands for a message that a matched probe has found.
const (
	MessageNoProc = -1 // the one of ProcNull
	MessageNull   = -2 // none, or one that has been received
)

// Renew releases what was brought last and returns room for what is brought to an LP.
func (k *Messages) Renew(lp int32) *Completion {
	b := &k.Completion
	for _, index := range b.Over {
		q := k.Requests.At(index)
		if q.Kind == ReceiveRequest && !q.Sized {
			k.Buffers.Release(q.Buffer)
		}
		if index != k.Nobody {
			k.Requests.Release(index)
		}
	}
	b.LP, b.Err, b.Found, b.Message, b.Status = lp, nil, false, 0, world.EmptyStatus
	b.Over, b.Indices = b.Over[:0], b.Indices[:0]
	b.Made = world.Freed
	if b.Common != nil {
		b.Common = nil
	}
	return b
}

// fillCompletion keeps what a wait of the given kind, which is over, brings an LP.
func (k *Messages) fillCompletion(lp int32, box *Mailbox, kind WaitKind) {
	b, w := k.Renew(lp), &box.Wait
	b.Found = kind < TestAll || w.found
	switch kind {
	case WaitOne:
		k.AddRequest(b, w.Request, w.Procedure)
		return
	case WaitProbe, TestProbe:
		if b.Found {
			k.addMessage(b, w)
		}
		return
	}
	k.unwaited(w.Requests)
	switch {
	case !b.Found:
	case kind == WaitAny || kind == TestAny:
		b.Indices = append(b.Indices, k.chargeFirst(lp, w.Requests, w.at))
	case kind == WaitSome || kind == TestSome:
		b.Indices = k.chargeSome(lp, w.Requests, w.at, b.Indices)
	default:
		for i := range w.Requests {
			b.Indices = append(b.Indices, i)
		}
	}
	for _, i := range b.Indices {
		k.AddRequest(b, w.Requests[i], w.Procedure)
	}
}

// AddRequest brings a request that is over to the result of a call.
func (k *Messages) AddRequest(b *Completion, index int32, op world.Procedure) {
	if index == 0 || index == k.CompletedSend {
		return
	}
	if index == k.Nobody {
		b.Over = append(b.Over, index)
		return
	}
	q := k.Requests.At(index)
	if q.failed {
		if err := k.failure(index); b.Err == nil {
			b.Err, b.Procedure, b.Fatal = err, op, k.ErrorsAreFatal(b.LP)
		}
	}
	q.LP = world.None // no LP's any more: see checkRequest
	b.Over = append(b.Over, index)
}

// addMessage brings what a probe has found.
func (k *Messages) addMessage(b *Completion, w *wait) {
	m := k.messages.At(w.message)
	b.Status = world.Status{Source: int(m.source), Tag: int(m.tag), Bytes: m.bytes}
	if w.Procedure == world.Mprobe || w.Procedure == world.Improbe {
		b.Message = w.message
		k.extract(b.LP, w.message)
	}
}

// park keeps what was brought to an LP that is held up until it goes on; Unpark gives
// it back.
func (k *Messages) park(lp int32) {
	if k.Completion.LP != lp {
		return
	}
	if k.Parked == nil {
		k.Parked = map[int32]Completion{}
	}
	k.Parked[lp] = k.Completion
	k.Completion = Completion{LP: world.None}
}

func (k *Messages) Unpark(lp int32) {
	b, parked := k.Parked[lp]
	if parked {
		k.Renew(lp)
		k.Completion = b
		delete(k.Parked, lp)
	}
}

// CompletionOf returns what the last call of an LP has brought: nothing if another LP of the
// engine has waited since.
func (k *Messages) CompletionOf(lp int32) *Completion {
	if k.Completion.LP != lp {
		k.Renew(lp)
	}
	return &k.Completion
}

// lastReceive returns the receive among the operations that are over, the last one if there
// are several, else nil.
func (k *Messages) lastReceive(b *Completion) *request {
	for i := len(b.Over) - 1; i >= 0; i-- {
		if q := k.Requests.At(b.Over[i]); q.Kind == ReceiveRequest || q.Kind == procNullRequest {
			return q
		}
	}
	return nil
}

// StatusOf tells what a receive or probe has brought; of several receives, the last one
// in the order given.
func (k *Messages) StatusOf(b *Completion) world.Status {
	if q := k.lastReceive(b); q != nil {
		return q.status()
	}
	return b.Status
}

// DataOf returns what the receive of a completion has brought; of several receives, the last
// one in the order given.
func (k *Messages) DataOf(b *Completion) []byte {
	if q := k.lastReceive(b); q != nil {
		return q.Buffer
	}
	return nil
}

// CompletedRequest returns what one of the requests of a completion has brought, and whether it is
// one of them. An inactive request and one that was over from the start bring nothing.
func (k *Messages) CompletedRequest(b *Completion, index int32) (world.Status, []byte, bool) {
	if index == 0 || index == k.CompletedSend {
		return world.EmptyStatus, nil, true
	}
	if !slices.Contains(b.Over, index) {
		return world.EmptyStatus, nil, false
	}
	q := k.Requests.At(index)
	return q.status(), q.Buffer, true
}
