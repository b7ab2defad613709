package coll

import (
	"math"
	"math/bits"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/invariant"
	"gigarank/internal/random"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Algorithm returns the algorithm of a call: the user's choice, else the machine's, the library's, the
// default. For a noncommutative reduction it returns an algorithm that combines in rank order.
func (c *Collectives) Algorithm(v *Collective, comm *Communicator) collectives.Algorithm {
	op, o := v.Operation, &v.Operator
	q := collectives.Question{Operation: op, Ranks: comm.Size, PerNode: 1, Bytes: v.asked(), Commutative: o.Apply == nil || o.Commutative}
	q.EqualBlocks = v.Procedure == world.ReduceScatterBlock
	if v.Data || v.Element > 1 {
		q.ElementBytes = v.Element
	}
	if c.algorithms.byNodes(op) || !c.partition.Target.OffloadsAcross() || c.partition.Target.GivesBcasts() {
		q.PerNode = c.perNode(comm)
	}
	if v.Creation != nil && op == collectives.Allgather && c.algorithms.byDefault(op) {
		return gatheringSmall(comm.Size)
	}
	a := c.algorithms.For(c.partition.Target, q)
	if q.Commutative || collectives.Ordered(op, a) {
		return a
	}
	if ledByNodes(c.partition.Target, a) && comm.nodesInOrder(c) {
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

// CheckSegments returns the error of a call whose algorithm would cut it into too many segments, nil for none.
func (c *Collectives) CheckSegments(v *Collective, comm *Communicator) error {
	if v.Algorithm.Segment() == 0 {
		return nil
	}
	if err := v.Algorithm.CheckSegments(v.Operation, v.asked(), comm.Size); err != nil {
		return world.Errorf(world.ErrOther, "%v", err)
	}
	return nil
}

// gatheringSmall returns the algorithm by which the colors and keys of a split are gathered where neither the
// user nor a library chooses it: recursive doubling among a power of two, else that of Bruck (Thakur,
// Rabenseifner, Gropp, 2005; ompi_coll_base_allgather_intra_recursivedoubling of Open MPI goes by Bruck's
// where members are no power of two).
func gatheringSmall(members int) collectives.Algorithm {
	if members&(members-1) == 0 {
		return collectives.RecursiveDoubling
	}
	return collectives.Bruck
}

// nodesInOrder reports whether each node's members are consecutive, so that
// node-leader combines in rank order.
func (c *Communicator) nodesInOrder(k *Collectives) bool {
	if c.Size == 1 {
		return true
	}
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
	return c.nodes.ascending || c.Index != world.World
}

// copyAlone carries out a collective of one member.
func (v *Collective) copyAlone() {
	switch v.Operation {
	case collectives.Barrier, collectives.Bcast, collectives.Exscan:
	case collectives.Scatterv:
		copy(v.Output, v.Input[:v.Counts[0]])
	case collectives.Alltoallv:
		copy(v.Output, v.Input[:v.InCounts[0]])
	default:
		copy(v.Output, v.Input)
	}
}

// own returns the number of bytes of the block that a member sends to itself in an alltoall.
func (v *Collective) own(member int) int64 {
	switch {
	case v.Operation == collectives.Alltoall:
		return v.Bytes
	case v.Operation == collectives.Alltoallv && v.InCounts != nil:
		return v.InCounts[member]
	}
	return 0
}

// Handed returns the number of bytes that a member contributes to a collective whose arguments have
// been checked: of MPI, the length of its send buffer. l are the lengths of its vectors.
func (c *Communicator) Handed(member int, v *Collective, l Lengths) int64 {
	isRoot, inRootsGroup := member == v.Root, false
	if c.Remote != nil {
		isRoot, inRootsGroup = v.Root == world.Root, v.Root == world.Root || v.Root == world.ProcNull
	}
	switch v.Operation {
	case collectives.Barrier:
		return 0
	case collectives.Bcast, collectives.Scatter, collectives.Scatterv:
		if !isRoot {
			return 0
		}
	case collectives.Gather, collectives.Gatherv, collectives.Reduce:
		if inRootsGroup {
			return 0
		}
	}
	switch op := v.Operation; {
	case op == collectives.Alltoallv:
		return sum(v.InCounts)
	case op == collectives.Scatterv, op == collectives.ReduceScatter && v.Counts != nil:
		return sum(v.Counts)
	case op == collectives.Allgatherv && c.Remote == nil:
		return v.Counts[member]
	case c.Remote != nil && v.Data:
		return l.Input
	case op == collectives.Scatter, op == collectives.Alltoall:
		return blocks(v.Bytes, c.Peers().Size)
	case op == collectives.ReduceScatter:
		return blocks(v.Bytes, c.Size)
	}
	return v.Bytes
}

// Obtained returns the number of bytes that a member gets from a collective whose arguments have been checked: of MPI, the length
// of the message in its receive buffer. l are the lengths of its vectors.
func (c *Communicator) Obtained(member int, v *Collective, l Lengths) int64 {
	isRoot, inRootsGroup := member == v.Root, false
	if c.Remote != nil {
		isRoot, inRootsGroup = v.Root == world.Root, v.Root == world.Root || v.Root == world.ProcNull
	}
	op := v.Operation
	switch op {
	case collectives.Barrier:
		return 0
	case collectives.Bcast:
		if isRoot || inRootsGroup {
			return 0
		}
	case collectives.Scatter, collectives.Scatterv:
		if inRootsGroup {
			return 0
		}
	case collectives.Gather, collectives.Gatherv, collectives.Reduce:
		if !isRoot {
			return 0
		}
	case collectives.Exscan:
		if member == 0 {
			return 0
		}
	}
	switch {
	case op == collectives.Alltoallv:
		return sum(v.OutCounts)
	case op == collectives.Gatherv, op == collectives.Allgatherv && v.Counts != nil:
		return sum(v.Counts)
	case member < len(v.Counts) && (op == collectives.ReduceScatter || op == collectives.Scatterv):
		return v.Counts[member]
	case op == collectives.Scatterv:
		return l.Output
	case op == collectives.Gather, op == collectives.Allgather, op == collectives.Alltoall:
		return blocks(v.Bytes, c.Peers().Size)
	}
	return v.Bytes
}

// sum returns the sum of counts.
func sum(counts []int64) (all int64) {
	for _, n := range counts {
		all += n
	}
	return all
}

// blocks returns the bytes of n blocks, at most 2^63-1.
func blocks(bytes int64, n int) int64 {
	if high, low := bits.Mul64(uint64(bytes), uint64(n)); high == 0 && low <= math.MaxInt64 {
		return int64(low)
	}
	return math.MaxInt64
}

// vector returns the bytes of the vector that [collectives.Buffers] count, among a number of members.
func (v *Collective) vector(members int) int64 {
	switch op := v.Operation; {
	case op == collectives.Alltoall, op == collectives.Allgather, op == collectives.ReduceScatter && v.Counts == nil:
		return blocks(v.Bytes, members)
	}
	return v.Bytes
}

// Launch charges an LP for the work before the member enters the instance: the launch that the machine gives, the copies of
// its own block in an alltoall and of the blocks that the algorithm rotates, and the buffers of the algorithm. It returns the error of Compute.
func (c *Collectives) Launch(lp int32, comm *Communicator, member int, v *Collective) error {
	c.copiers = c.copiersOf(comm)
	c.beforehand = collectives.CopiedFirst(v.Operation, v.Algorithm, comm.Size, v.own(member), c.copiesAmong).Plus(c.launch)
	if c.buffers && comm.Size > 1 {
		b := collectives.BuffersOf(v.Operation, v.Algorithm)
		c.beforehand = c.beforehand.Plus(c.partition.Target.BufferTime(c.copiers, v.vector(comm.Size), b.Allocated, b.Copied))
	}
	if c.beforehand == 0 {
		return nil
	}
	return c.Messages.Compute(lp, c.beforehand, v.Procedure)
}

// packing returns the time for which participants of an instance copy blocks in their own memory
// after they have received the message of a round.
func (c *Collectives) packing(inst *instance, round int, copies collectives.Copies) vtime.Duration {
	if !inst.packs {
		return 0
	}
	return collectives.Packing(inst.schedule, round, blockBytes(inst.layout, inst.schedule), inst.layout.Offset(inst.width), copies)
}

func negative(counts []int64) bool {
	return slices.ContainsFunc(counts, func(n int64) bool { return n < 0 })
}

// Check returns the fault of a member's arguments, nil for none.
func (c *Communicator) Check(v *Collective) error {
	switch {
	case c.Size == 0:
		return world.Errorf(world.ErrComm, "%s", c)
	case c.Remote != nil:
		return c.checkInter(v)
	case v.Operation.Rooted() && (v.Root < 0 || v.Root >= c.Size):
		return world.Errorf(world.ErrRoot, "root %d in a communicator of %s", v.Root, spelling.Count(c.Size, "rank"))
	case v.Bytes < 0 || negative(v.Counts) || negative(v.InCounts) || negative(v.OutCounts):
		return world.Errorf(world.ErrCount, "a negative count")
	case v.Counts != nil && len(v.Counts) != c.Size:
		return world.Errorf(world.ErrCount, "%s for %s", spelling.Count(len(v.Counts), "count"), spelling.Count(c.Size, "rank"))
	case (v.InCounts != nil || v.OutCounts != nil) && (len(v.InCounts) != c.Size || len(v.OutCounts) != c.Size):
		return world.Errorf(world.ErrCount, "%d and %s for %s", len(v.InCounts), spelling.Count(len(v.OutCounts), "count"), spelling.Count(c.Size, "rank"))
	case v.InCounts != nil && c.Size == 1 && v.InCounts[0] > v.OutCounts[0]:
		return world.Errorf(world.ErrTruncate, "the rank sends itself %s where %d are expected", spelling.Count(v.InCounts[0], "byte"), v.OutCounts[0])
	}
	return nil
}

// Split returns the collective that splits a communicator.
func (c *Collectives) Split(color, key int) (*Collective, error) {
	v := c.Prepare(Collective{
		Procedure: world.CommSplit, Operation: collectives.Allgather, Bytes: 8, Element: 8, Creation: &creation{color: color, key: int64(key)},
	})
	return v, c.CheckColor(color)
}

// Dup returns the collective that makes a communicator of the same group.
func (c *Collectives) Dup(g *world.Group) *Collective {
	return c.prepareCreation(world.CommDup, &creation{group: g})
}

// Create returns the collective that makes communicators of subgroups. A rank passes the group to
// which it belongs.
func (c *Collectives) Create(parent, g *world.Group, rank int) (*Collective, error) {
	if g == nil {
		g = world.Strided(0, 1, 0)
	}
	x := &creation{color: world.Undefined}
	if g.Member(rank) >= 0 {
		x.color, x.group = g.WorldRank(0), g
	}
	return c.prepareCreation(world.CommCreate, x), parent.Contains(g)
}

// CreateGroup returns the collective by which only the members of a subgroup make its communicator,
// and the communicator on which they carry this collective out. The latter is a function of parent,
// group and tag, so members make it without a message.
func (c *Collectives) CreateGroup(comm *Communicator, g *world.Group, tag int, lp int32) (*Communicator, *Collective, error) {
	v := c.prepareCreation(world.CommCreateGroup, &creation{group: g})
	switch {
	case comm.Size == 0:
		return comm, v, world.Errorf(world.ErrComm, "%s", comm)
	case comm.Remote != nil:
		return comm, v, world.Errorf(world.ErrComm, "called on an intercommunicator")
	case tag < 0 || tag > world.TagUB:
		return comm, v, world.Errorf(world.ErrTag, "tag %d: tags are 0 to %d", tag, world.TagUB)
	}
	if err := c.GroupOf(comm, lp).Contains(g); err != nil {
		return comm, v, err
	}
	return c.companion(random.Uint64(comm.Context, g.Hash(), uint64(tag)), g), v, nil
}

// CreateGroupAs is CreateGroup where the communicator on which the members carry the collective out is known by its context, as of a call
// that was recorded. The ranks of the group are those of WORLD.
func (c *Collectives) CreateGroupAs(context uint64, g *world.Group, lp int32) (*Communicator, *Collective, error) {
	v, all := c.prepareCreation(world.CommCreateGroup, &creation{group: g}), c.Communicators.At(world.World)
	if err := c.GroupOf(all, lp).Contains(g); err != nil {
		return all, v, err
	}
	on := c.companion(context, g)
	if on.Group == nil || on.Group.Hash() != g.Hash() {
		return all, v, world.Errorf(world.ErrComm, "the context %d is that of %s, which has another group", context, on)
	}
	return on, v, nil
}

// exchangeContext, with the context of a communicator, gives the context of its exchanges.
const exchangeContext = 1 << 32

// Exchanging returns the communicator on which the messages of a communicator's exchanges travel.
// So a program's receives with wildcards do not match them.
func (c *Collectives) Exchanging(comm *Communicator) *Communicator {
	if comm.exchanging != nil {
		return comm.exchanging
	}
	if comm.Remote != nil {
		comm.exchanging = c.Inter(random.Uint64(comm.Context, exchangeContext, 0), comm.Group, random.Uint64(comm.Remote.Context, exchangeContext, 0), comm.Remote.Group)
	} else {
		comm.exchanging = c.companion(random.Uint64(comm.Context, exchangeContext, 0), comm.Group)
	}
	comm.exchanging.Of = &comm.Comm
	return comm.exchanging
}

// companion returns the communicator with a context that its members compute by themselves. It
// makes the communicator if no rank of the engine has made it.
func (c *Collectives) companion(context uint64, g *world.Group) *Communicator {
	return c.companionOf(context, func() *world.Group { return g })
}

// companionOf is companion with a function that computes the group, called only if no rank of the
// engine has made the communicator.
func (c *Collectives) companionOf(context uint64, group func() *world.Group) *Communicator {
	if comm := c.Communicators.At(c.IndexOfContext(context)); comm.Size != 0 {
		return comm
	}
	return c.addComm(context, group())
}

func (c *Collectives) prepareCreation(name world.Procedure, x *creation) *Collective {
	return c.Prepare(Collective{Procedure: name, Operation: collectives.Allreduce, Bytes: 8, Element: 8, Creation: x})
}

// Color returns the color that a member passes to a collective that makes communicators.
func (v *Collective) Color() int { return v.Creation.color }

// Key returns the key that a member passes to a split.
func (v *Collective) Key() int { return int(v.Creation.key) }

// NewGroup returns the group that a member passes to a collective that makes communicators, nil for none.
func (v *Collective) NewGroup() *world.Group { return v.Creation.group }

// SharesResult reports whether all members of a collective share one result.
func (v *Collective) SharesResult() bool {
	return v.Operation == collectives.Allreduce && v.Creation == nil
}

// Prepare stores the arguments of an LP's collective and returns them. The LPs of an engine share
// the memory: the caller submits the call before another LP runs.
func (c *Collectives) Prepare(v Collective) *Collective {
	c.prepared = v
	return &c.prepared
}

// Blank returns the prepared call of a procedure, without arguments. The caller, whose stack may be small, sets the
// arguments one by one.
func (c *Collectives) Blank(name world.Procedure, op collectives.Operation) *Collective {
	v := &c.prepared
	*v = Collective{}
	v.Procedure, v.Operation = name, op
	return v
}

// Sized returns a collective of elements of a number of bytes, whose data have a size only.
func (c *Collectives) Sized(op collectives.Operation, bytes, element int64, root int) (*Collective, error) {
	v := c.Prepare(Collective{Procedure: world.ProcedureOf(op), Operation: op, Bytes: bytes, Element: element})
	switch op {
	case collectives.Barrier:
		return &c.Barrier, nil
	case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv:
		return v, world.Errorf(world.ErrArgument, "the blocks of %v differ by member: hand in their data and counts", op)
	}
	if element < 1 || bytes%element != 0 {
		return v, world.Errorf(world.ErrCount, "%s in elements of %d: give a multiple", spelling.Count(bytes, "byte"), element)
	}
	if op.Rooted() {
		v.Root = root
	}
	return v, nil
}
