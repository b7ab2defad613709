package p2p

import (
	"fmt"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/resource"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Under a model with state at the receiver, the calls of a rank's program become operations of its
// processor, which decides when each operation begins (room resource). The rank goes on without
// waiting for its operations, until it needs the outcome of an operation, or the time.

// The kinds of operations of a program.
const (
	opCompute uint8 = iota
	opSend
	opPost   // post a receive
	opTake   // receive the message of a matched probe
	opWait   // end the wait of the LP's mailbox
	opResume // resume the rank
	opEnd    // the rank has finished
)

// newProcessors makes the processors of a partition's ranks.
func (m *Messages) newProcessors() {
	m.Partition.ClocksOnly = false
	m.Processors = resource.New(&m.Partition, (*program)(m))
}

// Behind reports whether an LP has started operations that have not all begun.
func (m *Messages) Behind(lp int32) bool { return m.Processors != nil && m.Processors.Behind(lp) }

// Postpone has an LP resumed once all operations that it has started have begun, with a clock that
// includes them. It returns false if all of them have begun.
func (m *Messages) Postpone(lp int32) bool { return m.postpone(lp, opResume) }

// PostponeEnd has an LP end once all operations that it has started have begun. It returns false if
// all of them have begun.
func (m *Messages) PostponeEnd(lp int32) bool { return m.postpone(lp, opEnd) }

func (m *Messages) postpone(lp int32, kind uint8) bool {
	if !m.Behind(lp) {
		return false
	}
	m.Processors.Operate(lp, resource.Operation{Need: resource.Order, Kind: kind})
	return true
}

// After calls a function once all operations that an LP has started have begun; at once if no such
// operation is left.
func (m *Messages) After(lp int32, call func()) {
	if !m.Behind(lp) {
		call()
		return
	}
	m.Processors.Operate(lp, resource.Operation{Need: resource.Order, Function: call})
}

// TakeUp continues the event that an LP has interrupted by unwinding the engine's goroutine.
func (m *Messages) TakeUp(lp int32) {
	if m.Processors != nil {
		m.Processors.TakeUp(lp)
	}
}

// program carries out the operations and messages of ranks' programs for room resource. It
// implements [resource.Program].
type program Messages

var _ resource.Program = (*program)(nil)

// Begin carries out an operation of an LP at an instant.
func (w *program) Begin(lp int32, p *resource.Processor, op *resource.Operation, at vtime.Time) bool {
	m := (*Messages)(w)
	switch op.Kind {
	case opCompute:
		p.State.CPU = at.Add(m.lengthened(lp, at, op.Length))
		if p.State.CPU == vtime.Forever {
			m.Partition.PastEnd(int(m.Partition.Global(lp)), at, op.Procedure, "%v of computing", op.Length)
		}
		if m.Partition.Activities != nil {
			m.Computed(vtime.Duration(p.State.CPU - at))
		}
	case opSend:
		m.sendAt(p, op, at)
	case opPost:
		m.postAt(lp, op.Request, at)
	case opTake:
		m.Requests.At(op.Request).posted = at
		m.take(lp, m.Box(lp), op.Request, op.Index)
	case opWait:
		if box := m.Box(lp); box.Wait.ofWaitSet() && m.looksThrough(lp, &box.Wait, at) {
			return false
		}
		if w.InLoop(lp, op.Earliest) { // the polls before this poll have failed
			m.skipped(op.Earliest, at)
			p.State.CPU = max(p.State.CPU, at)
		}
	}
	return true
}

// Pass resumes an LP, or ends it, once all its operations have begun.
func (w *program) Pass(lp int32, kind uint8) {
	if kind == opEnd {
		w.above.End(lp)
	} else {
		w.above.Resume(lp)
	}
}

// Size returns the bytes of a message.
func (w *program) Size(index int32) int64 { return w.messages.At(index).bytes }

// CallOf returns the call in which an LP waits when a message arrives for the LP.
func (w *program) CallOf(lp, _ int32) world.Procedure {
	return (*Messages)(w).Box(lp).Wait.Procedure
}

// TakeIn matches a message that the LP's CPU takes in from an instant on.
func (w *program) TakeIn(lp, index int32, arrival, at vtime.Time) {
	m := (*Messages)(w)
	box, msg := m.Box(lp), m.messages.At(index)
	msg.arrival = at
	ri := m.firstReceive(box, msg)
	if msg.readyMode() && arrival < at && (ri == 0 || m.Requests.At(ri).posted > arrival) {
		msg.sender |= sentTooEarly
	}
	if ri == 0 {
		m.addUnexpected(box, index)
		return
	}
	m.removePosted(box, ri)
	m.take(lp, box, ri, index)
}

// Sender returns the LP that owns a request, and the call of the request.
func (w *program) Sender(request int32) (lp int32, c world.Procedure, live bool) {
	r := w.Requests.At(request)
	return r.LP, r.Procedure, true
}

// Matched completes the request of a send at t. Between an undisturbed match and t the receiver was late, or its processor busy.
func (w *program) Matched(request int32, t vtime.Time) {
	m := (*Messages)(w)
	if m.why != nil && t.Sub(m.why.of.Open(request).came) > resource.LatestMatch {
		r := m.Requests.At(request)
		by := m.Partition.Comms.At(r.Comm).Peers().RankOf(int(r.Peer), m.Partition.Global(r.LP))
		m.readied(request, stats.LateReceiver, readiness{t, world.None, stats.Late{Rank: int32(by)}})
		m.why.of.Open(request).Chain = stats.Chain{Rank: int32(by), At: t.Add(-vtime.Picosecond)} // its news takes one
	}
	m.CompleteRequest(request, t)
}

// Leaving returns the call and the name of the message of a send, for errors.
func (w *program) Leaving(op *resource.Operation) (c world.Procedure, message string, live bool) {
	return op.Procedure, fmt.Sprintf("a message to rank %d", op.Dest), true
}

// Ends returns the instant at which a wait can end. A test or nonblocking probe can end at any
// instant. In a long loop of polls only the successful poll ends.
func (w *program) Ends(lp int32, p *resource.Processor, op *resource.Operation) (at, released vtime.Time) {
	m := (*Messages)(w)
	box := m.Box(lp)
	if box.Wait.Kind >= TestAll {
		if !w.InLoop(lp, op.Earliest) {
			return max(op.Earliest, p.State.CPU), op.Released
		}
		success := m.successTime(lp, box)
		if success == vtime.Forever {
			m.waitsInLoop(lp)
			return success, op.Released
		}
		return m.Processors.PollFrom(op, max(success, p.State.CPU))
	}
	end := m.waitEnd(lp, box)
	switch {
	case end == vtime.Forever:
		return end, op.Released
	case op.Direct: // before any other operation that begins then
		return max(op.Released, end), unknown
	}
	return max(op.Earliest, end, p.State.CPU), max(op.Released, end)
}

// InLoop reports whether the wait of an LP is a poll in a long loop, whose next poll is at an
// instant. The polls of such a loop fail until an event at the rank; see loops.go.
func (w *program) InLoop(lp int32, next vtime.Time) bool {
	m := (*Messages)(w)
	box := m.Box(lp)
	return box.Wait.Kind >= TestAll && m.long(box.polls, next)
}

// Skipped counts the polls of a long loop that are skipped between two instants.
func (w *program) Skipped(from, to vtime.Time) {
	(*Messages)(w).skipped(from, to)
	w.counted = false
}

// Ended ends the wait of an LP at the LP's clock, and resumes the LP.
func (w *program) Ended(lp int32) {
	m := (*Messages)(w)
	box := m.Box(lp)
	wait := &box.Wait
	wait.at, wait.queued = m.Partition.Clock[lp], true
	if wait.Kind == WaitProbe {
		wait.Subject = m.probed(box, wait.at)
	}
	m.above.Resume(lp)
}

// waitEnd returns the instant from which a wait is over, Forever if it is unknown.
func (m *Messages) waitEnd(lp int32, box *Mailbox) vtime.Time {
	w := &box.Wait
	switch w.Kind {
	case WaitOne:
		if r := m.Requests.At(w.Subject); r.Complete {
			return r.Time
		}
	case WaitAll:
		if w.pending == 0 {
			return m.latest(0, w.Requests)
		}
	case WaitProbe:
		if index := m.probed(box, vtime.Forever); index != 0 {
			return m.messages.At(index).arrival
		}
	default:
		return m.soonest(lp, w)
	}
	return vtime.Forever
}

// postponeSend queues a send of an LP and returns its request, 0 for an eager send in a blocking
// call. After an eager send the LP goes on: its next operations are queued behind the send, and the
// call ends when the send begins.
func (m *Messages) postponeSend(lp, index int32, dst int, c world.Procedure) int32 {
	msg := m.messages.At(index)
	request := msg.request
	switch {
	case request != 0:
	case !c.Sends():
		request = m.NewRequest(lp, SendRequest, c)
	case m.Completion.LP == lp: // the completion is of the call before, with the data of its receive
		m.NewCompletion(lp).LP = world.None
	}
	if msg.view && !(msg.lent && msg.request != 0) {
		m.keepOwn(msg)
	}
	m.Processors.Operate(lp, resource.Operation{
		Need: resource.Interface, Kind: opSend, Procedure: c, Index: index, Request: request, Dest: int32(dst),
	})
	return request
}

// sendAt sends a message at an instant. An eager send is complete at that instant.
func (m *Messages) sendAt(p *resource.Processor, op *resource.Operation, at vtime.Time) {
	msg := m.messages.At(op.Index)
	m.Partition.Target.Depart(&p.State, msg.bytes, at)
	p.Sent = at
	msg.arrival = at.Add(m.Partition.Target.Latency(int(msg.rank), int(op.Dest)))
	if max(p.State.CPU, msg.arrival) == vtime.Forever {
		m.Partition.PastEnd(int(msg.rank), at, op.Procedure, "a message of %s to rank %d", spelling.Count(msg.bytes, "byte"), op.Dest)
	}
	if m.why != nil {
		lp, _ := m.Partition.Local(int(msg.rank))
		m.explains(lp, op.Index, at, at, at)
		m.leaves(op.Request, msg.rank, at, at)
		if op.Request != 0 {
			m.why.of.Open(op.Request).came = msg.arrival
		}
	}
	if msg.request == 0 && op.Request != 0 {
		m.CompleteRequest(op.Request, at)
	}
	if m.Partition.Activities != nil {
		m.DepartedAt(int(msg.rank), int(op.Dest), msg.bytes, at, p.State.CPU, msg.arrival)
	}
	m.Partition.Engine.Statistics.Messages++
	m.dispatch(op.Index, int(op.Dest), at)
}

// postAt posts a receive at an instant. The receive takes the first matching message of those that
// the processor has taken in so far, from any source, since their order is known.
func (m *Messages) postAt(lp int32, ri int32, at vtime.Time) {
	box, r := m.Box(lp), m.Requests.At(ri)
	r.posted = at
	if index := m.leastMessage(box, r.pattern()); index != 0 {
		m.removeUnexpected(box, index)
		m.take(lp, box, ri, index)
		return
	}
	m.addPosted(box, ri)
}
