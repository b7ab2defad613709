package mpivirt_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

// library is what one rank of a program needs of MPI. The virtual MPI and the
// reference both have it.
type library interface {
	now() vtime.Time
	size(comm int) int
	member(comm int) int
	compute(d vtime.Duration)
	send(o *op, payload []byte) // into the slot, if the operation has one
	recv(o *op, source, tag int, buffer []byte) mpivirt.Status
	irecv(o *op, buffer []byte)
	// initialise makes a persistent request of the slot, which start begins with
	// what is in the memory given by then.
	initialise(o *op, memory []byte)
	start(slot int)
	sendrecv(o *op, payload, buffer []byte) mpivirt.Status
	probe(o *op, matched bool) mpivirt.Status
	iprobe(o *op, matched bool) (mpivirt.Status, bool)
	mrecv(buffer []byte) mpivirt.Status
	// wait carries out the wait or test of that name once. It returns which of
	// the requests are over, by index, or that a test failed.
	wait(how string, slots []int) (done []int, statuses []mpivirt.Status, ok bool)
	cancel(slot int)
	collective(o *op, input, output []uint64)
	// makes makes a communicator and returns its ranks, none if the rank is not
	// in it.
	makes(o *op) []int
	free(comm int)
}

// entry is what a rank saw when an operation, or part of one, was over.
type entry struct {
	op     int
	at     vtime.Time
	which  int // index of the request
	status mpivirt.Status
	hash   uint64 // of the data, and of all that the rank has seen before
}

func (e entry) String() string {
	return fmt.Sprintf("op %d over at %v: request %d, source %d tag %d bytes %d, data %016x",
		e.op, e.at, e.which, e.status.Source, e.status.Tag, e.status.Bytes, e.hash)
}

// player takes one rank through its operations. What it sends depends on all that
// it has received, so that one wrong byte shows in every rank that it can reach.
type player struct {
	library
	rank    int
	op      int
	hash    uint64
	log     []entry
	buffers map[int][]byte   // of pending receives
	outputs map[int][]uint64 // of pending collectives
	begun   map[int]bool
	sends   map[int]*op    // persistent sends
	memory  map[int][]byte // of persistent requests
}

// play carries out the operations of a rank and returns what it saw.
func play(l library, rank int, ops []op) []entry {
	p := newPlayer(l, rank)
	for i := range ops {
		p.op = i
		p.play(&ops[i])
	}
	p.op = len(ops)
	p.saw(0, mpivirt.Status{}, nil)
	return p.log
}

func newPlayer(l library, rank int) *player {
	return &player{library: l, rank: rank, buffers: map[int][]byte{}, outputs: map[int][]uint64{}, begun: map[int]bool{},
		sends: map[int]*op{}, memory: map[int][]byte{}}
}

func (p *player) play(o *op) {
	switch o.name {
	case "compute":
		p.compute(o.duration)
	case "send", "ssend", "bsend", "rsend", "isend", "issend", "ibsend", "irsend":
		p.begun[o.slot] = true
		p.send(o, p.payload(o))
		p.saw(0, mpivirt.Status{}, nil)
	case "irecv":
		p.begun[o.slot], p.buffers[o.slot] = true, o.buffer(o.bytes)
		p.irecv(o, p.buffers[o.slot])
	case "sendinit", "ssendinit", "bsendinit":
		p.sends[o.slot], p.memory[o.slot] = o, o.buffer(o.bytes)
		p.initialise(o, p.memory[o.slot])
	case "recvinit":
		p.memory[o.slot], p.buffers[o.slot] = o.buffer(o.bytes), nil
		p.initialise(o, p.memory[o.slot])
	case "start":
		p.starts(o.slot)
	case "cancel":
		p.cancel(o.slots[0])
		p.saw(0, mpivirt.Status{}, nil)
	case "free":
		p.free(o.comm)
		p.saw(0, mpivirt.Status{}, nil)
	case "recv":
		buffer := o.buffer(o.bytes)
		p.saw(0, p.recv(o, o.peer, o.tag, buffer), buffer)
	case "sendrecv":
		buffer := o.buffer(o.room)
		p.saw(0, p.sendrecv(o, p.payload(o), buffer), buffer)
	case "probe", "iprobe":
		p.probes(o, o.name, false)
	case "probe+recv", "iprobe+recv", "mprobe+mrecv", "improbe+mrecv":
		p.probeAndReceive(o)
	case "wait", "waitall", "waitany", "waitsome", "test", "testall", "testany", "testsome":
		p.waits(o)
	case "split", "dup", "create", "create_group", "graph":
		p.saw(0, mpivirt.Status{}, words(p.makes(o)))
	default:
		p.plays(o)
	}
}

// starts begins a persistent request.
func (p *player) starts(slot int) {
	p.loads(slot)
	p.start(slot)
	p.saw(0, mpivirt.Status{}, nil)
}

// loads makes the memory of a persistent request ready for its start.
func (p *player) loads(slot int) {
	p.begun[slot] = true
	if o := p.sends[slot]; o != nil {
		copy(p.memory[slot], p.payload(o))
	} else {
		p.buffers[slot] = p.memory[slot]
	}
}

// saw enters something into the log.
func (p *player) saw(which int, status mpivirt.Status, data []byte) {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, p.hash, which, [...]int{status.Source, status.Tag, int(status.Bytes)}, status.Cancelled) // a hash never fails
	h.Write(data)
	p.hash = h.Sum64()
	p.log = append(p.log, entry{p.op, p.now(), which, status, p.hash})
}

// buffer is memory for a message, nil if only sizes are simulated.
func (o *op) buffer(bytes int) []byte {
	if o.sized {
		return nil
	}
	return make([]byte, bytes)
}

// payload is what an operation sends, nil if only sizes are simulated.
func (p *player) payload(o *op) []byte {
	b := o.buffer(o.bytes)
	key := p.hash ^ uint64(p.rank)<<32 ^ uint64(p.op)
	for i := range b {
		key = key*6364136223846793005 + 1442695040888963407
		b[i] = byte(key >> 56)
	}
	return b
}

// vector is what a rank gives to a collective.
func (p *player) vector(n int) []uint64 {
	v := make([]uint64, n)
	for i := range v {
		v[i] = (p.hash ^ uint64(p.rank)<<32 ^ uint64(i)) * 0x9e3779b97f4a7c15
	}
	return v
}

func words[T int | uint64](values []T) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// combine is what reductions do: a sum, or the composition of affine maps modulo
// 2^32, which is associative and does not commute.
func combine(ordered bool) func(a, b uint64) uint64 {
	if !ordered {
		return func(a, b uint64) uint64 { return a + b }
	}
	return func(f, g uint64) uint64 {
		a, b := uint32(f>>32), uint32(f)
		c, d := uint32(g>>32), uint32(g)
		return uint64(a*c)<<32 | uint64(a*d+b)
	}
}

// probes probes until something is found, or as often as the operation says.
func (p *player) probes(o *op, how string, matched bool) (mpivirt.Status, bool) {
	if how == "probe" || how == "mprobe" {
		status := p.probe(o, matched)
		p.saw(0, status, nil)
		return status, true
	}
	for tries := 1; ; tries++ {
		if status, found := p.iprobe(o, matched); found || tries == o.polls {
			p.saw(0, status, nil)
			return status, found
		}
	}
}

func (p *player) probeAndReceive(o *op) {
	probe, receive, _ := strings.Cut(o.name, "+")
	status, _ := p.probes(o, probe, receive == "mrecv")
	buffer := make([]byte, status.Bytes)
	if receive == "mrecv" {
		p.saw(1, p.mrecv(buffer), buffer)
		return
	}
	p.saw(1, p.recv(o, status.Source, status.Tag, buffer), buffer)
}

// waits waits, or tests as often as the operation says.
func (p *player) waits(o *op) {
	for tries := 1; ; tries++ {
		done, statuses, ok := p.wait(o.name, o.slots)
		if !ok && tries != o.polls {
			continue
		}
		p.saw(-1, mpivirt.Status{}, nil)
		for i, which := range done {
			p.sawRequest(which, o.slots[which], statuses[i])
		}
		return
	}
}

// sawRequest enters a request that is over. The status of a request that is no
// receive has no meaning.
func (p *player) sawRequest(which, slot int, status mpivirt.Status) {
	buffer, receive := p.buffers[slot]
	switch {
	case !p.begun[slot]:
	case receive:
		p.saw(which, status, buffer)
	default:
		p.saw(which, mpivirt.Status{}, words(p.outputs[slot]))
	}
	delete(p.begun, slot)
}

// plays carries out a collective.
func (p *player) plays(o *op) {
	input, output := p.vectors(o)
	p.collective(o, input, output)
	if o.slot > 0 {
		p.begun[o.slot], p.outputs[o.slot] = true, output
		return
	}
	p.saw(0, mpivirt.Status{}, words(output))
}

// vectors are the input and the output of a collective.
func (p *player) vectors(o *op) (input, output []uint64) {
	n := o.count
	all := n * p.size(o.comm)
	switch o.name {
	case "barrier":
		return nil, nil
	case "bcast":
		return p.vector(n), make([]uint64, n)
	case "gather", "allgather":
		return p.vector(n), make([]uint64, all)
	case "scatter":
		return p.vector(all), make([]uint64, n)
	case "alltoall":
		return p.vector(all), make([]uint64, all)
	case "gatherv", "scatterv", "allgatherv", "reduce_scatter":
		all, own := sum(o.counts), o.counts[p.member(o.comm)]
		if o.name == "gatherv" || o.name == "allgatherv" {
			return p.vector(own), make([]uint64, all)
		}
		return p.vector(all), make([]uint64, own)
	case "alltoallv":
		out, in := o.shares(p.member(o.comm))
		return p.vector(sum(out)), make([]uint64, sum(in))
	case "neighbor_alltoall":
		return p.vector(n * len(o.counts)), make([]uint64, n*len(o.counts))
	default:
		return p.vector(n), make([]uint64, n)
	}
}

func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// shares are how many elements a member sends to each in an alltoallv, and
// receives from each.
func (o *op) shares(member int) (out, in []int) {
	for other := range o.counts {
		out, in = append(out, o.elementsTo(member, other)), append(in, o.elementsTo(other, member))
	}
	return out, in
}

// virtual is a rank of the virtual MPI under test. It implements library.
type virtual struct {
	r          *mpivirt.Rank
	inTwo      bool // a receive and its wait, since the time is that of one call
	comms      map[int]*mpivirt.Comm
	slots      map[int]mpivirt.Request
	persistent map[int]*mpivirt.Persistent
	matched    *mpivirt.MatchedMessage
	graphs     map[int]*mpivirt.DistGraph
}

// cancels reports whether a rank may cancel receives: some do, since it changes how receives find
// their messages.
func cancels(rank int) bool { return rank%3 == 1 }

func newVirtual(r *mpivirt.Rank, inTwo bool) *virtual {
	r.AttachBuffer(1 << 20)
	r.MayCancel(cancels(r.Rank()))
	return &virtual{r: r, inTwo: inTwo, slots: map[int]mpivirt.Request{}, persistent: map[int]*mpivirt.Persistent{},
		comms: map[int]*mpivirt.Comm{0: r.World(), 1: r.Self()}, graphs: map[int]*mpivirt.DistGraph{}}
}

// must panics on an error: programs are valid.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (v *virtual) now() vtime.Time { return v.r.Now() }

func (v *virtual) size(comm int) int { return v.comms[comm].Size() }

func (v *virtual) member(comm int) int { return v.comms[comm].Rank() }

func (v *virtual) compute(d vtime.Duration) { v.r.Compute(d) }

func (v *virtual) send(o *op, payload []byte) {
	c := v.comms[o.comm]
	var q mpivirt.Request
	var err error
	switch o.name {
	case "send":
		if o.sized {
			err = c.SendSize(int64(o.bytes), o.peer, o.tag)
		} else {
			err = mpivirt.Send(c, payload, o.peer, o.tag)
		}
	case "ssend":
		if o.sized {
			err = c.SsendSize(int64(o.bytes), o.peer, o.tag)
		} else {
			err = mpivirt.Ssend(c, payload, o.peer, o.tag)
		}
	case "bsend":
		err = mpivirt.Bsend(c, payload, o.peer, o.tag)
	case "rsend":
		err = mpivirt.Rsend(c, payload, o.peer, o.tag)
	case "isend":
		if o.sized {
			q, err = c.IsendSize(int64(o.bytes), o.peer, o.tag)
		} else {
			q, err = mpivirt.Isend(c, payload, o.peer, o.tag)
		}
	case "issend":
		q, err = mpivirt.Issend(c, payload, o.peer, o.tag)
	case "ibsend":
		q, err = mpivirt.Ibsend(c, payload, o.peer, o.tag)
	case "irsend":
		q, err = mpivirt.Irsend(c, payload, o.peer, o.tag)
	}
	must(0, err)
	if o.slot > 0 {
		v.slots[o.slot] = q
	}
}

func (v *virtual) recv(o *op, source, tag int, buffer []byte) mpivirt.Status {
	if o.sized {
		return must(v.comms[o.comm].RecvSize(int64(o.bytes), source, tag))
	}
	return must(mpivirt.Recv(v.comms[o.comm], buffer, source, tag))
}

func (v *virtual) irecv(o *op, buffer []byte) {
	if o.sized {
		v.slots[o.slot] = must(v.comms[o.comm].IrecvSize(int64(o.bytes), o.peer, o.tag))
		return
	}
	v.slots[o.slot] = must(mpivirt.Irecv(v.comms[o.comm], buffer, o.peer, o.tag))
}

func (v *virtual) cancel(slot int) {
	q := v.slots[slot]
	if err := q.Cancel(); err != nil {
		panic(err)
	}
}

func (v *virtual) initialise(o *op, memory []byte) {
	c := v.comms[o.comm]
	switch o.name {
	case "sendinit":
		v.persistent[o.slot] = mpivirt.SendInit(c, memory, o.peer, o.tag)
	case "ssendinit":
		v.persistent[o.slot] = mpivirt.SsendInit(c, memory, o.peer, o.tag)
	case "bsendinit":
		v.persistent[o.slot] = mpivirt.BsendInit(c, memory, o.peer, o.tag)
	case "recvinit":
		v.persistent[o.slot] = mpivirt.RecvInit(c, memory, o.peer, o.tag)
	}
}

func (v *virtual) start(slot int) {
	must(0, v.persistent[slot].Start())
	v.slots[slot] = v.persistent[slot].Request
}

func (v *virtual) free(comm int) { must(0, v.comms[comm].Free()) }

func (v *virtual) sendrecv(o *op, payload, buffer []byte) mpivirt.Status {
	if v.inTwo && o.bytes%2 == 1 {
		request := must(mpivirt.Isendrecv(v.comms[o.comm], payload, o.peer, o.tag, buffer, o.from, o.fromTag))
		return must(request.Wait())
	}
	return must(mpivirt.Sendrecv(v.comms[o.comm], payload, o.peer, o.tag, buffer, o.from, o.fromTag))
}

func (v *virtual) probe(o *op, matched bool) mpivirt.Status {
	c := v.comms[o.comm]
	if !matched {
		return must(c.Probe(o.peer, o.tag))
	}
	v.matched = must(c.Mprobe(o.peer, o.tag))
	return v.matched.Status
}

func (v *virtual) iprobe(o *op, matched bool) (mpivirt.Status, bool) {
	c := v.comms[o.comm]
	if !matched {
		status, found, err := c.Iprobe(o.peer, o.tag)
		if !found {
			return mpivirt.Status{}, false
		}
		return must(status, err), true
	}
	if v.matched = must(c.Improbe(o.peer, o.tag)); v.matched == nil {
		return mpivirt.Status{}, false
	}
	return v.matched.Status, true
}

// mrecv receives messages of odd length in two calls where that must come to the same.
func (v *virtual) mrecv(buffer []byte) mpivirt.Status {
	if !v.inTwo || len(buffer)%2 == 0 {
		return must(mpivirt.Mrecv(v.matched, buffer))
	}
	request := must(mpivirt.Imrecv(v.matched, buffer))
	return must(request.Wait())
}

func (v *virtual) wait(how string, slots []int) (done []int, statuses []mpivirt.Status, ok bool) {
	requests := make([]mpivirt.Request, len(slots))
	active := false
	for i, slot := range slots {
		requests[i] = v.slots[slot]
		active = active || requests[i] != mpivirt.Request{}
	}
	var status mpivirt.Status
	var err error
	one := -1
	ok = true
	switch how {
	case "wait":
		one = 0
		status, err = requests[0].Wait()
	case "test":
		one = 0
		status, ok, err = requests[0].Test()
	case "waitany":
		one, status, err = mpivirt.Waitany(requests)
	case "testany":
		one, status, ok, err = mpivirt.Testany(requests)
	case "waitsome":
		done, statuses, err = mpivirt.Waitsome(requests)
	case "testsome":
		done, statuses, err = mpivirt.Testsome(requests)
		ok = len(done) > 0 || !active
	case "waitall":
		statuses, err = mpivirt.Waitall(requests)
	case "testall":
		statuses, ok, err = mpivirt.Testall(requests)
	}
	must(0, err)
	switch {
	case !ok:
		return nil, nil, false
	case one >= 0:
		done, statuses = []int{one}, []mpivirt.Status{status}
	case strings.HasSuffix(how, "all"):
		for i := range slots {
			done = append(done, i)
		}
	}
	for i, slot := range slots {
		v.slots[slot] = requests[i]
	}
	return done, statuses, true
}

func (v *virtual) collective(o *op, input, output []uint64) {
	c := v.comms[o.comm]
	sum := mpivirt.Sum[uint64]()
	if o.ordered {
		sum = mpivirt.NewOp(false, combine(true))
	}
	if o.name == "bcast" && c.Rank() == o.root {
		copy(output, input)
	}
	switch {
	case o.name == "neighbor_alltoall" && o.slot == 0:
		must(0, mpivirt.NeighborAlltoall(v.graphs[o.comm], input, output))
		return
	case o.name == "neighbor_alltoall":
		v.slots[o.slot] = must(mpivirt.IneighborAlltoall(v.graphs[o.comm], input, output))
		return
	case o.slot == 0:
		must(0, blockingCollective(c, o, input, output, sum))
		return
	}
	v.slots[o.slot] = must(nonblockingCollective(c, o, input, output, sum))
}

func blockingCollective(c *mpivirt.Comm, o *op, input, output []uint64, sum mpivirt.Op[uint64]) error {
	switch o.name {
	case "barrier":
		return c.Barrier()
	case "bcast":
		return mpivirt.Bcast(c, output, o.root)
	case "reduce":
		return mpivirt.Reduce(c, input, output, sum, o.root)
	case "allreduce":
		return mpivirt.Allreduce(c, input, output, sum)
	case "gather":
		return mpivirt.Gather(c, input, output, o.root)
	case "scatter":
		return mpivirt.Scatter(c, input, output, o.root)
	case "allgather":
		return mpivirt.Allgather(c, input, output)
	case "alltoall":
		return mpivirt.Alltoall(c, input, output)
	case "gatherv":
		return mpivirt.Gatherv(c, input, output, o.counts, o.root)
	case "scatterv":
		return mpivirt.Scatterv(c, input, o.counts, output, o.root)
	case "allgatherv":
		return mpivirt.Allgatherv(c, input, output, o.counts)
	case "alltoallv":
		out, in := o.shares(c.Rank())
		return mpivirt.Alltoallv(c, input, out, output, in)
	case "reduce_scatter":
		return mpivirt.ReduceScatter(c, input, output, o.counts, sum)
	case "scan":
		return mpivirt.Scan(c, input, output, sum)
	case "exscan":
		return mpivirt.Exscan(c, input, output, sum)
	}
	return fmt.Errorf("no operation %q", o.name)
}

func nonblockingCollective(c *mpivirt.Comm, o *op, input, output []uint64, sum mpivirt.Op[uint64]) (mpivirt.Request, error) {
	switch o.name {
	case "barrier":
		return c.Ibarrier()
	case "bcast":
		return mpivirt.Ibcast(c, output, o.root)
	case "reduce":
		return mpivirt.Ireduce(c, input, output, sum, o.root)
	case "allreduce":
		return mpivirt.Iallreduce(c, input, output, sum)
	case "gather":
		return mpivirt.Igather(c, input, output, o.root)
	case "scatter":
		return mpivirt.Iscatter(c, input, output, o.root)
	case "allgather":
		return mpivirt.Iallgather(c, input, output)
	case "alltoall":
		return mpivirt.Ialltoall(c, input, output)
	case "gatherv":
		return mpivirt.Igatherv(c, input, output, o.counts, o.root)
	case "scatterv":
		return mpivirt.Iscatterv(c, input, o.counts, output, o.root)
	case "allgatherv":
		return mpivirt.Iallgatherv(c, input, output, o.counts)
	case "alltoallv":
		out, in := o.shares(c.Rank())
		return mpivirt.Ialltoallv(c, input, out, output, in)
	case "reduce_scatter":
		return mpivirt.IreduceScatter(c, input, output, o.counts, sum)
	case "scan":
		return mpivirt.Iscan(c, input, output, sum)
	case "exscan":
		return mpivirt.Iexscan(c, input, output, sum)
	}
	return mpivirt.Request{}, fmt.Errorf("no operation %q", o.name)
}

func (v *virtual) makes(o *op) []int {
	parent := v.comms[o.comm]
	var c *mpivirt.Comm
	switch o.name {
	case "dup":
		c = must(parent.Dup())
	case "split":
		c = must(parent.Split(o.color, o.key))
	case "create":
		c = must(parent.Create(must(parent.Group().Incl(o.group))))
	case "create_group":
		c = must(parent.CreateGroup(must(parent.Group().Incl(o.group)), o.tag))
	case "graph":
		sources, destinations := o.neighborsOf(parent.Rank(), parent.Size())
		g := must(parent.DistGraphCreateAdjacent(sources, nil, destinations, nil, false))
		c, v.graphs[o.made] = g.Comm, g
	}
	if c == nil {
		return nil
	}
	v.comms[o.made] = c
	var ranks []int
	for m := range c.Size() {
		ranks = append(ranks, c.Group().WorldRank(m))
	}
	if ranks[c.Rank()] != v.r.Rank() {
		panic(fmt.Sprintf("member %d of %v is not rank %d", c.Rank(), ranks, v.r.Rank()))
	}
	return ranks
}

// hosting is one way to run a program.
type hosting struct {
	kind        *mpivirt.Kind
	engines     int
	workers     int // that run the engines in turns; 0: the engines take no turns
	protocol    sync.Protocol
	strict      bool
	collectives mpivirt.Interpreter
	bufferLimit int64
	window      int64
	activities  bool
	path        bool // of activities
	matrix      bool // of activities
	sites       bool // likewise
	noContents  bool
	observer    func(first, n int) mpivirt.Observer // nil for none
	recorder    func(first, n int) mpivirt.Recorder // likewise
}

func (h hosting) String() string {
	return fmt.Sprintf("%v ranks, %d engines, %d workers, %v, strict %v, collectives %d, buffer limit %d, window %d, activities %v, no contents %v", h.kind, h.engines, h.workers, h.protocol, h.strict, h.collectives,
		h.bufferLimit, h.window, h.activities, h.noContents)
}

// transports returns those of the engines.
func (h hosting) transports() []sync.Transport {
	if h.workers > 0 {
		return sync.NewInTurns(h.engines, h.workers)
	}
	return sync.NewInProcess(h.engines)
}

// compare runs a program on a host and holds what its ranks saw against the
// reference.
func compare(t rapid.TB, p *program, h hosting, want [][]entry) {
	t.Helper()
	got := watch(t, p, h)
	for rank := range want {
		for i, w := range want[rank] {
			if i >= len(got[rank]) || got[rank][i] != w {
				t.Fatalf("%v: rank %d, %s:\nexpected      %v\ngot           %v\nThe expected entry comes from the slow twin of messages in reference_test.go; with state at the receiver it comes from one engine. A new rule for messages belongs into the twin, too.", h, rank, p.text(rank, w.op), w, got[rank][i:min(i+1, len(got[rank]))])
			}
		}
	}
}

// watch runs a program on a host and returns what its ranks saw.
func watch(t rapid.TB, p *program, h hosting) [][]entry {
	t.Helper()
	seen, _ := p.simulate(t, h)
	return seen
}

// simulate runs a program on a host and returns what its ranks saw, and the result.
func (p *program) simulate(t rapid.TB, h hosting) ([][]entry, *mpivirt.Result) {
	t.Helper()
	got, machine := make([][]entry, len(p.ops)), target(t, p.machine, len(p.ops))
	inTwo := !machine.ReceiverState()
	result, err := simulate(t, mpivirt.Config{
		Target: machine, Transports: h.transports(), Protocol: h.protocol, Strict: h.strict, Collectives: h.collectives,
		NoContents: h.noContents, Algorithms: p.algorithms, BufferLimit: h.bufferLimit, Window: h.window, Kind: h.kind, Activities: h.activities, Path: h.path, Matrix: h.matrix, Course: h.activities, Sites: h.sites, Observer: h.observer, Recorder: h.recorder,
		Program: mpivirt.Program{
			Name: "random",
			Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				got[r.Rank()] = play(newVirtual(r, inTwo), r.Rank(), p.ops[r.Rank()])
				return nil
			}),
				steps.Main(func() steps.Program { return eventPlayers(p, got) }),
				listing{func(rank int) []call { return callsOf(p.ops[rank]) }, got}},
		},
	}, h.engines)
	if err != nil {
		t.Fatalf("%v: %v", h, err)
	}
	return got, result
}

// text gives an operation of a rank.
func (p *program) text(rank, i int) string {
	if i == len(p.ops[rank]) {
		return "end"
	}
	return p.ops[rank][i].String()
}

// expect runs a program on the reference.
func expect(t rapid.TB, p *program) [][]entry {
	t.Helper()
	x := &reference{target: target(t, p.machine, len(p.ops)), algorithms: p.algorithms}
	logs, err := x.run(p)
	if err != nil {
		t.Fatalf("the program is not valid: %v", err)
	}
	return logs
}

// TestRandomProgramsAgreeWithReference: every rank of every valid program sees the
// same times, statuses and data as in the reference, however the simulation is
// hosted.
func TestRandomProgramsAgreeWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programs(40, 30).Draw(t, "program")
		want := expect(t, &p)
		for range 4 {
			compare(t, &p, hosts(len(p.ops)).Draw(t, "host"), want)
		}
	})
}

// TestRandomProgramsWithReceiverState: every rank of every valid program sees the same
// times, statuses and data under a model with state at the receiver, however the
// simulation is hosted. The times themselves are held against LogGOPSim's rules
// elsewhere.
func TestRandomProgramsWithReceiverState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(randomLogGOPS, 24, 24).Draw(t, "program")
		want := watch(t, &p, hosting{engines: 1})
		for range 4 {
			compare(t, &p, hosts(len(p.ops)).Draw(t, "host"), want)
		}
	})
}

// hosts generates ways to run a program of so many ranks.
func hosts(ranks int) *rapid.Generator[hosting] {
	return rapid.Custom(func(t *rapid.T) hosting {
		return hosting{
			kind:        rapid.SampledFrom(programKinds()).Draw(t, "kind"),
			engines:     rapid.SampledFrom([]int{1, 2, 3, 5, min(ranks, 10)}).Draw(t, "engines"),
			workers:     rapid.IntRange(0, 2).Draw(t, "workers"),
			protocol:    rapid.SampledFrom([]sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null}).Draw(t, "protocol"),
			strict:      rapid.Bool().Draw(t, "strict"),
			collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message, mpivirt.Bulk}).Draw(t, "collectives"),
			bufferLimit: rapid.SampledFrom([]int64{0, 1, 3000}).Draw(t, "buffer limit"),
			window:      rapid.SampledFrom([]int64{0, 1, 100, 3000}).Draw(t, "window"),
			activities:  rapid.IntRange(0, 3).Draw(t, "activities") == 3,
		}
	})
}

// TestScripts runs the programs kept in testdata/programs: their output is that of
// the reference, and the virtual MPI agrees with it on every host.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/programs", func(t *testing.T, path string) {
		machine := ""
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "machine":
				machine = d.Input + "\n"
				return ""
			case "run":
				p := script(t, d, machine)
				want := expected(t, p)
				for range repetitions(t, d) {
					for i, engines := range []int{1, 2, len(p.ops)} {
						for _, kind := range programKinds() {
							for _, strict := range []bool{false, true} {
								compare(t, p, hosting{kind: kind, engines: engines, strict: strict, protocol: sync.Protocol(i)}, want)
							}
						}
					}
				}
				return transcript(p, want)
			}
			d.Fatalf(t, "no command %q: use machine or run", d.Cmd)
			return ""
		})
	})
}

// repetitions returns how often a script is run on each host: as the argument repeat says, where
// a fault shows only if records of engines come late.
func repetitions(t testing.TB, d *datadriven.TestData) int {
	n := 1
	d.MaybeScanArgs(t, "repeat", &n)
	return n
}

// expected returns what the ranks of a program see: on the reference or, if the machine
// has state at the receiver, on one engine.
func expected(t testing.TB, p *program) [][]entry {
	if target(t, p.machine, len(p.ops)).ReceiverState() {
		return watch(t, p, hosting{engines: 1})
	}
	return expect(t, p)
}

// script reads a program.
func script(t testing.TB, d *datadriven.TestData, machine string) *program {
	p := &program{machine: machine, algorithms: map[collectives.Operation]collectives.Algorithm{}}
	for _, arg := range d.CmdArgs {
		if arg.Key == "ranks" {
			p.ops = make([][]op, must(strconv.Atoi(arg.SingleVal(t))))
			continue
		}
		for _, operation := range collectives.Operations() {
			if operation.String() == arg.Key {
				p.algorithms[operation] = must(collectives.ParseAlgorithm(operation, arg.SingleVal(t)))
			}
		}
	}
	for line := range strings.Lines(d.Input) {
		rank, text, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			d.Fatalf(t, "%q: write \"rank: operation\"", line)
		}
		i := must(strconv.Atoi(rank))
		p.ops[i] = append(p.ops[i], must(parseOp(text)))
	}
	return p
}

// transcript writes down what every rank saw, but for the hashes of data.
func transcript(p *program, logs [][]entry) string {
	var b strings.Builder
	for rank, log := range logs {
		for _, e := range log {
			fmt.Fprintf(&b, "%d: %v %s", rank, e.at, p.text(rank, e.op))
			if e.which > 0 {
				fmt.Fprintf(&b, ": request %d", e.which)
			}
			if s := e.status; s != (mpivirt.Status{}) {
				fmt.Fprintf(&b, " -> source %d tag %d bytes %d", s.Source, s.Tag, s.Bytes)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestOpText: what String writes, parseOp reads.
func TestOpText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programs(6, 8).Draw(t, "program")
		for _, ops := range p.ops {
			for i := range ops {
				if read := must(parseOp(ops[i].String())); read.String() != ops[i].String() || !reflect.DeepEqual(read, ops[i]) {
					t.Fatalf("%+v is read as %+v", ops[i], read)
				}
			}
		}
	})
}

// rendezvous is a machine on which messages of more than 100 bytes wait for their
// receive.
const rendezvous = `
name: rendezvous
network: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 100}
`

// failing runs a program that must fail, on one engine and on two, and returns the
// error, which must be the same.
func failing(t *testing.T, ranks int, main func(r *mpivirt.Rank) error) error {
	t.Helper()
	var first error
	for engines := 1; engines <= 2; engines++ {
		_, err := simulate(t, mpivirt.Config{
			Target: target(t, rendezvous, ranks), Collectives: mpivirt.Message,
			Program: mpivirt.Program{Name: "failing", Forms: []mpivirt.Form{mpivirt.Main(main)}},
		}, engines)
		if err == nil {
			t.Fatalf("%d engines: the program did not fail", engines)
		}
		if first == nil {
			first = err
		}
		if text := firstLine(err); text != firstLine(first) {
			t.Errorf("%d engines report %q, one reports %q", engines, text, firstLine(first))
		}
	}
	return first
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// TestHeadToHeadRendezvousIsReported: two ranks that send to each other above the
// eager limit before they receive wait for ever, and the report says in which call
// and for whom.
func TestHeadToHeadRendezvousIsReported(t *testing.T) {
	err := failing(t, 2, func(r *mpivirt.Rank) error {
		r.Compute(3 * vtime.Microsecond)
		other := 1 - r.Rank()
		if err := mpivirt.Send(r.World(), make([]byte, 101), other, 7); err != nil {
			return err
		}
		_, err := mpivirt.Recv(r.World(), make([]byte, 101), other, 7)
		return err
	})
	var deadlock *mpivirt.DeadlockError
	if !errors.As(err, &deadlock) {
		t.Fatalf("got %v, want a *DeadlockError", err)
	}
	want := []mpivirt.Blocked{
		{Rank: 0, Call: "Send", For: "rank 1 of WORLD to receive its message with tag 7", Since: vtime.Time(3 * vtime.Microsecond)},
		{Rank: 1, Call: "Send", For: "rank 0 of WORLD to receive its message with tag 7", Since: vtime.Time(3 * vtime.Microsecond)},
	}
	withoutPlaces(deadlock)
	if deadlock.Waiting != 2 || !slices.Equal(deadlock.Blocked, want) {
		t.Errorf("got  %+v\nwant %+v", deadlock.Blocked, want)
	}
}

// TestUnmatchedReceiveIsReported: the report names a receive, its source and its
// tag, wildcards included.
func TestUnmatchedReceiveIsReported(t *testing.T) {
	err := failing(t, 3, func(r *mpivirt.Rank) error {
		switch r.Rank() {
		case 0:
			_, err := mpivirt.Recv(r.World(), make([]byte, 1), mpivirt.AnySource, mpivirt.AnyTag)
			return err
		case 2:
			_, err := r.World().Probe(1, 5)
			return err
		}
		return nil
	})
	var deadlock *mpivirt.DeadlockError
	if !errors.As(err, &deadlock) {
		t.Fatalf("got %v, want a *DeadlockError", err)
	}
	want := []mpivirt.Blocked{
		{Rank: 0, Call: "Recv", For: "a message from any rank of WORLD with any tag"},
		{Rank: 2, Call: "Probe", For: "a message from rank 1 of WORLD with tag 5"},
	}
	withoutPlaces(deadlock)
	if deadlock.Waiting != 2 || !slices.Equal(deadlock.Blocked, want) {
		t.Errorf("got  %+v\nwant %+v", deadlock.Blocked, want)
	}
}

// rankError is the part of a failure that says who failed, when and where.
func rankError(t *testing.T, err error) *mpivirt.RankError {
	t.Helper()
	var failed *mpivirt.RankError
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want a *RankError", err)
	}
	return failed
}

// TestTruncation: MPI 4.1, 3.2.4: a message longer than the receive buffer is
// MPI_ERR_TRUNCATE at the receiver, which ends the program unless errors return.
func TestTruncation(t *testing.T) {
	program := func(returning bool) func(r *mpivirt.Rank) error {
		return func(r *mpivirt.Rank) error {
			if r.Rank() == 0 {
				return mpivirt.Send(r.World(), make([]int32, 4), 1, 9)
			}
			r.SetErrorsReturn(returning)
			r.Compute(2 * vtime.Microsecond)
			_, err := mpivirt.Recv(r.World(), make([]int32, 3), 0, 9)
			if returning && !errors.Is(err, mpivirt.ErrTruncate) {
				return fmt.Errorf("the receive returned %v", err)
			}
			return nil
		}
	}
	failed := rankError(t, failing(t, 2, program(false)))
	if failed.Rank != 1 || failed.Call != "Recv" || failed.Time != vtime.Time(2*vtime.Microsecond) || !errors.Is(failed, mpivirt.ErrTruncate) {
		t.Errorf("got %v", failed)
	}
	if _, err := simulate(t, mpivirt.Config{Target: target(t, rendezvous, 2), Program: mpivirt.Program{Name: "returns", Forms: []mpivirt.Form{mpivirt.Main(program(true))}}}, 2); err != nil {
		t.Error(err)
	}
}

// TestReadySendWithoutReceive: MPI 4.1, 3.4: a ready send whose receive has not
// been posted is erroneous.
func TestReadySendWithoutReceive(t *testing.T) {
	failed := rankError(t, failing(t, 2, func(r *mpivirt.Rank) error {
		if r.Rank() == 0 {
			return mpivirt.Rsend(r.World(), make([]byte, 1), 1, 0)
		}
		r.Compute(vtime.Millisecond)
		_, err := mpivirt.Recv(r.World(), make([]byte, 1), 0, 0)
		return err
	}))
	if failed.Rank != 1 || failed.Call != "Recv" || !errors.Is(failed, mpivirt.ErrOther) {
		t.Errorf("got %v", failed)
	}
}

// TestFaultyProbeMatchesNothing: what a matched probe that fails has found cannot be
// received.
func TestFaultyProbeMatchesNothing(t *testing.T) {
	err := inside(t, 1, 1, false, func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		if _, err := r.World().IsendSize(1, 0, 0); err != nil {
			return err
		}
		m, err := r.World().Mprobe(1, 0)
		if !errors.Is(err, mpivirt.ErrRank) {
			return fmt.Errorf("a probe of rank 1 of 1 gives %v", err)
		}
		if _, err := mpivirt.Mrecv(m, []byte{0}); !errors.Is(err, mpivirt.ErrRequest) {
			return fmt.Errorf("a receive of what was not found gives %v", err)
		}
		_, err = r.World().RecvSize(1, 0, 0)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFaultySendrecvPostsNothing: a Sendrecv that may not send does not receive either; the
// message goes to the next receive.
func TestFaultySendrecvPostsNothing(t *testing.T) {
	for engines := 1; engines <= 2; engines++ {
		err := inside(t, 2, engines, false, func(r *mpivirt.Rank) error {
			w := r.World()
			if r.Rank() == 1 {
				return mpivirt.Send(w, []int{7}, 0, 0)
			}
			r.SetErrorsReturn(true)
			dropped, got := []int{0}, []int{0}
			if _, err := mpivirt.Sendrecv(w, got, 2, 0, dropped, 1, 0); !errors.Is(err, mpivirt.ErrRank) {
				return fmt.Errorf("sending to rank 2 of 2 gives %v", err)
			}
			_, err := mpivirt.Recv(w, got, 1, 0)
			if got[0] != 7 && err == nil {
				err = fmt.Errorf("received %v, and before %v", got, dropped)
			}
			return err
		})
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
	}
}

// TestAbortAndPanicAreNamed: the error names the rank, its time and the call that
// it made last.
func TestAbortAndPanicAreNamed(t *testing.T) {
	for name, end := range map[string]func(r *mpivirt.Rank){
		"Abort with code 42":  func(r *mpivirt.Rank) { r.Abort(42) },
		"panic: out of sorts": func(*mpivirt.Rank) { panic("out of sorts") },
	} {
		t.Run(name, func(t *testing.T) {
			failed := rankError(t, failing(t, 4, func(r *mpivirt.Rank) error {
				next, previous := (r.Rank()+1)%4, (r.Rank()+3)%4
				if _, err := mpivirt.Sendrecv(r.World(), []byte{1}, next, 0, make([]byte, 1), previous, 0); err != nil {
					return err
				}
				r.Compute(5 * vtime.Microsecond)
				if r.Rank() == 2 {
					end(r)
				}
				return r.World().Barrier()
			}))
			// 1us of latency and a byte at 1 GB/s, then 5us.
			if failed.Rank != 2 || failed.Time != vtime.Time(6001*vtime.Nanosecond) || failed.Call != "Sendrecv" {
				t.Errorf("got rank %d, time %v, call %q", failed.Rank, failed.Time, failed.Call)
			}
			if !strings.Contains(failed.Error(), name) {
				t.Errorf("%q does not say %q", failed, name)
			}
		})
	}
}

// TestSteadyStateDoesNotAllocate: messages of goroutine ranks allocate nothing once
// the structures have grown, neither per message nor per switch. A barrier is one
// instance, for which a small constant is allowed, whatever its number of ranks.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	sizes := []int{16, 128}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, ranks := range sizes {
		if n := allocations(t, ranks, false); n > 0.001*float64(ranks) {
			t.Errorf("%d ranks: %.2f allocations for a message of each, want none", ranks, n)
		}
		if n := allocations(t, ranks, true); n > 16 {
			t.Errorf("%d ranks: %.2f allocations for a message of each and a barrier, want at most 16", ranks, n)
		}
	}
}

// allocations returns how many an iteration of a ring makes in which each rank
// sends, receives, and meets the others in a barrier if asked to.
func allocations(t *testing.T, ranks int, barrier bool) float64 {
	const warm, measured = 200, 1000
	var before, after runtime.MemStats
	_, err := simulate(t, mpivirt.Config{
		Target:   target(t, "name: ring\nranks_per_node: 4\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n", ranks),
		Watchdog: -1,
		Program: mpivirt.Program{Name: "ring", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			c, out, in := r.World(), make([]byte, 64), make([]byte, 64)
			next, previous := (r.Rank()+1)%ranks, (r.Rank()+ranks-1)%ranks
			for i := range warm + measured {
				if i == warm && r.Rank() == 0 {
					runtime.ReadMemStats(&before)
				}
				if err := mpivirt.Send(c, out, next, 0); err != nil {
					return err
				}
				if _, err := mpivirt.Recv(c, in, previous, 0); err != nil {
					return err
				}
				if barrier {
					if err := c.Barrier(); err != nil {
						return err
					}
				}
			}
			if r.Rank() == 0 {
				runtime.ReadMemStats(&after)
			}
			return nil
		})}},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return float64(after.Mallocs-before.Mallocs) / measured
}

// TestMemoryOfAMillionRanks: no state of size O(ranks) per rank: a million event
// ranks that exchange with a neighbour and meet in a barrier stay within a fixed
// number of bytes each. One byte per pair of ranks would be a terabyte.
func TestMemoryOfAMillionRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("one engine: nothing for the race detector, and its memory counts differently")
	}
	const ranks, bound = 1_000_000, 1000
	type state struct{ step uint8 }
	var before, peak runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	result, err := simulate(t, mpivirt.Config{
		Target: target(t, "xt5", ranks),
		Kind:   steps.Kind,
		Program: mpivirt.Program{Name: "neighbours", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
			return steps.New(func(r *steps.Rank, s *state) steps.Outcome {
				s.step++
				switch s.step {
				case 1:
					return r.SendSize(8, (r.Rank()+1)%ranks, 0)
				case 2:
					return r.Recv((r.Rank()+ranks-1)%ranks, 0)
				case 3:
					return r.Barrier()
				}
				if r.Rank() == ranks/2 {
					runtime.ReadMemStats(&peak)
				}
				return r.Finish()
			})
		})}},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if result.Finished != ranks {
		t.Fatalf("%d ranks finished", result.Finished)
	}
	perRank := float64(peak.Sys-before.Sys) / ranks
	t.Logf("%.0f bytes a rank from the operating system", perRank)
	if perRank > bound {
		t.Errorf("%.0f bytes a rank, want at most %d", perRank, bound)
	}
}
