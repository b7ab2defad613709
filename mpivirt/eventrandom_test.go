package mpivirt_test

import (
	"fmt"
	"iter"
	"slices"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// operation is one that an event rank ends a step with.
type operation func(r *mpivirt.EventRank) mpivirt.Outcome

// eventPlayer is an event rank that goes through a random program, as a coroutine that
// gives its steps one operation after the other.
type eventPlayer struct {
	next func() (operation, bool)
	*eventVirtual
}

// eventPlayers is a random program as event ranks, which enter what they see in logs.
func eventPlayers(p *program, logs [][]entry) mpivirt.EventProgram {
	return mpivirt.Steps(func(r *mpivirt.EventRank, s *eventPlayer) mpivirt.Outcome {
		if s.next == nil {
			rank := r.Rank()
			v := newEventVirtual()
			s.eventVirtual = v
			r.AttachBuffer(1 << 20)
			s.next, _ = iter.Pull(func(yield func(operation) bool) {
				v.yield = yield
				logs[rank] = play(v, rank, p.ops[rank])
			})
		}
		s.r = r
		o, more := s.next()
		if !more {
			return r.Finish()
		}
		return o(r)
	})
}

// eventVirtual is an event rank of the virtual MPI under test. It implements library.
type eventVirtual struct {
	r          *mpivirt.EventRank
	yield      func(operation) bool
	comms      map[int]mpivirt.EventComm
	slots      map[int]mpivirt.EventRequest
	persistent map[int]*startable
	finished   map[int]func(q mpivirt.EventRequest) // by slot: fetches what the request brings
	matched    mpivirt.EventMessage
}

// startable is a persistent request with its communicator.
type startable struct {
	mpivirt.EventPersistent
	comm int
}

func newEventVirtual() *eventVirtual {
	return &eventVirtual{
		comms: map[int]mpivirt.EventComm{1: mpivirt.EventSelf}, slots: map[int]mpivirt.EventRequest{},
		persistent: map[int]*startable{}, finished: map[int]func(mpivirt.EventRequest){},
	}
}

// do ends the step with an operation, and goes on in the next one.
func (v *eventVirtual) do(o operation) { v.yield(o) }

func (v *eventVirtual) on(comm int) *mpivirt.EventRank { return v.r.On(v.comms[comm]) }

// now is in a step of its own: only there does the clock show what operations of the
// step before took, if the model has state at the receiver.
func (v *eventVirtual) now() vtime.Time {
	v.do((*mpivirt.EventRank).Continue)
	return v.r.Now()
}

func (v *eventVirtual) size(comm int) int        { return v.on(comm).Members() }
func (v *eventVirtual) member(comm int) int      { return v.on(comm).Member() }
func (v *eventVirtual) compute(d vtime.Duration) { v.r.Compute(d) }

func (v *eventVirtual) send(o *op, payload []byte) {
	c := v.on(o.comm)
	q := mpivirt.EventRequest(0)
	switch o.name {
	case "isend":
		if o.sized {
			q = c.IsendSize(int64(o.bytes), o.peer, o.tag)
		} else {
			q = mpivirt.EventIsend(c, payload, o.peer, o.tag)
		}
	case "issend":
		q = mpivirt.EventIssend(c, payload, o.peer, o.tag)
	case "ibsend":
		q = mpivirt.EventIbsend(c, payload, o.peer, o.tag)
	case "irsend":
		q = mpivirt.EventIrsend(c, payload, o.peer, o.tag)
	default:
		v.do(func(r *mpivirt.EventRank) mpivirt.Outcome { return sendBlocking(r.On(v.comms[o.comm]), o, payload) })
	}
	if o.slot > 0 {
		v.slots[o.slot] = q
	}
}

func sendBlocking(c *mpivirt.EventRank, o *op, payload []byte) mpivirt.Outcome {
	switch {
	case o.name == "send" && o.sized:
		return c.SendSize(int64(o.bytes), o.peer, o.tag)
	case o.name == "send":
		return mpivirt.EventSend(c, payload, o.peer, o.tag)
	case o.name == "ssend" && o.sized:
		return c.SsendSize(int64(o.bytes), o.peer, o.tag)
	case o.name == "ssend":
		return mpivirt.EventSsend(c, payload, o.peer, o.tag)
	case o.name == "bsend":
		return mpivirt.EventBsend(c, payload, o.peer, o.tag)
	case o.name == "rsend":
		return mpivirt.EventRsend(c, payload, o.peer, o.tag)
	}
	panic(fmt.Sprintf("no operation %q", o.name))
}

// taken says whether a receive gives the engine no buffer and takes the data after it.
func (o *op) taken() bool { return o.sized || o.bytes%2 == 0 }

func (v *eventVirtual) recv(o *op, source, tag int, buffer []byte) mpivirt.Status {
	v.do(func(r *mpivirt.EventRank) mpivirt.Outcome {
		if c := r.On(v.comms[o.comm]); o.taken() {
			return c.Recv(source, tag)
		}
		return mpivirt.EventRecv(r.On(v.comms[o.comm]), buffer, source, tag)
	})
	if o.taken() {
		copy(buffer, v.r.Data())
	}
	return v.r.Status()
}

func (v *eventVirtual) irecv(o *op, buffer []byte) {
	if !o.taken() {
		v.slots[o.slot] = mpivirt.EventIrecv(v.on(o.comm), buffer, o.peer, o.tag)
		return
	}
	v.slots[o.slot] = v.on(o.comm).Irecv(o.peer, o.tag)
	v.finished[o.slot] = func(q mpivirt.EventRequest) { copy(buffer, v.r.DataOf(q)) }
}

func (v *eventVirtual) initialise(o *op, memory []byte) {
	p := &startable{comm: o.comm}
	switch o.name {
	case "sendinit":
		p.EventPersistent = mpivirt.EventSendInit(memory, o.peer, o.tag)
	case "ssendinit":
		p.EventPersistent = mpivirt.EventSsendInit(memory, o.peer, o.tag)
	case "bsendinit":
		p.EventPersistent = mpivirt.EventBsendInit(memory, o.peer, o.tag)
	case "rsendinit":
		p.EventPersistent = mpivirt.EventRsendInit(memory, o.peer, o.tag)
	case "recvinit":
		p.EventPersistent = mpivirt.EventRecvInit(memory, o.peer, o.tag)
	default:
		panic(fmt.Sprintf("no operation %q", o.name))
	}
	v.persistent[o.slot] = p
}

func (v *eventVirtual) start(slot int) {
	p := v.persistent[slot]
	v.slots[slot] = v.on(p.comm).Start(&p.EventPersistent)
}

func (v *eventVirtual) free(comm int) { v.r.Free(v.comms[comm]) }

func (v *eventVirtual) sendrecv(o *op, payload, buffer []byte) mpivirt.Status {
	v.do(func(r *mpivirt.EventRank) mpivirt.Outcome {
		return mpivirt.EventSendrecv(r.On(v.comms[o.comm]), payload, o.peer, o.tag, buffer, o.from, o.fromTag)
	})
	return v.r.Status()
}

func (v *eventVirtual) probe(o *op, matched bool) mpivirt.Status {
	v.do(func(r *mpivirt.EventRank) mpivirt.Outcome {
		if c := r.On(v.comms[o.comm]); !matched {
			return c.Probe(o.peer, o.tag)
		}
		return r.On(v.comms[o.comm]).Mprobe(o.peer, o.tag)
	})
	v.matched = v.r.Matched()
	return v.r.Status()
}

func (v *eventVirtual) iprobe(o *op, matched bool) (mpivirt.Status, bool) {
	v.do(func(r *mpivirt.EventRank) mpivirt.Outcome {
		if c := r.On(v.comms[o.comm]); !matched {
			return c.Iprobe(o.peer, o.tag)
		}
		return r.On(v.comms[o.comm]).Improbe(o.peer, o.tag)
	})
	v.matched = v.r.Matched()
	if !v.r.Found() {
		return mpivirt.Status{}, false
	}
	return v.r.Status(), true
}

func (v *eventVirtual) mrecv(buffer []byte) mpivirt.Status {
	v.do(func(r *mpivirt.EventRank) mpivirt.Outcome { return mpivirt.EventMrecv(r, v.matched, buffer) })
	return v.r.Status()
}

func (v *eventVirtual) wait(how string, slots []int) (done []int, statuses []mpivirt.Status, ok bool) {
	requests := make([]mpivirt.EventRequest, len(slots))
	active := false
	for i, slot := range slots {
		requests[i] = v.slots[slot]
		active = active || requests[i] != 0
	}
	v.do(func(r *mpivirt.EventRank) mpivirt.Outcome { return waitBy(r, how, requests) })
	if !v.r.Found() {
		return nil, nil, false
	}
	switch how {
	case "wait", "test":
		done = []int{0}
	case "waitany", "testany":
		if i := v.r.Index(); i >= 0 {
			done = []int{i}
		}
	case "waitsome", "testsome":
		done = slices.Clone(v.r.Indices())
	default:
		for i := range slots {
			done = append(done, i)
		}
	}
	for _, i := range done {
		q := requests[i]
		statuses = append(statuses, v.r.StatusOf(q))
		if fetch := v.finished[slots[i]]; fetch != nil && q != 0 {
			fetch(q)
			delete(v.finished, slots[i])
		}
		v.slots[slots[i]] = 0
	}
	return done, statuses, true
}

func waitBy(r *mpivirt.EventRank, how string, requests []mpivirt.EventRequest) mpivirt.Outcome {
	switch how {
	case "wait":
		return r.Wait(requests[0])
	case "test":
		return r.Test(requests[0])
	case "waitany":
		return r.Waitany(requests...)
	case "testany":
		return r.Testany(requests...)
	case "waitsome":
		return r.Waitsome(requests...)
	case "testsome":
		return r.Testsome(requests...)
	case "waitall":
		return r.Waitall(requests...)
	case "testall":
		return r.Testall(requests...)
	}
	panic(fmt.Sprintf("no operation %q", how))
}

func (v *eventVirtual) collective(o *op, input, output []uint64) {
	sum := mpivirt.Sum[uint64]()
	if o.ordered {
		sum = mpivirt.NewOp(false, combine(true))
	}
	if o.name == "bcast" && v.member(o.comm) == o.root {
		copy(output, input)
	}
	if o.slot == 0 {
		v.do(func(r *mpivirt.EventRank) mpivirt.Outcome {
			return blockingOfEvent(r.On(v.comms[o.comm]), o, input, output, sum)
		})
		if o.name == "allreduce" {
			copy(output, mpivirt.EventResult[uint64](v.on(o.comm)))
		}
		return
	}
	v.slots[o.slot] = nonblockingOfEvent(v.on(o.comm), o, input, output, sum)
	if o.name == "allreduce" {
		v.finished[o.slot] = func(q mpivirt.EventRequest) { copy(output, mpivirt.EventResultOf[uint64](v.r, q)) }
	}
	// What is handed in is taken over at once.
	clear(input)
}

func blockingOfEvent(c *mpivirt.EventRank, o *op, input, output []uint64, sum mpivirt.Op[uint64]) mpivirt.Outcome {
	switch o.name {
	case "barrier":
		return c.Barrier()
	case "bcast":
		return mpivirt.EventBcast(c, output, o.root)
	case "reduce":
		return mpivirt.EventReduce(c, input, output, sum, o.root)
	case "allreduce":
		return mpivirt.EventAllreduce(c, input, sum)
	case "gather":
		return mpivirt.EventGather(c, input, output, o.root)
	case "scatter":
		return mpivirt.EventScatter(c, input, output, o.root)
	case "allgather":
		return mpivirt.EventAllgather(c, input, output)
	case "alltoall":
		return mpivirt.EventAlltoall(c, input, output)
	case "gatherv":
		return mpivirt.EventGatherv(c, input, output, o.counts, o.root)
	case "scatterv":
		return mpivirt.EventScatterv(c, input, o.counts, output, o.root)
	case "allgatherv":
		return mpivirt.EventAllgatherv(c, input, output, o.counts)
	case "alltoallv":
		out, in := o.shares(c.Member())
		return mpivirt.EventAlltoallv(c, input, out, output, in)
	case "reduce_scatter":
		return mpivirt.EventReduceScatter(c, input, output, o.counts, sum)
	case "scan":
		return mpivirt.EventScan(c, input, output, sum)
	case "exscan":
		return mpivirt.EventExscan(c, input, output, sum)
	}
	panic(fmt.Sprintf("no operation %q", o.name))
}

func nonblockingOfEvent(c *mpivirt.EventRank, o *op, input, output []uint64, sum mpivirt.Op[uint64]) mpivirt.EventRequest {
	switch o.name {
	case "barrier":
		return c.Ibarrier()
	case "bcast":
		return mpivirt.EventIbcast(c, output, o.root)
	case "reduce":
		return mpivirt.EventIreduce(c, input, output, sum, o.root)
	case "allreduce":
		return mpivirt.EventIallreduce(c, input, sum)
	case "gather":
		return mpivirt.EventIgather(c, input, output, o.root)
	case "scatter":
		return mpivirt.EventIscatter(c, input, output, o.root)
	case "allgather":
		return mpivirt.EventIallgather(c, input, output)
	case "alltoall":
		return mpivirt.EventIalltoall(c, input, output)
	case "gatherv":
		return mpivirt.EventIgatherv(c, input, output, o.counts, o.root)
	case "scatterv":
		return mpivirt.EventIscatterv(c, input, o.counts, output, o.root)
	case "allgatherv":
		return mpivirt.EventIallgatherv(c, input, output, o.counts)
	case "alltoallv":
		out, in := o.shares(c.Member())
		return mpivirt.EventIalltoallv(c, input, out, output, in)
	case "reduce_scatter":
		return mpivirt.EventIreduceScatter(c, input, output, o.counts, sum)
	case "scan":
		return mpivirt.EventIscan(c, input, output, sum)
	case "exscan":
		return mpivirt.EventIexscan(c, input, output, sum)
	}
	panic(fmt.Sprintf("no operation %q", o.name))
}

func (v *eventVirtual) makes(o *op) []int {
	parent := v.comms[o.comm]
	group := v.on(o.comm).Group()
	var color int
	switch o.name {
	case "dup":
		v.do(func(r *mpivirt.EventRank) mpivirt.Outcome { return r.On(parent).Dup() })
	case "split":
		color = o.color
		v.do(func(r *mpivirt.EventRank) mpivirt.Outcome { return r.On(parent).Split(o.color, o.key) })
	case "create":
		g := must(group.Incl(o.group))
		color = mpivirt.Undefined
		if g.Member(v.r.Rank()) >= 0 {
			color = g.WorldRank(0)
		}
		v.do(func(r *mpivirt.EventRank) mpivirt.Outcome { return r.On(parent).Create(g) })
	}
	if color < 0 {
		return nil
	}
	v.comms[o.made] = v.on(o.comm).Made(color)
	c := v.on(o.made)
	var ranks []int
	for m := range c.Members() {
		ranks = append(ranks, c.Group().WorldRank(m))
	}
	if ranks[c.Member()] != v.r.Rank() {
		panic(fmt.Sprintf("member %d of %v is not rank %d", c.Member(), ranks, v.r.Rank()))
	}
	return ranks
}
