package p2p

import (
	"slices"

	"gigarank/mpivirt/internal/world"
)

// Completion is the result of a call. Only the LP that made the call may read it, before the next
// call of that LP. So the LPs of an engine share one completion; the completion of an LP that is
// throttled lies in [Messages].Parked.
type Completion struct {
	LP           int32
	Procedure    world.Procedure // of the call, if there is an error
	Err          error           // MPI's error of the call
	Fatal        bool            // the LP's error handler ends the program
	Found        bool            // the wait is complete; the test or probe has succeeded
	Request      int32           // started by the call; lost if the LP pauses
	Message      int32           // found by a matched probe
	Completed    []int32         // complete requests; the next completion releases them
	Indices      []int           // their positions in the list of requests
	Failures     []Failure       // errors of completed requests that have failed
	Status       world.Status    // of a message that was probed, or received without a request
	Data         []byte          // the content of that received message; the next completion releases it if owned
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

// Indices of the messages that a matched probe returns without a message.
const (
	MessageNoProc = -1 // of a probe from ProcNull
	MessageNull   = -2 // no message, or a message already received
)

// NewCompletion releases the requests of the previous completion and returns an empty completion
// for an LP.
func (m *Messages) NewCompletion(lp int32) *Completion {
	b := &m.Completion
	for _, index := range b.Completed {
		q := m.Requests.At(index)
		if q.Kind == ReceiveRequest && !q.Sized {
			m.Partition.Buffers.Release(q.Buffer)
		}
		if index != m.CompletedReceive {
			m.Requests.Release(index)
		}
	}
	b.LP, b.Err, b.Found, b.Message, b.Status = lp, nil, false, 0, world.EmptyStatus
	b.Completed, b.Indices = b.Completed[:0], b.Indices[:0]
	b.NewComm = world.Freed
	if b.owned {
		m.Partition.Buffers.Release(b.Data)
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

// fillCompletion stores the result of an LP's wait, which is over, in the completion.
func (m *Messages) fillCompletion(lp int32, box *Mailbox, kind WaitKind) {
	b, w := m.NewCompletion(lp), &box.Wait
	b.Found = kind < TestAll || w.found
	switch kind {
	case WaitOne:
		m.AddRequest(b, w.Subject, w.Procedure)
		return
	case WaitProbe, TestProbe:
		if b.Found {
			m.addMessage(b, w)
		}
		return
	case TestCancel:
		return
	}
	m.unwaited(w.Requests)
	switch {
	case !b.Found:
	case len(w.Requests) == 0:
		m.takeFromSet(b, w)
		return
	case kind == WaitAny || kind == TestAny:
		b.Indices = append(b.Indices, m.chargeFirst(lp, w.Requests, w.at))
	case kind == WaitSome || kind == TestSome:
		b.Indices = m.chargeSome(lp, w.Requests, w.at, b.Indices)
	default:
		for i := range w.Requests {
			b.Indices = append(b.Indices, i)
		}
	}
	for _, i := range b.Indices {
		m.AddRequest(b, w.Requests[i], w.Procedure)
	}
}

// AddRequest adds a complete request of a call to the completion, with its error.
func (m *Messages) AddRequest(b *Completion, index int32, op world.Procedure) {
	if index == 0 {
		return
	}
	if m.shared(index) {
		m.waitedFor(b.LP)
		if index == m.CompletedReceive {
			b.Completed = append(b.Completed, index)
		}
		return
	}
	q := m.Requests.At(index)
	if q.failed {
		err := m.failure(index)
		b.Failures = append(b.Failures, Failure{index, err})
		if b.Err == nil {
			b.Err, b.Procedure, b.Fatal = err, op, m.Partition.ErrorsAreFatal(b.LP)
		}
	}
	w := &m.Box(b.LP).Wait
	if q.Kind == exchangeRequest {
		w.active -= m.releaseParts(index)
	}
	if q.whole < 0 {
		m.leave(b.LP, q)
	}
	w.active--
	q.LP = world.None // a second wait for the request is an error
	b.Completed = append(b.Completed, index)
}

// addMessage stores the message that a probe has found in the completion.
func (m *Messages) addMessage(b *Completion, w *wait) {
	msg := m.messages.At(w.Subject)
	b.Status = world.Status{Source: int(msg.source), Tag: int(msg.tag), Bytes: msg.bytes}
	if w.Procedure == world.Mprobe || w.Procedure == world.Improbe {
		b.Message = w.Subject
		m.extract(b.LP, w.Subject)
	}
}

// park stores the completion of an LP that is resumed later, until Unpark.
func (m *Messages) park(lp int32) {
	if m.Completion.LP != lp {
		return
	}
	if m.Parked == nil {
		m.Parked = map[int32]*Completion{}
	}
	b, reused := m.spareCompletions.Pop()
	if !reused {
		b = &Completion{}
	}
	*b, m.Completion = m.Completion, *b
	m.Completion.LP = world.None
	m.Parked[lp] = b
}

// Unpark restores the completion of an LP that is resumed, if park has stored one.
func (m *Messages) Unpark(lp int32) {
	b, parked := m.Parked[lp]
	if parked {
		m.NewCompletion(lp)
		*b, m.Completion = m.Completion, *b
		b.Err, b.Fatal, b.Request = nil, false, 0
		m.spareCompletions.Push(b)
		delete(m.Parked, lp)
	}
}

// CompletionOf returns the completion of an LP's latest call. It is empty if another LP of
// the engine has waited since.
func (m *Messages) CompletionOf(lp int32) *Completion {
	if m.Completion.LP != lp {
		m.NewCompletion(lp)
	}
	return &m.Completion
}

// lastReceive returns the last receive among the requests of a completion, nil if it has no
// receive.
func (m *Messages) lastReceive(b *Completion) *request {
	for i := len(b.Completed) - 1; i >= 0; i-- {
		if q := m.Requests.At(b.Completed[i]); q.receives() {
			return q
		}
	}
	return nil
}

// StatusOf returns the status of a receive or probe; of several receives, the status of the last
// receive in the list.
func (m *Messages) StatusOf(b *Completion) world.Status {
	if q := m.lastReceive(b); q != nil {
		return q.status()
	}
	return b.Status
}

// DataOf returns the content of the message that a completed receive has received; of several
// receives, the content of the last receive in the list.
func (m *Messages) DataOf(b *Completion) []byte {
	if q := m.lastReceive(b); q != nil {
		return q.Buffer
	}
	return b.Data
}

// CompletedRequest returns the status and content of a request, and whether the completion includes
// the request. It does not include inactive requests, nor sends that were complete in their call.
func (m *Messages) CompletedRequest(b *Completion, index int32) (world.Status, []byte, bool) {
	if index == 0 || index == m.CompletedSend {
		return world.EmptyStatus, nil, true
	}
	if !slices.Contains(b.Completed, index) {
		return world.EmptyStatus, nil, false
	}
	q := m.Requests.At(index)
	return q.status(), q.Buffer, true
}
