package mpivirt

import (
	"gigarank/invariant"
	"slices"

	"gigarank/collectives"
)

// algorithm returns the algorithm to use for an operation: the one that the
// simulation was told, else the default; for a reduction that does not commute,
// one that combines in rank order.
func (k *kernel) algorithm(op collectives.Operation, c *comm, o *operator) collectives.Algorithm {
	a := k.algorithms[op]
	if o.apply == nil || o.commutative || collectives.Ordered(op, a) {
		return a
	}
	if a == collectives.NodeLeader && c.nodesInOrder(k) {
		return a
	}
	for _, other := range collectives.Algorithms(op) {
		if collectives.Ordered(op, other) {
			return other
		}
	}
	invariant.Broken("no algorithm for %v keeps the order of ranks", op)
	return a
}

// nodesInOrder reports whether each node's members are consecutive, so that
// node-leader combines in rank order.
func (c *comm) nodesInOrder(k *kernel) bool {
	if c.nodes == nil {
		c.nodes = k.newNodeTable(c)
	}
	if c.nodes.perNode > 0 {
		return true
	}
	for p := range c.nodes.count {
		if n := c.nodes.size(p); c.nodes.member(p, n-1)-c.nodes.leader(p) != n-1 {
			return false
		}
	}
	// Other communicators number their nodes by their first members.
	return c.nodes.ascending || c.index != worldComm
}

// run carries out a collective in its blocking form, unless there is an error.
func (c *Comm) run(v *collective, err error) error {
	if c == nil {
		return noComm(v.name)
	}
	shared, output := v.op == collectives.Allreduce && v.exchange == nil, v.output
	b := c.r.do(c.entering(v, err))
	if b.err != nil {
		return b.err
	}
	if shared {
		copy(output, c.r.k.common(c.r.lp, c.c))
	}
	return nil
}

// begin begins a collective in its nonblocking form, unless there is an error.
func (c *Comm) begin(v *collective, err error) (Request, error) {
	if c == nil {
		return Request{}, noComm(v.name)
	}
	q := c.entering(v, err)
	q.begins = true
	b := c.r.do(q)
	if b.err != nil {
		return Request{}, b.err
	}
	return c.r.request(b.request), nil
}

// entering fills in a call of a collective.
func (c *Comm) entering(v *collective, err error) *Call {
	return c.compose(v.name).enters(v, err)
}

// copyAlone carries out a collective of one member.
func (v *collective) copyAlone() {
	switch v.op {
	case collectives.Barrier, collectives.Bcast, collectives.Exscan:
	case collectives.Scatterv:
		copy(v.output, v.input[:v.counts[0]])
	case collectives.Alltoallv:
		copy(v.output, v.input[:v.inCounts[0]])
	default:
		copy(v.output, v.input)
	}
}

func negative(counts []int64) bool {
	return slices.ContainsFunc(counts, func(n int64) bool { return n < 0 })
}

// check returns what is wrong with a member's arguments.
func (c *comm) check(v *collective) error {
	switch {
	case c.size == 0:
		return mpiError(ErrComm, "%s", c)
	case v.op.Rooted() && (v.root < 0 || v.root >= c.size):
		return mpiError(ErrRoot, "root %d in a communicator of %d ranks", v.root, c.size)
	case v.bytes < 0 || negative(v.counts) || negative(v.inCounts) || negative(v.outCounts):
		return mpiError(ErrCount, "a negative count")
	case v.counts != nil && len(v.counts) != c.size:
		return mpiError(ErrCount, "%d counts for %d ranks", len(v.counts), c.size)
	case (v.inCounts != nil || v.outCounts != nil) && (len(v.inCounts) != c.size || len(v.outCounts) != c.size):
		return mpiError(ErrCount, "%d and %d counts for %d ranks", len(v.inCounts), len(v.outCounts), c.size)
	case v.inCounts != nil && c.size == 1 && v.inCounts[0] > v.outCounts[0]:
		return mpiError(ErrTruncate, "the rank sends itself %d bytes where %d are expected", v.inCounts[0], v.outCounts[0])
	}
	return nil
}

// create carries out a collective that makes communicators, and returns that of a color;
// nil if the rank is in none.
func (c *Comm) create(x *exchange, name call, err error) (*Comm, error) {
	color := x.color
	if err := c.run(c.r.k.creation(x, name), err); err != nil || color < 0 {
		return nil, err
	}
	return c.handle(c.r.k.made(c.r.lp, c.c, color)), nil
}

// creation hands over a collective that makes communicators.
func (k *kernel) creation(x *exchange, name call) *collective {
	v := k.hand(collective{name: name, op: collectives.Allreduce, bytes: 8, element: 8, exchange: x})
	if name == callCommSplit {
		v.op = collectives.Allgather
	}
	return v
}

// hand returns what an LP hands to a collective. There is one for all LPs of the
// engine: it is taken over before another LP runs.
func (k *kernel) hand(v collective) *collective {
	k.handed = v
	return &k.handed
}

// vector hands over a vector of T.
func vector[T Datatype](k *kernel, name call, op collectives.Operation, send, receive []T) *collective {
	in, out := bytesOf(send), bytesOf(receive)
	return k.hand(collective{name: name, op: op, bytes: int64(len(in)), element: int64(sizeOf[T]()), kind: kindOf[T](), data: true, input: in, output: out})
}

// caller is the rank that calls a collective, as a member of its communicator. What
// it hands in is made alike for both kinds of LP.
type caller struct {
	k      *kernel
	c      *comm
	member int
}

func (c *Comm) caller() caller {
	if c == nil { // run and begin refuse what it makes
		return caller{k: &kernel{barrier: collective{name: callBarrier}}, c: &comm{}}
	}
	return caller{c.r.k, c.c, int(c.member)}
}

// refuse returns an error of the caller's, and a collective that names the call.
func (m caller) refuse(name call, class ErrorClass, format string, arguments ...any) (*collective, error) {
	return m.k.hand(collective{name: name}), mpiError(class, format, arguments...)
}

// tooShort refuses a receive buffer without room for the result.
func (m caller) tooShort(name call, got, need int) (*collective, error) {
	return m.refuse(name, ErrBuffer, "room for %d elements where the result has %d", got, need)
}

// Barrier waits until all members have called it (MPI_Barrier).
func (c *Comm) Barrier() error {
	if c == nil {
		return noComm(callBarrier)
	}
	r := c.r
	r.calls(callBarrier)
	if r.k.processors != nil || !r.k.enterBarrier(r.lp, c.c, int(c.member)) {
		return c.run(&r.k.barrier, nil)
	}
	r.k.activity(r.lp)
	r.suspend()
	return r.fault()
}

// fault returns what went wrong for the rank in a collective that it has been through. It
// stays out of the frames of ranks that wait, which a small stack has to hold.
//
//go:noinline
func (r *Rank) fault() error {
	b := &r.k.completion
	if b.err == nil || b.lp != r.lp {
		return nil
	}
	if b.fatal {
		r.die(b.op, b.err)
	}
	return b.err
}

// Ibarrier is the nonblocking Barrier (MPI_Ibarrier).
func (c *Comm) Ibarrier() (Request, error) {
	return c.begin(&c.caller().k.barrier, nil)
}

func bcast[T Datatype](m caller, data []T, root int) (*collective, error) {
	v := vector(m.k, callBcast, collectives.Bcast, data, data)
	v.root = root
	return v, nil
}

// Bcast copies data of the root to data of all members (MPI_Bcast), of the same
// length everywhere. Errors: ErrRoot, ErrCount if lengths differ.
func Bcast[T Datatype](c *Comm, data []T, root int) error {
	return c.run(bcast(c.caller(), data, root))
}

// Ibcast is the nonblocking Bcast (MPI_Ibcast).
func Ibcast[T Datatype](c *Comm, data []T, root int) (Request, error) {
	return c.begin(bcast(c.caller(), data, root))
}

func reduction[T Datatype](m caller, name call, operation collectives.Operation, send, receive []T, o Op[T]) *collective {
	v := vector(m.k, name, operation, send, receive)
	v.operator = o.over
	return v
}

func reduce[T Datatype](m caller, send, receive []T, o Op[T], root int) (*collective, error) {
	v := reduction(m, callReduce, collectives.Reduce, send, receive, o)
	v.root = root
	if m.member == root && len(receive) < len(send) {
		return m.tooShort(callReduce, len(receive), len(send))
	}
	return v, nil
}

// Reduce combines the vectors send of all members, element by element, into
// receive of the root (MPI_Reduce); receive may be nil elsewhere. Errors: ErrRoot,
// ErrCount if lengths differ, ErrBuffer if receive of the root is shorter than
// send.
func Reduce[T Datatype](c *Comm, send, receive []T, o Op[T], root int) error {
	return c.run(reduce(c.caller(), send, receive, o, root))
}

// Ireduce is the nonblocking Reduce (MPI_Ireduce).
func Ireduce[T Datatype](c *Comm, send, receive []T, o Op[T], root int) (Request, error) {
	return c.begin(reduce(c.caller(), send, receive, o, root))
}

func reductionToAll[T Datatype](m caller, name call, op collectives.Operation, send, receive []T, o Op[T]) (*collective, error) {
	if len(receive) < len(send) {
		return m.tooShort(name, len(receive), len(send))
	}
	return reduction(m, name, op, send, receive[:len(send)], o), nil
}

// Allreduce combines the vectors send of all members, element by element, into
// receive of every member (MPI_Allreduce), of the same length everywhere. Errors:
// ErrCount if lengths differ, ErrBuffer if receive is shorter than send.
func Allreduce[T Datatype](c *Comm, send, receive []T, o Op[T]) error {
	return c.run(reductionToAll(c.caller(), callAllreduce, collectives.Allreduce, send, receive, o))
}

// Iallreduce is the nonblocking Allreduce (MPI_Iallreduce).
func Iallreduce[T Datatype](c *Comm, send, receive []T, o Op[T]) (Request, error) {
	return c.begin(reductionToAll(c.caller(), callAllreduce, collectives.Allreduce, send, receive, o))
}

// Scan combines, for each member, the vectors of the members up to and with it
// (MPI_Scan). Errors: as Allreduce.
func Scan[T Datatype](c *Comm, send, receive []T, o Op[T]) error {
	return c.run(reductionToAll(c.caller(), callScan, collectives.Scan, send, receive, o))
}

// Iscan is the nonblocking Scan (MPI_Iscan).
func Iscan[T Datatype](c *Comm, send, receive []T, o Op[T]) (Request, error) {
	return c.begin(reductionToAll(c.caller(), callScan, collectives.Scan, send, receive, o))
}

// Exscan combines, for each member, the vectors of the members below it
// (MPI_Exscan); receive of member 0 is left alone. Errors: as Allreduce.
func Exscan[T Datatype](c *Comm, send, receive []T, o Op[T]) error {
	return c.run(reductionToAll(c.caller(), callExscan, collectives.Exscan, send, receive, o))
}

// Iexscan is the nonblocking Exscan (MPI_Iexscan).
func Iexscan[T Datatype](c *Comm, send, receive []T, o Op[T]) (Request, error) {
	return c.begin(reductionToAll(c.caller(), callExscan, collectives.Exscan, send, receive, o))
}

func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// inBytes returns counts of elements as bytes.
func inBytes[T Datatype](counts []int) []int64 {
	bytes := make([]int64, len(counts))
	for i, n := range counts {
		bytes[i] = int64(n) * int64(sizeOf[T]())
	}
	return bytes
}

// countOf returns counts[i], 0 outside the slice: the length is checked later.
func countOf(counts []int, i int) int {
	if i < len(counts) {
		return counts[i]
	}
	return 0
}

func reduceScatter[T Datatype](m caller, send, receive []T, counts []int, o Op[T]) (*collective, error) {
	if len(receive) < countOf(counts, m.member) {
		return m.tooShort(callReduceScatter, len(receive), countOf(counts, m.member))
	}
	if len(send) < sum(counts) {
		return m.refuse(callReduceScatter, ErrCount, "%d elements where the counts add up to %d", len(send), sum(counts))
	}
	v := reduction(m, callReduceScatter, collectives.ReduceScatter, send[:sum(counts)], receive[:countOf(counts, m.member)], o)
	v.counts = inBytes[T](counts)
	return v, nil
}

// ReduceScatter combines the vectors send of all members and gives member i the
// next counts[i] elements of the result (MPI_Reduce_scatter). The counts are the
// same everywhere. Errors: ErrCount, ErrBuffer.
func ReduceScatter[T Datatype](c *Comm, send, receive []T, counts []int, o Op[T]) error {
	return c.run(reduceScatter(c.caller(), send, receive, counts, o))
}

// IreduceScatter is the nonblocking ReduceScatter (MPI_Ireduce_scatter).
func IreduceScatter[T Datatype](c *Comm, send, receive []T, counts []int, o Op[T]) (Request, error) {
	return c.begin(reduceScatter(c.caller(), send, receive, counts, o))
}
