package kernel

import (
	"gigarank/mpivirt/internal/p2p"
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

// Recorder hears each call of the ranks of one engine with all its arguments, and its outcome, in the order of the rank's program.
// A call that fails the rank, or that a deadlock holds, is not left. While a recorder hears the calls, each operation that begins
// has a request of its own. Calls in short forms, which need no [Call], have methods of their own.
type Recorder interface {
	// Records hears the kernel whose calls it hears, before the first of them.
	Records(k *Kernel)
	// Enters hears a call as the rank hands it in. The call is valid during Enters.
	Enters(lp int32, q *Call)
	// Leaves hears the outcome of the call that the rank has entered. It is also called for ranks that are in no call.
	Leaves(lp int32, b *Completion)
	// EntersBarrier hears that a rank enters a blocking barrier, which it leaves as any call.
	EntersBarrier(lp int32, c *Communicator)
	// Sends and Receives hear a standard send on WORLD, and a blocking receive on WORLD from a member, with a tag and of any length, that are
	// over at once. They are not left.
	Sends(lp int32, bytes int64, dest, tag int)
	Receives(lp int32, source, tag int)
	// Computes hears a phase of computing, without noise.
	Computes(lp int32, d vtime.Duration)
	// BeginsPhase hears that a rank ends its phase and begins the one with a name, none if the name is empty.
	BeginsPhase(lp int32, name string)
	// Duplicates hears that a rank makes the local duplicate of a communicator that has a number.
	Duplicates(lp int32, c, duplicate *Communicator, number int32)
	// Merges hears that a rank makes the communicator of both groups of an intercommunicator that has a number.
	Merges(lp int32, c, merged *Communicator, number int32, localFirst bool)
	// Prefetch prefetches what it keeps of an LP that is soon to be heard.
	Prefetch(lp int32)
	// Finishes hears that a rank has come to the end of its program.
	Finishes(lp int32)
}

// Receiver is an observer that also hears each message point to point that a rank receives, once its receive is complete. Messages
// are heard if [Config] counts activities.
type Receiver interface {
	Observer
	// Records hears the kernel of the engine, before the first call.
	Records(k *Kernel)
	// Receives hears a message.
	Receives(r *Received)
	// Departs hears the end of a nonblocking send that was not complete at once.
	Departs(d *Departed)
}

// Gatherer is an observer with a report for host process 0, if there are several. It reports once the run is over, also of an engine that the
// watchdog has given up.
type Gatherer interface {
	Observer
	// Report returns the report of the engine.
	Report() []byte
	// Gathers hears the report of an engine of another process, in the order of engines. It is called on engine 0.
	Gathers(report []byte)
}

// Received is a message that a rank has received.
type Received = p2p.Received

// Departed is the end of a nonblocking send that has waited for its receiver.
type Departed = p2p.Departed

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
	Dest        int            // rank in WORLD of the receiver of the message sent; None for no message
	Received    Envelope       // of a receive or probe; the receive of a Sendrecv
	Root        int            // of a collective
	Bytes       int64          // of a collective: the size of the vector, or of one block
	Handed      int64          // of a collective: the bytes that the rank contributes to it
	Obtained    int64          // of a collective: the bytes that the rank gets from it
	Idle        bool           // a wait or test without an active request
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
	Context      uint64 // of the communicator, as at the beginning
	Bytes        int64  // that the call sends, receives or hands to a collective
	Began, Ended vtime.Time
	Ready        vtime.Time // instant at which all that the call needs had arrived; Began if that was before
	For          int        // if the rank waited: the rank whose message arrived last, [world.None] for no message
	Err          error      // MPI's error of the call

	// If [Config] counts activities: why the time has passed, the activities of the process, and the chain by which the operation
	// ends that the rank has waited for.
	Causes  stats.Causes
	Phases  stats.Phases
	From    vtime.Time   // instant from which on the call could wait; Ended if it could not
	Chained bool         // Chain is known
	Waited  bool         // for the chain: it was there later than the call could wait
	Chain   stats.Chain  // of the operation that ends the call
	There   vtime.Time   // instant at which the chain was there
	Busy    Cause        // of the time for which other messages have delayed the chain between nodes
	Idle    bool         // a wait or test without an active request
	Blames  stats.Blames // for whom the call has waited
	site    stats.Site   // from which the program has made the call, if places of calls are kept
	sender  stats.Site   // likewise, the send of the message for which the call has waited; 0 for none
}

// InOrder passes the parts of a call to a function in the order in which they pass: its processor until it can wait, the causes of waiting, between
// them the processor of others, and its processor at the end.
func (e *CallEnd) InOrder(part func(cause Cause, d vtime.Duration)) {
	lead, tail := e.ends()
	e.Causes.InOrder(lead, tail, part)
}

// ends returns the time for which the processor works until a call can wait, and that at its end.
func (e *CallEnd) ends() (lead, tail vtime.Duration) {
	processor := e.Causes[stats.Processor]
	lead = min(e.From.Sub(e.Began), processor)
	if e.Chained {
		tail = min(max(e.Ended.Sub(max(e.There, e.From)), 0), processor-lead)
	}
	return lead, tail
}

// hearing is a kernel's state for its observer.
type hearing struct {
	observer Observer               // nil for none
	recorder Recorder               // nil for none
	siter    Siter                  // the body, if places of calls are kept; nil else
	sites    world.Beside[Site]     // by LP: of its latest call
	handed   Site                   // of the call that the engine submits for the running LP; 0 if the LP submits itself
	gatherer Gatherer               // the observer, or a part of it; nil if it is none
	hears    bool                   // there is an observer or a recorder
	inCall   bool                   // a call is submitted: calls that are parts of it are not heard
	sums     *sums                  // the observer, if it is the statistics alone
	open     world.Beside[openCall] // by LP: its unfinished call
	opened   int                    // number of unfinished calls
	low      int32                  // no lower LP has begun a call since there was no unfinished call
	high     int32                  // likewise, no higher one
	begin    CallBegin              // scratch
	end      CallEnd                // scratch
	why      reason                 // scratch
}

// openCall is the unfinished call of an LP.
type openCall struct {
	began     vtime.Time // the beginning heard last
	context   uint64
	bytes     int64
	procedure world.Procedure
	large     bool // it sends a message above the eager limit
	open      bool
	idle      bool // it waits for no request, or tests none: some kinds of rank answer that by themselves
}

// observe attaches an observer to the engine's ranks.
func (k *Kernel) observe(o Observer) {
	k.hearing = hearing{observer: o, gatherer: k.hearing.gatherer, hears: true}
	k.messages.InFull()
}

// observeSums has the statistics observe alone: they need not hear each call in full.
func (k *Kernel) observeSums() {
	if s, alone := k.hearing.observer.(*sums); alone && !k.Sited() && k.config.Recorder == nil && k.messages.Processors == nil && !k.messages.InCalls {
		k.hearing.sums = s
		k.collectives.SumsUp((*calls)(k))
		k.messages.SumsUp()
	}
}

// hearsEach reports whether an observer hears each call in full.
func (h *hearing) hearsEach() bool { return h.observer != nil && h.sums == nil }

// calls are the kernel's unfinished calls, for [coll.Calling].
type calls Kernel

// Closes implements [coll.Calling].
func (k *calls) Closes(lp int32) bool {
	o := k.hearing.open.Peek(lp)
	if o == nil || !o.open {
		return false
	}
	o.open = false
	k.hearing.opened--
	return true
}

// Reopens implements [coll.Calling].
func (k *calls) Reopens(lp int32, began vtime.Time, c world.Procedure, context uint64) {
	if o := k.hearing.open.Open(lp); !o.open {
		*o = openCall{began: began, context: context, procedure: c, open: true}
		k.hearing.opens(lp)
	}
}

// opens notes that an LP has one more unfinished call.
func (h *hearing) opens(lp int32) {
	if h.opened == 0 {
		h.low, h.high = lp, lp
	}
	h.low, h.high = min(h.low, lp), max(h.high, lp)
	h.opened++
}

// hasOpen reports whether one of consecutive LPs has an unfinished call.
func (h *hearing) hasOpen(lo, hi int32) bool {
	if h.opened == 0 {
		return false
	}
	for lp := max(lo, h.low); lp < min(hi, h.high+1); lp++ {
		if o := h.open.Peek(lp); o != nil && o.open {
			return true
		}
	}
	return false
}

// submitHeard is Submit for an observer or a recorder.
func (k *Kernel) submitHeard(lp int32, q *Call) (complete bool) {
	h := &k.hearing
	if h.observer == nil {
		return k.submitRecorded(lp, q)
	}
	if h.sums != nil && !k.InParts(lp) {
		if heard, complete := k.submitSummed(lp, q); heard {
			return complete
		}
	}
	if !k.InParts(lp) { // else the call has begun before
		if h.recorder != nil {
			h.recorder.Enters(lp, q)
		}
		k.describeCall(lp, q)
		k.begins(lp)
	} else if b := &k.messages.Completion; b.LP == lp && len(b.Completed) > 0 && k.messages.Explains() {
		k.collectives.PartEnds(lp, k.messages.EndedBy(lp, q.Procedure))
	}
	begins := h.recorder != nil && q.beginsRequest()
	if b := &k.messages.Completion; b.LP == lp {
		b.LP = world.None // of the previous call, or part
	}
	k.collectives.Handed = h.begin.Handed
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
	*b = CallBegin{Rank: int(k.partition.Global(lp)), Procedure: q.Procedure, Dest: world.None}
	class := q.Procedure.Class()
	b.Idle = k.isInactive(lp, q)
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
			k.describeDest(lp, q)
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
	case b.Sent.Present:
		k.describeDest(lp, q)
	case class == world.ClassCollective:
		b.Handed = q.communicator.Handed(int(q.Member), q.collective, q.lengths)
		b.Obtained = q.communicator.Obtained(int(q.Member), q.collective, q.lengths)
	case class == world.ClassNeighborhood:
		b.Handed = q.handed()
	}
}

// describeDest stores the receiver of the message that a call sends for the observer.
func (k *Kernel) describeDest(lp int32, q *Call) {
	if b := &k.hearing.begin; !b.Refused && b.Sent.Member != world.ProcNull {
		b.Dest = q.Comm.Peers().RankOf(b.Sent.Member, k.partition.Global(lp))
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
	h, b := &k.hearing, &k.hearing.begin
	o := h.open.Open(lp)
	if !o.open {
		h.opens(lp)
	}
	*o = openCall{
		began: o.began, procedure: b.Procedure, context: b.Context, bytes: b.bytes(), large: b.Sent.Bytes > k.partition.EagerLimit, open: true, idle: b.Idle,
	}
	if h.siter != nil && b.Procedure != world.Compute {
		site := h.handed
		if h.handed = 0; site == 0 {
			site = h.siter.Site(lp)
		}
		*h.sites.Open(lp) = site
	}
	k.collectives.Begins(lp)
	if k.messages.Behind(lp) {
		b := h.begin
		k.messages.After(lp, func() { k.beginsAt(lp, &b) })
		return
	}
	k.beginsAt(lp, &h.begin)
}

// bytes returns the bytes of the message that a call sends, or that a rank hands to a collective.
func (b *CallBegin) bytes() int64 {
	switch {
	case b.Refused:
		return 0
	case b.Sent.Present && b.Sent.Member != world.ProcNull:
		return b.Sent.Bytes
	}
	return b.Handed
}

func (k *Kernel) beginsAt(lp int32, b *CallBegin) {
	b.Time = k.partition.Clock[lp]
	k.hearing.open.Open(lp).began = b.Time
	k.hearing.observer.Begins(b)
}

// ends reports the call of an LP as over at the LP's clock, once the clock includes all operations
// that the LP has started.
func (k *Kernel) ends(lp int32) {
	o := k.hearing.open.Open(lp)
	if o.open {
		k.hearing.opened--
	}
	o.open = false
	e, why := &k.hearing.end, &k.hearing.why
	*e = CallEnd{Rank: int(k.partition.Global(lp)), Procedure: o.procedure, Context: o.context, Bytes: o.bytes, For: world.None, Idle: o.idle}
	if k.hearing.siter != nil {
		e.site = *k.hearing.sites.Open(lp)
	}
	*why = reason{large: o.large}
	k.findEnd(lp, e, why)
	if !k.messages.Behind(lp) {
		k.endsAt(lp, e, why)
		return
	}
	k.endsLater(lp, *e, *why)
}

// endsLater reports a call as over once all operations that its LP has started have begun.
func (k *Kernel) endsLater(lp int32, e CallEnd, why reason) {
	k.messages.After(lp, func() { k.endsAt(lp, &e, &why) })
}

// findEnd stores what has ended a call of an LP, apart from the instant.
func (k *Kernel) findEnd(lp int32, e *CallEnd, why *reason) {
	b := &k.messages.Completion
	own := b.LP == lp
	class := e.Procedure.Class()
	if class == world.ClassLocal {
		return
	}
	if own {
		e.Err = b.Err
	}
	switch class {
	case world.ClassSend, world.ClassReceive, world.ClassSendReceive, world.ClassWait, world.ClassTest, world.ClassProbe:
		if !own {
			return
		}
		ended := k.messages.EndedBy(lp, e.Procedure)
		e.Ready, e.For = ended.At, ended.Rank
		if e.Procedure.Blocks() && (class == world.ClassReceive || class == world.ClassSendReceive) {
			e.Bytes += k.messages.StatusOf(b).Bytes
		}
		if k.messages.Explains() {
			k.messages.EndingOf(lp, ended, &why.ending)
			e.sender = k.messages.SentFrom(ended)
		}
	default:
		e.Ready = vtime.Forever // the end of a collective
		switch {
		case !k.messages.Explains():
		case own && len(b.Completed) > 0: // messages with named members
			ended := k.messages.EndedBy(lp, e.Procedure)
			k.messages.EndingOf(lp, ended, &why.ending)
			e.sender = k.messages.SentFrom(ended)
		default:
			ending, phases := k.collectives.EndingOf(lp)
			why.ending, e.Phases, why.collective = *ending, *phases, true
		}
	}
}

// reason is why a call has taken its time.
type reason struct {
	ending     stats.Ending
	collective bool // a collective, whose end is that of the call
	large      bool // the call sends a message above the eager limit
}

func (k *Kernel) endsAt(lp int32, e *CallEnd, why *reason) {
	e.Began, e.Ended = k.hearing.open.Open(lp).began, k.partition.Clock[lp]
	if e.Ready = min(e.Ready, e.Ended); e.Ready <= e.Began {
		e.Ready, e.For = e.Began, world.None
	}
	if k.messages.Explains() {
		why.causes(e)
		if k.messages.Blames() {
			k.messages.Waiter(lp).Blame(&why.ending, e.Began, e.Ended, &e.Blames)
		}
		why.phases(e)
		why.chain(e)
	}
	k.hearing.observer.Ends(e)
}

// causes divides the time of a call among causes.
func (why *reason) causes(e *CallEnd) {
	switch {
	case e.Ended == e.Began:
		return
	case e.Procedure.Class() == world.ClassLocal:
		e.Causes[stats.Computing] = e.Ended.Sub(e.Began)
		return
	case why.collective:
		why.ending.Ready = e.Ended
	}
	why.ending.Split(e.Began, e.Ended, &e.Causes)
}

// chain stores the chain of the operation that ends a call.
func (why *reason) chain(e *CallEnd) {
	e.From = e.Ended
	if w := &why.ending; w.Known && w.Ready <= e.Ended {
		e.From = min(max(w.From, e.Began), e.Ended)
		e.Chained, e.Chain, e.There, e.Busy = true, w.Chain, w.Ready, w.Busy()
		e.Waited = w.Ready > max(e.Began, w.From)
	}
}

// phases divides the time of a call among the activities of a process.
func (why *reason) phases(e *CallEnd) {
	took := e.Ended.Sub(e.Began)
	if took == 0 {
		e.Phases = stats.Phases{}
		return
	}
	class := e.Procedure.Class()
	if class == world.ClassLocal || why.collective && !why.ending.Known {
		e.Phases = stats.Phases{}
		e.Phases[stats.SequentialComputation] = took
		return
	}
	start := min(max(why.ending.From.Sub(e.Began), 0), took) // the starting phase
	switch {
	case why.collective: // they are those of the collective
	case class == world.ClassReceive && e.Ready <= e.Began:
		e.Phases[stats.DataReceiving] = took
	case class == world.ClassSend || class == world.ClassSendReceive:
		sends := stats.DataSending
		if why.large {
			sends = stats.RequestSending
		}
		if !why.ending.Known { // no wait
			start = took
		}
		e.Phases[sends] = start
	case class == world.ClassNeighborhood:
		e.Phases[stats.DataSending] = start
	}
	e.Phases.Fill(took)
}

// resumes reports the call in which an LP has waited, if any, as over.
func (k *Kernel) resumes(lp int32) {
	switch h := &k.hearing; {
	case k.InParts(lp):
	case h.observer == nil:
		h.recorder.Leaves(lp, &k.messages.Completion)
	case h.hasOpen(lp, lp+1):
		k.leaves(lp)
		k.ends(lp)
	}
}

// computes reports a phase of computing.
func (k *Kernel) computes(lp int32, d vtime.Duration) error {
	if s := k.hearing.sums; s != nil {
		began := k.partition.Clock[lp]
		err := k.messages.Compute(lp, d, world.Compute)
		if err == nil {
			took := k.partition.Clock[lp].Sub(began)
			s.Calls.Phases().NoteOne(stats.SequentialComputation, took)
			s.Calls.Compute(lp, began, took)
		}
		return err
	}
	k.hearing.begin = CallBegin{Rank: int(k.partition.Global(lp)), Procedure: world.Compute, Dest: world.None, Length: d}
	k.begins(lp)
	err := k.messages.Compute(lp, d, world.Compute)
	switch {
	case err == nil:
		k.ends(lp)
	default:
		k.hearing.open.Open(lp).open = false
		k.hearing.opened--
	}
	return err
}

// both is an observer that forwards to two observers.
type both struct{ first, second Observer }

func (o both) Begins(b *CallBegin) { o.first.Begins(b); o.second.Begins(b) }

func (o both) Ends(e *CallEnd) { o.first.Ends(e); o.second.Ends(e) }

func (o both) Note(a Activity, d vtime.Duration) { o.first.Note(a, d); o.second.Note(a, d) }
