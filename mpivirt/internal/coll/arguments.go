package coll

import (
	"slices"

	"gigarank/collectives"
	"gigarank/invariant"
	"gigarank/mpivirt/internal/world"
)

// Algorithm returns the algorithm to use for an operation: the one that the
// simulation was told, else the default; for a reduction that does not commute,
// one that combines in rank order.
func (k *Collectives) Algorithm(op collectives.Operation, c *Communicator, o *world.Operator) collectives.Algorithm {
	a := k.algorithms[op]
	if o.Apply == nil || o.Commutative || collectives.Ordered(op, a) {
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
func (c *Communicator) nodesInOrder(k *Collectives) bool {
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

func negative(counts []int64) bool {
	return slices.ContainsFunc(counts, func(n int64) bool { return n < 0 })
}

// Check returns what is wrong with a member's arguments.
func (c *Communicator) Check(v *Collective) error {
	switch {
	case c.Size == 0:
		return world.Errorf(world.ErrComm, "%s", c)
	case v.Operation.Rooted() && (v.Root < 0 || v.Root >= c.Size):
		return world.Errorf(world.ErrRoot, "root %d in a communicator of %d ranks", v.Root, c.Size)
	case v.Bytes < 0 || negative(v.Counts) || negative(v.InCounts) || negative(v.OutCounts):
		return world.Errorf(world.ErrCount, "a negative count")
	case v.Counts != nil && len(v.Counts) != c.Size:
		return world.Errorf(world.ErrCount, "%d counts for %d ranks", len(v.Counts), c.Size)
	case (v.InCounts != nil || v.OutCounts != nil) && (len(v.InCounts) != c.Size || len(v.OutCounts) != c.Size):
		return world.Errorf(world.ErrCount, "%d and %d counts for %d ranks", len(v.InCounts), len(v.OutCounts), c.Size)
	case v.InCounts != nil && c.Size == 1 && v.InCounts[0] > v.OutCounts[0]:
		return world.Errorf(world.ErrTruncate, "the rank sends itself %d bytes where %d are expected", v.InCounts[0], v.OutCounts[0])
	}
	return nil
}

// Split hands over a collective that makes the communicators of a split.
func (k *Collectives) Split(color, key int) (*Collective, error) {
	v := k.Hand(Collective{
		Procedure: world.CommSplit, Operation: collectives.Allgather, Bytes: 8, Element: 8, Making: &exchange{color: color, key: int64(key)},
	})
	return v, checkColor(color)
}

// Dup hands over a collective that makes a communicator of all members again.
func (k *Collectives) Dup(g *world.Group) *Collective {
	return k.creation(world.CommDup, &exchange{group: g})
}

// Create hands over a collective that makes communicators of subgroups; a rank gives the
// one that it is in.
func (k *Collectives) Create(parent, g *world.Group, rank int) (*Collective, error) {
	if g == nil {
		g = world.Strided(0, 1, 0)
	}
	x := &exchange{color: world.Undefined}
	if g.Member(rank) >= 0 {
		x.color, x.group = g.WorldRank(0), g
	}
	return k.creation(world.CommCreate, x), parent.Contains(g)
}

func (k *Collectives) creation(name world.Procedure, x *exchange) *Collective {
	return k.Hand(Collective{Procedure: name, Operation: collectives.Allreduce, Bytes: 8, Element: 8, Making: x})
}

// Color returns the color that a member gives to a collective that makes communicators.
func (v *Collective) Color() int { return v.Making.color }

// SharesResult reports whether the result of a collective is one that all members share.
func (v *Collective) SharesResult() bool {
	return v.Operation == collectives.Allreduce && v.Making == nil
}

// Hand returns what an LP hands to a collective. There is one for all LPs of the
// engine: it is taken over before another LP runs.
func (k *Collectives) Hand(v Collective) *Collective {
	k.handed = v
	return &k.handed
}

// Sized hands over a collective of which only the size is simulated.
func (k *Collectives) Sized(op collectives.Operation, bytes int64, root int) (*Collective, error) {
	v := k.Hand(Collective{Procedure: world.ProcedureOf(op), Operation: op, Bytes: bytes, Element: 1})
	switch op {
	case collectives.Barrier:
		return &k.Barrier, nil
	case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv:
		return v, world.Errorf(world.ErrArgument, "the blocks of %v differ by member: hand in their data and counts", op)
	}
	if op.Rooted() {
		v.Root = root
	}
	return v, nil
}
