package record

import (
	"slices"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/trace"
)

// functions are the functions of traces by procedure, [trace.NoFunction] for one that is not recorded.
var functions = func() (of [1 << 8]trace.Function) {
	for p := range world.Procedure(world.Procedures()) {
		if f := trace.FunctionNamed("MPI_" + p.NameInC()); f != trace.NoFunction {
			of[p] = f
		}
	}
	return of
}()

// samePoll reports whether two tests or probes that have found nothing ask for the same.
func samePoll(a, b *trace.Operation) bool {
	return a.Function == b.Function && a.Form == b.Form && a.Comm == b.Comm && a.Source == b.Source && a.SourceTag == b.SourceTag && slices.Equal(a.Requests, b.Requests)
}

// Enters implements [kernel.Recorder].
func (r *recorder) Enters(lp int32, q *kernel.Call) {
	if r.entersPlain(lp, q) {
		return
	}
	n, p := &r.ranks[lp], q.Procedure
	o := r.take()
	if started := q.Started(); started != nil {
		p = started.Procedure
		o.Form |= trace.Persistent
		r.starts(o, started)
	}
	n.call, o.Function = o, functions[p]
	switch o.Function.Class() {
	case trace.ClassNone:
		r.refuse(lp, p, "it cannot be recorded yet")
	case trace.ClassWait, trace.ClassTest, trace.ClassCancel:
		notesRefusal(o, q)
		r.names(o, q)
		return
	case trace.ClassSend:
		r.sends(o, q)
	case trace.ClassReceive, trace.ClassProbe:
		r.receives(lp, o, q)
	case trace.ClassSendReceive:
		r.sends(o, q)
		r.receives(lp, o, q)
	case trace.ClassCollective:
		notesRefusal(o, q)
		r.collective(o, q)
	case trace.ClassNeighborhood:
		notesRefusal(o, q)
		r.exchange(o, q)
	case trace.ClassCommunicator:
		notesRefusal(o, q)
		r.creates(lp, o, q)
	case trace.ClassMeeting:
		notesRefusal(o, q)
		r.meets(o, q)
	}
	n.on = q.On().Index
	if o.Function != trace.CommCreateGroup {
		r.nameComm(lp, p, o, q.On())
	}
}

// notesRefusal notes that the arguments of a call are in error.
func notesRefusal(o *trace.Operation, q *kernel.Call) {
	if q.Refused() != nil {
		o.Form |= trace.Refused
	}
}

// nameComm stores the number of a call's communicator.
func (r *recorder) nameComm(lp int32, p world.Procedure, o *trace.Operation, c *kernel.Communicator) {
	if o.Comm = -1; c.Size == 0 {
		return // the call fails
	}
	n := &r.ranks[lp]
	if o.Comm = trace.World; c.Index != world.World {
		o.Comm = int64(n.commNumber(c.Index))
	}
	if o.Comm < 0 {
		r.refuse(lp, p, c.String()+" was made by a call that cannot be recorded yet")
	}
}

// starts stores the message of a persistent request.
func (r *recorder) starts(o *trace.Operation, p *kernel.Persistent) {
	if p.Procedure == world.Irecv {
		o.Source, o.SourceTag, o.Room = int64(p.Peer), int64(p.Tag), int64(len(p.Buffer))
		o.GotSource, o.GotTag = o.Source, o.SourceTag
		return
	}
	o.Peer, o.Tag, o.Bytes = int64(p.Peer), int64(p.Tag), int64(len(p.Buffer))
}

// sends stores the message that a call sends.
func (r *recorder) sends(o *trace.Operation, q *kernel.Call) {
	if q.Started() == nil {
		dest, tag, bytes := q.Sending()
		o.Peer, o.Tag, o.Bytes = int64(dest), int64(tag), bytes
	}
}

// receives stores the message that a call receives or probes for.
func (r *recorder) receives(lp int32, o *trace.Operation, q *kernel.Call) {
	if q.Started() != nil {
		return
	}
	source, tag, bytes, sized := q.Receiving()
	o.Source, o.SourceTag, o.Room = int64(source), int64(tag), bytes
	if !sized {
		o.Form, o.Room = o.Form|trace.Unsized, 0
	}
	if o.Function.Class() == trace.ClassReceive && q.Matched != 0 {
		o.Source, o.SourceTag, o.Message = 0, 0, int64(q.Matched)
		if number, known := r.messages[q.Matched]; known {
			o.Message = number + 1
			delete(r.messages, q.Matched)
			r.ranks[lp].probed.free(number)
		}
	}
	o.GotSource, o.GotTag = o.Source, o.SourceTag
}

// names stores the requests that a wait, test or cancel names.
func (r *recorder) names(o *trace.Operation, q *kernel.Call) {
	requests, listed := q.Named()
	if !listed {
		o.Form |= trace.Long
		return
	}
	for _, index := range requests {
		o.Requests = append(o.Requests, r.numberOf(index))
	}
}

// numberOf returns the number of a request in its task, -1 for an inactive one.
func (r *recorder) numberOf(index int32) int64 {
	if index <= 0 || int(index) >= len(r.requests) {
		return -1
	}
	return int64(r.requests[index]) - 1
}

// collective stores the arguments of a collective.
func (r *recorder) collective(o *trace.Operation, q *kernel.Call) {
	if q.IsNonblocking() {
		o.Form |= trace.Nonblocking
	}
	v := q.Arguments()
	if o.Form.Has(trace.Refused) {
		return
	}
	if q.On().Remote != nil && o.Function != trace.Barrier {
		o.Given, o.Taken = q.Lengths()
	}
	o.Root, o.Vector, o.Element, o.Datatype = int64(v.Root), v.Bytes, v.Element, int64(v.Type)
	if v.Data {
		o.Traits |= trace.Data
	}
	if v.Operator.Apply != nil {
		o.Traits |= trace.Operator
		if v.Operator.Commutative {
			o.Traits |= trace.Commutative
		}
	}
	o.Counts, o.InCounts, o.OutCounts = slices.Clone(v.Counts), slices.Clone(v.InCounts), slices.Clone(v.OutCounts)
}

// exchange stores the messages of a neighbourhood collective.
func (r *recorder) exchange(o *trace.Operation, q *kernel.Call) {
	if q.IsNonblocking() {
		o.Form |= trace.Nonblocking
	}
	receives, sends := q.Messages()
	for i := range receives {
		m := &receives[i]
		o.ReceivePeers, o.ReceiveTags, o.ReceiveRooms = append(o.ReceivePeers, int64(m.Peer)), append(o.ReceiveTags, int64(m.Tag)), append(o.ReceiveRooms, m.Bytes)
	}
	for i := range sends {
		m := &sends[i]
		o.SendPeers, o.SendTags, o.SendBytes = append(o.SendPeers, int64(m.Peer)), append(o.SendTags, int64(m.Tag)), append(o.SendBytes, m.Bytes)
	}
}

// creates stores the arguments of a function that makes communicators.
func (r *recorder) creates(lp int32, o *trace.Operation, q *kernel.Call) {
	o.Color, o.Made = world.Undefined, -1
	if o.Form.Has(trace.Refused) {
		return
	}
	v := q.Arguments()
	if q.IsNonblocking() {
		r.refuse(lp, q.Procedure, "it cannot be recorded yet")
		return
	}
	if q.On().Remote != nil && v.Creation == nil {
		return // of the duplicate of an intercommunicator the recorder hears by Duplicates
	}
	o.Color = int64(v.Color())
	switch p := q.Procedure.Plain(); p {
	case world.CommSplit:
		o.Key = int64(v.Key())
	case world.CommCreate, world.CommCreateGroup:
		o.Group = slices.Clone(r.runsOf(v.NewGroup()))
		if p == world.CommCreateGroup {
			o.Context = int64(q.On().Context)
		}
	}
}

// meets stores the arguments of a call that makes an intercommunicator. The leader alone has them.
func (r *recorder) meets(o *trace.Operation, q *kernel.Call) {
	if o.Made = -1; o.Form.Has(trace.Refused) {
		return
	}
	token, remoteToken, remote := q.Meets()
	o.Root, o.Token, o.RemoteToken = int64(q.Arguments().Root), int64(token), int64(remoteToken)
	o.Group = slices.Clone(r.runsOf(remote))
}

// runsOf returns the members of a group as runs of equal distances: first rank, distance, number.
func (r *recorder) runsOf(g *world.Group) []int64 {
	if g == nil {
		return nil
	}
	if g == r.grouped {
		return r.runs
	}
	r.grouped, r.runs = g, r.runs[:0]
	for m := 0; m < g.Size(); {
		first, distance, n := g.WorldRank(m), 1, 1
		if m+1 < g.Size() {
			distance = g.WorldRank(m+1) - first
		}
		for m+n < g.Size() && g.WorldRank(m+n) == first+n*distance {
			n++
		}
		r.runs = append(r.runs, int64(first), int64(distance), int64(n))
		m += n
	}
	return r.runs
}

// Leaves implements [kernel.Recorder].
func (r *recorder) Leaves(lp int32, b *kernel.Completion) {
	n := &r.ranks[lp]
	if n.plain.function != trace.NoFunction {
		r.leavesPlain(lp, b)
		return
	}
	o := n.call
	if n.call = nil; o == nil || r.failure != nil {
		return
	}
	if b.Err != nil {
		o.Form |= trace.Failed
	}
	switch o.Function.Class() {
	case trace.ClassSend, trace.ClassReceive, trace.ClassSendReceive:
		if blocks(o.Function) {
			r.received(o, b)
		} else {
			r.begun(lp, o, b)
		}
	case trace.ClassWait, trace.ClassTest:
		r.waited(lp, o, b)
	case trace.ClassProbe:
		r.found(lp, o, b)
	case trace.ClassCollective, trace.ClassNeighborhood:
		if o.Form.Has(trace.Nonblocking) {
			r.begun(lp, o, b)
		}
	case trace.ClassCommunicator:
		if b.Err == nil && o.Color >= 0 {
			r.made(lp, o)
		}
	case trace.ClassMeeting:
		if b.Err == nil {
			c := r.k.Communicator(b.NewComm)
			o.Made, o.Group = n.numberComm(c), slices.Clone(r.runsOf(c.Remote.Group))
			o.Token, o.RemoteToken = int64(c.Tokens[0]), int64(c.Tokens[1])
		}
	case trace.ClassFree:
		if b.Err == nil && o.Comm >= 2 {
			n.comms[o.Comm-2] = world.Freed
		}
	}
	r.finish(lp, o)
}

// blocks reports whether a function sends or receives and returns when that is over.
func blocks(f trace.Function) bool {
	switch f {
	case trace.Isend, trace.Issend, trace.Ibsend, trace.Irsend, trace.Irecv, trace.Isendrecv, trace.Psend, trace.Precv:
		return false
	}
	return true
}

// begun gives the request that a call has begun a number.
func (r *recorder) begun(lp int32, o *trace.Operation, b *kernel.Completion) {
	if o.Request = -1; b.Err != nil {
		return
	}
	o.Request = r.ranks[lp].requests.take()
	for int(b.Request) >= len(r.requests) {
		r.requests = append(r.requests, make([]int32, max(64, len(r.requests)))...)
	}
	r.requests[b.Request] = int32(o.Request) + 1
	if isWild(o) {
		if r.wild == nil {
			r.wild = map[int32]bool{}
		}
		r.wild[b.Request] = true
	}
}

// isWild reports whether an operation receives a message of any source, or with any tag.
func isWild(o *trace.Operation) bool {
	switch o.Function.Class() {
	case trace.ClassReceive, trace.ClassSendReceive:
		return o.Source == world.AnySource || o.SourceTag == world.AnyTag
	}
	return false
}

// received stores the message that a blocking receive with wildcards has received.
func (r *recorder) received(o *trace.Operation, b *kernel.Completion) {
	if b.Err != nil || !isWild(o) {
		return
	}
	s := r.k.StatusOf(b)
	o.GotSource, o.GotTag = int64(s.Source), int64(s.Tag)
}

// waited stores the requests that a wait or test has completed.
func (r *recorder) waited(lp int32, o *trace.Operation, b *kernel.Completion) {
	n := &r.ranks[lp]
	if o.Function.Class() == trace.ClassTest && !b.Found && b.Err == nil {
		if o.Form |= trace.Missed; o.Form.Has(trace.Long) {
			o.Form &^= trace.Long
			for _, index := range r.k.WaitSet(lp) {
				o.Requests = append(o.Requests, r.numberOf(index))
			}
		}
		return
	}
	switch o.Function {
	case trace.Waitany, trace.Waitsome, trace.Testany, trace.Testsome:
		if !o.Form.Has(trace.Long) {
			for _, i := range b.Indices {
				o.Completed = append(o.Completed, int64(i))
			}
		}
	}
	for _, index := range b.Completed {
		number := r.numberOf(index)
		if number < 0 {
			continue
		}
		if o.Form.Has(trace.Long) {
			o.Requests = append(o.Requests, number)
		}
		if r.wild[index] {
			delete(r.wild, index)
			if s, _, includes := r.k.CompletedRequest(b, index); includes && !s.Cancelled {
				o.Matched = append(o.Matched, number, int64(s.Source), int64(s.Tag))
			}
		}
		r.requests[index] = 0
		n.requests.free(number)
	}
}

// found stores the message that a probe has found.
func (r *recorder) found(lp int32, o *trace.Operation, b *kernel.Completion) {
	if !b.Found {
		if o.Function.MayFind() && b.Err == nil {
			o.Form |= trace.Missed
		}
		return
	}
	o.GotSource, o.GotTag, o.GotBytes = int64(b.Status.Source), int64(b.Status.Tag), b.Status.Bytes
	switch {
	case b.Message < 0:
		o.Message = int64(b.Message)
	case b.Message > 0:
		number := r.ranks[lp].probed.take()
		if r.messages == nil {
			r.messages = map[int32]int64{}
		}
		r.messages[b.Message], o.Message = number, number+1
	}
}

// made gives the communicator that a call has made a number.
func (r *recorder) made(lp int32, o *trace.Operation) {
	n := &r.ranks[lp]
	made := r.k.NewComm(lp, r.k.Communicator(n.on), int(o.Color))
	if made == nil {
		return
	}
	o.Made = n.numberComm(made)
}

// numberComm gives a communicator a number.
func (n *rank) numberComm(c *kernel.Communicator) int64 {
	i := slices.Index(n.comms, world.Freed)
	if i < 0 {
		i = len(n.comms)
		n.comms = append(n.comms, 0)
	}
	n.comms[i] = c.Index
	return int64(2 + i)
}

// Duplicates implements [kernel.Recorder].
func (r *recorder) Duplicates(lp int32, c, duplicate *kernel.Communicator, number int32) {
	r.endPolls(lp)
	r.burst = trace.Operation{Function: trace.LocalDuplicate, Key: int64(number)}
	r.nameComm(lp, world.CommDup, &r.burst, c)
	r.burst.Made = r.ranks[lp].numberComm(duplicate)
	r.add(lp, &r.burst)
}

// Merges implements [kernel.Recorder].
func (r *recorder) Merges(lp int32, c, merged *kernel.Communicator, number int32, localFirst bool) {
	r.endPolls(lp)
	r.burst = trace.Operation{Function: trace.LocalMerge, Key: int64(number)}
	if localFirst {
		r.burst.Color = 1
	}
	r.nameComm(lp, world.IntercommMerge, &r.burst, c)
	r.burst.Made = r.ranks[lp].numberComm(merged)
	r.add(lp, &r.burst)
}
