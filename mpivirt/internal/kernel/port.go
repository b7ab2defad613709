package kernel

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// The methods of the rooms below that kinds of rank may call. A kind knows the kernel and the
// vocabulary of room world; kinds_test.go lists the names that a kind may use, and fails when a
// kind uses another name. The kernel stays a struct: behind a Go interface the calls of a barrier's
// ranks would not be inlined. The methods here reach the rooms by value and not by the kernel's
// pointers, which cost event ranks in a barrier 4 % of their instructions.

// Collectives and communicators.

// Barrier returns the arguments of Barrier, the same for all calls.
func (k *Kernel) Barrier() *Collective { return &k.collectives.Barrier }

// Timing returns the label under which the running LP's next collective is timed.
func (k *Kernel) Timing() int32 { return k.collectives.Timing }

// SetTiming sets the label of the running LP's next collective, [world.Untimed] for none; see Label.
func (k *Kernel) SetTiming(label int32) { k.collectives.Timing = label }

// Joiners returns the consecutive LPs that are about to enter one barrier together.
func (k *Kernel) Joiners() *coll.Joiners { return &k.collectives.Joiners }

// Combining returns the LP in whose call an operator is applied, and the number of vectors that lie
// one behind another in Apply's into; 0 if Apply combines left and right.
func (k *Kernel) Combining() (lp int32, vectors int) {
	return k.collectives.Combining, k.collectives.Row
}

// Blank is Prepare for a call without arguments. The caller, whose stack may be small, sets the
// arguments one by one.
func (k *Kernel) Blank(name world.Procedure, op collectives.Operation) *Collective {
	return k.collectives.Blank(name, op)
}

// CollectJoiners begins to collect joiners from an LP on, if a barrier can take them.
func (k *Kernel) CollectJoiners(lp int32) {
	if k.shortBarriers() {
		k.collectives.CollectJoiners(lp)
	}
}

// Communicator returns the communicator with an index, the freed communicator if it has been freed.
func (k *Kernel) Communicator(index int32) *Communicator { return k.collectives.Communicator(index) }

// Membership returns the communicator that has a context, with the text that says how it was made; nil if the engine has none.
func (k *Kernel) Membership(context uint64) (c *Communicator, name string) {
	index, known := k.partition.Contexts[context]
	if !known || context == world.NoContext {
		return nil, ""
	}
	c = k.collectives.Communicator(index)
	return c, k.madeText(&c.Comm)
}

// Create returns the collective that makes communicators of subgroups. A rank passes the group to
// which it belongs.
func (k *Kernel) Create(parent, g *world.Group, rank int) (*Collective, error) {
	return k.collectives.Create(parent, g, rank)
}

// CreateGroup returns the collective by which only the members of a subgroup make its communicator,
// and the communicator on which they carry this collective out. The latter is a function of parent,
// group and tag, so members make it without a message.
func (k *Kernel) CreateGroup(c *Communicator, g *world.Group, tag int, lp int32) (*Communicator, *Collective, error) {
	return k.collectives.CreateGroup(c, g, tag, lp)
}

// CreateGroupAs is CreateGroup where the communicator of the collective is known by its context, among ranks of WORLD.
func (k *Kernel) CreateGroupAs(context uint64, g *world.Group, lp int32) (*Communicator, *Collective, error) {
	return k.collectives.CreateGroupAs(context, g, lp)
}

// Dup returns the collective that makes a communicator of the same group.
func (k *Kernel) Dup(g *world.Group) *Collective { return k.collectives.Dup(g) }

// DupInter returns the duplicate of an intercommunicator that has a number. All members make equal
// duplicates, without a message.
func (k *Kernel) DupInter(lp int32, c *Communicator, number int32) *Communicator {
	return k.duplicated(lp, c, k.collectives.DupInter(c, number), number)
}

// duplicated tells the recorder of a local duplicate, and returns it.
func (k *Kernel) duplicated(lp int32, c, duplicate *Communicator, number int32) *Communicator {
	if k.hearing.recorder != nil {
		k.hearing.recorder.Duplicates(lp, c, duplicate, number)
	}
	return duplicate
}

// EnterBarrier enters a member into a blocking barrier that is under way, by a counter or over
// arrays. It is the short form of Enter for the commonest case, and returns false in all other
// cases.
func (k *Kernel) EnterBarrier(lp int32, c *Communicator, member int) bool {
	if !k.shortBarriers() || !k.collectives.EnterBarrier(lp, c, member) {
		return false
	}
	if k.hearing.recorder != nil {
		k.hearing.recorder.EntersBarrier(lp, c)
	}
	return true
}

// shortBarriers reports whether ranks may enter barriers without a call that is observed, paced or launched.
func (k *Kernel) shortBarriers() bool {
	return !k.hearing.hearsEach() && !k.messages.InCalls && !k.collectives.Launches()
}

// EnterJoiners enters the collected joiners. Until then their clocks stand at their entries, and
// nothing reads the instance.
func (k *Kernel) EnterJoiners() {
	if k.hearing.recorder != nil {
		k.joinersEnter()
	}
	k.collectives.EnterJoiners()
}

// GroupOf returns the group of a communicator for an LP that is a member.
func (k *Kernel) GroupOf(c *Communicator, lp int32) *world.Group { return k.collectives.GroupOf(c, lp) }

// Merge returns the communicator of both groups of an intercommunicator that has a number.
// localFirst puts the local group first. All members make equal communicators, without a message.
func (k *Kernel) Merge(lp int32, c *Communicator, number int32, localFirst bool) *Communicator {
	merged := k.collectives.Merge(c, number, localFirst)
	if k.hearing.recorder != nil {
		k.hearing.recorder.Merges(lp, c, merged, number, localFirst)
	}
	return merged
}

// NewComm returns the communicator of a color that the latest collective on another communicator
// has made; nil for none. Without colors, color is the first rank of the group, or 0.
func (k *Kernel) NewComm(lp int32, c *Communicator, color int) *Communicator {
	return k.collectives.NewComm(lp, c, color)
}

// Prepare stores the arguments of an LP's collective and returns them. The LPs of an engine share
// the memory: the caller submits the call before another LP runs.
func (k *Kernel) Prepare(v Collective) *Collective { return k.collectives.Prepare(v) }

// SharedResult returns the result of an LP's latest allreduce, in memory that all members share.
func (k *Kernel) SharedResult(lp int32, c *Communicator) []byte {
	return k.collectives.SharedResult(lp, c)
}

// Sized returns a collective of elements of a number of bytes, whose data have a size only.
func (k *Kernel) Sized(op collectives.Operation, bytes, element int64, root int) (*Collective, error) {
	return k.collectives.Sized(op, bytes, element, root)
}

// Split returns the collective that splits a communicator.
func (k *Kernel) Split(color, key int) (*Collective, error) { return k.collectives.Split(color, key) }

// Token returns a number that no rank has had before, for the contexts of an intercommunicator.
func (k *Kernel) Token(lp int32) uint64 { return k.collectives.Token(lp) }

// LocalDuplicate returns the local duplicate of a communicator that has a number. All members make equal
// duplicates, without a message.
func (k *Kernel) LocalDuplicate(lp int32, c *Communicator, number int32) *Communicator {
	return k.duplicated(lp, c, k.collectives.LocalDuplicate(lp, c, number), number)
}

// Messages, requests and failures.

// Completion returns the completion of the engine's latest call, of whichever LP.
func (k *Kernel) Completion() *Completion { return &k.collectives.Messages.Completion }

// Departures returns the departures of the engine's ranks from the course of a record. A replay counts them.
func (k *Kernel) Departures() *world.Departures {
	return &k.collectives.Messages.Partition.Summary.Departures
}

// RequestTime returns the virtual time at which a complete request was complete.
func (k *Kernel) RequestTime(index int32) vtime.Time {
	return k.collectives.Messages.Requests.At(index).Time
}

// IsStandIn reports whether an index stands in for requests that complete at once.
func (k *Kernel) IsStandIn(request int32) bool {
	return request == k.collectives.Messages.CompletedSend || request == k.collectives.Messages.CompletedReceive
}

// HasProcessors reports whether ranks have processors: then calls become operations, and a rank's
// clock may lag behind them.
func (k *Kernel) HasProcessors() bool { return k.collectives.Messages.Processors != nil }

// EndsSendsAtOnce reports whether an eager standard send ends in its call and depends on the sender's clock and earlier calls alone. The
// send, and the call that begins a nonblocking message, may then be submitted as late as before the LP's next call.
func (k *Kernel) EndsSendsAtOnce() bool {
	return k.collectives.Messages.Processors == nil && !k.collectives.Messages.InCalls
}

// Activity ends an LP's loop of polls, since the LP has made another call.
func (k *Kernel) Activity(lp int32) { k.messages.Activity(lp) }

// FailingPolls returns the number of further polls of an LP that are known to fail, if each is the same as the poll that the
// LP has just made in vain. PolledInVain has the LP make a number of them.
func (k *Kernel) FailingPolls(lp int32) int {
	if k.hearing.hears {
		return 0
	}
	return k.collectives.Messages.FailingPolls(lp)
}

// PolledInVain has an LP make polls that FailingPolls has foreseen.
func (k *Kernel) PolledInVain(lp int32, polls int) { k.collectives.Messages.PolledInVain(lp, polls) }

// Attach sets the size of an LP's buffer, which bounds the largest buffered send, and returns the
// previous size.
func (k *Kernel) Attach(lp int32, bytes int64) (before int64) {
	return k.collectives.Messages.Attach(lp, bytes)
}

// Behind reports whether an LP has started operations that have not all begun.
func (k *Kernel) Behind(lp int32) bool { return k.collectives.Messages.Behind(lp) }

// CompletedRequest returns the status and content of a request, and whether the completion includes
// the request. It does not include inactive requests, nor sends that were complete in their call.
func (k *Kernel) CompletedRequest(b *Completion, index int32) (world.Status, []byte, bool) {
	return k.collectives.Messages.CompletedRequest(b, index)
}

// CompletionOf returns the completion of an LP's latest call. It is empty if another LP of
// the engine has waited since.
func (k *Kernel) CompletionOf(lp int32) *Completion { return k.collectives.Messages.CompletionOf(lp) }

// Compute advances the clock of an LP by d, lengthened by noise. It returns an error, without
// effect, for a negative d, and for a phase that would end after the end of virtual time.
func (k *Kernel) Compute(lp int32, d vtime.Duration) error {
	if k.ComputeSummed(lp, d) {
		return nil
	}
	if k.hearing.recorder != nil {
		k.hearing.recorder.Computes(lp, d)
	}
	if k.hearing.observer != nil {
		return k.computes(lp, d)
	}
	return k.collectives.Messages.Compute(lp, d, world.Compute)
}

// ComputeSummed is the short form of Compute where the statistics alone observe, and no noise lengthens the phase. It returns false, with nothing
// changed, in all other cases.
func (k *Kernel) ComputeSummed(lp int32, d vtime.Duration) bool {
	return k.hearing.sums != nil && k.messages.SumCompute(lp, d)
}

// DataOf returns the content of the message that a completed receive has received; of several
// receives, the content of the last receive in the list.
func (k *Kernel) DataOf(b *Completion) []byte { return k.messages.DataOf(b) }

// Die fails a rank from the rank's own code and unwinds that code. It does not return.
func (k *Kernel) Die(lp int32, c world.Procedure, err error) { k.collectives.Messages.Die(lp, c, err) }

// EndsWith records an error of a rank at its clock, after all operations that the rank has started.
// The rank still runs to its end.
func (k *Kernel) EndsWith(lp int32, c world.Procedure, err error) {
	k.collectives.Messages.EndsWith(lp, c, err)
}

// Fail records the failure of a rank at its clock, after all operations that the rank has started.
// The rank is not resumed again.
func (k *Kernel) Fail(lp int32, c world.Procedure, err error) {
	k.collectives.Messages.Fail(lp, c, err)
}

// HoldsRequest reports whether an index still stands for an LP's request of a generation.
func (k *Kernel) HoldsRequest(lp, index int32, generation uint32) bool {
	return k.collectives.Messages.HoldsRequest(lp, index, generation)
}

// KeepList makes a list the wait set of an LP.
func (k *Kernel) KeepList(lp int32, list []int32) error {
	return k.collectives.Messages.KeepList(lp, list)
}

// KeepMemory makes a list in an event rank's memory its wait set.
func (k *Kernel) KeepMemory(lp int32, requests []int32) error {
	return k.collectives.Messages.KeepMemory(lp, requests)
}

// KeepSlice makes the slice of an LP its wait set. again says that the slice has the same memory as
// the slice of the previous call. It returns the first error in the slice.
func (k *Kernel) KeepSlice(lp int32, s Slice, again bool) error {
	return k.collectives.Messages.KeepSlice(lp, s, again)
}

// KeepSliceUnread is KeepSlice without reading the whole slice. It returns false if the slice must
// be read: an active request of the LP, which has active requests, is not in the wait set, or the
// slice holds another request at the place of a request in the wait set.
func (k *Kernel) KeepSliceUnread(lp int32, s Slice, active int32) bool {
	return k.collectives.Messages.KeepSliceUnread(lp, s, active)
}

// WaitSetSlice returns the slice of an LP's wait set, nil for none.
func (k *Kernel) WaitSetSlice(lp int32) Slice { return k.collectives.Messages.WaitSetSlice(lp) }

// MayPause reports whether Pause might pause the running LP. It is quick.
func (k *Kernel) MayPause() bool { return k.collectives.Messages.MayPause() }

// NewCompletion releases the requests of the previous completion and returns an empty completion
// for an LP.
func (k *Kernel) NewCompletion(lp int32) *Completion { return k.collectives.Messages.NewCompletion(lp) }

// OwnRequest returns an LP's request and its generation. For a request that all LPs share it
// returns a new request.
func (k *Kernel) OwnRequest(lp, index int32, op world.Procedure) (own int32, generation uint32) {
	return k.collectives.Messages.OwnRequest(lp, index, op)
}

// Pause has an LP resumed later if it must pause before it goes on, and reports whether it must. An
// LP pauses while buffers are full. Under a model with state at the receiver, an LP pauses until
// all operations that it has started have begun.
func (k *Kernel) Pause(lp int32) bool { return k.collectives.Messages.Pause(lp) }

// Postpone has an LP resumed once all operations that it has started have begun, with a clock that
// includes them. It returns false if no such operation is left.
func (k *Kernel) Postpone(lp int32) bool { return k.collectives.Messages.Postpone(lp) }

// PostponeEnd has an LP end once all operations that it has started have begun. It returns false if
// no such operation is left.
func (k *Kernel) PostponeEnd(lp int32) bool { return k.collectives.Messages.PostponeEnd(lp) }

// Raise stores an MPI error as the completion of a call. It returns true, since the call is
// complete.
func (k *Kernel) Raise(lp int32, op world.Procedure, err error) bool {
	return k.collectives.Messages.Raise(lp, op, err)
}

// ReadMemory copies a list in an event rank's memory, which a call reads, into the wait set if both
// begin at the same address.
func (k *Kernel) ReadMemory(lp int32, requests []int32) {
	k.collectives.Messages.ReadMemory(lp, requests)
}

// ReadSlice copies the requests of an LP's slice, which a call reads, into the wait set of the same
// memory. So the next call with a long slice finds requests that the rank has moved to other
// places.
func (k *Kernel) ReadSlice(lp int32, requests []int32) {
	k.collectives.Messages.ReadSlice(lp, requests)
}

// RequestStatus returns the status of a complete request.
func (k *Kernel) RequestStatus(index int32) world.Status {
	return k.collectives.Messages.RequestStatus(index)
}

// SendAtOnce sends a short eager message of an LP on WORLD, as Send does, if another LP of the
// partition that does not wait stores it. It returns false, with nothing changed, if the message
// must take the general way or an argument is out of its range.
func (k *Kernel) SendAtOnce(lp int32, payload []byte, bytes int64, dst, tag int) bool {
	if k.config.NoContents {
		payload = nil
	}
	if !k.collectives.Messages.SendAtOnce(lp, payload, bytes, dst, tag) {
		return false
	}
	if s := k.hearing.sums; s != nil {
		s.about(world.WorldContext)
	}
	if k.hearing.recorder != nil {
		k.hearing.recorder.Sends(lp, bytes, dst, tag)
	}
	return true
}

// SetMayCancel stores whether an LP may cancel the receives that it posts from now on.
func (k *Kernel) SetMayCancel(lp int32, on bool) { k.collectives.Messages.SetMayCancel(lp, on) }

// StatusOf returns the status of a receive or probe; of several receives, the status of the last
// receive in the list.
func (k *Kernel) StatusOf(b *Completion) world.Status { return k.collectives.Messages.StatusOf(b) }

// Throttle has an LP resumed later if it has started too many operations or filled a buffer. It
// reports whether the LP is throttled.
func (k *Kernel) Throttle(lp int32) bool { return k.collectives.Messages.Throttle(lp) }

// Unwound fails a rank whose code has panicked with a value. A nil value means that the code
// has ended its goroutine.
func (k *Kernel) Unwound(lp int32, c world.Procedure, value any) {
	k.collectives.Messages.Unwound(lp, c, value)
}

// The ranks of the engine.

// First returns the least rank of the engine.
func (k *Kernel) First() int { return k.collectives.Messages.Partition.First }

// Target returns the target machine, laid out for the number of ranks.
func (k *Kernel) Target() *network.Target { return k.collectives.Messages.Partition.Target }

// Clocks returns the virtual times of the LPs.
func (k *Kernel) Clocks() []vtime.Time { return k.collectives.Messages.Partition.Clock }

// ClocksOnly reports whether computing only advances the clock, so that a kind may advance the
// clock itself: the run has no noise, no mailbox, no processor, and counts no activity.
func (k *Kernel) ClocksOnly() bool { return k.collectives.Messages.Partition.ClocksOnly }

// Running returns the LP whose code runs, or ran last; [world.None] if no LP's code runs.
func (k *Kernel) Running() int32 { return k.collectives.Messages.Partition.Running }

// SetRunning stores the LP whose code runs now, [world.None] for none.
func (k *Kernel) SetRunning(lp int32) { k.collectives.Messages.Partition.Running = lp }

// Alone reports whether no other engine of the process is set up at the same time. It is for the
// set-up.
func (k *Kernel) Alone() bool { return k.collectives.Messages.Partition.Alone() }

// Closed reports whether the run is over and its ranks are unwound.
func (k *Kernel) Closed() bool { return k.collectives.Messages.Partition.Closed() }

// Global returns the rank of an LP.
func (k *Kernel) Global(lp int32) int32 { return k.collectives.Messages.Partition.Global(lp) }

// HasFailed reports whether an LP has failed.
func (k *Kernel) HasFailed(lp int32) bool { return k.collectives.Messages.Partition.HasFailed(lp) }

// Label returns the label under which the statistics of the run record a timed operation.
func (k *Kernel) Label(index int, operation string) int32 {
	return k.collectives.Messages.Partition.Label(index, operation)
}

// Limited reports whether a known failure of any rank bounds the run.
func (k *Kernel) Limited() bool { return k.collectives.Messages.Partition.Limited() }

// Local returns the LP of a rank, and whether this engine owns it.
func (k *Kernel) Local(rank int) (int32, bool) { return k.collectives.Messages.Partition.Local(rank) }

// Record adds the length of a timed operation to the statistics of the run.
func (k *Kernel) Record(index int, operation string, d vtime.Duration) {
	k.collectives.Messages.Partition.Record(index, operation, d)
}

// SetErrorsReturn sets the error handler of an LP: MPI_ERRORS_RETURN if on, else
// MPI_ERRORS_ARE_FATAL.
func (k *Kernel) SetErrorsReturn(lp int32, on bool) {
	k.collectives.Messages.Partition.SetErrorsReturn(lp, on)
}

// Swallowed adds to a rank's failure the note that the rank's code has recovered from the panic and
// gone on.
func (k *Kernel) Swallowed(lp int32) { k.collectives.Messages.Partition.Swallowed(lp) }

// Yield makes LPs lo to hi-1 ready again.
func (k *Kernel) Yield(lo, hi int32) { k.collectives.Messages.Partition.Yield(lo, hi) }

// Customs are the peculiarities of ranks whose programs are not in Go.
type Customs struct {
	InRows  string                                   // name of the operators that combine many vectors in one call, "" for none
	Lender  p2p.Lender                               // holds the memory of sends; nil if Go manages that memory
	Names   func(c world.Procedure) string           // name of a procedure in programs; nil for the names in Go
	Call    func(rank int, c world.Procedure) string // the call at fault as the program wrote it; nil for the names of Names
	HasLeft func(lp int32) bool                      // reports whether an LP has left MPI; nil if LPs never do
}

// Adopt stores the customs of the kernel's ranks.
func (k *Kernel) Adopt(c Customs) {
	k.collectives.InRows, k.collectives.Messages.Lender = c.InRows, c.Lender
	k.collectives.Messages.Partition.Names, k.collectives.Messages.Partition.Failing.Name, k.collectives.Messages.Partition.Failing.HasLeft = c.Names, c.Call, c.HasLeft
}

// Methods for kinds whose programs run on the host for long, or fail there.

// FailHost ends the run with a failure of the host.
func (k *Kernel) FailHost(err error) { k.collectives.Messages.Partition.Engine.Fail(err) }

// Flush sends all packets of the engine, so that other engines do not wait while its ranks compute.
func (k *Kernel) Flush() { k.collectives.Messages.Partition.Engine.Flush() }

// LookAround has the engine receive messages from other engines, while its ranks compute.
func (k *Kernel) LookAround() { k.collectives.Messages.Partition.Engine.LookAround() }

// HoldsTails reports whether other engines still receive from memory of LPs.
func (k *Kernel) HoldsTails() bool { return k.collectives.Messages.Partition.Engine.HoldsTails() }
