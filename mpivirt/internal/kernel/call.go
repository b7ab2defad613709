package kernel

import (
	"slices"

	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// A rank hands the kernel a call and is told whether it is over. If it is not, the rank
// waits, and is resumed when it is. The completion of a call is there when the rank goes on,
// until it makes the next call. That is all that ranks of one kind or another have in
// common: arguments are checked, ranks held back, errors handled and results kept here,
// whoever asks.

// Call is one operation that a rank asks of the virtual MPI, with its arguments.
type Call struct {
	Procedure Procedure
	begins    bool // a collective in its nonblocking form
	comm      *Communicator
	member    int32 // that the rank is in comm

	matched  int32    // Mrecv: the message that a matched probe has found
	outgoing outgoing // sends, and the one of a Sendrecv
	incoming incoming // receives and probes, and the receive of a Sendrecv

	requests   []int32     // waits and tests; 0 is an inactive one
	collective *Collective // what the rank hands in
	persistent *Persistent // starts
	err        error       // what is wrong with the arguments, as far as is known
}

// Enters fills in the collective that a call enters in its blocking form, and what is wrong
// with it.
func (q *Call) Enters(v *Collective, err error) *Call {
	q.collective, q.err, q.begins = v, err, false
	return q
}

// Waits fills in the requests that a call waits for or tests, and what is wrong with them.
func (q *Call) Waits(requests []int32, err error) *Call {
	q.requests, q.err = requests, err
	return q
}

// modes are those in which sends send.
var modes = [Sendrecv + 1]sendMode{
	Ssend: synchronous, Issend: synchronous, Bsend: buffered, Ibsend: buffered, Rsend: ready, Irsend: ready,
}

// waitKinds are the ways in which waits wait.
var waitKinds = [Improbe + 1]waitKind{
	Wait: waitOne, Waitall: waitAll, Waitany: waitAny, Waitsome: waitSome,
	Test: testAll, Testall: testAll, Testany: testAny, Testsome: testSome,
	Probe: waitProbe, Mprobe: waitProbe, Iprobe: testProbe, Improbe: testProbe,
}

// calling is what a kernel keeps of the calls of its LPs.
type calling struct {
	asked        Call                 // scratch: the call that the running LP makes
	List         []int32              // scratch: the requests in it
	Completion   Completion           // of the call that an LP has made last
	parked       map[int32]Completion // by LP that is held up
	towards      int                  // engine that the running LP has sent to last
	attached     map[int32]int64      // by LP: room for buffered sends
	errorsReturn []uint64             // set of LPs that get their errors; nil for none
	faults       map[int32]fault      // by LP that leaves a collective and has not gone on
	apart        map[int32][]byte     // by LP: common result of an allreduce that other members began
}

// Compose returns a call to fill in: it has what the call before it had but for op, comm and
// member. There is one for all LPs of the engine: it is taken over before another LP runs.
func (k *Kernel) Compose(op Procedure, c *Communicator, member int32) *Call {
	q := &k.asked
	q.Procedure, q.comm, q.member = op, c, member
	return q
}

// Sends fills in what a call sends.
func (q *Call) Sends(payload []byte, bytes int64, dest, tag int) *Call {
	o := &q.outgoing
	o.dest, o.tag, o.bytes, o.payload = dest, tag, bytes, payload
	return q
}

// Receives fills in what a call receives.
func (q *Call) Receives(buffer []byte, bytes int64, sized bool, source, tag int) *Call {
	v := &q.incoming
	v.source, v.tag, v.bytes, v.buffer, v.sized = source, tag, bytes, buffer, sized
	q.matched = 0
	return q
}

// Takes makes a receive one of the message that a matched probe has found, 0 for none.
func (q *Call) Takes(message int32) *Call {
	if message == 0 {
		message = NoMessage
	}
	q.matched = message
	return q
}

// Nonblocking makes a call of a collective one that begins it.
func (q *Call) Nonblocking() *Call {
	q.begins = true
	return q
}

// Submit takes a call of an LP. It reports whether the call is over; else the LP must wait
// until it is resumed. It does not panic: a rank that cannot go on has a fatal error in the
// completion.
func (k *Kernel) Submit(lp int32, q *Call) (over bool) {
	k.Completion.Err = nil
	switch op := q.Procedure; {
	case op <= Rsend:
		return k.submitSend(lp, q)
	case op == Recv:
		return k.submitReceive(lp, q)
	case op <= Irsend:
		if err := k.checkSend(lp, q); err != nil {
			return k.raise(lp, op, err)
		}
		k.Completion.Request = k.begun(lp, q)
		return true
	case op == Irecv:
		if err := q.comm.checkReceive(&q.incoming); err != nil {
			return k.raise(lp, op, err)
		}
		k.Completion.Request = k.posted(lp, q)
		return true
	case op == Sendrecv:
		return k.submitSendrecv(lp, q)
	case op <= Testsome:
		return k.submitWait(lp, q)
	case op <= Improbe:
		return k.submitProbe(lp, q)
	case op == Start:
		return k.submitStart(lp, q)
	case op == CommFree:
		return k.submitFree(lp, q)
	}
	return k.submitCollective(lp, q)
}

// checkSend returns what is wrong with the arguments of a send.
func (k *Kernel) checkSend(lp int32, q *Call) error {
	o := &q.outgoing
	if o.mode = modes[q.Procedure]; o.mode == buffered && o.bytes > k.attached[lp] {
		return Errorf(ErrBuffer, "a buffered send of %d bytes with a buffer of %d", o.bytes, k.attached[lp])
	}
	return q.comm.checkSend(o.dest, o.tag, o.bytes)
}

// begun begins a send and returns its request.
func (k *Kernel) begun(lp int32, q *Call) int32 {
	if q.outgoing.dest == ProcNull {
		return k.done
	}
	if index := k.send(lp, q); index != 0 {
		return index
	}
	return k.done
}

func (k *Kernel) submitSend(lp int32, q *Call) bool {
	if err := k.checkSend(lp, q); err != nil {
		return k.raise(lp, q.Procedure, err)
	}
	if index := k.begun(lp, q); index != k.done {
		return k.waitRequest(lp, index, q.Procedure)
	}
	return true
}

// posted posts a receive and returns its request.
func (k *Kernel) posted(lp int32, q *Call) int32 {
	if q.incoming.source == ProcNull {
		return k.nobody
	}
	return k.receive(lp, q)
}

func (k *Kernel) submitReceive(lp int32, q *Call) bool {
	index := q.matched
	switch {
	case index == 0:
		if err := q.comm.checkReceive(&q.incoming); err != nil {
			return k.raise(lp, q.Procedure, err)
		}
		index = k.posted(lp, q)
	case index == FromNobody:
		index = k.nobody
	case index < 0 || index > k.messages.next || k.messages.peek(index).next != ^lp:
		return k.raise(lp, q.Procedure, Errorf(ErrRequest, "no probe has found a message to receive, or it has been received"))
	default:
		k.messages.at(index).next = 0
		index = k.newRequest(lp, receiveRequest, q.Procedure)
		r := k.requests.at(index)
		r.buffer, r.sized, r.bytes = q.incoming.buffer, q.incoming.sized, q.incoming.bytes
		k.receiveMatched(lp, index, q.matched)
	}
	return k.waitFor(lp, index, q.Procedure)
}

// waitFor waits for a request. One that is complete needs no wait.
func (k *Kernel) waitFor(lp, index int32, op Procedure) bool {
	if index != 0 && index != k.done && index != k.nobody {
		q := k.requests.at(index)
		if !q.complete || k.strict || k.processors != nil {
			return k.waitRequest(lp, index, op)
		}
		k.charge(lp, q, max(k.Clock[lp], q.time))
		k.Activity(lp)
	}
	b := k.renew(lp)
	b.Found = true
	k.bringOne(b, index, op)
	return k.Clock[lp] < vtime.Forever
}

// errShared is the error of a Sendrecv whose buffers share memory (MPI 4.1, 3.10: they
// must be disjoint).
var errShared = Errorf(ErrBuffer, "the slices to send and to receive share memory: give two that do not, or copy one")

func (k *Kernel) submitSendrecv(lp int32, q *Call) bool {
	err := k.checkSend(lp, q)
	if err == nil {
		err = q.comm.checkReceive(&q.incoming)
	}
	if err == nil && overlap(q.outgoing.payload, q.incoming.buffer) {
		err = errShared
	}
	if err != nil {
		return k.raise(lp, q.Procedure, err)
	}
	received := k.posted(lp, q)
	sent := k.begun(lp, q)
	if k.Completion.Err != nil {
		return true
	}
	box := k.box(lp)
	return k.waitRequests(lp, waitAll, append(box.wait.requests[:0], received, sent), q.Procedure)
}

func (k *Kernel) submitWait(lp int32, q *Call) bool {
	active, err := false, q.err
	for _, index := range q.requests {
		active = active || index != 0
		if err == nil {
			err = k.checkRequest(lp, index)
		}
	}
	switch {
	case err != nil:
		return k.raise(lp, q.Procedure, err)
	case !active:
		k.renew(lp).Found = true
		return true
	case q.Procedure == Wait:
		return k.waitFor(lp, q.requests[0], q.Procedure)
	}
	box := k.box(lp)
	return k.waitRequests(lp, waitKinds[q.Procedure], append(box.wait.requests[:0], q.requests...), q.Procedure)
}

// checkRequest returns what is wrong with the index of a request of an LP.
func (k *Kernel) checkRequest(lp, index int32) error {
	if index == 0 || index == k.done || index == k.nobody {
		return nil
	}
	if index < 0 || index > k.requests.next {
		return Errorf(ErrRequest, "%d is no request", index)
	}
	if r := k.requests.peek(index); r.kind == 0 || r.lp != lp {
		return Errorf(ErrRequest, "the request has been waited for already: put zero in its place")
	}
	return nil
}

func (k *Kernel) submitProbe(lp int32, q *Call) bool {
	if err := q.comm.checkReceive(&q.incoming); err != nil {
		return k.raise(lp, q.Procedure, err)
	}
	if q.incoming.source == ProcNull {
		b := k.renew(lp)
		b.Found, b.Message, b.Status = true, FromNobody, NobodyStatus
		return true
	}
	return k.probe(lp, waitKinds[q.Procedure], q)
}

// submitCollective enters an LP into a collective. Alone in it, it is over at once.
func (k *Kernel) submitCollective(lp int32, q *Call) bool {
	c, v, err := q.comm, q.collective, q.err
	if err == nil {
		err = c.check(v)
	}
	if err != nil {
		return k.raise(lp, q.Procedure, err)
	}
	if len(k.apart) > 0 && !q.begins {
		delete(k.apart, lp) // of the allreduce before
	}
	index := int32(0)
	if q.begins {
		index = k.newRequest(lp, collectiveRequest, v.Procedure)
		r := k.requests.at(index)
		r.comm, r.buffer = c.Index, v.Output
		k.Completion.Request = index
	}
	if c.Size == 1 {
		k.carryOutAlone(lp, c, v, index)
		return true
	}
	v.algorithm = k.algorithm(v.Operation, c, &v.Operator)
	if k.processors != nil {
		k.enterLater(lp, c, int(q.member), v, index)
	} else {
		k.enter(lp, c, int(q.member), v, index)
	}
	return q.begins
}

// carryOutAlone carries out a collective of one member, in no time.
func (k *Kernel) carryOutAlone(lp int32, c *Communicator, v *Collective, request int32) {
	if k.Timing != stats.Untimed {
		k.summary.tally.Note(k.Timing, 0)
		k.Timing = stats.Untimed
	}
	v.copyAlone()
	shared := []byte(nil)
	if v.Output == nil {
		shared = slices.Clone(v.Input)
	}
	if request != 0 {
		r := k.requests.at(request)
		r.complete, r.time = true, k.Clock[lp]
		if r.buffer == nil {
			r.buffer = shared
		}
		return
	}
	b := k.renew(lp)
	b.common = shared
	if v.exchange != nil {
		b.made = k.makeAlone(lp, c, v.exchange.color)
	}
}

// SetErrorsReturn chooses the error handler of an LP.
func (k *Kernel) SetErrorsReturn(lp int32, on bool) {
	k.returning = k.returning || on
	if k.errorsReturn == nil {
		k.errorsReturn = make([]uint64, (k.n+63)/64)
	}
	word, bit := &k.errorsReturn[lp>>6], uint64(1)<<(lp&63)
	*word &^= bit
	if on {
		*word |= bit
	}
}

// raise makes an MPI error the completion of a call, which is over. It returns true.
func (k *Kernel) raise(lp int32, op Procedure, err error) bool {
	b := k.renew(lp)
	b.Err, b.Procedure, b.Fatal, b.Request = err, op, k.ErrorsAreFatal(lp), 0
	return true
}

// ErrorsAreFatal reports whether an LP's error handler ends the program.
func (k *Kernel) ErrorsAreFatal(lp int32) bool {
	return k.errorsReturn == nil || k.errorsReturn[lp>>6]>>(lp&63)&1 == 0
}

// Attach gives an LP room for buffered sends of up to a number of bytes each, and returns
// what it had.
func (k *Kernel) Attach(lp int32, bytes int64) (before int64) {
	before = k.attached[lp]
	if k.attached == nil {
		k.attached = map[int32]int64{}
	}
	if k.attached[lp] = bytes; bytes == 0 {
		delete(k.attached, lp)
	}
	return before
}

// Pause is holdUp for an LP that does not wait for what it has begun: under a model with
// state at the receiver it goes on when all of that has begun.
func (k *Kernel) Pause(lp int32) bool {
	if k.processors == nil {
		return k.holdUp(lp)
	}
	k.park(lp)
	if k.Postpone(lp) {
		return true
	}
	k.unpark(lp)
	return false
}

// MakeRoom has an LP resumed later if it has begun so much that it ought to wait. It
// reports whether it does.
func (k *Kernel) MakeRoom(lp int32) bool {
	if k.processors != nil {
		return k.processors[lp].crowded() && k.Postpone(lp)
	}
	return k.holdUp(lp)
}

// holdUp has an LP resumed later if the buffers that it has sent to last, or those of its
// own engine, are full. It reports whether it does. Its completion is kept.
func (k *Kernel) holdUp(lp int32) bool {
	own := k.eng.Index()
	dst := k.towards
	k.towards = own
	if k.processors != nil || !k.eng.Congested(dst) {
		return false
	}
	k.park(lp)
	k.eng.Throttle(lp, k.Clock[lp], dst)
	return true
}
