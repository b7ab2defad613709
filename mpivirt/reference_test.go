package mpivirt_test

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"slices"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/internal/typed"
	"gigarank/network"
	"gigarank/vtime"
)

// The reference is a slow, sequential virtual MPI. It keeps one list of all that
// happens in the whole simulation and takes it strictly in the total order (time,
// source rank, sequence number); at one instant, what arrives comes before what
// ranks do. So at every moment everything before is known, and each rule of MPI can
// be written down as the standard has it: a message that arrives goes to the first
// posted receive that matches, a receive takes the first unexpected message that
// matches, a wait looks whether its requests are complete. It shares nothing with
// the kernel but the delays of the target machine and the schedules of the
// collectives.
type reference struct {
	target     *network.Target
	algorithms map[collectives.Operation]collectives.Algorithm
	list       happenings
	now        vtime.Time
	sequence   int
	ranks      []*refRank
	processes  []*process
}

// happening is an entry of the event list.
type happening struct {
	at       vtime.Time
	action   bool // of a rank; else something arrives
	source   int
	sequence int
	do       func()
}

type happenings []*happening

func (h happenings) Len() int { return len(h) }
func (h happenings) Less(i, j int) bool {
	a, b := h[i], h[j]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.action != b.action:
		return b.action
	case a.source != b.source:
		return a.source < b.source
	default:
		return a.sequence < b.sequence
	}
}
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(*happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (x *reference) schedule(at vtime.Time, action bool, source int, do func()) {
	x.sequence++
	heap.Push(&x.list, &happening{at, action, source, x.sequence, do})
}

// process is a sequence of actions that takes virtual time: a rank, or what
// carries one member through a collective.
type process struct {
	x       *reference
	rank    int
	action  bool
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	blocked bool
	ended   bool
}

// start begins a process at once: it runs until it must wait.
func (x *reference) start(rank int, action bool, body func(p *process)) {
	p := &process{x: x, rank: rank, action: action}
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		body(p)
		p.ended = true
	})
	x.processes = append(x.processes, p)
	p.next()
}

// errStopped unwinds a process that is given up.
var errStopped = fmt.Errorf("reference: stopped")

func (p *process) pause() {
	if !p.yield(struct{}{}) {
		panic(errStopped)
	}
}

func (p *process) sleep(until vtime.Time) {
	if until > p.x.now {
		p.x.schedule(until, p.action, p.rank, func() { p.next() })
		p.pause()
	}
}

// until waits for a condition; who makes it true pokes the process.
func (p *process) until(condition func() bool) {
	for !condition() {
		p.blocked = true
		p.pause()
	}
}

func (p *process) poke() {
	if p.blocked {
		p.blocked = false
		p.x.schedule(p.x.now, p.action, p.rank, func() { p.next() })
	}
}

// run plays a program and returns what each rank saw. Ranks that wait for ever are
// an error.
func (x *reference) run(p *program) (logs [][]entry, err error) {
	logs = make([][]entry, len(p.ops))
	world := &refComm{world: true}
	for rank := range p.ops {
		world.ranks = append(world.ranks, rank)
	}
	for rank := range p.ops {
		r := &refRank{x: x, rank: rank, slots: map[int]*refRequest{}, sent: map[int]vtime.Time{}, persistent: map[int]func() *refRequest{}, comms: map[int]*refComm{
			0: world, 1: {ranks: []int{rank}},
		}}
		x.ranks = append(x.ranks, r)
		x.schedule(0, true, rank, func() {
			x.start(rank, true, func(process *process) {
				r.process = process
				logs[rank] = play(r, rank, p.ops[rank])
			})
		})
	}
	for len(x.list) > 0 {
		h := heap.Pop(&x.list).(*happening)
		x.now = h.at
		h.do()
	}
	for _, r := range x.ranks {
		if !r.process.ended {
			err = fmt.Errorf("rank %d waits for ever", r.rank)
		}
	}
	for _, p := range x.processes {
		p.giveUp()
	}
	return logs, err
}

func (p *process) giveUp() {
	defer func() {
		if v := recover(); v != nil && v != any(errStopped) {
			panic(v)
		}
	}()
	p.stop()
}

// refRank is a rank. It implements library.
type refRank struct {
	*process
	x          *reference
	rank       int
	comms      map[int]*refComm
	slots      map[int]*refRequest
	posted     []*refRequest
	unexpected []*refMessage      // in order of arrival
	sent       map[int]vtime.Time // by destination: arrival of the latest message, or of its request
	port       refPort
	persistent map[int]func() *refRequest
	found      *refMessage // by the matched probe
}

// refPort is a network interface that takes a message each gap, and gives one.
type refPort struct {
	send, receive vtime.Time
}

type refMessage struct {
	comm      *refComm
	source    int // member
	rank      int
	tag       int
	bytes     int
	payload   []byte
	requestOf *refRequest // of a sender that waits for the match
	arrival   vtime.Time
}

type refRequest struct {
	complete bool
	receive  bool
	comm     *refComm
	source   int
	tag      int
	buffer   []byte
	status   mpivirt.Status
	posted   vtime.Time
	arrival  vtime.Time // of the message that it took
	sender   int
	parts    []*refRequest // of a neighbourhood collective
	output   []uint64      // what it brings
}

// over reports whether a request is complete. A neighbourhood collective brings its output then.
func (q *refRequest) over() bool {
	if q.parts == nil {
		return q.complete
	}
	if slices.ContainsFunc(q.parts, func(part *refRequest) bool { return !part.complete }) {
		return false
	}
	at := 0
	for _, part := range q.parts {
		at += copy(q.output[at:], typed.Elements[uint64](part.buffer))
	}
	return true
}

func (q *refRequest) matches(m *refMessage) bool {
	return q.comm == m.comm && (q.source == mpivirt.AnySource || q.source == m.source) && (q.tag == mpivirt.AnyTag || q.tag == m.tag)
}

func (r *refRank) now() vtime.Time { return r.x.now }

func (r *refRank) size(comm int) int { return len(r.comms[comm].ranks) }

func (r *refRank) member(comm int) int { return r.comms[comm].member(r.rank) }

func (r *refRank) compute(d vtime.Duration) { r.sleep(r.x.now.Add(d)) }

// depart is when a message sent now leaves, and when the sender's CPU is free again:
// the CPU spends the overhead, then copies the bytes, and the interface leaves a gap
// between two messages.
func (x *reference) depart(port *refPort, bytes int64) (free, leaves vtime.Time) {
	tgt := x.target
	leaves = x.now.Add(tgt.Overhead().Send)
	free = leaves.Add(tgt.Copy(bytes))
	leaves = max(leaves, port.send)
	port.send = leaves.Add(tgt.Gap())
	return free, leaves
}

// take is when a receive posted at posted is over, whose content is there at arrival:
// the interface leaves a gap between two messages, and the CPU, free from free on,
// spends the overhead and copies the bytes.
func (x *reference) take(port *refPort, bytes int64, posted, free, arrival vtime.Time) vtime.Time {
	tgt := x.target
	taken := max(posted, free, arrival, port.receive)
	port.receive = taken.Add(tgt.Gap())
	return taken.Add(tgt.Overhead().Receive).Add(tgt.Copy(bytes))
}

// answer carries a message above the eager limit through the rest of its rendezvous,
// from the match on, which is now: the acknowledgement goes back to the sender, and
// then the data leave.
func (x *reference) answer(src, dst int, bytes int64, left, arrived func()) {
	tgt := x.target
	x.schedule(x.now.Add(tgt.Latency(dst, src)), false, dst, func() {
		leaving := tgt.Transfer(src, dst, bytes)
		if tgt.Copies() {
			leaving = tgt.Copy(bytes)
		}
		x.schedule(x.now.Add(leaving), false, src, left)
		x.schedule(x.now.Add(tgt.Delay(src, dst, bytes)), false, src, arrived)
	})
}

// large reports whether a message takes the three steps of a rendezvous.
func (x *reference) large(bytes int64) bool { return bytes > x.target.EagerLimit() }

// arrivalOf is when a message sent now, or the request for it, arrives, and when the
// sender's CPU is free again: after its delay alone, and after its transfer from the arrival of the
// message before it to the same rank on.
func (r *refRank) arrivalOf(dst, bytes int) (free, arrival vtime.Time) {
	tgt := r.x.target
	free, t := r.x.depart(&r.port, int64(bytes))
	receive := t.Add(tgt.Delay(r.rank, dst, int64(bytes)))
	if before, sent := r.sent[dst]; sent {
		transfer := tgt.Transfer(r.rank, dst, int64(bytes))
		receive = max(receive, before.Add(tgt.Occupancy(r.rank, dst, int64(bytes), transfer)))
	}
	r.sent[dst] = receive
	return free, receive
}

// begin sends a message, which takes the CPU its time; the request is complete when
// the message's memory is free.
func (r *refRank) begin(o *op, comm, dest, tag, bytes int, payload []byte, name string) *refRequest {
	c := r.comms[comm]
	m := &refMessage{comm: c, source: c.member(r.rank), rank: r.rank, tag: tag, bytes: bytes, payload: slices.Clone(payload)}
	request := &refRequest{complete: true}
	synchronous := name == "ssend" || name == "issend" || name == "ssendinit"
	buffered := name == "bsend" || name == "ibsend" || name == "bsendinit"
	if synchronous || int64(bytes) > r.x.target.EagerLimit() && !buffered {
		request.complete = false
		m.requestOf = request
	}
	dst := r.x.ranks[c.ranks[dest]]
	under := bytes
	if r.x.large(int64(bytes)) {
		under = 0
	}
	free, arrival := r.arrivalOf(dst.rank, under)
	if buffered {
		free = free.Add(r.x.target.Copy(int64(bytes - under)))
	}
	m.arrival = arrival
	r.x.schedule(arrival, false, r.rank, func() { dst.arrive(m) })
	r.sleep(free)
	return request
}

func (r *refRank) arrive(m *refMessage) {
	i := slices.IndexFunc(r.posted, func(q *refRequest) bool { return q.matches(m) })
	if i < 0 {
		r.unexpected = append(r.unexpected, m)
	} else {
		q := r.posted[i]
		r.posted = slices.Delete(r.posted, i, i+1)
		r.match(q, m)
	}
	r.poke()
}

// match gives a message to a receive, now.
func (r *refRank) match(q *refRequest, m *refMessage) {
	q.sender = m.rank
	q.status = mpivirt.Status{Source: m.source, Tag: m.tag, Bytes: int64(m.bytes)}
	copy(q.buffer, m.payload)
	sender := r.x.ranks[m.rank]
	left := func() {
		if m.requestOf != nil {
			m.requestOf.complete = true
			sender.poke()
		}
	}
	if r.x.large(int64(m.bytes)) {
		r.x.answer(m.rank, r.rank, int64(m.bytes), left, func() {
			q.complete, q.arrival = true, r.x.now
			r.poke()
		})
		return
	}
	q.complete, q.arrival = true, m.arrival
	r.x.schedule(r.x.now.Add(r.x.target.Latency(r.rank, m.rank)), false, r.rank, left)
}

func (r *refRank) post(comm, source, tag int, buffer []byte) *refRequest {
	q := &refRequest{receive: true, comm: r.comms[comm], source: source, tag: tag, buffer: buffer, posted: r.x.now}
	if i := r.lookFor(q); i >= 0 {
		m := r.unexpected[i]
		r.unexpected = slices.Delete(r.unexpected, i, i+1)
		r.match(q, m)
	} else {
		r.posted = append(r.posted, q)
	}
	return q
}

// lookFor returns the first unexpected message that a receive could take, or -1.
func (r *refRank) lookFor(q *refRequest) int {
	return slices.IndexFunc(r.unexpected, q.matches)
}

// charge lets the rank's CPU take in the messages of receives that are over, in the
// order in which they arrived. It has been free since the instant given.
func (r *refRank) charge(since vtime.Time, requests ...*refRequest) {
	var receives []*refRequest
	for _, q := range requests {
		if q == nil {
			continue
		}
		for _, part := range append(q.parts, q) {
			if part.receive {
				receives = append(receives, part)
			}
		}
	}
	slices.SortStableFunc(receives, func(a, b *refRequest) int {
		if a.arrival != b.arrival {
			return a.arrival.Compare(b.arrival)
		}
		return a.sender - b.sender
	})
	for _, q := range receives {
		since = r.x.take(&r.port, q.status.Bytes, q.posted, since, q.arrival)
	}
	r.sleep(since)
}

func (r *refRank) initialise(o *op, memory []byte) {
	r.persistent[o.slot] = func() *refRequest {
		if o.name == "recvinit" {
			return r.post(o.comm, o.peer, o.tag, memory)
		}
		return r.begin(o, o.comm, o.peer, o.tag, o.bytes, memory, o.name)
	}
}

func (r *refRank) start(slot int) { r.slots[slot] = r.persistent[slot]() }

// free takes no time; nothing of the communicator is used afterwards.
func (r *refRank) free(int) {}

func (r *refRank) send(o *op, payload []byte) {
	request := r.begin(o, o.comm, o.peer, o.tag, o.bytes, payload, o.name)
	if o.slot > 0 {
		r.slots[o.slot] = request
		return
	}
	r.until(func() bool { return request.complete })
}

func (r *refRank) recv(o *op, source, tag int, buffer []byte) mpivirt.Status {
	q, began := r.post(o.comm, source, tag, buffer), r.x.now
	r.until(func() bool { return q.complete })
	r.charge(began, q)
	return q.status
}

func (r *refRank) irecv(o *op, buffer []byte) {
	r.slots[o.slot] = r.post(o.comm, o.peer, o.tag, buffer)
}

// cancel cancels a receive that has no message.
func (r *refRank) cancel(slot int) {
	q := r.slots[slot]
	if i := slices.Index(r.posted, q); i >= 0 {
		r.posted = slices.Delete(r.posted, i, i+1)
		q.complete, q.receive = true, false
		q.status = mpivirt.Status{Source: mpivirt.AnySource, Tag: mpivirt.AnyTag, Cancelled: true}
	}
}

func (r *refRank) sendrecv(o *op, payload, buffer []byte) mpivirt.Status {
	in := r.post(o.comm, o.from, o.fromTag, buffer)
	out := r.begin(o, o.comm, o.peer, o.tag, o.bytes, payload, o.name)
	began := r.x.now
	r.until(func() bool { return in.complete && out.complete })
	r.charge(began, in)
	return in.status
}

func (r *refRank) probe(o *op, matched bool) mpivirt.Status {
	q := &refRequest{comm: r.comms[o.comm], source: o.peer, tag: o.tag}
	r.until(func() bool { return r.lookFor(q) >= 0 })
	return r.probed(r.lookFor(q), matched)
}

func (r *refRank) probed(i int, matched bool) mpivirt.Status {
	m := r.unexpected[i]
	if matched {
		r.unexpected = slices.Delete(r.unexpected, i, i+1)
		r.found = m
	}
	return mpivirt.Status{Source: m.source, Tag: m.tag, Bytes: int64(m.bytes)}
}

func (r *refRank) iprobe(o *op, matched bool) (mpivirt.Status, bool) {
	q := &refRequest{comm: r.comms[o.comm], source: o.peer, tag: o.tag}
	if i := r.lookFor(q); i >= 0 {
		return r.probed(i, matched), true
	}
	r.failedPoll()
	return mpivirt.Status{}, false
}

func (r *refRank) failedPoll() { r.sleep(r.x.now.Add(r.x.target.PollTime())) }

func (r *refRank) mrecv(buffer []byte) mpivirt.Status {
	q := &refRequest{receive: true, buffer: buffer, posted: r.x.now}
	r.match(q, r.found)
	began := r.x.now
	r.until(func() bool { return q.complete })
	r.charge(began, q)
	return q.status
}

var inactive = mpivirt.Status{Source: mpivirt.AnySource, Tag: mpivirt.AnyTag}

func (r *refRank) retire(slot int) mpivirt.Status {
	q := r.slots[slot]
	delete(r.slots, slot)
	if q == nil {
		return inactive
	}
	return q.status
}

// complete lists which of the requests are complete, and whether all and any are
// that count; inactive ones are never in the list and always count for all.
func (r *refRank) complete(slots []int) (list []int, all, active bool) {
	all = true
	for i, slot := range slots {
		q := r.slots[slot]
		active = active || q != nil
		if q != nil && q.over() {
			list = append(list, i)
		}
		all = all && (q == nil || q.over())
	}
	return list, all, active
}

func (r *refRank) wait(how string, slots []int) (done []int, statuses []mpivirt.Status, ok bool) {
	_, _, active := r.complete(slots)
	every := how == "wait" || how == "waitall" || how == "test" || how == "testall"
	over := func() bool {
		list, all, _ := r.complete(slots)
		return every && all || !every && (len(list) > 0 || !active)
	}
	began := r.x.now
	if how[0] == 'w' {
		r.until(over)
	} else if !over() {
		r.failedPoll()
		return nil, nil, false
	}
	list, _, _ := r.complete(slots)
	switch {
	case every:
		list = nil
		for i := range slots {
			list = append(list, i)
		}
	case how == "waitany" || how == "testany":
		list = list[:min(1, len(list))]
	}
	var requests []*refRequest
	for _, i := range list {
		requests = append(requests, r.slots[slots[i]])
	}
	r.charge(began, requests...)
	for _, i := range list {
		done, statuses = append(done, i), append(statuses, r.retire(slots[i]))
	}
	return done, statuses, true
}

// refComm is a communicator.
type refComm struct {
	world     bool
	ranks     []int // by member
	instances []*refCollective
	rallies   map[string]*refComm // by members and tag
	exchanges *refComm            // of its neighbourhood collectives
}

// rally returns the communicator of a subgroup on which its members make another.
func (c *refComm) rally(o *op) *refComm {
	key := fmt.Sprint(o.group, o.tag)
	if c.rallies[key] == nil {
		made := &refComm{}
		for _, m := range o.group {
			made.ranks = append(made.ranks, c.ranks[m])
		}
		if c.rallies == nil {
			c.rallies = map[string]*refComm{}
		}
		c.rallies[key] = made
	}
	return c.rallies[key]
}

func (c *refComm) member(rank int) int { return slices.Index(c.ranks, rank) }

// refCollective is one collective operation: what its members called, and its
// messages under way.
type refCollective struct {
	x         *reference
	comm      *refComm
	call      *op
	operation collectives.Operation
	calls     []*refCall           // by member, nil before it has entered
	schedule  collectives.Schedule // nil for a barrier of fixed cost
	layouts   []collectives.Layout // by participant
	nodes     [][]int              // members of each node, under node-leader
	inbox     map[roundMessage]*refRound
	posted    map[roundMessage]bool // rounds that have begun
	carriers  map[int]*process      // by participant
	made      map[int]*refComm      // communicators by color
}

type refCall struct {
	o       *op
	entered vtime.Time
	input   []uint64
	output  []uint64
	request *refRequest
	caller  *refRank
}

// roundMessage names a message of a collective by its receiver and its round:
// there is at most one.
type roundMessage struct{ to, round int }

type refRound struct {
	bytes   int64
	rank    int        // that sends it
	arrival vtime.Time // of its content
	there   bool       // the content
	free    bool       // the sender
}

var operationOf = map[string]collectives.Operation{"dup": collectives.Allreduce, "create": collectives.Allreduce, "create_group": collectives.Allreduce, "graph": collectives.Allreduce, "split": collectives.Allgather}

// collective carries a rank through a collective. What is not blocking goes on in
// the background.
func (r *refRank) collective(o *op, input, output []uint64) {
	if o.name == "neighbor_alltoall" {
		r.exchange(o, input, output)
		return
	}
	call := r.enter(o, input, output)
	if o.slot > 0 {
		r.slots[o.slot] = call.request
		return
	}
	r.until(func() bool { return call.request.complete })
}

// exchange is a neighbourhood collective: receives from the neighbours, then sends to them, on a
// communicator of their own.
func (r *refRank) exchange(o *op, input, output []uint64) {
	c := r.comms[o.comm]
	if c.exchanges == nil {
		c.exchanges = &refComm{ranks: c.ranks}
	}
	hidden := -1 - o.comm
	r.comms[hidden] = c.exchanges
	q := &refRequest{parts: []*refRequest{}, output: output}
	sources, destinations := o.neighborsOf(c.member(r.rank), len(c.ranks))
	for _, source := range sources {
		q.parts = append(q.parts, r.post(hidden, source, 0, make([]byte, 8*o.count)))
	}
	for i, destination := range destinations {
		block := typed.Bytes(input[i*o.count : (i+1)*o.count])
		q.parts = append(q.parts, r.begin(o, hidden, destination, 0, len(block), block, "isend"))
	}
	if o.slot > 0 {
		r.slots[o.slot] = q
		return
	}
	began := r.x.now
	r.until(q.over)
	r.charge(began, q)
}

func (r *refRank) enter(o *op, input, output []uint64) *refCall {
	c := r.comms[o.comm]
	if o.name == "create_group" {
		c = c.rally(o)
	}
	member := c.member(r.rank)
	i := slices.IndexFunc(c.instances, func(k *refCollective) bool { return k.calls[member] == nil })
	if i < 0 {
		i = len(c.instances)
		c.instances = append(c.instances, r.x.newCollective(c, o))
	}
	k := c.instances[i]
	call := &refCall{o: o, entered: r.x.now, input: slices.Clone(input), output: output, request: &refRequest{}, caller: r}
	k.calls[member] = call
	switch {
	case len(c.ranks) == 1:
		k.exit(member)
	case k.schedule == nil:
		k.enterFixedCost()
	case k.nodes != nil:
		k.join(member)
	default:
		r.x.start(r.rank, false, func(p *process) {
			k.carry(p, member, &refPort{})
			k.exit(member)
		})
	}
	return call
}

func (x *reference) newCollective(c *refComm, o *op) *refCollective {
	operation, special := operationOf[o.name]
	if !special {
		for _, candidate := range collectives.Operations() {
			if candidate.String() == o.name {
				operation = candidate
			}
		}
	}
	k := &refCollective{x: x, comm: c, call: o, operation: operation, calls: make([]*refCall, len(c.ranks)),
		inbox: map[roundMessage]*refRound{}, posted: map[roundMessage]bool{}, carriers: map[int]*process{}}
	count := o.count
	if special {
		count = 1 // 8 bytes from each member
	}
	algorithm := x.algorithm(operation, c, o.ordered)
	if _, chosen := x.algorithms[operation]; o.name == "split" && !chosen { // as libraries gather small blocks
		algorithm = collectives.Bruck
		if n := len(c.ranks); n&(n-1) == 0 {
			algorithm = collectives.RecursiveDoubling
		}
	}
	if algorithm == collectives.GivenTime {
		return k
	}
	var err error
	if algorithm == collectives.NodeLeader {
		k.nodes = x.nodes(c)
		k.schedule, err = collectives.LeaderSchedule(operation, len(k.nodes))
	} else {
		k.schedule, err = collectives.For(operation, algorithm, collectives.Size{Members: len(c.ranks), Root: o.root, PerNode: x.perNode(c), Bytes: 8 * int64(count)})
	}
	if err != nil {
		panic(err)
	}
	for participant := range k.schedule.Members() {
		k.layouts = append(k.layouts, k.layoutOf(participant, count))
	}
	return k
}

// layoutOf is how the blocks lie that a participant sends and receives.
func (k *refCollective) layoutOf(participant, count int) collectives.Layout {
	switch k.operation {
	case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.ReduceScatter:
		return collectives.Uneven(toInt64(k.call.counts), 8)
	case collectives.Alltoallv:
		out, in := k.call.shares(participant)
		return collectives.Uneven(toInt64(slices.Concat(out, in)), 8)
	}
	return collectives.LayoutOf(k.operation, k.schedule, int64(count), 8)
}

func toInt64(counts []int) (converted []int64) {
	for _, n := range counts {
		converted = append(converted, int64(n))
	}
	return converted
}

// algorithm is the one that was chosen; for a reduction that does not commute, one
// that combines in rank order.
func (x *reference) algorithm(operation collectives.Operation, c *refComm, ordered bool) collectives.Algorithm {
	a, chosen := x.algorithms[operation]
	if !chosen {
		a = collectives.DefaultOn(operation, mpivirt.HardwareOf(x.target.Machine()))
	}
	inOrder := collectives.Ordered(operation, a)
	if a == collectives.NodeLeader {
		inOrder = slices.IsSorted(slices.Concat(x.nodes(c)...))
	}
	if !ordered || inOrder {
		return a
	}
	all := collectives.Algorithms(operation)
	return all[slices.IndexFunc(all, func(a collectives.Algorithm) bool { return collectives.Ordered(operation, a) })]
}

// nodes lists the members on each node: of WORLD by node, of other communicators
// in the order of the nodes' first members.
func (x *reference) nodes(c *refComm) [][]int {
	var order []int
	if c.world {
		for node := range x.target.Nodes() {
			order = append(order, node)
		}
	}
	members := map[int][]int{}
	for m, rank := range c.ranks {
		node := x.target.Node(rank)
		if !slices.Contains(order, node) {
			order = append(order, node)
		}
		members[node] = append(members[node], m)
	}
	lists := make([][]int, len(order))
	for i, node := range order {
		lists[i] = members[node]
	}
	return lists
}

// perNode is the number of members of each node, if these are consecutive and only the last node may
// have fewer; else each member counts as on a node of its own.
func (x *reference) perNode(c *refComm) int {
	lists, next := x.nodes(c), 0
	for i, members := range lists {
		for _, m := range members {
			if m != next {
				return 1
			}
			next++
		}
		if len(members) > len(lists[0]) || len(members) < len(lists[0]) && i < len(lists)-1 {
			return 1
		}
	}
	return len(lists[0])
}

// rankOf is the rank of a participant of the schedule: a member, or the leader of
// a node.
func (k *refCollective) rankOf(participant int) int {
	if k.nodes != nil {
		participant = k.nodes[participant][0]
	}
	return k.comm.ranks[participant]
}

// carry takes a participant through the rounds of the schedule. The receives of a window are
// posted when the window begins, before the CPU has sent; it ends when all that it has sent has left.
func (k *refCollective) carry(p *process, participant int, port *refPort) {
	k.carriers[participant] = p
	x, s := k.x, k.schedule
	var posted, clock vtime.Time // the clock without receives
	var sent, received []*refRound
	until, work := 0, vtime.Duration(0)
	finish := func() {
		slices.SortStableFunc(received, func(m, n *refRound) int { return cmp.Or(m.arrival.Compare(n.arrival), cmp.Compare(m.rank, n.rank)) })
		for _, m := range received {
			clock = x.take(port, m.bytes, posted, clock, m.arrival)
		}
		p.sleep(clock.Add(work))
		p.until(func() bool { return !slices.ContainsFunc(sent, func(m *refRound) bool { return !m.free }) })
		sent, received, work = nil, nil, 0
	}
	for round := s.Next(participant, 0); round < s.Rounds(participant); round = s.Next(participant, round+1) {
		step := s.Step(participant, round)
		if k.leavesOut(participant, step) {
			continue
		}
		if round >= until {
			finish()
			posted, clock, until = x.now, x.now, round+1+step.Left
			for r := round; r < min(until, s.Rounds(participant)); r++ {
				if k.leavesOut(participant, s.Step(participant, r)) {
					continue
				}
				k.posted[roundMessage{participant, r}] = true
				k.matchRound(roundMessage{participant, r}, s.Step(participant, r))
			}
		}
		here := roundMessage{participant, round}
		if step.To != collectives.None {
			m, free := k.sendRound(p, step, here, port)
			sent = append(sent, m)
			p.sleep(free)
			clock = free
		}
		if step.From != collectives.None {
			p.until(func() bool { return k.inbox[here] != nil && k.inbox[here].there })
			m := k.inbox[here]
			received = append(received, m)
			combined := int64(0)
			if step.Combine != collectives.Store && !step.Switched {
				combined += m.bytes
			}
			if step.Also.Count > 0 && step.AlsoCombine != collectives.Store {
				combined += m.bytes
			}
			if n := int64(step.Sum.Count); n > 0 {
				combined += (n - 1) * m.bytes / int64(step.Receive.Count)
			}
			work += x.target.ReduceTime(combined)
		}
	}
	finish()
}

// leavesOut reports whether the blocks of a step are empty in a linear alltoallv, which has no messages for them
// (coll_base_alltoallv.c of Open MPI 4.1.6, alltoallv_intra_scattered.c of MPICH 4).
func (k *refCollective) leavesOut(participant int, step collectives.Step) bool {
	if k.operation != collectives.Alltoallv || k.x.algorithm(k.operation, k.comm, k.call.ordered) != collectives.Linear {
		return false
	}
	l, width := k.layouts[participant], k.schedule.Positions()
	return l.Bytes(step.Send, width) == 0 && l.Bytes(step.Receive, width) == 0
}

// sendRound sends the message of a round.
func (k *refCollective) sendRound(p *process, step collectives.Step, here roundMessage, port *refPort) (*refRound, vtime.Time) {
	x, dst := k.x, k.rankOf(step.To)
	bytes := k.layouts[here.to].Bytes(step.Send, k.schedule.Positions())
	m := &refRound{bytes: bytes, rank: p.rank, free: bytes <= x.target.EagerLimit()}
	under := bytes
	if x.large(bytes) {
		under = 0
	}
	free, leaves := x.depart(port, under)
	arrival := leaves.Add(x.target.Delay(p.rank, dst, under))
	there := roundMessage{step.To, here.round + step.Later}
	x.schedule(arrival, false, p.rank, func() {
		k.inbox[there] = m
		if !x.large(bytes) {
			m.arrival, m.there = arrival, true
		}
		k.matchRound(there, k.schedule.Step(there.to, there.round))
		if carrier := k.carriers[step.To]; carrier != nil {
			carrier.poke()
		}
	})
	return m, free
}

// matchRound goes on with a message above the eager limit once it is matched, now, if
// message and receive are there.
func (k *refCollective) matchRound(here roundMessage, step collectives.Step) {
	m := k.inbox[here]
	if m == nil || !k.posted[here] || m.free {
		return
	}
	x, src, dst := k.x, k.rankOf(step.From), k.rankOf(here.to)
	left := func() {
		m.free = true
		k.carriers[step.From].poke()
	}
	if !x.large(m.bytes) {
		x.schedule(x.now.Add(vtime.Picosecond), false, dst, left)
		return
	}
	x.answer(src, dst, m.bytes, left, func() {
		m.arrival, m.there = x.now, true
		k.carriers[here.to].poke()
	})
}

// join counts a member in; once a node is complete, its leader waits for the vectors of
// the others and combines them with its own.
func (k *refCollective) join(member int) {
	node := slices.IndexFunc(k.nodes, func(members []int) bool { return slices.Contains(members, member) })
	leader := k.nodes[node][0]
	for _, m := range k.nodes[node] {
		if k.calls[m] == nil {
			return
		}
	}
	start, times := k.calls[leader].entered, k.joining(node)
	for _, m := range k.nodes[node][1:] {
		start = max(start, k.calls[m].entered.Add(times.In))
	}
	start = start.Add(times.Combine)
	k.x.start(k.comm.ranks[leader], false, func(p *process) {
		p.sleep(start)
		k.carry(p, node, &refPort{})
		k.release(node)
	})
}

// enterFixedCost lets all members leave a barrier of fixed cost after the last entry.
func (k *refCollective) enterFixedCost() {
	if slices.Contains(k.calls, nil) {
		return
	}
	for m := range k.calls {
		k.x.schedule(k.x.now.Add(k.x.target.BarrierTime()), false, k.comm.ranks[m], func() { k.exit(m) })
	}
}

// joining returns the times of a node.
func (k *refCollective) joining(node int) network.Joining {
	t, members := k.x.target, k.nodes[node]
	if !t.JoinsByLevels() {
		within := t.Join(k.vector(node))
		return network.Joining{In: within, Combine: t.ReduceTime(k.vector(node)).Times(len(members) - 1), Out: within}
	}
	var places []int
	for _, m := range members {
		places = append(places, t.RankInNode(k.comm.ranks[m]))
	}
	return t.Joins(len(members), slices.Max(places)-slices.Min(places)+1, k.vector(node))
}

// vector is the number of bytes that a node's members contribute each.
func (k *refCollective) vector(node int) int64 {
	return k.layouts[node].Offset(k.schedule.Positions())
}

// release lets the members of a node leave, the leader now.
func (k *refCollective) release(node int) {
	leader := k.nodes[node][0]
	for _, m := range k.nodes[node] {
		if m == leader {
			k.exit(m)
			continue
		}
		k.x.schedule(k.x.now.Add(k.joining(node).Out), false, k.comm.ranks[leader], func() { k.exit(m) })
	}
}

// exit ends a member's part, now.
func (k *refCollective) exit(member int) {
	call := k.calls[member]
	switch call.o.name {
	case "split", "dup", "create", "create_group", "graph":
		k.makeComm(call, member)
	default:
		k.result(member, call.output)
	}
	call.request.complete = true
	if call.caller.process != nil {
		call.caller.poke()
	}
}

// makeComm gives a member its new communicator, if it has one.
func (k *refCollective) makeComm(call *refCall, member int) {
	if k.made == nil {
		k.made = map[int]*refComm{}
	}
	made := k.made[call.o.color]
	if made == nil {
		made = &refComm{ranks: k.newRanks(call.o)}
		k.made[call.o.color] = made
	}
	if call.o.color >= 0 && slices.Contains(made.ranks, call.caller.rank) {
		call.caller.comms[call.o.made] = made
	}
}

func (k *refCollective) newRanks(o *op) (ranks []int) {
	switch o.name {
	case "dup", "create_group", "graph":
		return k.comm.ranks
	case "create":
		for _, m := range o.group {
			ranks = append(ranks, k.comm.ranks[m])
		}
		return ranks
	}
	var members []int
	for m, call := range k.calls {
		if call.o.color == o.color {
			members = append(members, m)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return k.calls[a].o.key - k.calls[b].o.key })
	for _, m := range members {
		ranks = append(ranks, k.comm.ranks[m])
	}
	return ranks
}

// result writes what an operation gives a member, by its definition.
func (k *refCollective) result(member int, output []uint64) {
	o, n := k.call, k.call.count
	fold := func(members int) {
		for i := range n {
			value := k.calls[0].input[i]
			for m := 1; m < members; m++ {
				value = combine(o.ordered)(value, k.calls[m].input[i])
			}
			output[i] = value
		}
	}
	size := len(k.comm.ranks)
	switch o.name {
	case "bcast":
		copy(output, k.calls[o.root].input)
	case "allreduce":
		fold(size)
	case "reduce":
		if member == o.root {
			fold(size)
		}
	case "scan":
		fold(member + 1)
	case "exscan":
		if member > 0 {
			fold(member)
		}
	case "scatter":
		copy(output, k.calls[o.root].input[n*member:n*(member+1)])
	case "gather", "allgather":
		if o.name == "gather" && member != o.root {
			return
		}
		for m := range size {
			copy(output[n*m:], k.calls[m].input)
		}
	case "alltoall":
		for m := range size {
			copy(output[n*m:n*(m+1)], k.calls[m].input[n*member:])
		}
	default:
		k.resultOfCounts(member, output)
	}
}

// resultOfCounts is result for the operations whose blocks differ in length.
func (k *refCollective) resultOfCounts(member int, output []uint64) {
	o := k.call
	at := func(m int) int { return sum(o.counts[:m]) }
	switch o.name {
	case "gatherv", "allgatherv":
		if o.name == "gatherv" && member != o.root {
			return
		}
		for m := range k.calls {
			copy(output[at(m):], k.calls[m].input)
		}
	case "scatterv":
		copy(output, k.calls[o.root].input[at(member):])
	case "alltoallv":
		into := 0
		for m := range k.calls {
			out, _ := o.shares(m)
			n := out[member]
			if n == 0 {
				continue // the member may not have entered yet
			}
			copy(output[into:into+n], k.calls[m].input[sum(out[:member]):])
			into += n
		}
	case "reduce_scatter":
		for i := range output {
			value := k.calls[0].input[at(member)+i]
			for _, call := range k.calls[1:] {
				value = combine(o.ordered)(value, call.input[at(member)+i])
			}
			output[i] = value
		}
	}
}

func (r *refRank) makes(o *op) []int {
	r.collective(o, nil, nil)
	if c := r.comms[o.made]; c != nil && o.made > 0 {
		return c.ranks
	}
	return nil
}
