package coll

import (
	"gigarank/collectives"
	"gigarank/network"
)

// Algorithms chooses the algorithm of each call.
type Algorithms struct {
	First   []collectives.Algorithm // by operation: the user's, the hardware's, or the default
	Library collectives.Library     // chooses for the operations that are free; nil for none
	Free    []bool                  // by operation: the user has not chosen an algorithm

	asked  collectives.Question  // the latest question to the library
	answer collectives.Algorithm // to asked
}

// For returns the algorithm of a call on a machine. Vectors that are too long for a network that sums
// up, or come from nodes that no switch unites, take the algorithm of machines without such a network. So do ranks that do not fill the
// torus along whose links they would write.
func (a *Algorithms) For(t *network.Target, q collectives.Question) collectives.Algorithm {
	op, carries := q.Operation, t.Offloads(q.Bytes)
	if op == collectives.Bcast {
		carries = t.Spreads(q.Bytes)
	}
	q.Hardware = collectives.Hardware{Barrier: t.BarrierTime() > 0, Offload: carries && (t.OffloadsAcross() || q.Ranks <= q.PerNode)}
	q.Hardware.Torus = t.WritesAlongTorus(q.Ranks)
	q.Hardware.Measured = t.GivesBcasts() && q.Ranks <= q.PerNode
	switch {
	case a.Library != nil && a.Free[op]:
		return a.byLibrary(q)
	case a.Free[op] && q.Hardware.Measured:
		if measured, ok := collectives.MeasuredOn(op); ok {
			return measured
		}
		return a.First[op]
	case q.Hardware.Has(a.First[op]):
		return a.First[op]
	case a.Library != nil:
		q.Hardware = collectives.Hardware{}
		return a.byLibrary(q)
	}
	return collectives.Default(op)
}

// OfWorld returns the algorithm of a call that all ranks make, whose operation commutes.
func (a *Algorithms) OfWorld(t *network.Target, op collectives.Operation, bytes, element int64) collectives.Algorithm {
	q := collectives.Question{Operation: op, Ranks: t.Ranks(), PerNode: PerNodeOf(t), Bytes: bytes, Commutative: true, ElementBytes: element}
	return a.For(t, q)
}

// PerNodeOf returns the ranks of each node, if they are consecutive, else 1.
func PerNodeOf(t *network.Target) int {
	if t.KeepsBlocks() {
		return t.NodeSize(0)
	}
	return 1
}

// byLibrary returns the library's answer. Most calls of a program repeat the question.
func (a *Algorithms) byLibrary(q collectives.Question) collectives.Algorithm {
	if a.asked != q {
		a.asked, a.answer = q, a.Library.Choose(q)
	}
	return a.answer
}

// byDefault reports whether neither the user nor a library chooses the algorithm of an operation.
func (a *Algorithms) byDefault(op collectives.Operation) bool { return a.Library == nil && a.Free[op] }

// byNodes reports whether the algorithm of an operation depends on the ranks of each node.
func (a *Algorithms) byNodes(op collectives.Operation) bool {
	asks := a.Free[op] || a.First[op] == collectives.Offload || a.First[op].AlongTorus()
	return a.Library != nil && asks && a.Library.ByNodes(op)
}

// asked returns the bytes by which the algorithm of a call is chosen: of the vector, of a member's
// block, or of the mean block of all members; 0 if only some members know the blocks. It reads no counts: each member's call asks.
func (v *Collective) asked() int64 {
	switch v.Operation {
	case collectives.Barrier, collectives.Gatherv, collectives.Scatterv, collectives.Alltoallv:
		return 0
	}
	return v.Bytes / int64(max(len(v.Counts), 1))
}

// scheduledPerNode returns perNode for an algorithm whose schedule depends on it, else 1.
func (c *Collectives) scheduledPerNode(comm *Communicator, v *Collective) int {
	if !collectives.TakesNodes(v.Operation, v.Algorithm) {
		return 1
	}
	return c.perNode(comm)
}

// perNode returns the members of each node, if all nodes but the last have as many, and these are
// consecutive. Else it returns 1.
func (c *Collectives) perNode(comm *Communicator) int {
	if comm.Size == 1 { // SELF has no group of its own
		return 1
	}
	if comm.perNode == 0 {
		if comm.nodes == nil {
			comm.nodes = c.newNodeTable(comm)
		}
		comm.perNode = int32(comm.nodes.even())
	}
	return int(comm.perNode)
}

// even returns the members of each node as perNode does.
func (t *nodeTable) even() int {
	if t.perNode > 0 {
		return t.perNode
	}
	k := t.size(0)
	for p := range t.count {
		n := t.size(p)
		if n > k || n < k && p < t.count-1 || t.leader(p) != p*k || t.member(p, n-1) != p*k+n-1 {
			return 1
		}
	}
	return k
}
