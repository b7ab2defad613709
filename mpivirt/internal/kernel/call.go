package kernel

import (
	"slices"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// A rank submits a call to the kernel and learns whether the call is complete. If not, the rank
// waits, and is resumed when the call is complete. The completion is valid until the rank's next
// call. Ranks of all kinds share this: the kernel checks arguments, throttles ranks, handles errors
// and stores results.

// Call is one operation that a rank asks of the virtual MPI, with its arguments.
type Call struct {
	p2p.Operands
	requests []int32 // of a wait or test; 0 is an inactive request
	waitSet  bool    // the wait or test is for the LP's wait set
	err      error   // error that the typed call has found in the arguments

	communicator *coll.Communicator
	collective   *coll.Collective // the rank's arguments and data
	lengths      coll.Lengths     // of the input and output of the collective
	nonblocking  bool             // the collective in its nonblocking form
	persistent   *Persistent      // of a start
	exchange     Exchange
	own          bool // the bytes are the library's own, which travel in any case
}

// Enters sets the collective, in its blocking form, and the error in its arguments. It returns the
// call.
func (q *Call) Enters(v *coll.Collective, err error) *Call {
	q.collective, q.err, q.lengths = v, err, v.Lengths()
	return q
}

// OfLengths sets the lengths of the vectors of a collective that has no memory for them. It returns the call.
func (q *Call) OfLengths(input, output int64) *Call {
	q.lengths = coll.Lengths{Input: input, Output: output}
	return q
}

// Waits sets the requests to wait for or to test, and the error in these requests. It returns the
// call.
func (q *Call) Waits(requests []int32, err error) *Call {
	q.requests, q.waitSet, q.err = requests, false, err
	return q
}

// WaitsForSet has a call wait for, or test, the LP's wait set, and sets the error in the set. It
// returns the call.
func (q *Call) WaitsForSet(err error) *Call {
	q.waitSet, q.err = true, err
	return q
}

// waitKinds are the kinds of the waits, tests and probes, by procedure.
var waitKinds = [...]p2p.WaitKind{
	world.Wait: p2p.WaitOne, world.Waitall: p2p.WaitAll, world.Waitany: p2p.WaitAny, world.Waitsome: p2p.WaitSome,
	world.Test: p2p.TestAll, world.Testall: p2p.TestAll, world.Testany: p2p.TestAny, world.Testsome: p2p.TestSome,
	world.Probe: p2p.WaitProbe, world.Mprobe: p2p.WaitProbe, world.Iprobe: p2p.TestProbe, world.Improbe: p2p.TestProbe,
}

// Compose returns a call of a member on a communicator. All LPs of the engine share the value: the
// other fields are those of the call before, but that it is not nonblocking. The caller submits it before another LP runs.
func (k *Kernel) Compose(op world.Procedure, c *coll.Communicator, member int32) *Call {
	q := &k.call
	q.Procedure, q.Comm, q.communicator, q.Member, q.own, q.nonblocking = op, &c.Comm, c, member, false, false
	return q
}

// Composed returns the call that was composed last.
func (k *Kernel) Composed() *Call { return &k.call }

// Sends sets the message to send and returns the call.
func (q *Call) Sends(payload []byte, bytes int64, dest, tag int) *Call {
	o := &q.Outgoing
	o.Dest, o.Tag, o.Bytes, o.Payload, o.Lent = dest, tag, bytes, payload, false
	return q
}

// Lends marks the payload as unchanged until the call is complete, since the rank does nothing
// before. It returns the call.
func (q *Call) Lends() *Call {
	q.Outgoing.Lent = true
	return q
}

// Receives sets the message to receive or to probe for, and returns the call. Without a size the
// receive takes a message of any length.
func (q *Call) Receives(buffer []byte, bytes int64, sized bool, source, tag int) *Call {
	v := &q.Incoming
	v.Source, v.Tag, v.Bytes, v.Buffer, v.Sized = source, tag, bytes, buffer, sized
	q.Matched = 0
	return q
}

// Own says that the bytes of a call are the library's own, and no contents of the program. It returns the call.
func (q *Call) Own() *Call {
	q.own = true
	return q
}

// dropContents has only the sizes of a call simulated.
func (q *Call) dropContents() {
	q.Outgoing.Payload, q.Incoming.Buffer = nil, nil
	for _, parts := range [][]Part{q.exchange.Receives, q.exchange.Sends} {
		for i := range parts {
			parts[i].Buffer = nil
		}
	}
	if q.collective != nil {
		q.collective.DropContents()
	}
}

// Takes sets the message to receive, found by a matched probe, 0 for none. It returns the call.
func (q *Call) Takes(message int32) *Call {
	if message == 0 {
		message = p2p.MessageNull
	}
	q.Matched = message
	return q
}

// Nonblocking makes the collective nonblocking and returns the call.
func (q *Call) Nonblocking() *Call {
	q.nonblocking = true
	return q
}

// Submit carries out a call of an LP. It reports whether the call is complete; if not, the LP must
// wait until it is resumed. Submit never panics: a rank that cannot go on finds a fatal error in
// the completion.
func (k *Kernel) Submit(lp int32, q *Call) (complete bool) {
	if k.hearing.hears && !k.hearing.inCall {
		return k.submitHeard(lp, q)
	}
	if k.InParts(lp) {
		return k.goOn(lp)
	}
	k.messages.Completion.Err = nil
	if k.config.NoContents && !q.own {
		q.dropContents()
	}
	if k.messages.InCalls && !k.isInactive(lp, q) {
		k.messages.EnterCall(lp)
	}
	switch op := q.Procedure; op.Class() {
	case world.ClassSend:
		if op.Blocks() {
			return k.submitSend(lp, q)
		}
		if err := k.checkSend(lp, q); err != nil {
			return k.messages.Raise(lp, op, err)
		}
		k.messages.Completion.Request = k.messages.Begun(lp, k.startSend(lp, q))
		return true
	case world.ClassReceive:
		if op.Blocks() {
			k.messages.EnterWait(lp)
			return k.submitReceive(lp, q)
		}
		index, err := k.beginReceive(lp, q)
		if err != nil {
			return k.messages.Raise(lp, op, err)
		}
		k.messages.Completion.Request = k.messages.Begun(lp, index)
		return true
	case world.ClassSendReceive:
		if op.Blocks() {
			return k.submitSendrecv(lp, q)
		}
		if err := k.checkSendrecv(lp, q); err != nil {
			return k.messages.Raise(lp, op, err)
		}
		k.messages.Completion.Request = k.messages.SendReceive(lp, &q.Operands)
		return true
	case world.ClassWait, world.ClassTest:
		if k.messages.InCalls && !k.isInactive(lp, q) {
			k.messages.EnterWait(lp)
		}
		return k.submitWait(lp, q)
	case world.ClassProbe:
		k.messages.EnterWait(lp)
		return k.submitProbe(lp, q)
	case world.ClassRequest:
		if op == world.Cancel {
			return k.submitCancel(lp, q)
		}
		return k.submitStart(lp, q)
	case world.ClassCommunicator:
		if op == world.CommFree {
			return k.submitFree(lp, q)
		}
	case world.ClassIntercommunicator:
		if op == world.IntercommCreate && q.err == nil {
			return k.beginParts(lp, k.collectives.NewMeeting(q.communicator, int(q.Member), q.collective.Root, q.collective.Input))
		}
	case world.ClassNeighborhood:
		return k.submitExchange(lp, q)
	}
	return k.submitCollective(lp, q)
}

// isInactive reports whether a call waits for requests or tests them, and none is active. The rank answers that by itself: it
// makes no progress.
func (k *Kernel) isInactive(lp int32, q *Call) bool {
	switch class := q.Procedure.Class(); {
	case class != world.ClassWait && class != world.ClassTest:
		return false
	case q.waitSet:
		return k.messages.WaitSetIsEmpty(lp)
	}
	return !slices.ContainsFunc(q.requests, func(index int32) bool { return index != 0 })
}

// Awaits reports whether a call makes an LP wait, unless its arguments are in error or its partner
// is ProcNull.
func (k *Kernel) Awaits(lp int32, q *Call) bool {
	if k.messages.Processors != nil {
		return q.Procedure.Blocks() && !q.Procedure.Sends()
	}
	return q.Procedure == world.Recv && !k.messages.HasUnexpected(lp)
}

// checkSend returns the error in the arguments of a send, and sets its mode.
func (k *Kernel) checkSend(lp int32, q *Call) error {
	o := &q.Outgoing
	if o.Mode = q.Procedure.Mode(); o.Mode == world.Buffered && o.Bytes > k.messages.Attached[lp] && o.Dest != world.ProcNull {
		return world.Errorf(world.ErrBuffer, "a buffered send of %s with a buffer of %d: attach a larger one", spelling.Count(o.Bytes, "byte"), k.messages.Attached[lp])
	}
	return q.Comm.CheckSend(o.Dest, o.Tag, o.Bytes)
}

// startSend starts a send and returns its request.
func (k *Kernel) startSend(lp int32, q *Call) int32 {
	if q.Outgoing.Dest == world.ProcNull {
		return k.messages.CompletedSend
	}
	if index := k.messages.Send(lp, &q.Operands); index != 0 {
		return index
	}
	return k.messages.CompletedSend
}

// SendOnWorld carries out a standard send on WORLD that is complete at once, as Submit does. It
// returns false, with nothing changed, if the send cannot be complete at once or its arguments are
// in error.
func (k *Kernel) SendOnWorld(lp int32, w *coll.Communicator, payload []byte, bytes int64, dest, tag int) bool {
	if !w.Names(dest, tag) || uint64(bytes) > uint64(k.partition.EagerLimit) || k.messages.InCalls || k.hearing.hearsEach() {
		return false
	}
	if k.config.NoContents {
		payload = nil
	}
	q := &k.call
	q.Procedure, q.Comm, q.communicator, q.Member, q.Outgoing.Mode = world.Send, &w.Comm, w, k.partition.Global(lp), 0
	q.Sends(payload, bytes, dest, tag)
	k.messages.Completion.Err = nil
	began := k.partition.Clock[lp]
	k.messages.Send(lp, &q.Operands)
	if s := k.hearing.sums; s != nil {
		s.about(world.WorldContext)
		k.messages.SumSend(lp, world.Send, world.WorldContext, dest, bytes, began)
	}
	if k.hearing.recorder != nil {
		k.hearing.recorder.Sends(lp, bytes, dest, tag)
	}
	return true
}

// AnyLength is the room of a receive that takes a message of any length.
const AnyLength = -1

// ReceiveOnWorld carries out a receive from a member of WORLD, of a message of at most room bytes, if its message has
// arrived and is certain, as Submit does. It returns false, with nothing changed, if there is no
// such message, or it is longer. A receive with room takes the content into a buffer, which is nil if only the size counts.
func (k *Kernel) ReceiveOnWorld(lp int32, w *coll.Communicator, buffer []byte, room int64, source, tag int) bool {
	if !w.Names(source, tag) || k.messages.InCalls || k.hearing.hearsEach() {
		return false
	}
	if s := k.hearing.sums; s != nil {
		s.about(world.WorldContext)
	}
	if k.config.NoContents {
		buffer = nil
	}
	v := &k.call.Incoming
	v.Source, v.Tag, v.Sized, v.Buffer, v.Bytes = source, tag, room >= 0, buffer, room
	k.messages.Completion.Err = nil
	if !k.messages.TakeAtOnce(lp, world.Recv, &w.Comm, v) {
		return false
	}
	if k.hearing.recorder != nil {
		k.hearing.recorder.Receives(lp, source, tag)
	}
	return true
}

func (k *Kernel) submitSend(lp int32, q *Call) bool {
	if err := k.checkSend(lp, q); err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	if index := k.startSend(lp, q); index != k.messages.CompletedSend {
		return k.messages.WaitRequest(lp, index, q.Procedure)
	}
	return true
}

// postReceive posts a receive and returns its request.
func (k *Kernel) postReceive(lp int32, q *Call) int32 {
	if q.Incoming.Source == world.ProcNull {
		return k.messages.CompletedReceive
	}
	return k.messages.Receive(lp, &q.Operands)
}

// beginReceive checks and posts a nonblocking receive, and returns its request.
func (k *Kernel) beginReceive(lp int32, q *Call) (request int32, err error) {
	if q.Matched != 0 {
		return k.beginMatched(lp, q)
	}
	if err := q.Comm.CheckReceive(q.Incoming.Source, q.Incoming.Tag, q.Incoming.Bytes); err != nil {
		return 0, err
	}
	return k.postReceive(lp, q), nil
}

// beginMatched begins the receive of a message that a matched probe has found, and returns its
// request.
func (k *Kernel) beginMatched(lp int32, q *Call) (request int32, err error) {
	switch message := q.Matched; {
	case message == p2p.MessageNoProc:
		return k.messages.CompletedReceive, nil
	case !k.messages.Found(lp, message):
		return 0, world.Errorf(world.ErrRequest, "no matched probe has found a message, or it has been received: "+
			"receive each message once, after its Mprobe or Improbe")
	default:
		request = k.messages.NewRequest(lp, p2p.ReceiveRequest, q.Procedure)
		r := k.messages.Requests.At(request)
		r.Comm, r.Buffer, r.Sized, r.Bytes = q.Comm.Index, q.Incoming.Buffer, q.Incoming.Sized, q.Incoming.Bytes
		k.messages.ReceiveMatched(lp, request, message)
		return request, nil
	}
}

func (k *Kernel) submitReceive(lp int32, q *Call) bool {
	index, err := int32(0), error(nil)
	if q.Matched != 0 {
		index, err = k.beginMatched(lp, q)
	} else if err = q.Comm.CheckReceive(q.Incoming.Source, q.Incoming.Tag, q.Incoming.Bytes); err == nil {
		if k.hearing.observer == nil && k.messages.TakeAtOnce(lp, q.Procedure, q.Comm, &q.Incoming) {
			return k.partition.Clock[lp] < vtime.Forever
		}
		index = k.postReceive(lp, q)
	}
	if err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	return k.waitFor(lp, index, q.Procedure)
}

// waitFor completes a call with a request, or makes the LP wait for the request. It reports whether
// the call is complete.
func (k *Kernel) waitFor(lp, index int32, op world.Procedure) bool {
	if index != 0 && index != k.messages.CompletedSend && index != k.messages.CompletedReceive {
		q := k.messages.Requests.At(index)
		if !q.Complete || k.partition.Strict || k.messages.Processors != nil {
			return k.messages.WaitRequest(lp, index, op)
		}
		k.messages.Charge(lp, q, max(k.partition.Clock[lp], q.Time))
		k.messages.Activity(lp)
	}
	b := k.messages.NewCompletion(lp)
	b.Found = true
	k.messages.AddRequest(b, index, op)
	return k.partition.Clock[lp] < vtime.Forever
}

// errShared is the error of a Sendrecv whose buffers share memory (MPI 4.1, 3.10: they
// must be disjoint).
var errShared = world.Errorf(world.ErrBuffer, "the slices to send and to receive share memory: give two that do not, or copy one")

// checkSendrecv returns the error in the arguments of a Sendrecv.
func (k *Kernel) checkSendrecv(lp int32, q *Call) error {
	err := k.checkSend(lp, q)
	if err == nil {
		err = q.Comm.CheckReceive(q.Incoming.Source, q.Incoming.Tag, q.Incoming.Bytes)
	}
	if err == nil && world.Overlap(q.Outgoing.Payload, q.Incoming.Buffer) {
		err = errShared
	}
	return err
}

func (k *Kernel) submitSendrecv(lp int32, q *Call) bool {
	if err := k.checkSendrecv(lp, q); err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	received := k.postReceive(lp, q)
	sent := k.startSend(lp, q)
	if k.messages.Completion.Err != nil {
		return true
	}
	box := k.messages.Box(lp)
	return k.messages.WaitRequests(lp, p2p.WaitAll, append(box.Wait.Requests[:0], received, sent), q.Procedure)
}

// Keeps reports whether a call has so many requests that they become a wait set.
func Keeps(op world.Procedure, requests int) bool {
	switch op {
	case world.Waitany, world.Waitsome, world.Testany, world.Testsome:
		return requests >= p2p.LongList
	}
	return false
}

func (k *Kernel) submitWait(lp int32, q *Call) bool {
	if q.waitSet {
		switch {
		case q.err != nil:
			return k.messages.Raise(lp, q.Procedure, q.err)
		case k.messages.WaitSetIsEmpty(lp):
			k.messages.NewCompletion(lp).Found = true
			return true
		}
		return k.messages.WaitForSet(lp, waitKinds[q.Procedure], q.Procedure)
	}
	active, err := false, q.err
	for _, index := range q.requests {
		active = active || index != 0
		if err == nil {
			err = k.messages.CheckRequest(lp, index)
		}
	}
	switch {
	case err != nil:
		return k.messages.Raise(lp, q.Procedure, err)
	case !active:
		k.messages.NewCompletion(lp).Found = true
		return true
	case q.Procedure == world.Wait:
		return k.waitFor(lp, q.requests[0], q.Procedure)
	}
	box := k.messages.Box(lp)
	return k.messages.WaitRequests(lp, waitKinds[q.Procedure], append(box.Wait.Requests[:0], q.requests...), q.Procedure)
}

// submitCancel cancels the request of a call.
func (k *Kernel) submitCancel(lp int32, q *Call) bool {
	index, err := q.requests[0], q.err
	if err == nil && index == 0 {
		err = world.Errorf(world.ErrRequest, "no request to cancel: give one that an operation has returned")
	}
	if err == nil {
		err = k.messages.CheckRequest(lp, index)
	}
	if err == nil {
		err = k.messages.CheckCancel(index)
	}
	if err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	return k.messages.Cancel(lp, index)
}

func (k *Kernel) submitProbe(lp int32, q *Call) bool {
	if err := q.Comm.CheckReceive(q.Incoming.Source, q.Incoming.Tag, q.Incoming.Bytes); err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	if q.Incoming.Source == world.ProcNull {
		b := k.messages.NewCompletion(lp)
		b.Found, b.Message, b.Status = true, p2p.MessageNoProc, world.ProcNullStatus
		return true
	}
	return k.messages.Probe(lp, waitKinds[q.Procedure], &q.Operands)
}

// submitCollective enters an LP into a collective. A collective of a single member is complete at
// once.
func (k *Kernel) submitCollective(lp int32, q *Call) bool {
	c, v, err := q.communicator, q.collective, q.err
	if err == nil {
		err = c.Check(v)
	}
	if err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	switch {
	case c.Remote == nil:
	case v.Creation != nil:
		q.communicator, q.Member = k.collectives.OfBoth(c, lp)
		q.Comm = &q.communicator.Comm
	case q.nonblocking || !v.GoesInParts():
		receives, sends, end := k.collectives.InterMessages(c, int(q.Member), v, q.lengths)
		return k.exchange(lp, q, Exchange{receives, sends, end})
	default:
		return k.beginParts(lp, k.collectives.NewInterCall(c, int(q.Member), v, q.lengths))
	}
	k.collectives.Submits = lp
	over := k.enterCollective(lp, q)
	k.collectives.Submits = world.None
	return over
}

// enterCollective enters an LP into a collective of one group whose arguments have been checked.
func (k *Kernel) enterCollective(lp int32, q *Call) bool {
	c, v := q.communicator, q.collective
	if len(k.collectives.KeptResults) > 0 && !q.nonblocking {
		delete(k.collectives.KeptResults, lp) // of the previous allreduce
	}
	v.Algorithm = k.collectives.Algorithm(v, c)
	if err := k.collectives.CheckSegments(v, c); err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	if err := k.collectives.Launch(lp, c, int(q.Member), v); err != nil {
		k.messages.Fail(lp, q.Procedure, err)
		return false
	}
	index := int32(0)
	if q.nonblocking {
		index = k.messages.NewRequest(lp, p2p.CollectiveRequest, v.Procedure)
		r := k.messages.Requests.At(index)
		r.Comm, r.Buffer = c.Index, v.Output
		k.messages.Completion.Request = index
	}
	if c.Size == 1 {
		k.collectives.CarryOutAlone(lp, c, v, index)
		return true
	}
	switch {
	case !q.nonblocking:
		k.messages.EnterWait(lp)
	case k.messages.InCalls:
		v = k.collectives.Later(v)
	}
	if k.messages.Processors != nil {
		k.collectives.EnterLater(lp, c, int(q.Member), v, index)
	} else {
		k.collectives.Enter(lp, c, int(q.Member), v, index)
	}
	return q.nonblocking
}

// submitFree frees a communicator for an LP.
func (k *Kernel) submitFree(lp int32, q *Call) bool {
	if err := k.collectives.Free(lp, q.communicator); err != nil {
		return k.messages.Raise(lp, q.Procedure, err)
	}
	return true
}
