package ptp

import (
	"slices"

	"gigarank/mpivirt/internal/world"
)

// Completion is the result of a call. Only the LP that made the call may read it, before its
// next call. So the LPs of an engine share one; an LP that is throttled meanwhile keeps its
// own in [Messages].Parked.
type Completion struct {
	LP           int32
	Procedure    world.Procedure // of the call, if there is an error
	Err          error           // MPI's error of the call
	Fatal        bool            // the LP's error handler ends the program
	Found        bool            // the wait is complete; the test or probe has succeeded
	Request      int32           // started by the call; not kept for an LP that pauses
	Message      int32           // found by a matched probe
	Completed    []int32         // complete requests; the next completion releases them
	Indices      []int           // their positions in the list of requests
	Failures     []Failure       // those of them that have failed
	Status       world.Status    // found by a probe, or of a message that was taken at once
	Data         []byte          // the content of that message; the next completion releases it if owned
	owned        bool
	small        *[smallPayload]byte // room for the content of a short message
	SharedResult []byte              // result of a collective that all members share
	NewComm      int32               // index of the communicator made by a lone member, Freed for none
}

// Failure is the error of a request.
type Failure struct {
	Request int32
	Err     error
}

// EmptyCompletion is the completion of a call without a result.
var EmptyCompletion = Completion{LP: world.None, Status: world.EmptyStatus}

// Indices that stand for messages of matched probes.
const (
	MessageNoProc = -1 // the one of ProcNull
	MessageNull   = -2 // none, or one that has been received
)

// NewCompletion releases the requests of the completion, clears it and returns it for an LP.
func (k *Messages) NewCompletion(lp int32) *Completion {
	b := &k.Completion
	for _, index := range b.Completed {
		q := k.Requests.At(index)
		if q.Kind == ReceiveRequest && !q.Sized {
			k.Buffers.Release(q.Buffer)
		}
		if index != k.CompletedReceive {
			k.Requests.Release(index)
		}
	}
	b.LP, b.Err, b.Found, b.Message, b.Status = lp, nil, false, 0, world.EmptyStatus
	b.Completed, b.Indices = b.Completed[:0], b.Indices[:0]
	b.NewComm = world.Freed
	if b.owned {
		k.Buffers.Release(b.Data)
		b.owned = false
	}
	b.Data = nil
	if b.SharedResult != nil {
		b.SharedResult = nil
	}
	if b.Failures != nil {
		b.Failures = nil
	}
	return b
}

// fillCompletion stores the result of a wait of an LP, which is over, in the completion.
func (k *Messages) fillCompletion(lp int32, box *Mailbox, kind WaitKind) {
	b, w := k.NewCompletion(lp), &box.Wait
	b.Found = kind < TestAll || w.found
	switch kind {
	case WaitOne:
		k.AddRequest(b, w.Subject, w.Procedure)
		return
	case WaitProbe, TestProbe:
		if b.Found {
			k.addMessage(b, w)
		}
		return
	case TestCancel:
		return
	}
	k.unwaited(w.Requests)
	switch {
	case !b.Found:
	case len(w.Requests) == 0:
		k.takeKept(b, w)
		return
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

// AddRequest adds a complete request of a call to the completion, with its error.
func (k *Messages) AddRequest(b *Completion, index int32, op world.Procedure) {
	if index == 0 || index == k.CompletedSend {
		return
	}
	if index == k.CompletedReceive {
		b.Completed = append(b.Completed, index)
		return
	}
	q := k.Requests.At(index)
	if q.failed {
		err := k.failure(index)
		b.Failures = append(b.Failures, Failure{index, err})
		if b.Err == nil {
			b.Err, b.Procedure, b.Fatal = err, op, k.ErrorsAreFatal(b.LP)
		}
	}
	w := &k.Box(b.LP).Wait
	if q.Kind == exchangeRequest {
		w.active -= k.releaseParts(index)
	}
	if q.whole < 0 {
		k.leave(b.LP, q)
	}
	w.active--
	q.LP = world.None // another wait for it is an error
	b.Completed = append(b.Completed, index)
}

// addMessage adds the message that a probe has found to the completion.
func (k *Messages) addMessage(b *Completion, w *wait) {
	m := k.messages.At(w.Subject)
	b.Status = world.Status{Source: int(m.source), Tag: int(m.tag), Bytes: m.bytes}
	if w.Procedure == world.Mprobe || w.Procedure == world.Improbe {
		b.Message = w.Subject
		k.extract(b.LP, w.Subject)
	}
}

// park stores the completion of an LP that does not go on at once, until Unpark.
func (k *Messages) park(lp int32) {
	if k.Completion.LP != lp {
		return
	}
	if k.Parked == nil {
		k.Parked = map[int32]*Completion{}
	}
	b, reused := k.spareCompletions.Pop()
	if !reused {
		b = &Completion{}
	}
	*b, k.Completion = k.Completion, *b
	k.Completion.LP = world.None
	k.Parked[lp] = b
}

// Unpark restores the completion of an LP that goes on, if it was parked.
func (k *Messages) Unpark(lp int32) {
	b, parked := k.Parked[lp]
	if parked {
		k.NewCompletion(lp)
		*b, k.Completion = k.Completion, *b
		b.Err, b.Fatal, b.Request = nil, false, 0
		k.spareCompletions.Push(b)
		delete(k.Parked, lp)
	}
}

// CompletionOf returns the completion of an LP's latest call. It is empty if another LP of
// the engine has waited since.
func (k *Messages) CompletionOf(lp int32) *Completion {
	if k.Completion.LP != lp {
		k.NewCompletion(lp)
	}
	return &k.Completion
}

// lastReceive returns the last receive among the requests of a completion, nil for none.
func (k *Messages) lastReceive(b *Completion) *request {
	for i := len(b.Completed) - 1; i >= 0; i-- {
		if q := k.Requests.At(b.Completed[i]); q.receives() {
			return q
		}
	}
	return nil
}

// StatusOf returns the status of a receive or probe; of several receives, that of the last
// one in the list.
func (k *Messages) StatusOf(b *Completion) world.Status {
	if q := k.lastReceive(b); q != nil {
		return q.status()
	}
	return b.Status
}

// DataOf returns the content that the receive of a completion has received; of several
// receives, that of the last one in the list.
func (k *Messages) DataOf(b *Completion) []byte {
	if q := k.lastReceive(b); q != nil {
		return q.Buffer
	}
	return b.Data
}

// CompletedRequest returns the status and content of a request, and whether the completion
// has it. An inactive request, or a send that completed in its call, has neither.
func (k *Messages) CompletedRequest(b *Completion, index int32) (world.Status, []byte, bool) {
	if index == 0 || index == k.CompletedSend {
		return world.EmptyStatus, nil, true
	}
	if !slices.Contains(b.Completed, index) {
		return world.EmptyStatus, nil, false
	}
	q := k.Requests.At(index)
	return q.status(), q.Buffer, true
}
