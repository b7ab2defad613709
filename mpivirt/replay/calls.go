package replay

import (
	"math"
	"slices"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/trace"
	"gigarank/vtime"
)

// procedures are the procedures of functions.
var procedures = func() (of [1 << 8]world.Procedure) {
	for p := range world.Procedure(world.Procedures()) {
		if f := trace.FunctionNamed("MPI_" + p.NameInC()); f != trace.NoFunction {
			of[f] = p
		}
	}
	return of
}()

// begin begins the next operation of a rank. It returns false for more behind the last one, and false for over if the rank waits. The
// outcome of a call is taken by end.
func (b *body) begin(lp int32, r *rank) (more, over bool) {
	o := &b.o
	more, err := r.at.Next(b.blocks, o)
	switch {
	case err != nil:
		b.k.Fail(lp, r.last, err)
		return true, true
	case !more && r.at.Operation() < 0:
		b.k.Fail(lp, world.NoProcedure, r.at.Fault(b.file, "the task has no operations: its part of the trace is missing"))
		return true, true
	case !more:
		b.k.Fail(lp, r.last, r.at.Fault(b.file, "the trace of the task is cut behind this operation: record it again, or replay what is before"))
		return true, true
	}
	r.function, r.failed, r.times = o.Function, o.Form.Has(trace.Failed), 0
	switch o.Function.Class() {
	case trace.ClassNone:
		b.fails(lp, r.last, "an operation of a later version of gigarank cannot be replayed")
		return true, true
	case trace.ClassMark:
		b.passes(lp, o)
		return true, true
	case trace.ClassEnd:
		r.ended = true
		if b.window != nil && b.window.To.N == 0 {
			b.leaves(lp)
		}
		return false, true
	case trace.ClassBurst:
		d := b.burst(int(b.k.Global(lp)), vtime.Duration(o.CPU), vtime.Duration(o.Wall))
		if err := b.k.Compute(lp, d); err != nil {
			b.k.Fail(lp, world.Compute, r.at.Fault(b.file, err.Error()))
		}
		return true, true
	}
	switch o.Function {
	case trace.LocalDuplicate, trace.LocalMerge:
		b.makesLocally(lp, r, o)
		return true, true
	case trace.CommGiven: // that on which a group would make a communicator
		c, _, err := b.companion(lp, o, b.groups.of(o.Group))
		if err != nil {
			b.fails(lp, r.last, "%v", err)
			return true, true
		}
		b.numbersComm(lp, r, int32(number(o.Made)), c)
		return true, true
	}
	if o.Comm == trace.World && b.short(lp, r, o) {
		return true, r.state == between
	}
	r.last, r.state = procedures[o.Function], calling
	r.compares = b.comparesOutcome(lp, o)
	return true, b.submitted(lp, r, b.call(lp, r, o))
}

// short makes a standard send, or a receive from a task, on WORLD that is over at once, as call does. It reports false, with nothing changed, for other
// calls. The rank is between calls behind it, unless the end of time has come.
func (b *body) short(lp int32, r *rank, o *trace.Operation) bool {
	k := b.k
	switch {
	case o.Function == trace.Send && o.Form == 0:
		r.last = world.Send
		if k.SendAtOnce(lp, nil, o.Bytes, number(o.Peer), number(o.Tag)) {
			k.Completion().Err = nil
			return true
		}
		if !k.SendOnWorld(lp, k.Communicator(world.World), nil, o.Bytes, number(o.Peer), number(o.Tag)) {
			return false
		}
	case o.Function == trace.Recv && o.Form == 0 && o.Message == 0 && o.Room >= 0:
		r.last = world.Recv
		if !k.ReceiveOnWorld(lp, k.Communicator(world.World), nil, o.Room, number(o.Source), number(o.SourceTag)) {
			return false
		}
	case o.Function == trace.Recv && o.Form == trace.Unsized && o.Message == 0:
		r.last = world.Recv
		if !k.ReceiveOnWorld(lp, k.Communicator(world.World), nil, kernel.AnyLength, number(o.Source), number(o.SourceTag)) {
			return false
		}
	default:
		return false
	}
	switch {
	case k.Completion().Err != nil:
		r.state = calling
		b.end(lp, r)
	case o.Function == trace.Recv && k.Clocks()[lp] == vtime.Forever:
		r.state = calling
	}
	return true
}

// makesLocally makes a communicator that all members make with the same number, without a message.
func (b *body) makesLocally(lp int32, r *rank, o *trace.Operation) {
	c, _ := b.comm(lp, r, o.Comm)
	if b.k.HasFailed(lp) {
		return
	}
	made, key := (*kernel.Communicator)(nil), int32(number(o.Key))
	switch {
	case o.Function == trace.LocalMerge && c.Remote == nil:
		b.fails(lp, r.last, "communicator %d has no remote group", o.Comm)
		return
	case o.Function == trace.LocalMerge:
		made = b.k.Merge(lp, c, key, o.Color == 1)
	case c.Remote != nil:
		made = b.k.DupInter(lp, c, key)
	default:
		made = b.k.LocalDuplicate(lp, c, key)
	}
	b.numbersComm(lp, r, int32(number(o.Made)), made)
}

// submitted returns whether a call is over. It takes the error of such a call, which is lost if the rank pauses.
func (b *body) submitted(lp int32, r *rank, over bool) bool {
	if over && b.k.Completion().Err != nil {
		b.end(lp, r)
	}
	return over
}

// comm returns the communicator of a number of the task, and the rank's number in it. It ends the rank if there is none.
func (b *body) comm(lp int32, r *rank, number int64) (*kernel.Communicator, int32) {
	k, index := b.k, int32(world.Freed)
	switch {
	case number == trace.World:
		return k.Communicator(world.World), k.Global(lp)
	case number == trace.Self:
		index = world.Self
	case number >= 2 && number-2 < int64(len(r.comms)):
		index = r.comms[number-2]
	}
	c := k.Communicator(index)
	if c.Size == 0 {
		if !r.failed {
			b.fails(lp, r.last, "the task has no communicator %d here", number)
		}
		return c, 0
	}
	return c, int32(k.GroupOf(c, lp).Member(int(k.Global(lp))))
}

// call makes the call of an operation, and reports whether it is over.
func (b *body) call(lp int32, r *rank, o *trace.Operation) bool {
	k, p := b.k, r.last
	switch o.Function.Class() {
	case trace.ClassWait, trace.ClassTest:
		return b.waits(lp, r, o)
	case trace.ClassCancel:
		if b.list = b.list[:0]; !b.names(lp, r, o.Requests, false) || len(b.list) == 0 || b.list[0] == 0 {
			return true // a test has completed it already
		}
		return k.Submit(lp, k.Compose(p, k.Communicator(world.World), k.Global(lp)).Waits(b.list[:1], refusal(o)))
	case trace.ClassProbe:
		return b.probes(lp, r, o)
	}
	if o.Function == trace.CommCreateGroup {
		return b.createsGroup(lp, r, o)
	}
	c, member := b.comm(lp, r, o.Comm)
	if k.HasFailed(lp) {
		return false
	}
	r.on = c.Index
	q, begins := k.Compose(p, c, member), false
	switch o.Function.Class() {
	case trace.ClassSend:
		q.Sends(nil, o.Bytes, number(o.Peer), number(o.Tag))
		begins = !p.Blocks()
	case trace.ClassReceive:
		if !b.receives(lp, q, r, o) {
			return false
		}
		begins = !p.Blocks()
	case trace.ClassSendReceive:
		q.Sends(nil, o.Bytes, number(o.Peer), number(o.Tag))
		if !b.receives(lp, q, r, o) {
			return false
		}
		begins = !p.Blocks()
	case trace.ClassCollective:
		if !b.enters(lp, q, c, o) {
			return false
		}
	case trace.ClassMeeting:
		if !b.meets(lp, q, c, o) {
			return false
		}
	case trace.ClassNeighborhood:
		q.Exchanges(kernel.Exchange{Receives: parts(o.ReceivePeers, o.ReceiveTags, o.ReceiveRooms), Sends: parts(o.SendPeers, o.SendTags, o.SendBytes)}, refusal(o))
	case trace.ClassCommunicator:
		v, err := b.creates(lp, r, c, p, o)
		q.Enters(v, err)
	}
	if o.Form.Has(trace.Nonblocking) {
		q.Nonblocking()
		begins = true
	}
	over := k.Submit(lp, q)
	if begins && over && k.Completion().Err == nil && !o.Form.Has(trace.Freed) {
		b.keeps(lp, r, o.Request, k.Completion().Request)
	}
	return over
}

// number returns an argument as an int, one out of every range if it is none.
func number(v int64) int {
	if v < math.MinInt32 || v > math.MaxInt32 {
		return math.MinInt32
	}
	return int(v)
}

// mostNumbers is the most requests of a rank that are under way, and the like.
const mostNumbers = 1 << 24

// keeps stores the request that has begun under its number.
func (b *body) keeps(lp int32, r *rank, number int64, request int32) {
	switch {
	case number < 0 && r.failed: // the call failed in the record
	case number < 0 || number > mostNumbers:
		b.fails(lp, r.last, "request %d cannot be", number)
	case r.slot(number) != 0:
		b.fails(lp, r.last, "request %d begins, but has not been waited for since it began before", number)
	default:
		for int(number) >= len(r.slots) {
			r.slots = append(r.slots, 0)
		}
		r.slots[number] = request
	}
}

// tested stands for a request that a test has completed, though it found nothing in the record.
const tested = -1

// slot returns the request with a number, 0 for none.
func (r *rank) slot(number int64) int32 {
	if number < 0 || number >= int64(len(r.slots)) {
		return 0
	}
	return r.slots[number]
}

// receives fills in a receive. It ends the rank, and reports false, if the receive is to take a message that the trace does not name.
func (b *body) receives(lp int32, q *kernel.Call, r *rank, o *trace.Operation) bool {
	source, tag := o.Source, o.SourceTag
	if b.recorded && (source == trace.AnySource || tag == trace.AnyTag) && !o.Form.Has(trace.Failed) {
		if source, tag = o.GotSource, o.GotTag; !r.last.Blocks() {
			var err error
			if source, tag, err = b.matched(lp, r, o); err != nil {
				b.k.Fail(lp, r.last, err)
				return false
			}
		}
	}
	q.Receives(nil, o.Room, !o.Form.Has(trace.Unsized), number(source), number(tag))
	switch {
	case o.Message < 0:
		q.Takes(int32(o.Message))
	case o.Message > 0 && o.Message <= int64(len(r.messages)):
		q.Takes(r.messages[o.Message-1])
		r.messages[o.Message-1] = kernel.MessageNull
	case o.Message > 0:
		q.Takes(kernel.MessageNull)
	}
	return true
}

// enters fills in a collective. It ends the rank, and reports false, for a call that its communicator does not have.
func (b *body) enters(lp int32, q *kernel.Call, c *kernel.Communicator, o *trace.Operation) bool {
	p := q.Procedure
	switch {
	case c.Remote == nil && p == world.IntercommMerge && !o.Form.Has(trace.Failed):
		b.fails(lp, p, "communicator %d has no remote group", o.Comm)
		return false
	case o.Given < 0 || o.Taken < 0:
		b.fails(lp, p, "vectors of %d and %d bytes", o.Given, o.Taken)
		return false
	}
	if q.Enters(b.collective(p, o), refusal(o)); c.Remote != nil && p != world.IntercommMerge && o.Function != trace.Barrier {
		q.OfLengths(o.Given, o.Taken)
	}
	return true
}

// meets fills in a call that makes an intercommunicator. It ends the rank, and reports false, for a leader or a remote group that cannot be.
func (b *body) meets(lp int32, q *kernel.Call, c *kernel.Communicator, o *trace.Operation) bool {
	k, p, r := b.k, q.Procedure, &b.ranks[lp]
	r.made = int32(number(o.Made))
	if err := refusal(o); err != nil {
		v, _ := k.Split(world.Undefined, 0)
		q.Enters(v, err)
		return true
	}
	if c.Remote != nil || o.Root < 0 || o.Root >= int64(c.Size) {
		b.fails(lp, p, "there is no leader %d on communicator %d", o.Root, o.Comm)
		return false
	}
	var told []byte
	if int64(q.Member) == o.Root {
		remote := b.groups.of(o.Group)
		if err := world.Strided(0, 1, b.file.Header.Tasks).Contains(remote); err != nil || remote.Size() == 0 {
			b.fails(lp, p, "a remote group of %d: %v", remote.Size(), err)
			return false
		}
		told = kernel.ToldOf(uint64(o.Token), uint64(o.RemoteToken), remote)
	}
	q.Enters(k.Meeting(int(o.Root), told), nil)
	return true
}

// collective returns the arguments of a collective. Its operator is never applied: vectors have no contents.
func (b *body) collective(p world.Procedure, o *trace.Operation) *kernel.Collective {
	if o.Function == trace.Barrier {
		return b.k.Barrier()
	}
	operation := p.Operation()
	switch o.Function {
	case trace.IntercommMerge:
		operation = world.Allreduce.Operation()
	case trace.CommIdup:
		operation = world.Barrier.Operation()
	}
	v := kernel.Collective{
		Procedure: p, Operation: operation, Root: number(o.Root), Bytes: o.Vector, Element: o.Element, Type: world.ElementType(o.Datatype),
		Data: o.Traits.Has(trace.Data), Phantom: o.Traits.Has(trace.Data),
	}
	v.Counts, v.InCounts, v.OutCounts = counts(o.Counts), counts(o.InCounts), counts(o.OutCounts)
	if o.Traits.Has(trace.Operator) {
		v.Operator = world.Operator{Name: "recorded", Commutative: o.Traits.Has(trace.Commutative), Apply: func([]byte, []byte, []byte) {}}
	}
	return b.k.Prepare(v)
}

// refusal returns the error of a call that was refused for its arguments in the record, nil for others.
func refusal(o *trace.Operation) error {
	if o.Form.Has(trace.Refused) {
		return errRefused
	}
	return nil
}

var errRefused = world.Errorf(world.ErrOther, "the arguments were refused in the record")

// counts returns counts in memory of their own, nil for none.
func counts(list []int64) []int64 {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list)
}

// parts returns the messages of an exchange.
func parts(peers, tags, bytes []int64) []kernel.Part {
	list := make([]kernel.Part, min(len(peers), len(tags), len(bytes)))
	for i := range list {
		list[i] = kernel.Part{Peer: number(peers[i]), Tag: number(tags[i]), Bytes: bytes[i]}
	}
	return list
}

// creates returns the arguments of a function that makes communicators.
func (b *body) creates(lp int32, r *rank, c *kernel.Communicator, p world.Procedure, o *trace.Operation) (v *kernel.Collective, err error) {
	k := b.k
	r.color, r.made = int32(number(o.Color)), int32(number(o.Made))
	if err := refusal(o); err != nil {
		v, _ = k.Split(world.Undefined, 0)
		return v, err
	}
	switch {
	case o.Function == trace.CommDup && c.Remote != nil: // the local duplicate follows
		v = k.Prepare(*k.Barrier())
	case p.Plain() == world.CommDup:
		v = k.Dup(k.GroupOf(c, lp))
	case p.Plain() == world.CommSplit:
		v, err = k.Split(number(o.Color), number(o.Key))
	default:
		v, err = k.Create(k.GroupOf(c, lp), b.groups.of(o.Group), int(k.Global(lp)))
	}
	v.Procedure = p
	return v, err
}

// createsGroup makes a communicator whose members alone take part. They agree on the number that tells their call from others.
func (b *body) createsGroup(lp int32, r *rank, o *trace.Operation) bool {
	k, g := b.k, b.groups.of(o.Group)
	r.color, r.made = 0, int32(number(o.Made))
	if err := refusal(o); err != nil {
		v, _ := k.Split(world.Undefined, 0)
		return k.Submit(lp, k.Compose(r.last, k.Communicator(world.World), k.Global(lp)).Enters(v, err))
	}
	on, v, err := b.companion(lp, o, g)
	r.on = on.Index
	return k.Submit(lp, k.Compose(r.last, on, int32(g.Member(int(k.Global(lp))))).Enters(v, err))
}

// companion returns the communicator on which the members of a group make one, and the collective. A recorder of real programs has tags; that of simulated
// ones has the contexts of the run, on which the jitter of messages depends.
func (b *body) companion(lp int32, o *trace.Operation, g *world.Group) (*kernel.Communicator, *kernel.Collective, error) {
	if o.Context >= 0 && o.Context <= world.TagUB {
		return b.k.CreateGroup(b.k.Communicator(world.World), g, number(o.Context), lp)
	}
	return b.k.CreateGroupAs(uint64(o.Context), g, lp)
}

// groups makes groups from runs: first rank, distance, number.
type groups struct {
	runs []int64 // of the latest group
	last *world.Group
}

func (g *groups) of(runs []int64) *world.Group {
	if g.last != nil && slices.Equal(runs, g.runs) {
		return g.last
	}
	g.runs = append(g.runs[:0], runs...)
	if len(runs) == 3 {
		g.last = world.Strided(number(runs[0]), number(runs[1]), number(runs[2]))
		return g.last
	}
	var members []int
	for ; len(runs) >= 3; runs = runs[3:] {
		for i := range min(runs[2], mostNumbers) {
			members = append(members, number(runs[0]+i*runs[1]))
		}
	}
	g.last = world.NewGroup(members)
	return g.last
}

// waits makes a wait or test, and reports whether it is over.
func (b *body) waits(lp int32, r *rank, o *trace.Operation) bool {
	k := b.k
	b.list = b.list[:0]
	if o.Form.Has(trace.Missed) {
		if !b.names(lp, r, o.Requests, false) {
			return true
		}
		r.state, r.times = missing, o.Times
		return k.Submit(lp, k.Compose(r.last, k.Communicator(world.World), k.Global(lp)).Waits(b.list, refusal(o)))
	}
	one, all := world.Wait, world.Waitall
	if o.Function.Class() == trace.ClassTest && r.state != trying {
		r.state, one, all = trying, world.Test, world.Testall
	} else {
		r.state = calling
	}
	if !b.completes(lp, r, o, r.state == calling && !r.compares) {
		return false
	}
	procedure := all
	if len(b.list) == 1 {
		procedure = one
	}
	return k.Submit(lp, k.Compose(procedure, k.Communicator(world.World), k.Global(lp)).Waits(b.list, refusal(o)))
}

// completes lists the requests that a wait or test has completed in the record. If they are over by now, or waited for, the task has
// them no longer. It reports false, and ends the rank, if there are no such requests.
func (b *body) completes(lp int32, r *rank, o *trace.Operation, over bool) bool {
	b.list = b.list[:0]
	some := o.Function == trace.Waitany || o.Function == trace.Waitsome || o.Function == trace.Testany || o.Function == trace.Testsome
	if !some || o.Form.Has(trace.Long) {
		return b.names(lp, r, o.Requests, over)
	}
	for _, place := range o.Completed {
		if place < 0 || place >= int64(len(o.Requests)) {
			b.fails(lp, r.last, "place %d in a list of %d requests", place, len(o.Requests))
			return false
		}
		if !b.names(lp, r, o.Requests[place:place+1], over) {
			return false
		}
	}
	return true
}

// names appends the requests with numbers to the list; 0 stands for a request that a test has completed already. If over is set, the task has
// them no longer. It reports false, and ends the rank, for a number without a request.
func (b *body) names(lp int32, r *rank, numbers []int64, over bool) bool {
	for _, number := range numbers {
		if number < 0 {
			b.list = append(b.list, 0)
			continue
		}
		index := r.slot(number)
		if index == 0 {
			b.fails(lp, r.last, "no operation has begun request %d, or a wait for it is over", number)
			return false
		}
		b.list = append(b.list, max(index, 0))
		if over {
			r.slots[number] = 0
		}
	}
	return true
}

// again stores the operation in which a rank is. It ends the rank if it cannot be read.
func (b *body) again(lp int32, r *rank) bool {
	if err := r.at.Current(b.blocks, &b.o); err != nil {
		b.k.Fail(lp, r.last, err)
		return false
	}
	return true
}

// tried ends a test or nonblocking probe that found something in the record. If it has found nothing now, the rank waits.
func (b *body) tried(lp int32, r *rank, found bool) bool {
	if !b.again(lp, r) {
		return true
	}
	isTest := r.function.Class() == trace.ClassTest
	switch {
	case found && isTest:
		if b.completes(lp, r, &b.o, true); r.compares {
			b.comparesRequests(lp, &b.o)
		}
		return true
	case found:
		if r.compares {
			b.comparesMessage(&b.o, b.k.CompletionOf(lp).Status)
		}
		return true
	}
	b.k.Departures().Waited++
	over := false
	if r.state = trying; isTest {
		over = b.waits(lp, r, &b.o)
	} else {
		p := world.Probe
		if r.last == world.Improbe {
			p = world.Mprobe
		}
		r.state = calling
		if c, member := b.comm(lp, r, b.o.Comm); !b.k.HasFailed(lp) {
			source, tag := b.probed(&b.o)
			over = b.k.Submit(lp, b.k.Compose(p, c, member).Receives(nil, 0, true, source, tag))
		}
	}
	return b.submitted(lp, r, over)
}

// missed ends a test or probe that found nothing in the record. Requests that it completes now are over; a probe leaves its message.
func (b *body) missed(lp int32, r *rank, done *kernel.Completion) bool {
	if done.Found && (r.function.Class() == trace.ClassProbe || len(done.Completed) > 0) {
		b.k.Departures().Found++
		for _, index := range done.Completed {
			if i := slices.Index(r.slots, index); i >= 0 {
				r.slots[i] = tested
			}
		}
	}
	if r.times == 0 {
		return true
	}
	left := r.times - 1
	if !b.again(lp, r) {
		return true
	}
	over := false
	if r.function.Class() == trace.ClassTest {
		over = b.waits(lp, r, &b.o)
	} else {
		over = b.probes(lp, r, &b.o)
	}
	r.times = left
	return b.submitted(lp, r, over)
}

// probes makes a probe, and reports whether it is over.
func (b *body) probes(lp int32, r *rank, o *trace.Operation) bool {
	c, member := b.comm(lp, r, o.Comm)
	if b.k.HasFailed(lp) {
		return false
	}
	p := r.last
	r.message = int32(number(o.Message))
	switch {
	case o.Form.Has(trace.Missed):
		r.state, r.times = missing, o.Times
		p = world.Iprobe // which leaves the message where it is
	case o.Function.MayFind():
		r.state = trying
	}
	source, tag := b.probed(o)
	return b.k.Submit(lp, b.k.Compose(p, c, member).Receives(nil, 0, true, source, tag))
}

// probed returns the source and tag of the message that a probe looks for.
func (b *body) probed(o *trace.Operation) (source, tag int) {
	if b.recorded && !o.Form.Has(trace.Missed) && !o.Form.Has(trace.Failed) {
		return number(o.GotSource), number(o.GotTag)
	}
	return number(o.Source), number(o.SourceTag)
}

// end takes the outcome of a call, which is over. It reports false if the rank has made another call for the operation, and waits.
func (b *body) end(lp int32, r *rank) bool {
	k, s := b.k, r.state
	r.state = between
	done := k.CompletionOf(lp)
	if done.Err != nil {
		if done.Fatal || !r.failed {
			b.fails(lp, r.last, "%v", done.Err)
		}
		return true
	}
	if s == missing {
		return b.missed(lp, r, done)
	}
	if r.function.Class() == trace.ClassProbe && r.message > 0 && done.Message != 0 {
		b.keepsMessage(lp, r, done.Message)
	}
	if s == trying {
		return b.tried(lp, r, done.Found)
	}
	if r.compares {
		b.compare(lp, r, done)
	}
	switch r.function.Class() {
	case trace.ClassCommunicator:
		b.made(lp, r)
	case trace.ClassMeeting:
		b.numbersComm(lp, r, r.made, b.k.Communicator(done.NewComm))
	case trace.ClassFree:
		b.freed(r)
	}
	return true
}

// keepsMessage stores the message that a probe has found under its number.
func (b *body) keepsMessage(lp int32, r *rank, message int32) {
	if r.message > mostNumbers {
		b.fails(lp, r.last, "probed message %d cannot be", r.message-1)
		return
	}
	for int(r.message) > len(r.messages) {
		r.messages = append(r.messages, kernel.MessageNull)
	}
	r.messages[r.message-1] = message
}

// made stores the communicator that a call has made under its number.
func (b *body) made(lp int32, r *rank) {
	if r.made < 0 {
		return
	}
	b.numbersComm(lp, r, r.made, b.k.NewComm(lp, b.k.Communicator(r.on), int(r.color)))
}

// numbersComm stores a communicator under its number.
func (b *body) numbersComm(lp int32, r *rank, number int32, c *kernel.Communicator) {
	if c == nil || number < 2 || number > mostNumbers {
		b.fails(lp, r.last, "communicator %d cannot be made", number)
		return
	}
	for int(number)-2 >= len(r.comms) {
		r.comms = append(r.comms, world.Freed)
	}
	r.comms[number-2] = c.Index
}

// freed forgets the communicator that a call has freed.
func (b *body) freed(r *rank) {
	if i := slices.Index(r.comms, r.on); i >= 0 {
		r.comms[i] = world.Freed
	}
}
