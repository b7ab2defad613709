package kernel

import (
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Observer hears the actions of the ranks of one engine: the beginning and end of each call, and
// each activity that takes virtual time. Statistics, timelines and recordings are observers. The
// goroutine that runs the engine calls the observer in the order of the host: an observer that
// needs the order of virtual time sorts by time and rank. The values are valid during the call
// only.
//
// An observed rank makes each call in full, without short forms, so that the observer hears each
// call. Virtual times and bytes are the same. The calls that an engine's observer hears are the
// same for any number of engines; the engine that computes the time of a message's activity has its
// observer hear the activity.
type Observer interface {
	// Begins hears the beginning of a rank's call.
	Begins(b *CallBegin)
	// Ends hears the end of a rank's call. A call that fails the rank, or that a deadlock holds,
	// has no end.
	Ends(e *CallEnd)
	// Note hears the time of an activity. Activities are heard if [Config] counts them; collectives
	// are then carried out by messages.
	Note(a Activity, d vtime.Duration)
}

// Recorder is an observer that also hears each call with all its arguments, and its outcome, in the order of the rank's program.
// A call that fails the rank, or that a deadlock holds, is not left. While a recorder hears the calls, each operation that begins
// has a request of its own.
type Recorder interface {
	Observer
	// Records hears the kernel whose calls it hears, before the first of them.
	Records(k *Kernel)
	// Enters hears a call as the rank hands it in. The call is valid during Enters.
	Enters(lp int32, q *Call)
	// Leaves hears the outcome of the call that the rank has entered.
	Leaves(lp int32, b *Completion)
	// Computes hears a phase of computing, without noise.
	Computes(lp int32, d vtime.Duration)
	// Duplicates hears that a rank makes the local duplicate of a communicator that has a number.
	Duplicates(lp int32, c, duplicate *Communicator, number int32)
	// Finishes hears that a rank has come to the end of its program.
	Finishes(lp int32)
}

// Activity is a kind of work that takes virtual time.
type Activity = stats.Activity

// CallBegin is the beginning of a rank's call.
type CallBegin struct {
	Rank        int // in WORLD
	Time        vtime.Time
	Procedure   world.Procedure
	Nonblocking bool           // a collective in its nonblocking form
	Context     uint64         // of the communicator; [world.NoContext] for a call without one
	Sent        Envelope       // of a send; the send of a Sendrecv
	Received    Envelope       // of a receive or probe; the receive of a Sendrecv
	Root        int            // of a collective
	Bytes       int64          // of a collective: the size of the vector, or of one block
	Handed      int64          // of a collective: the bytes that the rank contributes to it
	Refused     bool           // the arguments are in error: the call sends nothing and enters nothing
	Length      vtime.Duration // of Compute, without noise
}

// Envelope is the partner of a message, a member of the communicator or a wildcard, and the tag.
// Bytes is the size of the message, or of the room for it.
type Envelope struct {
	Member, Tag int
	Bytes       int64
	Present     bool // the call has such a message
}

// CallEnd is the end of a rank's call.
type CallEnd struct {
	Rank         int // in WORLD
	Procedure    world.Procedure
	Began, Ended vtime.Time
	Ready        vtime.Time // instant at which all that the call needs had arrived; Began if that was before
	For          int        // if the rank waited: the rank whose message arrived last, [world.None] for no message
	Err          error      // MPI's error of the call
}

// hearing is a kernel's state for its observer.
type hearing struct {
	observer Observer     // nil for none
	recorder Recorder     // the observer, or a part of it; nil if it is none
	inCall   bool         // a call is submitted: calls that are parts of it are not heard
	open     []CallEnd    // by LP: its unfinished call; Rank is None for none. nil if the observer hears no ends
	began    []vtime.Time // by LP: the beginning heard last; nil likewise
	begin    CallBegin    // scratch
}

// observe attaches an observer to the engine's ranks. An observer that hears no ends of calls costs no memory for each
// rank.
func (k *Kernel) observe(o Observer, ends bool) {
	k.hearing = hearing{observer: o, recorder: k.hearing.recorder}
	k.messages.InFull()
	if !ends {
		return
	}
	k.hearing.open, k.hearing.began = make([]CallEnd, k.partition.Ranks), make([]vtime.Time, k.partition.Ranks)
	for lp := range k.hearing.open {
		k.hearing.open[lp].Rank = world.None
	}
}

// submitObserved is Submit for an observer.
func (k *Kernel) submitObserved(lp int32, q *Call) (complete bool) {
	h := &k.hearing
	if !k.InParts(lp) { // else the call has begun before
		if h.recorder != nil {
			h.recorder.Enters(lp, q)
		}
		k.describeCall(lp, q)
		k.begins(lp)
	}
	begins := h.recorder != nil && q.beginsRequest()
	if b := &k.messages.Completion; b.LP == lp {
		b.LP = world.None // of the previous call
	}
	h.inCall = true
	complete = k.Submit(lp, q)
	h.inCall = false
	if complete {
		if b := &k.messages.Completion; begins && b.Err == nil {
			b.Request, _ = k.messages.OwnRequest(lp, b.Request, h.begin.Procedure)
		}
		k.leaves(lp)
		k.ends(lp)
	}
	return complete
}

// beginsRequest reports whether a call begins an operation, which has a request.
func (q *Call) beginsRequest() bool {
	switch q.Procedure.Class() {
	case world.ClassSend, world.ClassReceive, world.ClassSendReceive:
		return !q.Procedure.Blocks()
	case world.ClassCollective, world.ClassNeighborhood, world.ClassCommunicator, world.ClassTopology:
		return q.nonblocking
	}
	return false
}

// leaves reports the outcome of an LP's call to the recorder.
func (k *Kernel) leaves(lp int32) {
	if k.hearing.recorder != nil {
		k.hearing.recorder.Leaves(lp, &k.messages.Completion)
	}
}

// describeCall stores the description of a call for the observer.
func (k *Kernel) describeCall(lp int32, q *Call) {
	b := &k.hearing.begin
	*b = CallBegin{Rank: int(k.partition.Global(lp)), Procedure: q.Procedure}
	class := q.Procedure.Class()
	if class != world.ClassWait && class != world.ClassTest && class != world.ClassRequest && q.Comm != nil {
		b.Context = q.Comm.Context
	}
	if p := q.persistent; q.Procedure == world.Start && p != nil {
		b.Refused = k.refuses(lp, q)
		side := Envelope{Member: p.Peer, Tag: p.Tag, Bytes: int64(len(p.Buffer)), Present: true}
		if p.Procedure == world.Irecv {
			b.Received = side
		} else {
			b.Sent = side
		}
		return
	}
	switch class {
	case world.ClassSend, world.ClassSendReceive:
		o := &q.Outgoing
		b.Sent = Envelope{Member: o.Dest, Tag: o.Tag, Bytes: o.Bytes, Present: true}
	}
	switch class {
	case world.ClassReceive, world.ClassSendReceive, world.ClassProbe:
		v := &q.Incoming
		b.Received = Envelope{Member: v.Source, Tag: v.Tag, Bytes: v.Bytes, Present: true}
	case world.ClassCollective, world.ClassCommunicator, world.ClassTopology, world.ClassIntercommunicator:
		b.Nonblocking = q.nonblocking
		if v := q.collective; v != nil && q.Procedure != world.CommFree {
			b.Root, b.Bytes = v.Root, v.Bytes
		}
	case world.ClassNeighborhood:
		b.Nonblocking = q.nonblocking
	}
	switch b.Refused = k.refuses(lp, q); {
	case b.Refused:
	case class == world.ClassCollective:
		b.Handed = q.communicator.Handed(int(q.Member), q.collective)
	case class == world.ClassNeighborhood:
		b.Handed = q.handed()
	}
}

// refuses reports whether the arguments of a call that sends a message, or of a collective, are in error.
func (k *Kernel) refuses(lp int32, q *Call) bool {
	switch q.Procedure.Class() {
	case world.ClassSend:
		return k.checkSend(lp, q) != nil
	case world.ClassSendReceive:
		return k.checkSendrecv(lp, q) != nil
	case world.ClassRequest:
		return q.Procedure == world.Start && k.refusesStart(lp, q)
	case world.ClassCollective:
		return q.err != nil || q.communicator.Check(q.collective) != nil
	case world.ClassNeighborhood:
		return q.checkExchange() != nil
	}
	return false
}

// begins reports the call in hearing.begin as begun at the LP's clock, once the clock includes all
// operations that the LP has started.
func (k *Kernel) begins(lp int32) {
	h := &k.hearing
	if h.open != nil {
		h.open[lp] = CallEnd{Rank: h.begin.Rank, Procedure: h.begin.Procedure, For: world.None}
	}
	if k.messages.Behind(lp) {
		b := h.begin
		k.messages.After(lp, func() { k.beginsAt(lp, &b) })
		return
	}
	k.beginsAt(lp, &h.begin)
}

func (k *Kernel) beginsAt(lp int32, b *CallBegin) {
	b.Time = k.partition.Clock[lp]
	if k.hearing.began != nil {
		k.hearing.began[lp] = b.Time
	}
	k.hearing.observer.Begins(b)
}

// ends reports the call of an LP as over at the LP's clock, once the clock includes all operations
// that the LP has started.
func (k *Kernel) ends(lp int32) {
	if k.hearing.open == nil {
		return
	}
	e := &k.hearing.open[lp]
	b := &k.messages.Completion
	switch own := b.LP == lp; e.Procedure.Class() {
	case world.ClassSend, world.ClassReceive, world.ClassSendReceive, world.ClassWait, world.ClassTest, world.ClassProbe:
		if own {
			e.Ready, e.For = k.messages.EndedBy(lp, e.Procedure)
			e.Err = b.Err
		}
	case world.ClassLocal:
	default:
		e.Ready = vtime.Forever // the end of a collective
		if own {
			e.Err = b.Err
		}
	}
	if !k.messages.Behind(lp) {
		k.endsAt(lp, e)
		return
	}
	later := *e
	e.Rank = world.None
	k.messages.After(lp, func() { k.endsAt(lp, &later) })
}

func (k *Kernel) endsAt(lp int32, e *CallEnd) {
	e.Began, e.Ended = k.hearing.began[lp], k.partition.Clock[lp]
	if e.Ready = min(e.Ready, e.Ended); e.Ready <= e.Began {
		e.Ready, e.For = e.Began, world.None
	}
	k.hearing.observer.Ends(e)
	e.Rank = world.None
}

// resumes reports the call in which an LP has waited, if any, as over.
func (k *Kernel) resumes(lp int32) {
	if k.hearing.open != nil && k.hearing.open[lp].Rank != world.None && !k.InParts(lp) {
		k.leaves(lp)
		k.ends(lp)
	}
}

// computes reports a phase of computing.
func (k *Kernel) computes(lp int32, d vtime.Duration) error {
	if k.hearing.recorder != nil {
		k.hearing.recorder.Computes(lp, d)
	}
	k.hearing.begin = CallBegin{Rank: int(k.partition.Global(lp)), Procedure: world.Compute, Length: d}
	k.begins(lp)
	err := k.messages.Compute(lp, d, world.Compute)
	switch {
	case err == nil:
		k.ends(lp)
	case k.hearing.open != nil:
		k.hearing.open[lp].Rank = world.None
	}
	return err
}

// sums is the observer of Config.Activities: it adds up the statistics of `run --stats`, in the summary of the
// engine's ranks. It hears no ends.
type sums struct{ *world.Summary }

// Begins counts the message that a call sends, and the bytes that a rank hands to a collective.
func (s sums) Begins(b *CallBegin) {
	if b.Refused {
		return
	}
	if b.Sent.Present && b.Sent.Member != world.ProcNull {
		s.Sent.Note(b.Sent.Bytes)
	}
	switch b.Procedure.Class() {
	case world.ClassCollective, world.ClassNeighborhood:
		s.Handed.Note(b.Handed)
	}
}

func (sums) Ends(*CallEnd) {}

func (s sums) Note(a Activity, d vtime.Duration) { s.Activities.Note(a, d) }

// both is an observer that forwards to two observers.
type both struct{ first, second Observer }

func (o both) Begins(b *CallBegin) { o.first.Begins(b); o.second.Begins(b) }

func (o both) Ends(e *CallEnd) { o.first.Ends(e); o.second.Ends(e) }

func (o both) Note(a Activity, d vtime.Duration) { o.first.Note(a, d); o.second.Note(a, d) }
