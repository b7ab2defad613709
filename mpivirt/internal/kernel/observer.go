package kernel

import (
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Observer hears what the ranks of one engine do: each call begin and end, and each activity that virtual time goes
// into. Statistics, timelines and recordings are observers. The goroutine that runs the engine calls it, in the order of
// the host: an observer sorts by time and rank if it needs that order. The values are valid during the call only.
//
// An observed rank makes each call in full, without the short forms, so that each call is heard. Virtual times and
// bytes are the same. What an engine hears of its ranks' calls is the same for any number of engines; an activity of a
// message is heard by the engine that works out its time.
type Observer interface {
	// Begins hears that a rank begins a call.
	Begins(b *CallBegin)
	// Ends hears that a call of a rank is over. A call that fails the rank, or that a deadlock holds, has no end.
	Ends(e *CallEnd)
	// Note hears that an activity takes so long. Activities are heard if [Config] has them counted; collectives then go by
	// messages.
	Note(a Activity, d vtime.Duration)
}

// Activity is what virtual time goes into.
type Activity = stats.Activity

// CallBegin is a call of a rank that begins.
type CallBegin struct {
	Rank        int // in WORLD
	Time        vtime.Time
	Procedure   world.Procedure
	Nonblocking bool           // a collective in its nonblocking form
	Context     uint64         // of the communicator; [world.NoContext] for a call without one
	Sent        Envelope       // of a send, of both sides of a Sendrecv
	Received    Envelope       // of a receive or probe, likewise
	Root        int            // of a collective
	Bytes       int64          // of a collective: the vector, or one block
	Length      vtime.Duration // of Compute, without noise
}

// Envelope is the other side of a message: a member of the communicator, or a wildcard, and the tag. Bytes are those of
// the message, or of the room for it.
type Envelope struct {
	Member, Tag int
	Bytes       int64
	Present     bool // the call has such a side
}

// CallEnd is the end of a call.
type CallEnd struct {
	Rank         int // in WORLD
	Procedure    world.Procedure
	Began, Ended vtime.Time
	Ready        vtime.Time // until when the rank waited: all was there that the call needs; Began if that was so before
	For          int        // if the rank waited: the rank whose message was there last, [world.None] for no message
	Err          error      // MPI's error of the call
}

// hearing is what a kernel keeps for its observer.
type hearing struct {
	observer Observer     // nil for none
	inCall   bool         // a call is submitted: the calls that it is made of are not heard
	open     []CallEnd    // by LP: its call, if that is not over; its rank is None if there is none
	began    []vtime.Time // by LP: the begin heard last
	begin    CallBegin    // scratch
}

// observe has an observer hear the engine's ranks.
func (k *Kernel) observe(o Observer) {
	k.hearing = hearing{observer: o, open: make([]CallEnd, k.partition.Ranks), began: make([]vtime.Time, k.partition.Ranks)}
	for lp := range k.hearing.open {
		k.hearing.open[lp].Rank = world.None
	}
	k.messages.InFull()
}

// submitObserved is Submit for an observer.
func (k *Kernel) submitObserved(lp int32, q *Call) (complete bool) {
	h := &k.hearing
	if !k.InParts(lp) { // else it has begun before
		k.describeCall(lp, q)
		k.begins(lp)
	}
	if b := &k.messages.Completion; b.LP == lp {
		b.LP = world.None // of the call before
	}
	h.inCall = true
	complete = k.Submit(lp, q)
	h.inCall = false
	if complete {
		k.ends(lp)
	}
	return complete
}

// describeCall stores what is to be heard of a call.
func (k *Kernel) describeCall(lp int32, q *Call) {
	b := &k.hearing.begin
	*b = CallBegin{Rank: int(k.partition.Global(lp)), Procedure: q.Procedure}
	class := q.Procedure.Class()
	if class != world.ClassWait && class != world.ClassTest && class != world.ClassRequest && q.Comm != nil {
		b.Context = q.Comm.Context
	}
	if p := q.persistent; q.Procedure == world.Start && p != nil {
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
	}
}

// begins has the call in hearing.begin begin at the LP's clock, once that includes the operations that the LP has started.
func (k *Kernel) begins(lp int32) {
	h := &k.hearing
	h.open[lp] = CallEnd{Rank: h.begin.Rank, Procedure: h.begin.Procedure, For: world.None}
	if k.messages.Behind(lp) {
		b := h.begin
		k.messages.After(lp, func() { k.beginsAt(lp, &b) })
		return
	}
	k.beginsAt(lp, &h.begin)
}

func (k *Kernel) beginsAt(lp int32, b *CallBegin) {
	b.Time = k.partition.Clock[lp]
	k.hearing.began[lp] = b.Time
	k.hearing.observer.Begins(b)
}

// ends has the call of an LP be over at its clock, once that includes the operations that the LP has started.
func (k *Kernel) ends(lp int32) {
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
		e.Ready = vtime.Forever // a collective's end
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

// resumes has the call of an LP be over in which it has waited, if it has.
func (k *Kernel) resumes(lp int32) {
	if k.hearing.open[lp].Rank != world.None && !k.InParts(lp) {
		k.ends(lp)
	}
}

// computes has a phase of computing heard.
func (k *Kernel) computes(lp int32, d vtime.Duration) error {
	k.hearing.begin = CallBegin{Rank: int(k.partition.Global(lp)), Procedure: world.Compute, Length: d}
	k.begins(lp)
	if err := k.messages.Compute(lp, d); err != nil {
		k.hearing.open[lp].Rank = world.None
		return err
	}
	k.ends(lp)
	return nil
}

// sums is the observer of Config.Activities: it sums the activities up.
type sums struct{ *stats.Activities }

func (sums) Begins(*CallBegin) {}

func (sums) Ends(*CallEnd) {}

// both is two observers.
type both struct{ first, second Observer }

func (o both) Begins(b *CallBegin) { o.first.Begins(b); o.second.Begins(b) }

func (o both) Ends(e *CallEnd) { o.first.Ends(e); o.second.Ends(e) }

func (o both) Note(a Activity, d vtime.Duration) { o.first.Note(a, d); o.second.Note(a, d) }
