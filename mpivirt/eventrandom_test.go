package mpivirt_test

import (
	"fmt"
	"iter"
	"slices"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// operation is one that an event rank ends a step with.
type operation func(r *steps.Rank) steps.Outcome

// eventPlayer is an event rank that goes through a random program, as a coroutine that
// gives its steps one operation after the other.
type eventPlayer struct {
	next func() (operation, bool)
	*eventVirtual
}

// eventPlayers is a random program as event ranks, which enter what they see in logs.
func eventPlayers(p *program, logs [][]entry) steps.Program {
	return steps.New(func(r *steps.Rank, s *eventPlayer) steps.Outcome {
		if s.next == nil {
			rank := r.Rank()
			v := newEventVirtual()
			s.eventVirtual = v
			r.AttachBuffer(1 << 20)
			r.MayCancel(cancels(rank))
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
	r          *steps.Rank
	yield      func(operation) bool
	comms      map[int]steps.Comm
	slots      map[int]steps.Request
	persistent map[int]*startable
	finished   map[int]func(q steps.Request) // by slot: fetches what the request brings
	matched    steps.Message
}

// startable is a persistent request with its communicator.
type startable struct {
	steps.Persistent
	comm int
}

func newEventVirtual() *eventVirtual {
	return &eventVirtual{
		comms: map[int]steps.Comm{1: steps.Self}, slots: map[int]steps.Request{},
		persistent: map[int]*startable{}, finished: map[int]func(steps.Request){},
	}
}

// do ends the step with an operation, and goes on in the next one.
func (v *eventVirtual) do(o operation) { v.yield(o) }

func (v *eventVirtual) on(comm int) *steps.Rank { return v.r.On(v.comms[comm]) }

// now is in a step of its own: only there does the clock show what operations of the
// step before took, if the model has state at the receiver.
func (v *eventVirtual) now() vtime.Time {
	v.do((*steps.Rank).Continue)
	return v.r.Now()
}

func (v *eventVirtual) size(comm int) int { return v.on(comm).Members() }

func (v *eventVirtual) member(comm int) int { return v.on(comm).Member() }

func (v *eventVirtual) compute(d vtime.Duration) { v.r.Compute(d) }

func (v *eventVirtual) send(o *op, payload []byte) {
	c := v.on(o.comm)
	q := steps.Request(0)
	switch o.name {
	case "isend":
		if o.sized {
			q = c.IsendSize(int64(o.bytes), o.peer, o.tag)
		} else {
			q = steps.Isend(c, payload, o.peer, o.tag)
		}
	case "issend":
		q = steps.Issend(c, payload, o.peer, o.tag)
	case "ibsend":
		q = steps.Ibsend(c, payload, o.peer, o.tag)
	case "irsend":
		q = steps.Irsend(c, payload, o.peer, o.tag)
	default:
		v.do(func(r *steps.Rank) steps.Outcome { return sendBlocking(r.On(v.comms[o.comm]), o, payload) })
	}
	if o.slot > 0 {
		v.slots[o.slot] = q
	}
}

func sendBlocking(c *steps.Rank, o *op, payload []byte) steps.Outcome {
	switch {
	case o.name == "send" && o.sized:
		return c.SendSize(int64(o.bytes), o.peer, o.tag)
	case o.name == "send":
		return steps.Send(c, payload, o.peer, o.tag)
	case o.name == "ssend" && o.sized:
		return c.SsendSize(int64(o.bytes), o.peer, o.tag)
	case o.name == "ssend":
		return steps.Ssend(c, payload, o.peer, o.tag)
	case o.name == "bsend":
		return steps.Bsend(c, payload, o.peer, o.tag)
	case o.name == "rsend":
		return steps.Rsend(c, payload, o.peer, o.tag)
	}
	panic(fmt.Sprintf("no operation %q", o.name))
}

// taken says whether a receive gives the engine no buffer and takes the data after it.
func (o *op) taken() bool { return o.sized || o.bytes%2 == 0 }

func (v *eventVirtual) recv(o *op, source, tag int, buffer []byte) mpivirt.Status {
	v.do(func(r *steps.Rank) steps.Outcome {
		if c := r.On(v.comms[o.comm]); o.taken() {
			return c.Recv(source, tag)
		}
		return steps.Recv(r.On(v.comms[o.comm]), buffer, source, tag)
	})
	if o.taken() {
		copy(buffer, v.r.Data())
	}
	return v.r.Status()
}

func (v *eventVirtual) irecv(o *op, buffer []byte) {
	if !o.taken() {
		v.slots[o.slot] = steps.Irecv(v.on(o.comm), buffer, o.peer, o.tag)
		return
	}
	v.slots[o.slot] = v.on(o.comm).Irecv(o.peer, o.tag)
	v.finished[o.slot] = func(q steps.Request) { copy(buffer, v.r.DataOf(q)) }
}

func (v *eventVirtual) cancel(slot int) {
	v.do(func(r *steps.Rank) steps.Outcome { return r.Cancel(v.slots[slot]) })
}

func (v *eventVirtual) initialise(o *op, memory []byte) {
	p := &startable{comm: o.comm}
	switch o.name {
	case "sendinit":
		p.Persistent = steps.SendInit(memory, o.peer, o.tag)
	case "ssendinit":
		p.Persistent = steps.SsendInit(memory, o.peer, o.tag)
	case "bsendinit":
		p.Persistent = steps.BsendInit(memory, o.peer, o.tag)
	case "rsendinit":
		p.Persistent = steps.RsendInit(memory, o.peer, o.tag)
	case "recvinit":
		p.Persistent = steps.RecvInit(memory, o.peer, o.tag)
	default:
		panic(fmt.Sprintf("no operation %q", o.name))
	}
	v.persistent[o.slot] = p
}

func (v *eventVirtual) start(slot int) {
	p := v.persistent[slot]
	v.slots[slot] = v.on(p.comm).Start(&p.Persistent)
}

func (v *eventVirtual) free(comm int) { v.r.Free(v.comms[comm]) }

func (v *eventVirtual) sendrecv(o *op, payload, buffer []byte) mpivirt.Status {
	v.do(func(r *steps.Rank) steps.Outcome {
		return steps.Sendrecv(r.On(v.comms[o.comm]), payload, o.peer, o.tag, buffer, o.from, o.fromTag)
	})
	return v.r.Status()
}

func (v *eventVirtual) probe(o *op, matched bool) mpivirt.Status {
	v.do(func(r *steps.Rank) steps.Outcome {
		if c := r.On(v.comms[o.comm]); !matched {
			return c.Probe(o.peer, o.tag)
		}
		return r.On(v.comms[o.comm]).Mprobe(o.peer, o.tag)
	})
	v.matched = v.r.Matched()
	return v.r.Status()
}

func (v *eventVirtual) iprobe(o *op, matched bool) (mpivirt.Status, bool) {
	v.do(func(r *steps.Rank) steps.Outcome {
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
	v.do(func(r *steps.Rank) steps.Outcome { return steps.Mrecv(r, v.matched, buffer) })
	return v.r.Status()
}

func (v *eventVirtual) wait(how string, slots []int) (done []int, statuses []mpivirt.Status, ok bool) {
	requests := make([]steps.Request, len(slots))
	active := false
	for i, slot := range slots {
		requests[i] = v.slots[slot]
		active = active || requests[i] != 0
	}
	v.do(func(r *steps.Rank) steps.Outcome { return waitBy(r, how, requests) })
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

func waitBy(r *steps.Rank, how string, requests []steps.Request) steps.Outcome {
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
	if o.name == "neighbor_alltoall" {
		n := neighborsOf(o, v.member(o.comm), v.size(o.comm))
		if o.slot > 0 {
			v.slots[o.slot] = steps.IneighborAlltoall(v.on(o.comm), n, input, output)
			return
		}
		v.do(func(r *steps.Rank) steps.Outcome {
			return steps.NeighborAlltoall(r.On(v.comms[o.comm]), n, input, output)
		})
		return
	}
	if o.slot == 0 {
		v.do(func(r *steps.Rank) steps.Outcome {
			return blockingOfEvent(r.On(v.comms[o.comm]), o, input, output, sum)
		})
		if o.name == "allreduce" {
			copy(output, steps.Result[uint64](v.on(o.comm)))
		}
		return
	}
	v.slots[o.slot] = nonblockingOfEvent(v.on(o.comm), o, input, output, sum)
	if o.name == "allreduce" {
		v.finished[o.slot] = func(q steps.Request) { copy(output, steps.ResultOf[uint64](v.r, q)) }
	}
	// What is handed in is taken over at once.
	clear(input)
}

func blockingOfEvent(c *steps.Rank, o *op, input, output []uint64, sum mpivirt.Op[uint64]) steps.Outcome {
	switch o.name {
	case "barrier":
		return c.Barrier()
	case "bcast":
		return steps.Bcast(c, output, o.root)
	case "reduce":
		return steps.Reduce(c, input, output, sum, o.root)
	case "allreduce":
		return steps.Allreduce(c, input, sum)
	case "gather":
		return steps.Gather(c, input, output, o.root)
	case "scatter":
		return steps.Scatter(c, input, output, o.root)
	case "allgather":
		return steps.Allgather(c, input, output)
	case "alltoall":
		return steps.Alltoall(c, input, output)
	case "gatherv":
		return steps.Gatherv(c, input, output, o.counts, o.root)
	case "scatterv":
		return steps.Scatterv(c, input, o.counts, output, o.root)
	case "allgatherv":
		return steps.Allgatherv(c, input, output, o.counts)
	case "alltoallv":
		out, in := o.shares(c.Member())
		return steps.Alltoallv(c, input, out, output, in)
	case "reduce_scatter":
		return steps.ReduceScatter(c, input, output, o.counts, sum)
	case "scan":
		return steps.Scan(c, input, output, sum)
	case "exscan":
		return steps.Exscan(c, input, output, sum)
	}
	panic(fmt.Sprintf("no operation %q", o.name))
}

func nonblockingOfEvent(c *steps.Rank, o *op, input, output []uint64, sum mpivirt.Op[uint64]) steps.Request {
	switch o.name {
	case "barrier":
		return c.Ibarrier()
	case "bcast":
		return steps.Ibcast(c, output, o.root)
	case "reduce":
		return steps.Ireduce(c, input, output, sum, o.root)
	case "allreduce":
		return steps.Iallreduce(c, input, sum)
	case "gather":
		return steps.Igather(c, input, output, o.root)
	case "scatter":
		return steps.Iscatter(c, input, output, o.root)
	case "allgather":
		return steps.Iallgather(c, input, output)
	case "alltoall":
		return steps.Ialltoall(c, input, output)
	case "gatherv":
		return steps.Igatherv(c, input, output, o.counts, o.root)
	case "scatterv":
		return steps.Iscatterv(c, input, o.counts, output, o.root)
	case "allgatherv":
		return steps.Iallgatherv(c, input, output, o.counts)
	case "alltoallv":
		out, in := o.shares(c.Member())
		return steps.Ialltoallv(c, input, out, output, in)
	case "reduce_scatter":
		return steps.IreduceScatter(c, input, output, o.counts, sum)
	case "scan":
		return steps.Iscan(c, input, output, sum)
	case "exscan":
		return steps.Iexscan(c, input, output, sum)
	}
	panic(fmt.Sprintf("no operation %q", o.name))
}

// neighborsOf returns the neighbours of a member in a topology of the random programs.
func neighborsOf(o *op, member, size int) *mpivirt.Neighbors {
	sources, destinations := o.neighborsOf(member, size)
	return must(mpivirt.NewNeighbors(size, sources, destinations))
}

func (v *eventVirtual) makes(o *op) []int {
	parent := v.comms[o.comm]
	group := v.on(o.comm).Group()
	var color int
	switch o.name {
	case "dup", "graph":
		v.do(func(r *steps.Rank) steps.Outcome { return r.On(parent).Dup() })
	case "split":
		color = o.color
		v.do(func(r *steps.Rank) steps.Outcome { return r.On(parent).Split(o.color, o.key) })
	case "create":
		g := must(group.Incl(o.group))
		color = mpivirt.Undefined
		if g.Member(v.r.Rank()) >= 0 {
			color = g.WorldRank(0)
		}
		v.do(func(r *steps.Rank) steps.Outcome { return r.On(parent).Create(g) })
	}
	switch {
	case color < 0:
		return nil
	case o.name == "create_group":
		g := must(group.Incl(o.group))
		v.do(func(r *steps.Rank) steps.Outcome { return r.On(parent).CreateGroup(g, o.tag) })
		v.comms[o.made] = v.on(o.comm).NewGroupComm(g, o.tag)
	default:
		v.comms[o.made] = v.on(o.comm).NewComm(color)
	}
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
